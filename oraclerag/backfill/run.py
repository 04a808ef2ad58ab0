"""One backfill: settings in force, then slice after slice, each a transaction; one of a source at a time."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence

import oracledb

from oraclerag import in_force, log, telemetry
from oraclerag.backfill.selection import Query, Selection
from oraclerag.config import Settings
from oraclerag.database import RESOURCE_BUSY, Database, code_of, own_tables, translated
from oraclerag.errors import Contention, SourceChanged
from oraclerag.model.active import active_model
from oraclerag.model.external import configured_name
from oraclerag.records import MAX_ID_BYTES, MAX_TENANT_BYTES, Action, BackfillReport, fingerprint_half
from oraclerag.security import require_unrestricted
from oraclerag.source import Source
from oraclerag.statements import Statements

__all__ = ["SLICE", "Progress", "backfill", "backfill_at_start"]

_log = logging.getLogger(__name__)

SLICE = 50_000
"""Ids of one transaction: few enough for undo and locks, so many that reading the source once for each is cheap."""

AN_HOUR = 3600.0

Progress = Callable[[int, int], None]
"""Is told how many ids are done, and of how many."""


def backfill(
    database: Database,
    source: Source,
    settings: Settings,
    *,
    everything: bool = False,
    tenant: str | None = None,
    adopt: bool = True,
    on_progress: Progress | None = None,
) -> BackfillReport:
    """Enqueue what is missing of a source, or ``everything``; of one ``tenant`` only, where that is given.

    ``adopt`` puts this process's settings of the source in force and takes up a paused source again; without it other
    settings in force are SourceChanged, and entities that were given up are left alone. ``everything`` also looks
    into the chunks and has written again what is damaged. Raises Contention where another backfill of the source runs.
    """
    tenant = source.narrowed(tenant)
    with database.connect() as connection:
        run = _Backfill(connection, database.schema, source, settings, tenant, on_progress)
        run.begin(adopt=adopt)
        return run.whole(everything=everything, given_up=adopt)


def backfill_at_start(
    database: Database,
    source: Source,
    settings: Settings,
    *,
    within: float = AN_HOUR,
    on_progress: Progress | None = None,
) -> BackfillReport | None:
    """Enqueue what is missing as a worker that starts does: without ``adopt``, and at most once ``within`` seconds.

    None: a backfill for these settings and this model has ended in that time. Raises as :func:`backfill` does.
    """
    with database.connect() as connection:
        run = _Backfill(connection, database.schema, source, settings, None, on_progress)
        if not run.begin(adopt=False, within=within):
            return None
        return run.whole(everything=False, given_up=False)


def _of_report(report: BackfillReport) -> telemetry.Attributes:
    return {"source": report.source, "enqueued": report.enqueued, "gone": report.gone, "total": report.total}


class _Backfill:
    """One backfill on one connection.

    What keeps others out is a token in the source's row of RAG_SETTING, and the lock of that row. The lock alone would
    end with the first slice's commit, and holding it over all of them takes a second connection, which a pool of one
    has not and which a client that vanished silently would hold for hours. The token alone would be taken over while a
    slice takes longer than the lease. So every slice begins by writing the row: locked until its commit, nobody takes
    it over (ORA-00054); between two commits the token counts, until the lease is over where its process died.
    """

    def __init__(
        self,
        connection: oracledb.Connection,
        schema: str,
        source: Source,
        settings: Settings,
        tenant: str | None,
        on_progress: Progress | None,
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._source = source
        self._settings = settings
        self._tenant = tenant
        self._on_progress = on_progress
        self._sql = Statements("backfill", schema)
        self._token = str(uuid.uuid4())
        self._fingerprint = ""
        self._selection: Selection

    def begin(self, *, adopt: bool, within: float | None = None) -> bool:
        """Become the one backfill of the source and see to the settings in force; False: not necessary."""
        require_unrestricted(self._connection, self._schema, "A backfill")  # what is hidden would all be missing
        model = active_model(self._connection, self._schema, configured=configured_name(self._settings))
        self._fingerprint = self._source.fingerprint(model)
        # first without a lock: of many workers that start, all but one shall pass by
        if within is not None and self._recent(within):
            return False
        self._selection = Selection(
            self._connection,
            self._sql,
            self._source,
            tenant=self._tenant,
            fingerprint=self._fingerprint,
            column=model.column,
        )
        name = self._source.name
        try:
            with own_tables():
                self._take()
                now = in_force.read(self._connection, self._schema)
                mine = fingerprint_half(self._fingerprint, "settings") or ""
                if not adopt and now.fingerprints.get(name, mine) != mine:
                    raise SourceChanged(f"Other settings of source {name!r} are in force than this process has.")
                if within is not None and self._recent(within):  # it ended between the first look and the lock
                    self._connection.rollback()
                    return False
                in_force.put(self._connection, self._schema, name, "backfill", self._token)
                if now.fingerprints.get(name) != mine:
                    in_force.put(self._connection, self._schema, name, "fingerprint", mine)
                self._connection.commit()
        except BaseException:
            self._rollback()
            raise
        if adopt and name in now.paused:
            in_force.resume(self._connection, self._schema, name)
        return True

    @telemetry.spanned("oraclerag.backfill", of=_of_report)
    def whole(self, *, everything: bool, given_up: bool) -> BackfillReport:
        """Enqueue in slices; gives how many rows were written and how many entities the source has."""
        complete = False
        try:
            report = self._enqueue(everything=everything, given_up=given_up)
            complete = True
        finally:
            self._end(complete=complete)
        if report.enqueued or report.gone:
            log.event(
                _log, logging.INFO, "enqueued",
                f"source {report.source}: {report.enqueued} missing and {report.gone} gone enqueued",
                source_type=report.source, rows=report.enqueued, gone=report.gone, total=report.total,
            )  # fmt: skip
        return report

    def _take(self) -> None:
        """Lock the row that stands for the backfill of the source. Raises Contention where another one runs."""
        row = self._lock()
        if row is None:
            in_force.put_first(self._connection, self._schema, self._source.name, "backfill", "")
            row = self._lock()
        token, over = row if row is not None else (None, 0)
        if token is not None and not over:
            raise self._busy()

    def _lock(self) -> tuple[str | None, int] | None:
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(self._sql["lock"], scope_name=self._source.name, lease=self._settings.lease)
                row = cursor.fetchone()
            except oracledb.Error as error:
                if code_of(error) != RESOURCE_BUSY:
                    raise
                raise self._busy() from None
        return None if row is None else (row[0], int(row[1]))

    def _busy(self) -> Contention:
        return Contention(
            f"Another backfill of source {self._source.name!r} runs.", hint="Wait for it; it ends by itself."
        )

    def _recent(self, within: float) -> bool:
        with self._connection.cursor() as cursor, own_tables():
            binds = {"scope_name": self._source.name, "fingerprint": self._fingerprint, "within": within}
            cursor.execute(self._sql["recent"], binds)
            row = cursor.fetchone()
        return bool(row is not None and row[0])

    def _end(self, *, complete: bool) -> None:
        """Let the next backfill begin; one of the whole source is noted, for workers that start."""
        self._rollback()
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql["finish"], scope_name=self._source.name, claim_token=self._token)
            if complete and self._tenant is None:
                in_force.put(self._connection, self._schema, self._source.name, "last_backfill", self._fingerprint)
            self._connection.commit()

    def _enqueue(self, *, everything: bool, given_up: bool) -> BackfillReport:
        chosen = self._selection
        total, without_id, long_ids, long_tenants = chosen.total()
        self._complain(without_id, "rows have no value in a column of the key; `oraclerag source check`")
        self._complain(long_ids, f"ids have more than {MAX_ID_BYTES} bytes")
        self._complain(long_tenants, f"rows have a tenant of more than {MAX_TENANT_BYTES} bytes")
        enqueued = 0
        for number, within in enumerate(chosen.ranges(SLICE)):
            wanted = chosen.new(chosen.wanted(within, everything=everything), given_up=given_up or everything)
            damaged = chosen.damaged(within, thoroughly=everything)
            repairs = [(name, damaged) for name in (("forget", "rehash") if everything else ("forget",))]
            enqueued += self._slice(wanted, "UPSERT", repairs)
            if self._on_progress is not None:
                self._on_progress(min((number + 1) * SLICE, total), total)
        gone = 0
        for within in chosen.indexed_ranges(SLICE):
            gone += self._slice(chosen.new(chosen.gone(within), given_up=True), "DELETE")
        return BackfillReport(self._source.name, enqueued, gone, total)

    def _slice(self, wanted: Query, action: Action, repairs: Sequence[tuple[str, Query]] = ()) -> int:
        """Enqueue one slice in a transaction; gives how many rows were written."""
        text, binds = wanted
        enqueue = self._sql.with_names("enqueue", wanted=f"\n{text}\n")
        with self._connection.cursor() as cursor:
            self._renew(cursor)  # locks it
            with translated():
                # the entities first: whoever writes their chunks has locked them
                for name, (query, values) in repairs:
                    cursor.execute(self._sql.with_names(name, damaged=f"\n{query}\n"), values)
                binds = {**binds, "source_type": self._source.name, "action": action}
                cursor.execute(enqueue, binds)
                written = int(cursor.rowcount)
            self._renew(cursor)  # the lease begins with the commit
            with own_tables():
                self._connection.commit()
        return written

    def _renew(self, cursor: oracledb.Cursor) -> None:
        with own_tables():
            cursor.execute(self._sql["renew"], scope_name=self._source.name, claim_token=self._token)
        if not cursor.rowcount:
            raise Contention(f"Another backfill of source {self._source.name!r} has taken over.")

    def _complain(self, count: int, what: str) -> None:
        if count:
            message = f"source {self._source.name}: {count} {what}: left out"
            log.event(_log, logging.ERROR, "left_out", message, source_type=self._source.name, rows=count)

    def _rollback(self) -> None:
        with own_tables():
            self._connection.rollback()
