"""What real clients send, packet by packet, in typical sessions; and how it is sent again, changed.

A login is a challenge and an answer. With a server whose random numbers are all the same, an answer that was recorded
is right again, so that a changed session gets past it.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import oracledb
from hypothesis import strategies as st

from oraclerag.local.wire.packets import HEADER_SIZE
from tests.local.wire_raw import RawClient


class _SameNumbers:
    """A module ``os`` that draws the same random bytes again and again."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def urandom(self, size: int) -> bytes:
        return bytes(range(size))


@contextmanager
def repeatable_logins() -> Iterator[None]:
    """Make every challenge the same."""
    with mock.patch("oraclerag.local.wire.verifier.os", _SameNumbers()):
        yield


def record(port: int, play: Callable[[str], None]) -> list[bytes]:
    """Let ``play`` connect to the DSN that it is given, and give the packets that its client sent."""
    sent: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def carry() -> None:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            back = threading.Thread(target=_pump, args=(server, client, []))
            back.start()
            _pump(client, server, sent)
            back.join()
            client.close()
            server.close()

        thread = threading.Thread(target=carry)
        thread.start()
        play(f"127.0.0.1:{listener.getsockname()[1]}/FREEPDB1")
        thread.join()
    return _packets(b"".join(sent))


def _pump(source: socket.socket, target: socket.socket, kept: list[bytes]) -> None:
    while data := source.recv(65536):
        kept.append(data)
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def _packets(stream: bytes) -> list[bytes]:
    """Part what was sent: until the server accepts, lengths have two bytes, then four, of which the first are zero.

    A connect text of more than 230 bytes, from a program with a long path, comes in a second packet before that.
    """
    packets: list[bytes] = []
    while stream:
        size = int.from_bytes(stream[:2], "big") or int.from_bytes(stream[:4], "big")
        packets.append(stream[:size])
        stream = stream[size:]
    return packets


def with_length(packet: bytes) -> bytes:
    """Give a packet whose length is right again."""
    return len(packet).to_bytes(4, "big") + packet[4:] if len(packet) >= HEADER_SIZE else packet


def replay(port: int, packets: Sequence[bytes], *, pause: float = 0.0) -> bytes:
    """Send packets without waiting for answers, then nothing more; give all that came until the server hung up.

    An engine that looks at the client while it works would stop at that end: ``pause`` comes before it, in seconds.
    """
    with RawClient(port) as client:
        received = bytearray()
        failures: list[OSError] = []

        def read() -> None:
            try:
                received.extend(client.until_closed())
            except OSError as error:  # the server neither answers nor hangs up
                failures.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        for packet in packets:
            if not client.send(packet):
                break
        reader.join(pause)
        client.finish()
        reader.join()
    if failures:
        raise failures[0]
    return bytes(received)


class Case:
    """A session that was changed: the name of the one that it was, and what is sent instead."""

    def __init__(self, name: str, original: Sequence[bytes], packets: Sequence[bytes]) -> None:
        self.name = name
        self.original = original
        self.packets = packets

    def __repr__(self) -> str:
        """Show what differs, and not megabytes of it."""
        others = [packet[:300] for packet in self.packets if packet not in self.original]
        return f"<{self.name}, {len(self.packets)} packets, {len(others)} others: {others[:12]}>"


@st.composite
def changed(draw: st.DrawFn, sessions: dict[str, list[bytes]]) -> Case:
    """Give a session with a few changes behind the connect packet."""
    name = draw(st.sampled_from(sorted(sessions)))
    packets = list(sessions[name])
    for _ in range(draw(st.integers(1, 3))):
        if not packets:  # all were dropped
            break
        place = draw(st.integers(min(1, len(packets) - 1), len(packets) - 1))
        packets[place : place + 1] = draw(_changes(packets, place))
    return Case(name, sessions[name], packets)


@st.composite
def _changes(draw: st.DrawFn, packets: list[bytes], place: int) -> list[bytes]:
    packet = packets[place]
    start = draw(st.integers(min(HEADER_SIZE, len(packet)), len(packet)))
    end = start + draw(st.sampled_from([1, 2, 4, 8, 40, 1000]))
    match draw(
        st.sampled_from(["byte", "value", "cut", "double", "insert", "length", "drop", "repeat", "other", "split"])
    ):
        case "byte":
            found = packet[:start] + bytes((draw(st.integers(0, 255)),)) + packet[start + 1 :]
        case "value":
            value = draw(st.sampled_from([b"\0", b"\1", b"\xfe", b"\xff", b"\x7f", b"\x88", b"\x08" + b"\xff" * 8]))
            found = packet[:start] + value + packet[start + len(value) :]
        case "cut":
            found = packet[:start] + packet[end:]
        case "double":
            found = packet[:end] + packet[start:]
        case "insert":
            found = packet[:start] + draw(st.binary(min_size=1, max_size=20)) + packet[start:]
        case "length":
            size = draw(st.sampled_from([0, 7, 8, 9, 10, 11, 0xFFFF, 0x10000, 0xFFFFFFFF]) | st.integers(0, 10_000))
            return [size.to_bytes(4, "big") + packet[4:]]
        case "drop":
            return []
        case "repeat":
            return [packet] * draw(st.integers(2, 4))
        case "other":
            return [packets[draw(st.integers(0, len(packets) - 1))], packet]
        case _:
            first, second = packet[:start], packet[:10] + packet[start:]
            return [with_length(first), with_length(second)] if len(first) > 10 else [packet]
    return [with_length(found) if draw(st.integers(0, 9)) else found]


def run(connection: oracledb.Connection, statement: str, *arguments: Any) -> None:
    """Run a statement, fetch what it gives, and mind no error: it was sent, which is what counts here."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement, *arguments)
            if cursor.description:
                cursor.fetchall()
        except oracledb.DatabaseError:
            pass
