"""Scores of questions summed up: means with intervals, times, and what limits the figures, in sentences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from oraclerag.evaluate.intervals import interval
from oraclerag.evaluate.measures import MEASURES
from oraclerag.evaluate.report import EXPLAINED, Latency, Metric, QuestionResult, base_name, latency

__all__ = ["TRUNCATED", "names_of", "summary"]

TRUNCATED = "longer than the model reads"
"""What a question's notes say where only its beginning was searched for."""

_FEW = 30
_SHOWN = 5
_OF_THE_WHOLE = ("context_precision", "context_recall")


def summary(
    rows: Sequence[QuestionResult], cutoffs: Sequence[int], *, answers: bool, resamples: int, seed: int
) -> tuple[tuple[Metric, ...], Latency, tuple[str, ...]]:
    """Give the metrics, the times and the notes of an evaluation."""
    metrics = tuple(
        _metric(name, rows, resamples=resamples, seed=seed) for name in names_of(rows, cutoffs, answers=answers)
    )
    return metrics, latency(tuple(row.seconds for row in rows)), tuple(_notes(rows, metrics, cutoffs[-1]))


def names_of(rows: Sequence[QuestionResult], cutoffs: Sequence[int], *, answers: bool) -> list[str]:
    """Give the names of the metrics in their order: those that every evaluation has, and those that a question has."""
    there = {name for row in rows for name in row.scores}
    there |= {f"{base}@{k}" for base in MEASURES for k in cutoffs}
    there |= {f"{base}@{cutoffs[-1]}" for base in _OF_THE_WHOLE}
    there |= {"faithfulness"} if answers else set()
    order = list(EXPLAINED)
    return sorted(there, key=lambda name: (order.index(base_name(name)), int(name.partition("@")[2] or 0)))


def _metric(name: str, rows: Sequence[QuestionResult], *, resamples: int, seed: int) -> Metric:
    values = [row.scores[name] for row in rows if name in row.scores]
    unscored = len(rows) - len(values)
    if not values:
        return Metric(name, None, None, None, 0, unscored)
    low, high = interval(values, resamples=resamples, seed=seed)
    mean = min(max(statistics.fmean(values), min(values)), max(values))
    return Metric(name, mean, min(low, mean), max(high, mean), len(values), unscored)


def _notes(rows: Sequence[QuestionResult], metrics: Sequence[Metric], k: int) -> list[str]:
    notes = []
    if unjudged := sum(not row.relevant for row in rows):
        notes.append(f"{_questions(unjudged)} of {len(rows):,} with nothing judged relevant: asked, not scored.")
    if missing := list(dict.fromkeys(key for row in rows for key in row.missing)):
        one = len(missing) == 1
        shown = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
        notes.append(
            f"{len(missing):,} relevant {'source is' if one else 'sources are'} not in the index, or not for this "
            f"scope: {shown}. {'It counts' if one else 'They count'} as not found."
        )
    share = next((one.value for one in metrics if one.name == f"judged@{k}"), None)
    if share is not None and share < 1:
        notes.append(f"Of the hits {share:.0%} were judged by somebody; the others count as not relevant.")
    if nothing := sum(not row.hits for row in rows):
        notes.append(f"For {_questions(nothing)} nothing was found.")
    if cut := sum(TRUNCATED in row.notes for row in rows):
        notes.append(f"Of {_questions(cut)} only the beginning was searched for: the model reads no more.")
    if failed := sum(any(note.startswith("no answer") for note in row.notes) for row in rows):
        notes.append(f"For {_questions(failed)} no answer came: they have no score of answers.")
    if failures := sum(note.startswith("llm_") for row in rows for note in row.notes):
        notes.append(f"{failures:,} times the judge gave no verdict, or none of the form asked for: not scored.")
    if 0 < max((one.n for one in metrics), default=0) < _FEW:
        notes.append(f"Fewer than {_FEW} questions have a score: the intervals are too narrow.")
    return notes


def _questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count:,} questions"
