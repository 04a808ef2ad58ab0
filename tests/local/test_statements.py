"""Every named statement is read and resolved by the strict parser of the local database, against the real tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

import oracledb
import pytest

from oraclerag import schema
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.statements import Statements, _sections, root
from oraclerag.testing import tiny_model
from tests.local.conftest import Account

STEMS = sorted(path.stem for path in (root("sql") / "statements").glob("*.sql"))

# What the modules put in the place of the marks.
NAMES = {
    "accuracy": "90",
    "column": "EMBEDDING",
    "ids": ":id0, :id1",
    "keys": "(:type0, :key0), (:type1, :key1)",
    "model": "TINY_1A2B3C4D",
    "partitions": "10",
    "type": "VECTOR(384, FLOAT32)",
    "types": ":type0, :type1",
}


@pytest.fixture(scope="module")
def owner(module_account: Account) -> Iterator[oracledb.Connection]:
    """A connection to a schema with everything that statements name."""
    database = Database(Settings(dsn=module_account.dsn, user=module_account.user, password=module_account.password))
    schema.migrate(database)
    database.close()
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :name, model_data => :data, metadata => JSON(:meta)); END;",
            name=NAMES["model"],
            data=tiny_model(),
            meta='{"function":"embedding","embeddingOutput":"embedding","input":{"input":["DATA"]}}',
        )
        cursor.execute("ALTER TABLE RAG_CHUNK ADD (EMBEDDING VECTOR(384, FLOAT32))")
        yield connection


def cases() -> Iterator[tuple[str, str]]:
    for stem in STEMS:
        for name, text in _sections(stem).items():
            if not re.match(r"(CREATE|ALTER|DROP)\b", text):  # Oracle runs DDL when it parses it
                yield stem, name


@pytest.mark.parametrize(("stem", "name"), cases())
def test_a_statement_is_understood(stem: str, name: str, owner: oracledb.Connection, module_account: Account) -> None:
    text = _sections(stem)[name]
    marks = {mark: NAMES[mark] for mark in re.findall(r"/\*([a-z_]+)\*/", text) if mark != "schema"}
    with owner.cursor() as cursor:
        cursor.parse(Statements(stem, module_account.user).with_names(name, **marks))


def test_a_statement_that_names_nothing_is_not(owner: oracledb.Connection) -> None:
    """The test above could not fail otherwise."""
    for text, code in (("SELECT NOWHERE FROM RAG_CHUNK", 904), ("DELETE FROM RAG_NOTHING", 942)):
        with pytest.raises(oracledb.DatabaseError) as caught, owner.cursor() as cursor:
            cursor.parse(text)
        assert caught.value.args[0].code == code
