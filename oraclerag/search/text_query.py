"""A question → the words that its text leg looks for, and the Oracle Text query of them; pure text work.

Whatever a person types is data: every word stands in braces, so no character and no reserved word of Oracle Text means
anything, and no question is a syntax error. Words are joined with ACCUM, which ranks what has more of them higher;
error codes and identifiers (``ORA-00060``, ``AP_INVOICES_ALL``) are phrases, because the default lexer of a CONTEXT
index parts words at punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from oraclerag import error_codes
from oraclerag.function_words import FUNCTION_WORDS

__all__ = ["MAX_TERMS", "Term", "TextQuery", "text_query"]

MAX_TERMS = 32
"""The most words and phrases that are looked for; of a longer question the codes and what comes first."""

_MAX_BYTES = 900  # of the whole query: it is bound inside a function, where over 1,000 bytes it would be a LONG
_MAX_TOKEN_BYTES = 64  # what the index keeps of a token

# A point or comma between digits may part tokens or not: the lexer of the index decides, for the text and for this.
_TOKEN = r"[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*"  # noqa: S105 - of a text
_PIECE = re.compile(rf"{_TOKEN}(?:[-_/.:$#@]+{_TOKEN})*")
_PARTS = re.compile(_TOKEN)
_IDENTIFIER = re.compile(r"[\d_$#]")

Term = tuple[str, ...]
"""A word, or the tokens of a phrase."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """What the text leg looks for; false where the question has no word."""

    terms: tuple[Term, ...] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def contains(self) -> str:
        """The query for CONTAINS: ``{late} ACCUM {ORA} {00060}``; at most 1,000 bytes."""
        return " ACCUM ".join(map(_phrase, self.terms))


def text_query(question: str) -> TextQuery:
    """Read the words of a question: codes first, then the others in order, each once, whatever their case."""
    kept: dict[Term, Term] = {}
    size = 0
    pieces = list(_pieces(question))
    # Function words are left out while there are others: ACCUM counts words, and would rank a text that has all of them
    # above one that has the word that matters.
    telling = [term for term in pieces if len(term) > 1 or term[0].lower() not in FUNCTION_WORDS]
    for term in (*_codes(question), *(telling or pieces)):
        key = tuple(token.lower() for token in term)
        if key in kept or any(len(token.encode("utf-8", "replace")) > _MAX_TOKEN_BYTES for token in term):
            continue
        size += len(_phrase(term).encode("utf-8", "replace")) + len(" ACCUM ")
        if size > _MAX_BYTES or len(kept) == MAX_TERMS:
            break
        kept[key] = term
    return TextQuery(tuple(kept.values()))


def _codes(question: str) -> Iterator[Term]:
    for found in error_codes.find(question, any_case=True):
        yield tuple(_PARTS.findall(found.code))


def _pieces(question: str) -> Iterator[Term]:
    for match in _PIECE.finditer(question):
        tokens = tuple(_PARTS.findall(match[0]))
        if len(tokens) > 1 and _IDENTIFIER.search(match[0]):
            yield tokens
        else:  # two words that a hyphen or a slash joins are found apart too
            yield from ((token,) for token in tokens)


def _phrase(term: Term) -> str:
    return " ".join("{" + token.replace("}", "}}") + "}" for token in term)
