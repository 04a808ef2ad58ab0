"""What a user asks of an installation: the read path, every method of it for a scope."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

from oraclerag import answer as answering
from oraclerag import generate, telemetry
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.records import Answer, Hit, Passage, Prompt, SearchResult, StoredChunk, Turn
from oraclerag.reduce import AsBefore, Understanding
from oraclerag.scope import Scope
from oraclerag.search import Searcher, SearchOptions, expand, fetch
from oraclerag.searches import Asked, Course, Kind, Searches, followed, keeping
from oraclerag.searches.replay import refuse_unknown
from oraclerag.security import reading
from oraclerag.source import Source, find, tenants_mapped

__all__ = ["Asking"]


def _of_answer(answer: Answer) -> telemetry.Attributes:
    return {
        "outcome": answer.outcome,
        "generator": answer.generator,
        "reduced_by": answer.reduced_by,
        "hits": len(answer.hits),
        "prompt_sources": None if answer.prompt is None else len(answer.prompt.sources),
        "cited": len(answer.citations),
        "unsupported": answer.support.unsupported,
        "withheld": answer.withheld,
    }


class Asking:
    """The part of :class:`oraclerag.Rag` that reads: search, prompt, ask, and the chunks around hits."""

    database: Database
    settings: Settings
    _sources: dict[str, Source]
    _searcher: Searcher

    def search(
        self,
        question: str,
        *,
        scope: Scope,
        connection: Any = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Find the chunks nearest to ``question`` that ``scope`` may see; iterating the result gives the hits.

        What else can be asked for, ``k``, ``filter``, ``source`` and more: see :class:`SearchOptions`. ``connection``
        (SQLAlchemy Connection or Session, or oracledb) is read on as it is, never committed. ``log`` True or False
        decides whether the search log has it, else the setting ``searches_log``; it is written on another connection.
        Raises InputError, MissingTenant, UnknownSource, ModelNotActive and what the database says.
        """
        resolved = self._asker(scope, options)
        (found,) = self._searched([question], resolved, options, connection, log)
        return found

    def search_each(
        self,
        questions: Sequence[str],
        *,
        scope: Scope,
        connection: Any = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[SearchResult]:
        """Like :meth:`search` for several questions, with the same scope and options; a result for each, in order."""
        if not isinstance(questions, (list, tuple)):
            raise InputError("questions must be a list of texts; for one of them there is search().")
        return self._searched(questions, self._asker(scope, options), options, connection, log)

    async def asearch(
        self, question: str, *, scope: Scope, log: bool | None = None, **options: Unpack[SearchOptions]
    ) -> SearchResult:
        """Like :meth:`search`, for asynchronous programs: it runs in a thread, on a connection of its own."""
        return await asyncio.to_thread(self.search, question, scope=scope, log=log, **options)

    def ask(
        self,
        question: str,
        *,
        scope: Scope,
        how: answering.Prompting | None = None,
        session: str | None = None,
        on_text: Callable[[str], None] | None = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Answer a question from what ``scope`` may see, with citations; see :class:`Answer`.

        Who writes is the setting ``generate_provider``: by default nobody, and the best sentences are quoted. ``how``
        says how the prompt is made (default: the settings ``ask_…``), ``options`` are those of :meth:`search`;
        ``on_text`` is given the text as it is written. With a ``session``, a name of 1 to 128 bytes, a follow-up is
        understood from what exactly this scope asked in it before. The search log has it, unless ``log`` or the setting
        ``searches_log`` says otherwise. Raises what :meth:`search` raises, ConfigurationError, also where a session has
        no log to be read from, and ProviderError.
        """
        return self._answered(question, scope, how, options, session=session, on_text=on_text, log=log)

    @telemetry.spanned("oraclerag.ask", of=_of_answer, duration="oraclerag.ask.duration")
    def _answered(
        self,
        question: str,
        scope: Scope,
        how: answering.Prompting | None,
        options: SearchOptions,
        *,
        session: str | None = None,
        on_text: Callable[[str], None] | None = None,
        log: bool | None = None,
        understanding: Understanding | None = None,
    ) -> Answer:
        """Answer a question; ``understanding`` says what of it is searched for, where not the settings do."""
        resolved = self._asker(scope, options)
        how = how or answering.Prompting.of(self.settings)
        chosen = answering.options_of(self.settings, options)
        course = Course(step="reduce")
        run = functools.partial(
            answering.answer,
            question,
            functools.partial(self._searcher.search, scope=resolved, options=chosen),
            self._sources,
            generate.from_settings(self.settings, self.database),
            how,
            reducer=understanding or answering.reducer(self.settings, how, self.database),
            turns=self._turns(session, scope),
            on_text=on_text,
            course=course,
        )
        kept = keeping(self.database, "ask", log)
        if kept is None:
            return run()
        asked = self._asked("ask", question, resolved, chosen, how, session)
        answer, (number,) = followed(self.database, kept, [asked], [course], run)
        return dataclasses.replace(answer, search_id=number)

    async def aask(
        self,
        question: str,
        *,
        scope: Scope,
        how: answering.Prompting | None = None,
        session: str | None = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Like :meth:`ask`, for asynchronous programs: it runs in a thread."""
        return await asyncio.to_thread(self.ask, question, scope=scope, how=how, session=session, log=log, **options)

    def prompt(
        self,
        question: str,
        *,
        scope: Scope,
        how: answering.Prompting | None = None,
        session: str | None = None,
        connection: Any = None,
        **options: Unpack[SearchOptions],
    ) -> Prompt | None:
        """Give the prompt that :meth:`ask` would send for a question; None where nothing is found.

        ``connection`` is read on as by :meth:`search`, ``session`` as by :meth:`ask`. Nothing is sent, but for the
        question where a language model reduces it (``reduce_by``). Raises what :meth:`ask` raises.
        """
        chosen = answering.options_of(self.settings, options)
        search = functools.partial(self.search, scope=scope, connection=connection, log=False, **chosen)
        how = how or answering.Prompting.of(self.settings)
        return answering.prepared(
            question,
            search,
            self._sources,
            how,
            local=generate.from_settings(self.settings, self.database).local,
            reducer=answering.reducer(self.settings, how, self.database),
            turns=self._turns(session, scope),
        ).prompt

    def fetch(
        self, keys: fetch.Name | Iterable[fetch.Name], *, scope: Scope, connection: Any = None
    ) -> list[StoredChunk]:
        """Give chunks by their names, as far as ``scope`` may see them now, in the order of the names.

        A name is the key of a hit ("task:42:0"), a chunk id, or a SourceKey: every chunk of that entity (10,000 at
        most). What is not there and what the scope may not see is left out alike. Raises InputError, MissingTenant.
        """
        wanted, resolved = fetch.names(keys), self._asker(scope, {})
        with reading(self.database, resolved.tenant, connection) as (opened, owner):
            return fetch.chunks(opened, owner, resolved, wanted)

    def expand(
        self,
        hits: Iterable[Hit | StoredChunk],
        *,
        scope: Scope,
        how: expand.Around = "neighbours",
        before: int = 1,
        after: int = 1,
        max_bytes: int = expand.MAX_BYTES,
        connection: Any = None,
    ) -> list[Passage]:
        """Give the text around hits, in their order; hits of one entity that are near to each other share a passage.

        ``how``: "neighbours" (so many chunks ``before`` and ``after``, 0 to 100), "section" (all chunks of a hit's
        section), "parent" (the whole text of its entity). A passage has at most ``max_bytes`` (4,000 to 1,000,000): of
        what is longer, what is nearest to its best hit, of a parent the beginning. The scope is asked again: a hit that
        it may no longer see has no passage. Raises InputError, MissingTenant.
        """
        asked = expand.around(hits, how, before=before, after=after, max_bytes=max_bytes)
        resolved = self._asker(scope, {})
        with reading(self.database, resolved.tenant, connection) as (opened, owner):
            return fetch.surroundings(opened, owner, resolved, asked)

    @property
    def searches(self) -> Searches:
        """The log of what was asked: list, show, replay, turns, feedback, figures, each for a scope."""
        return Searches(self.database, functools.partial(self._asker, options={}), self._search_again, self._ask_again)

    def feedback(self, search_id: int, good: bool, note: str | None = None, *, scope: Scope) -> None:
        """Note of a logged search whether it was good, and why (at most 4,000 bytes); commits.

        ``search_id`` is what an Answer has. What was said before is replaced. Raises InputError, also where ``scope``
        sees none of this number, and MissingTenant.
        """
        self.searches.feedback(search_id, good, note, scope=scope)

    def _search_again(self, question: str, *, scope: Scope, log: bool, options: Mapping[str, Any]) -> SearchResult:
        refuse_unknown(options, SearchOptions.__annotations__)
        return self.search(question, scope=scope, log=log, **options)

    def _ask_again(
        self,
        question: str,
        *,
        scope: Scope,
        prompting: Mapping[str, Any],
        understood: Mapping[str, Any],
        log: bool,
        options: Mapping[str, Any],
    ) -> Answer:
        how = answering.Prompting.of(self.settings)
        refuse_unknown(options, SearchOptions.__annotations__)
        refuse_unknown(prompting, [one.name for one in dataclasses.fields(how)])
        how = dataclasses.replace(how, **prompting)
        return self._answered(
            question, scope, how, cast("SearchOptions", options), log=log, understanding=AsBefore(**understood)
        )

    def _turns(self, session: str | None, scope: Scope) -> list[Turn]:
        """Give what this scope has asked in a session, oldest first, as far as it matters to the next question."""
        if session is None:
            return []
        kept = {"off": ("searches.log", "ask"), "hash": ("searches.questions", "text")}
        for setting in (self.settings.searches_log, self.settings.searches_questions):
            if setting in kept:
                name, remedy = kept[setting]
                raise ConfigurationError(
                    f'A session is read from the search log, which has no questions with {name} = "{setting}".',
                    hint=f'Set {name} to "{remedy}", or ask without a session.',
                )
        return self.searches.turns(session, scope=scope)

    @telemetry.spanned("oraclerag.search")
    def _searched(
        self, questions: Sequence[str], scope: Scope, options: SearchOptions, connection: Any, log: bool | None
    ) -> list[SearchResult]:
        """Search for each of several questions, and log them where that is wanted."""
        run = functools.partial(
            self._searcher.search_each, questions, scope=scope, options=options, connection=connection
        )
        kept = keeping(self.database, "search", log, borrowed=connection is not None)
        if kept is None or not questions:
            return run()
        courses = [Course(searched=question) for question in questions]

        def search() -> list[SearchResult]:
            found = run()
            for course, result in zip(courses, found, strict=True):
                course.result, course.timings["search"] = result, result.seconds
            return found

        asked = [self._asked("search", question, scope, options) for question in questions]
        found, numbers = followed(self.database, kept, asked, courses, search)
        return [dataclasses.replace(result, search_id=number) for result, number in zip(found, numbers, strict=True)]

    def _asked(
        self,
        kind: Kind,
        question: str,
        scope: Scope,
        options: SearchOptions,
        how: answering.Prompting | None = None,
        session: str | None = None,
    ) -> Asked:
        """Give a question as the search log has it."""
        k = options.get("k")
        return Asked(
            kind=kind,
            question=question,
            scope=scope,
            options=options,
            k=self.settings.k if k is None else k,
            prompting=None if how is None else dataclasses.asdict(how),
            session=session,
        )

    def _configured(self) -> list[Source]:
        return [source for source in self._sources.values() if not source.built_in]

    def _asker(self, scope: Scope, options: SearchOptions) -> Scope:
        """Give the scope with its tenant, and look whether the sources asked for are there."""
        if not isinstance(scope, Scope):
            raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
        source = options.get("source")
        for name in (source,) if isinstance(source, str) else source if isinstance(source, (list, tuple)) else ():
            if isinstance(name, str) and (self._configured() or name in self._sources):  # who only searches has none
                find(self._sources, name)
        return scope.resolve(self.database.settings.tenant, tenants_mapped=tenants_mapped(self._sources))
