"""VECTOR_CHUNKS in FROM, where the documentation says exactly what it gives: pieces of so many characters.

Everything else that it can do depends on rules of Oracle's that are described, not defined: what a word is, where a
sentence ends, which blanks belong to a piece. It is read, held against its limits, and refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from oraclerag.local.engine.scope import Columns
from oraclerag.local.engine.tree import Node
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser

COLUMNS: Columns = {"CHUNK_OFFSET": "number", "CHUNK_LENGTH": "number", "CHUNK_TEXT": "text"}

_MOST = {"CHARACTERS": (50, 4000), "WORDS": (10, 1000), "VOCABULARY": (10, 1000)}
_SPLITS = ("NONE", "NEWLINE", "BLANKLINE", "SPACE", "RECURSIVELY", "SENTENCE", "CUSTOM")
_CUSTOM, _CUSTOM_BYTES = 16, 10


def table(parser: ExpressionParser) -> Node:
    """Read VECTOR_CHUNKS, the name is already behind; give its text."""
    parser.need("(")
    text = parser.expression()
    unit = _unit(parser)
    most, overlap = _sizes(parser, unit)
    split = _split(parser, unit)
    if parser.accept("LANGUAGE"):
        parser.position += 1  # a name: it decides where words and sentences end, and is of no weight without them
    normalize = _normalize(parser)
    extended = parser.accept("EXTENDED")
    parser.need(")")
    if unit != "CHARACTERS":
        parser.unsupported(f"VECTOR_CHUNKS by {unit.lower()}")
    if split != "NONE":
        parser.unsupported(f"VECTOR_CHUNKS with SPLIT BY {split}")
    if overlap:
        parser.unsupported("VECTOR_CHUNKS with OVERLAP")
    if normalize != "NONE":
        parser.unsupported("VECTOR_CHUNKS with NORMALIZE")
    if extended:
        parser.unsupported("VECTOR_CHUNKS with EXTENDED")
    return Node("ora.vector_chunks(", text, f", {most})")


def _unit(parser: ExpressionParser) -> str:
    if not parser.accept("BY"):
        return "WORDS"
    if parser.accept("CHARACTERS") or parser.accept("CHARS"):
        return "CHARACTERS"
    if parser.accept("WORDS"):
        return "WORDS"
    if not parser.accept("VOCABULARY"):
        parser.unexpected()
    parser.identifier()
    if parser.accept("."):
        parser.identifier()
    return "VOCABULARY"


def _sizes(parser: ExpressionParser, unit: str) -> tuple[int, int]:
    most, overlap = 100, 0
    if parser.at("MAX"):
        position = parser.token.position
        parser.position += 1
        low, high = _MOST[unit]
        most = _number(parser)
        if not low <= most <= high:
            raise OraError(30584, f"invalid text chunking MAX specification - '{most}'", position)
    if parser.at("OVERLAP"):
        position = parser.token.position
        parser.position += 1
        overlap = _number(parser)
        if overlap and not 5 * most <= overlap * 100 <= 75 * most:
            raise OraError(30585, f"invalid text chunking OVERLAP specification - '{overlap}'", position)
    return most, overlap


def _number(parser: ExpressionParser) -> int:
    if parser.token.kind != "number" or not parser.token.text.isdigit():
        parser.unexpected()
    parser.position += 1
    return int(parser.tokens[parser.position - 1].text)


def _split(parser: ExpressionParser, unit: str) -> str:
    if not parser.accept("SPLIT"):
        return "RECURSIVELY"
    parser.accept("BY")
    how = parser.token.upper
    position = parser.token.position
    if how not in _SPLITS:
        parser.unexpected()
    parser.position += 1
    if how == "SENTENCE" and unit == "CHARACTERS":
        raise OraError(30586, "invalid text chunking SPLIT BY specification - 'SENTENCE'", position)
    if how == "CUSTOM":
        _custom(parser, position)
    return how


def _custom(parser: ExpressionParser, position: int) -> None:
    parser.need("(")
    texts = [_text(parser)]
    while parser.accept(","):
        texts.append(_text(parser))
    parser.need(")")
    if len(texts) > _CUSTOM or any(len(text.encode()) > _CUSTOM_BYTES for text in texts):
        raise OraError(30587, "invalid text chunking custom SPLIT specification", position)


def _text(parser: ExpressionParser) -> str:
    if parser.token.kind != "string":
        parser.unexpected()
    parser.position += 1
    return parser.tokens[parser.position - 1].value


def _normalize(parser: ExpressionParser) -> str:
    if not parser.accept("NORMALIZE"):
        return "NONE"
    if parser.accept("NONE"):
        return "NONE"
    if parser.accept("ALL"):
        return "ALL"
    parser.need("(")
    while parser.accept("PUNCTUATION") or parser.accept("WHITESPACE") or parser.accept("WIDECHAR"):
        if not parser.accept(","):
            break
    parser.need(")")
    return "SOME"


def call(parser: ExpressionParser, name: str) -> NoReturn:  # noqa: ARG001 - as all
    """Refuse it as an expression: it gives rows."""
    parser.unsupported("VECTOR_CHUNKS outside of FROM")
