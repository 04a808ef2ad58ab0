"""Loading and dropping ONNX models, and vector indexes through DBMS_VECTOR."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import oracledb
import pytest

pytestmark = pytest.mark.one_size

METADATA = {"function": "embedding", "embeddingOutput": "embedding", "input": {"input": ["DATA"]}}
BY_BLOB = "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :n, model_data => :d, metadata => JSON(:m)); END;"


def test_a_model_is_loaded_from_bytes_seen_and_dropped(connection: oracledb.Connection, tiny_file: Path) -> None:
    cursor = connection.cursor()
    data = tiny_file.read_bytes()
    cursor.setinputsizes(d=oracledb.DB_TYPE_BLOB)
    cursor.execute(BY_BLOB, n="tiny", d=data, m=json.dumps(METADATA))
    cursor.execute("SELECT model_name, mining_function, algorithm, model_size FROM user_mining_models")
    assert cursor.fetchall() == [("TINY", "EMBEDDING", "ONNX", len(data))]
    cursor.execute("SELECT attribute_name, data_type, vector_info FROM user_mining_model_attributes ORDER BY 1")
    assert cursor.fetchall() == [("DATA", "VARCHAR2", None), ("ORA$ONNXTARGET", "VECTOR", "VECTOR(384,FLOAT32)")]
    cursor.execute("SELECT VECTOR_DIMENSION_COUNT(VECTOR_EMBEDDING(tiny USING 'x' AS DATA)) FROM dual")
    assert cursor.fetchone() == (384,)
    with pytest.raises(oracledb.DatabaseError, match="ORA-00955"):
        cursor.execute(
            "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(:n, :d, JSON(:m)); END;", ["TINY", data, json.dumps(METADATA)]
        )
    cursor.execute("BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :n, force => TRUE); END;", n="tiny")
    with pytest.raises(oracledb.DatabaseError, match="ORA-40284"):
        cursor.execute("BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(:n); END;", n="tiny")
    cursor.execute("BEGIN DBMS_DATA_MINING.DROP_MODEL(model_name => :n, force => true); END;", n="tiny")
    assert cursor.execute("SELECT COUNT(*) FROM user_mining_models").fetchone() == (0,)


def test_a_model_is_loaded_from_a_directory(
    connection: oracledb.Connection, tiny_file: Path, may: Callable[..., None]
) -> None:
    may("CREATE ANY DIRECTORY")
    cursor = connection.cursor()
    cursor.execute(f"CREATE OR REPLACE DIRECTORY models_here AS '{tiny_file.parent}'")
    cursor.execute(
        "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(directory => 'MODELS_HERE', file_name => :f, model_name => :m); END;",
        f=tiny_file.name,
        m="from_file",
    )
    assert cursor.execute("SELECT model_name FROM user_mining_models").fetchone() == ("FROM_FILE",)
    for number, directory, name in (
        (22285, "NOWHERE", tiny_file.name),
        (22288, "MODELS_HERE", "none.onnx"),
        (29280, "MODELS_HERE", "../x"),
    ):
        with pytest.raises(oracledb.DatabaseError) as caught:
            cursor.execute("BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(:d, :f, 'other', JSON('{}')); END;", d=directory, f=name)
        assert caught.value.args[0].code == number


@pytest.mark.parametrize(
    ("number", "name", "data"),
    [(40204, "1x", b"x"), (40204, "a b", b"x"), (972, "x" * 124, b"x"), (1031, "nobody.m", b"x"), (54400, "m", b"")],
)
def test_a_model_is_refused(connection: oracledb.Connection, number: int, name: str, data: bytes) -> None:
    cursor = connection.cursor()
    cursor.setinputsizes(d=oracledb.DB_TYPE_BLOB)
    with pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(BY_BLOB, n=name, d=data, m=json.dumps(METADATA))
    assert caught.value.args[0].code == number
    assert cursor.execute("SELECT COUNT(*) FROM user_mining_models").fetchone() == (0,)


def test_vector_indexes_are_made_and_rebuilt_by_the_package(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (v VECTOR(3, FLOAT32))")
    cursor.execute(
        "BEGIN DBMS_VECTOR.CREATE_INDEX('iv', 't', 'v', NULL, 'GLOBAL', 'INMEMORY NEIGHBOR GRAPH', 'COSINE', 90,"
        ' \'{"type":"HNSW","neighbors":3,"efConstruction":4}\'); END;'
    )
    query = "SELECT index_subtype FROM user_indexes WHERE index_name = 'IV'"
    assert cursor.execute(query).fetchone() == ("INMEMORY_NEIGHBOR_GRAPH_HNSW",)
    cursor.execute(
        "BEGIN DBMS_VECTOR.REBUILD_INDEX(idx_name => 'IV', table_name => 'T', idx_vector_col => 'V',"
        " idx_organization => 'NEIGHBOR PARTITIONS', idx_distance_metric => 'DOT',"
        ' idx_parameters => \'{"type":"IVF","partitions":5}\'); END;'
    )
    assert cursor.execute(query).fetchone() == ("NEIGHBOR_PARTITIONS_IVF",)
    cursor.execute("BEGIN DBMS_VECTOR.REBUILD_INDEX('IV'); END;")
    with pytest.raises(oracledb.DatabaseError, match="ORA-01418"):
        cursor.execute("BEGIN DBMS_VECTOR.REBUILD_INDEX('NOPE'); END;")
