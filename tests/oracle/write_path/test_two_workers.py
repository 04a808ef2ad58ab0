"""The tests of write_path/test_two_workers.py, on a real database; and what only it can show: two are faster than one."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.synchronize import Barrier

import pytest

from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.source import from_settings
from tests.local.conftest import Account
from tests.local.write_path.test_two_workers import *  # noqa: F403
from tests.local.write_path.test_two_workers import fill
from tests.local.write_path.tracker import TASK, Tracker, settings_of

pytestmark = pytest.mark.oracle

TASKS = 4_000


@pytest.fixture  # type: ignore[no-redef]
def no_long_waits() -> None:
    """A real database has no such setting: a test that waits for ever ends at its timeout."""


def work(account: Account, start: Barrier) -> None:
    """Be a worker process: connect, wait for the others, work off what waits."""
    settings = settings_of(account, TASK, batch_size=64)
    database = Database(settings)
    sources, state = from_settings(settings), WorkerState()
    try:
        with database.connect():
            start.wait(60)
        while drain(database, sources, settings, state=state).claimed:
            pass
    finally:
        database.close()


def seconds(tracker: Tracker, workers: int) -> float:
    """Index some tasks with so many processes; gives the time."""
    tracker.clear()
    tracker.sql("DELETE FROM RAG_ENTITY")
    fill(tracker, 0, TASKS)
    processes = multiprocessing.get_context("spawn")
    start = processes.Barrier(workers + 1)
    children = [processes.Process(target=work, args=(tracker.account, start)) for _ in range(workers)]
    for child in children:
        child.start()
    start.wait(60)
    begun = time.perf_counter()
    for child in children:
        child.join(600)
    taken = time.perf_counter() - begun
    assert [child.exitcode for child in children] == [0] * workers
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK") == TASKS
    return taken


@pytest.mark.timeout(1800)
def test_two_processes_are_faster_than_one(tracker: Tracker) -> None:
    seconds(tracker, 1)  # warms the database
    alone, together = seconds(tracker, 1), seconds(tracker, 2)
    assert together < alone / 1.5
