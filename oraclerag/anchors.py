"""Anchors by which an answer names its sources: ``##2272##`` (the number of a chunk) or ``[1]``.

One grammar for both ends: whatever :func:`marks` takes for an anchor in an answer, :func:`neutral` breaks in the text
of a source, so that no source can name another one. :func:`restored` gives an answer that quotes such text its
characters back. Pure text work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

__all__ = ["Mark", "Style", "marks", "neutral", "pattern", "restored", "written"]

Style = Literal["hash", "bracket"]

_BLANK = r"[ \t]{0,20}"
# A group is bounded, so that a model that repeats itself for ever costs no more than its length.
_MORE = "{0,40}"
_HASHES = "[#＃]"
_COMMA = r"(?:[,;，；、&]|\band\b|\by\b)"
_DASH = "[-–—－~]"
# A chunk's number is a NUMBER of Oracle's identity; that of a source in a prompt has three digits at the most, so that
# years and the arguments of ORA-00600 stay what they are.
_ID = r"\d{1,19}"
_NUMBER = r"(?:(?:sources?|fuentes?)[ \t:]*)?\d{1,3}"
_RANGE = rf"{_NUMBER}(?:{_BLANK}{_DASH}{_BLANK}\d{{1,3}})?"

_AND = rf"(?:{_BLANK}{_COMMA}{_BLANK}{_HASHES}{{0,4}}{_BLANK}|{_HASHES}{{1,8}})"
_CLOSED = rf"{_HASHES}{{2,8}}{_BLANK}{_ID}(?:{_AND}{_ID}){_MORE}{_BLANK}{_HASHES}{{1,8}}"
_OPEN = rf"{_HASHES}{{2,8}}{_ID}(?![\w#＃])"
_BRACKET = (
    rf"[\[［【]{_BLANK}{_RANGE}(?:{_BLANK}{_COMMA}{_BLANK}{_RANGE}){_MORE}(?:†[^\]］】\n]{{0,80}})?{_BLANK}[\]］】]"
)
_MARK = {"hash": rf"(?:{_CLOSED}|{_OPEN})", "bracket": f"(?:{_CLOSED}|{_OPEN}|{_BRACKET})"}

_NUMBERS = re.compile(rf"(\d{{1,19}})(?:{_BLANK}{_DASH}{_BLANK}(\d{{1,3}}))?")

# What a source may not have. Joiners are no blanks to a pattern, and nothing to a reader.
_GAP = r"[\s\u200c\u200d]*"
_HASH_BEFORE = re.compile(rf"[#＃﹟](?:[\u200c\u200d]*[#＃﹟])+(?={_GAP}\d)")
_HASH_BEHIND = re.compile(r"(?<=\d)[ \t]{0,4}[#＃﹟](?:[\u200c\u200d]*[#＃﹟])+")
_BRACKETED = re.compile(
    rf"[\[［【]({_GAP}(?:(?:sources?|fuentes?)[\s:\u200c\u200d]*)?\d[^\[\]［］【】]{{0,200}})[\]］】]", re.IGNORECASE
)
_SHARPS = re.compile(r"♯{2,}(?=\s*\d)|(?<=\d)([ \t]{0,4})♯{2,}")
_WHITE_BRACKETED = re.compile(r"⟦([^⟦⟧]{1,220})⟧")
_ANY_HASH = re.compile(r"[#＃﹟]")


@dataclass(frozen=True, slots=True)
class Mark:
    """One anchor of an answer, or a group of them, and the numbers in it, a range as its two ends."""

    style: Style
    closed: bool
    numbers: tuple[tuple[int, int], ...]


def written(style: Style, chunk_id: int, number: int) -> str:
    """Give the anchor of a source: its chunk's id between hashes, or its number in the prompt in brackets."""
    return f"##{chunk_id}##" if style == "hash" else f"[{number}]"


def pattern(style: Style) -> str:
    """Give what marks look like as a regular expression without groups, to be compiled with IGNORECASE.

    Hashes are marks in either style: they mean nothing else where a model writes them around a number.
    """
    return _MARK[style]


@cache
def _compiled(style: Style) -> re.Pattern[str]:
    return re.compile(_MARK[style], re.IGNORECASE)


def marks(text: str, style: Style) -> Iterator[Mark]:
    """Give the marks of a text in their order."""
    for found in _compiled(style).finditer(text):
        mark = found[0]
        hashed = mark[0] in "#＃"
        numbers = tuple(
            (int(number[1]), int(number[2] or number[1])) for number in _NUMBERS.finditer(mark.partition("†")[0])
        )
        yield Mark("hash" if hashed else "bracket", not hashed or mark[-1] in "#＃", numbers)


def neutral(text: str, style: Style) -> str:
    """Break what could pass for an anchor: ``♯♯12♯♯`` for hashes, and ``⟦1⟧`` where anchors have brackets."""
    text = _HASH_BEFORE.sub(_sharps, text)
    text = _HASH_BEHIND.sub(_sharps, text)
    if style == "bracket":
        text = _BRACKETED.sub(r"⟦\1⟧", text)
    return text


def _sharps(found: re.Match[str]) -> str:
    return _ANY_HASH.sub("♯", found[0])


def restored(text: str) -> str:
    """Undo :func:`neutral` in what an answer quotes, after its own anchors were replaced."""
    text = _SHARPS.sub(lambda found: found[0].replace("♯", "#"), text)
    return _WHITE_BRACKETED.sub(r"[\1]", text)
