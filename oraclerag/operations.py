"""What an operator asks of an installation: make it ready, look at it, repair its queue and its index."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from oraclerag import deploy as deploying
from oraclerag import index, queue, schema, searches, security
from oraclerag import triggers as triggering
from oraclerag.deploy import Deployment, DeployReport
from oraclerag.errors import InputError, SchemaMissing
from oraclerag.index import AccuracyReport, IndexOptions, IndexStatus, TextIndexStatus
from oraclerag.inspection import Inspection
from oraclerag.provision import ProvisionReport, provision
from oraclerag.records import SearchResult, SourceKey
from oraclerag.reembed import Reembedding
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from oraclerag.source import Source, find, tenants_mapped

if TYPE_CHECKING:
    from oraclerag.triggers import TriggerPlan

__all__ = ["Operations"]


class Operations(Inspection):
    """The part of :class:`oraclerag.Rag` that is around the path: its database, its sources, what is done to them."""

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
        directory: str | None = None,
        url: str | None = None,
        sha256: str | None = None,
        said: Callable[[str], None] = lambda _: None,
    ) -> ProvisionReport:
        """Make a database ready: tables, model, vector column. See :func:`oraclerag.provision.provision`."""
        report = provision(
            self.database,
            model_file=model_file,
            weights=weights,
            directory=directory,
            url=url,
            sha256=sha256,
            said=said,
        )
        self._searcher.forget()
        return report

    @property
    def reembedding(self) -> Reembedding:
        """A switch of the embedding model without a gap: fill, compare, switch, rollback, finish."""
        return Reembedding(self.database, self.settings, lambda scope: self._asker(scope, {}), self._sources)

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

    def deployment(self) -> Deployment:
        """Find out what this configuration changes of what is in force, and what that costs; writes nothing.

        Raises ModelNotActive, SchemaMissing.
        """
        return deploying.plan(self.database, self._chosen(None), self.settings)

    def deploy(self, planned: Deployment, *, said: Callable[[str], None] = lambda _: None) -> DeployReport:
        """Do what :meth:`deployment` gave, after somebody has seen it. See :func:`oraclerag.deploy.apply`; commits."""
        return deploying.apply(self.database, self._chosen(None), self.settings, planned, said=said)

    def build_index(
        self, *, said: Callable[[str], None] = lambda _: None, **options: Unpack[IndexOptions]
    ) -> IndexStatus:
        """Build the vector index if there is none. See :func:`oraclerag.index.build` and :class:`IndexOptions`."""
        found = index.build(self.database, said=said, **options)
        self._searcher.forget()
        return found

    def rebuild_index(
        self, *, said: Callable[[str], None] = lambda _: None, **options: Unpack[IndexOptions]
    ) -> IndexStatus:
        """Build the vector index anew. See :func:`oraclerag.index.rebuild` and :class:`IndexOptions`."""
        try:
            return index.rebuild(self.database, said=said, **options)
        finally:
            self._searcher.forget()  # the old one may be gone where the new one could not be built

    def index_status(self) -> IndexStatus:
        """Look at the vector index: state, rows now and when it was built, and what to do. Raises ModelNotActive."""
        return index.status(self.database)

    def build_text_index(
        self, *, said: Callable[[str], None] = lambda _: None, replace: bool = False
    ) -> TextIndexStatus:
        """Build the text index of hybrid searches if there is none, or anew with ``replace``.

        See :func:`oraclerag.index.build_text` and :func:`oraclerag.index.rebuild_text`.
        """
        make = index.rebuild_text if replace else index.build_text
        try:
            return make(self.database, said=said)
        finally:
            self._searcher.forget()

    def text_index_status(self) -> TextIndexStatus:
        """Look at the text index: state, and how many changed chunks it does not know yet."""
        return index.text_status(self.database)

    def sync_text_index(self) -> TextIndexStatus:
        """Have the text index learn what it does not know yet. See :func:`oraclerag.index.sync_text`."""
        return index.sync_text(self.database)

    def drop_text_index(self) -> bool:
        """Drop the text index; gives whether there was one. Commits."""
        try:
            return index.drop_text(self.database)
        finally:
            self._searcher.forget()

    def security_script(self, *, worker: str | None = None, readers: Sequence[str] = security.READERS) -> str:
        """Give the SQL*Plus script that :meth:`install_security` runs, without ``worker`` :meth:`uninstall_security`.

        Needs no database where the setting ``schema`` or ``user`` names the owner. Raises ConfigurationError.
        """
        owner = self.settings.schema or self.settings.user or self.database.schema
        return security.script(owner, worker=worker, readers=readers)

    def install_security(self, *, worker: str, readers: Sequence[str] = security.READERS) -> security.Protection:
        """Have the database keep tenants apart by itself. See :func:`oraclerag.security.install`."""
        return security.install(self.database, worker=worker, readers=readers)

    def uninstall_security(self) -> None:
        """Take that away again. See :func:`oraclerag.security.uninstall`."""
        security.uninstall(self.database)

    def verify_security(self) -> security.IsolationReport:
        """Look whether it holds, as this database user. See :func:`oraclerag.security.verify`."""
        return security.verify(self.database)

    def index_accuracy(
        self,
        *,
        scope: Scope,
        questions: Sequence[str] | None = None,
        sample: int | None = None,
        k: int = 10,
        shares: Sequence[float] = (),
        accuracy: int | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> AccuracyReport:
        """Measure how much an approximate search misses: recall@``k`` against an exact one, with its interval.

        Asked are ``questions``, else the ``sample`` (1 to 10,000, default 50) that were asked last in the scope's
        tenant, else words of as many of its chunks. ``scope`` must be a manager's, for these are questions and texts of
        the whole tenant. ``shares`` (0 to 1) measure among parts of the chunks too, as filters leave them. ``accuracy``
        is the target in percent (default: the setting). ``on_progress`` is told how many searches of how many are done.
        Raises InputError, also without a usable index, MissingTenant, ModelNotActive.
        """
        if not isinstance(scope, Scope):
            raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
        if not scope.manager:
            raise InputError(
                "The accuracy of the index is measured with questions and texts of a whole tenant: it takes the scope "
                "of a manager.",
                hint="Scope(tenant=…, manager=True)",
            )
        resolved = scope.resolve(self.database.settings.tenant, tenants_mapped=tenants_mapped(self._sources))
        asked = index.questions_of(self.database, str(resolved.tenant), questions, sample)

        def ask(question: str, mode: Literal["auto", "exact", "approx"], share: float | None) -> SearchResult:
            options = SearchOptions(k=k, mode=mode, codes=False, accuracy=accuracy)
            return self._searcher.search_share(question, scope=resolved, options=options, share=share)

        return index.measure(self.database, ask, asked, k=k, shares=shares, accuracy=accuracy, on_progress=on_progress)

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

    def purge_searches(
        self, older_than: dt.timedelta | None = None, *, tenant: str | None = None, texts_only: bool = False
    ) -> searches.SearchPurge:
        """Forget what was asked longer ago than ``older_than`` (default: the setting ``searches_keep_days``).

        ``texts_only`` clears questions, prompts, answers and notes and keeps the rest. Of one ``tenant``, or of all.
        Commits, in slices. Raises InputError where nothing says how old, RowsHidden as counting does.
        """
        return searches.purge(self.database, older_than, tenant=tenant, texts_only=texts_only)
