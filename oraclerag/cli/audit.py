"""``audit``: is the index equal to the sources?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, SourceName, Tenant, each_source, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import AuditFinding, AuditReport

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("audit")(audit)


def audit(
    source: SourceName = None,
    tenant: Tenant = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="Look at N entities of each source, drawn at random.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Enqueue what is wrong, to be written anew by a worker.")
    ] = False,
    examples: Annotated[int, typer.Option("--examples", metavar="N", min=0, help="Name N of each kind.")] = 5,
    json: Json = False,
) -> None:
    """Compare the index with the sources.

    Renders everything again and embeds nothing. Counts what is missing, stale, orphaned or under a foreign tenant; what
    waits in the queue is not wrong. Exit code 3 where something is wrong.
    """
    screen = output(json)
    with opened() as rag, each_source(screen, "audit") as update:
        reports = rag.audit(
            source=source, tenant=tenant, sample=sample, repair=repair, examples=examples, on_progress=update
        )
    if json:
        screen.data(reports)
    else:
        _show(screen, reports)
    wrong = [report for report in reports if not report.ok]
    if not wrong:
        return
    total = sum(report.wrong for report in wrong)
    names = ", ".join(report.source for report in wrong)
    screen.say(
        f"The index does not equal its sources: {total:,} {'entity is' if total == 1 else 'entities are'} wrong."
    )
    if repair:
        screen.say("  remedy: They are enqueued; a worker, or `oraclerag reindex`, writes them anew.")
    else:
        screen.say(
            f"  remedy: `oraclerag audit --repair` enqueues exactly these; "
            f"`oraclerag reindex --all` writes what differs of everything ({names})."
        )
    raise typer.Exit(UNHEALTHY)


def _show(screen: Output, reports: Sequence[AuditReport]) -> None:
    kinds = ("missing", "stale", "orphaned", "foreign", "unreadable", "waiting", "dead", "hidden")
    shown = [kind for kind in kinds if any(getattr(report, kind) for report in reports)]
    columns = ("source", "entities", "audited", "equal", *shown)
    screen.table(
        columns,
        (
            (
                report.source,
                *(f"{number:,}" for number in (report.total, report.audited, report.equal)),
                *(f"{getattr(report, kind):,}" for kind in shown),
            )
            for report in reports
        ),
        right=columns[1:],
    )
    findings = [finding for report in reports for finding in report.examples]
    if findings:
        screen.table(("wrong", "entity", "in"), (_cells(finding) for finding in findings))


def _cells(finding: AuditFinding) -> tuple[str, str, str]:
    return finding.kind, str(finding.key), ", ".join(finding.differs)
