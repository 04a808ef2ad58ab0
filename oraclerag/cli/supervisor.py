"""Several workers as processes: started together, started again when one dies, told to end together."""

from __future__ import annotations

import datetime as dt
import logging
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM
from typing import Protocol

from oraclerag import log
from oraclerag.errors import ConfigurationError
from oraclerag.heartbeat import Heartbeat, Pulse, combined, read

__all__ = ["CRASHED", "Process", "Supervisor", "start"]

CRASHED = 70
"""Exit code of a worker that nobody foresaw the end of; any other above 0 stands for a sentence that says why."""

_log = logging.getLogger("oraclerag.supervisor")

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds before one that died is started again
_HEALTHY = 60.0  # seconds that one must have lived for its next death to count as the first
_GLANCE = 0.5  # seconds between two looks at the processes
_GRACE = 5.0  # seconds for giving a batch back before a process is killed


class Process(Protocol):
    """What of ``subprocess.Popen`` is used."""

    pid: int

    def poll(self) -> int | None:
        """Give the exit code once it has ended."""
        ...

    def terminate(self) -> None:
        """Tell it to end."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


class _Stop(Protocol):
    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> object: ...
    def tell(self) -> None: ...


def start(command: Sequence[str]) -> Process:
    """Start a worker, in a session of its own, so that a Ctrl-C reaches it once, from its parent."""
    environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
    return subprocess.Popen(command, start_new_session=True, env=environment)  # noqa: S603 - our own command  # nosec B603


@dataclass(slots=True)
class _Child:
    number: int
    process: Process | None = None
    code: int | None = None  # of its end, once it is not started again
    deaths: int = 0
    at: float = 0.0  # when it was started, or is to be


@dataclass(slots=True)
class Supervisor:
    """Keeps ``count`` workers running until ``stop``, or with ``once`` until each has ended.

    ``command`` gives the command of a worker, by its number from 1, and whether it is started anew. A worker that was
    killed or crashed is started again, later and later; one that ended with a reason (exit code 1) ends them all.
    ``heartbeat`` is where the pulse of all is written, ``pulses`` where each writes its own.
    """

    command: Callable[[int, bool], Sequence[str]]
    count: int
    stop: _Stop
    once: bool = False
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    pulses: Mapping[int, Path] = field(default_factory=dict)
    start: Callable[[Sequence[str]], Process] = start
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    _children: list[_Child] = field(default_factory=list)

    def tell(self) -> None:
        """Tell every worker to end after its batch."""
        for child in self._children:
            if child.process is not None:
                child.process.terminate()

    def run(self) -> list[int]:
        """Work; gives the exit codes. Workers that are left when it is interrupted are told again, then killed."""
        self._children = [_Child(number, at=self.clock()) for number in range(1, self.count + 1)]
        try:
            while True:
                for child in self._children:
                    self._look(child)
                self._beat()
                codes = [child.code for child in self._children if child.code is not None]
                if len(codes) == self.count:
                    return codes
                if self.stop.is_set():
                    self.sleep(_GLANCE / 10)
                else:
                    self.stop.wait(_GLANCE)
        finally:
            self._end()

    def _look(self, child: _Child) -> None:
        """Start a worker that is due, or see how one has ended."""
        if child.code is not None:
            return
        if child.process is None:
            if self.stop.is_set():
                child.code = 0
            elif self.clock() >= child.at:
                child.process = self.start(self.command(child.number, child.deaths > 0))
                child.at = self.clock()
                if self.stop.is_set():  # told between the question and the start
                    child.process.terminate()
            return
        code = child.process.poll()
        if code is None:
            return
        child.process = None
        if self.stop.is_set() and code == -SIGTERM:  # told before it could listen
            code = 0
        if self.once or self.stop.is_set() or 0 <= code != CRASHED:
            child.code = code
            if not self.once and not self.stop.is_set():
                self.stop.tell()
            return
        child.deaths = 1 if self.clock() - child.at >= _HEALTHY else child.deaths + 1
        pause = min(_FIRST_PAUSE * 2.0 ** min(child.deaths - 1, 16), _LONGEST_PAUSE)
        child.at = self.clock() + pause
        how = "crashed" if code > 0 else f"was ended by signal {-code}"
        log.event(
            _log,
            logging.ERROR,
            "died",
            f"Worker {child.number} {how}; it is started again in {pause:.0f} s. "
            "What it had claimed is worked off one lease later.",
            worker=child.number,
            exit_code=code,
            seconds=pause,
        )

    def _beat(self) -> None:
        """Make one pulse of all: as old as the oldest."""
        if not self.pulses:
            return
        found = []
        now = dt.datetime.now(dt.UTC)
        for child in self._children:
            if child.code is not None:
                continue
            if child.process is None:
                found.append(Pulse(now, 0, "restarting"))
                continue
            try:
                pulse = read(self.pulses[child.number])
            except ConfigurationError:  # it has not written any yet
                pulse = None
            if pulse is None or pulse.pid != child.process.pid:
                pulse = Pulse(now - dt.timedelta(seconds=self.clock() - child.at), 0, "starting")
            found.append(pulse)
        if not found:
            return
        self.heartbeat.send(combined(found))

    def _end(self) -> None:
        """Leave no process behind: tell those that are left once more, and kill them when they take too long."""
        left = [child.process for child in self._children if child.process is not None]
        for process in left:
            process.terminate()
        until = self.clock() + _GRACE
        while any(process.poll() is None for process in left) and self.clock() < until:
            self.sleep(_GLANCE / 10)
        for process in left:
            if process.poll() is None:
                process.kill()
        while any(process.poll() is None for process in left):
            self.sleep(_GLANCE / 10)
