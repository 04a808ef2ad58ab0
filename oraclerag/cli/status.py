"""``status``: the installation at a glance; exit code 3 where something is wrong."""

from __future__ import annotations

import contextlib
import functools
import time
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli import dashboard
from oraclerag.cli.options import UNHEALTHY, Json, opened, output
from oraclerag.cli.queue_tables import summary
from oraclerag.errors import OracleRagError, SchemaError

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.rag import Rag
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

    --watch shows what changes from look to look, in place on a terminal, page after page elsewhere. Exit code 3 where
    something is wrong, with the remedy; with --watch, where something was at the last look.
    """
    screen = output(json)
    with opened() as rag:
        report = _watched(screen, rag) if watch else rag.status()
    if not watch:
        _print(screen, report)
    if not report.healthy:
        raise typer.Exit(UNHEALTHY)


def _watched(screen: Output, rag: Rag) -> StatusReport:
    """Look again and again until Ctrl-C; gives the last look. What may be over the next time does not end it."""
    report, before = rag.status(), None
    with contextlib.suppress(KeyboardInterrupt), screen.pages() as show:
        show(functools.partial(_look, screen, report, before))
        while True:
            time.sleep(_INTERVAL)
            try:
                report, before = rag.status(), report
            except OracleRagError as error:
                if not error.retryable:
                    raise
                show(functools.partial(screen.error, error))
            else:
                show(functools.partial(_look, screen, report, before))
    return report


def _look(screen: Output, report: StatusReport, before: StatusReport | None) -> None:
    from oraclerag.console import record

    if screen.json:
        screen.data({"healthy": report.healthy, **record(report)}, indent=None)
    else:
        dashboard.show(screen, report, before)
    screen.problems(report.problems)


def _print(screen: Output, report: StatusReport) -> None:
    from oraclerag.console import record

    if screen.json:
        screen.data({"healthy": report.healthy, **record(report)})
    else:
        _show(screen, report)
    screen.problems(report.problems)


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
    dashboard.show_sources(screen, report)
    if report.queue is not None:
        screen.facts({"queue": summary(report.queue)})
