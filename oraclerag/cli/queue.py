"""``queue``: what waits and what failed, begin again, tidy up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag.cli.options import UNHEALTHY, Json, SourceName, Tenant, age, confirmed, opened, output
from oraclerag.cli.queue_tables import rows_of, show_errors, show_purge, show_retry, show_rows, show_status

if TYPE_CHECKING:
    from oraclerag.records import SourceKey

__all__ = ["group"]

group = typer.Typer(name="queue", help="The queue: status, list, retry, purge.", no_args_is_help=True)

Error = Annotated[
    str | None, typer.Option("--error", metavar="CLASS", help="Only this error, as `queue list` shows it.")
]


@group.command()
def status(
    max_lag: Annotated[
        float | None, typer.Option("--max-lag", metavar="SECONDS", help="Unhealthy where a change has waited longer.")
    ] = None,
    json: Json = False,
) -> None:
    """Show how far the index is behind, and why.

    Exit code 3 where rows were given up, a source is paused, or the lag is over --max-lag.
    """
    from oraclerag.console import record

    screen = output(json)
    with opened() as rag:
        found = rag.queue_status(max_lag=max_lag)
    if json:
        screen.data({"healthy": found.healthy, **record(found)})
    else:
        show_status(screen, found)
    screen.problems(found.problems)
    if not found.healthy:
        raise typer.Exit(UNHEALTHY)


@group.command("list")
def list_(
    rows: Annotated[
        bool, typer.Option("--rows", help="Single rows, oldest first, also those without an error.")
    ] = False,
    dead: Annotated[bool, typer.Option("--dead", help="Only what was given up.")] = False,
    source: SourceName = None,
    tenant: Tenant = None,
    error: Error = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many lines.")] = 50,
    json: Json = False,
) -> None:
    """List what went wrong, by error with an example; --rows lists rows."""
    screen = output(json)
    state: Any = "DEAD" if dead else None
    chosen: dict[str, Any] = {"state": state, "source": source, "tenant": tenant, "error": error, "limit": limit}
    with opened() as rag:
        if rows:
            show_rows(screen, rag.queue_rows(**chosen))
        else:
            show_errors(screen, rag.queue_errors(**chosen))


@group.command()
def retry(
    keys: Annotated[list[str] | None, typer.Argument(metavar="[KEY]...", help="Only these entities: task:42.")] = None,
    error: Error = None,
    source: SourceName = None,
    tenant: Tenant = None,
    now: Annotated[bool, typer.Option("--now", help="Also what failed and waits to be tried again.")] = False,
    json: Json = False,
) -> None:
    """Let rows that were given up begin again.

    Without a choice, all of them. What a worker has claimed is left alone.
    """
    screen = output(json)
    chosen = [_key(text) for text in keys] if keys else None
    with opened() as rag:
        report = rag.queue_retry(error=error, source=source, tenant=tenant, keys=chosen, postponed=now)
        paused = rag.paused_sources()
    if json:
        screen.data(report)
    else:
        show_retry(screen, report, postponed=now)
    for name, why in sorted(paused.items()):
        screen.say(f"Source {name} is paused, nothing of it is worked off: {why}\n  remedy: `oraclerag source check`")


@group.command()
def purge(
    dead: Annotated[bool, typer.Option("--dead", help="Delete rows that were given up.")] = False,
    error: Error = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Of those, enqueued so long ago: 12h, 7d.")
    ] = None,
    source: SourceName = None,
    tenant: Tenant = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Then make indexes and table of the queue smaller.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before rows are deleted.")] = False,
    json: Json = False,
) -> None:
    """Forget entities that are gone; delete rows that were given up.

    Without --dead, --error or --older-than nothing is lost. A row that is deleted is a change that is never applied:
    its entity stays stale, or hidden, until something enqueues it again.
    """
    screen = output(json)
    deletes = dead or error is not None or older_than is not None
    chosen: dict[str, Any] = {
        "dead": dead,
        "error": error,
        "older_than": None if older_than is None else age(older_than),
        "source": source,
        "tenant": tenant,
    }
    with opened() as rag:
        if deletes and not yes and not dry_run:
            _confirm(rag.queue_purge(**chosen, dry_run=True).dead)
        report = rag.queue_purge(**chosen, compact=compact, dry_run=dry_run)
    if json:
        screen.data(report)
    else:
        show_purge(screen, report, dead=deletes, dry_run=dry_run)


def _confirm(count: int) -> None:
    if not count:
        return
    what = f"{rows_of(count)} of what was given up: entities stay stale or hidden until something enqueues them again"
    hint = "Say --yes where that is meant; `queue retry` tries them again."
    confirmed(f"Delete {what}?", f"This deletes {what}.", hint)


def _key(text: str) -> SourceKey:
    from oraclerag.records import SourceKey

    source, colon, entity = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"{text!r} is no key; a key is a source, a colon and an id: task:42.")
    return SourceKey(source, entity)
