"""The same measures by trec_eval, which is independent of ours (pytrec_eval-terrier)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytrec_eval

from oraclerag.evaluate import Evaluation, QuestionSet
from oraclerag.evaluate.measures import Judgements

__all__ = ["MEASURES", "farthest", "reckoned"]

MEASURES = {
    "ndcg": "ndcg_cut_{k}", "recall": "recall_{k}", "precision": "P_{k}", "mrr": "recip_rank", "hit_rate": "success_{k}",
}  # fmt: skip
"""What trec_eval calls the measures; its reciprocal rank knows no k, and is asked of the first k alone."""


def reckoned(
    rankings: Mapping[str, Sequence[str]], judged: Mapping[str, Judgements], k: int
) -> Mapping[str, Mapping[str, float]]:
    """Give the measures at k of every question, under our names."""
    names = {ours: theirs.format(k=k) for ours, theirs in MEASURES.items()}
    asked = {name.replace(f"_{k}", f".{k}") for name in names.values()}
    evaluator = pytrec_eval.RelevanceEvaluator(
        {key: {name: round(grade) for name, grade in of_one.items()} for key, of_one in judged.items()}, asked
    )
    # it orders by score: the first of a list has the highest
    runs = {key: {name: float(-place) for place, name in enumerate(names_[:k])} for key, names_ in rankings.items()}
    found = evaluator.evaluate(runs)
    return {key: {ours: row[theirs] for ours, theirs in names.items()} for key, row in found.items()}


def farthest(evaluation: Evaluation, questions: QuestionSet) -> float:
    """Give how far any measure of any question is from trec_eval's."""
    judged = {question.id: question.judged for question in questions.questions}
    most = 0.0
    rankings = {row.id: list(dict.fromkeys(hit.unit for hit in row.hits)) for row in evaluation.questions}
    theirs = reckoned(rankings, judged, evaluation.k)
    assert len(theirs) == len(rankings) > 0
    for row in evaluation.questions:
        for name, value in theirs[row.id].items():
            most = max(most, abs(row.scores[f"{name}@{evaluation.k}"] - value))
    return most
