"""PostgreSQL binary cells to Oracle wire bytes, without a Python value in between.

A writer is called with the output and a cell that is not NULL and appends the complete Oracle cell. NULL, in every
type, is one zero byte, which the caller writes.
"""

from __future__ import annotations

import datetime as dt
import json
import struct
from array import array
from collections.abc import Callable
from decimal import Decimal

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.number_cells import number_whole, write_number
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.texts import json_text, vector_text
from oraclerag.local.interface import CellForm, Column, LobStore, OraError, OraType, VectorFormat
from oraclerag.local.wire.numbers import encode_number
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.primitives import put_bytes
from oraclerag.local.wire.values import encode_interval_ds, encode_rowid, put_image, put_long
from oraclerag.local.wire.vector import encode_vector

Writer = Callable[[bytearray, bytes], None]

_CACHE_LIMIT = 50_000
_SHORT = 252  # bytes that fit behind one length byte
_LENGTHS = [bytes((size,)) for size in range(_SHORT + 1)]
_DAY = 86_400
_EPOCH_ORDINAL = dt.date(2000, 1, 1).toordinal()
_MAX_ORDINAL = dt.date.max.toordinal()
_ROWID_SIZE = 14  # the length byte of a ROWID counts its fixed-size form
_VECTOR_HEAD = 4
_FLOAT_IMAGE_HEAD = bytes((0xDB, 0, 0, 0x12, VectorFormat.FLOAT32))

_dates: dict[int, bytes] = {}


def write_integer(out: bytearray, cell: bytes) -> None:
    """Append an int2, int4 or int8 as NUMBER."""
    data = encode_number(int.from_bytes(cell, "big", signed=True))
    out.append(len(data))
    out += data


def write_bytes(out: bytearray, cell: bytes) -> None:
    """Append text or bytes as they are; the empty string is NULL."""
    size = len(cell)
    if size <= _SHORT:
        out.append(size)
        out += cell
    else:
        put_bytes(out, cell)


def _bytes_whole(cell: bytes) -> bytes:
    size = len(cell)
    if size <= _SHORT:
        return _LENGTHS[size] + cell
    out = bytearray()
    put_bytes(out, cell)
    return bytes(out)


def _date_whole(cell: bytes) -> bytes:
    days, seconds = divmod(int.from_bytes(cell, "big", signed=True) // 1_000_000, _DAY)
    return b"\7" + _day(days) + bytes((seconds // 3600 + 1, seconds // 60 % 60 + 1, seconds % 60 + 1))


def _timestamp_whole(cell: bytes) -> bytes:
    out = bytearray()
    write_timestamp(out, cell)
    return bytes(out)


def _day(days: int) -> bytes:
    known = _dates.get(days)
    if known is None:
        ordinal = days + _EPOCH_ORDINAL
        if not 1 <= ordinal <= _MAX_ORDINAL:
            raise OraError(1841, "(full) year must be between -4713 and +9999, and not be 0")
        day = dt.date.fromordinal(ordinal)
        known = bytes((day.year // 100 + 100, day.year % 100 + 100, day.month, day.day))
        if len(_dates) < _CACHE_LIMIT:
            _dates[days] = known
    return known


def _clock(seconds: int) -> tuple[int, int, int]:
    return seconds // 3600 + 1, seconds // 60 % 60 + 1, seconds % 60 + 1


def write_date(out: bytearray, cell: bytes) -> None:
    """Append a timestamp (microseconds since 2000) as DATE."""
    days, seconds = divmod(int.from_bytes(cell, "big", signed=True) // 1_000_000, _DAY)
    out.append(7)
    out += _day(days)
    out += bytes(_clock(seconds))


def write_plain_date(out: bytearray, cell: bytes) -> None:
    """Append a date (days since 2000) as DATE."""
    out.append(7)
    out += _day(int.from_bytes(cell, "big", signed=True))
    out += b"\1\1\1"


def write_timestamp(out: bytearray, cell: bytes) -> None:
    """Append a timestamp as TIMESTAMP."""
    whole, micros = divmod(int.from_bytes(cell, "big", signed=True), 1_000_000)
    days, seconds = divmod(whole, _DAY)
    out.append(11 if micros else 7)
    out += _day(days)
    out += bytes(_clock(seconds))
    if micros:
        out += (micros * 1000).to_bytes(4, "big")


def timestamp_tz_writer(zone: dt.tzinfo) -> Writer:
    """Make the writer for TIMESTAMP WITH TIME ZONE in a session's time zone (PostgreSQL keeps the instant only)."""
    fixed = _offset_bytes(zone.utcoffset(None)) if isinstance(zone, dt.timezone) else None

    def write(out: bytearray, cell: bytes) -> None:
        whole, micros = divmod(int.from_bytes(cell, "big", signed=True), 1_000_000)
        days, seconds = divmod(whole, _DAY)
        out.append(13)
        out += _day(days)
        out += bytes(_clock(seconds))
        out += (micros * 1000).to_bytes(4, "big")
        if fixed is not None:
            out += fixed
        else:
            moment = dt.datetime(2000, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=whole)
            out += _offset_bytes(moment.astimezone(zone).utcoffset())

    return write


def _offset_bytes(offset: dt.timedelta | None) -> bytes:
    minutes = (offset or dt.timedelta(0)) // dt.timedelta(minutes=1)
    sign = -1 if minutes < 0 else 1
    hours, rest = divmod(abs(minutes), 60)
    return bytes((sign * hours + 20, sign * rest + 60))


def interval(cell: bytes) -> dt.timedelta:
    """Read an interval of days and a time; ORA-03001 for one that has months."""
    micros, days, months = struct.unpack(">qii", cell)
    if months:
        raise OraError(3001, "unimplemented feature: INTERVAL YEAR TO MONTH")
    return dt.timedelta(days=days, microseconds=micros)


def write_interval(out: bytearray, cell: bytes) -> None:
    """Append an interval as INTERVAL DAY TO SECOND."""
    write_bytes(out, encode_interval_ds(interval(cell)))


def write_boolean(out: bytearray, cell: bytes) -> None:
    """Append a boolean."""
    out += b"\2\1\1" if cell[0] else b"\1\0"


def write_float(out: bytearray, cell: bytes) -> None:
    """Append a float4 or float8 as BINARY_FLOAT or BINARY_DOUBLE: bytes that sort like the numbers."""
    out.append(len(cell))
    if cell[0] & 0x80:
        negative_zero = cell[0] == 0x80 and not any(cell[1:])
        out += b"\x80" + bytes(len(cell) - 1) if negative_zero else bytes(byte ^ 0xFF for byte in cell)
    else:
        out.append(cell[0] | 0x80)
        out += cell[1:]


def rowid(cell: bytes) -> str:
    """Give the ROWID of a tid: object 1, file 0, and the row's block and slot."""
    block, slot = struct.unpack(">IH", cell)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def digits(number: int, size: int) -> str:
        return "".join(alphabet[number >> 6 * place & 63] for place in range(size - 1, -1, -1))

    return "AAAAAB" + "AAA" + digits(block, 6) + digits(slot, 3)


def write_rowid(out: bytearray, cell: bytes) -> None:
    """Append a tid as ROWID."""
    out.append(_ROWID_SIZE)
    out += encode_rowid(rowid(cell))


def json_value(cell: bytes) -> object:
    """Read a jsonb (a version byte, then text) or json; numbers come as int or Decimal."""
    text = cell[1:] if cell[:1] == b"\1" else cell
    return json.loads(text, parse_float=Decimal)


def write_json(out: bytearray, cell: bytes) -> None:
    """Append JSON as an OSON image."""
    put_image(out, encode_oson(json_value(cell)))


def vector_elements(cell: bytes) -> array[float]:
    """Read a pgvector into an array of floats."""
    elements = array("f", cell[_VECTOR_HEAD:])
    elements.byteswap()
    return elements


def write_vector(out: bytearray, cell: bytes) -> None:
    """Append a vector in FLOAT32: the same big-endian numbers, in the form whose bytes sort.

    The sign bit is set, or all bits are inverted where it was: done for all elements at once, on one long integer.
    """
    data = cell[_VECTOR_HEAD:]
    size = len(data)
    number = int.from_bytes(data, "big")
    signs = _signs(size)
    flipped = number ^ (signs | (((number & signs) >> 31) * 0xFFFFFFFF))
    image = b"".join((_FLOAT_IMAGE_HEAD, (size // 4).to_bytes(4, "big"), bytes(8), flipped.to_bytes(size, "big")))
    put_image(out, image)


_sign_masks: dict[int, int] = {}


def _signs(size: int) -> int:
    mask = _sign_masks.get(size)
    if mask is None:
        mask = _sign_masks[size] = int.from_bytes(b"\x80\0\0\0" * (size // 4), "big")
    return mask


def _write_vector_double(out: bytearray, cell: bytes) -> None:
    put_image(out, encode_vector(array("d", vector_elements(cell))))


def _write_vector_int8(out: bytearray, cell: bytes) -> None:
    put_image(out, encode_vector(array("b", (round(element) for element in vector_elements(cell)))))


_VECTOR_WRITERS: dict[VectorFormat, Writer] = {
    VectorFormat.FLOAT64: _write_vector_double,
    VectorFormat.INT8: _write_vector_int8,
}

_WRITERS: dict[int, Writer] = {
    pg.BOOL: write_boolean,
    pg.BYTEA: write_bytes,
    pg.BPCHAR: write_bytes,
    pg.DATE: write_plain_date,
    pg.FLOAT4: write_float,
    pg.FLOAT8: write_float,
    pg.INTERVAL: write_interval,
    pg.JSON: write_json,
    pg.JSONB: write_json,
    pg.NUMERIC: write_number,
    pg.TID: write_rowid,
    pg.TIMESTAMP: write_timestamp,
    **dict.fromkeys(pg.INTEGERS, write_integer),
    **dict.fromkeys(pg.BUILT_IN_TEXTS, write_bytes),
}


WHOLE: dict[Writer, Callable[[bytes], bytes]] = {
    write_number: number_whole,
    write_bytes: _bytes_whole,
    write_date: _date_whole,
    write_timestamp: _timestamp_whole,
}
"""By writer, what gives its cell instead of appending it: many rows are made faster column by column."""


def writer(column: Column, oid: int, form: CellForm, lobs: LobStore, own: Oids, zone: dt.tzinfo) -> Writer:
    """Choose the writer of a column from its type, the form that the client wants, and the session's time zone."""
    if column.type in {OraType.CLOB, OraType.BLOB}:
        if form is CellForm.LONG:
            return put_long
        if column.type is OraType.BLOB:
            return lambda out, cell: out.extend(lobs.put(cell))
        return lambda out, cell: out.extend(lobs.put(cell.decode()))
    if column.type is OraType.VECTOR and form is not CellForm.VALUE:
        if form is CellForm.LONG:
            return lambda out, cell: put_long(out, vector_text(vector_elements(cell)))
        return lambda out, cell: out.extend(lobs.put(vector_text(vector_elements(cell))))
    if column.type is OraType.JSON and form is not CellForm.VALUE:
        if form is CellForm.LONG:
            return lambda out, cell: put_long(out, json_text(json_value(cell)))
        return lambda out, cell: out.extend(lobs.put(json_text(json_value(cell))))
    if oid == own.vector:
        return _VECTOR_WRITERS.get(column.vector_format, write_vector)
    if oid == own.odate:
        return write_date
    if oid == pg.TIMESTAMPTZ:
        return timestamp_tz_writer(zone)
    return _WRITERS.get(oid, write_bytes)
