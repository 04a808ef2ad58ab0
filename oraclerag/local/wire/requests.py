"""The requests that run statements: execute, execute again, fetch."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from oraclerag.local.wire.capabilities import FIELD_VERSION_12_2, FIELD_VERSION_12_2_EXT
from oraclerag.local.wire.primitives import Malformed, Reader

_VECTOR_SIZE = 13
_EXECUTIONS, _IS_QUERY, _FLAGS = 1, 7, 9
_COMMIT_AGAIN = 0x01
_MOST_BINDS = 65535
_MOST_EXECUTIONS = 1 << 24


class Option(enum.IntEnum):
    """What an execute request asks for."""

    PARSE = 0x01
    BIND = 0x08
    DEFINE = 0x10
    EXECUTE = 0x20
    FETCH = 0x40
    COMMIT = 0x100
    PLSQL_BIND = 0x400
    NOT_PLSQL = 0x8000
    DESCRIBE = 0x20000
    BATCH_ERRORS = 0x80000


class ExecuteFlag(enum.IntEnum):
    """Further wishes of an execute request."""

    SCROLLABLE = 0x0002
    ROW_COUNTS = 0x4000


@dataclass(slots=True)
class ExecuteRequest:
    """An execute request up to its bind or define part.

    ``rows``: how many the client wants with the response; ``executions``: how often to run, or, when a query is
    only to be fetched, the rows wanted.
    """

    options: int
    cursor: int
    sql: str | None
    rows: int
    binds: int
    defines: int
    executions: int
    is_query: bool
    flags: int
    scrolls: bool


def read_execute(reader: Reader, field_version: int) -> ExecuteRequest:
    """Read the fixed part of an execute request."""
    options = reader.number()
    cursor = reader.number()
    reader.u8()
    sql_size = reader.number()
    reader.u8()
    reader.number()
    reader.skip(2)
    reader.number()
    rows = reader.number()
    reader.number()
    reader.u8()
    binds = reader.number()
    reader.skip(6)
    defines = reader.number()
    reader.number()
    reader.skip(3)
    reader.number()
    reader.u8()
    reader.numbers(2)
    reader.u8()
    reader.number()
    reader.u8()
    if field_version >= FIELD_VERSION_12_2:
        reader.u8()
        reader.number()
        reader.u8()
        reader.number()
        reader.u8()
        if field_version >= FIELD_VERSION_12_2_EXT:
            reader.u8()
            reader.number()
    sql = (reader.item() or b"").decode("utf-8", "replace") if sql_size else None
    vector = reader.numbers(_VECTOR_SIZE)
    if rows < 0 or not (0 <= binds <= _MOST_BINDS and 0 <= defines <= _MOST_BINDS):
        raise Malformed
    return ExecuteRequest(
        options,
        cursor,
        sql,
        rows,
        binds,
        defines,
        _executions(vector[_EXECUTIONS]),
        bool(vector[_IS_QUERY]),
        vector[_FLAGS],
        bool(vector[_FLAGS] & ExecuteFlag.SCROLLABLE),
    )


@dataclass(slots=True)
class AgainRequest:
    """A request to run an open cursor again; ``count`` are executions, or the rows wanted when it also fetches."""

    cursor: int
    count: int
    commit: bool


def read_again(reader: Reader) -> AgainRequest:
    """Read the fixed part of a request to run a cursor again."""
    cursor, count = reader.number(), reader.number()
    reader.number()
    return AgainRequest(cursor, _executions(count), bool(reader.number() & _COMMIT_AGAIN))


def read_fetch(reader: Reader) -> tuple[int, int]:
    """Read a request for more rows: the cursor, and how many."""
    cursor, count = reader.numbers(2)
    if count < 0:
        raise Malformed
    return cursor, count


def _executions(count: int) -> int:
    """Check how often to run: without binds it is no more than a number, and a list of that many rows is made of it."""
    if not 0 <= count <= _MOST_EXECUTIONS:
        raise Malformed
    return count
