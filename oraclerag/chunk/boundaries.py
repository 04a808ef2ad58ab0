"""Where a text may be parted: after sentences, lines and words, and between whole characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oraclerag.chunk import Limits

__all__ = ["LINE_END", "first_words", "line_ends", "longest", "sentence_ends", "whole_character", "word_ends"]

LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"\s+")

# A run of marks is looked at from its first one only and never given back, so that a line of dots takes linear time.
_SENTENCE_END = re.compile(
    r"[.!?…؟۔।。！？｡](?<![.!?…؟۔।。！？｡][.!?…؟۔।。！？｡])[.!?…؟۔।。！？｡]*+"
    r"(?:(?<=[。！？｡])[」』”’）】]*+\s*+|[\"'»”’)\]*_]*+\s++)"
)
# What a full stop does not end; all short, so that only a few characters before it are looked at.
_ABBREVIATIONS = frozenset(
    {"e.g", "i.e", "etc", "vs", "cf", "incl", "excl", "resp", "viz", "ca", "no", "nos", "nr", "art", "fig"}
    | {"figs", "eq", "sec", "ch", "vol", "pp", "ed", "eds", "est", "dept", "mr", "mrs", "ms", "dr", "prof", "st", "sr"}
    | {"sra", "jr", "inc", "ltd", "co", "corp", "p.ej", "bzw", "z.b", "d.h", "u.a", "ggf", "usw"}
)
_LONGEST_ABBREVIATION = 8
_SHORT_WORD = 5  # no abbreviation has so many letters without a full stop
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_NO_INITIALS = frozenset("IXYZ")  # "So did I. Then …", "the value of X. It is …"

_JOINER = "\u200d"


def line_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Give the offsets behind the line ends within a span, its own end left out."""
    return (found.end() for found in LINE_END.finditer(text, start, end) if found.end() < end)


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Give the offsets behind the sentences of a span and the blanks that follow them, its own end left out.

    Abbreviations (``e.g.``), initials and numbers of list items end none. Scripts without blanks have marks of their
    own.
    """
    for found in _SENTENCE_END.finditer(text, start, end):
        if found.end() < end and not (text[found.start()] == "." and _abbreviates(text, start, found.start())):
            yield found.end()


def _abbreviates(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at ``stop`` belongs to the word before it."""
    before = text[max(start, stop - _LONGEST_ABBREVIATION) : stop]
    if before[-_SHORT_WORD:].isalpha() and len(before) >= _SHORT_WORD:
        return False  # what most sentences end with
    word = before.split()[-1] if before and not before[-1].isspace() else ""
    if not word or len(word) == _LONGEST_ABBREVIATION:
        return False
    if word.isdecimal():  # the number of a list item, where nothing but blanks is before it in its line
        line = LINE_END.split(before)[-1]
        return line.strip() == word and len(line) < _LONGEST_ABBREVIATION
    word = word.lstrip("([\"'“‘*_")
    return word.lower() in _ABBREVIATIONS or (word not in _NO_INITIALS and _INITIALS.fullmatch(word) is not None)


def word_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Give the offsets behind the words of a span and the blanks that follow them, its own end left out."""
    return (found.end() for found in _BLANK.finditer(text, start, end) if found.end() < end)


def longest(text: str, begin: int, repeated: str, limits: Limits, stop: int | None = None) -> int:
    """Give the furthest end, up to ``stop``, that was found to fit behind ``repeated``; at least one character on.

    The number of tokens hardly ever falls when a text grows, so halving finds the end; what it gives was checked.
    """
    low, high = begin + 1, min(len(text) if stop is None else stop, begin + limits.size)
    if high > low and limits.fits(repeated + text[begin:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if limits.fits(repeated + text[begin:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def first_words(line: str, limits: Limits) -> str:
    """Give as many words of a line as fit; of a word that is too long itself, its beginning."""
    if limits.fits(line):
        return line
    furthest = longest(line, 0, "", limits)
    words = line[:furthest].rpartition(" ")[0].rstrip()
    return words if words and limits.fits(words) else line[:furthest]


def whole_character(text: str, begin: int, end: int) -> int:
    """Move a cut back so that it does not part what is one character to a reader, as far as that leaves anything.

    Accents and other marks stay with their letter, joined emoji and their skin tones together, CR with LF.
    """
    at = end
    while at > begin + 1 and at < len(text) and _belongs(text[at - 1], text[at]):
        at -= 1
    return at if at > begin + 1 else end


def _belongs(before: str, after: str) -> bool:
    return (
        after == _JOINER
        or before == _JOINER
        or (before == "\r" and after == "\n")
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
