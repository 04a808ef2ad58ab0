"""Oracle Net packets over one socket: framing, markers, and the reset that follows a break.

A packet has 8 bytes of header: length, type, flags. The length is 16 bits wide until the ACCEPT has been sent and 32
bits afterwards. A client that wants a running statement to stop sends a marker; :meth:`Channel.interrupted` finds it
while the engine works, :meth:`Channel.reset` brings both sides back in step.
"""

from __future__ import annotations

import contextlib
import enum
import select
import socket
import struct
from collections import deque
from dataclasses import dataclass

HEADER_SIZE = 8
DATA_HEADER_SIZE = 10  # with the data flags
_RECEIVE_SIZE = 64 * 1024  # more is mapped and unmapped by malloc at every call
_SHORT_LENGTHS = 0x10000  # packets below this size are taken even where the SDU is smaller
_HELD_LIMIT = 1 << 30  # bytes of requests that came before their turn, as pipelines send them
_HELD_COST = 256  # of a packet beside its bytes
_DATA_HEAD = struct.Struct(">IB3xH")  # long length, type, data flags
_FAREWELL = (0x0040).to_bytes(2, "big")  # flags of a DATA packet that has nothing behind them


class PacketType(enum.IntEnum):
    """What a packet is for; clients send the others in no situation this server brings about."""

    CONNECT = 1
    ACCEPT = 2
    REFUSE = 4
    DATA = 6
    MARKER = 12


_DATA = int(PacketType.DATA)  # a member costs a descriptor call


class DataFlag(enum.IntEnum):
    """Flags at the start of a DATA packet."""

    END_OF_FILE = 0x0040
    END_OF_RESPONSE = 0x2000


class Marker(enum.IntEnum):
    """Kinds of marker packets."""

    BREAK = 1
    RESET = 2
    INTERRUPT = 3


class Closed(Exception):
    """The connection is no more."""


class Abandoned(Exception):
    """A break came instead of the rest of a request."""


@dataclass(slots=True)
class Packet:
    """A packet without its header."""

    type: int
    body: bytes

    @property
    def is_farewell(self) -> bool:
        """Whether the client says that it hangs up."""
        return self.type == PacketType.DATA and self.body == _FAREWELL

    @property
    def marker(self) -> int:
        """Kind of a marker packet."""
        return self.body[2] if len(self.body) > 2 else Marker.BREAK


class Channel:
    """Packets to and from one client; the engine sees it as the client it works for.

    ``sdu`` is the size up to which DATA packets are filled. Only the session's thread may use it, except for
    :meth:`shutdown`.
    """

    def __init__(self, connection: socket.socket, sdu: int) -> None:
        self._socket = connection
        self._sdu = sdu
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._buffer = bytearray()
        self._held: deque[Packet] = deque()
        self._held_size = 0
        self._largest = max(sdu, _SHORT_LENGTHS)
        self._long_lengths = False
        self.break_pending = False
        """Whether a break has been read and not been answered."""
        self._gone = False

    def use_long_lengths(self) -> None:
        """Write and expect 32-bit packet lengths from here on."""
        self._long_lengths = True

    # the engine's view

    def fileno(self) -> int:
        """Give the socket to wait on, -1 once the client has gone."""
        return -1 if self._gone else self._socket.fileno()

    def interrupted(self) -> bool:
        """Read what has come in without waiting; True when the client asked to stop or has gone."""
        try:
            while not self.break_pending and not self._gone:
                packet = self._cut()
                if packet is not None:
                    self._keep(packet)
                    continue
                if not self._poll.poll(0):
                    return False
                data = self._socket.recv(_RECEIVE_SIZE, socket.MSG_DONTWAIT)
                if data:
                    self._buffer += data
                else:
                    self._gone = True
        except BlockingIOError:
            return False
        except (Closed, OSError):  # the statement is to be stopped in order before the session ends
            self._gone = True
        return True

    def _keep(self, packet: Packet) -> None:
        if packet.type == PacketType.MARKER:
            self.break_pending = self.break_pending or packet.marker != Marker.RESET
        elif packet.is_farewell:
            self._gone = True
        else:
            self._hold(packet)

    def _hold(self, packet: Packet) -> None:
        """Keep a packet until its turn; :class:`Closed` when the client sends on and on."""
        self._held_size += len(packet.body) + _HELD_COST
        if self._held_size > _HELD_LIMIT:
            raise Closed
        self._held.append(packet)

    def break_arrived(self) -> bool:
        """Tell whether a break came in together with what was read last; looks at no socket."""
        while self._buffer and not self.break_pending:
            packet = self._cut()
            if packet is None:
                break
            self._keep(packet)
        return self.break_pending

    def fits(self, size: int) -> bool:
        """Whether a payload of this size goes in one packet."""
        return size <= self._sdu - DATA_HEADER_SIZE

    # reading

    def receive(self) -> Packet:
        """Wait for a packet."""
        if self._held:
            packet = self._held.popleft()
            self._held_size -= len(packet.body) + _HELD_COST
            return packet
        return self._next()

    def _next(self) -> Packet:
        """Wait for a packet that nobody has seen."""
        while True:
            packet = self._cut()
            if packet is not None:
                return packet
            if self._gone:
                raise Closed
            try:
                data = self._socket.recv(_RECEIVE_SIZE)
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            self._buffer += data

    def data(self) -> bytes:
        """Wait for the next DATA packet of a request and give its payload.

        Raises :class:`Abandoned` when a break comes instead (it is then pending), :class:`Closed` at the end.
        """
        if not self._held and not self._buffer and not self._gone:
            try:
                received = self._socket.recv(_RECEIVE_SIZE)
            except OSError:
                raise Closed from None
            size = len(received)
            if not size:
                raise Closed
            # The usual request is one packet and came alone: no detour by the buffer.
            if (
                self._long_lengths
                and size > DATA_HEADER_SIZE
                and received[4] == _DATA
                and int.from_bytes(received[:4], "big") == size
            ):
                return received[DATA_HEADER_SIZE:]
            self._buffer += received
        while True:
            packet = self.receive()
            if packet.type == PacketType.DATA and not packet.is_farewell:
                return packet.body[2:]
            if packet.type != PacketType.MARKER:
                raise Closed
            if packet.marker != Marker.RESET:
                self.break_pending = True
                raise Abandoned
            self._send_marker(Marker.RESET)

    def _cut(self) -> Packet | None:
        """Cut the first complete packet off the buffer."""
        buffer = self._buffer
        if len(buffer) < HEADER_SIZE:
            return None
        size = int.from_bytes(buffer[: 4 if self._long_lengths else 2], "big")
        if not HEADER_SIZE <= size <= self._largest:
            raise Closed
        if len(buffer) < size:
            return None
        packet = Packet(buffer[4], bytes(buffer[HEADER_SIZE:size]))
        del buffer[:size]
        return packet

    # writing

    def send(self, packet_type: PacketType, body: bytes) -> None:
        """Send one packet that is no DATA packet."""
        self._send_all(self._header(packet_type, len(body)) + body)

    def send_data(self, payload: bytes | bytearray, last_flags: int = 0) -> None:
        """Send a payload in as many DATA packets as it takes; ``last_flags`` go on the last."""
        room = self._sdu - DATA_HEADER_SIZE
        size = len(payload)
        if size <= room:
            if self._long_lengths:
                head = _DATA_HEAD.pack(size + DATA_HEADER_SIZE, _DATA, last_flags)
            else:
                head = self._data_head(size, last_flags)
            try:
                self._socket.sendall(head + payload)
            except OSError:
                raise Closed from None
            return
        view = memoryview(payload)
        out = bytearray()
        for start in range(0, len(payload), room):
            part = view[start : start + room]
            flags = last_flags if start + room >= len(payload) else 0
            out += self._data_head(len(part), flags)
            out += part
        self._send_all(out)

    def _data_head(self, size: int, flags: int) -> bytes:
        """Give what stands before ``size`` bytes of payload in a DATA packet."""
        if self._long_lengths:
            return _DATA_HEAD.pack(size + DATA_HEADER_SIZE, _DATA, flags)
        return self._header(PacketType.DATA, size + 2) + flags.to_bytes(2, "big")

    def _header(self, packet_type: PacketType, size: int) -> bytes:
        total = size + HEADER_SIZE
        length = total.to_bytes(4, "big") if self._long_lengths else total.to_bytes(2, "big") + b"\0\0"
        return length + bytes((packet_type, 0, 0, 0))

    def _send_all(self, data: bytes | bytearray) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            raise Closed from None

    def _send_marker(self, kind: Marker) -> None:
        self.send(PacketType.MARKER, bytes((1, 0, kind)))

    def reset(self) -> bool:
        """Answer a pending break: break, wait for the client's reset, reset.

        DATA packets that overtake the reset are the client's next request (the response had left just before the
        break came): they are kept and will be received next. False means that there was none: the client waits for
        ORA-01013.
        """
        self.break_pending = False
        self._send_marker(Marker.BREAK)
        while True:
            packet = self._next()
            if packet.type == PacketType.MARKER:
                if packet.marker == Marker.RESET:
                    break
            elif packet.type != PacketType.DATA or packet.is_farewell:
                raise Closed
            else:
                self._hold(packet)
        self._send_marker(Marker.RESET)
        return bool(self._held)

    def accept_break(self, *, in_pipeline: bool) -> None:
        """Answer a pending break on behalf of a statement that was stopped; ORA-01013 is to follow at once.

        In a pipeline clients heed no markers, so there is none to exchange and the next requests stand.
        """
        if in_pipeline:
            self.break_pending = False
            return
        self.reset()
        self._held.clear()
        self._held_size = 0

    # ending

    def shutdown(self) -> None:
        """End the connection from another thread; the session's thread wakes with :class:`Closed`."""
        with contextlib.suppress(OSError):  # the client was quicker
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the socket back."""
        self._gone = True
        self._socket.close()
