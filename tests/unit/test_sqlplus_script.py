"""``migrate --sql`` writes what SQL*Plus reads; the reader is checked first, for it could be blind."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag import schema
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.schema.objects import ddl
from oraclerag.statements import fill, root
from tests.unit.sqlplus import Refused, statements

# -- the reader -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "sent"),
    [
        ("", []),
        ("-- only a comment;\nREM and another\n", []),
        ("COMMIT;\n", ["COMMIT"]),
        ("SELECT 1\n  FROM dual;\nCOMMIT;", ["SELECT 1\n  FROM dual", "COMMIT"]),
        ("SELECT 1 FROM dual\n/\n", ["SELECT 1 FROM dual"]),
        ("SET DEFINE OFF\nSELECT '&x' FROM dual;\n", ["SELECT '&x' FROM dual"]),
        ("SET SQLBLANKLINES ON\nSELECT 1\n\nFROM dual;\n", ["SELECT 1\n\nFROM dual"]),
        ("BEGIN\n  NULL;\n\n  NULL;\nEND;\n/\n", ["BEGIN\n  NULL;\n\n  NULL;\nEND;"]),
        ("DECLARE\n  n NUMBER := 1;\nBEGIN NULL; END;\n/\n", ["DECLARE\n  n NUMBER := 1;\nBEGIN NULL; END;"]),
        ("CREATE OR REPLACE TRIGGER t BEFORE INSERT ON x\nBEGIN NULL; END;\n/", None),
        ("WHENEVER SQLERROR EXIT FAILURE ROLLBACK\nCOMMIT;", ["COMMIT"]),
    ],
)
def test_the_reader_reads_as_documented(script: str, sent: list[str] | None) -> None:
    assert statements(script) == (sent if sent is not None else [script.partition("\n/")[0]])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("SELECT 1 FROM dual;\n/\n", "twice"),
        ("/\n", "nothing to run"),
        ("SELECT 1\n\nFROM dual;\n", "blank line"),
        ("SELECT '&x' FROM dual;\n", "substitution"),
        ("-- this & that\n", "substitution"),
        ("SELECT 1 -\n1 FROM dual;\n", "goes on"),
        ("-- a dash -\nCOMMIT;\n", "goes on"),
        ("SELECT 1\n#x\nFROM dual;\n", "inside a statement"),
        ("SELECT 1\n.\n", "unrun"),
        ("SELECT 1 FROM dual", "never ended"),
        ("SELECT 'a;\nb' FROM dual;\n", "cut inside a text"),
        ("INSERT INTO t VALUES (1) RETURNING id INTO :ret_0\n/\n", "bind"),
        (f"SELECT '{'x' * 2500}' FROM dual;\n", "too long"),
        ("SELECT 'é' FROM dual;\n", "ASCII"),
    ],
)
def test_the_reader_refuses_what_would_be_misread(script: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        statements(script)


# -- the script -------------------------------------------------------------------------------------------------------


def plain(statement: str) -> str:
    """Take out what makes a statement repeatable."""
    return re.sub(r" IF( NOT)? EXISTS", "", statement, count=1)


def test_the_script_holds_the_ddl_of_the_revision_to_the_letter() -> None:
    sent = statements(schema.script("rag"))
    expected = [fill(item.statement, "RAG") for item in ddl("0001_tables.sql")]
    assert [plain(statement) for statement in sent[1:-2]] == expected
    assert sent[0].startswith('CREATE TABLE IF NOT EXISTS "RAG".rag_alembic_version (')
    assert sent[-2].startswith("INSERT INTO \"RAG\".rag_alembic_version (VERSION_NUM) SELECT '0001' FROM dual")
    assert sent[-1] == "COMMIT"


def test_every_statement_can_be_run_again() -> None:
    for text in (schema.script("RAG"), schema.script("RAG", from_revision="0001", to="base")):
        for statement in statements(text):
            assert re.match(
                r"CREATE (TABLE|VIEW|INDEX|MULTIVALUE INDEX) IF NOT EXISTS |DROP (TABLE|VIEW) IF EXISTS "
                r"|INSERT .* WHERE NOT EXISTS|DELETE |COMMIT|DECLARE",
                statement,
            ), statement


def test_the_way_back_removes_every_object_and_the_version_table() -> None:
    sent = statements(schema.script("RAG", from_revision="0001", to="base"))
    dropped = [match[1] for text in sent if (match := re.match(r'DROP (?:TABLE|VIEW) IF EXISTS "RAG"\.(\w+)', text))]
    made = [item.name for item in ddl("0001_tables.sql") if item.table is None]
    assert dropped == [*reversed(made), "RAG_ALEMBIC_VERSION"]
    assert "DROP_ONNX_MODEL" in sent[0]


def test_nothing_to_do_is_an_empty_script() -> None:
    assert statements(schema.script("RAG", from_revision="0001")) == ["COMMIT"]


def test_the_first_error_ends_the_script() -> None:
    head = schema.script("RAG").partition("\nCREATE")[0].splitlines()
    assert "WHENEVER SQLERROR EXIT FAILURE ROLLBACK" in head
    assert "SET DEFINE OFF" in head


@settings(max_examples=20)
@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_$#]{0,127}", fullmatch=True))
def test_any_schema_name_gives_a_readable_script(name: str) -> None:
    for text in (schema.script(name), schema.script(name, from_revision="0001", to="base")):
        sent = statements(text)
        assert all(f'"{name.upper()}".' in statement for statement in sent if statement != "COMMIT")


def test_no_database_and_no_settings_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ORACLE_DSN", "ORACLE_USER", "ORACLE_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    assert schema.script("RAG") == schema.script("rag")


@pytest.mark.parametrize("revision", ["2", "9999", "Head", ""])
def test_an_unknown_revision_is_refused(revision: str) -> None:
    with pytest.raises(InputError, match="no revision"):
        schema.script("RAG", to=revision)


def test_a_schema_that_is_no_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not usable as schema"):
        schema.script('RAG"; DROP USER x; --')


def test_the_package_may_lie_in_a_folder_with_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alembic's configuration gives a meaning to % and, in lists, to blanks, commas and colons."""
    folder = tmp_path / "100% ours, new:" / "alembic"
    shutil.copytree(root("alembic"), folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("oraclerag.schema.environment.root", lambda _: folder)
    assert statements(schema.script("RAG"))[0].startswith("CREATE TABLE")
