"""The page: what this worker does, what it has done, and what the database says."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from oraclerag import telemetry
from oraclerag.config import Settings
from oraclerag.heartbeat import State
from oraclerag.metrics.exposition import Family, Sample, written
from oraclerag.metrics.figures import Figures
from oraclerag.metrics.recorder import Recorder
from oraclerag.metrics.refreshed import Cancellable
from oraclerag.metrics.server import Address, serving
from oraclerag.source import Source

__all__ = ["Page", "served"]

_TRIES, _LAST_CALL = 10, 0.5  # how often, and how long (seconds), the end of a statement is waited for


class Page:
    """What a worker tells of itself; ``beat`` and ``looked`` are told by its loop. Threads may share it.

    Times are seconds since 1970; those of what has not happened yet are left out.
    """

    def __init__(
        self,
        settings: Settings,
        figures: Figures | None = None,
        *,
        version: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.recorder = Recorder()
        self._settings = settings
        self._figures = figures
        self._version = version
        self._clock = clock
        self._began = clock()
        self._state: State = "starting"
        self._beaten = self._began
        self._looked: float | None = None
        self._worked: float | None = None

    def beat(self, state: State) -> None:
        """Take note of what the worker does."""
        self._state = state
        self._beaten = self._clock()

    def looked(self, *, worked: bool) -> None:
        """Take note that the queue was looked at without an error, and whether there was a batch."""
        self._looked = self._clock()
        if worked:
            self._worked = self._looked

    def text(self) -> str:
        """Give the page."""
        return written([*self._own(), *self.recorder.families(), *(self._figures.families() if self._figures else ())])

    def _own(self) -> Iterator[Family]:
        yield _one("oraclerag_build_info", "Which version works here.", 1, version=self._version)
        yield _one("process_start_time_seconds", "When this process began.", self._began)
        states = tuple(Sample(float(state == self._state), {"state": state}) for state in get_args(State))
        yield Family("oraclerag_worker_state", "gauge", "What the worker does: 1 for one of the states.", states)
        yield _one("oraclerag_worker_last_beat_timestamp_seconds", "When the worker was alive last.", self._beaten)
        for name, about, at in (
            ("last_success", "When a batch, or a look at an empty queue, ended last without an error.", self._looked),
            ("last_batch", "When a batch of at least one row ended last.", self._worked),
        ):
            if at is not None:
                yield _one(f"oraclerag_worker_{name}_timestamp_seconds", about, at)
        if self._settings.par_expires_at is not None:
            about = "When the pre-authenticated request of the model expires (model.par_expires_at)."
            yield _one("oraclerag_par_expiry_timestamp_seconds", about, _moment(self._settings.par_expires_at))


@contextlib.contextmanager
def served(
    settings: Settings, sources: Mapping[str, Source], address: Address, *, version: str, coverage_every: float = 3600.0
) -> Iterator[Page]:
    """Serve the page of this process at an address inside the block.

    The database is asked on a connection of its own, and every ``coverage_every`` seconds (0: never) how much of each
    source is indexed. Raises ConfigurationError where nobody can listen there.
    """
    database = Cancellable(settings)
    figures = Figures(database, sources, coverage_every=coverage_every)
    page = Page(settings, figures, version=version)
    try:
        with telemetry.listening(page.recorder), serving(page.text, address):
            yield page
    finally:
        figures.close()
        for _ in range(_TRIES):
            database.cancel()  # what begins just then is not hit
            if figures.ended(_LAST_CALL):  # to close a connection in the middle of a call would end the process
                database.close()
                break


def _one(name: str, about: str, value: float, **labels: str) -> Family:
    return Family(name, "gauge", about, (Sample(value, labels),))


def _moment(text: str) -> float:
    at = dt.datetime.fromisoformat(text)
    return (at if at.tzinfo is not None else at.replace(tzinfo=dt.UTC)).timestamp()
