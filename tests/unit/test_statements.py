"""Named statements: marks become names, identifiers are checked, resources are found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import statements
from oraclerag.errors import ConfigurationError
from oraclerag.statements import Statements, fill, identifier, quoted, root


@pytest.fixture
def stem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a file of statements of its own, under the stem ``sample``."""
    (tmp_path / "statements").mkdir()
    monkeypatch.setattr(statements, "root", lambda folder: tmp_path)
    statements._sections.cache_clear()
    yield tmp_path / "statements" / "sample.sql"
    statements._sections.cache_clear()


def test_sections_are_found_without_their_comment_and_semicolon(stem: Path) -> None:
    stem.write_text(
        "-- About the file.\n\n-- name: pick\n-- What it does.\nSELECT 1\nFROM dual;\n\n-- name: end\nCOMMIT\n"
    )
    sample = Statements("sample", "RAG")
    assert sample["pick"] == "SELECT 1\nFROM dual"
    assert sample["end"] == "COMMIT"


def test_a_comment_inside_the_statement_stays(stem: Path) -> None:
    stem.write_text("-- name: pick\nSELECT 1 -- one\nFROM dual\n")
    assert Statements("sample", "RAG")["pick"] == "SELECT 1 -- one\nFROM dual"


@pytest.mark.parametrize("block", ["BEGIN NULL; END;", "DECLARE n NUMBER; BEGIN NULL; END;", "begin null; end;"])
def test_a_block_keeps_its_last_semicolon(stem: Path, block: str) -> None:
    stem.write_text(f"-- name: block\n{block}\n")
    assert Statements("sample", "RAG")["block"] == block


def test_a_name_that_stands_twice_is_refused(stem: Path) -> None:
    stem.write_text("-- name: pick\nSELECT 1 FROM dual\n-- name: pick\nSELECT 2 FROM dual\n")
    with pytest.raises(ConfigurationError, match="twice"):
        Statements("sample", "RAG")["pick"]


def test_marks_are_replaced(stem: Path) -> None:
    stem.write_text(
        "-- name: embed\nUPDATE /*schema*/RAG_CHUNK SET /*column*/EMBEDDING = "
        "VECTOR_EMBEDDING(/*model*/MODEL USING CONTENT AS DATA) /* kept */ WHERE /*+ no mark */ ID = :id\n"
    )
    text = Statements("sample", "rag").with_names("embed", column="EMBEDDING_2", model='"RAG"."M"')
    assert text == (
        'UPDATE "RAG".RAG_CHUNK SET EMBEDDING_2 = VECTOR_EMBEDDING("RAG"."M" USING CONTENT AS DATA) '
        "/* kept */ WHERE /*+ no mark */ ID = :id"
    )


def test_an_unknown_statement_or_mark_is_a_key_error(stem: Path) -> None:
    stem.write_text("-- name: embed\nSELECT /*column*/X FROM dual\n")
    sample = Statements("sample", "RAG")
    with pytest.raises(KeyError):
        sample["nothing"]
    with pytest.raises(KeyError):
        sample["embed"]


def test_the_same_statement_with_other_names_is_another_text(stem: Path) -> None:
    stem.write_text("-- name: s\nSELECT /*column*/X FROM dual\n")
    sample = Statements("sample", "RAG")
    assert sample.with_names("s", column="A") != sample.with_names("s", column="B")


def test_fill_names_the_owner() -> None:
    assert fill("DROP VIEW /*schema*/RAG_ENQUEUE", "rag") == 'DROP VIEW "RAG".RAG_ENQUEUE'


@pytest.mark.parametrize("name", ["RAG", "rag_app", "R2$#", "a" * 128])
def test_ordinary_identifiers_are_given_in_upper_case(name: str) -> None:
    assert identifier(name) == name.upper()
    assert quoted(name) == f'"{name.upper()}"'


@pytest.mark.parametrize("name", ["", "1a", "_a", "a-b", 'a"b', "a b", "a.b", "é", "a" * 129, "a\n", "rag\0"])
def test_other_identifiers_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="not usable as schema"):
        identifier(name, "schema")


@given(st.text(max_size=40))
def test_what_is_quoted_cannot_leave_its_quotes(name: str) -> None:
    try:
        text = quoted(name)
    except ConfigurationError:
        return
    assert text.count('"') == 2
    assert text[0] == text[-1] == '"'
    assert text.isascii()


@pytest.mark.parametrize("folder", ["sql", "alembic", "docs"])
def test_resources_are_found_in_a_checkout(folder: str) -> None:
    assert root(folder).is_dir()


def test_a_missing_resource_says_so() -> None:
    with pytest.raises(ConfigurationError, match="no_such_folder") as caught:
        root("no_such_folder")
    assert caught.value.hint is not None


def test_resources_inside_the_package_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a wheel, the neighbour called ``alembic`` is the library."""
    package = tmp_path / "oraclerag"
    (package / "_resources" / "alembic").mkdir(parents=True)
    (tmp_path / "alembic").mkdir()
    monkeypatch.setattr(statements, "__file__", str(package / "statements.py"))
    assert root.__wrapped__("alembic") == package / "_resources" / "alembic"
