"""The type names of CAST and RETURNING, and the conversions they stand for."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.operands import Operand, family
from oraclerag.local.engine.token_cursor import TokenCursor
from oraclerag.local.engine.tree import DataType, Node, Output
from oraclerag.local.interface import OraError


@dataclass(frozen=True, slots=True)
class CastType:
    """A type as it is named in a cast: the PostgreSQL type, what it is, its length (0: none) and whether in bytes."""

    text: str
    type: DataType
    size: int = 0
    in_bytes: bool = True
    padded: bool = False
    name: str = ""


_SIMPLE: dict[str, tuple[str, DataType]] = {
    "INTEGER": ("numeric(38,0)", "number"),
    "INT": ("numeric(38,0)", "number"),
    "SMALLINT": ("numeric(38,0)", "number"),
    "REAL": ("numeric", "number"),
    "DATE": ("ora.odate", "date"),
    "CLOB": ("ora.clob", "clob"),
    "NCLOB": ("ora.clob", "clob"),
    "BLOB": ("ora.blob", "blob"),
    "JSON": ("jsonb", "json"),
    "BOOLEAN": ("boolean", "boolean"),
    "BOOL": ("boolean", "boolean"),
    "BINARY_DOUBLE": ("float8", "double"),
    "BINARY_FLOAT": ("float4", "double"),
    "ROWID": ("tid", "rowid"),
}
_TEXT = {"VARCHAR2": 32767, "NVARCHAR2": 32767, "VARCHAR": 32767, "CHAR": 2000, "NCHAR": 2000}
_NUMBERS = frozenset({"NUMBER", "DECIMAL", "NUMERIC", "DEC"})


def read_type(cursor: TokenCursor, *, length_required: bool = True) -> CastType:
    """Read a type name; ORA-00902 for one that Oracle does not have, ORA-00906 for a missing length."""
    token = cursor.token
    word = token.upper
    if token.kind not in ("word", "quoted"):
        raise OraError(902, "invalid datatype", token.position)
    cursor.position += 1
    if word in _TEXT:
        return _text(cursor, word, length_required)
    if word in _NUMBERS:
        return _number(cursor)
    if word in _SIMPLE:
        text, kind = _SIMPLE[word]
        return CastType(text, kind, name=word)
    if word == "FLOAT":
        if cursor.accept("("):
            cursor.integer()
            cursor.need(")")
        return CastType("numeric", "number", name=word)
    if word == "DOUBLE":
        cursor.need("PRECISION")
        return CastType("numeric", "number", name=word)
    if word == "RAW":
        cursor.need("(")
        size = cursor.integer()
        cursor.need(")")
        return CastType("bytea", "raw", size, name=word)
    if word == "TIMESTAMP":
        return _timestamp(cursor)
    if word == "INTERVAL":
        return _interval(cursor)
    if word == "VECTOR":
        return CastType("vector", "vector", name=word)
    raise OraError(3060 if cursor.at("(") else 902, f"invalid datatype {token.text}", token.position)


def _text(cursor: TokenCursor, word: str, length_required: bool) -> CastType:
    padded = word in ("CHAR", "NCHAR")
    size = 1 if padded else 0
    in_bytes = not word.startswith("N")
    if cursor.at("("):
        cursor.position += 1
        position = cursor.token.position
        size = cursor.integer()
        if size == 0:
            raise OraError(1723, "zero-length columns are not allowed", position)
        if size > _TEXT[word]:
            raise OraError(910, f"specified length {size} too long for its datatype", position)
        if cursor.token.upper in ("CHAR", "BYTE"):
            in_bytes = cursor.token.upper == "BYTE"
            cursor.position += 1
        cursor.need(")")
    elif not padded and length_required:
        cursor.missing("(")
    return CastType(f"ora.varchar2({size})" if size else "ora.varchar2", "text", size, in_bytes, padded, word)


def _number(cursor: TokenCursor) -> CastType:
    if not cursor.accept("("):
        return CastType("numeric", "number", name="NUMBER")
    star = cursor.accept("*")
    position = cursor.token.position
    precision = 38 if star else cursor.integer()
    scale = 0
    if cursor.accept(","):
        negative = cursor.accept("-")
        scale = -cursor.integer() if negative else cursor.integer()
    cursor.need(")")
    if not 1 <= precision <= 38:
        raise OraError(1727, "numeric precision specifier is out of range (1 to 38)", position)
    if not -84 <= scale <= 127:
        raise OraError(1728, "numeric scale specifier is out of range (-84 to 127)", position)
    return CastType(f"numeric({precision},{scale})", "number", name="NUMBER")


def _timestamp(cursor: TokenCursor) -> CastType:
    precision = ""
    if cursor.accept("("):
        position = cursor.token.position
        digits = cursor.integer()
        if digits > 9:
            raise OraError(30088, "datetime/interval precision is out of range", position)
        precision = f"({min(digits, 6)})"
        cursor.need(")")
    if cursor.accept("WITH"):
        cursor.accept("LOCAL")
        cursor.need("TIME")
        cursor.need("ZONE")
        return CastType(f"timestamptz{precision}", "timestamp with time zone", name="TIMESTAMP WITH TIME ZONE")
    return CastType(f"timestamp{precision}", "timestamp", name="TIMESTAMP")


def _interval(cursor: TokenCursor) -> CastType:
    position = cursor.token.position
    fields = []
    for _ in range(2):
        fields.append(cursor.token.upper)
        cursor.position += 1
        if cursor.accept("("):
            cursor.integer()
            cursor.need(")")
        if len(fields) == 1 and not cursor.accept("TO"):
            break
    if fields not in (["DAY", "SECOND"], ["YEAR", "MONTH"]):
        raise OraError(30089, "missing or invalid <datetime field>", position)
    return CastType("interval", "interval", name="INTERVAL " + " TO ".join(fields))


_CONVERSIONS: dict[DataType, str] = {
    "number": "ora.as_number",
    "double": "ora.as_double",
    "date": "ora.as_date",
    "timestamp": "ora.as_timestamp",
    "timestamp with time zone": "ora.as_timestamp_tz",
    "interval": "ora.as_interval",
    "json": "ora.json_strict",
    "boolean": "ora.to_boolean",
    "raw": "ora.as_raw",
    "rowid": "ora.chartorowid",
}


class _Shortened(Node):
    """A value as VARCHAR2 or CHAR of a length: a text is cut, a number that is longer is ORA-25137."""

    __slots__ = ("inner", "target")

    def __init__(self, value: Node, target: CastType) -> None:
        self.inner = value.inner if isinstance(value, Operand) else value
        super().__init__(self.inner, type="text")
        self.target = target

    def write(self, output: Output) -> None:
        """Write the conversion, by the type of the value."""
        target = self.target
        number = family(self.inner) == "number"
        output.pieces.append("ora.cast_number(" if number else "ora.cast_varchar2(ora.s(")
        (self.inner if number else Operand(self.inner, text=True)).write(output)
        closed = "" if number else ")"
        kind = f"char({target.size})" if target.padded else target.text
        output.pieces.append(f"{closed}, {target.size}, {'true' if target.in_bytes else 'false'})::{kind}")


def cast(value: Node, target: CastType) -> Node:
    """Give ``CAST(value AS target)``; LOB and VECTOR targets are ORA-22849, as they have conversion functions."""
    if target.type in ("clob", "blob", "vector"):
        raise OraError(22849, f"Type {target.name} is not supported for this function or operator.")
    if target.type == "text" and target.size:
        return _Shortened(value, target)
    if target.type == "text":
        inner = Operand(value.inner, text=True) if isinstance(value, Operand) else value
        return Node("ora.cast_varchar2(ora.s(", inner, f"), 0, false)::{target.text}", type="text")
    conversion = _CONVERSIONS[target.type]
    suffix = f"::{target.text}" if target.type != "json" else ""
    return Node(f"{conversion}(", value, f"){suffix}", type=target.type)
