"""Prose and Markdown: passages of a section that are full, end where a person would stop, and say where they stand.

A section is what stands beneath one heading; no chunk holds text of two. A heading never stands alone: one without text
of its own goes with the section that follows, at the end of the text with the one before, unless such headings take
more than a third of a chunk.

A chunk that does not begin with its heading repeats the path of headings, and one that begins within a table the names
of its columns.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from oraclerag.chunk import Limits, storable
from oraclerag.chunk.boundaries import first_words
from oraclerag.chunk.markdown_blocks import Block, Kind, front_matter, is_markdown, markdown_blocks, stanzas
from oraclerag.chunk.section_cutter import Section, SectionCutter
from oraclerag.cutting import Cutting
from oraclerag.records import Chunk

__all__ = ["chunks"]

_SECTION_BYTES = 1000  # of RAG_CHUNK.SECTION


def chunks(text: str, limits: Limits, cutting: Cutting, title: str | None) -> Iterator[Chunk]:
    """Cut a text; nothing where it has nothing but blanks.

    The spans of the chunks follow each other, overlap as far as the cutting says, and cover the text; only blanks may
    lie between them.
    """
    if not text.strip():
        return
    overlap = cutting.overlapping(limits.tokens)
    if "\r" not in text:
        yield from _cut(text, limits, overlap, title)
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    longer = [found.start() - number for number, found in enumerate(re.finditer("\r\n", text))]
    for chunk in _cut(lines, _with_crlf(limits), overlap, title):
        start, end = (at + bisect_left(longer, at) for at in (chunk.start, chunk.end))
        yield dataclasses.replace(chunk, text=text[start:end], start=start, end=end)


def _cut(text: str, limits: Limits, overlap: int, title: str | None) -> Iterator[Chunk]:
    """Cut a text whose lines end with LF."""
    cutter = SectionCutter(text, limits, overlap)
    for section in _sections(text, _Heads(text, limits, title)):
        yield from cutter.chunks(section)


def _with_crlf(limits: Limits) -> Limits:
    """Give the limits of a text whose lines end with LF and are to end with CRLF: it is cut where it were without."""

    def count(text: str) -> int:
        text = text.replace("\n", "\r\n")
        return limits.count(text) if len(text.encode()) <= limits.size else limits.tokens + 1

    return dataclasses.replace(limits, count=count)


def _sections(text: str, heads: _Heads) -> Iterator[Section]:
    start = front_matter(text)
    section = heads.preamble()
    if start:
        _put(section, Block(Kind.CODE, 0, start), 0)
    if not is_markdown(text, start):
        section.levels[0] += [start] * (start > 0)
        section.levels[0] += stanzas(text, start, len(text))
        section.end = len(text)
        yield section
        return
    headings: list[Block] = []
    for block in markdown_blocks(text, start):
        if block.kind is Kind.HEADING:
            headings.append(block)
            continue
        if headings:
            if section.end > section.start:
                yield section
            section = heads.section(headings)
            headings.clear()
        _put(section, block, 0)
    if headings:
        heads.end_with(section, headings)
    yield section


def _put(section: Section, block: Block, depth: int) -> None:
    """Add a block, and those in it, to the end of a section."""
    levels = section.levels
    while len(levels) <= depth:
        levels.append(levels[-1].copy())
    at = section.end if depth == 0 else block.start
    if at > section.start and not (section.kept and at == section.kept[0][1]):
        for level in levels[depth:]:
            if not level or level[-1] < at:
                level.append(at)
    if block.kind in {Kind.CODE, Kind.TABLE}:
        section.fixed.append(block)
    for inner in block.inner:
        _put(section, inner, depth + 1)
    section.end = block.end


class _Heads:
    """Knows beneath which headings the text stands that is read at the moment."""

    def __init__(self, text: str, limits: Limits, title: str | None) -> None:
        self._text = text
        self._title = " ".join(storable(title or "").split())
        self._third = limits.part(3)
        self._open: list[Block] = []
        self._titled = text[:1000].lstrip().startswith(self._title)

    def preamble(self) -> Section:
        """Give the section before the first heading."""
        head = self._head([])
        return Section(0, 0, None, head, "" if self._titled else head)

    def section(self, headings: Sequence[Block]) -> Section:
        """Give the section that begins with these headings; the last one is its own, the others have no text."""
        above = None
        for heading in headings:
            while self._open and self._open[-1].level >= heading.level:
                self._open.pop()
            if above is None:
                above = [each.title for each in self._open]
            self._open.append(heading)
        path = [each.title for each in self._open if each.title]
        above = _common(above or [], path)
        first = "" if not above and _same(headings[0].title, self._title) else self._head(above)
        name = " > ".join(path).encode()[:_SECTION_BYTES].decode(errors="ignore")
        section = Section(headings[0].start, headings[-1].end, name or None, self._head(path), first)
        section.levels[0] += [heading.start for heading in headings[1:]]
        section.kept.append((section.start, section.end))
        return section

    def end_with(self, section: Section, headings: Sequence[Block]) -> None:
        """Add headings behind which the text ends."""
        if self._third.fits(self._text[headings[0].start : headings[-1].end]) and section.end > section.start:
            section.kept.append((headings[0].start - 1, headings[-1].end - 1))
        section.levels[0] += [heading.start for heading in headings if heading.start > section.start]
        section.end = headings[-1].end

    def _head(self, path: Sequence[str]) -> str:
        """Give the line that says where a chunk stands: a third of it at most, shortened in the middle, then before."""
        named = path and _same(path[0], self._title)
        parts = [self._title, *path] if self._title and not named else list(path)
        if not parts:
            return ""
        *outer, last = parts
        for shortened in (parts, [*outer[:1], *["…"][: len(outer) - 1], last], [*["…"][: len(outer)], last]):
            line = " > ".join(shortened)
            if self._third.fits(line):
                return line + "\n"
        return first_words(last, self._third) + "\n"


def _common(above: Sequence[str], path: Sequence[str]) -> list[str]:
    common = []
    for one, other in zip(above, path, strict=False):
        if one != other:
            break
        common.append(one)
    return common


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
