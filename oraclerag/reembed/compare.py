"""The same questions to both columns: how much the answers of the new model differ, and what its index misses."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import oracledb

from oraclerag.database import Database, own_tables
from oraclerag.model.active import ActiveModel
from oraclerag.scope import Scope
from oraclerag.search import cut
from oraclerag.search.sending import embed
from oraclerag.security import reading
from oraclerag.statements import quoted

__all__ = ["ModelComparison", "compare"]


_WAYS: tuple[Literal["EXACT", "APPROX"], ...] = ("EXACT", "APPROX")


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """``questions`` asked of both models for the ``k`` nearest chunks; means from 0 to 1, None where nothing was asked.

    ``overlap``: the share of hits that both have. ``same_first``: how often the first hit is the same. ``recall``: the
    share of the new model's k nearest that a search by its index finds, and that of the present one, ``recall_now``.
    How good either is, no comparison without judgements can say: `oraclerag evaluate` does.
    """

    questions: int
    k: int
    overlap: float | None
    same_first: float | None
    recall: float | None
    recall_now: float | None
    origin: str


def compare(
    database: Database,
    now: ActiveModel,
    coming: ActiveModel,
    questions: Sequence[str],
    *,
    scope: Scope,
    k: int,
    accuracy: int,
    origin: str,
    ask: Callable[[ActiveModel, Sequence[str]], Sequence[object]],
) -> ModelComparison:
    """Ask both models; ``scope`` is resolved. Reads ids alone, no text. ``ask`` embeds for a provider's model."""
    overlaps, firsts, recalls, recalls_now = [], [], [], []
    with reading(database, scope.tenant) as (connection, schema):
        for question in questions:
            found = {}
            for model in (now, coming):
                text = cut(model.query_prefix, question, model)[0]
                vector = embed(connection, model, text) if model.provider is None else ask(model, [text])[0]
                for how in _WAYS:
                    found[model.column, how] = _nearest(connection, schema, model, vector, scope, k, how, accuracy)
            old, new = found[now.column, "EXACT"], found[coming.column, "EXACT"]
            if not new:
                continue
            overlaps.append(len(set(old) & set(new)) / max(len(old), len(new)))
            firsts.append(float(old[:1] == new[:1]))
            recalls.append(len(set(new) & set(found[coming.column, "APPROX"])) / len(new))
            recalls_now.append(len(set(old) & set(found[now.column, "APPROX"])) / max(len(old), 1))

    def mean(values: Sequence[float]) -> float | None:
        return statistics.fmean(values) if values else None

    return ModelComparison(len(overlaps), k, mean(overlaps), mean(firsts), mean(recalls), mean(recalls_now), origin)


def _nearest(
    connection: oracledb.Connection,
    schema: str,
    model: ActiveModel,
    vector: object,
    scope: Scope,
    k: int,
    how: Literal["EXACT", "APPROX"],
    accuracy: int,
) -> list[int]:
    allowed, binds = scope.predicate("c")
    limit = f"FETCH {how} FIRST {int(k)} ROWS ONLY"
    if how == "APPROX":
        limit += f" WITH TARGET ACCURACY {int(accuracy)}"
    statement = (
        f"SELECT c.CHUNK_ID FROM {quoted(schema, 'schema')}.RAG_CHUNK c WHERE ({allowed}) "
        f"ORDER BY VECTOR_DISTANCE(c.{quoted(model.column, 'vector column')}, :question_vector, COSINE) {limit}"
    )
    with connection.cursor() as cursor, own_tables():
        cursor.setinputsizes(question_vector=oracledb.DB_TYPE_VECTOR)
        cursor.execute(statement, {**binds, "question_vector": vector})
        return [int(chunk_id) for (chunk_id,) in cursor.fetchall()]
