"""The worker as a process: signals, several of them and one that dies, logs that a collector reads, probes."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oraclerag import schema
from oraclerag.cli import main
from oraclerag.heartbeat import Pulse, write
from tests.local.write_path.tracker import COMMENTS, SELECT, Tracker

pytestmark = pytest.mark.one_size

CONFIGURATION = f"""
[embedding]
model = "TINY"

[worker]
initial_delay = 0
poll_interval = 0.05
backfill_on_start = false

[source.task]
select = \"\"\"{SELECT}\"\"\"
children.comments = {{ select = "{COMMENTS}", order_by = "created_at, id" }}
template = "{{{{ title }}}}"
title = "title"
owner = "assignee_id"
visibility = "owner"
"""


@dataclass
class Worker:
    """A process, and what it wrote so far; stderr is JSON lines."""

    process: subprocess.Popen[str]
    errors: Path

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.errors.read_text().splitlines()]

    def actions(self) -> list[str]:
        return [line["action"] for line in self.lines()]

    def end(self, code: int = 0) -> None:
        assert self.process.wait(60) == code, self.errors.read_text()


def until(what: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until something is so; gives it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


@dataclass
class Shell:
    folder: Path
    environment: dict[str, str]

    @contextlib.contextmanager
    def worker(self, *options: str, **environment: str) -> Iterator[Worker]:
        errors = self.folder / f"errors.{time.monotonic_ns()}"
        command = [sys.executable, "-m", "oraclerag", "worker", "--log-format", "json", *options]
        with errors.open("w") as stream:
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment | environment, stdout=stream, stderr=stream, text=True
            )  # fmt: skip
        try:
            yield Worker(process, errors)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)

    def call(self, *options: str, expect: int, **environment: str) -> tuple[str, str]:
        """Run the verb in this process; gives stdout and stderr."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            for name, value in (self.environment | environment).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["oraclerag", "worker", *options])
            with pytest.raises(SystemExit) as end:
                main()
        assert (end.value.code or 0) == expect, err.getvalue()
        return out.getvalue(), err.getvalue()


@pytest.fixture
def shell(tracker: Tracker, tmp_path: Path) -> Shell:
    (tmp_path / "oraclerag.toml").write_text(CONFIGURATION)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORACLE", "NOTIFY_SOCKET"))}
    account = tracker.account
    return Shell(
        tmp_path,
        kept | {"ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password},
    )


def test_a_batch_is_ended_and_every_line_is_json(shell: Shell, tracker: Tracker) -> None:
    """Told in the middle of a batch, which waits for a lock: it is ended, written and settled."""
    tracker.task(1, "A secret title")
    tracker.enqueue(1)
    with tracker.account.connect() as locker, shell.worker("--heartbeat", "beat", "--log-level", "debug") as worker:
        until(lambda: "batch" in worker.actions())
        tracker.sql("UPDATE task SET title = 'Another secret' WHERE id = 1")
        locker.cursor().execute("SELECT ENTITY_ID FROM RAG_CHUNK FOR UPDATE")  # the write will wait for it
        tracker.enqueue(1)
        until(lambda: tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE CLAIM IS NOT NULL"))
        worker.process.send_signal(signal.SIGTERM)
        until(lambda: "ending" in worker.actions())
        assert worker.process.poll() is None
        locker.rollback()
        worker.end()
        lines = worker.lines()
    assert tracker.texts() == {"1": ["Another secret"]}
    assert tracker.queue() == []
    assert [line["action"] for line in lines] == [
        "started",
        "indexed",
        "batch",
        "ending",
        "indexed",
        "batch",
        "stopped",
    ]
    assert all(line["time"].endswith("Z") for line in lines)
    assert {line["pid"] for line in lines} == {worker.process.pid}
    assert "secret" not in worker.errors.read_text()
    assert tracker.account.password not in worker.errors.read_text()
    beat = json.loads((shell.folder / "beat").read_text())
    assert (beat["pid"], beat["state"]) == (worker.process.pid, "stopping")
    assert beat["last_batch"] is not None


@pytest.mark.parametrize(
    ("age", "healthy", "said"), [(5, True, ""), (90, False, "The heartbeat is older than 60 s.\n"), (-90, False, "")]
)
def test_a_probe_reads_the_heartbeat(shell: Shell, age: float, healthy: bool, said: str) -> None:
    """Without a database: a probe must not depend on one."""
    now = dt.datetime.now(dt.UTC)
    write(shell.folder / "beat", Pulse(now - dt.timedelta(seconds=age), 42, "idle", now - dt.timedelta(hours=1)))
    nobody = {"ORACLE_DSN": "", "ORACLE_USER": ""}
    code = 0 if healthy else 3
    out, err = shell.call("--check", "beat", "--max-age", "60", expect=code, **nobody)
    assert out.startswith("idle ")
    assert out.endswith("process 42\n")
    assert said in err
    report = json.loads(shell.call("--check", "beat", "--max-age", "60", "--json", expect=code, **nobody)[0])
    assert (report["healthy"], report["state"], report["pid"]) == (healthy, "idle", 42)
    assert "There is no heartbeat in 'other'" in shell.call("--check", "other", expect=3, **nobody)[1]


def test_the_second_signal_ends_it_at_once_and_gives_its_batch_back(shell: Shell, tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    with tracker.account.connect() as locker, shell.worker() as worker:
        until(lambda: "batch" in worker.actions())
        locker.cursor().execute("SELECT ENTITY_ID FROM RAG_CHUNK FOR UPDATE")
        tracker.sql("UPDATE task SET title = 'Changed' WHERE id = 1")
        tracker.enqueue(1)
        until(lambda: tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE CLAIM IS NOT NULL"))
        worker.process.send_signal(signal.SIGINT)
        until(lambda: "ending" in worker.actions())
        worker.process.send_signal(signal.SIGINT)
        worker.end(130)
        assert worker.actions()[-1] == "interrupted"
        locker.rollback()
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]


def two_free_ports() -> int:
    """Give the first of two ports, side by side, where nobody listens."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as one, contextlib.suppress(OSError, OverflowError):
            port: int = one.getsockname()[1]
            with socket.create_server(("127.0.0.1", port + 1)):
                return port


def page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def test_one_of_several_that_is_killed_is_started_again(shell: Shell, tracker: Tracker) -> None:
    port = two_free_ports()
    with shell.worker("--concurrency", "2", "--heartbeat", "beat", "--metrics-port", str(port)) as workers:
        until(lambda: workers.actions().count("started") == 2)
        first, second = (line["pid"] for line in workers.lines() if line["action"] == "started")
        os.kill(first, signal.SIGKILL)
        until(lambda: workers.actions().count("started") == 3)
        died = next(line for line in workers.lines() if line["action"] == "died")
        assert (died["component"], died["exit_code"]) == ("supervisor", -signal.SIGKILL)
        tracker.task(1)
        tracker.enqueue(1)
        until(lambda: "batch" in workers.actions())
        until(lambda: json.loads((shell.folder / "beat").read_text())["state"] == "idle")
        pages = page(port) + page(port + 1)
        assert pages.count('oraclerag_worker_batches_total{lane="change"} 1\n') == 1, "one of them had it"
        assert pages.count('oraclerag_worker_state{state="idle"} 1\n') == 2
        assert pages.count('oraclerag_queue_rows{source="task",lane="change",state="ready"} 0\n') == 2
        assert f"Metrics are at http://127.0.0.1:{port + 1}/metrics." in {line["message"] for line in workers.lines()}
        workers.process.send_signal(signal.SIGTERM)
        workers.end()
        assert workers.actions().count("stopped") == 2
    assert workers.actions().count("ending") == 3, "the parent and each of its workers"
    for pid in (first, second):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_tables_that_are_upgraded_end_it_with_the_reason(shell: Shell, tracker: Tracker) -> None:
    with shell.worker() as worker:
        until(lambda: "started" in worker.actions())
        try:
            tracker.sql("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '9999'")
            tracker.connection.commit()
            tracker.task(1)
            tracker.enqueue(1)
            worker.end(1)
        finally:
            tracker.sql("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = :head", head=schema.revisions()[-1])
            tracker.connection.commit()
        reason = next(line for line in worker.lines() if line["action"] == "failed")
    assert (reason["error_code"], reason["level"]) == ("SCHEMA_TOO_NEW", "CRITICAL")
    assert "9999" in reason["message"]
    assert "pip install -U oraclerag" in reason["hint"]
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]


def test_a_database_that_is_not_there_ends_it(shell: Shell) -> None:
    _, err = shell.call("--log-format", "json", expect=1, ORACLE_DSN="127.0.0.1:1/FREEPDB1")
    assert [(line["action"], line.get("error_code")) for line in map(json.loads, err.splitlines())] == [
        ("started", None),
        ("failed", "CONNECTION_FAILED"),
    ]


def test_what_nobody_foresaw_says_where_and_nothing_else(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a line of a document")

    monkeypatch.setattr("oraclerag.worker.drain", fail)
    for options in (("--once",), ("--once", "--log-format", "json")):
        _, err = shell.call(*options, expect=70)
        assert "crashed" in err
        assert "test_worker_process.py" in err
        assert "document" not in err
        assert len(err.splitlines()) == 1


def test_once_in_json_is_all_lines_of_json(shell: Shell, tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    _, err = shell.call("--once", "--log-format", "json", expect=0)
    assert [line["action"] for line in map(json.loads, err.splitlines())] == ["batch", "left"]
    _, err = shell.call("--once", expect=0)
    assert err == "The queue is empty.\n"
