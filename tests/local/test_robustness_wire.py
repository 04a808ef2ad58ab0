"""Strangers on the port: whatever they send or do not send, they are hung up on, and others do not notice."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag.local.address import check_address, reachable
from oraclerag.local.interface import OraError
from oraclerag.local.server import Limits, Server
from oraclerag.local.wire.packets import PacketType
from tests.local.wire_backend import PASSWORD, SETTINGS, CannedEngine, Served
from tests.local.wire_raw import (
    EXECUTE,
    FIRST_PHASE,
    SECOND_PHASE,
    RawClient,
    connect_packet,
    credentials,
    data,
    function,
    packet,
    protocol,
)

MARKED = b"CONFIDENTIAL"  # must appear in no log


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served(SETTINGS["default"]) as served:
        yield served


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No test here may bring about a fault, nor a log that repeats what came."""
    with caplog.at_level(logging.DEBUG):
        yield
    assert MARKED.decode() not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _answers(connection: oracledb.Connection) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select echo :1", ["undisturbed"])
        return bool(cursor.fetchone() == ("undisturbed",))


NOISE = random.Random(1).randbytes(3000)
HUGE = b"\x08" + b"\x7f" * 8
PAIRS = [(b"AUTH_SESSKEY", b"00" * 32), (b"AUTH_PASSWORD", b"00" * 32)]
FAST = b"\x22\1\0\0\1\6\0raw\0"

BEFORE = {
    "nothing": b"",
    "noise": NOISE,
    "zeros": bytes(2000),
    "text": b"GET /" + MARKED + b" HTTP/1.1\r\n\r\n",
    "a length of zero": b"\0\0\0\0\1\0\0\0",
    "a length that is shorter than the header": b"\0\7\0\0\1\0\0",
    "a connect packet without fields": packet(PacketType.CONNECT, b"\1\2", short=True),
    "a connect packet that ends early": connect_packet()[:40],
    "a descriptor of another length": connect_packet()[:24] + b"\xff\xff" + connect_packet()[26:],
    "a descriptor at another place": connect_packet()[:26] + b"\0\0" + connect_packet()[28:],
    "another packet": packet(PacketType.DATA, b"\0\0hello", short=True),
    "another service": connect_packet(MARKED.decode()),
}

AFTER = {
    "nothing": b"",
    "noise": NOISE,
    "the largest length": b"\xff\xff\xff\xff\6\0\0\0" + MARKED,
    "a length of zero": bytes(8),
    "a length of one": b"\0\0\0\1\6\0\0\0",
    "a packet that ends early": data(b"\3" + MARKED * 100)[:-3],
    "the connect packet again": connect_packet(),
    "an unknown packet": packet(99, MARKED),
    "an empty packet": data(b""),
    "empty packets": data(b"") * 5000,
    "an unknown message": data(b"\xee" + MARKED),
    "a piggyback": data(b"\x11\x69\1\0\1\1\1\5"),
    "a statement": protocol() + function(EXECUTE, b"\2\x80\x21\0\1\5" + MARKED),
    "a ping": protocol() + function(147, b""),
    "fast authentication that is none": data(FAST + NOISE),
    "fast authentication of zeros": data(FAST + bytes(2000)),
    "data types without end": data(b"\2\0\0\0\0\0" + b"\0\0" + b"\1" * 8000),
    "a user name of a huge size": function(FIRST_PHASE, b"\1" + HUGE + b"\1\1\1\0\1\1" + b"\xfe" + HUGE + MARKED),
    "a billion parameters": credentials(FIRST_PHASE, MARKED, [], count=10**9),
    "a negative number of parameters": function(FIRST_PHASE, b"\1\1\3\1\1\1\x81\5\1\1\3abc"),
    "a number of 127 bytes": function(FIRST_PHASE, b"\1\x7f" + b"\xff" * 127),
    "a user that is no text": protocol() + credentials(FIRST_PHASE, b"\xff\xfe\0" + MARKED, []),
    "a user with a NUL": protocol() + credentials(FIRST_PHASE, b"RAG\0" + MARKED, []),
    "the second phase first": protocol() + credentials(SECOND_PHASE, b"RAG", PAIRS) * 4,
    "breaks": packet(PacketType.MARKER, b"\1\0\1") * 50,
    "a break without its kind": packet(PacketType.MARKER, b""),
    "a break in a request": data(b"\3\x76") + packet(PacketType.MARKER, b"\1\0\1"),
    "resets": packet(PacketType.MARKER, b"\1\0\2") * 50,
    "an interrupt": packet(PacketType.MARKER, b"\1\0\3"),
    "a farewell": packet(PacketType.DATA, b"\0\x40"),
}


@pytest.mark.parametrize("accepted", [False, True], ids=["at once", "after the accept"])
def test_whoever_sends_what_is_no_request_is_hung_up_on(served: Served, accepted: bool) -> None:
    cases = AFTER if accepted else BEFORE
    with served.connect() as other:
        for name, payload in cases.items():
            with RawClient(served.server.port) as client:
                if accepted:
                    client.accepted()
                client.send(payload)
                client.finish()
                answer = client.until_closed()
            assert MARKED not in answer, name
            assert _answers(other), name
        with served.connect() as fresh:
            assert _answers(fresh)
    assert served.engine.statements[-1].startswith("select echo")
    _wait(lambda: served.server.sessions == 0)


@pytest.mark.parametrize(
    "payload",
    [
        data(b"\xee"),
        b"\0\0\0\1\6\0\0\0",
        packet(99, b""),
        data(b"\x11\x69\1\0\1\1\1\5"),
        protocol() + function(EXECUTE, bytes(50)),
        function(FIRST_PHASE, b"\1\1\3\1\1\1\1\1\1\1" + b"\xfe" + HUGE),
        data(b"\3\x76\1\0\1\1\3\1\1\1\x81\5\1\1" + b"\xfe\x81\2"),
    ],
)
def test_there_is_no_waiting_for_more_of_what_is_no_request(served: Served, payload: bytes) -> None:
    with RawClient(served.server.port) as client:
        client.accepted()
        client.send(payload)
        client.until_closed()


def test_a_request_that_never_ends_is_cut_off_before_the_login(served: Served) -> None:
    endless = data(b"\xfe" + b"\2\x1f\x40" + b"x" * 8000)
    with RawClient(served.server.port) as client:
        client.accepted()
        client.send(function(FIRST_PHASE, b"\1\1\3\1\1\1\1\1\1\1" + b"\xfe"))
        sent = 0
        while client.send(endless):
            sent += len(endless)
            assert sent < 64_000_000
        client.until_closed()


BROKEN = [
    [],
    [(b"AUTH_SESSKEY", b"no hex, " + MARKED), (b"AUTH_PASSWORD", b"0")],
    [(b"AUTH_SESSKEY", b""), (b"AUTH_PASSWORD", b"")],
    [(b"AUTH_SESSKEY", b"00"), (b"AUTH_PASSWORD", b"00" * 16)],
    [(b"AUTH_SESSKEY", b"00" * 32), (b"AUTH_PASSWORD", b"00")],
    [(b"AUTH_SESSKEY", b"FF" * 16), (b"AUTH_PASSWORD", b"FF" * 4096)],
    [(b"AUTH_SESSKEY", "ä".encode() * 32), (b"AUTH_PASSWORD", b"\xff" * 64)],
    [(b"AUTH_PASSWORD", b"00" * 32)],
    [(b"AUTH_SESSKEY", b"00" * 32)] * 50,
    [*PAIRS, (b"AUTH_ALTER_SESSION", b"drop table " + MARKED)],
]


@pytest.mark.parametrize("pairs", BROKEN)
def test_broken_answers_to_the_challenge_are_a_wrong_password(served: Served, pairs: list[tuple[bytes, bytes]]) -> None:
    statements = len(served.engine.statements)
    with RawClient(served.server.port) as client:
        client.accepted()
        client.send(protocol() + credentials(FIRST_PHASE, b"RAG", []) + credentials(SECOND_PHASE, b"RAG", pairs))
        client.finish()
        assert b"ORA-01017" in client.until_closed()
    assert len(served.engine.statements) == statements


def test_passwords_are_tried_three_times_on_a_connection(served: Served) -> None:
    attempt = credentials(FIRST_PHASE, b"RAG", []) + credentials(SECOND_PHASE, b"RAG", PAIRS)
    with RawClient(served.server.port) as client:
        client.accepted()
        client.send(protocol() + attempt * 5)
        assert client.until_closed().count(b"ORA-01017: ") == 3


def test_whoever_does_not_log_in_is_hung_up_on_and_whoever_has_is_not() -> None:
    with Served(SETTINGS["default"], limits=Limits(login_seconds=0.3)) as served, served.connect() as other:
        with contextlib.ExitStack() as stack:
            silent, accepted, slow = (stack.enter_context(RawClient(served.server.port)) for _ in range(3))
            accepted.accepted()
            slow.accepted()
            for byte in data(b"\3\x76" + bytes(8000)):  # a byte now and then does not count as progress
                if not slow.send(bytes((byte,))):
                    break
                time.sleep(0.01)
            else:
                pytest.fail("a client could take its time")
            assert silent.until_closed() == b""
            assert accepted.until_closed() == b""
        assert _answers(other)
        _wait(lambda: served.server.sessions == 1)


def test_a_crowd_of_strangers_keeps_nobody_out() -> None:
    limits = Limits(logins=4, login_seconds=3600, crowded_seconds=0.1)
    with Served(SETTINGS["default"], limits=limits) as served, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(RawClient(served.server.port)) for _ in range(20)]
        with served.connect() as connection:
            assert _answers(connection)
            assert served.server.sessions <= 5
        assert crowd[0].until_closed() == b""


def test_sessions_beyond_the_limit_are_ora_20_until_one_has_ended() -> None:
    with Served(SETTINGS["default"], limits=Limits(sessions=2)) as served:
        with served.connect() as first, served.connect() as second:
            for _ in range(3):
                with pytest.raises(oracledb.DatabaseError, match="ORA-00020"):
                    served.connect()
            assert _answers(first)
            assert _answers(second)
        for _ in range(3):  # a refused or failed login takes no place either
            with pytest.raises(oracledb.DatabaseError, match="ORA-28000"):
                served.connect(user="locked")
        _wait(lambda: served.server.sessions == 0)
        with served.connect() as first, served.connect() as second:
            assert _answers(first)
            assert _answers(second)


def test_an_engine_that_cannot_be_reached_ends_the_session(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with served.connect() as connection:

        def lost(*_: Any) -> None:
            raise OraError(3113, "end-of-file on communication channel")

        monkeypatch.setattr(served.engine.sessions[-1], "query", lost, raising=False)
        with pytest.raises(oracledb.DatabaseError, match="ORA-03113"):
            _answers(connection)
        _wait(lambda: served.server.sessions == 0)


class _Scarce:
    """A listener whose system has no descriptor left."""

    def accept(self) -> tuple[socket.socket, Any]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_a_system_without_descriptors_is_waited_for(served: Served) -> None:
    assert served.server._accept(_Scarce()) is False  # type: ignore[arg-type]


def test_a_client_for_whom_there_is_no_thread_is_hung_up_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("oracle-session"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with RawClient(served.server.port) as client:
            assert client.until_closed() == b""
    with served.connect() as connection:
        assert _answers(connection)


@pytest.mark.skipif(sys.platform != "linux", reason="the table of connections is Linux's")
def test_the_system_asks_whether_a_silent_client_is_still_there(served: Served) -> None:
    keepalive = "02"  # the kind of the timer that runs
    with RawClient(served.server.port) as client:
        client.accepted()
        ports = f":{served.server.port:04X} 0100007F:{client.port:04X} "
        lines = [line for line in Path("/proc/net/tcp").read_text("ascii").splitlines() if ports in line]
        assert [line.split()[5].partition(":")[0] for line in lines] == [keepalive]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_under_the_statement_log_ends_the_log_alone() -> None:
    with Served(SETTINGS["default"], log=Path("/dev/full")) as served, served.connect() as connection:
        assert _answers(connection)
        assert _answers(connection)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_the_loopback_interface_needs_no_permission(address: str) -> None:
    assert check_address(address, allow_remote=False) == address.replace("localhost", "127.0.0.1")


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.5", "192.168.1.1", "fe80::1", "2001:db8::1"])
def test_other_interfaces_need_a_word_that_says_what_it_means(address: str) -> None:
    with pytest.raises(ValueError, match=r"loopback interface.*unencrypted.*--allow-remote"):
        Server(CannedEngine(), listen=address)
    assert check_address(address, allow_remote=True) == address


@pytest.mark.parametrize("address", ["", "example.com", "127.0.0.1:1521", "[::1]", "1234567"])
@pytest.mark.parametrize("allowed", [False, True])
def test_what_is_no_address_is_refused(address: str, allowed: bool) -> None:
    with pytest.raises(ValueError, match="no IP address"):
        check_address(address, allow_remote=allowed)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", "127.0.0.1:1521"),
        ("0.0.0.0", "127.0.0.1:1521"),
        ("::1", "[::1]:1521"),
        ("::", "[::1]:1521"),
        ("10.0.0.5", "10.0.0.5:1521"),
    ],
)
def test_what_a_client_of_this_machine_connects_to(address: str, expected: str) -> None:
    assert reachable(address, 1521) == expected


@pytest.mark.parametrize("address", ["127.0.0.2", "::1", "0.0.0.0"])
def test_it_listens_where_it_is_told_and_nowhere_else(address: str, caplog: pytest.LogCaptureFixture) -> None:
    if address == "::1" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    if address == "127.0.0.2" and sys.platform != "linux":
        pytest.skip("only Linux has more than one loopback address from the start")
    server = Server(CannedEngine(), listen=address, allow_remote=address == "0.0.0.0", verifier_rounds=1)
    with server, oracledb.connect(user="rag", password=PASSWORD, dsn=server.dsn) as connection:
        assert _answers(connection)
        if address != "0.0.0.0":
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", server.port))
    assert ("listening on" in caplog.text) == (address == "0.0.0.0")


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
