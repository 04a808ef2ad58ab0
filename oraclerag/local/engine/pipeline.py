"""A PostgreSQL connection at the level of libpq: commands in pipelines, prepared statements, cancel.

While PostgreSQL works, the connection waits on its socket and on the client's at once; when the client asks to stop,
the statement is cancelled. Nothing here knows of Oracle.
"""

from __future__ import annotations

import select
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from psycopg import OperationalError, pq
from psycopg.pq import abc
from psycopg.pq.abc import PGresult

from oraclerag.local.interface import Client, Column

Values = Sequence[bytes | None]

BINARY = 1
_FAILED = frozenset({pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE})
_PREPARED_LIMIT = 256
_LARGE = 8_000_000  # bytes to send at which moving them about would be felt
_EMBED_NOTICE = b"01EMB"
_CANCELLED = "57014"


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


@dataclass(slots=True)
class Prepared:
    """A prepared statement: its name, the types of its parameters as PostgreSQL inferred them, its row description.

    ``described`` keeps Oracle's descriptions by headings.
    """

    name: bytes
    oids: tuple[int, ...]
    description: PGresult
    described: dict[tuple[str | None, ...] | None, tuple[Column, ...]] = field(default_factory=dict)


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
            self.text, self.values or None, self.oids or None, self.formats or None, self.result_format
        )


@dataclass(frozen=True, slots=True)
class Execute:
    """The execution of a prepared statement; its result comes in binary."""

    name: bytes
    values: Values
    formats: Sequence[int]

    def send(self, pgconn: abc.PGconn) -> None:
        """Send it."""
        pgconn.send_query_prepared(self.name, self.values or None, self.formats or None, BINARY)


@dataclass(frozen=True, slots=True)
class _Prepare:
    name: bytes
    text: bytes
    oids: Sequence[int]

    def send(self, pgconn: abc.PGconn) -> None:
        pgconn.send_prepare(self.name, self.text, self.oids or None)


@dataclass(frozen=True, slots=True)
class _Describe:
    name: bytes

    def send(self, pgconn: abc.PGconn) -> None:
        pgconn.send_describe_prepared(self.name)


BEGIN = Text(b"BEGIN")
SAVEPOINT = Text(b"SAVEPOINT s")
RELEASE = Text(b"RELEASE s")
COMMIT = Text(b"COMMIT")


class Connection:
    """One libpq connection in autocommit; transactions are begun and ended by explicit commands.

    ``announced`` collects (model, text) pairs that ``ora.embed`` asked for.
    """

    def __init__(self, conninfo: str, client: Client | None = None) -> None:
        self._pgconn: abc.PGconn = pq.PGconn.connect(conninfo.encode())
        if self._pgconn.status != pq.ConnStatus.OK:
            message = self._pgconn.get_error_message()
            self._pgconn.finish()
            raise ConnectionLost(message)
        self._pgconn.nonblocking = 1
        self._pgconn.notice_handler = self._notice
        self._client = client
        self._client_socket = -1
        self._poll = select.poll()
        self._socket = self._pgconn.socket
        self._poll.register(self._socket, select.POLLIN)
        self._interrupted = False
        self._prepared: OrderedDict[tuple[str, tuple[int, ...]], Prepared] = OrderedDict()
        self._names = 0
        self.announced: list[tuple[str, str]] = []

    @property
    def idle(self) -> bool:
        """Whether no transaction is open."""
        return self._pgconn.transaction_status == pq.TransactionStatus.IDLE

    def _notice(self, result: PGresult) -> None:
        if result.error_field(pq.DiagnosticField.SQLSTATE) == _EMBED_NOTICE:
            model = result.error_field(pq.DiagnosticField.MESSAGE_DETAIL) or b""
            text = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b""
            self.announced.append((model.decode(), text.decode()))

    def forget_interrupt(self) -> None:
        """Start a new call of the client: a wish to stop that came too late for the last one is void."""
        self._interrupted = False

    def execute(self, prepared: Prepared, values: Values, formats: Sequence[int]) -> PGresult:
        """Execute one prepared statement by itself."""
        self._ready()
        self._pgconn.send_query_prepared(prepared.name, values or None, formats or None, BINARY)
        return self._finish()

    def simple(self, text: bytes) -> PGresult:
        """Run statements in the simple protocol (several are one transaction) and give the last result, in text."""
        self._ready()
        self._pgconn.send_query(text)
        return self._finish()

    def pipeline(self, commands: Sequence[Command], *, size: int = 0) -> list[PGresult]:
        """Run commands in one round trip and give their results in order; ``size``: bytes of values, if many.

        On an error the commands behind it are skipped and PgError is raised; what became of those before it, the
        transaction decides: without BEGIN they are undone too.
        """
        self._ready()
        pgconn = self._pgconn
        pgconn.enter_pipeline_mode()
        try:
            # Without blocking, libpq moves what it could not send to the front of its buffer at every attempt:
            # quadratic. PostgreSQL reads a whole message before it works, so a large one does not wait for a lock.
            pgconn.nonblocking = int(size < _LARGE)
            for command in commands:
                command.send(pgconn)
            pgconn.pipeline_sync()
            pgconn.nonblocking = 1
            results = []
            failure: PgError | None = None
            for index in range(len(commands)):
                result = self._result()
                if result is None:
                    raise ConnectionLost(pgconn.get_error_message())
                while self._result() is not None:  # a NULL ends the results of each command
                    pass
                if result.status in _FAILED and failure is None:
                    failure = PgError(result, index)
                results.append(result)
            self._result()  # of the sync
        finally:
            if pgconn.status == pq.ConnStatus.OK:
                pgconn.exit_pipeline_mode()
        if failure is not None:
            self._interrupted = False
            raise failure
        return results

    def prepare(self, text: str, oids: tuple[int, ...]) -> Prepared:
        """Give the prepared statement for a text and declared parameter types (0: to be inferred).

        Inside a transaction a failure leaves it as it was.
        """
        key = (text, oids)
        known = self._prepared.get(key)
        if known is not None:
            self._prepared.move_to_end(key)
            return known
        if len(self._prepared) >= _PREPARED_LIMIT:
            _, oldest = self._prepared.popitem(last=False)
            self.pipeline([Text(b"DEALLOCATE " + oldest.name)])
        self._names += 1
        name = b"p%d" % self._names
        commands: list[Command] = [_Prepare(name, text.encode(), oids), _Describe(name)]
        if self.idle:
            description = self.pipeline(commands)[1]
        else:
            description = self.guarded(commands)[1]
        actual = tuple(description.param_type(place) for place in range(description.nparams))
        prepared = self._prepared[key] = Prepared(name, actual, description)
        return prepared

    def guarded(self, commands: Sequence[Command]) -> list[PGresult]:
        """Run commands in an open transaction between SAVEPOINT and RELEASE; a failure undoes them alone."""
        try:
            return self.pipeline([SAVEPOINT, *commands, RELEASE])[1:-1]
        except PgError as error:
            self.undo()
            error.index -= 1
            raise

    def undo(self) -> None:
        """Go back to the savepoint of a failed statement."""
        self._interrupted = False
        self.simple(b"ROLLBACK TO s")

    def forget_prepared(self) -> None:
        """Drop all prepared statements: the catalog has changed."""
        if self._prepared:
            self._prepared.clear()
            self.simple(b"DEALLOCATE ALL")

    def close(self) -> None:
        """Close the connection; PostgreSQL rolls back."""
        self._pgconn.finish()

    def _ready(self) -> None:
        if self._pgconn.status != pq.ConnStatus.OK:
            raise ConnectionLost("the connection to PostgreSQL is gone")
        if self._interrupted:
            self._interrupted = False
            raise Cancelled
        if self._client is not None and self._client_socket < 0:
            self._watch_client()

    def _finish(self) -> PGresult:
        failure: PgError | None = None
        last: PGresult | None = None
        while (result := self._result()) is not None:
            if result.status in _FAILED and failure is None:
                failure = PgError(result)
            last = result
        if failure is not None:
            self._interrupted = False
            raise failure
        if last is None:
            raise ConnectionLost(self._pgconn.get_error_message())
        return last

    def _result(self) -> PGresult | None:
        pgconn = self._pgconn
        pending = pgconn.flush()
        while pgconn.is_busy():
            if pending:
                self._poll.modify(self._socket, select.POLLIN | select.POLLOUT)
            for descriptor, _ in self._poll.poll():
                if descriptor != self._socket:
                    self._ask_client()
            if pending:
                self._poll.modify(self._socket, select.POLLIN)
            try:
                pgconn.consume_input()
            except OperationalError as error:
                raise ConnectionLost(str(error)) from None
            pending = pgconn.flush()
        return pgconn.get_result()

    def _watch_client(self) -> None:
        if self._client is not None:
            self._client_socket = self._client.fileno()
            if self._client_socket >= 0:
                self._poll.register(self._client_socket, select.POLLIN)

    def _ask_client(self) -> None:
        if self._client is not None and self._client.interrupted():
            self._interrupted = True
            # One cancel is enough; a closed socket would be readable for ever.
            self._poll.unregister(self._client_socket)
            self._client_socket = -1
            self._pgconn.get_cancel().cancel()
