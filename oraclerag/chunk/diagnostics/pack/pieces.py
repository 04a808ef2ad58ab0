"""What chunks are packed of: units that fit into the window, and the parts of those that do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from oraclerag.chunk.boundaries import whole_character
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.pack.shorten import shortened
from oraclerag.chunk.diagnostics.unit import Unit

if TYPE_CHECKING:
    from oraclerag.chunk import Limits

__all__ = ["Key", "Piece", "Window"]

Key = tuple[tuple[str, ...], str]
"""The section of a unit, and its head."""

_HEADS = 1024  # kept measured; those of one section come one after the other

# Where a line that is larger than the window is cut, in this order: behind a comma, a blank, between brackets, before
# the arrow of a short stack.
_FIELDS = (re.compile(r", "), re.compile(r"\s"), re.compile(r"\)(?=\()|(?=<-)"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit, or a part of one, as it will stand in a chunk; ``tokens`` and ``size`` are what it adds to one.

    ``whole``: all of its unit. ``continued``: its unit does not fit into one chunk. ``within``: begins inside a line.
    """

    unit: Unit
    start: int
    raw: str
    text: str
    tokens: int
    size: int
    whole: bool = True
    continued: bool = False
    within: bool = False

    @property
    def end(self) -> int:
        """Where the next piece begins."""
        return self.start + len(self.raw)

    @property
    def key(self) -> Key:
        """What it belongs to."""
        return self.unit.section, self.unit.head


class Window:
    """Measures texts against the limits of a chunk.

    The tokens of a piece are counted once and added up: a token never goes over a line end. A counter for which that
    is not quite so is asked again before a chunk is given. A head takes a third of the window at most.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._special = limits.count("")
        self.tokens = limits.tokens - limits.count(limits.prefix)
        self.size = limits.size - len(limits.prefix.encode())
        self.head_tokens, self.head_size = self.tokens // 3, self.size // 3
        self.line_cost = lru_cache(maxsize=_HEADS)(self.cost)
        self.head_line = lru_cache(maxsize=_HEADS)(self._head_line)

    def cost(self, text: str) -> tuple[int, int]:
        """Give the tokens and bytes that a text adds."""
        return self.limits.count(text) - self._special, len(text.encode())

    def piece(self, unit: Unit) -> Piece:
        """Measure a unit."""
        return self._part(unit, unit.start, unit.text, whole=True, continued=False)

    def _part(
        self, unit: Unit, start: int, raw: str, *, whole: bool = False, continued: bool = True, within: bool = False
    ) -> Piece:
        text = shortened(raw)
        return Piece(unit, start, raw, text, *self.cost(text), whole, continued, within)

    def _head_line(self, text: str, tokens: int, size: int) -> str:
        """Give a line of a head with as many of its words as take no more than that; of the first one its beginning."""
        line = " ".join(shortened(text).split())

        def fits(end: int) -> bool:
            line_tokens, line_size = self.cost(f"{line[:end]}\n")
            return line_tokens <= tokens and line_size <= size

        low, high = 0, min(len(line), size)
        if fits(len(line)):
            return line
        while low < high:
            middle = (low + high + 1) // 2
            if fits(middle):
                low = middle
            else:
                high = middle - 1
        return line[:low].rpartition(" ")[0].rstrip() or line[:low].rstrip()

    def parts(self, piece: Piece, head: str, kept_free: int = 0) -> Iterator[Piece]:
        """Cut a piece that does not fit behind a head: at line ends, then field borders, then characters.

        Lines take no more than leaves ``kept_free`` tokens for what is repeated before them.
        """
        head_tokens, head_size = self.cost(head)
        room, size_room = self.tokens - head_tokens, self.size - head_size
        held: list[str] = []
        start, tokens, size, within = piece.start, 0, 0, piece.within
        for line in split(piece.raw):
            line_tokens, line_size = self.cost(shortened(line.raw))
            if held and (tokens + line_tokens > room - kept_free or size + line_size > size_room):
                yield from self._checked(piece.unit, start, "".join(held), head, within=within)
                start, within = piece.start + line.start, False
                held, tokens, size = [], 0, 0
            if line_tokens > room or line_size > size_room:
                yield from self._cut(piece.unit, start, line.raw, head, within=within)
                start, within = start + len(line.raw), False
                continue
            held.append(line.raw)
            tokens += line_tokens
            size += line_size
        if held:
            yield from self._checked(piece.unit, start, "".join(held), head, within=within)

    def _checked(self, unit: Unit, start: int, raw: str, head: str, *, within: bool) -> Iterator[Piece]:
        """Cut again where the sum of the lines was less than the whole."""
        if self.limits.fits(head + shortened(raw)):
            yield self._part(unit, start, raw, within=within)
        else:
            yield from self._cut(unit, start, raw, head, within=within)

    def _cut(self, unit: Unit, start: int, raw: str, head: str, *, within: bool) -> Iterator[Piece]:
        begin, guess = 0, 64
        while begin < len(raw):
            end = self._end(raw, begin, head, guess)
            guess = max(end - begin, 16)
            yield self._part(unit, start + begin, raw[begin:end], within=within or begin > 0)
            begin = end

    def _end(self, raw: str, begin: int, head: str, guess: int) -> int:
        """Give where the next part of a long line ends; always at least one character on.

        ``guess`` is what the last one took: the search begins there, so that it costs a few times the part, however
        long the line is.
        """

        def fits(end: int) -> bool:
            return self.limits.fits(head + shortened(raw[begin:end]))

        last = len(raw)
        low, high = begin + 1, min(begin + guess, last)
        while high < last and fits(high):
            low, high = high, min(high + 2 * (high - begin), last)
        if high == last and fits(last):
            return last
        while low + 1 < high:
            middle = (low + high) // 2
            if fits(middle):
                low = middle
            else:
                high = middle
        for border in _FIELDS:
            ends = [found.end() for found in border.finditer(raw, begin + (low - begin) // 2, low)]
            for end in reversed(ends[-3:]):
                if begin < end <= low and fits(end):
                    return end
        end = whole_character(raw, begin, low)
        return end if fits(end) else low

    def tail(self, piece: Piece, tokens: int) -> Piece | None:
        """Give the last whole lines of a piece that take no more than so many tokens, but never all of it."""
        if not piece.raw.endswith("\n"):
            return None
        taken, begin = 0, len(piece.raw)
        for line in reversed(list(split(piece.raw))[1:]):
            taken += self.cost(shortened(line.raw))[0]
            if taken > tokens:
                break
            begin = line.start
        if begin == len(piece.raw):
            return None
        return self._part(piece.unit, piece.start + begin, piece.raw[begin:], continued=piece.continued)
