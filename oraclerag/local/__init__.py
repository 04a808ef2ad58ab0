"""The local database: a development stand-in for Oracle, for machines with neither Oracle nor Docker.

It speaks Oracle Net to unmodified thin clients, translates the Oracle SQL of this field and runs it on an embedded
PostgreSQL with pgvector; ONNX models run in process. It is strict: what it does not understand it refuses, with
Oracle's number. It is no place to keep data.

Nothing of the toolkit is imported here.
"""

from __future__ import annotations

import atexit
import contextlib
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from oraclerag.local.address import LOOPBACK, check_address
from oraclerag.local.engine.grants import DEVELOPER
from oraclerag.local.process import ProcessFailed, start_process, stop_process
from oraclerag.local.state import ADMINISTRATOR, USER, ServerInformation, StateDirectory, Unusable, default_directory

if TYPE_CHECKING:
    import oracledb

    from oraclerag.local.service import Service

__all__ = [
    "LocalDatabase",
    "LocalDifference",
    "LocalStatus",
    "NotRunning",
    "ProcessFailed",
    "Unusable",
    "default_directory",
]

_NAME_TAKEN = 1920
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")


class NotRunning(RuntimeError):
    """The local database does not run."""


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """What there is: ``dsn``, ``pid`` and ``started`` (seconds since 1970) are None when it does not run."""

    running: bool
    directory: Path
    log: Path
    user: str
    dsn: str | None = None
    pid: int | None = None
    max_string_size: str | None = None
    started: float | None = None


@dataclass(frozen=True, slots=True)
class LocalDifference:
    """Something that the local database takes and does otherwise than Oracle.

    ``statements`` says how many different statements touched it since the server started, and ``first`` when (seconds
    since 1970); both are None for what no statement shows and always holds.
    """

    subject: str
    here: str
    oracle: str
    statements: int | None = None
    first: float | None = None


class LocalDatabase:
    """A local database in a directory: a process of its own, or threads of this one.

    ``directory`` defaults to the user's (ORACLERAG_LOCAL_DIR), with ``in_process`` to a temporary one that goes with
    the object. ``port`` 0 takes a free one; ``listen`` is an IP address, without ``allow_remote`` one of the loopback
    interface (ValueError), by default 127.0.0.1. ``max_string_size`` is
    ``standard`` (VARCHAR2 up to 4,000 bytes) or ``extended`` (32,767). ``log_statements`` names a file to which every
    statement is appended with the types of its binds and its row counts, never values.

    As a context manager it is stopped at the end of the block if the block started it.
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        *,
        listen: str | None = None,
        allow_remote: bool = False,
        port: int = 0,
        max_string_size: str = "standard",
        log_statements: str | Path | None = None,
        in_process: bool = False,
    ) -> None:
        if max_string_size not in ("standard", "extended"):
            raise ValueError(f"max_string_size must be 'standard' or 'extended', not {max_string_size!r}")
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if directory is None and in_process:
            self._temporary = tempfile.TemporaryDirectory(prefix="oraclerag-")
            directory = Path(self._temporary.name)
        self._state = StateDirectory(Path(directory) if directory is not None else default_directory())
        self._listen = check_address(listen or LOOPBACK, allow_remote=allow_remote)
        self._wants_listen = listen is not None
        self._allow_remote = allow_remote
        self._port = port
        self._max_string_size = max_string_size
        self._log_statements = Path(log_statements) if log_statements is not None else None
        self._in_process = in_process
        self._service: Service | None = None
        self._started = False

    def start(self) -> LocalStatus:
        """Start it and wait until clients may connect; one that runs on the directory already is used.

        Raises ProcessFailed when it cannot be started, Unusable when the directory cannot be written, ValueError when
        one runs with another ``max_string_size`` or listens elsewhere.
        """
        found = self._state.information()
        if found is None:
            found = self._start_service() if self._in_process else self._start_process()
            self._started = True
        if found.max_string_size != self._max_string_size:
            raise ValueError(
                f"the local database on {self._state.path} runs with max_string_size {found.max_string_size}: "
                "stop it first"
            )
        if self._wants_listen and found.listen != self._listen:
            raise ValueError(f"the local database on {self._state.path} listens on {found.listen}: stop it first")
        return self.status()

    def _start_process(self) -> ServerInformation:
        return start_process(
            self._state,
            listen=self._listen,
            allow_remote=self._allow_remote,
            port=self._port,
            max_string_size=self._max_string_size,
            log_statements=self._log_statements,
        )

    def _start_service(self) -> ServerInformation:
        from oraclerag.local.service import Service

        service = Service(
            self._state,
            listen=self._listen,
            allow_remote=self._allow_remote,
            port=self._port,
            max_string_size=self._max_string_size,
            log_statements=self._log_statements,
        )
        found = service.start()
        self._service = service
        atexit.register(self.stop)  # PostgreSQL is a process of its own and would stay
        return found

    def stop(self) -> bool:
        """Stop it, PostgreSQL included, and wait for that; False when it did not run."""
        self._started = False
        if self._service is not None:
            service, self._service = self._service, None
            atexit.unregister(self.stop)
            service.close()
            return True
        stopped = stop_process(self._state)
        self._stop_orphan()
        return stopped

    def _stop_orphan(self) -> None:
        """Stop a PostgreSQL whose server was killed."""
        if self._state.cluster.is_dir() and self._state.hold():
            try:
                from oraclerag.local.engine.postgres import Cluster

                Cluster(self._state.cluster).stop()
            finally:
                self._state.release()

    def reset(self) -> LocalStatus:
        """Delete everything in it; it runs afterwards if it ran before, with new passwords."""
        ran = self.stop()
        self._state.remove()
        return self.start() if ran else self.status()

    def status(self) -> LocalStatus:
        """Tell whether it runs and where."""
        found = self._state.information()
        return LocalStatus(
            running=found is not None,
            directory=self._state.path,
            log=self._state.log,
            user=USER,
            dsn=found.dsn if found is not None else None,
            pid=found.pid if found is not None else None,
            max_string_size=found.max_string_size if found is not None else None,
            started=found.started if found is not None else None,
        )

    def differences(self) -> list[LocalDifference]:
        """Give the differences from Oracle that statements touched since the start, and those that always hold.

        Once it is stopped, those of its last run. Statements of the last half second may be missing while it runs.
        """
        from oraclerag.local.engine.differences import DIFFERENCES

        touched = self._state.differences()
        if self._service is not None and self._service.engine is not None:
            touched = self._service.engine.touched.summary()
        found = []
        for one in DIFFERENCES:
            seen = touched.get(one.key)
            if seen is not None:
                statements, first = int(seen["statements"]), seen["first"]
                found.append(LocalDifference(one.subject, one.here, one.oracle, statements, first))
            elif one.detect is None and not one.happens:
                found.append(LocalDifference(one.subject, one.here, one.oracle))
        return found

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return self._state.path

    @property
    def dsn(self) -> str:
        """What clients connect to, ``127.0.0.1:PORT/SERVICE``; NotRunning when it does not run."""
        found = self._state.information()
        if found is None:
            raise NotRunning(f"the local database on {self._state.path} does not run")
        return found.dsn

    @property
    def user(self) -> str:
        """The user that every local database has."""
        return USER

    @property
    def password(self) -> str:
        """The password of :attr:`user`, random, from a file that only its owner can read."""
        return self._state.credentials()[USER]

    @property
    def administrator(self) -> str:
        """The user that makes others and grants to them, as the scripts for a DBA do; its role is DBA."""
        return ADMINISTRATOR

    @property
    def administrator_password(self) -> str:
        """The password of :attr:`administrator`."""
        return self._state.credentials()[ADMINISTRATOR]

    @property
    def round_trips(self) -> int:
        """Number of requests answered since the start, logins included; only with ``in_process``."""
        if self._service is None or self._service.server is None:
            raise NotRunning("round trips are counted where the database runs in this process")
        return self._service.server.round_trips

    def create_user(self, name: str) -> str:
        """Create a user with an empty schema and give its password; ValueError for a name that is taken or is none.

        It may do what ``sql/setup/create_user.sql`` lets the owner of the tables do.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a user: a letter, then letters, digits, '_', '$' or '#'")
        password = secrets.token_urlsafe(18)
        if self._service is not None and self._service.engine is not None:
            if self._service.engine.password(name) is not None:
                raise ValueError(f"there is a user {name.upper()} already")
            self._service.engine.create_user(name, password)
            return password
        import oracledb

        with self._administrator() as connection, connection.cursor() as cursor:
            try:
                cursor.execute(f'CREATE USER {name} IDENTIFIED BY "{password}"')
            except oracledb.DatabaseError as error:
                if getattr(error.args[0], "code", None) != _NAME_TAKEN:
                    raise
                raise ValueError(f"there is a user {name.upper()} already") from error
            cursor.execute(f"GRANT {', '.join(DEVELOPER)} TO {name}")
        return password

    def drop_user(self, name: str) -> None:
        """Drop a user with everything in its schema."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a user")
        with self._administrator() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP USER {name} CASCADE")

    def _administrator(self) -> contextlib.AbstractContextManager[oracledb.Connection]:
        import oracledb

        return oracledb.connect(user=ADMINISTRATOR, password=self.administrator_password, dsn=self.dsn)

    def __enter__(self) -> LocalDatabase:
        try:
            self.start()
        except BaseException:
            self._remove_temporary()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started:
            self.stop()
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
