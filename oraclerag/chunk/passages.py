"""Prose and Markdown: passages of a section that are full, end where a person would stop, and say where they stand.

A section is what stands beneath one heading; no chunk holds text of two. A heading never stands alone: one without text
of its own goes with the section that follows, at the end of the text with the one before.

A chunk that does not begin with its heading repeats the path of headings, and one that begins within a table the names
of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oraclerag.chunk import Limits, storable
from oraclerag.chunk.boundaries import first_words
from oraclerag.chunk.markdown_blocks import Block, Kind, blocks
from oraclerag.chunk.packing import Packer, Section
from oraclerag.cutting import Cutting
from oraclerag.records import Chunk

__all__ = ["chunks"]

_SECTION_BYTES = 1000  # of RAG_CHUNK.SECTION


def chunks(text: str, limits: Limits, cutting: Cutting, title: str | None) -> Iterator[Chunk]:
    """Cut a text; nothing where it has nothing but blanks.

    The spans of the chunks follow each other, overlap as far as the cutting says, and cover the text; only blanks may
    lie between them.
    """
    outline = _Outline(text, limits, title)
    packer = Packer(text, limits, cutting.overlapping(limits.tokens), outline.preamble())
    headings: list[Block] = []
    for block in blocks(text):
        if block.kind is Kind.HEADING:
            headings.append(block)
            continue
        if headings:
            yield from packer.close()
            packer.begin(outline.section(headings))
            for heading in headings:
                yield from packer.add(heading)
            headings.clear()
        yield from packer.add(block)
    if headings:
        yield from packer.end_with(headings)
    yield from packer.close()


class _Outline:
    """Knows beneath which headings the text stands that is read at the moment."""

    def __init__(self, text: str, limits: Limits, title: str | None) -> None:
        self._title = " ".join(storable(title or "").split())
        self._third = limits.part(3)
        self._open: list[Block] = []
        self._titled = text[:1000].lstrip().startswith(self._title)

    def preamble(self) -> Section:
        """Give the section before the first heading."""
        return Section(None, self._head([]), "" if self._titled else self._head([]))

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
        return Section(name or None, self._head(path), first)

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
