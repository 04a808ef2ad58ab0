"""Oracle bind values to PostgreSQL parameters, column by column.

Text is sent with an unknown type first, so that PostgreSQL infers from the context what it is to be; what it inferred
decides how the text is then read, by Oracle's rules: a number, a date in the session's NLS format, hex digits. Text
that stays text goes in binary format, where a NUL byte is an error and not the end.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine import texts
from oraclerag.local.engine.decode import Formats
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.plan import BindParameter, ChainParameter, EmbedParameter, GenerateParameter, Parameter
from oraclerag.local.interface import BindType, OraError, OraType

Value = bytes | None
Converter = Callable[[Any], Value]
TEXT_FORMAT, BINARY_FORMAT = 0, 1
INFER = 0
"""The OID that asks PostgreSQL to infer a parameter's type."""

TEXTS = frozenset({OraType.VARCHAR, OraType.CHAR, OraType.LONG})
_ROWID_SYNTAX = re.compile(r"[A-Za-z0-9+/]{18}\Z")
_ROWID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_EPOCH_DAY = dt.date(2000, 1, 1).toordinal()
_MAX_DIMENSIONS = 16_000  # of pgvector


@dataclass(frozen=True, slots=True)
class Reading:
    """How a session reads text: its NLS formats, and today's date for two-digit years."""

    own: Oids
    formats: Formats
    today: dt.date


def positions(names: Sequence[str]) -> dict[str, int]:
    """Give the index of each bind name's first occurrence: the value that counts where a name is repeated."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    return places


def declared_oids(
    parameters: Sequence[Parameter], places: dict[str, int], types: Sequence[BindType], own: Oids
) -> tuple[int, ...]:
    """Give the parameter OIDs to prepare with; ORA-01008 when a bind has no value."""
    oids = []
    for parameter in parameters:
        if not isinstance(parameter, BindParameter):
            oids.append(computed_oid(parameter, own))
        elif places.get(parameter.name, len(types)) >= len(types):
            raise OraError(1008, f"not all variables bound: :{parameter.name}")
        elif types[places[parameter.name]].elements:
            raise OraError(1484, "arrays can only be bound to PL/SQL statements")
        elif parameter.rowid:
            oids.append(pg.TID)
        else:
            oids.append(_oid(types[places[parameter.name]].type, own))
    return tuple(oids)


def computed_oid(parameter: EmbedParameter | ChainParameter | GenerateParameter, own: Oids) -> int:
    """Give the type of a parameter that is computed from binds."""
    if isinstance(parameter, GenerateParameter):
        return own.clob
    return pg.TEXT_ARRAY if isinstance(parameter, ChainParameter) and parameter.rows else own.vector


def _oid(kind: OraType, own: Oids) -> int:
    if kind in TEXTS or kind is OraType.ROWID:
        return INFER
    if kind is OraType.DATE:
        return own.odate
    if kind is OraType.VECTOR:
        return own.vector
    if kind is OraType.CLOB:
        return own.clob
    if kind is OraType.BLOB:
        return own.blob
    oid = _OIDS.get(kind)
    if oid is None:
        raise OraError(932, f"inconsistent datatypes: a bind of type {kind.name} is not possible in SQL")
    return oid


_OIDS = {
    OraType.NUMBER: pg.NUMERIC,
    OraType.RAW: pg.BYTEA,
    OraType.LONG_RAW: pg.BYTEA,
    OraType.BINARY_FLOAT: pg.FLOAT4,
    OraType.BINARY_DOUBLE: pg.FLOAT8,
    OraType.JSON: pg.JSONB,
    OraType.TIMESTAMP: pg.TIMESTAMP,
    OraType.TIMESTAMP_TZ: pg.TIMESTAMPTZ,
    OraType.TIMESTAMP_LTZ: pg.TIMESTAMPTZ,
    OraType.INTERVAL_DS: pg.INTERVAL,
    OraType.BOOLEAN: pg.BOOL,
}


def converter(kind: OraType, oid: int, reading: Reading) -> tuple[Converter, int]:
    """Choose how values of a bind type become a parameter of a PostgreSQL type, and its format."""
    if kind in TEXTS or kind is OraType.ROWID:
        return _text_converter(oid, reading)
    if kind is OraType.VECTOR:
        return vector_value, BINARY_FORMAT
    if kind is OraType.CLOB:
        return str.encode, BINARY_FORMAT
    return _CONVERTERS[kind]


def _text_converter(oid: int, reading: Reading) -> tuple[Converter, int]:
    own = reading.own
    if own.is_text(oid) or oid == INFER:
        return _text, BINARY_FORMAT
    if oid in {pg.NUMERIC, pg.FLOAT4, pg.FLOAT8} or oid in pg.INTEGERS:
        return _number_in_text, TEXT_FORMAT
    if oid in {own.odate, pg.DATE}:
        return _moment_in_text(reading, reading.formats.date), TEXT_FORMAT
    if oid == pg.TIMESTAMP:
        return _moment_in_text(reading, reading.formats.timestamp), TEXT_FORMAT
    if oid == pg.TIMESTAMPTZ:
        return _moment_in_text(reading, reading.formats.timestamp_tz), TEXT_FORMAT
    if oid in {pg.BYTEA, own.blob}:
        return _hex, BINARY_FORMAT
    if oid == pg.TID:
        return _rowid, TEXT_FORMAT
    return _other_text, TEXT_FORMAT


def _text(value: str) -> Value:
    return value.encode() or None


def _number_in_text(value: str) -> Value:
    if not value:
        return None
    if texts.NUMBER_SYNTAX.match(value) is None:
        raise OraError(1722, "unable to convert string value to a number")
    return value.encode()


def _moment_in_text(reading: Reading, form: str) -> Converter:
    def convert(value: str) -> Value:
        return str(texts.moment_value(value, form, reading.today)).encode() if value else None

    return convert


def _hex(value: str) -> Value:
    try:
        return bytes.fromhex(value) or None
    except ValueError:
        raise OraError(1465, "invalid hex number") from None


def _rowid(value: str) -> Value:
    if not value:
        return None
    if _ROWID_SYNTAX.match(value) is None:
        raise OraError(1410, "invalid ROWID")
    block = slot = 0
    for character in value[9:15]:
        block = block * 64 + _ROWID_ALPHABET.index(character)
    for character in value[15:]:
        slot = slot * 64 + _ROWID_ALPHABET.index(character)
    return f"({block & 0xFFFFFFFF},{slot & 0xFFFF})".encode()


def _other_text(value: str) -> Value:
    if "\0" in value:
        raise no_nul()
    return value.encode() or None


def no_nul() -> OraError:
    """Give the error for a character that PostgreSQL cannot store."""
    return OraError(3001, "unimplemented feature: the character CHR(0) in text")


def _number(value: int | float | Decimal) -> Value:
    if type(value) is int:
        return b"%d" % value
    return str(int(value) if value is True or value is False else value).encode()


def _date(value: dt.date) -> Value:
    """Give the microseconds since 2000 of a DATE, without a fraction of a second."""
    seconds = (value.toordinal() - _EPOCH_DAY) * 86_400
    if isinstance(value, dt.datetime):
        seconds += value.hour * 3600 + value.minute * 60 + value.second
    return (seconds * 1_000_000).to_bytes(8, "big", signed=True)


def _timestamp(value: dt.date) -> Value:
    micros = (value.toordinal() - _EPOCH_DAY) * 86_400_000_000
    if isinstance(value, dt.datetime):
        micros += (value.hour * 3600 + value.minute * 60 + value.second) * 1_000_000 + value.microsecond
    return micros.to_bytes(8, "big", signed=True)


def _moment(value: dt.date) -> Value:
    return str(value).encode()


def _interval(value: dt.timedelta) -> Value:
    return f"{value.days} days {value.seconds * 1_000_000 + value.microseconds} microseconds".encode()


def _bytes(value: bytes) -> Value:
    return value or None


def _lob_bytes(value: bytes) -> Value:
    return value


def _boolean(value: bool) -> Value:
    return b"t" if value else b"f"


def _float(value: float) -> Value:
    return repr(float(value)).encode()


def json_value(value: Any) -> Value:
    """Serialize a JSON value."""
    return texts.json_text(value).encode()


def vector_value(value: array[Any]) -> bytes:
    """Turn an array into a pgvector: dimensions, zero, big-endian float4; what does not fit is ORA-51806."""
    if value.typecode == "B":
        raise OraError(3001, "unimplemented feature: vectors of format BINARY")
    if len(value) > _MAX_DIMENSIONS:
        raise OraError(3001, f"unimplemented feature: vectors of more than {_MAX_DIMENSIONS} dimensions")
    try:
        elements = array("f", value)
    except OverflowError:
        raise OraError(51806, "Vector column is not properly formatted (dimension value overflow)") from None
    elements.byteswap()
    return struct.pack(">HH", len(elements), 0) + elements.tobytes()


_CONVERTERS: dict[OraType, tuple[Converter, int]] = {
    OraType.NUMBER: (_number, TEXT_FORMAT),
    OraType.RAW: (_bytes, BINARY_FORMAT),
    OraType.LONG_RAW: (_bytes, BINARY_FORMAT),
    OraType.BLOB: (_lob_bytes, BINARY_FORMAT),
    OraType.BINARY_FLOAT: (_float, TEXT_FORMAT),
    OraType.BINARY_DOUBLE: (_float, TEXT_FORMAT),
    OraType.JSON: (json_value, TEXT_FORMAT),
    OraType.DATE: (_date, BINARY_FORMAT),
    OraType.TIMESTAMP: (_timestamp, BINARY_FORMAT),
    OraType.TIMESTAMP_TZ: (_moment, TEXT_FORMAT),
    OraType.TIMESTAMP_LTZ: (_moment, TEXT_FORMAT),
    OraType.INTERVAL_DS: (_interval, TEXT_FORMAT),
    OraType.BOOLEAN: (_boolean, TEXT_FORMAT),
}
