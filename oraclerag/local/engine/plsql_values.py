"""Values of PL/SQL variables and binds: their types, and how a value becomes one of another type."""

from __future__ import annotations

import datetime as dt
import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Protocol

from oraclerag.local.engine.column_types import ColumnType, read_type
from oraclerag.local.engine.decode import Formats, convert
from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.interface import BindType, OraError, OraType

LONGEST = 32767  # of a text variable in PL/SQL, whatever MAX_STRING_SIZE says
_INTEGERS = frozenset(
    {"PLS_INTEGER", "BINARY_INTEGER", "SIMPLE_INTEGER", "NATURAL", "NATURALN", "POSITIVE", "POSITIVEN", "SIGNTYPE"}
)
_FAMILIES = {
    "NUMBER": OraType.NUMBER,
    "FLOAT": OraType.NUMBER,
    "VARCHAR2": OraType.VARCHAR,
    "NVARCHAR2": OraType.VARCHAR,
    "CHAR": OraType.CHAR,
    "NCHAR": OraType.CHAR,
    "DATE": OraType.DATE,
    "CLOB": OraType.CLOB,
    "NCLOB": OraType.CLOB,
    "BLOB": OraType.BLOB,
    "RAW": OraType.RAW,
    "JSON": OraType.JSON,
    "VECTOR": OraType.VECTOR,
    "BOOLEAN": OraType.BOOLEAN,
    "BINARY_DOUBLE": OraType.BINARY_DOUBLE,
    "BINARY_FLOAT": OraType.BINARY_FLOAT,
}
_JSON_OBJECTS = frozenset({"JSON_ELEMENT_T", "JSON_OBJECT_T", "JSON_ARRAY_T", "JSON_SCALAR_T", "JSON_KEY_LIST"})
_DIGITS = Context(prec=60)


class Evaluator(Protocol):
    """The part of a session that conversion by the session's formats needs."""

    def values(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> list[tuple[Any, ...]]:
        """Run a query."""
        ...


@dataclass(frozen=True, slots=True)
class VariableType:
    """The type of a variable; ``length`` in bytes, or characters with ``chars``; ``integer``: whole 32-bit numbers."""

    family: OraType
    length: int | None = None
    chars: bool = False
    precision: int | None = None
    scale: int = 0
    integer: bool = False


def family(name: str) -> OraType | None:
    """Give the type of a data type's dictionary name."""
    if name.startswith("TIMESTAMP"):
        return OraType.TIMESTAMP_TZ if "ZONE" in name else OraType.TIMESTAMP
    if name.startswith("INTERVAL"):
        return OraType.INTERVAL_DS
    return _FAMILIES.get(name)


def variable_type(text: str) -> VariableType:
    """Read a declared data type: those of columns, and PL/SQL's own integers."""
    reader = Reader(text)
    if reader.word() in _INTEGERS:
        reader.advance()
        reader.expect_end(6550, "line 1, column 1:\nPLS-00103: unexpected symbol in a declaration")
        return VariableType(OraType.NUMBER, integer=True)
    if reader.word() == "STRING":
        reader = Reader("VARCHAR2" + text[reader.peek().end :])
    if reader.sees("SYS_REFCURSOR"):
        raise unsupported("REF CURSOR variables", reader.position)
    if reader.word() in _JSON_OBJECTS:
        raise unsupported(f"variables of type {reader.word()}", reader.position)
    try:
        kind = read_type(reader, LONGEST)
    except OraError as error:
        if error.number == 902:
            name = text.strip().upper()
            raise OraError(6550, f"line 1, column 1:\nPLS-00201: identifier '{name}' must be declared") from error
        raise
    reader.expect_end(6550, "line 1, column 1:\nPLS-00103: unexpected symbol in a declaration")
    return of_column(kind)


def of_column(kind: ColumnType) -> VariableType:
    """Give the variable type of a column type."""
    found = family(kind.name)
    if found is None:
        raise unsupported(f"variables of type {kind.name}")
    precision: int | None = None
    scale = 0
    if kind.storage.startswith("numeric("):
        first, _, second = kind.storage[8:-1].partition(",")
        precision, scale = int(first), int(second or 0)
    return VariableType(found, kind.length, kind.chars, precision, scale)


def type_of(value: Any) -> OraType:
    """Give the type of a value that no declaration tells."""
    for python, kind in _BY_VALUE:
        if isinstance(value, python):
            return kind
    if isinstance(value, dt.datetime):
        return OraType.TIMESTAMP_TZ if value.tzinfo is not None else OraType.TIMESTAMP
    raise OraError(932, f"inconsistent datatypes: no Oracle type for a value of type {type(value).__name__}")


_BY_VALUE: tuple[tuple[type | tuple[type, ...], OraType], ...] = (
    (bool, OraType.BOOLEAN),
    ((int, Decimal), OraType.NUMBER),
    (float, OraType.BINARY_DOUBLE),
    ((str, type(None)), OraType.VARCHAR),
    ((bytes, bytearray), OraType.RAW),
    (array, OraType.VECTOR),
    ((dict, list), OraType.JSON),
    (dt.timedelta, OraType.INTERVAL_DS),
)


def bind_type(value: Any, declared: OraType | None = None) -> BindType:
    """Give the bind type of a value for a query."""
    kind = declared if declared is not None else type_of(value)
    size = len(value.encode()) if isinstance(value, str) else len(value) if isinstance(value, bytes) else 0
    if kind in {OraType.VARCHAR, OraType.CHAR} and size > LONGEST:
        kind = OraType.CLOB
    if kind is OraType.RAW and size > LONGEST:
        kind = OraType.BLOB
    return BindType(kind, size)


def _value_error(detail: str = "") -> OraError:
    return OraError(6502, f"PL/SQL: numeric or value error{': ' + detail if detail else ''}")


def converted(value: Any, source: OraType | None, target: OraType, session: Evaluator) -> Any:
    """Turn a value into another type as PL/SQL does; ORA-06502 when it cannot be one."""
    if value is None or value == "":
        return None
    kind = source if source is not None else type_of(value)
    if target is OraType.BOOLEAN:
        if isinstance(value, bool | int):
            return bool(value)
        raise _value_error("BOOLEAN expected")
    if target is OraType.JSON and isinstance(value, str):
        try:
            return json.loads(value, parse_float=Decimal)
        except ValueError:
            raise OraError(40441, "JSON syntax error") from None
    if target is OraType.VECTOR and isinstance(value, str):
        return session.values("SELECT TO_VECTOR(:v) FROM dual", [value], [bind_type(value)])[0][0]
    texts = {OraType.VARCHAR, OraType.CHAR, OraType.LONG, OraType.CLOB}
    if target in texts and isinstance(value, dt.datetime | dt.timedelta):
        return session.values("SELECT TO_CHAR(:v) FROM dual", [value], [BindType(kind)])[0][0]
    if isinstance(value, str) and target in {OraType.DATE, OraType.TIMESTAMP, OraType.TIMESTAMP_TZ}:
        function = {OraType.DATE: "TO_DATE", OraType.TIMESTAMP: "TO_TIMESTAMP"}.get(target, "TO_TIMESTAMP_TZ")
        return session.values(f"SELECT {function}(:v) FROM dual", [value], [bind_type(value)])[0][0]
    if target in {OraType.RAW, OraType.LONG_RAW, OraType.BLOB} and isinstance(value, str):
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise _value_error("hex to raw conversion error") from None
    try:
        return convert(value, kind, target, Formats())
    except OraError as error:
        if error.number == 1722:
            raise _value_error("character to number conversion error") from error
        raise


def coerced(value: Any, source: OraType | None, kind: VariableType, session: Evaluator) -> Any:
    """Turn a value into what a variable of this type can hold; ORA-06502 when it does not fit."""
    found = converted(value, source, kind.family, session)
    if found is None:
        return None
    if kind.family in {OraType.VARCHAR, OraType.CHAR, OraType.RAW} and kind.length is not None:
        used = len(found) if kind.chars or isinstance(found, bytes) else len(found.encode())
        if used > kind.length:
            raise _value_error("character string buffer too small")
        if kind.family is OraType.CHAR:
            found = found.ljust(kind.length)
    if kind.family is OraType.NUMBER:
        return _number(found, kind)
    return found


def _number(value: int | Decimal, kind: VariableType) -> int | Decimal:
    if kind.integer:
        whole = int(Decimal(value).to_integral_value(ROUND_HALF_UP))
        if not -(2**31) <= whole < 2**31:
            raise OraError(1426, "numeric overflow")
        return whole
    if kind.precision is None:
        return value
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, _DIGITS)
    if abs(rounded) >= Decimal(10) ** (kind.precision - kind.scale):
        raise _value_error("number precision too large")
    return int(rounded) if rounded == rounded.to_integral_value() else rounded.normalize(_DIGITS)


def out_value(value: Any, wanted: BindType, session: Evaluator) -> Any:
    """Turn the value of an OUT bind into the type that the client bound; ORA-06502 when its buffer is too small."""
    found = converted(value, None, wanted.type, session)
    bounded = wanted.size and wanted.type in {OraType.VARCHAR, OraType.CHAR}
    if bounded and isinstance(found, str) and len(found.encode()) > wanted.size:
        raise _value_error("character string buffer too small")
    return found
