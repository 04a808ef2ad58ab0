"""Integrations are extras: nothing else needs them, and where one is missing a sentence says what to type."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oraclerag.cli import app
from oraclerag.errors import ConfigurationError

PACKAGE = Path(__file__).resolve().parents[2] / "oraclerag"
EXTRAS = {
    "fastapi": ("fastapi", "pydantic", "starlette"),
    "langchain": ("langchain_core.callbacks", "pydantic"),
    "mcp": ("mcp.server.mcpserver", "mcp_types", "pydantic"),
}
_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)


def test_only_the_integrations_import_what_they_are_for() -> None:
    theirs = {name.partition(".")[0] for names in EXTRAS.values() for name in names}
    files = {path.relative_to(PACKAGE): set(_IMPORT.findall(path.read_text("utf-8"))) for path in PACKAGE.rglob("*.py")}
    found = {path.as_posix() for path, imported in files.items() if imported & theirs}
    assert found == {f"integrations/{name}.py" for name in EXTRAS}


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_a_sentence_with_the_command(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, EXTRAS[extra][0], None)
    monkeypatch.delitem(sys.modules, f"oraclerag.integrations.{extra}", raising=False)
    with pytest.raises(ImportError, match=rf"^The [^.]+: pip install 'oraclerag\[{extra}\]'\.$"):
        importlib.import_module(f"oraclerag.integrations.{extra}")


def test_so_it_is_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "oraclerag.integrations.mcp", raising=False)
    ended = CliRunner().invoke(app, ["mcp"])
    assert isinstance(ended.exception, ConfigurationError)
    assert ended.exception.message == "The MCP server needs the package mcp from version 2 on."
    assert ended.exception.hint == "pip install 'oraclerag[mcp]'"
