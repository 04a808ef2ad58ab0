"""Backfill: what the index lacks is enqueued, and nothing else."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading
from typing import Any

import pytest

from oraclerag.backfill import backfill, backfill_at_start, dry_run, estimate, run
from oraclerag.chunk import Limits, chunks
from oraclerag.config import SourceSettings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, Contention, InputError, SourceChanged, StatementFailed
from oraclerag.merge import Merge
from oraclerag.model.active import active_model
from oraclerag.records import BackfillEstimate, BackfillReport, Document
from oraclerag.source import FunctionSource, SelectSource, Source
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size  # nothing here depends on the length of strings

TENANTS = SelectSource(dataclasses.replace(TASK, tenant="status"))


def fill(tracker: Tracker, source: Source | None = None, **more: Any) -> BackfillReport:
    return backfill(tracker.database, source or tracker.sources["task"], tracker.settings, **more)


def at_start(tracker: Tracker, source: Source | None = None) -> BackfillReport | None:
    return backfill_at_start(tracker.database, source or tracker.sources["task"], tracker.settings)


def estimated(tracker: Tracker, source: Source | None = None, **more: Any) -> BackfillEstimate:
    return estimate(tracker.database, source or tracker.sources["task"], tracker.settings, **more)


def change(tracker: Tracker, statement: str) -> None:
    tracker.sql(statement)
    tracker.connection.commit()


def everything_stored(tracker: Tracker) -> list[Any]:
    tables = ("RAG_ENTITY", "RAG_DIRTY", "RAG_DOCUMENT", "RAG_SETTING")
    return [tracker.sql(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables] + [tracker.texts()]


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
    change(tracker, "UPDATE RAG_SETTING SET SETTING_VALUE = 'another' WHERE SETTING = 'backfill'")
    with pytest.raises(Contention, match="Another backfill"):
        fill(tracker)
    change(tracker, "UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '1' HOUR WHERE SETTING = 'backfill'")
    assert fill(tracker).enqueued == 0
    assert tracker.scalar("SELECT SETTING_VALUE FROM RAG_SETTING WHERE SETTING = 'backfill'") is None


def test_a_slice_that_takes_longer_than_the_lease_is_not_taken_over(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is locked while a slice is written: whoever comes then is told at once, and does not wait."""
    tracker.task(1)
    whole = run._Backfill._renew
    renewed: list[str] = []

    def slow(self: Any, cursor: Any) -> None:
        whole(self, cursor)
        cursor.execute("UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '1' HOUR WHERE SETTING = 'backfill'")
        with monkeypatch.context() as patch:
            patch.setattr(run._Backfill, "_renew", whole)
            with pytest.raises(Contention, match="Another backfill"):
                fill(tracker)
        renewed.append("slow")

    with monkeypatch.context() as patch:
        patch.setattr(run._Backfill, "_renew", slow)
        assert fill(tracker).enqueued == 1
    assert renewed


def test_a_backfill_that_was_taken_over_writes_no_more(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        tracker.task(number)
    monkeypatch.setattr(run, "SLICE", 2)

    def taken_over(done: int, total: int) -> None:
        change(tracker, "UPDATE RAG_SETTING SET SETTING_VALUE = 'another' WHERE SETTING = 'backfill'")

    with pytest.raises(Contention, match="has taken over"):
        fill(tracker, on_progress=taken_over)
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") == 2
    assert tracker.scalar("SELECT SETTING_VALUE FROM RAG_SETTING WHERE SETTING = 'backfill'") == "another"


def test_workers_that_start_backfill_once_an_hour(tracker: Tracker) -> None:
    tracker.task(1)
    assert at_start(tracker) == BackfillReport("task", 1, 0, 1)
    tracker.task(2)
    assert at_start(tracker) is None
    assert fill(tracker).enqueued == 1  # who asks for it has it
    tracker.task(3)
    change(
        tracker, "UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '61' MINUTE WHERE SETTING = 'last_backfill'"
    )
    assert at_start(tracker) == BackfillReport("task", 1, 0, 3)
    # for other settings, or another model, none has been
    other = SelectSource(dataclasses.replace(TASK, title=None))
    fill(tracker, other)
    change(tracker, "DELETE FROM RAG_DIRTY")
    assert at_start(tracker, other) is None
    with pytest.raises(SourceChanged):
        at_start(tracker)


def test_a_backfill_of_one_tenant_or_one_that_failed_is_none_of_the_hour(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise StatementFailed

    tracker.task(1, status="acme")
    tracker.task(2, status="beta")
    fill(tracker, TENANTS, tenant="acme")
    with monkeypatch.context() as patch:
        patch.setattr(run._Backfill, "_slice", broken)
        with pytest.raises(StatementFailed):
            at_start(tracker, TENANTS)
    assert at_start(tracker, TENANTS) == BackfillReport("task", 1, 0, 2)


def test_twenty_workers_that_start_at_once_do_one_backfill(tracker: Tracker) -> None:
    for number in range(30):
        tracker.task(number)
    ready = threading.Barrier(20)

    def start(_: int) -> BackfillReport | str | None:
        database = Database(tracker.settings)
        try:
            with database.connect():
                ready.wait(30)
            return backfill_at_start(database, tracker.sources["task"], tracker.settings)
        except Contention as error:
            return error.message
        finally:
            database.close()

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        results = list(pool.map(start, range(20)))
    assert [result for result in results if isinstance(result, BackfillReport)] == [BackfillReport("task", 30, 0, 30)]
    assert {result for result in results if isinstance(result, str)} <= {"Another backfill of source 'task' runs."}
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") == 30


def test_who_enqueues_and_a_backfill_do_not_wait_for_each_other(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same entity: an enqueue while a slice is not committed, and a slice while an enqueue is not."""
    tracker.task(1)
    tracker.task(2)
    tracker.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '1')")  # not committed
    whole = run._Backfill._renew
    seen: list[Any] = []

    def beside(self: Any, cursor: Any) -> None:
        whole(self, cursor)
        with tracker.account.connect() as other, other.cursor() as its:
            other.call_timeout = 20_000  # waiting would be an error
            its.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '2')")
            its.execute("SELECT COUNT(*) FROM RAG_DIRTY WHERE LANE = 1")
            seen.append(its.fetchone()[0])
            other.commit()

    with monkeypatch.context() as patch:
        patch.setattr(run._Backfill, "_renew", beside)
        assert fill(tracker).enqueued == 2 - 1  # '2' was enqueued before the slice was written
    assert seen[:2] == [0, 0]
    tracker.connection.commit()
    assert sorted(row[0] for row in tracker.queue()) == ["1", "1", *["2"] * len(seen)]
    assert tracker.drain_all().indexed == 2


def test_an_id_that_a_select_gives_twice_is_enqueued_once(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.task(2)
    twice = SelectSource(
        dataclasses.replace(
            TASK, select=f"{TASK.select} cross join (select 1 from dual union all select 2 from dual) n"
        )
    )
    assert fill(tracker, twice, everything=True).enqueued == 2
    assert sorted(row[0] for row in tracker.queue()) == ["1", "2"]


def test_chunks_that_were_lost_are_missing(tracker: Tracker) -> None:
    for number in range(3):
        tracker.task(number, description=None)
    tracker.enqueue(0, 1, 2)
    tracker.drain()
    change(tracker, "DELETE FROM RAG_CHUNK WHERE SOURCE_ID = '1'")
    assert estimated(tracker).entities == 1
    assert fill(tracker).enqueued == 1
    assert tracker.drain().indexed == 1
    assert sorted(tracker.texts()) == ["0", "1", "2"]
    assert fill(tracker).enqueued == 0


def test_ranges_leave_nothing_out_whatever_the_ids(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order and comparison of texts must agree: bytes, not a language."""
    monkeypatch.setattr(run, "SLICE", 3)
    ids = [
        "a",
        "A",
        "b",
        "B",
        "ä",
        "Ä",
        "z",
        "Z",
        "_",
        "-",
        "9",
        "10",
        "a b",
        "a-b",
        "a_b",
        "ß",
        "ss",
        "\U0001f600",
        "ﬀ",
    ]
    tracker.sql("CREATE TABLE named (id VARCHAR2(100) PRIMARY KEY, title VARCHAR2(20))")
    try:
        for name in ids:
            tracker.sql("INSERT INTO named VALUES (:1, 'x')".replace(":1", ":id"), id=name)
        tracker.connection.commit()
        source = SelectSource(
            SourceSettings("named", "select id as source_id, title from named", "shared", body="title")
        )
        told: list[tuple[int, int]] = []
        report = fill(tracker, source, on_progress=lambda *so_far: told.append(so_far))
        assert report == BackfillReport("named", len(ids), 0, len(ids))
        assert sorted(row[0] for row in tracker.queue()) == sorted(ids)
        assert told[-1] == (len(ids), len(ids))
        assert len(told) == 7
        tracker.sources = {"named": source}
        assert tracker.drain_all().indexed == len(ids)
        change(tracker, "DELETE FROM named WHERE id <> 'a'")
        assert fill(tracker, source) == BackfillReport("named", 0, len(ids) - 1, 1)
    finally:
        tracker.sql("DROP TABLE named")


def test_a_dry_run_counts_and_writes_nothing(tracker: Tracker) -> None:
    for number in range(6):
        tracker.task(number, description="word " * 30)
    tracker.enqueue(0, 1)
    tracker.drain()
    change(tracker, "DELETE FROM task WHERE id = 1")
    before = everything_stored(tracker)
    found = estimated(tracker)
    assert (found.entities, found.gone, found.total, found.sampled) == (4, 1, 5, 4)
    assert found.tokens is not None
    assert found.minutes is not None
    assert found.minutes > 0
    with tracker.database.connect() as connection:
        model = active_model(connection, tracker.database.schema)
    exact = sum(
        model.counter.count(chunk.content)
        for text in tracker.sources["task"].read(tracker.connection, ["2", "3", "4", "5"]).values()
        for chunk in chunks(text.text, Limits(model.max_tokens, model.counter.count))
    )
    assert found.tokens == exact  # all of them were in the sample
    assert everything_stored(tracker) == before
    report = fill(tracker)
    assert (report.enqueued, report.gone, report.total) == (found.entities, found.gone, found.total)
    assert estimated(tracker).entities == 0  # they wait


def test_a_dry_run_of_everything_knows_what_is_embedded_already(tracker: Tracker) -> None:
    for number in range(4):
        tracker.task(number)
    fill(tracker)
    tracker.drain_all()
    nothing = estimated(tracker)
    assert (nothing.entities, nothing.tokens, nothing.minutes) == (0, 0, 0.0)
    found = estimated(tracker, everything=True)
    assert (found.entities, found.sampled, found.tokens) == (4, 4, 0)
    change(tracker, "UPDATE task SET title = 'other' WHERE id = 1")
    changed = estimated(tracker, everything=True).tokens
    assert changed is not None
    assert 0 < changed < 100


def test_a_dry_run_extrapolates_from_a_sample(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10, 30):
        tracker.task(number)
    whole = estimated(tracker)
    monkeypatch.setattr(dry_run, "SAMPLE", 5)
    found = estimated(tracker, seed=7)
    assert (found.sampled, found.entities) == (5, 20)
    assert found.tokens == whole.tokens  # they are all alike
    assert found == dataclasses.replace(estimated(tracker, seed=7), minutes=found.minutes)


def test_a_dry_run_that_can_read_nothing_says_so(tracker: Tracker) -> None:
    def broken(connection: Any, ids: Any) -> dict[str, Document]:
        raise ValueError("secret")

    tracker.task(1)
    source = FunctionSource("note", broken, visibility="shared", ids="select id from task")
    found = estimated(tracker, source)
    assert (found.entities, found.sampled, found.tokens, found.minutes) == (1, 0, None, None)


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
