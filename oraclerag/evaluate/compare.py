"""Two settings, the same questions: what the second changes of each metric, and whether that is more than chance."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from oraclerag.errors import InputError
from oraclerag.evaluate.intervals import interval, p_value
from oraclerag.evaluate.report import Comparison, Difference, Evaluation, QuestionDifference, base_name

__all__ = ["compare"]

_LEVEL = 0.05


def compare(name_a: str, a: Evaluation, name_b: str, b: Evaluation) -> Comparison:
    """Compare two evaluations of the same questions, question by question.

    Metrics are paired by name, and those of different k by what they are, where each evaluation has one: ``recall@5``
    with ``recall@10`` as "recall@5 → @10". Only questions that have a score with both count. Raises InputError where
    none is in both.
    """
    second = {row.id: row for row in b.questions}
    both = [(row, second[row.id]) for row in a.questions if row.id in second]
    if not both:
        raise InputError("The two evaluations have no question in common.")
    pairs = _pairs([one.name for one in a.metrics], [one.name for one in b.metrics])
    differences, by_question = [], {row.id: dict[str, float]() for row, _ in both}
    for name, (of_a, of_b) in pairs.items():
        scored = [
            (row.id, row.scores[of_a], other.scores[of_b])
            for row, other in both
            if of_a in row.scores and of_b in other.scores
        ]
        for key, before, after in scored:
            by_question[key][name] = after - before
        differences.append(_difference(name, [(before, after) for _, before, after in scored], seed=a.seed))
    texts: Mapping[str, str] = {row.id: row.text for row, _ in both}
    return Comparison(
        name_a,
        name_b,
        a,
        b,
        tuple(differences),
        tuple(QuestionDifference(key, texts[key], changed) for key, changed in by_question.items()),
        tuple(_notes(differences, a, b, len(both))),
    )


def _pairs(of_a: Sequence[str], of_b: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Pair the metrics of two evaluations, by the name of the pair."""
    pairs = {name: (name, name) for name in of_a if name in of_b}
    bases = [base_name(name) for name in of_a], [base_name(name) for name in of_b]
    for name in of_a:
        base = base_name(name)
        if name not in pairs and bases[0].count(base) == bases[1].count(base) == 1:
            other = of_b[bases[1].index(base)]
            pairs[f"{name} → @{other.partition('@')[2]}"] = (name, other)
    return pairs


def _difference(name: str, scores: Sequence[tuple[float, float]], *, seed: int) -> Difference:
    if not scores:
        return Difference(name, None, None, None, None, None, None, 0)
    changes = [after - before for before, after in scores]
    low, high = interval(changes, seed=seed)
    return Difference(
        name,
        statistics.fmean(before for before, _ in scores),
        statistics.fmean(after for _, after in scores),
        statistics.fmean(changes),
        low,
        high,
        p_value(changes, seed=seed),
        len(scores),
        better=sum(change > 0 for change in changes),
        worse=sum(change < 0 for change in changes),
    )


def _notes(differences: Sequence[Difference], a: Evaluation, b: Evaluation, both: int) -> list[str]:
    notes = []
    if len(a.questions) != both or len(b.questions) != both:
        notes.append(f"Only the {both:,} questions that were asked with both settings are compared.")
    tested = [one for one in differences if one.p is not None]
    if len(tested) > 1 and any(one.p is not None and one.p < _LEVEL for one in tested):
        notes.append(
            f"{len(tested)} metrics were tested: one in twenty has p < {_LEVEL} by chance. Choose the one that counts "
            "before you look."
        )
    return notes
