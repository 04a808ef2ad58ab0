"""Large values that a client reads and writes through locators.

Every locator says that it stands for a temporary LOB. A client tells the server when it drops one, so the table of a
session holds exactly what the client can still ask for: a value that was fetched stays readable after a commit and
after its cursor was closed, as in Oracle, and no longer than the client keeps it. The rest goes with the session.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from oraclerag.local.interface import OraError, OraType
from oraclerag.local.wire.messages import MessageType
from oraclerag.local.wire.primitives import Reader, put_bytes, put_sint, put_uint
from oraclerag.local.wire.values import LOB_CHUNK, LOCATOR_SIZE, put_locator

_KEY = slice(24, 32)
_VERSION = 1
_BLOB = 0x01
_CLOB = 0x02
_INITIALIZED = 0x08
_UTF16 = 0x80  # text travels as UTF-16, so offsets and amounts count its units
_TEMPORARY = 0x01
_UTF8_CHARSET = 873
MEMORY_LIMIT = 1 << 30
"""Bytes of the LOBs that one session keeps; a longer value PostgreSQL would not take."""
_LOB_COST = 500  # of a LOB beside its bytes


class Operation(enum.IntEnum):
    """What a LOB call asks for."""

    LENGTH = 0x0001
    READ = 0x0002
    TRIM = 0x0020
    WRITE = 0x0040
    CREATE_TEMPORARY = 0x0110
    CHUNK_SIZE = 0x4000
    OPEN = 0x8000
    CLOSE = 0x10000
    IS_OPEN = 0x11000


class Lob:
    """A value the server sent: it can be read, and written by nobody."""

    writable = False

    def __init__(self, value: str | bytes) -> None:
        self._value = value
        self.open = False
        self.is_text = isinstance(value, str)
        self.size = len(value)
        if isinstance(value, str) and not value.isascii():
            self.size = len(value.encode("utf-16-be")) // 2
        self._by_character = self.size == len(value)
        self._units = b""  # the text as it travels, where units are no characters, once it is read

    @property
    def weight(self) -> int:
        """Bytes that it takes, about."""
        return len(self._value)

    def read(self, offset: int, amount: int) -> tuple[bytes, int]:
        """Give up to ``amount`` units from the 1-based ``offset`` as they travel, and how many they are."""
        start = max(offset, 1) - 1
        amount = max(amount, 0)
        if isinstance(self._value, str):
            if self._by_character:
                text = self._value[start : start + amount]
                return text.encode("utf-16-be"), len(text)
            self._units = self._units or self._value.encode("utf-16-be")
            data = self._units[2 * start : 2 * (start + amount)]
            return data, len(data) // 2
        part = self._value[start : start + amount]
        return part, len(part)

    def value(self) -> str | bytes:
        """Give the whole value, as a bind would."""
        return self._value


class TemporaryLob(Lob):
    """A value the client makes: bytes, or text as UTF-16, in a buffer that grows."""

    writable = True

    def __init__(self, *, is_text: bool) -> None:
        super().__init__("" if is_text else b"")
        self._unit = 2 if is_text else 1
        self._data = bytearray()

    def read(self, offset: int, amount: int) -> tuple[bytes, int]:
        """Give up to ``amount`` units from the 1-based ``offset``, and how many they are."""
        start = (max(offset, 1) - 1) * self._unit
        part = bytes(self._data[start : start + max(amount, 0) * self._unit])
        return part, len(part) // self._unit

    @property
    def weight(self) -> int:
        """Bytes that it takes."""
        return len(self._data)

    def growth(self, offset: int, data: bytes) -> int:
        """Tell by how many bytes it grows when ``data`` is written at ``offset``."""
        return max((max(offset, 1) - 1) * self._unit + len(data) - len(self._data), 0)

    def write(self, offset: int, data: bytes) -> None:
        """Put ``data`` at the 1-based ``offset``; a gap is filled with spaces or zeros."""
        start = (max(offset, 1) - 1) * self._unit
        gap = start - len(self._data)
        if gap > 0:
            self._data += b"\0 " * (gap // 2) if self.is_text else bytes(gap)
        self._data[start : start + len(data)] = data
        self.size = len(self._data) // self._unit

    def trim(self, size: int) -> None:
        """Shorten to ``size`` units; ORA-22926 when it is longer than the value."""
        if not 0 <= size <= self.size:
            raise OraError(22926, "specified trim length is greater than current LOB value's length")
        del self._data[size * self._unit :]
        self.size = size

    def value(self) -> str | bytes:
        """Give the whole value."""
        return self._data.decode("utf-16-be", "replace") if self.is_text else bytes(self._data)


class LobTable:
    """The LOBs of one session by locator; ORA-01652 when they become too many."""

    def __init__(self) -> None:
        self._lobs: dict[bytes, Lob] = {}
        self._last = 0
        self._weight = 0

    def __len__(self) -> int:
        return len(self._lobs)

    def put(self, value: str | bytes) -> bytes:
        """Keep a value and give the complete column cell with a locator for it."""
        lob = Lob(value)
        cell = bytearray()
        put_locator(cell, self.add(lob), lob.size)
        return bytes(cell)

    def add(self, lob: Lob) -> bytes:
        """Keep a LOB and give its locator."""
        self._take(lob.weight + _LOB_COST)
        self._last += 1
        key = self._last.to_bytes(8, "big")
        self._lobs[key] = lob
        head = (LOCATOR_SIZE - 2).to_bytes(2, "big") + _VERSION.to_bytes(2, "big")
        flags = bytes((_CLOB if lob.is_text else _BLOB, _INITIALIZED, _UTF16 if lob.is_text else 0, _TEMPORARY))
        return head + flags + bytes(16) + key + bytes(8)

    def get(self, locator: bytes) -> Lob:
        """Find a LOB; ORA-22922 when it was freed or never was."""
        lob = self._lobs.get(locator[_KEY])
        if lob is None:
            raise OraError(22922, "nonexistent LOB value")
        return lob

    def free(self, locators: bytes) -> None:
        """Forget LOBs; their locators come one after the other."""
        for start in range(0, len(locators), LOCATOR_SIZE):
            lob = self._lobs.pop(locators[start : start + LOCATOR_SIZE][_KEY], None)
            if lob is not None:
                self._weight -= lob.weight + _LOB_COST

    def write(self, lob: TemporaryLob, offset: int, data: bytes) -> None:
        """Write into one of them."""
        self._take(lob.growth(offset, data))
        lob.write(offset, data)

    def trim(self, lob: TemporaryLob, size: int) -> None:
        """Shorten one of them."""
        before = lob.weight
        lob.trim(size)
        self._weight -= before - lob.weight

    def _take(self, size: int) -> None:
        if self._weight + size > MEMORY_LIMIT:
            limit = MEMORY_LIMIT // 1_000_000
            raise OraError(1652, f"unable to extend temp segment: the local database keeps {limit} MB of LOBs")
        self._weight += size

    def clear(self) -> None:
        """Forget everything."""
        self._lobs.clear()
        self._weight = 0


@dataclass(frozen=True, slots=True)
class LobRequest:
    """A LOB call; ``offset`` is 1-based, ``amount`` None when the client sent none."""

    operation: int
    locator: bytes
    offset: int
    target: int
    data: bytes
    amount: int | None


def read_lob_request(reader: Reader) -> LobRequest:
    """Read the body of a LOB call."""
    has_locator = reader.u8()
    size = reader.number()
    reader.u8()
    reader.numbers(3)
    has_charset = reader.u8()
    reader.skip(2)
    operation = reader.number()
    reader.skip(2)
    offset = reader.number()
    target = reader.number()
    has_amount = reader.u8()
    reader.skip(6)
    locator = reader.take(size) if has_locator else b""
    if has_charset:
        reader.number()
    data = b""
    if operation == Operation.WRITE:
        reader.u8()
        data = reader.item() or b""
    amount = reader.number() if has_amount else None
    return LobRequest(operation, locator, offset, target, data, amount)


def read_freed_locators(reader: Reader) -> bytes:
    """Read the piggyback that frees temporary LOBs: all locators in one."""
    reader.u8()
    total = reader.number()
    reader.u8()
    reader.numbers(3)
    reader.skip(3)
    reader.number()
    reader.u8()
    reader.numbers(3)
    reader.u8()
    for _ in range(3):
        reader.u8()
        reader.number()
    return reader.take(total)


def answer_lob_request(out: bytearray, request: LobRequest, lobs: LobTable) -> None:
    """Do what a LOB call asks for and append what comes before its error message.

    ORA-03001 for an operation or a write that is not possible here, naming it.
    """
    if request.operation == Operation.CREATE_TEMPORARY:
        _create(out, request, lobs)
        return
    try:
        operation = Operation(request.operation)
    except ValueError:
        raise OraError(3001, f"unimplemented feature: LOB operation {request.operation:#x}") from None
    lob = lobs.get(request.locator)
    amount = request.amount
    if operation is Operation.READ:
        data, amount = lob.read(request.offset, request.amount or 0)
        if data:
            out.append(MessageType.LOB_DATA)
            put_bytes(out, data)
    elif operation is Operation.LENGTH:
        amount = lob.size
    elif operation is Operation.CHUNK_SIZE:
        amount = LOB_CHUNK
    elif operation is Operation.OPEN:
        lob.open = True
    elif operation is Operation.CLOSE:
        lob.open = False
    elif operation in (Operation.WRITE, Operation.TRIM):
        _change(operation, request, lob, lobs)
    out.append(MessageType.PARAMETER)
    out += request.locator
    if request.amount is not None:
        put_sint(out, amount or 0)
    if operation is Operation.IS_OPEN:
        out.append(lob.open)


def _create(out: bytearray, request: LobRequest, lobs: LobTable) -> None:
    """Create a temporary LOB: the type is in the place of the target offset, its character set form in the offset."""
    kinds: dict[int, bool] = {OraType.CLOB: True, OraType.BLOB: False}
    if request.target not in kinds:
        raise OraError(3001, f"unimplemented feature: temporary LOB of type {request.target}")
    locator = lobs.add(TemporaryLob(is_text=kinds[request.target]))
    out.append(MessageType.PARAMETER)
    out += locator
    put_uint(out, _UTF8_CHARSET)
    out.append(0)


def _change(operation: Operation, request: LobRequest, lob: Lob, lobs: LobTable) -> None:
    if not isinstance(lob, TemporaryLob):
        raise OraError(3001, "unimplemented feature: writing through a locator; bind the new value in an UPDATE")
    if operation is Operation.WRITE:
        lobs.write(lob, request.offset, request.data)
    else:
        lobs.trim(lob, request.amount or 0)
