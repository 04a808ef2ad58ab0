"""Sources are checked: what fails in them is found, and a paused one is taken up again once nothing does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import oracledb

from oraclerag import in_force, vector_chunks
from oraclerag.chunk import Limits
from oraclerag.database import Database, translated
from oraclerag.embed import embedder_of, kept_here
from oraclerag.errors import (
    ConfigurationError,
    EmbeddingDimensionMismatch,
    ModelNotActive,
    ProviderError,
    SchemaMissing,
    SourceError,
)
from oraclerag.http_client import Attempts
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import Embedder
from oraclerag.source import Source, SourceProblem

__all__ = ["SourceCheck", "check"]

_MISMATCH = EmbeddingDimensionMismatch.code


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """What was found in a source: ``problems``, and what came of a pause.

    ``paused`` says why workers still leave it alone, None if they do not; ``resumed`` means that they did until now.
    """

    source: str
    problems: tuple[SourceProblem, ...] = ()
    paused: str | None = None
    resumed: bool = False

    @property
    def green(self) -> bool:
        """Whether nothing fails; what is only a warning may fail later."""
        return not any(problem.severity == "error" for problem in self.problems)


def check(database: Database, sources: Iterable[Source], *, resume: bool = True) -> list[SourceCheck]:
    """Check sources one after another; one that is paused and green is taken up again, which commits.

    Without ``resume`` nothing is written.
    """
    found = []
    with database.connect() as connection:
        try:
            paused = in_force.read(connection, database.schema).paused
        except SchemaMissing:  # a source can be checked before there are tables
            paused = {}
        model = _model(connection, database.schema)
        limits = None if model is None else Limits.of(model)
        embedder, broken = _embedder(database, model)
        for source in sources:
            problems = (*source.check(connection), *_too_long(source, limits), *_not_cut(source, connection))
            problems += (*_leaves(source, embedder), *(SourceProblem(source.name, *why) for why in broken))
            if model is not None and embedder is not None and paused.get(source.name, "").startswith(_MISMATCH):
                problems += _mismatch(source, embedder, model)
            checked = SourceCheck(source.name, problems, paused.get(source.name))
            if resume and checked.paused is not None and checked.green:
                with translated():  # what the source's own function began would be committed with it
                    connection.rollback()
                resumed = in_force.resume(connection, database.schema, source.name)
                checked = SourceCheck(source.name, checked.problems, resumed=resumed)
            found.append(checked)
    return found


def _model(connection: oracledb.Connection, schema: str) -> ActiveModel | None:
    try:
        return active_model(connection, schema)
    except (ModelNotActive, SchemaMissing):  # nothing to hold a size against yet
        return None


def _embedder(
    database: Database, model: ActiveModel | None
) -> tuple[Embedder | None, list[tuple[str, str, str | None]]]:
    """Give who embeds outside the database, or what keeps this process from asking it."""
    if model is None or model.provider is None:
        return None, []
    try:
        return embedder_of(database.settings, model, attempts=Attempts(most=1)), []
    except (ConfigurationError, ModelNotActive) as error:
        return None, [(error.code, error.message, error.hint)]


def _leaves(source: Source, embedder: Embedder | None) -> list[SourceProblem]:
    """Find out whether texts would be sent away that may not leave, which pauses a source."""
    try:
        kept_here(source.settings, embedder)
    except SourceError as error:
        return [SourceProblem(source.name, error.code, error.message, error.hint)]
    return []


def _mismatch(source: Source, embedder: Embedder, model: ActiveModel) -> tuple[SourceProblem, ...]:
    """Find out whether a provider gives vectors of the dimension again, before all texts are sent to it again."""
    try:
        embedder.embed([model.passage_prefix + "weather"], "passage")
    except (ProviderError, EmbeddingDimensionMismatch) as error:
        return (SourceProblem(source.name, error.code, error.message, error.hint),)
    return ()


def _too_long(source: Source, limits: Limits | None) -> list[SourceProblem]:
    """Find out whether chunks are to be longer than the model reads, which pauses a source."""
    if limits is None:
        return []
    try:
        for cutting in source.cuttings:
            limits.for_cutting(cutting)
    except ConfigurationError as error:
        return [SourceProblem(source.name, error.code, error.message, error.hint)]
    return []


def _not_cut(source: Source, connection: oracledb.Connection) -> list[SourceProblem]:
    """Find out whether the database cuts as it is told to, where it is."""
    try:
        for cutting in source.cuttings:
            if cutting.clause is not None:
                vector_chunks.require(connection, cutting.clause, source.name)
    except SourceError as error:
        return [SourceProblem(source.name, error.code, error.message, error.hint)]
    return []
