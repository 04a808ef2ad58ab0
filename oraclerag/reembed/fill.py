"""Every chunk that has no vector of the second model gets one, a slice at a time, inside the database.

Rows are taken with SKIP LOCKED, so a fill waits for no worker while it holds some itself; what a worker has locked gets
its vector from that worker, and the next pass looks. How far a fill has come is committed with each slice.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import oracledb

from oraclerag import in_force
from oraclerag.database import in_list, own_tables
from oraclerag.errors import InputError
from oraclerag.model.active import ActiveModel
from oraclerag.statements import Statements, quoted

__all__ = ["SLICE", "fill", "require_still"]

SLICE = 64
"""Chunks of one transaction: their rows are locked while they are embedded, a second or two."""

_AGAIN, _LONGEST = 1.0, 30.0  # seconds before the next pass, where others hold what is missing


def fill(
    connection: oracledb.Connection,
    schema: str,
    model: ActiveModel,
    *,
    begin: int,
    pause: float = 0.0,
    on_progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Embed what has no vector in the column of ``model``, from the chunk behind ``begin`` on; gives how many.

    ``pause`` seconds are left between two slices. ``on_progress`` is told the count after each of them. Commits each.
    Raises InputError where the switch was given up meanwhile, and what the database says.
    """
    statements = Statements("reembed", schema)
    column = quoted(model.column, "vector column")
    filled, done, wait = 0, begin, _AGAIN
    while True:
        taken = _take(connection, statements.with_names("next", column=column), done)
        if taken:
            _embed(connection, statements, model, taken)
            done = taken[-1]
            in_force.put(connection, schema, "*", "second_done", str(done))
            require_still(connection, schema, model)
        with own_tables():
            connection.commit()
        if taken:
            filled, wait = filled + len(taken), _AGAIN
            on_progress(filled)
            if pause:
                time.sleep(pause)
        elif done:
            done = 0  # once more from the beginning: what others had, and what they added with a smaller number
        elif _lacking(connection, statements, column):
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST)
        else:
            return filled


def _take(connection: oracledb.Connection, statement: str, done: int) -> list[int]:
    with connection.cursor() as cursor, own_tables():
        # as many rows are locked as are fetched
        cursor.arraysize = cursor.prefetchrows = SLICE
        cursor.execute(statement, done=done)
        return [int(chunk_id) for (chunk_id,) in cursor.fetchmany(SLICE)]


def _embed(connection: oracledb.Connection, statements: Statements, model: ActiveModel, chunks: list[int]) -> None:
    listed, binds = in_list(chunks)
    prefix = model.passage_prefix
    statement = statements.with_names(
        "embed_prefixed" if prefix else "embed",
        column=quoted(model.column, "vector column"),
        model=model.sql_name,
        ids=listed,
    )
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statement, {**binds, "prefix": prefix} if prefix else binds)


def require_still(connection: oracledb.Connection, schema: str, model: ActiveModel) -> None:
    """Raise InputError, and take back what is not committed, where the model is no longer the one that is to come."""
    now = in_force.read(connection, schema)
    if (now.second_model, now.second_column) != (model.physical_name, model.column):
        with own_tables():
            connection.rollback()
        raise InputError(
            f"{model.physical_name} is no longer the model that is to come: another process ended the switch.",
            hint="`oraclerag reembed --status` says what there is now.",
        )


def _lacking(connection: oracledb.Connection, statements: Statements, column: str) -> bool:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements.with_names("filled", column=column))
        row = cursor.fetchone()
    assert row is not None  # noqa: S101 - an aggregate gives one row
    return int(row[1]) < int(row[0])
