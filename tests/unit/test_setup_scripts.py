"""``provision --sql``: everything that a DBA runs, with the names filled in, readable for SQL*Plus, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from oraclerag.cli import app
from oraclerag.config import Settings
from oraclerag.errors import InputError, OracleRagError
from oraclerag.setup import Names, scripts, whole, write
from tests.unit.sqlplus import statements

NAMES = Names(owner="ops", worker="ops_w", application="ops_a", role="ops", tablespace="data", quota="5g")
SETTINGS = Settings(
    generate_provider="database",
    generate_base_url="https://LLM.example.org:8443/v1",
    generate_credential="ops_llm",
    generate_model="m",
    generate_package="DBMS_VECTOR_CHAIN",
)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ORACLE_DSN", "ORACLE_USER", "ORACLE_PASSWORD", "ORACLERAG_SCHEMA", "ORACLERAG_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_every_name_is_filled_in() -> None:
    found = {one.path: one.text for one in scripts(NAMES, SETTINGS)}
    defined: dict[str, set[str]] = {}
    for path, text in found.items():
        for name, value in re.findall(r"^DEFINE (\w+) = (\S+)$", text, re.MULTILINE):
            defined.setdefault(name, set()).add(value)
        assert not re.search(r"^[^-\n]*\bRAG_(INDEXER|APP|SEARCHER|WORKER)\b", text, re.MULTILINE), path
    assert defined == {
        "rag_owner": {"OPS"},
        "rag_worker": {"OPS_W"},
        "rag_application": {"OPS_A"},
        "rag_role": {"OPS"},
        "rag_tablespace": {"DATA"},
        "rag_quota": {"5G"},
        "rag_temporary": {"TEMP"},
        "rag_readers": {"OPS_SEARCHER,OPS_RECORDER"},
        "rag_user": {"OPS_A"},
        "rag_host": {"llm.example.org"},
        "rag_port": {"8443"},
        "rag_wallet": {"NONE"},
        "rag_credential": {"OPS_LLM"},
        "rag_package": {"DBMS_VECTOR_CHAIN"},
        "rag_directory": {"RAG_MODELS"},
        "rag_path": {"/opt/oraclerag/models"},
    }


def test_one_script_has_all_of_the_installation_in_order() -> None:
    sent = statements(whole(scripts(NAMES, SETTINGS)))
    places = [
        next(number for number, text in enumerate(sent) if beginning in text)
        for beginning in (
            'CREATE USER OPS IDENTIFIED BY "TYPED"', "GRANT DB_DEVELOPER_ROLE TO OPS", "GRANT CREATE MINING MODEL TO OPS",
            "GRANT CTXAPP TO OPS", 'CREATE TABLE IF NOT EXISTS "OPS".RAG_DIRTY', "SELECT 'OPS_WORKER'",
            "GRANT INSERT ON OPS.RAG_ENQUEUE TO OPS_ENQUEUER", "CREATE USER OPS_W IDENTIFIED",
            "GRANT CREATE SESSION, OPS_WORKER TO OPS_W",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert not [text for text in sent if "POLICY" in text or "DROP" in text], "what is optional is not in it"


def test_a_folder_is_run_by_one_script(tmp_path: Path) -> None:
    written = write(scripts(NAMES, SETTINGS), tmp_path / "dba", NAMES)
    assert write(scripts(NAMES, SETTINGS), tmp_path / "dba", NAMES) == written, "it can be written again"
    folder = tmp_path / "dba"
    called = re.findall(r"^@@(\S+)$", (folder / "install.sql").read_text("utf-8"), re.MULTILINE)
    assert called == ["1_create_user.sql", "2_tables.sql", "3_grant_users.sql", "4_application_users.sql"]
    together = "".join("SET DEFINE ON\n" + (folder / name).read_text("utf-8") for name in called)
    assert statements(together) == statements(whole(scripts(NAMES, SETTINGS)))
    assert not re.search(r"^EXIT", together, re.MULTILINE), "it would end the session after the first"
    page = (folder / "README.txt").read_text("utf-8")
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*.sql")}
    assert {path for path in paths if path in page} == paths
    for path in paths - {"install.sql"}:
        assert statements((folder / path).read_text("utf-8"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"owner": 'a"b'}, "name of the owner"),
        ({"worker": "drop table"}, "name of the worker"),
        ({"role": "1x"}, "name of the role"),
        ({"quota": "10 G"}, "is no quota"),
        ({"quota": "0"}, "is no quota"),
        ({"owner": "RAG_APP"}, "must be three users"),
        ({"worker": "rag"}, "must be three users"),
    ],
)
def test_what_is_no_name_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OracleRagError, match=said):
        Names(**given)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        write(scripts(NAMES, SETTINGS), tmp_path / "file", NAMES)


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def test_the_verb_needs_no_database(tmp_path: Path) -> None:
    printed = call("provision", "--sql", "--schema", "ops", "--worker", "w", "--application", "a", "--role", "ops")
    assert printed.exit_code == 0
    assert "DEFINE rag_worker = W\n" in printed.stdout
    assert printed.stdout == whole(scripts(Names(owner="ops", worker="w", application="a", role="ops"), Settings()))
    assert statements(call("provision", "--sql").stdout)[0].count("RAG"), "without any name, those of the scripts"
    written = call("provision", "--sql", "-o", "dba", "--json")
    assert written.exit_code == 0
    assert (tmp_path / "dba" / "install.sql").is_file()


@pytest.mark.parametrize(
    "arguments",
    [["--worker", "w"], ["-o", "x"], ["--schema", "x", "--dry-run"], ["--directory", "D"]],
    ids=["a name", "a folder", "a dry run", "a directory without a file"],
)
def test_options_that_do_not_go_together(arguments: list[str]) -> None:
    assert call("provision", *arguments).exit_code == 2
