"""Does a loaded model embed? Its dimension, its length, and whether related sentences are nearer than others."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

import oracledb

from oraclerag.database import translated
from oraclerag.errors import ConfigurationError, EmbeddingDimensionMismatch, ModelInvalid
from oraclerag.model.external import Embedder
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


def verify_model(
    connection: oracledb.Connection, name: str, *, schema: str, embedder: Embedder | None = None
) -> VerifiedModel:
    """Embed three sentences with a loaded model and check what comes back.

    ``name`` is a configured or a physical name; ``embedder`` is who is asked where that is not the database. Raises
    EmbeddingDimensionMismatch when vectors have another dimension than the one recorded, ModelInvalid when their length
    is not 1 or unrelated sentences are as near as related ones, ModelMissing; for a provider's model ProviderError, and
    ConfigurationError where no embedder is given.
    """
    model = find_model(connection, name, schema=schema)
    sentences = [model.passage_prefix + sentence for sentence in (_SENTENCE, _RELATED, _UNRELATED)]
    if model.provider is None:
        vectors = _in_database(connection, schema, model, sentences)
    elif embedder is None or embedder.name != model.name:
        raise ConfigurationError(
            f"{model.physical_name} is a model of {model.provider}, which this process is not configured with.",
            hint="Set embedding.provider and embedding.model, or ORACLERAG_EMBEDDING_PROVIDER and …_MODEL.",
        )
    else:
        vectors = embedder.embed(sentences, "passage").vectors
    for vector in vectors:
        if len(vector) != model.dimensions:
            raise EmbeddingDimensionMismatch(
                f"{model.physical_name} gives {len(vector)} dimensions, RAG_MODEL says {model.dimensions}.",
                hint="Drop the model and load it again.",
            )
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in vectors]
    worst = max(lengths, key=lambda length: abs(length - 1))
    # the distance is that of the cosine, which asks for no length; a model in the database is made so all the same
    if model.provider is None and not abs(worst - 1) < 1e-3:  # written so that NaN fails
        raise ModelInvalid(
            f"{model.physical_name} gives vectors of length {worst:.4f}, not 1.",
            hint="Load a model that normalises its vectors: `oraclerag model build` makes such a one.",
        )
    related, unrelated = (
        sum(map(mul, vectors[0], other)) / (lengths[0] * length)
        for other, length in zip(vectors[1:], lengths[1:], strict=True)
    )
    if not related > unrelated:
        raise ModelInvalid(
            f"{model.physical_name} finds unrelated sentences as near as related ones (similarity {unrelated:.3f} and "
            f"{related:.3f}).",
            hint="It is no model for sentences, or its weights are broken; load another one.",
        )
    return VerifiedModel(model, model.dimensions, worst, related, unrelated)


def _in_database(
    connection: oracledb.Connection, schema: str, model: LoadedModel, sentences: Sequence[str]
) -> Sequence[Sequence[float]]:
    text = statements(schema).with_names("embed", model=sql_name(schema, model.physical_name))
    vectors: list[Sequence[float]] = []
    with translated(), connection.cursor() as cursor:
        for sentence in sentences:
            cursor.execute(text, text=sentence)
            row = cursor.fetchone()
            if row is None or not isinstance(row[0], array):
                raise ModelInvalid(f"{model.physical_name} gives no vector for a sentence.")
            vectors.append(row[0])
    return vectors
