"""The state of the queue in one record: backlog, lag, failures, claims, pauses, and how fast it is worked off.

Four statements, whatever the size: one pass over RAG_DIRTY, one over RAG_ENTITY (narrow rows), one that looks up chunks
of the entities that failed, one over RAG_SETTING. None locks anything or waits for a lock.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import oracledb

from oraclerag.database import Database, own_tables
from oraclerag.errors import EmbeddingBudgetSpent, InputError
from oraclerag.queue.choice import tenant_of
from oraclerag.records import Problem
from oraclerag.statements import Statements

__all__ = ["FAILING", "LANES", "WINDOW", "Backlog", "Lag", "PausedSource", "QueueState", "QueueStatus", "status"]

QueueState = Literal["READY", "DEAD"]
LANES = ("change", "bulk")
WINDOW = 300.0
"""Seconds over which the rate is measured."""
FAILING = 3
"""Failures from which a row is counted as failing."""


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
class Lag:
    """How far the index is behind for one lane and tenant: the oldest change that is not applied and not given up.

    ``tenant`` is None where the rows name none; ``age`` is in seconds by the database's clock.
    """

    lane: str
    tenant: str | None
    rows: int
    oldest: dt.datetime
    age: float


@dataclass(frozen=True, slots=True)
class PausedSource:
    """A source of which no worker takes rows: why, and since when (UTC)."""

    source: str
    reason: str
    since: dt.datetime


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The queue at one moment, ``at`` (UTC, the database's clock).

    ``ready`` rows are to be applied, whether claimed, postponed or due; ``dead`` ones were given up; ``failing`` ones
    are ready and have failed three times or more. ``claimed`` rows and ``held`` entities are with a worker,
    ``…_expired`` of them longer than its lease: the worker died, or is slow. ``hidden`` counts entities that nobody
    sees, because their rights could not be read. ``lag`` begins with the oldest.

    ``settled`` entities were settled in the last ``window`` seconds, ``rate`` is that per second, and ``empty_in`` is
    in how many seconds the backlog is worked off at that rate, at most: an entity with several rows is settled once.
    Both are None where nothing was settled lately; ``empty_in`` is 0 where nothing waits.
    """

    at: dt.datetime
    ready: int
    dead: int
    failing: int
    claimed: int
    claimed_expired: int
    held: int
    held_expired: int
    hidden: int
    settled: int
    window: float
    rate: float | None
    empty_in: float | None
    lag: tuple[Lag, ...]
    backlog: tuple[Backlog, ...]
    paused: tuple[PausedSource, ...]
    problems: tuple[Problem, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def status(database: Database, *, max_lag: float | None = None) -> QueueStatus:
    """Look at the queue. Rows that were given up and paused sources are problems; so is a lag over ``max_lag`` seconds.

    Raises InputError for a negative ``max_lag``, SchemaMissing.
    """
    if max_lag is not None and not (max_lag >= 0 and math.isfinite(max_lag)):
        raise InputError(f"max_lag is {max_lag}, but must be a number of seconds from 0 on.")
    with database.connect() as connection:
        return read(connection, database.schema, max_lag=max_lag)


def read(connection: oracledb.Connection, schema: str, *, max_lag: float | None = None) -> QueueStatus:
    """Like :func:`status`, on a connection."""
    statements = Statements("queue", schema)
    with connection.cursor() as cursor, own_tables():
        cursor.arraysize = cursor.prefetchrows = 1000
        cursor.execute(statements["backlog"], failing=FAILING)
        groups = [_Group(*row) for row in cursor]
        cursor.execute(statements["entities"], window=WINDOW)
        found = cursor.fetchone()
        cursor.execute(statements["hidden"])
        hidden = cursor.fetchone()
        cursor.execute(statements["paused"])
        paused = tuple(PausedSource(name, why, utc(since)) for name, why, since in cursor)
    assert found is not None  # noqa: S101 - aggregates give one row
    assert hidden is not None  # noqa: S101
    now, held, held_expired, settled = found
    ready = sum(group.rows for group in groups if group.state == "READY")
    dead = sum(group.rows for group in groups if group.state == "DEAD")
    rate = int(settled) / WINDOW if settled else None
    lag = _lag(groups, now)
    return QueueStatus(
        at=utc(now),
        ready=ready,
        dead=dead,
        failing=sum(group.failing for group in groups),
        claimed=sum(group.claimed for group in groups),
        claimed_expired=sum(group.expired for group in groups),
        held=int(held),
        held_expired=int(held_expired),
        hidden=int(hidden[0]),
        settled=int(settled),
        window=WINDOW,
        rate=rate,
        empty_in=0.0 if not ready else None if rate is None else ready / rate,
        lag=lag,
        backlog=_backlog(groups, now),
        paused=paused,
        problems=(*_problems(dead, paused, lag, max_lag), *_unpaid(groups)),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """One row of the statement: a source, tenant, lane and state."""

    source: str
    tenant: str
    lane: int
    state: QueueState
    rows: int
    claimed: int
    expired: int
    failing: int
    postponed: int
    due: dt.datetime | None
    oldest: dt.datetime
    unpaid: int = 0


def _backlog(groups: Iterable[_Group], now: dt.datetime) -> tuple[Backlog, ...]:
    together: dict[tuple[str, bool, int], list[_Group]] = defaultdict(list)
    for group in groups:
        together[group.source, group.state == "DEAD", group.lane].append(group)
    return tuple(
        Backlog(
            source=source,
            state="DEAD" if dead else "READY",
            lane=LANES[lane],
            rows=sum(group.rows for group in found),
            claimed=sum(group.claimed for group in found),
            oldest=utc(min(group.oldest for group in found)),
            age=_age(found, now),
            postponed=sum(group.postponed for group in found),
            due=min((utc(group.due) for group in found if group.due is not None), default=None),
        )
        for (source, dead, lane), found in sorted(together.items())
    )


def _lag(groups: Iterable[_Group], now: dt.datetime) -> tuple[Lag, ...]:
    together: dict[tuple[int, str], list[_Group]] = defaultdict(list)
    for group in groups:
        if group.state == "READY":
            together[group.lane, group.tenant].append(group)
    found = [
        Lag(
            lane=LANES[lane],
            tenant=tenant_of(tenant),
            rows=sum(group.rows for group in found),
            oldest=utc(min(group.oldest for group in found)),
            age=_age(found, now),
        )
        for (lane, tenant), found in together.items()
    ]
    return tuple(sorted(found, key=lambda lag: (lag.oldest, lag.lane, lag.tenant or "")))


def _problems(
    dead: int, paused: Sequence[PausedSource], lag: Sequence[Lag], max_lag: float | None
) -> Iterable[Problem]:
    if dead:
        yield Problem("DEAD_LETTERS", f"{dead:,} queue rows were given up.", "`oraclerag queue list --dead` says why.")
    for source in paused:
        yield Problem(
            "SOURCE_PAUSED",
            f"Source {source.source!r} is paused: {source.reason}",
            "Run `oraclerag source check`: it shows what is wrong, and takes the source up again once nothing is.",
        )
    if max_lag is not None and lag and lag[0].age > max_lag:
        late = [one for one in lag if one.age > max_lag]
        whose = "" if late[0].tenant is None else f" of tenant {late[0].tenant!r}"
        yield Problem(
            "LAG",
            f"The oldest {late[0].lane}{whose} has waited for {late[0].age:,.0f} s, over {max_lag:g} s "
            f"({len(late)} of lanes and tenants are late).",
            "`oraclerag queue status` shows whether workers are at work; `oraclerag queue list` what fails.",
        )


def _unpaid(groups: Iterable[_Group]) -> Iterable[Problem]:
    """Say whose rows wait for the next day's tokens."""
    rows: dict[str, int] = defaultdict(int)
    for group in groups:
        rows[group.tenant] += group.unpaid
    for tenant, count in sorted(rows.items()):
        if count:
            whose = "" if tenant_of(tenant) is None else f" of tenant {tenant!r}"
            yield Problem(
                EmbeddingBudgetSpent.code,
                f"{count:,} rows{whose} wait for tomorrow (UTC): the tokens of this day are spent.",
                "embedding.budget in oraclerag.toml says how many there are; where that was raised, "
                "`oraclerag queue retry --now` lets them begin now.",
            )


def _age(groups: Sequence[_Group], now: dt.datetime) -> float:
    """Give the age of the oldest in seconds; a row that has just been written may be younger than ``now``."""
    return max((now - min(group.oldest for group in groups)).total_seconds(), 0.0)


def utc(moment: Any) -> dt.datetime:
    """Give a time of the database as what it is: UTC."""
    assert isinstance(moment, dt.datetime)  # noqa: S101 - a TIMESTAMP
    return moment.replace(tzinfo=dt.UTC)
