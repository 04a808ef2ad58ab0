"""What is watched: the page of one look, what has changed since the one before, and where it is shown."""

from __future__ import annotations

import datetime as dt
import io
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from oraclerag.cli import dashboard
from oraclerag.console import Output
from oraclerag.index import IndexStatus
from oraclerag.queue import Lag, PausedSource, QueueStatus
from oraclerag.status import SourceStatus, StatusReport

AT = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
QUEUE = QueueStatus(
    at=AT, ready=120, dead=1, failing=2, claimed=32, claimed_expired=0, held=32, held_expired=0, hidden=0, settled=600,
    window=300.0, rate=2.0, empty_in=60.0, lag=(Lag("change", "acme", 120, AT, 90.0),), backlog=(), paused=(), problems=(),
)  # fmt: skip
INDEX = IndexStatus("RAG_CHUNK_EMB_IDX", "VALID", "IVF", "EMBEDDING", 5000, None, "rebuild it, it has grown")
REPORT = StatusReport(
    "RAG", "0001", "M_1", 384, 256, INDEX, (SourceStatus("task", 10, 5000, AT),), QUEUE, None, ()
)  # fmt: skip


def page(report: StatusReport, before: StatusReport | None, capsys: pytest.CaptureFixture[str]) -> str:
    dashboard.show(Output(), report, before)
    return capsys.readouterr().out


def row(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def test_the_first_look_has_no_rates(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(REPORT, None, capsys)
    assert row(text, "ready ") == ["ready", "120"]
    assert row(text, "chunks") == ["chunks", "5,000"]
    assert row(text, "change") == ["change", "acme", "120", "90", "s"]
    assert "IVF VALID; rebuild it, it has grown" in text
    assert "32 changes claimed; 600 entities settled in the last 5 min" in text


def test_a_later_look_says_what_has_changed_and_how_fast(capsys: pytest.CaptureFixture[str]) -> None:
    queue = replace(
        QUEUE, at=AT + dt.timedelta(seconds=4), ready=100, claimed=0, held_expired=3, settled=0,
        paused=(PausedSource("task", "no column", AT),),
    )  # fmt: skip
    sources = (SourceStatus("task", 30, 5040, AT, "no column"),)
    text = page(replace(REPORT, queue=queue, sources=sources), REPORT, capsys)
    assert row(text, "ready ") == ["ready", "100", "-20", "-300"]
    assert row(text, "chunks") == ["chunks", "5,040", "+40", "+600"]
    assert row(text, "dead") == ["dead", "1", "0"]
    assert "paused: no column" in text
    assert "nothing claimed, nothing settled lately; 3 past their lease" in text


def test_where_there_are_no_tables_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    bare = replace(REPORT, revision=None, queue=None, index=None, sources=())
    assert page(bare, REPORT, capsys) == "schema  RAG, revision -\n"
    assert "ready" in page(REPORT, bare, capsys)  # they were made meanwhile


def test_pages_follow_each_other_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Output()
    with screen.pages() as show:
        for text in ("one", "two"):
            show(lambda text=text: screen.write(text))  # type: ignore[misc]
    assert capsys.readouterr().out == "one\n\ntwo\n"


def test_on_a_terminal_a_page_takes_the_place_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that go to stderr are on the page too; a page of data steers nothing; Ctrl-C gives the cursor back."""
    written = io.StringIO()
    terminal = Console(
        file=written, force_terminal=True, width=60, height=20, color_system="standard", legacy_windows=False
    )
    monkeypatch.setattr("oraclerag.console._console", lambda stream: terminal if stream is sys.stdout else Console())
    screen = Output()

    def a_page(number: int) -> None:
        screen.write(f"page {number} \x1b[2J[bold]")
        screen.say(f"Problem {number}")

    def watch() -> None:
        with screen.pages() as show:
            show(lambda: a_page(1))
            show(lambda: a_page(2))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch()
    text = written.getvalue()
    assert text.index("page 1 ␛[2J[bold]") < text.index("\x1b[1A") < text.index("page 2 ␛[2J[bold]")
    assert "Problem 2" in text
    assert "\x1b[2J" not in text
    assert text.index("\x1b[?25l") < text.rindex("\x1b[?25h")  # the cursor
