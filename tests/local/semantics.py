"""What expressions are worth in Oracle: the rows that the tests of semantics ask a database for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb


@dataclass(frozen=True, slots=True)
class Refuses:
    """In place of a value: the expression is refused with this number."""

    number: int


def at(*parts: int) -> dt.datetime:
    """Give a DATE or TIMESTAMP as the driver does, without a zone."""
    return dt.datetime(*parts)  # type: ignore[arg-type] # noqa: DTZ001


Case = tuple[str, Any]
"""An expression over DUAL, or a query that begins with SELECT or WITH, and the value or the rows it has."""


def found(cursor: oracledb.Cursor, expression: str, binds: Mapping[str, Any] | Sequence[Any] | None = None) -> Any:
    """Give what an expression is worth, the rows of a query, or the number of the error."""
    query = expression.startswith(("SELECT ", "WITH "))
    statement = expression if query else f"SELECT {expression} FROM dual"
    try:
        cursor.execute(statement, binds, fetch_decimals=True)
        rows = [tuple(plain(value) for value in row) for row in cursor]
    except oracledb.DatabaseError as error:
        return Refuses(error.args[0].code)
    return rows if query else rows[0][0]


def plain(value: Any) -> Any:
    """Read a LOB; a number is the same whatever its digits are written like."""
    return value.read() if isinstance(value, oracledb.LOB) else value


def unlike(cursor: oracledb.Cursor, cases: Sequence[Case]) -> list[tuple[str, Any, Any]]:
    """Give what is not as it must be: the expression, what it must give, what it gives."""
    wrong = []
    for expression, wanted in cases:
        value = found(cursor, expression)
        if value != wanted or (isinstance(wanted, str) != isinstance(value, str)):
            wrong.append((expression, wanted, value))
    return wrong
