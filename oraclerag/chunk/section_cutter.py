"""A section becomes chunks: each as full as may be, and ended at the coarsest boundary that is near enough.

Boundaries are those of blocks, the outer ones first; then of sentences, or in code and tables of lines; then of words;
then of characters. How much text fills a chunk is guessed from the one before, and what is guessed is counted: a text
is counted about once, whatever counts, and never a part of it for every boundary.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from oraclerag.chunk import Limits
from oraclerag.chunk.boundaries import line_ends, longest, sentence_ends, whole_character, word_ends
from oraclerag.chunk.markdown_blocks import Block, Kind, stanzas
from oraclerag.records import Chunk

__all__ = ["Section", "SectionCutter"]

_GUESSES = 6  # then the end is searched for by halving
_CAREFUL = 0.97  # of what is guessed, since too much costs a second count
_FULL = 0.75  # of the limit: what is this full is not tried with more
_SPARE = 1.25  # the overlap is looked for in so much more text than it takes as a rule
_NEAR = 600  # characters: the last sentence most often ends as near
_NO_BLANK = re.compile(r"\S")
_RULE = re.compile(r"-{4,}")
_PADDING = re.compile(r"[ \t]{2,}")


@dataclass(slots=True)
class Section:
    """A part of a text under one heading, ``start`` to ``end``.

    ``path`` are its headings, ``head`` is repeated before its chunks and ``first`` before the one that begins with the
    heading itself. ``levels`` are the offsets at which blocks begin: of outermost ones, of those and the ones in them,
    and so on; never the section's own start or what a heading stands before. ``fixed`` are its tables and code, in
    their order: they have no sentences. No chunk ends within one of the spans ``kept`` if that can be.
    """

    start: int
    end: int
    path: str | None
    head: str
    first: str
    levels: list[list[int]] = field(default_factory=lambda: [[]])
    fixed: list[Block] = field(default_factory=list)
    kept: list[tuple[int, int]] = field(default_factory=list)


class SectionCutter:
    """Cuts the sections of a text one after the other; ``overlap`` is in tokens."""

    def __init__(self, text: str, limits: Limits, overlap: int) -> None:
        self._text = text
        self._limits = limits
        self._overlap = min(overlap, limits.tokens // 2)  # more would repeat more than it tells
        self._nothing = limits.count("")
        self._half = limits.part(2)
        self._number = 0
        sample = text[: limits.size]
        self._tokens_each = max(limits.count(sample), 1) / max(len(sample), 1)  # per character

    def chunks(self, section: Section) -> Iterator[Chunk]:
        """Give the chunks of a section."""
        text, parent = self._text, None
        begin = new = section.start
        while (after := _after_blanks(text, new, section.end)) < section.end:
            begin, new = (begin if begin < new else after), after
            head = section.first if parent is None else self._head(section, new)
            end = self._end(section, head, begin, new)
            if end is None:
                begin = new  # nothing is repeated
                continue
            stop = begin + len(text[begin:end].rstrip())
            if stop > new:
                yield Chunk(self._number, text[begin:stop], begin, stop, section.path, head, parent)
                parent = self._number if parent is None else parent
                self._number += 1
            begin, new = self._repeated(section, begin, new, end), end

    def _head(self, section: Section, at: int) -> str:
        """Give what is repeated before a chunk that begins within a section."""
        table = _around(section, at)
        if table is None or table.kind is not Kind.TABLE or at < table.head_end:
            return section.head
        names = self._text[table.start : table.head_end].strip("\n") + "\n"
        names = _PADDING.sub(" ", _RULE.sub("---", names))  # every dash is a token
        for head in (section.head + names, names):
            if self._half.fits(head):
                return head
        return section.head

    def _end(self, section: Section, head: str, begin: int, new: int) -> int | None:
        """Give where the chunk ends that begins at ``begin`` with text that is new from ``new`` on.

        None where what is repeated leaves no room for a sentence, a row or a line.
        """
        limits, text = self._limits, self._text
        before = len(limits.prefix) + len(head)
        guess = begin + min(int(limits.tokens * _CAREFUL / self._tokens_each), limits.size) - before
        found = None
        for _ in range(_GUESSES):
            end, whole = self._boundary(section, begin, new, max(min(guess, section.end), new + 1))
            if found is not None and end <= found:
                return found
            if begin < new and not whole:
                return found
            content = limits.prefix + head + text[begin:end].rstrip()
            tokens = limits.count(content)
            each = max(tokens, 1) / len(content) if content else 1.0
            if tokens <= limits.tokens and len(content.encode()) <= limits.size:
                self._tokens_each = (3 * self._tokens_each + each) / 4
                if end == section.end or found is not None:
                    return end
                if tokens >= _FULL * limits.tokens and (text[end - 1].isspace() or text[end].isspace()):
                    return end
                found = end
                guess = begin + min(int(limits.tokens / each), limits.size) - before
            elif found is not None:
                return found
            else:
                guess = min(begin + int((len(content) * self._share(content, tokens)) * 0.98) - before, end - 1)
                if guess <= new:
                    break
        if found is not None:
            return found
        furthest = longest(text, begin, head, limits, section.end)
        if furthest <= new:
            return None
        end, whole = self._boundary(section, begin, new, furthest)
        if begin < new and not whole:
            return None
        return end if limits.fits(head + text[begin:end]) else furthest

    def _share(self, content: str, tokens: int) -> float:
        """Give how much of a content that is too long is likely to fit."""
        return min(self._limits.tokens / max(tokens, 1), self._limits.size / len(content.encode()))

    def _boundary(self, section: Section, begin: int, new: int, end: int) -> tuple[int, bool]:
        """Give the best boundary behind ``new`` and not behind ``end``, and whether a sentence or more is whole."""
        if _NO_BLANK.search(self._text, end, section.end) is None:
            return section.end, True
        low, spare = new, None
        for first, last in section.kept:
            if new < last < end:
                low, spare = last, first if first > new else None
            elif first < end <= last and first > new:
                end = first
        third = begin + (end - begin) // 3
        for level in section.levels:
            found = _last(level, low, end)
            if found is not None and found >= third:
                return found, True
        found = self._finer(section, low, end, third) or spare
        if found is not None:
            return found, True
        if not self._text[end].isspace():
            word = max(word_ends(self._text, low, end), default=None)
            end = word if word is not None else whole_character(self._text, new, end)
        return end, False

    def _finer(self, section: Section, low: int, end: int, third: int) -> int | None:
        """Give the last boundary of a sentence or, in code and tables, of a line."""
        text = self._text
        block = _last(section.levels[-1], low, end)
        fixed = _around(section, end)
        if fixed is not None:
            low = max(low, fixed.head_end, fixed.start)
            if fixed.kind is Kind.CODE:
                stanza = max(stanzas(text, low, end + 1), default=-1)
                if stanza >= third:
                    return stanza
            return max(line_ends(text, low, end + 1), default=block)
        low = max(low, block or 0)
        sentence = max(sentence_ends(text, max(low, end - _NEAR), end + 1), default=None)
        if sentence is None and end - low > _NEAR:
            sentence = max(sentence_ends(text, low, end - _NEAR + 1), default=None)
        if sentence is not None or block is not None:
            return sentence or block
        return max(line_ends(text, low, end + 1), default=None)

    def _repeated(self, section: Section, begin: int, new: int, end: int) -> int:
        """Give where the last whole sentences begin, of the new text of a chunk, that the next one repeats."""
        text, limits = self._text, self._limits
        if self._overlap <= 0 or end >= section.end:
            return end
        low = max(new, begin + 1, end - int(self._overlap * _SPARE / self._tokens_each))
        low = max((last for first, last in section.kept if first < end and last > low), default=low)
        at = bisect_left(section.fixed, end, key=_start) - 1
        if at >= 0:
            low = max(low, section.fixed[at].end)  # no rows, no code
        blocks = section.levels[-1]
        starts = {*blocks[bisect_left(blocks, low) : bisect_left(blocks, end)], *sentence_ends(text, low, end + 1)}
        if end not in starts and end not in blocks[bisect_left(blocks, end) : bisect_right(blocks, end)]:
            return end  # within a sentence
        for start in sorted(starts - {end}):
            if limits.count(text[start:end]) - self._nothing <= self._overlap:
                return start
        return end


def _start(block: Block) -> int:
    return block.start


def _around(section: Section, at: int) -> Block | None:
    """Give the table or code that an offset is within, not at its beginning."""
    fixed = section.fixed
    place = bisect_left(fixed, at, key=_start) - 1
    return fixed[place] if place >= 0 and at < fixed[place].end else None


def _last(boundaries: list[int], low: int, end: int) -> int | None:
    """Give the last boundary behind ``low`` and not behind ``end``."""
    place = bisect_right(boundaries, end) - 1
    return boundaries[place] if place >= 0 and boundaries[place] > low else None


def _after_blanks(text: str, start: int, end: int) -> int:
    """Leave out what is blank at the beginning of a span, but the indentation of its first line."""
    word = _NO_BLANK.search(text, start, end)
    if word is None:
        return end
    line = text.rfind("\n", max(start - 1, 0), word.start()) + 1
    return max(line, start) if line or not start else word.start()
