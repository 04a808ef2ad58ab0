"""A client that speaks Oracle Net byte by byte, as none should: for the tests of what a server must bear."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Sequence

from oraclerag.local.wire.packets import HEADER_SIZE, PacketType
from oraclerag.local.wire.primitives import put_bytes, put_counted, put_uint

PATIENCE = 20.0
EXECUTE, FIRST_PHASE, SECOND_PHASE = 94, 118, 115
_FUNCTION = 3


def packet(kind: int, body: bytes, *, short: bool = False) -> bytes:
    """Give a packet; ``short``: with a length of 16 bits, as before the server has accepted."""
    size = len(body) + HEADER_SIZE
    return (size.to_bytes(2, "big") + b"\0\0" if short else size.to_bytes(4, "big")) + bytes((kind, 0, 0, 0)) + body


def data(payload: bytes) -> bytes:
    """Give a DATA packet."""
    return packet(PacketType.DATA, b"\0\0" + payload)


def connect_packet(service: str = "FREEPDB1") -> bytes:
    """Give what a client says first."""
    descriptor = f"(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME={service})))".encode()
    fields = struct.pack(">10H", 319, 300, 0, 8192, 8192, 0, 0, 1, len(descriptor), HEADER_SIZE + 20)
    return packet(PacketType.CONNECT, fields + descriptor, short=True)


def protocol() -> bytes:
    """Give the message that asks for the protocol."""
    return data(b"\1\6\0raw\0")


def function(code: int, body: bytes) -> bytes:
    """Give a call with a token of 0."""
    return data(bytes((_FUNCTION, code, 1, 0)) + body)


def credentials(code: int, user: bytes, pairs: Sequence[tuple[bytes, bytes]], *, count: int | None = None) -> bytes:
    """Give an authentication call; ``count`` says of how many pairs it speaks, when not of all."""
    out = bytearray((1,))
    put_uint(out, len(user))
    put_uint(out, 1)
    out.append(1)
    put_uint(out, len(pairs) if count is None else count)
    out += b"\1\1"
    put_bytes(out, user)
    for name, value in pairs:
        put_counted(out, name)
        put_counted(out, value)
        put_uint(out, 0)
    return function(code, bytes(out))


class RawClient:
    """One connection; a context manager."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.settimeout(PATIENCE)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def accepted(self) -> RawClient:
        """Say what a client says first, and hear that one is welcome."""
        self.send(connect_packet())
        assert self._socket.recv(4096)[4] == PacketType.ACCEPT
        return self

    def send(self, data: bytes) -> bool:
        """Send; False when the server has hung up."""
        try:
            self._socket.sendall(data)
        except ConnectionError:
            return False
        return True

    def finish(self) -> None:
        """Say that nothing more will come."""
        with contextlib.suppress(OSError):  # the server was quicker
            self._socket.shutdown(socket.SHUT_WR)

    def until_closed(self) -> bytes:
        """Give all that comes until the server hangs up; TimeoutError when it does not."""
        received = bytearray()
        with contextlib.suppress(ConnectionError):
            while part := self._socket.recv(65536):
                received += part
        return bytes(received)
