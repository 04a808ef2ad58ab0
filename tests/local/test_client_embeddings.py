"""Embeddings as langchain-oracledb and llama-index ask for them: an object type, a table function, JSON parameters."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

ROWS = "select t.* from dbms_vector_chain.utl_to_embeddings(:1, json(:2)) t"
DATABASE = {"provider": "database", "model": "tiny"}


@pytest.fixture(scope="module")
def cursor(module_account: Account, tiny_file: Path) -> Iterator[oracledb.Cursor]:
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => 'TINY', model_data => :d, metadata => JSON(:m)); END;",
            d=tiny_file.read_bytes(),
            m='{"function": "embedding", "embeddingOutput": "embedding", "input": {"input": ["DATA"]}}',
        )
        cursor.execute("CREATE TABLE docs (id NUMBER, embedding VECTOR, text CLOB)")
        yield cursor


def chunks(connection: oracledb.Connection, *texts: str) -> Any:
    """An array of chunks as UTL_TO_CHUNKS gives them; not every driver takes a text for a CLOB in it."""
    made = connection.gettype("SYS.VECTOR_ARRAY_T").newobject()
    for number, text in enumerate(texts, 1):
        lob = connection.createlob(oracledb.DB_TYPE_CLOB, json.dumps({"chunk_id": number, "chunk_data": text}))
        made.append(lob)
    return made


def embed(cursor: oracledb.Cursor, parameters: Any, *texts: str) -> list[dict[str, Any]]:
    bound = chunks(cursor.connection, *texts)
    cursor.setinputsizes(None, oracledb.DB_TYPE_JSON)
    cursor.execute(ROWS, [bound, parameters])
    assert [info.name for info in cursor.description or ()] == ["COLUMN_VALUE"]
    return [json.loads(value.read() if isinstance(value, oracledb.LOB) else value) for (value,) in cursor.fetchall()]


def test_the_type_is_described(cursor: oracledb.Cursor) -> None:
    for name in ("SYS.VECTOR_ARRAY_T", '"SYS"."VECTOR_ARRAY_T"', "SYS.VECTOR_ARRAY_T"):
        found = cursor.connection.gettype(name)
        assert (found.schema, found.name, found.iscollection) == ("SYS", "VECTOR_ARRAY_T", True)
        assert found.element_type is oracledb.DB_TYPE_CLOB
    for name in ("SYS.NOTHING", "VECTOR_ARRAY_U"):
        with pytest.raises(oracledb.DatabaseError, match="DPY-2035"):
            cursor.connection.gettype(name)
    assert cursor.execute("SELECT 'in step' FROM dual").fetchone() == ("in step",)


@pytest.mark.parametrize("texts", [[], ["one text"], ["a", "bc", "a"], ["x " * 9000, "é"]], ids=len)
def test_an_array_is_embedded_as_vector_embedding_does_it(cursor: oracledb.Cursor, texts: list[str]) -> None:
    rows = embed(cursor, DATABASE, *texts)
    assert [(row["embed_id"], row["embed_data"]) for row in rows] == [
        (str(number), text) for number, text in enumerate(texts, 1)
    ]
    for row in rows:
        if len(row["embed_data"]) > 1000:  # a text that VECTOR_EMBEDDING does not take as a bind
            continue
        cursor.execute("SELECT VECTOR_EMBEDDING(tiny USING :t AS DATA) FROM dual", t=row["embed_data"])
        assert cursor.fetchone() == (array("f", json.loads(row["embed_vector"])),)


def test_one_text_is_embedded_where_it_is_inserted(cursor: oracledb.Cursor) -> None:
    cursor.setinputsizes(param=oracledb.DB_TYPE_JSON)
    cursor.executemany(
        "INSERT INTO docs (id, embedding, text) VALUES (:id, dbms_vector_chain.utl_to_embedding(:text, json(:param)), :text)",
        [{"id": number, "text": text, "param": {"model": "TINY"}} for number, text in enumerate(("a", "b", None))],
        batcherrors=True,
    )
    assert cursor.getbatcherrors() == []
    cursor.execute("SELECT VECTOR_DIMENSION_COUNT(embedding) FROM docs ORDER BY id")
    assert cursor.fetchall() == [(384,), (384,), (None,)]
    cursor.execute(
        'SELECT id FROM docs ORDER BY VECTOR_DISTANCE(embedding, DBMS_VECTOR.UTL_TO_EMBEDDING(:1, JSON(\'{"model": "tiny"}\')),'
        " COSINE) FETCH FIRST 1 ROWS ONLY",
        ["b"],
    )
    assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"provider": "database", "model": "nothing"}, "ORA-40284"),
        ({"provider": "cohere", "model": "tiny"}, "ORA-03001: .*provider cohere"),
        ({}, "ORA-03001: .*without a model"),
        ({"model": "somebody.tiny"}, "ORA-03001: .*model of another user"),
    ],
)
def test_what_cannot_be_embedded_is_refused(cursor: oracledb.Cursor, parameters: dict[str, Any], expected: str) -> None:
    with pytest.raises(oracledb.DatabaseError, match=expected):
        embed(cursor, parameters, "a text")


def test_data_that_are_no_chunks_are_refused(cursor: oracledb.Cursor) -> None:
    cursor.setinputsizes(None, oracledb.DB_TYPE_JSON)
    with pytest.raises(oracledb.DatabaseError, match="ORA-06553: PLS-306"):
        cursor.execute(ROWS, ["a text", DATABASE])
    made = cursor.connection.gettype("SYS.VECTOR_ARRAY_T").newobject()
    made.append(cursor.connection.createlob(oracledb.DB_TYPE_CLOB, "no JSON"))
    cursor.setinputsizes(None, oracledb.DB_TYPE_JSON)
    with pytest.raises(oracledb.DatabaseError, match=r"ORA-03001: .*element 1 is no chunk"):
        cursor.execute(ROWS, [made, DATABASE])
    with pytest.raises(oracledb.DatabaseError, match="ORA-00932"):
        cursor.execute("SELECT :1 FROM dual", [made])
