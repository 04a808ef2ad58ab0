"""FLOW check every question → search or ask → match → score → sum up: how well an installation answers for a scope.

Nothing is asked before every question was found askable, and nothing is logged as if somebody had asked it. What a lost
connection ends is given as far as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from oraclerag import generate
from oraclerag.config import Settings
from oraclerag.errors import ConnectionFailed, InputError
from oraclerag.evaluate.asking import Evaluated, How, found, options_of
from oraclerag.evaluate.intervals import RESAMPLES, SEED
from oraclerag.evaluate.judge import Judge
from oraclerag.evaluate.questions import Question, QuestionSet
from oraclerag.evaluate.report import Evaluation, QuestionResult
from oraclerag.evaluate.scoring import scored
from oraclerag.evaluate.summary import summary
from oraclerag.records import Hit
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from oraclerag.search.request import request
from oraclerag.source import Source

__all__ = ["evaluate"]

K = 10

Progress = Callable[[int, int], None]


def evaluate(
    rag: Evaluated,
    questions: QuestionSet | Iterable[Question],
    *,
    scope: Scope,
    cutoffs: Sequence[int] = (),
    answers: bool = False,
    judge: bool = False,
    how: Any = None,
    history: Sequence[str] = (),
    on_progress: Progress | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    **options: Unpack[SearchOptions],
) -> Evaluation:
    """Ask every question as ``scope`` and score what comes; the same questions and index give the same figures.

    ``options`` are those of a search; ``k`` (10 where it is not given) hits are measured, and the first of them at each
    of ``cutoffs`` (1 to k); a question's own ``filter`` and ``codes`` come on top. ``answers`` has each question
    answered (``how`` as :meth:`oraclerag.Rag.ask` takes it), and what that search found is measured; ``judge`` has a
    language model judge too. ``history`` names the sources that hold past cases, for context recall (default: all).
    ``on_progress`` is told how many questions are done, of how many. Raises InputError before anything is asked, for
    options and for the first question that cannot be, and what the search raises; a connection that is lost later ends
    it with what was done, see :attr:`Evaluation.failure`.
    """
    if not isinstance(scope, Scope):
        raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
    given = questions if isinstance(questions, QuestionSet) else QuestionSet("questions", tuple(questions))
    if not given.questions:
        raise InputError("There is no question.")
    one_way = How(
        scope,
        options,
        _cutoffs(options.get("k"), cutoffs),
        answers,
        how,
        Judge(generate.from_settings(rag.settings, rag.database), may_leave=_may_leave(rag.sources)) if judge else None,
        tuple(history),
    )
    _check(rag.settings, given.questions, one_way)
    rows: list[QuestionResult] = []
    failure = None
    try:
        for some in found(rag, given.questions, one_way):
            for row in scored(rag, some, one_way):
                rows.append(row)
                if on_progress is not None:
                    on_progress(len(rows), len(given.questions))
    except ConnectionFailed as error:
        if not rows:
            raise
        failure = f"Ended after {len(rows):,} of {len(given.questions):,} questions: {error.message}"
    metrics, latency, notes = summary(rows, one_way.cutoffs, answers=answers, resamples=resamples, seed=seed)
    return Evaluation(
        name=given.name,
        k=one_way.k,
        metrics=metrics,
        questions=tuple(rows),
        total=len(given.questions),
        latency=latency,
        options={**options, "k": one_way.k, "answers": answers, "role": scope.role},
        model=rag.settings.embedding_model,
        notes=(*given.notes, *notes),
        failure=failure,
        seed=seed,
        resamples=resamples,
    )


def _may_leave(sources: Mapping[str, Source]) -> Callable[[Hit], bool]:
    """Give whether the text of a hit may be sent elsewhere; of a source that this process does not know, it may not."""

    def allowed(hit: Hit) -> bool:
        source = sources.get(hit.source.type)
        return source is not None and source.settings.egress

    return allowed


def _cutoffs(wanted: int | None, more: Sequence[int]) -> tuple[int, ...]:
    k = K if wanted is None else wanted
    for value in (k, *more):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= k:
            raise InputError(f"A cutoff must be a whole number from 1 to k ({k!r}), not {value!r}.")
    return tuple(sorted({k, *more}))


def _check(settings: Settings, questions: Sequence[Question], how: How) -> None:
    """Find what a search would refuse: first of the options, then of each question."""
    if "vector" in how.options:
        raise InputError("vector is that of one question; an evaluation asks many.")
    anyone = Scope(tenant=settings.tenant)
    for text, options, place in (
        ("x", options_of(None, how), ""),
        *((question.text, options_of(question, how), question.place or question.id) for question in questions),
    ):
        try:
            request(text, anyone, options, k=settings.k, max_k=settings.max_k)
        except InputError as error:
            raise InputError(f"{place}: {error.message}" if place else error.message, hint=error.hint) from None
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise InputError(f"Two questions have the id {twice!r}.", hint="Give every question an id of its own.")
