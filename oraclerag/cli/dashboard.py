"""How an installation looks while it is watched: what waits, what changes from one look to the next, who works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.cli.queue_tables import span, summary

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.status import StatusReport

__all__ = ["show", "show_sources"]

_LANES = 5  # of those that are late


def show(screen: Output, report: StatusReport, before: StatusReport | None) -> None:
    """Print one look; ``before`` is the look before it, for what has changed since."""
    queue = report.queue
    if queue is None:
        screen.facts({"schema": f"{report.schema}, revision {report.revision or '-'}"})
        return
    old = before.queue if before is not None else None
    seconds = (queue.at - old.at).total_seconds() if old is not None else 0.0
    screen.facts(
        {
            "at": f"{queue.at:%Y-%m-%d %H:%M:%S} UTC, by the database's clock",
            "schema": f"{report.schema}, revision {report.revision}",
            "model": report.model and f"{report.model}, {report.dimensions} dimensions",
            "index": _index(report),
            "queue": summary(queue),
            "workers": _workers(report),
        }
    )
    figures = _figures(report)
    then = _figures(before) if before is not None and old is not None else {}
    screen.table(
        ("figure", "now", "since the last look", "a minute"),
        ((name, f"{now:,}", *_changed(now, then.get(name), seconds)) for name, now in figures.items()),
        right=("now", "since the last look", "a minute"),
    )
    if queue.lag:
        screen.table(
            ("lane", "tenant", "rows", "lag"),
            ((lag.lane, lag.tenant or "-", f"{lag.rows:,}", span(lag.age)) for lag in queue.lag[:_LANES]),
            right=("rows", "lag"),
        )
    show_sources(screen, report)


def show_sources(screen: Output, report: StatusReport) -> None:
    """Print what the index has of each source, if there is one."""
    if report.sources:
        screen.table(
            ("source", "entities", "chunks", "last indexed (UTC)", "state"),
            (
                (
                    source.source,
                    f"{source.entities:,}",
                    f"{source.chunks:,}",
                    source.last_indexed and f"{source.last_indexed:%Y-%m-%d %H:%M:%S}",
                    f"paused: {source.paused}" if source.paused else "",
                )
                for source in report.sources
            ),
            right=("entities", "chunks"),
        )


def _figures(report: StatusReport) -> dict[str, int]:
    queue = report.queue
    assert queue is not None  # noqa: S101 - the caller has looked
    chunks = sum(source.chunks for source in report.sources)
    return {
        "ready": queue.ready, "failing": queue.failing, "dead": queue.dead, "hidden": queue.hidden, "chunks": chunks,
    }  # fmt: skip


def _changed(now: int, then: int | None, seconds: float) -> tuple[str, str]:
    if then is None:
        return "", ""
    change = now - then
    rate = f"{change / seconds * 60:+,.0f}" if change and seconds > 0 else ""
    return (f"{change:+,}" if change else "0"), rate


def _index(report: StatusReport) -> str | None:
    found = report.index
    if found is None:
        return None
    state = f"{found.organization} {found.state}" if found.exists else "none; search is exact"
    return f"{state}; {found.recommendation}" if found.recommendation else state


def _workers(report: StatusReport) -> str:
    queue = report.queue
    assert queue is not None  # noqa: S101 - the caller has looked
    working, expired = queue.claimed - queue.claimed_expired, queue.claimed_expired + queue.held_expired
    done = f"{queue.settled:,} entities settled in the last {span(queue.window)}" if queue.settled else None
    text = f"{working:,} changes claimed" if working else done or "nothing claimed, nothing settled lately"
    text += f"; {done}" if working and done else ""
    return text + (f"; {expired:,} past their lease" if expired else "")
