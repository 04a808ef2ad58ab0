"""Lines of a report with their places in it, read as they come."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Line", "first_lines", "split", "unwrapped"]

_FIRST_LINES = 200
_FIRST_CHARACTERS = 64 * 1024
_LONG_LINES = 1024 * 1024  # characters; a report that has so few line ends is known by less than 200 of them

# What a wrapper puts before every line: compose (`name  | `), a quotation (`> `), a journal (`Apr  5 06:07:08 a b: `).
_COMPOSE = re.compile(r"[A-Za-z0-9][\w.-]{0,63} {0,63}\| ", re.ASCII)
_QUOTE = re.compile(r">(?: |$)")
_JOURNAL = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,9}\])?: ", re.ASCII)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: where it begins, in characters of the document, and its text without the line end.

    ``raw`` is the text with its line end. Only a line feed ends a line, with a carriage return before it or without:
    ``str.splitlines`` also cuts at form feeds and at letters that were decoded wrongly, which shifts every place behind
    them. The first ``skipped`` characters of ``raw`` are a byte order mark or what a wrapper put before every line;
    ``text`` leaves them out.
    """

    start: int
    raw: str
    skipped: int = 0

    @property
    def text(self) -> str:
        """The line without its end."""
        return self.raw[self.skipped :].removesuffix("\n").removesuffix("\r")

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.start + len(self.raw)


def split(text: str | Iterable[str]) -> Iterator[Line]:
    """Give the lines of a text, or of the parts that it comes in, cut anywhere."""
    start = 0
    rest: list[str] = []
    for part in (text,) if isinstance(text, str) else text:
        begin = 0
        while (at := part.find("\n", begin)) >= 0:
            raw = part[begin : at + 1]
            if rest:
                raw = "".join((*rest, raw))
                rest.clear()
            yield Line(start, raw)
            start, begin = start + len(raw), at + 1
        if begin < len(part):
            rest.append(part[begin:])
    if rest:
        yield Line(start, "".join(rest))


def first_lines(lines: Iterator[Line]) -> tuple[list[Line], Iterator[Line]]:
    """Give the lines that decide what a report is, and all of its lines, these included.

    At least 200 lines and 64 Ki characters, or what there is; of very long lines fewer.
    """
    peeked: list[Line] = []
    characters = 0
    for line in lines:
        peeked.append(line)
        characters += len(line.raw)
        if characters >= (_FIRST_CHARACTERS if len(peeked) >= _FIRST_LINES else _LONG_LINES):
            break
    return peeked, itertools.chain(peeked, lines)


def unwrapped(lines: Iterator[Line]) -> Iterator[Line]:
    """Leave out of the texts a byte order mark, and what a wrapper put before nine of ten of the first lines."""
    peeked, lines = first_lines(lines)
    marked = bool(peeked) and peeked[0].raw.startswith("\ufeff")
    first = [line.raw for line in peeked[:_FIRST_LINES]]
    wrapper = _wrapper([first[0][1:], *first[1:]] if marked else first)
    for line in lines:
        skipped = 1 if marked and not line.start else 0
        if wrapper is not None and (found := wrapper.match(line.raw, skipped)):
            skipped = found.end()
        yield Line(line.start, line.raw, skipped) if skipped else line


def _wrapper(first: list[str]) -> re.Pattern[str] | None:
    """Give the pattern of what stands before nine of ten lines, None where nothing does."""
    patterns = [_QUOTE, _JOURNAL]
    if first and (compose := _COMPOSE.match(first[0])):
        patterns.append(re.compile(re.escape(compose[0].rstrip()) + r"(?: |$)"))
    return next((pattern for pattern in patterns if _nearly_all(pattern, first)), None)


def _nearly_all(pattern: re.Pattern[str], first: list[str]) -> bool:
    return len(first) > 1 and sum(bool(pattern.match(line.rstrip("\r\n"))) for line in first) * 10 >= len(first) * 9
