"""An answer, which is Markdown, taken apart: prose, code, links, its own footnotes, and the anchors in its prose."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache

from oraclerag import anchors
from oraclerag.anchors import Mark, Style

__all__ = ["Kind", "Part", "parts"]


class Kind(enum.Enum):
    """What a part of an answer is."""

    PROSE = enum.auto()
    BLOCK = enum.auto()
    """A fenced block of code, fences included."""
    CODE = enum.auto()
    LINK = enum.auto()
    """A link with its text, or an address."""
    FOOTNOTE = enum.auto()
    CITATION = enum.auto()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer; ``marks`` are the anchors of a citation, ``follows`` the character behind it or ''."""

    kind: Kind
    text: str
    marks: tuple[Mark, ...] = ()
    follows: str = ""


_FENCE = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,3}[.)])[ \t]+)*(`{3,}|~{3,})([^`\n]*)")
_LETTER_ONLY = re.compile(r"(?<![^\W_])[A-Za-z]\Z")

# Texts of links and code are bounded, so that no answer takes longer than its length.
_CODE = r"(?P<code>(?<!`)(?P<ticks>`{1,9})(?!`)(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?(?<!`)(?P=ticks)(?!`))"
_LABEL = r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,500}\]"
_LINK = rf"(?P<link>{_LABEL}\((?:[^()\n]|\([^()\n]{{0,200}}\)){{0,2000}}\)|<[a-z][a-z0-9+.-]{{1,20}}:[^<>\s]{{0,2000}}>"
_LINK += r"|https?://(?:(?![#＃]{2})[^\s\[\]<>［］【】]){1,2000})"
_OWN = r"(?P<own>\[\^[^\]\s]{1,60}\]:?)"
_GLUE = r"[ \t]{0,20}[,;，；、]?[ \t]{0,20}"


@cache
def _pattern(style: Style) -> re.Pattern[str]:
    mark = anchors.pattern(style)
    run = rf"{mark}(?:{_GLUE}{mark}){{0,40}}"
    return re.compile(
        rf"{_CODE}|{_LINK}|{_OWN}|(?P<run>[(（][ \t]{{0,20}}{run}[ \t]{{0,20}}[)）]|{run})", re.IGNORECASE
    )


def parts(answer: str, style: Style, known: Set[int] = frozenset()) -> Iterator[Part]:
    """Give the parts of an answer in order; their texts together are the answer.

    ``known`` are the ids that an anchor may name without hashes behind it: ``##2272``, which may be a heading.
    """
    for fenced, text in _blocks(answer):
        if fenced:
            yield Part(Kind.BLOCK, text)
        else:
            yield from _inline(text, style, known)


def _blocks(answer: str) -> Iterator[tuple[bool, str]]:
    held: list[str] = []
    fence = ""
    for row in answer.splitlines(keepends=True):
        found = _FENCE.match(row)
        if fence:
            held.append(row)
            if found and found[1].startswith(fence) and not found[2].strip():
                yield True, "".join(held)
                held, fence = [], ""
        elif found:
            if held:
                yield False, "".join(held)
            held, fence = [row], found[1]
        else:
            held.append(row)
    if held:
        yield bool(fence), "".join(held)


def _inline(text: str, style: Style, known: Set[int]) -> Iterator[Part]:
    at = 0
    for found in _pattern(style).finditer(text):
        part = _part(found, style, known)
        if part is None:
            continue
        if found.start() > at:
            yield Part(Kind.PROSE, text[at : found.start()])
        yield part
        at = found.end()
    if at < len(text):
        yield Part(Kind.PROSE, text[at:])


def _part(found: re.Match[str], style: Style, known: Set[int]) -> Part | None:
    for name, kind in (("code", Kind.CODE), ("link", Kind.LINK), ("own", Kind.FOOTNOTE)):
        if found[name] is not None:
            return Part(kind, found[0])
    marks = tuple(anchors.marks(found[0], style))
    if any(not mark.closed and mark.numbers[0][0] not in known for mark in marks):
        return None
    # An element of an array, `x[1]`, outside of code.
    if found[0][0] == "[" and _LETTER_ONLY.search(found.string[max(found.start() - 2, 0) : found.start()]):
        return None
    return Part(Kind.CITATION, found[0], marks, found.string[found.end() : found.end() + 1])
