"""The listener of the local database: a thread per session, on the loopback interface unless told otherwise.

It speaks Oracle Net to thin clients and hands their statements to an :class:`~oraclerag.local.interface.Engine`.
"""

from __future__ import annotations

import errno
import itertools
import logging
import selectors
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from oraclerag.local.address import LOOPBACK, REMOTE_MEANS, bind, check_address, is_loopback, reachable
from oraclerag.local.interface import Engine
from oraclerag.local.wire.capabilities import Features
from oraclerag.local.wire.packets import Channel
from oraclerag.local.wire.session import Session, Settings
from oraclerag.local.wire.statement_log import StatementLog
from oraclerag.local.wire.verifier import DEFAULT_ROUNDS, Verifiers

logger = logging.getLogger(__name__)

DEFAULT_SERVICE = "FREEPDB1"
_BACKLOG = 128
_JOIN_SECONDS = 10.0
_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS = 0.05  # between looks for a free place, and after an accept that the system had nothing left for

# A client that is gone without a word, as behind a cable that was pulled, is noticed after two minutes.
_KEEPALIVE = (
    ("TCP_KEEPIDLE", 60),
    ("TCP_KEEPALIVE", 60),  # what macOS calls it
    ("TCP_KEEPINTVL", 10),
    ("TCP_KEEPCNT", 6),
    ("TCP_USER_TIMEOUT", 120_000),  # milliseconds, where an answer is on its way
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the listener clients may take.

    ``sessions``: that are logged in, the next gets ORA-00020 (PostgreSQL has 200 connections, and the engine wants
    some). ``logins``: clients that have not logged in yet; more of them wait to be accepted. Such a client is hung up
    on after ``login_seconds``, while others wait after ``crowded_seconds``.
    """

    sessions: int = 190
    logins: int = 64
    login_seconds: float = 60.0
    crowded_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class _Visitor:
    """A client that was accepted, when (seconds of the monotonic clock)."""

    channel: Channel
    session: Session
    since: float


class Server:
    """Listens and serves clients until it is closed.

    ``listen`` is an IP address; without ``allow_remote`` one of the loopback interface (ValueError). ``port`` 0 takes
    a free one. ``service`` is the only service name clients may ask for. ``log_statements`` names a
    file to which one JSON line per round trip is appended: statement, bind types and row counts, never values.
    ``features`` hold what the protocol offers, MAX_STRING_SIZE included, which must be the engine's.
    ``verifier_rounds`` is the cost of the password check; some clients insist on the default, tests may take 1.
    Use it as a context manager, or :meth:`start` and :meth:`close`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        listen: str = LOOPBACK,
        allow_remote: bool = False,
        port: int = 0,
        service: str = DEFAULT_SERVICE,
        log_statements: Path | None = None,
        features: Features | None = None,
        limits: Limits | None = None,
        verifier_rounds: int = DEFAULT_ROUNDS,
    ) -> None:
        self.service = service
        self._address = check_address(listen, allow_remote=allow_remote)
        self._engine = engine
        self._features = features or Features()
        self._limits = limits or Limits()
        places = threading.BoundedSemaphore(self._limits.sessions)
        self._settings = Settings(service, self._features, Verifiers(verifier_rounds), places)
        self._wanted_port = port
        self._log = StatementLog(log_statements)
        self._serials = itertools.count(1)
        self._visitors: dict[threading.Thread, _Visitor] = {}
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._wake, self._woken = socket.socketpair()

    def start(self) -> None:
        """Open the port and serve on a thread of its own; raises :class:`OSError` when the port is taken."""
        if self._listener is not None:
            raise RuntimeError("the server runs already")
        try:
            self._listener = bind(self._address, self._wanted_port, _BACKLOG)
        except OSError:
            self.close()
            raise
        self._listener.setblocking(False)
        if not is_loopback(self._address):
            logger.warning("listening on %s: %s", self._address, REMOTE_MEANS)
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
        """What a client on this machine connects to."""
        return f"{reachable(self._address, self.port)}/{self.service}"

    @property
    def round_trips(self) -> int:
        """Number of requests answered so far, over all sessions, logins included."""
        return self._log.round_trips

    @property
    def sessions(self) -> int:
        """Number of clients connected now, logged in or not."""
        with self._lock:
            return len(self._visitors)

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
            visitors = dict(self._visitors)
        for visitor in visitors.values():
            visitor.channel.shutdown()
        for thread in visitors:
            thread.join(_JOIN_SECONDS)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # the listener's thread

    def _listen(self, listener: socket.socket) -> None:
        accepted = True
        with selectors.DefaultSelector() as selector:
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                wait, room = self._look_after_logins()
                if room and accepted:
                    selector.register(listener, selectors.EVENT_READ)
                else:
                    wait = _PAUSE_SECONDS
                ready = {key.fileobj for key, _ in selector.select(wait)}
                if room and accepted:
                    selector.unregister(listener)
                if self._woken in ready:
                    return
                accepted = self._accept(listener) if listener in ready else True

    def _look_after_logins(self) -> tuple[float | None, bool]:
        """Hang up on clients that take too long to log in.

        Gives the seconds to the next look, and whether there is room for more of them. A login that comes at the last
        moment may be lost.
        """
        with self._lock:
            waiting = [visitor for visitor in self._visitors.values() if not visitor.session.logged_in]
        room = len(waiting) < self._limits.logins
        patience = self._limits.login_seconds if room else self._limits.crowded_seconds
        now = time.monotonic()
        left = []
        for visitor in waiting:
            seconds = visitor.since + patience - now
            if seconds > 0:
                left.append(seconds)
            else:
                visitor.channel.shutdown()
        return min(left, default=None), room

    def _accept(self, listener: socket.socket) -> bool:
        """Accept a client; False when the system has nothing left for one."""
        try:
            connection, _ = listener.accept()
        except OSError as error:
            if error.errno in _SCARCE:
                logger.warning("a client could not be accepted: %s", error.strerror)
                return False
            return True  # the client was gone before it was accepted
        try:
            self._admit(connection)
        except (OSError, RuntimeError) as error:  # it has gone; no more threads
            logger.warning("a client could not be served: %s", error)
            connection.close()
            return False
        return True

    def _admit(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _watch_over(connection)
        channel = Channel(connection, self._features.sdu)
        serial = next(self._serials)
        session = Session(channel, self._engine, self._settings, self._log, serial)
        thread = threading.Thread(target=self._serve, args=(session,), name=f"oracle-session-{serial}", daemon=True)
        with self._lock:
            self._visitors[thread] = _Visitor(channel, session, time.monotonic())
        try:
            thread.start()
        except RuntimeError:
            self._forget(thread)
            raise

    def _serve(self, session: Session) -> None:
        try:
            session.serve()
        finally:
            self._forget(threading.current_thread())

    def _forget(self, thread: threading.Thread) -> None:
        with self._lock:
            self._visitors.pop(thread, None)


def _watch_over(connection: socket.socket) -> None:
    """Have the system find out whether a silent client is still there, so that its locks do not stay for ever."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        option = getattr(socket, name, None)
        if option is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
