"""PostgreSQL binary cells to Python values, and those to the type that a client bound for them.

For what does not go straight to the wire: RETURNING … INTO and the queries of PL/SQL.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from oraclerag.local.engine import cells, texts
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.oids import Oids
from oraclerag.local.interface import OraError, OraType

Decoder = Callable[[bytes], Any]

_EPOCH = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - Oracle's DATE and TIMESTAMP have no zone
_NUMERIC_NEGATIVE = 0x4000


def number(cell: bytes) -> int | Decimal:
    """Read a numeric: an int when it is whole, else a Decimal without trailing zeros; ORA-01426 for NaN."""
    count, weight, sign, _ = struct.unpack_from(">hhHh", cell)
    if sign not in {0, _NUMERIC_NEGATIVE}:
        raise OraError(1426, "numeric overflow")
    whole = 0
    for digit in struct.unpack_from(f">{count}h", cell, 8):
        whole = whole * 10_000 + digit
    exponent = (weight - count + 1) * 4
    if sign:
        whole = -whole
    if exponent >= 0:
        return int(whole * 10**exponent)
    while exponent < 0 and whole % 10 == 0:
        if whole == 0:
            return 0
        whole //= 10
        exponent += 1
    if exponent == 0:
        return whole
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), exponent))


def integer(cell: bytes) -> int:
    """Read an int2, int4 or int8."""
    return int.from_bytes(cell, "big", signed=True)


def text(cell: bytes) -> str | None:
    """Read text; the empty string is NULL."""
    return cell.decode() or None


def moment(cell: bytes) -> dt.datetime:
    """Read a timestamp; ORA-01841 outside the years 1 to 9999."""
    try:
        return _EPOCH + dt.timedelta(microseconds=int.from_bytes(cell, "big", signed=True))
    except OverflowError:
        raise OraError(1841, "(full) year must be between -4713 and +9999, and not be 0") from None


def _zoned(zone: dt.tzinfo) -> Decoder:
    return lambda cell: moment(cell).replace(tzinfo=dt.UTC).astimezone(zone)


def _double(cell: bytes) -> float:
    value: float = struct.unpack(">d" if len(cell) == 8 else ">f", cell)[0]
    return value


_DECODERS: dict[int, Decoder] = {
    pg.BOOL: lambda cell: cell[0] == 1,
    pg.BYTEA: lambda cell: cell or None,
    pg.DATE: lambda cell: _EPOCH + dt.timedelta(days=integer(cell)),
    pg.FLOAT4: _double,
    pg.FLOAT8: _double,
    pg.INTERVAL: cells.interval,
    pg.JSON: cells.json_value,
    pg.JSONB: cells.json_value,
    pg.NUMERIC: number,
    pg.TID: cells.rowid,
    pg.TIMESTAMP: moment,
    **dict.fromkeys(pg.INTEGERS, integer),
}


def decoder(oid: int, own: Oids, zone: dt.tzinfo) -> Decoder:
    """Choose the reader of a cell by its type; TIMESTAMP WITH TIME ZONE comes in the session's zone."""
    if oid == own.vector:
        return cells.vector_elements
    if oid == own.odate:
        return moment
    if oid == own.blob:
        return bytes
    if oid == own.clob:
        return lambda cell: cell.decode()
    if oid == pg.TIMESTAMPTZ:
        return _zoned(zone)
    return _DECODERS.get(oid, text)


@dataclass(frozen=True, slots=True)
class Formats:
    """The NLS formats of a session."""

    date: str = texts.DATE_FORMAT
    timestamp: str = texts.TIMESTAMP_FORMAT
    timestamp_tz: str = texts.TIMESTAMP_TZ_FORMAT


def convert(value: Any, source: OraType, target: OraType, formats: Formats) -> Any:
    """Turn a value of a column of type ``source`` into the type that the client bound.

    ORA-00932 when Oracle does not convert between the two.
    """
    if value is None or source is target:
        return value
    if target in _TEXTS:
        return _to_text(value, source, formats)
    if target is OraType.NUMBER:
        return _to_number(value)
    if target in {OraType.BINARY_DOUBLE, OraType.BINARY_FLOAT} and not isinstance(value, dt.date | dt.timedelta):
        return float(_to_number(value))
    if target in _MOMENTS and isinstance(value, dt.datetime):
        naive = value if target is OraType.TIMESTAMP_TZ else value.replace(tzinfo=None)
        return naive.replace(microsecond=0) if target is OraType.DATE else naive
    if target in {OraType.RAW, OraType.LONG_RAW, OraType.BLOB} and isinstance(value, bytes):
        return value
    if target in {OraType.RAW, OraType.LONG_RAW} and source in _TEXTS:
        if not _HEXADECIMAL.fullmatch(value):
            raise OraError(1465, "invalid hex number")
        return bytes.fromhex(value.zfill(len(value) + len(value) % 2))
    if target is OraType.VECTOR and isinstance(value, array):
        return value
    if target is OraType.JSON and source is OraType.JSON:
        return value
    raise OraError(932, f"inconsistent datatypes: expected {target.name} got {source.name}")


_TEXTS = frozenset({OraType.VARCHAR, OraType.CHAR, OraType.LONG, OraType.CLOB})
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]+")
_MOMENTS = frozenset({OraType.DATE, OraType.TIMESTAMP, OraType.TIMESTAMP_TZ, OraType.TIMESTAMP_LTZ})


def _to_text(value: Any, source: OraType, formats: Formats) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float | Decimal) and source is not OraType.JSON:
        return texts.number_text(value)
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, array):
        return texts.vector_text(value)
    if isinstance(value, dt.datetime):
        form = {OraType.DATE: formats.date, OraType.TIMESTAMP: formats.timestamp}.get(source, formats.timestamp_tz)
        return texts.moment_text(value, form)
    if source is OraType.JSON:
        return texts.json_text(value)
    raise OraError(932, f"inconsistent datatypes: expected CHAR got {source.name}")


def _to_number(value: Any) -> int | Decimal:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | Decimal):
        return value
    if isinstance(value, float):
        return texts.number_value(repr(value))
    if isinstance(value, str):
        return texts.number_value(value)
    raise OraError(932, f"inconsistent datatypes: expected NUMBER got {type(value).__name__}")
