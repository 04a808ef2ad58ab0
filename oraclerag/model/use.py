"""Make a loaded model the one in force: verify it, give RAG_CHUNK a vector column of its dimension, write it down."""

from __future__ import annotations

import oracledb

from oraclerag.database import code_of, own_tables
from oraclerag.errors import EmbeddingDimensionMismatch, ModelError, SchemaError
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.installed import LoadedModel, refuse_open_transaction, statements
from oraclerag.model.verify import verify_model
from oraclerag.statements import identifier

__all__ = ["COLUMN", "use_model"]

COLUMN = "EMBEDDING"
_NO_SUCH_COLUMN = "ORA-00904"


def use_model(connection: oracledb.Connection, name: str, *, schema: str, rebuild: bool = False) -> ActiveModel:
    """Make a model active; it must have been loaded, and is verified first.

    The column EMBEDDING of RAG_CHUNK is created (nullable) where it is not there. Vectors of another model are never
    mixed with this one's: a column that holds some is refused (EmbeddingDimensionMismatch, or ModelError where the
    dimension is the same) unless ``rebuild`` says that it may be dropped with its index and made anew, empty; then
    everything has to be embedded again. Commits. A second call changes nothing.
    """
    refuse_open_transaction(connection, "Making a model active")
    model = verify_model(connection, name, schema=schema).model
    texts = statements(schema)
    with own_tables(), connection.cursor() as cursor:
        values = {}
        for setting in ("model", "vector_column"):
            cursor.execute(texts["setting"], setting=setting)
            row = cursor.fetchone()
            values[setting] = row[0] if row else None
        column = identifier(values["vector_column"] or COLUMN, "vector column")
        dimensions = _dimensions(cursor, schema, column)
        same = values["model"] == model.physical_name and dimensions == model.dimensions
        if dimensions is not None and not same:
            dimensions = _keep_or_drop(cursor, schema, column, dimensions, model, rebuild=rebuild)
        if dimensions is None:
            kind = f"VECTOR({model.dimensions}, FLOAT32)"
            cursor.execute(texts.with_names("add_column", column=column, type=kind))
        if not same:
            cursor.execute(texts["set"], setting="model", value=model.physical_name)
            cursor.execute(texts["set"], setting="vector_column", value=column)
            connection.commit()
    return active_model(connection, schema)


def _dimensions(cursor: oracledb.Cursor, schema: str, column: str) -> int | None:
    """Give the dimension of the vector column, None where there is no such column."""
    try:
        cursor.execute(statements(schema).with_names("column", column=column))
    except oracledb.DatabaseError as error:
        if code_of(error) == _NO_SUCH_COLUMN:
            return None
        raise
    described = cursor.description[0] if cursor.description else None
    if described is None or described.type_code is not oracledb.DB_TYPE_VECTOR or not described.vector_dimensions:
        raise SchemaError(
            f"The column {column} of RAG_CHUNK is not a vector of a fixed dimension.",
            hint="It was not made by oraclerag: rename or drop it.",
        )
    return int(described.vector_dimensions)


def _keep_or_drop(
    cursor: oracledb.Cursor, schema: str, column: str, dimensions: int, model: LoadedModel, *, rebuild: bool
) -> int | None:
    """Keep an empty column of the right dimension, drop another one if that is allowed; give the dimension left."""
    texts = statements(schema)
    cursor.execute(texts.with_names("column_in_use", column=column))
    in_use = cursor.fetchone() is not None
    if in_use and not rebuild:
        remedy = (
            f"`oraclerag model use {model.name} --rebuild` empties the column, `oraclerag reindex` embeds everything "
            "again."
        )
        if dimensions != model.dimensions:
            raise EmbeddingDimensionMismatch(
                f"{model.physical_name} gives {model.dimensions} dimensions; the column {column} of RAG_CHUNK has "
                f"{dimensions} and holds vectors.",
                hint=remedy,
            )
        raise ModelError(
            f"The column {column} of RAG_CHUNK holds vectors of another model than {model.physical_name}.", hint=remedy
        )
    if not in_use and dimensions == model.dimensions:
        return dimensions
    cursor.execute(texts.with_names("drop_column", column=column))
    return None
