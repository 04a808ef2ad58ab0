"""node-oracledb (thin) against the local database: one program in JavaScript, its checks told one by one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.local.conftest import Account

PROGRAM = Path(__file__).with_name("node_client.mjs")
DIRECTORY = "ORACLERAG_NODE_DIRECTORY"
"""Names a directory with ``node_modules/oracledb``; without it the package is installed into a cache."""

pytestmark = [pytest.mark.clients, pytest.mark.timeout(300)]


@pytest.fixture(scope="session")
def node_directory() -> Path:
    """A directory in which node finds the package ``oracledb``."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if given := os.environ.get(DIRECTORY):
        directory = Path(given)
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        directory = cache / "oraclerag" / "node"
        if not (directory / "node_modules" / "oracledb").is_dir():
            install(directory)
    if not (directory / "node_modules" / "oracledb").is_dir():
        pytest.skip(f"{directory} has no package oracledb: run npm install oracledb there")
    return directory


def install(directory: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    directory.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(directory), "oracledb@^6.6 || >=7"],
        check=False, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm install oracledb failed: {done.stderr.strip().splitlines()[-1:]}")


@pytest.fixture(scope="module")
def results(node_directory: Path, module_account: Account, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each check said: empty text where it passed, else its error."""
    place = tmp_path_factory.mktemp("node")
    (place / "node_modules").symlink_to(node_directory / "node_modules")
    shutil.copy(PROGRAM, place)  # imports are found from where the program lies
    environment = os.environ | {
        "ORACLE_USER": module_account.user, "ORACLE_PASSWORD": module_account.password, "ORACLE_DSN": module_account.dsn,
    }  # fmt: skip
    done = subprocess.run(
        ["node", PROGRAM.name], cwd=place, env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return {entry["name"]: "" if entry["ok"] else entry["error"] for entry in told}


NAMES = [
    "versions and session",
    "types make the round trip",
    "a LOB can be streamed",
    "many rows go in and come out",
    "transactions",
    "PL/SQL with OUT and IN OUT",
    "vectors are searched",
    "errors keep the session",
    "a call can be broken",
    "a pool",
    "a wrong password",
]


@pytest.mark.parametrize("name", NAMES)
def test_check(results: dict[str, str], name: str) -> None:
    assert results[name] == ""


def test_all_checks_ran(results: dict[str, str]) -> None:
    assert list(results) == NAMES
