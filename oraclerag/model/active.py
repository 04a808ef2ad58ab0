"""The embedding model in force: its name in SQL, the vector column that belongs to it, and how it counts tokens.

RAG_SETTING names model and column together, so a statement that takes both from one :class:`ActiveModel` never mixes
vectors of two models.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import oracledb

from oraclerag.database import own_tables
from oraclerag.errors import ModelNotActive
from oraclerag.model.external import counter_of
from oraclerag.model.tokenizer import restored
from oraclerag.model.tokens import Tokens, token_counter
from oraclerag.statements import Statements, identifier, quoted

__all__ = ["ActiveModel", "active_model", "second_model"]

# A vocabulary is 250 kB and a physical name stands for one for ever: the name ends with the hash of the file.
_counters: dict[str, Tokens] = {}
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """The model and the column that every statement of an installation uses at present.

    ``name`` is the configured name, ``physical_name`` the one in the database (name and hash), ``max_tokens`` the limit
    with the special tokens. The prefixes are put before questions and passages ('' for none). ``counter`` counts the
    tokens of a text, special tokens included. ``provider`` is None where the database embeds; else no statement can
    name the model, and vectors are bound. ``vectors_as`` is what stands for the model in the fingerprints of entities
    since its vectors took the place of another one's, every one of them; None: what stands for itself.
    ``since`` is when it came into force, by the database's clock.
    """

    name: str
    physical_name: str
    schema: str
    column: str
    dimensions: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    counter: Tokens = field(repr=False, compare=False)
    provider: str | None = None
    vectors_as: str | None = None
    since: dt.datetime | None = field(default=None, compare=False)

    @property
    def sql_name(self) -> str:
        """The model as SQL names it: owner and physical name."""
        return f"{quoted(self.schema, 'schema')}.{identifier(self.physical_name, 'model')}"


class _Settings(NamedTuple):
    """What RAG_SETTING says of models, and since when the one in force is."""

    values: Mapping[str, str]
    since: dt.datetime | None


def active_model(connection: oracledb.Connection, schema: str, *, configured: str | None = None) -> ActiveModel:
    """Read which model is in force.

    ``configured`` is the name that this process was configured with, if it matters; while models are switched, either
    of both is right. Raises ModelNotActive where no model is in force or another one than ``configured``, SchemaMissing
    where the tables are not there.
    """
    statements = Statements("active", schema)
    settings = _settings(connection, statements)
    physical_name, column = settings.values.get("model"), settings.values.get("vector_column")
    if physical_name is None and settings.values.get("model_replaced") is not None:
        raise ModelNotActive(
            "No embedding model is in force: another one is being made active, or that was interrupted.",
            hint="Wait until `oraclerag model use` has ended; where it was interrupted, run it again.",
        )
    if physical_name is None or column is None:
        raise ModelNotActive("No embedding model is active.", hint="Run `oraclerag provision`.")
    found = _read(connection, statements, schema, physical_name, column, settings)
    if configured is not None and found.name != configured.upper():
        second = _second(connection, statements, schema, settings)  # of the same moment
        if second is None or second.name != configured.upper():
            raise ModelNotActive(
                f"The model in force is {found.name}, this process is configured with {configured.upper()} "
                f"(embedding in oraclerag.toml, ORACLERAG_EMBEDDING_MODEL and ORACLERAG_EMBEDDING_PROVIDER)."
            )
    return found


def second_model(connection: oracledb.Connection, schema: str) -> ActiveModel | None:
    """Read which model is beside the one in force while models are switched; None where none is."""
    statements = Statements("active", schema)
    return _second(connection, statements, schema, _settings(connection, statements))


def _second(
    connection: oracledb.Connection, statements: Statements, schema: str, settings: _Settings
) -> ActiveModel | None:
    physical_name, column = settings.values.get("second_model"), settings.values.get("second_column")
    if physical_name is None or column is None:
        return None
    return _read(connection, statements, schema, physical_name, column, settings)


def _settings(connection: oracledb.Connection, statements: Statements) -> _Settings:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements["settings"])
        rows = [row for row in cursor if row[1] is not None]
    return _Settings(
        {setting: value for setting, value, _ in rows},
        next((since for setting, _, since in rows if setting == "model"), None),
    )


def _read(
    connection: oracledb.Connection,
    statements: Statements,
    schema: str,
    physical_name: str,
    column: str,
    settings: _Settings,
) -> ActiveModel:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements["model"], physical_name=physical_name)
        row = cursor.fetchone()
    if row is None:
        raise ModelNotActive(
            f"The model in force, {physical_name}, is not in RAG_MODEL.",
            hint="Load it again: `oraclerag model load FILE`, then `oraclerag model use NAME`.",
        )
    name, dimensions, max_tokens, query_prefix, passage_prefix, provider = row
    return ActiveModel(
        name=name,
        physical_name=physical_name,
        schema=schema,
        column=column,
        dimensions=int(dimensions),
        max_tokens=int(max_tokens),
        query_prefix=query_prefix or "",
        passage_prefix=passage_prefix or "",
        counter=_counter(connection, statements, physical_name, provider),
        provider=provider,
        vectors_as=settings.values.get("vectors_as"),
        since=settings.since,
    )


def _counter(
    connection: oracledb.Connection, statements: Statements, physical_name: str, provider: str | None
) -> Tokens:
    with _guard:
        known = _counters.get(physical_name)
    if known is not None:
        return known
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements["tokenizer"], physical_name=physical_name, fetch_lobs=False)
        row = cursor.fetchone()
    vocabulary, options = row if row is not None else (None, None)
    if isinstance(options, str):  # SQLAlchemy's connections give JSON as text
        options = json.loads(options)
    if provider is not None:
        counter = counter_of((options or {}).get("counter", "bytes"))
    else:
        counter = token_counter(restored(vocabulary, options) if vocabulary and options else None)
    with _guard:
        return _counters.setdefault(physical_name, counter)
