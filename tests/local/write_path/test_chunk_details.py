"""What chunks say beyond their text: the errors they name, their section's first chunk; how long they are, and who cuts."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from oraclerag import check
from oraclerag.audit import audit
from oraclerag.backfill import backfill
from oraclerag.cutting import Cutting
from oraclerag.source import SelectSource, Source
from tests.local.write_path.tracker import TASK, Tracker


def cut(cutting: Cutting) -> dict[str, Source]:
    return {"task": SelectSource(dataclasses.replace(TASK, cutting=cutting), default_tenant="main")}


def details(tracker: Tracker) -> list[tuple[Any, ...]]:
    return tracker.sql("SELECT CHUNK_NO, PARENT_NO, OWNER_ID, METADATA FROM RAG_CHUNK ORDER BY CHUNK_NO")


def test_a_chunk_has_the_error_codes_of_its_own_text_beside_what_its_source_says(tracker: Tracker) -> None:
    tracker.task(
        1, "Month end", "Nothing yet. " * 60 + "Then ORA-1652: unable to extend temp segment. " + "Done. " * 40
    )
    tracker.enqueue(1)
    assert tracker.drain().embedded == 3
    code = {
        "oracle_error_code": ["ORA-01652"],
        "oracle_error_primary": "ORA-01652",
        "oracle_error_cause": "ORA-01652",
        "status": "OPEN",
    }
    plain = {"status": "OPEN"}
    assert details(tracker) == [(0, None, None, plain), (1, 0, None, code), (2, 0, None, plain)]
    found = tracker.sql(
        "SELECT c.CHUNK_NO FROM RAG_CHUNK c "
        "WHERE JSON_EXISTS(c.METADATA, '$.oracle_error_code?(@ == $code)' PASSING :code AS \"code\")",
        code="ORA-01652",
    )
    assert found == [(1,)]

    tracker.sql("UPDATE task SET assignee_id = 7, status = 'DONE' WHERE id = 1")
    tracker.connection.commit()
    tracker.enqueue(1)
    tracker.drain()
    done = {"status": "DONE"}
    assert details(tracker) == [(0, None, "7", done), (1, 0, "7", code | done), (2, 0, "7", done)]

    tracker.sql("UPDATE task SET description = 'Nothing.' WHERE id = 1")
    tracker.connection.commit()
    tracker.enqueue(1)
    tracker.drain()
    assert details(tracker) == [(0, None, "7", done)]
    assert audit(tracker.database, tracker.sources["task"], tracker.settings).wrong == 0


def test_another_owner_of_chunks_that_name_errors_is_applied_without_embedding(tracker: Tracker) -> None:
    tracker.task(1, "ORA-00060 again", assignee_id=7)
    tracker.enqueue(1)
    tracker.drain()
    tracker.sql("UPDATE task SET assignee_id = 8")
    tracker.connection.commit()
    tracker.enqueue(1)
    report = tracker.drain()
    assert (report.indexed, report.embedded) == (1, 0)
    assert [row[2] for row in details(tracker)] == ["8"]


def test_another_size_is_enqueued_by_a_backfill_and_cut_anew(tracker: Tracker) -> None:
    tracker.task(1, "Long", "A sentence of seven words stands here. " * 20)
    tracker.enqueue(1)
    tracker.drain(sources=cut(Cutting(size=128)))
    before = len(details(tracker))
    small = cut(Cutting(size=32))
    assert backfill(tracker.database, small["task"], tracker.settings, adopt=True).enqueued == 1
    tracker.drain(sources=small)
    assert len(details(tracker)) > before > 1


@pytest.mark.parametrize("insisting", [False, True])
def test_a_size_above_what_the_model_reads_pauses_the_source_and_is_found_by_a_check(
    tracker: Tracker, insisting: bool
) -> None:
    sources = cut(Cutting(size=5000, allow_truncation=insisting))
    tracker.task(1, "Long", "A sentence of seven words stands here. " * 20)
    tracker.enqueue(1)
    report = tracker.drain(sources=sources)
    (found,) = check.check(tracker.database, sources.values())
    if insisting:
        assert (report.paused, report.indexed, len(details(tracker))) == ((), 1, 1)
        assert not found.problems
    else:
        assert (report.paused, report.indexed) == (("task",), 0)
        assert "chunk_size_tokens is 5000, but the model reads 256 tokens" in found.problems[0].message
        assert found.paused
        assert tracker.queue() == [("1", "READY", 0, 0, 0)]


def test_the_database_cuts_where_it_is_asked_to(tracker: Tracker) -> None:
    clause = "BY CHARACTERS MAX 120 OVERLAP 0 SPLIT BY NONE"
    sources = cut(Cutting("database", vector_chunks=clause))
    tracker.task(1, "Größe", "Sieben Wörter stehen in diesem einen Satz. ORA-942. " * 12)
    tracker.enqueue(1)
    tracker.drain(sources=sources)
    rows = tracker.sql("SELECT TEXT_START, TEXT_END, PARENT_NO, CONTENT FROM RAG_CHUNK ORDER BY CHUNK_NO")
    [(body,)] = tracker.sql("SELECT BODY FROM RAG_DOCUMENT")
    assert [(start, end) for start, end, *_ in rows] == [
        (at, min(at + 120, len(body))) for at in range(0, len(body), 120)
    ]
    assert all(content == body[start:end] and parent is None for start, end, parent, content in rows)
    assert details(tracker)[0][3]["oracle_error_code"] == ["ORA-00942"]
    assert audit(tracker.database, sources["task"], tracker.settings).wrong == 0


def test_a_text_that_the_database_cannot_cut_fails_alone(tracker: Tracker) -> None:
    sources = cut(Cutting("database", vector_chunks="BY CHARACTERS MAX 120 OVERLAP 0 SPLIT BY NONE"))
    tracker.task(1, "One \U0001f600", "More than one unit of UTF-16.")
    tracker.task(2, "Two", "Plain.")
    tracker.enqueue(1, 2)
    report = tracker.drain(sources=sources)
    assert (report.indexed, report.postponed, report.paused) == (1, 1, ())


def test_a_clause_that_the_database_cannot_cut_by_pauses_the_source(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    sources = cut(Cutting("database", vector_chunks="BY WORDS MAX 100"))
    assert tracker.drain(sources=sources).paused == ("task",)
    (found,) = check.check(tracker.database, sources.values())
    assert "cannot cut texts of source 'task' by VECTOR_CHUNKS" in found.problems[0].message
    assert found.paused is not None
    assert "VECTOR_CHUNKS" in found.paused
