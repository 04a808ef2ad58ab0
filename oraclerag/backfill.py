"""Enqueue what the index lacks: entities it does not have, has from other settings, or has though they are gone.

The comparison is one query in the database; what it finds is enqueued in slices that are committed, in lane 1, behind
the changes of users. An interrupted backfill is simply run again. It also puts a source's settings in force: from then
on, workers that were deployed with other ones leave the source alone.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import oracledb

from oraclerag import in_force
from oraclerag.config import Settings
from oraclerag.database import Database, driver_types, own_tables, translated
from oraclerag.errors import Contention, InputError, SourceChanged
from oraclerag.model.active import active_model
from oraclerag.records import MAX_ID_BYTES, NO_TENANT, Action, BackfillReport, fingerprint_half
from oraclerag.source import Source
from oraclerag.statements import Statements

__all__ = ["backfill"]

_log = logging.getLogger(__name__)

_SLICE = 1000  # rows per commit


def backfill(
    database: Database,
    source: Source,
    settings: Settings,
    *,
    everything: bool = False,
    tenant: str | None = None,
    adopt: bool = True,
) -> BackfillReport:
    """Enqueue what is missing of a source, or ``everything``; of one ``tenant`` only, where that is given.

    ``adopt`` puts this process's settings of the source in force and takes up a paused source again; without it (a
    worker that starts) other settings in force are SourceChanged, and entities that were given up are left alone.
    Raises Contention where another backfill of the source runs.
    """
    if tenant == NO_TENANT:
        raise InputError(f"The tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
    if tenant is not None and not source.maps_tenant and tenant != source.default_tenant:
        raise InputError(
            f"Source {source.name!r} maps no tenant: all of it belongs to {source.default_tenant!r}, not to {tenant!r}."
        )
    with database.connect() as connection:
        run = _Backfill(connection, database.schema, source, settings, tenant)
        run.begin(adopt=adopt)
        try:
            return run.enqueue(everything=everything, given_up=adopt)
        finally:
            run.end()


class _Backfill:
    """One backfill on one connection; the queries run on it while slices are committed."""

    def __init__(
        self, connection: oracledb.Connection, schema: str, source: Source, settings: Settings, tenant: str | None
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._source = source
        self._settings = settings
        self._tenant = tenant if source.maps_tenant else None
        self._sql = Statements("backfill", schema)
        self._token = str(uuid.uuid4())
        self._fingerprint = ""

    def begin(self, *, adopt: bool) -> None:
        """Become the one backfill of the source and see to the settings in force."""
        model = active_model(self._connection, self._schema, configured=self._settings.embedding_model)
        self._fingerprint = self._source.fingerprint(model)
        mine = fingerprint_half(self._fingerprint, "settings") or ""
        name = self._source.name
        now = in_force.read(self._connection, self._schema)
        if not adopt and now.fingerprints.get(name, mine) != mine:
            raise SourceChanged(f"Other settings of source {name!r} are in force than this process has.")
        in_force.put_first(self._connection, self._schema, name, "backfill", "")
        binds = {"scope_name": name, "claim_token": self._token, "lease": self._settings.lease}
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql["claim"], binds)
            if not cursor.rowcount:
                self._connection.rollback()
                raise Contention(f"Another backfill of source {name!r} runs.", hint="Wait for it; it ends by itself.")
            if now.fingerprints.get(name) != mine:
                in_force.put(self._connection, self._schema, name, "fingerprint", mine)
            self._connection.commit()
        if adopt and name in now.paused:
            in_force.resume(self._connection, self._schema, name)

    def end(self) -> None:
        """Let the next backfill begin."""
        with self._connection.cursor() as cursor, own_tables():
            self._connection.rollback()
            cursor.execute(self._sql["finish"], scope_name=self._source.name, claim_token=self._token)
            self._connection.commit()

    def enqueue(self, *, everything: bool, given_up: bool) -> BackfillReport:
        """Enqueue in slices; gives how many rows were written and how many entities the source has."""
        name = "everything" if everything else "missing"
        binds = {} if everything else {"source_type": self._source.name, "fingerprint": self._fingerprint}
        statement = "enqueue" if given_up or everything else "enqueue_not_given_up"
        enqueued = self._slices(self._rows(name, binds), statement, "UPSERT")
        gone = "gone_or_without_tenant" if self._source.maps_tenant else "gone"
        deleted = self._slices(self._rows(gone, {"source_type": self._source.name}), "enqueue", "DELETE")
        return BackfillReport(self._source.name, enqueued, deleted, self._total())

    def _rows(self, name: str, binds: dict[str, Any]) -> Iterator[list[tuple[str, str | None]]]:
        """Give ids and tenants in slices, from a cursor that stays open over the commits in between."""
        text = self._of_tenant(self._sql.with_names(name, enumeration=self._enumeration()))
        with self._connection.cursor() as cursor, driver_types(self._connection), translated():
            cursor.arraysize = cursor.prefetchrows = _SLICE
            cursor.execute(text, binds | self._tenant_bind())
            while rows := cursor.fetchmany(_SLICE):
                yield rows

    def _slices(self, slices: Iterator[Sequence[tuple[str, str | None]]], statement: str, action: Action) -> int:
        written = 0
        for rows in slices:
            wanted = [
                {
                    "tenant_id": tenant or NO_TENANT,
                    "source_type": self._source.name,
                    "source_id": source_id,
                    "action": action,
                }
                for source_id, tenant in rows
                if (tenant is not None or not self._source.maps_tenant) and len(source_id.encode()) <= MAX_ID_BYTES
            ]
            if too_long := sum(len(source_id.encode()) > MAX_ID_BYTES for source_id, _ in rows):
                _log.error("source %s: %d ids have more than %d bytes", self._source.name, too_long, MAX_ID_BYTES)
            with self._connection.cursor() as cursor, own_tables():
                if wanted:
                    cursor.executemany(self._sql[statement], wanted)
                    written += cursor.rowcount
                cursor.execute(self._sql["renew"], scope_name=self._source.name, claim_token=self._token)
                renewed = cursor.rowcount
                self._connection.commit()
            if not renewed:
                raise Contention(f"Another backfill of source {self._source.name!r} has taken over.")
        return written

    def _total(self) -> int:
        with self._connection.cursor() as cursor, translated():
            cursor.execute(self._sql.with_names("total", enumeration=self._enumeration()), self._tenant_bind())
            row = cursor.fetchone()
        total, without_key = row if row is not None else (0, 0)
        if without_key:
            _log.error(
                "source %s: %d rows have no value in a column of the key and are left out; `oraclerag source check`",
                self._source.name,
                without_key,
            )
        return int(total)

    def _enumeration(self) -> str:
        return self._of_tenant(self._source.enumeration(self._connection))

    def _of_tenant(self, query: str) -> str:
        """Narrow a query over ids and tenants to the tenant asked for, if any."""
        if self._tenant is None:
            return query
        return f"SELECT t.SOURCE_ID, t.TENANT_ID FROM (\n{query}\n) t WHERE t.TENANT_ID = :one_tenant"

    def _tenant_bind(self) -> dict[str, str]:
        return {} if self._tenant is None else {"one_tenant": self._tenant}
