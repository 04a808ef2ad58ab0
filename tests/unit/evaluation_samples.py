"""Evaluations, comparisons and match rates of any size, as if measured."""

from __future__ import annotations

import datetime as dt
import random

from oraclerag.evaluate.compare import compare
from oraclerag.evaluate.match_rate import match_rate
from oraclerag.evaluate.measures import MEASURES
from oraclerag.evaluate.report import Comparison, Evaluation, MatchRate, QuestionResult, Retrieved
from oraclerag.evaluate.summary import summary

WRITTEN = dt.datetime(2026, 11, 30, 20, 0, tzinfo=dt.UTC)


def evaluation(
    count: int = 40, *, seed: int = 1, luck: float = 0.6, k: int = 10, text: str = "late payments of the supplier"
) -> Evaluation:
    """Give an evaluation of ``count`` questions, of which every seventh has nothing relevant."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        relevant = 0 if number % 7 == 6 else 2
        hits = tuple(_hit(draw, rank, number, luck) for rank in range(1, k + 1))
        judged = {hit.unit: hit.grade for hit in hits if hit.grade is not None} | {f"task:{number}00": 1.0}
        scores = {
            f"{name}@{at}": value
            for at in (3, k)
            for name, measure in MEASURES.items()
            if relevant and (value := measure([hit.unit for hit in hits], judged, at)) is not None
        }
        rows.append(
            QuestionResult(
                f"q{number}", text, scores, hits, draw.lognormvariate(-4, 0.5), relevant,
                ("task:99",) if number == 3 else (),
                notes=() if relevant else ("nothing was judged relevant",),
            )
        )  # fmt: skip
    metrics, times, notes = summary(rows, (3, k), answers=False, resamples=100, seed=1)
    options = {"k": k, "mode": "auto", "hybrid": luck > 0.6, "filter": {"project": "AP"}, "role": "manager"}
    return Evaluation(
        "questions.jsonl", k, metrics, tuple(rows), count, times, options, "MINILM_L6", notes, resamples=100
    )


def _hit(draw: random.Random, rank: int, number: int, luck: float) -> Retrieved:
    found = draw.random() < luck / rank
    grade = 1.0 if found else 0.0 if draw.random() < 0.5 else None
    distance = min(max(draw.gauss(0.35 if found else 0.6, 0.1), 0.0), 2.0)
    return Retrieved(f"task:{number}{rank}:0", f"task:{number}{rank}", rank, distance, grade)


def comparison(
    count: int = 40, *, name_b: str = "hybrid=true weights=1,0.5", text: str = "late payments of the supplier"
) -> Comparison:
    """Give a comparison whose second side is mostly better."""
    a, b = evaluation(count, seed=1, luck=0.5, text=text), evaluation(count, seed=2, luck=0.8, text=text)
    return compare("-", a, name_b, b)


def rate(weeks: int = 20) -> MatchRate:
    """Give a match rate that rises; in the sixth week nothing was asked."""
    draw = random.Random(3)
    first = dt.datetime(2026, 3, 4, 9)  # noqa: DTZ001 - naive, UTC
    asked = [
        (first + dt.timedelta(weeks=week, hours=hour), draw.random() < 0.1 + 0.6 * week / 20)
        for week in range(weeks)
        for hour in range(0 if week == 5 else 12)
    ]
    return match_rate(asked)
