"""The loop of a worker process: backfill once, then batch after batch, slower while something is down.

Handling signals is the business of whoever owns the process: ``stop`` says when to end, between two batches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from oraclerag import in_force
from oraclerag.backfill import backfill
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import (
    ConfigurationError,
    Contention,
    ModelError,
    OracleRagError,
    SourceError,
    SpaceExhausted,
    StatementFailed,
)
from oraclerag.records import DrainReport
from oraclerag.source import Source

__all__ = ["Stop", "work"]

_log = logging.getLogger(__name__)

_LONGEST_PAUSE = 60.0  # seconds between two tries while something is down
_FIRST_RECHECK, _LONGEST_RECHECK = 30.0, 3600.0  # seconds between two looks at a paused source
_GLANCE = 0.1  # seconds between two looks at a stop that is a function

Stop = threading.Event | Callable[[], bool]


def work(
    database: Database,
    sources: Mapping[str, Source],
    settings: Settings,
    stop: Stop | None = None,
    *,
    once: bool = False,
    on_report: Callable[[DrainReport], None] | None = None,
) -> DrainReport:
    """Work the queue off until ``stop``, or ``once`` until nothing waits; gives the sum of the batches.

    Not ``once``: begins after ``settings.initial_delay``, enqueues what is missing where ``backfill_on_start`` is set,
    and waits ``poll_interval`` while the queue is empty. Once a batch has succeeded, outages are waited out, longer and
    longer, with a word in the log; before that, and for what no waiting mends, the error is raised.
    """
    worker = _Worker(database, sources, settings, stop if stop is not None else threading.Event(), on_report)
    return worker.once() if once else worker.forever()


@dataclass(slots=True)
class _Recheck:
    """When a paused source is looked at again, by the worker's clock."""

    pause: float
    at: float


@dataclass(slots=True)
class _Worker:
    database: Database
    sources: Mapping[str, Source]
    settings: Settings
    stop: Stop
    on_report: Callable[[DrainReport], None] | None
    state: WorkerState = field(default_factory=WorkerState)
    rechecks: dict[str, _Recheck] = field(default_factory=dict)
    total: DrainReport = field(default_factory=DrainReport)

    def once(self) -> DrainReport:
        while not self._stopped() and self._batch().claimed:
            pass
        return self.total

    def forever(self) -> DrainReport:
        self._wait(self.settings.initial_delay)
        waiting = sorted(self.sources) if self.settings.backfill_on_start else []
        worked, failures = False, 0
        while not self._stopped():
            try:
                if waiting:
                    self._backfill(self.sources[waiting[0]])
                    del waiting[0]
                    continue
                report = self._batch()
                self._recheck()
            except OracleRagError as error:
                if not worked or not (error.retryable or isinstance(error, (ModelError, SpaceExhausted))):
                    raise
                failures += 1
                pause = min(self.settings.poll_interval * 2**failures, _LONGEST_PAUSE)
                _log.error("%s (%s) The next try is in %.0f s.", error.message, error.code, pause)
                self._wait(pause)
                continue
            worked, failures = True, 0
            if not report.claimed:
                self._wait(self.settings.poll_interval)
        return self.total

    def _batch(self) -> DrainReport:
        report = drain(self.database, self.sources, self.settings, state=self.state)
        self.total += report
        if self.on_report is not None:
            self.on_report(report)
        return report

    def _backfill(self, source: Source) -> None:
        """Enqueue what is missing; a source for which that is not possible stops neither the others nor the worker."""
        try:
            report = backfill(self.database, source, self.settings, adopt=False)
        except Contention as error:
            if error.__cause__ is not None:  # the database's own, not "another backfill runs"
                raise
            _log.info("%s", error.message)
        except (ConfigurationError, SourceError, StatementFailed) as error:
            _log.error("no backfill of source %s: %s", source.name, error.message)
        else:
            if report.enqueued or report.gone:
                _log.info("source %s: %d missing, %d gone, enqueued", source.name, report.enqueued, report.gone)

    def _recheck(self) -> None:
        """Look at paused sources from time to time, and take them up again once they are green."""
        now = time.monotonic()
        for name in self.rechecks.keys() - self.state.idle_sources:
            if now >= self.rechecks[name].at:  # in use again for as long as it would be left alone: that is over
                del self.rechecks[name]
        due = [name for name in self.state.idle_sources if now >= self._next_look(name, now)]
        if not due:
            return
        with self.database.connect() as connection:
            paused = in_force.read(connection, self.database.schema).paused
            for name in due:
                look = self.rechecks[name]
                look.pause = min(look.pause * 2, _LONGEST_RECHECK)
                look.at = now + look.pause
                if name not in paused:
                    continue
                errors = [p for p in self.sources[name].check(connection) if p.severity == "error"]
                if not errors and in_force.resume(connection, self.database.schema, name):
                    _log.warning("source %s is green again and taken up", name)

    def _next_look(self, name: str, now: float) -> float:
        return self.rechecks.setdefault(name, _Recheck(_FIRST_RECHECK, now + _FIRST_RECHECK)).at

    def _stopped(self) -> bool:
        return self.stop.is_set() if isinstance(self.stop, threading.Event) else self.stop()

    def _wait(self, seconds: float) -> None:
        if isinstance(self.stop, threading.Event):
            self.stop.wait(seconds)
            return
        end = time.monotonic() + seconds
        while not self.stop() and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _GLANCE))
