"""The statements of a search as they are sent: a question's vector, the search itself, why nothing may be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oraclerag.database import bind_types
from oraclerag.errors import InputError
from oraclerag.model.active import ActiveModel
from oraclerag.search.compose import Statement, concatenated, pieces
from oraclerag.statements import Statements

if TYPE_CHECKING:
    import oracledb

__all__ = ["embed", "fetched", "still_in_force"]


def still_in_force(connection: oracledb.Connection, model: ActiveModel) -> bool:
    """Whether a model has been in force all the time since it was read; where not, that is why nothing was found.

    Raises InputError for a session for which 'a' equals 'A': there no scope may be true.
    """
    with connection.cursor() as cursor:
        cursor.execute(Statements("search", model.schema)["nothing_found"])
        row = cursor.fetchone()
    assert row is not None  # noqa: S101 - dual has one row
    ignores_case, physical_name, since = row
    if ignores_case:
        raise InputError(
            "The session compares texts without their case (NLS_COMP=LINGUISTIC with an NLS_SORT such as BINARY_CI), "
            "which would let one tenant into another's data: nothing is searched in it.",
            hint="Search on a connection of its own, or run ALTER SESSION SET NLS_COMP = BINARY on this one first.",
        )
    return (physical_name, since) == (model.physical_name, model.since)


def embed(connection: oracledb.Connection, model: ActiveModel, text: str) -> Any:
    """Have the database make the vector of a text."""
    parts = pieces(text)
    statement = Statements("search", model.schema).with_names("embed", model=model.sql_name, text=concatenated(parts))
    with connection.cursor() as cursor:
        cursor.execute(statement, {f"question{number}": part for number, part in enumerate(parts)})
        row = cursor.fetchone()
        assert row is not None  # noqa: S101 - dual has one row
        return row[0]


def fetched(
    connection: oracledb.Connection, statement: Statement, vector: Mapping[str, Any], k: int
) -> list[tuple[Any, ...]]:
    """Send a search and give its rows."""
    with connection.cursor() as cursor:
        # one more than wanted: the answer to the execute then says that there are no more rows
        cursor.prefetchrows = cursor.arraysize = min(k + 1, 1000)
        if types := bind_types(statement.binds):
            cursor.setinputsizes(**types)
        cursor.execute(statement.text, {**statement.binds, **vector})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
