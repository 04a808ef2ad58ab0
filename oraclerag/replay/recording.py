"""What a program asks of a database through python-oracledb, with the answers, in the order in which it was asked.

A pool whose connections and cursors write down every call. They are the driver's own classes with a pencil, so that the
program, SQLAlchemy and Alembic take them for what they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import oracledb

from oraclerag.database import code_of

__all__ = ["Call", "Outcome", "Recording", "VariableOf", "describe", "recording_pool", "value_of"]

Kind = Literal["execute", "executemany", "commit", "rollback", "release"]
Row = tuple[Any, ...]

_OPTIONS = frozenset(("fetch_lobs", "fetch_decimals", "suspend_on_success", "batcherrors", "arraydmlrowcounts"))


@dataclass(frozen=True, slots=True)
class VariableOf:
    """A variable of the driver, as it is made again on another connection."""

    type: Any
    size: int


@dataclass(slots=True)
class Outcome:
    """What came back: an error's number, or columns (name, type) and the rows that were fetched, or row counts.

    ``everything``: the rows were fetched to their end.
    """

    error: str | None = None
    columns: tuple[tuple[str, str], ...] | None = None
    rows: list[Row] = field(default_factory=list, repr=False)
    everything: bool = False
    row_count: int | None = None
    row_counts: tuple[int, ...] = ()
    batch_errors: tuple[tuple[int, str], ...] = ()


@dataclass(slots=True)
class Call:
    """One call. ``session`` numbers the connections that were lent; ``options`` are the keywords of the call.

    ``arraysize`` and ``prefetchrows`` belong to it: under FOR UPDATE SKIP LOCKED they say which rows are locked.
    ``types`` is the handler of output types in force, SQLAlchemy's for one.
    """

    session: int
    kind: Kind
    statement: str | None = None
    binds: Any = field(default=None, repr=False)
    sizes: tuple[tuple[Any, ...], Mapping[str, Any]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    arraysize: int = 100
    prefetchrows: int = 2
    types: Any = None
    outcome: Outcome = field(default_factory=Outcome)


@dataclass(slots=True)
class Recording:
    """The calls of a run, in order."""

    calls: list[Call] = field(default_factory=list)
    sessions: Iterator[int] = field(default_factory=lambda: itertools.count(1))


def recording_pool(recording: Recording, **arguments: Any) -> oracledb.ConnectionPool:
    """Open a pool whose every call goes into ``recording``; ``arguments`` are those of ``oracledb.create_pool``."""

    class Recorded(_Connection):
        """A connection that knows where its calls are written."""

    Recorded.recording = recording
    return oracledb.create_pool(pool_class=_Pool, connectiontype=Recorded, **arguments)


def describe(cursor: oracledb.Cursor, call: Call) -> Outcome:
    """Tell what a cursor says of a call that succeeded; no row has been fetched."""
    if cursor.description is not None:
        return Outcome(columns=tuple((column[0], column[1].name) for column in cursor.description))
    return Outcome(
        row_count=cursor.rowcount,
        row_counts=tuple(cursor.getarraydmlrowcounts()) if call.options.get("arraydmlrowcounts") else (),
        batch_errors=tuple((error.offset, error.full_code) for error in cursor.getbatcherrors())
        if call.options.get("batcherrors")
        else (),
    )


def value_of(value: Any) -> Any:
    """Give a value as it can be kept: a LOB is read."""
    return value.read() if isinstance(value, oracledb.LOB) else value


class _Pool(oracledb.ConnectionPool):
    """Lends recording connections; what is given back is rolled back, which belongs to the record."""

    def release(self, connection: oracledb.Connection, tag: str | None = None) -> None:
        if isinstance(connection, _Connection):
            connection.recorded("release")
        super().release(connection, tag)


class _Connection(oracledb.Connection):
    recording: Recording
    session: int | None = None

    def recorded(self, kind: Kind, **what: Any) -> Call:
        if self.session is None:
            self.session = next(self.recording.sessions)
        call = Call(self.session, kind, **what)
        self.recording.calls.append(call)
        return call

    def cursor(self, *args: Any, **kwargs: Any) -> oracledb.Cursor:
        return _Cursor(self, *args, **kwargs)

    def commit(self) -> None:
        self.recorded("commit")
        super().commit()

    def rollback(self) -> None:
        self.recorded("rollback")
        super().rollback()

    def close(self) -> None:
        self.recorded("release")
        super().close()


class _Cursor(oracledb.Cursor):
    _sizes: tuple[tuple[Any, ...], Mapping[str, Any]] | None = None
    _prepared: str | None = None
    _outcome: Outcome | None = None

    def prepare(self, statement: str, tag: str | None = None, cache_statement: bool = True) -> None:
        self._prepared = statement
        super().prepare(statement, tag, cache_statement)  # type: ignore[arg-type]  # None is its default

    def setinputsizes(self, *args: Any, **kwargs: Any) -> Any:
        self._sizes = (tuple(map(_size, args)), {name: _size(size) for name, size in kwargs.items()})
        return super().setinputsizes(*args, **kwargs)

    def execute(self, statement: str | None, parameters: Any = None, **keywords: Any) -> Any:
        call = self._recorded("execute", statement, parameters, keywords)
        try:
            result = super().execute(statement, parameters, **keywords)
        except oracledb.Error as error:
            call.outcome.error = code_of(error)
            raise
        self._outcome = call.outcome = describe(self, call)
        return result

    def executemany(self, statement: str | None, parameters: Any, **keywords: Any) -> None:
        call = self._recorded("executemany", statement, parameters, keywords)
        try:
            super().executemany(statement, parameters, **keywords)
        except oracledb.Error as error:
            call.outcome.error = code_of(error)
            raise
        self._outcome = call.outcome = describe(self, call)

    def fetchone(self) -> Any:
        row = super().fetchone()
        if self._outcome is not None:
            if row is None:
                self._outcome.everything = True
            else:
                self._outcome.rows.append(tuple(map(value_of, row)))
        return row

    def __next__(self) -> Any:
        if (row := self.fetchone()) is None:
            raise StopIteration
        return row

    def fetchmany(self, size: int | None = None, numRows: int | None = None) -> list[Any]:  # noqa: N803 - the driver's
        return list(itertools.islice(self, size or numRows or self.arraysize))

    def fetchall(self) -> list[Any]:
        return list(self)

    def _recorded(self, kind: Kind, statement: str | None, parameters: Any, keywords: Mapping[str, Any]) -> Call:
        named = {name: value for name, value in keywords.items() if name not in _OPTIONS}
        sizes, self._sizes = self._sizes, None
        connection = self.connection
        assert isinstance(connection, _Connection)  # noqa: S101 - it made this cursor
        return connection.recorded(
            kind,
            statement=statement if statement is not None else self._prepared,
            binds=named or _copied(parameters),
            sizes=sizes,
            options={name: value for name, value in keywords.items() if name in _OPTIONS},
            arraysize=self.arraysize,
            prefetchrows=self.prefetchrows,
            types=next(
                (one for one in (self.outputtypehandler, connection.outputtypehandler) if one is not None), None
            ),
        )


def _size(size: Any) -> Any:
    return VariableOf(size.type, size.size) if isinstance(size, oracledb.Var) else size


def _copied(parameters: Any) -> Any:
    """Copy binds: a program may use its list again. Values stay the same objects, a model's bytes among them."""
    if isinstance(parameters, Mapping):
        return dict(parameters)
    if isinstance(parameters, (list, tuple)):
        return [_copied(value) if isinstance(value, (dict, list, tuple)) else value for value in parameters]
    return parameters
