"""The command line explains itself, in the order of the path and without loading what a verb would need."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from oraclerag import __version__
from oraclerag.cli import app

VERBS = [
    "demo", "local", "init", "provision", "migrate", "model", "source", "enqueue", "backfill", "reindex", "deploy",
    "worker", "queue", "ingest", "resolution", "chunk", "search", "prompt", "ask", "diagnose", "mcp", "searches",
    "index", "reembed", "audit", "why", "evaluate", "wipe", "tenant", "security", "status", "doctor",
]  # fmt: skip
GROUPS = {
    "local": ["start", "stop", "status", "reset"],
    "model": ["fetch", "build", "load", "register", "use", "list", "verify", "drop"],
    "source": ["init", "list", "check", "triggers"],
    "queue": ["status", "list", "retry", "purge"],
    "ingest": ["docs", "diagnostics"],
    "resolution": ["add", "list", "show", "validate", "remove"],
    "searches": ["list", "show", "replay", "feedback", "stats", "purge"],
    "index": ["build", "rebuild", "status", "sync", "drop", "accuracy"],
    "tenant": ["list", "onboard", "verify", "export", "remove"],
    "security": ["install", "verify", "uninstall"],
}
LEAVES = [[verb] for verb in VERBS if verb not in GROUPS] + [[g, verb] for g, verbs in GROUPS.items() for verb in verbs]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), prog_name="oraclerag")
    assert result.exit_code == 0, result.output
    return result.output


def listed(text: str) -> list[str]:
    return re.findall(r"^  ([a-z]+)(?:  |$)", text.partition("Commands:")[2], flags=re.MULTILINE)


def test_help_lists_the_verbs_in_the_order_of_the_path() -> None:
    assert listed(run("--help")) == VERBS


@pytest.mark.parametrize("group", GROUPS)
def test_groups_list_their_verbs_in_order(group: str) -> None:
    assert listed(run(group, "--help")) == GROUPS[group]


@pytest.mark.parametrize("text", [run("--help"), *(run(group, "--help") for group in GROUPS)], ids=["", *GROUPS])
def test_no_short_help_is_cut_off(text: str) -> None:
    assert "..." not in text.partition("Commands:")[2]


@pytest.mark.parametrize("leaf", LEAVES, ids=" ".join)
def test_every_verb_has_json_and_a_sentence(leaf: list[str]) -> None:
    text = run(*leaf, "--help")
    assert "--json" in text or leaf == ["mcp"], "what that one prints is a protocol"
    assert re.search(r"^  [A-Z][^\n]+[.;:]", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["search", "--help"], ["model", "--help"], ["--version"]], ids=" ".join
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['oraclerag', *{arguments!r}]\n"
        "from oraclerag.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = {'oracledb', 'sqlalchemy', 'alembic', 'jinja2', 'tokenizers', 'numpy', 'onnx', 'httpx', 'psycopg'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr.splitlines()[-1] == "[]"
    assert "oraclerag" in result.stdout


def test_version() -> None:
    assert run("--version") == f"oraclerag {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["no-such-verb"], ["search"], ["search", "x", "--no-such-option"], ["search", "x", "--filter", "y"], ["model"]],
    ids=" ".join,
)
def test_usage_errors_are_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments, prog_name="oraclerag").exit_code == 2


@pytest.mark.parametrize("verb", [("diagnose", "FILE"), ("chunk", "FILE"), ("ingest", "docs", "FILE")])
@pytest.mark.parametrize("size", ["inf", "nan", "1e300", "0"])
def test_a_size_that_nobody_has_is_refused(verb: tuple[str, ...], size: str) -> None:
    result = CliRunner().invoke(app, [*verb, "--max-size", size])
    assert result.exit_code == 2, result.output
    assert "--max-size" in result.output
