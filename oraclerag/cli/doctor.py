"""``doctor``: every check, each with what to type; exit code 3 where one fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.doctor import DoctorReport, Finding

__all__ = ["register", "show"]

_WIDTH = 14  # of the names; a longer one begins its own line


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(doctor)


def doctor(
    heartbeat: Annotated[
        Path | None, typer.Option("--heartbeat", metavar="FILE", help="Of a worker on this host: is it alive?")
    ] = None,
    json: Json = False,
) -> None:
    """Look at everything that can be wrong, and say what to type.

    Exit code 3 where a check fails. What is unknown says how it can be known.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.doctor(heartbeat=heartbeat)
    if json:
        screen.data({"healthy": report.healthy, "findings": report.findings, "skipped": report.skipped})
    else:
        show(screen, report)
    if not report.healthy:
        raise typer.Exit(UNHEALTHY)


def show(screen: Output, report: DoctorReport, *, quiet: bool = False) -> None:
    """Print the findings, what fails last, where one looks first; with ``quiet`` without what is right."""
    order = ("ok", "unknown", "warn", "fail")
    for finding in sorted(report.findings, key=lambda one: order.index(one.state)):
        if not quiet or finding.state in ("warn", "fail"):
            _print(screen, finding)
    if report.skipped:
        screen.write(f"skipped  {', '.join(report.skipped)}: what comes before them must be known first")
    counts = {state: sum(finding.state == state for finding in report.findings) for state in order}
    said = {"ok": "right", "unknown": "unknown", "warn": "to be seen to", "fail": "wrong"}
    screen.say(", ".join(f"{count} {said[state]}" for state, count in counts.items() if count) + ".")


def _print(screen: Output, finding: Finding) -> None:
    screen.write(f"{finding.state:<8} {finding.name:<{_WIDTH}} {finding.detail}")
    if finding.remedy is not None:
        screen.write(f"{'':<8} {'':<{_WIDTH}} remedy: {finding.remedy}")
