"""Bytes of the call protocol: the encodings every message is made of.

``ub`` numbers are "universal": one byte that counts the bytes that follow, then a big-endian number; the high bit of
the count makes it negative. ``bytes`` items carry one length byte: 0 and 255 say NULL, up to 252 is a length, 254
announces chunks (number, bytes) up to an empty one; 253 is an escape and never a length.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_SHORT = 252
NULL_LENGTH = 255
ESCAPE = 253
CHUNKED = 254
CHUNK_SIZE = 32767
REQUEST_LIMIT = 1 << 30
"""Bytes of the longest request; PostgreSQL takes no longer message either."""

# What an empty packet and a chunk count beside their bytes: a client could send them for ever, and we keep each.
_PACKET_COST = _CHUNK_COST = 64
_WIDEST_NUMBER = 8


class Malformed(Exception):
    """What came is no message of the protocol, or longer than any may be: where the next one begins is not known."""


def put_uint(out: bytearray, value: int) -> None:
    """Append an unsigned universal number of up to 8 bytes."""
    if value == 0:
        out.append(0)
    elif value < 0x100:
        out.append(1)
        out.append(value)
    elif value < 0x10000:
        out.append(2)
        out += value.to_bytes(2, "big")
    elif value < 0x100000000:
        out.append(4)
        out += value.to_bytes(4, "big")
    else:
        out.append(8)
        out += value.to_bytes(8, "big")


def put_sint(out: bytearray, value: int) -> None:
    """Append a signed universal number."""
    if value >= 0:
        put_uint(out, value)
        return
    place = len(out)
    put_uint(out, -value)
    out[place] |= 0x80


def put_bytes(out: bytearray, data: bytes | bytearray | memoryview) -> None:
    """Append a ``bytes`` item; nothing at all is the same as NULL."""
    size = len(data)
    if size <= MAX_SHORT:
        out.append(size)
        out += data
        return
    out.append(CHUNKED)
    view = memoryview(data)
    for start in range(0, size, CHUNK_SIZE):
        chunk = view[start : start + CHUNK_SIZE]
        put_uint(out, len(chunk))
        out += chunk
    out.append(0)


def put_counted(out: bytearray, data: bytes) -> None:
    """Append a length and, unless it is 0, the ``bytes`` item (so the length appears twice)."""
    put_uint(out, len(data))
    if data:
        put_bytes(out, data)


class Reader:
    """Reads one client request, whose length nobody announces.

    ``more`` gives the payload of the next packet and is called when what is here runs dry, so an item may be cut
    anywhere by packet borders. ``data``, ``position`` are open to loops that read many values by themselves. ``left``
    is how many bytes may follow ``data``. Every method raises :class:`Malformed` when the bytes cannot be a message.
    """

    __slots__ = ("data", "left", "more", "position")

    def __init__(self, data: bytes, more: Callable[[], bytes], left: int = REQUEST_LIMIT) -> None:
        self.data = data
        self.more = more
        self.position = 0
        self.left = left

    def take(self, count: int) -> bytes:
        """Read ``count`` bytes as they are."""
        position = self.position
        end = position + count
        data = self.data
        if position <= end <= len(data):
            self.position = end
            return data[position:end]
        missing = end - len(data)
        if count < 0 or missing > self.left:
            raise Malformed
        parts = [data[position:]]
        while missing > 0:
            part = self.more()
            missing -= len(part)
            self.left -= len(part) + _PACKET_COST
            if self.left < 0:
                raise Malformed
            parts.append(part)
        self.position = 0
        if missing < 0:
            rest = parts[-1]
            parts[-1] = rest[:missing]
            self.data = rest[missing:]
        else:
            self.data = b""
        return b"".join(parts)

    def u8(self) -> int:
        """Read one byte."""
        position = self.position
        data = self.data
        if position < len(data):
            self.position = position + 1
            return data[position]
        return self.take(1)[0]

    def skip(self, count: int) -> None:
        """Read over ``count`` single bytes."""
        self.take(count)

    def number(self) -> int:
        """Read a universal number of up to 8 bytes and any sign."""
        position = self.position
        data = self.data
        if position + 1 < len(data):  # most numbers have no byte or one
            size = data[position]
            if size == 0:
                self.position = position + 1
                return 0
            if size == 1:
                self.position = position + 2
                return data[position + 1]
        size = self.u8()
        if size == 0:
            return 0
        if size & 0x7F > _WIDEST_NUMBER:
            raise Malformed
        if size & 0x80:
            return -int.from_bytes(self.take(size & 0x7F), "big")
        return int.from_bytes(self.take(size), "big")

    def numbers(self, count: int) -> list[int]:
        """Read ``count`` universal numbers."""
        return [self.number() for _ in range(count)]

    def fixed(self, size: int) -> int:
        """Read a big-endian number of fixed width."""
        return int.from_bytes(self.take(size), "big")

    def item(self) -> bytes | None:
        """Read a ``bytes`` item; None is NULL."""
        size = self.u8()
        if size in (0, NULL_LENGTH):
            return None
        if size != CHUNKED:
            return self.take(size)
        return self.chunks()

    def chunks(self) -> bytes:
        """Read the rest of a ``bytes`` item that began with the chunk mark."""
        parts: list[bytes] = []
        while size := self.number():
            self.left -= _CHUNK_COST
            parts.append(self.take(size))
        return b"".join(parts)

    def counted(self) -> bytes | None:
        """Read a length and, unless it is 0, the ``bytes`` item that follows it."""
        if self.number() == 0:
            return None
        return self.item()

    def terminated(self) -> bytes:
        """Read up to a NUL byte, which is dropped."""
        text = bytearray()
        while byte := self.u8():
            text.append(byte)
        return bytes(text)
