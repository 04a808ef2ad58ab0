"""What looking costs while nothing happens, by the round trips that the local database counts; and a cut connection."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import threading

import oracledb
import pytest
import sqlalchemy

from oraclerag import SourceKey
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import IndexingTimeout
from oraclerag.local import LocalDatabase
from oraclerag.records import DrainReport
from oraclerag.wait import wait
from oraclerag.worker import work
from tests.local.tcp_proxy import Fault, Proxy
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size


@pytest.mark.parametrize(("borrowed", "trips"), [("own pool", 1), ("pool", 1), ("engine", 2)])
def test_an_idle_poll_is_one_round_trip(
    tracker: Tracker, local_database: LocalDatabase, borrowed: str, trips: int
) -> None:
    """No ping, no settings, no rollback, no commit; one plain SELECT. SQLAlchemy's own pool adds its rollback."""
    with contextlib.ExitStack() as stack:
        if borrowed == "own pool":
            database = tracker.database
        elif borrowed == "pool":
            pool = oracledb.create_pool(
                dsn=tracker.account.dsn, user=tracker.account.user, password=tracker.account.password, min=1, max=1
            )
            stack.callback(pool.close, force=True)
            database = Database(tracker.settings, pool=pool)
        else:
            engine = sqlalchemy.create_engine(tracker.account.url)
            stack.callback(engine.dispose)
            database = Database(tracker.settings, engine=engine)
        state = WorkerState()
        tracker.task(1)
        tracker.enqueue(1)
        while drain(database, tracker.sources, tracker.settings, state=state).claimed:
            pass
        before = local_database.round_trips
        for _ in range(5):
            assert drain(database, tracker.sources, tracker.settings, state=state).claimed == 0
        assert local_database.round_trips - before == 5 * trips


def test_the_loop_adds_nothing_to_an_idle_poll(tracker: Tracker, local_database: LocalDatabase) -> None:
    counted: list[int] = []
    run_settings = dataclasses.replace(tracker.settings, initial_delay=0.0, poll_interval=0.05, backfill_on_start=False)
    stop = threading.Event()

    def report(_: DrainReport) -> None:
        counted.append(local_database.round_trips)
        if len(counted) == 6:
            stop.set()

    work(tracker.database, tracker.sources, run_settings, stop, on_report=report)
    assert [after - before for before, after in itertools.pairwise(counted)] == [1] * 5


@pytest.mark.parametrize("everything", [False, True])
def test_whoever_waits_looks_with_one_round_trip(
    tracker: Tracker, local_database: LocalDatabase, everything: bool
) -> None:
    tracker.enqueue(1, 2)
    keys = None if everything else [SourceKey("task", "1"), SourceKey("task", "2"), SourceKey("task", "3")]
    now, seen = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        seen.append(local_database.round_trips)

    with pytest.raises(IndexingTimeout):
        wait(tracker.database, keys, timeout=1.0, clock=lambda: now, sleep=sleep)
    assert len(seen) >= 5
    assert {after - before for before, after in itertools.pairwise(seen)} == {1}


def test_a_connection_that_is_cut_is_an_outage_that_passes(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    """The real thing: the driver's error, a line, a new connection, another line; the change is applied."""
    with Proxy(tracker.account.dsn) as proxy, caplog.at_level(logging.INFO, "oraclerag"):
        settings = dataclasses.replace(
            tracker.settings, dsn=proxy.dsn, initial_delay=0.0, poll_interval=0.05, backfill_on_start=False
        )
        database, stop = Database(settings), threading.Event()
        looks = 0

        def report(batch: DrainReport) -> None:
            nonlocal looks
            looks += 1
            if looks == 2:
                tracker.task(1)
                tracker.enqueue(1)
                proxy.fail_at(3, Fault.CUT_BEFORE)
            if batch.indexed:
                stop.set()

        try:
            assert work(database, tracker.sources, settings, stop, on_report=report).indexed == 1
        finally:
            database.close()
    assert proxy.hit
    found = [(vars(record)["action"], vars(record).get("error_code")) for record in caplog.records]
    assert [event for event in found if "outage" in event[0]] == [
        ("outage", "CONNECTION_FAILED"),
        ("outage_over", None),
    ]
