"""The calls of a session that is logged in, and the piggybacks that ride in front of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from oraclerag.local.interface import EngineSession, OraError
from oraclerag.local.wire import login, piggybacks
from oraclerag.local.wire.capabilities import Dialect
from oraclerag.local.wire.execute import Statements
from oraclerag.local.wire.faults import CANCELLED, CANCELLED_TEXT, StatementError, as_ora_error
from oraclerag.local.wire.lobs import LobTable, answer_lob_request, read_freed_locators, read_lob_request
from oraclerag.local.wire.messages import MessageType, put_error, put_status
from oraclerag.local.wire.packets import Channel, Closed
from oraclerag.local.wire.piggybacks import Piggyback
from oraclerag.local.wire.primitives import Reader, put_counted, put_uint
from oraclerag.local.wire.statement_log import Trip

_ABORT_ON_ERROR = 2
_VERSION_TEXT = b"Local development database for Oracle clients"

_REEXECUTE, _FETCH, _LOGOFF, _COMMIT, _ROLLBACK = 4, 5, 9, 14, 15
_VERSION, _REEXECUTE_AND_FETCH, _EXECUTE, _LOB, _PING, _END_PIPELINE = 59, 78, 94, 96, 147, 200
_AGAIN = (_REEXECUTE_AND_FETCH, _REEXECUTE)
NAMES = {
    _REEXECUTE: "execute again",
    _REEXECUTE_AND_FETCH: "execute again",
    _EXECUTE: "execute",
    _FETCH: "fetch",
    _LOGOFF: "logoff",
    _COMMIT: "commit",
    _ROLLBACK: "rollback",
    _VERSION: "version",
    _LOB: "lob",
    _PING: "ping",
    _END_PIPELINE: "end pipeline",
    login.FIRST_PHASE: "authenticate",
    login.SECOND_PHASE: "authenticate",
}
"""What the statement log calls a function."""


class Calls:
    """Runs the calls of one session; each reads its request and appends its response.

    Every method that takes a ``reader`` reads its message to the end before anything is run.
    """

    def __init__(self, session: EngineSession, channel: Channel, dialect: Dialect) -> None:
        self._session = session
        self._channel = channel
        self._dialect = dialect
        self._lobs = LobTable()
        self._statements = Statements(session, dialect, self._lobs, self._before_run, self._after_read)
        self._postponed: OraError | None = None
        self._abort_pipeline = False
        self._pipeline_failed = False

    @property
    def in_transaction(self) -> bool:
        """Whether there is uncommitted work."""
        return self._session.in_transaction

    def close(self) -> None:
        """Give up LOBs and session."""
        self._lobs.clear()
        self._session.close()

    # piggybacks

    def piggyback(self, code: int, reader: Reader) -> None:
        """Read a piggyback and do what it says; :class:`Closed` when it is none that is known."""
        if code == Piggyback.CLOSE_CURSORS:
            numbers = piggybacks.read_closed_cursors(reader)
            with self._postponing():
                self._statements.close_cursors(numbers)
        elif code == Piggyback.FREE_LOBS:
            self._lobs.free(read_freed_locators(reader))
        elif code == Piggyback.SET_SCHEMA:
            name = piggybacks.read_schema(reader)
            with self._postponing():
                self._session.set_schema(name)
        elif code == Piggyback.BEGIN_PIPELINE:
            self._abort_pipeline = piggybacks.read_pipeline_mode(reader) == _ABORT_ON_ERROR
            self._pipeline_failed = False
        elif code == Piggyback.END_TO_END:
            piggybacks.skip_end_to_end(reader)
        elif code == Piggyback.APPLICATION_CONTEXT:
            piggybacks.skip_application_context(reader)
        elif code == Piggyback.SESSION_STATE:
            reader.number()
        else:
            raise Closed

    @contextlib.contextmanager
    def _postponing(self) -> Iterator[None]:
        """Keep an error for the next call: a piggyback has no reply of its own."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the call behind it fails with it
            self._postponed = as_ora_error(error)

    # calls

    def run(self, code: int, reader: Reader, out: bytearray, trip: Trip) -> None:
        """Read and run the call ``code``; raises :class:`StatementError` or :class:`OraError`."""
        try:
            if code == _EXECUTE:
                self._statements.execute(reader, out, trip)
            elif code in _AGAIN:
                self._statements.execute_again(reader, out, trip, fetches=code == _REEXECUTE_AND_FETCH)
            elif code == _FETCH:
                self._statements.fetch(reader, out, trip)
            else:
                self._run_other(code, reader, out)
        finally:
            self._postponed = None

    def failed(self, *, in_pipeline: bool) -> None:
        """Heed that a call failed: a pipeline may want the rest of it left undone."""
        self._pipeline_failed = self._pipeline_failed or (self._abort_pipeline and in_pipeline)

    def _before_run(self) -> None:
        """Raise what takes the place of the call that was just read."""
        if self._pipeline_failed:
            raise OraError(CANCELLED, f"{CANCELLED_TEXT}: an earlier operation of the pipeline failed")
        if self._postponed is not None:
            raise self._postponed
        if self._channel.break_arrived():
            raise OraError(CANCELLED, CANCELLED_TEXT)

    def _after_read(self, size: int) -> None:
        """Raise ORA-01013 instead of a response of ``size`` bytes that the client no longer waits for.

        It would take the rest of a long response for that of its next request; one packet is read or dropped as a
        whole. What only read can be unsaid.
        """
        channel = self._channel
        if not channel.break_pending and not channel.fits(size):
            channel.interrupted()
        if channel.break_pending:
            raise OraError(CANCELLED, CANCELLED_TEXT)

    def _run_other(self, code: int, reader: Reader, out: bytearray) -> None:
        if code == _LOB:
            request = read_lob_request(reader)
            self._before_run()
            answer_lob_request(out, request, self._lobs)
            self._after_read(len(out))
            put_error(out, self._dialect.field_version, in_transaction=self.in_transaction)
        elif code == _VERSION:
            reader.u8()
            reader.number()
            reader.skip(2)
            self._put_version(out)
        else:
            self._run_simple(code, reader)
            put_status(out, self.in_transaction)

    def _run_simple(self, code: int, reader: Reader) -> None:
        """Run a call that has neither arguments nor result."""
        if code == _END_PIPELINE:
            reader.number()
            self._abort_pipeline = self._pipeline_failed = False
            return
        actions: dict[int, Callable[[], None] | None] = {
            _COMMIT: self._session.commit,
            _ROLLBACK: self._session.rollback,
            _PING: None,
            _LOGOFF: None,
        }
        if code not in actions:
            error = OraError(3115, f"unsupported network datatype or representation (function {code})")
            raise StatementError(error, 0, fatal=True)  # where its body ends is not known
        self._before_run()
        action = actions[code]
        if action is not None:
            action()

    def _put_version(self, out: bytearray) -> None:
        out.append(MessageType.PARAMETER)
        put_counted(out, _VERSION_TEXT)
        put_uint(out, login.version_number())
        put_error(out, self._dialect.field_version, in_transaction=self.in_transaction)
