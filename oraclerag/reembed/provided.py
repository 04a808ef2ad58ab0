"""Every chunk that has no vector of a provider's model gets one: a slice is read, sent, and written if it is the same.

Nothing is locked while the provider is asked. A chunk that changed meanwhile is left to the next pass.
"""

from __future__ import annotations

import functools
import time
from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import oracledb

from oraclerag import in_force
from oraclerag.config import Settings
from oraclerag.database import committed, own_tables
from oraclerag.embed import Budget, Passages, embedder_of
from oraclerag.errors import EntityError
from oraclerag.model.active import ActiveModel
from oraclerag.statements import Statements, quoted

__all__ = ["fill_provided"]

_SLICE = 256
_AGAIN = 1.0  # seconds before the next slice, where all of one had changed meanwhile


class _Chunk(NamedTuple):
    chunk_id: int
    tenant: str
    key: str
    content_hash: str
    content: str


def fill_provided(
    connection: oracledb.Connection,
    schema: str,
    model: ActiveModel,
    settings: Settings,
    *,
    begin: int,
    require_still: Callable[[], None],
    pause: float = 0.0,
    on_progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Have a provider embed what has no vector in the column of ``model``, from the chunk behind ``begin`` on.

    Gives how many. What is sent is written down for its tenants; their budgets hold nothing back here. Commits each
    slice. Raises ProviderError, EntityError for a text that the provider does not take, ModelNotActive where the
    settings name another model.
    """
    statements = Statements("reembed", schema)
    column = quoted(model.column, "vector column")
    budget = Budget(connection, schema, settings)
    embedder = embedder_of(settings, model)
    filled, done = 0, begin
    while True:
        earlier = filled
        chunks = _read(connection, statements.with_names("provided", column=column), done)
        if not chunks and not done:
            return filled
        for tenant, some in _by_tenant(chunks).items():
            passages = Passages(
                embedder, model.passage_prefix, model.counter.count, lambda: None,
                functools.partial(_record, budget, tenant, model),
                tokens_per_minute=settings.embedding_tokens_per_minute,
            )  # fmt: skip
            vectors, refused = passages.vectors({chunk.content_hash: chunk.content for chunk in some})
            for chunk in some:
                if chunk.content_hash in refused:
                    raise EntityError(f"{chunk.key}: {refused[chunk.content_hash].message}")
            filled += committed(  # before the provider is asked again
                connection,
                functools.partial(
                    _write,
                    connection,
                    statements.with_names("set_provided", column=column),
                    some,
                    vectors,
                    require_still,
                ),
            )
        done = chunks[-1].chunk_id if chunks else 0  # once more from the beginning: what others added or changed
        in_force.put(connection, schema, "*", "second_done", str(done))
        with own_tables():
            connection.commit()
        on_progress(filled)
        if chunks and filled == earlier:
            time.sleep(_AGAIN)
        elif pause:
            time.sleep(pause)


def _record(budget: Budget, tenant: str, model: ActiveModel, tokens: int) -> None:
    budget.record(tenant, model.physical_name, tokens=tokens)


def _read(connection: oracledb.Connection, statement: str, done: int) -> list[_Chunk]:
    with connection.cursor() as cursor, own_tables():
        cursor.arraysize = cursor.prefetchrows = _SLICE
        cursor.execute(statement, done=done, how_many=_SLICE)
        found = [_Chunk(int(row[0]), row[1], f"{row[2]}:{row[3]}", row[4], row[5]) for row in cursor.fetchall()]
        connection.rollback()
    return found


def _by_tenant(chunks: list[_Chunk]) -> dict[str, list[_Chunk]]:
    found: dict[str, list[_Chunk]] = defaultdict(list)
    for chunk in chunks:
        found[chunk.tenant].append(chunk)
    return found


def _write(
    connection: oracledb.Connection,
    statement: str,
    chunks: list[_Chunk],
    vectors: dict[str, array[float]],
    require_still: Callable[[], None],
) -> int:
    rows: list[dict[str, Any]] = [
        {"vector": vectors[chunk.content_hash], "chunk_id": chunk.chunk_id, "content_hash": chunk.content_hash}
        for chunk in chunks
    ]
    with connection.cursor() as cursor, own_tables():
        cursor.setinputsizes(vector=oracledb.DB_TYPE_VECTOR)
        cursor.executemany(statement, rows)
        written = int(cursor.rowcount)
    require_still()
    return written
