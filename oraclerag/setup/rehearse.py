"""What ``provision`` would do: looked at and not done. Nothing is written, and only what everybody may read is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import oracledb

from oraclerag import embed, schema
from oraclerag.database import Database, translated
from oraclerag.errors import OracleRagError, SchemaError, SchemaOutdated
from oraclerag.model.external import DATABASE, external_model
from oraclerag.model.fetch import cached
from oraclerag.model.installed import LoadedModel, list_models
from oraclerag.model.known import KNOWN_MODELS
from oraclerag.model.load import physical_name
from oraclerag.model.onnx_file import inspect_file
from oraclerag.provision import built_path
from oraclerag.statements import Statements

__all__ = ["State", "Step", "rehearse"]

State = Literal["there", "to do", "blocked"]

_SCRIPTS = "`oraclerag provision --sql` writes what a DBA must run."
_MAKE = ("CREATE TABLE", "CREATE VIEW", "CREATE SEQUENCE")
_LOAD = "CREATE MINING MODEL"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of ``provision``: whether it is done, to be done, or cannot be; ``remedy`` is for what cannot."""

    name: str
    state: State
    detail: str
    remedy: str | None = None


def rehearse(
    database: Database,
    *,
    model_file: Path | None = None,
    weights: Path | None = None,
    directory: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
) -> tuple[Step, ...]:
    """Give the steps of :func:`oraclerag.provision.provision` with the same arguments, and do none of them.

    A provider is not asked for a vector, a file is looked into. Raises only where the database cannot be reached.
    """
    with database.connect() as connection:
        user = _session(connection)
        privileges = _privileges(connection)
        characters = _characters(connection)
        tables = _tables(connection, database.schema)
        try:
            models = list_models(connection, schema=database.schema) if tables.state == "there" else []
        except SchemaError:
            unseen = f"{user} may not read RAG_MODEL in {database.schema}"
            model = Step("model", "blocked", unseen, "Ask as the owner of the tables.")
            return (*_begin(user, characters, tables), model)
    settings = database.settings
    if embed_elsewhere := settings.embedding_provider != DATABASE:
        model, name = _external(database, models)
    else:
        model, name = _loaded(settings.embedding_model.upper(), models, model_file, weights, directory, url, sha256)
    wanted = list(_MAKE) if tables.state == "to do" else []
    wanted += [_LOAD] if model.state == "to do" and not embed_elsewhere else []
    rights = [_rights(wanted, privileges, user, database.schema)] if wanted else []
    return (*_begin(user, characters, tables), *rights, model, _in_force(models, name))


def _begin(user: str, characters: Step, tables: Step) -> tuple[Step, ...]:
    return Step("database", "there", f"connected as {user}"), characters, tables


def _session(connection: oracledb.Connection) -> str:
    with connection.cursor() as cursor, translated():
        cursor.execute(Statements("setup", "NONE")["session"])
        return str((cursor.fetchone() or ("",))[0])


def _privileges(connection: oracledb.Connection) -> frozenset[str]:
    with connection.cursor() as cursor, translated():
        cursor.execute(Statements("setup", "NONE")["privileges"])
        return frozenset(name for (name,) in cursor)


def _characters(connection: oracledb.Connection) -> Step:
    with connection.cursor() as cursor, translated():
        cursor.execute(Statements("setup", "NONE")["character_set"])
        row = cursor.fetchone()
    found = row[0] if row else "unknown"
    if found == "AL32UTF8":
        return Step("character set", "there", found)
    return Step(
        "character set", "blocked", f"{found}; oraclerag needs AL32UTF8", "Use a (pluggable) database that has it."
    )


def _tables(connection: oracledb.Connection, owner: str) -> Step:
    newest = schema.revisions()[-1]
    before = schema.current(connection, owner)
    if before is None:
        with connection.cursor() as cursor, translated():
            cursor.execute(Statements("setup", owner)["owner"], owner=owner.upper())
            if (cursor.fetchone() or (0,))[0] == 0:
                return Step("tables", "blocked", f"there is no user {owner.upper()}", _SCRIPTS)
        return Step("tables", "to do", f"make revision {newest} in {owner}")
    try:
        schema.require_revision(before, owner)
    except SchemaOutdated:
        return Step("tables", "to do", f"bring {owner} from revision {before} to {newest}")
    except SchemaError as error:
        return Step("tables", "blocked", error.message, error.hint)
    return Step("tables", "there", f"{owner}, revision {before}")


def _rights(wanted: list[str], privileges: frozenset[str], user: str, owner: str) -> Step:
    foreign = owner.upper() != user.upper()
    needed = [name.replace("CREATE ", "CREATE ANY ", 1) if foreign else name for name in wanted]
    missing = [name for name in needed if name not in privileges]
    if missing:
        return Step("privileges", "blocked", f"{user} lacks {', '.join(missing)}", _SCRIPTS)
    return Step("privileges", "there", ", ".join(needed))


def _external(database: Database, models: list[LoadedModel]) -> tuple[Step, str]:
    try:
        embed.from_settings(database.settings)
        external = external_model(database.settings)
    except OracleRagError as error:
        return Step("model", "blocked", error.message, error.hint), ""
    if any(model.name == external.name for model in models):
        return Step("model", "there", f"{external.name}, embedded by {external.provider.name}"), external.name
    return Step("model", "to do", f"ask {external.provider.name} for one vector, record {external.name}"), external.name


def _loaded(
    name: str,
    models: list[LoadedModel],
    model_file: Path | None,
    weights: Path | None,
    directory: str | None,
    url: str | None,
    sha256: str | None,
) -> tuple[Step, str]:
    there = next((model for model in models if model.name == name), None)
    how = f" from the DIRECTORY {directory}" if directory else " from a pre-authenticated request" if url else ""
    if model_file is not None:
        try:
            physical = physical_name(name, inspect_file(model_file).sha256)
        except OracleRagError as error:
            return Step("model", "blocked", error.message, error.hint), name
        if any(model.physical_name == physical for model in models):
            return Step("model", "there", physical), physical
        return Step("model", "to do", f"load {model_file.name} as {physical}{how}"), physical
    if there is not None:
        return Step("model", "there", there.physical_name), there.physical_name
    if url is not None:
        if sha256 is None:
            return Step(
                "model", "blocked", "the SHA-256 of the model is not known", "Pass FILE too, or --sha256."
            ), name
        try:
            physical = physical_name(name, sha256)
        except OracleRagError as error:
            return Step("model", "blocked", error.message, error.hint), name
        return Step("model", "to do", f"load {physical}{how}"), physical
    known = next((model for model in KNOWN_MODELS if model.name == name and model.files), None)
    if known is None:
        remedy = f"Pass the file: `oraclerag provision --model FILE`, or `oraclerag model load FILE --name {name}`."
        return Step("model", "blocked", f"{name} is not in the database and cannot be fetched", remedy), name
    size = sum(file.size for file in known.files) / 1e6
    fetch = "" if weights or cached(known) else f"fetch {known.original} ({size:.0f} MB), "
    build = "" if built_path(known).is_file() else "build it, "
    return Step("model", "to do", f"{fetch}{build}load it as {name}{how}"), name


def _in_force(models: list[LoadedModel], name: str) -> Step:
    active = next((model for model in models if model.active), None)
    if active is None:
        return Step("in force", "to do", "verify the model, make the vector column")
    if name in (active.name, active.physical_name):
        return Step("in force", "there", f"{active.physical_name}, {active.dimensions} dimensions")
    detail = f"verify it and use it in the place of {active.physical_name}: refused where there are vectors"
    return Step("in force", "to do", detail)
