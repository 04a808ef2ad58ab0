"""Make a loaded model the one in force: verify it, give RAG_CHUNK a vector column of its dimension, write it down."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import oracledb

from oraclerag.database import RESOURCE_BUSY, code_of, own_tables
from oraclerag.errors import Contention, EmbeddingDimensionMismatch, ModelError
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.columns import COLUMNS, index_name, vector_dimensions
from oraclerag.model.external import Embedder
from oraclerag.model.installed import LoadedModel, refuse_open_transaction, statements
from oraclerag.model.verify import verify_model
from oraclerag.security import require_unrestricted
from oraclerag.statements import identifier, quoted

__all__ = ["COLUMN", "use_model"]

COLUMN = COLUMNS[0]


def use_model(
    connection: oracledb.Connection,
    name: str,
    *,
    schema: str,
    rebuild: bool = False,
    embedder: Embedder | None = None,
) -> ActiveModel:
    """Make a model active; it must have been loaded, and is verified first.

    The column EMBEDDING of RAG_CHUNK is created (nullable) where it is not there. Vectors of another model are never
    mixed with this one's: a column that holds some is refused (EmbeddingDimensionMismatch, or ModelError where the
    dimension is the same) unless ``rebuild`` says that it may be dropped with its index and made anew, empty; then
    everything has to be embedded again. While the column changes no model is in force: workers wait, searches are
    refused; where the change fails, the one before is put back. Commits. A second call changes nothing. Raises
    Contention where another session is writing chunks. ``embedder`` is asked where the database does not embed.
    """
    refuse_open_transaction(connection, "Making a model active")
    model = verify_model(connection, name, schema=schema, embedder=embedder).model
    texts = statements(schema)
    with own_tables(), connection.cursor() as cursor:
        settings = {}
        for setting in ("model", "vector_column", "model_replaced", "second_model", "second_column"):
            cursor.execute(texts["setting"], setting=setting)
            row = cursor.fetchone()
            settings[setting] = row[0] if row else None
        if settings["second_model"] is not None or settings["second_column"] is not None:
            beside = settings["second_model"] or settings["second_column"]
            raise ModelError(
                f"A switch of models is under way: {beside} is beside what is in force.",
                hint="End it first: `oraclerag reembed --status` says how.",
            )
        # what an interrupted call took out of force is still what the vectors were made with
        before = settings["model"] or settings["model_replaced"]
        column = identifier(settings["vector_column"] or COLUMN, "vector column")
        dimensions = vector_dimensions(cursor, schema, column)
        if (settings["model"], dimensions) == (model.physical_name, model.dimensions):
            return active_model(connection, schema)
        if before != model.physical_name or dimensions != model.dimensions:
            if dimensions is not None:  # a column whose rows are hidden would be dropped as an empty one
                require_unrestricted(connection, schema, "Who changes the model")
                _refuse_vectors(cursor, schema, column, dimensions, model, rebuild=rebuild)
            with _out_of_force(connection, cursor, schema, column):
                _make_column(cursor, schema, column, model, drop=dimensions is not None)
        cursor.execute(texts["set"], setting="model", value=model.physical_name)
        cursor.execute(texts["set"], setting="vector_column", value=column)
        cursor.execute(texts["forget_replaced"])
        connection.commit()
    return active_model(connection, schema)


def _refuse_vectors(
    cursor: oracledb.Cursor, schema: str, column: str, dimensions: int, model: LoadedModel, *, rebuild: bool
) -> None:
    """Refuse a column that holds vectors, unless it may be dropped."""
    cursor.execute(statements(schema).with_names("column_in_use", column=column))
    if rebuild or cursor.fetchone() is None:
        return
    remedy = (
        f"`oraclerag model use {model.name} --rebuild` empties the column, `oraclerag reindex` embeds everything again."
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


@contextlib.contextmanager
def _out_of_force(connection: oracledb.Connection, cursor: oracledb.Cursor, schema: str, column: str) -> Iterator[None]:
    """Let no model be in force inside the block; where the block fails and the column is there, the one before again.

    A worker looks at the end of its transaction whether its model is in force still, and what it wrote keeps the DDL
    away (ORA-00054) until it has ended: it never leaves vectors of the old model in the new column.
    """
    texts = statements(schema)
    cursor.execute(texts["take_out_of_force"])
    taken = bool(cursor.rowcount)
    connection.commit()
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(oracledb.Error):  # the connection may be what failed; a later call finds the rest
            connection.rollback()
            if taken and vector_dimensions(cursor, schema, column) is not None:
                cursor.execute(texts["put_in_force"])
                connection.commit()
        if code_of(error) == RESOURCE_BUSY:
            raise Contention(
                "Another session is writing chunks; the model in force was left as it was (ORA-00054).",
                hint="Stop the workers, or run the command again.",
            ) from error
        raise


def _make_column(cursor: oracledb.Cursor, schema: str, column: str, model: LoadedModel, *, drop: bool) -> None:
    """Make an empty column, and the index and the column that were there go.

    An empty column of the right dimension goes too: only DDL waits for whoever may still be writing vectors into it.
    """
    texts = statements(schema)
    if drop:
        cursor.execute(texts["vector_index"], owner=schema, index_name=index_name(column))
        if cursor.fetchone() is not None:
            cursor.execute(texts.with_names("drop_vector_index", index=f"{quoted(schema)}.{index_name(column)}"))
        cursor.execute(texts.with_names("drop_column", column=column))
    # Otherwise a model that was in force once before would find its fingerprints and miss nothing.
    cursor.execute(texts["forget_model_of_entities"])
    cursor.execute(texts["forget_vectors_as"])
    cursor.execute(texts.with_names("add_column", column=column, type=f"VECTOR({model.dimensions}, FLOAT32)"))
