"""Events: one line each whatever the data holds, valid JSON, times in UTC, fields that other handlers see."""

from __future__ import annotations

import datetime as dt
import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import log

LOGGER = logging.getLogger("oraclerag.drain")


@contextmanager
def written(form: log.Format, level: log.Level = "info") -> Iterator[io.StringIO]:
    """Give what the command line's handler writes."""
    out = io.StringIO()
    with redirect_stderr(out), log.shown(form, level):
        yield out


def only(out: io.StringIO) -> dict[str, Any]:
    (line,) = out.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_an_event_in_json() -> None:
    with written("json") as out:
        log.event(LOGGER, logging.INFO, "batch", "2 queue rows.", tenant="acme", rows=2, chunks=3, hint=None)
    line = only(out)
    moment = dt.datetime.fromisoformat(line.pop("time"))
    assert moment.utcoffset() == dt.timedelta(0)
    assert abs((dt.datetime.now(dt.UTC) - moment).total_seconds()) < 60
    assert isinstance(line.pop("pid"), int)
    assert line == {
        "level": "INFO", "logger": "oraclerag.drain", "message": "2 queue rows.", "component": "drain",
        "action": "batch", "tenant": "acme", "rows": 2, "chunks": 3,
    }  # fmt: skip


def test_an_event_in_text() -> None:
    with written("text") as out:
        log.event(LOGGER, logging.ERROR, "source_paused", "It is paused.", source_type="task", hint='Say "why".')
    (line,) = out.getvalue().splitlines()
    time, _, rest = line.partition(" ")
    assert dt.datetime.fromisoformat(time).utcoffset() == dt.timedelta(0)
    assert rest == 'ERROR   drain.source_paused It is paused. source_type=task hint="Say \\"why\\"."'


def test_a_time_of_another_zone_is_told_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    assert log.now(0.25) == "1970-01-01T00:00:00.250Z"


EVIL = ["a\nFAKE drain.batch", "\x1b[2J", "\r", "\x00", "\u202e", "\u2028", "\x85", "\ud800", "\x9b", "\x7f"]


@pytest.mark.parametrize("form", log.FORMATS)
@pytest.mark.parametrize("text", EVIL, ids=ascii)
def test_text_from_data_stays_on_its_line(form: log.Format, text: str) -> None:
    with written(form) as out:
        log.event(LOGGER, logging.INFO, "postponed", f"note:{text} is postponed", source_id=text, tenant=text)
    line = out.getvalue().removesuffix("\n")
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    if form == "json":
        assert json.loads(line)["source_id"] == log.escaped(text)


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_every_event_is_one_line_of_valid_json(tenant: str, message: str) -> None:
    record = logging.makeLogRecord({"msg": message, "args": (), "tenant": tenant, "name": "a", "levelname": "INFO"})
    assert len(log.TextLines().format(record).splitlines()) == 1
    line = log.JsonLines().format(record)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line)["tenant"] == tenant


@given(st.text(st.characters(), max_size=50))
def test_what_is_escaped_can_be_printed(text: str) -> None:
    shown = log.escaped(text)
    assert len(shown.splitlines()) <= 1
    assert not any(char < " " or "\x7f" <= char < "\xa0" or char in "\u2028\u2029\u202e" for char in shown)
    shown.encode()  # no halves of surrogate pairs


def test_a_programs_own_handler_sees_the_fields(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "oraclerag"):
        log.event(LOGGER, logging.DEBUG, "indexed", "As its source says.", source_id="4\x1b2", chunks=1)
    (record,) = caplog.records
    assert record.getMessage() == "As its source says."
    assert record.funcName == "test_a_programs_own_handler_sees_the_fields"
    fields = vars(record)
    assert (fields["component"], fields["action"], fields["source_id"], fields["chunks"]) == (
        "drain",
        "indexed",
        "4\\x1b2",
        1,
    )


def test_a_field_that_nobody_knows_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="text"):
        log.event(LOGGER, logging.ERROR, "batch", "x", text="source text")


@pytest.mark.parametrize("form", log.FORMATS)
def test_what_an_exception_says_is_not_told(form: log.Format) -> None:
    with written(form) as out:
        try:
            raise ValueError("a line of the document")
        except ValueError:
            logging.getLogger("somebody.else").warning("it failed", exc_info=True)
    assert "document" not in out.getvalue()
    assert "ValueError" in out.getvalue()
    assert "test_log.py" in out.getvalue()
    assert len(out.getvalue().splitlines()) == 1


def test_levels_are_ours_and_what_others_say_counts_from_warning_on() -> None:
    with written("json", "debug") as out:
        log.event(LOGGER, logging.DEBUG, "indexed", "x")
        logging.getLogger("somebody.else").info("chatter")
    assert only(out)["level"] == "DEBUG"
    with written("json", "error") as out:
        log.event(LOGGER, logging.WARNING, "given_up", "x")
        logging.getLogger("somebody.else").warning("a word")
    assert only(out)["logger"] == "somebody.else"


def test_everything_is_as_it_was_afterwards() -> None:
    root, ours = logging.getLogger(), logging.getLogger("oraclerag")
    before = (list(root.handlers), ours.level, sys.excepthook)
    with written("text", "debug"):
        assert ours.level == logging.DEBUG
    assert (list(root.handlers), ours.level, sys.excepthook) == before
