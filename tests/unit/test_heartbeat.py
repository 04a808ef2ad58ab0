"""The heartbeat: what is written, what a probe reads, what systemd is told, and what happens where it cannot be."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import socket
import tempfile
from pathlib import Path

import pytest

from oraclerag.errors import ConfigurationError
from oraclerag.heartbeat import Heartbeat, Pulse, State, combined, read, write

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, dt.UTC)


def test_a_pulse_is_read_as_it_was_written(tmp_path: Path) -> None:
    for pulse in (Pulse(NOW, 42, "idle"), Pulse(NOW, 43, "outage", NOW - dt.timedelta(hours=1))):
        write(tmp_path / "beat", pulse)
        assert read(tmp_path / "beat") == pulse
    assert json.loads((tmp_path / "beat").read_text()) == {
        "time": "2026-01-02T03:04:05.678000+00:00", "pid": 43, "state": "outage",
        "last_batch": "2026-01-02T02:04:05.678000+00:00",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["beat"]


def test_a_beat_is_of_this_process_and_remembers_the_last_batch(tmp_path: Path) -> None:
    heartbeat = Heartbeat(tmp_path / "beat")
    heartbeat.beat("idle")
    first = read(tmp_path / "beat")
    assert (first.pid, first.state, first.last_batch) == (os.getpid(), "idle", None)
    heartbeat.batch()
    heartbeat.beat("working")
    second = read(tmp_path / "beat")
    assert second.state == "working"
    assert second.last_batch is not None
    assert first.time <= second.last_batch <= second.time


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"time": "now"}', '{"time": "2026-01-02T03:04:05", "pid": 1, "state": "idle", "last_batch": null}',
             '{"time": "2026-01-02T03:04:05Z", "pid": 1, "state": "dancing", "last_batch": null}'],
)  # fmt: skip
def test_something_else_is_no_heartbeat(tmp_path: Path, text: str) -> None:
    (tmp_path / "beat").write_text(text)
    with pytest.raises(ConfigurationError, match="is no heartbeat"):
        read(tmp_path / "beat")


def test_none_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no heartbeat in .*: No such file"):
        read(tmp_path / "beat")
    (tmp_path / "beat").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        read(tmp_path / "beat")


def test_a_place_that_cannot_be_written_to_is_said_at_the_beginning(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be written to"):
        Heartbeat(tmp_path / "nowhere" / "beat").begin()


def test_later_it_does_not_stop_the_work(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    heartbeat = Heartbeat(folder / "beat")
    heartbeat.begin()
    (folder / "beat").unlink()
    folder.rmdir()
    with caplog.at_level(logging.ERROR, "oraclerag"):
        for _ in range(3):
            heartbeat.beat("idle")
    assert [record.levelname for record in caplog.records] == ["ERROR"], "said once"
    folder.mkdir()
    heartbeat.beat("idle")
    assert read(folder / "beat").state == "idle"


def test_of_several_the_oldest_counts_and_the_worst() -> None:
    later = NOW + dt.timedelta(seconds=9)
    found = combined([Pulse(later, 1, "idle", NOW), Pulse(NOW, 2, "working"), Pulse(later, 3, "outage", later)])
    assert (found.time, found.state, found.last_batch, found.pid) == (NOW, "outage", later, os.getpid())
    assert combined([Pulse(NOW, 1, "idle"), Pulse(NOW, 2, "working")]).state == "working"


@pytest.mark.parametrize(
    ("state", "told"),
    [("starting", "READY=1\nWATCHDOG=1\nSTATUS=starting\n"), ("idle", "READY=1\nWATCHDOG=1\nSTATUS=idle\n"),
     ("stopping", "READY=1\nSTOPPING=1\nWATCHDOG=1\nSTATUS=stopping\n")],
)  # fmt: skip
def test_systemd_is_told(state: State, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        place = f"{folder}/notify"  # a socket's path is short, that of tmp_path may not be
        manager.bind(place)
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", place)
        Heartbeat().beat(state)
        assert manager.recv(1000).decode() == told
    Heartbeat().beat(state)  # nobody listens any more
