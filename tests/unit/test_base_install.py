"""What is installed without an extra: every module can be imported but those that an extra is for."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

NEED_AN_EXTRA = r"""
oraclerag\.integrations\.(fastapi|langchain|mcp)
oraclerag\.local(\..*)?
oraclerag\.model\.(assemble|graph|tokenizer_graph|weights)
oraclerag\.testing\.pytest_plugin
"""

PROGRAM = """
import importlib, pkgutil, re, sys
missing, allowed = sys.argv[1].split(","), re.compile(sys.argv[2])
sys.modules.update(dict.fromkeys(missing))
import oraclerag
for found in pkgutil.walk_packages(oraclerag.__path__, "oraclerag.", onerror=lambda name: None):
    if not allowed.fullmatch(found.name) and found.name != "oraclerag.__main__":
        try:
            importlib.import_module(found.name)
        except ImportError as error:
            print(found.name, error)
"""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!;~]", name, maxsplit=1)[0]).lower()


@pytest.mark.long
def test_every_module_that_no_extra_is_for_can_be_imported_without_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {normal(name) for name in project["dependencies"]}
    extras = {normal(name) for names in project["optional-dependencies"].values() for name in names}
    optional = extras - needed - {"oraclerag"}
    modules = {
        module
        for module, names in packages_distributions().items()
        if {normal(name) for name in names} & optional and not {normal(name) for name in names} & needed
    }
    assert {"numpy", "onnx", "psycopg"} <= modules
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, ",".join(sorted(modules)), "|".join(NEED_AN_EXTRA.split())],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
