"""Where the local database takes a statement and does not do what Oracle does: the table in docs/local.md."""

from __future__ import annotations

from array import array
from pathlib import Path

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

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


def test_privileges_are_not_enforced(cursor: oracledb.Cursor, account: Account, local_database: LocalDatabase) -> None:
    stranger = f"{account.user}_X"
    password = local_database.create_user(stranger)
    with oracledb.connect(user=stranger, password=password, dsn=account.dsn) as other:
        assert value(other.cursor(), f"SELECT id FROM {account.user}.t") == 1
        assert value(other.cursor(), "SELECT COUNT(*) FROM user_tab_privs") == 0


def test_physical_clauses_are_shown_and_do_nothing(cursor: oracledb.Cursor) -> None:
    cursor.execute("CREATE TABLE p (a NUMBER) PCTFREE 40 INITRANS 16 TABLESPACE users")
    assert value(cursor, "SELECT ini_trans FROM user_tables WHERE table_name = 'P'") == 16
    with pytest.raises(oracledb.DatabaseError, match="ORA-00959"):
        cursor.execute("CREATE TABLE q (a NUMBER) TABLESPACE nowhere")


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


def test_the_page_lists_them() -> None:
    taken = PAGE.read_text("utf-8").partition("## Taken")[2].partition("\n## ")[0]
    subjects = [line.split("|")[1].strip() for line in taken.splitlines() if line.startswith("|")][2:]
    assert {
        "Privileges",
        "Storage",
        "HNSW",
        "TIMESTAMP(7) to (9)",
        "TIMESTAMP WITH TIME ZONE",
        "ROWID",
        "Statistics",
    } <= {*subjects}
