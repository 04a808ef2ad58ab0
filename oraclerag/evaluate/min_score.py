"""Which ``min_score`` an evaluation suggests: the highest that keeps nearly all of the relevant hits.

A hit that is relevant and dropped is lost, one that is not and kept takes a place in the prompt: so what is to be kept
is fixed (95 % of the relevant hits), and the score follows. Hits that nobody judged count as not relevant, as in the
metrics.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence

from oraclerag.evaluate.report import Distances, MinScore, MinScoreChoice

__all__ = ["SHARES", "suggest"]

SHARES = (1.0, 0.99, 0.95, 0.9)
"""The shares of the relevant hits that are to be kept, from which there is to choose."""

_SUGGESTED = 0.95
_FEW = 20  # relevant hits, of which one is 5 %
_STEPS = 1000  # a score has three decimals


def suggest(distances: Distances) -> MinScore:
    """Give the scores that keep so much of the relevant hits, what they keep of the others, and which is suggested."""
    relevant = sorted(1 - distance for distance in distances.relevant)
    others = sorted(1 - distance for distance in (*distances.irrelevant, *distances.unjudged))
    choices = tuple(_choice(share, relevant, others) for share in SHARES) if relevant else ()
    wanted = next((one for one in choices if one.keeps_at_least == _SUGGESTED), None)
    if wanted is None:
        reason = "no hit is known to be relevant"
    elif len(relevant) < _FEW:
        reason = f"fewer than {_FEW} hits are known to be relevant"
    elif not others:
        reason = "every hit is relevant"
    elif wanted.others == 1:
        reason = "what would keep 95 % of the relevant hits would drop none of the others"
    else:
        return MinScore(wanted.score, None, choices)
    return MinScore(None, reason, choices)


def _choice(share: float, relevant: Sequence[float], others: Sequence[float]) -> MinScoreChoice:
    dropped = len(relevant) - math.ceil(share * len(relevant))
    score = max(math.floor(relevant[dropped] * _STEPS) / _STEPS, -1.0)
    return MinScoreChoice(share, score, _kept(relevant, score) or 0.0, _kept(others, score))


def _kept(scores: Sequence[float], least: float) -> float | None:
    return (len(scores) - bisect.bisect_left(scores, least)) / len(scores) if scores else None
