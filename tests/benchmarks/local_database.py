"""The local database against psycopg on the same PostgreSQL, and how it grows with rows and bytes."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import struct
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import oracledb
import psycopg
from psycopg import sql
from psycopg.adapt import Dumper
from psycopg.pq import Format

from oraclerag.local import LocalDatabase
from oraclerag.local.engine.postgres import DATABASE
from tests.benchmarks.figures import Figure, median_seconds, on_one_core, ratio_in_turns
from tests.local.conftest import Account

__all__ = ["measure", "start"]

ROWS = 10_000
MANY_ROWS = 100_000
VECTORS = 2_000
DIMENSIONS = 384
SELECTS = 100
MEGABYTE = 1_000_000
_PSYCOPG = "psycopg on the same PostgreSQL"


def measure(database: LocalDatabase, account: Account) -> Iterator[Figure]:
    """Measure calls, arrays, vectors, long results, an exact search and a large bind."""
    folder = database.directory / "postgres"  # its socket
    plain = psycopg.connect(host=str(folder), dbname=DATABASE, user="postgres", autocommit=True)
    with contextlib.closing(plain), account.connect() as connection:
        yield from _calls(connection, plain, _roots(database, folder))
        yield from _arrays(connection, plain)
        yield from _vectors(connection, plain)
        yield from _fetches(connection, plain)
        yield from _search(connection, plain, account.user)
        yield from _large_bind(connection)


def _roots(database: LocalDatabase, folder: Path) -> list[int]:
    server = database.status().pid
    assert server is not None
    return [os.getpid(), server, int((folder / "postmaster.pid").read_text().split()[0])]


def _calls(connection: oracledb.Connection, plain: psycopg.Connection, roots: list[int]) -> Iterator[Figure]:
    cursor, other = connection.cursor(), plain.cursor()

    def ours() -> None:
        for _ in range(SELECTS):
            cursor.execute("select 1 from dual")
            cursor.fetchall()

    def theirs() -> None:
        for _ in range(SELECTS):
            other.execute("select 1", prepare=True)
            other.fetchall()

    with on_one_core(roots) as possible:
        ratio = ratio_in_turns(ours, theirs, turns=25)
        where = "client, server and PostgreSQL on one core" if possible else "cores as the system gives them"
        yield Figure("select 1: time", ratio, "×", f"{_PSYCOPG}; {where}", 5)
    yield Figure(
        "select 1: time, cores as the system gives them",
        ratio_in_turns(ours, theirs, turns=25),
        "×",
        f"{_PSYCOPG}; for orientation",
    )


def _four(count: int) -> list[tuple[int, str, dt.datetime, float]]:
    return [(n, f"name {n}", dt.datetime(2026, 1, 1) + dt.timedelta(minutes=n), n / 8) for n in range(count)]  # noqa: DTZ001


def _arrays(connection: oracledb.Connection, plain: psycopg.Connection) -> Iterator[Figure]:
    rows, many = _four(ROWS), _four(MANY_ROWS)
    cursor = connection.cursor()
    cursor.execute("create table four (id number(10), name varchar2(40), at date, amount number)")
    plain.execute("create temporary table four (id numeric(10), name varchar(40), at timestamp(0), amount numeric)")

    def ours(given: list[Any] = rows) -> None:
        cursor.execute("truncate table four")
        cursor.executemany("insert into four (id, name, at, amount) values (:1, :2, :3, :4)", given)
        connection.commit()

    def theirs() -> None:
        plain.execute("truncate four")
        with plain.transaction(), plain.cursor() as other:
            other.executemany("insert into four (id, name, at, amount) values (%s, %s, %s, %s)", rows)

    rate = 1 / ratio_in_turns(ours, theirs, turns=7)
    yield Figure("executemany of 10,000 × 4: rate", rate, "×", _PSYCOPG, 0.8, "at least")
    growth = median_seconds(lambda: ours(many), rounds=3) / median_seconds(ours, rounds=5)
    yield Figure("executemany of 100,000 × 4: time", growth, "×", "10,000 (linear is 10)", 15)


class _VectorDumper(Dumper):
    """Hands an ``array('f')`` to pgvector in binary, as its own package does."""

    format = Format.BINARY

    def dump(self, obj: array[float]) -> bytes:
        return struct.pack(">HH", len(obj), 0) + np.asarray(obj, dtype=">f4").tobytes()


def _vector_oid(plain: psycopg.Connection) -> int:
    row = plain.execute("select 'vector'::regtype::oid").fetchone()
    assert row is not None
    return int(row[0])


def _vectors(connection: oracledb.Connection, plain: psycopg.Connection) -> Iterator[Figure]:
    numbers = np.random.default_rng(1).normal(size=(VECTORS, DIMENSIONS)).astype(np.float32)
    rows = [(n, array("f", row.tobytes())) for n, row in enumerate(numbers)]
    cursor = connection.cursor()
    cursor.execute(f"create table vectors (id number(10), e vector({DIMENSIONS}, float32))")
    plain.execute(f"create temporary table vectors (id numeric(10), e vector({DIMENSIONS}))")
    plain.adapters.register_dumper(array, type("Dumper", (_VectorDumper,), {"oid": _vector_oid(plain)}))

    def ours() -> None:
        cursor.execute("truncate table vectors")
        cursor.executemany("insert into vectors (id, e) values (:1, :2)", rows)
        connection.commit()

    def theirs() -> None:
        plain.execute("truncate vectors")
        with plain.transaction(), plain.cursor() as other:
            other.executemany("insert into vectors (id, e) values (%s, %b)", rows)

    rate = 1 / ratio_in_turns(ours, theirs, turns=7)
    yield Figure(f"insert of {VECTORS:,} vectors of {DIMENSIONS}: rate", rate, "×", _PSYCOPG, 0.5, "at least")


def _fetches(connection: oracledb.Connection, plain: psycopg.Connection) -> Iterator[Figure]:
    """The table of :func:`_arrays` has 100,000 rows by now, and a copy of it is psycopg's."""
    cursor = connection.cursor()
    cursor.execute("truncate table four")
    cursor.executemany("insert into four (id, name, at, amount) values (:1, :2, :3, :4)", _four(MANY_ROWS))
    connection.commit()
    cursor.arraysize = cursor.prefetchrows = 1000
    plain.execute("truncate four")
    with plain.cursor().copy("copy four from stdin") as copy:
        for row in _four(MANY_ROWS):
            copy.write_row(row)

    def ours(limit: int = MANY_ROWS) -> None:
        cursor.execute("select id, name, at, amount from four where id < :1", [limit])
        assert len(cursor.fetchall()) == limit

    def theirs() -> None:
        found = plain.execute(
            "select id, name, at, amount from four where id < %s", [MANY_ROWS], binary=True
        ).fetchall()
        assert len(found) == MANY_ROWS

    rate = 1 / ratio_in_turns(ours, theirs, turns=5)
    yield Figure("fetch of 100,000 × 4: rate", rate, "×", _PSYCOPG, 0.4, "at least")
    growth = median_seconds(ours, rounds=3) / median_seconds(lambda: ours(ROWS), rounds=5)
    yield Figure("fetch of 100,000 × 4: time", growth, "×", "10,000 (linear is 10)", 15)


def _search(connection: oracledb.Connection, plain: psycopg.Connection, user: str) -> Iterator[Figure]:
    """An exact search in one table, asked for in Oracle's words and in pgvector's."""
    cursor = connection.cursor()
    cursor.execute(f"create table passages (id number(10), e vector({DIMENSIONS}, float32))")
    table = sql.Identifier(user, "PASSAGES")
    random = np.random.default_rng(2)
    statement = sql.SQL('copy {} ("ID", "E") from stdin with (format binary)').format(table)
    oid = _vector_oid(plain)
    with plain.cursor().copy(statement) as copy:
        copy.set_types(["numeric", oid])
        for number in range(MANY_ROWS):
            copy.write_row((number, array("f", random.random(DIMENSIONS, dtype=np.float32).tobytes())))
    plain.execute(sql.SQL("analyze {}").format(table))
    question = array("f", random.random(DIMENSIONS, dtype=np.float32).tobytes())
    nearest = sql.SQL('select "ID" from {} order by "E" <=> %b limit 10').format(table)
    found: dict[str, list[int]] = {}

    def ours() -> None:
        cursor.execute(
            "select id from passages order by vector_distance(e, :1, cosine) fetch exact first 10 rows only", [question]
        )
        found["ours"] = [int(row[0]) for row in cursor.fetchall()]

    def theirs() -> None:
        found["theirs"] = [int(row[0]) for row in plain.execute(nearest, [question]).fetchall()]

    ratio = ratio_in_turns(ours, theirs, turns=9)
    assert found["ours"] == found["theirs"]
    yield Figure("exact search over 100,000 vectors: time", ratio, "×", "pgvector, same table", 1.2)
    cursor.execute("drop table passages purge")


def _large_bind(connection: oracledb.Connection) -> Iterator[Figure]:
    cursor = connection.cursor()
    cursor.execute("create table large (data blob)")

    def seconds(megabytes: int) -> float:
        data = bytes(megabytes * MEGABYTE)
        cursor.setinputsizes(oracledb.DB_TYPE_BLOB)
        begun = time.perf_counter()
        cursor.execute("insert into large (data) values (:1)", [data])
        taken = time.perf_counter() - begun
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
