"""The models that RAG_MODEL records: which there are, which one is in force, and taking one away."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import MODEL_MISSING, code_of, translated
from oraclerag.errors import InputError, ModelMissing, ModelNotActive
from oraclerag.model.tokens import Tokens, token_counter
from oraclerag.model.wordpiece import WordPiece
from oraclerag.statements import Statements, identifier

__all__ = [
    "ActiveModel",
    "LoadedModel",
    "active_model",
    "drop_model",
    "find_model",
    "list_models",
    "own_name",
    "qualified",
    "refuse_open_transaction",
    "statements",
    "tokens_of",
]

MAX_NAME = 123  # characters; unquoted identifiers only


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in the database.

    ``name`` is the configured name, ``physical_name`` what the database and all SQL call it. ``max_tokens`` counts the
    special tokens; ``exact_tokens`` says whether its vocabulary is known, so that tokens can be counted exactly.
    ``loaded`` is False when it was there already.
    """

    name: str
    physical_name: str
    sha256: str
    dimensions: int
    max_tokens: int
    exact_tokens: bool
    query_prefix: str = ""
    passage_prefix: str = ""
    active: bool = False
    loaded: bool = False
    loaded_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """The model in force and the vector column that holds its embeddings: a statement names both or neither."""

    model: LoadedModel
    column: str


def statements(schema: str) -> Statements:
    """Give the statements of this stage."""
    return Statements("model", schema)


def qualified(schema: str, physical_name: str) -> str:
    """Give the model as SQL names it, owner first: an unqualified one is looked for in the caller's schema."""
    return f"{identifier(schema, 'schema')}.{identifier(physical_name, 'name of a model')}"


def refuse_open_transaction(connection: oracledb.Connection, what: str) -> None:
    """Refuse a connection with uncommitted work: what follows commits by itself."""
    if connection.transaction_in_progress:
        raise InputError(
            f"{what} commits, and the connection has an open transaction.",
            hint="Commit or roll back first, or pass a connection of its own.",
        )


def list_models(connection: oracledb.Connection, *, schema: str) -> list[LoadedModel]:
    """Give the recorded models by name, the youngest of each name first."""
    with translated(), connection.cursor() as cursor:
        cursor.execute(statements(schema)["list"])
        return [_loaded(row) for row in cursor]


def _loaded(row: Any) -> LoadedModel:
    physical, name, sha256, dimensions, max_tokens, query_prefix, passage_prefix, exact, loaded_at, active = row
    return LoadedModel(
        name=name,
        physical_name=physical,
        sha256=sha256,
        dimensions=int(dimensions),
        max_tokens=int(max_tokens),
        exact_tokens=bool(exact),
        query_prefix=query_prefix or "",  # Oracle keeps '' as NULL
        passage_prefix=passage_prefix or "",
        active=bool(active),
        loaded_at=loaded_at,
    )


def find_model(connection: oracledb.Connection, name: str, *, schema: str) -> LoadedModel:
    """Give a recorded model by its physical name, or the youngest one of a configured name; else ModelMissing."""
    wanted = identifier(name, "name of a model")
    models = list_models(connection, schema=schema)
    for model in models:
        if model.physical_name == wanted:
            return model
    for model in models:
        if model.name == wanted:
            return model
    raise ModelMissing(f"No model {wanted} has been loaded.")


def active_model(connection: oracledb.Connection, *, schema: str) -> ActiveModel:
    """Give the model in force and its column; ModelNotActive where none is."""
    texts = statements(schema)
    with translated(), connection.cursor() as cursor:
        values = {}
        for setting in ("model", "vector_column"):
            cursor.execute(texts["setting"], setting=setting)
            row = cursor.fetchone()
            values[setting] = row[0] if row else None
    physical, column = values["model"], values["vector_column"]
    if physical is None or column is None:
        raise ModelNotActive("No embedding model is in force.")
    model = next((m for m in list_models(connection, schema=schema) if m.physical_name == physical), None)
    if model is None:
        raise ModelMissing(f"The model in force, {physical}, is not recorded in RAG_MODEL.")
    return ActiveModel(model, identifier(column, "vector column"))


def tokens_of(connection: oracledb.Connection, model: LoadedModel, *, schema: str) -> Tokens:
    """Give the counter for a model's tokens: exact where its vocabulary is recorded, else the upper bound."""
    with translated(), connection.cursor() as cursor:
        cursor.execute(statements(schema)["vocabulary"], physical_name=model.physical_name)
        row = cursor.fetchone()
        vocabulary = row[0].read() if row and isinstance(row[0], oracledb.LOB) else row and row[0]
    if not row or not vocabulary or row[1] is None:
        return token_counter(None)
    options = json.loads(row[1]) if isinstance(row[1], str) else row[1]
    return token_counter(WordPiece.restored(vocabulary, options))


def drop_model(connection: oracledb.Connection, name: str, *, schema: str) -> LoadedModel:
    """Drop a model from the database and from RAG_MODEL; the one in force is refused (InputError).

    A configured name that several models carry is refused too: name the physical one. Commits.
    """
    refuse_open_transaction(connection, "Dropping a model")
    wanted = identifier(name, "name of a model")
    models = list_models(connection, schema=schema)
    found = [m for m in models if m.physical_name == wanted] or [m for m in models if m.name == wanted]
    if not found:
        raise ModelMissing(f"No model {wanted} has been loaded.", hint="`oraclerag model list` shows what there is.")
    if len(found) > 1:
        raise InputError(
            f"{len(found)} models are called {wanted}.",
            hint=f"Name one of them: {', '.join(m.physical_name for m in found)}.",
        )
    model = found[0]
    if model.active:
        raise InputError(
            f"{model.physical_name} is the model in force.", hint="Make another one active first: `model use NAME`."
        )
    texts = statements(schema)
    with translated(), connection.cursor() as cursor:
        try:
            cursor.execute(texts["drop"], model_name=own_name(connection, schema, model.physical_name))
        except oracledb.DatabaseError as error:
            if code_of(error) != MODEL_MISSING:  # gone already: the record still has to go
                raise
        cursor.execute(texts["forget"], physical_name=model.physical_name)
        connection.commit()
    return model


def own_name(connection: oracledb.Connection, schema: str, physical_name: str) -> str:
    """Give the name for a package call: bare in the user's own schema, else with its owner."""
    own = (connection.username or "").upper() == identifier(schema, "schema")
    return physical_name if own else qualified(schema, physical_name)
