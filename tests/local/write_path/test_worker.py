"""The loop: backfill, batches, outages, and when it ends."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any

import pytest

from oraclerag import in_force, worker
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.drain import drain
from oraclerag.errors import ConnectionFailed, LoginFailed, ModelMissing
from oraclerag.records import DrainReport
from oraclerag.source import SelectSource
from oraclerag.worker import work
from tests.local.write_path.tracker import TASK, Tracker


def quick(tracker: Tracker) -> Settings:
    return dataclasses.replace(tracker.settings, initial_delay=0.0, poll_interval=0.05)


def run(tracker: Tracker, batches: int, **more: Any) -> DrainReport:
    """Work until so many reports have come."""
    stop, seen = threading.Event(), 0

    def report(_: DrainReport) -> None:
        nonlocal seen
        seen += 1
        if seen >= batches:
            stop.set()

    return work(tracker.database, tracker.sources, quick(tracker), stop, on_report=report, **more)


def test_once_works_off_what_waits_and_ends(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=2)
    for number in range(5):
        tracker.task(number)
    tracker.enqueue(*range(5))
    reports: list[DrainReport] = []
    total = work(tracker.database, tracker.sources, tracker.settings, once=True, on_report=reports.append)
    assert total.indexed == 5
    assert [report.claimed for report in reports] == [2, 2, 1, 0]


def test_a_worker_that_starts_enqueues_what_is_missing(tracker: Tracker) -> None:
    tracker.task(1)
    assert run(tracker, 2).indexed == 1
    tracker.task(2)
    without = dataclasses.replace(quick(tracker), backfill_on_start=False)
    ticks = iter([False, False, True, True, True])
    assert work(tracker.database, tracker.sources, without, lambda: next(ticks)).indexed == 0


def test_a_stop_ends_it_between_two_batches(tracker: Tracker) -> None:
    stop = threading.Event()
    stop.set()
    assert work(tracker.database, tracker.sources, quick(tracker), stop) == DrainReport()


def test_other_settings_in_force_stop_neither_the_worker_nor_change_them(tracker: Tracker) -> None:
    tracker.task(1)
    run(tracker, 2)
    tracker.sources["task"] = SelectSource(dataclasses.replace(TASK, title=None))
    assert run(tracker, 2).claimed == 0


def test_an_outage_is_waited_out_once_it_has_worked(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    calls = 0

    def flaky(*arguments: Any, **more: Any) -> DrainReport:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ConnectionFailed
        if calls == 3:
            raise ModelMissing
        return drain(*arguments, **more)

    monkeypatch.setattr("oraclerag.worker.drain", flaky)
    assert run(tracker, 2).indexed == 1
    assert calls == 4


def test_what_is_wrong_from_the_beginning_is_raised(tracker: Tracker) -> None:
    settings = dataclasses.replace(quick(tracker), password="wrong")
    database = Database(settings)
    with pytest.raises(LoginFailed):
        work(database, tracker.sources, settings)
    database.close()


def test_a_paused_source_is_taken_up_once_it_is_green(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_FIRST_RECHECK", 0.0)
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    tracker.enqueue(1)
    with tracker.database.connect() as connection:
        in_force.pause(connection, tracker.database.schema, "task", "PRIVILEGE_MISSING: a grant was missing")
    assert run(tracker, 4).unchanged == 1


def test_a_source_that_was_in_use_again_is_looked_at_soon_when_it_is_paused_anew(tracker: Tracker) -> None:
    looking = worker._Worker(tracker.database, tracker.sources, tracker.settings, threading.Event(), None)
    looking.rechecks = {
        "task": worker._Recheck(pause=3600.0, at=time.monotonic() - 1),
        "note": worker._Recheck(pause=3600.0, at=time.monotonic() + 1000),
    }
    looking._recheck()
    assert list(looking.rechecks) == ["note"]
