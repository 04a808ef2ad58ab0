"""Whether two databases gave the same answer, value by value and type by type."""

from __future__ import annotations

import array
import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oraclerag.replay.recording import Call, Outcome

__all__ = ["Difference", "compare"]

_CLOCK = dt.timedelta(days=2)  # a time so near to both runs is one that a database gave
_RELATIVE, _ABSOLUTE = 1e-4, 1e-3  # of distances and elements of vectors: other arithmetic, same model
# SQLAlchemy looks up its transaction by number when it connects; another database has other numbers.
_OF_THE_TRANSACTION = re.compile(r"\bV\$TRANSACTION\b|\bLOCAL_TRANSACTION_ID\b", re.IGNORECASE)
# Every database numbers its objects itself.
_NUMBER_OF_ITS_OWN = "OBJECT_ID"
_LITERALS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Difference:
    """One call that was answered otherwise: its number in the recording, what differs, here and there."""

    number: int
    statement: str
    what: str
    recorded: str
    replayed: str


def compare(number: int, call: Call, replayed: Outcome) -> Difference | None:
    """Give the first difference of a call, None where there is none."""

    def difference(what: str, one: object, other: object) -> Difference:
        return Difference(number, call.statement or call.kind.upper(), what, _shown(one), _shown(other))

    recorded = call.outcome
    if recorded.error != replayed.error:
        return difference("error", recorded.error or "no error", replayed.error or "no error")
    for name in ("columns", "row_count", "row_counts", "batch_errors"):
        one, other = getattr(recorded, name), getattr(replayed, name)
        if one != other:
            return difference(name.replace("_", " "), one, other)
    if _OF_THE_TRANSACTION.search(call.statement or ""):
        return None
    if len(recorded.rows) != len(replayed.rows):
        return difference("number of rows", len(recorded.rows), len(replayed.rows))
    own = [place for place, column in enumerate(recorded.columns or ()) if column[0] == _NUMBER_OF_ITS_OWN]
    ones, others = _without(recorded.rows, own), _without(replayed.rows, own)
    pairs = list(zip(ones, others, strict=True))
    wrong = [place for place, (one, other) in enumerate(pairs) if not _same(one, other)]
    if not wrong or (not ordered(call.statement or "") and _same_in_any_order(ones, others)):
        return None
    row = wrong[0]
    for column, one, other in zip(recorded.columns or (), *pairs[row], strict=True):
        if not _same(one, other):
            return difference(f"row {row + 1}, column {column[0]}", _typed(one), _typed(other))
    return None


def _without(rows: Sequence[tuple[Any, ...]], columns: Sequence[int]) -> list[tuple[Any, ...]]:
    """Give rows with the type instead of the value in some columns."""
    if not columns:
        return list(rows)
    return [
        tuple(type(value).__name__ if place in columns else value for place, value in enumerate(row)) for row in rows
    ]


def ordered(statement: str) -> bool:
    """Whether the rows of a query come in an order that it asks for: ORDER BY outside of brackets."""
    text = _LITERALS.sub(" ", statement).upper()
    while (inner := re.sub(r"\([^()]*\)", " ", text)) != text:
        text = inner
    return re.search(r"\bORDER\s+(?:SIBLINGS\s+)?BY\b", text) is not None


def _same_in_any_order(rows: Sequence[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> bool:
    left = list(others)
    for row in rows:
        match = next((place for place, other in enumerate(left) if _same(row, other)), None)
        if match is None:
            return False
        del left[match]
    return True


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    if isinstance(one, dt.datetime):
        return one == other or abs(_naive(one) - _naive(other)) < _CLOCK
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple, array.array)):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _naive(moment: dt.datetime) -> dt.datetime:
    return moment.replace(tzinfo=None)


def _typed(value: object) -> str:
    return f"{_shown(repr(value))} ({type(value).__name__})"


def _shown(value: object) -> str:
    """Show the beginning of a value: the demo's rows are no secret, a vector is long."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
