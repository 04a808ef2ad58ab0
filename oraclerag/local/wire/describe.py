"""The description of a result, one record per column, and what comes before its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from oraclerag.local.interface import Column, OraType
from oraclerag.local.wire.capabilities import (
    FIELD_VERSION,
    FIELD_VERSION_12_2,
    FIELD_VERSION_23_1,
    FIELD_VERSION_23_1_ANNOTATIONS,
    Dialect,
)
from oraclerag.local.wire.messages import MessageType
from oraclerag.local.wire.primitives import put_counted, put_sint, put_uint

_AL32UTF8 = 873
_IMPLICIT_FORM = 1  # of the database's character set, not the national one
_CHARACTER_TYPES = frozenset({OraType.VARCHAR, OraType.CHAR, OraType.LONG, OraType.CLOB})
_FLEXIBLE_DIMENSIONS = 1
_WIDE_SCALE_CLIENT = "OracleClientGo"
_WIDE_SCALE_TYPES = frozenset(
    {
        OraType.NUMBER,
        OraType.TIMESTAMP,
        OraType.TIMESTAMP_TZ,
        OraType.TIMESTAMP_LTZ,
        OraType.INTERVAL_DS,
    }
)
_SIZES = {
    OraType.NUMBER: 22,
    OraType.DATE: 7,
    OraType.TIMESTAMP: 11,
    OraType.TIMESTAMP_TZ: 13,
    OraType.TIMESTAMP_LTZ: 11,
    OraType.INTERVAL_DS: 11,
    OraType.BINARY_FLOAT: 4,
    OraType.BINARY_DOUBLE: 8,
    OraType.BOOLEAN: 4,
    OraType.ROWID: 18,
    OraType.CLOB: 4000,
    OraType.BLOB: 4000,
    OraType.JSON: 8200,
    OraType.VECTOR: 8200,
}


def buffer_size(column: Column, longest: int) -> int:
    """Give a column's size in bytes, never 0: that would mean that rows carry no cell for it.

    Nor is it more than the ``longest`` string, or node-oracledb takes the column for a LONG, with an indicator and a
    return code behind each cell.
    """
    return min(column.size or _SIZES.get(column.type, 1), longest)


def put_describe(out: bytearray, columns: Sequence[Column], dialect: Dialect) -> None:
    """Append a describe message."""
    out.append(MessageType.DESCRIBE)
    out.append(0)
    put_uint(out, sum(buffer_size(column, dialect.max_string_size) for column in columns) & 0x7FFFFFFF)
    put_uint(out, len(columns))
    if columns:
        out.append(0)
    for position, column in enumerate(columns):
        _put_column(out, column, position, dialect)
    out += bytes(6)  # date, flags, key length


def _put_column(out: bytearray, column: Column, position: int, dialect: Dialect) -> None:
    version = dialect.field_version
    character = column.type in _CHARACTER_TYPES
    out += bytes((column.type, 0, column.precision & 0xFF))
    if dialect.client == _WIDE_SCALE_CLIENT and column.type in _WIDE_SCALE_TYPES:
        put_sint(out, column.scale)
    else:
        out.append(column.scale & 0xFF)
    put_uint(out, buffer_size(column, dialect.max_string_size))
    out += bytes(4)  # array elements, flags, object id, version
    put_uint(out, _AL32UTF8 if character else 0)
    out.append(_IMPLICIT_FORM if character else 0)
    put_uint(out, column.chars)
    if version >= FIELD_VERSION_12_2:
        out.append(0)
    out.append(column.nullable)
    out.append(0)
    put_counted(out, column.name.encode())
    out += bytes(2)  # schema and name of an object type
    put_uint(out, position)
    out.append(0)
    if version >= FIELD_VERSION_23_1:
        out += bytes(2)  # domain
    if version >= FIELD_VERSION_23_1_ANNOTATIONS:
        out.append(0)
    if version >= FIELD_VERSION:
        is_vector = column.type is OraType.VECTOR
        put_uint(out, column.vector_dimensions)
        out.append(column.vector_format)
        out.append(_FLEXIBLE_DIMENSIONS if is_vector and not column.vector_dimensions else 0)


def put_row_header(out: bytearray, count: int) -> None:
    """Append the message before the rows of a response."""
    out += _row_header(count)


@lru_cache(maxsize=64)
def _row_header(count: int) -> bytes:
    out = bytearray((MessageType.ROW_HEADER, 0, 0, 0))
    put_uint(out, count)
    return bytes(out) + bytes(3)
