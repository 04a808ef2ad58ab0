"""What the database tells of the queue and the sources, read in the background: no scrape waits long for it.

It is read on a connection of its own, never on a worker's, and once an interval at most, however often somebody asks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from oraclerag import log
from oraclerag.backfill import coverage
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, PrivilegeMissing, SourceError, StatementFailed
from oraclerag.metrics.exposition import Family, Sample
from oraclerag.metrics.refreshed import Reading, Refreshed
from oraclerag.queue import Glance, QueueState, Waiting, glance
from oraclerag.queue.status import LANES
from oraclerag.records import SourceCoverage
from oraclerag.source import Source

__all__ = ["INTERVAL", "Figures"]

_log = logging.getLogger(__name__)

INTERVAL = 15.0
"""Seconds for which the figures of the queue are good."""

_MOST_SECONDS = 10.0  # for a round trip
_STATES: tuple[QueueState, ...] = ("READY", "DEAD")


class Figures:
    """What waits in the queue, and how much of each source is indexed; ``coverage_every`` seconds, 0 for never."""

    def __init__(self, database: Database, sources: Mapping[str, Source], *, coverage_every: float = 3600.0) -> None:
        self._closed = threading.Event()
        self._database = database
        self._sources = sources
        self._queue: Refreshed[Glance] = Refreshed(self._look, INTERVAL)
        self._coverage: Refreshed[Mapping[str, SourceCoverage | None]] | None = None
        if coverage_every:
            self._coverage = Refreshed(self._count, coverage_every, patience=0.0)

    def families(self) -> Iterator[Family]:
        """Give what was read last; what could not be read is left out, and said to be."""
        yield from self._of_queue(self._queue.look())
        if self._coverage is not None:
            yield from _of_coverage(self._coverage.look())

    def close(self) -> None:
        """Read nothing any more."""
        self._closed.set()
        for one in self._reads():
            one.close()

    def ended(self, seconds: float) -> bool:
        """Wait so long for each that is being read; gives whether none is any more."""
        return all(one.ended(seconds) for one in self._reads())

    def _reads(self) -> list[Refreshed[Any]]:
        return [self._queue] if self._coverage is None else [self._queue, self._coverage]

    def _look(self) -> Glance:
        with self._database.connect(call_timeout=_MOST_SECONDS) as connection:
            return glance(connection, self._database.schema)

    def _count(self) -> Mapping[str, SourceCoverage | None]:
        """Count source by source; None is one that cannot be counted now."""
        found: dict[str, SourceCoverage | None] = {}
        for name, source in sorted(self._sources.items()):
            if self._closed.is_set():
                break
            try:
                found[name] = coverage(self._database, source, self._database.settings)
            except ConfigurationError:  # a function that was declared without ids; it never can be
                continue
            except (SourceError, StatementFailed, PrivilegeMissing) as error:
                found[name] = None
                if self._closed.is_set():
                    break
                message = f"Source {name} cannot be counted: {error.message}"
                log.event(_log, logging.WARNING, "uncounted", message, source_type=name, error_code=error.code)
        return found

    def _of_queue(self, read: Reading[Glance]) -> Iterator[Family]:
        yield Family(
            "oraclerag_queue_read_success", "gauge", "Whether the queue could be read when it was tried last.",
            (Sample(float(read.good), {}),),
        )  # fmt: skip
        if read.value is None or not read.good:
            return
        found = {(one.source, one.lane, one.state): one for one in read.value.waiting}
        # what is configured is there with 0, so that an alert ends when nothing waits any more
        keys = sorted({*found, *product(self._sources, LANES, _STATES)})
        nothing = Waiting("", "", "READY", 0, 0, 0, 0, 0, 0.0)
        for name, about, value in _QUEUE:
            samples = [
                Sample(value(found.get(key, nothing)), {"source": key[0], "lane": key[1], "state": key[2].lower()})
                for key in keys
            ]
            yield Family(f"oraclerag_queue_{name}", "gauge", about, tuple(samples))
        names = sorted({*self._sources, *read.value.paused})
        paused = tuple(Sample(float(name in read.value.paused), {"source": name}) for name in names)
        yield Family("oraclerag_source_paused", "gauge", "Whether no worker takes rows of a source.", paused)


_QUEUE: tuple[tuple[str, str, Callable[[Waiting], float]], ...] = (
    ("rows", "Queue rows: ready to be applied, or dead (given up).", lambda one: one.rows),
    ("oldest_age_seconds", "Since the oldest row was enqueued, by the database's clock.", lambda one: one.age),
    ("failing_rows", "Ready rows that have failed three times or more.", lambda one: one.failing),
    ("claimed_rows", "Rows that are with a worker, or were when it ended.", lambda one: one.claimed),
    ("expired_rows", "Rows that are claimed longer than the lease.", lambda one: one.expired),
    ("postponed_rows", "Ready rows that failed and are not due yet.", lambda one: one.postponed),
)


def _of_coverage(read: Reading[Mapping[str, SourceCoverage | None]]) -> Iterator[Family]:
    if read.value is None:  # it takes its time
        return
    known = [one for one in read.value.values() if one is not None]
    yield Family(
        "oraclerag_source_count_success", "gauge", "Whether the entities of a source could be counted.",
        tuple(Sample(float(read.good and one is not None), {"source": name}) for name, one in read.value.items()),
    )  # fmt: skip
    yield Family(
        "oraclerag_source_entities", "gauge", "Entities that a source has.",
        tuple(Sample(one.total, {"source": one.source}) for one in known),
    )  # fmt: skip
    yield Family(
        "oraclerag_source_missing_entities", "gauge", "Entities of a source that are not indexed as it says now.",
        tuple(Sample(one.missing, {"source": one.source}) for one in known),
    )  # fmt: skip
    yield Family(
        "oraclerag_source_count_timestamp_seconds", "gauge", "When the entities of the sources were counted last.",
        (Sample(read.at, {}),),
    )  # fmt: skip
