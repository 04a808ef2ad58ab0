"""One chunk per document; a document that is longer than the limits becomes several, and nothing of it is lost.

The first line is the head, which says what the text is about and how to cite it (``[TASK #42] Late payments``). Every
further chunk repeats it, so that it is found, read and cited like the first. A cut is made at the coarsest boundary
that is near enough: before a list item (comments stay whole), at a line, a sentence, a word, a character.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from oraclerag.chunk import Limits
from oraclerag.chunk.boundaries import LINE_END, first_words, longest, sentence_ends, whole_character, word_ends
from oraclerag.cutting import Cutting
from oraclerag.records import Chunk

__all__ = ["chunks"]


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
    return first_words(line, limits.part(3))


class _Cutter:
    """Finds where the next chunk ends."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        lines = [match.end() for match in LINE_END.finditer(text)]
        items = [at for at in lines if text.startswith(("- ", "* ", "• "), at)]
        self._sections = _sections(text, lines)
        self._levels = (
            sorted({*self._sections, *items}),
            lines,
            list(sentence_ends(text, 0, len(text))),
            list(word_ends(text, 0, len(text))),
        )

    def end(self, begin: int, repeated: str) -> int:
        """Give the end of the chunk that begins at ``begin`` behind ``repeated``; always at least one character on."""
        furthest = longest(self._text, begin, repeated, self._limits)
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
        return whole_character(self._text, begin, furthest)

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
