"""What is told of an initdb that failed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from oraclerag.local.engine.postgres import Cluster
from tests.cluster_template import made_anew

FULL = """initdb: error: could not create directory "/x/pg_wal": No space left on device
initdb: removing contents of data directory "/x"
"""
KILLED = """child process was terminated by signal 9: Killed
initdb: removing contents of data directory "/x"
"""
REFUSED = """2026-01-01 00:00:00.000 UTC [7] FATAL:  could not map anonymous shared memory: Cannot allocate memory
2026-01-01 00:00:00.000 UTC [7] HINT:  This error usually means that PostgreSQL's request exceeded available memory.
child process exited with exit code 1
initdb: removing contents of data directory "/x"
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (FULL, "No space left on device"),
        (KILLED, "child process was terminated by signal 9: Killed"),
        (REFUSED, "Cannot allocate memory"),
        ("it says something else\n", "it says something else"),
    ],
)
def test_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, told: str) -> None:
    class Server:
        system_user, postgres_user, bin_path = None, "postgres", tmp_path

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr("oraclerag.local.engine.postgres.subprocess.run", run)
    cluster = Cluster(tmp_path / "postgres")
    with made_anew(), pytest.raises(RuntimeError, match=r"cannot make its files in .*\.new\. ") as caught:
        cluster._initialise(Server())  # type: ignore[arg-type]
    assert told in str(caught.value)
    assert "removing" not in str(caught.value)
    assert not (tmp_path / "postgres.new").exists()
