"""Triggers that announce changes of a source's tables by themselves, whoever makes them.

A source's ``tables`` say which entities a changed row concerns. Columns of the row itself make one announcement, in
the lane of changes; a query (the tasks of a renamed sprint) fans out in the bulk lane. An update announces what
the row belonged to and what it belongs to now. All of it is part of the transaction that makes the change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import oracledb

from oraclerag.database import Database, translated
from oraclerag.errors import ConfigurationError, SourceError, StatementFailed
from oraclerag.source import Source
from oraclerag.source.check import tables_read
from oraclerag.source.keys import Key, KeyColumn, tenant_expression
from oraclerag.statements import Statements, identifier, quoted

__all__ = ["apply", "triggers"]

_COLUMNS = re.compile(r"[A-Za-z][A-Za-z0-9_$#]*(?:\s*,\s*[A-Za-z][A-Za-z0-9_$#]*)*")
# A string or comment, or a bind; what is inside a string is none.
_BIND = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*|/\*.*?\*/|:([A-Za-z][A-Za-z0-9_$#]*)""", re.DOTALL)
_LONGEST_NAME = 60


def triggers(database: Database, sources: Sequence[Source]) -> list[str]:
    """Give the statements that create the triggers of the sources, without a final slash.

    Tables and queries are described in the database. Raises ConfigurationError where an entry cannot become a trigger.
    """
    with database.connect() as connection:
        return [text for source in sources for _, text in _triggers(connection, database.schema, source)]


def apply(database: Database, sources: Sequence[Source]) -> list[str]:
    """Create the triggers, replacing those of the same name; gives the statements.

    Every statement commits by itself. Raises StatementFailed where one cannot be compiled, which leaves it invalid.
    """
    done = []
    with database.connect() as connection:
        for source in sources:
            for name, text in list(_triggers(connection, database.schema, source)):
                with connection.cursor() as cursor, translated():
                    cursor.execute(text)
                    warning = cursor.warning
                if warning is not None:
                    raise StatementFailed(
                        f"The trigger {name} was created with errors ({str(warning).partition(chr(10))[0]}).",
                        hint="SELECT LINE, TEXT FROM ALL_ERRORS says which; the owner of the table needs INSERT on "
                        "RAG_ENQUEUE, granted directly and not through a role.",
                    )
                done.append(text)
    return done


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that a source depends on, with its columns by upper-case name."""

    name: str
    columns: Mapping[str, oracledb.DbType]
    place: str

    def column(self, name: str) -> KeyColumn:
        """Give a column; raises ConfigurationError where there is none, or where it has no text."""
        return Key.of([name], self.columns, self.place).columns[0]


def _triggers(connection: oracledb.Connection, schema: str, source: Source) -> Iterator[tuple[str, str]]:
    for table_name, concerned in source.settings.tables.items():
        place = f"The table {table_name.upper()} of source {source.name!r}"
        owned = ".".join(quoted(part) for part in table_name.split("."))
        table = _Table(table_name, _described(connection, f"SELECT t.* FROM {owned} t WHERE 1 = 0", {}, place), place)
        if _COLUMNS.fullmatch(concerned.strip()):
            columns = [identifier(part.strip()) for part in concerned.split(",")]
            changed, inserts = _by_columns(schema, source, table, columns)
            only_updates = False
        else:
            query = concerned.strip().rstrip(";")
            changed, inserts = _by_query(connection, schema, source, table, query)
            # What is deleted or set to NULL along with a row cannot be read, and announces itself by its own trigger.
            along = _deleted_along(connection, schema, table_name.upper().rpartition(".")[2])
            only_updates = not along.isdisjoint(name.rpartition(".")[2] for name in tables_read(query))
        name = _name(source.name, table_name)
        *owner, _ = table_name.split(".")
        full = ".".join(quoted(part) for part in (*owner, name))
        yield name, _text(full, owned, changed, inserts, only_updates=only_updates)


def _deleted_along(connection: oracledb.Connection, schema: str, table: str) -> set[str]:
    """Give the tables whose rows a DELETE on this one deletes or sets to NULL, over any number of steps."""
    statement = Statements("triggers", schema)["deleted_along"]
    found: set[str] = set()
    todo = [table]
    with connection.cursor() as cursor, translated():
        while todo:
            cursor.execute(statement, table_name=todo.pop())
            new = {row[0] for row in cursor} - found
            found |= new
            todo += new
    return found


def _text(name: str, table: str, changed: Sequence[str], inserts: Mapping[str, str], *, only_updates: bool) -> str:
    new = " AND ".join(f":NEW.{column} IS NOT NULL" for column in changed)
    old = " AND ".join(f":OLD.{column} IS NOT NULL" for column in changed)
    before = "UPDATING AND " if only_updates else ""
    other = " OR ".join(f":NEW.{column} IS NULL OR :NEW.{column} <> :OLD.{column}" for column in changed)
    return (
        f"CREATE OR REPLACE TRIGGER {name}\n"
        f"AFTER INSERT OR UPDATE OR DELETE ON {table}\n"
        f"FOR EACH ROW\n"
        f"BEGIN\n"
        f"  IF {new} THEN\n{inserts[':NEW']}\n  END IF;\n"
        f"  IF {before}{old} AND ({other}) THEN\n{inserts[':OLD']}\n  END IF;\n"
        f"END;"
    )


def _by_columns(schema: str, source: Source, table: _Table, columns: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    if len(columns) != len(source.settings.key):
        raise ConfigurationError(
            f"{table.place} names {len(columns)} columns, but the key of the source has {len(source.settings.key)}."
        )
    key = Key(tuple(table.column(name) for name in columns))
    tenant = None
    if source.settings.tenant is not None:
        tenant = identifier(source.settings.tenant)
        if tenant not in table.columns:
            raise ConfigurationError(
                f"{table.place} has no column {tenant}, and the source maps a tenant.",
                hint="Write a query that gives the id and the tenant of the entities that a row concerns.",
            )
    inserts = {}
    for row in (":NEW", ":OLD"):
        names, values = ["SOURCE_TYPE", "SOURCE_ID"], [f"'{source.name}'", key.expression(row)]
        if tenant is not None:
            names.append("TENANT_ID")
            values.append(tenant_expression(f"{row}.{quoted(tenant)}", table.columns[tenant]))
        inserts[row] = (
            f"    INSERT INTO {quoted(schema)}.RAG_ENQUEUE ({', '.join(names)}, LANE)\n"
            f"    VALUES ({', '.join(values)}, 0);"
        )
    return [quoted(name) for name in columns], inserts


def _by_query(
    connection: oracledb.Connection, schema: str, source: Source, table: _Table, query: str
) -> tuple[list[str], dict[str, str]]:
    used = list(dict.fromkeys(match.group(1).upper() for match in _BIND.finditer(query) if match.group(1)))
    if not used:
        raise ConfigurationError(
            f"{table.place} has a query that does not use the changed row.", hint="Name its columns as binds: :id."
        )
    for name in used:
        table.column(name)
    if table.name.upper().rpartition(".")[2] in {name.rpartition(".")[2] for name in tables_read(query)}:
        raise ConfigurationError(
            f"{table.place} has a query that reads the table itself, which a row trigger may not (ORA-04091).",
            hint="Enqueue these entities from the program that changes the table.",
        )
    wanted = len(source.settings.key) + (source.settings.tenant is not None)
    binds = dict.fromkeys(name.lower() for name in used)
    columns = _described(connection, f"SELECT q.* FROM (\n{query}\n) q WHERE 1 = 0", binds, table.place)
    if len(columns) != wanted:
        raise ConfigurationError(
            f"{table.place} has a query that gives {len(columns)} columns, but must give {wanted}: the key"
            f"{' and the tenant' if source.settings.tenant is not None else ''}."
        )
    names = list(columns)
    key = Key.of(names[: len(source.settings.key)], columns, table.place)
    targets, values = ["SOURCE_TYPE", "SOURCE_ID"], [f"'{source.name}'", key.expression("q")]
    if source.settings.tenant is not None:
        targets.append("TENANT_ID")
        values.append(tenant_expression(f"q.{quoted(names[-1])}", columns[names[-1]]))
    # a row without an id would break the statement of whoever changes the table (ORA-01400)
    there = " AND ".join(f"{column.expression('q')} IS NOT NULL" for column in key.columns)
    inserts = {}
    for row in (":NEW", ":OLD"):
        text = _bound(query, row)
        inserts[row] = (
            f"    INSERT INTO {quoted(schema)}.RAG_ENQUEUE ({', '.join(targets)}, LANE)\n"
            f"    SELECT {', '.join(values)}, 1 FROM (\n{text}\n    ) q\n    WHERE {there};"
        )
    return [quoted(name) for name in used], inserts


def _bound(query: str, row: str) -> str:
    """Put the columns of ``:NEW`` or ``:OLD`` where a query has binds."""
    return _BIND.sub(lambda match: f"{row}.{quoted(match.group(1))}" if match.group(1) else match.group(), query)


def _described(
    connection: oracledb.Connection, statement: str, binds: Mapping[str, None], place: str
) -> dict[str, oracledb.DbType]:
    try:
        with connection.cursor() as cursor, translated():
            cursor.execute(statement, dict(binds))
            return {column[0].upper(): column[1] for column in cursor.description}
    except StatementFailed as error:
        raise SourceError(f"{place} cannot be described: {error.message}") from error


def _name(source: str, table: str) -> str:
    name = f"RAG_{source}_{table.rpartition('.')[2]}_TRG".upper()
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8].upper()}"
