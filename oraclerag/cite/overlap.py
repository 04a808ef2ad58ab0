"""Whether a sentence rests on what it cites, by the words that both have: a cheap test that finds the gross cases.

A sentence in another language than its source shares names and numbers only, and is counted as unsupported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass

from oraclerag import error_codes
from oraclerag.cite.scan import Kind, Part
from oraclerag.function_words import FUNCTION_WORDS

__all__ = ["Sentence", "place", "prose", "sentences", "supported", "words"]

SHARED = 0.3
"""The share of its content words that a sentence must have from what it cites.

What is told in other words keeps its names, numbers and terms, a third of its words at the least; about something else,
one word in five is there by chance.
"""

MIN_WORDS = 3
"""Content words that make a sentence a statement: "Yes." and "See below." need no source."""

STEM = 5
"""Letters in which forms of one word agree, in English and in Spanish: index, indexes, indexing; tabla, tablas."""

_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_PLACES = f"(?:[ \\t]*{_OPEN}\\d+{_CLOSE})*+"  # never parted from its sentence, hence possessive
_PRIVATE = re.compile(f"[{_OPEN}{_CLOSE}]")

_WORD = re.compile(r"[^\W_]+")
_END = re.compile(rf"[.!?…]+[\"'”’»)\]*_]{{0,4}}{_PLACES}(?=\s|$)|[。！？]{_PLACES}")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|p\.\s?ej|etc|vs|cf|ca|approx|aprox|Dr|Dra|Mr|Mrs|Ms|Sr|Sra|St|No|Nr|art|fig"
    r"|pág|pag|núm|num|cap|sec|vol|ver)\.$",
    re.IGNORECASE,
)
_STARTS = re.compile(r"[ \t>]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|\|)?")
_ALONE = re.compile(r"[ \t>]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|\|)")
_NO_SENTENCE = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|\[\^|[-|:=*_ \t]+$)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The content words of a sentence that states something, and the runs of citations in it."""

    words: frozenset[str]
    runs: tuple[int, ...]


def place(run: int) -> str:
    """Give what stands for a run of citations in :func:`prose`."""
    return f"{_OPEN}{run}{_CLOSE}"


def prose(part: Part) -> str:
    """Give a part of an answer as a text of sentences; blocks of code are none."""
    text = _PRIVATE.sub(" ", part.text)
    if part.kind is Kind.BLOCK:
        return "\n\n"
    if part.kind is Kind.CODE:
        return re.sub(r"[.!?…\s]+", " ", text.strip("`"))
    if part.kind is Kind.LINK:
        return text.lstrip("!").partition("](")[0].lstrip("[") if "](" in text else " "
    return text


def sentences(text: str) -> Iterator[Sentence]:
    """Give the sentences of a text that state something: neither headings nor questions, nor what begins a list.

    A citation behind the full stop, or in a line of its own, belongs to the sentence before it.
    """
    for paragraph in _paragraphs(text):
        for sentence in _split(paragraph):
            runs = tuple(int(run) for run in _PLACE.findall(sentence))
            bare = _PLACE.sub(" ", sentence).strip()
            found = words(bare)
            if len(found) >= MIN_WORDS and not bare.rstrip("*_\"'”’») ").endswith((":", "?", "？", "：")):
                yield Sentence(found, runs)


def _paragraphs(text: str) -> Iterator[str]:
    held = ""
    for row in text.split("\n"):
        bare = _PLACE.sub("", row)
        if _PLACE.search(row) and not bare.strip(" \t>.,;()") and held:
            held += " " + row
            continue
        if not bare.strip():
            # Citations may still follow in a line of their own.
            held += "\n"
            continue
        if held.endswith("\n") or _ALONE.match(row) or _NO_SENTENCE.match(row):
            yield held
            held = ""
        if _NO_SENTENCE.match(row):
            continue
        held = f"{held} {row}" if held else row[_STARTS.match(row).end() :]  # type: ignore[union-attr]
    yield held


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(paragraph):
        following = paragraph[found.end() :].lstrip()
        if following[:1].islower():
            continue
        if _ABBREVIATED.search(paragraph[max(start, found.start() - 12) : found.start() + 1]) and found[0][0] == ".":
            continue
        yield paragraph[start : found.end()]
        start = found.end()
    yield paragraph[start:]


def _plain(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    return "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))


# Words that sentences about anything share; those of answers among them.
_COMMON = frozenset(map(_plain, FUNCTION_WORDS)) | frozenset(("source", "sources", "fuente", "fuentes", "segun"))


def words(text: str) -> frozenset[str]:
    """Give the content words of a text: error codes in their normal form, numbers, and the stems of words."""
    codes = error_codes.find(text)
    found = {code.code for code in codes}
    for code in reversed(codes):
        text = f"{text[: code.start]} {text[code.end :]}"
    for word in _WORD.findall(_plain(text)):
        if word in _COMMON:
            continue
        if any(char.isdigit() for char in word):
            found.add(word)
        elif len(word) > 2:
            found.add(word[:STEM])
    return frozenset(found)


def supported(sentence: Set[str], cited: Set[str]) -> bool:
    """Whether a sentence has enough of its content words from what it cites."""
    return len(sentence & cited) >= SHARED * len(sentence)
