"""Describing a table and what is around it, by the data dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

import oracledb

from oraclerag.database import driver_types, translated
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.propose.described import Column, Reference, Surroundings, Table, TableId
from oraclerag.propose.names import table_name
from oraclerag.source.dictionary import Dictionary, Named
from oraclerag.source.reads import TableName
from oraclerag.statements import Statements, qualified

__all__ = ["COUNTED", "rows_of", "surroundings"]

_RELATED = 24
"""Tables around one that are described, at most: the nearest of a model with hundreds of foreign keys."""

COUNTED = 1_000_000
"""Rows that are counted, at most, where statistics say nothing."""

_STALE = 100_000  # fewer rows are counted: statistics of a table that was empty once say 0 for ever


def surroundings(connection: oracledb.Connection, written: str) -> Surroundings:
    """Describe a table, given as ``NAME`` or ``OWNER.NAME``, each plain or in ``"…"``, or as a synonym.

    Raises InputError where there is none that the user sees.
    """
    try:
        name = TableName(*qualified(written, "a table"))
    except ConfigurationError as error:
        raise InputError(error.message) from None
    named = Dictionary(connection).find(name)
    if named is None:
        raise InputError(
            f"There is no table or view {written}, or this user does not see it.",
            hint="Name the owner (HR.EMPLOYEES), put a name that is not in upper case into quotes ('\"name\"'), or "
            "have READ granted on it.",
        )
    table = _table(connection, named)
    parents = _references(connection, "refers_to", table.id)
    children = _references(connection, "referred_to_by", table.id)
    related: dict[TableId, Table] = {}
    for other in [*(one.parent for one in parents), *(one.child for one in children)]:
        if other != table.id and other not in related and len(related) < _RELATED:
            related[other] = _table(connection, Named(*other, "TABLE"))
    return Surroundings(
        table,
        str(_rows(connection, "current_schema")[0][0]),
        parents,
        children,
        MappingProxyType({key: found for key, found in related.items() if found.columns}),
    )


def rows_of(connection: oracledb.Connection, table: Table, schema: str) -> tuple[int, str]:
    """Give about how many rows a table has, and how that is known; no more than a million are counted."""
    known = None
    if table.kind == "TABLE":
        found = _rows(connection, "statistics", owner=table.id[0], table_name=table.name)
        known = int(found[0][0]) if found and found[0][0] is not None else None
    if known is not None and known > _STALE:
        return known, "by the table's statistics"
    with connection.cursor() as cursor, translated():
        cursor.execute(
            f"SELECT COUNT(*) FROM (SELECT 1 AS ONE FROM {table_name(table.id, schema)} t "
            f"FETCH FIRST :how_many ROWS ONLY) q",
            how_many=COUNTED + 1,
        )
        row = cursor.fetchone()
    counted = int(row[0]) if row is not None else 0
    return (COUNTED, "more than that, and no statistics") if counted > COUNTED else (counted, "counted")


def _table(connection: oracledb.Connection, named: Named) -> Table:
    place = {"owner": named.owner, "table_name": named.name}
    columns = tuple(
        Column(name, kind, int(length or 0), nullable == "N", comment)
        for name, kind, length, nullable, comment in _rows(connection, "columns", **place)
    )
    remark = _rows(connection, "remark", **place)
    primary: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = []
    for (kind, _), rows in groupby(_rows(connection, "keys", **place), lambda row: (row[0], row[1])):
        key = tuple(row[2] for row in rows)
        if kind == "P":
            primary = key
        else:
            unique.append(key)
    for _, rows in groupby(_rows(connection, "unique_indexes", **place), lambda row: row[0]):
        unique.append(tuple(row[1] for row in rows))
    required = {column.name for column in columns if column.required}
    usable = dict.fromkeys(key for key in unique if set(key) <= required and key != primary)
    return Table(
        (named.owner, named.name),
        "VIEW" if named.kind == "VIEW" else "TABLE",
        remark[0][0] if remark else None,
        columns,
        primary,
        tuple(sorted(usable, key=len)),
    )


def _references(connection: oracledb.Connection, statement: str, table: TableId) -> tuple[Reference, ...]:
    rows = _rows(connection, statement, owner=table[0], table_name=table[1])
    return tuple(_reference(list(found)) for _, found in groupby(rows, lambda row: tuple(row[:3])))


def _reference(rows: Sequence[Sequence[Any]]) -> Reference:
    owner, name, constraint, rule, parent_owner, parent = rows[0][:6]
    return Reference(
        constraint,
        (owner, name),
        tuple(row[6] for row in rows),
        (parent_owner, parent),
        tuple(row[7] for row in rows),
        rule,
    )


def _rows(connection: oracledb.Connection, statement: str, **binds: str) -> list[Any]:
    with connection.cursor() as cursor, driver_types(connection), translated():
        cursor.arraysize = cursor.prefetchrows = 1000
        cursor.execute(Statements("propose", "NONE")[statement], binds)
        rows: Iterable[Any] = cursor.fetchall()
        return list(rows)
