"""An outage as the log tells it: once when it begins, then every five minutes, and once when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Outage"]

AGAIN = 300.0
"""Seconds until an outage that lasts is reported again."""

CALM = 60.0
"""Seconds without a failure after which the next one is another outage; one that flickers is not reported anew."""

_LONGEST_PAUSE = 60.0  # seconds between two tries


@dataclass(slots=True)
class Outage:
    """What a worker remembers of an outage: since when, which errors were reported, how long to wait.

    ``clock`` gives seconds that never go back. Each kind of error (its code) is reported by itself.
    """

    clock: Callable[[], float] = time.monotonic
    began: float | None = None
    _failures: int = 0
    _ended: float = float("-inf")
    _told: bool = False
    _reported: dict[str, float] = field(default_factory=dict)

    def failed(self, code: str) -> bool:
        """Take note of a failure; says whether it is to be reported now."""
        now = self.clock()
        if self.began is None:
            self.began = now
            if now - self._ended >= CALM:
                self._reported.clear()
        self._failures += 1
        due = now - self._reported.get(code, float("-inf")) >= AGAIN
        if due:
            self._reported[code] = now
            self._told = True
        return due

    def pause(self, first: float) -> float:
        """Give the seconds to wait before the next try: ``first``, twice as long each time, at most a minute."""
        # a float has no room for a doubling of every failure of a long night
        return min(first * 2.0 ** min(self._failures, 16), max(_LONGEST_PAUSE, first))

    @property
    def seconds(self) -> float:
        """How long it has lasted; 0 where there is none."""
        return 0.0 if self.began is None else self.clock() - self.began

    def over(self) -> float | None:
        """Take note that the work goes on; gives how long it stood still, where that was reported, else None."""
        if self.began is None:
            return None
        lasted, told = self.seconds, self._told
        self.began, self._failures, self._told = None, 0, False
        self._ended = self.clock()
        return lasted if told else None
