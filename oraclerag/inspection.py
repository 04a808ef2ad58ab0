"""What an operator looks at: the installation, its queue, its search log, why something is not found."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from oraclerag import doctor as examining
from oraclerag import in_force, queue, searches
from oraclerag import status as looking
from oraclerag import why as explaining
from oraclerag.asking import Asking
from oraclerag.records import SourceKey
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from oraclerag.source import tenants_mapped

if TYPE_CHECKING:
    from oraclerag.why import Why

__all__ = ["Inspection"]


class Inspection(Asking):
    """The part of :class:`oraclerag.Rag` that looks, and changes nothing."""

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

    def search_statistics(
        self, *, tenant: str | None = None, since: dt.datetime | dt.date | None = None, days: int | None = None
    ) -> searches.SearchStatistics:
        """Give the search log in figures, of one tenant or of all, since a time or in the last ``days``; no texts.

        For a scope: ``searches.stats``. Raises InputError, RowsHidden where row security hides other tenants.
        """
        return searches.count(self.database, tenant=tenant, since=since, days=days)

    def status(self) -> looking.StatusReport:
        """Look at schema, model, index, sources and queue, and say what is wrong.

        Raises only where the database cannot be reached.
        """
        return looking.status(self.database)

    def doctor(
        self, *, heartbeat: Path | None = None, probe: bool = False, max_lag: float = examining.MAX_LAG
    ) -> examining.DoctorReport:
        """Make every check of the installation, its database and this process; each finding says what to type.

        ``heartbeat`` is the file of a worker on this host; a change may wait ``max_lag`` seconds. ``probe`` also asks
        the configured endpoints whether they answer. Reads alone, and raises nothing: what cannot be looked at is a
        finding too.
        """
        return examining.examine(self.database, self._sources, heartbeat=heartbeat, probe=probe, max_lag=max_lag)

    def probe(self, *, said: Callable[[str], None] = lambda _: None) -> tuple[examining.Measurement, ...]:
        """Measure on this database what documentation does not say; what cannot be measured is unknown.

        A table of its own is made for it and dropped at the end; ``said`` is told its name before.
        """
        return examining.measure(self.database, said=said)

    def why(
        self,
        question: str,
        key: SourceKey,
        *,
        scope: Scope,
        seen_by: Scope | None = None,
        look: bool = False,
        **options: Unpack[SearchOptions],
    ) -> Why:
        """Say why ``scope`` does or does not find an entity for a question, asked with the options of a search.

        What ``scope`` sees nothing of, it is told nothing of: such an entity and one that is not there give the same. A
        manager's scope is also told of what is hidden, waits or was given up in its tenant, and may ask with
        ``seen_by`` why another scope of the tenant does not find something. ``look`` reads the source too. Reads
        alone; ranks are counted over all that the search may look at. Raises InputError, MissingTenant, ModelNotActive.
        """
        asker = self._asker(scope, options)
        mapped = tenants_mapped(self._sources)
        return explaining.why(
            self.database,
            self._searcher,
            self._sources,
            question,
            key,
            asker=asker,
            scope=asker if seen_by is None else self._asker(seen_by, options),
            options=options,
            look=look,
            default_tenant=None if mapped else self.database.settings.tenant,
        )
