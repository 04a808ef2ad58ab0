"""What a benchmark yields, and how time is taken."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Figure", "median_seconds", "on_one_core", "processes", "ratio_in_turns"]


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
    def shown(self) -> str:
        """The number as people read it: what has no unit and is no count is a share, and has more digits."""
        digits = 2 if self.unit or self.value == int(self.value) else 4
        return f"{self.value:.{digits}f} {self.unit}".rstrip()

    @property
    def held(self) -> bool | None:
        """Whether the bound holds; None where there is none."""
        if self.bound is None:
            return None
        return self.value <= self.bound if self.sense == "at most" else self.value >= self.bound


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median_seconds(action: Callable[[], object], *, rounds: int) -> float:
    """Give the median time of ``rounds`` runs, after one that does not count."""
    action()
    return statistics.median(_seconds(action) for _ in range(rounds))


def ratio_in_turns(ours: Callable[[], object], theirs: Callable[[], object], *, turns: int) -> float:
    """Give how many times as long ``ours`` takes: the median over turns, so that a busy moment meets both sides."""
    ours()
    theirs()
    return statistics.median(_seconds(ours) / _seconds(theirs) for _ in range(turns))


def processes(root: int) -> list[int]:
    """Give a process and all below it; empty where the system does not tell."""
    found = [root] if Path(f"/proc/{root}").is_dir() else []
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += [process for child in children.read_text().split() for process in processes(int(child))]
    return found


@contextlib.contextmanager
def on_one_core(roots: Sequence[int]) -> Iterator[bool]:
    """Keep these processes, all below them and all their threads on one core; gives whether that is possible here.

    Where processes wake one another between cores, either side is fast or slow as the scheduler places it.
    """
    if not hasattr(os, "sched_setaffinity") or not Path("/proc/self/task").is_dir():
        yield False
        return
    core = {min(os.sched_getaffinity(0))}
    before: dict[int, set[int]] = {}
    for process in [process for root in roots for process in processes(root)]:
        for thread in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):  # it has ended
                before[int(thread.name)] = os.sched_getaffinity(int(thread.name))
                os.sched_setaffinity(int(thread.name), core)
    try:
        yield True
    finally:
        for thread_id, cores in before.items():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread_id, cores)
