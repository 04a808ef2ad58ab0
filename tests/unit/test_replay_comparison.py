"""When two answers are the same, and what is said where they are not."""

from __future__ import annotations

import array
import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from oraclerag.replay import Call, Difference, Outcome, Replayed, write_report
from oraclerag.replay.comparison import compare, ordered

NOW = dt.datetime(2026, 11, 30, 12)  # noqa: DTZ001 - as the driver gives it


def answer(*rows: tuple[Any, ...]) -> Outcome:
    return Outcome(columns=(("A", "DB_TYPE_NUMBER"),), rows=list(rows))


def difference(one: Outcome, other: Outcome, statement: str = "SELECT A FROM T ORDER BY A") -> Difference | None:
    return compare(7, Call(1, "execute", statement, outcome=one), other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1),
        (None, None),
        (0.123456, 0.123457),
        (array.array("f", [0.1, 0.2]), array.array("f", [0.1001, 0.2])),
        ({"a": [1, 2.0]}, {"a": [1, 2.0]}),
        (NOW, NOW + dt.timedelta(hours=1)),
    ],
)
def test_the_same(one: Any, other: Any) -> None:
    assert difference(answer((one,)), answer((other,))) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (1, Decimal(1)),
        ("1", 1),
        (None, ""),
        (True, 1),
        (0.1, 0.2),
        (array.array("f", [0.1, 0.2]), array.array("f", [0.2, 0.1])),
        (array.array("f", [0.1]), array.array("d", [0.1, 0.1])),
        ({"a": 1}, {"a": 1, "b": 2}),
        (NOW, NOW.replace(year=2020)),
        (b"a", b"b"),
    ],
)
def test_another_value_or_type_is_a_difference(one: Any, other: Any) -> None:
    found = difference(answer((one,)), answer((other,)))
    assert found is not None
    assert (found.number, found.what) == (7, "row 1, column A")
    assert found.recorded != found.replayed


def test_what_else_differs_is_named() -> None:
    assert difference(Outcome(error="ORA-00942"), Outcome()) == Difference(
        7, "SELECT A FROM T ORDER BY A", "error", "ORA-00942", "no error"
    )
    for one, other, what in (
        (Outcome(row_count=1), Outcome(row_count=2), "row count"),
        (Outcome(row_counts=(1, 0)), Outcome(row_counts=(1, 1)), "row counts"),
        (Outcome(batch_errors=((0, "ORA-00001"),)), Outcome(), "batch errors"),
        (answer((1,)), answer((1,), (2,)), "number of rows"),
        (answer(), Outcome(columns=(("A", "DB_TYPE_VARCHAR"),)), "columns"),
    ):
        found = difference(one, other)
        assert found is not None
        assert found.what == what


def test_every_database_numbers_its_objects_itself() -> None:
    one, other = (Outcome(columns=(("OBJECT_ID", "DB_TYPE_NUMBER"),), rows=[(number,)]) for number in (18525, 18606))
    assert difference(one, other) is None
    none = Outcome(columns=(("OBJECT_ID", "DB_TYPE_NUMBER"),), rows=[(None,)])
    assert difference(one, none) is not None


def test_rows_may_change_places_where_no_order_was_asked_for() -> None:
    one, other = answer((1,), (2,), (2,)), answer((2,), (1,), (2,))
    assert difference(one, other, "SELECT A FROM (SELECT A FROM T ORDER BY A)") is None
    assert difference(one, other) is not None
    assert difference(one, answer((2,), (1,), (1,)), "SELECT A FROM T") is not None


@pytest.mark.parametrize(
    ("statement", "asked"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM t\nORDER  BY a FETCH FIRST 3 ROWS ONLY", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY (b) ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY a", False),
        ('SELECT "ORDER BY" /* ORDER BY */ FROM t', False),
    ],
)
def test_whether_an_order_is_asked_for(statement: str, asked: bool) -> None:
    assert ordered(statement) is asked


def test_the_report_shows_texts_of_the_data_as_text(tmp_path: Path) -> None:
    found = Difference(3, "SELECT a\nFROM t", "row 1, column A", "<b>|\x1b[31m`x`", "'_y_*z*'")
    write_report(tmp_path / "r.md", Replayed(5, 4, (found,)), version="Oracle Database 23")
    text = (tmp_path / "r.md").read_text("utf-8")
    assert "5 calls,\n4 different statements." in text
    assert text.splitlines()[-1] == (
        r"| 3 | SELECT a FROM t | row 1, column A | &lt;b&gt;&#124;\x1b\[31m&#96;x&#96; | '\_y\_&#42;z&#42;' |"
    )


def test_a_report_without_differences_says_so(tmp_path: Path) -> None:
    write_report(tmp_path / "r.md", Replayed(5, 4, ()), version="Oracle Database 23")
    assert "No difference in rows, types or error numbers." in (tmp_path / "r.md").read_text("utf-8")
