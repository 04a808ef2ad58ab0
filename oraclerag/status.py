"""The state of an installation: schema, model, index, sources, queue; and what is wrong, each with its remedy."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oraclerag import index, queue, schema, security
from oraclerag.database import Database, own_tables
from oraclerag.errors import ConfigurationError, ModelError, OracleRagError
from oraclerag.model.active import active_model
from oraclerag.model.external import configured_name
from oraclerag.queue import QueueStatus
from oraclerag.records import Problem
from oraclerag.statements import Statements

if TYPE_CHECKING:
    import oracledb

__all__ = ["Problem", "SourceStatus", "StatusReport", "status"]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """What is indexed of a source: entities that have chunks, their chunks, and when one was written last (UTC)."""

    source: str
    entities: int
    chunks: int
    last_indexed: dt.datetime | None
    paused: str | None = None


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Everything at a glance; fields are None where what they describe is not there.

    ``security`` names the tables that row security stands on. Where ``security.restricted``, it hides rows from this
    database user, and what is counted here is less than there is.
    """

    schema: str
    revision: str | None
    model: str | None
    dimensions: int | None
    max_tokens: int | None
    index: index.IndexStatus | None
    sources: tuple[SourceStatus, ...]
    queue: QueueStatus | None
    security: security.Protection | None
    problems: tuple[Problem, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def status(database: Database) -> StatusReport:
    """Look at everything that a worker and a search need; raises only where the database cannot be reached."""
    with database.connect() as connection:
        revision = schema.current(connection, database.schema)
        try:
            schema.require(connection, database.schema)
        except OracleRagError as error:
            problem = Problem(error.code, error.message, error.hint)
            return StatusReport(database.schema, revision, None, None, None, None, (), None, None, (problem,))
        problems: list[Problem] = []
        model = None
        try:
            model = active_model(connection, database.schema)
            active_model(connection, database.schema, configured=configured_name(database.settings))
        except (ModelError, ConfigurationError) as error:
            problems.append(Problem(error.code, error.message, error.hint))
        guarded = security.protection(connection, database.schema)
        problems += security.shortcomings(guarded, database.schema)
    waiting = queue.status(database)
    with database.connect() as connection:
        sources = _sources(connection, database.schema, waiting)
    found = index.status(database) if model is not None else None
    if found is not None:
        problems += index.shortcomings(found)
    problems += waiting.problems
    return StatusReport(
        schema=database.schema,
        revision=revision,
        model=model.physical_name if model is not None else None,
        dimensions=model.dimensions if model is not None else None,
        max_tokens=model.max_tokens if model is not None else None,
        index=found,
        sources=sources,
        queue=waiting,
        security=guarded,
        problems=tuple(problems),
    )


def _sources(connection: oracledb.Connection, owner: str, waiting: QueueStatus) -> tuple[SourceStatus, ...]:
    statements = Statements("status", owner)
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements["indexed"])
        found = {
            source: SourceStatus(source, int(entities), int(chunks), last and last.replace(tzinfo=dt.UTC))
            for source, entities, chunks, last in cursor
        }
    for paused in waiting.paused:  # also one of which nothing could be indexed yet
        known = found.get(paused.source, SourceStatus(paused.source, 0, 0, None))
        found[paused.source] = dataclasses.replace(known, paused=paused.reason)
    return tuple(found[source] for source in sorted(found))
