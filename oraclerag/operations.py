"""What an operator asks of an installation: make it ready, look at it, repair its queue and its index."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from oraclerag import in_force, index, queue, schema
from oraclerag import status as looking
from oraclerag import triggers as triggering
from oraclerag.database import Database
from oraclerag.errors import SchemaMissing
from oraclerag.provision import ProvisionReport, provision
from oraclerag.records import SourceKey
from oraclerag.search import Searcher
from oraclerag.source import Source, find

if TYPE_CHECKING:
    from oraclerag.triggers import TriggerPlan

__all__ = ["Operations"]


class Operations:
    """The part of :class:`oraclerag.Rag` that is around the path: its database, its sources, what is done to them."""

    database: Database
    _sources: dict[str, Source]
    _searcher: Searcher

    def _configured(self) -> list[Source]:
        return [source for source in self._sources.values() if not source.built_in]

    def _chosen(self, name: str | None) -> list[Source]:
        """Give the source of a name, or all; of those that are built in, the ones of which there is anything."""
        if name is not None:
            return [find(self._sources, name)]
        more = [source for source in self._sources.values() if source.built_in]
        with self.database.connect() as connection:
            try:
                more = [source for source in more if source.in_use(connection)]
            except SchemaMissing:  # a source can be checked before there are tables
                more = []
        return self._configured() + more

    def provision(
        self,
        *,
        model_file: Path | None = None,
        weights: Path | None = None,
        said: Callable[[str], None] = lambda _: None,
    ) -> ProvisionReport:
        """Make a database ready: tables, model, vector column. See :func:`oraclerag.provision.provision`."""
        report = provision(self.database, model_file=model_file, weights=weights, said=said)
        self._searcher.forget()
        return report

    def migrate(self, to: str = "head") -> schema.MigrationReport:
        """Bring the tables to a revision, ``"head"`` or ``"base"`` (takes all away). Commits.

        Raises SchemaTooNew, PrivilegeMissing, Contention, InputError for a revision that there is not.
        """
        return schema.migrate(self.database, to)

    def triggers(self, source: str | None = None, *, apply: bool = False) -> TriggerPlan:
        """Give the triggers that enqueue changes of the sources' tables, and those of ours that nothing wants any more.

        ``apply`` drops and creates, which commits. Raises UnknownSource, ConfigurationError for tables that cannot have
        one, SourceError, StatementFailed.
        """
        planned = triggering.plan(self.database, self._chosen(source), everything=source is None)
        if apply:
            triggering.apply(self.database, planned)
        return planned

    def apply_triggers(self, planned: TriggerPlan) -> None:
        """Drop and create what :meth:`triggers` gave, after somebody has seen it; commits. Raises StatementFailed."""
        triggering.apply(self.database, planned)

    def build_index(
        self,
        *,
        accuracy: int | None = None,
        partitions: int | None = None,
        force: bool = False,
        replace: bool = False,
    ) -> index.IndexStatus:
        """Build the vector index if there is none, or anew with ``replace``. See :func:`oraclerag.index.build`."""
        make = index.rebuild if replace else index.build
        found = make(self.database, accuracy=accuracy, partitions=partitions, force=force)
        self._searcher.forget()
        return found

    def index_status(self) -> index.IndexStatus:
        """Give the state of the vector index."""
        return index.status(self.database)

    def queue_status(self, *, max_lag: float | None = None) -> queue.QueueStatus:
        """Look at the queue: backlog, lag, failures, claims, paused sources, how fast it is worked off.

        A lag over ``max_lag`` seconds is a problem, as rows that were given up and paused sources are. Raises
        SchemaMissing.
        """
        return queue.status(self.database, max_lag=max_lag)

    def paused_sources(self) -> Mapping[str, str]:
        """Give why sources are paused, by name; workers take none of their rows."""
        with self.database.connect() as connection:
            return in_force.read(connection, self.database.schema).paused

    def queue_rows(
        self,
        *,
        state: queue.QueueState | None = None,
        source: str | None = None,
        tenant: str | None = None,
        error: str | None = None,
        limit: int = 50,
    ) -> list[queue.QueueRow]:
        """Give the oldest queue rows, of one state ("READY", "DEAD"), source, tenant or error, or of all.

        ``error`` is a code as :meth:`queue_errors` gives it, or the name of an error class. Raises InputError for one
        that is not known.
        """
        return queue.rows(self.database, queue.Choice(source, tenant, error), state=state, limit=limit)

    def queue_errors(
        self,
        *,
        state: queue.QueueState | None = None,
        source: str | None = None,
        tenant: str | None = None,
        error: str | None = None,
        limit: int = 50,
    ) -> list[queue.ErrorGroup]:
        """Give what went wrong in the queue, most rows first: per error and state how many, with one example."""
        return queue.errors(self.database, queue.Choice(source, tenant, error), state=state, limit=limit)

    def queue_retry(
        self,
        *,
        error: str | None = None,
        source: str | None = None,
        tenant: str | None = None,
        keys: Iterable[SourceKey] | None = None,
        postponed: bool = False,
    ) -> queue.RetryReport:
        """Make rows that were given up READY again, as if they had never failed; no argument chooses all of them.

        ``postponed`` does the same for rows that wait to be tried again. Rows that a worker has claimed are left alone.
        Commits, in slices. Raises InputError for an ``error`` that is not known.
        """
        chosen = queue.Choice(source, tenant, error, keys=None if keys is None else tuple(keys))
        return queue.retry(self.database, chosen, postponed=postponed)

    def queue_purge(
        self,
        *,
        dead: bool = False,
        error: str | None = None,
        source: str | None = None,
        tenant: str | None = None,
        older_than: dt.timedelta | None = None,
        compact: bool = False,
        dry_run: bool = False,
    ) -> queue.PurgeReport:
        """Forget entities that are gone; with ``dead``, ``error`` or ``older_than`` delete rows that were given up.

        A row that is deleted is a change that is never applied: its entity stays stale or hidden until something
        enqueues it again. ``source`` and ``tenant`` narrow both; entities that are gone have no tenant, so with one
        they are kept. ``compact`` makes indexes and table of the queue smaller afterwards. ``dry_run`` counts only.
        Commits, in slices. Raises InputError for an ``error`` that is not known, PrivilegeMissing where ``compact`` may
        not.
        """
        report = queue.purge(
            self.database,
            queue.Choice(source, tenant, error, older_than),
            dead=dead or error is not None or older_than is not None,
            gone=tenant is None,
            dry_run=dry_run,
        )
        if not compact or dry_run:
            return report
        made = queue.compact(self.database)
        return dataclasses.replace(report, compacted=made.compacted, skipped=made.skipped)

    def status(self) -> looking.StatusReport:
        """Look at schema, model, index, sources and queue, and say what is wrong.

        Raises only where the database cannot be reached.
        """
        return looking.status(self.database)
