"""What a benchmark yields, and how time is taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Figure", "median_seconds"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; ``bound`` is what the project holds itself to, None where it only informs."""

    name: str
    value: float
    unit: str
    against: str
    bound: float | None = None
    sense: Literal["at most", "at least"] = "at most"

    @property
    def held(self) -> bool | None:
        """Whether the bound holds; None where there is none."""
        if self.bound is None:
            return None
        return self.value <= self.bound if self.sense == "at most" else self.value >= self.bound


def median_seconds(action: Callable[[], object], *, rounds: int) -> float:
    """Give the median time of ``rounds`` runs, after one that does not count."""
    action()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
