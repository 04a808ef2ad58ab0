"""Rerank: the first hits of a search scored once more, by a model in the database that reads question and text at once.

One statement more; no text is sent for it, only chunk ids. It asks for the scope again, as between two statements a
chunk may have become another's: what is no longer visible is left out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from oraclerag.database import MODEL_MISSING, code_of, in_list, parts
from oraclerag.errors import ModelInvalid, ModelMissing
from oraclerag.records import Hit
from oraclerag.search.compose import Statement, concatenated, pieces
from oraclerag.statements import identifier, quoted

if TYPE_CHECKING:
    import oracledb

    from oraclerag.scope import Scope

__all__ = ["pairs", "reranked"]

_INCOMPATIBLE = "ORA-40290"


def reranked(
    connection: oracledb.Connection,
    schema: str,
    model: str,
    question: str,
    scope: Scope,
    hits: Sequence[Hit],
) -> tuple[list[Hit], int]:
    """Give the hits in the order of the model's scores, equal ones as they were, and how many statements it took.

    ``model`` is the name of an ONNX model of function regression in ``schema`` whose inputs are DATA1 and DATA2. Raises
    ModelMissing and ModelInvalid.
    """
    import oracledb

    logits: dict[int, float] = {}
    sent = 0
    for part in parts([hit.chunk_id for hit in hits]):
        statement = pairs(schema, model, question, scope, part)
        sent += 1
        try:
            with connection.cursor() as cursor:
                cursor.prefetchrows = cursor.arraysize = len(part) + 1
                cursor.execute(statement.text, dict(statement.binds))
                logits |= {int(chunk_id): float(logit) for chunk_id, logit in cursor}
        except oracledb.Error as error:
            if code_of(error) == MODEL_MISSING:
                raise ModelMissing(
                    f"The reranker {model.upper()} (search.rerank_model) is not in the schema {schema}.",
                    hint="Load it with DBMS_VECTOR.LOAD_ONNX_MODEL: docs/search.md says how.",
                ) from error
            if code_of(error) == _INCOMPATIBLE:
                raise ModelInvalid(
                    f"{model.upper()} (search.rerank_model) is no reranker.",
                    hint='It must have been loaded with "function": "regression": docs/search.md says how.',
                ) from error
            raise
    kept = sorted((hit for hit in hits if hit.chunk_id in logits), key=lambda hit: -logits[hit.chunk_id])
    return [_placed(rank, hit, logits) for rank, hit in enumerate(kept, start=1)], sent


def pairs(schema: str, model: str, question: str, scope: Scope, ids: Sequence[int]) -> Statement:
    """Build the statement that scores the question with each of some chunks."""
    listed, binds = in_list(ids)
    allowed, allowed_binds = scope.predicate("c")
    asked = pieces(question)
    owner = quoted(schema, "schema")
    return Statement(
        f"SELECT c.CHUNK_ID, PREDICTION({owner}.{identifier(model, 'name of a reranker')} "
        f"USING {concatenated(asked)} AS DATA1, c.CONTENT AS DATA2) AS LOGIT\n"
        f"FROM {owner}.RAG_CHUNK c\nWHERE {allowed} AND (c.CHUNK_ID IN ({listed}))",
        {**binds, **allowed_binds, **{f"question{number}": part for number, part in enumerate(asked)}},
    )


def _placed(rank: int, hit: Hit, logits: Mapping[int, float]) -> Hit:
    relevance = _share(logits[hit.chunk_id])
    return dataclasses.replace(hit, rank=rank, why=f"reranked {relevance:.2f}, {hit.why}", relevance=relevance)


def _share(logit: float) -> float:
    """Give a logit as a number from 0 to 1."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
