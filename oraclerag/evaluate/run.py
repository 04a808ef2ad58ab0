"""FLOW check every question → search or ask → match → score → sum up: how well an installation answers for a scope.

Nothing is asked before every question was found askable, and nothing is logged as if somebody had asked it. What a lost
connection ends is given as far as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol, Unpack, cast

from oraclerag import generate
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import ConnectionFailed, InputError, ProviderError, ProviderLoginFailed
from oraclerag.evaluate import contexts
from oraclerag.evaluate.intervals import RESAMPLES, SEED
from oraclerag.evaluate.judge import Judge
from oraclerag.evaluate.matching import codes_of, ranking, retrieved
from oraclerag.evaluate.measures import MEASURES
from oraclerag.evaluate.questions import Question, QuestionSet, Relevant
from oraclerag.evaluate.report import Evaluation, QuestionResult, Retrieved
from oraclerag.evaluate.summary import summary
from oraclerag.records import Answer, Hit, SearchResult, StoredChunk
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from oraclerag.search.request import request
from oraclerag.source import Source

__all__ = ["Evaluated", "evaluate"]

K = 10

_AT_ONCE = 16  # questions on one connection
_LOOKED_UP = 500

Progress = Callable[[int, int], None]


class Evaluated(Protocol):
    """What is evaluated: a :class:`oraclerag.Rag`."""

    settings: Settings
    database: Database

    @property
    def sources(self) -> Mapping[str, Source]:
        """What can be indexed, by name."""

    def search_each(
        self,
        questions: Sequence[str],
        *,
        scope: Scope,
        connection: Any = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[SearchResult]:
        """Search for several questions."""

    def ask(
        self,
        question: str,
        *,
        scope: Scope,
        how: Any = None,
        on_text: Callable[[str], None] | None = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Answer a question."""

    def fetch(self, keys: Any, *, scope: Scope, connection: Any = None) -> list[StoredChunk]:
        """Give chunks by their names."""


@dataclass(frozen=True, slots=True)
class _How:
    """How every question is asked and scored; ``cutoffs`` ascend and end with the number of hits."""

    scope: Scope
    options: SearchOptions
    cutoffs: tuple[int, ...]
    answers: bool
    prompting: Any
    judge: Judge | None
    history: tuple[str, ...]

    @property
    def k(self) -> int:
        return self.cutoffs[-1]


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
    one_way = _How(
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
        for row in _asked(rag, given.questions, one_way):
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


def _check(settings: Settings, questions: Sequence[Question], how: _How) -> None:
    """Find what a search would refuse: first of the options, then of each question."""
    if "vector" in how.options:
        raise InputError("vector is that of one question; an evaluation asks many.")
    anyone = Scope(tenant=settings.tenant)
    for text, options, place in (
        ("x", _options_of(None, how), ""),
        *((question.text, _options_of(question, how), question.place or question.id) for question in questions),
    ):
        try:
            request(text, anyone, options, k=settings.k, max_k=settings.max_k)
        except InputError as error:
            raise InputError(f"{place}: {error.message}" if place else error.message, hint=error.hint) from None
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise InputError(f"Two questions have the id {twice!r}.", hint="Give every question an id of its own.")


def _options_of(question: Question | None, how: _How) -> SearchOptions:
    options: dict[str, Any] = {**how.options, "k": how.k}
    if question is not None:
        given = options.get("filter")
        if question.filter is not None:
            options["filter"] = question.filter if not given else {"$and": [given, question.filter]}
        if options.get("codes", True) is True:
            options["codes"] = question.codes if isinstance(question.codes, bool) else list(question.codes)
    return cast("SearchOptions", options)


@dataclass(frozen=True, slots=True)
class _Found:
    """What came of a question before it is scored; ``failure`` is the code of what kept an answer from coming."""

    question: Question
    result: SearchResult
    answer: Answer | None = None
    failure: str | None = None


def _asked(rag: Evaluated, questions: Sequence[Question], how: _How) -> Iterator[QuestionResult]:
    for found in _found(rag, questions, how):
        yield from _scored(rag, found, how)


def _found(rag: Evaluated, questions: Sequence[Question], how: _How) -> Iterator[list[_Found]]:
    """Ask, some questions at a time; those of one search have the same options."""
    if how.answers:
        for question in questions:
            yield [_answered(rag, question, how)]
        return
    for _, same in groupby(questions, key=lambda one: (one.filter, one.codes)):
        together = list(same)
        for start in range(0, len(together), _AT_ONCE):
            some = together[start : start + _AT_ONCE]
            options = _options_of(some[0], how)
            results = rag.search_each([one.text for one in some], scope=how.scope, log=False, **options)
            yield [_Found(question, result) for question, result in zip(some, results, strict=True)]


def _answered(rag: Evaluated, question: Question, how: _How) -> _Found:
    """Have a question answered; where the language model fails, what was found is still measured."""
    options = _options_of(question, how)
    try:
        answer = rag.ask(question.text, scope=how.scope, how=how.prompting, log=False, **options)
    except ProviderLoginFailed:
        raise  # so would every other question
    except ProviderError as error:
        (result,) = rag.search_each([question.text], scope=how.scope, log=False, **options)
        return _Found(question, result, failure=error.code)
    return _Found(question, answer.result, answer)


def _scored(rag: Evaluated, some: Sequence[_Found], how: _How) -> Iterator[QuestionResult]:
    """Score questions that were asked together; what they miss is looked up together."""
    matched = {one.question.id: retrieved(one.question, one.result, codes_of(one.question)) for one in some}
    missing = _missing(rag, [one.question for one in some], matched, how.scope)
    for one in some:
        hits = matched[one.question.id]
        absent = tuple(wanted.key for wanted in one.question.relevant if wanted.key in missing and wanted.grade > 0)
        yield _row(rag, one, hits, absent, how)


def _missing(
    rag: Evaluated, questions: Sequence[Question], matched: Mapping[str, Sequence[Retrieved]], scope: Scope
) -> set[str]:
    """Give the keys of what is relevant, was not found, and is not in the index for the scope."""
    wanted: dict[str, Relevant] = {}
    for question in questions:
        found = {hit.unit for hit in matched[question.id]}
        wanted |= {one.key: one for one in question.relevant if one.grade > 0 and one.key not in found}
    absent = set(wanted)
    names = [f"{one.source}:{one.chunk or 0}" for one in wanted.values()]  # what is indexed has a chunk 0
    for start in range(0, len(names), _LOOKED_UP):
        for chunk in rag.fetch(names[start : start + _LOOKED_UP], scope=scope):
            absent -= {chunk.key, str(chunk.source)}
    return absent


def _row(
    rag: Evaluated, found: _Found, hits: tuple[Retrieved, ...], absent: tuple[str, ...], how: _How
) -> QuestionResult:
    question, answer = found.question, found.answer
    judged, relevant = question.judged, sum(one.grade > 0 for one in question.relevant)
    scores: dict[str, float | None] = {}
    for cutoff in how.cutoffs:
        order = ranking(hits, cutoff)
        scores |= {f"{name}@{cutoff}": measure(order, judged, cutoff) for name, measure in MEASURES.items()}
    past = tuple(hit for hit in hits if not how.history or hit.key.partition(":")[0] in how.history)
    exists = _exists(rag, question, past, absent, how)
    codes = codes_of(question)
    scores[f"context_precision@{how.k}"] = contexts.context_precision(hits, how.k)
    scores[f"context_recall@{how.k}"] = contexts.context_recall(past, how.k, exists=exists, judged=bool(relevant))
    notes = [f"no answer: {found.failure}"] if found.failure else []
    if not relevant:
        notes.append("nothing was judged relevant")
    if answer is not None:
        scores["faithfulness"] = contexts.faithfulness(answer)
        if question.expected is not None:
            scores["expected_overlap"] = contexts.expected_overlap(question.expected, answer.text)
    if how.judge is not None:
        for verdict in how.judge.judged(question, found.result.hits, answer):
            scores[verdict.name] = verdict.score
            notes += [verdict.failure] if verdict.failure else []
    return QuestionResult(
        id=question.id,
        text=question.text,
        scores={name: score for name, score in scores.items() if score is not None},
        hits=hits,
        seconds=found.result.seconds,
        relevant=relevant,
        missing=absent,
        codes=tuple(sorted(codes)),
        answer=None if answer is None else answer.text,
        outcome=None if answer is None else answer.outcome,
        answer_seconds=None if answer is None else sum(answer.timings.values()),
        notes=tuple(notes),
    )


def _exists(
    rag: Evaluated, question: Question, past: Sequence[Retrieved], absent: Sequence[str], how: _How
) -> bool | None:
    """Say whether there is a match that the asker may see: what was judged relevant, or else names the error code."""
    relevant = [
        one for one in question.relevant if one.grade > 0 and (not how.history or one.source.type in how.history)
    ]
    if any(one.grade > 0 for one in question.relevant):
        return any(one.key not in absent for one in relevant)
    codes = codes_of(question)
    if not codes:
        return None
    if any(hit.names_code for hit in past):
        return True
    options = {**_options_of(question, how), "k": 1, "codes": sorted(codes), "mode": "exact", "fallback": False}
    for ordering in ("rerank", "min_score", "hybrid", "candidates", "diversity", "prefer", "order"):
        options.pop(ordering, None)
    if how.history:
        options["source"] = list(how.history)
    (found,) = rag.search_each([question.text], scope=how.scope, log=False, **cast("SearchOptions", options))
    return bool(found.hits)
