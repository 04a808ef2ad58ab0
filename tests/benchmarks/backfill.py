"""Backfill and audit of a large source: time against a bare INSERT … SELECT, round trips, and memory of the client."""

from __future__ import annotations

import dataclasses
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from oraclerag.audit import audit
from oraclerag.backfill import backfill
from oraclerag.drain import WorkerState, drain
from oraclerag.local import LocalDatabase
from tests.benchmarks.figures import Figure
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker

__all__ = ["fill", "measure", "peak"]

ENTITIES = 100_000
AUDITED = 3_000

_BARE = (
    "INSERT INTO RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION) "
    "SELECT 1, '-', 'bare', TO_CHAR(id), 'UPSERT' FROM task"
)


def measure(folder: Path, model: Path) -> Iterator[Figure]:
    """Measure a backfill of 100,000 entities and an audit; the server is another process: time and memory are ours."""
    with LocalDatabase(folder) as database:
        tracker = open_tracker(Account(database.dsn, "BENCH_FILL", database.create_user("BENCH_FILL")), model)
        try:
            yield from _enqueue(tracker)
            yield from _compare(tracker)
        finally:
            tracker.close()
    with LocalDatabase(in_process=True) as database:
        tracker = open_tracker(Account(database.dsn, "BENCH_TRIPS", database.create_user("BENCH_TRIPS")), model)
        try:
            fill(tracker, ENTITIES)
            before = database.round_trips
            _backfill(tracker)
            trips = database.round_trips - before
        finally:
            tracker.close()
    yield Figure(f"backfill {ENTITIES:,} entities: round trips", trips, "", "for each 50,000 a few", 60)


def fill(tracker: Tracker, how_many: int) -> None:
    """Insert tasks; announces nothing."""
    with tracker.connection.cursor() as cursor:
        for begin in range(0, how_many, 10_000):
            numbers = range(begin, min(begin + 10_000, how_many))
            rows = [(number, f"Invoice {number} of supplier {number % 37} is late") for number in numbers]
            cursor.executemany("INSERT INTO task (id, title, status) VALUES (:1, :2, 'OPEN')", rows)
    tracker.connection.commit()


def peak(action: Callable[[], Any]) -> float:
    """Give the most memory that Python objects took while something ran, in MB."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _enqueue(tracker: Tracker) -> Iterator[Figure]:
    fill(tracker, ENTITIES)
    _backfill(tracker)  # opens connections, and the database sees the tables for the first time
    taken, bare = [], []
    for _ in range(3):  # in turns, so that a busy moment of the machine meets both
        tracker.sql("DELETE FROM RAG_DIRTY")
        tracker.connection.commit()
        taken.append(_seconds(lambda: _backfill(tracker)))
        bare.append(_seconds(lambda: (tracker.sql(_BARE), tracker.connection.rollback())))
    name = f"backfill {ENTITIES:,} entities"
    yield Figure(f"{name}: rate", ENTITIES / min(taken), "entities/s", "for orientation")
    yield Figure(f"{name}: time", min(taken) / min(bare), "×", "bare INSERT … SELECT, same rows")
    tracker.sql("DELETE FROM RAG_DIRTY")
    tracker.connection.commit()
    yield Figure(f"{name}: memory", peak(lambda: _backfill(tracker)), "MB", "no row travels", 2)


def _compare(tracker: Tracker) -> Iterator[Figure]:
    tracker.clear()
    fill(tracker, AUDITED)
    _backfill(tracker)
    settings, state = dataclasses.replace(tracker.settings, batch_size=256), WorkerState()
    while drain(tracker.database, tracker.sources, settings, state=state).claimed:
        pass
    taken = [_seconds(lambda: _audit(tracker)) for _ in range(3)]
    yield Figure(f"audit {AUDITED:,} entities: rate", AUDITED / min(taken), "entities/s", "for orientation")
    yield Figure(f"audit {AUDITED:,} entities: memory", peak(lambda: _audit(tracker)), "MB", "for orientation")


def _backfill(tracker: Tracker) -> None:
    backfill(tracker.database, tracker.sources["task"], tracker.settings)


def _audit(tracker: Tracker) -> None:
    report = audit(tracker.database, tracker.sources["task"], tracker.settings)
    assert report.equal == report.audited == AUDITED, report


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
