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
    from oraclerag.evaluate import Comparison, Evaluation, MatchRate, QuestionSet
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
        bool,
        typer.Option("--log", help="How often the log's questions found a past case, by week; alone it asks nothing."),
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
    html: Annotated[
        Path | None, typer.Option("--html", metavar="PATH", help="Write a page with plots, to be read in a browser.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
    json: Json = False,
) -> None:
    """Measure how good search and answers are.

    By questions whose answers are known, asked as --owner, --group or --manager. Every figure is from 0 to 1, with its
    interval of 95 %. Nothing of it is logged.
    """
    from oraclerag.evaluate.compare import compare as compared
    from oraclerag.evaluate.thresholds import broken, threshold, within
    from oraclerag.evaluate.variants import Variant, variant
    from oraclerag.pages.evaluation import checked_place
    from oraclerag.search import SearchOptions

    if (file is not None) + feedback > 1 or not (file is not None or feedback or log):
        raise typer.BadParameter("Give a FILE or --feedback, or --log alone or beside them.")
    if fail_under and file is None and not feedback:
        raise typer.BadParameter("--log alone measures nothing that --fail-under bounds: give a FILE or --feedback.")
    if html is not None:
        checked_place(html)
    screen, asker = output(json), scope(tenant, owner, group, manager=manager)
    rate = _match_rate(asker, history or ()) if log else None
    if file is None and not feedback:
        _told(screen, None, rate, html, markdown=markdown)
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
    shown = asked[0] if compare is None else compared(sides[0].name, asked[0], sides[1].name, asked[1])
    _told(screen, shown, rate, html, markdown=markdown)
    failures = [one.failure for one in asked if one.failure] + broken(bounds, asked[-1])
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


def _match_rate(asker: Scope, history: Sequence[str]) -> MatchRate:
    from oraclerag.evaluate import logged_match_rate

    with opened() as rag:
        return logged_match_rate(rag, scope=asker, history=history) if history else logged_match_rate(rag, scope=asker)


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


def _told(
    screen: Output,
    shown: Evaluation | Comparison | None,
    rate: MatchRate | None,
    html: Path | None,
    *,
    markdown: bool,
) -> None:
    """Write the page, if one is wanted, and show the figures."""
    from oraclerag.cli.evaluate_tables import show

    if html is not None:
        from oraclerag.pages.evaluation import page, write

        write(html, page(shown, rate))
        screen.say(f"{html} shows it with plots.")
    show(screen, shown, rate, markdown=markdown)
