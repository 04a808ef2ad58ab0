"""What names in a SELECT stand for: tables, and the tables behind synonyms and views, by the data dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import oracledb

from oraclerag.database import driver_types, translated
from oraclerag.source.reads import Reads, TableName
from oraclerag.statements import Statements

__all__ = ["Dictionary", "Named"]

_LONGEST_CHAIN = 20  # of synonyms, which may go in a circle (ORA-01775)


@dataclass(frozen=True, slots=True)
class Named:
    """An object that rows are read from: TABLE, VIEW or MATERIALIZED VIEW."""

    owner: str
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


@dataclass(slots=True)
class Dictionary:
    """Asks the dictionary on one connection, and remembers: names are read in its current schema."""

    connection: oracledb.Connection
    _known: dict[TableName, Named | None] = field(default_factory=dict)
    _behind: dict[Named, tuple[Named, ...]] = field(default_factory=dict)

    def find(self, name: TableName) -> Named | None:
        """Give what a name stands for, through synonyms; None where the user sees nothing of that name."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def tables(self, name: TableName) -> tuple[Named, ...]:
        """Give the tables that rows of a name come from: itself, or what a view reads; empty where that is not seen."""
        found = self.find(name)
        return () if found is None else self.tables_behind(found)

    def tables_behind(self, found: Named) -> tuple[Named, ...]:
        """Give the object itself where it is a table, else the tables that the view reads, over any number of views."""
        if found.kind != "VIEW":
            return (found,)
        if found not in self._behind:
            self._behind[found] = ()  # a view cannot read itself, but a synonym can go wrong
            named = [table for item in self._view_reads(found) for table in self.tables(item)]
            self._behind[found] = tuple(dict.fromkeys(named))
        return self._behind[found]

    def read_by(self, select: Reads) -> dict[Named, TableName]:
        """Give the tables that a SELECT reads, each with the name by which it stands there (of the view, if any)."""
        found: dict[Named, TableName] = {}
        for name in select.tables:
            for table in self.tables(name):
                found.setdefault(table, name)
        return found

    def _find(self, name: TableName) -> Named | None:
        for _ in range(_LONGEST_CHAIN):
            rows = self._rows("object", owner=name.owner, object_name=name.name)
            if rows and rows[0][2] != "SYNONYM":
                return Named(rows[0][0], rows[0][1], str(rows[0][2]))
            if rows:
                rows = self._rows("synonym", owner=rows[0][0], object_name=name.name)
            elif name.owner is None:
                rows = self._rows("synonym", owner="PUBLIC", object_name=name.name)
            if not rows or rows[0][2] is not None:  # a synonym for something in another database
                return None
            name = TableName(rows[0][0], rows[0][1])
        return None

    def _view_reads(self, view: Named) -> Iterator[TableName]:
        for owner, name, _ in self._rows("view_reads", owner=view.owner, object_name=view.name):
            yield TableName(owner, name)

    def _rows(self, statement: str, **binds: str | None) -> list[tuple[str, str, str | None]]:
        with self.connection.cursor() as cursor, driver_types(self.connection), translated():
            cursor.execute(Statements("source", "NONE")[statement], binds)
            found: list[tuple[str, str, str | None]] = cursor.fetchall()
            return found
