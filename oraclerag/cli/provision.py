"""``provision`` and ``migrate``: a new database becomes ready."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli import doctor
from oraclerag.cli.options import UNHEALTHY, Json, confirmed, opened, output, settings

if TYPE_CHECKING:
    from oraclerag.console import Output

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
    directory: Annotated[
        str | None, typer.Option("--directory", metavar="DIRECTORY", help="The database reads FILE's name from there.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            envvar="MINILM_ONNX_PAR_URL",
            help="The database reads it from a pre-authenticated request; a secret, so best as the variable.",
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="Of the model, with --url and no FILE.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; nothing is written.")] = False,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print what a DBA must run instead, as one script; needs no database.")
    ] = False,
    sql_api: Annotated[
        bool,
        typer.Option("--sql-api", help="Make RAG_API, search and announce from PL/SQL; with --sql print its script."),
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="With --sql: every script, in a folder.")
    ] = None,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="OWNER", help="With --sql: the owner of the tables.")
    ] = None,
    worker: Annotated[
        str | None, typer.Option("--worker", metavar="USER", help="With --sql: the workers' user (RAG_INDEXER).")
    ] = None,
    application: Annotated[
        str | None, typer.Option("--application", metavar="USER", help="With --sql: the application's user (RAG_APP).")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="PREFIX", help="With --sql: what roles begin with (RAG).")
    ] = None,
    tablespace: Annotated[
        str | None, typer.Option("--tablespace", metavar="NAME", help="With --sql: of the tables (USERS).")
    ] = None,
    quota: Annotated[
        str | None, typer.Option("--quota", metavar="SIZE", help="With --sql: of the owner there (10G).")
    ] = None,
    json: Json = False,
) -> None:
    """Make a database ready: tables, model, vector column.

    What is there already stays; it can be run again at any time. It ends with what `oraclerag doctor` would have seen
    to, which does not change the exit code. With --dry-run the exit code is 3 where a step cannot
    be done.
    """
    names = {
        "owner": schema, "worker": worker, "application": application, "role": role, "tablespace": tablespace,
        "quota": quota,
    }  # fmt: skip
    if sql_api:
        if dry_run or folder is not None or any(value is not None for value in [*names.values(), model, weights]):
            raise typer.BadParameter("--sql-api goes with --sql and --json alone: it is about the model in force.")
        _sql_api(output(json), sql=sql)
        return
    if sql:
        _write_scripts(folder, {name: value for name, value in names.items() if value is not None}, json)
        return
    if folder is not None or any(value is not None for value in names.values()):
        raise typer.BadParameter("--output and the names of users, roles and tablespace belong to --sql.")
    if directory is not None and model is None:
        raise typer.BadParameter("--directory needs --model FILE, which says what the model is.")
    url = None if directory is not None else url
    screen = output(json)
    if dry_run:
        _rehearse(screen, model, weights, directory, url, sha256)
        return
    with opened() as rag:
        report = rag.provision(
            model_file=model, weights=weights, directory=directory, url=url, sha256=sha256, said=screen.say
        )
        found = rag.doctor()
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
                "findings": [finding for finding in found.findings if finding.state in ("warn", "fail")],
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
    screen.say("doctor, of what is to be seen to:")
    doctor.show(screen, found, quiet=True)
    screen.say("Next: `oraclerag source check`, then `oraclerag reindex`.")


def _rehearse(
    screen: Output,
    model: Path | None,
    weights: Path | None,
    directory: str | None,
    url: str | None,
    sha256: str | None,
) -> None:
    from oraclerag.setup import rehearse

    with opened() as rag:
        steps = rehearse(rag.database, model_file=model, weights=weights, directory=directory, url=url, sha256=sha256)
    blocked = [step for step in steps if step.state == "blocked"]
    if screen.json:
        screen.data({"steps": steps, "possible": not blocked})
    else:
        screen.table(("step", "is", "what"), ((step.name, step.state, step.detail) for step in steps))
    for step in blocked:
        screen.say(f"Cannot be done: {step.name}" + (f"\n  remedy: {step.remedy}" if step.remedy else ""))
    if blocked:
        raise typer.Exit(UNHEALTHY)


def _sql_api(screen: Output, *, sql: bool) -> None:
    from oraclerag.model.active import active_model
    from oraclerag.setup import install_sql_api, sql_api

    with opened() as rag:
        if sql:
            with rag.database.connect() as connection:
                model = active_model(connection, rag.database.schema)
            text = sql_api(model, k=rag.settings.k, target_accuracy=rag.settings.target_accuracy)
            if screen.json:
                screen.data({"schema": model.schema, "model": model.physical_name, "script": text})
            else:
                typer.echo(text, nl=False)
            return
        model = install_sql_api(rag.database)
    if screen.json:
        screen.data({"schema": model.schema, "model": model.physical_name, "package": "RAG_API"})
    else:
        screen.say(f"{model.schema}.RAG_API searches with {model.physical_name}; grant EXECUTE to who calls it.")


def _write_scripts(folder: Path | None, given: dict[str, str], json: bool) -> None:
    from oraclerag.setup import Names, scripts, whole, write

    configured = settings(schema=given.get("owner"))
    owner = configured.schema or configured.user
    names = Names(**({"owner": owner} if owner is not None else {}) | given)
    found = scripts(names, configured)
    screen = output(json)
    if folder is None:
        if json:
            screen.data({"schema": names.owner, "script": whole(found)})
        else:
            typer.echo(whole(found), nl=False)
        return
    written = write(found, folder, names)
    if json:
        screen.data({"schema": names.owner, "files": [str(path) for path in written]})
    else:
        screen.write("\n".join(map(str, written)))
        screen.say(f"Next: {folder / 'README.txt'} says in which order, and by whom, they are run.")


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
