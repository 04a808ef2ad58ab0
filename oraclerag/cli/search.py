"""``search``: watch the read path."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from oraclerag.cli.filters import conditions
from oraclerag.cli.options import (
    Collections,
    Fallback,
    Filters,
    Groups,
    HowMany,
    Hybrid,
    Json,
    Logged,
    Manager,
    MinScore,
    Months,
    Order,
    Owner,
    Prefer,
    Since,
    SourceNames,
    Tenant,
    Until,
    day_or_moment,
    opened,
    output,
    scope,
)

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("search")(search)


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    k: HowMany = None,
    source: SourceNames = None,
    filter_: Filters = None,
    collection: Collections = None,
    since: Since = None,
    until: Until = None,
    months: Months = None,
    codes: Annotated[
        bool, typer.Option("--codes/--no-codes", help="Error codes in the question narrow it to texts naming them.")
    ] = True,
    fallback: Fallback = False,
    prefer: Prefer = None,
    order: Order = "similarity",
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="auto, exact or approx.")] = "auto",
    accuracy: Annotated[
        int | None, typer.Option("--accuracy", metavar="PERCENT", help="Target of an approximate search.")
    ] = None,
    min_score: MinScore = None,
    hybrid: Hybrid = False,
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="V,T", help="Weights of vector and text, such as 1,0.5.")
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option("--candidates", metavar="N", help="How many each of them gives (default: 4 × k, 50 at least)."),
    ] = None,
    diversity: Annotated[
        float, typer.Option("--diversity", metavar="D", help="0 to 1: how much less a hit counts that is like another.")
    ] = 0.0,
    around: Annotated[
        str | None, typer.Option("--expand", metavar="HOW", help="Print the neighbours, section or parent of hits too.")
    ] = None,
    rerank: Annotated[
        int | None, typer.Option("--rerank", metavar="N", help="Score the first N once more with search.rerank_model.")
    ] = None,
    show_sql: Annotated[bool, typer.Option("--show-sql", help="Print the statement too (stderr).")] = False,
    log: Logged = None,
    json: Json = False,
) -> None:
    """Find what is nearest to a question.

    Only what the asker may see: everybody's, their own (--owner, --group), or everything (--manager).
    """
    from oraclerag.console import record
    from oraclerag.search import SearchOptions

    screen = output(json)
    options = SearchOptions(
        k=k,
        source=source or None,
        filter=conditions(filter_ or [], "--filter"),
        collections=collection or None,
        since=day_or_moment(since, "--since"),
        until=day_or_moment(until, "--until"),
        months=months,
        codes=codes,
        fallback=fallback,
        prefer=conditions(prefer or [], "--prefer"),
        order=cast("Any", order),
        mode=cast("Any", mode),
        accuracy=accuracy,
        min_score=min_score,
        hybrid=hybrid,
        weights=_weights(weights),
        candidates=candidates,
        rerank=rerank,
        diversity=diversity,
    )
    with opened() as rag:
        asker = scope(tenant, owner, group, manager=manager)
        result = rag.search(question, scope=asker, log=log, **options)
        passages = None if around is None else rag.expand(result, scope=asker, how=cast("Any", around))
    how = f"{'approximate' if result.approximate else 'exact'}: {result.reason}"
    if show_sql:
        screen.say(result.statement)
        screen.say(f"-- {how}")
    if result.codes_missing:
        without = "was searched without it" if result.hits else "--fallback searches without it"
        screen.say(f"No text that this scope may see names {' or '.join(result.codes_missing)}; {without}.")
    if hybrid and result.text_leg != "oracle text":
        way = "Words count among the nearest texts only" if result.text_leg else "Searched by meaning alone"
        screen.say(f"{way}: {result.text_reason}.")
    if result.text_pending:
        screen.say(f"The text index does not know {result.text_pending:,} changed texts yet.")
    if result.truncated:
        screen.say("The question is longer than the model reads; only its beginning was searched for.")
    if json:
        screen.data(result if passages is None else {**record(result), "passages": passages})
        return
    if not result.hits:
        screen.say("Nothing that this scope may see was found.")
        return
    screen.hits(result)
    for passage in passages or ():
        screen.write(f"\n-- {passage.source}{f', {passage.section}' if passage.section else ''}\n{passage.content}")
    screen.say(f"{len(result)} {'hit' if len(result) == 1 else 'hits'} in {result.seconds * 1000:.0f} ms ({how}).")
    stale = sum(hit.stale for hit in result)
    if stale:
        screen.say(f"{stale} of them {'is' if stale == 1 else 'are'} about to change: a change waits in the queue.")


def _weights(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    vector, comma, words = text.partition(",")
    try:
        if not comma:
            raise ValueError
        return (float(vector), float(words))
    except ValueError:
        raise typer.BadParameter(
            f"--weights takes two numbers with a comma between, such as 1,0.5, not {text!r}."
        ) from None
