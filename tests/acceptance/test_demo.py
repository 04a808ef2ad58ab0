"""The demo runs, runs again, and shows other results with other data."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag.demo.application import DATA
from oraclerag.testing import tiny_model


class Machine:
    """A machine on which nothing has run yet: its own home for the local database and the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORACLE", "ORACLERAG"))}
        self.environment = kept | {
            "ORACLERAG_LOCAL_DIR": str(folder / "local"),
            "ORACLERAG_CACHE_DIR": str(folder / "cache"),
            "PYTHONIOENCODING": "utf-8",
        }
        (folder / "tiny.onnx").write_bytes(tiny_model())

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> str:
        result = subprocess.run(
            [sys.executable, "-m", "oraclerag", *arguments],
            cwd=self.folder, env=self.environment | (environment or {}), capture_output=True, text=True, check=False, timeout=110,
        )  # fmt: skip
        assert result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def demo(self, *arguments: str) -> Any:
        return json.loads(self.run("demo", "--model", "tiny.onnx", "--json", *arguments))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    made = Machine(tmp_path_factory.mktemp("machine"))
    yield made
    made.run("local", "stop")


def rows(table: str, folder: Path = DATA) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def first(machine: Machine) -> Any:
    """What a first run found."""
    return machine.demo()


def test_the_index_follows_and_roles_hold(first: Any) -> None:
    tasks = rows("task")
    entities = len(tasks) + len(rows("sprint")) + len(rows("project"))
    assert first["application"]["rows"]["task_comment"] == len(rows("task_comment"))
    assert first["index"]["enqueued"] == first["index"]["indexed"] == entities
    assert first["vector_index"]["state"] == "VALID"
    assert first["rolled_back"]["inside"] >= 1
    assert first["rolled_back"]["after"] == 0
    assert first["renamed"]["rank"] is not None
    assert first["deleted"] == {"task": first["renamed"]["task"], "rank": None}
    assert first["sprint_renamed"]["following"] == first["sprint_renamed"]["tasks"] > 0
    assert first["answer"]
    assert {key.split(":")[0] for key in first["answer"]} <= {"task", "sprint", "project"}
    incident = first["incident"]
    assert (incident["known_before"], incident["errors"][0]) == (0, "ORA-04031")
    assert incident["cases"] == incident["cited"]
    assert incident["cases"][0].startswith("resolution:")
    assert [key.split(":")[0] for key in incident["reports"]] == ["file"]
    roles = first["roles"]
    assert roles["manager"] == roles["tasks"] == len(tasks) - 1
    assert 0 < roles["developer"] < roles["tasks"]
    assert roles["foreign"] == 0


def test_a_second_run_begins_anew_and_the_commands_it_names_work(machine: Machine) -> None:
    text = machine.run("demo", "--model", "tiny.onnx")
    configuration = machine.folder / "local" / "demo" / "oraclerag.toml"
    assert f"export ORACLERAG_CONFIG={configuration}" in text
    assert configuration.stat().st_mode & 0o077 == 0
    environment = {"ORACLERAG_CONFIG": str(configuration)}
    commands = [line.strip().removeprefix("$ ") for line in text.splitlines() if line.startswith("   $ oraclerag ")]
    assert {command.split()[1] for command in commands} >= {
        "local",
        "provision",
        "source",
        "reindex",
        "index",
        "search",
    }
    assert json.loads(machine.run("status", "--json", environment=environment))["healthy"]
    hits = json.loads(machine.run("search", "late payments", "--manager", "--json", environment=environment))["hits"]
    assert len(hits) == 8


def test_with_other_data_it_shows_other_results(machine: Machine, first: Any) -> None:
    other = machine.folder / "other"
    shutil.copytree(DATA, other)
    kept = {task["id"] for task in rows("task") if task["id"] % 3}
    _write(other, "task", [task | {"title": f"Zebra {task['id']}"} for task in rows("task") if task["id"] in kept])
    _write(other, "task_comment", [comment for comment in rows("task_comment") if comment["task_id"] in kept])
    story = json.loads((DATA / "story.json").read_text("utf-8"))
    (other / "story.json").write_text(json.dumps(story | {"question": "Zebra 4"}), "utf-8")
    found = machine.demo("--data", str(other))
    assert found["roles"]["tasks"] == len(kept) - 1
    assert found["search"] != first["search"]


def test_data_of_another_form_are_refused_by_their_place(machine: Machine) -> None:
    other = machine.folder / "broken"
    shutil.copytree(DATA, other)
    lines = (DATA / "sprint.jsonl").read_text("utf-8").splitlines()
    (other / "sprint.jsonl").write_text("\n".join([lines[0], "not JSON"]), "utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "oraclerag", "demo", "--model", "tiny.onnx", "--data", str(other)],
        cwd=machine.folder, env=machine.environment, capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip
    assert result.returncode == 1
    assert "sprint.jsonl', line 2" in result.stderr
    assert "Traceback" not in result.stderr


def _write(folder: Path, table: str, values: list[dict[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in values]
    (folder / f"{table}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
