"""``deploy``: what a changed configuration means, and doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.deploy import Deployment, SourceChange

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("deploy")(deploy)


def deploy(
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this it is only shown.")] = False,
    json: Json = False,
) -> None:
    """Put a changed configuration in force.

    Shows what it changes and costs; with --yes it is done: triggers are brought up to date where there are any, these
    settings are those in force, and what must be rendered again is enqueued, for workers. Nothing is done where a
    source is not green (exit code 3).
    """
    screen = output(json)
    report = None
    with opened() as rag:
        planned = rag.deployment()
        if not json:
            _show(screen, planned)
        if yes and planned.green and planned.changes:
            report = rag.deploy(planned, said=screen.say)
    if json:
        screen.data(
            {
                "green": planned.green,
                "changes": planned.changes,
                "sources": planned.sources,
                "triggers": None if planned.triggers is None else _triggers(planned),
                "unknown": planned.unknown,
                "done": report,
            }
        )
    if not planned.green:
        screen.say("Nothing is done before every source is green.")
        raise typer.Exit(UNHEALTHY)
    if not planned.changes:
        screen.say("Nothing to do: these settings are in force, and nothing is missing.")
    elif report is None:
        screen.say("Nothing was written; --yes does it.")
    elif report.backfills:
        screen.say("Workers index what was enqueued; `oraclerag reindex` does it now.")


def _show(screen: Output, planned: Deployment) -> None:
    for source in planned.sources:
        for problem in source.problems:
            screen.write(f"{source.source}: {problem.severity}: {problem.message}")
            if problem.hint:
                screen.write(f"  remedy: {problem.hint}")
        if source.paused is not None:
            screen.write(f"{source.source}: paused: {source.paused}")
    columns = ("source", "settings", "entities", "to index", "gone", "chunks", "tokens", "minutes")
    screen.table(columns, map(_cells, planned.sources), right=columns[2:])
    if planned.triggers is None:
        screen.say("No trigger of ours is there; `oraclerag source triggers --apply` creates them.")
    else:
        for name in planned.triggers.unwanted:
            screen.write(f"trigger to drop: {name}")
        for trigger in planned.triggers.triggers:
            if trigger.state != "same":
                screen.write(f"trigger to {'create' if trigger.state == 'new' else 'replace'}: {trigger.name}")
        if planned.triggers.changes:
            for effect in planned.triggers.effects:
                screen.say(f"{effect.kind}: {effect.text}")
            for grant in planned.triggers.grants:
                screen.say(f"needed: {grant}")
    if planned.unknown:
        names = ", ".join(planned.unknown)
        screen.say(f"Indexed and not configured here: {names}. Their chunks and triggers stay as they are.")


def _triggers(planned: Deployment) -> dict[str, object]:
    assert planned.triggers is not None  # noqa: S101 - asked before
    found = planned.triggers
    return {"changes": found.changes, "triggers": found.triggers, "unwanted": found.unwanted, "grants": found.grants}


def _cells(source: SourceChange) -> tuple[str, ...]:
    one = source.estimate
    if one is None:
        return (source.source, source.state, *["-"] * 6)
    minutes = "unknown" if one.minutes is None else "< 0.1" if 0 < one.minutes < 0.1 else f"{one.minutes:,.1f}"
    counts = [one.total, one.entities, one.gone, one.chunks, one.tokens]
    return (source.source, source.state, *("unknown" if n is None else f"{n:,}" for n in counts), minutes)
