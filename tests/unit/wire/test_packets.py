"""Packets over a real pair of sockets: framing, breaks, resets, ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from oraclerag.local.wire.packets import Abandoned, Channel, Closed, DataFlag, Marker, Packet, PacketType

FAREWELL = b"\0\x40"


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    server, client = socket.socketpair()
    channel = Channel(server, 512)
    channel.use_long_lengths()
    client.settimeout(20)
    with client:
        yield channel, client
        channel.close()


def packet(kind: int, body: bytes) -> bytes:
    return (len(body) + 8).to_bytes(4, "big") + bytes((kind, 0, 0, 0)) + body


def data(payload: bytes) -> bytes:
    return packet(PacketType.DATA, b"\0\0" + payload)


def marker(kind: Marker) -> bytes:
    return packet(PacketType.MARKER, bytes((1, 0, kind)))


def test_lengths_have_two_bytes_until_the_client_is_accepted() -> None:
    server, client = socket.socketpair()
    with client:
        channel = Channel(server, 512)
        client.sendall(b"\0\x0a\0\0\1\0\0\0hi")
        assert channel.receive() == Packet(PacketType.CONNECT, b"hi")
        channel.send(PacketType.ACCEPT, b"yes")
        assert client.recv(100) == b"\0\x0b\0\0\2\0\0\0yes"
        channel.use_long_lengths()
        channel.send(PacketType.DATA, b"long")
        assert client.recv(100) == b"\0\0\0\x0c\6\0\0\0long"
        channel.close()


def test_packets_that_arrive_in_crumbs(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    stream = data(b"first") + data(b"second")

    def send() -> None:
        for byte in stream:
            client.sendall(bytes((byte,)))

    thread = threading.Thread(target=send)
    thread.start()
    assert channel.data() == b"first"
    assert channel.data() == b"second"
    thread.join()


@pytest.mark.parametrize("size", [0, 1, 501, 502, 503, 1004, 1005, 5000])
def test_a_payload_fills_packets_and_the_last_is_flagged(ends: tuple[Channel, socket.socket], size: int) -> None:
    channel, client = ends
    payload = bytes(place % 251 for place in range(size))
    channel.send_data(payload, DataFlag.END_OF_RESPONSE)
    received = b""
    flags: list[int] = []
    reader = client.makefile("rb")
    while not flags or flags[-1] != DataFlag.END_OF_RESPONSE:
        length = int.from_bytes(reader.read(4), "big")
        assert length <= 512
        assert reader.read(4)[0] == PacketType.DATA
        flags.append(int.from_bytes(reader.read(2), "big"))
        received += reader.read(length - 10)
    reader.close()
    assert received == payload
    assert flags == [0] * (len(flags) - 1) + [DataFlag.END_OF_RESPONSE]


def test_nothing_to_read_is_no_interruption(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    assert not channel.interrupted()
    assert channel.fileno() >= 0


def test_an_interrupt_is_found_behind_early_requests(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(data(b"early"))
    assert not channel.interrupted()
    client.sendall(marker(Marker.INTERRUPT)[:5])
    assert not channel.interrupted()
    client.sendall(marker(Marker.INTERRUPT)[5:])
    assert channel.interrupted()
    assert channel.interrupted()
    assert channel.break_pending
    assert channel.data() == b"early"


def test_a_break_that_came_along_with_the_request_is_seen_without_reading(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(data(b"request") + marker(Marker.INTERRUPT))
    assert channel.data() == b"request"
    assert channel.break_arrived()


@pytest.mark.parametrize("farewell", [b"", packet(PacketType.DATA, FAREWELL)])
def test_a_client_that_went_interrupts(ends: tuple[Channel, socket.socket], farewell: bytes) -> None:
    channel, client = ends
    client.sendall(farewell)
    client.shutdown(socket.SHUT_WR)
    assert channel.interrupted()
    assert not channel.break_pending
    assert channel.fileno() == -1
    with pytest.raises(Closed):
        channel.data()


def test_a_break_instead_of_the_rest_of_a_request(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(data(b"half") + marker(Marker.BREAK) + marker(Marker.RESET))
    channel.data()
    with pytest.raises(Abandoned):
        channel.data()
    assert channel.break_pending
    assert channel.reset() is False
    assert client.recv(100) == marker(Marker.BREAK) + marker(Marker.RESET)
    assert not channel.break_pending


def test_a_request_that_overtakes_the_reset_is_run(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(marker(Marker.INTERRUPT) + data(b"next") + marker(Marker.RESET) + data(b"more"))
    with pytest.raises(Abandoned):
        channel.data()
    assert channel.reset() is True
    assert channel.data() == b"next"
    assert channel.data() == b"more"


def test_a_stopped_statement_takes_early_requests_with_it(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(marker(Marker.INTERRUPT) + data(b"void") + marker(Marker.RESET) + data(b"next"))
    assert channel.interrupted()
    channel.accept_break(in_pipeline=False)
    assert client.recv(100) == marker(Marker.BREAK) + marker(Marker.RESET)
    assert channel.data() == b"next"


def test_in_a_pipeline_no_markers_are_exchanged(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(data(b"next operation") + marker(Marker.INTERRUPT))
    assert channel.interrupted()
    channel.accept_break(in_pipeline=True)
    assert not channel.break_pending
    assert channel.data() == b"next operation"
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)


def test_a_lone_reset_is_answered(ends: tuple[Channel, socket.socket]) -> None:
    channel, client = ends
    client.sendall(marker(Marker.RESET) + data(b"request"))
    assert channel.data() == b"request"
    assert client.recv(100) == marker(Marker.RESET)


@pytest.mark.parametrize(
    "stream",
    [packet(PacketType.DATA, FAREWELL), packet(PacketType.CONNECT, b"again"), b"\0\0\0\7\6\0\0\0", b"\xff" * 8, b""],
)
def test_what_ends_the_connection(ends: tuple[Channel, socket.socket], stream: bytes) -> None:
    channel, client = ends
    client.sendall(stream)
    client.shutdown(socket.SHUT_WR)
    with pytest.raises(Closed):
        channel.data()


def test_shutdown_from_another_thread_wakes_the_reader(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    timer = threading.Timer(0.01, channel.shutdown)
    timer.start()
    with pytest.raises(Closed):
        channel.data()
    timer.join()
    with pytest.raises(Closed):
        channel.send_data(b"x")
