"""Write a model of a provider into RAG_MODEL, as loading does with one that goes into the database."""

from __future__ import annotations

import dataclasses

import oracledb

from oraclerag.database import UNIQUE_VIOLATED, code_of, own_tables
from oraclerag.errors import EmbeddingDimensionMismatch
from oraclerag.model.external import Embedder, ExternalModel
from oraclerag.model.installed import LoadedModel, list_models, refuse_open_transaction, statements
from oraclerag.model.load import physical_name

__all__ = ["register_model"]

_PROBE = "The customer paid the invoice two weeks late."


def register_model(
    connection: oracledb.Connection, external: ExternalModel, *, schema: str, embedder: Embedder
) -> LoadedModel:
    """Ask the provider for one vector and record the model with its dimensions; commits.

    A model that was recorded before is found again: a second call does nothing. Raises EmbeddingDimensionMismatch where
    the vector has other dimensions than are known or configured, ProviderError.
    """
    refuse_open_transaction(connection, "Recording a model")
    (vector,) = embedder.embed([external.passage_prefix + _PROBE], "passage").vectors
    if external.dimensions is not None and len(vector) != external.dimensions:
        raise EmbeddingDimensionMismatch(
            f"{external.model} of {external.provider.name} gives {len(vector)} dimensions, not {external.dimensions}.",
            hint="embedding.dimensions (ORACLERAG_EMBEDDING_DIMENSIONS) says how many are expected.",
        )
    sha256 = external.identity(len(vector))
    physical = physical_name(external.name, sha256)
    there = any(model.physical_name == physical for model in list_models(connection, schema=schema))
    if not there:
        with own_tables(), connection.cursor() as cursor:
            cursor.setinputsizes(tokenizer=oracledb.DB_TYPE_JSON)
            try:
                cursor.execute(
                    statements(schema)["record_external"],
                    {
                        "physical_name": physical,
                        "model_name": external.name,
                        "sha256": sha256,
                        "dimensions": len(vector),
                        "max_tokens": external.max_tokens,
                        "query_prefix": external.query_prefix,
                        "passage_prefix": external.passage_prefix,
                        "provider": external.provider.name,
                        "remote_name": external.model,
                        "tokenizer": {"counter": external.counter} if external.counter != "bytes" else None,
                    },
                )
            except oracledb.IntegrityError as error:
                if code_of(error) != UNIQUE_VIOLATED:  # another process was quicker
                    raise
            connection.commit()
    found = next(model for model in list_models(connection, schema=schema) if model.physical_name == physical)
    return dataclasses.replace(found, loaded=not there)
