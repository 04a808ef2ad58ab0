"""Sources on a database: keys in their own types, children in order, what `source check` finds."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import oracledb
import pytest

from oraclerag.config import ChildSettings, SourceSettings
from oraclerag.errors import EntityError
from oraclerag.source import FunctionSource, SelectSource
from tests.local.write_path.tracker import TASK, Tracker

TABLES = {
    "by_number": "k NUMBER PRIMARY KEY, v VARCHAR2(20)",
    "by_text": "k VARCHAR2(30) PRIMARY KEY, v VARCHAR2(20)",
    "by_char": "k CHAR(8) PRIMARY KEY, v VARCHAR2(20)",
    "by_raw": "k RAW(16) PRIMARY KEY, v VARCHAR2(20)",
    "by_date": "k DATE PRIMARY KEY, v VARCHAR2(20)",
    "by_time": "k TIMESTAMP(6) PRIMARY KEY, v VARCHAR2(20)",
    "by_two": "a VARCHAR2(10), b NUMBER, v VARCHAR2(20), CONSTRAINT by_two_pk PRIMARY KEY (a, b)",
}
moment = dt.datetime.fromisoformat


@pytest.fixture(scope="module")
def tables(installation: Tracker) -> Iterator[Tracker]:
    for name, columns in TABLES.items():
        installation.sql(f"CREATE TABLE {name} ({columns})")
    yield installation
    for name in TABLES:
        installation.sql(f"DROP TABLE {name}")


def simple(table: str, *key: str, **more: Any) -> SelectSource:
    names = key or ("source_id",)
    columns = ", ".join(names) if key else "k as source_id"
    settings = SourceSettings(
        name="thing", select=f"select {columns}, v from {table}", visibility="shared", key=names, body="v"
    )
    return SelectSource(dataclasses.replace(settings, **more))


@pytest.mark.parametrize(
    ("table", "value", "text"),
    [
        ("by_number", 42, "42"),
        ("by_number", -3, "-3"),
        ("by_number", 0.5, ".5"),
        ("by_number", 12345678901234567890, "12345678901234567890"),
        ("by_text", "a/b c", "a/b c"),
        ("by_text", "ñandú", "ñandú"),
        ("by_char", "AB", "AB"),
        ("by_raw", b"\x01\xfe", "01FE"),
        ("by_date", moment("2026-03-31T10:20:30"), "2026-03-31T10:20:30"),
        ("by_time", moment("2026-03-31T10:20:30.000250"), "2026-03-31T10:20:30.000250"),
    ],
)
def test_a_key_of_any_type_is_enumerated_and_read_by_the_same_text(
    tables: Tracker, table: str, value: Any, text: str
) -> None:
    with tables.connection.cursor() as cursor:
        if table == "by_time":  # a datetime is bound as DATE else
            cursor.setinputsizes(k=oracledb.DB_TYPE_TIMESTAMP)
        cursor.execute(f"INSERT INTO {table} VALUES (:k, 'here')", k=value)
    source = simple(table)
    try:
        assert source.ids(tables.connection) == [text]
        assert source.read(tables.connection, [text, "other"])[text].text == "here"
        assert source.read(tables.connection, ["other", f"{text}0"]) == {}
    finally:
        tables.connection.rollback()


def test_a_key_of_two_columns(tables: Tracker) -> None:
    for a, b in (("acme", 1), ("acme", 2), ("beta", 1)):
        tables.sql("INSERT INTO by_two VALUES (:a, :b, :v)", a=a, b=b, v=f"{a} {b}")
    source = simple("by_two", "a", "b")
    assert source.ids(tables.connection) == ["acme/1", "acme/2", "beta/1"]
    assert source.ids(tables.connection, after="acme/1", limit=1) == ["acme/2"]
    found = source.read(tables.connection, ["acme/2", "beta/1", "beta/2", "acme"])
    assert {key: document.text for key, document in found.items()} == {"acme/2": "acme 2", "beta/1": "beta 1"}
    tables.connection.rollback()


def test_a_read_of_many_is_few_statements_and_complete(tables: Tracker) -> None:
    tables.sql("INSERT INTO by_number SELECT LEVEL, 'v' || LEVEL FROM dual CONNECT BY LEVEL <= 1100")
    found = simple("by_number").read(tables.connection, [str(number) for number in range(1, 1101)])
    assert len(found) == 1100
    assert found["1099"].text == "v1099"
    tables.connection.rollback()


def test_values_keep_what_they_are(tracker: Tracker) -> None:
    select = """
    select t.id as source_id, 3 as whole, 2.50 as half, t.description as long_text, t.due, null as nothing, t.title
    from task t"""
    template = "{{ whole }}|{{ half }}|{{ long_text | length }}|{{ due | date }}|{{ nothing }}|{{ title }}"
    tracker.task(1, "Ünïcode 漢 😀", "x" * 50_000, due=moment("2026-03-31T10:20:30"))
    settings = SourceSettings(
        name="task", select=select, visibility="shared", template=template, metadata=("whole", "half", "due", "nothing")
    )
    document = SelectSource(settings).read(tracker.connection, ["1"])["1"]
    assert document.text == "3|2.5|50000|2026-03-31||Ünïcode 漢 😀"
    assert document.metadata == {"whole": 3, "half": 2.5, "due": "2026-03-31T10:20:30"}


def test_a_time_with_a_zone_is_brought_to_utc_and_one_without_is_taken_in_the_sources(tracker: Tracker) -> None:
    tracker.task(1, due=moment("2026-07-01T12:00:00"))
    for expression, utc in (
        ("timestamp '2026-07-01 12:00:00 +05:30'", "2026-07-01T06:30:00"),
        ("t.due", "2026-07-01T10:00:00"),
    ):
        settings = SourceSettings(
            name="task", select=f"select t.id as source_id, t.title, {expression} as at_time from task t",
            visibility="shared", body="title", occurred_at="at_time", time_zone="Europe/Madrid",
        )  # fmt: skip
        assert SelectSource(settings).read(tracker.connection, ["1"])["1"].occurred_at == moment(utc)


def test_several_rows_for_one_id_are_that_entitys_fault(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.task(2)
    tracker.sql("INSERT INTO task_comment VALUES (1, 1, NULL, 'a')")
    tracker.sql("INSERT INTO task_comment VALUES (2, 1, NULL, 'b')")
    select = "select t.id as source_id, t.title from task t left join task_comment c on c.task_id = t.id"
    tables = {"task": "id", "task_comment": "task_id"}
    source = SelectSource(SourceSettings(name="task", select=select, visibility="shared", body="title", tables=tables))
    result = source.read_each(tracker.connection, ["1", "2"])
    assert list(result.documents) == ["2"]
    assert isinstance(result.failures["1"], EntityError)
    assert [problem.code for problem in source.check(tracker.connection)] == ["KEY_NOT_UNIQUE"]


def test_a_key_of_two_columns_reads_back_what_it_enumerates(tracker: Tracker) -> None:
    tracker.task(1, status="a")
    tracker.task(2, status="b")
    settings = SourceSettings(
        name="task", select="select t.status as area, t.id as no, t.title from task t", visibility="shared",
        key=("area", "no"), body="title", tables={"task": "status, id"},
    )  # fmt: skip
    source = SelectSource(settings)
    assert source.ids(tracker.connection) == ["a/1", "b/2"]
    assert list(source.read(tracker.connection, ["a/1", "b/2"])) == ["a/1", "b/2"]
    assert source.check(tracker.connection) == []

    tracker.sql("UPDATE task SET status = 'a/c' WHERE id = 1")
    assert source.read(tracker.connection, ["a/c/1"]) == {}
    assert [problem.code for problem in source.check(tracker.connection)] == ["KEY_AMBIGUOUS"]
    turned = SelectSource(dataclasses.replace(settings, key=("no", "area")))
    assert list(turned.read(tracker.connection, turned.ids(tracker.connection))) == ["1/a/c", "2/b"]
    assert turned.check(tracker.connection) == []


def test_a_row_without_a_part_of_its_key_has_no_id(tracker: Tracker) -> None:
    tracker.task(1, status="a")
    settings = SourceSettings(
        name="task", select="select t.status as area, t.id as no, t.title from task t", visibility="shared",
        key=("area", "no"), body="title", tables={"task": "status, id"},
    )  # fmt: skip
    tracker.task(2, status=None)
    tracker.task(3, status=None)
    for key in (("area", "no"), ("no", "area"), ("area",)):
        source = SelectSource(dataclasses.replace(settings, key=key))
        assert len(source.ids(tracker.connection)) == 1
        (problem,) = source.check(tracker.connection)
        assert (problem.code, problem.severity) == ("KEY_NULL", "error")
        assert problem.message.startswith("2 rows have no value")
    function = FunctionSource("task", lambda _, ids: {}, visibility="shared", ids="select status from task")
    assert function.ids(tracker.connection) == ["a"]
    assert [problem.code for problem in function.check(tracker.connection)] == ["KEY_NULL"]


def test_a_fractional_key_is_the_same_text_whatever_the_session_writes_for_decimals(tracker: Tracker) -> None:
    select = "select t.id / 4 as source_id, t.title from task t"
    source = SelectSource(SourceSettings(name="task", select=select, visibility="shared", body="title"))
    for number in (1, 4, 5, 402):
        tracker.task(number)
    ids = source.ids(tracker.connection)
    assert sorted(ids) == [".25", "1", "1.25", "100.5"]
    assert sorted(source.read(tracker.connection, ids)) == sorted(ids)
    assert "NLS_NUMERIC_CHARACTERS=''.,''" in source.enumeration(tracker.connection)


def test_a_tenant_that_stands_for_none_is_refused(tracker: Tracker) -> None:
    tracker.task(1, status="-")
    tracker.task(2, status="acme")
    source = SelectSource(dataclasses.replace(TASK, tenant="status"))
    result = source.read_each(tracker.connection, ["1", "2"])
    assert list(result.documents) == ["2"]
    assert isinstance(result.failures["1"], EntityError)
    assert "stands for none" in result.failures["1"].message


def test_a_good_source_is_green_even_when_it_is_empty(tracker: Tracker) -> None:
    assert tracker.sources["task"].check(tracker.connection) == []
    tracker.task(1)
    assert tracker.sources["task"].check(tracker.connection) == []


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"select": "select id as source_id from no_such_table"}, "STATEMENT_FAILED", "ORA-00942"),
        ({"select": "selct 1"}, "STATEMENT_FAILED", "ORA-"),
        ({"select": "select id from task"}, "SOURCE", "'source_id'"),
        ({"key": ("id",)}, "SOURCE", "'id'"),
        ({"title": "titel"}, "COLUMN_MISSING", "title names the column 'titel'"),
        ({"owner": "nobody"}, "COLUMN_MISSING", "owner names"),
        ({"metadata": ("status", "colour")}, "COLUMN_MISSING", "'colour'"),
        ({"template": "{{ title }} {{ colour }}"}, "COLUMN_MISSING", "template uses 'colour'"),
        ({"template": "{% for c in comments %}{{ c.text }}{% endfor %}"}, "TEMPLATE", "'text' is no column"),
        ({"occurred_at": "title"}, "NOT_A_TIME", "'title'"),
    ],
)
def test_what_would_fail_is_found_before(tracker: Tracker, change: dict[str, Any], code: str, words: str) -> None:
    tracker.task(1)
    tracker.sql("INSERT INTO task_comment VALUES (1, 1, NULL, 'a')")
    problems = SelectSource(dataclasses.replace(TASK, **change)).check(tracker.connection)
    assert [problem.code for problem in problems if problem.severity == "error"] == [code]
    assert words in problems[0].message


@pytest.mark.parametrize(
    ("select", "order", "code"),
    [
        ("select c.task_id as source_id, c.created_at, c.body from task_comment c", "CREATED_AT", "ORDER_NOT_UNIQUE"),
        ("select c.task_id as source_id, c.body from task_comment c", "ID", "COLUMN_MISSING"),
        ("select c.task_id, c.id, c.body from task_comment c", "ID", "SOURCE"),
        ("select nothing from nowhere", "ID", "STATEMENT_FAILED"),
    ],
)
def test_what_is_wrong_with_children_is_found_before(tracker: Tracker, select: str, order: str, code: str) -> None:
    tracker.task(1)
    tracker.sql("INSERT INTO task_comment VALUES (1, 1, NULL, 'a')")
    tracker.sql("INSERT INTO task_comment VALUES (2, 1, NULL, 'b')")
    children = MappingProxyType({"comments": ChildSettings(select, order)})
    source = SelectSource(dataclasses.replace(TASK, children=children))
    assert code in [problem.code for problem in source.check(tracker.connection)]


def test_a_table_that_nobody_watches_is_a_warning(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tables=MappingProxyType({"task": "id", "task_comment": "task_id"})))
    (problem,) = source.check(tracker.connection)
    assert (problem.severity, problem.code) == ("warning", "TABLE_WITHOUT_ENTRY")
    assert "SPRINT" in problem.message
