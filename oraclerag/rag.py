"""Rag: the object a program holds."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from oraclerag import answer as answering
from oraclerag import audit as auditing
from oraclerag import backfill as backfilling
from oraclerag import check as checking
from oraclerag import counts, generate, index, schema, vector_chunks
from oraclerag import diagnose as diagnosing
from oraclerag import drain as draining
from oraclerag import enqueue as enqueuing
from oraclerag import ingest as ingesting
from oraclerag import recheck as rechecking
from oraclerag import track as tracking
from oraclerag import triggers as triggering
from oraclerag import wait as waiting
from oraclerag import wipe as wiping
from oraclerag import worker as working
from oraclerag.chunk import Limits, chunks, storable
from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.database import Database, driver_connection
from oraclerag.embed import embed_questions
from oraclerag.envelope import Envelope
from oraclerag.errors import ConfigurationError
from oraclerag.heartbeat import State
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import configured_name
from oraclerag.operations import Operations
from oraclerag.records import (
    Action,
    AuditReport,
    BackfillEstimate,
    BackfillReport,
    Chunk,
    DrainReport,
    Piece,
    Resolution,
    SourceKey,
    Visibility,
    WipeReport,
)
from oraclerag.resolution import Resolutions
from oraclerag.scope import Scope
from oraclerag.search import Searcher
from oraclerag.source import FunctionSource, Reader, Source, built_in, from_settings
from oraclerag.tenants import Tenants
from oraclerag.tenants.place import Place

if TYPE_CHECKING:
    import oracledb
    import sqlalchemy

__all__ = ["Rag"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Rag(Operations):
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
        self._searcher = Searcher(
            self.database,
            check=schema.require,
            recheck=rechecking.Recheck(self.database, self._sources),
            embed=functools.partial(embed_questions, self.settings),
        )
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
        recheck: bool = False,
        cutting: Cutting | None = None,
    ) -> Callable[[_Function], _Function]:
        """Declare a source by a function ``(connection, ids) -> {id: Document}``; a missing id is gone.

        ``visibility`` says who sees its documents ("shared": the tenant; "owner": their owner and managers), ``ids``
        is the query over all ids, needed for backfill, with the tenant in a second column where ``tenants`` is set.
        Raise ``version`` when the function makes another text. ``egress`` says whether a text may be sent to a language
        model that is not on this machine. ``recheck``: hits are looked up in the source before they are
        returned, see docs/search.md. ``cutting`` says how texts are cut (default: whole). Raises ConfigurationError.
        """

        def declare(function: _Function) -> _Function:
            if name in self._sources and not self._sources[name].built_in:  # those have names that nobody may take
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
                recheck=recheck,
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

    def wipe(
        self,
        *,
        source: str | None = None,
        tenant: str | None = None,
        collection: str | None = None,
        announce: bool = False,
        dry_run: bool = False,
        wait: float = 60.0,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> WipeReport:
        """Empty the index of a source, tenant or collection, of what is all of these, or without any of everything.

        Chunks, documents and what is remembered of them go; tables of applications, files and resolutions stay, so
        :meth:`backfill` has all of it made anew. ``announce`` enqueues each entity in the transaction that empties it.
        ``dry_run`` counts only. What workers hold is waited for, ``wait`` seconds (0 to 86,400). Texts in the search
        log that quote it go too. Commits, in slices; what was interrupted is run again. Raises InputError, Contention
        where workers hold something for longer, RowsHidden.
        """
        self._require_tables()
        try:
            return wiping.wipe(
                self.database, self._sources, source=source, tenant=tenant, collection=collection, announce=announce,
                dry_run=dry_run, wait=wait, on_progress=on_progress,
            )  # fmt: skip
        finally:
            self._searcher.forget()

    @property
    def tenants(self) -> Tenants:
        """The tenants of the installation: list, onboard, verify, export, remove."""
        self._require_tables()
        place = Place(self.database, self.settings, self._sources, functools.partial(self.search, log=False))
        return Tenants(place, functools.partial(self.work, once=True))

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
        limits, cutting = Limits.of(self.model()), self.settings.cutting(cutting or Cutting())
        return list(chunks(text, limits, cutting, title=title, pieces=self.pieces(text, cutting)))

    def pieces(self, text: str, cutting: Cutting) -> tuple[Piece, ...] | None:
        """Have the database cut a text by VECTOR_CHUNKS where ``cutting`` says so; else give None.

        Raises StatementFailed.
        """
        if cutting.clause is None:
            return None
        with self.database.connect() as connection:
            return vector_chunks.pieces(connection, storable(text), cutting.clause)

    def model(self) -> ActiveModel:
        """Give the embedding model in force. Raises ModelNotActive, SchemaMissing."""
        with self.database.connect() as connection:
            return active_model(connection, self.database.schema, configured=configured_name(self.settings))

    def record_resolution(self, resolution: Resolution) -> Resolution:
        """Keep a resolved incident, or replace the one that has its ``id``, and announce it; commits.

        Gives it as it is kept, with its id; what else can be done with it: :attr:`resolutions`. Raises InputError,
        MissingTenant where a source maps tenants and the resolution names none, SchemaMissing.
        """
        return self.resolutions.record(resolution)

    @property
    def resolutions(self) -> Resolutions:
        """Resolved incidents: list, get, validate, remove, each for a scope."""
        self._require_tables()
        return Resolutions(self.database, self._sources)

    def ingest(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        kind: ingesting.FileKind = "docs",
        collection: str | None = None,
        tenant: str | None = None,
        owner: str | None = None,
        visibility: Visibility = "shared",
        envelope: Envelope | None = None,
        metadata: Mapping[str, Any] | None = None,
        occurred_at: dt.datetime | None = None,
        root: str | os.PathLike[str] | None = None,
        name: str | None = None,
        encoding: str | None = None,
        max_bytes: int = ingesting.DEFAULT_MAX_BYTES,
        prune: bool = False,
        force: bool = False,
        stdin: BinaryIO | None = None,
        on_file: Callable[[ingesting.IngestedFile, int, int], None] | None = None,
    ) -> ingesting.IngestReport:
        """Take in files: folders with all below them, patterns, single files, or ``"-"`` for ``stdin``.

        ``kind`` "docs" (Markdown, text, HTML, PDF) is cut into passages, "diagnostics" at the marks of what Oracle
        writes, with secrets masked. A file is known by ``tenant``, ``collection`` (default: the kind) and its name: the
        folder's name, or ``name``, and the path inside of it, or inside of ``root``. What is unchanged is left alone; a
        changed file is replaced; with ``prune`` what has left a folder is removed, more than half of it with ``force``
        alone. ``envelope``, ``metadata`` and ``occurred_at`` are said of all of them. A file that cannot be read stops
        no other: the report says so. Chunks are made by workers, or by :meth:`index_now` of ``report.keys``. Commits,
        file by file. Raises InputError, MissingTenant where a source maps tenants and none is named, SchemaMissing.
        """
        self._require_tables()
        options = ingesting.Options(
            kind=kind,
            collection=collection,
            tenant=tenant,
            owner=owner,
            visibility=visibility,
            envelope=envelope or Envelope(),
            metadata=metadata or {},
            occurred_at=occurred_at,
            root=None if root is None else Path(root),
            name=name,
            encoding=encoding,
            max_bytes=max_bytes,
            prune=prune,
            force=force,
        )
        return ingesting.ingest(
            self.database,
            self._sources,
            [paths] if isinstance(paths, (str, os.PathLike)) else list(paths),
            options,
            default_tenant=self.settings.tenant,
            stdin=stdin,
            on_file=on_file,
        )

    def diagnose(
        self,
        report: str | os.PathLike[str] | BinaryIO,
        *,
        scope: Scope,
        env: str | None = None,
        module: str | None = None,
        version: str | None = None,
        script: str | None = None,
        analysis: diagnosing.Analysis | Mapping[str, Any] | str | None = None,
        name: str | None = None,
        store: bool | None = None,
        visibility: Visibility = "shared",
        send_report: bool = False,
        cases: int = 3,
        notes: int = 5,
        fallback: bool = False,
        min_score: float | None = None,
        how: answering.Prompting | None = None,
        log: bool | None = None,
        encoding: str | None = None,
        max_bytes: int = ingesting.DEFAULT_MAX_BYTES,
    ) -> diagnosing.Diagnosis:
        """Find out what a report of Oracle says, what ``scope`` may know of that, and the cited way out.

        ``report`` is a file (a Path), a text, or a binary stream; gzip is unpacked, secrets are masked. ``env``
        ("PROD-US-01"), ``module``, ``version`` and ``script`` are as in :class:`Envelope`: what is of the same comes
        first. ``analysis`` (an Analysis, a mapping or JSON of it) is what is searched for; without one a configured
        language model makes it, or errors and waits of the report are. To a model that is not on this machine nothing
        of the report goes, unless ``send_report``. Where there are error codes, or else waits, only ``cases`` and
        ``notes`` that name one count, others with ``fallback`` alone. A report that has a name, as files have, is
        ingested too (``store``: True or False decides), seen as ``visibility`` says, by the scope's owner. ``how`` and
        ``log`` are as in :meth:`ask`. Raises InputError and what :meth:`search` raises.
        """
        resolved = self._asker(scope, {})
        envelope = Envelope(environment=env, module=module, version=version, script=script)
        asked = diagnosing.Asked(
            envelope, resolved.tenant, analysis=analysis, name=name, store=store, send_report=send_report, cases=cases,
            notes=notes, fallback=fallback, min_score=self.settings.ask_min_score if min_score is None else min_score,
            encoding=encoding, max_bytes=max_bytes,
        )  # fmt: skip
        around = diagnosing.Around(
            functools.partial(self.search, scope=scope, log=False),
            functools.partial(self.expand, scope=scope, before=100, after=100),
            functools.partial(self.ingest, visibility=visibility, owner=resolved.owner),
            self._sources,
            generate.from_settings(self.settings, self.database),
            how or answering.Prompting.of(self.settings),
            self.database,
            resolved,
            log,
        )
        return diagnosing.diagnose(report, asked, around)


def _of(source: Source, told: Callable[[str, int, int], None] | None) -> Callable[[int, int], None] | None:
    return None if told is None else functools.partial(told, source.name)
