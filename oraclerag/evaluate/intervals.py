"""How far a mean over questions can be trusted, and whether two settings differ: by resampling, with a fixed seed.

Intervals are the bootstrap's (Efron and Tibshirani 1993, the percentile method, over questions): of few questions they
are too narrow. The test is the paired randomisation test (Fisher 1935; for retrieval Smucker, Allan and Carterette,
CIKM 2007): where two settings are alike, either score of a question could as well have been the other's.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Sequence

__all__ = ["FLIPS", "RESAMPLES", "SEED", "interval", "p_value"]

SEED = 20260101
RESAMPLES = 1000
FLIPS = 10_000

_EXACT = 14  # differences whose 2^n signs are all looked at
_BITS = 8
_NOISE = 1e-12  # what two sums of the same numbers may differ by


def interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, confidence: float = 0.95
) -> tuple[float, float]:
    """Give the interval of the mean of ``values``, which are not empty; it lies between the least and the greatest."""
    count = len(values)
    if len(set(values)) == 1:
        return values[0], values[0]
    draw = random.Random(seed).choices  # noqa: S311 - a draw, no secret  # nosec B311
    means = sorted(sum(draw(values, k=count)) / count for _ in range(resamples))
    outside = (1 - confidence) / 2
    low, high = means[int(outside * (resamples - 1))], means[-1 - int(outside * (resamples - 1))]
    # a sum of many may be off by its last bit
    return max(low, min(values)), min(high, max(values))


def p_value(differences: Sequence[float], *, flips: int = FLIPS, seed: int = SEED) -> float:
    """Give how probable it is that the mean of paired ``differences`` is as far from 0 by chance; two-sided.

    Differences of 0 say nothing. Up to 14 others are looked at with all their signs, more with ``flips`` draws, of
    which what was seen counts as one: it is never 0.
    """
    sizes = [abs(value) for value in differences if abs(value) > _NOISE]
    if not sizes:
        return 1.0
    seen = abs(math.fsum(differences)) - _NOISE * len(differences)
    if len(sizes) <= _EXACT:
        signed = itertools.product(*((-size, size) for size in sizes))
        extreme = [abs(sum(sums)) >= seen for sums in signed]
        return sum(extreme) / len(extreme)
    tables = [_signed_sums(sizes[start : start + _BITS]) for start in range(0, len(sizes), _BITS)]
    draw = random.Random(seed).randbytes  # noqa: S311 - a draw, no secret  # nosec B311
    count = sum(abs(sum(map(operator.getitem, tables, draw(len(tables))))) >= seen for _ in range(flips))
    return (count + 1) / (flips + 1)


def _signed_sums(sizes: Sequence[float]) -> list[float]:
    """Give the sums of up to eight sizes with every choice of signs, by the byte whose bits choose them."""
    sums = [0.0]
    for size in sizes:
        sums = [total - size for total in sums] + [total + size for total in sums]
    return sums * (1 << (_BITS - len(sizes)))  # bits that choose nothing
