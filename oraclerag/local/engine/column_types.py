"""Oracle data types: how DDL writes them, how PostgreSQL stores them, what is checked beside the type.

PostgreSQL enforces precision, scale and dimension; lengths of VARCHAR2 and RAW are checked by a CHECK constraint, so
that the error can name column and sizes as ORA-12899 does.
"""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

PGVECTOR_DIMENSIONS = 16000
STORED_FRACTION = 6  # digits of a second that PostgreSQL keeps
_UNSUPPORTED = frozenset({"LONG", "BFILE", "UROWID", "ROWID", "XMLTYPE", "ANYDATA", "SDO_GEOMETRY", "SYS"})
_FORMATS = {"FLOAT32": 4, "FLOAT64": 8, "INT8": 1}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's data type.

    ``name`` is the dictionary's DATA_TYPE; ``storage`` the PostgreSQL type; ``length`` counts bytes, or characters
    with ``chars``; ``dimensions`` is None for a flexible VECTOR, ``format`` its element format or ``*``.
    """

    name: str
    storage: str
    length: int | None = None
    chars: bool = False
    dimensions: int | None = None
    format: str | None = None

    @property
    def is_lob(self) -> bool:
        """Whether a column of this type can be no key and has no order."""
        return self.name in {"CLOB", "NCLOB", "BLOB", "JSON", "VECTOR"}

    @property
    def is_number(self) -> bool:
        """Whether the type is NUMBER or one of its other spellings (not the binary floats)."""
        return self.name in {"NUMBER", "FLOAT"}

    def check(self, column: str, position: int, limit: int) -> str | None:
        """Give the condition that a value of this column must hold, or None.

        ``position`` is the column's attribute number, by which the raising function finds the names even after a
        rename; ``limit`` is MAX_STRING_SIZE in bytes, which bounds CHAR semantics too.
        """
        name = quote(column)
        if self.name in {"VARCHAR2", "NVARCHAR2"} and self.length is not None:
            bytes_used = f"octet_length({name}::text)"
            if not self.chars:
                return self._bounded(name, f"{bytes_used} <= {self.length}", bytes_used, self.length, position)
            used = f"char_length({name}::text)"
            fits = f"{bytes_used} <= {self.length} OR ({used} <= {self.length} AND {bytes_used} <= {limit})"
            actual = f"CASE WHEN {used} > {self.length} THEN {used} ELSE {bytes_used} END"
            most = f"CASE WHEN {used} > {self.length} THEN {self.length} ELSE {limit} END"
            return self._bounded(name, fits, actual, most, position)
        if self.name == "CHAR" and not self.chars and self.length is not None:
            used = f"octet_length({name}::text)"  # without the blanks of the padding
            return self._bounded(name, f"{used} <= {self.length}", used, self.length, position)
        if self.name == "RAW" and self.length is not None:
            used = f"octet_length({name}::bytea)"
            return self._bounded(name, f"{used} <= {self.length}", used, self.length, position)
        if self.name == "VECTOR" and self.format == "INT8":
            return f"{name} IS NULL OR ora.fits_int8({name})"
        return None

    @staticmethod
    def _bounded(name: str, fits: str, actual: str, most: int | str, position: int) -> str:
        """Give ``NULL or fits or raise ORA-12899``; without the first arm a NULL would reach the raising function."""
        return f"{name} IS NULL OR {fits} OR ora.value_too_large(tableoid, {position}, {actual}, {most})"


def normal_storage(storage: str) -> str:
    """Bring a PostgreSQL type, as written here or as ``format_type`` prints it, to one spelling without schema."""
    name = storage.removeprefix("ora.").removeprefix("public.")
    zoned = name.endswith(" with time zone")
    name = name.removesuffix(" with time zone").removesuffix(" without time zone")
    if zoned:
        name = name.replace("timestamp", "timestamptz", 1)
    base, bracket, rest = name.partition("(")
    spelled = {"character": "char", "bpchar": "char", "double precision": "float8", "real": "float4"}.get(base, base)
    return spelled + bracket + rest


def read_type(reader: Reader, limit: int) -> ColumnType:
    """Take a data type; ``limit`` is MAX_STRING_SIZE in bytes (4000 or 32767)."""
    word, position = reader.word(), reader.position
    if not word or not (word[0].isalpha() or word[0] == "_"):
        raise OraError(902, "invalid datatype", position)
    reader.advance()
    if word in {"VARCHAR2", "VARCHAR", "NVARCHAR2"}:
        return _text(reader, word, limit)
    if word in {"CHAR", "NCHAR", "CHARACTER"}:
        return _char(reader, word)
    if word in {"NUMBER", "NUMERIC", "DECIMAL", "DEC"}:
        return _number(reader, word)
    if word in {"INTEGER", "INT", "SMALLINT"}:
        return ColumnType("NUMBER", "numeric(38,0)")
    if word in {"FLOAT", "REAL"}:
        return _float(reader, word)
    if word == "DOUBLE":
        reader.expect("PRECISION")
        return ColumnType("FLOAT", "numeric")
    if word == "TIMESTAMP":
        return _timestamp(reader)
    if word == "INTERVAL":
        return _interval(reader)
    if word == "RAW":
        return _raw(reader, limit)
    if word == "VECTOR":
        return _vector(reader)
    plain = _PLAIN.get(word)
    if plain is not None:
        return plain
    if word in _UNSUPPORTED:
        raise unsupported(f"columns of type {word}", position)
    if reader.sees("("):
        raise OraError(3060, f"invalid data type {word}", position)
    raise OraError(902, "invalid datatype", position)


_PLAIN = {
    "DATE": ColumnType("DATE", "ora.odate"),
    "CLOB": ColumnType("CLOB", "ora.clob"),
    "NCLOB": ColumnType("NCLOB", "ora.clob"),
    "BLOB": ColumnType("BLOB", "ora.blob"),
    "JSON": ColumnType("JSON", "jsonb"),
    "BOOLEAN": ColumnType("BOOLEAN", "boolean"),
    "BOOL": ColumnType("BOOLEAN", "boolean"),
    "BINARY_DOUBLE": ColumnType("BINARY_DOUBLE", "float8"),
    "BINARY_FLOAT": ColumnType("BINARY_FLOAT", "float4"),
}


def _length(reader: Reader, longest: int) -> int:
    """Take the number in ``(n``, within what the type allows."""
    position = reader.position
    length = reader.integer(906, "missing left parenthesis")
    if length == 0:
        raise OraError(1723, "zero-length columns are not allowed", position)
    if length > longest:
        raise OraError(910, "specified length too long for its datatype", position)
    return length


def _text(reader: Reader, word: str, limit: int) -> ColumnType:
    if word == "VARCHAR" and reader.accept("VARYING"):
        raise unsupported("VARCHAR VARYING", reader.position)
    reader.expect("(")
    national = word == "NVARCHAR2"
    length = _length(reader, limit // 2 if national else limit)
    chars = national
    if not national:
        chars = reader.accept("CHAR")
        if not chars:
            reader.accept("BYTE")
    reader.expect(")")
    return ColumnType("NVARCHAR2" if national else "VARCHAR2", f"ora.varchar2({length})", length, chars)


def _char(reader: Reader, word: str) -> ColumnType:
    if word == "CHARACTER" and reader.accept("VARYING"):
        raise unsupported("CHARACTER VARYING", reader.position)
    length, chars = 1, word == "NCHAR"
    if reader.accept("("):
        length = _length(reader, 2000)
        if reader.accept("CHAR"):
            chars = True
        else:
            reader.accept("BYTE")
        reader.expect(")")
    return ColumnType("NCHAR" if word == "NCHAR" else "CHAR", f"char({length})", length, chars)


def _number(reader: Reader, word: str) -> ColumnType:
    if not reader.accept("("):
        return ColumnType("NUMBER", "numeric" if word == "NUMBER" else "numeric(38,0)")
    position = reader.position
    star = reader.accept("*")
    precision = 38 if star else reader.integer()
    if not 1 <= precision <= 38:
        raise OraError(1727, "numeric precision specifier is out of range (1 to 38)", position)
    scale = 0
    if reader.accept(","):
        position = reader.position
        scale = reader.signed()
        if not -84 <= scale <= 127:
            raise OraError(1728, "numeric scale specifier is out of range (-84 to 127)", position)
    reader.expect(")")
    if star and reader.tokens[reader.index - 2].text == "*":
        return ColumnType("NUMBER", "numeric")
    return ColumnType("NUMBER", f"numeric({precision},{scale})")


def _float(reader: Reader, word: str) -> ColumnType:
    if word == "FLOAT" and reader.accept("("):
        position = reader.position
        if not 1 <= reader.integer() <= 126:
            raise OraError(1724, "floating point precision is out of range (1 to 126)", position)
        reader.expect(")")
    return ColumnType("FLOAT", "numeric")


def _fraction(reader: Reader) -> int:
    digits = 6
    if reader.accept("("):
        position = reader.position
        digits = reader.integer()
        if digits > 9:
            raise OraError(30088, "datetime/interval precision is out of range", position)
        reader.expect(")")
    return digits


def _timestamp(reader: Reader) -> ColumnType:
    digits = _fraction(reader)
    stored = min(digits, STORED_FRACTION)
    if reader.accept("WITH"):
        local = reader.accept("LOCAL")
        reader.expect("TIME")
        reader.expect("ZONE")
        zone = "WITH LOCAL TIME ZONE" if local else "WITH TIME ZONE"
        return ColumnType(f"TIMESTAMP({digits}) {zone}", f"timestamptz({stored})")
    return ColumnType(f"TIMESTAMP({digits})", f"timestamp({stored})")


def _interval(reader: Reader) -> ColumnType:
    if reader.accept("YEAR"):
        raise unsupported("columns of type INTERVAL YEAR TO MONTH", reader.position)
    if not reader.accept("DAY"):
        reader.fail(30089, "missing or invalid <datetime field>")
    days = 2
    if reader.accept("("):
        days = reader.integer()
        reader.expect(")")
    reader.expect("TO")
    reader.expect("SECOND")
    digits = _fraction(reader)
    return ColumnType(f"INTERVAL DAY({days}) TO SECOND({digits})", f"interval({min(digits, STORED_FRACTION)})")


def _raw(reader: Reader, limit: int) -> ColumnType:
    reader.expect("(")
    length = _length(reader, 2000 if limit == 4000 else limit)
    reader.expect(")")
    return ColumnType("RAW", "bytea", length)


def _vector(reader: Reader) -> ColumnType:
    dimensions: int | None = None
    form = "*"
    if reader.accept("("):
        position = reader.position
        if not reader.accept("*"):
            dimensions = reader.integer(51801, "VECTOR column type specification has an invalid dimension count")
            if not 1 <= dimensions <= 65535:
                raise OraError(51801, "VECTOR dimension count must be between 1 and 65535", position)
            if dimensions > PGVECTOR_DIMENSIONS:
                raise unsupported(f"VECTOR columns of more than {PGVECTOR_DIMENSIONS} dimensions", position)
        if reader.accept(","):
            form = _vector_format(reader)
        reader.expect(")")
    return ColumnType("VECTOR", f"vector({dimensions})" if dimensions else "vector", None, False, dimensions, form)


def _vector_format(reader: Reader) -> str:
    form = "*"
    if not reader.accept("*"):
        position, form = reader.position, reader.word()
        if form == "BINARY":
            raise unsupported("VECTOR columns of format BINARY", position)
        if form not in _FORMATS:
            raise OraError(51802, f"VECTOR column type specification has an invalid format: {form}", position)
        reader.advance()
    if reader.accept(","):
        if reader.sees("SPARSE"):
            raise unsupported("VECTOR columns of storage SPARSE", reader.position)
        if not (reader.accept("DENSE") or reader.accept("*")):
            reader.expect(")")
        if reader.sees(","):
            raise OraError(51800, "syntax error in a VECTOR column type specification", reader.position)
    return form
