"""The local database as a process of its own: started, found again, stopped."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from oraclerag.local.state import ServerInformation, StateDirectory

__all__ = ["ALREADY_RUNNING", "READY", "start_process", "stop_process"]

READY = b"ready\n"
"""What the child writes to its standard output once clients may connect."""

ALREADY_RUNNING = 3
"""Exit code of a child that found the directory held."""

_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_EXIT_SECONDS = 10.0
_POLL_SECONDS = 0.02


class ProcessFailed(RuntimeError):
    """The server could not be started or stopped."""


def start_process(
    state: StateDirectory,
    *,
    listen: str,
    allow_remote: bool,
    port: int,
    max_string_size: str,
    log_statements: Path | None,
) -> ServerInformation:
    """Start the server in a session of its own and wait until it listens; one that runs already is found.

    Its errors go to ``server.log``. Raises ProcessFailed with the last line of that when it ends or does not get ready
    within two minutes (then it is killed), Unusable when the directory cannot be written.
    """
    handle = state.open_log()
    # -P: modules are not looked for in the working directory, which may be anybody's.
    command = [
        *(sys.executable, "-P", "-m", "oraclerag.local", "--data-dir", str(state.path)),
        *("--listen", listen, "--port", str(port), "--max-string-size", max_string_size),
        *(["--allow-remote"] if allow_remote else []),
    ]
    if log_statements is not None:
        command += ["--log-statements", str(log_statements.absolute())]
    deadline = time.monotonic() + _START_SECONDS
    with os.fdopen(handle, "wb") as log:
        child = subprocess.Popen(  # noqa: S603 - our own command  # nosec B603
            command, bufsize=0, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    ready = _wait_until_ready(child, deadline)
    if ready:
        found = state.information()
        if found is not None:
            child.returncode = 0  # it is meant to outlive this object; stop_process reaps it
            return found
    try:
        # Its last words are heard before it is gone: a child that ends by itself is not killed on the way.
        code = child.wait(_EXIT_SECONDS if time.monotonic() < deadline else 0)
    except subprocess.TimeoutExpired:
        child.kill()
        code = child.wait()
    if code == ALREADY_RUNNING:
        return _wait_for_other(state, deadline)
    raise ProcessFailed(f"The local database did not start (exit code {code}). {_last_line(state)}")


def _wait_until_ready(child: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for the child's word. Its end is asked for too: PostgreSQL may keep the pipe open for longer."""
    assert child.stdout is not None  # noqa: S101 - a pipe was asked for
    said = b""
    with child.stdout as pipe:
        while said != READY and time.monotonic() < deadline:
            readable, _, _ = select.select([pipe], [], [], _POLL_SECONDS * 5)
            if readable:
                piece = os.read(pipe.fileno(), len(READY))
                if not piece:
                    return False
                said += piece
            elif child.poll() is not None:
                return False
    return said == READY


def _wait_for_other(state: StateDirectory, deadline: float) -> ServerInformation:
    """Wait until a server that somebody else is starting is ready."""
    while time.monotonic() < deadline:
        found = state.information()
        if found is not None:
            return found
        if not state.held:
            break
        time.sleep(_POLL_SECONDS)
    raise ProcessFailed(f"Another process was starting the local database and did not get there. {_last_line(state)}")


def _last_line(state: StateDirectory) -> str:
    try:
        lines = state.log.read_text("utf-8", "replace").split("\n")
    except FileNotFoundError:
        lines = []
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"The last line of {state.log} is: {last[:300]}" if last else f"{state.log} is empty."


def stop_process(state: StateDirectory) -> bool:
    """Stop the server and wait until it is gone; False when none runs. Raises ProcessFailed if it does not end."""
    found = state.information()
    if found is None and not state.held:
        return False
    deadline = time.monotonic() + _STOP_SECONDS
    while found is None and state.held and time.monotonic() < deadline:  # it is just starting or stopping
        time.sleep(_POLL_SECONDS)
        found = state.information()
    if found is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGTERM)
    while state.held and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if state.held:
        raise ProcessFailed(f"The local database (process {found.pid if found else 'unknown'}) does not end.")
    if found is not None:
        with contextlib.suppress(ChildProcessError):  # a child of this process is reaped, any other is not ours
            os.waitpid(found.pid, 0)
    return True
