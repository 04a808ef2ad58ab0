"""One client's session: reads its requests one after the other and answers them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from oraclerag.local.interface import Engine, EngineSession, OraError
from oraclerag.local.wire import capabilities, login
from oraclerag.local.wire.calls import NAMES, Calls
from oraclerag.local.wire.capabilities import FIELD_VERSION_23_1_TOKENS, Dialect, Features
from oraclerag.local.wire.faults import CANCELLED, CANCELLED_TEXT, StatementError, as_ora_error, report
from oraclerag.local.wire.messages import MessageType, put_error, put_pairs, put_token
from oraclerag.local.wire.packets import Abandoned, Channel, Closed, DataFlag
from oraclerag.local.wire.primitives import REQUEST_LIMIT, Malformed, Reader
from oraclerag.local.wire.statement_log import StatementLog, Trip
from oraclerag.local.wire.verifier import Verifiers

# Members as module constants: to look one up in its enumeration is felt in a short call.
_FUNCTION, _PIGGYBACK, _END_OF_RESPONSE = MessageType.FUNCTION, MessageType.PIGGYBACK, MessageType.END_OF_RESPONSE
_LAST_PACKET = int(DataFlag.END_OF_RESPONSE)
_LOGIN = (login.FIRST_PHASE, login.SECOND_PHASE)
_LOGIN_ATTEMPTS = 3  # SEC_MAX_FAILED_LOGIN_ATTEMPTS
_LAST_WORDS = frozenset({3113, 1034})  # the database is gone, and the session with it
_LOGIN_LIMIT = 64 * 1024  # bytes of a request from someone whom we do not know


@dataclass(frozen=True, slots=True)
class Settings:
    """What all sessions of a listener share.

    ``service`` is the one name clients may ask for; ``places`` are as many as sessions may be logged in.
    """

    service: str
    features: Features
    verifiers: Verifiers
    places: threading.BoundedSemaphore


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
        self._calls: Calls | None = None
        self._refused_logins = 0
        self._token = 0

    @property
    def logged_in(self) -> bool:
        """Whether somebody has logged in."""
        return self._calls is not None

    def serve(self) -> None:
        """Serve until the client hangs up or the channel is shut down."""
        try:
            self._dialect = login.accept_connection(self._channel, self._settings.features, self._settings.service)
            while True:
                self._serve_request()
        except (Closed, Malformed):
            pass
        except Exception as error:  # noqa: BLE001 - a session must not take the listener down
            report(error)
        finally:
            self._end()

    def _end(self) -> None:
        if self._calls is not None:
            try:
                self._calls.close()
            except Exception as error:  # noqa: BLE001 - the socket is given back whatever happens
                report(error)
            self._settings.places.release()
        self._channel.close()

    # requests

    def _serve_request(self) -> None:
        if self._channel.break_pending and not self._channel.reset():
            self._refuse(OraError(CANCELLED, CANCELLED_TEXT))
        channel = self._channel
        try:
            first = channel.data()
        except Abandoned:
            return  # the break is pending and answered first next time
        reader = Reader(first, channel.data, _LOGIN_LIMIT if self._calls is None else REQUEST_LIMIT)
        try:
            kind = reader.u8()
            while kind == _PIGGYBACK:
                code = self._read_head(reader)
                if self._calls is None:
                    raise Closed
                self._calls.piggyback(code, reader)
                kind = reader.u8()
            self._serve_message(kind, reader)
        except Abandoned:
            channel.accept_break(in_pipeline=False)  # what comes before the client's reset is the rest of this request
            self._refuse(OraError(CANCELLED, CANCELLED_TEXT))

    def _serve_message(self, kind: int, reader: Reader) -> None:
        out = bytearray()
        if kind == _FUNCTION:
            code = self._read_head(reader)
            if self._token:
                put_token(out, self._token)
            self._answer(code, reader, out)
        elif kind == MessageType.ONE_WAY_FUNCTION:
            self._read_head(reader)
            reader.skip(2)
            reader.number()
        elif self._calls is not None:
            raise Closed  # what both sides can do is settled before the login
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
        else:
            raise Closed

    def _read_head(self, reader: Reader) -> int:
        """Read what every function and piggyback starts with; give its code, keep the token."""
        has_token = self._dialect.field_version >= FIELD_VERSION_23_1_TOKENS
        data, position = reader.data, reader.position
        if has_token and position + 2 < len(data) and not data[position + 2]:  # nearly always
            reader.position = position + 3
            self._token = 0
            return data[position]
        code = reader.u8()
        reader.u8()
        self._token = reader.number() if has_token else 0
        if self._token < 0:
            raise Malformed
        return code

    # responses

    def _reply_bare(self, call: str, out: bytearray) -> None:
        """Send a reply of the time before the end-of-response mark is in use."""
        self._log.add(self._serial, Trip(call))
        self._channel.send_data(out)

    def _reply(self, out: bytearray, trip: Trip) -> None:
        self._log.add(self._serial, trip)
        if self._dialect.end_of_response:
            out.append(_END_OF_RESPONSE)
            self._channel.send_data(out, _LAST_PACKET)
        else:
            self._channel.send_data(out)

    def _answer(self, code: int, reader: Reader, out: bytearray) -> None:
        """Answer one call; ``out`` holds what comes before its own response."""
        before = len(out)
        trip = Trip(NAMES.get(code) or f"function {code}")
        failure: StatementError | None = None
        try:
            if self._calls is not None and code not in _LOGIN:
                self._calls.run(code, reader, out, trip)
            elif code in _LOGIN:
                self._authenticate(code, reader, out)
            else:
                raise StatementError(OraError(1012, "not logged on"), 0, fatal=True)  # its body was not read
        except StatementError as error:
            failure = error
        except (Closed, Abandoned, Malformed):
            raise
        except Exception as error:  # noqa: BLE001 - the session lives on
            failure = StatementError(as_ora_error(error), 0)
        if failure is not None:
            del out[before:]
            self._put_failure(failure, out, trip)
        self._reply(out, trip)
        if failure is not None and (failure.fatal or failure.error.number in _LAST_WORDS):
            raise Closed

    def _put_failure(self, failure: StatementError, out: bytearray, trip: Trip) -> None:
        error = failure.error
        trip.error = error.number
        in_pipeline = bool(self._token)
        if self._calls is not None:
            self._calls.failed(in_pipeline=in_pipeline)
        if error.number == CANCELLED and self._channel.break_pending:
            self._channel.accept_break(in_pipeline=in_pipeline)
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

    def _refuse(self, error: OraError) -> None:
        """Answer with an error where no call is to be answered."""
        out = bytearray()
        trip = Trip("break")
        self._put_failure(StatementError(error, 0), out, trip)
        self._reply(out, trip)

    @property
    def _in_transaction(self) -> bool:
        return self._calls is not None and self._calls.in_transaction

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

    def _authenticate(self, code: int, reader: Reader, out: bytearray) -> None:
        request = login.read_credentials(reader)
        if self._calls is not None:
            raise OraError(3001, "unimplemented feature: changing a password")
        if code == login.FIRST_PHASE:
            pairs = self._authentication.challenge(request)
        else:
            pairs = self._confirm(request)
        put_pairs(out, pairs)
        put_error(out, self._dialect.field_version, in_transaction=self._in_transaction)

    def _confirm(self, request: login.Credentials) -> list[tuple[str, str, int]]:
        try:
            return self._authentication.confirm(request, self._open)
        except OraError as error:
            self._refused_logins += 1
            raise StatementError(error, 0, fatal=self._refused_logins >= _LOGIN_ATTEMPTS) from error

    def _open(self, user: str, first_statement: str | None) -> None:
        if not self._settings.places.acquire(blocking=False):
            raise OraError(20, "maximum number of processes exceeded")
        session: EngineSession | None = None
        try:
            session = self._engine.open(user, self._channel)
            if first_statement is not None:
                session.run(first_statement)
        except BaseException:
            self._settings.places.release()
            if session is not None:
                session.close()
            raise
        self._calls = Calls(session, self._channel, self._dialect)
