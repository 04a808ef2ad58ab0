"""The site: every page has its place in the navigation, and what is made from the code is whole."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

import oraclerag
from oraclerag import errors
from oraclerag.cli import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs" / "_site")
        made: dict[str, str] = importlib.import_module("reference").pages()
    return made


def _named(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for under in part.values() if isinstance(part, dict) else part:
            yield from _named(under)


def test_every_page_has_its_place(pages: dict[str, str]) -> None:
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    written = {path.name for path in (ROOT / "docs").glob("*.md")}
    named = list(_named(configuration["nav"]))
    assert sorted(named) == sorted(written | {f"reference/{name}.md" for name in pages})
    assert configuration["theme"]["font"] is False


def _leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if not isinstance(command, TyperGroup):
        yield " ".join(words), command
        return
    for name, under in command.commands.items():
        if not under.hidden:
            yield from _leaves(under, (*words, name))


def test_the_reference_has_every_command_with_its_options(pages: dict[str, str]) -> None:
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", pages["commands"], re.MULTILINE | re.DOTALL))
    commands = dict(_leaves(typer.main.get_group(app)))
    assert set(sections) == set(commands)
    for name, command in commands.items():
        shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
        options = {option for parameter in shown for option in parameter.opts if option.startswith("-")}
        assert {option for option in options if option not in sections[name]} == set(), name
        assert "\n|  |" not in sections[name]


def test_the_reference_has_every_error_and_every_public_name(pages: dict[str, str]) -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OracleRagError)
    ]
    assert {kind.code for kind in kinds} == set(re.findall(r"^\| `(\w+)` \|", pages["errors"], re.MULTILINE))
    shown = set(re.findall(r"^::: oraclerag\.(\w+)$", pages["rag"] + pages["records"], re.MULTILINE))
    assert shown == set(oraclerag.__all__) - {"OracleRagError", "__version__"}
