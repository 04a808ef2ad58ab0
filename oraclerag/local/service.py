"""The local database in this process: PostgreSQL, the engine on it, the listener before it."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from oraclerag.local.address import LOOPBACK, check_address
from oraclerag.local.engine import grants
from oraclerag.local.engine.database import Database
from oraclerag.local.engine.postgres import Cluster
from oraclerag.local.lifeline import Lifeline
from oraclerag.local.models import OnnxModels
from oraclerag.local.server import Limits, Server
from oraclerag.local.state import ADMINISTRATOR, ServerInformation, StateDirectory, Unusable
from oraclerag.local.watchdog import Watchdog
from oraclerag.local.wire.capabilities import Features

__all__ = ["STRING_SIZES", "AlreadyRunning", "Service"]

logger = logging.getLogger(__name__)

STRING_SIZES = {"standard": 4000, "extended": 32767}
"""Bytes of the longest VARCHAR2, by the value of Oracle's parameter MAX_STRING_SIZE."""

_HOLD_SECONDS = 60.0


class AlreadyRunning(RuntimeError):
    """Another server holds the directory."""


class Service:
    """Starts the three in order and stops them in the opposite one; what failed half-way is stopped too.

    ``listen``, ``allow_remote``, ``port``, ``log_statements`` and ``limits`` are those of the listener. ``died`` is
    called on another thread when PostgreSQL has ended by itself. When this process is killed, a watchdog stops
    PostgreSQL; a process forked from this one that lives on keeps it from noticing.
    """

    def __init__(
        self,
        state: StateDirectory,
        *,
        listen: str = LOOPBACK,
        allow_remote: bool = False,
        port: int = 0,
        max_string_size: str = "standard",
        log_statements: Path | None = None,
        limits: Limits | None = None,
        died: Callable[[], None] | None = None,
    ) -> None:
        self._address = check_address(listen, allow_remote=allow_remote)
        self._allow_remote = allow_remote
        self._limits = limits
        self._died = died or _bear_it
        self._state = state
        self._port = port
        self._max_string_size = max_string_size
        self._log_statements = log_statements
        self._cleanup = contextlib.ExitStack()
        self.server: Server | None = None
        self.engine: Database | None = None

    def start(self) -> ServerInformation:
        """Start everything.

        AlreadyRunning when another server holds the directory, OSError when the port is taken, Unusable when the
        directory cannot be written.
        """
        if not self._state.hold(_HOLD_SECONDS):
            raise AlreadyRunning(f"a local database runs on {self._state.path} already")
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self._state.release)
            self._state.withdraw()  # of a server that was killed
            cluster = Cluster(self._state.cluster)
            watchdog = Watchdog(self._state.path, self._state.lock)
            cleanup.callback(lambda: watchdog.dismiss(in_order=not cluster.running))
            cleanup.callback(cluster.stop)
            conninfo = cluster.start()
            lifeline = Lifeline(conninfo, self._died, cluster.last_words)
            cleanup.callback(lifeline.close)
            models = OnnxModels()
            cleanup.callback(models.close)
            self._state.forget_differences()
            engine = Database(
                conninfo, models, max_string_size=STRING_SIZES[self._max_string_size], keep=self._keep_differences
            )
            cleanup.callback(engine.close)
            # On every start: a credentials file that was lost has been made anew.
            for name, password in self._state.credentials().items():
                engine.create_user(
                    name, password, grants=grants.ADMINISTRATOR if name == ADMINISTRATOR else grants.DEVELOPER
                )
            features = Features(max_string_size=STRING_SIZES[self._max_string_size])
            server = Server(
                engine,
                listen=self._address,
                allow_remote=self._allow_remote,
                port=self._port,
                log_statements=self._log_statements,
                features=features,
                limits=self._limits,
            )
            server.start()
            cleanup.callback(server.close)
            information = ServerInformation(
                pid=os.getpid(),
                dsn=server.dsn,
                max_string_size=self._max_string_size,
                started=time.time(),
                log_statements=str(self._log_statements) if self._log_statements is not None else None,
                listen=self._address,
            )
            cleanup.callback(self._state.withdraw)
            self._state.announce(information)
            self.server, self.engine = server, engine
            self._cleanup = cleanup.pop_all()
        return information

    def _keep_differences(self, touched: Mapping[str, Mapping[str, float]]) -> None:
        try:
            self._state.keep_differences(touched)
        except Unusable as error:
            logger.warning("which differences were touched is not written down: %s", error)

    def close(self) -> None:
        """Stop everything. Idempotent."""
        self.server = self.engine = None
        self._cleanup.close()

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _bear_it() -> None:
    """Do nothing: sessions get ORA-03113 and logins ORA-01034."""
