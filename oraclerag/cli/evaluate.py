"""``evaluate``: how well are questions answered whose answers are known?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from oraclerag.cli.filters import conditions
from oraclerag.cli.options import (
    FAILED,
    Fallback,
    Filters,
    Groups,
    Hybrid,
    Json,
    Manager,
    MinScore,
    Owner,
    Tenant,
    opened,
    output,
    scope,
)

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.evaluate import Comparison, Evaluation, QuestionSet
    from oraclerag.evaluate.tables import Table
    from oraclerag.evaluate.variants import Variant
    from oraclerag.rag import Rag
    from oraclerag.scope import Scope
    from oraclerag.search import SearchOptions

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("evaluate")(evaluate)


def evaluate(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Questions (.jsonl), judgements (.tsv) or a folder of BEIR.")
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Ask what was asked and said to be good or bad, instead of a FILE.")
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="How often the log's questions found a past case, by week; asks nothing.")
    ] = False,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="The source whose ids the judgements name.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", metavar="FILE", help="The questions of the judgements, if not beside them."),
    ] = None,
    split: Annotated[str, typer.Option("--split", metavar="NAME", help="Which judgements of a folder.")] = "test",
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", help="How many hits.")] = 10,
    at: Annotated[
        list[int] | None, typer.Option("--at", metavar="N", help="Measure the first N too; repeatable.")
    ] = None,
    filter_: Filters = None,
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="auto, exact or approx.")] = "auto",
    codes: Annotated[
        bool, typer.Option("--codes/--no-codes", help="Error codes in a question narrow it to texts naming them.")
    ] = True,
    fallback: Fallback = False,
    hybrid: Hybrid = False,
    min_score: MinScore = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Have the questions answered, and measure answers too.")
    ] = False,
    judge: Annotated[bool, typer.Option("--judge", help="Have the language model judge too.")] = False,
    history: Annotated[
        list[str] | None, typer.Option("--history", metavar="NAME", help="A source of past cases, for context recall.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Two sides: -, a configuration (.toml) or key=value …"),
    ] = None,
    fail_under: Annotated[
        list[str] | None, typer.Option("--fail-under", metavar="METRIC=X", help="Exit code 1 below; repeatable.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
    json: Json = False,
) -> None:
    """Measure how good search and answers are.

    By questions whose answers are known, asked as --owner, --group or --manager. Every figure is from 0 to 1, with its
    interval of 95 %. Nothing of it is logged.
    """
    from oraclerag.evaluate.thresholds import broken, threshold, within
    from oraclerag.evaluate.variants import Variant, variant
    from oraclerag.search import SearchOptions

    if sum((file is not None, feedback, log)) != 1:
        raise typer.BadParameter("Give a FILE, --feedback or --log: one of them.")
    screen, asker = output(json), scope(tenant, owner, group, manager=manager)
    if log:
        _match_rate(screen, asker, history or (), markdown=markdown)
        return
    bounds = within([threshold(text) for text in fail_under or ()], [k, *(at or ())], any_k=compare is not None)
    options = SearchOptions(
        k=k,
        filter=conditions(filter_ or [], "--filter"),
        mode=cast("Any", mode),
        codes=codes,
        fallback=fallback,
        hybrid=hybrid,
        min_score=min_score,
    )
    sides = [variant(text) for text in compare] if compare else [Variant("-")]
    given = _questions(file, asker, source=source, queries=queries, split=split)
    asked = [
        _asked(screen, given, side, asker, options, cutoffs=at or (), answers=answers, judge=judge,
               history=history or ())
        for side in sides
    ]  # fmt: skip
    evaluation = asked[-1]
    if compare is None:
        _show(screen, evaluation, markdown=markdown)
    else:
        from oraclerag.evaluate.compare import compare as compared

        _show_comparison(screen, compared(sides[0].name, asked[0], sides[1].name, asked[1]), markdown=markdown)
    failures = [one.failure for one in asked if one.failure] + broken(bounds, evaluation)
    for sentence in failures:
        screen.say(sentence)
    if failures:
        raise typer.Exit(FAILED)


def _questions(file: Path | None, asker: Scope, *, source: str | None, queries: Path | None, split: str) -> QuestionSet:
    from oraclerag.evaluate import load, questions_with_feedback

    if file is not None:
        return load(file, source=source, queries=queries, split=split)
    with opened() as rag:
        return questions_with_feedback(rag, scope=asker)


def _match_rate(screen: Output, asker: Scope, history: Sequence[str], *, markdown: bool) -> None:
    from oraclerag.evaluate import logged_match_rate, tables

    with opened() as rag:
        rate = logged_match_rate(rag, scope=asker, history=history) if history else logged_match_rate(rag, scope=asker)
    if screen.json:
        screen.data(rate)
        return
    if rate.first is None or rate.rate is None:
        screen.say("No question is in the log: there is no match rate yet.")
        return
    _table(screen, tables.weeks(rate), markdown=markdown)
    screen.say(f"{rate.matched:,} of {rate.searches:,} questions since {rate.first:%Y-%m-%d} found a past case.")
    for target in rate.targets:
        measured = "nothing was asked" if target.rate is None else f"{target.rate:.0%}"
        screen.say(
            f"Target {target.name}: {target.target:.0%}; in the last four weeks of it {measured}: {target.state}."
        )


def _asked(
    screen: Output,
    questions: QuestionSet,
    side: Variant,
    asker: Scope,
    options: SearchOptions,
    *,
    cutoffs: Sequence[int],
    answers: bool,
    judge: bool,
    history: Sequence[str],
) -> Evaluation:
    from oraclerag.evaluate import evaluate as measured

    label = "Asking" if side.name == "-" else f"Asking, {side.name}"
    with _rag(side) as rag, screen.progress(label, len(questions.questions)) as advance:
        return measured(
            rag,
            questions,
            scope=asker,
            cutoffs=tuple(cutoffs),
            answers=answers,
            judge=judge,
            history=tuple(history),
            on_progress=lambda _done, _total: advance(1),
            **cast("SearchOptions", {**options, **side.options}),
        )


@contextlib.contextmanager
def _rag(side: Variant) -> Iterator[Rag]:
    """Open what a side asks: its own configuration, or the one of the command."""
    if side.file is None:
        with opened() as rag:
            yield rag
        return
    from oraclerag.config import Settings
    from oraclerag.rag import Rag

    with Rag(Settings.load(side.file)) as rag:
        yield rag


def _show(screen: Output, evaluation: Evaluation, *, markdown: bool) -> None:
    from oraclerag.evaluate import tables

    if screen.json:
        screen.data(evaluation)
        return
    _table(screen, tables.metrics(evaluation), markdown=markdown)
    latency = evaluation.latency
    asked = f"{evaluation.asked:,} of {evaluation.total:,} questions of {evaluation.name}"
    if latency.median is not None and latency.p95 is not None:
        asked += f"; searches took {latency.median * 1000:.0f} ms (median), {latency.p95 * 1000:.0f} ms (95 %)"
    screen.say(f"{asked}.")
    for note in evaluation.notes:
        screen.say(note)


def _show_comparison(screen: Output, comparison: Comparison, *, markdown: bool) -> None:
    from oraclerag.evaluate import tables

    if screen.json:
        screen.data(comparison)
        return
    _table(screen, tables.differences(comparison), markdown=markdown)
    screen.say(f"A: {comparison.name_a}; B: {comparison.name_b}. p: paired randomisation test, two-sided.")
    for note in dict.fromkeys((*comparison.notes, *comparison.a.notes, *comparison.b.notes)):
        screen.say(note)


def _table(screen: Output, table: Table, *, markdown: bool) -> None:
    from oraclerag.evaluate import tables

    if markdown:
        screen.write(tables.markdown(table))
    else:
        screen.table(table.columns, table.rows, right=table.right)
