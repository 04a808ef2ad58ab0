"""A table that a trigger stands on: its columns, and what else of the dictionary matters there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import oracledb

from oraclerag.database import driver_types, translated
from oraclerag.errors import ConfigurationError, SourceError, StatementFailed
from oraclerag.source.dictionary import Dictionary, Named
from oraclerag.source.keys import Key, KeyColumn
from oraclerag.statements import Statements

__all__ = ["Column", "Table", "described", "read_table", "table_named"]

# Their values can be compared in PL/SQL. Not TIMESTAMP WITH TIME ZONE: an instant is equal to itself in another zone.
_COMPARED = (
    "VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "NUMBER", "FLOAT", "DATE", "TIMESTAMP", "INTERVAL", "RAW",
    "BINARY_FLOAT", "BINARY_DOUBLE", "BOOLEAN",
)  # fmt: skip
_TEXTS = ("VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``length`` is in bytes."""

    name: str
    kind: str
    length: int
    virtual: bool

    @property
    def sql(self) -> str:
        """The name as a statement has it."""
        return f'"{self.name}"'

    @property
    def literal(self) -> str:
        """The name as a text of SQL: it may hold an apostrophe."""
        return "'" + self.name.replace("'", "''") + "'"

    @property
    def compared(self) -> bool:
        """Whether its old and new value can be compared; a LOB's or JSON's cannot, or at a price that nobody knows."""
        return self.kind.partition("(")[0].partition(" ")[0] in _COMPARED and "TIME ZONE" not in self.kind

    @property
    def text(self) -> bool:
        """Whether comparing it depends on how the session compares texts."""
        return self.kind in _TEXTS


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns, and the driver's types of those that a SELECT with a star gives.

    ``changed_along`` are tables whose rows its DELETE changes, ``changed_by`` those whose DELETE changes its rows (if
    ``set_null``, by an UPDATE too); ``changing`` are triggers that may change a value which no UPDATE names.
    """

    named: Named
    columns: Mapping[str, Column]
    kinds: Mapping[str, oracledb.DbType]
    changed_along: frozenset[tuple[str, str]]
    changed_by: frozenset[tuple[str, str]]
    set_null: bool
    changing: tuple[str, ...]
    place: str

    @property
    def sql(self) -> str:
        """Owner and name as a statement has them."""
        return f'"{self.named.owner}"."{self.named.name}"'

    def key_column(self, name: str) -> KeyColumn:
        """Give a column whose value can be bound or be an id; raises ConfigurationError or SourceError."""
        if name not in self.kinds:
            raise ConfigurationError(f"{self.place} has no column {name}.")
        return Key.exactly([name], self.kinds, self.place).columns[0]


def read_table(connection: oracledb.Connection, named: Named, place: str) -> Table:
    """Ask the dictionary for a table; the places of a message begin with ``place``."""
    kinds = described(connection, f'SELECT t.* FROM "{named.owner}"."{named.name}" t WHERE 1 = 0', {}, place)
    statements = Statements("triggers", "NONE")
    with connection.cursor() as cursor, driver_types(connection), translated():

        def rows(statement: str, **more: str) -> list[tuple[str, ...]]:
            cursor.execute(statements[statement], {"owner": named.owner, "table_name": named.name} | more)
            found: list[tuple[str, ...]] = cursor.fetchall()
            return found

        columns = {
            name: Column(name, kind, int(length), virtual == "YES") for name, kind, length, virtual in rows("columns")
        }
        set_null = int(rows("set_null")[0][0]) > 0
        changing = tuple(name for (name,) in rows("changing_triggers"))

        def related(statement: str) -> frozenset[tuple[str, str]]:
            """Follow the foreign keys over any number of steps."""
            found: set[tuple[str, str]] = set()
            todo = [(named.owner, named.name)]
            while todo:
                owner, name = todo.pop()
                cursor.execute(statements[statement], owner=owner, table_name=name)
                new = {(row[0], row[1]) for row in cursor} - found
                found |= new
                todo += new
            return frozenset(found)

        return Table(named, columns, kinds, related("changed_along"), related("changed_by"), set_null, changing, place)


def described(
    connection: oracledb.Connection, statement: str, binds: Mapping[str, None], place: str
) -> dict[str, oracledb.DbType]:
    """Give the columns of a query with the driver's types. Raises SourceError where the database refuses it."""
    try:
        with connection.cursor() as cursor, translated():
            cursor.execute(statement, dict(binds))
            return {column[0]: column[1] for column in cursor.description}
    except StatementFailed as error:
        raise SourceError(f"{place} cannot be described: {error.message}") from error


def table_named(dictionary: Dictionary, found: Named | None, place: str) -> Named:
    """Give a table that can have a row trigger, or say why there is none."""
    if found is None:
        raise SourceError(
            f"{place} is not there, or not for this user.",
            hint="A table in another database cannot have a trigger that enqueues here.",
        )
    if found.kind == "VIEW":
        behind = ", ".join(map(str, dictionary.tables_behind(found)))
        raise ConfigurationError(
            f"{place} is a view, and only tables have row triggers (ORA-25001).",
            hint=f"Write an entry for each table that it reads{f': {behind}' if behind else ''}.",
        )
    return found
