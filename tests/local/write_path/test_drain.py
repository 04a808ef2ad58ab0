"""The drain: the index follows the sources, batch by batch."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import Any

import oracledb
import pytest
import sqlalchemy

from oraclerag.audit import audit
from oraclerag.backfill import backfill
from oraclerag.database import Database
from oraclerag.drain import drain
from oraclerag.local import LocalDatabase
from oraclerag.merge import Merge
from oraclerag.records import Document
from oraclerag.source import FunctionSource
from tests.local.write_path.tracker import Tracker

day = dt.datetime.fromisoformat


def test_a_task_is_indexed_with_its_scope_and_its_vector(tracker: Tracker) -> None:
    tracker.sql("INSERT INTO sprint VALUES (3, 'Closing the books')")
    tracker.task(42, "Late payments", "Suppliers wait.", sprint_id=3, assignee_id=7, due=day("2026-03-31"))
    tracker.sql("INSERT INTO task_comment VALUES (2, 42, DATE '2026-02-01', 'second')")
    tracker.sql("INSERT INTO task_comment VALUES (1, 42, DATE '2026-01-01', 'first')")
    tracker.enqueue(42)
    report = tracker.drain()
    assert (report.claimed, report.indexed, report.embedded, report.dead) == (1, 1, 1, 0)
    text = (
        "[TASK #42] Late payments\nStatus: OPEN | Sprint: Closing the books\nDescription: Suppliers wait.\n"
        "Comments:\n- first\n- second"
    )
    assert tracker.texts() == {"42": [text]}
    assert tracker.sql(
        "SELECT TENANT_ID, VISIBILITY, OWNER_ID, SPRINT_ID, OCCURRED_AT, METADATA, "
        "CASE WHEN EMBEDDING IS NULL THEN 0 ELSE 1 END FROM RAG_CHUNK"
    ) == [("main", "OWNER", "7", "3", day("2026-03-31"), {"status": "OPEN"}, 1)]
    assert tracker.sql("SELECT TITLE, TENANT_ID FROM RAG_DOCUMENT") == [("Late payments", "main")]
    assert tracker.sql("SELECT HOLDER, CHUNKS, TENANT_ID FROM RAG_ENTITY") == [(None, 1, "main")]
    assert tracker.queue() == []
    assert tracker.drain().claimed == 0


def test_what_did_not_change_is_not_embedded_again(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    vector = tracker.scalar("SELECT EMBEDDING FROM RAG_CHUNK")
    tracker.enqueue(1, 1, 1)
    report = tracker.drain()
    assert (report.claimed, report.indexed, report.unchanged, report.embedded) == (3, 0, 1, 0)
    assert tracker.scalar("SELECT EMBEDDING FROM RAG_CHUNK") == vector
    assert tracker.queue() == []


def test_another_owner_is_applied_without_embedding(tracker: Tracker) -> None:
    tracker.task(1, assignee_id=7)
    tracker.enqueue(1)
    tracker.drain()
    before = tracker.sql("SELECT CHUNK_ID, CONTENT_HASH FROM RAG_CHUNK")
    tracker.sql("UPDATE task SET assignee_id = 8, due = DATE '2026-05-01'")
    tracker.enqueue(1)
    report = tracker.drain()
    assert (report.indexed, report.embedded) == (1, 0)
    assert tracker.sql("SELECT CHUNK_ID, CONTENT_HASH FROM RAG_CHUNK") == before
    assert tracker.sql("SELECT OWNER_ID, OCCURRED_AT FROM RAG_CHUNK") == [("8", day("2026-05-01"))]


def test_a_changed_text_is_embedded_again_and_nothing_else(tracker: Tracker) -> None:
    tracker.task(1, "one")
    tracker.task(2, "two")
    tracker.enqueue(1, 2)
    tracker.drain()
    vectors = dict(tracker.sql("SELECT SOURCE_ID, EMBEDDING FROM RAG_CHUNK"))
    tracker.sql("UPDATE task SET title = 'something else' WHERE id = 1")
    tracker.enqueue(1, 2)
    report = tracker.drain()
    assert (report.indexed, report.unchanged, report.embedded) == (1, 1, 1)
    after = dict(tracker.sql("SELECT SOURCE_ID, EMBEDDING FROM RAG_CHUNK"))
    assert after["2"] == vectors["2"]
    assert after["1"] != vectors["1"]
    assert tracker.texts()["1"][0].startswith("[TASK #1] something else")


def test_a_deleted_task_is_gone_and_its_entity_stays(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    tracker.sql("DELETE FROM task")
    tracker.enqueue(1)
    report = tracker.drain()
    assert (report.deleted, report.embedded) == (1, 0)
    assert tracker.texts() == {}
    assert tracker.sql("SELECT COUNT(*) FROM RAG_DOCUMENT") == [(0,)]
    assert tracker.sql("SELECT CHUNKS, FINGERPRINT FROM RAG_ENTITY") == [(0, None)]
    tracker.task(1, "back again")
    tracker.enqueue(1)
    assert tracker.drain().indexed == 1
    assert "back again" in tracker.texts()["1"][0]


def test_the_action_of_a_row_does_not_count_only_the_state_of_the_source_does(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, ACTION) VALUES ('task', '1', 'DELETE')")
    tracker.connection.commit()
    assert tracker.drain().indexed == 1


@pytest.mark.parametrize("source_id", ["042", "x", "1e3", "1,5", " 1"])
def test_an_id_that_is_no_row_of_the_source_is_gone(tracker: Tracker, source_id: str) -> None:
    tracker.task(42)
    tracker.enqueue(source_id)
    assert tracker.drain().deleted == 1
    assert tracker.texts() == {}


def test_a_long_text_becomes_chunks_and_fewer_when_it_gets_shorter(tracker: Tracker) -> None:
    tracker.task(1, "Long", "\n".join(f"Line {number} of the report: the supplier waits." for number in range(300)))
    tracker.enqueue(1)
    many = tracker.drain().embedded
    assert many > 5
    chunks = tracker.texts()["1"]
    assert len(chunks) == many
    assert all(chunk.startswith("[TASK #1] Long\n") for chunk in chunks)
    assert tracker.sql("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == [(0,)]
    tracker.sql("UPDATE task SET description = 'Short'")
    tracker.enqueue(1)
    assert tracker.drain().embedded == 1
    assert len(tracker.texts()["1"]) == 1


def test_an_appended_comment_embeds_the_last_chunk_only(tracker: Tracker) -> None:
    tracker.task(1, "Long", "\n".join(f"Line {number} of the report: the supplier waits." for number in range(300)))
    tracker.enqueue(1)
    many = tracker.drain().embedded
    tracker.sql("INSERT INTO task_comment VALUES (1, 1, DATE '2026-02-01', 'new')")
    tracker.enqueue(1)
    assert tracker.drain().embedded < many / 2
    assert "- new" in tracker.texts()["1"][-1]


def test_a_document_of_more_chunks_than_a_slice_appears_at_once(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oraclerag.drain.SLICE", 16)
    monkeypatch.setattr("oraclerag.merge.SLICE", 16)
    lines = [f"Line {number} of the report: the supplier of batch {number} waits." for number in range(900)]
    tracker.task(1, "Huge", "\n".join(lines))
    tracker.enqueue(1)
    report = tracker.drain()
    chunks = tracker.texts()["1"]
    assert report.embedded == len(chunks) > 40
    assert [row[0] for row in tracker.sql("SELECT CHUNK_NO FROM RAG_CHUNK ORDER BY CHUNK_NO")] == list(
        range(len(chunks))
    )
    assert tracker.sql("SELECT VISIBILITY, COUNT(*) FROM RAG_CHUNK GROUP BY VISIBILITY") == [("OWNER", len(chunks))]
    assert tracker.sql("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == [(0,)]
    tracker.sql("UPDATE task SET title = 'Huger'")
    tracker.enqueue(1)
    assert tracker.drain().embedded == len(chunks)
    assert tracker.texts()["1"][-1].startswith("[TASK #1] Huger\n")
    assert len(tracker.texts()["1"]) == len(chunks)


def test_text_that_no_column_holds_is_replaced(tracker: Tracker) -> None:
    source = FunctionSource(
        "note",
        lambda connection, ids: {key: Document("head\nbody \ud800 \x00 end") for key in ids},
        visibility="shared",
    )
    tracker.enqueue("n1", source="note")
    assert tracker.drain(sources={"note": source}).indexed == 1
    assert tracker.texts() == {"n1": ["head\nbody \ufffd \ufffd end"]}


def test_what_a_function_began_is_taken_back(tracker: Tracker) -> None:
    def read(connection: oracledb.Connection, ids: Any) -> dict[str, Document]:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE task SET title = 'begun'")
        return {key: Document("text") for key in ids}

    tracker.task(1)
    source = FunctionSource("note", read, visibility="shared", ids="select id from task")
    tracker.enqueue(1, source="note")
    assert tracker.drain(sources={"note": source}).indexed == 1
    tracker.sql("UPDATE RAG_CHUNK SET CONTENT = 'other'")
    tracker.connection.commit()
    assert audit(tracker.database, source, tracker.settings, repair=True).repaired == 1
    assert tracker.sql("SELECT COUNT(*) FROM task WHERE title = 'begun'") == [(0,)]


def test_an_empty_text_is_no_chunk_and_not_missing(tracker: Tracker) -> None:
    source = FunctionSource(
        "note",
        lambda connection, ids: {key: Document(" \n ") for key in ids},
        visibility="shared",
        ids="select 'n1' as id from dual",
    )
    tracker.enqueue("n1", source="note")
    assert tracker.drain(sources={"note": source}).indexed == 1
    assert tracker.sql("SELECT COUNT(*) FROM RAG_CHUNK") == [(0,)]
    assert tracker.sql("SELECT COUNT(*) FROM RAG_DOCUMENT") == [(0,)]
    assert backfill(tracker.database, source, tracker.settings).enqueued == 0


def test_a_document_that_was_interrupted_leaves_nothing_to_see(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oraclerag.drain.SLICE", 4)
    monkeypatch.setattr("oraclerag.merge.SLICE", 4)
    tracker.task(1, "Long", "\n".join(f"Line {number} of the report: the supplier waits." for number in range(300)))
    tracker.enqueue(1)
    calls = 0

    def interrupted(self: Merge, *arguments: Any, **more: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return whole(self, *arguments, **more)

    whole = Merge.stage
    monkeypatch.setattr(Merge, "stage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tracker.drain()
    assert set(tracker.sql("SELECT VISIBILITY FROM RAG_CHUNK")) == {("HIDDEN",)}
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    tracker.sql("UPDATE task SET description = 'Short'")
    tracker.connection.commit()
    assert tracker.drain().indexed == 1
    assert tracker.sql("SELECT CHUNK_NO, VISIBILITY FROM RAG_CHUNK") == [(0, "OWNER")]


@pytest.mark.parametrize("gone", [False, True])
def test_what_an_interrupted_batch_staged_goes_though_the_text_is_what_it_was(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    monkeypatch.setattr("oraclerag.drain.SLICE", 4)
    monkeypatch.setattr("oraclerag.merge.SLICE", 4)
    tracker.task(1, "Title", "Short")
    tracker.enqueue(1)
    assert tracker.drain().indexed == 1
    before = tracker.sql("SELECT CHUNK_ID, CHUNK_NO, CONTENT, VISIBILITY FROM RAG_CHUNK")
    long = "\n".join(f"Line {number} of the report: the supplier waits." for number in range(300))
    tracker.sql("UPDATE task SET description = :text", text=long)
    tracker.enqueue(1)
    whole = Merge.stage

    def interrupted(self: Merge, *arguments: Any, first: bool) -> int:
        if not first:
            raise KeyboardInterrupt
        return whole(self, *arguments, first=first)

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "stage", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tracker.drain()
    assert len(tracker.texts()["1"]) > 1
    tracker.sql("DELETE FROM task" if gone else "UPDATE task SET description = 'Short'")
    tracker.connection.commit()
    report = tracker.drain()
    assert (report.deleted, report.embedded) == (int(gone), 0)
    assert tracker.sql("SELECT CHUNK_ID, CHUNK_NO, CONTENT, VISIBILITY FROM RAG_CHUNK") == ([] if gone else before)
    tracker.enqueue(1)
    assert tracker.drain().unchanged == int(not gone)


def batch(tracker: Tracker, size: int, round_trips: Callable[[], int]) -> tuple[int, int]:
    """Round trips of a batch of new entities, and of one in which all texts and owners change."""
    for number in range(size):
        tracker.task(number, f"Task {number}")
    tracker.sql("INSERT INTO task_comment SELECT id, id, DATE '2026-01-01', 'a comment' FROM task")
    tracker.enqueue(*range(size))
    before = round_trips()
    assert tracker.drain().indexed == size
    between = round_trips()
    tracker.sql("UPDATE task SET title = title || ' changed', assignee_id = 9")
    tracker.enqueue(*range(size))
    more = round_trips()
    assert tracker.drain().embedded == size
    return between - before, round_trips() - more


def test_the_number_of_round_trips_does_not_depend_on_the_number_of_entities(
    local_database: LocalDatabase, installation: Tracker
) -> None:
    counts = []
    for size in (3, 30, 230):
        installation.clear()
        installation.settings = dataclasses.replace(installation.settings, batch_size=250)
        installation.task(1000)
        installation.enqueue(1000)
        installation.drain()  # what a worker learns once: the model, the columns of the source
        installation.sql("DELETE FROM task")
        counts.append(batch(installation, size, lambda: local_database.round_trips))
    assert counts[0] == counts[1] == counts[2]
    assert max(counts[0]) < 40


def test_an_idle_poll_is_one_statement(tracker: Tracker, local_database: LocalDatabase) -> None:
    tracker.drain()
    before = local_database.round_trips
    assert tracker.drain().claimed == 0
    assert local_database.round_trips - before == 1


def test_the_connections_of_an_engine_do_as_well(tracker: Tracker) -> None:
    engine = sqlalchemy.create_engine(tracker.account.url)
    tracker.task(1, "By engine", "x" * 5000, assignee_id=7)
    tracker.enqueue(1)
    report = drain(Database(tracker.settings, engine=engine), tracker.sources, tracker.settings)
    engine.dispose()
    assert report.indexed == 1
    assert tracker.sql("SELECT DISTINCT OWNER_ID FROM RAG_CHUNK") == [("7",)]
