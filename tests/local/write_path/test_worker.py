"""The loop: backfill, batches, outages, and when it ends."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from typing import Any

import pytest

from oraclerag import in_force, log, render, schema, worker
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.drain import drain
from oraclerag.errors import (
    ConnectionFailed,
    LoginFailed,
    ModelMissing,
    OracleRagError,
    SchemaMissing,
    SchemaTooNew,
)
from oraclerag.records import DrainReport
from oraclerag.source import SelectSource
from oraclerag.worker import work
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size


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


@pytest.mark.parametrize(("revision", "error"), [("9999", SchemaTooNew), ("0000", SchemaTooNew), (None, SchemaMissing)])
def test_a_worker_that_is_older_than_the_tables_stops_with_its_next_batch(
    tracker: Tracker, revision: str | None, error: type[OracleRagError]
) -> None:
    """Upgraded while it runs: nothing is written any more, what it had claimed is given back, and the reason is said."""
    tracker.task(1)
    tracker.enqueue(1)
    assert tracker.drain_all().indexed == 1
    tracker.task(2)
    tracker.enqueue(2)
    try:
        tracker.sql("DELETE FROM RAG_ALEMBIC_VERSION")
        if revision is not None:
            tracker.sql("INSERT INTO RAG_ALEMBIC_VERSION (VERSION_NUM) VALUES (:revision)", revision=revision)
        tracker.connection.commit()
        with pytest.raises(error, match=revision or "a migration did not end"):
            tracker.drain()
        assert tracker.queue() == [("2", "READY", 0, 0, 0)]
        with pytest.raises(error, match=revision or "a migration did not end"):
            run(tracker, 2)
    finally:
        tracker.sql("DELETE FROM RAG_ALEMBIC_VERSION")
        tracker.sql("INSERT INTO RAG_ALEMBIC_VERSION (VERSION_NUM) VALUES (:revision)", revision=schema.revisions()[-1])
        tracker.connection.commit()
    assert tracker.drain_all().indexed == 1


def test_a_batch_that_was_read_before_the_upgrade_is_not_written(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    read = SelectSource.read_each

    def upgraded(*arguments: Any, **more: Any) -> Any:
        tracker.sql("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '9999'")
        tracker.connection.commit()
        return read(*arguments, **more)

    monkeypatch.setattr(SelectSource, "read_each", upgraded)
    try:
        with pytest.raises(SchemaTooNew):
            tracker.drain()
        assert tracker.texts() == {}
        assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    finally:
        tracker.sql("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = :revision", revision=schema.revisions()[-1])
        tracker.connection.commit()


def test_what_a_batch_logs(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    """One line for the batch, one for each entity where they are asked for; nothing of what the documents say."""
    tracker.task(1, "A secret title", "a secret body")
    tracker.task(2, "Another secret", status="X" * 20)
    tracker.enqueue(1, 2, 3)
    with caplog.at_level(logging.DEBUG, "oraclerag"):
        tracker.drain()
        tracker.enqueue(1)
        tracker.drain()
    found = [vars(record) for record in caplog.records]
    assert [record["action"] for record in found] == ["indexed", "indexed", "deleted", "batch", "unchanged", "batch"]
    entity, batch, unchanged = found[0], found[3], found[4]
    assert {name: entity[name] for name in ("component", "levelname", "tenant", "source_type", "source_id", "chunks")} == {
        "component": "drain", "levelname": "DEBUG", "tenant": "main", "source_type": "task", "source_id": "1", "chunks": 1,
    }  # fmt: skip
    assert entity["tokens"] > 10
    assert (unchanged["tokens"], found[5]["tokens"]) == (0, 0), "nothing was embedded"
    assert (batch["levelname"], batch["rows"], batch["indexed"], batch["deleted"], batch["chunks"]) == (
        "INFO",
        3,
        2,
        1,
        2,
    )
    assert batch["tokens"] == found[0]["tokens"] + found[1]["tokens"]
    assert batch["milliseconds"] >= 0
    assert "secret" not in "\n".join(log.JsonLines().format(record) for record in caplog.records)


def test_what_is_logged_of_an_entity_that_fails(
    tracker: Tracker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=2)
    tracker.task(1, "A secret title")

    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueError("A secret title")

    monkeypatch.setattr(render, "chunks", refuse)
    tracker.enqueue(1)
    with caplog.at_level(logging.INFO, "oraclerag"):
        tracker.drain()
        tracker.due()
        tracker.drain()
    found = [vars(record) for record in caplog.records]
    assert [(record["action"], record["levelname"]) for record in found] == [
        ("unforeseen", "ERROR"), ("postponed", "INFO"), ("batch", "INFO"),
        ("unforeseen", "ERROR"), ("given_up", "WARNING"), ("batch", "INFO"),
    ]  # fmt: skip
    assert (found[1]["source_id"], found[1]["attempts"], found[1]["error_code"]) == ("1", 1, "ENTITY")
    assert "test_worker.py" in found[0]["where"]
    assert "secret" not in "\n".join(log.JsonLines().format(record) for record in caplog.records)
