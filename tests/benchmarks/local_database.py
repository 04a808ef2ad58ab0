"""The local database against psycopg on the same PostgreSQL, and how a large bind grows."""

from __future__ import annotations

import contextlib
import datetime as dt
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import oracledb
import psycopg

from oraclerag.local import LocalDatabase
from oraclerag.local.engine.postgres import DATABASE
from tests.benchmarks.figures import Figure, median_seconds
from tests.local.conftest import Account

__all__ = ["measure"]

ROWS = 10_000
SELECTS = 200
MEGABYTE = 1_000_000


def measure(database: LocalDatabase, account: Account) -> Iterator[Figure]:
    """Measure calls, arrays and a large bind."""
    folder = str(database.directory / "postgres")  # its socket
    plain = psycopg.connect(host=folder, dbname=DATABASE, user="postgres", autocommit=True)
    with contextlib.closing(plain), account.connect() as connection:
        yield from _calls(connection, plain)
        yield from _arrays(connection, plain)
        yield from _large_bind(connection)


def _calls(connection: oracledb.Connection, plain: psycopg.Connection) -> Iterator[Figure]:
    cursor, other = connection.cursor(), plain.cursor()

    def ours() -> None:
        for _ in range(SELECTS):
            cursor.execute("select 1 from dual")
            cursor.fetchall()

    def theirs() -> None:
        for _ in range(SELECTS):
            other.execute("select 1", prepare=True)
            other.fetchall()

    # In turns: where processes wake one another between cores, either side is fast or slow for a while.
    ratio = statistics.median(median_seconds(ours, rounds=1) / median_seconds(theirs, rounds=1) for _ in range(15))
    yield Figure("select 1: time", ratio, "×", "psycopg on the same PostgreSQL", 6)


def _arrays(connection: oracledb.Connection, plain: psycopg.Connection) -> Iterator[Figure]:
    rows = [(n, f"name {n}", dt.datetime(2026, 1, 1) + dt.timedelta(minutes=n), n / 8) for n in range(ROWS)]  # noqa: DTZ001
    cursor = connection.cursor()
    cursor.execute("create table four (id number(10), name varchar2(40), at date, amount number)")
    plain.execute("create temporary table four (id numeric(10), name varchar(40), at timestamp(0), amount numeric)")

    def ours() -> None:
        cursor.execute("truncate table four")
        cursor.executemany("insert into four (id, name, at, amount) values (:1, :2, :3, :4)", rows)
        connection.commit()

    def theirs() -> None:
        plain.execute("truncate four")
        with plain.transaction(), plain.cursor() as other:
            other.executemany("insert into four (id, name, at, amount) values (%s, %s, %s, %s)", rows)

    ratio = median_seconds(theirs, rounds=5) / median_seconds(ours, rounds=5)
    yield Figure("executemany of 10,000 × 4: rate", ratio, "×", "psycopg on the same PostgreSQL", 0.5, "at least")


def _large_bind(connection: oracledb.Connection) -> Iterator[Figure]:
    cursor = connection.cursor()
    cursor.execute("create table large (data blob)")

    def seconds(megabytes: int) -> float:
        data = bytes(megabytes * MEGABYTE)
        cursor.setinputsizes(oracledb.DB_TYPE_BLOB)
        start = time.perf_counter()
        cursor.execute("insert into large (data) values (:1)", [data])
        taken = time.perf_counter() - start
        connection.rollback()
        return taken

    seconds(9)
    small = min(seconds(9) for _ in range(3))
    large = min(seconds(90) for _ in range(2))
    yield Figure("BLOB bind, 90 MB: time", large / small, "×", "9 MB (linear is 10)", 15)


def start(directory: Path) -> Iterator[Figure]:
    """Time of a first start and of a later one, in seconds, for orientation."""
    for name in ("first start", "next start"):
        database = LocalDatabase(directory)
        begun = time.perf_counter()
        database.start()
        taken = time.perf_counter() - begun
        database.stop()
        yield Figure(f"local database, {name}", taken, "s", "orientation: 4 s")
