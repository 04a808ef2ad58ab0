"""``backfill`` and ``reindex``: having everything indexed that is missing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, Json, SourceName, Tenant, each_source, ended_by_signals, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.rag import Rag
    from oraclerag.records import BackfillEstimate, BackfillReport

__all__ = ["register"]

All = Annotated[bool, typer.Option("--all", help="Everything, not only what is missing or made with other settings.")]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be enqueued and what it costs; write nothing.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("backfill")(backfill)
    app.command("reindex")(reindex)


def backfill(
    tenant: Tenant = None, source: SourceName = None, all_: All = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Enqueue what is missing, for a worker.

    Missing is what was never indexed, was with other settings, or has lost its chunks; with --all, everything. What is
    gone is enqueued for deletion.
    """
    screen = output(json)
    with opened() as rag:
        if dry_run:
            _estimate(screen, rag, source, tenant, all_, json)
            return
        reports = _backfill(screen, rag, source, tenant, all_)
    if json:
        screen.data(reports)
    else:
        _show(screen, reports)


def reindex(
    tenant: Tenant = None, source: SourceName = None, all_: All = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Enqueue what is missing and index it now.

    Works until the queue is empty, then builds the vector index if it is worth it.
    """
    if dry_run:
        with opened() as rag:
            _estimate(output(json), rag, source, tenant, all_, json)
        return
    screen = output(json)
    stop = threading.Event()
    with opened() as rag, ended_by_signals(screen, stop.is_set, stop.set):
        reports = _backfill(screen, rag, source, tenant, all_)
        if not json:
            _show(screen, reports)
        with screen.progress("indexing", rag.queue_status().ready) as update:  # also what waited before
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


def _backfill(
    screen: Output, rag: Rag, source: str | None, tenant: str | None, everything: bool
) -> list[BackfillReport]:
    with each_source(screen, "backfill") as update:
        return rag.backfill(source=source, tenant=tenant, everything=everything, on_progress=update)


def _estimate(screen: Output, rag: Rag, source: str | None, tenant: str | None, everything: bool, json: bool) -> None:
    found = rag.estimate_backfill(source=source, tenant=tenant, everything=everything)
    if json:
        screen.data(found)
        return
    columns = ("source", "entities", "to index", "gone", "estimated tokens", "estimated minutes")
    screen.table(columns, (_cells(one) for one in found), right=columns[1:])
    sampled = sum(one.sampled for one in found)
    if sampled:
        screen.say(
            f"Tokens and minutes of one worker are extrapolated from {sampled:,} entities that were rendered and a few "
            f"texts that were embedded. Nothing was written."
        )
    else:
        screen.say("Nothing was written.")


def _cells(one: BackfillEstimate) -> tuple[str, ...]:
    tokens = "unknown" if one.tokens is None else f"{one.tokens:,}"
    minutes = "unknown" if one.minutes is None else "< 0.1" if 0 < one.minutes < 0.1 else f"{one.minutes:,.1f}"
    return one.source, f"{one.total:,}", f"{one.entities:,}", f"{one.gone:,}", tokens, minutes


def _show(screen: Output, reports: Sequence[BackfillReport]) -> None:
    screen.table(
        ("source", "entities", "enqueued", "gone"),
        ((report.source, f"{report.total:,}", f"{report.enqueued:,}", f"{report.gone:,}") for report in reports),
        right=("entities", "enqueued", "gone"),
    )
