"""The heartbeat of a worker: a small file that says when it was alive last and what it did, for probes.

systemd is told the same where it asks for it (``Type=notify``, ``WatchdogSec=``).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import logging
import os
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from oraclerag import log
from oraclerag.errors import ConfigurationError

__all__ = ["Heartbeat", "Pulse", "State", "combined", "read", "tell_systemd", "write"]

_log = logging.getLogger(__name__)

State = Literal["starting", "working", "idle", "outage", "stopping", "restarting"]


@dataclass(frozen=True, slots=True)
class Pulse:
    """One beat: the time, the process, what it does, and when its last batch ended (times in UTC)."""

    time: dt.datetime
    pid: int
    state: State
    last_batch: dt.datetime | None = None


@dataclass(slots=True)
class Heartbeat:
    """The heartbeat of this process; ``file`` is where pulses are written, None for nowhere.

    A pulse that cannot be written does not stop the work: the log says so, and the probe notices.
    """

    file: Path | None = None
    last_batch: dt.datetime | None = None
    _written: bool = True

    def batch(self) -> None:
        """Take note that a batch has ended."""
        self.last_batch = dt.datetime.now(dt.UTC)

    def beat(self, state: State) -> None:
        """Write a pulse, and tell systemd."""
        self.send(Pulse(dt.datetime.now(dt.UTC), os.getpid(), state, self.last_batch))

    def send(self, pulse: Pulse) -> None:
        """Write a pulse that is there already, and tell systemd."""
        try:
            if self.file is not None:
                write(self.file, pulse)
        except OSError as error:
            if self._written:
                message = f"The heartbeat cannot be written to {str(self.file)!r}: {error.strerror}."
                log.event(_log, logging.ERROR, "unwritten", message)
            self._written = False
        else:
            self._written = True
        tell_systemd(pulse)

    def begin(self) -> None:
        """Write the first pulse. Raises ConfigurationError where that is not possible."""
        try:
            if self.file is not None:
                write(self.file, Pulse(dt.datetime.now(dt.UTC), os.getpid(), "starting"))
        except OSError as error:
            raise ConfigurationError(
                f"The heartbeat cannot be written to {str(self.file)!r}: {error.strerror}.",
                hint="Name a file in a directory that is there and may be written to.",
            ) from error


def write(file: Path, pulse: Pulse) -> None:
    """Write a pulse; a probe that reads at the same time sees the old one or the new one."""
    times = {name: at.isoformat() for name, at in asdict(pulse).items() if isinstance(at, dt.datetime)}
    line = asdict(pulse) | times
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(line) + "\n", "utf-8")
        beside.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def read(file: Path) -> Pulse:
    """Read a pulse. Raises ConfigurationError where there is none, or the file is something else."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"There is no heartbeat in {str(file)!r}: {reason}.") from error
    try:
        line: dict[str, Any] = json.loads(text)
        state: State = line["state"]
        if state not in get_args(State):
            raise ValueError(state)
        last = line["last_batch"]
        return Pulse(_moment(line["time"]), int(line["pid"]), state, None if last is None else _moment(last))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{str(file)!r} is no heartbeat of a worker.") from error


def combined(pulses: Iterable[Pulse]) -> Pulse:
    """Make one pulse of those of several processes: as old as the oldest, in the state that is worst."""
    pulses = list(pulses)
    worst: tuple[State, ...] = ("outage", "restarting", "starting", "stopping", "working", "idle")
    return Pulse(
        min(pulse.time for pulse in pulses),
        os.getpid(),
        min((pulse.state for pulse in pulses), key=worst.index),
        max((pulse.last_batch for pulse in pulses if pulse.last_batch is not None), default=None),
    )


def tell_systemd(pulse: Pulse) -> None:
    """Send the state to the service manager, where it has given a socket for that; one that is gone is no matter."""
    place = os.environ.get("NOTIFY_SOCKET")
    if not place:
        return
    stopping = "STOPPING=1\n" if pulse.state == "stopping" else ""
    # ready from the first pulse on: the first backfill may take longer than a service has time to start
    text = f"READY=1\n{stopping}WATCHDOG=1\nSTATUS={pulse.state}\n"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(text.encode(), "\0" + place[1:] if place.startswith("@") else place)


def _moment(text: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment
