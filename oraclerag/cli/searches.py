"""``searches``: the search log: what was asked, what came of it, and what was said of that."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from oraclerag.cli.options import (
    Groups,
    Json,
    Manager,
    Owner,
    Since,
    Tenant,
    age,
    confirmed,
    day_or_moment,
    opened,
    output,
    scope,
)
from oraclerag.cli.searches_tables import (
    replayed,
    show_list,
    show_one,
    show_replay,
    show_statistics,
    with_shares,
)

__all__ = ["group"]

group = typer.Typer(
    name="searches", help="The search log: list, show, replay, feedback, stats, purge.", no_args_is_help=True
)

Number = Annotated[int, typer.Argument(metavar="ID", help="The number of the search, as `searches list` shows it.")]


@group.command("list")
def list_(
    since: Since = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only this conversation.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome", metavar="NAME", help="answered, truncated, no_grounds, found, nothing or failed alone."
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="NAME", help="search, ask or diagnose alone.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many, the newest first.")] = 50,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """List what was asked last.

    Only what the asker, or somebody who may see no more than they, has asked; everything of the tenant with --manager.
    """
    screen = output(json)
    with opened() as rag:
        found = rag.searches.list(
            scope=scope(tenant, owner, group_, manager=manager),
            since=day_or_moment(since, "--since"),
            session=session,
            outcome=outcome,
            kind=kind,
            limit=limit,
        )
    show_list(screen, found)


@group.command()
def show(
    number: Number,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Show all that was logged of one search."""
    screen = output(json)
    with opened() as rag:
        found = rag.searches.show(number, scope=scope(tenant, owner, group_, manager=manager))
    if json:
        screen.data(found)
    else:
        show_one(screen, found)


@group.command()
def replay(
    number: Number,
    answer: Annotated[bool, typer.Option("--answer", help="Ask again too, where it was asked.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Log this too.")] = False,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Run a search again with its options, and show what changed.

    It is run for the scope of these options, which must see it in the log.
    """
    screen = output(json)
    with opened() as rag:
        found = rag.searches.replay(number, scope=scope(tenant, owner, group_, manager=manager), answer=answer, log=log)
    if json:
        screen.data(replayed(found))
    else:
        show_replay(screen, found)


@group.command()
def feedback(
    number: Number,
    good: Annotated[bool | None, typer.Option("--good/--bad", help="Whether it was good.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why; at most 4,000 bytes.")] = None,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Say whether an answer, or what was found, was good.

    What was said of it before is replaced.
    """
    if good is None:
        raise typer.BadParameter("Say --good or --bad.")
    screen = output(json)
    with opened() as rag:
        rag.feedback(number, good, note, scope=scope(tenant, owner, group_, manager=manager))
    if json:
        screen.data({"search_id": number, "feedback": good})
    else:
        screen.say(f"Search {number} is noted as {'good' if good else 'bad'}.")


@group.command()
def stats(
    since: Since = None,
    days: Annotated[
        int | None, typer.Option("--days", metavar="N", min=1, help="The last N days (default: all that is logged).")
    ] = None,
    manager: Annotated[
        bool, typer.Option("--manager", help="Count as a manager of the tenant, not as who runs all of it.")
    ] = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Count: how many, how fast, how often answered and cited.

    In total and by tenant, kind and generator. There is no text in it.
    """
    screen = output(json)
    chosen: dict[str, Any] = {"since": day_or_moment(since, "--since"), "days": days}
    with opened() as rag:
        if manager:
            found = rag.searches.stats(scope=scope(tenant, None, None, manager=True), **chosen)
        else:
            found = rag.search_statistics(tenant=tenant, **chosen)
    if json:
        screen.data(with_shares(found))
    else:
        show_statistics(screen, found)


@group.command()
def purge(
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Asked so long ago: 12h, 90d (default: searches.keep_days)."),
    ] = None,
    texts_only: Annotated[
        bool, typer.Option("--texts-only", help="Clear questions, prompts, answers and notes, keep the rest.")
    ] = False,
    tenant: Tenant = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Forget what was asked long ago, of all tenants or one.

    Where searches.keep_days says how long it is kept, nothing is asked; run it once a day.
    """
    screen = output(json)
    with opened() as rag:
        if older_than is not None and not yes:
            what = "Texts of the search log" if texts_only else "Entries of the search log"
            what = f"{what} that are older than {older_than} would be gone for good."
            confirmed(f"{what} Go on?", f"{what} Without a terminal nobody can agree.")
        report = rag.purge_searches(
            None if older_than is None else age(older_than), tenant=tenant, texts_only=texts_only
        )
    if json:
        screen.data(report)
    elif texts_only:
        screen.write(f"Cleared: the texts of {report.texts:,} searches.")
    else:
        screen.write(f"Forgotten: {report.searches:,} searches with {report.hits:,} hits.")
