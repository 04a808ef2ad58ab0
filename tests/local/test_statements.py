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

CANNOT_INSERT_NULL = 1400

# What the modules put in the place of the marks.
NAMES = {
    "accuracy": "90",
    "column": "EMBEDDING",
    "damaged": "SELECT ENTITY_ID FROM RAG_CHUNK",
    "enumeration": "SELECT TO_CHAR(ENTITY_ID) AS SOURCE_ID, TENANT_ID FROM RAG_ENTITY",
    "entities": "e.SOURCE_TYPE = :one_source",
    "filter": "d.SOURCE_TYPE = :one_source AND d.TENANT_ID = :one_tenant",
    "ids": ":id0, :id1",
    "history": ":source0",
    "key": "FILE_ID",
    "keys": "(:type0, :key0), (:type1, :key1)",
    "latencies": "MAX(q.SECONDS) AS SLOWEST",
    "model": "TINY_1A2B3C4D",
    "names": ":name0, :name1",
    "no_vectors": "EMBEDDING",
    "own": "s.TENANT_ID = :scope_tenant",
    "own_table": "RAG_FILE",
    "package": "DBMS_VECTOR",
    "part": "s.KIND",
    "partitions": "10",
    "scratch": "SCRATCH",
    "seen": "SELECT s.RESOLUTION_ID FROM RAG_RESOLUTION s WHERE s.TENANT_ID = :scope_tenant",
    "source": ":source",
    "table": "RAG_CHUNK",
    "text": ":text",
    "type": "VECTOR(384, FLOAT32)",
    "types": ":type0, :type1",
    "wanted": "SELECT SOURCE_ID, TENANT_ID FROM RAG_ENTITY",
    "which": "e.SOURCE_TYPE = :one_source",
}
NAMES_OF = {
    ("evaluate", "seen"): "s.TENANT_ID = :scope_tenant",
    ("searches", "seen"): "s.TENANT_ID = :scope_tenant",
    ("searches", "which"): "s.TENANT_ID = :one_tenant",
}

# Views and table functions of Oracle's that the local database does not have; who asks them bears that.
NOT_HERE = {
    ("doctor", "schema_privileges"): 942,
    ("doctor", "vector_pool"): 942,
    ("doctor", "plan"): 3001,
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
        cursor.execute(
            "CREATE TABLE SCRATCH (ID NUMBER(9) PRIMARY KEY, CONTENT VARCHAR2(4000 BYTE), EMBEDDING VECTOR(384, FLOAT32))"
        )
        yield connection


def cases() -> list[tuple[str, str]]:
    """All but DDL, which is run by the tests of its modules, and blocks, which call packages."""
    return [
        (stem, name)
        for stem in STEMS
        for name, text in _sections(stem).items()
        if not re.match(r"(CREATE|ALTER|DROP|BEGIN|DECLARE)\b", text)
    ]


def understand(connection: oracledb.Connection, text: str) -> None:
    """Let the database read a statement; one that changes something is run with NULLs and taken back."""
    with connection.cursor() as cursor:
        if text.startswith("SELECT"):
            cursor.parse(text)
            return
        try:
            cursor.execute(text, dict.fromkeys(re.findall(r":(\w+)", text)))
        except oracledb.IntegrityError as error:
            if error.args[0].code != CANNOT_INSERT_NULL:
                raise
        finally:
            connection.rollback()


@pytest.mark.parametrize(("stem", "name"), cases())
def test_a_statement_is_understood(stem: str, name: str, owner: oracledb.Connection, module_account: Account) -> None:
    text = _sections(stem)[name]
    found = set(re.findall(r"/\*([a-z_]+)\*/", text)) - {"schema"}
    marks = {mark: NAMES_OF.get((stem, mark)) or NAMES[mark] for mark in found}
    statement = Statements(stem, module_account.user).with_names(name, **marks)
    if (stem, name) in NOT_HERE:
        with pytest.raises(oracledb.DatabaseError) as refused:
            understand(owner, statement)
        assert refused.value.args[0].code == NOT_HERE[stem, name]
    else:
        understand(owner, statement)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT NOWHERE FROM RAG_CHUNK", 904),
        ("DELETE FROM RAG_NOTHING", 942),
        ("UPDATE RAG_CHUNK SET CHUNK_NO = :chunk_no LIMIT 1", 3049),
    ],
)
def test_a_statement_with_a_mistake_is_refused(owner: oracledb.Connection, text: str, code: int) -> None:
    with pytest.raises(oracledb.DatabaseError) as caught:
        understand(owner, text)
    assert caught.value.args[0].code == code
