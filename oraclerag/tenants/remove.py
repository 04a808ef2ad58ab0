"""A tenant leaves: every row of it, in every table, in slices that are committed.

What was taken in goes first, so that nothing can be made anew of it; then queue rows and entities, by the rules of the
queue's protocol: an entity is locked while no worker holds it, its rows are seen, the source is read after that, and
what is another tenant's by now is announced for that one; then what was asked and what was used. An interrupted removal
is run again and goes on where it was.
"""

from __future__ import annotations

import functools
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import oracledb

from oraclerag import counts, log, queue
from oraclerag.database import Database, committed, driver_types, in_list, own_tables, parts, translated
from oraclerag.errors import ConfigurationError, Contention, InputError, SourceError, StatementFailed
from oraclerag.records import NO_TENANT, RemovalReport
from oraclerag.searches import clear_tenant
from oraclerag.security import require_unrestricted
from oraclerag.source import Source
from oraclerag.statements import Statements, quoted
from oraclerag.tenants.export import TABLES
from oraclerag.tenants.place import Place, checked
from oraclerag.wipe import refuse_wait

__all__ = ["SLICE", "remove"]

_log = logging.getLogger(__name__)

SLICE = 500
"""Rows of one transaction."""

_Result = TypeVar("_Result")

_TAKEN_IN = (("RAG_FILE", "FILE_ID"), ("RAG_RESOLUTION", "RESOLUTION_ID"))
_INTERVAL = 0.5  # seconds between two looks at what workers hold


def remove(
    place: Place,
    tenant: str,
    *,
    force: bool = False,
    dry_run: bool = False,
    wait: float = 60.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> RemovalReport:
    """Delete every row of a tenant; see :meth:`Tenants.remove`."""
    tenant = checked(tenant)
    refuse_wait(wait)
    database = place.database
    with database.connect() as connection:
        require_unrestricted(connection, database.schema, "Removing a tenant")
        run = _Removal(connection, place, tenant)
        returning = run.returning()
        if dry_run:
            return RemovalReport(tenant, run.count(), returning)
    if any(count != 0 for count in returning.values()) and not force:
        raise _refusal(tenant, returning)
    silent = frozenset(name for name, count in returning.items() if count is None)
    deleted: Counter[str] = Counter()
    announced = 0
    deadline = clock() + wait
    while True:
        deleted.update(_searches(database, tenant))  # on a connection of its own: a pool may have but one
        with database.connect() as connection:
            run = _Removal(connection, place, tenant, silent)
            run.taken_in()
            held = run.entities()
            run.rows_alone()
            run.usage()
            left = run.count()
        deleted.update(run.deleted)
        announced += run.announced
        if not any(left.values()):
            break
        if clock() >= deadline:
            raise _unfinished(tenant, held, left)
        sleep(_INTERVAL)
    queue.purge(database, queue.Choice(), gone=True)  # what is gone has no tenant, but its id may name one
    counts.refresh(database)
    message = "Every row of a tenant was deleted."
    log.event(_log, logging.INFO, "removed", message, tenant=tenant, rows=deleted.total())
    return RemovalReport(tenant, {table: deleted[table] for table in TABLES}, returning, announced=announced, done=True)


def _searches(database: Database, tenant: str) -> Mapping[str, int]:
    done = clear_tenant(database, tenant)
    return {"RAG_SEARCH": done.searches, "RAG_SEARCH_HIT": done.hits}


def _refusal(tenant: str, returning: Mapping[str, int | None]) -> InputError:
    says = [
        f"{name} cannot be asked" if count is None else f"{name} has {count:,}"
        for name, count in returning.items()
        if count != 0
    ]
    return InputError(
        f"Sources still have entities of the tenant {tenant!r}, which would come back with the next backfill: "
        f"{'; '.join(says)}.",
        hint="Delete them there, or leave them out in the source's select; or say --force where they may come back.",
    )


def _unfinished(tenant: str, held: int, left: Mapping[str, int]) -> Contention:
    named = ", ".join(f"{table} {count:,}" for table, count in left.items() if count)
    why = f"workers hold {held:,} of its entities" if held else "rows of it are still written"
    return Contention(
        f"The tenant {tenant!r} is not removed whole, for {why}; left are: {named}.",
        hint="Run it again: it goes on with these. What a worker that died holds is free after the lease.",
    )


class _Removal:
    """One removal on one connection; ``deleted`` counts rows by table, ``announced`` entities.

    ``silent`` are sources that cannot be asked: what they have of others is for their next backfill.
    """

    def __init__(
        self, connection: oracledb.Connection, place: Place, tenant: str, silent: Collection[str] = ()
    ) -> None:
        self._connection = connection
        self._place = place
        self._tenant = tenant
        self._silent = silent
        self._owner = place.database.schema
        self._sql = Statements("tenants", self._owner)
        self._in_queue = {"tenant_id": tenant, "queue_tenant": place.queue_tenant(tenant)}
        owner = quoted(self._owner, "schema")
        theirs = " OR ".join(
            f"EXISTS (SELECT 1 FROM {owner}.{table} x WHERE x.ENTITY_ID = e.ENTITY_ID AND x.TENANT_ID = :tenant_id)"
            for table in ("RAG_CHUNK", "RAG_DOCUMENT")
        )
        waits = (
            f"EXISTS (SELECT 1 FROM {owner}.RAG_DIRTY q WHERE q.SOURCE_TYPE = e.SOURCE_TYPE "
            f"AND q.SOURCE_ID = e.SOURCE_ID AND q.TENANT_ID IN (:tenant_id, :queue_tenant))"
        )
        self._which = f"(e.TENANT_ID = :tenant_id OR {theirs} OR {waits}) AND 'a' <> 'A'"
        self.deleted: Counter[str] = Counter()
        self.announced = 0

    def returning(self) -> dict[str, int | None]:
        """Count what the configured sources still have of the tenant; None where one cannot be asked."""
        found: dict[str, int | None] = {}
        for source in self._place.sources.values():
            if source.built_in or not (source.maps_tenant or self._tenant == source.default_tenant):
                continue
            name = "still_in_source" if source.maps_tenant else "anything_in_source"
            binds = {"tenant_id": self._tenant} if source.maps_tenant else {}
            try:
                enumeration = f"\n{source.enumeration(self._connection)}\n"
                with self._connection.cursor() as cursor, translated():
                    cursor.execute(self._sql.with_names(name, enumeration=enumeration), binds)
                    found[source.name] = int((cursor.fetchone() or (0,))[0])
            except (ConfigurationError, SourceError, StatementFailed):
                found[source.name] = None
        return found

    def count(self) -> dict[str, int]:
        """Count what there is of the tenant, by table."""
        special = {
            "RAG_ENTITY": self._sql.with_names("count_entities", which=self._which),
            "RAG_DIRTY": self._sql["count_rows"],
        }
        found = {}
        with self._connection.cursor() as cursor, own_tables():
            for table in TABLES:
                statement = special.get(table) or self._of("count_of_table", table)
                cursor.execute(statement, self._in_queue if table in special else {"tenant_id": self._tenant})
                found[table] = int((cursor.fetchone() or (0,))[0])
        return found

    def taken_in(self) -> None:
        """Delete files and resolutions."""
        for table, key in _TAKEN_IN:
            after = 0
            while True:
                with self._connection.cursor() as cursor, own_tables():
                    binds = {"tenant_id": self._tenant, "after_id": after}
                    cursor.execute(self._of("next_rows", table, key=key), {**binds, "how_many": SLICE})
                    (last,) = cursor.fetchone() or (None,)
                    if last is None:
                        break
                    cursor.execute(self._of("delete_of_table", table, key=key), {**binds, "last_id": last})
                    self.deleted[table] += cursor.rowcount
                    self._connection.commit()
                after = int(last)

    def usage(self) -> None:
        """Delete what was counted of the tenant."""
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql["delete_usage"], tenant_id=self._tenant)
            self.deleted["RAG_USAGE"] += cursor.rowcount
            self._connection.commit()

    def entities(self) -> int:
        """Delete the entities that nobody holds, with all that is theirs; gives how many are held."""
        after = held = 0
        while True:
            with self._connection.cursor() as cursor, own_tables():
                cursor.arraysize = cursor.prefetchrows = SLICE + 1
                statement = self._sql.with_names("next_entities", which=self._which)
                cursor.execute(statement, {**self._in_queue, "after_id": after, "how_many": SLICE})
                ids = [int(row[0]) for row in cursor.fetchall()]
            if not ids:
                return held
            after = ids[-1]
            held += len(ids) - self._tried(functools.partial(self._some_entities, ids))

    def rows_alone(self) -> None:
        """Delete queue rows of entities that no worker has met."""
        after: int | None = 0
        while after is not None:
            after = self._tried(functools.partial(self._some_rows, after))

    def _tried(self, transaction: Callable[[], _Result]) -> _Result:
        """Run a transaction and commit; one that is a deadlock with a worker is run again, and counted once."""
        counted, announced = Counter(self.deleted), self.announced

        def again() -> _Result:
            self.deleted, self.announced = Counter(counted), announced
            return transaction()

        return committed(self._connection, again)

    def _some_entities(self, ids: Sequence[int]) -> int:
        with self._connection.cursor() as cursor:
            listed, binds = in_list(ids)
            with own_tables():
                cursor.arraysize = cursor.prefetchrows = SLICE + 1
                lock = self._sql.with_names("lock_entities", ids=listed, which=self._which)
                cursor.execute(lock, {**self._in_queue, **binds})
                locked = cursor.fetchall()
                if not locked:
                    return 0
                listed, binds = in_list([int(row[0]) for row in locked])
                cursor.execute(self._sql.with_names("rows_of_entities", ids=listed), binds)
                rows = [int(row[0]) for row in cursor.fetchall()]
            self._announce(cursor, [(row[1], row[2]) for row in locked])
            self._delete_rows(cursor, rows)
            with own_tables():
                cursor.execute(self._sql.with_names("clear_texts", ids=listed), binds)
                for name, table in (
                    ("delete_chunks", "RAG_CHUNK"),
                    ("delete_documents", "RAG_DOCUMENT"),
                    ("delete_entities", "RAG_ENTITY"),
                ):
                    cursor.execute(self._sql.with_names(name, ids=listed), binds)
                    self.deleted[table] += cursor.rowcount
        return len(locked)

    def _some_rows(self, after: int) -> int | None:
        with self._connection.cursor() as cursor:
            with own_tables():
                cursor.arraysize = cursor.prefetchrows = SLICE
                cursor.execute(self._sql["rows_alone"], {**self._in_queue, "after_id": after})
                found = cursor.fetchmany(SLICE)
            if not found:
                return None
            self._announce(cursor, [(row[1], row[2]) for row in found])
            self._delete_rows(cursor, [int(row[0]) for row in found])
        return int(found[-1][0])

    def _delete_rows(self, cursor: oracledb.Cursor, rows: Sequence[int]) -> None:
        with own_tables():
            for part in parts(rows):
                listed, binds = in_list(part)
                cursor.execute(self._sql.with_names("delete_rows", ids=listed), binds)
                self.deleted["RAG_DIRTY"] += cursor.rowcount

    def _announce(self, cursor: oracledb.Cursor, keys: Iterable[tuple[str, str]]) -> None:
        """Enqueue what its source has under another tenant."""
        by_source: dict[str, list[str]] = defaultdict(list)
        for source_type, source_id in sorted(set(keys)):
            by_source[source_type].append(source_id)
        rows: list[dict[str, Any]] = []
        for name, ids in by_source.items():
            source = self._place.sources.get(name)
            if source is not None and name not in self._silent:
                rows += [
                    {"tenant_id": tenant, "source_type": name, "source_id": one}
                    for one, tenant in self._elsewhere(cursor, source, ids)
                ]
        if rows:
            with own_tables():
                cursor.executemany(self._sql["announce"], rows)
            self.announced += len(rows)

    def _elsewhere(self, cursor: oracledb.Cursor, source: Source, ids: Sequence[str]) -> list[tuple[str, str]]:
        if not source.maps_tenant and source.default_tenant == self._tenant:
            return []
        enumeration = f"\n{source.enumeration(self._connection)}\n"
        found: dict[str, str] = {}
        with driver_types(self._connection), translated():
            for part in parts(ids):
                listed, binds = in_list(part)
                cursor.arraysize = cursor.prefetchrows = SLICE
                cursor.execute(self._sql.with_names("in_source", enumeration=enumeration, ids=listed), binds)
                for one, tenant in cursor:
                    if not source.maps_tenant:
                        found[one] = NO_TENANT
                    elif tenant is not None and tenant != self._tenant:
                        found[one] = tenant
        return list(found.items())

    def _of(self, name: str, table: str, **marks: str) -> str:
        return self._sql.with_names(name, own_table=f"{quoted(self._owner, 'schema')}.{table}", **marks)
