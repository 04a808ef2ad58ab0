"""Reading one's own writes: index some entities now, or wait until what was announced is in the index.

Both go by the queue and its protocol: nothing is written past a claim, and whoever holds an entity is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag import in_force
from oraclerag.config import Settings
from oraclerag.database import Database, in_list, own_tables, parts
from oraclerag.drain import WorkerState, drain
from oraclerag.enqueue import enqueue_many
from oraclerag.errors import IndexingFailed, IndexingTimeout, InputError, SourceChanged, SourceError
from oraclerag.records import DrainReport, SourceKey
from oraclerag.source import Source
from oraclerag.statements import Statements

__all__ = ["index_now", "wait"]

_INTERVAL = 0.2  # seconds between two looks
_NAMED = 5  # entities that a message names
_LOOKED_AT = 20  # rows of the whole queue that one look reads


@dataclass(frozen=True, slots=True)
class _Row:
    """A queue row as one look found it."""

    dirty_id: int
    key: SourceKey
    dead: bool
    attempts: int
    why: str | None


def index_now(
    database: Database,
    sources: Mapping[str, Source],
    settings: Settings,
    keys: SourceKey | Iterable[SourceKey],
    *,
    timeout: float,
    state: WorkerState | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> DrainReport:
    """Announce entities and work their rows off in this process; gives what was done here.

    Commits. An entity that a worker holds is waited for, ``timeout`` seconds altogether; what that worker does is not
    in the report. Raises IndexingFailed where entities were postponed or given up, IndexingTimeout, SourceError where a
    source is paused, SourceChanged where other settings of it are in force, UnknownSource, MissingTenant, and outages
    as ``drain`` does. What was announced stays so.
    """
    wanted = _distinct(keys)
    _refuse_timeout(timeout)
    deadline = clock() + timeout
    state = state if state is not None else WorkerState()
    total = DrainReport()
    announced = _announce(database, sources, wanted)
    waiting = wanted
    while waiting:
        for part in parts(waiting, settings.batch_size):
            total += drain(database, sources, settings, state=state, keys=part)
        rows = [row for row in _rows_of(database, waiting) if row.dirty_id in announced]
        failed = [row for row in rows if row.dead or row.attempts]
        if failed:
            raise _failed(failed)
        _refuse_left_alone(database, state, rows)
        waiting = list(dict.fromkeys(row.key for row in rows))
        if waiting:
            _sleep_until(deadline, clock, sleep, database, rows)
    return total


def wait(
    database: Database,
    keys: SourceKey | Iterable[SourceKey] | None = None,
    *,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until every change that was announced and committed before the call is applied: of ``keys``, or all.

    Workers do it; nothing is done here. Raises IndexingFailed where such a change was given up (DEAD), and
    IndexingTimeout, which names what still waits, after ``timeout`` seconds.
    """
    _refuse_timeout(timeout)
    deadline = clock() + timeout
    look = _whole_queue(database) if keys is None else _entities(database, _distinct(keys))
    while True:
        rows = look()
        ready = [row for row in rows if not row.dead]
        if not ready:
            if rows:
                raise _failed(rows)
            return
        _sleep_until(deadline, clock, sleep, database, ready)


def _announce(database: Database, sources: Mapping[str, Source], keys: Sequence[SourceKey]) -> set[int]:
    """Enqueue the entities; gives the rows whose claim is after this: these, and what others have just announced."""
    with database.transaction() as connection:
        enqueue_many(connection, keys, sources=sources, schema=database.schema)
        return {row.dirty_id for row in _read(connection, database.schema, "fresh_rows_of_entities", keys)}


def _rows_of(database: Database, keys: Sequence[SourceKey]) -> list[_Row]:
    with database.connect() as connection:
        return _read(connection, database.schema, "rows_of_entities", keys)


def _entities(database: Database, keys: Sequence[SourceKey]) -> Callable[[], list[_Row]]:
    known = {row.dirty_id for row in _rows_of(database, keys)}
    return lambda: [row for row in _rows_of(database, keys) if row.dirty_id in known]


def _whole_queue(database: Database) -> Callable[[], list[_Row]]:
    statements = Statements("wait", database.schema)
    with database.connect() as connection, connection.cursor() as cursor, own_tables():
        cursor.execute(statements["time"])
        [until] = cursor.fetchone() or (None,)

    def look() -> list[_Row]:
        with database.connect() as connection, connection.cursor() as cursor, own_tables():
            for state in ("READY", "DEAD"):
                cursor.arraysize = cursor.prefetchrows = _LOOKED_AT + 1
                cursor.setinputsizes(until=oracledb.DB_TYPE_TIMESTAMP)
                cursor.execute(statements["rows_enqueued"], state=state, until=until, how_many=_LOOKED_AT)
                if rows := [_row(values) for values in cursor]:
                    return rows
        return []

    return look


def _read(connection: oracledb.Connection, schema: str, name: str, keys: Sequence[SourceKey]) -> list[_Row]:
    statements = Statements("wait", schema)
    found: list[_Row] = []
    with connection.cursor() as cursor, own_tables():
        for part in parts(keys):
            wanted = set(part)
            types, type_binds = in_list(sorted({key.type for key in part}), "t")
            ids, id_binds = in_list(sorted({key.id for key in part}))
            cursor.arraysize = cursor.prefetchrows = 2 * len(part) + 1
            cursor.execute(statements.with_names(name, types=types, ids=ids), {**type_binds, **id_binds})
            found += [row for row in map(_row, cursor) if row.key in wanted]
    return found


def _row(values: tuple[Any, ...]) -> _Row:
    dirty_id, source_type, source_id, state, attempts, code, error = values
    why = f"{code}: {error}" if code else None
    return _Row(int(dirty_id), SourceKey(source_type, source_id), state == "DEAD", int(attempts), why)


def _sleep_until(
    deadline: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    database: Database,
    rows: Sequence[_Row],
) -> None:
    """Wait a little, or say what was not done in time."""
    left = deadline - clock()
    if left > 0:
        sleep(min(_INTERVAL, left))
        return
    with database.connect() as connection:
        paused = in_force.read(connection, database.schema).paused
    failed = [row for row in rows if row.attempts]
    types = sorted({row.key.type for row in rows} & paused.keys())
    reasons = [f"source {name} is paused ({paused[name]})" for name in types]
    reasons += [f"{failed[0].key} was postponed ({failed[0].why})"] if failed else []
    because = f"; {', '.join(reasons)}" if reasons else ""
    keys = tuple(dict.fromkeys(row.key for row in rows))
    raise IndexingTimeout(f"Not in the index in time: {_named(keys)}{because}.", keys=keys)


def _failed(rows: Sequence[_Row]) -> IndexingFailed:
    keys = tuple(dict.fromkeys(row.key for row in rows))
    state = "given up" if any(row.dead for row in rows) else "postponed"
    return IndexingFailed(f"{_named(keys)} could not be indexed, {state}: {rows[0].why}", keys=keys)


def _refuse_left_alone(database: Database, state: WorkerState, rows: Sequence[_Row]) -> None:
    """Raise where this process may not serve a source: waiting would be in vain."""
    types = sorted({row.key.type for row in rows} & state.idle_sources)
    if not types:
        return
    with database.connect() as connection:
        paused = in_force.read(connection, database.schema).paused
    for name in types:
        if name in paused:
            raise SourceError(f"Source {name!r} is paused: {paused[name]}")
        raise SourceChanged(f"Other settings of source {name!r} are in force than this process has.")


def _distinct(keys: SourceKey | Iterable[SourceKey]) -> list[SourceKey]:
    found = [keys] if isinstance(keys, SourceKey) else list(keys)
    for key in found:
        if not isinstance(key, SourceKey):
            raise InputError(f"keys must be SourceKeys, not {type(key).__name__}.")
    return list(dict.fromkeys(found))


def _refuse_timeout(timeout: float) -> None:
    if not 0 <= timeout <= 86_400:
        raise InputError(f"timeout is {timeout}, but must be between 0 and 86400 seconds.")


def _named(keys: Sequence[SourceKey]) -> str:
    listed = ", ".join(map(str, keys[:_NAMED]))
    return f"{listed} and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else listed
