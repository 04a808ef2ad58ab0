"""``source`` and ``enqueue``: what is indexed, and announcing that one of it changed."""

from __future__ import annotations

from typing import Annotated

import typer

from oraclerag.cli.options import FAILED, Json, Tenant, opened, output

__all__ = ["group", "register"]

group = typer.Typer(name="source", help="What can be indexed: list, check, triggers.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("enqueue")(enqueue)


@group.command("list")
def list_(json: Json = False) -> None:
    """Show the configured sources."""
    screen = output(json)
    with opened() as rag:
        sources = [source.settings for source in rag.sources.values()]
    if json:
        screen.data(
            [
                {
                    "name": source.name,
                    "visibility": source.visibility,
                    "tenant": source.tenant,
                    "owner": source.owner,
                    "collection": source.collection,
                    "chunker": source.chunker,
                    "tables": sorted(source.tables),
                }
                for source in sources
            ]
        )
    elif not sources:
        screen.say("No source is configured; [source.NAME] in oraclerag.toml declares one.")
    else:
        screen.table(
            ("source", "visibility", "tenant", "owner", "chunker", "tables"),
            (
                (s.name, s.visibility, s.tenant or "-", s.owner or "-", s.chunker, ", ".join(sorted(s.tables)) or "-")
                for s in sources
            ),
        )


@group.command()
def check(name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None, json: Json = False) -> None:
    """Find what fails in a source, or would later.

    Runs its queries over all rows once, to count what must be unique, and renders one row. A source that was paused and
    is green is taken up again.
    """
    screen = output(json)
    with opened() as rag:
        checks = rag.check_sources(name)
    if json:
        screen.data(checks)
    else:
        for checked in sorted(checks, key=lambda checked: checked.source):
            found = checked.problems
            count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
            screen.write(f"{checked.source}: {count if found else 'green'}")
            for problem in found:
                screen.write(f"  {problem.severity}: {problem.message}")
                if problem.hint:
                    screen.write(f"    remedy: {problem.hint}")
            if checked.resumed:
                screen.write("  It was paused; workers take it up again.")
            if checked.paused is not None:
                screen.write(f"  It stays paused: {checked.paused}")
    if not all(checked.green for checked in checks):
        raise typer.Exit(FAILED)


@group.command()
def triggers(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Create them now instead of printing them.")] = False,
    json: Json = False,
) -> None:
    """Print the triggers that enqueue changes, or create them."""
    screen = output(json)
    with opened() as rag:
        statements = rag.triggers(name, apply=apply)
    if json:
        screen.data({"applied": apply, "statements": statements})
    elif apply:
        screen.say(f"{len(statements)} triggers are in place.")
    else:
        for statement in statements:
            screen.write(f"{statement}\n/\n")


def enqueue(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="The source.")],
    id_: Annotated[str, typer.Argument(metavar="ID", help="The entity.")],
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Announce that one entity changed."""
    from oraclerag.records import SourceKey

    screen = output(json)
    key = SourceKey(type_, id_, tenant)
    with opened() as rag, rag.database.transaction() as connection:
        rag.enqueue(connection, key)
    if json:
        screen.data(key)
    else:
        screen.say(f"{key} is enqueued.")
