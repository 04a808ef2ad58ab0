"""FLOW begin → fill → index → compare → switch; back with rollback, to the end with finish, given up with abort."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import oracledb

from oraclerag import in_force, index
from oraclerag.config import Settings
from oraclerag.database import Database, own_tables
from oraclerag.embed import embed_questions, from_settings, kept_here
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.index import MIN_CHUNKS, questions_of
from oraclerag.model.active import ActiveModel, active_model, second_model
from oraclerag.model.columns import index_name, other_column, vector_dimensions
from oraclerag.model.installed import find_model, refuse_open_transaction, statements
from oraclerag.model.verify import verify_model
from oraclerag.reembed.compare import ModelComparison, compare
from oraclerag.reembed.fill import fill, require_still
from oraclerag.reembed.provided import fill_provided
from oraclerag.reembed.state import (
    ModelSwitch,
    State,
    begin,
    claim,
    forget,
    forget_all,
    give_up,
    read,
    required,
    swap,
    wait_for_writers,
)
from oraclerag.scope import Scope
from oraclerag.security import require_unrestricted
from oraclerag.source import Source, model_mark
from oraclerag.statements import Statements

__all__ = ["Reembedding"]

Said = Callable[[str], None]


class Reembedding:
    """A switch of the embedding model while searches and workers go on.

    Searches answer from the model in force, all of it, until one short transaction puts the new one in its place; there
    is no moment without one, and none with both. Workers write the vectors of both. One of the two may be a provider's.
    Nothing is cut anew: chunks keep the size that they have. Every method commits.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        resolved: Callable[[Scope], Scope],
        sources: Mapping[str, Source] = MappingProxyType({}),
    ) -> None:
        self._sources = sources
        self._database = database
        self._settings = settings
        self._resolved = resolved

    def chunks(self) -> int:
        """Count the chunks there are."""
        with self._database.connect() as connection, own_tables(), connection.cursor() as cursor:
            cursor.execute(Statements("reembed", self._database.schema)["chunks"])
            row = cursor.fetchone()
        return 0 if row is None else int(row[0])

    def status(self) -> ModelSwitch:
        """Say what is in force, what is beside it, and how far that is; reads the whole table of chunks."""
        with self._database.connect() as connection:
            return read(connection, self._database.schema)

    def fill(
        self,
        name: str,
        *,
        pause: float = 0.0,
        allow_truncation: bool = False,
        said: Said = lambda _: None,
        on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> ModelSwitch:
        """Give every chunk a vector of another model that is loaded, and build the index; goes on where it was.

        ``pause`` seconds (0 to 3,600) are left between slices of 64 chunks, for a database that has other things to do.
        ``on_progress`` is told how many are filled, and of how many. Raises ConfigurationError where the model reads
        less than the one in force, unless ``allow_truncation``; InputError where it is in force, where another switch
        is under way, or both models are providers'; SourceError where a source lets no text leave; ModelMissing,
        ProviderError, and what the database says.
        """
        if isinstance(pause, bool) or not isinstance(pause, int | float) or not 0 <= pause <= 3600:
            raise InputError(f"pause must be a number of seconds from 0 to 3,600, not {pause!r}.")
        schema = self._database.schema
        with self._database.connect() as connection:
            coming = self._begun(connection, name, allow_truncation=allow_truncation, said=said)
            found = read(connection, schema)
            said(f"Embedding {found.chunks - found.filled:,} of {found.chunks:,} chunks with {coming.physical_name}.")

            def progressed(more: int) -> None:
                on_progress(min(found.filled + more, found.chunks), found.chunks)

            begun = self._done(connection)
            with index.unhurried(connection):
                if coming.provider is None:
                    filled = fill(connection, schema, coming, begin=begun, pause=pause, on_progress=progressed)
                else:
                    filled = fill_provided(
                        connection,
                        schema,
                        coming,
                        self._settings,
                        begin=begun,
                        require_still=functools.partial(require_still, connection, schema, coming),
                        pause=pause,
                        on_progress=progressed,
                    )
            on_progress(found.chunks, found.chunks)
            said(f"{filled:,} chunks were embedded here.")
            present = index.look(connection, schema)
        if present.exists or found.chunks >= MIN_CHUNKS:
            index.build(self._database, said=said, column=coming.column, force=True)
        return self.status()

    def compare(
        self, *, scope: Scope, questions: Sequence[str] | None = None, sample: int | None = None, k: int = 10
    ) -> ModelComparison:
        """Ask both models the same: the questions given, else what was asked last in the tenant, else words of chunks.

        ``scope`` is a manager's: questions of a whole tenant are read. Raises MissingTenant, and InputError where no
        second model is there, it has not every vector yet, or nothing can be asked.
        """
        scope = self._resolved(scope)
        if not scope.manager or scope.tenant is None:
            raise InputError("A comparison of models reads questions of a whole tenant: the scope must be a manager's.")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= 1000:
            raise InputError(f"k must be a whole number from 1 to 1,000, not {k!r}.")
        with self._database.connect() as connection:
            found = read(connection, self._database.schema)
            now, beside = self._both(connection)
        if not found.complete or beside is None:
            raise InputError("There is no second model that has a vector of every chunk.", hint=found.next_step)
        coming, former = (beside, now) if found.state == "filling" else (now, beside)
        asked = questions_of(self._database, scope.tenant, questions, sample)
        return compare(
            self._database,
            former,
            coming,
            asked.texts,
            scope=scope,
            k=k,
            accuracy=self._settings.target_accuracy,
            origin=asked.origin,
            ask=functools.partial(embed_questions, self._settings),
        )

    def switch(self) -> ModelSwitch:
        """Put the second model in force, in one short transaction. Raises InputError where it lacks a vector."""
        return self._swap("filling")

    def rollback(self) -> ModelSwitch:
        """Put the model in force that was so before: its vectors are complete, for workers went on writing them."""
        return self._swap("former")

    def finish(self, *, said: Said = lambda _: None) -> ModelSwitch:
        """Take away the column of the model that was in force before, and its index. There is no way back then.

        Dropping a column rewrites the table and locks it against changes meanwhile: workers wait. Raises InputError
        where the second model is still to come.
        """
        return self._end("former", "Finishing", said)

    def abort(self, *, said: Said = lambda _: None) -> ModelSwitch:
        """Give up a switch that has not been made: the second column goes, with its index.

        So goes what an interrupted beginning, finish or abort has left.
        """
        return self._end("filling", "Giving up", said)

    def _begun(self, connection: oracledb.Connection, name: str, *, allow_truncation: bool, said: Said) -> ActiveModel:
        schema = self._database.schema
        refuse_open_transaction(connection, "A switch of models")
        require_unrestricted(connection, schema, "Who switches the model")
        provider = find_model(connection, name, schema=schema).provider
        embedder = None if provider is None else from_settings(self._settings)
        for source in self._sources.values() if provider is not None else ():
            kept_here(source.settings, embedder)
        model = verify_model(connection, name, schema=schema, embedder=embedder).model
        found, now = read(connection, schema, count=False), active_model(connection, schema)
        if provider is not None and now.provider is not None and model.physical_name != now.physical_name:
            raise InputError(
                f"{model.physical_name} and {now.physical_name} are both models of providers, and a process is "
                f"configured with one.",
                hint=f"Go by way of a model inside the database; or `oraclerag model use {model.name} --rebuild`, then "
                f"`oraclerag reindex`, with a gap.",
            )
        if found.state == "unfinished":
            raise InputError("A column of a switch of models is being made or dropped.", hint=found.next_step)
        if found.state == "former" and model.physical_name != found.second_model:
            raise InputError(f"The switch to {found.model} is not finished.", hint=f"End it first: {found.next_step}")
        if model.physical_name == now.physical_name:
            raise InputError(f"{model.physical_name} is the model in force already.")
        if found.second_model not in (None, model.physical_name):
            raise InputError(f"{found.second_model} is to come already.", hint=found.next_step)
        if model.max_tokens < now.max_tokens and not allow_truncation:
            raise ConfigurationError(
                f"{model.physical_name} reads {model.max_tokens} tokens and chunks were cut for {now.max_tokens}: of "
                f"longer ones it would read the beginning alone.",
                hint=(
                    f"Insist on it (--allow-truncation), or cut them anew: `oraclerag model use {model.name} "
                    f"--rebuild` and `oraclerag reindex`."
                ),
            )
        if found.second_model is None:
            column = other_column(now.column)
            token = claim(connection, schema, column)
            try:
                self._make_column(connection, column, model.dimensions)
            except BaseException:
                with contextlib.suppress(oracledb.Error):  # the connection may be what failed; --abort finds the rest
                    connection.rollback()
                    give_up(connection, schema, token)
                raise
            begin(connection, schema, model.physical_name, token)
            said(f"The column {column} is there; workers write both from now on.")
        coming = second_model(connection, schema)
        assert coming is not None  # noqa: S101 - it was there, or was begun above
        return coming

    def _make_column(self, connection: oracledb.Connection, column: str, dimensions: int) -> None:
        """Make the column anew: nobody knows what one that an interrupted call left holds."""
        texts = statements(self._database.schema)
        self._drop_column(connection, column)
        index.run(connection, texts.with_names("add_column", column=column, type=f"VECTOR({dimensions}, FLOAT32)"))

    def _drop_column(self, connection: oracledb.Connection, column: str) -> None:
        schema, texts = self._database.schema, statements(self._database.schema)
        with own_tables(), index.unhurried(connection):
            with connection.cursor() as cursor:
                there = vector_dimensions(cursor, schema, column) is not None
            if there:
                if index.look(connection, schema, column).exists:
                    index.run(connection, index.drop(schema, column))
                index.run(connection, texts.with_names("drop_column", column=column))
            in_force.remove(connection, schema, "*", index.setting_of(column))
            connection.commit()

    def _swap(self, state: str) -> ModelSwitch:
        schema = self._database.schema
        with self._database.connect() as connection:
            refuse_open_transaction(connection, "A switch of models")
            require_unrestricted(connection, schema, "Who switches the model")
            coming = second_model(connection, schema)
            if coming is not None and coming.provider is not None:
                wait_for_writers(connection, schema)  # who goes without its vectors may be about to commit
            if state == "filling":
                found = required(connection, schema, "filling", "The switch", alone=True)
            else:
                found = required(connection, schema, "former", "The way back", alone=True)
            if coming is None or found.second_model != coming.physical_name:
                with own_tables():
                    connection.rollback()
                raise InputError("Another process has begun a switch of models.", hint=found.next_step)
            if not found.complete:
                with own_tables():
                    connection.rollback()
                raise InputError(
                    f"{found.chunks - found.filled:,} of {found.chunks:,} chunks have no vector of "
                    f"{found.second_model}.",
                    hint=found.next_step,
                )
            mark = model_mark(active_model(connection, schema))
            swap(connection, schema, found, mark, "former" if state == "filling" else "filling")
            return read(connection, schema)

    def _end(self, state: State, doing: str, said: Said) -> ModelSwitch:
        schema = self._database.schema
        with self._database.connect() as connection:
            refuse_open_transaction(connection, "A switch of models")
            require_unrestricted(connection, schema, "Who switches the model")
            found = read(connection, schema, count=False, alone=True)
            if found.state != "unfinished":
                required(connection, schema, state, doing, count=False)
            column = other_column(found.column)
            forget(connection, schema)
            said(f"Dropping {column} with {index_name(column)}: RAG_CHUNK is locked against changes meanwhile.")
            self._drop_column(connection, column)
            forget_all(connection, schema)
            return read(connection, schema)

    def _both(self, connection: oracledb.Connection) -> tuple[ActiveModel, ActiveModel | None]:
        return active_model(connection, self._database.schema), second_model(connection, self._database.schema)

    def _done(self, connection: oracledb.Connection) -> int:
        with own_tables(), connection.cursor() as cursor:
            cursor.execute(Statements("reembed", self._database.schema)["settings"])
            found = dict(cursor.fetchall())
        return int(found.get("second_done") or 0)
