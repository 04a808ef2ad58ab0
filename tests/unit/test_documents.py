"""What README, docs and hints say can be done: commands, settings, code and links are held against the code."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from typer.core import TyperGroup

import oraclerag
from oraclerag.cli import app
from oraclerag.config import Settings, SourceSettings
from oraclerag.errors import OracleRagError
from oraclerag.model.known import KNOWN_MODELS
from oraclerag.resolution import Resolutions
from oraclerag.source import from_settings
from oraclerag.tenants import Tenants

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "terraform" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
SCRIPTS = [ROOT / "compose.dev.yml", *sorted((ROOT / "sql").rglob("*.sql"))]
COMMANDS = typer.main.get_group(app)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")


def blocks(page: Path, language: str) -> list[str]:
    """Give the fenced blocks of a page in a language ('' for commands)."""
    return [text for named, text in _FENCE.findall(page.read_text("utf-8")) if named == language]


def lines_to_type() -> Iterator[tuple[str, str]]:
    """Give the commands that stand in a block, as they would be typed: whole, with every argument."""
    for page in PAGES:
        for line in "".join(blocks(page, "")).splitlines():
            command = re.search(r"(?:^|&& )oraclerag (.+)$", line)
            if command:
                yield page.name, command[1]


def _mentions() -> Iterator[tuple[str, str]]:
    """Commands that are named in a sentence; their arguments may be left out."""
    verbs = set(COMMANDS.commands)
    for page in [*PAGES, *SCRIPTS]:
        for quoted in _QUOTED.findall(_FENCE.sub("", page.read_text("utf-8"))):
            first, _, rest = quoted.partition(" ")
            if first == "oraclerag":
                yield page.name, rest
            elif first in verbs and rest:
                yield page.name, quoted
    for path in sorted((ROOT / "oraclerag").rglob("*.py")):
        source = path.read_text("utf-8")
        for text in _texts(ast.parse(source)) if "`oraclerag" in source else ():
            for command in re.findall(r"`oraclerag ([^`]+)`", text):
                yield path.relative_to(ROOT).as_posix(), command


def _texts(tree: ast.AST) -> Iterator[str]:
    """Give the texts of a module; what is filled in stands as X."""
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def follow(words: list[str]) -> tuple[Any, list[str]]:
    """Walk down the verbs; gives the last one and the words behind it."""
    command: Any = COMMANDS
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"there is no verb {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


TYPED = sorted(set(lines_to_type()))
MENTIONED = sorted(set(_mentions()))


@pytest.mark.parametrize(("page", "line"), TYPED)
def test_a_command_in_a_block_can_be_typed(page: str, line: str) -> None:
    command, words = follow(shlex.split(line, comments=True))
    command.make_context(command.name, list(words))  # parses, and runs nothing


@pytest.mark.parametrize(("place", "text"), MENTIONED)
def test_a_command_in_a_sentence_exists(place: str, text: str) -> None:
    command, words = follow(shlex.split(text))
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    unknown = {word for word in words if word.startswith("-")} - known - {"--help", "-h"}
    assert not unknown, f"{place}: `{text}` names {sorted(unknown)}"


def test_there_are_commands_to_check() -> None:
    """The tests above would be green if nothing were found."""
    assert ("README.md", 'search "late payments" --owner 7 -k 5') in TYPED
    assert ("README.md", "migrate --sql") in MENTIONED
    assert ("oraclerag/errors.py", "model use NAME") in MENTIONED
    with pytest.raises(AssertionError, match="no verb 'scan'"):
        follow(["queue", "scan"])
    usage_error = typer.BadParameter.__base__  # of click, or of the copy of it that newer Typer brings
    assert usage_error is not None
    with pytest.raises(usage_error):
        test_a_command_in_a_block_can_be_typed("", "search x --no-such-option")


def test_the_configuration_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ORACLERAG_CONFIG", "ORACLERAG_EMBEDDING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    [text] = blocks(ROOT / "README.md", "toml")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "task.j2").write_text("{{ title }}{% for c in comments %} {{ c.body }}{% endfor %}")
    file = tmp_path / "oraclerag.toml"
    file.write_text(text, "utf-8")
    settings = Settings.load(file)
    fetched = {model.name for model in KNOWN_MODELS if model.files}
    assert settings.embedding_model in fetched, "the page says that `oraclerag provision` fetches it"
    source = from_settings(settings)["task"].settings
    assert set(source.tables) == {"task", "task_comment", "sprint"}
    given = source.select.lower()
    for column in (*source.key, source.title, source.owner, source.sprint):
        assert column is not None
        assert re.search(rf"\b{column}\b", given), f"the select does not give {column}"


CODE = [(page, text) for page in PAGES for text in blocks(page, "python")]


@pytest.mark.parametrize(("page", "text"), CODE, ids=[page.name for page, _ in CODE])
def test_the_code_uses_what_there_is(page: Path, text: str) -> None:
    tree = ast.parse(text)
    compile(tree, page.name, "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "oraclerag":
            assert {name.name for name in node.names} <= set(oraclerag.__all__)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "hit":
            assert hasattr(oraclerag.Hit, node.attr), f"a hit has no {node.attr}"
    called = set(_calls(tree))
    assert page.name != "README.md" or called >= {"Rag", "SourceKey", "Scope", "rag.enqueue", "rag.search"}
    assert page.name != "resolutions.md" or called >= {"Resolution", "rag.record_resolution", "rag.resolutions.get"}


def test_code_that_calls_what_there_is_not_is_found() -> None:
    for wrong in ('Scope(who="7")', "rag.resolutions.get(7)", "rag.index_now()"):
        with pytest.raises(TypeError):
            list(_calls(ast.parse(wrong)))
    with pytest.raises(AttributeError):
        list(_calls(ast.parse("rag.find()")))


def _calls(tree: ast.AST) -> Iterator[str]:
    """Give what of ours is called; raises where its arguments are not those that it takes."""
    owners: dict[str, type] = {"rag": oraclerag.Rag, "rag.resolutions": Resolutions, "rag.tenants": Tenants}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in oraclerag.__all__:
            called = inspect.signature(getattr(oraclerag, node.func.id))
        elif isinstance(node.func, ast.Attribute) and (owner := owners.get(ast.unparse(node.func.value))):
            called = inspect.signature(getattr(owner, node.func.attr))
            called = called.replace(parameters=list(called.parameters.values())[1:])  # self
        else:
            continue
        called.bind(*node.args, **{keyword.arg: keyword.value for keyword in node.keywords if keyword.arg})
        yield ast.unparse(node.func)


def test_the_attributes_of_errors_that_the_page_names_exist() -> None:
    named = re.findall(r"`error\.(\w+)`", (ROOT / "README.md").read_text("utf-8"))
    assert named
    assert all(hasattr(OracleRagError("x"), name) for name in named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    local = [target.partition("#")[0] for target in _LINK.findall(text) if "://" not in target]
    assert [target for target in local if target and not (page.parent / target).exists()] == []
    for file, test in _TEST.findall(text):
        assert re.search(rf"^(?:async )?def {test}\b", (ROOT / file).read_text("utf-8"), re.MULTILINE), (
            f"{file}::{test}"
        )


def test_every_setting_stands_in_its_table_as_it_is() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    rows: dict[str, list[str]] = {}
    for line in text.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`"):
            rows[cells[0].strip("`")] = cells[1:4]
    expected: dict[str, list[str]] = {}
    for field in dataclasses.fields(Settings):
        if field.metadata:
            low, high = field.metadata["low"], field.metadata["high"]
            default = "" if field.default is None else f"{field.default:g}" if low is not None else str(field.default)
            if isinstance(field.default, bool):
                default = default.lower()
            bounds = "" if low is None else f"{low:g} … {high:.0f}"
            expected[field.metadata["path"]] = [field.metadata["env"], default, bounds]
    expected["database.schema"][1] = "the user"
    assert rows == expected


def test_settings_that_are_named_exist() -> None:
    paths = {field.metadata["path"] for field in dataclasses.fields(Settings) if field.metadata}
    sections = "|".join({path.partition(".")[0] for path in paths if "." in path})
    rows = [line for line in (ROOT / "docs" / "worker.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    events = {name for row in rows for name in _QUOTED.findall(row.split("|")[1])}
    named = {
        f"{page.name}: {path}"
        for page in PAGES
        for path in re.findall(rf"`((?:{sections})\.\w+)(?: = [^`]*)?`", page.read_text("utf-8"))
        if path not in paths | events
    }
    assert named == {"local.md: database.administrator", "models.md: model.safetensors"}  # a property, and a file


def test_every_option_of_a_search_stands_in_its_table_and_in_its_docstring() -> None:
    table = (ROOT / "docs" / "search.md").read_text("utf-8").partition("\n## Options")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [name for cell in cells for name in _QUOTED.findall(cell)]
    options = sorted(oraclerag.SearchOptions.__annotations__)
    assert sorted(name for name in named if not name.startswith("-")) == options
    assert sorted(re.findall(r"^\* ``(\w+)``", inspect.getdoc(oraclerag.SearchOptions) or "", re.MULTILINE)) == options
    command, _ = follow(["search"])
    typed = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    of_the_asker = {"--tenant", "--owner", "--group", "--manager", "question"}
    of_the_output = {"--expand", "--show-sql", "--json", "--log", "--no-log"}
    assert {name for name in named if name.startswith("-")} == typed - of_the_asker - of_the_output - {"--codes"}


def test_every_key_of_a_source_stands_in_its_table() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8").partition("## A source")[2]
    keys = [key for line in text.splitlines() if line.startswith("| `") for key in _QUOTED.findall(line.split("|")[1])]
    cutting = {"chunker", "preset", "chunk_size_tokens", "chunk_overlap_tokens", "allow_truncation", "vector_chunks"}
    assert sorted([*keys, "time_zone"]) == sorted(
        {field.name for field in dataclasses.fields(SourceSettings)} - {"name", "cutting"} | cutting
    )
