"""``queue``: status and list."""

from __future__ import annotations

from typing import Annotated

import typer

from oraclerag.cli.options import Json, opened, output

__all__ = ["group"]

group = typer.Typer(name="queue", help="The queue: status, list.", no_args_is_help=True)


@group.command()
def status(json: Json = False) -> None:
    """Show the backlog by source: how many, how old, how many given up."""
    screen = output(json)
    with opened() as rag:
        backlog = rag.queue_status()
    if json:
        screen.data(backlog)
    elif not backlog:
        screen.say("The queue is empty.")
    else:
        screen.table(
            ("source", "state", "lane", "rows", "claimed", "oldest"),
            (
                (entry.source, entry.state, entry.lane, f"{entry.rows:,}", f"{entry.claimed:,}", _age(entry.age))
                for entry in backlog
            ),
            right=("rows", "claimed"),
        )


@group.command("list")
def list_(
    dead: Annotated[bool, typer.Option("--dead", help="Only what was given up.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many rows, oldest first.")] = 50,
    json: Json = False,
) -> None:
    """List queue rows, oldest first, with what went wrong."""
    screen = output(json)
    with opened() as rag:
        rows = rag.queue_rows(state="DEAD" if dead else None, limit=limit)
    if json:
        screen.data(rows)
        return
    screen.table(
        ("id", "source", "action", "state", "lane", "enqueued (UTC)", "attempts", "error"),
        (
            (
                row.id,
                row.key,
                row.action,
                "CLAIMED" if row.claimed and row.state == "READY" else row.state,
                row.lane,
                row.enqueued_at.strftime("%Y-%m-%d %H:%M:%S"),
                row.attempts,
                row.error,
            )
            for row in rows
        ),
        right=("id", "attempts"),
    )


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h"
