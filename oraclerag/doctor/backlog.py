"""Checks of the queue: what waits, what was given up, what is stuck, and whether anybody works."""

from __future__ import annotations

import datetime as dt

from oraclerag import heartbeat, queue
from oraclerag.doctor.finding import Verdict, fail, ok, unknown, warn
from oraclerag.doctor.look import Check, Look
from oraclerag.queue.status import FAILING

__all__ = ["CHECKS"]

_AT_WORK = 60.0  # seconds within which a worker takes up a change that is due
_OLD = dt.timedelta(minutes=2)  # of a heartbeat; it beats every ten seconds
_NAMED = 5


def _queue(look: Look) -> queue.QueueStatus:
    assert look.queue is not None  # noqa: S101 - the check of the backlog is before all that ask
    return look.queue


def backlog(look: Look) -> Verdict:
    """Count what waits."""
    look.queue = found = queue.status(look.database)
    if not found.ready:
        return ok("nothing waits")
    detail = f"{found.ready:,} changes wait, {found.claimed:,} of them with a worker"
    if found.rate is not None:
        detail += f"; {found.rate * 60:,.1f} entities a minute are settled"
    if found.failing:
        return warn(
            f"{detail}; {found.failing:,} have failed {FAILING} times or more",
            "`oraclerag queue list` says what fails; after worker.max_attempts failures they are given up.",
        )
    return ok(detail)


def lag(look: Look) -> Verdict:
    """Look how old the oldest change is."""
    found = _queue(look)
    if not found.lag:
        return ok("every change is applied")
    first = found.lag[0]
    whose = "" if first.tenant is None else f" of tenant {first.tenant!r}"
    detail = f"the oldest {first.lane}{whose} has waited for {first.age:,.0f} s"
    if first.age > look.max_lag:
        return warn(
            f"{detail}, over {look.max_lag:,.0f} s",
            "`oraclerag queue status` shows whether workers are at work, `oraclerag queue list` what fails; more "
            "workers apply more.",
        )
    return ok(detail)


def dead_letters(look: Look) -> list[Verdict]:
    """Count what was given up, by its error."""
    if not _queue(look).dead:
        return [ok("nothing was given up")]
    return [
        fail(
            f"{group.rows:,} changes of {group.entities:,} entities were given up, for example {group.example}"
            + (f": {group.message}" if group.message else ""),
            f"`oraclerag queue list --rows --dead --error {group.error}` lists them; once the cause is gone: "
            f"`oraclerag queue retry --error {group.error}`.",
            about=group.error,
        )
        for group in queue.errors(look.database, state="DEAD", limit=20)
    ]


def claims(look: Look) -> Verdict:
    """Count claims and tickets that are past their worker's lease."""
    found = _queue(look)
    expired = found.claimed_expired + found.held_expired
    if expired:
        return warn(
            f"{found.claimed_expired:,} claimed changes and {found.held_expired:,} held entities are past the lease of "
            f"their worker: it died, or is slower than worker.lease ({look.settings.lease:g} s)",
            "A worker takes them over: start one, `oraclerag worker`. If it stays, raise worker.lease.",
        )
    return ok(f"{found.claimed:,} changes and {found.held:,} entities are with a worker")


def hidden(look: Look) -> Verdict:
    """Count entities that nobody sees."""
    found = _queue(look)
    if found.hidden:
        return warn(
            f"{found.hidden:,} entities are found by nobody: they failed before it could be read who may see them",
            "`oraclerag queue list` says what fails; mend it, then `oraclerag queue retry --now`, or "
            "`oraclerag backfill` where their row was deleted.",
        )
    return ok("none")


def paused(look: Look) -> list[Verdict]:
    """List the sources that no worker touches."""
    remedy = "Run `oraclerag source check`: it shows what is wrong, and takes the source up again once nothing is."
    return [
        fail(f"{source.reason} (since {source.since:%Y-%m-%d %H:%M} UTC)", remedy, about=source.source)
        for source in _queue(look).paused
    ] or [ok("no source is paused")]


def workers(look: Look) -> Verdict:
    """Look whether anybody works: by a heartbeat, if its file is given, else by what claims and entities tell."""
    found = _queue(look)
    if look.heartbeat is not None:
        return _beating(look)
    if found.claimed > found.claimed_expired or found.held > found.held_expired:
        return ok(f"{found.claimed - found.claimed_expired:,} changes are with a worker now")
    if found.settled:
        return ok(f"{found.settled:,} entities were settled in the last {found.window:,.0f} s")
    if any(
        entry.state == "READY" and entry.age > _AT_WORK and entry.rows > entry.postponed for entry in _at_large(look)
    ):
        return fail(
            f"Changes are due, and nothing was claimed or settled in the last {found.window:,.0f} s: nobody works.",
            "Start a worker: `oraclerag worker`, or `oraclerag worker --once` here and now.",
        )
    return unknown(
        "Nothing is to be done, so that nothing shows whether a worker is there: the database keeps no heartbeat.",
        "`oraclerag worker --heartbeat FILE` writes one; `oraclerag doctor --heartbeat FILE` reads it on that host.",
    )


def _at_large(look: Look) -> list[queue.Backlog]:
    stopped = {source.source for source in _queue(look).paused}
    return [entry for entry in _queue(look).backlog if entry.source not in stopped]


def _beating(look: Look) -> Verdict:
    assert look.heartbeat is not None  # noqa: S101 - the caller has looked
    pulse = heartbeat.read(look.heartbeat)
    age = look.now() - pulse.time
    detail = f"process {pulse.pid} was {pulse.state} {age.total_seconds():,.0f} s ago"
    if age > _OLD:
        return fail(
            f"{detail}: no worker writes to {str(look.heartbeat)!r} any more",
            "Look into its log, and start it again: `oraclerag worker --heartbeat FILE`.",
        )
    if pulse.state in ("outage", "restarting"):
        return warn(f"{detail}", "Its log says what it waits for.")
    return ok(detail)


_QUEUE = ("backlog",)
CHECKS = (
    Check(
        "backlog", "How many changes wait, and do they fail?", backlog, after=("schema",),
        reads=("RAG_DIRTY", "RAG_ENTITY", "RAG_CHUNK", "RAG_SETTING"),
    ),
    Check("lag", "How long has the oldest change waited?", lag, after=_QUEUE),
    Check("dead_letters", "Were changes given up, and by which errors?", dead_letters, after=_QUEUE),
    Check("claims", "Does anything hang with a worker that is gone?", claims, after=_QUEUE),
    Check("hidden", "Are entities found by nobody?", hidden, after=_QUEUE),
    Check("paused", "Are sources paused, and why?", paused, after=_QUEUE),
    Check("workers", "Is a worker at work?", workers, after=_QUEUE),
)  # fmt: skip
