"""Every kind of change announces exactly whom it concerns, and after a drain the index equals the sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import oracledb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oraclerag import triggers
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size


def announced(tracker: Tracker) -> list[tuple[Any, ...]]:
    """Give the queue rows, and empty the queue."""
    rows = tracker.sql("SELECT SOURCE_ID, LANE, TENANT_ID FROM RAG_DIRTY ORDER BY DIRTY_ID")
    tracker.sql("DELETE FROM RAG_DIRTY")
    return rows


@pytest.fixture(scope="module")
def ready(installation: Tracker) -> Tracker:
    """The tracker with its triggers, two sprints, three tasks and two comments, and nothing in the queue."""
    tracker = installation
    tracker.clear()
    triggers.apply(tracker.database, triggers.plan(tracker.database, [tracker.sources["task"]]))
    for number, name in ((1, "One"), (2, "Two")):
        tracker.sql("INSERT INTO sprint VALUES (:id, :name)", id=number, name=name)
    for number, sprint in ((41, 1), (42, 1), (43, None)):
        tracker.task(number, sprint_id=sprint, description="long text", assignee_id=7)
    tracker.sql("INSERT INTO task_comment VALUES (1, 41, NULL, 'hello')")
    tracker.sql("INSERT INTO task_comment VALUES (2, 41, NULL, NULL)")
    announced(tracker)
    tracker.connection.commit()
    return tracker


@pytest.fixture
def watched(ready: Tracker) -> Iterator[Tracker]:
    """What is ready; what a test does is taken back."""
    yield ready
    ready.connection.rollback()


CHANGES: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "new row": ("INSERT INTO task (id, title) VALUES (50, 'new')", [("50", 0)]),
    "new rows of a query": ("INSERT INTO task (id, title) SELECT id + 50, title FROM task", [("91", 0), ("92", 0), ("93", 0)]),
    "printed column": ("UPDATE task SET title = 'other' WHERE id = 42", [("42", 0)]),
    "printed column to NULL": ("UPDATE task SET title = NULL WHERE id = 42", [("42", 0)]),
    "printed column from NULL": ("UPDATE task SET due = DATE '2026-01-02' WHERE id = 42", [("42", 0)]),
    "case only": ("UPDATE task SET title = 'a TASK' WHERE id = 42", [("42", 0)]),
    "scope column": ("UPDATE task SET assignee_id = 8 WHERE id = 42", [("42", 0)]),
    "another sprint": ("UPDATE task SET sprint_id = 2 WHERE id = 42", [("42", 0)]),
    "many rows": ("UPDATE task SET status = 'DONE'", [("41", 0), ("42", 0), ("43", 0)]),
    "the same values": ("UPDATE task SET title = title, due = due, sprint_id = sprint_id", []),
    "a LOB": ("UPDATE task SET description = 'short' WHERE id = 43", [("43", 0)]),
    "a LOB to NULL": ("UPDATE task SET description = NULL WHERE id = 43", [("43", 0)]),
    "a LOB written again": ("UPDATE task SET description = description WHERE id = 43", [("43", 0)]),
    "another id": ("UPDATE task SET id = 60 WHERE id = 43", [("43", 0), ("60", 0)]),
    "no row": ("UPDATE task SET title = 'x' WHERE id = 999", []),
    "gone": ("DELETE FROM task WHERE id = 43", [("43", 0)]),
    "child": ("INSERT INTO task_comment VALUES (3, 43, NULL, 'new')", [("43", 0)]),
    "changed child": ("UPDATE task_comment SET body = 'other' WHERE id = 1", [("41", 0)]),
    "unchanged child": ("UPDATE task_comment SET body = body", []),
    "moved child": ("UPDATE task_comment SET task_id = 42 WHERE id = 1", [("41", 0), ("42", 0)]),
    "child gone": ("DELETE FROM task_comment", [("41", 0), ("41", 0)]),
    "renamed sprint": ("UPDATE sprint SET name = 'Uno' WHERE id = 1", [("41", 1), ("42", 1)]),
    "sprint of none": ("UPDATE sprint SET name = 'Dos' WHERE id = 2", []),
    "unchanged sprint": ("UPDATE sprint SET name = name", []),
    "another id of a sprint": ("UPDATE sprint SET id = 9 WHERE id = 1", [("41", 1), ("42", 1)]),
    "sprint gone": ("DELETE FROM sprint WHERE id = 1", [("41", 1), ("42", 1)]),
    "merge": (
        (
            "MERGE INTO task t USING (SELECT 42 AS id FROM dual UNION ALL SELECT 51 FROM dual) s ON (t.id = s.id) WHEN "
            "MATCHED THEN UPDATE SET t.title = 'x' WHEN NOT MATCHED THEN INSERT (id, title) VALUES (s.id, 'new')"
        ),
        [("42", 0), ("51", 0)],
    ),
    "merge that changes nothing": (
        "MERGE INTO task t USING (SELECT 42 AS id FROM dual) s ON (t.id = s.id) WHEN MATCHED THEN UPDATE SET t.title = t.title",
        [],
    ),
    "merge of a LOB": (
        "MERGE INTO task t USING (SELECT 42 AS id FROM dual) s ON (t.id = s.id) WHEN MATCHED THEN UPDATE SET t.description = 'x'",
        [("42", 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_announces_exactly_whom_it_concerns(watched: Tracker, change: str) -> None:
    statement, expected = CHANGES[change]
    watched.sql(statement)
    assert sorted(announced(watched)) == [(key, lane, "-") for key, lane in expected]
    watched.sql("UPDATE task SET status = status")  # what an UPDATE named is forgotten by the next one
    assert announced(watched) == []


def test_what_is_rolled_back_was_never_announced(watched: Tracker) -> None:
    watched.sql("UPDATE task SET title = 'kept' WHERE id = 41")
    watched.sql("SAVEPOINT before_it")
    watched.sql("UPDATE task SET title = 'taken back'")
    watched.sql("ROLLBACK TO SAVEPOINT before_it")
    assert announced(watched) == [("41", 0, "-")]
    watched.sql("UPDATE task SET title = 'taken back'")
    watched.connection.rollback()
    assert announced(watched) == []


def test_a_statement_that_fails_announces_nothing(watched: Tracker) -> None:
    with pytest.raises(oracledb.IntegrityError, match="ORA-00001"):
        watched.sql("UPDATE task SET id = 41, title = 'x'")
    assert announced(watched) == []


def test_arrays_of_rows_announce_each_of_them(watched: Tracker) -> None:
    with watched.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO task (id, title) VALUES (:1, :2)", [(n, "new") for n in range(100, 110)])
        cursor.executemany("UPDATE task SET title = :1 WHERE id = :2", [("A task", 41), ("other", 42), ("other", 999)])
    keys = [*(str(number) for number in range(100, 110)), "42"]
    assert sorted(announced(watched)) == sorted((key, 0, "-") for key in keys)


# -- random changes; they come last, as they leave nothing of what was ready -------------------------------------------

Change = tuple[str, int, str | None, int | None]

IDS = st.integers(1, 4)
SPRINTS = st.sampled_from([None, 1, 2])
TITLES = st.sampled_from(["one", "ONE", "two", None])
STATEMENTS = st.one_of(
    st.tuples(
        st.just("INSERT INTO task (id, title, sprint_id) SELECT :a, :b, :c FROM dual "
                "WHERE NOT EXISTS (SELECT 1 FROM task WHERE id = :a)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("UPDATE task SET title = :b, sprint_id = :c WHERE id >= :a"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("UPDATE task SET description = :b, assignee_id = :c WHERE id = :a"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("UPDATE task SET id = id + :a * 10 WHERE title = :b AND (sprint_id = :c OR id < 5)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("DELETE FROM task WHERE id = :a AND (:b IS NULL OR :c IS NULL)"), IDS, TITLES, SPRINTS),
    st.tuples(
        st.just("MERGE INTO task t USING (SELECT :a AS id, :b AS title, :c AS sprint_id FROM dual) s ON (t.id = s.id) "
                "WHEN MATCHED THEN UPDATE SET t.title = s.title WHEN NOT MATCHED THEN "
                "INSERT (id, title, sprint_id) VALUES (s.id, s.title, s.sprint_id)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("INSERT INTO task_comment SELECT NVL(MAX(id), 0) + 1, :a, NULL, :b || :c FROM task_comment"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("UPDATE task_comment SET task_id = :a, body = :b WHERE MOD(id, 2) = NVL(:c, 0)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("DELETE FROM task_comment WHERE task_id = :a AND (body = :b OR :c IS NULL)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("UPDATE sprint SET name = :b WHERE id <= :a AND id >= NVL(:c, 0)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("DELETE FROM sprint WHERE id = :a AND :b IS NULL AND :c = 1"), IDS, TITLES, SPRINTS),
    st.tuples(
        st.just("INSERT INTO sprint SELECT :a, :b FROM dual WHERE :c IS NULL AND NOT EXISTS "
                "(SELECT 1 FROM sprint WHERE id = :a)"), IDS, TITLES, SPRINTS),
    st.tuples(st.just("SAVEPOINT here"), st.just(0), st.none(), st.none()),
    st.tuples(st.just("ROLLBACK TO SAVEPOINT here"), st.just(0), st.none(), st.none()),
    st.tuples(st.sampled_from(["COMMIT", "ROLLBACK", "DRAIN"]), st.just(0), st.none(), st.none()),
)  # fmt: skip


SEQUENCES = st.lists(STATEMENTS, min_size=3, max_size=14)
HEALTH = [HealthCheck.function_scoped_fixture]


@settings(max_examples=8, deadline=None, suppress_health_check=HEALTH)
@given(SEQUENCES)
def test_after_a_drain_the_index_equals_the_sources(ready: Tracker, changes: list[Change]) -> None:
    holds(ready, changes)


@pytest.mark.long
@settings(max_examples=500, deadline=None, suppress_health_check=HEALTH)
@given(SEQUENCES)
def test_after_many_drains_the_index_equals_the_sources(ready: Tracker, changes: list[Change]) -> None:
    holds(ready, changes)


def holds(tracker: Tracker, changes: list[Change]) -> None:
    """Make the changes, committed or taken back, in whatever order; then work the queue off and compare."""
    tracker.clear()
    tracker.sql("SAVEPOINT here")
    for statement, a, b, c in changes:
        if statement == "DRAIN":
            tracker.drain_all()
        elif " " not in statement or "SAVEPOINT" in statement:
            tracker.sql(statement)
            if " " not in statement:
                tracker.sql("SAVEPOINT here")  # the end of a transaction takes its savepoints along
        else:
            tracker.sql(
                statement,
                **{name: value for name, value in zip("abc", (a, b, c), strict=True) if f":{name}" in statement},
            )
    tracker.connection.commit()
    tracker.drain_all()
    assert tracker.queue() == []
    source = tracker.sources["task"]
    documents = source.read(tracker.connection, source.ids(tracker.connection))
    rows = tracker.sql("SELECT SOURCE_ID, CONTENT, OWNER_ID, SPRINT_ID FROM RAG_CHUNK")
    assert {key: (text, owner, sprint) for key, text, owner, sprint in rows} == {
        key: (document.text, document.owner, document.sprint) for key, document in documents.items()
    }
