"""Random changes with nothing but triggers to announce them: after a drain the index equals the sources."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oraclerag import triggers
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

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


@pytest.fixture(scope="module")
def announcing(installation: Tracker) -> Tracker:
    """The tracker with its triggers."""
    triggers.apply(installation.database, triggers.plan(installation.database, [installation.sources["task"]]))
    return installation


CHANGES = st.lists(STATEMENTS, min_size=3, max_size=14)
HEALTH = [HealthCheck.function_scoped_fixture]


@settings(max_examples=8, deadline=None, suppress_health_check=HEALTH)
@given(CHANGES)
def test_after_a_drain_the_index_equals_the_sources(announcing: Tracker, changes: list[Change]) -> None:
    holds(announcing, changes)


@pytest.mark.long
@settings(max_examples=500, deadline=None, suppress_health_check=HEALTH)
@given(CHANGES)
def test_after_many_drains_the_index_equals_the_sources(announcing: Tracker, changes: list[Change]) -> None:
    holds(announcing, changes)


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
