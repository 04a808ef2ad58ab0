"""One chunk per document; a document that is longer than the limits becomes several, and nothing of it is lost.

The first line is the head, which says what the text is about and how to cite it (``[TASK #42] Late payments``). Every
further chunk repeats it, so that it is found, read and cited like the first. A cut is made at the coarsest boundary
that is near enough: before a list item (comments stay whole), at a line, a sentence, a word, a character.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator

from oraclerag.chunk import Limits
from oraclerag.cutting import Cutting
from oraclerag.records import Chunk

__all__ = ["chunks"]

_SENTENCE_END = re.compile(r"(?:[.!?…]+[\"'»”’)\]]*|[。！？]+)(?=\s)\s+|[。！？]+")
_BLANK = re.compile(r"\s+")
# Marks and joiners that belong to the character before them, and the joiner that binds the next one.
_JOINER = "\u200d"


def chunks(text: str, limits: Limits, cutting: Cutting, title: str | None) -> Iterator[Chunk]:  # noqa: ARG001 - as all
    """Cut a text; nothing where it has nothing but blanks.

    The spans of the chunks follow each other and cover the text; only blanks may lie between them.
    """
    if not text.strip():
        return
    if limits.fits(text):
        yield Chunk(0, text, 0, len(text))
        return
    head = _head(text, limits)
    cutter = _Cutter(text, limits)
    number = begin = 0
    while begin < len(text):
        # The head stands in the first chunk by itself; a head that was cut for the others is in the text in full.
        repeated = f"{head}\n" if number and head else ""
        end = cutter.end(begin, repeated)
        if text[begin:end].strip():
            yield Chunk(number, text[begin:end], begin, end, head=repeated, parent=0 if number else None)
            number += 1
        begin = end


def _head(text: str, limits: Limits) -> str:
    """Give the first line, or as many words of it as take a third of a chunk at most."""
    line = text.lstrip().partition("\n")[0].rstrip()
    third = limits.part(3)
    if third.fits(line):
        return line
    longest = _longest(line, 0, "", third)
    words = line[:longest].rpartition(" ")[0].rstrip()
    return words if words and third.fits(words) else line[:longest]


class _Cutter:
    """Finds where the next chunk ends."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        lines = [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
        items = [at for at in lines if text.startswith(("- ", "* ", "• "), at)]
        self._sections = _sections(text, lines)
        self._levels = (
            sorted({*self._sections, *items}),
            lines,
            [match.end() for match in _SENTENCE_END.finditer(text)],
            [match.end() for match in _BLANK.finditer(text)],
        )

    def end(self, begin: int, repeated: str) -> int:
        """Give the end of the chunk that begins at ``begin`` behind ``repeated``; always at least one character on."""
        furthest = _longest(self._text, begin, repeated, self._limits)
        if furthest == len(self._text):
            return furthest
        for level, boundaries in enumerate(self._levels):
            last = _last(boundaries, begin, furthest)
            # A coarse boundary is worth a chunk that is not full, but not one that is nearly empty: unless what comes
            # next stays whole by it.
            if last is None or not self._limits.fits(repeated + self._text[begin:last]):
                continue
            if level > 1 or (last - begin) * 3 >= furthest - begin or self._stays_whole(level, last, repeated):
                return last
        return _whole_character(self._text, begin, furthest)

    def _stays_whole(self, level: int, begin: int, repeated: str) -> bool:
        boundaries = self._levels[level]
        following = bisect.bisect_right(boundaries, begin)
        end = boundaries[following] if following < len(boundaries) else len(self._text)
        return self._limits.fits(repeated + self._text[begin:end])


def _sections(text: str, lines: list[int]) -> list[int]:
    """Give the beginnings of lines outside of list items: an item goes on until a blank line or another one."""
    found = []
    inside = False
    for at in lines:
        if text.startswith(("- ", "* ", "• "), at):
            inside = True
        elif at < len(text) and text[at] in "\r\n":
            inside = False
        if not inside:
            found.append(at)
    return found


def _last(boundaries: list[int], begin: int, end: int) -> int | None:
    """Give the last boundary behind ``begin`` and not behind ``end``."""
    at = bisect.bisect_right(boundaries, end) - 1
    return boundaries[at] if at >= 0 and boundaries[at] > begin else None


def _longest(text: str, begin: int, repeated: str, limits: Limits) -> int:
    """Give the furthest end that was found to fit, at least one character on.

    The number of tokens hardly ever falls when a text grows, so halving finds the end; what it gives is checked.
    """
    low, high = begin + 1, min(len(text), begin + limits.size)
    if high > low and limits.fits(repeated + text[begin:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if limits.fits(repeated + text[begin:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _whole_character(text: str, begin: int, end: int) -> int:
    """Move a cut back so that it does not part a letter from its accents, as far as that leaves anything."""
    at = end
    while at > begin + 1 and (
        unicodedata.combining(text[at])
        or text[at] == _JOINER
        or text[at - 1] == _JOINER
        or text[at - 1 : at + 1] == "\r\n"
    ):
        at -= 1
    return at if at > begin + 1 else end
