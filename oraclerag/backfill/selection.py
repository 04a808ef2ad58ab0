"""What is to be enqueued, as queries: composed of a source's own enumeration, a range of its ids, and one tenant."""

from __future__ import annotations

from typing import Any

import oracledb

from oraclerag.database import driver_types, translated
from oraclerag.records import MAX_ID_BYTES, MAX_TENANT_BYTES
from oraclerag.source import Source
from oraclerag.source.ranges import KeyRange, key_ranges
from oraclerag.statements import Statements, quoted

__all__ = ["Query", "Selection"]

Query = tuple[str, dict[str, Any]]
"""A text and its binds."""


class Selection:
    """The queries over one source; ``tenant`` narrows them, ``column`` is the vector column in force.

    Every one gives SOURCE_ID and TENANT_ID; what RAG_DIRTY cannot hold, or is of no tenant, is left out.
    """

    def __init__(
        self,
        connection: oracledb.Connection,
        sql: Statements,
        source: Source,
        *,
        tenant: str | None,
        fingerprint: str,
        column: str,
    ) -> None:
        self._connection = connection
        self._sql = sql
        self._source = source
        self._tenant = tenant
        self._fingerprint = fingerprint
        self._column = quoted(column, "vector column")
        self._enumeration = source.enumeration(connection)

    def ranges(self, size: int) -> list[KeyRange]:
        """Give the ranges of the source's ids."""
        return key_ranges(self._connection, *self._sized(self._enumeration, size))

    def indexed_ranges(self, size: int) -> list[KeyRange]:
        """Give the ranges of the ids that are indexed: what is gone may be all of them, where the source has none."""
        query, size, binds = self._sized(self._sql["indexed"], size)
        return key_ranges(self._connection, query, size, {**binds, "source_type": self._source.name})

    def wanted(self, within: KeyRange, *, everything: bool) -> Query:
        """Give what is missing, or everything."""
        conditions = ["LENGTHB(TO_CHAR(t.SOURCE_ID)) <= :id_bytes"]
        binds: dict[str, Any] = {"id_bytes": MAX_ID_BYTES}
        if self._tenant is not None:
            conditions.append("t.TENANT_ID = :one_tenant")
            binds["one_tenant"] = self._tenant
        elif self._source.maps_tenant:
            conditions.append("LENGTHB(t.TENANT_ID) <= :tenant_bytes")  # not NULL either
            binds["tenant_bytes"] = MAX_TENANT_BYTES
        inner, more = within.of(self._enumeration, *conditions)
        binds |= more
        if not everything:
            binds |= {"source_type": self._source.name, "fingerprint": self._fingerprint}
        name = "everything" if everything else "missing"
        return self._sql.with_names(name, enumeration=f"\n{inner}\n"), binds

    def gone(self, within: KeyRange) -> Query:
        """Give what is indexed and no longer in the source, or no longer under a tenant (under the one asked for)."""
        conditions = []
        binds: dict[str, Any] = {"source_type": self._source.name}
        if self._tenant is not None:
            conditions.append("t.TENANT_ID = :one_tenant")
            binds["one_tenant"] = self._tenant
        there = conditions or (["t.TENANT_ID IS NOT NULL"] if self._source.maps_tenant else [])
        inner, more = within.of(self._enumeration, *there)
        text, _ = within.of(self._sql.with_names("gone", enumeration=f"\n{inner}\n"), *conditions)
        return text, binds | more

    def damaged(self, within: KeyRange, *, thoroughly: bool) -> Query:
        """Give the entities whose chunks are not what RAG_ENTITY says; ``thoroughly`` looks into the chunks, too."""
        conditions = ["t.TENANT_ID = :one_tenant"] if self._tenant is not None else []
        binds: dict[str, Any] = {"source_type": self._source.name}
        binds |= {"one_tenant": self._tenant} if self._tenant is not None else {}
        query = self._sql.with_names("damaged", column=self._column) if thoroughly else self._sql["incomplete"]
        text, more = within.of(query, *conditions)
        return text, binds | more

    def new(self, query: Query, *, given_up: bool) -> Query:
        """Leave out what waits in the queue already, and without ``given_up`` what is DEAD there."""
        text, binds = query
        name = "not_waiting" if given_up else "not_waiting_nor_given_up"
        return (
            self._sql.with_names(name, wanted=f"\n{text}\n"),
            {**binds, "source_type": self._source.name},
        )

    def count(self, query: Query) -> int:
        """Count what a query gives."""
        text, binds = query
        with self._connection.cursor() as cursor, translated():
            cursor.execute(self._sql.with_names("count", wanted=f"\n{text}\n"), binds)
            row = cursor.fetchone()
        return int(row[0]) if row is not None else 0

    def sample(self, query: Query, how_many: int, seed: int) -> list[str]:
        """Give ids drawn from what a query gives."""
        text, binds = query
        statement = self._sql.with_names("sample", wanted=f"\n{text}\n")
        with self._connection.cursor() as cursor, driver_types(self._connection), translated():
            cursor.arraysize = cursor.prefetchrows = how_many + 1
            cursor.execute(statement, {**binds, "how_many": how_many, "seed": seed})
            return [row[0] for row in cursor]

    def total(self) -> tuple[int, int, int, int]:
        """Count the entities, the rows without an id, and those with an id or a tenant that no column holds."""
        inner, binds = self._of_tenant(self._enumeration)
        statement = self._sql.with_names("total", enumeration=f"\n{inner}\n")
        with self._connection.cursor() as cursor, translated():
            cursor.execute(statement, {**binds, "id_bytes": MAX_ID_BYTES, "tenant_bytes": MAX_TENANT_BYTES})
            row = cursor.fetchone()
        counts = row if row is not None else (0, 0, 0, 0)
        return int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3])

    def _sized(self, query: str, size: int) -> tuple[str, int, dict[str, Any]]:
        inner, binds = self._of_tenant(query)
        return inner, size, binds

    def _of_tenant(self, query: str) -> Query:
        if self._tenant is None:
            return query, {}
        text, _ = KeyRange().of(query, "t.TENANT_ID = :one_tenant")
        return text, {"one_tenant": self._tenant}
