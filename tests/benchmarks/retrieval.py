"""How good search is, with all-MiniLM-L6-v2, where collections with judgements are there (see judged.py)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

from oraclerag.rag import Rag
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from tests.benchmarks import judged
from tests.benchmarks.figures import Figure
from tests.benchmarks.judged import Collection
from tests.benchmarks.relevance import Judgements, hit_rate, ndcg

__all__ = ["measure"]

K = 10
PUBLISHED = 0.6451
"""nDCG@10 of all-MiniLM-L6-v2 on SciFact."""

Measure = Callable[[Sequence[str], Judgements, int], float | None]


def measure(folder: Path, minilm: Path) -> Iterator[Figure]:
    """Measure nDCG@10 on SciFact, and on XQuAD in English and Spanish; nothing for what is not there."""
    scifact = judged.collection("scifact")
    if scifact is not None:
        with judged.indexed(scifact, minilm, folder=folder / "scifact", name="MINILM_L6") as rag:
            vector = _rankings(rag, scifact)
            value = _mean(ndcg, vector, scifact)
            against = f"published {PUBLISHED}; {len(vector)} questions"
            yield Figure("SciFact, vector: nDCG@10", value, "", against)
            yield Figure("SciFact, vector: nDCG@10 off the published", abs(value - PUBLISHED), "", "", 0.01)
            text = _rankings(rag, scifact, hybrid=True)
            leg = rag.search("protein", scope=Scope(), hybrid=True).text_leg
            yield Figure(f"SciFact, hybrid, local lexical leg ({leg}): nDCG@10", _mean(ndcg, text, scifact), "", "")
    for language in ("en", "es"):
        xquad = judged.collection("xquad", language)
        if xquad is not None:
            with judged.indexed(xquad, minilm, folder=folder / f"xquad_{language}", name="MINILM_L6") as rag:
                rankings = _rankings(rag, xquad)
                name = f"XQuAD {language}, vector"
                yield Figure(f"{name}: nDCG@10", _mean(ndcg, rankings, xquad), "", f"{len(rankings):,} questions")
                yield Figure(f"{name}: hit rate@1", _mean(hit_rate, rankings, xquad, 1), "", "for orientation")
                yield Figure(f"{name}: hit rate@10", _mean(hit_rate, rankings, xquad), "", "for orientation")


def _rankings(rag: Rag, asked: Collection, **options: Unpack[SearchOptions]) -> dict[str, list[str]]:
    """Ask every question; gives the ids of the texts that were found, best first, by the question's id."""
    options = {"k": K, "codes": False, "mode": "exact", **options}
    questions = list(asked.questions)
    results = rag.search_each([asked.questions[key] for key in questions], scope=Scope(), **options)
    return {key: [hit.source.id for hit in result] for key, result in zip(questions, results, strict=True)}


def _mean(measure: Measure, rankings: dict[str, list[str]], asked: Collection, k: int = K) -> float:
    values = [measure(ranking, asked.judged[question], k) for question, ranking in rankings.items()]
    return statistics.fmean(value for value in values if value is not None)
