"""The loop of a worker process: backfill once, then batch after batch, slower while something is down.

Handling signals is the business of whoever owns the process: ``stop`` says when to end, between two batches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from oraclerag import in_force, log, schema, telemetry
from oraclerag.backfill import backfill_at_start
from oraclerag.check import check
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import (
    ConfigurationError,
    Contention,
    ModelError,
    OracleRagError,
    ProviderError,
    SchemaError,
    SourceError,
    SpaceExhausted,
    StatementFailed,
)
from oraclerag.heartbeat import State
from oraclerag.outage import Outage
from oraclerag.records import DrainReport
from oraclerag.source import Source

__all__ = ["Stop", "Stopping", "work"]

_log = logging.getLogger(__name__)

_FIRST_RECHECK, _LONGEST_RECHECK = 30.0, 3600.0  # seconds between two looks at a paused source
_GLANCE = 0.1  # seconds between two looks at a stop that is a function
_BEAT = 10.0  # seconds between two beats while waiting


class Stopping(Protocol):
    """Says when to end; a ``threading.Event`` is one. ``wait`` ends early once it is set."""

    def is_set(self) -> bool:
        """Whether to end."""
        ...

    def wait(self, timeout: float) -> object:
        """Wait so many seconds, at most."""
        ...


Stop = Stopping | Callable[[], bool]


def work(
    database: Database,
    sources: Mapping[str, Source],
    settings: Settings,
    stop: Stop | None = None,
    *,
    once: bool = False,
    patient: bool = False,
    on_report: Callable[[DrainReport], None] | None = None,
    on_beat: Callable[[State], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> DrainReport:
    """Work the queue off until ``stop``, or ``once`` until nothing waits; gives the sum of the batches.

    Not ``once``: begins after ``settings.initial_delay``, enqueues what is missing where ``backfill_on_start`` is set,
    and waits ``poll_interval`` while the queue is empty. Once something has succeeded, or from the beginning where it
    is ``patient``, outages are waited out, longer and longer, with a word in the log; else, and for what no waiting
    mends, the error is raised. ``on_beat`` is told what the worker does: after every batch and look at the queue, and
    every ten seconds while it waits.
    """
    worker = _Worker(
        database, sources, settings, stop if stop is not None else threading.Event(), on_report, on_beat, clock
    )
    if once:
        return worker.once()
    return worker.forever(patient=patient)


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
    on_report: Callable[[DrainReport], None] | None = None
    on_beat: Callable[[State], None] | None = None
    clock: Callable[[], float] = time.monotonic
    state: WorkerState = field(default_factory=WorkerState)
    rechecks: dict[str, _Recheck] = field(default_factory=dict)
    total: DrainReport = field(default_factory=DrainReport)
    outage: Outage = field(init=False)

    def __post_init__(self) -> None:
        self.outage = Outage(self.clock)

    def once(self) -> DrainReport:
        self._require_tables()
        while not self._stopped() and self._batch().claimed:
            self._beat("working")
        return self.total

    def forever(self, *, patient: bool) -> DrainReport:
        log.event(_log, logging.INFO, "started", "Working; Ctrl-C or SIGTERM ends it after its batch.")
        self._wait(self.settings.initial_delay, "starting")
        waiting = sorted(self.sources) if self.settings.backfill_on_start else []
        worked, known = patient, False
        while not self._stopped():
            try:
                if not known:
                    self._require_tables()
                    known = True
                    continue
                if waiting:
                    self._backfill(self.sources[waiting[0]])
                    del waiting[0]
                    self._beat("starting")
                    continue
                report = self._batch()
                self._recheck()
            except OracleRagError as error:
                if not worked or not _passes(error):
                    raise self._reason(error) from error.__cause__
                self._wait(self._outage(error), "outage")
                continue
            worked = True
            self._over()
            if report.claimed:
                self._beat("working")
            else:
                self._wait(self.settings.poll_interval, "idle")
        self._beat("stopping")
        log.event(_log, logging.INFO, "stopped", "Ended.", rows=self.total.claimed)
        return self.total

    def _require_tables(self) -> None:
        with self.database.connect() as connection:
            schema.require(connection, self.database.schema)

    def _batch(self) -> DrainReport:
        report = drain(self.database, self.sources, self.settings, state=self.state)
        self.total += report
        if self.on_report is not None:
            self.on_report(report)
        return report

    def _outage(self, error: OracleRagError) -> float:
        """Report an outage if it is time to; gives the seconds until the next try."""
        telemetry.add("oraclerag.worker.failures", error_type=error.code, scope="worker")
        due = self.outage.failed(error.code)
        pause = self.outage.pause(self.settings.poll_interval)
        if isinstance(error, ProviderError) and error.retry_after is not None:
            pause = max(pause, min(error.retry_after, _LONGEST_RECHECK))
        if due:
            lasts = self.outage.seconds
            so_far = f" It has lasted {lasts:.0f} s." if lasts else ""
            log.event(
                _log,
                logging.ERROR,
                "outage",
                f"{error.message} Nothing is lost; the work goes on when it is over.{so_far}",
                error_code=error.code,
                hint=error.hint,
                seconds=round(lasts, 1),
            )
        return pause

    def _over(self) -> None:
        lasted = self.outage.over()
        if lasted is not None:
            message = f"The outage is over after {lasted:.0f} s; the work goes on."
            log.event(_log, logging.WARNING, "outage_over", message, seconds=round(lasted, 1))

    def _reason(self, error: OracleRagError) -> OracleRagError:
        """Give what is behind an error: a statement fails, too, where the tables are another version's by now."""
        if not isinstance(error, StatementFailed):
            return error
        try:
            self._require_tables()
        except SchemaError as reason:
            return reason
        except OracleRagError as another:
            log.event(_log, logging.DEBUG, "unexplained", another.message, error_code=another.code)
        return error

    def _backfill(self, source: Source) -> None:
        """Enqueue what is missing; a source for which that is not possible stops neither the others nor the worker."""
        try:
            backfill_at_start(
                self.database, source, self.settings, on_progress=lambda _done, _total: self._beat("starting")
            )
        except Contention as error:
            if error.__cause__ is not None:  # the database's own, not "another backfill runs"
                raise
            log.event(_log, logging.INFO, "no_backfill", error.message, source_type=source.name)
        except (ConfigurationError, SourceError, StatementFailed) as error:
            message = f"Nothing is enqueued for source {source.name} at the start: {error.message}"
            log.event(
                _log, logging.ERROR, "no_backfill", message,
                source_type=source.name, error_code=error.code, hint=error.hint,
            )  # fmt: skip

    def _recheck(self) -> None:
        """Look at paused sources from time to time, and take them up again once they are green."""
        now = self.clock()
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
            if name in paused and any(checked.resumed for checked in check(self.database, [self.sources[name]])):
                message = f"Source {name} is green again and taken up."
                log.event(_log, logging.WARNING, "source_resumed", message, source_type=name)

    def _next_look(self, name: str, now: float) -> float:
        return self.rechecks.setdefault(name, _Recheck(_FIRST_RECHECK, now + _FIRST_RECHECK)).at

    def _stopped(self) -> bool:
        return self.stop() if callable(self.stop) else self.stop.is_set()

    def _wait(self, seconds: float, state: State) -> None:
        """Wait, unless told to end, with a beat at the beginning and now and then."""
        self._beat(state)
        end = self.clock() + seconds
        beaten = self.clock()
        while not self._stopped() and (left := end - self.clock()) > 0:
            if callable(self.stop):
                time.sleep(min(left, _GLANCE))
            else:
                self.stop.wait(min(left, _BEAT))
            if self.clock() - beaten >= _BEAT:
                beaten = self.clock()
                self._beat(state)

    def _beat(self, state: State) -> None:
        if self.on_beat is not None:
            self.on_beat(state)


def _passes(error: OracleRagError) -> bool:
    """Whether waiting mends it: an outage, or what an operator will see to while the worker waits."""
    return error.retryable or isinstance(error, (ModelError, SpaceExhausted, ProviderError))
