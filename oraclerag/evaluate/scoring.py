"""Scores of questions: what came is matched with what was judged, and what is missing is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from oraclerag.evaluate import contexts
from oraclerag.evaluate.asking import Evaluated, Found, How, options_of
from oraclerag.evaluate.matching import codes_of, ranking, retrieved
from oraclerag.evaluate.measures import MEASURES
from oraclerag.evaluate.questions import Question, Relevant
from oraclerag.evaluate.report import QuestionResult, Retrieved
from oraclerag.evaluate.summary import TRUNCATED
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions

__all__ = ["scored"]

_LOOKED_UP = 200
# What orders hits, or keeps some out, when all that is asked is whether there is one.
_OF_NO_MATTER = ("rerank", "min_score", "hybrid", "candidates", "diversity", "prefer", "order")


def scored(rag: Evaluated, some: Sequence[Found], how: How) -> Iterator[QuestionResult]:
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
    rag: Evaluated, found: Found, hits: tuple[Retrieved, ...], absent: tuple[str, ...], how: How
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
    if found.result.truncated:
        notes.append(TRUNCATED)
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
    rag: Evaluated, question: Question, past: Sequence[Retrieved], absent: Sequence[str], how: How
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
    options = {**options_of(question, how), "k": 1, "codes": sorted(codes), "mode": "exact", "fallback": False}
    for name in _OF_NO_MATTER:
        options.pop(name, None)
    if how.history:
        options["source"] = list(how.history)
    (found,) = rag.search_each([question.text], scope=how.scope, log=False, **cast("SearchOptions", options))
    return bool(found.hits)
