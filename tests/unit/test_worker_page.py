"""docs/worker.md: its unit and manifest start what there is, its list of events is that of the code."""

from __future__ import annotations

import ast
import configparser
import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from oraclerag.heartbeat import State
from oraclerag.log import FIELDS
from tests.unit.test_documents import blocks, follow

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "worker.md"
TEXT = PAGE.read_text("utf-8")


@functools.cache
def logged() -> list[tuple[list[str], set[str]]]:
    """Give the events of the code, by call: which it may be, and the names of its fields."""
    found: list[tuple[list[str], set[str]]] = [(["worker.ending"], set())]  # by a signal, past the log's handlers
    for path in sorted((ROOT / "oraclerag").rglob("*.py")):
        if "local" in path.parts:
            continue
        text = path.read_text("utf-8")
        if not re.search(r"\blog\s*\.\s*event\b", text):
            continue
        tree = ast.parse(text)
        component = path.relative_to(ROOT / "oraclerag").parts[0].removesuffix(".py")
        spoken_for = re.search(r'getLogger\("oraclerag\.(\w+)', text)  # a part of another module
        component = spoken_for[1] if spoken_for else component
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_log_event(node.func):
                fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                # the command line's modules speak for what they run
                found.append(([f"{component}.{action}" for action in _texts(node.args[2])], fields))
    return found


def _is_log_event(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="log"), attr="event"):
            return True
    return False


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    assert isinstance(node, ast.Constant), f"the action must be written out, not {ast.unparse(node)}"
    return [str(node.value)]


@functools.cache
def listed() -> dict[str, set[str]]:
    """Give the events of the page and their fields."""
    found: dict[str, set[str]] = {}
    for names, fields in re.findall(r"^\| ((?:`\w+\.\w+`(?:, )?)+) \|[^|]*\|[^|]*\|([^|]*)\|$", TEXT, re.MULTILINE):
        for name in re.findall(r"`([\w.]+)`", names):
            found[name] = set(re.findall(r"`(\w+)`", fields))
    return found


def test_every_event_is_listed_and_there_is_no_other() -> None:
    assert len(listed()) > 20
    assert sorted(listed()) == sorted({name for names, _ in logged() for name in names})


def test_their_fields_are_listed() -> None:
    for names, fields in logged():
        missing = fields - set().union(*(listed()[name] for name in names))
        assert not missing, f"{names}: {sorted(missing)}"
    for name, fields in listed().items():
        assert fields <= set(FIELDS), f"{name}: {sorted(fields - set(FIELDS))}"


def test_every_field_is_used() -> None:
    assert set().union(*listed().values()) == set(FIELDS)


def test_the_states_of_a_heartbeat_are_listed() -> None:
    from typing import get_args

    assert all(f"`{state}`" in TEXT for state in get_args(State))


def _parses(words: list[str]) -> Any:
    command, rest = follow(words)
    return command.make_context(command.name, rest)


def test_the_unit_starts_a_worker_that_can_answer() -> None:
    [text] = blocks(PAGE, "ini")
    unit = configparser.ConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert Path(program).name == "oraclerag"
    assert _parses(words).params["concurrency"] == 2
    assert (service["Type"], service["KillMode"], service["Restart"]) == ("notify", "mixed", "on-failure")
    assert int(service["TimeoutStopSec"]) > int(service["WatchdogSec"]) > 10


def test_the_manifest_checks_the_heartbeat_that_it_has_written() -> None:
    [text] = blocks(PAGE, "yaml")
    spec = yaml.safe_load(text)["spec"]
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    program, *words = container["command"]
    worker = _parses(words).params
    probe, *checked = container["livenessProbe"]["exec"]["command"]
    check = _parses(checked).params
    assert program == probe == "oraclerag"
    assert worker["heartbeat"] == check["check"]
    assert worker["log_format"] == "json"
    assert pod["terminationGracePeriodSeconds"] > check["max_age"] > 10
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert {volume["name"] for volume in pod["volumes"]} == set(mounts)
    assert str(Path(worker["heartbeat"]).parent) == mounts["run"]["mountPath"]
    assert not mounts["run"].get("readOnly"), "it is written to"
    assert container["workingDir"] == mounts["configuration"]["mountPath"]


@pytest.mark.parametrize("text", blocks(PAGE, "json"))
def test_examples_are_json(text: str) -> None:
    import json

    for line in text.splitlines():
        assert json.loads(line)["time"].startswith("2026-")


def test_the_code_for_reading_ones_own_writes_can_be_called() -> None:
    import inspect

    from oraclerag import Rag

    [text] = blocks(PAGE, "python")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    names = set()
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            names.add(call.func.attr)
            called = inspect.signature(getattr(Rag, call.func.attr))
            called.bind(None, *call.args, **{word.arg: word.value for word in call.keywords if word.arg})
    assert names == {"index_now", "wait"}
