"""Sources are checked: what fails in them is found, and a paused one is taken up again once nothing does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import oracledb

from oraclerag import in_force, vector_chunks
from oraclerag.chunk import Limits
from oraclerag.database import Database, translated
from oraclerag.errors import ConfigurationError, ModelNotActive, SchemaMissing, SourceError
from oraclerag.model.active import active_model
from oraclerag.source import Source, SourceProblem

__all__ = ["SourceCheck", "check"]


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


def check(database: Database, sources: Iterable[Source]) -> list[SourceCheck]:
    """Check sources one after another; one that is paused and green is taken up again, which commits."""
    found = []
    with database.connect() as connection:
        try:
            paused = in_force.read(connection, database.schema).paused
        except SchemaMissing:  # a source can be checked before there are tables
            paused = {}
        limits = _limits(connection, database.schema)
        for source in sources:
            problems = (*source.check(connection), *_too_long(source, limits), *_not_cut(source, connection))
            checked = SourceCheck(source.name, problems, paused.get(source.name))
            if checked.paused is not None and checked.green:
                with translated():  # what the source's own function began would be committed with it
                    connection.rollback()
                resumed = in_force.resume(connection, database.schema, source.name)
                checked = SourceCheck(source.name, checked.problems, resumed=resumed)
            found.append(checked)
    return found


def _limits(connection: oracledb.Connection, schema: str) -> Limits | None:
    try:
        return Limits.of(active_model(connection, schema))
    except (ModelNotActive, SchemaMissing):  # nothing to hold a size against yet
        return None


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
