"""Scalar values between Python and the wire: dates, timestamps, intervals, floats, booleans, rowids, text.

``encode_…`` gives the bytes of a value without its length byte, ``decode_…`` takes them; ``put_…`` appends a complete
cell with its lengths. NULL is one zero byte in every cell and no concern of the encoders.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable
from typing import Any

from oraclerag.local.interface import OraError, OraType
from oraclerag.local.wire.numbers import encode_number
from oraclerag.local.wire.primitives import Malformed, Reader, put_bytes, put_sint, put_uint

LOCATOR_SIZE = 40
LOB_CHUNK = 8132
NULL = b"\0"
_NULL_FETCHED = 1405  # the return code beside a NULL in a LONG column
_UTC = dt.UTC
_MICROSECOND = dt.timedelta(microseconds=1)
_INTERVAL_BIAS = 0x80000000
_ROWID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ROWID_PARTS = (6, 3, 6, 3)  # characters of object, file, block, row


def encode_date(value: dt.date) -> bytes:
    """Encode a DATE in 7 bytes; a fraction of a second and a time zone are dropped, a plain date is midnight."""
    century, year = divmod(value.year, 100)
    if isinstance(value, dt.datetime):
        clock = (value.hour + 1, value.minute + 1, value.second + 1)
    else:
        clock = (1, 1, 1)
    return bytes((century + 100, year + 100, value.month, value.day, *clock))


def encode_timestamp(value: dt.date) -> bytes:
    """Encode a TIMESTAMP: 7 bytes, and 4 of nanoseconds when there is a fraction."""
    micros = getattr(value, "microsecond", 0)
    if not micros:
        return encode_date(value)
    return encode_date(value) + (micros * 1000).to_bytes(4, "big")


def encode_timestamp_tz(value: dt.datetime) -> bytes:
    """Encode a TIMESTAMP WITH TIME ZONE in 13 bytes: the moment in UTC, then the offset; naive values are UTC."""
    offset = value.utcoffset() or dt.timedelta(0)
    moment = value.replace(tzinfo=None) - offset
    minutes = offset // dt.timedelta(minutes=1)
    sign = -1 if minutes < 0 else 1
    hours, rest = divmod(abs(minutes), 60)
    zone = bytes((sign * hours + 20, sign * rest + 60))
    return encode_date(moment) + (moment.microsecond * 1000).to_bytes(4, "big") + zone


def decode_date(data: bytes) -> dt.datetime:
    """Decode a DATE or TIMESTAMP of 7 or 11 bytes; nanoseconds below a microsecond are cut off."""
    micros = int.from_bytes(data[7:11], "big") // 1000 if len(data) >= 11 else 0
    return dt.datetime(  # noqa: DTZ001 - Oracle's DATE has no zone
        (data[0] - 100) * 100 + data[1] - 100, data[2], data[3], data[4] - 1, data[5] - 1, data[6] - 1, micros
    )


def decode_timestamp_tz(data: bytes) -> dt.datetime:
    """Decode a TIMESTAMP WITH TIME ZONE into an aware datetime; a zone given by region is ORA-03001."""
    moment = decode_date(data).replace(tzinfo=_UTC)
    if len(data) < 13:
        return moment
    if data[11] & 0x80:
        raise OraError(3001, "unimplemented feature: a time zone region in a bind; bind an offset")
    zone = dt.timezone(dt.timedelta(hours=data[11] - 20, minutes=data[12] - 60))
    return moment.astimezone(zone)


def encode_interval_ds(value: dt.timedelta) -> bytes:
    """Encode an INTERVAL DAY TO SECOND in 11 bytes; every field carries the sign."""
    total = value // _MICROSECOND
    sign = -1 if total < 0 else 1
    seconds, micros = divmod(abs(total), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return b"".join(
        (
            (sign * days + _INTERVAL_BIAS).to_bytes(4, "big"),
            bytes((sign * hour + 60, sign * minute + 60, sign * second + 60)),
            (sign * micros * 1000 + _INTERVAL_BIAS).to_bytes(4, "big"),
        )
    )


def decode_interval_ds(data: bytes) -> dt.timedelta:
    """Decode an INTERVAL DAY TO SECOND; nanoseconds below a microsecond are cut off towards zero."""
    nanos = int.from_bytes(data[7:11], "big") - _INTERVAL_BIAS
    return dt.timedelta(
        days=int.from_bytes(data[0:4], "big") - _INTERVAL_BIAS,
        hours=data[4] - 60,
        minutes=data[5] - 60,
        seconds=data[6] - 60,
        microseconds=-(-nanos // 1000) if nanos < 0 else nanos // 1000,
    )


def _to_ordered(data: bytes) -> bytes:
    """Turn an IEEE number into bytes that sort like it: sign bit set, or all bits inverted when negative."""
    if data[0] & 0x80:
        return bytes(~byte & 0xFF for byte in data)
    return bytes((data[0] | 0x80,)) + data[1:]


def _from_ordered(data: bytes) -> bytes:
    if data[0] & 0x80:
        return bytes((data[0] & 0x7F,)) + data[1:]
    return bytes(~byte & 0xFF for byte in data)


def encode_binary_double(value: float) -> bytes:
    """Encode a BINARY_DOUBLE in 8 bytes; -0.0 becomes 0.0 as Oracle keeps no negative zero."""
    return _to_ordered(struct.pack(">d", value or 0.0))


def decode_binary_double(data: bytes) -> float:
    """Decode a BINARY_DOUBLE."""
    number: float = struct.unpack(">d", _from_ordered(data))[0]
    return number


def encode_binary_float(value: float) -> bytes:
    """Encode a BINARY_FLOAT in 4 bytes; what is too large for it becomes infinite, -0.0 becomes 0.0."""
    try:
        packed = struct.pack(">f", value or 0.0)
    except OverflowError:
        packed = struct.pack(">f", float("inf") if value > 0 else float("-inf"))
    return _to_ordered(packed)


def decode_binary_float(data: bytes) -> float:
    """Decode a BINARY_FLOAT."""
    number: float = struct.unpack(">f", _from_ordered(data))[0]
    return number


def encode_boolean(value: bool) -> bytes:
    """Encode a BOOLEAN; the number of bytes differs between the two values."""
    return b"\1\1" if value else b"\0"


def encode_rowid(value: str) -> bytes:
    """Encode a ROWID of 18 characters; ORA-01410 when it is none."""
    if len(value) != sum(_ROWID_PARTS) or any(character not in _ROWID_ALPHABET for character in value):
        raise OraError(1410, "invalid ROWID")
    numbers = []
    place = 0
    for size in _ROWID_PARTS:
        number = 0
        for character in value[place : place + size]:
            number = number * 64 + _ROWID_ALPHABET.index(character)
        numbers.append(number)
        place += size
    out = bytearray()
    put_uint(out, numbers[0])
    put_uint(out, numbers[1])
    out.append(0)
    put_uint(out, numbers[2])
    put_uint(out, numbers[3])
    return bytes(out)


def decode_rowid(data: bytes) -> str:
    """Decode a ROWID into its 18 characters."""

    def no_more() -> bytes:
        raise Malformed

    reader = Reader(data, no_more)
    try:
        numbers = reader.numbers(2)
        reader.u8()
        numbers += reader.numbers(2)
    except Malformed:
        raise OraError(1410, "invalid ROWID") from None
    text = ""
    for number, size in zip(numbers, _ROWID_PARTS, strict=True):
        part = ""
        for _ in range(size):
            number, digit = divmod(number, 64)
            part = _ROWID_ALPHABET[digit] + part
        text += part
    return text


def put_text(out: bytearray, value: str) -> None:
    """Append a VARCHAR cell; the empty string is NULL."""
    put_bytes(out, value.encode())


def put_number(out: bytearray, value: Any) -> None:
    """Append a NUMBER cell."""
    data = encode_number(value)
    out.append(len(data))
    out += data


def put_long(out: bytearray, value: str | bytes | None) -> None:
    """Append a cell of a fetched LONG or LONG RAW column, which has a NULL indicator and a return code behind it."""
    data = value.encode() if isinstance(value, str) else value
    if data:
        put_bytes(out, data)
        out += b"\0\0"
    else:
        out.append(0)
        put_sint(out, -1)
        put_uint(out, _NULL_FETCHED)


def put_image(out: bytearray, image: bytes) -> None:
    """Append the cell of a VECTOR or JSON value; the locator behind the image is never used by a client."""
    put_uint(out, LOCATOR_SIZE)
    put_uint(out, len(image))
    put_uint(out, LOB_CHUNK)
    put_bytes(out, image)
    put_bytes(out, bytes(LOCATOR_SIZE))


def put_locator(out: bytearray, locator: bytes, size: int) -> None:
    """Append the cell of a CLOB (``size`` in UTF-16 units) or BLOB (in bytes) that is read through a locator."""
    put_uint(out, LOCATOR_SIZE)
    put_uint(out, size)
    put_uint(out, LOB_CHUNK)
    put_bytes(out, locator)


def _short(encode: Callable[[Any], bytes]) -> Callable[[bytearray, Any], None]:
    def put(out: bytearray, value: Any) -> None:
        data = encode(value)
        out.append(len(data))
        out += data

    return put


SCALAR_WRITERS: dict[OraType, Callable[[bytearray, Any], None]] = {
    OraType.VARCHAR: put_text,
    OraType.CHAR: put_text,
    OraType.LONG: put_text,
    OraType.NUMBER: put_number,
    OraType.RAW: put_bytes,
    OraType.LONG_RAW: put_bytes,
    OraType.DATE: _short(encode_date),
    OraType.TIMESTAMP: _short(encode_timestamp),
    OraType.TIMESTAMP_LTZ: _short(encode_timestamp),
    OraType.TIMESTAMP_TZ: _short(encode_timestamp_tz),
    OraType.INTERVAL_DS: _short(encode_interval_ds),
    OraType.BINARY_DOUBLE: _short(encode_binary_double),
    OraType.BINARY_FLOAT: _short(encode_binary_float),
    OraType.BOOLEAN: _short(encode_boolean),
}
"""Append a cell of a value that is not None, by type; LOB, VECTOR, JSON, ROWID and CURSOR are not scalars."""
