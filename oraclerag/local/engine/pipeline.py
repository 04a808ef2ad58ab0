"""A PostgreSQL connection at the level of libpq: commands in pipelines, prepared statements, cancel.

While PostgreSQL works, the connection waits on its socket and on the client's at once; when the client asks to stop,
the statement is cancelled. Nothing here knows of Oracle.
"""

from __future__ import annotations

import contextlib
import select
from collections import OrderedDict
from collections.abc import Sequence

from psycopg import OperationalError, pq
from psycopg.pq import abc
from psycopg.pq.abc import PGresult

from oraclerag.local.engine.commands import (
    OWN_ERROR,
    RELEASE,
    SAVEPOINT,
    Cancelled,
    Command,
    ConnectionLost,
    Describe,
    PgError,
    Prepare,
    Prepared,
    Query,
    Text,
)
from oraclerag.local.interface import Client

# Members as module constants: to look one up in its enumeration is felt in a short call.
_IDLE = pq.TransactionStatus.IDLE
_CONNECTED = pq.ConnStatus.OK
_CHUNK = pq.ExecStatus.TUPLES_CHUNK
_FAILED = frozenset({pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE})
_PREPARED_LIMIT = 256
_LARGE = 8_000_000  # bytes to send at which moving them about would be felt
_EMBED_NOTICE = b"01EMB"
RESULT_LIMIT = 512_000_000
"""Bytes of a result that are kept, estimated."""
_TOO_LARGE = (
    f"out of process memory: the local database keeps up to {RESULT_LIMIT // 1_000_000} MB of a query's result;"
    " select fewer rows or columns"
)
_CHUNK_ROWS = 10_000


def _is_savepoint(command: Command) -> bool:
    return type(command) is Text and command.text.startswith(b"SAVEPOINT ")


def _estimated_size(result: PGresult) -> int:
    """Estimate the bytes of a result from a sample of its rows."""
    step = max(result.ntuples // 16, 1)
    sample = range(0, result.ntuples, step)
    fields = range(result.nfields)
    size = sum(len(result.get_value(row, place) or b"") for row in sample for place in fields)
    return size * result.ntuples // len(sample)


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
        self._shielded = False
        self._cancel_due = False
        self._too_large = False
        self._prepared: OrderedDict[tuple[str, tuple[int, ...]], Prepared] = OrderedDict()
        self._names = 0
        self.announced: list[tuple[str, str]] = []

    @property
    def idle(self) -> bool:
        """Whether no transaction is open."""
        return self._pgconn.transaction_status == _IDLE

    def _notice(self, result: PGresult) -> None:
        if result.error_field(pq.DiagnosticField.SQLSTATE) == _EMBED_NOTICE:
            model = result.error_field(pq.DiagnosticField.MESSAGE_DETAIL) or b""
            text = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b""
            self.announced.append((model.decode(), text.decode()))

    def forget_interrupt(self) -> None:
        """Start a new call of the client: a wish to stop that came too late for the last one is void."""
        self._interrupted = False

    def heed_client(self) -> None:
        """Raise Cancelled when the client asks to stop, though PostgreSQL has nothing to do."""
        if self._interrupted or (self._client is not None and self._client.interrupted()):
            self._interrupted = False
            raise Cancelled

    def query(self, query: Query) -> None:
        """Run one query by itself."""
        self._ready()
        query.send(self._pgconn)
        result = self._collect(query.chunks)
        if result is None or result.status in _FAILED:
            self._check(result)

    def simple(self, text: bytes, *, stoppable: bool = False) -> PGresult:
        """Run statements in the simple protocol (several are one transaction) and give the last result, in text.

        Unless they are ``stoppable``, a wish to stop waits for the next command: these end or mend a transaction.
        """
        self._ready()
        self._shielded = not stoppable
        self._pgconn.send_query(text)
        last: PGresult | None = None
        failed: PGresult | None = None
        while (result := self._result()) is not None:
            last = result
            if result.status in _FAILED and failed is None:
                failed = result
        self._shielded = self._cancel_due = False
        return self._check(failed or last)

    def pipeline(self, commands: Sequence[Command], *, size: int = 0) -> list[PGresult]:
        """Run commands in one round trip and give their results in order; ``size``: bytes of values, if many.

        On an error the commands behind it are skipped and PgError is raised; what became of those before it, the
        transaction decides: without BEGIN they are undone too. A savepoint that comes first is there in any case.
        """
        first = commands[0]
        if self._interrupted and type(first) is Text and _is_savepoint(first):
            self._interrupted = False
            self.simple(first.text)
            raise Cancelled
        self._ready()
        pgconn = self._pgconn
        pgconn.enter_pipeline_mode()
        try:
            # Without blocking, libpq moves what it could not send to the front of its buffer at every attempt:
            # quadratic. PostgreSQL reads a whole message before it works, so a large one does not wait for a lock.
            pgconn.nonblocking = int(size < _LARGE)
            for command in commands:
                command.send(pgconn)
                if _is_savepoint(command):
                    pgconn.send_flush_request()
            pgconn.pipeline_sync()
            pgconn.nonblocking = 1
            results = []
            failure: PgError | None = None
            for index, command in enumerate(commands):
                # A savepoint that is cancelled takes the transaction with it, and there is none to go back to.
                self._shielded = _is_savepoint(command)
                if self._cancel_due and not self._shielded:
                    self._cancel()
                if type(command) is Query:
                    result = self._collect(command.chunks)
                else:
                    result = self._result()
                    while result is not None and self._result() is not None:
                        pass  # a NULL ends the results of each command
                if result is None:
                    raise ConnectionLost(pgconn.get_error_message())
                if result.status in _FAILED and failure is None:
                    failure = self._failure(result, index)
                results.append(result)
            self._result()  # of the sync
        except BaseException:
            pgconn.finish()  # what is on its way would be taken for answers to the next commands
            raise
        pgconn.exit_pipeline_mode()
        if failure is not None:
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
        commands: list[Command] = [Prepare(name, text.encode(), oids), Describe(name)]
        if self.idle:
            description = self.pipeline(commands)[1]
        else:
            description = self.guarded(commands)[1]
        actual = tuple(description.param_type(place) for place in range(description.nparams))
        prepared = self._prepared[key] = Prepared(name, actual, description)
        return prepared

    def guarded(self, commands: Sequence[Command], *, size: int = 0) -> list[PGresult]:
        """Run commands in an open transaction between SAVEPOINT and RELEASE; a failure undoes them alone."""
        try:
            return self.pipeline([SAVEPOINT, *commands, RELEASE], size=size)[1:-1]
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
        if self._pgconn.status != _CONNECTED:
            raise ConnectionLost("the connection to PostgreSQL is gone")
        if self._interrupted:
            self._interrupted = False
            raise Cancelled
        if self._client is not None and self._client_socket < 0:
            self._watch_client()

    def _check(self, result: PGresult | None) -> PGresult:
        if result is None:
            raise ConnectionLost(self._pgconn.get_error_message())
        if result.status in _FAILED:
            raise self._failure(result)
        return result

    def _failure(self, result: PGresult, index: int = 0) -> PgError:
        self._interrupted = False
        error = PgError(result, index)
        if self._too_large and error.cancelled:
            error.state, error.detail, error.message = OWN_ERROR, "4030", _TOO_LARGE
        self._too_large = False
        return error

    def _collect(self, chunks: list[PGresult]) -> PGresult | None:
        """Read the rows of a query as they come, and give its last result; stop it when there are too many."""
        with contextlib.suppress(OperationalError):  # skipped, because a command before it failed or was cancelled
            self._pgconn.set_chunked_rows_mode(_CHUNK_ROWS)
        self._too_large = False
        size = 0
        last: PGresult | None = None
        while (result := self._result()) is not None:
            last = result
            if result.status != _CHUNK:
                continue
            chunks.append(result)
            if result.ntuples == _CHUNK_ROWS:
                size += _estimated_size(result)
                if size > RESULT_LIMIT and not self._too_large:
                    self._too_large = True
                    self._cancel()
        if not chunks and last is not None:
            chunks.append(last)
        return last

    def _result(self) -> PGresult | None:
        """Wait for the next result; most have come together with the one before."""
        if self._pgconn.is_busy():
            self._wait()
        return self._pgconn.get_result()

    def _wait(self) -> None:
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
            if pending:
                pending = pgconn.flush()

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
            self._cancel_due = True
            if not self._shielded:
                self._cancel()

    def _cancel(self) -> None:
        """Cancel what PostgreSQL is working on."""
        self._cancel_due = False
        try:
            self._pgconn.get_cancel().cancel()
        except OperationalError as error:  # PostgreSQL stops it when it sees that nobody waits
            self._pgconn.finish()
            raise ConnectionLost(str(error)) from None
