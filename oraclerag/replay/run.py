"""Repeat a recording on another database, one call after another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import code_of
from oraclerag.replay.comparison import Difference, compare
from oraclerag.replay.recording import Call, Outcome, Recording, VariableOf, describe, value_of

__all__ = ["Replayed", "replay"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many calls were repeated, of how many different statements, and where the answers differ."""

    calls: int
    statements: int
    differences: tuple[Difference, ...]


def replay(
    recording: Recording,
    connect: Callable[[], oracledb.Connection],
    *,
    most: int = 20,
    on_call: Callable[[int], object] = lambda _: None,
) -> Replayed:
    """Repeat the calls on connections of ``connect`` and compare; ends early after ``most`` differences.

    What follows the first difference may follow from it. Errors of statements are answers; the database going away is
    raised. Every connection is rolled back and closed.
    """
    sessions: dict[int, oracledb.Connection] = {}
    differences: list[Difference] = []
    statements: set[str] = set()
    done = 0
    try:
        for number, call in enumerate(recording.calls, 1):
            if call.kind == "release":
                if call.session in sessions:
                    sessions.pop(call.session).close()
                continue
            if call.session not in sessions:
                sessions[call.session] = connect()
            outcome = _repeat(sessions[call.session], call)
            statements.add(call.statement or call.kind)
            done += 1
            on_call(number)
            if (difference := compare(number, call, outcome)) is not None:
                differences.append(difference)
                if len(differences) >= most:
                    break
    finally:
        for connection in sessions.values():
            with contextlib.suppress(oracledb.Error):
                connection.close()
    return Replayed(done, len(statements), tuple(differences))


def _repeat(connection: oracledb.Connection, call: Call) -> Outcome:
    try:
        if call.kind == "commit":
            connection.commit()
            return Outcome()
        if call.kind == "rollback":
            connection.rollback()
            return Outcome()
        with connection.cursor() as cursor:
            return _repeat_statement(cursor, call)
    except oracledb.Error as error:
        if not connection.is_healthy():
            raise
        return Outcome(error=code_of(error))


def _repeat_statement(cursor: oracledb.Cursor, call: Call) -> Outcome:
    cursor.outputtypehandler = call.types
    cursor.arraysize, cursor.prefetchrows = call.arraysize, call.prefetchrows
    if call.sizes is not None:
        listed, named = call.sizes
        cursor.setinputsizes(
            *(_sized(cursor, size) for size in listed), **{name: _sized(cursor, size) for name, size in named.items()}
        )
    if call.kind == "executemany":
        cursor.executemany(call.statement, call.binds, **call.options)
    else:
        cursor.execute(call.statement, call.binds, **call.options)
    outcome = describe(cursor, call)
    if outcome.columns is not None:
        wanted = len(call.outcome.rows)
        rows = cursor.fetchall() if call.outcome.everything else cursor.fetchmany(wanted) if wanted else []
        outcome.rows = [tuple(map(value_of, row)) for row in rows]
    return outcome


def _sized(cursor: oracledb.Cursor, size: Any) -> Any:
    return cursor.var(size.type, size=size.size) if isinstance(size, VariableOf) else size
