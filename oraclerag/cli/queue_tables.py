"""How the queue looks on a screen: figures, tables, spans of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.queue import ErrorGroup, PurgeReport, QueueRow, QueueStatus, RetryReport

__all__ = ["rows_of", "show_errors", "show_purge", "show_retry", "show_rows", "show_status", "span", "summary"]

_SHOWN = 10  # lanes and tenants


def summary(found: QueueStatus) -> str:
    """Say in one line what waits, for how long, and when it will be done."""
    if not found.ready:
        return "empty"
    done = f"done in {span(found.empty_in)}, at most" if found.empty_in is not None else f"rate {_rate(found)}"
    return f"{found.ready:,} ready, the oldest for {span(found.lag[0].age)}; {done}"


def show_status(screen: Output, found: QueueStatus) -> None:
    """Print the figures, the paused sources, who is late, and the backlog."""
    postponed = sum(entry.postponed for entry in found.backlog)
    facts: dict[str, Any] = {
        "ready": f"{found.ready:,}" + (f": {found.claimed:,} claimed, {postponed:,} postponed" if found.ready else ""),
        "failing": f"{found.failing:,} of them failed three times or more" if found.failing else "0",
        "dead": f"{found.dead:,}",
        "hidden": f"{found.hidden:,}" + (" entities that nobody sees until they are indexed" if found.hidden else ""),
        "lag": f"{span(found.lag[0].age)}, the oldest change that is not applied" if found.lag else "none",
        "rate": _rate(found),
        "empty": "now" if not found.ready else _estimate(found),
        "expired": f"{found.claimed_expired:,} of {found.claimed:,} claimed rows, "
        f"{found.held_expired:,} of {found.held:,} held entities",
    }
    screen.facts(facts)
    if found.paused:
        screen.table(
            ("paused", "since (UTC)", "why"),
            ((source.source, f"{source.since:%Y-%m-%d %H:%M:%S}", source.reason) for source in found.paused),
        )
    if found.lag:
        screen.table(
            ("lane", "tenant", "rows", "oldest (UTC)", "lag"),
            (
                (lag.lane, lag.tenant or "-", f"{lag.rows:,}", f"{lag.oldest:%Y-%m-%d %H:%M:%S}", span(lag.age))
                for lag in found.lag[:_SHOWN]
            ),
            right=("rows", "lag"),
        )
        if len(found.lag) > _SHOWN:
            screen.say(f"{len(found.lag) - _SHOWN} more lanes and tenants, less late; --json shows them.")
    if found.backlog:
        screen.table(
            ("source", "state", "lane", "rows", "claimed", "postponed", "oldest"),
            (
                (
                    entry.source,
                    entry.state,
                    entry.lane,
                    f"{entry.rows:,}",
                    f"{entry.claimed:,}",
                    f"{entry.postponed:,}",
                    span(entry.age),
                )
                for entry in found.backlog
            ),
            right=("rows", "claimed", "postponed", "oldest"),
        )


def _rate(found: QueueStatus) -> str:
    if found.rate is None:
        return f"unknown: nothing was settled in the last {span(found.window)}"
    return f"{found.rate * 60:,.1f} a minute: {found.settled:,} entities settled in the last {span(found.window)}"


def _estimate(found: QueueStatus) -> str:
    return "unknown" if found.empty_in is None else f"in {span(found.empty_in)} at that rate, at most"


def show_errors(screen: Output, groups: list[ErrorGroup]) -> None:
    """Print errors, most rows first."""
    if screen.json:
        screen.data(groups)
        return
    if not groups:
        screen.say("No row has failed; --rows lists what waits.")
        return
    screen.table(
        ("error", "state", "rows", "entities", "oldest (UTC)", "tried again (UTC)"),
        (
            (
                group.error,
                group.state,
                f"{group.rows:,}",
                f"{group.entities:,}",
                f"{group.oldest:%Y-%m-%d %H:%M:%S}",
                "-" if group.due is None else f"{group.due:%Y-%m-%d %H:%M:%S}",
            )
            for group in groups
        ),
        right=("rows", "entities"),
    )
    screen.table(
        ("error", "for example", "message"),
        ((group.error, _short(str(group.example)), group.message) for group in groups),
    )


def show_rows(screen: Output, rows: list[QueueRow]) -> None:
    """Print single rows."""
    if screen.json:
        screen.data(rows)
        return
    screen.table(
        ("id", "source", "state", "lane", "enqueued (UTC)", "attempts", "error"),
        (
            (
                row.id,
                _short(str(row.key)),
                "CLAIMED" if row.claimed and row.state == "READY" else row.state,
                row.lane,
                f"{row.enqueued_at:%Y-%m-%d %H:%M:%S}",
                row.attempts,
                ": ".join(part for part in (row.error_code, row.error) if part),
            )
            for row in rows
        ),
        right=("id", "attempts"),
    )


def show_retry(screen: Output, report: RetryReport, *, postponed: bool) -> None:
    """Print what begins again."""
    screen.write(f"Given up, and ready again: {rows_of(report.dead)}.")
    if postponed:
        screen.write(f"Postponed, and due now: {rows_of(report.postponed)}.")


def show_purge(screen: Output, report: PurgeReport, *, dead: bool, dry_run: bool) -> None:
    """Print what was removed, and what was made smaller."""
    would = "Would be deleted" if dry_run else "Deleted"
    if dead:
        screen.write(f"{would}, of what was given up: {rows_of(report.dead)}.")
    entities = "1 entity" if report.entities == 1 else f"{report.entities:,} entities"
    screen.write(f"{'Would be forgotten' if dry_run else 'Forgotten'}, of what is gone: {entities}.")
    if report.compacted:
        screen.write(f"Made smaller: {', '.join(report.compacted)}.")
    for reason in report.skipped:
        screen.say(f"Not made smaller: {reason}")


def rows_of(count: int) -> str:
    """Give a number of rows in words."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _short(text: str, size: int = 24) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def span(seconds: float) -> str:
    """Give a span of time in the unit that reads best."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:,.1f} h"
    return f"{seconds / 86400:,.1f} days"
