"""What a result column is in Oracle's terms, told by PostgreSQL's type and type modifier.

The type modifier of VARCHAR2, NUMBER and VECTOR passes through subqueries, views, CASE and COALESCE, so that no
catalog is needed for it; nullability, vector format and declared lengths come from a note about the table column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from psycopg.pq.abc import PGresult

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.oids import Oids
from oraclerag.local.interface import Column, OraError, OraType, VectorFormat

_MODIFIER_HEAD = 4  # PostgreSQL adds the size of a length word to lengths and precisions
_RAW_SIZE = 2000
_FLOAT_PRECISION = 126  # binary digits
_FIXED_SIZES = {
    OraType.NUMBER: 22,
    OraType.DATE: 7,
    OraType.TIMESTAMP: 11,
    OraType.TIMESTAMP_TZ: 13,
    OraType.INTERVAL_DS: 11,
    OraType.BINARY_FLOAT: 4,
    OraType.BINARY_DOUBLE: 8,
    OraType.ROWID: 18,
    OraType.BOOLEAN: 1,
    OraType.JSON: 8200,
    OraType.VECTOR: 8200,
}
_SIMPLE = {
    pg.BOOL: OraType.BOOLEAN,
    pg.DATE: OraType.DATE,
    pg.FLOAT4: OraType.BINARY_FLOAT,
    pg.FLOAT8: OraType.BINARY_DOUBLE,
    pg.JSON: OraType.JSON,
    pg.JSONB: OraType.JSON,
    pg.TID: OraType.ROWID,
}


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """What a type does not say of a table column: nullability, vector format, length unit and length.

    ``chars`` says that the length of a VARCHAR2 counts characters; ``length`` is that of a RAW; ``is_float`` that a
    number was declared as FLOAT.
    """

    nullable: bool = True
    vector_format: VectorFormat | None = None
    chars: bool = False
    length: int | None = None
    is_float: bool = False


NO_NOTE = ColumnNote()
Notes = Callable[[int, int], ColumnNote]
"""(table OID, attribute number) to its note."""


def describe(
    result: PGresult,
    headings: Sequence[str | None] | None,
    name_of: Callable[[str], str],
    notes: Notes,
    own: Oids,
    string_limit: int,
) -> tuple[Column, ...]:
    """Describe the columns of a result.

    ``headings`` replace PostgreSQL's names where they are given; ``name_of`` gives a name for what PostgreSQL calls it.
    ``string_limit`` is MAX_STRING_SIZE in bytes, the length of text that has none. ORA-00932 for a type that Oracle
    has not.
    """
    count = result.nfields
    if headings is None or len(headings) != count:
        headings = [None] * count
    columns = []
    for place, heading in enumerate(headings):
        name = heading if heading is not None else name_of((result.fname(place) or b"").decode())
        table = result.ftable(place)
        note = notes(table, result.ftablecol(place)) if table else NO_NOTE
        columns.append(column(name, result.ftype(place), result.fmod(place), note, own, string_limit))
    return tuple(columns)


def column(name: str, oid: int, modifier: int, note: ColumnNote, own: Oids, string_limit: int) -> Column:
    """Describe one column."""
    nullable = note.nullable
    if oid == own.varchar2 or oid in pg.BUILT_IN_TEXTS or oid == pg.BPCHAR:
        return _text(name, oid, modifier, note, string_limit)
    if oid == pg.NUMERIC:
        precision, scale = _FLOAT_PRECISION if note.is_float else 0, -127
        if modifier >= _MODIFIER_HEAD:
            packed = modifier - _MODIFIER_HEAD
            precision, scale = packed >> 16 & 0xFFFF, ((packed & 0x7FF) ^ 1024) - 1024
        return Column(name, OraType.NUMBER, precision, scale, _FIXED_SIZES[OraType.NUMBER], 0, nullable)
    if oid in pg.INTEGERS:
        return Column(name, OraType.NUMBER, 0, -127, _FIXED_SIZES[OraType.NUMBER], 0, nullable)
    if oid == own.vector:
        form = VectorFormat.FLOAT32 if note.vector_format is None else note.vector_format
        size = _FIXED_SIZES[OraType.VECTOR]
        return Column(name, OraType.VECTOR, 0, 0, size, 0, nullable, max(modifier, 0), form)
    if oid in {own.clob, own.blob}:
        return Column(name, OraType.CLOB if oid == own.clob else OraType.BLOB, size=4000, nullable=nullable)
    if oid == pg.BYTEA:
        return Column(name, OraType.RAW, size=note.length or _RAW_SIZE, nullable=nullable)
    if oid in {pg.TIMESTAMP, pg.TIMESTAMPTZ}:
        kind = OraType.TIMESTAMP if oid == pg.TIMESTAMP else OraType.TIMESTAMP_TZ
        return Column(name, kind, 0, 6 if modifier < 0 else modifier, _FIXED_SIZES[kind], 0, nullable)
    if oid == pg.INTERVAL:
        return Column(name, OraType.INTERVAL_DS, 9, 6, _FIXED_SIZES[OraType.INTERVAL_DS], 0, nullable)
    simple = OraType.DATE if oid == own.odate else _SIMPLE.get(oid)
    if simple is None:
        raise OraError(932, f"inconsistent datatypes: the local database has no Oracle type for column {name}")
    return Column(name, simple, size=_FIXED_SIZES[simple], nullable=nullable)


def _text(name: str, oid: int, modifier: int, note: ColumnNote, string_limit: int) -> Column:
    kind = OraType.CHAR if oid == pg.BPCHAR else OraType.VARCHAR
    length = modifier - _MODIFIER_HEAD if modifier > _MODIFIER_HEAD else 0
    if not length:
        # '' and NULL literals have no length in Oracle either, but 0 would mean "always NULL" on the wire.
        length = 1 if kind is OraType.CHAR else string_limit
    size = min(length * 4, string_limit) if note.chars else length
    return Column(name, kind, size=size, chars=length, nullable=note.nullable)
