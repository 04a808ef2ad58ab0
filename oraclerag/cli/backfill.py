"""``backfill`` and ``reindex``: having everything indexed that is missing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, Json, SourceName, Tenant, ended_by_signals, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import BackfillReport

__all__ = ["register"]

All = Annotated[bool, typer.Option("--all", help="Everything, not only what is missing or made with other settings.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("backfill")(backfill)
    app.command("reindex")(reindex)


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
