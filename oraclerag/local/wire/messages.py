"""The messages that end or frame a response: error, status, parameters, pipeline token."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import lru_cache

from oraclerag.local.interface import RowError
from oraclerag.local.wire.capabilities import FIELD_VERSION_20_1
from oraclerag.local.wire.primitives import put_bytes, put_counted, put_sint, put_uint

MAX_BATCH_ERRORS = 65535  # they are counted in 16 bits
_CALL_DONE = 1  # some clients take a call status of 0 for none
_IN_TRANSACTION = 2
_ORDINARY = frozenset({0, 1403})  # of calls that went well; the texts of others may hold values and are not kept
_AFTER_POSITION = bytes(5 + 1 + 5 + 6)  # cursor kind, flags, rowid, system error, counters, logical rowid


class MessageType(enum.IntEnum):
    """First byte of every message of the call protocol."""

    PROTOCOL = 1
    DATA_TYPES = 2
    FUNCTION = 3
    ERROR = 4
    ROW_HEADER = 6
    ROW_DATA = 7
    PARAMETER = 8
    STATUS = 9
    IO_VECTOR = 11
    LOB_DATA = 14
    DESCRIBE = 16
    PIGGYBACK = 17
    FLUSH_OUT_BINDS = 19
    ONE_WAY_FUNCTION = 26
    END_OF_RESPONSE = 29
    TOKEN = 33
    FAST_AUTHENTICATION = 34


def call_status(in_transaction: bool) -> int:
    """Give the call status; clients send a rollback on close only when it says that a transaction is open."""
    return _CALL_DONE | _IN_TRANSACTION if in_transaction else _CALL_DONE


def put_status(out: bytearray, in_transaction: bool) -> None:
    """Append the message that ends a call without result."""
    out.append(MessageType.STATUS)
    put_uint(out, call_status(in_transaction))
    out.append(0)


def put_error(
    out: bytearray,
    field_version: int,
    *,
    in_transaction: bool,
    number: int = 0,
    text: str = "",
    cursor: int = 0,
    rows: int = 0,
    position: int = 0,
    batch: Sequence[RowError] = (),
) -> None:
    """Append the message that ends a call with a result or an error.

    ``number`` 0 is success; ``text`` starts with ``ORA-nnnnn: ``. ``rows`` were fetched or changed so far.
    """
    if position or batch or number not in _ORDINARY:
        _put_error(out, field_version, in_transaction, number, text, cursor, rows, position, batch)
    else:
        out += _plain_error(field_version, in_transaction, number, text, cursor, rows)


@lru_cache(maxsize=256)
def _plain_error(field_version: int, in_transaction: bool, number: int, text: str, cursor: int, rows: int) -> bytes:
    """Give the message; kept, since the calls of a loop end alike."""
    out = bytearray()
    _put_error(out, field_version, in_transaction, number, text, cursor, rows, 0, ())
    return bytes(out)


def _put_error(
    out: bytearray,
    field_version: int,
    in_transaction: bool,
    number: int,
    text: str,
    cursor: int,
    rows: int,
    position: int,
    batch: Sequence[RowError],
) -> None:
    out.append(MessageType.ERROR)
    put_uint(out, call_status(in_transaction))
    out.append(0)
    put_uint(out, rows & 0xFFFFFFFF)
    put_uint(out, number & 0xFFFF)
    out += b"\0\0"
    put_uint(out, cursor)
    put_sint(out, min(position, 0x7FFF))
    out += _AFTER_POSITION
    _put_batch(out, batch[:MAX_BATCH_ERRORS])
    put_uint(out, number)
    put_uint(out, rows)
    if field_version >= FIELD_VERSION_20_1:
        out += b"\0\0"
    if number:
        put_bytes(out, f"{text}\n".encode())


def _put_batch(out: bytearray, batch: Sequence[RowError]) -> None:
    """Append the three arrays of batch errors: numbers, offsets, texts; each has a byte behind its count."""
    put_uint(out, len(batch))
    if batch:
        out.append(0)
        for failure in batch:
            put_uint(out, failure.error.number)
    put_uint(out, len(batch))
    if batch:
        out.append(0)
        for failure in batch:
            put_uint(out, failure.offset)
    put_uint(out, len(batch))
    if batch:
        out.append(0)
        for failure in batch:
            text = str(failure.error).encode()
            put_uint(out, len(text))
            put_bytes(out, text)
            out += b"\0\0"


def put_pairs(out: bytearray, pairs: Sequence[tuple[str, str, int]]) -> None:
    """Append a parameter message of names, values and flags, as login uses it."""
    out.append(MessageType.PARAMETER)
    put_uint(out, len(pairs))
    for name, value, flags in pairs:
        put_counted(out, name.encode())
        put_counted(out, value.encode())
        put_uint(out, flags)


def put_row_counts(out: bytearray, counts: Sequence[int]) -> None:
    """Append the parameter message with the affected rows per row of an array."""
    out.append(MessageType.PARAMETER)
    out += bytes(4)
    put_uint(out, len(counts))
    for count in counts:
        put_uint(out, count)


def put_token(out: bytearray, token: int) -> None:
    """Append the token that tells a pipelining client which request is answered."""
    out.append(MessageType.TOKEN)
    put_uint(out, token)
