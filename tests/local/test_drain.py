"""The drain: the index follows the sources, batch by batch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.conftest import Account
from tests.local.tracker import Tracker, open_tracker


@pytest.fixture
def tracker(account: Account, tiny_file: Path) -> Iterator[Tracker]:
    opened = open_tracker(account, tiny_file)
    yield opened
    opened.close()


def test_a_task_is_indexed_with_its_scope_and_its_vector(tracker: Tracker) -> None:
    tracker.sql("INSERT INTO sprint VALUES (3, 'Closing the books')")
    tracker.task(42, "Late payments", "Suppliers wait.", sprint_id=3, assignee_id=7, due=dt.datetime(2026, 3, 31))
    tracker.sql("INSERT INTO task_comment VALUES (2, 42, DATE '2026-02-01', 'second')")
    tracker.sql("INSERT INTO task_comment VALUES (1, 42, DATE '2026-01-01', 'first')")
    tracker.enqueue(42)
    report = tracker.drain()
    assert (report.claimed, report.indexed, report.embedded, report.dead) == (1, 1, 1, 0)
    assert tracker.texts() == {
        "42": [
            "[TASK #42] Late payments\nStatus: OPEN | Sprint: Closing the books\nDescription: Suppliers wait.\n"
            "Comments:\n- first\n- second"
        ]
    }
    assert tracker.sql(
        "SELECT TENANT_ID, VISIBILITY, OWNER_ID, SPRINT_ID, OCCURRED_AT, METADATA, "
        "CASE WHEN EMBEDDING IS NULL THEN 0 ELSE 1 END FROM RAG_CHUNK"
    ) == [("main", "OWNER", "7", "3", dt.datetime(2026, 3, 31), {"status": "OPEN"}, 1)]
    assert tracker.sql("SELECT TITLE, TENANT_ID FROM RAG_DOCUMENT") == [("Late payments", "main")]
    assert tracker.sql("SELECT HOLDER, CHUNKS, TENANT_ID FROM RAG_ENTITY") == [(None, 1, "main")]
    assert tracker.queue() == []
    assert tracker.drain().claimed == 0
