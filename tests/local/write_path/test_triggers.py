"""Triggers: changes announce themselves, in the transaction that makes them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from oraclerag.errors import ConfigurationError, SourceError
from oraclerag.database import Database
from oraclerag.source import SelectSource, Source
from oraclerag import triggers as triggering
from tests.local.write_path.tracker import TASK, Tracker


def apply(database: Database, sources: list[Source]) -> list[str]:
    """Create the triggers of the sources; gives their statements."""
    planned = triggering.plan(database, sources)
    triggering.apply(database, planned)
    return list(planned.statements)


def triggers(database: Database, sources: list[Source]) -> list[str]:
    """Give the statements of the triggers of the sources."""
    return list(triggering.plan(database, sources).statements)


def announced(tracker: Tracker) -> list[tuple[Any, ...]]:
    rows = tracker.sql("SELECT SOURCE_ID, LANE, TENANT_ID FROM RAG_DIRTY ORDER BY DIRTY_ID")
    tracker.sql("DELETE FROM RAG_DIRTY")
    return rows


def drop(tracker: Tracker) -> None:
    for (name,) in tracker.sql("SELECT TRIGGER_NAME FROM USER_TRIGGERS"):
        tracker.sql(f"DROP TRIGGER {name}")


def test_every_table_announces_what_its_change_concerns(tracker: Tracker) -> None:
    statements = apply(tracker.database, [tracker.sources["task"]])
    try:
        assert len(statements) == 3
        tracker.sql("INSERT INTO sprint VALUES (1, 'One')")
        tracker.sql("INSERT INTO sprint VALUES (2, 'Two')")
        assert announced(tracker) == []
        tracker.sql("INSERT INTO task (id, title, sprint_id) VALUES (42, 'A task', 1)")
        assert announced(tracker) == [("42", 0, "-")]
        tracker.sql("UPDATE task SET title = 'Another title'")
        assert announced(tracker) == [("42", 0, "-")]
        tracker.sql("INSERT INTO task_comment VALUES (1, 42, NULL, 'hello')")
        assert announced(tracker) == [("42", 0, "-")]
        tracker.sql("INSERT INTO task (id, title, sprint_id) VALUES (43, 'Its twin', 1)")
        assert announced(tracker) == [("43", 0, "-")]
        tracker.sql("UPDATE task_comment SET task_id = 43")
        assert sorted(announced(tracker)) == [("42", 0, "-"), ("43", 0, "-")]
        tracker.sql("UPDATE sprint SET name = 'Renamed' WHERE id = 1")
        assert sorted(announced(tracker)) == [("42", 1, "-"), ("43", 1, "-")]
        tracker.sql("DELETE FROM task WHERE id = 43")
        assert announced(tracker) == [("43", 0, "-")]
        tracker.connection.rollback()
        assert announced(tracker) == []
        assert apply(tracker.database, [tracker.sources["task"]]) == statements
    finally:
        tracker.connection.rollback()
        drop(tracker)


def test_a_tenant_is_taken_from_the_row_or_the_query(tracker: Tracker) -> None:
    tables = {"task": "id", "sprint": "select id, status from task where sprint_id = :id"}
    source = SelectSource(dataclasses.replace(TASK, tenant="status", tables=tables))
    apply(tracker.database, [source])
    try:
        tracker.sql("INSERT INTO sprint VALUES (1, 'One')")
        tracker.sql("INSERT INTO task (id, title, sprint_id, status) VALUES (1, 'A task', 1, 'acme')")
        assert announced(tracker) == [("1", 0, "acme")]
        tracker.sql("UPDATE sprint SET name = 'Two'")
        assert announced(tracker) == [("1", 1, "acme")]
    finally:
        tracker.connection.rollback()
        drop(tracker)


def test_a_tenant_of_fixed_length_is_announced_without_its_blanks(tracker: Tracker) -> None:
    """As a backfill names it: CHAR has blanks at the end, and one longer than 128 bytes would be ORA-12899."""
    tracker.sql("CREATE TABLE padded (id NUMBER, tenant CHAR(200))")
    tracker.sql("CREATE TABLE note (id NUMBER, text VARCHAR2(20))")
    tables = {"padded": "id", "note": "select id, tenant from padded where id = :id"}
    source = SelectSource(
        dataclasses.replace(
            TASK, name="padded", select="select id as source_id, tenant from padded", tenant="tenant", tables=tables
        )
    )
    try:
        apply(tracker.database, [source])
        tracker.sql("INSERT INTO padded VALUES (1, 'acme')")
        assert announced(tracker) == [("1", 0, "acme")]
        tracker.sql("INSERT INTO note VALUES (1, 'a note')")
        assert announced(tracker) == [("1", 1, "acme")]
    finally:
        tracker.connection.rollback()
        tracker.sql("DROP TABLE padded PURGE")
        tracker.sql("DROP TABLE note PURGE")


def test_rows_that_are_deleted_along_announce_themselves(tracker: Tracker) -> None:
    tracker.sql("CREATE TABLE team (id NUMBER PRIMARY KEY, name VARCHAR2(20))")
    tracker.sql("CREATE TABLE member (id NUMBER PRIMARY KEY, team_id NUMBER REFERENCES team (id) ON DELETE CASCADE)")
    tables = {"member": "id", "team": "select id from member where team_id = :id"}
    source = SelectSource(
        dataclasses.replace(TASK, name="member", select="select id as source_id from member", tables=tables)
    )
    try:
        statements = apply(tracker.database, [source])
        assert "UPDATING AND" not in statements[0]
        assert "UPDATING AND" in statements[1]
        tracker.sql("INSERT INTO team VALUES (1, 'One')")
        tracker.sql("INSERT INTO member VALUES (7, 1)")
        assert announced(tracker) == [("7", 0, "-")]
        tracker.sql("UPDATE team SET name = 'Two'")
        assert announced(tracker) == [("7", 1, "-")]
        tracker.sql("DELETE FROM team")
        assert announced(tracker) == [("7", 0, "-")]
    finally:
        tracker.connection.rollback()
        tracker.sql("DROP TABLE member PURGE")
        tracker.sql("DROP TABLE team PURGE")


def test_a_row_without_an_id_does_not_break_the_statement_that_changes_the_table(tracker: Tracker) -> None:
    """RAG_DIRTY.SOURCE_ID takes no NULL (ORA-01400)."""
    tables = {"task": "id", "sprint": "select nullif(id, 1) as id from task where sprint_id = :id"}
    apply(tracker.database, [SelectSource(dataclasses.replace(TASK, tables=tables))])
    try:
        tracker.sql("INSERT INTO sprint VALUES (1, 'One')")
        for number in (1, 2):
            tracker.sql("INSERT INTO task (id, title, sprint_id) VALUES (:id, 'A task', 1)", id=number)
        announced(tracker)
        tracker.sql("UPDATE sprint SET name = 'Two'")
        assert announced(tracker) == [("2", 1, "-")]
    finally:
        tracker.connection.rollback()
        drop(tracker)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"task": "ident"}, "has no column IDENT"),
        ({"task": "description"}, "gives 'description' as CLOB, which cannot be a key"),
        ({"task": "id or so"}, "neither a list of columns nor a query"),
        ({"no_such_table": "id"}, "is not there, or not for this user"),
        ({"task": "id, sprint_id"}, "names 2 columns"),
        ({"sprint": "select id from task"}, "does not use the changed row"),
        ({"sprint": "select id, title from task where sprint_id = :id"}, "must give 1"),
        ({"sprint": "select id from task where sprint_id = :number"}, "has no column NUMBER"),
        ({"sprint": "select max(id) from task where sprint_id = :id"}, "has no name"),
        ({"sprint": "select id from task@there where sprint_id = :id"}, "TASK@THERE, in another database"),
        ({"task": "select id from task where sprint_id = :sprint_id"}, "ORA-04091"),
    ],
)
def test_an_entry_that_cannot_become_a_trigger_is_refused(tracker: Tracker, tables: dict[str, str], words: str) -> None:
    source = SelectSource(dataclasses.replace(TASK, tables=tables))
    with pytest.raises((ConfigurationError, SourceError), match=words):
        triggers(tracker.database, [source])


def test_a_tenant_that_the_table_does_not_have_needs_a_query(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tenant="status", tables={"task_comment": "task_id"}))
    with pytest.raises(ConfigurationError, match="has no column STATUS"):
        triggers(tracker.database, [source])
