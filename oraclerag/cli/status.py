"""``status``: the installation at a glance; exit code 3 where something is wrong."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output
from oraclerag.cli.queue_tables import summary
from oraclerag.errors import SchemaError

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.status import StatusReport

__all__ = ["register"]

_INTERVAL = 2.0  # seconds between two looks


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("status")(status)


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Look again every two seconds, until Ctrl-C.")] = False,
    json: Json = False,
) -> None:
    """Show schema, model, index, sources, queue.

    Exit code 3 where something is wrong, with the remedy; with --watch, where something was at the last look.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.status()
        _look(screen, report, indent=None if watch else 2)
        try:
            while watch:
                time.sleep(_INTERVAL)
                report = rag.status()
                screen.clear()
                _look(screen, report, indent=None)
        except KeyboardInterrupt:
            screen.say()
    if not report.healthy:
        raise typer.Exit(UNHEALTHY)


def _look(screen: Output, report: StatusReport, *, indent: int | None) -> None:
    from oraclerag.console import record

    if screen.json:
        screen.data({"healthy": report.healthy, **record(report)}, indent=indent)
    else:
        _show(screen, report)
    for problem in report.problems:
        screen.say(f"Problem: {problem.message}" + (f"\n  remedy: {problem.hint}" if problem.hint else ""))


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
    if report.security is not None and report.security.tables:
        screen.facts(
            {
                "row security": f"policies on {len(report.security.tables)} tables; the vector index covers no columns "
                "besides, which a policy rules out (ORA-51987)"
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
