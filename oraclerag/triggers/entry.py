"""An entry under ``tables``: which entities a changed row concerns, as the INSERT of a trigger.

Columns of the row itself make one announcement; a query may give many, and reads other tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import oracledb

from oraclerag.errors import ConfigurationError
from oraclerag.records import MAX_ID_BYTES
from oraclerag.source import Source
from oraclerag.source.dictionary import Dictionary, Named
from oraclerag.source.keys import PADDED, TEXT_KINDS, Key, tenant_expression
from oraclerag.source.reads import bind_spans, columns_read, is_query, reads
from oraclerag.statements import quoted
from oraclerag.triggers.table import Table, described

__all__ = ["LANE", "Entry", "read_entry"]

LANE = "rag_lane"
"""The variable of a trigger that says in which lane a query's entities are announced."""

_NAME = r'(?:[A-Za-z][A-Za-z0-9_$#]*|"[^"]+")'
_COLUMNS = re.compile(rf"{_NAME}(?:\s*,\s*{_NAME})*")
_TENANT_BYTES = 128


@dataclass(frozen=True, slots=True)
class Entry:
    """What a trigger does for one entry.

    ``columns`` are those of the row that decide whom it concerns: when one of them changes, the old row concerns others
    than the new one. ``inserts`` holds the INSERT for ``:NEW`` and for ``:OLD``, ``there`` what must hold for it.
    ``reads`` are the tables that a query reads (None: columns).
    """

    columns: tuple[str, ...]
    inserts: Mapping[str, str]
    there: Mapping[str, str]
    reads: frozenset[Named] | None


def read_entry(
    connection: oracledb.Connection, dictionary: Dictionary, schema: str, source: Source, table: Table, text: str
) -> Entry:
    """Make an entry of its text. Raises ConfigurationError or SourceError where that is not possible."""
    text = text.strip().rstrip(";").rstrip()
    if is_query(text):
        return _by_query(connection, dictionary, schema, source, table, text)
    if not _COLUMNS.fullmatch(text):
        raise ConfigurationError(
            f"{table.place} has an entry that is neither a list of columns nor a query.",
            hint='Name the column that holds the id, or write a query: "select id from … where … = :id".',
        )
    names = [part[1:-1] if part.startswith('"') else part.upper() for part in re.findall(_NAME, text)]
    return _by_columns(dictionary, schema, source, table, names)


def _by_columns(dictionary: Dictionary, schema: str, source: Source, table: Table, names: Sequence[str]) -> Entry:
    if len(names) != len(source.settings.key):
        raise ConfigurationError(
            f"{table.place} names {len(names)} columns, but the key of the source has {len(source.settings.key)}."
        )
    key = Key(tuple(table.key_column(name) for name in names))
    changing = list(names)
    tenant = None
    if source.settings.tenant is not None:
        tenant = _tenant_column(dictionary, source, table)
        changing.append(tenant)
    inserts, there = {}, {}
    for row in (":NEW", ":OLD"):
        targets, values = ["SOURCE_TYPE", "SOURCE_ID"], [f"'{source.name}'", key.expression(row)]
        value = None
        if tenant is not None:
            value = tenant_expression(f'{row}."{tenant}"', table.kinds[tenant])
            targets.append("TENANT_ID")
            values.append(value)
        inserts[row] = (
            f"INSERT INTO {quoted(schema)}.RAG_ENQUEUE ({', '.join(targets)}, LANE)\nVALUES ({', '.join(values)}, 0);"
        )
        sizes = {name: column.length for name, column in table.columns.items()}
        there[row] = _there(key, row, value, sizes, table.columns[tenant].length if tenant is not None else 0)
    return Entry(tuple(changing), inserts, there, None)


def _tenant_column(dictionary: Dictionary, source: Source, table: Table) -> str:
    """Give the column with the tenant: the one that the select gives as tenant, else one of that name.

    Raises ConfigurationError where the table has none.
    """
    name = str(source.settings.tenant).upper()
    found = reads(source.settings.select)
    if len([mention for mention in found.mentions if mention.feeds == name]) == 1:  # a column, and no expression
        used = columns_read(found, lambda other: dictionary.find(other) == table.named, table.kinds) or {}
        own = [column for column, feeds in used.items() if name in feeds]
        if len(own) == 1:
            return own[0]
    if name not in table.kinds:
        raise ConfigurationError(
            f"{table.place} has no column {name}, and the source maps a tenant.",
            hint="Write a query that gives the id and the tenant of the entities that a row concerns.",
        )
    return name


def _by_query(
    connection: oracledb.Connection, dictionary: Dictionary, schema: str, source: Source, table: Table, query: str
) -> Entry:
    spans = bind_spans(query)
    used = list(dict.fromkeys(name for _, _, name in spans))
    if not used:
        raise ConfigurationError(
            f"{table.place} has a query that does not use the changed row.", hint="Name its columns as binds: :id."
        )
    for name in used:
        table.key_column(name)
    found = reads(query)
    if found.unclear:
        raise ConfigurationError(
            f"{table.place} has a query that is not understood: {found.unclear[0]}.",
            hint="What it reads must be known: a row trigger may not read tables that are being changed (ORA-04091).",
        )
    read = frozenset(dictionary.read_by(found))
    if table.named in read:
        raise ConfigurationError(
            f"{table.place} has a query that reads the table itself, which a row trigger may not (ORA-04091).",
            hint="Enqueue these entities from the program that changes the table: rag.enqueue, or rag.track with a key "
            "that gives them.",
        )
    tenants = source.settings.tenant is not None
    wanted = len(source.settings.key) + tenants
    shown, number = [], {name: f"b{at}" for at, name in enumerate(used)}
    last = 0
    for start, end, name in spans:  # a bind may be quoted, and a word that is no name of a bind elsewhere
        shown += [query[last:start], f":{number[name]}"]
        last = end
    text = "".join([*shown, query[last:]])
    columns = described(
        connection, f"SELECT q.* FROM (\n{text}\n) q WHERE 1 = 0", dict.fromkeys(number.values()), table.place
    )
    if len(columns) != wanted:
        raise ConfigurationError(
            f"{table.place} has a query that gives {len(columns)} columns, but must give {wanted}: the key"
            f"{' and the tenant' if tenants else ''}."
        )
    names = list(columns)
    for name in names:
        if not re.fullmatch(_NAME, name):
            raise ConfigurationError(
                f"{table.place} has a query with a column that has no name.", hint="Give it one: … as id."
            )
    key = Key.exactly(names[: len(source.settings.key)], columns, table.place)
    targets, values = ["SOURCE_TYPE", "SOURCE_ID"], [f"'{source.name}'", key.expression("q")]
    value = None
    if tenants:
        value = tenant_expression(f'q."{names[-1]}"', columns[names[-1]])
        targets.append("TENANT_ID")
        values.append(value)
    # How long a query's texts may be is not described reliably: their length is always looked at.
    there = _there(key, "q", value, dict.fromkeys(columns, 4000), 4000)
    inserts = {
        row: (
            f"INSERT INTO {quoted(schema)}.RAG_ENQUEUE ({', '.join(targets)}, LANE)\n"
            f"SELECT DISTINCT {', '.join(values)}, {LANE} FROM (\n{_bound(query, row)}\n) q\nWHERE {there};"
        )
        for row in (":NEW", ":OLD")
    }
    return Entry(tuple(used), inserts, dict.fromkeys(inserts, ""), read)


def _there(key: Key, alias: str, tenant: str | None, sizes: Mapping[str, int], tenant_size: int) -> str:
    """Give what must hold for a row to have an id, and a tenant where there are any, that the queue can hold.

    Without that the statement of whoever changes the table would fail: ORA-01400, ORA-12899. Such a row is never
    indexed, so nobody has to hear of it; one that loses its id or tenant is announced as what it was.
    """
    conditions = [
        f"{column.expression(alias) if column.kind in PADDED else f'{alias}.{chr(34)}{column.name}{chr(34)}'} "
        f"IS NOT NULL"
        for column in key.columns
    ]
    longest = sum(_length(column.kind, sizes[column.name]) for column in key.columns) + len(key.columns) - 1
    if longest > MAX_ID_BYTES:
        conditions.append(f"LENGTHB({key.expression(alias)}) <= {MAX_ID_BYTES}")
    if tenant is not None:
        conditions.append(f"{tenant} IS NOT NULL")
        if tenant_size > _TENANT_BYTES:
            conditions.append(f"LENGTHB({tenant}) <= {_TENANT_BYTES}")
    return " AND ".join(conditions)


def _length(kind: oracledb.DbType, size: int) -> int:
    """Give how many bytes the text of a column can have."""
    if kind in TEXT_KINDS:
        return size
    return size * 2 if kind is oracledb.DB_TYPE_RAW else 64


def _bound(query: str, row: str) -> str:
    """Put the columns of ``:NEW`` or ``:OLD`` where a query has binds."""
    pieces, last = [], 0
    for start, end, name in bind_spans(query):
        pieces += [query[last:start], f'{row}."{name}"']
        last = end
    return "".join([*pieces, query[last:]])
