"""Does a loaded model embed? Its dimension, its length, and whether related sentences are nearer than others."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

import oracledb

from oraclerag.database import translated
from oraclerag.errors import EmbeddingDimensionMismatch, ModelInvalid
from oraclerag.model.installed import LoadedModel, find_model, sql_name, statements

__all__ = ["VerifiedModel", "verify_model"]

_SENTENCE = "The customer paid the invoice two weeks late."
_RELATED = "Payment of the invoice by the customer was late."
_UNRELATED = "Snow covers the mountains above the forest."


@dataclass(frozen=True, slots=True)
class VerifiedModel:
    """What the check found: cosine similarities (1 is the same direction) and the length of the vectors."""

    model: LoadedModel
    dimensions: int
    length: float
    related: float
    unrelated: float


def verify_model(connection: oracledb.Connection, name: str, *, schema: str) -> VerifiedModel:
    """Embed three sentences with a loaded model and check what comes back.

    ``name`` is a configured or a physical name. Raises EmbeddingDimensionMismatch when vectors have another dimension
    than the one recorded, ModelInvalid when their length is not 1 or unrelated sentences are as near as related ones,
    ModelMissing.
    """
    model = find_model(connection, name, schema=schema)
    text = statements(schema).with_names("embed", model=sql_name(schema, model.physical_name))
    vectors: list[Sequence[float]] = []
    with translated(), connection.cursor() as cursor:
        for sentence in (_SENTENCE, _RELATED, _UNRELATED):
            cursor.execute(text, text=model.passage_prefix + sentence)
            row = cursor.fetchone()
            if row is None or not isinstance(row[0], array):
                raise ModelInvalid(f"{model.physical_name} gives no vector for a sentence.")
            vectors.append(row[0])
    for vector in vectors:
        if len(vector) != model.dimensions:
            raise EmbeddingDimensionMismatch(
                f"{model.physical_name} gives {len(vector)} dimensions, RAG_MODEL says {model.dimensions}.",
                hint="Drop the model and load it again.",
            )
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in vectors]
    worst = max(lengths, key=lambda length: abs(length - 1))
    if not abs(worst - 1) < 1e-3:  # written so that NaN fails
        raise ModelInvalid(
            f"{model.physical_name} gives vectors of length {worst:.4f}, not 1.",
            hint="Load a model that normalises its vectors: `oraclerag model build` makes such a one.",
        )
    related, unrelated = (sum(map(mul, vectors[0], other)) for other in vectors[1:])
    if not related > unrelated:
        raise ModelInvalid(
            f"{model.physical_name} finds unrelated sentences as near as related ones (similarity {unrelated:.3f} and "
            f"{related:.3f}).",
            hint="It is no model for sentences, or its weights are broken; load another one.",
        )
    return VerifiedModel(model, model.dimensions, worst, related, unrelated)
