"""What the index and the queue say of one entity, and how its chunks stand to a question."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import NO_SUCH_TABLE, bind_types, code_of, translated
from oraclerag.errors import PrivilegeMissing, StatementFailed
from oraclerag.model.active import ActiveModel
from oraclerag.records import SourceKey
from oraclerag.scope import Scope
from oraclerag.search import Request, cut
from oraclerag.search.compose import concatenated, pieces
from oraclerag.search.given_vector import checked_length
from oraclerag.search.predicate import brackets, conditions
from oraclerag.statements import Statements, identifier, quoted
from oraclerag.why.reason import ChunkReason, QueuedChange

__all__ = ["Entity", "chunks", "entity", "queue"]


@dataclass(frozen=True, slots=True)
class Entity:
    """What is known of an entity as a whole; ``hidden`` counts its chunks that nobody of the tenant sees."""

    tenant: str | None
    chunks: int
    indexed_at: dt.datetime | None
    fingerprint: str | None
    hidden: int


def chunks(
    connection: oracledb.Connection, model: ActiveModel, asked: Request, asker: Scope, key: SourceKey
) -> tuple[ChunkReason, ...]:
    """Give the entity's chunks that the asker sees, those first that the search may look at, the nearest first.

    Where a provider embeds, the question must have come with its vector.
    """
    chunk, column = f"{quoted(model.schema, 'schema')}.RAG_CHUNK", identifier(model.column, "vector column")
    vector, values = _vector(model, asked)
    distance = f"VECTOR_DISTANCE(c.{column}, {vector}, COSINE)"
    seen, asker_binds = asker.predicate("c")
    named, binds = brackets(asked)
    passes = ", ".join(f"CASE WHEN {bracket} THEN 1 ELSE 0 END AS PASSES{at}" for at, (_, bracket) in enumerate(named))
    binds |= values | {"key_type": key.type, "key_id": key.id}
    this = "c.SOURCE_TYPE = :key_type AND c.SOURCE_ID = :key_id"
    rows = _rows(
        connection,
        f"SELECT c.CHUNK_ID, c.CHUNK_NO, {distance} AS DISTANCE, {passes}\n"
        f"FROM {chunk} c\nWHERE {seen} AND (c.CHUNK_NO >= 0) AND ({this})",
        {**binds, **asker_binds},
    )
    if not rows:
        return ()
    allowed = "\n    AND ".join(conditions(asked)[0])
    # ranks are counted over everything that the search may look at, in the order of its hits
    ranked = _rows(
        connection,
        f"SELECT c.CHUNK_ID, c.PLACE FROM (\n"
        f" SELECT n.CHUNK_ID, n.SOURCE_TYPE, n.SOURCE_ID,\n"
        f"        ROW_NUMBER() OVER (ORDER BY n.DISTANCE, n.CHUNK_ID) AS PLACE\n"
        f" FROM (\n  SELECT c.CHUNK_ID, c.SOURCE_TYPE, c.SOURCE_ID, {distance} AS DISTANCE\n  FROM {chunk} c\n"
        f"  WHERE {allowed}\n ) n\n WHERE n.DISTANCE IS NOT NULL\n) c\nWHERE {this}",
        binds,
    )
    places = dict(ranked)
    found = []
    for chunk_id, number, measured, *passed in rows:
        hidden = [name for (name, _), one in zip(named, passed, strict=True) if not one]
        if asked.min_score is not None and measured is not None and measured > 1 - asked.min_score:
            hidden.append("min_score")
        place = None if hidden else places.get(chunk_id)
        found.append(ChunkReason(f"{key}:{number}", measured, place, tuple(hidden)))
    far = float("inf")
    return tuple(
        sorted(found, key=lambda one: (len(one.hidden_by), far if one.distance is None else one.distance, one.key))
    )


def _vector(model: ActiveModel, asked: Request) -> tuple[str, dict[str, Any]]:
    if asked.vector is not None:
        return ":question_vector", {"question_vector": checked_length(asked.vector, model.dimensions, model.name)}
    text, _ = cut(model.query_prefix, asked.question, model)
    parts = pieces(text)
    return f"(SELECT VECTOR_EMBEDDING({model.sql_name} USING {concatenated(parts)} AS DATA) FROM dual)", {
        f"question{number}": part for number, part in enumerate(parts)
    }


def _rows(connection: oracledb.Connection, statement: str, binds: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        if types := bind_types(binds):
            cursor.setinputsizes(**types)
        cursor.execute(statement, dict(binds))
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def entity(connection: oracledb.Connection, schema: str, asker: Scope, key: SourceKey) -> Entity | None:
    """Give what RAG_ENTITY says; None where there is no such row, or this user may not read it."""
    binds = {"source_type": key.type, "source_id": key.id, "tenant_id": asker.tenant}
    rows = _readable(connection, Statements("why", schema)["entity"], binds)
    if not rows:
        return None
    tenant, chunks, indexed_at, fingerprint, hidden = rows[0]
    return Entity(tenant, chunks, _utc(indexed_at), fingerprint, hidden)


def queue(connection: oracledb.Connection, schema: str, key: SourceKey) -> tuple[tuple[str, QueuedChange], ...] | None:
    """Give the queue rows of an entity, each with the tenant it names; None where this user may not read them."""
    rows = _readable(connection, Statements("why", schema)["queue"], {"source_type": key.type, "source_id": key.id})
    if rows is None:
        return None
    return tuple(
        (tenant, QueuedChange(state, action, _utc(since), _utc(due), claim is not None, attempts, crashes, code))
        for tenant, action, state, _lane, since, due, claim, attempts, crashes, code in rows
    )


def _readable(
    connection: oracledb.Connection, statement: str, binds: Mapping[str, Any]
) -> list[tuple[Any, ...]] | None:
    try:
        with translated():
            return _rows(connection, statement, binds)
    except PrivilegeMissing:
        return None
    except StatementFailed as error:
        if error.__cause__ is not None and code_of(error.__cause__) == NO_SUCH_TABLE:  # so a missing right looks
            return None
        raise


def _utc(moment: Any) -> Any:
    return None if moment is None else moment.replace(tzinfo=dt.UTC)
