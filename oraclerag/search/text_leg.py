"""The text leg of a hybrid search in this database: which way it looks for words, and what Oracle Text refuses.

A text index is there or not; Oracle Text itself is absent from slim images. Which of it holds is said in the result.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from oraclerag.database import code_of
from oraclerag.errors import TextSearchFailed
from oraclerag.search.fusion import INDEX, TextLeg
from oraclerag.search.request import Request
from oraclerag.search.text_query import text_query
from oraclerag.statements import Statements

if TYPE_CHECKING:
    import oracledb

__all__ = ["INDEX_GONE", "Way", "drg_code", "refused_text", "text_leg", "usable_indexes"]

Way = tuple[Literal["oracle text", "plain"], str]
"""How words are looked for, and why so."""

INDEX_GONE = ("DRG-10599", "ORA-29861")
"""What CONTAINS meets whose index was dropped or has failed since it was looked for."""

_DRG = re.compile(r"\bDRG-\d{5}\b")


def usable_indexes(connection: oracledb.Connection, schema: str) -> tuple[bool, Way]:
    """Say whether there is a vector index, and how the text leg of a hybrid search can look for words."""
    with connection.cursor() as cursor:
        cursor.execute(Statements("search", schema)["usable_indexes"], owner=schema)
        row = cursor.fetchone()
    assert row is not None  # noqa: S101 - dual has one row
    vectors, texts, oracle_text = row
    if texts:
        return vectors > 0, ("oracle text", f"the index {INDEX}")
    if not oracle_text:
        reason = "Oracle Text is not installed in this database"
    elif texts is None:
        reason = "there is no text index (`oraclerag index build --lexical`)"
    else:
        reason = "the text index is not usable (`oraclerag index rebuild --lexical`)"
    return vectors > 0, ("plain", reason)


def text_leg(asked: Request, way: Way, owner: str) -> tuple[TextLeg | None, str]:
    """Give the text leg of a request, if it is to have one and can, and why it is as it is."""
    if not asked.hybrid:
        return None, ""
    words = text_query(asked.question)
    if not words:
        return None, "the question has no words"
    kind, reason = way
    leg = TextLeg(words, kind, asked.weights, asked.candidates, owner=owner)
    if kind == "plain" and not leg.patterns:
        return None, "the question has no words that could be looked for without a text index"
    return leg, reason


def drg_code(error: BaseException) -> str | None:
    """Give Oracle Text's own code of a driver error: Oracle's is only that an index operation failed (ORA-29902)."""
    found = _DRG.search(str(error))
    return found[0] if found else None


@contextlib.contextmanager
def refused_text() -> Iterator[None]:
    """Raise TextSearchFailed where Oracle Text is who refused: a search is not changed without a word."""
    try:
        yield
    except Exception as error:
        code = drg_code(error) if code_of(error) is not None else None
        if code is None:
            raise
        raise TextSearchFailed(f"Oracle Text refused the text leg of a hybrid search ({code}).") from error
