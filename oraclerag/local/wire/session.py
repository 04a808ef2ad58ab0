"""One client's session: reads its requests one after the other and answers them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oraclerag.local.interface import Engine, EngineSession, OraError
from oraclerag.local.wire import capabilities, login, piggybacks
from oraclerag.local.wire.capabilities import FIELD_VERSION_23_1_TOKENS, Dialect, Features
from oraclerag.local.wire.execute import CANCELLED, StatementError, Statements
from oraclerag.local.wire.faults import as_ora_error, report
from oraclerag.local.wire.lobs import LobTable, answer_lob_request, read_freed_locators, read_lob_request
from oraclerag.local.wire.messages import MessageType, put_error, put_pairs, put_status, put_token
from oraclerag.local.wire.packets import Abandoned, Channel, Closed, DataFlag
from oraclerag.local.wire.piggybacks import Piggyback
from oraclerag.local.wire.primitives import Reader, put_counted, put_uint
from oraclerag.local.wire.statement_log import StatementLog, Trip
from oraclerag.local.wire.verifier import Verifiers

_CANCELLED_TEXT = "user requested cancel of current operation"
_ABORT_ON_ERROR = 2
_VERSION_TEXT = b"Local development database for Oracle clients"

_REEXECUTE, _FETCH, _LOGOFF, _COMMIT, _ROLLBACK = 4, 5, 9, 14, 15
_VERSION, _REEXECUTE_AND_FETCH, _EXECUTE, _LOB, _PING, _END_PIPELINE = 59, 78, 94, 96, 147, 200
_NAMES = {
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


@dataclass(frozen=True, slots=True)
class Settings:
    """What all sessions of a listener share. ``service`` is the one name clients may ask for."""

    service: str
    features: Features
    verifiers: Verifiers


class Session:
    """Serves one client from connect to close, on the thread that calls :meth:`serve`.

    ``serial`` is the session's number for the client and in the statement log.
    """

    def __init__(self, channel: Channel, engine: Engine, settings: Settings, log: StatementLog, serial: int) -> None:
        self._channel = channel
        self._engine = engine
        self._settings = settings
        self._log = log
        self._serial = serial
        self._dialect = Dialect()
        self._authentication = login.Authentication(engine, settings.verifiers, settings.service, serial)
        self._lobs = LobTable()
        self._session: EngineSession | None = None
        self._statements: Statements | None = None
        self._postponed: OraError | None = None
        self._token = 0
        self._abort_pipeline = False
        self._pipeline_failed = False

    def serve(self) -> None:
        """Serve until the client hangs up or the channel is shut down."""
        try:
            self._dialect = login.accept_connection(self._channel, self._settings.features, self._settings.service)
            while True:
                self._serve_request()
        except Closed:
            pass
        except Exception as error:  # noqa: BLE001 - a session must not take the listener down
            report(error)
        finally:
            self._end()

    def _end(self) -> None:
        self._lobs.clear()
        if self._session is not None:
            try:
                self._session.close()
            except Exception as error:  # noqa: BLE001 - the socket is given back whatever happens
                report(error)
        self._channel.close()

    # requests

    def _serve_request(self) -> None:
        if self._channel.break_pending and not self._channel.reset():
            self._send_error(OraError(CANCELLED, _CANCELLED_TEXT))
        try:
            reader = Reader(self._channel.data(), self._channel.data)
            kind = reader.u8()
            while kind == MessageType.PIGGYBACK:
                self._read_piggyback(reader)
                kind = reader.u8()
            self._serve_message(kind, reader)
        except Abandoned:
            return  # the break is pending and answered first next time

    def _serve_message(self, kind: int, reader: Reader) -> None:
        out = bytearray()
        if kind == MessageType.FUNCTION:
            self._call(reader)
        elif kind == MessageType.FAST_AUTHENTICATION:
            self._authenticate_fast(reader)
        elif kind == MessageType.PROTOCOL:
            capabilities.read_protocol(reader, self._dialect)
            capabilities.put_protocol(out, self._dialect)
            self._reply_bare("protocol", out)
        elif kind == MessageType.DATA_TYPES:
            capabilities.read_data_types(reader, self._dialect)
            capabilities.put_data_types(out, self._dialect)
            self._reply_bare("data types", out)
        elif kind == MessageType.ONE_WAY_FUNCTION:
            self._read_head(reader)
            reader.skip(2)
            reader.number()
        else:
            raise Closed

    def _reply_bare(self, call: str, out: bytearray) -> None:
        """Send a reply of the time before the end-of-response mark is in use."""
        self._log.add(self._serial, Trip(call))
        self._channel.send_data(out)

    def _reply(self, out: bytearray, trip: Trip) -> None:
        self._log.add(self._serial, trip)
        if self._dialect.end_of_response:
            out.append(MessageType.END_OF_RESPONSE)
            self._channel.send_data(out, DataFlag.END_OF_RESPONSE)
        else:
            self._channel.send_data(out)

    def _read_head(self, reader: Reader) -> int:
        """Read what every function and piggyback starts with; give its code, keep the token."""
        code = reader.u8()
        reader.u8()
        self._token = reader.number() if self._dialect.field_version >= FIELD_VERSION_23_1_TOKENS else 0
        return code

    def _read_piggyback(self, reader: Reader) -> None:
        code = self._read_head(reader)
        if code == Piggyback.CLOSE_CURSORS:
            self._close_cursors(piggybacks.read_closed_cursors(reader))
        elif code == Piggyback.FREE_LOBS:
            self._lobs.free(read_freed_locators(reader))
        elif code == Piggyback.SET_SCHEMA:
            self._set_schema(piggybacks.read_schema(reader))
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

    def _close_cursors(self, numbers: list[int]) -> None:
        if self._statements is not None:
            with self._postponing():
                self._statements.close_cursors(numbers)

    def _set_schema(self, name: str) -> None:
        if self._session is not None:
            with self._postponing():
                self._session.set_schema(name)

    @contextlib.contextmanager
    def _postponing(self) -> Iterator[None]:
        """Keep an error for the next call: a piggyback has no reply of its own."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the call behind it fails with it
            self._postponed = as_ora_error(error)

    # login

    def _authenticate_fast(self, reader: Reader) -> None:
        """Answer protocol, data types and the first phase of authentication at once."""
        out = bytearray()
        reader.skip(3)
        self._expect(reader, MessageType.PROTOCOL)
        capabilities.read_protocol(reader, self._dialect)
        reader.skip(5)
        early_version = reader.u8()
        self._expect(reader, MessageType.DATA_TYPES)
        capabilities.read_data_types(reader, self._dialect)
        capabilities.put_protocol(out, self._dialect)
        capabilities.put_data_types(out, self._dialect)
        agreed, self._dialect.field_version = self._dialect.field_version, early_version
        self._expect(reader, MessageType.FUNCTION)
        code = self._read_head(reader)
        self._dialect.field_version = agreed
        if code != login.FIRST_PHASE:
            raise Closed
        self._answer(code, reader, out)

    @staticmethod
    def _expect(reader: Reader, kind: MessageType) -> None:
        if reader.u8() != kind:
            raise Closed

    def _open(self, user: str, first_statement: str | None) -> None:
        self._session = self._engine.open(user, self._channel)
        if first_statement is not None:
            self._session.run(first_statement)
        self._statements = Statements(self._session, self._dialect, self._lobs, self._before_run, self._after_read)

    # calls

    def _call(self, reader: Reader) -> None:
        code = self._read_head(reader)
        out = bytearray()
        if self._token:
            put_token(out, self._token)
        self._answer(code, reader, out)

    def _answer(self, code: int, reader: Reader, out: bytearray) -> None:
        """Answer one call; ``out`` holds what comes before its own response."""
        before = len(out)
        trip = Trip(_NAMES.get(code, f"function {code}"))
        failure: StatementError | None = None
        try:
            self._dispatch(code, reader, out, trip)
        except StatementError as error:
            failure = error
        except (Closed, Abandoned):
            raise
        except Exception as error:  # noqa: BLE001 - the session lives on
            failure = StatementError(as_ora_error(error), 0)
        self._postponed = None
        if failure is not None:
            del out[before:]
            self._put_failure(failure, out, trip)
        self._reply(out, trip)
        if failure is not None and failure.fatal:
            raise Closed

    def _put_failure(self, failure: StatementError, out: bytearray, trip: Trip) -> None:
        error = failure.error
        trip.error = error.number
        self._pipeline_failed = self._pipeline_failed or (self._abort_pipeline and bool(self._token))
        if error.number == CANCELLED and self._channel.break_pending:
            self._channel.accept_break(in_pipeline=bool(self._token))
        put_error(
            out,
            self._dialect.field_version,
            in_transaction=self._in_transaction,
            number=error.number,
            text=str(error),
            cursor=failure.cursor,
            rows=failure.rows,
            position=error.position,
        )

    def _send_error(self, error: OraError) -> None:
        out = bytearray()
        trip = Trip("break")
        self._put_failure(StatementError(error, 0), out, trip)
        self._reply(out, trip)

    @property
    def _in_transaction(self) -> bool:
        return self._session is not None and self._session.in_transaction

    def _before_run(self) -> None:
        """Raise what takes the place of the call that was just read."""
        if self._pipeline_failed:
            raise OraError(CANCELLED, f"{_CANCELLED_TEXT}: an earlier operation of the pipeline failed")
        if self._postponed is not None:
            raise self._postponed
        if self._channel.break_arrived():
            raise OraError(CANCELLED, _CANCELLED_TEXT)

    def _after_read(self) -> None:
        """Raise ORA-01013 instead of a response that the client no longer waits for.

        It would take the rest of a long response for that of its next request. What only read can be unsaid.
        """
        if self._channel.interrupted() and self._channel.break_pending:
            raise OraError(CANCELLED, _CANCELLED_TEXT)

    def _dispatch(self, code: int, reader: Reader, out: bytearray, trip: Trip) -> None:
        if code in (login.FIRST_PHASE, login.SECOND_PHASE):
            self._authenticate(code, reader, out)
            return
        session, statements = self._session, self._statements
        if session is None or statements is None:
            raise StatementError(OraError(1012, "not logged on"), 0, fatal=True)
        if code == _EXECUTE:
            statements.execute(reader, out, trip)
        elif code in (_REEXECUTE, _REEXECUTE_AND_FETCH):
            statements.execute_again(reader, out, trip, fetches=code == _REEXECUTE_AND_FETCH)
        elif code == _FETCH:
            statements.fetch(reader, out, trip)
        elif code == _LOB:
            request = read_lob_request(reader)
            self._before_run()
            answer_lob_request(out, request, self._lobs)
            self._after_read()
            put_error(out, self._dialect.field_version, in_transaction=session.in_transaction)
        elif code == _VERSION:
            reader.u8()
            reader.number()
            reader.skip(2)
            self._put_version(out)
        else:
            self._run_simple(code, reader, session)
            put_status(out, session.in_transaction)

    def _run_simple(self, code: int, reader: Reader, session: EngineSession) -> None:
        """Run a call that has neither arguments nor result."""
        if code == _END_PIPELINE:
            reader.number()
            self._abort_pipeline = self._pipeline_failed = False
            return
        actions: dict[int, Callable[[], None] | None] = {
            _COMMIT: session.commit,
            _ROLLBACK: session.rollback,
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

    def _authenticate(self, code: int, reader: Reader, out: bytearray) -> None:
        request = login.read_credentials(reader)
        if self._session is not None:
            raise OraError(3001, "unimplemented feature: changing a password")
        if code == login.FIRST_PHASE:
            pairs = self._authentication.challenge(request)
        else:
            pairs = self._authentication.confirm(request, self._open)
        put_pairs(out, pairs)
        put_error(out, self._dialect.field_version, in_transaction=self._in_transaction)

    def _put_version(self, out: bytearray) -> None:
        release, update, revision, increment, extension = login.DATABASE_VERSION
        out.append(MessageType.PARAMETER)
        put_counted(out, _VERSION_TEXT)
        put_uint(out, release << 24 | update << 16 | revision << 12 | increment << 4 | extension)
        put_error(out, self._dialect.field_version, in_transaction=self._in_transaction)
