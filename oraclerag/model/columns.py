"""The vector columns of RAG_CHUNK and their indexes: one column, and a second one while models are switched.

No migration makes them: a column has the dimension of its model. They take turns: what is second first is the only one
in the end.
"""

from __future__ import annotations

import oracledb

from oraclerag.database import code_of
from oraclerag.errors import SchemaError
from oraclerag.model.installed import statements

__all__ = ["COLUMNS", "index_name", "other_column", "vector_dimensions"]

COLUMNS = ("EMBEDDING", "EMBEDDING_2")

_NO_SUCH_COLUMN = "ORA-00904"

_INDEXES = dict(zip(COLUMNS, ("RAG_CHUNK_EMB_IDX", "RAG_CHUNK_EMB2_IDX"), strict=True))


def index_name(column: str) -> str:
    """Give the name of the vector index over a column. Raises SchemaError for a column that is not one of ours."""
    if column not in _INDEXES:
        raise SchemaError(f"RAG_SETTING names {column!r} as vector column; {' or '.join(COLUMNS)} is one.")
    return _INDEXES[column]


def other_column(column: str) -> str:
    """Give the column that is free for the vectors of another model."""
    index_name(column)
    return COLUMNS[1 - COLUMNS.index(column)]


def vector_dimensions(cursor: oracledb.Cursor, schema: str, column: str) -> int | None:
    """Give the dimension of a vector column, None where there is no such column. Raises SchemaError."""
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
