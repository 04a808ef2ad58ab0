"""What DDL asks the PostgreSQL catalog before it changes anything."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.column_types import normal_storage
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.reader import qualified
from oraclerag.local.interface import OraError

_KINDS = {"r": "TABLE", "v": "VIEW", "S": "SEQUENCE", "i": "INDEX"}


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column as the catalog holds it; ``storage`` is PostgreSQL's type with its modifier, without a schema."""

    number: int
    name: str
    storage: str
    not_null: bool
    identity: str | None
    generated: bool
    declared: str | None


@dataclass(frozen=True, slots=True)
class Key:
    """A primary or unique key: ``kind`` is ``p`` or ``u``."""

    name: str
    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key with the table that carries it and the one it refers to."""

    name: str
    schema: str
    table: str
    columns: tuple[str, ...]
    parent: tuple[str, str]
    on_delete: str


def object_kind(host: Host, schema: str, name: str) -> str | None:
    """Tell what a name is: TABLE, VIEW, INVALID VIEW, SEQUENCE, SYNONYM, INDEX, or None."""
    rows = host.ask(
        "SELECT c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = $1 AND c.relname = $2",
        stored(schema),
        stored(name),
    )
    if rows:
        return _KINDS.get(str(rows[0][0]), "TABLE")
    if host.ask("SELECT 1 FROM ora.synonyms WHERE owner = $1 AND name = $2", schema, name):
        return "SYNONYM"
    if host.ask("SELECT 1 FROM ora.invalid_views WHERE owner = $1 AND name = $2", schema, name):
        return "INVALID VIEW"
    return None


def require_table(host: Host, schema: str, name: str, *, position: int = 0) -> None:
    """Raise ORA-00942 unless the table exists."""
    if object_kind(host, schema, name) != "TABLE":
        raise missing(schema, name, position)


def missing(schema: str, name: str, position: int = 0) -> OraError:
    """Give ORA-00942 as 23ai words it."""
    return OraError(942, f'table or view "{schema}"."{name}" does not exist', position)


def require_schema(host: Host, schema: str) -> None:
    """Raise ORA-01918 unless the user exists."""
    if not host.ask("SELECT 1 FROM ora.users WHERE name = $1", schema):
        raise OraError(1918, f"user '{schema}' does not exist")


def columns(host: Host, schema: str, table: str) -> dict[str, StoredColumn]:
    """Give the columns of a table or view in order, by name."""
    rows = host.ask(
        "SELECT a.attnum::int, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, i.identity,"
        " a.attgenerated <> '', i.declared"
        " FROM pg_attribute a LEFT JOIN ora.column_info i ON i.rel = a.attrelid AND i.number = a.attnum"
        " WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        qualified(schema, table),
    )
    return {row[1]: StoredColumn(row[0], row[1], normal_storage(row[2]), *row[3:]) for row in rows}


def next_column_number(host: Host, schema: str, table: str) -> int:
    """Give the attribute number that the next added column will get (dropped ones keep theirs)."""
    rows = host.ask("SELECT relnatts::int FROM pg_class WHERE oid = $1::regclass", qualified(schema, table))
    return int(rows[0][0]) + 1


_CONSTRAINT_COLUMNS = (
    "(SELECT string_agg(ora.name_of(a.attname), chr(1) ORDER BY u.ord)"
    " FROM unnest(k.{keys}) WITH ORDINALITY u(att, ord)"
    " JOIN pg_attribute a ON a.attrelid = k.{rel} AND a.attnum = u.att)"
)


def keys(host: Host, schema: str, table: str) -> list[Key]:
    """Give the primary and unique keys of a table."""
    rows = host.ask(
        f"SELECT k.conname::text, k.contype::text, {_CONSTRAINT_COLUMNS.format(keys='conkey', rel='conrelid')}"
        " FROM pg_constraint k WHERE k.conrelid = $1::regclass AND k.contype IN ('p', 'u') ORDER BY k.contype, k.oid",
        qualified(schema, table),
    )
    return [Key(row[0], row[1], tuple(row[2].split("\1"))) for row in rows]


def constraint_kind(host: Host, schema: str, table: str, name: str) -> str | None:
    """Give the kind of a table's constraint: p, u, f, c, n, or None."""
    rows = host.ask(
        "SELECT contype::text FROM pg_constraint WHERE conrelid = $1::regclass AND conname = $2",
        qualified(schema, table),
        stored(name),
    )
    return str(rows[0][0]) if rows else None


def constraint_exists(host: Host, schema: str, name: str) -> bool:
    """Tell whether any table of the schema has a constraint of this name (Oracle's names are schema-wide)."""
    return bool(
        host.ask(
            "SELECT 1 FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND k.conname = $2",
            stored(schema),
            stored(name),
        )
    )


def foreign_keys(host: Host, schema: str, table: str, *, incoming: bool) -> list[ForeignKey]:
    """Give the foreign keys of a table, or (``incoming``) those of other tables that refer to it."""
    rows = host.ask(
        "SELECT k.conname::text, n.nspname::text, c.relname::text,"
        f" {_CONSTRAINT_COLUMNS.format(keys='conkey', rel='conrelid')},"
        " pn.nspname::text, p.relname::text, k.confdeltype::text"
        " FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace"
        " WHERE k.contype = 'f' AND "
        + ("k.confrelid = $1::regclass AND k.conrelid <> $1::regclass" if incoming else "k.conrelid = $1::regclass")
        + " ORDER BY k.oid",
        qualified(schema, table),
    )
    return [ForeignKey(r[0], r[1], r[2], tuple(r[3].split("\1")), (r[4], r[5]), r[6]) for r in rows]


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its table, whether it serves a key, whether it is a vector index."""

    schema: str
    name: str
    table: str
    of_key: bool
    vector: bool


def index(host: Host, schema: str, name: str) -> Index | None:
    """Find an index of a schema."""
    rows = host.ask(
        "SELECT t.relname::text, EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype IN"
        " ('p', 'u')), EXISTS (SELECT 1 FROM ora.vector_indexes v WHERE v.idx = c.oid)"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_index x ON x.indexrelid = c.oid"
        " JOIN pg_class t ON t.oid = x.indrelid WHERE n.nspname = $1 AND c.relname = $2",
        stored(schema),
        stored(name),
    )
    return Index(schema, name, rows[0][0], rows[0][1], rows[0][2]) if rows else None


def index_definitions(host: Host, schema: str, table: str) -> dict[str, str]:
    """Give the column list of every non-vector index of a table as PostgreSQL prints it, by index name."""
    rows = host.ask(
        "SELECT i.relname::text, (SELECT string_agg(pg_get_indexdef(x.indexrelid, k, false)"
        " || CASE WHEN (x.indoption::int2[])[k - 1] & 1 = 1 THEN ' DESC' ELSE '' END, ', ' ORDER BY k)"
        " FROM generate_series(1, x.indnatts::int) k)"
        " FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
        " WHERE x.indrelid = $1::regclass AND i.relname NOT LIKE '%$NULLS'"
        " AND NOT EXISTS (SELECT 1 FROM ora.vector_indexes v WHERE v.idx = x.indexrelid)",
        qualified(schema, table),
    )
    return {row[0]: row[1] for row in rows}


def has_rows(host: Host, schema: str, table: str) -> bool:
    """Tell whether a table holds anything."""
    return bool(host.ask(f"SELECT 1 FROM {qualified(schema, table)} LIMIT 1"))


def system_name(host: Host) -> str:
    """Make a name for an unnamed constraint."""
    return f"SYS_C{host.ask('SELECT nextval($1)::int', 'ora.system_names')[0][0]:08d}"
