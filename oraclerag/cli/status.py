"""``status``: the installation at a glance; exit code 3 where something is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output
from oraclerag.cli.queue import summary
from oraclerag.errors import SchemaError

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.status import StatusReport

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("status")(status)


def status(json: Json = False) -> None:
    """Show schema, model, index, sources, queue.

    Exit code 3 where something is wrong, with the remedy.
    """
    from oraclerag.console import record

    screen = output(json)
    with opened() as rag:
        report = rag.status()
    if json:
        screen.data({"healthy": report.healthy, **record(report)})
    else:
        _show(screen, report)
    for problem in report.problems:
        screen.say(f"Problem: {problem.message}" + (f"\n  remedy: {problem.hint}" if problem.hint else ""))
    if not report.healthy:
        raise typer.Exit(UNHEALTHY)


def _show(screen: Output, report: StatusReport) -> None:
    if any(problem.code.startswith(SchemaError.code) for problem in report.problems):  # nothing else was looked at
        state = f"revision {report.revision}" if report.revision else "the tables are missing"
        screen.facts({"schema": f"{report.schema}, {state}"})
        return
    found = report.index
    screen.facts(
        {
            "schema": f"{report.schema}, revision {report.revision}",
            "model": report.model and f"{report.model}, {report.dimensions} dimensions, {report.max_tokens} tokens",
            "index": found and (f"{found.organization} {found.state}" if found.exists else "none; search is exact"),
            "chunks": found and f"{found.chunks:,}",
        }
    )
    if report.sources:
        screen.table(
            ("source", "entities", "chunks", "last indexed (UTC)", "state"),
            (
                (
                    source.source,
                    f"{source.entities:,}",
                    f"{source.chunks:,}",
                    source.last_indexed and source.last_indexed.strftime("%Y-%m-%d %H:%M:%S"),
                    f"paused: {source.paused}" if source.paused else "",
                )
                for source in report.sources
            ),
            right=("entities", "chunks"),
        )
    if report.queue is not None:
        screen.facts({"queue": summary(report.queue)})
