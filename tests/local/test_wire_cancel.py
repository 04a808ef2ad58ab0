"""Stopping statements: call_timeout, cancel, clients that vanish, a listener that closes."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator

import oracledb
import pytest

from tests.local.wire_backend import SETTINGS, Served, collect_dropped_sockets


@pytest.fixture(scope="module", params=SETTINGS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(SETTINGS[request.param]) as served:
        yield served


dropped_sockets = pytest.fixture(collect_dropped_sockets)


@pytest.fixture
def connection(served: Served) -> Iterator[oracledb.Connection]:
    served.engine.sleeping.clear()
    with served.connect() as connection:
        yield connection


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _works(connection: oracledb.Connection) -> bool:
    cursor = connection.cursor()
    cursor.execute("select echo :1", ["still here"])
    return bool(cursor.fetchone() == ("still here",))


@pytest.mark.parametrize("statement", ["select sleep 60 from dual", "begin sleep 60; end;"])
def test_call_timeout(connection: oracledb.Connection, statement: str) -> None:
    connection.call_timeout = 300  # the driver gives the same time to its recovery, on a busy machine too
    for _ in range(2):
        with pytest.raises(oracledb.DatabaseError, match="DPY-4024"):
            connection.cursor().execute(statement)
    connection.call_timeout = 0
    assert _works(connection)


def test_cancel_stops_a_running_statement(served: Served, connection: oracledb.Connection) -> None:
    def cancel() -> None:
        served.engine.sleeping.wait(20)
        connection.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(oracledb.OperationalError, match="ORA-01013"):
        connection.cursor().execute("begin sleep 60; end;")
    thread.join()
    assert _works(connection)


def test_cancel_while_idle_hits_nothing(connection: oracledb.Connection) -> None:
    connection.cancel()
    assert _works(connection)
    assert _works(connection)


def test_breaks_at_any_moment_leave_the_session_in_step(connection: oracledb.Connection) -> None:
    """Around the end of a statement a break may come before, with or after the response."""
    chance = random.Random(7)
    outcomes = set()
    for number in range(120):
        cursor = connection.cursor()
        timer = threading.Timer(chance.uniform(0, 0.006), connection.cancel)
        timer.start()
        try:
            cursor.execute(f"select sleep {chance.uniform(0, 0.006):.4f} from dual")
            assert cursor.fetchall() == [(1,)]
            outcomes.add("done")
        except oracledb.DatabaseError as error:
            outcomes.add(error.args[0].full_code)
        timer.join()
        for _ in range(3):  # a late break may still hit one statement
            try:
                cursor.execute("select echo :1, :2", [number, number])
            except oracledb.DatabaseError as error:
                outcomes.add(error.args[0].full_code)
                continue
            assert cursor.fetchone() == (number, number)
            break
        else:
            pytest.fail("the session stayed cancelled")
    assert outcomes == {"done", "ORA-01013"}


class _Line:
    """A line between a client and the server that can be cut."""

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._connect, args=(port,))]
        self._threads[0].start()

    def _connect(self, port: int) -> None:
        client, _ = self._listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        self._ends = [client, server]
        for source, target in ((client, server), (server, client)):
            thread = threading.Thread(target=self._pump, args=(source, target))
            self._threads.append(thread)
            thread.start()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):  # cut
            while data := source.recv(65536):
                target.sendall(data)

    def cut(self) -> None:
        for end in self._ends:
            end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (*self._ends, self._listener):
            end.close()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("dropped_sockets")
def test_a_client_that_vanishes_stops_its_statement(served: Served) -> None:
    served.engine.sleeping.clear()
    line = _Line(served.server.port)
    connection = served.connect(dsn=f"127.0.0.1:{line.port}/FREEPDB1")
    session = served.engine.sessions[-1]

    def run() -> None:
        with pytest.raises(oracledb.DatabaseError, match="DPY-4011"):
            connection.cursor().execute("select sleep 60 from dual")

    thread = threading.Thread(target=run)
    thread.start()
    served.engine.sleeping.wait(20)
    assert not session.closed
    line.cut()
    thread.join()
    _wait(lambda: session.closed)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("dropped_sockets")
def test_closing_the_server_ends_its_sessions() -> None:
    with Served(SETTINGS["default"]) as served:
        busy, idle = served.connect(), served.connect()
        sessions = list(served.engine.sessions)
        failures: list[oracledb.DatabaseError] = []

        def run() -> None:
            try:
                busy.cursor().execute("select sleep 60 from dual")
            except oracledb.DatabaseError as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        served.engine.sleeping.wait(20)
        assert served.server.sessions == 2
        served.server.close()
        thread.join()
        assert served.server.sessions == 0
        assert all(session.closed for session in sessions)
        assert len(failures) == 1
        with pytest.raises(oracledb.DatabaseError, match="DPY-4011"):
            idle.ping()
        served.server.close()


def test_sessions_that_end_are_forgotten(served: Served) -> None:
    before = served.server.sessions
    for _ in range(5):
        served.connect().close()
    _wait(lambda: served.server.sessions <= before)
    assert all(session.closed for session in served.engine.sessions[-5:])


@pytest.mark.parametrize("junk", [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", bytes(58), b"\xff" * 200])
def test_what_is_no_client_is_hung_up_on(served: Served, junk: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.server.port)) as stranger:
        stranger.sendall(junk)
        stranger.shutdown(socket.SHUT_WR)
        stranger.settimeout(20)
        assert stranger.recv(100) == b""
    with served.connect() as connection:
        connection.ping()
