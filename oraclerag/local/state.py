"""The directory of a local database: who holds it, where its server listens, the passwords.

``postgres/`` is the cluster, ``credentials.json`` (0600) the passwords, ``server.json`` what the running server says
of itself, ``differences.json`` which differences from Oracle its statements touched, ``server.log`` what it wrote.
``lock`` is held by the running server for as long as it lives, and then until its PostgreSQL has gone: who finds it
free finds nothing running, and a server that was killed leaves nothing that could mislead.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oraclerag.local.address import LOOPBACK

__all__ = ["ADMINISTRATOR", "USER", "ServerInformation", "StateDirectory", "Unusable", "default_directory"]

USER = "RAG"
"""The user that a new local database has; its schema is where the tables go."""

ADMINISTRATOR = "SYSTEM"
"""The user that creates others."""

_PATIENCE_SECONDS = 0.2  # :attr:`StateDirectory.held` of another process takes the lock for a moment
_POLL_SECONDS = 0.02
_ENTRIES = ("postgres", "postgres.new", "credentials.json", "server.json", "differences.json", "server.log", "lock")


def default_directory() -> Path:
    """Give the directory of the user's local database.

    ORACLERAG_LOCAL_DIR, else ``oraclerag/local`` in the platform's data folder: ``~/Library/Application Support`` on
    macOS, else XDG_DATA_HOME, else ``~/.local/share``; for root ``/var/lib``, because PostgreSQL then runs as another
    user and every folder above its data is opened to that one, which a home is not meant to be.
    """
    own = os.environ.get("ORACLERAG_LOCAL_DIR")
    if own:
        return Path(own)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        named = os.environ.get("XDG_DATA_HOME")
        own_folder = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "share"
        base = Path(named) if named and Path(named).is_absolute() else own_folder
    return base / "oraclerag" / "local"


class Unusable(RuntimeError):
    """The directory cannot be used: no permission, no space, no directory."""


@dataclass(frozen=True, slots=True)
class ServerInformation:
    """What a running server says of itself."""

    pid: int
    dsn: str
    max_string_size: str
    started: float
    log_statements: str | None = None
    listen: str = LOOPBACK


class StateDirectory:
    """The files of one local database. Nothing is made before it is needed."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self._lock: int | None = None

    @property
    def cluster(self) -> Path:
        """The PostgreSQL cluster."""
        return self.path / "postgres"

    @property
    def log(self) -> Path:
        """What the server wrote."""
        return self.path / "server.log"

    def make(self) -> None:
        """Make the directory, for its owner alone."""
        with self._usable():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def open_log(self) -> int:
        """Open ``server.log`` for writing at its end and give the descriptor."""
        self.make()
        with self._usable():
            return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        """Say in a sentence why the directory is of no use."""
        try:
            yield
        except OSError as error:
            raise Unusable(
                f"{self.path} cannot hold a local database: {error.strerror} ({error.filename or self.path});"
                " ORACLERAG_LOCAL_DIR names another directory"
            ) from error

    def hold(self, patience: float = _PATIENCE_SECONDS) -> bool:
        """Take the lock until :meth:`release` or the end of the process; False when a server has it.

        One that is starting or stopping is waited for, up to ``patience`` seconds.
        """
        self.make()
        with self._usable():
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline or self.information() is not None:
                    os.close(handle)
                    return False
                time.sleep(_POLL_SECONDS)
            else:
                self._lock = handle
                return True

    @property
    def lock(self) -> int:
        """The descriptor that holds the lock; RuntimeError when none does."""
        if self._lock is None:
            raise RuntimeError("the directory is not held")
        return self._lock

    def release(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def held(self) -> bool:
        """Whether a server runs on the directory, in this process or another one."""
        if self._lock is not None:
            return True
        try:
            with self._usable():
                handle = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except Unusable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False
            raise
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def announce(self, information: ServerInformation) -> None:
        """Write down what the server says of itself."""
        self._write("server.json", asdict(information))

    def withdraw(self) -> None:
        """Take it back."""
        (self.path / "server.json").unlink(missing_ok=True)

    def information(self) -> ServerInformation | None:
        """Give what the running server said of itself; None when none runs, or it is not ready yet."""
        if not self.held:
            return None
        found = self._read("server.json")
        if found is None or not _is_alive(found["pid"]):
            return None
        return ServerInformation(**found)

    def keep_differences(self, touched: Mapping[str, Mapping[str, float]]) -> None:
        """Write down which differences from Oracle the statements of the running server have touched."""
        self._write("differences.json", dict(touched))

    def forget_differences(self) -> None:
        """Begin anew, for another run of the server."""
        (self.path / "differences.json").unlink(missing_ok=True)

    def differences(self) -> dict[str, dict[str, float]]:
        """Give what the running server, or the last one, wrote down: per key how many statements, and when first."""
        return self._read("differences.json") or {}

    def credentials(self) -> dict[str, str]:
        """Give the passwords by user, making random ones for the user and the administrator if there are none."""
        self.make()
        found = self._read("credentials.json")
        if found is None:
            found = {name: secrets.token_urlsafe(18) for name in (USER, ADMINISTRATOR)}
            self._write("credentials.json", found)
        return found

    def remove(self) -> None:
        """Delete what a local database leaves; other files in the directory are not touched."""
        for name in _ENTRIES:
            entry = self.path / name
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: somebody else's files
            self.path.rmdir()

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            text = (self.path / name).read_text("utf-8")
        except FileNotFoundError:
            return None
        found: dict[str, Any] = json.loads(text)
        return found

    def _write(self, name: str, content: dict[str, Any]) -> None:
        """Write a file that only its owner can read, as a whole."""
        scratch = self.path / f".{name}.{os.getpid()}"
        with self._usable():
            handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file)
            scratch.replace(self.path / name)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
