"""What the database tells of the queue and the sources, read in the background: no scrape waits long for it.

It is read on a connection of its own, never on a worker's, and once an interval at most, however often somebody asks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

from oraclerag import log
from oraclerag.backfill import coverage
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, OracleRagError, PrivilegeMissing, SourceError, StatementFailed
from oraclerag.metrics.exposition import Family, Sample
from oraclerag.queue import Glance, QueueState, Waiting, glance
from oraclerag.records import SourceCoverage
from oraclerag.source import Source

__all__ = ["INTERVAL", "Figures", "Reading", "Refreshed"]

_log = logging.getLogger(__name__)

INTERVAL = 15.0
"""Seconds for which the figures of the queue are good."""

_PATIENCE = 2.0  # seconds that a scrape waits for new figures; Prometheus gives up after ten
_MOST_SECONDS = 10.0  # for a round trip
_LANES = ("change", "bulk")
_STATES: tuple[QueueState, ...] = ("READY", "DEAD")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """What was read last, and when (seconds since 1970); ``good``: the last try to read it succeeded."""

    value: T | None = None
    at: float = 0.0
    good: bool = False


class Refreshed(Generic[T]):
    """A value that a thread reads when somebody asks and the last try is ``interval`` seconds old."""

    def __init__(
        self,
        read: Callable[[], T],
        interval: float,
        *,
        patience: float = _PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._interval = interval
        self._patience = patience
        self._clock = clock
        self._guard = threading.Lock()
        self._tried = float("-inf")
        self._thread: threading.Thread | None = None
        self._reading: Reading[T] = Reading()
        self._told = False

    def look(self) -> Reading[T]:
        """Give what was read last, after a short wait where something newer is on its way."""
        with self._guard:
            due = self._clock() - self._tried >= self._interval
            if due and (self._thread is None or not self._thread.is_alive()):
                self._tried = self._clock()
                self._thread = threading.Thread(target=self._run, name="oraclerag-figures", daemon=True)
                self._thread.start()
            thread = self._thread
        if thread is not None:
            thread.join(self._patience)
        with self._guard:
            return self._reading

    def _run(self) -> None:
        try:
            reading = Reading(self._read(), time.time(), good=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the page says that there are no figures
            with self._guard:
                self._reading = Reading(self._reading.value, self._reading.at, good=False)
            self._tell(error)
        else:
            with self._guard:
                self._reading = reading
            self._told = False

    def _tell(self, error: Exception) -> None:
        """Say once that figures cannot be read, until they can."""
        if self._told:
            return
        self._told = True
        known = isinstance(error, OracleRagError)
        log.event(
            _log, logging.WARNING, "unread",
            "The page of metrics is without figures of the database." + (f" {error}" if known else ""),
            error_code=error.code if isinstance(error, OracleRagError) else type(error).__name__,
            where=None if known else log.where(error.__traceback__),
        )  # fmt: skip


class Figures:
    """What waits in the queue, and how much of each source is indexed; ``coverage_every`` seconds, 0 for never."""

    def __init__(self, database: Database, sources: Mapping[str, Source], *, coverage_every: float = 3600.0) -> None:
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

    def _look(self) -> Glance:
        with self._database.connect(call_timeout=_MOST_SECONDS) as connection:
            return glance(connection, self._database.schema)

    def _count(self) -> Mapping[str, SourceCoverage | None]:
        """Count source by source; None is one that cannot be counted now."""
        found: dict[str, SourceCoverage | None] = {}
        for name, source in sorted(self._sources.items()):
            try:
                found[name] = coverage(self._database, source, self._database.settings)
            except ConfigurationError:  # a function that was declared without ids; it never can be
                continue
            except (SourceError, StatementFailed, PrivilegeMissing) as error:
                found[name] = None
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
        keys = sorted({*found, *product(self._sources, _LANES, _STATES)})
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
