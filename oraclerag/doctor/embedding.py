"""Checks of the model: in force, in the database, of the dimension of the column, the one that was recorded."""

from __future__ import annotations

import datetime as dt
import re
import time
from array import array

from oraclerag.database import translated
from oraclerag.doctor.finding import Verdict, fail, ok, unknown, warn
from oraclerag.doctor.look import Check, Look
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import configured_name
from oraclerag.model.installed import find_model

__all__ = ["CHECKS"]

_AGAIN = dt.timedelta(hours=2)  # a load takes less; the database's time zone may have moved by one
_TRIED = 14  # days after which a new model has proved itself
_LOAD = "`oraclerag model load FILE` loads it again, `oraclerag model use NAME` puts it in force."


def _active(look: Look) -> ActiveModel:
    with look.database.connect() as connection:
        return active_model(connection, look.schema)


def model(look: Look) -> Verdict:
    """Look which model is in force, whether it is the configured one, and in the database."""
    with look.database.connect() as connection:
        found = active_model(connection, look.schema, configured=configured_name(look.settings))
    detail = f"{found.physical_name}, {found.dimensions} dimensions, {found.max_tokens} tokens"
    if found.provider is not None:
        return ok(f"{detail}, of {found.provider}: the database does not embed")
    if look.row(look.sql["model"], owner=look.schema, physical_name=found.physical_name) is None:
        return fail(
            f"{found.physical_name} is in force, and there is no such model in the database that this user may use.",
            f"GRANT SELECT ON MINING MODEL {look.schema}.{found.physical_name} TO this user, where it is there for its "
            f"owner (`oraclerag model list`). Else: {_LOAD}",
        )
    return ok(detail)


def embeds(look: Look) -> Verdict:
    """Have it embed a word."""
    found = _active(look)
    if found.provider is not None:
        return ok(f"{found.provider} embeds, see embedder")
    begin = time.perf_counter()
    row = look.row(look.sql.with_names("embed", model=found.sql_name), text="doctor")
    took = time.perf_counter() - begin
    if row is None or not isinstance(row[0], array) or len(row[0]) != found.dimensions:
        return fail(f"{found.physical_name} gives no vector of {found.dimensions} dimensions.", _LOAD)
    return ok(f"a word in {took * 1000:.0f} ms")


def dimension(look: Look) -> Verdict:
    """Compare the dimension of the column with those of the model, as recorded and as the dictionary has it."""
    found = _active(look)
    with look.database.connect() as connection, connection.cursor() as cursor, translated():
        cursor.execute(look.sql.with_names("column", column=found.column))
        described = cursor.description[0]
    column = described.vector_dimensions
    sizes = {f"column {found.column}": column, "RAG_MODEL": found.dimensions}
    if found.provider is None:
        row = look.row(look.sql["vector_info"], owner=look.schema, physical_name=found.physical_name)
        told = re.search(r"VECTOR\((\d+)", str(row[0])) if row is not None else None
        if told is not None:
            sizes["the model itself"] = int(told[1])
    elif look.settings.embedding_dimensions is not None:
        sizes["embedding.dimensions"] = look.settings.embedding_dimensions
    detail = ", ".join(f"{what} {'any' if size is None else f'{size:,}'}" for what, size in sizes.items())
    if len(set(sizes.values())) > 1:
        return fail(
            f"The dimensions differ: {detail}.",
            f"`oraclerag model use {found.name} --rebuild` empties the column and makes it anew, `oraclerag reindex` "
            "embeds everything again; where the settings are wrong, mend embedding.dimensions.",
        )
    return ok(detail)


def model_hash(look: Look) -> Verdict:
    """Compare the model in the database with what was recorded when it was loaded, as far as the dictionary tells."""
    found = _active(look)
    with look.database.connect() as connection:
        recorded = find_model(connection, found.physical_name, schema=look.schema)
    if found.provider is not None:
        return ok(f"of {found.provider}; the hash {recorded.sha256[:8]} stands for provider, model and dimensions")
    if not found.physical_name.endswith(f"_{recorded.sha256[:8].upper()}"):
        return fail(
            f"{found.physical_name} does not end with the first 8 digits of the hash that RAG_MODEL records "
            f"({recorded.sha256[:8]}): one of them was changed.",
            f"Load the model anew: {_LOAD}",
        )
    row = look.row(look.sql["model"], owner=look.schema, physical_name=found.physical_name)
    aged = look.row(look.sql["model_age"], owner=look.schema, physical_name=found.physical_name)
    if row is None or aged is None or aged[0] is None:
        return unknown(
            f"RAG_MODEL records {recorded.sha256[:8]}; the dictionary does not tell how old the model is.",
            f"`oraclerag model verify {found.name}` tries what it embeds.",
        )
    size, younger = row[1], dt.timedelta(days=float(aged[0]))
    detail = f"SHA-256 {recorded.sha256[:8]}… as recorded, MODEL_SIZE {float(size or 0):,.0f}"
    if younger > _AGAIN:
        return warn(
            f"The model in the database was created {younger.days} days, {younger.seconds // 3600} hours after "
            f"{recorded.sha256[:8]} was recorded: it may be another file under that name, or came by an import.",
            f"`oraclerag model verify {found.name}`; in doubt, load it anew: {_LOAD}",
        )
    return ok(detail)


def switch(look: Look) -> Verdict:
    """Look whether a switch of models is under way, or was left half-way."""
    found = {str(setting): (value, age) for setting, value, age in look.rows(look.sql["second_model"])}
    model, age = found.get("second_model", (None, 0))
    if found.get("second_state", (None, 0))[0] == "unfinished":
        return warn(
            "the second vector column is being made or dropped, or that was interrupted",
            "Where nothing is at it, `oraclerag reembed --abort`.",
        )
    if model is None:
        return ok("none is under way")
    days = float(age)
    if found.get("second_state", ("filling", 0))[0] == "former":
        detail = (
            f"{model} was in force until {days:.0f} days ago and is kept for a way back; both are written meanwhile"
        )
        if days > _TRIED:
            return warn(detail, "`oraclerag reembed --finish`, or `oraclerag reembed --rollback`.")
        return ok(detail)
    return warn(
        f"{model} is being filled since {days:.1f} days beside the one in force; both are written meanwhile",
        f"`oraclerag reembed --model {model}` goes on where it ended, `oraclerag reembed --abort` gives it up.",
    )


CHECKS = (
    Check(
        "model", "Is the configured model in force, and in the database?", model, after=("schema",),
        reads=("RAG_SETTING", "RAG_MODEL"),
    ),
    Check(
        "dimension", "Do column, model and settings have the same dimension?", dimension, after=("model",),
        reads=("RAG_CHUNK",),
    ),
    Check("model_hash", "Is the model the file that was loaded?", model_hash, after=("model",)),
    Check("embeds", "Does the model embed?", embeds, after=("dimension",)),
    Check("model_switch", "Was a switch of models left half-way?", switch, after=("model",)),
)  # fmt: skip
