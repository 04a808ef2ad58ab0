"""A source over a table of the toolkit itself: it comes with every installation and is not configured.

Its rows say whose they are, so it maps tenants; that alone does not make an installation one of several tenants.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import oracledb

from oraclerag.config import Settings, SourceSettings
from oraclerag.database import driver_types, in_list, own_tables, parts
from oraclerag.errors import EntityError, OracleRagError
from oraclerag.records import Document
from oraclerag.source.base import Source, SourceProblem, SourceRead
from oraclerag.statements import Statements

__all__ = ["OwnTable"]

# The ids are identities, NUMBER(19).
_DIGITS = 19


class OwnTable(Source):
    """A table whose rows are entities, named by a NUMBER; ``schema_on`` gives its owner for a connection.

    A subclass names its statements in sql/statements/source.sql: ``rows`` by id (the id is the first column), ``keys``
    of all and their tenants, and ``used``, whether there is any, or any chunk of one that is gone.
    """

    built_in = True
    rows: ClassVar[str]
    keys: ClassVar[str]
    used: ClassVar[str]

    def __init__(
        self, own: SourceSettings, settings: Settings, *, schema_on: Callable[[oracledb.Connection], str]
    ) -> None:
        super().__init__(own, maps_tenant=True, default_tenant=settings.tenant)
        self._schema_on = schema_on

    @abc.abstractmethod
    def document(self, row: Sequence[Any]) -> Document:
        """Make the document of a row of the statement ``rows``. Raises EntityError where that cannot be."""

    def read_each(self, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        """See :meth:`Source.read_each`."""
        documents: dict[str, Document] = {}
        failures: dict[str, OracleRagError] = {}
        numbers = [int(one) for one in ids if one.isascii() and one.isdigit() and len(one) <= _DIGITS]
        wanted = set(ids)
        for part in parts(numbers):
            listed, binds = in_list(part)
            statement = self._statements(connection).with_names(self.rows, ids=listed)
            with connection.cursor() as cursor, driver_types(connection), own_tables():
                cursor.arraysize = cursor.prefetchrows = len(binds) + 1
                cursor.execute(statement, binds, fetch_lobs=False)
                rows = cursor.fetchall()
            for row in rows:
                key = str(row[0])
                if key not in wanted:  # 007 is no id of 7
                    continue
                try:
                    documents[key] = self.completed(self.document(row))
                except EntityError as error:
                    failures[key] = error
        return SourceRead(documents, failures)

    def verify(self, connection: oracledb.Connection) -> None:
        """See :meth:`Source.verify`: the table is the toolkit's own; whether it can be read."""
        self.in_use(connection)

    def in_use(self, connection: oracledb.Connection) -> bool:
        """See :meth:`Source.in_use`."""
        with connection.cursor() as cursor, own_tables():
            cursor.execute(self._statements(connection)[self.used], source_type=self.name)
            return cursor.fetchone() is not None

    def enumeration(self, connection: oracledb.Connection) -> str:
        """See :meth:`Source.enumeration`."""
        return self._statements(connection)[self.keys]

    def check(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """See :meth:`Source.check`: the table can be read, and one row of it."""
        try:
            self.read(connection, self.ids(connection, limit=1))
        except OracleRagError as error:
            return [SourceProblem(self.name, error.code, error.message, error.hint)]
        return []

    def _statements(self, connection: oracledb.Connection) -> Statements:
        return Statements("source", self._schema_on(connection))
