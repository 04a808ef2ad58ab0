"""``doctor``: every check, each with what to type; exit code 3 where one fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.doctor import DoctorReport, Finding, Measurement

__all__ = ["register", "show"]

_WIDTH = 14  # of the names; a longer one begins its own line


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(doctor)


def doctor(
    heartbeat: Annotated[
        Path | None, typer.Option("--heartbeat", metavar="FILE", help="Of a worker on this host: is it alive?")
    ] = None,
    max_lag: Annotated[
        float, typer.Option("--max-lag", metavar="SECONDS", min=0, help="How long a change may wait.")
    ] = 900.0,
    probe: Annotated[
        bool,
        typer.Option("--probe", help="Also measure what documentation does not say, on a table that is dropped again."),
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="With --probe: write the answers there, as Markdown."),
    ] = None,
    json: Json = False,
) -> None:
    """Look at everything that can be wrong, and say what to type.

    Exit code 3 where a check fails. What is unknown says how it can be known.
    """
    if file is not None and not probe:
        raise typer.BadParameter("--file writes what --probe measures.")
    screen = output(json)
    measured: tuple[Measurement, ...] = ()
    with opened() as rag:
        report = rag.doctor(heartbeat=heartbeat, probe=probe, max_lag=max_lag)
        if probe and "connection" not in _failed(report):
            measured = rag.probe(said=screen.say)
    if file is not None and measured:
        from oraclerag.doctor import write_record

        write_record(file, measured, version=_version(report))
    if json:
        data: dict[str, Any] = {"findings": report.findings, "skipped": report.skipped}
        data |= {"probes": measured} if probe else {}
        screen.data({"healthy": _healthy(report, measured), **data})
    else:
        show(screen, report)
        _show_measured(screen, measured)
    if not _healthy(report, measured):
        raise typer.Exit(UNHEALTHY)


def _healthy(report: DoctorReport, measured: tuple[Measurement, ...]) -> bool:
    return report.healthy and not any(one.state == "fail" for one in measured)


def _failed(report: DoctorReport) -> set[str]:
    return {finding.name for finding in report.findings if finding.state == "fail"}


def _version(report: DoctorReport) -> str:
    return next((finding.detail for finding in report.findings if finding.name == "version"), "an Oracle Database")


def _show_measured(screen: Output, measured: tuple[Measurement, ...]) -> None:
    for one in measured:
        screen.write(f"\n{one.state:<8} {one.name}: {one.asks}\n{'':<8} {one.answer}")
        if one.remedy is not None:
            screen.write(f"{'':<8} remedy: {one.remedy}")
        if one.figures:
            screen.write(f"{'':<8} {', '.join(f'{name} {value}' for name, value in one.figures.items())}")


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
