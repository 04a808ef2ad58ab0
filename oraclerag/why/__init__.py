"""Why was this not found: the rank and the distance of one entity's chunks, what hides them, and what waits for them.

Who asks learns nothing of what they may not see: to a scope that sees no chunk of the entity, one that belongs to
others and one that never was are the same. A manager is told more of what belongs to their tenant, and may ask why
somebody else of it does not find something.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import oracledb

from oraclerag import in_force
from oraclerag.database import Database, own_tables
from oraclerag.errors import InputError, OracleRagError
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import configured_name
from oraclerag.records import NO_TENANT, SourceKey, fingerprint_half
from oraclerag.scope import Scope
from oraclerag.search import Request, Searcher, SearchOptions, request
from oraclerag.security import reading
from oraclerag.source import Source
from oraclerag.why.entity import Entity, chunks, entity, queue
from oraclerag.why.reason import ChunkReason, InSource, QueuedChange, Why, reason

__all__ = ["ChunkReason", "QueuedChange", "Why", "why"]

_MOST_CHUNKS = 20


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database said, before anything is made of it."""

    chunks: tuple[ChunkReason, ...]
    entity: Entity | None
    queue: tuple[tuple[str, QueuedChange], ...] | None = field(repr=False)


def why(
    database: Database,
    searcher: Searcher,
    sources: Mapping[str, Source],
    question: str,
    key: SourceKey,
    *,
    asker: Scope,
    scope: Scope,
    options: SearchOptions,
    look: bool = False,
    default_tenant: str | None = None,
) -> Why:
    """Say why ``scope`` does or does not find an entity, as far as ``asker`` may know; both are resolved.

    ``look`` reads the source too. ``default_tenant`` is whose a queue row without a tenant is, where no source maps
    tenants. Raises InputError where the asker is neither that scope nor a manager of its tenant.
    """
    if asker != scope and not (asker.manager and asker.tenant == scope.tenant):
        raise InputError("Only a manager of the same tenant may ask why somebody else does not find something.")
    if not isinstance(key, SourceKey):
        raise InputError('What is asked about must be a SourceKey, such as SourceKey("task", "42").')
    settings = database.settings
    asked = request(question, scope, options, k=settings.k, max_k=settings.max_k)
    with reading(database, asker.tenant) as (connection, schema):
        model = active_model(connection, schema, configured=configured_name(settings))
        asked = searcher.with_vector(asked, model)
        with own_tables():
            found = _Found(
                chunks(connection, model, asked, asker, key),
                entity(connection, schema, asker, key),
                queue(connection, schema, key),
            )
        if not _may_know(found, asker, default_tenant):
            return Why(key, f"Nothing of {key} is visible to this scope, or it is not there.")
        now = in_force.read(connection, schema)
        in_source = _in_source(sources.get(key.type), connection, key, scope) if look else None
    if asked.vector is not None:  # a provider is asked once
        options = {**options, "vector": asked.vector}
    result = searcher.search(question, scope=scope, options=options)
    rank = next((hit.rank for hit in result if hit.source == key), None)
    known = found.entity
    told = Why(
        key,
        "",
        known=True,
        rank=rank,
        k=asked.k,
        chunks=found.chunks[:_MOST_CHUNKS],
        chunk_count=None if known is None else known.chunks,
        indexed_at=None if known is None else known.indexed_at,
        settings_in_force=_in_force(known, now, key, model, sources),
        paused=now.paused.get(key.type),
        queue=None if found.queue is None else tuple(change for _, change in found.queue),
        approximate_misses=_approximate_misses(searcher, question, asked, found.chunks, options),
        in_source=in_source,
    )
    hidden = known is not None and known.hidden > 0
    return dataclasses.replace(told, reason=reason(told, hidden=hidden, approximate=result.approximate))


def _may_know(found: _Found, asker: Scope, default_tenant: str | None) -> bool:
    """Whether an asker may be told anything: who sees a chunk, and managers of what belongs to their tenant."""
    if found.chunks:
        return True
    if not asker.manager:
        return False
    if found.entity is not None and found.entity.tenant is not None:
        return found.entity.tenant == asker.tenant
    said = {tenant for tenant, _ in found.queue or ()}
    mine = {asker.tenant} | ({NO_TENANT} if asker.tenant == default_tenant else set())
    return bool(said) and said <= mine


def _in_source(source: Source | None, connection: oracledb.Connection, key: SourceKey, scope: Scope) -> InSource | None:
    if source is None:
        return None
    try:
        read = source.read_each(connection, [key.id])
    except OracleRagError:
        return "unreadable"
    if key.id in read.failures:
        return "unreadable"
    document = read.documents.get(key.id)
    if document is None:
        return "gone"
    return "visible" if scope.sees(document) else "not visible"


def _in_force(
    known: Entity | None, now: in_force.InForce, key: SourceKey, model: ActiveModel, sources: Mapping[str, Source]
) -> bool | None:
    if known is None or known.fingerprint is None:
        return None
    settings = now.fingerprints.get(key.type)
    if settings is not None and fingerprint_half(known.fingerprint, "settings") != settings:
        return False
    source = sources.get(key.type)
    return source is None or known.fingerprint == source.fingerprint(model)


def _approximate_misses(
    searcher: Searcher, question: str, asked: Request, found: tuple[ChunkReason, ...], options: SearchOptions
) -> bool | None:
    """Whether a search by meaning alone that may use the index misses what an exact one has among its hits."""
    best = next((one for one in found if one.place is not None and one.place <= asked.k), None)
    if best is None:
        return None
    alone = SearchOptions(**{**options, "mode": "approx"})
    for name in ("hybrid", "weights", "candidates", "prefer", "order", "diversity", "rerank", "fallback"):
        alone.pop(name, None)  # type: ignore[misc]
    result = searcher.search(question, scope=asked.scope, options=alone)
    return best.key not in {hit.key for hit in result} if result.approximate else None
