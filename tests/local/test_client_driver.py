"""What python-oracledb's own tests ask of a server and the other tests here do not."""

from __future__ import annotations

from typing import Any

import oracledb
import pytest


def _plain(value: Any) -> Any:
    return value.read() if isinstance(value, oracledb.LOB) else value


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("CAST('text' AS VARCHAR2(9))", "TO_CLOB('large')", "large"),
        ("CAST('text' AS CHAR(4))", "TO_CLOB('large')", "large"),
        ("HEXTORAW('0102')", "TO_BLOB(HEXTORAW('0304'))", b"\x03\x04"),
        ("TO_CLOB('large')", "CAST('text' AS VARCHAR2(9))", "text"),
        ("TO_CLOB('large')", "TO_CLOB('larger')", "larger"),
        ("1", "TO_CLOB('large')", "large"),
        ("1", "TO_VECTOR('[1, 2]', 2, FLOAT32)", [1, 2]),
        ("TO_VECTOR('[1, 2]', 2, FLOAT32)", "TO_CLOB('large')", "large"),
    ],
)
def test_a_column_of_another_type_reaches_a_statement_that_was_run(
    connection: oracledb.Connection, before: str, after: str, expected: Any
) -> None:
    cursor = connection.cursor()
    for expression in (before, after):
        cursor.execute(f"CREATE OR REPLACE VIEW changing AS SELECT {expression} AS value FROM dual")
        cursor.execute("SELECT * FROM changing")
        (value,) = cursor.fetchone()
    found = _plain(value)
    assert (list(found) if isinstance(expected, list) else found) == expected
    assert cursor.execute("SELECT 'in step' FROM dual").fetchone() == ("in step",)


def test_what_the_driver_asks_of_userenv(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(
        "SELECT SYS_CONTEXT('userenv', 'instance_name'), SYS_CONTEXT('userenv', 'db_name'), "
        "SYS_CONTEXT('userenv', 'cloud_service') FROM dual"
    )
    assert cursor.fetchone() == (connection.instance_name, connection.db_name, None)


def test_text_that_is_returned_as_raw_is_hexadecimal(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (a NUMBER, b VARCHAR2(20))")
    raw = cursor.var(oracledb.DB_TYPE_RAW)
    cursor.execute("INSERT INTO t VALUES (1, 'abC') RETURNING b INTO :1", [raw])
    assert raw.getvalue() == [b"\x0a\xbc"]
    with pytest.raises(oracledb.DatabaseError, match="ORA-01465"):
        cursor.execute("INSERT INTO t VALUES (2, 'no number') RETURNING b INTO :1", [raw])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("TO_CHAR(TO_DATE(20021209 + 1, 'YYYYMMDD'), 'DD.MM.YYYY')", "10.12.2002"),
        ("TO_CHAR(TO_TIMESTAMP(20021209, 'YYYYMMDD'), 'DD.MM.YYYY')", "09.12.2002"),
        ("BITOR(5, 3) * 10 + BITXOR(5, 3)", 76),
        ("FROM_VECTOR(TO_VECTOR('[0.9, 7.7]', 2, FLOAT32))", "[8.99999976E-001,7.69999981E+000]"),
        ("FROM_VECTOR(TO_VECTOR('[-0.1, 0, 10]', 3, FLOAT32))", "[-1.00000001E-001,0,1.0E+001]"),
        ("CASE WHEN '[1, 2]' IS JSON FORMAT JSON THEN 'json' END", "json"),
    ],
)
def test_expressions_of_the_drivers_schema(connection: oracledb.Connection, expression: str, expected: Any) -> None:
    assert connection.cursor().execute(f"SELECT {expression} FROM dual").fetchone() == (expected,)


def test_a_vector_fetched_as_text_reads_as_from_vector_prints_it(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.outputtypehandler = lambda cursor, metadata: cursor.var(str, arraysize=cursor.arraysize)
    cursor.execute("SELECT v, FROM_VECTOR(v) FROM (SELECT TO_VECTOR('[0.9, 0, -0.0625]', 3, FLOAT32) AS v FROM dual)")
    assert cursor.fetchone() == ("[8.99999976E-001,0,-6.25E-002]",) * 2


def test_what_is_not_there_is_refused_by_its_own_name(connection: oracledb.Connection) -> None:
    with pytest.raises(oracledb.DatabaseError, match="ORA-03001: unimplemented feature: ROWID of DUAL"):
        connection.cursor().execute("SELECT ROWID FROM dual")
