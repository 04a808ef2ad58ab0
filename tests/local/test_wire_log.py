"""The statement log and the counter of round trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracledb
import pytest

from tests.local.wire_backend import PASSWORD, SETTINGS, Served


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_what_ran_is_recorded_without_values(tmp_path: Path) -> None:
    path = tmp_path / "statements.jsonl"
    with Served(SETTINGS["default"], path) as served, served.connect() as connection:
        cursor = connection.cursor()
        before = len(_lines(path))
        cursor.execute("select echo :1, :2", ["hidden-value", 12345678])
        cursor.fetchall()
        cursor.executemany("insert into t values (:1)", [["hidden-value"], ["hidden"]])
        with pytest.raises(oracledb.IntegrityError):
            cursor.execute("insert into picky values (:1)", [3])
        connection.commit()
        lines = _lines(path)[before:]
    assert "hidden-value" not in path.read_text("utf-8")
    assert PASSWORD not in path.read_text("utf-8")
    assert [(line["call"], line.get("rows"), line.get("error", 0)) for line in lines] == [
        ("execute", 1, 0),
        ("execute", 2, 0),
        ("execute", 0, 1),
        ("commit", None, 0),
    ]
    assert lines[0]["sql"] == "select echo :1, :2"
    assert lines[0]["binds"] == ["VARCHAR(48)", "NUMBER"]
    assert [line["trip"] for line in lines] == list(range(before + 1, before + 5))
    assert lines[1]["bound"] == 2


def test_passwords_in_statements_are_masked(tmp_path: Path) -> None:
    path = tmp_path / "statements.jsonl"
    with Served(SETTINGS["default"], path) as served, served.connect() as connection:
        connection.cursor().execute('create user x identified by "tiger 1" account unlock')
        connection.cursor().execute("alter user x identified by tiger2")
    assert "tiger" not in path.read_text("utf-8")
    assert "identified by *** account unlock" in path.read_text("utf-8")


def test_round_trips_are_counted(tmp_path: Path) -> None:
    with Served(SETTINGS["default"]) as served, served.connect() as connection:
        assert served.server.round_trips == 2  # login takes two
        cursor = connection.cursor()
        cursor.arraysize = cursor.prefetchrows = 100
        cursor.execute("select big 250 from t")
        cursor.fetchall()
        assert served.server.round_trips == 5
        cursor.executemany("insert into t values (:1)", [[number] for number in range(10000)])
        assert served.server.round_trips == 6
    assert served.server.round_trips == 8  # rollback, logoff


def test_the_log_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "statements.jsonl"
    for _ in range(2):
        with Served(SETTINGS["default"], path) as served:
            served.connect().close()
    assert [line["call"] for line in _lines(path)] == ["authenticate", "authenticate", "logoff"] * 2
