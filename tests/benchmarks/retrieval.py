"""How good search is, with all-MiniLM-L6-v2, where collections with judgements are there (see judged.py).

Measured as `oraclerag evaluate` measures it; trec_eval, which others use, reckons the same figures once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from oraclerag.evaluate import Evaluation, QuestionSet, evaluate
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from tests.benchmarks import judged
from tests.benchmarks.figures import Figure
from tests.trec_eval import farthest

__all__ = ["measure"]

K = 10
PUBLISHED = 0.6451
"""nDCG@10 of all-MiniLM-L6-v2 on SciFact."""


def measure(folder: Path, minilm: Path) -> Iterator[Figure]:
    """Measure nDCG@10 on SciFact, and on XQuAD in English and Spanish; nothing for what is not there."""
    scifact = judged.collection("scifact")
    if scifact is not None:
        with judged.indexed(scifact, minilm, folder=folder / "scifact", name="MINILM_L6") as rag:
            vector = _evaluated(rag, scifact.questions)
            value = _value(vector, f"ndcg@{K}")
            yield Figure("SciFact, vector: nDCG@10", value, "", f"published {PUBLISHED}; {_questions(vector)}")
            yield Figure("SciFact, vector: nDCG@10 off the published", abs(value - PUBLISHED), "", "", 0.01)
            off = farthest(vector, scifact.questions)
            yield Figure("SciFact, vector: any measure of any question off trec_eval", off, "", "", 1e-6)
            hybrid = _evaluated(rag, scifact.questions, hybrid=True)
            leg = rag.search("protein", scope=Scope(), hybrid=True).text_leg
            name = f"SciFact, hybrid, local lexical leg ({leg}): nDCG@10"
            yield Figure(name, _value(hybrid, f"ndcg@{K}"), "", "")
    for language in ("en", "es"):
        xquad = judged.collection("xquad", language)
        if xquad is not None:
            with judged.indexed(xquad, minilm, folder=folder / f"xquad_{language}", name="MINILM_L6") as rag:
                found = _evaluated(rag, xquad.questions)
                name = f"XQuAD {language}, vector"
                yield Figure(f"{name}: nDCG@10", _value(found, f"ndcg@{K}"), "", _questions(found))
                yield Figure(f"{name}: hit rate@1", _value(found, "hit_rate@1"), "", "for orientation")
                yield Figure(f"{name}: hit rate@10", _value(found, f"hit_rate@{K}"), "", "for orientation")


def _evaluated(rag: Rag, questions: QuestionSet, **options: Unpack[SearchOptions]) -> Evaluation:
    options = {"k": K, "codes": False, "mode": "exact", **options}
    return evaluate(rag, questions, scope=Scope(), cutoffs=[1], **options)


def _value(found: Evaluation, name: str) -> float:
    metric = found.metric(name)
    assert metric is not None
    assert metric.value is not None
    return metric.value


def _questions(found: Evaluation) -> str:
    return f"{found.asked:,} questions"
