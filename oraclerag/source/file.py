"""The files that were ingested, as a source: one row of RAG_FILE is one entity.

It comes with every installation. Whose a file is, who sees it and how it is cut stand in its row, not in settings:
prose becomes passages, what Oracle wrote is cut as the reports that it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import oracledb

from oraclerag.config import Settings, SourceSettings
from oraclerag.cutting import Cutting
from oraclerag.database import driver_types, in_list, own_tables, parts
from oraclerag.errors import EntityError, OracleRagError
from oraclerag.records import Document
from oraclerag.source.base import Source, SourceProblem, SourceRead
from oraclerag.statements import Statements

__all__ = ["FILE_KINDS", "FILE_SOURCE", "FileSource"]

FILE_SOURCE = "file"
"""The name of the source."""

FILE_KINDS: Mapping[str, str] = MappingProxyType({"docs": "passages", "diagnostics": "diagnostics"})
"""How the texts of each kind of file are cut: what RAG_FILE.FILE_KIND may say, and the chunker."""

# RAG_FILE.FILE_ID is a NUMBER(19).
_DIGITS = 19


class FileSource(Source):
    """What ``ingest`` has put into RAG_FILE; ``schema_on`` gives the owner of the tables for a connection.

    Its rows say whose they are, so it maps tenants; that alone does not make an installation one of several tenants.
    """

    built_in = True

    def __init__(self, settings: Settings, *, schema_on: Callable[[oracledb.Connection], str]) -> None:
        self._cuttings = {kind: settings.cutting(Cutting(chunker)) for kind, chunker in FILE_KINDS.items()}
        own = SourceSettings(name=FILE_SOURCE, select="", visibility="shared", cutting=self._cuttings["docs"])
        super().__init__(own, maps_tenant=True, default_tenant=settings.tenant)
        self._schema_on = schema_on

    @property
    def cuttings(self) -> tuple[Cutting, ...]:
        """See :attr:`Source.cuttings`: one for every kind of file."""
        return tuple(self._cuttings.values())

    def read_each(self, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        """See :meth:`Source.read_each`."""
        documents: dict[str, Document] = {}
        failures: dict[str, OracleRagError] = {}
        numbers = [int(one) for one in ids if one.isascii() and one.isdigit() and len(one) <= _DIGITS]
        wanted = set(ids)
        for part in parts(numbers):
            listed, binds = in_list(part)
            statement = self._statements(connection).with_names("files", ids=listed)
            with connection.cursor() as cursor, driver_types(connection), own_tables():
                cursor.arraysize = cursor.prefetchrows = len(binds) + 1
                cursor.execute(statement, binds, fetch_lobs=False)
                rows = cursor.fetchall()
            for row in rows:
                key = str(row[0])
                if key not in wanted:  # 007 is no id of 7
                    continue
                try:
                    documents[key] = self._document(*row[1:])
                except EntityError as error:
                    failures[key] = error
        return SourceRead(documents, failures)

    def verify(self, connection: oracledb.Connection) -> None:
        """See :meth:`Source.verify`: the table is the toolkit's own; whether it can be read."""
        self.in_use(connection)

    def in_use(self, connection: oracledb.Connection) -> bool:
        """See :meth:`Source.in_use`."""
        with connection.cursor() as cursor, own_tables():
            cursor.execute(self._statements(connection)["files_in_use"], source_type=self.name)
            return cursor.fetchone() is not None

    def enumeration(self, connection: oracledb.Connection) -> str:
        """See :meth:`Source.enumeration`."""
        return self._statements(connection)["file_ids"]

    def check(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """See :meth:`Source.check`: the table can be read, and one file of it."""
        try:
            ids = self.ids(connection, limit=1)
            self.read(connection, ids)
        except OracleRagError as error:
            return [SourceProblem(self.name, error.code, error.message, error.hint)]
        return []

    def _definition(self) -> Mapping[str, object]:
        return {"cutting": {kind: dataclasses.asdict(cutting) for kind, cutting in self._cuttings.items()}}

    def _statements(self, connection: oracledb.Connection) -> Statements:
        return Statements("source", self._schema_on(connection))

    def _document(
        self,
        tenant: str,
        collection: str,
        kind: str,
        title: str | None,
        url: str | None,
        visibility: str,
        owner: str | None,
        metadata: Any,
        moment: Any,
        body: str,
    ) -> Document:
        if kind not in self._cuttings:
            known = ", ".join(sorted(self._cuttings))
            raise EntityError(f"A row of RAG_FILE has the kind {kind!r}; known: {known}.")
        return self.completed(
            Document(
                text=body,
                title=title,
                url=url,
                tenant=tenant,
                owner=owner,
                visibility="owner" if visibility == "OWNER" else "shared",
                collection=collection,
                occurred_at=moment,
                metadata=metadata or {},
                cutting=self._cuttings[kind],
            )
        )
