"""A new database → ready to index: tables, model, column. Every step passes over what is there already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oraclerag import embed, schema
from oraclerag.database import Database
from oraclerag.errors import ModelMissing
from oraclerag.model.active import ActiveModel
from oraclerag.model.build import build
from oraclerag.model.external import external_model
from oraclerag.model.fetch import cache_folder, fetch
from oraclerag.model.installed import list_models
from oraclerag.model.known import KNOWN_MODELS, KnownModel
from oraclerag.model.load import load_model
from oraclerag.model.register import register_model
from oraclerag.model.use import use_model

__all__ = ["ProvisionReport", "built_path", "provision"]


@dataclass(frozen=True, slots=True)
class ProvisionReport:
    """What is in place now: the schema's revision, the revisions applied just now, the model in force."""

    schema: str
    revision: str | None
    applied: tuple[str, ...]
    model: ActiveModel
    loaded: bool


def provision(
    database: Database,
    *,
    model_file: Path | None = None,
    weights: Path | None = None,
    directory: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> ProvisionReport:
    """Migrate, load the configured model and make it active.

    The model is ``model_file`` (as ``model build`` writes it), else the one that is loaded under the configured name,
    else it is fetched (or taken from ``weights``), built and loaded, where the configured name is one that can be
    fetched. The database reads it itself from ``directory`` (a DIRECTORY object that holds a file of that name) or from
    ``url`` (a pre-authenticated request, a secret that is repeated nowhere; it needs ``model_file`` or ``sha256``); a
    model that is loaded needs neither. Where the settings name a provider, it is asked for one vector and its model
    recorded. ``said`` is told each step before it begins. Raises what the steps raise; a second call ends the work.
    """
    said("schema: migrate")
    migrated = schema.migrate(database)
    embedder = embed.from_settings(database.settings)
    if embedder is not None:
        external = external_model(database.settings)
        said(f"model: record {external.name}")
        with database.connect() as connection:
            made = register_model(connection, external, schema=database.schema, embedder=embedder)
            said(f"model: verify and use {made.physical_name}")
            model = use_model(connection, made.physical_name, schema=database.schema, embedder=embedder)
        return ProvisionReport(migrated.schema, migrated.to_revision, migrated.applied, model, made.loaded)
    name = database.settings.embedding_model.upper()
    with database.connect() as connection:
        there = [model for model in list_models(connection, schema=database.schema) if model.name == name]
    loaded = False
    if model_file is not None or not there:
        path = model_file or (None if url is not None else _built(name, weights, said))
        said(f"model: load {path.name if path is not None else name}" + _by_the_database(directory, url))
        with database.connect() as connection:
            loaded = load_model(
                connection, path, name=name, schema=database.schema, directory=directory, url=url, sha256=sha256
            ).loaded
    said(f"model: verify and use {name}")
    with database.connect() as connection:
        model = use_model(connection, name, schema=database.schema)
    return ProvisionReport(migrated.schema, migrated.to_revision, migrated.applied, model, loaded)


def _by_the_database(directory: str | None, url: str | None) -> str:
    if directory is not None:
        return f", which the database reads from the DIRECTORY {directory}"
    return "" if url is None else ", which the database reads from a pre-authenticated request"


def _built(name: str, weights: Path | None, said: Callable[[str], None]) -> Path:
    known = next((model for model in KNOWN_MODELS if model.name == name), None)
    if known is None or not known.files:
        fetchable = ", ".join(model.name for model in KNOWN_MODELS if model.files)
        raise ModelMissing(
            f"The embedding model {name} is not in the database and cannot be fetched.",
            hint=f"`oraclerag model load FILE --name {name}` loads one from a file; or configure {fetchable} "
            "(embedding.model in oraclerag.toml, ORACLERAG_EMBEDDING_MODEL), which is fetched and built.",
        )
    said(f"model: fetch {known.original} ({sum(file.size for file in known.files) / 1e6:.0f} MB, once)")
    folder = fetch(known.key, source=weights)
    path = built_path(known)
    if not path.is_file():
        said(f"model: build {path.name}")
        build(folder, path)
    return path


def built_path(known: KnownModel) -> Path:
    """Give where a fetched model is kept once it is built."""
    return cache_folder() / "models" / f"{known.key}-{known.version}.onnx"
