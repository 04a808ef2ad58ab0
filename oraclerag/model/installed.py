"""The models that RAG_MODEL records: which there are, and taking one away."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import MODEL_MISSING, code_of, own_tables
from oraclerag.errors import InputError, ModelMissing
from oraclerag.statements import Statements, identifier, quoted

__all__ = [
    "MAX_NAME",
    "LoadedModel",
    "drop_model",
    "find_model",
    "list_models",
    "own_name",
    "refuse_open_transaction",
    "sql_name",
    "statements",
]

MAX_NAME = 123  # characters; unquoted identifiers only


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in the database.

    ``name`` is the configured name, ``physical_name`` what the database and all SQL call it. ``max_tokens`` counts the
    special tokens; ``exact_tokens`` says whether its vocabulary is known, so that tokens can be counted exactly.
    ``loaded`` is False when it was there already. ``provider`` is who embeds with it, None where the database does.
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
    provider: str | None = None


def statements(schema: str) -> Statements:
    """Give the statements of this stage."""
    return Statements("model", schema)


def sql_name(schema: str, physical_name: str) -> str:
    """Give the model as SQL names it, owner first: an unqualified one is looked for in the caller's schema."""
    return f"{quoted(schema, 'schema')}.{identifier(physical_name, 'name of a model')}"


def refuse_open_transaction(connection: oracledb.Connection, what: str) -> None:
    """Refuse a connection with uncommitted work: what follows commits by itself."""
    if connection.transaction_in_progress:
        raise InputError(
            f"{what} commits, and the connection has an open transaction.",
            hint="Commit or roll back first, or pass a connection of its own.",
        )


def list_models(connection: oracledb.Connection, *, schema: str) -> list[LoadedModel]:
    """Give the recorded models by name, the youngest of each name first."""
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(statements(schema)["list"])
        return [_loaded(row) for row in cursor]


def _loaded(row: Any) -> LoadedModel:
    physical, name, sha256, dimensions, max_tokens, query_prefix, passage_prefix, exact, *others = row
    loaded_at, active, provider = others
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
        provider=provider,
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
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(texts["setting"], setting="second_model")
        second = cursor.fetchone()
        if second is not None and second[0] == model.physical_name:
            raise InputError(
                f"{model.physical_name} is beside the model in force: a switch is under way.",
                hint="End it first: `oraclerag reembed --status` says how.",
            )
        try:
            if model.provider is None:
                cursor.execute(texts["drop"], model_name=own_name(connection, schema, model.physical_name))
        except oracledb.DatabaseError as error:
            if code_of(error) != MODEL_MISSING:  # gone already: the record still has to go
                raise
        cursor.execute(texts["forget"], physical_name=model.physical_name)
        connection.commit()
    return model


def own_name(connection: oracledb.Connection, schema: str, physical_name: str) -> str:
    """Give the name for a package call: bare in the user's own schema, else with its owner."""
    owner = identifier(schema, "schema")
    return physical_name if (connection.username or "").upper() == owner else f"{owner}.{physical_name}"
