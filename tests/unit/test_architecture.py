"""Rules that keep the shape: who may import whom (the contracts in pyproject.toml), how large a module may be, and
that every statement has one owner and is SQL that our own strict parser accepts."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import grimp
import pytest

import oraclerag
from oraclerag.statements import _sections, root

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "oraclerag"
FILES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
STEMS = sorted(path.stem for path in (root("sql") / "statements").glob("*.sql"))

ABOUT_300 = 330
AT_MOST = 600
# A parser or a table may be longer, when cutting it would scatter one thing over several files.
LONGER = {
    "oraclerag/chunk/diagnostics/html_report.py": "what each tag does to the text that is being written",
    "oraclerag/claim.py": "the queue's protocol; its steps are understood side by side or not at all",
    "oraclerag/database.py": "the table of Oracle's codes beside the connections that raise them",
    "oraclerag/drain.py": "one batch from claim to settle; the order of its steps is what must be seen",
    "oraclerag/errors.py": "the tree of errors, each a few lines",
    "oraclerag/http_client.py": "the table of what endpoints say, beside who asks them",
    "oraclerag/merge.py": "one transaction, written in the order of its statements",
    "oraclerag/local/engine/trigger_body.py": "compiler of the bodies of triggers",
    "oraclerag/source/reads.py": "parser: what a SELECT reads",
    "oraclerag/rag.py": "the object a program holds: a short method for everything that can be asked of it",
    "oraclerag/local/engine/block.py": "parser: the parts of a query block",
    "oraclerag/local/engine/ddl/indexes.py": "parser: CREATE INDEX in its kinds",
    "oraclerag/local/engine/differences.py": "table: what is done otherwise than on Oracle, and how it is seen",
    "oraclerag/local/engine/dml.py": "parser: INSERT, UPDATE, DELETE",
    "oraclerag/local/engine/errors.py": "table: PostgreSQL's errors as Oracle numbers and words them",
    "oraclerag/local/engine/execution.py": "how a translated statement is run, in its four kinds",
    "oraclerag/local/engine/expressions.py": "parser: expressions and conditions",
    "oraclerag/local/engine/packages.py": "table: procedures that a block can call",
    "oraclerag/local/engine/plsql_compile.py": "compiler of PL/SQL blocks",
    "oraclerag/local/engine/plsql_parser.py": "parser: PL/SQL",
    "oraclerag/local/engine/plsql_run.py": "interpreter: one method for each kind of PL/SQL statement",
    "oraclerag/local/engine/query.py": "parser: queries",
    "oraclerag/local/engine/session.py": "one session: what the wire asks of it",
    "oraclerag/local/wire/execute.py": "running statements of every kind, each read to its end before",
}

# What the engine of the local database may take from the wire: the codecs of cells, which both need.
CODECS = {f"oraclerag.local.wire.{name}" for name in ("numbers", "oson", "primitives", "values", "vector")}


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("oraclerag", cache_dir=None)


def test_import_contracts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from importlinter.cli import lint_imports

    # it disables every logger that there is, and tests that read the log run in the same process
    monkeypatch.setattr("importlinter.cli._configure_logging", lambda verbose: None)
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename="pyproject.toml", no_cache=True)
    assert status == 0, capsys.readouterr().out


def test_the_package_says_what_each_of_its_modules_is_for() -> None:
    text = (oraclerag.__doc__ or "").partition("verbs of the path:")[2].partition("The public names")[0]
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(re.findall(r"``(\w+)``", text)) == modules - {"__init__", "__main__"}


def test_the_wire_imports_the_interface_only() -> None:
    for module in graph().find_descendants("oraclerag.local.wire") | {"oraclerag.local.wire"}:
        for imported in graph().find_modules_directly_imported_by(module):
            assert imported == "oraclerag.local.interface" or imported.startswith("oraclerag.local.wire"), (
                f"{module} imports {imported}"
            )


def test_the_engine_imports_the_interface_and_the_codecs_only() -> None:
    for module in graph().find_descendants("oraclerag.local.engine") | {"oraclerag.local.engine"}:
        for imported in graph().find_modules_directly_imported_by(module):
            assert (
                imported == "oraclerag.local.interface"
                or imported in CODECS
                or imported.startswith("oraclerag.local.engine")
            ), f"{module} imports {imported}"


def test_no_module_is_called_after_nothing() -> None:
    """A name says what a module is about."""
    vague = {"core", "common", "utils", "util", "helpers", "helper", "manager", "misc", "base_classes"}
    assert not [path for path in FILES if Path(path).stem in vague]


def test_alembic_is_no_package() -> None:
    """An ``__init__.py`` beside the revisions would hide the library of that name in a checkout."""
    assert not list((ROOT / "alembic").rglob("__init__.py"))
    import alembic

    assert not Path(str(alembic.__file__)).is_relative_to(ROOT / "alembic")


@pytest.mark.parametrize("path", FILES)
def test_a_module_stays_short(path: str) -> None:
    lines = (ROOT / path).read_text("utf-8").count("\n")
    limit = AT_MOST if path in LONGER else ABOUT_300
    assert lines <= limit, f"{path} has {lines} lines; cut it by responsibility, or argue for it in LONGER"


def test_longer_modules_are_there_and_need_their_exception() -> None:
    for path in LONGER:
        lines = (ROOT / path).read_text("utf-8").count("\n")
        assert lines > ABOUT_300 * 0.9, f"{path} has {lines} lines and does not need its exception any more"


# -- statements -------------------------------------------------------------------------------------------------------


@cache
def uses() -> dict[str, set[str]]:
    """Stems that a module opens with ``Statements("stem", …)``: stem → modules, a package counted once."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        module = path.removeprefix("oraclerag/").split("/")[0].removesuffix(".py")
        if module == "local":
            continue  # its Statements is another class
        text = (ROOT / path).read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "Statements" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Statements":
                stem = node.args[0]
                assert isinstance(stem, ast.Constant), f"{path}: the stem of Statements must be a literal"
                found.setdefault(str(stem.value), set()).add(module)
    return found


def test_every_file_of_statements_is_used_by_one_module() -> None:
    assert set(uses()) == set(STEMS)
    for stem, modules in uses().items():
        assert len(modules) == 1, f"sql/statements/{stem}.sql is used by {sorted(modules)}"


@pytest.mark.parametrize("stem", STEMS)
def test_every_statement_is_used_and_every_used_one_is_there(stem: str) -> None:
    [module] = uses()[stem]
    files = [path for path in FILES if path.removeprefix("oraclerag/").split("/")[0].removesuffix(".py") == module]
    code = "\n".join((ROOT / path).read_text("utf-8") for path in files)
    for name in _sections(stem):
        assert re.search(rf"""["']{name}["']""", code), f"sql/statements/{stem}.sql: {name} is used nowhere in {module}"


@pytest.mark.parametrize(("stem", "name"), [(stem, name) for stem in STEMS for name in _sections(stem)])
def test_every_statement_is_whole_and_carries_its_marks(stem: str, name: str) -> None:
    """A table of ours is never named without its owner; the owner is never written out."""
    text = _sections(stem)[name]
    assert text
    marked = re.sub(r"/\*[a-z_]+\*/\w+(\.\w+)?", "", text)
    unmarked = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+(RAG_\w+)", marked, re.IGNORECASE)
    assert not unmarked, f"{stem}.{name}: {unmarked} without /*schema*/"
    assert text.count("(") == text.count(")")
    assert ";" not in text or re.match(r"(BEGIN|DECLARE)\b", text)
