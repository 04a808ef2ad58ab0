"""The connection fails at every round trip of a batch in turn: nothing is lost, and nobody is blamed.

By default at some round trips, with ``-m long`` at every one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import oracledb
import pytest
import sqlalchemy

from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import ConnectionFailed
from oraclerag.records import DrainReport
from oraclerag.source import SelectSource, SourceRead
from tests.local.tcp_proxy import Fault, Proxy
from tests.local.wire_backend import collect_dropped_sockets
from tests.local.write_path.tracker import Tracker

dropped_sockets = pytest.fixture(autouse=True)(collect_dropped_sockets)

pytestmark = [pytest.mark.one_size, pytest.mark.filterwarnings("ignore::ResourceWarning")]

LONG = "\n".join(f"Line {number} of the report: the supplier of batch {number} waits." for number in range(170))


@pytest.fixture
def proxy(tracker: Tracker) -> Iterator[Proxy]:
    with Proxy(tracker.account.dsn) as opened:
        yield opened


class Worker:
    """A worker that goes on from batch to batch; ``dsn`` is where it connects to."""

    def __init__(self, tracker: Tracker, dsn: str, **more: Any) -> None:
        self._sources = tracker.sources
        self._settings = dataclasses.replace(tracker.settings, dsn=dsn, poll_interval=0.05, **more)
        self.database = Database(self._settings)
        self._state = WorkerState()

    def drain(self) -> DrainReport:
        return drain(self.database, self._sources, self._settings, state=self._state)

    def come_back(self) -> None:
        """Work a batch off by a new connection; where the machine is busy, a call may take too long once more."""
        for _ in range(100):
            with contextlib.suppress(ConnectionFailed):
                self.drain()
                return
        pytest.fail("no batch ends any more")

    def drain_until_empty(self, tracker: Tracker, *, one_lease_later: bool) -> None:
        """Work until the queue is empty. The server may not have noticed yet that a client is gone: a few tries."""
        for _ in range(200):
            if one_lease_later:
                tracker.due()
            self.drain()
            if not tracker.queue():
                return
            time.sleep(0.01)
        pytest.fail(f"left in the queue: {tracker.queue()}")


@pytest.fixture
def worker(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Worker]]:
    """Makes workers that stage a document of more than ten chunks in slices."""
    monkeypatch.setattr("oraclerag.drain.SLICE", 10)
    monkeypatch.setattr("oraclerag.merge.SLICE", 10)
    made: list[Worker] = []

    def make(dsn: str, **more: Any) -> Worker:
        made.append(Worker(tracker, dsn, **more))
        return made[-1]

    yield make
    for one in made:
        one.database.close()


def change(tracker: Tracker, step: int) -> None:
    """Make one change of every kind and announce it: texts, owners, new, gone, back again, and a long text."""
    if not tracker.scalar("SELECT COUNT(*) FROM task WHERE id = 1"):
        for number, text in ((1, None), (2, None), (3, LONG)):
            tracker.task(number, "first", text, assignee_id=1)
    tracker.sql("UPDATE task SET title = :title WHERE id IN (1, 3)", title=f"step {step}")
    tracker.sql("UPDATE task SET assignee_id = :step WHERE id = 2", step=step)
    gone = [row[0] for row in tracker.sql("SELECT id FROM task WHERE id >= 100")]
    tracker.sql("DELETE FROM task WHERE id >= 100 OR id = 4")
    tracker.task(100 + step, "new", assignee_id=1)
    if step % 2:
        tracker.task(4, "back again", assignee_id=1)
    tracker.enqueue(1, 2, 3, 4, 100 + step, *gone)


def blameless(tracker: Tracker) -> bool:
    """Whether no row of the queue was counted a failure or given up."""
    return all(state == "READY" and not attempts for _, state, attempts, _, _ in tracker.queue())


def must_hold(tracker: Tracker) -> None:
    """Compare the index with the sources, and look for what an interrupted batch may leave."""
    expected = {
        str(number): (f"[TASK #{number}] {title}", str(owner))
        for number, title, owner in tracker.sql("SELECT id, title, assignee_id FROM task")
    }
    found = tracker.sql("SELECT SOURCE_ID, CONTENT, OWNER_ID FROM RAG_CHUNK WHERE CHUNK_NO = 0")
    assert {key: (content.partition("\n")[0], owner) for key, content, owner in found} == expected
    long = tracker.texts()["3"]
    assert len(long) > 10
    assert long[-1].endswith("Comments:")
    assert all(part.startswith(expected["3"][0]) for part in long)
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE CHUNK_NO < 0 OR EMBEDDING IS NULL") == 0
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE VISIBILITY <> 'OWNER'") == 0
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_ENTITY WHERE HOLDER IS NOT NULL") == 0
    chunks = "SELECT COUNT(*) FROM RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID"
    assert tracker.scalar(f"SELECT COUNT(*) FROM RAG_ENTITY e WHERE e.CHUNKS <> ({chunks})") == 0


def every_cut(tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], trips: Iterable[int], fault: Fault) -> int:
    """Let batches fail at these round trips until there are none any more; gives how many have failed.

    By turns the same worker goes on at once, and another one a lease later.
    """
    same, other = worker(proxy.dsn), worker(tracker.account.dsn)
    change(tracker, 1)
    same.drain_until_empty(tracker, one_lease_later=False)
    for done, trip in enumerate(trips):
        change(tracker, trip + 1)
        proxy.fail_at(trip, fault, reset=done % 4 >= 2)
        try:
            same.drain()
        except ConnectionFailed:
            assert proxy.hit
        hit = proxy.hit
        proxy.fail_at(0, fault)
        assert blameless(tracker)
        if done % 2:
            same.drain_until_empty(tracker, one_lease_later=False)
        else:
            other.drain_until_empty(tracker, one_lease_later=True)
            same.drain()  # what it could not report before concerns nobody by now
        must_hold(tracker)
        if not hit:
            return done
    raise AssertionError("There is no end of round trips.")


@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER], ids=lambda fault: fault.value)
def test_a_cut_at_a_round_trip_loses_nothing(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], fault: Fault
) -> None:
    first = 1 if fault is Fault.CUT_BEFORE else 4
    assert every_cut(tracker, proxy, worker, range(first, 1000, 11), fault) > 4


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER], ids=lambda fault: fault.value)
def test_a_cut_at_every_round_trip_loses_nothing(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], fault: Fault
) -> None:
    each_twice = (trip for trip in range(1, 1000) for _ in range(2))
    assert every_cut(tracker, proxy, worker, each_twice, fault) > 60


def nothing_is_locked(tracker: Tracker) -> bool:
    """Whether no session keeps a row of the queue or an entity from the others."""
    for table in ("RAG_DIRTY", "RAG_ENTITY"):
        free = tracker.sql(f"SELECT 1 FROM {table} FOR UPDATE SKIP LOCKED")
        tracker.connection.rollback()
        if len(free) < tracker.scalar(f"SELECT COUNT(*) FROM {table}"):
            return False
    return True


def every_hole(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], trips: Iterable[int], fault: Fault
) -> int:
    """Let connections die without a word at these round trips until there are none any more; gives how many have."""
    same, other = worker(proxy.dsn, call_timeout=0.1), worker(tracker.account.dsn)
    change(tracker, 1)
    other.drain_until_empty(tracker, one_lease_later=False)
    same.come_back()
    for done, trip in enumerate(trips):
        hit = False
        while not hit:  # where the machine is busy, a call may take too long before its turn
            change(tracker, trip + 1)
            proxy.fail_at(trip, fault)
            try:
                same.drain()
            except ConnectionFailed:
                hit = proxy.hit
            else:
                if not (hit := proxy.hit):
                    return done
            proxy.fail_at(0, fault)
            if not nothing_is_locked(tracker):  # until the database has noticed, the others neither wait nor fail
                other.drain()
                proxy.notice()
            assert blameless(tracker)
            other.drain_until_empty(tracker, one_lease_later=True)
            proxy.notice()
            same.come_back()
            must_hold(tracker)
    raise AssertionError("There is no end of round trips.")


@pytest.mark.parametrize("fault", [Fault.HOLE_BEFORE, Fault.HOLE_AFTER], ids=lambda fault: fault.value)
def test_a_connection_that_dies_without_a_word_holds_up_no_worker_for_ever(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], fault: Fault
) -> None:
    first = 2 if fault is Fault.HOLE_BEFORE else 6
    assert every_hole(tracker, proxy, worker, range(first, 1000, 14), fault) > 2


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", [Fault.HOLE_BEFORE, Fault.HOLE_AFTER], ids=lambda fault: fault.value)
def test_a_connection_that_dies_at_every_round_trip_holds_up_no_worker_for_ever(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], fault: Fault
) -> None:
    assert every_hole(tracker, proxy, worker, range(1, 1000), fault) > 30


@pytest.mark.parametrize("trip", range(2, 12, 2))
def test_a_claim_that_died_without_a_word_holds_up_nobody_else(
    tracker: Tracker, proxy: Proxy, worker: Callable[..., Worker], trip: int
) -> None:
    """Not even who gets another row of an entity that it was about to make."""
    silent, other = worker(proxy.dsn, call_timeout=0.1), worker(tracker.account.dsn)
    tracker.enqueue(3)
    silent.come_back()
    tracker.task(1)
    tracker.task(2)
    tracker.enqueue(1)
    proxy.fail_at(trip, Fault.HOLE_AFTER)
    with contextlib.suppress(ConnectionFailed):
        silent.drain()
    tracker.enqueue(1, 2)
    other.drain()
    assert "2" in tracker.texts()
    proxy.notice()
    other.drain_until_empty(tracker, one_lease_later=True)
    assert sorted(tracker.texts()) == ["1", "2"]


def test_every_round_trip_of_a_batch_is_bounded(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no setting says so: by three leases, fifteen minutes."""
    bounds = []
    whole = SelectSource.read_each

    def read(self: SelectSource, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        bounds.append(connection.call_timeout)
        return whole(self, connection, ids)

    monkeypatch.setattr(SelectSource, "read_each", read)
    tracker.task(1)
    tracker.enqueue(1)
    assert tracker.drain().indexed == 1
    engine = sqlalchemy.create_engine(tracker.account.url)
    tracker.enqueue(1)
    drain(Database(tracker.settings, engine=engine), tracker.sources, tracker.settings)
    engine.dispose()
    assert bounds == [900_000, 900_000]


def test_a_login_that_nobody_answers_is_an_outage_and_the_next_goes_through(
    tracker: Tracker, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = oracledb.create_pool

    def impatient(**arguments: Any) -> oracledb.ConnectionPool:
        return whole(**{**arguments, "wait_timeout": 100})

    monkeypatch.setattr(oracledb, "create_pool", impatient)
    database = Database(dataclasses.replace(tracker.settings, dsn=proxy.dsn))
    with database.connect():
        proxy.fail_at(1, Fault.HOLE_BEFORE)
        with pytest.raises(ConnectionFailed, match="DPY-4005"), database.connect():
            pass
        assert proxy.hit
    proxy.notice()  # what the keepalive of the driver finds out within minutes
    with database.connect() as connection:
        connection.ping()
    database.close()
