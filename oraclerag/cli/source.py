"""``source`` and ``enqueue``: what is indexed, and announcing that one of it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli import source_init
from oraclerag.cli.options import FAILED, Json, Tenant, confirmed, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.triggers import TriggerPlan

__all__ = ["group", "register"]

group = typer.Typer(name="source", help="What can be indexed: init, list, check, triggers.", no_args_is_help=True)
group.command("init")(source_init.init)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("enqueue")(enqueue)


@group.command("list")
def list_(json: Json = False) -> None:
    """Show the configured sources, and those that are built in."""
    screen = output(json)
    with opened() as rag:
        sources = [source.settings for source in rag.sources.values() if not source.built_in]
        built_in = [source.name for source in rag.sources.values() if source.built_in]
    if json:
        screen.data(
            [
                {
                    "name": source.name,
                    "visibility": source.visibility,
                    "tenant": source.tenant,
                    "owner": source.owner,
                    "collection": source.collection,
                    "chunker": source.cutting.chunker,
                    "tables": sorted(source.tables),
                    "built_in": False,
                }
                for source in sources
            ]
            + [{"name": name, "built_in": True} for name in built_in]
        )
    elif not sources:
        screen.say("No source is configured; [source.NAME] in oraclerag.toml declares one.")
    else:
        screen.table(
            ("source", "visibility", "tenant", "owner", "chunker", "tables"),
            (
                (
                    s.name,
                    s.visibility,
                    s.tenant or "-",
                    s.owner or "-",
                    s.cutting.chunker,
                    ", ".join(sorted(s.tables)) or "-",
                )
                for s in sources
            ),
        )
    if not json:
        screen.say(f"Built in: {', '.join(built_in)}.")


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
    apply: Annotated[bool, typer.Option("--apply", help="Create, replace and drop them now.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print a script for SQL*Plus instead.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --apply: do not ask.")] = False,
    json: Json = False,
) -> None:
    """Show, print or create the triggers that enqueue changes.

    Without a NAME, triggers of sources that are not configured any more are dropped too.
    """
    if apply and sql:
        raise typer.BadParameter("--sql prints what --apply would do; give one of them.")
    screen = output(json)
    with opened() as rag:
        planned = rag.triggers(name)
        if sql and not json:
            from oraclerag.triggers import script

            typer.echo(script(planned), nl=False)
            return
        if not json:
            _show_triggers(screen, planned)
        if apply and planned.changes:
            if not yes:
                what = f"Triggers to create, replace or drop: {planned.changes}, with the effects named above."
                confirmed(f"{what} Go on?", f"{what} Without a terminal nobody can agree.")
            rag.apply_triggers(planned)
    if json:
        data = {"applied": apply, "statements": planned.statements, "triggers": planned.triggers}
        screen.data(data | {"unwanted": planned.unwanted, "grants": planned.grants, "effects": planned.effects})
    elif apply:
        screen.say(
            f"Triggers in place: {len(planned.triggers)}; created, replaced or dropped: {planned.changes}."
            if planned.changes
            else f"Triggers in place: {len(planned.triggers)}; nothing to do."
        )


def _show_triggers(screen: Output, planned: TriggerPlan) -> None:
    """Say what goes, what is created, and what that does to the tables."""
    if planned.unwanted:
        screen.say("No longer wanted, to be dropped:")
        for dropped in planned.unwanted:
            screen.say(f"  {dropped}")
    if not planned.triggers:
        screen.say("No source has an entry under tables; [source.NAME.tables] in oraclerag.toml makes one.")
        return
    screen.table(
        ("trigger", "state", "table"),
        ((trigger.name, trigger.state, trigger.table) for trigger in planned.triggers),
    )
    for effect in planned.effects:
        screen.say(f"{effect.kind}: {effect.text}")
    for grant in planned.grants:
        screen.say(f"needed: {grant}")


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
