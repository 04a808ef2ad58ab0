"""What an audit found wrong is enqueued, to be written anew; what another tenant could see is hidden at once."""

from __future__ import annotations

from collections.abc import Sequence

import oracledb

from oraclerag.audit.compare import Indexed, Verdict
from oraclerag.database import in_list, own_tables
from oraclerag.records import NO_TENANT
from oraclerag.source import Source
from oraclerag.statements import Statements

__all__ = ["Repair"]


class Repair:
    """Enqueues what is wrong, a batch in a transaction.

    A worker writes what it does not take for unchanged: so the hashes of these entities are forgotten, and a text that
    is not the one that was hashed gets the hash it has.
    """

    def __init__(self, connection: oracledb.Connection, sql: Statements, source: Source) -> None:
        self._connection = connection
        self._sql = sql
        self._source = source

    def __call__(self, wrong: Sequence[tuple[str, Indexed, Verdict]]) -> int:
        """Enqueue entities, at most what one IN list holds; gives how many. Commits.

        Left out is what has no tenant, in a source that maps tenants: the queue refuses it.
        """
        rows = [
            {
                "tenant_id": verdict.tenant or indexed.tenant or NO_TENANT,
                "source_type": self._source.name,
                "source_id": key,
                "action": "DELETE" if verdict.kind == "orphaned" else "UPSERT",
            }
            for key, indexed, verdict in wrong
            if verdict.tenant or indexed.tenant or not self._source.maps_tenant
        ]
        foreign = [key for key, _, verdict in wrong if verdict.kind == "foreign"]
        with self._connection.cursor() as cursor, own_tables():
            # the entities first: whoever writes their chunks has locked them
            self._listed(cursor, "forget", [key for key, _, _ in wrong])
            self._listed(cursor, "rehash", [key for key, _, _ in wrong])
            self._listed(cursor, "hide", foreign)
            if rows:
                cursor.executemany(self._sql["enqueue"], rows)
            self._connection.commit()
        return len(rows)

    def _listed(self, cursor: oracledb.Cursor, name: str, ids: Sequence[str]) -> None:
        if ids:
            listed, binds = in_list(sorted(ids))
            cursor.execute(self._sql.with_names(name, ids=listed), {**binds, "source_type": self._source.name})
