"""How good a ranking is, from judgements: nDCG and hit rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["Judgements", "hit_rate", "ndcg"]

Judgements = Mapping[str, float]
"""Gain by document; what is not judged gains nothing."""


def ndcg(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give nDCG@k with linear gain; the ideal is that of all judgements. None where nothing was judged relevant.

    A document counts where it stands first.
    """
    ideal = _gain(sorted(judged.values(), reverse=True)[:k])
    if not ideal:
        return None
    return _gain([judged.get(document, 0.0) for document in dict.fromkeys(ranking)][:k]) / ideal


def hit_rate(ranking: Sequence[str], judged: Judgements, k: int) -> float | None:
    """Give 1 where something relevant is among the first k, else 0; None where nothing was judged relevant."""
    relevant = {document for document, gain in judged.items() if gain > 0}
    if not relevant:
        return None
    return float(not relevant.isdisjoint(ranking[:k]))


def _gain(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
