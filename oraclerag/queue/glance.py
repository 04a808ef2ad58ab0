"""A short look at the queue, for who looks every few seconds: one pass over its rows, and the paused sources."""

from __future__ import annotations

from dataclasses import dataclass

import oracledb

from oraclerag.database import own_tables
from oraclerag.queue.status import FAILING, LANES, QueueState
from oraclerag.statements import Statements

__all__ = ["Glance", "Waiting", "glance"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Queue rows of one source, lane and state, as :class:`Backlog` has them, over all tenants.

    ``expired`` of the claimed are with a worker longer than its lease, ``failing`` have failed three times or more.
    """

    source: str
    lane: str
    state: QueueState
    rows: int
    claimed: int
    expired: int
    failing: int
    postponed: int
    age: float


@dataclass(frozen=True, slots=True)
class Glance:
    """What waits, and the sources of which nothing is taken."""

    waiting: tuple[Waiting, ...]
    paused: frozenset[str]


def glance(connection: oracledb.Connection, schema: str) -> Glance:
    """Look, with two statements; neither locks anything or waits for a lock."""
    statements = Statements("queue", schema)
    with connection.cursor() as cursor, own_tables():
        cursor.arraysize = cursor.prefetchrows = 500
        cursor.execute(statements["glance"], failing=FAILING)
        waiting = tuple(
            Waiting(
                source, LANES[lane], state, rows, claimed, expired, failing, postponed,
                age=max((now - oldest).total_seconds(), 0.0),
            )
            for source, lane, state, rows, claimed, expired, failing, postponed, oldest, now in cursor
        )  # fmt: skip
        cursor.execute(statements["paused"])
        paused = frozenset(name for name, _, _ in cursor)
    return Glance(waiting, paused)
