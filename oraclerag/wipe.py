"""Take away what is made from the sources: chunks, documents and what is remembered of their entities.

Sources of record, which are the tables of applications, RAG_FILE and RAG_RESOLUTION, are not touched, nor is the queue:
a backfill finds everything missing and workers make it anew. Each slice is one transaction, in the order of the queue's
protocol: entities are locked while no worker holds them, announced if they shall be, and emptied. An interrupted wipe
is run again and goes on where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import oracledb

from oraclerag import counts, log
from oraclerag.database import Database, committed, in_list, own_tables, parts
from oraclerag.errors import Contention, InputError
from oraclerag.records import NO_TENANT, WipedSource, WipeReport
from oraclerag.security import require_unrestricted
from oraclerag.statements import Statements, quoted

__all__ = ["SLICE", "refuse_wait", "wipe"]

_log = logging.getLogger(__name__)

SLICE = 500
"""Entities of one transaction."""

_INTERVAL = 0.5  # seconds between two looks at what workers hold


def wipe(
    database: Database,
    sources: Collection[str],
    *,
    source: str | None = None,
    tenant: str | None = None,
    collection: str | None = None,
    announce: bool = False,
    dry_run: bool = False,
    wait: float = 60.0,
    on_progress: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> WipeReport:
    """Empty the index of a ``source``, ``tenant`` or ``collection``, of what is all of these, or of everything.

    ``sources`` are the names of those that can make it anew. With ``announce`` every entity is enqueued in the
    transaction that empties it. ``dry_run`` counts only. What workers hold is waited for, ``wait`` seconds (0 to
    86,400). Commits, in slices. Raises Contention where workers hold something for longer, with all else wiped;
    InputError, RowsHidden.
    """
    refuse_wait(wait)
    if tenant == NO_TENANT:
        raise InputError(f"The tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
    which, binds = _which(database.schema, source, tenant, collection)
    with database.connect() as connection:
        require_unrestricted(connection, database.schema, "A wipe")
        work = _Wipe(connection, database.schema, which, binds, announce=announce)
        found = work.count()
        total = sum(one.entities for one in found)
        report = WipeReport(tuple(found), unknown=tuple(one.source for one in found if one.source not in sources))
        if dry_run or not total:
            return report
        deadline = clock() + wait
        held = work.pass_over(lambda: None if on_progress is None else on_progress(min(work.done, total), total))
        while held := work.again(held):
            if clock() >= deadline:
                raise Contention(
                    f"Workers hold {len(held):,} of the entities; all others are wiped.",
                    hint="Run it again: it goes on with these. What a worker that died holds is free after the lease.",
                )
            sleep(_INTERVAL)
    counts.refresh(database)
    log.event(
        _log, logging.INFO, "wiped", f"{work.done:,} entities were taken out of the index.",
        tenant=tenant, collection=collection, source_type=source, rows=work.done,
    )  # fmt: skip
    return WipeReport(tuple(found), report.unknown, enqueued=work.enqueued, done=True)


def refuse_wait(wait: float) -> None:
    """Raise InputError for a time that nobody waits."""
    if not 0 <= wait <= 86_400:
        raise InputError(f"wait is {wait}, but must be between 0 and 86400 seconds.")


def _which(schema: str, source: str | None, tenant: str | None, collection: str | None) -> tuple[str, dict[str, Any]]:
    """Give the condition on an entity ``e`` of which there is something, and its binds."""
    owner = quoted(schema, "schema")
    there = f"SELECT 1 FROM {owner}.RAG_CHUNK x WHERE x.ENTITY_ID = e.ENTITY_ID"
    text = f"SELECT 1 FROM {owner}.RAG_DOCUMENT y WHERE y.ENTITY_ID = e.ENTITY_ID"
    terms = [f"(e.FINGERPRINT IS NOT NULL OR e.CHUNKS > 0 OR EXISTS ({there}) OR EXISTS ({text}))"]
    binds: dict[str, Any] = {}
    if source is not None:
        terms.append("e.SOURCE_TYPE = :one_source")
        binds["one_source"] = source
    # Also what only its chunks say: an index that is to be wiped may be wrong.
    for column, value in (("TENANT_ID", tenant), ("COLLECTION", collection)):
        if value is not None:
            name = f"one_{column.lower()}"
            terms.append(f"(e.{column} = :{name} OR EXISTS ({there} AND x.{column} = :{name}))")
            binds[name] = value
    return " AND ".join(terms), binds


class _Wipe:
    """One wipe on one connection; ``done`` counts entities, ``enqueued`` queue rows."""

    def __init__(
        self, connection: oracledb.Connection, schema: str, which: str, binds: dict[str, Any], *, announce: bool
    ) -> None:
        self._connection = connection
        self._sql = Statements("wipe", schema)
        self._which = which
        self._binds = binds
        self._announce = announce
        self.done = self.enqueued = 0

    def count(self) -> list[WipedSource]:
        """Count what there is, by source."""
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql.with_names("count", which=self._which), self._binds)
            return [WipedSource(source, *map(int, numbers)) for source, *numbers in cursor]

    def pass_over(self, told: Callable[[], None]) -> list[int]:
        """Empty what nobody holds, slice by slice, once; gives what somebody does. What is made anew is left alone."""
        after = 0
        held: list[int] = []
        while ids := self._ids("next_slice", after_id=after, how_many=SLICE):
            after = ids[-1]
            held += self._slice(ids)
            told()
        return held

    def again(self, held: Sequence[int]) -> list[int]:
        """Empty what was held and is free by now; gives what still is not."""
        left: list[int] = []
        for part in parts(held, SLICE):
            listed, binds = in_list(part)
            if ids := self._ids("left", listed, **binds):
                left += self._slice(ids)
        return left

    def _ids(self, name: str, listed: str = "", **binds: Any) -> list[int]:
        marks = {"which": self._which} | ({"ids": listed} if listed else {})
        with self._connection.cursor() as cursor, own_tables():
            cursor.arraysize = cursor.prefetchrows = SLICE + 1
            cursor.execute(self._sql.with_names(name, **marks), {**self._binds, **binds})
            return [int(row[0]) for row in cursor.fetchall()]

    def _slice(self, ids: Sequence[int]) -> list[int]:
        """Empty those that nobody holds; gives the others. A deadlock with a worker is tried again."""
        with self._connection.cursor() as cursor:
            locked, enqueued = committed(self._connection, lambda: self._transaction(cursor, ids))
        self.done += len(locked)
        self.enqueued += enqueued
        return [one for one in ids if one not in locked]

    @own_tables()
    def _transaction(self, cursor: oracledb.Cursor, ids: Sequence[int]) -> tuple[set[int], int]:
        listed, binds = in_list(ids)
        cursor.arraysize = cursor.prefetchrows = SLICE + 1
        cursor.execute(self._sql.with_names("lock", ids=listed, which=self._which), {**self._binds, **binds})
        locked = {int(row[0]) for row in cursor.fetchall()}
        if not locked:
            return locked, 0
        listed, binds = in_list(sorted(locked))
        enqueued = 0
        if self._announce:
            cursor.execute(self._sql.with_names("announce", ids=listed), binds)
            enqueued = int(cursor.rowcount)
        for name in ("clear_texts", "delete_chunks", "delete_documents", "forget"):
            cursor.execute(self._sql.with_names(name, ids=listed), binds)
        return locked, enqueued
