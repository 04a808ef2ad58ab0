"""What chunks are packed of: units that fit into the window, and the parts of those that do not."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.shorten import shortened
from oraclerag.chunk.diagnostics.unit import Unit

if TYPE_CHECKING:
    from oraclerag.chunk import Limits

__all__ = ["Piece", "Window"]

Key = tuple[tuple[str, ...], str]
"""The section of a unit, and its head."""

_HEADS = 1024  # kept measured; the heads of one section come one after the other

# Where a line that is larger than the window is cut, in this order: behind a comma, a blank, between brackets, before
# the arrow of a short stack.
_FIELDS = (re.compile(r", "), re.compile(r"\s"), re.compile(r"\)(?=\()|(?=<-)"))
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit, or a part of one, as it will stand in a chunk; ``tokens`` and ``size`` are what it adds to one."""

    unit: Unit
    start: int
    raw: str
    text: str
    tokens: int
    size: int
    continued: bool = False
    within: bool = False  # begins inside a line

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

    Tokens are counted once for a piece and added up: a token never goes over a line end. A counter for which that is
    not quite so is asked again before a chunk is given out.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._special = limits.count("")
        self.tokens = limits.tokens - limits.count(limits.prefix)
        self.size = limits.size - len(limits.prefix.encode())
        self._third = limits.part(3)
        self.head_tokens = min(self._third.tokens - limits.count(limits.prefix), self.tokens // 2)
        self._fitting = lru_cache(maxsize=_HEADS)(self._shortened_head)
        self.line_cost = lru_cache(maxsize=_HEADS)(self.cost)

    def cost(self, text: str) -> tuple[int, int]:
        """Give the tokens and bytes that a text adds."""
        return self.limits.count(text) - self._special, len(text.encode())

    def piece(self, unit: Unit) -> Piece:
        """Measure a unit."""
        return self.part(unit, unit.start, unit.text)

    def part(self, unit: Unit, start: int, raw: str, *, continued: bool = False, within: bool = False) -> Piece:
        """Measure a part of a unit."""
        text = shortened(raw)
        tokens, size = self.cost(text)
        return Piece(unit, start, raw, text, tokens, size, continued, within)

    def head_line(self, text: str, share: int = 1) -> str:
        """Give a line of a head, cut at a word where it takes more than its share of the third that heads may have."""
        return self._fitting(" ".join(shortened(text).split()), share)

    def _shortened_head(self, line: str, share: int) -> str:
        third = self.limits.part(3 * share)
        if not line or third.fits(f"{line}\n"):
            return line
        low, high = 0, min(len(line), third.size)
        while low < high:
            middle = (low + high + 1) // 2
            if third.fits(f"{line[:middle]}\n"):
                low = middle
            else:
                high = middle - 1
        return line[:low].rpartition(" ")[0].rstrip() or line[:low]

    def parts(self, piece: Piece, head: str) -> Iterator[Piece]:
        """Cut a piece that does not fit behind a head: at line ends, field borders, characters."""
        held: list[str] = []
        start, tokens, size = piece.start, 0, 0
        head_tokens, head_size = self.cost(head)
        within = piece.within
        for line in split(piece.raw):
            line_tokens, line_size = self.cost(shortened(line.raw))
            if head_tokens + tokens + line_tokens > self.tokens or head_size + size + line_size > self.size:
                if held:
                    yield from self._checked(piece.unit, start, "".join(held), head, within=within)
                    start, within = piece.start + line.start, False
                    held, tokens, size = [], 0, 0
                if head_tokens + line_tokens > self.tokens or head_size + line_size > self.size:
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
            yield self.part(unit, start, raw, continued=True, within=within)
        else:
            yield from self._cut(unit, start, raw, head, within=within)

    def _cut(self, unit: Unit, start: int, raw: str, head: str, *, within: bool) -> Iterator[Piece]:
        begin = 0
        guess = 64
        while begin < len(raw):
            end = self._end(raw, begin, head, guess)
            guess = max(end - begin, 16)
            yield self.part(unit, start + begin, raw[begin:end], continued=True, within=within or begin > 0)
            begin = end

    def _end(self, raw: str, begin: int, head: str, guess: int) -> int:
        """Give where the next part of a long line ends; always at least one character on."""

        def fits(end: int) -> bool:
            return self.limits.fits(head + shortened(raw[begin:end]))

        last = len(raw)
        low, high = begin + 1, begin + guess
        while high < last and fits(high):
            low, high = high, high + 2 * (high - begin)
        if high >= last:
            high = last
            if fits(last):
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
        end = _whole_character(raw, begin, low)
        return end if fits(end) else low

    def tail(self, piece: Piece, tokens: int) -> Piece | None:
        """Give the last whole lines of a piece that take no more than so many tokens, but never all of it."""
        if not piece.raw.endswith("\n"):
            return None
        lines = list(split(piece.raw))[1:]
        taken, begin = 0, len(piece.raw)
        for line in reversed(lines):
            taken += self.cost(shortened(line.raw))[0]
            if taken > tokens:
                break
            begin = line.start
        if begin == len(piece.raw):
            return None
        found = self.part(piece.unit, piece.start + begin, piece.raw[begin:])
        return dataclasses.replace(found, continued=True)


def _whole_character(text: str, begin: int, end: int) -> int:
    """Move a cut back so that it does not part a letter from its accents, as far as that leaves anything."""
    at = end
    while (
        at > begin + 1
        and at < len(text)
        and (
            unicodedata.combining(text[at])
            or text[at] == _JOINER
            or text[at - 1] == _JOINER
            or text[at - 1 : at + 1] == "\r\n"
        )
    ):
        at -= 1
    return at if at > begin + 1 else end
