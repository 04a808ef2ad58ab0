"""Bounds that an evaluation must hold, for continuous integration: ``ndcg@10=0.6``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.errors import InputError
from oraclerag.evaluate.report import EXPLAINED, Evaluation, base_name

__all__ = ["Threshold", "broken", "threshold", "within"]

_FORM = re.compile(r"([a-z_]+(?:@[1-9][0-9]{0,5})?)=([0-9]*\.?[0-9]+)")


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least that a metric must be."""

    metric: str
    least: float


def threshold(text: str) -> Threshold:
    """Read a bound such as ``ndcg@10=0.6``. Raises InputError."""
    found = _FORM.fullmatch(text.strip())
    if found is None or not 0 <= float(found[2]) <= 1:
        raise InputError(
            f"{text!r} is no bound: it is the name of a metric, = and a number from 0 to 1.",
            hint="Such as ndcg@10=0.6.",
        )
    if base_name(found[1]) not in EXPLAINED:
        raise InputError(f"There is no metric {found[1]!r}.", hint=f"There are {', '.join(EXPLAINED)}.")
    return Threshold(found[1], float(found[2]))


def within(bounds: Sequence[Threshold], cutoffs: Sequence[int], *, any_k: bool = False) -> list[Threshold]:
    """Give the bounds back, of metrics at one of ``cutoffs``, unless ``any_k``. Raises InputError for another one."""
    for bound in bounds:
        _, at, k = bound.metric.partition("@")
        if at and not any_k and int(k) not in cutoffs:
            raise InputError(
                f"{bound.metric!r} is not measured: cutoffs are {', '.join(map(str, sorted(cutoffs)))}.",
                hint="-k says how many hits are asked for, --at measures the first of them too.",
            )
    return list(bounds)


def broken(bounds: Sequence[Threshold], evaluation: Evaluation) -> list[str]:
    """Give a sentence for every bound that does not hold.

    A metric without a value holds none: a gate that measures nothing must not be green. Raises InputError for a metric
    that the evaluation does not have.
    """
    sentences = []
    for bound in bounds:
        metric = evaluation.metric(bound.metric)
        if metric is None:
            names = ", ".join(one.name for one in evaluation.metrics)
            raise InputError(f"{bound.metric!r} was not measured.", hint=f"Measured were {names}.")
        if metric.value is None:
            sentences.append(f"{bound.metric} has no value, but must be at least {bound.least:g}.")
        elif metric.value < bound.least:
            sentences.append(f"{bound.metric} is {metric.value:.4f}, but must be at least {bound.least:g}.")
    return sentences
