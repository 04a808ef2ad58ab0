"""``why``: why was this not found?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.filters import conditions
from oraclerag.cli.options import (
    Collections,
    Filters,
    Groups,
    HowMany,
    Json,
    Manager,
    MinScore,
    Months,
    Owner,
    Since,
    Tenant,
    Until,
    day_or_moment,
    opened,
    output,
    scope,
)

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.why import Why

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("why")(why)


def why(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    source: Annotated[str, typer.Option("--source", metavar="TYPE:ID", help="The entity that should be found.")],
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    as_owner: Annotated[
        str | None, typer.Option("--as-owner", metavar="ID", help="With --manager: why this person does not find it.")
    ] = None,
    k: HowMany = None,
    filter_: Filters = None,
    collection: Collections = None,
    since: Since = None,
    until: Until = None,
    months: Months = None,
    min_score: MinScore = None,
    look: Annotated[bool, typer.Option("--look", help="Look into the source too: is it there now?")] = False,
    json: Json = False,
) -> None:
    """Say why an entity is not found: its rank, and what hides it.

    Also what waits in the queue, and how it was indexed last. Only of what the asker may see; a manager is told of
    everything in their tenant.
    """
    from oraclerag.records import SourceKey
    from oraclerag.scope import Scope
    from oraclerag.search import SearchOptions

    kind, colon, identity = source.partition(":")
    if not colon or not kind or not identity:
        raise typer.BadParameter(f"--source takes TYPE:ID, not {source!r}.")
    screen = output(json)
    options = SearchOptions(
        k=k,
        filter=conditions(filter_ or [], "--filter"),
        collections=collection or None,
        since=day_or_moment(since, "--since"),
        until=day_or_moment(until, "--until"),
        months=months,
        min_score=min_score,
    )
    with opened() as rag:
        told = rag.why(
            question,
            SourceKey(kind, identity),
            scope=scope(tenant, owner, group, manager=manager),
            seen_by=None if as_owner is None else Scope(tenant=tenant, owner=as_owner),
            look=look,
            **options,
        )
    if json:
        screen.data(told)
        return
    screen.write(told.reason)
    if told.known:
        _show(screen, told)


def _show(screen: Output, told: Why) -> None:
    if told.chunks:
        screen.table(
            ("chunk", "score", "place", "kept out by"),
            (
                (
                    chunk.key,
                    "no vector" if chunk.distance is None else f"{1 - chunk.distance:.3f}",
                    chunk.place,
                    ", ".join(chunk.hidden_by),
                )
                for chunk in told.chunks
            ),
            right=("score", "place"),
        )
    misses = {True: "misses it", False: "finds it", None: None}
    in_force = {True: "yes", False: "no: `oraclerag reindex` makes it anew", None: None}
    screen.facts(
        {
            "chunks": told.chunk_count,
            "indexed at": told.indexed_at,
            "settings in force": in_force[told.settings_in_force],
            "source paused": told.paused,
            "vector index": misses[told.approximate_misses],
            "in the source": told.in_source,
        }
    )
    if told.queue is None:
        screen.say("This database user may not read the queue.")
    elif told.queue:
        screen.table(
            ("queue", "action", "since", "due", "attempts", "crashes", "error"),
            (
                (
                    "claimed" if change.claimed else change.state,
                    change.action,
                    change.enqueued_at,
                    change.available_at,
                    change.attempts,
                    change.crashes,
                    change.error_code,
                )
                for change in told.queue
            ),
            right=("attempts", "crashes"),
        )
