"""Measures of a ranking against judgements, each from 0 to 1.

As trec_eval has them (https://github.com/usnistgov/trec_eval: ndcg_cut, recall, P, recip_rank, success), with linear
gain and the discount of Järvelin and Kekäläinen (TOIS 20:4, 2002): DCG@k = Σ gain / log2(place + 1). The ideal ranking
is that of all judgements, not of what was found.

A ranking is a list of ids, best first; an id counts where it stands first, and what follows moves up. ``judged`` is the
grade by id; over 0 is relevant, and what is not judged gains nothing. A measure is None where nothing is relevant:
nothing could be found, which is no failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["MEASURES", "Judgements", "Measure", "hit_rate", "judged_share", "mrr", "ndcg", "precision", "recall"]

Judgements = Mapping[str, float]
Measure = Callable[[Sequence[str], Judgements, int], float | None]


def ndcg(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give the gain of the first ``k`` places, each discounted by its place, as a share of the best possible."""
    most = max(judged.values(), default=0.0)
    if most <= 0:
        return None
    # as shares of the highest grade, so that no sum overflows
    gains = {name: max(grade, 0.0) / most for name, grade in judged.items()}
    ideal = _discounted(sorted(gains.values(), reverse=True)[:k])
    return min(1.0, _discounted(gains.get(name, 0.0) for name in _first(ranking, k)) / ideal)


def recall(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give the share of what is relevant that is among the first ``k``."""
    relevant = _relevant(judged)
    return len(relevant.intersection(_first(ranking, k))) / len(relevant) if relevant else None


def precision(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give the share of ``k`` places that something relevant holds; places that nothing holds count too."""
    relevant = _relevant(judged)
    return len(relevant.intersection(_first(ranking, k))) / k if relevant else None


def mrr(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give one by the place of the first that is relevant, 0 where none is among the first ``k``."""
    relevant = _relevant(judged)
    if not relevant:
        return None
    return next((1 / place for place, name in enumerate(_first(ranking, k), start=1) if name in relevant), 0.0)


def hit_rate(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give 1 where something relevant is among the first ``k``, else 0."""
    relevant = _relevant(judged)
    return float(not relevant.isdisjoint(_first(ranking, k))) if relevant else None


def judged_share(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give the share of the first ``k`` that was judged, as relevant or not; None also where nothing was found."""
    found = _first(ranking, k)
    return sum(name in judged for name in found) / len(found) if found and _relevant(judged) else None


MEASURES: Mapping[str, Measure] = {
    "ndcg": ndcg, "recall": recall, "precision": precision, "mrr": mrr, "hit_rate": hit_rate, "judged": judged_share,
}  # fmt: skip
"""Every measure by its name, in the order in which they are shown."""


def _first(ranking: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(ranking))[:k]


def _relevant(judged: Judgements) -> set[str]:
    return {name for name, grade in judged.items() if grade > 0}


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
