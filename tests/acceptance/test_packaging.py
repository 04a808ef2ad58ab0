"""What is installed with the package, and what the wheel carries."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "pandas", "sentence-transformers", "tensorflow"}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _closure(name: str, extras: frozenset[str]) -> set[str]:
    """Give every distribution that installing ``name[extras]`` brings, by the metadata of what is installed here."""
    found: set[tuple[str, frozenset[str]]] = set()
    todo = [(name, extras)]
    while todo:
        one = todo.pop()
        if one in found:
            continue
        found.add(one)
        for text in importlib.metadata.requires(one[0]) or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in (*one[1], "")):
                todo.append((_normal(requirement.name), frozenset(requirement.extras)))
    return {found_name for found_name, _ in found}


@pytest.mark.parametrize("extra", ["", "model", "local"])
def test_no_extra_brings_a_deep_learning_framework_or_pandas(extra: str) -> None:
    brought = _closure("oraclerag", frozenset({extra} if extra else set()))
    assert "oracledb" in brought
    assert ("onnxruntime" in brought) == bool(extra)
    assert not brought & HEAVY


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("folder", ["sql", "alembic"])
def test_the_wheel_carries_what_stands_beside_the_package(wheel: set[str], folder: str) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    missing = {f"oraclerag/_resources/{name}" for name in tracked if not name.endswith(".keep")} - wheel
    assert tracked
    assert not missing


def test_the_wheel_carries_what_init_says_of_the_settings(wheel: set[str]) -> None:
    assert "oraclerag/_resources/docs/settings.md" in wheel


def test_the_wheel_carries_every_file_of_the_package(wheel: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "oraclerag"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert set(tracked) <= wheel
    assert not [name for name in wheel if name.startswith(("tests/", "docs/"))]
