"""The listener of the local database: loopback only, a thread per session.

It speaks Oracle Net to thin clients and hands their statements to an :class:`~oraclerag.local.interface.Engine`.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
from pathlib import Path
from types import TracebackType

from oraclerag.local.interface import Engine
from oraclerag.local.wire.capabilities import Features
from oraclerag.local.wire.packets import Channel
from oraclerag.local.wire.session import Session, Settings
from oraclerag.local.wire.statement_log import StatementLog
from oraclerag.local.wire.verifier import DEFAULT_ROUNDS, Verifiers

LOOPBACK = "127.0.0.1"
DEFAULT_SERVICE = "FREEPDB1"
_BACKLOG = 128
_JOIN_SECONDS = 10.0


class Server:
    """Listens on the loopback address and serves clients until it is closed.

    ``port`` 0 takes a free one. ``service`` is the only service name clients may ask for. ``log_statements`` names a
    file to which one JSON line per round trip is appended: statement, bind types and row counts, never values.
    ``features`` hold what the protocol offers, MAX_STRING_SIZE included, which must be the engine's.
    ``verifier_rounds`` is the cost of the password check; some clients insist on the default, tests may take 1.
    Use it as a context manager, or :meth:`start` and :meth:`close`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        port: int = 0,
        service: str = DEFAULT_SERVICE,
        log_statements: Path | None = None,
        features: Features | None = None,
        verifier_rounds: int = DEFAULT_ROUNDS,
    ) -> None:
        self.service = service
        self._engine = engine
        self._features = features or Features()
        self._settings = Settings(service, self._features, Verifiers(verifier_rounds))
        self._wanted_port = port
        self._log = StatementLog(log_statements)
        self._serials = itertools.count(1)
        self._sessions: dict[threading.Thread, Channel] = {}
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._wake, self._woken = socket.socketpair()

    def start(self) -> None:
        """Open the port and serve on a thread of its own; raises :class:`OSError` when the port is taken."""
        if self._listener is not None:
            raise RuntimeError("the server runs already")
        try:
            self._listener = socket.create_server((LOOPBACK, self._wanted_port), backlog=_BACKLOG)
        except OSError:
            self.close()
            raise
        self._thread = threading.Thread(
            target=self._listen, args=(self._listener,), name="oracle-listener", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        if self._listener is None:
            raise RuntimeError("the server does not run")
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def dsn(self) -> str:
        """What a client connects to."""
        return f"{LOOPBACK}:{self.port}/{self.service}"

    @property
    def round_trips(self) -> int:
        """Number of requests answered so far, over all sessions, logins included."""
        return self._log.round_trips

    @property
    def sessions(self) -> int:
        """Number of sessions open now."""
        with self._lock:
            return len(self._sessions)

    def close(self) -> None:
        """Stop listening, end all sessions (running statements are cancelled), wait for them. Idempotent."""
        listener, self._listener = self._listener, None
        if listener is not None:
            self._stop(listener)
        self._log.close()
        self._wake.close()
        self._woken.close()

    def _stop(self, listener: socket.socket) -> None:
        self._wake.send(b"\0")
        if self._thread is not None:
            self._thread.join()
        listener.close()
        with self._lock:
            sessions = dict(self._sessions)
        for channel in sessions.values():
            channel.shutdown()
        for thread in sessions:
            thread.join(_JOIN_SECONDS)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self, listener: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    return
                try:
                    connection, _ = listener.accept()
                except OSError:  # the client was gone before it was accepted
                    continue
                self._admit(connection)

    def _admit(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        channel = Channel(connection, self._features.sdu)
        serial = next(self._serials)
        session = Session(channel, self._engine, self._settings, self._log, serial)
        thread = threading.Thread(target=self._serve, args=(session,), name=f"oracle-session-{serial}", daemon=True)
        with self._lock:
            self._sessions[thread] = channel
        thread.start()

    def _serve(self, session: Session) -> None:
        try:
            session.serve()
        finally:
            with self._lock:
                self._sessions.pop(threading.current_thread(), None)
