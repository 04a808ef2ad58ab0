"""Values that are read in the background when somebody asks, once an interval at most; reading can be ended midway."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import oracledb

from oraclerag import log
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import OracleRagError

__all__ = ["Cancellable", "Reading", "Refreshed"]

_log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that who asks waits for something newer; Prometheus gives up after ten."""

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
        patience: float = PATIENCE,
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
        self._told = self._closed = False

    def look(self) -> Reading[T]:
        """Give what was read last, after a short wait where something newer is on its way."""
        with self._guard:
            due = not self._closed and self._clock() - self._tried >= self._interval
            if due and (self._thread is None or not self._thread.is_alive()):
                self._tried = self._clock()
                self._thread = threading.Thread(target=self._run, name="oraclerag-figures", daemon=True)
                self._thread.start()
            thread = self._thread
        if thread is not None:
            thread.join(self._patience)
        with self._guard:
            return self._reading

    def close(self) -> None:
        """Read nothing any more."""
        with self._guard:
            self._closed = self._told = True

    def ended(self, seconds: float) -> bool:
        """Wait until nothing is being read; gives whether that is so."""
        with self._guard:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

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


class Cancellable(Database):
    """A database whose connections can be told, from another thread, to end what they are at."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._at_work: set[oracledb.Connection] = set()

    @contextlib.contextmanager
    def connect(self, *, call_timeout: float = 0.0) -> Iterator[oracledb.Connection]:
        """Lend a connection, as every Database does."""
        with super().connect(call_timeout=call_timeout) as connection:
            self._at_work.add(connection)
            try:
                yield connection
            finally:
                self._at_work.discard(connection)

    def cancel(self) -> None:
        """End the statements that run."""
        for connection in list(self._at_work):
            # On a connection that it has dropped, the driver (26.1) ends the process instead of raising an error.
            if connection.is_healthy():
                with contextlib.suppress(oracledb.Error, OSError):
                    connection.cancel()
