"""Text from data can neither steer a terminal nor act as markup."""

from __future__ import annotations

import datetime as dt
import io
import json
import sys
import unicodedata
from decimal import Decimal

import oracledb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.console import Output, one_line, to_json, visible
from oraclerag.errors import ConfigurationError, ConnectionFailed, OracleRagError, StatementFailed
from oraclerag.records import Hit, SearchResult, SourceKey


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ñ 漢 🙂", "plain ñ 漢 🙂"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\tb\nc\rd", "a␉b␊c␍d"),
        ("\x7f\x9b", "␡<U+009B>"),
        ("abc\u202edef", "abc<U+202E>def"),
        ("a\u2028b\u200bc\ufeffd", "a<U+2028>b<U+200B>c<U+FEFF>d"),
        ("\ud800", "<U+D800>"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_visible_keeps_lines_where_asked() -> None:
    assert visible("a\r\nb\nc\x1b", lines=True) == "a\nb\nc␛"


@given(st.text(st.characters()))
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in shown)
    assert not {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"} & set(shown)
    assert visible(shown) == shown
    shown.encode("utf-8")


@given(st.recursive(st.none() | st.text(st.characters()) | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_json_reads_back_and_steers_nothing(value: object) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    categories = {unicodedata.category(char) for char in text if char not in "\n\u00ad\u200d\x7f"}
    assert not categories & {"Cc", "Cf", "Cs"}
    text.encode("utf-8")


def test_json_of_records_is_the_record() -> None:
    hit = Hit(1, 2, SourceKey("task", "4"), 0, "text", 0.25, occurred_at=dt.datetime(2026, 5, 1, 8, 30))  # noqa: DTZ001
    assert json.loads(to_json(hit)) == {
        "rank": 1,
        "chunk_id": 2,
        "source": {"type": "task", "id": "4", "tenant": None},
        "key": "task:4:0",
        "chunk_number": 0,
        "content": "text",
        "distance": 0.25,
        "why": "",
        "stale": False,
        "relevance": None,
        "score": 0.75,
        "title": None,
        "url": None,
        "section": None,
        "collection": None,
        "project": None,
        "sprint": None,
        "occurred_at": "2026-05-01T08:30:00",
        "metadata": {},
    }
    assert json.loads(to_json({"n": Decimal("1.5"), "m": Decimal(3)})) == {"n": 1.5, "m": 3}


def test_one_line_is_the_first_that_is_not_blank() -> None:
    assert one_line("\n  \n  a   b\x1b \nc") == "a b␛"
    assert one_line("x" * 300) == "x" * 199 + "…"
    assert one_line(None) == ""


def output(monkeypatch: pytest.MonkeyPatch) -> tuple[Output, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return Output(), out, err


def test_hits_fit_the_width_and_show_markup_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out, err = output(monkeypatch)
    hit = Hit(
        1, 5, SourceKey("task", "42"), 0, "[TASK #42] [red]x[/red]\nStatus: \x1b[2J open " + "y" * 200, 0.1,
        title="[red]x[/red]",
    )  # fmt: skip
    screen.hits(SearchResult((hit,)))
    assert "[red]x[/red]" in out.getvalue()
    assert "task:42" in out.getvalue()
    assert "0.900" in out.getvalue()
    assert "Status: ␛[2J open" in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 100
    assert err.getvalue() == ""


def test_an_error_is_a_sentence_its_cause_and_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out, err = output(monkeypatch)
    error: OracleRagError
    try:
        try:
            raise OSError("ORA-12541: no listener\nHelp: https://…")
        except OSError as cause:
            raise ConnectionFailed("The database cannot be reached (ORA-12541: no listener).") from cause
    except ConnectionFailed as raised:
        error = raised
    screen.error(error)
    lines = err.getvalue().splitlines()
    assert lines[0] == "Error: The database cannot be reached."
    assert lines[1] == "  cause:  ORA-12541: no listener"
    assert lines[2].startswith("  remedy: Check ORACLE_DSN")
    assert out.getvalue() == ""


def test_the_cause_of_an_error_repeats_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    class Details:
        full_code = "ORA-01722"

        def __str__(self) -> str:
            return "ORA-01722: unable to convert string value containing 'SECRET' to a number"

    screen, _, err = output(monkeypatch)
    error = StatementFailed("A statement failed (ORA-01722).")
    error.__cause__ = oracledb.DatabaseError(Details())
    screen.error(error)
    assert err.getvalue().splitlines() == ["Error: A statement failed.", "  cause:  ORA-01722"]


def test_an_error_without_cause_and_remedy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, _, err = output(monkeypatch)
    screen.error(ConfigurationError("x must be y."))
    assert err.getvalue() == "Error: x must be y.\n"


def test_progress_elsewhere_than_on_a_terminal_is_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out, err = output(monkeypatch)
    with screen.progress("indexing", 10) as update:
        update(4)
        update(6)
    assert err.getvalue().startswith("indexing: 10 in ")
    assert out.getvalue() == ""
