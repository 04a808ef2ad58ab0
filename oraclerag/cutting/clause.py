"""How VECTOR_CHUNKS is to cut: what a setting says, checked word by word and written again.

It stands in SQL as it is, for its numbers and names must be literals there: so nothing of the setting gets into a
statement that was not recognised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from oraclerag.errors import ConfigurationError

__all__ = ["ChunkClause", "chunk_clause"]

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z][A-Za-z0-9_$#]*)|(?P<number>\d{1,9})|(?P<text>'(?:[^'\x00-\x1f\x7f]|'')*')"
    r'|(?P<name>"[A-Za-z][A-Za-z ]{0,60}")|(?P<mark>[(),.]))',
    re.ASCII,
)
_MOST = {"CHARACTERS": (50, 4000), "WORDS": (10, 1000), "VOCABULARY": (10, 1000)}
_SPLITS = ("NONE", "NEWLINE", "BLANKLINE", "SPACE", "RECURSIVELY", "SENTENCE")
_NORMS = ("PUNCTUATION", "WHITESPACE", "WIDECHAR")
_OVERLAP = (5, 20)  # percent of MAX; releases differ in what they take above
_CUSTOM, _CUSTOM_BYTES = 16, 10
# Abbreviations of languages that are reserved words must be quoted, and so must names with a blank.
_QUOTED = frozenset({"IN", "AS", "OR", "IS"})


@dataclass(frozen=True, slots=True)
class ChunkClause:
    """The clause as it stands behind the text in VECTOR_CHUNKS, and whether it changes the text (NORMALIZE)."""

    sql: str
    normalizes: bool


def chunk_clause(text: str) -> ChunkClause:
    """Check a clause such as ``BY WORDS MAX 100 OVERLAP 10 SPLIT BY SENTENCE LANGUAGE AMERICAN NORMALIZE ALL``.

    Its parts may be left out, and stand in this order; '' leaves everything to the database. MAX is 50 to 4,000
    characters, or 10 to 1,000 words or tokens of a vocabulary; OVERLAP 0, or 5 to 20 percent of it. EXTENDED is
    refused: a chunk has at most 4,000 bytes. Raises ConfigurationError.
    """
    reader = _Reader(text)
    parts, unit = _by(reader)
    most = 100
    if reader.accept("MAX"):
        low, high = _MOST[unit]
        most = reader.number("MAX", low, high)
        parts.append(f"MAX {most}")
    if reader.accept("OVERLAP"):
        overlap = reader.number("OVERLAP", 0, most)
        if overlap and not most * _OVERLAP[0] <= overlap * 100 <= most * _OVERLAP[1]:
            raise reader.wrong(
                f"OVERLAP is {overlap}, but must be 0 or {_OVERLAP[0]} to {_OVERLAP[1]} % of MAX ({most})"
            )
        parts.append(f"OVERLAP {overlap}")
    if reader.accept("SPLIT"):
        reader.accept("BY")
        parts.append(f"SPLIT BY {_split(reader, unit)}")
    if reader.accept("LANGUAGE"):
        parts.append(f"LANGUAGE {_language(reader)}")
    normalizes = False
    if reader.accept("NORMALIZE"):
        how = _normalize(reader)
        normalizes = how != "NONE"
        parts.append(f"NORMALIZE {how}")
    reader.end()
    return ChunkClause(" ".join(parts), normalizes)


def _by(reader: _Reader) -> tuple[list[str], str]:
    if not reader.accept("BY"):
        return [], "WORDS"
    unit = reader.one_of("BY", ("CHARACTERS", "CHARS", "WORDS", "VOCABULARY"))
    if unit != "VOCABULARY":
        unit = "CHARACTERS" if unit == "CHARS" else unit
        return [f"BY {unit}"], unit
    name = reader.take("word", "BY VOCABULARY needs the name of a vocabulary")
    if reader.accept("."):
        name += "." + reader.take("word", "BY VOCABULARY needs the name of a vocabulary")
    return [f"BY VOCABULARY {name.upper()}"], unit


def _split(reader: _Reader, unit: str) -> str:
    how = reader.one_of("SPLIT BY", (*_SPLITS, "CUSTOM"))
    if how == "SENTENCE" and unit == "CHARACTERS":
        raise reader.wrong("SPLIT BY SENTENCE does not go with BY CHARACTERS")
    if how != "CUSTOM":
        return how
    reader.need("(")
    texts = [reader.take("text", "CUSTOM needs texts in single quotes")]
    while reader.accept(","):
        texts.append(reader.take("text", "CUSTOM needs texts in single quotes"))
    reader.need(")")
    if len(texts) > _CUSTOM or any(not 0 < len(t[1:-1].replace("''", "'").encode()) <= _CUSTOM_BYTES for t in texts):
        raise reader.wrong(f"CUSTOM takes at most {_CUSTOM} texts of 1 to {_CUSTOM_BYTES} bytes")
    return f"CUSTOM ({', '.join(texts)})"


def _language(reader: _Reader) -> str:
    if reader.kind == "name":
        return reader.take("name", "LANGUAGE needs a name").upper()
    name = reader.take("word", "LANGUAGE needs the name of a language").upper()
    return f'"{name}"' if name in _QUOTED else name


def _normalize(reader: _Reader) -> str:
    if not reader.accept("("):
        return reader.one_of("NORMALIZE", ("NONE", "ALL"))
    found = [reader.one_of("NORMALIZE", _NORMS)]
    while reader.accept(","):
        found.append(reader.one_of("NORMALIZE", _NORMS))
    reader.need(")")
    return f"({', '.join(dict.fromkeys(found))})"


class _Reader:
    """The words of a clause, one after the other."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        self._at = 0
        at = 0
        while at < len(text) and not text[at:].isspace():
            found = _TOKEN.match(text, at)
            if found is None:
                raise self.wrong(f"it cannot be read from {text[at : at + 20].lstrip()!r} on")
            kind = str(found.lastgroup)
            self._tokens.append((kind, found[kind]))
            at = found.end()

    @property
    def kind(self) -> str:
        """What comes: word, number, text, name, mark; '' at the end."""
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    @property
    def _value(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else "the end"

    def wrong(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"vector_chunks: {what}.",
            hint='Such as "BY WORDS MAX 100 OVERLAP 10 SPLIT BY SENTENCE LANGUAGE AMERICAN NORMALIZE NONE".',
        )

    def accept(self, word: str) -> bool:
        if self.kind in ("word", "mark") and self._value.upper() == word:
            self._at += 1
            return True
        return False

    def need(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.wrong(f"{mark!r} is expected before {self._value!r}")

    def take(self, kind: str, otherwise: str) -> str:
        if self.kind != kind:
            raise self.wrong(otherwise)
        self._at += 1
        return self._tokens[self._at - 1][1]

    def one_of(self, what: str, words: tuple[str, ...]) -> str:
        for word in words:
            if self.accept(word):
                return word
        raise self.wrong(f"{what} takes one of {', '.join(words)}, not {self._value!r}")

    def number(self, what: str, low: int, high: int) -> int:
        value = int(self.take("number", f"{what} needs a number"))
        if not low <= value <= high:
            raise self.wrong(f"{what} is {value:,}, but must be between {low:,} and {high:,}")
        return value

    def end(self) -> None:
        if self.kind:
            raise self.wrong(
                f"{self._value!r} is not expected there; the parts and their order are "
                f"BY, MAX, OVERLAP, SPLIT BY, LANGUAGE, NORMALIZE"
            )
