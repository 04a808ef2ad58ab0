"""``provision`` and ``migrate``: a new database becomes ready."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oraclerag.cli.options import Json, confirmed, opened, output, settings

__all__ = ["register"]

BASE = "base"  # the revision before the first


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("provision")(provision)
    app.command("migrate")(migrate)


def provision(
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="An ONNX file as `model build` writes it.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="The weights to build from, instead of fetching them.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a database ready: tables, model, vector column.

    What is there already stays; it can be run again at any time.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.provision(model_file=model, weights=weights, said=screen.say)
    if json:
        screen.data(
            {
                "schema": report.schema,
                "revision": report.revision,
                "applied": report.applied,
                "model": report.model.physical_name,
                "dimensions": report.model.dimensions,
                "max_tokens": report.model.max_tokens,
                "column": report.model.column,
                "loaded": report.loaded,
            }
        )
        return
    screen.facts(
        {
            "schema": f"{report.schema}, revision {report.revision}"
            + (f" ({len(report.applied)} applied now)" if report.applied else " (was there)"),
            "model": f"{report.model.physical_name} ({'loaded now' if report.loaded else 'was there'}), in force",
            "vectors": f"{report.model.dimensions} dimensions, column {report.model.column}; "
            f"the model reads {report.model.max_tokens} tokens",
        }
    )
    screen.say("Next: `oraclerag source check`, then `oraclerag reindex`.")


def migrate(
    to: Annotated[str, typer.Option("--to", metavar="REV", help="A revision, head or base (takes all away).")] = "head",
    sql: Annotated[bool, typer.Option("--sql", help="Print the script for a DBA; needs no database.")] = False,
    from_revision: Annotated[
        str | None, typer.Option("--from", metavar="REV", help="With --sql: the revision that is there.")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="OWNER", help="Whose tables (default: database.schema, or the user)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --to base: do not ask.")] = False,
    json: Json = False,
) -> None:
    """Create or upgrade the tables, or take them away."""
    screen = output(json)
    if sql:
        _print_script(to, from_revision, schema, json)
        return
    if from_revision is not None:
        raise typer.BadParameter("--from belongs to --sql; otherwise the database knows its revision.")
    with opened(schema=schema) as rag:
        if to == BASE and not yes:
            _confirm(rag.database.schema)
        report = rag.migrate(to)
    if json:
        screen.data(report)
    elif report.applied:
        screen.facts({"schema": report.schema, "was": report.from_revision, "is": report.to_revision})
    else:
        screen.say(f"The schema {report.schema} is at revision {report.to_revision}; nothing to do.")


def _confirm(owner: str) -> None:
    what = f"everything of oraclerag in the schema {owner}: tables with queue, index and models, and the triggers"
    confirmed(f"Delete {what}?", f"This deletes {what}.")


def _print_script(to: str, from_revision: str | None, schema: str | None, json: bool) -> None:
    from oraclerag.errors import ConfigurationError
    from oraclerag.schema import script

    configured = settings(schema=schema)
    owner = configured.schema or configured.user
    if owner is None:
        raise ConfigurationError(
            "The script needs the name of the schema.",
            hint="Name it: --schema, ORACLERAG_SCHEMA, or database.schema in oraclerag.toml.",
        )
    text = script(owner, from_revision=from_revision, to=to)
    if json:
        output(json).data({"schema": owner.upper(), "script": text})
    else:
        typer.echo(text, nl=False)
