"""What is sent to PostgreSQL in a pipeline, and what it answers when it refuses."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from psycopg import pq
from psycopg.pq import abc
from psycopg.pq.abc import PGresult

from oraclerag.local.engine.set_form import SetForm
from oraclerag.local.interface import CellForm, Column, LobStore

Values = Sequence[bytes | None]

BINARY = 1
OWN_ERROR = "OR000"
"""SQLSTATE of errors whose Oracle number is their detail."""
_CANCELLED = "57014"
_T = TypeVar("_T")


class PgError(Exception):
    """An error that PostgreSQL reported; ``index`` is the place of its command in the pipeline."""

    def __init__(self, result: PGresult, index: int = 0) -> None:
        def part(name: pq.DiagnosticField) -> str:
            return (result.error_field(name) or b"").decode()

        self.state = part(pq.DiagnosticField.SQLSTATE)
        self.message = part(pq.DiagnosticField.MESSAGE_PRIMARY)
        self.detail = part(pq.DiagnosticField.MESSAGE_DETAIL)
        self.schema = part(pq.DiagnosticField.SCHEMA_NAME)
        self.table = part(pq.DiagnosticField.TABLE_NAME)
        self.column = part(pq.DiagnosticField.COLUMN_NAME)
        self.constraint = part(pq.DiagnosticField.CONSTRAINT_NAME)
        self.context = part(pq.DiagnosticField.CONTEXT)
        self.index = index
        super().__init__(self.state)

    @property
    def cancelled(self) -> bool:
        """Whether the statement was stopped because the client asked for it."""
        return self.state == _CANCELLED


class Cancelled(Exception):
    """The client asked to stop between two commands of a statement."""


class ConnectionLost(Exception):
    """PostgreSQL closed the connection."""


@dataclass(frozen=True, slots=True)
class Writers:
    """How rows are written in the ``forms`` that a client wants, with ``lobs`` and the session's time zone.

    ``columns``: place of a column, what appends one of its cells, its NULL; ``whole``: per column what gives the cell
    instead, None where a column has nothing of that kind.
    """

    forms: Sequence[CellForm]
    lobs: LobStore
    zone: dt.tzinfo
    columns: Sequence[tuple[int, Callable[[bytearray, bytes], None], bytes]]
    whole: Sequence[Callable[[bytes], bytes]] | None


@dataclass(slots=True)
class Prepared:
    """A prepared statement: its name, the types of its parameters as PostgreSQL inferred them, its row description.

    ``described`` keeps Oracle's descriptions by headings, ``writers`` what wrote its last rows, ``set_form`` its form
    over arrays: None when nobody has asked, False when it has none.
    """

    name: bytes
    oids: tuple[int, ...]
    description: PGresult
    described: dict[tuple[str | None, ...] | None, tuple[Column, ...]] = field(default_factory=dict)
    writers: Writers | None = None
    set_form: SetForm | Literal[False] | None = None


def _list(items: Sequence[_T]) -> list[_T] | None:
    """Give what psycopg takes in all its versions: a list, or None for nothing."""
    return list(items) if items else None


class Command(Protocol):
    """Something that can be sent."""

    def send(self, pgconn: abc.PGconn) -> None:
        """Put it into the connection's output."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A statement without parameters; its result comes in binary."""

    text: bytes

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_query_params(self.text, None, result_format=BINARY)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with parameters that is not worth preparing; result formats as ``result_format`` says."""

    text: bytes
    values: Values
    oids: Sequence[int]
    formats: Sequence[int]
    result_format: int = BINARY

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_query_params(
            self.text, _list(self.values), _list(self.oids), _list(self.formats), self.result_format
        )


@dataclass(slots=True)
class Execute:
    """The execution of a prepared statement; its result comes in binary."""

    name: bytes
    values: Values
    formats: Sequence[int]

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_query_prepared(self.name, _list(self.values), _list(self.formats), BINARY)


@dataclass(slots=True)
class Query:
    """The execution of a prepared query; its rows are collected in ``chunks``, none of them empty but the only one."""

    name: bytes
    values: Values
    formats: Sequence[int]
    chunks: list[PGresult] = field(default_factory=list)

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        if self.values:
            pgconn.send_query_prepared(self.name, list(self.values), list(self.formats), BINARY)
        else:
            pgconn.send_query_prepared(self.name, None, None, BINARY)


@dataclass(frozen=True, slots=True)
class Prepare:
    """The parsing of a statement; types of parameters that are 0 are inferred."""

    name: bytes
    text: bytes
    oids: Sequence[int]

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_prepare(self.name, self.text, _list(self.oids))


@dataclass(frozen=True, slots=True)
class Describe:
    """The description of a prepared statement: its parameters and its columns."""

    name: bytes

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_describe_prepared(self.name)


BEGIN = Text(b"BEGIN")
SAVEPOINT = Text(b"SAVEPOINT s")
RELEASE = Text(b"RELEASE s")
COMMIT = Text(b"COMMIT")
