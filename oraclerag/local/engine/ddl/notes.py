"""Statements that write down what PostgreSQL's catalog does not keep of a column, a table, a view or an index."""

from __future__ import annotations

from oraclerag.local.engine.column_types import ColumnType
from oraclerag.local.engine.ddl.definitions import ColumnDefinition
from oraclerag.local.engine.ddl.table_options import PhysicalOptions
from oraclerag.local.engine.reader import literal, qualified
from oraclerag.local.interface import VectorFormat

_FORMATS = {
    "*": VectorFormat.FLEXIBLE,
    "FLOAT32": VectorFormat.FLOAT32,
    "FLOAT64": VectorFormat.FLOAT64,
    "INT8": VectorFormat.INT8,
}
_DERIVABLE = frozenset(
    {
        "VARCHAR2", "CHAR", "NUMBER", "DATE", "CLOB", "BLOB", "JSON", "VECTOR", "BOOLEAN", "BINARY_DOUBLE",
        "BINARY_FLOAT", "INTERVAL DAY(2) TO SECOND(6)",
        *(f"TIMESTAMP({n})" for n in range(7)), *(f"TIMESTAMP({n}) WITH TIME ZONE" for n in range(7)),
    }
)  # fmt: skip


def _text(value: str | None) -> str:
    return "NULL" if value is None else literal(value)


def declared(kind: ColumnType) -> str | None:
    """Give the declared type where PostgreSQL's type does not tell it."""
    if kind.name == "RAW":
        return f"RAW({kind.length})"
    if kind.name in {"NCHAR", "NVARCHAR2"}:
        return kind.name
    return None if kind.name in _DERIVABLE else kind.name


def length_unit(kind: ColumnType) -> str | None:
    """Give the unit of a text column's length."""
    if kind.length is None or kind.name == "RAW":
        return None
    return "CHAR" if kind.chars else "BYTE"


def column(schema: str, table: str, number: int, definition: ColumnDefinition, sequence: str | None) -> str | None:
    """Note a new column; None when there is nothing to note."""
    kind = definition.type
    if kind is None:
        return None
    form = int(_FORMATS[kind.format]) if kind.format is not None else None
    default = definition.default_source or None
    identity = definition.identity.kind if definition.identity is not None else None
    values = (length_unit(kind), declared(kind), default, identity)
    if form is None and not any(values):
        return None
    owned = "NULL" if sequence is None else f"{literal(sequence)}::regclass"
    return (
        "INSERT INTO ora.column_info (rel, number, length_unit, vector_format, declared, default_text, identity,"
        f" sequence) VALUES ({literal(qualified(schema, table))}::regclass, {number}, {_text(values[0])},"
        f" {'NULL' if form is None else form}, {_text(values[1])}, {_text(values[2])}, {_text(values[3])}, {owned})"
    )


def type_change(schema: str, table: str, number: int, kind: ColumnType) -> str:
    """Note the new type of a column."""
    form = "NULL" if kind.format is None else str(int(_FORMATS[kind.format]))
    unit, name = _text(length_unit(kind)), _text(declared(kind))
    return (
        "INSERT INTO ora.column_info (rel, number, length_unit, vector_format, declared)"
        f" VALUES ({literal(qualified(schema, table))}::regclass, {number}, {unit}, {form}, {name})"
        " ON CONFLICT (rel, number) DO UPDATE SET length_unit = excluded.length_unit,"
        " vector_format = excluded.vector_format, declared = excluded.declared"
    )


def default(schema: str, table: str, number: int, source: str | None) -> str:
    """Note the new default of a column."""
    return (
        "INSERT INTO ora.column_info (rel, number, default_text)"
        f" VALUES ({literal(qualified(schema, table))}::regclass, {number}, {_text(source)})"
        " ON CONFLICT (rel, number) DO UPDATE SET default_text = excluded.default_text"
    )


def check_source(schema: str, table: str, name: str, source: str) -> str:
    """Note the text of a check constraint as it was written."""
    return (
        "INSERT INTO ora.check_note (relation, name, source)"
        f" VALUES ({literal(qualified(schema, table))}::regclass, {literal(name)}, {literal(source)})"
        " ON CONFLICT (relation, name) DO UPDATE SET source = excluded.source"
    )


def storage(schema: str, name: str, options: PhysicalOptions) -> list[str]:
    """Note the physical clauses of a table or index, if there were any."""
    if options == PhysicalOptions():
        return []
    initrans, pctfree = options.initrans, options.pctfree
    return [
        (
            "INSERT INTO ora.storage_note (relation, ini_trans, pct_free, tablespace, logging)"
            f" VALUES ({literal(qualified(schema, name))}::regclass, {'NULL' if initrans is None else initrans},"
            f" {'NULL' if pctfree is None else pctfree}, {_text(options.tablespace)}, {options.logging})"
        )
    ]
