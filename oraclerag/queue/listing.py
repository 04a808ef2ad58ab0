"""Queue rows, and errors: which there are, how many rows of each, and one example."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import Database, own_tables
from oraclerag.errors import InputError
from oraclerag.queue.choice import Choice, tenant_of
from oraclerag.queue.status import LANES, QueueState, utc
from oraclerag.records import Action, SourceKey
from oraclerag.statements import Statements

__all__ = ["ErrorGroup", "QueueRow", "errors", "rows"]


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One announced change. Times are UTC; ``error`` says what went wrong last, without source text."""

    id: int
    key: SourceKey
    action: Action
    state: QueueState
    lane: str
    enqueued_at: dt.datetime
    available_at: dt.datetime
    claimed: bool
    attempts: int
    crashes: int
    error_code: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """Rows that failed with the same error and are in the same state: READY ones will be tried again, DEAD ones not.

    ``entities`` they concern, ``oldest`` was enqueued then (UTC), ``due`` is when the first is tried again (UTC; None
    where none is free), ``example`` is the key of one of them and ``message`` what it said, without source text.
    """

    error: str
    state: QueueState
    rows: int
    entities: int
    oldest: dt.datetime
    due: dt.datetime | None
    example: SourceKey
    message: str | None


def rows(
    database: Database, choice: Choice | None = None, *, state: QueueState | None = None, limit: int = 50
) -> list[QueueRow]:
    """Give the oldest rows of the queue, at most ``limit`` (1 to 10,000), of one ``state`` or of all."""
    _check(state, limit)
    found: list[QueueRow] = []
    with database.connect() as connection, connection.cursor() as cursor:
        for condition, binds in _conditions(choice, state, connection, database.schema):
            with own_tables():
                cursor.arraysize = cursor.prefetchrows = min(limit, 1000) + 1
                statement = Statements("queue", database.schema).with_names("rows", filter=condition)
                cursor.execute(statement, {**binds, "how_many": limit})
                found += [_row(values) for values in cursor]
    return sorted(found, key=lambda row: (row.enqueued_at, row.id))[:limit]


def errors(
    database: Database, choice: Choice | None = None, *, state: QueueState | None = None, limit: int = 50
) -> list[ErrorGroup]:
    """Give the errors that queue rows have, most rows first, at most ``limit`` (1 to 10,000) groups. One pass."""
    _check(state, limit)
    if choice is not None and choice.keys is not None:
        raise InputError("Errors are grouped over all keys: keys cannot be chosen.")
    with database.connect() as connection, connection.cursor() as cursor:
        [(condition, binds)] = _conditions(choice, state, connection, database.schema)
        with own_tables():
            statement = Statements("queue", database.schema).with_names("errors", filter=condition)
            cursor.execute(statement, {**binds, "how_many": limit})
            return [
                ErrorGroup(
                    error=code,
                    state=shown,
                    rows=int(count),
                    entities=int(entities),
                    oldest=utc(oldest),
                    due=None if due is None else utc(due),
                    example=SourceKey(source, entity, tenant_of(tenant)),
                    message=message,
                )
                for code, shown, count, entities, oldest, due, source, entity, tenant, message in cursor
            ]


def _check(state: str | None, limit: int) -> None:
    if state not in (None, "READY", "DEAD"):
        raise InputError(f"The state must be READY or DEAD, not {state!r}.")
    if not 1 <= limit <= 10_000:
        raise InputError(f"The limit is {limit}, but must be between 1 and 10,000.")


def _conditions(
    choice: Choice | None, state: str | None, connection: oracledb.Connection, schema: str
) -> list[tuple[str, dict[str, Any]]]:
    found = list((choice or Choice()).conditions(connection, schema))
    if state is None:
        return found
    return [(f"d.STATE = :one_state AND {condition}", {**binds, "one_state": state}) for condition, binds in found]


def _row(values: tuple[Any, ...]) -> QueueRow:
    (
        number,
        source,
        entity,
        tenant,
        action,
        state,
        lane,
        enqueued,
        available,
        claim,
        attempts,
        crashes,
        code,
        error,
    ) = values
    return QueueRow(
        id=int(number),
        key=SourceKey(source, entity, tenant_of(tenant)),
        action=action,
        state=state,
        lane=LANES[lane],
        enqueued_at=utc(enqueued),
        available_at=utc(available),
        claimed=claim is not None,
        attempts=int(attempts),
        crashes=int(crashes),
        error_code=code,
        error=error,
    )
