"""A question → the nearest chunks that a scope may see, in one statement and one round trip."""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oraclerag import counts
from oraclerag.database import (
    BROKEN_DIMENSION,
    MODEL_MISSING,
    Database,
    code_of,
    own_tables,
)
from oraclerag.errors import ConfigurationError, Contention, InputError
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import DATABASE, configured_name
from oraclerag.records import SearchResult
from oraclerag.scope import Scope
from oraclerag.search import diversify
from oraclerag.search.compose import COLUMNS, compose
from oraclerag.search.fusion import MORE_COLUMNS
from oraclerag.search.given_vector import checked_length
from oraclerag.search.hits import hit_of
from oraclerag.search.long_metadata import long_metadata
from oraclerag.search.plan import Plan, choose
from oraclerag.search.question import cut
from oraclerag.search.rechecked import Visible, rechecked
from oraclerag.search.request import Request, SearchOptions, request
from oraclerag.search.rerank import reranked
from oraclerag.search.sending import embed, fetched, still_in_force
from oraclerag.search.text_leg import INDEX_GONE, Way, drg_code, refused_text, text_leg, usable_indexes
from oraclerag.search.traced import traced
from oraclerag.security import reading

if TYPE_CHECKING:
    import oracledb

__all__ = ["Searcher"]

# How long a process trusts what it read about the installation (model in force, counts, index).
STATE_SECONDS = 30.0
_TRIES = 5  # of a search that meets another model than the one it has read of
# What a statement meets whose model or column went away since.
_OUTDATED = ("ORA-00904", MODEL_MISSING, *BROKEN_DIMENSION, *INDEX_GONE)
_PREFERRED = COLUMNS.index("PREFERRED")
_METADATA_TEXT, _HAS_METADATA = COLUMNS.index("METADATA_TEXT"), COLUMNS.index("HAS_METADATA")
_VECTOR_FOUND, _TEXT_PENDING = (len(COLUMNS) + MORE_COLUMNS.index(name) for name in ("VECTOR_FOUND", "TEXT_PENDING"))


Embed = Callable[[ActiveModel, Sequence[str]], Sequence["array[float]"]]
Vectors = Mapping[tuple[str, str], "array[float]"]


@dataclass(frozen=True, slots=True)
class _State:
    """What a process knows of the installation; ``text`` is the way of the text leg, and why."""

    model: ActiveModel
    indexed: bool
    text: Way
    counts: counts.Counts
    read_at: float


class Searcher:
    """Searches on behalf of scopes; keeps the state of the installation for a short while. Threads may share it.

    ``check`` is called with a connection and the schema before the first search: whether the tables are those of this
    version. ``embed`` embeds questions where the database does not.
    """

    def __init__(
        self,
        database: Database,
        *,
        check: Callable[[oracledb.Connection, str], None] | None = None,
        recheck: Visible | None = None,
        embed: Embed | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._check = check
        self._recheck = recheck
        self._embed = embed
        self._settings = database.settings
        self._clock = clock
        self._states: dict[str, _State] = {}  # by schema
        self._guard = threading.Lock()

    def search(
        self, question: str, *, scope: Scope, options: SearchOptions | None = None, connection: Any = None
    ) -> SearchResult:
        """Find the chunks nearest to ``question`` among those that ``scope`` and ``options`` allow.

        ``scope`` is resolved. On a borrowed ``connection`` (SQLAlchemy or oracledb) it reads inside that transaction
        and never ends it. Raises InputError (also for a session in which 'a' equals 'A'), ModelNotActive, SchemaMissing
        and what the database says.
        """
        (found,) = self.search_each([question], scope=scope, options=options, connection=connection)
        return found

    def search_each(
        self, questions: Sequence[str], *, scope: Scope, options: SearchOptions | None = None, connection: Any = None
    ) -> list[SearchResult]:
        """Like :meth:`search` for several questions, on one connection."""
        settings = self._settings
        if len(questions) != 1 and (options or {}).get("vector") is not None:
            raise InputError("vector is that of one question; search for each of several by itself.")
        asked = [request(question, scope, options or {}, k=settings.k, max_k=settings.max_k) for question in questions]
        if settings.rerank_model is None and any(one.rerank is not None for one in asked):
            raise InputError(
                "rerank needs a reranker, and none is configured.",
                hint="Name it: search.rerank_model in oraclerag.toml, ORACLERAG_RERANK_MODEL in the environment.",
            )
        vectors = self._vectors(asked, scope, connection)
        with reading(self._database, scope.tenant, connection) as (opened, schema):
            search = functools.partial(self._search_rechecked, opened, schema, borrowed=connection is not None)
            return [traced(one, functools.partial(search, one, vectors)) for one in asked]

    def search_share(
        self, question: str, *, scope: Scope, options: SearchOptions, share: float | None = None
    ) -> SearchResult:
        """Like :meth:`search` among a share of the chunks (0 to 1) that stands for a filter; None: among all."""
        settings = self._settings
        asked = request(question, scope, options, k=settings.k, max_k=settings.max_k)
        vectors = self._vectors([asked], scope, None)
        with reading(self._database, scope.tenant) as (own, schema):
            return self._search(own, schema, dataclasses.replace(asked, share=share), vectors)

    def forget(self) -> None:
        """Read the state of the installation anew at the next search."""
        with self._guard:
            self._states.clear()

    def embedded(self, model: ActiveModel, texts: Sequence[str]) -> Vectors:
        """Have a provider embed texts that stand with their prefix; gives the vectors by model and text."""
        wanted = list(dict.fromkeys(texts))
        if self._embed is None:
            raise ConfigurationError(f"{model.name} is a model of {model.provider}, and nobody here asks it.")
        found = self._embed(model, wanted) if wanted else []
        return {(model.physical_name, text): vector for text, vector in zip(wanted, found, strict=True)}

    def with_vector(self, asked: Request, model: ActiveModel) -> Request:
        """Give a request with the vector of its question where a provider makes it, else as it is."""
        if model.provider is None or asked.vector is not None:
            return asked
        text, _ = cut(model.query_prefix, asked.question, model)
        return dataclasses.replace(asked, vector=self.embedded(model, [text])[model.physical_name, text])

    def _vectors(self, asked: Sequence[Request], scope: Scope, connection: Any) -> Vectors:
        """Embed the questions where a provider does that, in one go, before a connection is taken for the search."""
        questions = [one.question for one in asked if one.vector is None]
        if self._settings.embedding_provider == DATABASE or not questions:
            return {}
        with reading(self._database, scope.tenant, connection) as (opened, schema), own_tables():
            model = self._current(opened, schema)[0].model
        return self.embedded(model, [cut(model.query_prefix, one, model)[0] for one in questions if model.provider])

    def _search_rechecked(
        self, connection: oracledb.Connection, schema: str, asked: Request, vectors: Vectors, *, borrowed: bool
    ) -> SearchResult:
        recheck = self._recheck
        if recheck is None or not recheck.needed(asked.sources):
            return self._search(connection, schema, asked, vectors)

        def search(wanted: Request) -> SearchResult:
            return rechecked(
                lambda k: self._search(connection, schema, wanted.with_k(k), vectors),
                wanted.k,
                lambda keys: recheck.visible(connection, keys, wanted.scope, borrowed=borrowed),
            )

        found = search(asked)
        if found or not found.codes or not asked.fallback:
            return found
        without = search(dataclasses.replace(asked, codes=()))  # what names the code may no longer be seen
        return dataclasses.replace(
            without,
            codes_missing=found.codes,
            statements=found.statements + without.statements,
            seconds=found.seconds + without.seconds,
        )

    def _search(self, connection: oracledb.Connection, schema: str, asked: Request, vectors: Vectors) -> SearchResult:
        import oracledb

        started = time.perf_counter()
        with own_tables(), refused_text():
            for _ in range(_TRIES):
                state, fresh = self._current(connection, schema)
                result = None
                try:
                    result = self._run(connection, asked, state, vectors)
                except oracledb.Error as error:
                    if (drg_code(error) or code_of(error)) not in _OUTDATED:
                        raise
                    if fresh and still_in_force(connection, state.model):
                        raise
                # nothing is found when another model has come into force: look before believing it
                if result or (result is not None and still_in_force(connection, state.model)):
                    break
                self.forget()
            else:
                raise Contention("Other models and indexes came into force again and again while this was searched.")
        return dataclasses.replace(result, seconds=time.perf_counter() - started)

    def _current(self, connection: oracledb.Connection, schema: str) -> tuple[_State, bool]:
        with self._guard:
            state = self._states.get(schema)
        if state is not None and self._clock() - state.read_at < STATE_SECONDS:
            return state, False
        if self._check is not None and state is None:
            self._check(connection, schema)
        model = active_model(connection, schema, configured=configured_name(self._settings))
        indexed, text = usable_indexes(connection, schema)
        state = _State(
            model=model,
            indexed=indexed,
            text=text,
            counts=counts.read(connection, schema),
            read_at=self._clock(),
        )
        with self._guard:
            self._states[schema] = state
        return state, True

    def _run(self, connection: oracledb.Connection, asked: Request, state: _State, vectors: Vectors) -> SearchResult:
        text, truncated = cut(state.model.query_prefix, asked.question, state.model)
        external = state.model.provider is not None
        separate = asked.vector is not None or external or self._settings.query_embedding == "separate"
        sent = 0
        vector: dict[str, Any] = {}
        if asked.vector is not None:
            truncated = False  # the question's text is not embedded
            vector = {"question_vector": checked_length(asked.vector, state.model.dimensions, state.model.name)}
        elif external:  # the model may be another one than a moment ago
            key = (state.model.physical_name, text)
            found = vectors if key in vectors else self.embedded(state.model, [text])
            vector = {"question_vector": checked_length(found[key], state.model.dimensions, state.model.name)}
        elif separate:
            vector = {"question_vector": embed(connection, state.model, text)}
            sent += 1
        plan = choose(asked, state.counts, indexed=state.indexed, exact_below=self._settings.exact_below)
        unscoped: tuple[str, ...] = ()
        k = asked.k
        if asked.diversity:
            asked = asked.with_k(diversify.candidates(k))
        if asked.rerank is not None:
            asked = asked.with_k(asked.rerank)
        leg, text_reason = text_leg(asked, state.text, state.model.schema)
        while True:
            statement = compose(
                state.model,
                asked,
                text,
                kind=plan.kind,
                preferred_kind=plan.preferred,
                target_accuracy=self._settings.target_accuracy,
                separate=separate,
                text_leg=leg,
            )
            if asked.diversity:
                statement = diversify.with_distances(statement, state.model.schema, state.model.column)
            rows = fetched(connection, statement, vector, asked.k)
            sent += 1
            nearest = rows[0][_VECTOR_FOUND] if leg is not None and rows else len(rows)
            if nearest < k and plan.kind == "APPROX" and asked.mode != "approx":
                # an approximate search with a predicate may run short although there is more
                plan = Plan("EXACT", f"an approximate search gave {nearest} of {k}")
            elif (
                asked.prefer and plan.preferred == "APPROX" and asked.mode != "approx"
                and sum(row[_PREFERRED] for row in rows) < k
            ):  # fmt: skip
                # others stand where there may be more that is preferred
                plan = dataclasses.replace(plan, preferred="EXACT")
            elif not rows and asked.codes and asked.fallback:
                unscoped, asked = asked.codes, dataclasses.replace(asked, codes=())
                plan = choose(asked, state.counts, indexed=state.indexed, exact_below=self._settings.exact_below)
            else:
                break
        columns = statement.columns
        if asked.diversity:
            rows, columns = diversify.chosen(rows, columns, asked.diversity, k, asked.weights), columns[:-1]
        hits = tuple(hit_of(rank, row, columns, asked) for rank, row in enumerate(rows, start=1))
        cut_off = [
            hit.chunk_id for hit, row in zip(hits, rows, strict=True) if row[_HAS_METADATA] and not row[_METADATA_TEXT]
        ]
        if cut_off:  # longer than a VARCHAR2
            whole: dict[int, Mapping[str, Any]] = {}
            for some in long_metadata(connection, state.model.schema, asked.scope, cut_off):
                whole |= some
                sent += 1
            hits = tuple(
                dataclasses.replace(hit, metadata=whole[hit.chunk_id]) if hit.chunk_id in whole else hit for hit in hits
            )
        if asked.rerank is not None and hits:
            assert self._settings.rerank_model is not None  # noqa: S101 - search_each looked
            scored, more = reranked(
                connection, state.model.schema, self._settings.rerank_model, asked.question, asked.scope, hits
            )
            hits, sent = tuple(scored[:k]), sent + more
        return SearchResult(
            hits,
            approximate=plan.kind == "APPROX",
            reason=plan.reason,
            truncated=truncated,
            codes=asked.codes,
            codes_missing=unscoped or (asked.codes if not hits else ()),
            statement=statement.text,
            statements=sent,
            text_leg=None if leg is None else leg.kind,
            text_reason=text_reason,
            text_pending=None if leg is None or not rows else _whole(rows[0][_TEXT_PENDING]),
            model=state.model.physical_name,
        )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
