"""What this process has done since it began: counters and histograms, as Prometheus has them."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from oraclerag.metrics.exposition import Family, Sample, label_name, metric_name
from oraclerag.telemetry.instruments import INSTRUMENTS, Instrument, Labels

__all__ = ["BOUNDS", "Recorder"]

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper bounds of the buckets of a duration, in seconds: from one statement to the lease."""

_OURS = "oraclerag.worker."

_Key = tuple[tuple[str, str], ...]


class _Histogram:
    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.total = 0.0


class Recorder:
    """A listener that keeps what a worker measures; threads may share it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counters: dict[str, dict[_Key, float]] = defaultdict(lambda: defaultdict(float))
        self._histograms: dict[str, dict[_Key, _Histogram]] = defaultdict(lambda: defaultdict(_Histogram))
        for one in _instruments():
            for labels in _known(one):  # there from the beginning, so that the first increase is one
                if one.kind == "counter":
                    self._counters[one.name][labels] = 0.0
                else:
                    self._histograms[one.name][labels] = _Histogram()

    def add(self, name: str, amount: float, labels: Labels) -> None:
        """Take a counter's increase."""
        if name.startswith(_OURS):
            with self._guard:
                self._counters[name][tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, value: float, labels: Labels) -> None:
        """Take a value of a histogram."""
        if name.startswith(_OURS):
            with self._guard:
                histogram = self._histograms[name][tuple(sorted(labels.items()))]
                histogram.buckets[bisect_left(BOUNDS, value)] += 1
                histogram.total += value

    def families(self) -> list[Family]:
        """Give everything that was counted."""
        with self._guard:
            return [self._family(one) for one in _instruments()]

    def _family(self, one: Instrument) -> Family:
        samples: list[Sample] = []
        if one.kind == "counter":
            samples += [Sample(value, _labels(key)) for key, value in sorted(self._counters[one.name].items())]
        else:
            for key, histogram in sorted(self._histograms[one.name].items()):
                samples += _samples(histogram, _labels(key))
        return Family(metric_name(one.name, one.kind, one.unit), one.kind, one.about, tuple(samples))


def _samples(histogram: _Histogram, labels: Labels) -> Iterator[Sample]:
    counts = list(accumulate(histogram.buckets))
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
        yield Sample(count, {**labels, "le": bound}, "_bucket")
    yield Sample(histogram.total, labels, "_sum")
    yield Sample(counts[-1], labels, "_count")


def _instruments() -> list[Instrument]:
    return [one for one in INSTRUMENTS.values() if one.name.startswith(_OURS)]


def _known(one: Instrument) -> list[_Key]:
    if not one.labels:
        return [()]
    return [((one.labels[0], value),) for value in one.values]


def _labels(key: _Key) -> dict[str, str]:
    return {label_name(name): text for name, text in key}
