"""What is in the queue: backlog, oldest change, dead letters. Reading it takes nothing from a worker."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal

from oraclerag.database import Database, own_tables
from oraclerag.errors import InputError
from oraclerag.records import NO_TENANT, Action, SourceKey
from oraclerag.statements import Statements

__all__ = ["Backlog", "QueueRow", "QueueState", "backlog", "rows"]

QueueState = Literal["READY", "DEAD"]
_LANES = ("change", "bulk")


@dataclass(frozen=True, slots=True)
class Backlog:
    """Queue rows of one source, state and lane.

    ``claimed`` of them are with a worker at present, or were when it ended; ``postponed`` are free but wait until they
    are due, the first of them at ``due`` (UTC). ``oldest`` is when the oldest was enqueued (UTC), ``age`` how long ago
    that is, in seconds, by the database's clock.
    """

    source: str
    state: QueueState
    lane: str
    rows: int
    claimed: int
    oldest: dt.datetime
    age: float
    postponed: int = 0
    due: dt.datetime | None = None


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


def backlog(database: Database) -> list[Backlog]:
    """Count the queue rows by source, state and lane; an empty list is an empty queue."""
    statements = Statements("queue", database.schema)
    with database.connect() as connection, connection.cursor() as cursor, own_tables():
        cursor.execute(statements["backlog"])
        return [
            Backlog(
                source=source,
                state=state,
                lane=_LANES[lane],
                rows=int(count),
                claimed=int(claimed),
                oldest=_utc(oldest),
                age=(now - oldest).total_seconds(),
                postponed=int(postponed),
                due=None if due is None else _utc(due),
            )
            for source, state, lane, count, claimed, postponed, due, oldest, now in cursor
        ]


def rows(database: Database, *, state: str | None = None, limit: int = 50) -> list[QueueRow]:
    """Give the oldest rows of the queue, at most ``limit`` (1 to 10,000), of one ``state`` or of all."""
    if state not in (None, "READY", "DEAD"):
        raise InputError(f"The state must be READY or DEAD, not {state!r}.")
    if not 1 <= limit <= 10_000:
        raise InputError(f"The limit is {limit}, but must be between 1 and 10,000.")
    statements = Statements("queue", database.schema)
    with database.connect() as connection, connection.cursor() as cursor, own_tables():
        if state is None:
            cursor.execute(statements["rows"], how_many=limit)
        else:
            cursor.execute(statements["rows_in_state"], how_many=limit, state=state)
        return [_row(values) for values in cursor]


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
        key=SourceKey(source, entity, None if tenant == NO_TENANT else tenant),
        action=action,
        state=state,
        lane=_LANES[lane],
        enqueued_at=_utc(enqueued),
        available_at=_utc(available),
        claimed=claim is not None,
        attempts=int(attempts),
        crashes=int(crashes),
        error_code=code,
        error=error,
    )


def _utc(moment: dt.datetime) -> dt.datetime:
    return moment.replace(tzinfo=dt.UTC)
