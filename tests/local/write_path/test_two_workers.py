"""Two workers side by side: what they claim never overlaps, they send no more statements, and neither waits for the other.

That neither waits is shown without a clock: before every statement of one worker's batch, another works off a whole
batch. Would it wait for a lock of the first, it would wait for ever.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import oracledb
import psycopg
import pytest

from oraclerag.claim import Claim, Queue
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.local import LocalDatabase
from oraclerag.local.engine.postgres import DATABASE
from oraclerag.records import DrainReport
from oraclerag.source import from_settings
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

_SENDS = ("execute", "executemany")


@dataclasses.dataclass
class Worker:
    """A worker with connections and a memory of its own."""

    tracker: Tracker
    database: Database
    state: WorkerState

    def batch(self) -> DrainReport:
        tracker = self.tracker
        return drain(self.database, from_settings(tracker.settings), tracker.settings, state=self.state)


@contextlib.contextmanager
def worker(tracker: Tracker) -> Iterator[Worker]:
    database = Database(tracker.settings)
    try:
        yield Worker(tracker, database, WorkerState())
    finally:
        database.close()


@pytest.fixture
def no_long_waits(local_database: LocalDatabase) -> Iterator[None]:
    """Sessions that begin now are refused a lock that they would wait long for, so that a test fails and does not hang."""
    plain = psycopg.connect(
        host=str(local_database.directory / "postgres"), dbname=DATABASE, user="postgres", autocommit=True
    )
    try:
        plain.execute(f"ALTER DATABASE {DATABASE} SET lock_timeout = '5s'")
        yield
    finally:
        plain.execute(f"ALTER DATABASE {DATABASE} RESET lock_timeout")
        plain.close()


def fill(tracker: Tracker, first: int, tasks: int) -> None:
    """Insert tasks and announce them; commits."""
    binds = {"first": first, "tasks": tasks}
    tracker.sql(
        "INSERT INTO task (id, title, status) "
        "SELECT :first + LEVEL, 'Task ' || TO_CHAR(:first + LEVEL), 'OPEN' FROM dual CONNECT BY LEVEL <= :tasks",
        **binds,
    )
    tracker.sql(
        "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) "
        "SELECT 'task', TO_CHAR(:first + LEVEL) FROM dual CONNECT BY LEVEL <= :tasks",
        **binds,
    )
    tracker.connection.commit()


def before_every_statement(monkeypatch: pytest.MonkeyPatch, action: Any) -> None:
    """Call ``action`` before every statement and commit that is sent to the database."""

    def patched(owner: type, name: str) -> None:
        whole = getattr(owner, name)

        def sent(self: Any, *arguments: Any, **more: Any) -> Any:
            action()
            return whole(self, *arguments, **more)

        monkeypatch.setattr(owner, name, sent)

    for name in _SENDS:
        patched(oracledb.Cursor, name)
    patched(oracledb.Connection, "commit")


@pytest.mark.parametrize("changed", [False, True], ids=["new", "changed"])
def test_no_worker_waits_for_another_at_any_moment_of_its_batch(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch, no_long_waits: None, changed: bool
) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=4)
    batches = 60
    fill(tracker, 0, 4 * batches)
    with worker(tracker) as slow, worker(tracker) as quick:
        if changed:
            while slow.batch().claimed:
                pass
            fill_again(tracker)
        moments, inside = 0, False
        reports = []

        def quick_batch() -> None:
            nonlocal moments, inside
            if not inside:
                inside = True
                reports.append(quick.batch())
                moments += 1
                inside = False

        with monkeypatch.context() as patch:
            before_every_statement(patch, quick_batch)
            inside = True  # what a worker learns once is no part of a batch
            reports.append(slow.batch())
            reports.append(quick.batch())
            inside = False
            reports.append(slow.batch())
    assert moments > 12
    assert {(report.claimed, report.indexed) for report in reports} == {(4, 4)}
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") == 4 * (batches - len(reports))


def fill_again(tracker: Tracker) -> None:
    """Change every task and announce it; commits."""
    tracker.sql("UPDATE task SET title = title || ' changed', assignee_id = 9")
    tracker.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) SELECT 'task', TO_CHAR(id) FROM task")
    tracker.connection.commit()


def claims(tracker: Tracker, workers: int, rows: int) -> tuple[list[Claim], int]:
    """Claim everything with so many workers at once; gives the claims and how many statements they took.

    The entities are there: who makes one commits before it claims, and the other may be quicker.
    """
    fill(tracker, 0, rows)
    tracker.sql("INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) SELECT 'task', TO_CHAR(id) FROM task")
    tracker.connection.commit()
    found: list[Claim] = []
    errors: list[BaseException] = []
    start = threading.Barrier(workers)

    def run() -> None:
        try:
            with tracker.account.connect() as connection:
                queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
                start.wait(30)
                while (got := queue.claim(0, "-", types={"task": False}, limit=8, come_back=2.0)).entities:
                    found.append(got)
        except BaseException as error:  # noqa: BLE001 - a thread tells the test
            errors.append(error)

    sent = 0
    guard = threading.Lock()

    def count() -> None:
        nonlocal sent
        with guard:
            sent += 1

    with pytest.MonkeyPatch.context() as patch:
        before_every_statement(patch, count)
        threads = [threading.Thread(target=run) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert errors == []
    return found, sent


def test_claims_of_two_workers_never_overlap_and_take_no_more_statements(tracker: Tracker) -> None:
    rows = 400
    counts = []
    for workers in (1, 2):
        tracker.clear()
        found, sent = claims(tracker, workers, rows)
        taken = [entity.source_id for got in found for entity in got.entities]
        assert len(taken) == len(set(taken)) == rows
        assert {len(got.entities) for got in found} == {8}
        last = 2 * workers  # everybody looks once more: a statement and a commit
        counts.append((sent - last) / rows)
    assert counts[0] == counts[1]
