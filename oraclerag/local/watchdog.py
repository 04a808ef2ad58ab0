"""Stops PostgreSQL when the server that started it was killed: a small process that waits for the server's end.

Run as a program with the state directory as its argument. Its standard input is a pipe that the server holds open: a
byte says that all is in order, the end of the pipe that the server is no more. It also holds the lock of the directory,
which it was born with, so that nobody starts anew before PostgreSQL has gone.

It needs no package but the standard library: it starts in a moment and takes little memory.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_POLL_SECONDS = 0.02
_APPEAR_SECONDS = 2.0  # it may just be starting
# How it is told: end all sessions and write everything down; leave that to recovery; go.
_REQUESTS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))


class Watchdog:
    """The process, seen from the server. ``lock`` is the descriptor that holds the directory."""

    def __init__(self, directory: Path, lock: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this file  # nosec B603
            [sys.executable, "-I", "-S", __file__, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(lock,),
            start_new_session=True,  # what is sent to the server's group does not concern it
        )

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def dismiss(self, *, in_order: bool) -> None:
        """Wait for its end; unless all is ``in_order`` it stops PostgreSQL first."""
        with contextlib.suppress(BrokenPipeError):  # somebody has killed it
            self._process.communicate(b"\0" if in_order else b"")


def stop_postgres(directory: Path) -> None:
    """Stop the PostgreSQL of a state directory, if one runs."""
    cluster = (directory / "postgres").resolve()
    deadline = time.monotonic() + _APPEAR_SECONDS
    while (pid := _postmaster(cluster)) is None:
        if time.monotonic() > deadline:
            return
        time.sleep(_POLL_SECONDS)
    for request, patience in _REQUESTS:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, request)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not _is_postgres(pid, cluster):
                return
            time.sleep(_POLL_SECONDS)


def _postmaster(cluster: Path) -> int | None:
    """Give the number of the process that serves a cluster, None when none does."""
    try:
        pid = int((cluster / "postmaster.pid").read_text("ascii").split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if _is_postgres(pid, cluster) else None


def _is_postgres(pid: int, cluster: Path) -> bool:
    """Tell whether a process is a PostgreSQL on this cluster: the number in its file may be another's by now."""
    if Path("/proc/self/cmdline").exists():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
        except OSError:
            return False
    else:
        command = subprocess.run(  # noqa: S603 - a list, no shell  # nosec B603
            ["/bin/ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True
        ).stdout
    return str(cluster) in command


def main() -> None:
    """Wait for the server's end, and clear up behind one that was killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read(1):
        return
    directory = Path(sys.argv[1])
    with contextlib.suppress(OSError):
        (directory / "server.json").unlink()
    stop_postgres(directory)


if __name__ == "__main__":
    main()
