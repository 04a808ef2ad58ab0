"""The drain under failures: who is at fault is postponed, nobody else; what was claimed twice is written once."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import oracledb
import pytest

from oraclerag import in_force, render
from oraclerag.backfill import backfill
from oraclerag.claim import Claim, Postponed, Queue, Turns
from oraclerag.drain import WorkerState
from oraclerag.errors import ConnectionFailed, ModelNotActive, ParallelDml, StatementFailed
from oraclerag.merge import Merge, Merged
from oraclerag.records import Claimed, Document
from oraclerag.source import FunctionSource, SelectSource, Source
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size


def claim(tracker: Tracker, connection: oracledb.Connection, limit: int = 32, lane: int = 0) -> Claim:
    queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=tracker.settings.max_attempts)
    return queue.claim(lane, "-", types={"task": False, "note": False}, limit=limit, come_back=2.0)


def notes(texts: Mapping[str, str | Exception], **more: Any) -> dict[str, Source]:
    """A source of Python whose ids raise what stands in their place."""

    def read(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
        for key in ids:
            if isinstance(error := texts.get(key), Exception):
                raise error
        return {key: Document(str(texts[key]), owner="7") for key in ids if key in texts}

    return {"note": FunctionSource("note", read, visibility="owner", **more)}


# -- claims -----------------------------------------------------------------------------------------------------------


def test_two_workers_get_different_rows_and_no_more_than_they_asked_for(tracker: Tracker) -> None:
    for number in range(10):
        tracker.task(number)
    tracker.enqueue(*range(10))
    with tracker.account.connect() as one, tracker.account.connect() as two:
        first, second = claim(tracker, one, 4), claim(tracker, two, 4)
        assert len(first.entities) == len(second.entities) == 4
        assert not {e.source_id for e in first.entities} & {e.source_id for e in second.entities}
    assert sum(row[4] for row in tracker.queue()) == 8


def test_a_batch_of_long_texts_keeps_its_lease_while_it_is_cut(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, kept = [0.0], []
    cut, renew = render.rendered, Queue.renew

    def slowly(*values: Any, **more: Any) -> Any:
        clock[0] += tracker.settings.lease / 2
        return cut(*values, **more)

    def renewed(queue: Queue, claim: Claim, entities: Iterable[Claimed]) -> None:
        renew(queue, claim, entities)
        kept.append(clock[0])

    monkeypatch.setattr("oraclerag.drain.time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr("oraclerag.drain.rendered", slowly)
    monkeypatch.setattr(Queue, "renew", renewed)
    for number in range(4):
        tracker.task(number)
    tracker.enqueue(*range(4))
    assert tracker.drain().indexed == 4
    half = tracker.settings.lease / 2
    assert kept == [half, 2 * half, 3 * half]


def test_rows_that_another_session_locks_are_passed_over_and_only_wanted_rows_are_locked(tracker: Tracker) -> None:
    tracker.enqueue(*range(6))
    with tracker.account.connect() as other:
        cursor = other.cursor()
        cursor.arraysize = cursor.prefetchrows = 2
        cursor.execute("SELECT DIRTY_ID FROM RAG_DIRTY ORDER BY DIRTY_ID FOR UPDATE SKIP LOCKED")
        cursor.fetchmany(2)
        assert [e.source_id for e in claim(tracker, tracker.connection).entities] == ["2", "3", "4", "5"]


def test_rows_of_an_entity_that_is_held_come_back_uncounted(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    with tracker.account.connect() as other:
        held = claim(tracker, other)
        assert len(held.entities) == 1
        tracker.enqueue(1)
        assert tracker.drain().claimed == 0
        assert tracker.queue() == [("1", "READY", 0, 1, 1), ("1", "READY", 0, 0, 0)]
        assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)") == 2
        Queue(other, tracker.database.schema, lease=300, max_attempts=5).give_back(held, held.entities)
    tracker.due()
    assert (tracker.drain().claimed, tracker.queue()) == (2, [])


def test_a_worker_that_died_is_replaced_after_its_lease_and_its_rows_are_claimed_alone(tracker: Tracker) -> None:
    for number in (1, 2, 3):
        tracker.task(number)
    tracker.enqueue(1, 2)
    claim(tracker, tracker.connection)
    tracker.enqueue(3)
    assert tracker.drain().indexed == 1  # the lease still runs
    tracker.due()
    assert [tracker.drain().claimed for _ in range(3)] == [1, 1, 0]
    assert sorted(tracker.texts()) == ["1", "2", "3"]
    assert tracker.queue() == []


def test_a_row_that_ends_its_worker_again_and_again_is_given_up_and_the_one_beside_it_is_not(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=2)
    tracker.task(1, assignee_id=7)
    tracker.task(2)
    tracker.enqueue(1, 2)
    tracker.drain()
    tracker.enqueue(1, 2)
    claim(tracker, tracker.connection)  # both, and the worker dies
    for _ in range(2):
        tracker.due()
        got = claim(tracker, tracker.connection)  # alone, and it dies again
        assert len(got.entities) == 1
        if got.entities[0].source_id == "2":
            Queue(tracker.connection, tracker.database.schema, lease=300, max_attempts=2).give_back(got, got.entities)
    while any(row[3] < 3 for row in tracker.queue() if row[0] == "1"):
        tracker.due()
        got = claim(tracker, tracker.connection)
        if got.entities[0].source_id == "2":
            Queue(tracker.connection, tracker.database.schema, lease=300, max_attempts=2).give_back(got, got.entities)
    tracker.due()
    total = tracker.drain_all()
    assert total.dead == 1
    assert tracker.queue() == [("1", "DEAD", 0, 3, 0)]
    assert tracker.scalar("SELECT ERROR_CODE FROM RAG_DIRTY") == "CRASHED"
    # nobody could say whose it is by now
    assert dict(tracker.sql("SELECT SOURCE_ID, VISIBILITY FROM RAG_CHUNK")) == {"1": "HIDDEN", "2": "OWNER"}
    tracker.enqueue(1)
    tracker.drain()
    assert dict(tracker.sql("SELECT SOURCE_ID, VISIBILITY FROM RAG_CHUNK")) == {"1": "OWNER", "2": "OWNER"}
    assert tracker.queue() == []  # the change that worked took the dead row along


def test_a_slow_worker_writes_nothing_after_another_has_taken_over(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker.task(1, "old")
    tracker.enqueue(1)
    whole = Queue.hold
    overtaken = False

    def slow(self: Queue, *arguments: Any) -> Any:
        nonlocal overtaken
        if not overtaken:
            overtaken = True
            tracker.sql("UPDATE task SET title = 'new'")
            tracker.due()
            assert tracker.drain(state=WorkerState()).indexed == 1
        return whole(self, *arguments)

    monkeypatch.setattr(Queue, "hold", slow)
    report = tracker.drain()
    assert (report.indexed, report.given_back) == (0, 1)
    assert tracker.texts() == {"1": ["[TASK #1] new\nStatus: OPEN | Sprint: none\nDescription: -\nComments:"]}
    assert tracker.queue() == []


@pytest.mark.parametrize("late", ["renew", "give_back", "settle", "postpone"])
def test_nothing_of_a_claim_that_was_taken_over_touches_rows_or_tickets(tracker: Tracker, late: str) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    with tracker.account.connect() as slow:
        lost = claim(tracker, slow)
        tracker.due()
        assert [entity.source_id for entity in claim(tracker, tracker.connection).entities] == ["1"]

        def state() -> list[list[tuple[Any, ...]]]:
            return [tracker.sql(f"SELECT * FROM {table} ORDER BY 1") for table in ("RAG_DIRTY", "RAG_ENTITY")]

        before = state()
        queue = Queue(slow, tracker.database.schema, lease=900, max_attempts=5)
        if late == "postpone":
            failures = [Postponed(entity, "SOURCE", "too late", 1.0, unread=True) for entity in lost.entities]
            queue.postpone(lost, failures)
        else:
            getattr(queue, late)(lost, lost.entities)
        slow.commit()
        assert state() == before


def test_a_change_during_the_work_is_not_lost(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.task(1, "old")
    tracker.enqueue(1)
    whole = SelectSource.read_each

    def read(self: SelectSource, *arguments: Any) -> Any:
        result = whole(self, *arguments)
        tracker.sql("UPDATE task SET title = 'new'")
        tracker.enqueue(1)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(SelectSource, "read_each", read)
        tracker.drain()
    assert "old" in tracker.texts()["1"][0]
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    tracker.drain()
    assert "new" in tracker.texts()["1"][0]


# -- turns ------------------------------------------------------------------------------------------------------------


def test_bulk_work_gets_one_batch_in_four_while_there_are_changes(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=1)
    for number in range(12):
        tracker.sql(
            "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, LANE) VALUES ('task', :id, :lane)",
            id=str(number),
            lane=number // 6,
        )
    tracker.connection.commit()
    left = []
    for _ in range(8):
        tracker.drain()
        left.append(tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE LANE = 1"))
    assert left == [6, 6, 6, 5, 5, 5, 5, 4]


def test_tenants_take_turns(tracker: Tracker) -> None:
    turns = Turns()
    for tenant, rows in (("acme", 5), ("beta", 2), ("coda", 1)):
        for number in range(rows):
            tracker.enqueue(f"{tenant}-{number}", tenant=tenant)
    queue = Queue(tracker.connection, tracker.database.schema, lease=300, max_attempts=5)
    served = []
    while found := queue.turn(turns, ["task"]):
        turn = found[0]
        queue.claim(turn.lane, turn.tenant, types={"task": False}, limit=1, come_back=2.0)
        turns.took(turn)
        served.append(turn.tenant)
    assert served == ["acme", "beta", "coda", "acme", "beta", "acme", "acme", "acme"]


def test_rows_that_nobody_here_serves_stop_nobody_elses_turn(tracker: Tracker) -> None:
    for tenant in range(20):
        tracker.enqueue("x", source="elsewhere", tenant=f"a{tenant:02}")
    tracker.task(1)
    tracker.enqueue(1, tenant="zulu")
    assert tracker.drain().indexed == 1
    assert len(tracker.queue()) == 20


# -- failures ---------------------------------------------------------------------------------------------------------


def test_one_entity_at_fault_is_postponed_alone_and_given_up_in_the_end(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=3)
    texts: dict[str, str | Exception] = {str(number): f"note {number}" for number in range(5)}
    sources = notes(texts)
    tracker.enqueue(*texts, source="note")
    assert tracker.drain(sources=sources).indexed == 5
    texts["3"] = ValueError("secret text of the note")
    tracker.enqueue(*texts, source="note")
    report = tracker.drain(sources=sources)
    assert (report.unchanged, report.postponed, report.dead) == (4, 1, 0)
    assert tracker.queue() == [("3", "READY", 1, 0, 0)]
    assert tracker.drain(sources=sources).claimed == 0  # it waits
    tracker.due()
    assert tracker.drain(sources=sources).postponed == 1
    assert tracker.scalar("SELECT VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID = '3'") == "OWNER"
    tracker.due()
    assert tracker.drain(sources=sources).dead == 1
    assert tracker.queue() == [("3", "DEAD", 3, 0, 0)]
    code, message = tracker.sql("SELECT ERROR_CODE, LAST_ERROR FROM RAG_DIRTY")[0]
    assert code == "ENTITY"
    assert "ValueError" in message
    assert "secret" not in message
    assert tracker.scalar("SELECT VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID = '3'") == "HIDDEN"
    texts["3"] = "note 3"
    tracker.enqueue("3", source="note")
    assert tracker.drain(sources=sources).embedded == 0
    assert tracker.scalar("SELECT VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID = '3'") == "OWNER"
    assert tracker.queue() == []


def test_an_entity_that_fails_is_postponed_on_a_session_that_has_given_tickets_back(tracker: Tracker) -> None:
    """The driver knows the statement that frees a ticket by then: DPY-4006, and the failure was never written down."""
    tracker.enqueue(1)
    queue = Queue(tracker.connection, tracker.database.schema, lease=300, max_attempts=5)
    for _ in range(3):
        got = claim(tracker, tracker.connection)
        queue.give_back(got, got.entities)
    got = claim(tracker, tracker.connection)
    queue.postpone(got, [Postponed(entity, "ENTITY", "no", 1.0, unread=True) for entity in got.entities])
    tracker.connection.commit()
    assert tracker.queue() == [("1", "READY", 1, 0, 0)]


def test_a_row_of_data_that_breaks_the_select_is_found_among_the_others(tracker: Tracker) -> None:
    select = "select t.id as source_id, to_number(t.status) as points, t.title from task t"
    alone: dict[str, Any] = {"owner": None, "sprint": None, "occurred_at": None, "metadata": (), "children": {}}
    settings = dataclasses.replace(TASK, select=select, template="{{ title }} {{ points }}", **alone)
    source = SelectSource(dataclasses.replace(settings, visibility="shared"))
    for number in range(9):
        tracker.task(number, status="x" if number == 4 else "5")
    tracker.enqueue(*range(9))
    report = tracker.drain(sources={"task": source})
    assert (report.indexed, report.postponed) == (8, 1)
    assert [row[:3] for row in tracker.queue()] == [("4", "READY", 1)]
    assert "ORA-01722" in tracker.scalar("SELECT LAST_ERROR FROM RAG_DIRTY")


def test_a_session_with_parallel_dml_is_no_fault_of_the_entities(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORA-12838 would hit every batch: the worker stops with the remedy, and nothing is counted."""
    tracker.task(1)
    tracker.enqueue(1)

    def parallel(*_: object) -> Merged:
        raise ParallelDml

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", parallel)
        with pytest.raises(ParallelDml) as caught:
            tracker.drain()
    assert "_tp" in (caught.value.hint or "")
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    assert tracker.drain().indexed == 1


def test_a_write_that_fails_for_one_entity_goes_through_for_the_others(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        tracker.task(number, assignee_id=1)
    tracker.enqueue(*range(8))
    tracker.drain()
    tracker.sql("UPDATE task SET assignee_id = 2, title = 'changed'")
    tracker.sql("UPDATE task SET title = 'broken' WHERE id = 5")
    tracker.enqueue(*range(8))
    whole = Merge.apply

    def broken(self: Merge, writes: Any, *more: Any) -> Merged:
        result = whole(self, writes, *more)
        if any("broken" in write.document.text for write in writes):
            with self._connection.cursor() as cursor:
                from oraclerag.database import own_tables

                with own_tables():
                    cursor.execute("UPDATE RAG_CHUNK SET SECTION = RPAD('x', 2000, 'x') WHERE SOURCE_ID = '5'")
        return result

    monkeypatch.setattr(Merge, "apply", broken)
    report = tracker.drain()
    assert (report.indexed, report.postponed, report.given_back) == (7, 1, 0)
    assert "ORA-12899" in tracker.scalar("SELECT LAST_ERROR FROM RAG_DIRTY")
    # who lost the right sees it no longer, and who gained it never saw the old text
    assert tracker.sql("SELECT VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID = '5'") == [("HIDDEN",)]
    assert set(tracker.sql("SELECT VISIBILITY, OWNER_ID FROM RAG_CHUNK WHERE SOURCE_ID <> '5'")) == {("OWNER", "2")}
    monkeypatch.undo()
    tracker.due()
    assert tracker.drain().indexed == 1
    assert tracker.sql("SELECT VISIBILITY, OWNER_ID FROM RAG_CHUNK WHERE SOURCE_ID = '5'") == [("OWNER", "2")]


@pytest.mark.parametrize(
    ("before", "after", "hidden"),
    [
        ({"visibility": "owner", "owner": "1"}, {"visibility": "owner", "owner": "1"}, False),
        ({"visibility": "owner", "owner": "1"}, {"visibility": "owner"}, True),
        ({"visibility": "owner"}, {"visibility": "owner", "owner": "1"}, True),
        ({"visibility": "owner", "owner": "1"}, {"visibility": "shared", "owner": "1"}, True),
        ({"visibility": "shared", "owner": "1"}, {"visibility": "owner", "owner": "1"}, True),
        ({"visibility": "shared", "owner": "1"}, {"visibility": "shared", "owner": "2"}, False),
        ({"tenant": "a"}, {"tenant": "b"}, True),
    ],
)
def test_a_text_that_could_not_be_written_is_seen_by_nobody_whose_rights_changed(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch, before: Any, after: Any, hidden: bool
) -> None:
    now = Document("what only the first may know", **before)
    tracker.sources = {
        "note": FunctionSource("note", lambda _, ids: {ids[0]: now}, visibility="owner", ids="-", tenants=True)
    }
    now = dataclasses.replace(now, tenant=now.tenant or "a")
    tracker.enqueue("1", source="note", tenant="a")
    assert tracker.drain().indexed == 1

    def broken(*_: Any) -> Merged:
        raise StatementFailed

    monkeypatch.setattr(Merge, "apply", broken)
    now = dataclasses.replace(Document("another", **after), tenant=after.get("tenant", "a"))
    tracker.enqueue("1", source="note", tenant="a")
    assert tracker.drain().postponed == 1
    assert (tracker.scalar("SELECT VISIBILITY FROM RAG_CHUNK") == "HIDDEN") is hidden


def test_a_value_for_which_nobody_was_prepared_ends_no_worker(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "nan": {"x": float("nan")},
        "surrogate": {"x": "\ud800"},
        "too long a number": {"x": 10**200},
        "fine": {"x": 1, 2: "y"},
    }
    source = FunctionSource(
        "note",
        lambda _, ids: {key: Document(key, metadata=cast("Any", given[key])) for key in ids},
        visibility="shared",
    )
    tracker.enqueue(*given, source="note")
    report = tracker.drain(sources={"note": source})
    assert (report.indexed, report.postponed) == (1, 3)
    assert tracker.scalar("SELECT METADATA FROM RAG_CHUNK") == {"x": 1, "2": "y"}
    assert {row[:3] for row in tracker.queue()} == {(key, "READY", 1) for key in given if key != "fine"}

    whole = SelectSource.read_each

    def read(self: SelectSource, connection: oracledb.Connection, ids: Sequence[str]) -> Any:
        if "3" in ids:
            raise ValueError("year -4712 is out of range: secret")  # what a date before Christ is to the driver
        return whole(self, connection, ids)

    for number in range(5):
        tracker.task(number)
    tracker.enqueue(*range(5))
    apply = Merge.apply

    def written(self: Merge, writes: Any, *more: Any) -> Merged:
        if any(write.entity.source_id == "4" for write in writes):
            raise TypeError("secret")
        return apply(self, writes, *more)

    monkeypatch.setattr(SelectSource, "read_each", read)
    monkeypatch.setattr(Merge, "apply", written)
    report = tracker.drain()
    assert (report.indexed, report.postponed) == (3, 2)
    assert set(tracker.sql("SELECT SOURCE_ID, LAST_ERROR FROM RAG_DIRTY WHERE SOURCE_TYPE = 'task'")) == {
        ("3", "The entity cannot be read (ValueError)."),
        ("4", "The entity cannot be written (TypeError)."),
    }


def test_a_source_that_is_broken_is_paused_once_and_counts_against_no_row(
    tracker: Tracker, caplog: pytest.LogCaptureFixture
) -> None:
    tracker.task(1)
    tracker.task(2)
    tracker.enqueue(1, 2)
    tracker.sources["task"] = SelectSource(dataclasses.replace(TASK, template="{{ titel }}"))
    with caplog.at_level(logging.ERROR):
        assert tracker.drain().paused == ("task",)
    assert sum("is paused" in record.message for record in caplog.records) == 1
    assert tracker.drain().claimed == 0
    assert tracker.queue() == [("1", "READY", 0, 0, 0), ("2", "READY", 0, 0, 0)]
    with tracker.database.connect() as connection:
        paused = in_force.read(connection, tracker.database.schema).paused
        assert "'titel'" in paused["task"]
        assert in_force.resume(connection, tracker.database.schema, "task")
    tracker.sources["task"] = SelectSource(TASK)
    assert tracker.drain_all().claimed == 0  # the settings that were in force first are still so
    backfill(tracker.database, tracker.sources["task"], tracker.settings)
    assert tracker.drain_all().indexed == 2


def test_two_bad_documents_in_one_batch_are_no_bad_source(tracker: Tracker) -> None:
    texts: dict[str, str | Exception] = {"1": ValueError("bad"), "2": ValueError("bad"), "3": "fine"}
    ids = "select to_char(level) as id from dual connect by level <= 3"
    tracker.enqueue(1, 2, source="note")
    report = tracker.drain(sources=notes(texts, ids=ids))
    assert (report.postponed, report.paused) == (2, ())
    tracker.due()
    texts["3"] = ValueError("bad")
    assert tracker.drain(sources=notes(texts, ids=ids)).paused == ("note",)


def test_a_table_that_is_gone_pauses_the_source(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, select=TASK.select.replace("from task t", "from no_such t")))
    tracker.enqueue(1)
    assert tracker.drain(sources={"task": source}).paused == ("task",)
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]


def test_an_outage_gives_everything_back_and_is_raised(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.task(1)
    tracker.enqueue(1)

    def down(*_: Any) -> None:
        raise ConnectionFailed

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", down)
        with pytest.raises(ConnectionFailed):
            tracker.drain()
        assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    assert tracker.drain().indexed == 1
    tracker.enqueue(1)
    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", down)
        patch.setattr(Queue, "give_back", down)
        with pytest.raises(ConnectionFailed):
            tracker.drain()
        assert tracker.queue() == [("1", "READY", 0, 1, 1)]
    assert tracker.drain().claimed == 1  # first it reports what it could not before
    assert tracker.queue() == []


def test_what_ends_the_databases_process_ends_as_dead_and_takes_nobody_with_it(tracker: Tracker) -> None:
    """As a text on which the model crashes: the session is gone, for everybody who tries, and the database is not."""
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=2)
    texts = {str(number): f"note {number}" for number in range(4)}

    def read(connection: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
        if "2" in ids:
            connection.close()
            connection.ping()
        return {key: Document(texts[key], owner="7") for key in ids}

    sources: dict[str, Source] = {"note": FunctionSource("note", read, visibility="owner")}
    tracker.enqueue(*range(4), source="note")
    lost = 0
    for _ in range(20):
        try:
            tracker.drain(sources=sources)
        except ConnectionFailed:
            lost += 1
        tracker.due()
    assert tracker.queue() == [("2", "DEAD", 0, 3, 0)]
    assert tracker.texts().keys() == {"0", "1", "3"}
    assert lost == 4  # once given back, once beside the others, twice alone


def test_a_report_ends_a_series_of_claims_without_one(tracker: Tracker) -> None:
    """Who was beside one crash, is given back, and is beside another, has not crashed twice."""
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=1)
    tracker.task(1)
    tracker.enqueue(1)
    queue = Queue(tracker.connection, tracker.database.schema, lease=300, max_attempts=1)
    for _ in range(3):
        assert len(claim(tracker, tracker.connection).entities) == 1  # and its worker dies
        tracker.due()
        again = claim(tracker, tracker.connection)
        queue.give_back(again, again.entities)
        assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    assert tracker.drain().indexed == 1


def test_without_a_model_nothing_is_claimed(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.settings = dataclasses.replace(tracker.settings, embedding_model="ANOTHER")
    with pytest.raises(ModelNotActive, match="TINY"):
        tracker.drain()
    tracker.settings = dataclasses.replace(tracker.settings, embedding_model="TINY")
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]


# -- deployments and tenants ------------------------------------------------------------------------------------------


def test_a_worker_with_other_settings_leaves_a_source_alone(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    new = {"task": SelectSource(dataclasses.replace(TASK, template="NEW " + (TASK.template or "")))}
    tracker.enqueue(1)
    assert tracker.drain(sources=dict(new), state=WorkerState()).claimed == 0
    # an old worker has claimed and read when the new settings come into force
    whole = Queue.hold

    def hold(self: Queue, *arguments: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(Queue, "hold", whole)
            backfill(tracker.database, new["task"], tracker.settings)
        return whole(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "hold", hold)
        report = tracker.drain()
    assert (report.claimed, report.given_back, report.indexed) == (1, 1, 0)
    assert tracker.drain().claimed == 0
    tracker.due()
    state = WorkerState()
    assert tracker.drain(sources=dict(new), state=state).indexed == 1
    assert tracker.texts()["1"][0].startswith("NEW [TASK #1]")
    assert tracker.drain(sources=dict(new), state=state).unchanged == 1  # the row of the backfill, in the other lane
    assert tracker.queue() == []


def test_a_new_template_that_gives_the_same_text_embeds_nothing(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    tracker.sources["task"] = SelectSource(dataclasses.replace(TASK, template="{# a remark #}" + (TASK.template or "")))
    assert backfill(tracker.database, tracker.sources["task"], tracker.settings).enqueued == 1
    report = tracker.drain()
    assert (report.indexed, report.embedded) == (1, 0)
    assert backfill(tracker.database, tracker.sources["task"], tracker.settings).enqueued == 0


def test_a_queue_row_without_a_tenant_is_refused_where_the_source_maps_one(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tenant="status"))
    tracker.task(1, status="acme")
    tracker.task(2, status="acme")
    tracker.enqueue(1, 2, tenant="acme")
    tracker.drain(sources={"task": source})
    tracker.enqueue(1)
    report = tracker.drain(sources={"task": source})
    assert (report.dead, report.indexed) == (1, 0)
    assert tracker.sql("SELECT SOURCE_ID, STATE, ERROR_CODE FROM RAG_DIRTY") == [("1", "DEAD", "MISSING_TENANT")]
    assert dict(tracker.sql("SELECT SOURCE_ID, VISIBILITY FROM RAG_CHUNK")) == {"1": "HIDDEN", "2": "OWNER"}
    tracker.enqueue(1, tenant="acme")
    tracker.drain(sources={"task": source})
    assert dict(tracker.sql("SELECT SOURCE_ID, VISIBILITY FROM RAG_CHUNK")) == {"1": "OWNER", "2": "OWNER"}
    assert tracker.queue() == []


def test_an_entity_under_no_tenant_is_deleted_and_one_that_moves_moves(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tenant="status"))
    tracker.task(1, status="acme")
    tracker.enqueue(1, tenant="acme")
    tracker.drain(sources={"task": source})
    tracker.sql("UPDATE task SET status = 'beta'")
    tracker.enqueue(1, tenant="acme")
    tracker.drain(sources={"task": source})
    assert tracker.sql("SELECT TENANT_ID FROM RAG_CHUNK") == [("beta",)]
    assert tracker.sql("SELECT TENANT_ID FROM RAG_DOCUMENT") == [("beta",)]
    tracker.sql("UPDATE task SET status = NULL")
    tracker.enqueue(1, tenant="beta")
    assert tracker.drain(sources={"task": source}).deleted == 1
    assert tracker.texts() == {}


def test_logged_texts_go_with_an_entity_that_goes_or_moves_and_with_no_other(tracker: Tracker) -> None:
    """Texts may be there whether the log is on or not; what still is as it was, or only changed, keeps them."""
    source = SelectSource(dataclasses.replace(TASK, tenant="status"))
    for number in (1, 2, 3, 4):
        tracker.task(number, status="acme")
        tracker.enqueue(number, tenant="acme")
        tracker.sql(
            "INSERT INTO RAG_SEARCH (TENANT_ID, KIND, ASKED_ROLE, OUTCOME, QUESTION, PROMPT, ANSWER) "
            "VALUES ('acme', 'ask', 'anyone', 'answered', :question, 'prompt', 'answer')",
            question=str(number),
        )
        for rank, entity in enumerate((number, 4), start=1):
            tracker.sql(
                "INSERT INTO RAG_SEARCH_HIT (SEARCH_ID, HIT_RANK, TENANT_ID, SOURCE_TYPE, SOURCE_ID, CHUNK_NO) "
                "SELECT MAX(SEARCH_ID), :hit_rank, 'acme', 'task', :entity, 0 FROM RAG_SEARCH",
                hit_rank=rank,
                entity=str(entity),
            )
    tracker.connection.commit()

    def kept() -> list[str]:
        rows = tracker.sql("SELECT QUESTION, PROMPT, ANSWER FROM RAG_SEARCH ORDER BY SEARCH_ID")
        assert len(rows) == 4
        return [question for question, *texts in rows if texts == ["prompt", "answer"]]

    tracker.drain(sources={"task": source})
    tracker.sql("DELETE FROM task WHERE id = 1")
    tracker.sql("UPDATE task SET status = 'beta' WHERE id = 2")
    tracker.sql("UPDATE task SET title = 'another' WHERE id = 3")
    for number in (1, 2, 3):
        tracker.enqueue(number, tenant="acme")
    report = tracker.drain(sources={"task": source})
    assert (report.deleted, report.indexed) == (1, 2)
    assert kept() == ["3", "4"]
    tracker.sql("DELETE FROM task WHERE id = 4")
    tracker.enqueue(4, tenant="acme")
    tracker.drain(sources={"task": source})
    assert kept() == []
    assert tracker.sql("SELECT COUNT(*) FROM RAG_SEARCH_HIT") == [(8,)]
