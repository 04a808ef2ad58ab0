"""``wipe``: taking away what is made from the sources, so that it is made anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag.cli.options import Json, SourceName, Tenant, Wait, Yes, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import WipeReport

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("wipe")(wipe)


def wipe(
    tenant: Tenant = None,
    source: SourceName = None,
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="NAME", help="Only this collection.")
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Enqueue what goes, for a worker.")] = False,
    wait: Wait = 60.0,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Empty the index, or a part of it; the sources stay.

    Chunks and documents go, and texts in the search log that quote them. Nothing finds them until they are made anew:
    --rebuild enqueues each of them with its removal; else `reindex` does. Where only something may be wrong,
    `audit --repair` writes it anew and searches find it meanwhile.
    """
    screen = output(json)
    chosen: dict[str, Any] = {"source": source, "tenant": tenant, "collection": collection, "wait": wait}
    with opened() as rag:
        report = rag.wipe(**chosen, announce=rebuild, dry_run=True)
        total = sum(one.entities for one in report.sources)
        if yes and total:
            with screen.progress("wiping", total) as update:
                report = rag.wipe(**chosen, announce=rebuild, on_progress=_steps(update))
    if json:
        screen.data(report)
    else:
        _show(screen, report)
    if report.unknown:
        screen.say(
            f"Not among the sources of this configuration: {', '.join(report.unknown)}. They make none anew here."
        )
    if not total:
        screen.say("There is nothing to wipe.")
    elif not report.done:
        screen.say("Nothing was wiped. Say --yes where that is meant.")
    elif rebuild:
        screen.say("Enqueued; a worker makes them anew, or `oraclerag reindex` at once.")
    else:
        options = [("--tenant", tenant), ("--source", source)]
        screen.say("Next: " + " ".join(["oraclerag reindex", *_given(options)]))


def _given(options: Sequence[tuple[str, str | None]]) -> list[str]:
    import shlex

    return [f"{name} {shlex.quote(value)}" for name, value in options if value is not None]


def _steps(update: Any) -> Any:
    """Turn how many are done into how many more."""
    before = [0]

    def told(done: int, _: int) -> None:
        update(done - before[0])
        before[0] = done

    return told


def _show(screen: Output, report: WipeReport) -> None:
    columns = ("source", "entities", "documents", "chunks", "held by workers")
    rows = (
        (one.source, *(f"{number:,}" for number in (one.entities, one.documents, one.chunks, one.held)))
        for one in report.sources
    )
    screen.table(columns, rows, right=columns[1:])
    if report.done:
        screen.facts(
            {"wiped": f"{sum(one.entities for one in report.sources):,} entities", "enqueued": f"{report.enqueued:,}"}
        )
