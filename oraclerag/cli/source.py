"""``source``, ``enqueue``, ``backfill`` and ``reindex``: what is indexed, and having it indexed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, Json, SourceName, Tenant, ended_by_signals, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import BackfillReport

__all__ = ["group", "register"]

group = typer.Typer(name="source", help="What can be indexed: list, check, triggers.", no_args_is_help=True)

All = Annotated[bool, typer.Option("--all", help="Everything, not only what is missing or made with other settings.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("enqueue")(enqueue)
    app.command("backfill")(backfill)
    app.command("reindex")(reindex)


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

    Runs its queries over all rows once, to count what must be unique, and renders one row.
    """
    screen = output(json)
    with opened() as rag:
        problems = rag.check_sources(name)
        checked = [name] if name is not None else sorted(rag.sources)
    if json:
        screen.data(problems)
    else:
        for source in checked:
            found = [problem for problem in problems if problem.source == source]
            screen.write(f"{source}: {'green' if not found else f'{len(found)} problems'}")
            for problem in found:
                screen.write(f"  {problem.severity}: {problem.message}")
                if problem.hint:
                    screen.write(f"    remedy: {problem.hint}")
    if any(problem.severity == "error" for problem in problems):
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


def backfill(tenant: Tenant = None, source: SourceName = None, all_: All = False, json: Json = False) -> None:
    """Enqueue what is missing, for a worker.

    Missing is what was never indexed, or was with other settings; with --all, everything.
    """
    screen = output(json)
    with opened() as rag:
        reports = rag.backfill(source=source, tenant=tenant, everything=all_)
    if json:
        screen.data(reports)
    else:
        _show(screen, reports)


def reindex(tenant: Tenant = None, source: SourceName = None, all_: All = False, json: Json = False) -> None:
    """Enqueue what is missing and index it now.

    Works until the queue is empty, then builds the vector index if it is worth it.
    """
    screen = output(json)
    stop = threading.Event()
    with opened() as rag, ended_by_signals(screen, stop.is_set, stop.set):
        reports = rag.backfill(source=source, tenant=tenant, everything=all_)
        if not json:
            _show(screen, reports)
        with screen.progress("indexing", sum(report.enqueued for report in reports)) as update:
            report = rag.work(stop, once=True, on_batch=lambda batch: update(batch.claimed))
        found = rag.finish() if not stop.is_set() else rag.index_status()
    if json:
        screen.data({"backfill": reports, "drain": report, "index": found})
    else:
        screen.facts(
            {
                "indexed": f"{report.indexed:,} entities ({report.embedded:,} chunks embedded)",
                "unchanged": f"{report.unchanged:,}",
                "gone": f"{report.deleted:,}",
                "postponed": f"{report.postponed:,}, given up {report.dead:,}",
                "vector index": f"{found.organization} {found.state}" if found.exists else "none; search is exact",
            }
        )
    if report.paused:
        screen.say(f"Paused: {', '.join(report.paused)}. `oraclerag source check` shows why.")
    if stop.is_set():
        screen.say("Ended before the queue was empty; `oraclerag reindex` or a worker goes on.")
        raise typer.Exit(FAILED)
    if report.postponed or report.dead or report.paused:
        screen.say("`oraclerag queue list` shows what did not work.")
        raise typer.Exit(FAILED)


def _show(screen: Output, reports: Sequence[BackfillReport]) -> None:
    screen.table(
        ("source", "entities", "enqueued", "gone"),
        ((report.source, f"{report.total:,}", f"{report.enqueued:,}", f"{report.gone:,}") for report in reports),
        right=("entities", "enqueued", "gone"),
    )
