"""Blocks that statements read, as PostgreSQL counts them under the local database."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

import oracledb
import psycopg
from psycopg import sql

from oraclerag.local import LocalDatabase
from oraclerag.local.engine.postgres import DATABASE
from tests.local.conftest import Account

__all__ = ["Blocks"]

_COUNTS = """
SELECT relname, heap_blks_hit + heap_blks_read FROM pg_statio_all_tables WHERE schemaname = %(owner)s
UNION ALL
SELECT indexrelname, idx_blks_hit + idx_blks_read FROM pg_statio_all_indexes WHERE schemaname = %(owner)s
"""

_TRIES, _PAUSE_SECONDS = 200, 0.05


class Blocks:
    """Counts the blocks of an account's tables and indexes that sessions of it read.

    PostgreSQL's own housekeeping of these tables is off meanwhile: it reads blocks too, and when it comes is chance.
    """

    def __init__(self, database: LocalDatabase, account: Account, *tables: str) -> None:
        self._account = account
        self._tables = tables
        folder = str(database.directory / "postgres")  # its socket
        self._plain: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            host=folder, dbname=DATABASE, user="postgres", autocommit=True
        )
        self._housekeeping("SET (autovacuum_enabled = off)")

    def __enter__(self) -> Blocks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._housekeeping("RESET (autovacuum_enabled)")
        self._plain.close()

    def tidy(self) -> None:
        """Do the housekeeping of the tables: remove dead rows, count the living, note what is visible to all.

        Where few rows are dead, VACUUM would leave their places in the indexes, and a look would read past them. Dead
        rows also stay for as long as any session may see them, an ANALYZE of PostgreSQL's own among them: until then it
        is tried again.
        """
        for table in self._tables:
            name = sql.Identifier(self._account.user, table)
            for _ in range(_TRIES):
                self._plain.execute(sql.SQL("VACUUM (ANALYZE, INDEX_CLEANUP ON) {}").format(name))
                if not self._dead(table):
                    break
                time.sleep(_PAUSE_SECONDS)
            else:
                raise RuntimeError(f"some session keeps dead rows of {table}: there is nothing to count")

    def _dead(self, table: str) -> int:
        self._plain.execute("SELECT pg_stat_clear_snapshot()")
        found = self._plain.execute(
            "SELECT n_dead_tup FROM pg_stat_all_tables WHERE schemaname = %s AND relname = %s",
            (self._account.user, table),
        ).fetchone()
        assert found is not None
        return int(found[0])

    def read(self, action: Callable[[oracledb.Connection], object]) -> Counter[str]:
        """Run something on a session of its own; gives the blocks read, by table and index.

        PostgreSQL's sessions report at most once a second, and what is left when they have been idle for ten: sessions
        that have read these tables before must have ended (`end`), or they may report in the middle of it.
        """
        self._plain.execute("SELECT pg_stat_force_next_flush()")  # what our own VACUUM has read
        before = self._counts()
        others = self._sessions()
        with self._account.connect() as connection:
            ours = self._sessions() - others
            assert ours
            action(connection)
        # A session reports when it ends; until then nobody sees what it has read.
        while ours & self._sessions():
            time.sleep(0.001)
        return self._counts() - before

    def end(self, connection: oracledb.Connection) -> None:
        """Close a connection and wait until its session has reported what it has read."""
        before = self._sessions()
        connection.close()
        while before <= self._sessions():
            time.sleep(0.001)

    def _sessions(self) -> set[int]:
        found = self._plain.execute("SELECT pid FROM pg_stat_activity WHERE datname = %s", (DATABASE,))
        return {pid for (pid,) in found}

    def _counts(self) -> Counter[str]:
        self._plain.execute("SELECT pg_stat_clear_snapshot()")
        found = self._plain.execute(_COUNTS, {"owner": self._account.user})
        return Counter({name: int(count or 0) for name, count in found})

    def _housekeeping(self, what: str) -> None:
        for table in self._tables:
            name = sql.Identifier(self._account.user, table)
            self._plain.execute(sql.SQL("ALTER TABLE {} " + what).format(name))
