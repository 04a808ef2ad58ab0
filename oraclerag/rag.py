"""Rag: the object a program holds."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from oraclerag import audit as auditing
from oraclerag import backfill as backfilling
from oraclerag import check as checking
from oraclerag import counts, in_force, index, queue, schema
from oraclerag import drain as draining
from oraclerag import enqueue as enqueuing
from oraclerag import status as looking
from oraclerag import track as tracking
from oraclerag import triggers as triggering
from oraclerag import wait as waiting
from oraclerag import worker as working
from oraclerag.chunk import Limits, chunks
from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.database import Database, driver_connection
from oraclerag.errors import ConfigurationError, InputError, SchemaMissing
from oraclerag.heartbeat import State
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.provision import ProvisionReport, provision
from oraclerag.records import (
    Action,
    AuditReport,
    BackfillEstimate,
    BackfillReport,
    Chunk,
    DrainReport,
    SearchResult,
    SourceKey,
    Visibility,
)
from oraclerag.scope import Scope
from oraclerag.search import Searcher
from oraclerag.source import FunctionSource, Reader, Source, built_in, find, from_settings, tenants_mapped

if TYPE_CHECKING:
    import oracledb
    import sqlalchemy

    from oraclerag.triggers import TriggerPlan

__all__ = ["Rag"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Rag:
    """Retrieval over an Oracle database: sources, queue, worker and search of one installation.

    ``settings`` default to :meth:`Settings.load`. Connections come from ``engine`` (SQLAlchemy) or ``pool`` (oracledb)
    where one is given; both stay the caller's. Otherwise a pool of its own is opened when it is first needed;
    :meth:`close`, or leaving a ``with`` block, closes it. Threads may share a Rag.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        engine: sqlalchemy.Engine | None = None,
        pool: oracledb.ConnectionPool | None = None,
    ) -> None:
        self.settings = settings if settings is not None else Settings.load()
        self.database = Database(self.settings, engine=engine, pool=pool)
        self._sources = from_settings(self.settings) | built_in(self.settings, self.database.schema_on)
        self._tables_are_ours = False
        self._searcher = Searcher(self.database, check=schema.require)
        self._worker = threading.local()

    def __enter__(self) -> Rag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what this object opened."""
        self.database.close()

    # -- sources ------------------------------------------------------------------------------------------------------

    @property
    def sources(self) -> Mapping[str, Source]:
        """What can be indexed, by name: what is configured and what is built in."""
        return self._sources

    def source(
        self,
        name: str,
        *,
        visibility: Visibility,
        ids: str | None = None,
        tenants: bool = False,
        collection: str | None = None,
        time_zone: str = "UTC",
        version: str = "1",
        egress: bool = True,
        cutting: Cutting | None = None,
    ) -> Callable[[_Function], _Function]:
        """Declare a source by a function ``(connection, ids) -> {id: Document}``; a missing id is gone.

        ``visibility`` says who sees its documents ("shared": the tenant; "owner": their owner and managers), ``ids``
        is the query over all ids, needed for backfill, with the tenant in a second column where ``tenants`` is set.
        Raise ``version`` when the function makes another text. ``egress`` says whether a text may be sent outside the
        database; nothing in this version sends any. ``cutting`` says how texts are cut (default: whole). Raises
        ConfigurationError.
        """

        def declare(function: _Function) -> _Function:
            if name in self._sources:
                raise ConfigurationError(f"The source {name!r} is configured twice.")
            reader: Reader = function
            self._sources[name] = FunctionSource(
                name,
                reader,
                visibility=visibility,
                ids=ids,
                tenants=tenants,
                collection=collection,
                time_zone=time_zone,
                version=version,
                egress=egress,
                cutting=self.settings.cutting(cutting or Cutting()),
                default_tenant=self.settings.tenant,
            )
            return function

        return declare

    def check_sources(self, name: str | None = None) -> list[checking.SourceCheck]:
        """Find what fails or will fail in one source, or in all; no problems is green.

        A source that was paused and is green is taken up again, which commits. Raises UnknownSource.
        """
        found = []
        for checked in checking.check(self.database, self._chosen(name)):
            if checked.green:
                more = triggering.problems(self.database, self._sources[checked.source])
                checked = dataclasses.replace(checked, problems=(*checked.problems, *more))
            found.append(checked)
        return found

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

    # -- write path ---------------------------------------------------------------------------------------------------

    def enqueue(self, connection: Any, key: SourceKey, *, action: Action = "UPSERT") -> None:
        """Announce a change in the caller's own transaction: one INSERT, taken back by a rollback.

        ``connection`` is a SQLAlchemy Connection or Session, or an oracledb connection. Never commits. Raises
        UnknownSource, MissingTenant where the source maps tenants and ``key`` names none, and AutocommitRefused.
        """
        schema_name = self.database.schema_on(driver_connection(connection))
        enqueuing.enqueue(connection, key, sources=self._sources, schema=schema_name, action=action)

    def enqueue_statement(self, key: SourceKey, *, action: Action = "UPSERT") -> sqlalchemy.Insert:
        """Give the announcement as a SQLAlchemy Insert, for an AsyncSession and others.

        Raises UnknownSource and MissingTenant, as :meth:`enqueue` does.
        """
        return enqueuing.enqueue_statement(
            key, sources=self._sources, schema=self.settings.schema or None, action=action
        )

    def track(
        self,
        sessions: Any,
        entity: type,
        key: str | Sequence[str] | tracking.KeyOf = "id",
        *,
        tenant: str | None = None,
        source: str | None = None,
    ) -> tracking.Tracking:
        """Enqueue what the sessions of SQLAlchemy's ORM write of a mapped class, in the transaction that writes it.

        ``sessions`` is a sessionmaker, a scoped_session, a Session class, one Session, or an asynchronous twin of one.
        ``key`` names the attribute that holds the id (several: in the order of the source's ``key``) of ``source``,
        which defaults to the class's name in lower case, KbArticle being kb_article; ``tenant`` the attribute with the
        tenant. Or ``key`` is a function that gives the SourceKeys an object concerns (a comment its task): it is asked
        of the object as it was, too. A flush is one INSERT of many rows, and nothing where no column changed; a key is
        announced once in a transaction. Bulk statements over the class raise InputError: they name no rows. The result
        ends it (``stop()``). Raises UnknownSource, InputError, ConfigurationError where the source maps tenants and
        ``tenant`` is not given.
        """
        return tracking.track(
            sessions,
            entity,
            key,
            tenant=tenant,
            source=source,
            sources=self._sources,
            schema_on=self.database.schema_on,
        )

    def backfill(
        self,
        *,
        source: str | None = None,
        tenant: str | None = None,
        everything: bool = False,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> list[BackfillReport]:
        """Enqueue what is missing or was made with other settings, or everything, of one source or of all.

        ``on_progress`` is told the source, how many of its ids are done, and how many it has. Commits, a slice of
        50,000 ids at a time. Raises UnknownSource, InputError for a ``tenant`` that the source cannot have, Contention
        where another backfill of the source runs, ModelNotActive, SchemaMissing.
        """
        self._require_tables()
        return [
            backfilling.backfill(
                self.database,
                one,
                self.settings,
                tenant=tenant,
                everything=everything,
                on_progress=_of(one, on_progress),
            )
            for one in self._chosen(source)
        ]

    def estimate_backfill(
        self, *, source: str | None = None, tenant: str | None = None, everything: bool = False
    ) -> list[BackfillEstimate]:
        """Say what :meth:`backfill` would enqueue, and about how many tokens and minutes that is; writes nothing."""
        self._require_tables()
        return [
            backfilling.estimate(self.database, one, self.settings, tenant=tenant, everything=everything)
            for one in self._chosen(source)
        ]

    def audit(
        self,
        *,
        source: str | None = None,
        tenant: str | None = None,
        sample: int | None = None,
        repair: bool = False,
        examples: int = 5,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> list[AuditReport]:
        """Compare the index with one source or with all, rendering every entity again, without embedding any.

        ``sample`` (1 to 1,000,000) looks at so many entities of each source, drawn at random; ``tenant`` at those of
        one tenant. ``repair`` enqueues what is wrong, to be written anew. ``examples`` of every kind are named. Raises
        SourceChanged where other settings of a source are in force than these, UnknownSource, InputError,
        ModelNotActive, SchemaMissing.
        """
        self._require_tables()
        return [
            auditing.audit(
                self.database,
                one,
                self.settings,
                tenant=tenant,
                sample=sample,
                repair=repair,
                examples=examples,
                on_progress=_of(one, on_progress),
            )
            for one in self._chosen(source)
        ]

    def drain(self) -> DrainReport:
        """Work off one batch of the queue; an empty report means that nothing waits.

        Commits. Raises what stops a whole worker: ModelNotActive, SchemaMissing, ConnectionFailed and other outages;
        what was claimed is given back before.
        """
        self._require_tables()
        return draining.drain(self.database, self._sources, self.settings, state=self._worker_state())

    def _worker_state(self) -> draining.WorkerState:
        """From batch to batch, so that tenants and lanes take turns; one per thread, for threads may share a Rag."""
        if not hasattr(self._worker, "state"):
            self._worker.state = draining.WorkerState()
        state: draining.WorkerState = self._worker.state
        return state

    def index_now(self, keys: SourceKey | Iterable[SourceKey], *, timeout: float = 60.0) -> DrainReport:
        """Announce entities and index them now, in this process; afterwards they are found as their sources are.

        For tests, and interfaces that must read their own writes; commit what was written before. Goes through the
        queue as workers do: an entity that one of them holds is waited for, ``timeout`` seconds altogether (0 to
        86,400). The report says what was done here. Commits. Raises IndexingFailed where entities were postponed or
        given up, IndexingTimeout (both say which: ``error.keys``), SourceError where a source is paused or other
        settings of it are in force, and as :meth:`enqueue` and :meth:`drain` do; what was announced stays so.
        """
        self._require_tables()
        return waiting.index_now(
            self.database, self._sources, self.settings, keys, timeout=timeout, state=self._worker_state()
        )

    def wait(self, keys: SourceKey | Iterable[SourceKey] | None = None, *, timeout: float = 60.0) -> None:
        """Wait until workers have applied what was announced before: of ``keys``, or everything in the queue.

        Counts what was committed when it is called; later changes are not waited for. Nothing is done here: a worker
        must run. Raises IndexingFailed where changes were given up, and IndexingTimeout after ``timeout`` seconds (0 to
        86,400); both say which: ``error.keys``.
        """
        self._require_tables()
        waiting.wait(self.database, keys, timeout=timeout)

    def work(
        self,
        stop: working.Stop | None = None,
        *,
        once: bool = False,
        patient: bool = False,
        on_batch: Callable[[DrainReport], None] | None = None,
        on_beat: Callable[[State], None] | None = None,
    ) -> DrainReport:
        """Work until ``stop`` (an Event, or a function) says so, or with ``once`` until nothing waits.

        A batch is always ended. ``on_batch`` is told each of them, ``on_beat`` after each of them and at least every
        ten seconds while there is nothing to do or something is down; the sum of the batches is given. Raises as
        :meth:`drain` does; outages after the first batch, or also before it if ``patient``, are waited out instead,
        unless ``once``.
        """
        recount = counts.Recount(self.database)

        def told(report: DrainReport) -> None:
            recount.told(report)
            if on_batch is not None:
                on_batch(report)

        total = working.work(
            self.database,
            self._sources,
            self.settings,
            stop,
            once=once,
            patient=patient,
            on_report=told,
            on_beat=on_beat,
        )
        if once:
            recount.now()
        return total

    def _require_tables(self) -> None:
        """Make sure, once, that the tables are those of this version before anything is written to them."""
        if not self._tables_are_ours:
            with self.database.connect() as connection:
                schema.require(connection, self.database.schema)
            self._tables_are_ours = True

    def finish(self) -> index.IndexStatus:
        """After much was indexed: count the chunks, and build the vector index if there is none and it is worth it."""
        counts.refresh(self.database)
        found = index.build_when_worthwhile(self.database)
        self._searcher.forget()
        return found

    def chunk(self, text: str, *, cutting: Cutting | None = None, title: str | None = None) -> list[Chunk]:
        """Cut a text as it would be cut for the model in force (default: whole).

        Raises ConfigurationError where the model reads less than the size asked for, ModelNotActive.
        """
        return list(chunks(text, Limits.of(self.model()), self.settings.cutting(cutting or Cutting()), title=title))

    def model(self) -> ActiveModel:
        """Give the embedding model in force. Raises ModelNotActive, SchemaMissing."""
        with self.database.connect() as connection:
            return active_model(connection, self.database.schema, configured=self.settings.embedding_model)

    # -- read path ----------------------------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        scope: Scope,
        k: int | None = None,
        source: str | Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the field's word
        connection: Any = None,
    ) -> SearchResult:
        """Find the ``k`` chunks nearest to ``question`` that ``scope`` may see; iterating the result gives the hits.

        ``k`` (1 to 10,000) defaults to the setting. ``source`` names one source or several; ``filter`` asks for
        equality on ``project``, ``sprint``, ``collection``, ``source_type`` or ``metadata.NAME``. ``connection``
        (SQLAlchemy Connection or Session, or oracledb) is read on as it is, never committed. Raises InputError,
        MissingTenant, UnknownSource, ModelNotActive and what the database says.
        """
        if not isinstance(scope, Scope):
            raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
        sources = (source,) if isinstance(source, str) else tuple(source or ())
        for name in sources:
            if self._configured() or name in self._sources:  # a program that only searches need not configure sources
                find(self._sources, name)
        return self._searcher.search(
            question,
            scope=scope.resolve(self.settings.tenant, tenants_mapped=tenants_mapped(self._sources)),
            k=k,
            sources=sources,
            filter=filter,
            connection=connection,
        )

    async def asearch(
        self,
        question: str,
        *,
        scope: Scope,
        k: int | None = None,
        source: str | Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the field's word
    ) -> SearchResult:
        """Like :meth:`search`, for asynchronous programs: it runs in a thread, on a connection of its own."""
        return await asyncio.to_thread(self.search, question, scope=scope, k=k, source=source, filter=filter)

    # -- around the path ----------------------------------------------------------------------------------------------

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


def _of(source: Source, told: Callable[[str, int, int], None] | None) -> Callable[[int, int], None] | None:
    return None if told is None else functools.partial(told, source.name)
