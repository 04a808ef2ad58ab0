"""Where the local database takes a statement and does not do what Oracle does: the table in docs/local.md."""

from __future__ import annotations

from array import array
from pathlib import Path

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

# Drivers of before 2026 send such a bind as a temporary LOB, which has neither difference.
bound_as_long = pytest.mark.skipif(
    int(oracledb.__version__.partition(".")[0]) < 26, reason="this driver binds a text for a CLOB as a temporary LOB"
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "local.md"


@pytest.fixture
def cursor(connection: oracledb.Connection) -> oracledb.Cursor:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (id NUMBER PRIMARY KEY, ts TIMESTAMP(9), tz TIMESTAMP WITH TIME ZONE, v VECTOR(3))")
    cursor.execute(
        "INSERT INTO t VALUES (1, TIMESTAMP '2024-01-01 10:00:00.123456789', "
        "TIMESTAMP '2024-01-01 10:00:00 +05:00', '[1, 0, 0]')"
    )
    connection.commit()
    return cursor


def value(cursor: oracledb.Cursor, statement: str) -> object:
    cursor.execute(statement)
    row = cursor.fetchone()
    assert row is not None
    return row[0]


def test_physical_clauses_are_shown_and_do_nothing(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE p (a NUMBER) PCTFREE 40 INITRANS 16 TABLESPACE users")
    assert value(cursor, "SELECT ini_trans FROM user_tables WHERE table_name = 'P'") == 16
    with pytest.raises(oracledb.DatabaseError, match="ORA-00959"):
        cursor.execute("CREATE TABLE q (a NUMBER) TABLESPACE nowhere")


def test_no_space_is_given_back(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE p (a NUMBER PRIMARY KEY, b VARCHAR2(1000)) ENABLE ROW MOVEMENT")
    cursor.execute("INSERT INTO p SELECT LEVEL, LPAD('x', 900, 'x') FROM dual CONNECT BY LEVEL <= 100")
    cursor.execute("DELETE FROM p WHERE a < 100")
    cursor.execute("ALTER TABLE p SHRINK SPACE CASCADE")
    places = "SELECT MIN(ROWID) FROM p"
    before = value(cursor, places)
    cursor.execute("ALTER TABLE p SHRINK SPACE")
    assert value(cursor, places) == before  # the last row has not moved to the front
    assert value(cursor, "SELECT a FROM p") == 100


def test_hnsw_needs_no_memory_pool(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE VECTOR INDEX t_v ON t (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH DISTANCE COSINE")
    assert value(cursor, "SELECT status FROM user_indexes WHERE index_name = 'T_V'") == "VALID"


def test_vectors_are_of_single_precision(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE d (v VECTOR(1, FLOAT64))")
    cursor.execute("INSERT INTO d VALUES ('[0.1]')")
    kept = value(cursor, "SELECT v FROM d")
    assert isinstance(kept, array)
    assert kept.typecode == "d"
    assert kept[0] == pytest.approx(0.1)
    assert kept[0] != 0.1


def test_a_timestamp_keeps_six_digits(cursor: oracledb.Cursor) -> None:
    assert value(cursor, "SELECT TO_CHAR(ts, 'FF9') FROM t") == "123456000"


def test_a_zone_becomes_that_of_the_session(cursor: oracledb.Cursor) -> None:
    cursor.execute("ALTER SESSION SET TIME_ZONE = '+00:00'")
    assert value(cursor, "SELECT TO_CHAR(tz, 'HH24:MI TZH:TZM') FROM t") == "05:00 +00:00"


def test_a_rowid_changes_with_an_update(cursor: oracledb.Cursor) -> None:
    before = value(cursor, "SELECT rowid FROM t")
    cursor.execute("UPDATE t SET id = 2")
    assert value(cursor, "SELECT rowid FROM t") != before


def test_statistics_and_hints_do_nothing(cursor: oracledb.Cursor) -> None:
    cursor.execute("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'T'); END;")
    assert value(cursor, "SELECT /*+ INDEX(t no_such_index) */ id FROM t") == 1


def test_a_char_is_compared_with_blanks_added(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE c (x CHAR(5), y VARCHAR2(5))")
    cursor.execute("INSERT INTO c VALUES ('ab', 'ab')")
    assert value(cursor, "SELECT LENGTH(x) || x || '.' FROM c") == "5ab   ."
    assert value(cursor, "SELECT COUNT(*) FROM c WHERE x = y") == 1  # Oracle: 0
    assert value(cursor, "SELECT COUNT(*) FROM c WHERE x = 'ab'") == 1


@bound_as_long
def test_an_empty_text_bound_as_clob_is_null(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE c (x CLOB)")
    cursor.setinputsizes(x=oracledb.DB_TYPE_CLOB)
    cursor.execute("INSERT INTO c VALUES (:x)", x="")
    assert value(cursor, "SELECT COUNT(*) FROM c WHERE x IS NULL") == 1
    cursor.execute("UPDATE c SET x = EMPTY_CLOB()")
    assert value(cursor, "SELECT COUNT(*) FROM c WHERE x IS NULL") == 0


def test_members_of_an_object_are_in_another_order(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE j (x JSON)")
    cursor.execute("""INSERT INTO j VALUES ('{"zz":1,"b":2,"a":3}')""")
    assert value(cursor, "SELECT JSON_SERIALIZE(x) FROM j") == '{"a":3,"b":2,"zz":1}'


def test_what_a_transaction_read_keeps_ddl_away(cursor: oracledb.Cursor, account: Account) -> None:
    cursor.execute("CREATE TABLE r (x NUMBER)")
    with account.connect() as other:
        assert value(cursor, "SELECT COUNT(*) FROM r") == 0
        other.cursor().execute("ALTER TABLE r ADD y NUMBER")  # no transaction was open
        cursor.execute("DELETE FROM t")
        assert value(cursor, "SELECT COUNT(*) FROM r") == 0
        with pytest.raises(oracledb.DatabaseError, match="ORA-00054"):
            other.cursor().execute("ALTER TABLE r ADD z NUMBER")


def test_what_a_driver_tells_of_itself_is_not_shown(connection: oracledb.Connection, cursor: oracledb.Cursor) -> None:
    connection.module, connection.action, connection.client_identifier = "module", "action", "identifier"
    for attribute in ("MODULE", "ACTION", "CLIENT_IDENTIFIER"):
        assert value(cursor, f"SELECT SYS_CONTEXT('USERENV', '{attribute}') FROM dual") is None


def test_national_types_are_described_as_plain_ones(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE n (a NVARCHAR2(9), b NCHAR(9), c NCLOB)")
    cursor.execute("SELECT a, b, c FROM n")
    assert [column.type_code.name for column in cursor.description or ()] == [
        "DB_TYPE_VARCHAR", "DB_TYPE_CHAR", "DB_TYPE_CLOB",
    ]  # fmt: skip


@bound_as_long
def test_a_bound_clob_comes_back_as_text(cursor: oracledb.Cursor) -> None:
    cursor.setinputsizes(x=oracledb.DB_TYPE_CLOB)
    cursor.execute("SELECT :x FROM dual", x="text")
    assert cursor.fetchone() == ("text",)


def test_errors_of_a_batch_are_in_the_order_of_rows(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE b (x NUMBER(3) PRIMARY KEY)")
    cursor.executemany("INSERT INTO b VALUES (:1)", [[1], [1], [2], [1000]], batcherrors=True)
    assert [(error.offset, error.code) for error in cursor.getbatcherrors() or []] == [(1, 1), (3, 1438)]


def test_the_page_lists_them() -> None:
    taken = PAGE.read_text("utf-8").partition("## Taken")[2].partition("\n## ")[0]
    subjects = [line.split("|")[1].strip() for line in taken.splitlines() if line.startswith("|")][2:]
    assert {
        "Storage",
        "HNSW",
        "CHAR",
        "Empty CLOB and BLOB",
        "JSON objects",
        "DDL beside readers",
        "Session attributes",
        "Errors of executemany",
        "Types of results",
        "TIMESTAMP(7) to (9)",
        "TIMESTAMP WITH TIME ZONE",
        "ROWID",
        "Statistics",
    } <= {*subjects}


def test_a_trigger_is_valid_or_is_not_there(cursor: oracledb.Cursor) -> None:
    with pytest.raises(oracledb.DatabaseError, match="ORA-06550"):
        cursor.execute("CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO nope VALUES (1); END;")
    assert value(cursor, "SELECT COUNT(*) FROM user_triggers") == 0
    cursor.execute("CREATE TABLE other (id NUMBER)")
    cursor.execute("CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO other VALUES (:NEW.id); END;")
    assert value(cursor, "SELECT COUNT(*) FROM user_dependencies") == 0
    cursor.execute("DROP TABLE other PURGE")
    assert value(cursor, "SELECT status FROM user_objects WHERE object_type = 'TRIGGER'") == "VALID"
