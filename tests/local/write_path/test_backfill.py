"""Backfill: what the index lacks is enqueued, and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from oraclerag.backfill import backfill, run
from oraclerag.config import SourceSettings
from oraclerag.errors import ConfigurationError, Contention, InputError, SourceChanged, StatementFailed
from oraclerag.merge import Merge
from oraclerag.records import BackfillReport, Document
from oraclerag.source import FunctionSource, SelectSource, Source
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size  # nothing here depends on the length of strings

TENANTS = SelectSource(dataclasses.replace(TASK, tenant="status"))


def fill(tracker: Tracker, source: Source | None = None, **more: Any) -> BackfillReport:
    return backfill(tracker.database, source or tracker.sources["task"], tracker.settings, **more)


def test_what_is_missing_is_enqueued_once_in_the_bulk_lane(tracker: Tracker) -> None:
    for number in range(5):
        tracker.task(number)
    tracker.enqueue(0, 1)
    tracker.drain()
    assert fill(tracker) == BackfillReport("task", 3, 0, 5)
    assert tracker.sql("SELECT SOURCE_ID, LANE, ACTION FROM RAG_DIRTY ORDER BY SOURCE_ID") == [
        (str(number), 1, "UPSERT") for number in (2, 3, 4)
    ]
    assert fill(tracker).enqueued == 0  # they have untouched rows
    assert tracker.drain().indexed == 3
    assert fill(tracker) == BackfillReport("task", 0, 0, 5)


def test_an_entity_that_is_being_worked_on_is_enqueued_again(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET CLAIM = 'somebody'")
    tracker.connection.commit()
    assert fill(tracker).enqueued == 1


def test_what_is_gone_is_deleted(tracker: Tracker) -> None:
    for number in range(3):
        tracker.task(number)
    tracker.enqueue(0, 1, 2)
    tracker.drain()
    tracker.sql("DELETE FROM task WHERE id < 2")
    tracker.connection.commit()
    assert fill(tracker) == BackfillReport("task", 0, 2, 1)
    assert tracker.drain().deleted == 2
    assert sorted(tracker.texts()) == ["2"]
    assert fill(tracker) == BackfillReport("task", 0, 0, 1)


def test_rows_without_an_id_are_left_out_and_said(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    tracker.task(1, status="a")
    tracker.task(2, status=None)
    source = SelectSource(dataclasses.replace(TASK, key=("status", "source_id"), children={}, template="{{ title }}"))
    report = fill(tracker, source)
    assert (report.enqueued, report.total) == (1, 1)
    assert "1 rows have no value in a column of the key" in caplog.text
    assert [row[0] for row in tracker.queue()] == ["a/1"]


def test_a_tenant_that_stands_for_none_is_refused(tracker: Tracker) -> None:
    with pytest.raises(InputError, match="stands for none"):
        backfill(tracker.database, tracker.sources["task"], tracker.settings, tenant="-")


def test_everything_is_everything(tracker: Tracker) -> None:
    for number in range(3):
        tracker.task(number)
    tracker.enqueue(0, 1, 2)
    tracker.drain()
    assert fill(tracker, everything=True).enqueued == 3
    assert tracker.drain().unchanged == 3


def test_other_settings_are_put_in_force_and_make_everything_missing(tracker: Tracker) -> None:
    tracker.task(1)
    assert fill(tracker).enqueued == 1
    tracker.drain()
    other = SelectSource(dataclasses.replace(TASK, title=None))
    with pytest.raises(SourceChanged):
        fill(tracker, other, adopt=False)
    assert fill(tracker, other).enqueued == 1
    with pytest.raises(SourceChanged):
        fill(tracker, adopt=False)


def test_what_was_given_up_is_left_alone_by_a_worker_that_starts(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD'")
    tracker.connection.commit()
    assert fill(tracker, adopt=False).enqueued == 0
    assert fill(tracker).enqueued == 1


def test_what_was_indexed_once_and_given_up_since_is_missing(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise StatementFailed

    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    tracker.sql("UPDATE task SET title = 'new'")
    tracker.enqueue(1)
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=1)
    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", broken)
        assert tracker.drain().dead == 1
    assert fill(tracker, adopt=False).enqueued == 0
    assert fill(tracker).enqueued == 1
    assert tracker.drain().indexed == 1
    assert tracker.queue() == []
    assert fill(tracker).enqueued == 0


def test_one_backfill_of_a_source_at_a_time(tracker: Tracker) -> None:
    tracker.task(1)
    fill(tracker)
    tracker.sql("UPDATE RAG_SETTING SET SETTING_VALUE = 'another' WHERE SETTING = 'backfill'")
    tracker.connection.commit()
    with pytest.raises(Contention, match="Another backfill"):
        fill(tracker)
    tracker.sql("UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '1' HOUR WHERE SETTING = 'backfill'")
    tracker.connection.commit()
    assert fill(tracker).enqueued == 0
    assert tracker.scalar("SELECT SETTING_VALUE FROM RAG_SETTING WHERE SETTING = 'backfill'") is None


def test_slices_are_committed_and_an_interrupted_backfill_goes_on(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SLICE", 4)
    for number in range(10):
        tracker.task(number)
    done = []

    def interrupted(so_far: int, total: int) -> None:
        done.append((so_far, total))
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(tracker, on_progress=interrupted)
    assert done == [(4, 10), (8, 10)]
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") == 8
    assert fill(tracker, on_progress=lambda *_: None).enqueued == 2


def test_one_tenant_only(tracker: Tracker) -> None:
    for number, tenant in enumerate(["acme", "acme", "beta", None]):
        tracker.task(number, status=tenant)
    assert fill(tracker, TENANTS, tenant="acme") == BackfillReport("task", 2, 0, 2)
    assert fill(tracker, TENANTS).enqueued == 1
    assert tracker.sql("SELECT SOURCE_ID, TENANT_ID FROM RAG_DIRTY ORDER BY SOURCE_ID") == [
        ("0", "acme"), ("1", "acme"), ("2", "beta"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="maps no tenant"):
        fill(tracker, tenant="acme")
    assert fill(tracker, tenant="main").total == 4


def test_one_tenant_only_leaves_the_others_alone_and_finds_what_is_gone_of_it(tracker: Tracker) -> None:
    tracker.sources = {"task": TENANTS}
    for number, tenant in enumerate(["acme", "acme", "beta", "acme"]):
        tracker.task(number, status=tenant)
        tracker.enqueue(number, tenant=tenant)
    assert tracker.drain_all().indexed == 4
    tracker.sql("DELETE FROM task WHERE id = 0")
    tracker.sql("UPDATE task SET status = 'beta' WHERE id = 1")
    tracker.connection.commit()
    assert fill(tracker, TENANTS, tenant="acme") == BackfillReport("task", 0, 2, 1)
    assert (report := tracker.drain_all()).deleted == 1
    assert report.indexed == 1
    assert dict(tracker.sql("SELECT SOURCE_ID, TENANT_ID FROM RAG_CHUNK")) == {"1": "beta", "2": "beta", "3": "acme"}


def test_an_id_that_is_too_long_holds_up_nobody_else(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    tracker.task(1)
    select = "select RPAD('x', 401, 'x') as source_id, 'a' as title from dual union all select 'fits', 'b' from dual"
    source = SelectSource(SourceSettings("long", select, "shared", body="title"))
    assert fill(tracker, source).enqueued == 1
    assert "1 ids have more than 400 bytes" in caplog.text
    assert [row[0] for row in tracker.queue()] == ["fits"]


def test_an_entity_that_lost_its_tenant_is_enqueued_for_deletion(tracker: Tracker) -> None:
    tracker.task(1, status="acme")
    fill(tracker, TENANTS)
    tracker.drain(sources={"task": TENANTS})
    tracker.sql("UPDATE task SET status = NULL")
    tracker.connection.commit()
    assert fill(tracker, TENANTS) == BackfillReport("task", 0, 1, 1)
    assert tracker.drain(sources={"task": TENANTS}).deleted == 1


def test_a_function_is_enumerated_by_its_query(tracker: Tracker) -> None:
    def read(connection: Any, ids: Any) -> dict[str, Document]:
        return {key: Document(f"task {key}") for key in ids}

    tracker.task(1)
    source = FunctionSource("note", read, visibility="shared", ids="select id from task")
    assert fill(tracker, source) == BackfillReport("note", 1, 0, 1)
    assert tracker.drain(sources={"note": source}).indexed == 1
    without = FunctionSource("note", read, visibility="shared")
    with pytest.raises(ConfigurationError, match="cannot be enumerated"):
        fill(tracker, without)


def test_blanks_that_fill_a_char_column_belong_to_no_tenant_and_no_owner(tracker: Tracker) -> None:
    tracker.sql("CREATE TABLE padded (source_id NUMBER, title VARCHAR2(20), tenant CHAR(10), person CHAR(5))")
    tracker.sql("INSERT INTO padded VALUES (1, 'one', 'acme', '7')")
    tracker.connection.commit()
    settings = SourceSettings(
        "padded", "select * from padded", "owner", body="title", tenant="tenant", owner="person"
    )  # fmt: skip
    tracker.sources = {"padded": SelectSource(settings)}
    try:
        assert fill(tracker, tracker.sources["padded"], tenant="acme").enqueued == 1
        assert tracker.sql("SELECT TENANT_ID FROM RAG_DIRTY") == [("acme",)]
        assert tracker.drain().indexed == 1
        assert tracker.sql("SELECT TENANT_ID, OWNER_ID FROM RAG_CHUNK") == [("acme", "7")]
    finally:
        tracker.sql("DROP TABLE padded")
