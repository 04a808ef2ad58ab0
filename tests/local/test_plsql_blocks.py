"""Anonymous PL/SQL blocks through the driver."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from tests.local.conftest import Account, as_administrator

NEW_YEAR = dt.datetime(2026, 1, 2)  # noqa: DTZ001 - DATE has no zone


@pytest.fixture(scope="module")
def owner(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(10), d DATE, j JSON)")
        cursor.executemany("INSERT INTO t (id, a) VALUES (:1, :2)", [(n, n * 10) for n in range(1, 6)])
        connection.commit()
        yield connection


@pytest.fixture
def cursor(owner: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    with owner.cursor() as opened:
        yield opened
    owner.rollback()


def out(cursor: oracledb.Cursor, block: str, kind: Any = str, **binds: Any) -> Any:
    """Run a block and give what it left in :o."""
    variable = cursor.var(kind)
    cursor.execute(block, {"o": variable, **binds})
    return variable.getvalue()


@pytest.mark.parametrize(
    ("block", "kind", "expected"),
    [
        ("BEGIN :o := 1 + 1; END;", int, 2),
        ("BEGIN :o := 'a' || 1; END;", str, "a1"),
        ("BEGIN :o := 7; END;", str, "7"),
        ("BEGIN :o := '7.5'; END;", Decimal, 7.5),
        ("BEGIN :o := .5; END;", str, ".5"),
        ("BEGIN :o := ''; END;", str, None),
        ("BEGIN :o := DATE '2026-01-02'; END;", dt.datetime, NEW_YEAR),
        ("BEGIN :o := TRUE; END;", bool, True),
        ("BEGIN IF 1 = 2 THEN :o := 'if'; ELSIF NULL = 1 THEN :o := 'null'; ELSE :o := 'else'; END IF; END;", str, "else"),
        ("BEGIN CASE WHEN 1 > 2 THEN :o := 'a'; ELSE :o := 'b'; END CASE; END;", str, "b"),
        ("BEGIN CASE 2 WHEN 1 THEN :o := 'a'; WHEN 2 THEN :o := 'b'; END CASE; END;", str, "b"),
        ("DECLARE b BOOLEAN := 1 < 2; BEGIN IF b AND NOT FALSE THEN :o := 'yes'; END IF; END;", str, "yes"),
        ("DECLARE s NUMBER := 0; BEGIN FOR i IN 1..4 LOOP s := s + i; END LOOP; :o := s; END;", int, 10),
        ("DECLARE s VARCHAR2(9); BEGIN FOR i IN REVERSE 1..3 LOOP s := s || i; END LOOP; :o := s; END;", str, "321"),
        ("DECLARE n PLS_INTEGER := 0; BEGIN LOOP n := n + 1; EXIT WHEN n = 3; END LOOP; :o := n; END;", int, 3),
        ("DECLARE n NUMBER := 9; BEGIN WHILE n > 5 LOOP n := n - 2; CONTINUE WHEN n > 6; n := n - 1; END LOOP; :o := n; END;", int, 4),
        ("BEGIN <<outer>> FOR i IN 1..3 LOOP FOR j IN 1..3 LOOP EXIT outer WHEN j = 2; :o := i || j; END LOOP; END LOOP; END;", str, "11"),
        ("BEGIN FOR r IN (SELECT id, a FROM t ORDER BY id) LOOP :o := :o || r.id || r.a || ' '; END LOOP; END;", str, "110 220 330 440 550 "),
        ("DECLARE CURSOR c IS SELECT id FROM t; n NUMBER := 0; x t.id%TYPE; BEGIN OPEN c; LOOP FETCH c INTO x; EXIT WHEN c%NOTFOUND; n := n + x; END LOOP; CLOSE c; :o := n; END;", int, 15),
        ("DECLARE n NUMBER; BEGIN SELECT COUNT(*) INTO n FROM t; :o := n; END;", int, 5),
        ("DECLARE r t%ROWTYPE; BEGIN SELECT * INTO r FROM t WHERE id = 2; r.a := r.a + 1; :o := r.id || '/' || r.a; END;", str, "2/21"),
        ("DECLARE id NUMBER := 3; BEGIN SELECT MAX(a) INTO :o FROM t WHERE t.id = id; END;", int, 50),
        ("DECLARE x NUMBER := 3; BEGIN SELECT a INTO :o FROM t WHERE id = x; END;", int, 30),
        ("BEGIN UPDATE t SET b = 'x' WHERE id > 2; :o := SQL%ROWCOUNT; END;", int, 3),
        ("BEGIN DELETE FROM t WHERE id = 99; IF SQL%NOTFOUND THEN :o := 'none'; END IF; END;", str, "none"),
        ("DECLARE v NUMBER; BEGIN INSERT INTO t (id, a) VALUES (50, 1) RETURNING id + a INTO v; :o := v; END;", int, 51),
        ("DECLARE id NUMBER := 60; BEGIN INSERT INTO t (id) VALUES (id); SELECT COUNT(*) INTO :o FROM t; END;", int, 6),
        ("BEGIN EXECUTE IMMEDIATE 'UPDATE t SET a = :1 WHERE id <= :2' USING 5, 2; :o := SQL%ROWCOUNT; END;", int, 2),
        ("DECLARE n NUMBER; BEGIN EXECUTE IMMEDIATE 'SELECT a FROM t WHERE id = :x' INTO n USING 4; :o := n; END;", int, 40),
        ("DECLARE n NUMBER; BEGIN EXECUTE IMMEDIATE 'BEGIN :a := :b * 2; END;' USING OUT n, 21; :o := n; END;", int, 42),
        ("BEGIN BEGIN RAISE NO_DATA_FOUND; EXCEPTION WHEN NO_DATA_FOUND THEN :o := SQLCODE; END; END;", int, 100),
        ("BEGIN RAISE_APPLICATION_ERROR(-20123, 'mine'); EXCEPTION WHEN OTHERS THEN :o := SQLERRM; END;", str, "ORA-20123: mine"),
        ("DECLARE mine EXCEPTION; BEGIN RAISE mine; EXCEPTION WHEN mine THEN :o := SQLCODE || SQLERRM; END;", str, "1User-Defined Exception"),
        ("DECLARE dup EXCEPTION; PRAGMA EXCEPTION_INIT(dup, -1); BEGIN INSERT INTO t (id) VALUES (1); EXCEPTION WHEN dup THEN :o := 'dup'; END;", str, "dup"),
        ("BEGIN INSERT INTO t (id) VALUES (1); EXCEPTION WHEN DUP_VAL_ON_INDEX THEN SELECT COUNT(*) INTO :o FROM t; END;", int, 5),
        ("DECLARE x NUMBER := 1; BEGIN DECLARE x NUMBER := 2; BEGIN :o := x; END; :o := :o * 10 + x; END;", int, 21),
        ("DECLARE c CLOB; BEGIN DBMS_LOB.CREATETEMPORARY(c, TRUE); DBMS_LOB.APPEND(c, 'ab'); DBMS_LOB.WRITEAPPEND(c, 1, 'cd'); :o := c; END;", str, "abc"),
    ],
)  # fmt: skip
def test_a_block_gives(cursor: oracledb.Cursor, block: str, kind: Any, expected: object) -> None:
    assert out(cursor, block, kind) == expected


@pytest.mark.parametrize(
    ("number", "text", "block"),
    [
        (6550, "PLS-00103", "BEGIN NULL; END"),
        (6550, "PLS-00103", "BEGIN NULL"),
        (6550, "PLS-00103", "BEGIN END;"),
        (6550, "PLS-00103", "BEGIN CREATE TABLE x (a NUMBER); END;"),
        (6550, "PLS-00103", "BEGIN NULL; END; /"),
        (6550, "PLS-00201", "BEGIN nope; END;"),
        (6550, "PLS-00201", "BEGIN nope := 1; END;"),
        (6550, "PLS-00201", "DECLARE x NUMBER; BEGIN x := nope + 1; END;"),
        (6550, "PLS-00201", "BEGIN RAISE nope; END;"),
        (6550, "PLS-00201", "DECLARE x nope; BEGIN NULL; END;"),
        (6550, "PLS-00306", "BEGIN DBMS_OUTPUT.PUT_LINE(1, 2); END;"),
        (6550, "PLS-00306", "BEGIN DBMS_OUTPUT.PUT_LINE(b => 1); END;"),
        (6550, "PLS-00363", "DECLARE x CONSTANT NUMBER := 1; BEGIN x := 2; END;"),
        (6550, "PLS-00363", "BEGIN FOR i IN 1..2 LOOP i := 5; END LOOP; END;"),
        (6550, "PLS-00376", "BEGIN EXIT; END;"),
        (6550, "PLS-00428", "BEGIN SELECT 1 FROM dual; END;"),
        (6550, "ORA-00942", "BEGIN INSERT INTO nope VALUES (1); EXCEPTION WHEN OTHERS THEN NULL; END;"),
        (6550, "ORA-03047", "BEGIN FOR r IN (SELECT a FROM t LIMIT 5) LOOP NULL; END LOOP; END;"),
        (6502, "", "DECLARE x NUMBER(1); BEGIN x := 10; END;"),
        (6502, "", "DECLARE x VARCHAR2(1); BEGIN x := 'ab'; END;"),
        (6502, "", "DECLARE x NUMBER; BEGIN x := 'ab'; END;"),
        (6502, "", "DECLARE x NUMBER NOT NULL := 1; BEGIN x := NULL; END;"),
        (1403, "", "DECLARE x NUMBER; BEGIN SELECT id INTO x FROM t WHERE 1 = 0; END;"),
        (1422, "", "DECLARE x NUMBER; BEGIN SELECT id INTO x FROM t; END;"),
        (1476, "", "DECLARE x NUMBER; BEGIN x := 1 / 0; END;"),
        (20001, "ORA-06512: at line 2", "BEGIN\n  RAISE_APPLICATION_ERROR(-20001, 'x');\nEND;"),
        (21000, "", "BEGIN RAISE_APPLICATION_ERROR(-19999, 'x'); END;"),
        (6592, "", "BEGIN CASE 9 WHEN 1 THEN NULL; END CASE; END;"),
        (6510, "", "DECLARE e EXCEPTION; BEGIN RAISE e; END;"),
        (6511, "", "DECLARE CURSOR k IS SELECT 1 a FROM dual; BEGIN OPEN k; OPEN k; END;"),
        (1001, "", "DECLARE CURSOR k IS SELECT 1 a FROM dual; x NUMBER; BEGIN FETCH k INTO x; END;"),
        (6535, "", "BEGIN EXECUTE IMMEDIATE ''; END;"),
        (942, "", "BEGIN EXECUTE IMMEDIATE 'DROP TABLE nope'; END;"),
        (3048, "", "BEGIN EXECUTE IMMEDIATE 'CREATE TABLE x (a NUMBER);'; END;"),
        (3001, "BULK COLLECT", "DECLARE x NUMBER; BEGIN SELECT id BULK COLLECT INTO x FROM t; END;"),
        (3001, "FORALL", "BEGIN FORALL i IN 1..2 DELETE FROM t; END;"),
        (3001, "PROCEDURE", "DECLARE PROCEDURE p IS BEGIN NULL; END; BEGIN p; END;"),
        (3001, "AUTONOMOUS", "DECLARE PRAGMA AUTONOMOUS_TRANSACTION; BEGIN NULL; END;"),
        (3001, "DBMS_SCHEDULER.CREATE_JOB", "BEGIN DBMS_SCHEDULER.CREATE_JOB('x'); END;"),
        (3001, "DBMS_VECTOR.LOAD_ONNX_MODEL_CLOUD", "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL_CLOUD('m', NULL, 'u'); END;"),
    ],
)  # fmt: skip
def test_a_block_is_refused(cursor: oracledb.Cursor, number: int, text: str, block: str) -> None:
    with pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(block)
    error = caught.value.args[0]
    assert error.code == number, error.message
    assert text in error.message


def test_an_unhandled_error_takes_back_the_block_and_nothing_else(cursor: oracledb.Cursor) -> None:
    cursor.execute("INSERT INTO t (id) VALUES (100)")
    with pytest.raises(oracledb.DatabaseError, match="ORA-20001"):
        cursor.execute("BEGIN INSERT INTO t (id) VALUES (101); RAISE_APPLICATION_ERROR(-20001, 'x'); END;")
    assert cursor.execute("SELECT id FROM t WHERE id >= 100").fetchall() == [(100,)]


def test_a_handled_error_takes_back_its_statement_only(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "BEGIN INSERT INTO t (id) VALUES (100); INSERT INTO t (id) VALUES (1); EXCEPTION WHEN OTHERS THEN NULL; END;"
    )
    assert cursor.execute("SELECT COUNT(*) FROM t WHERE id = 100").fetchone() == (1,)


def test_what_a_block_commits_stays(owner: oracledb.Connection, cursor: oracledb.Cursor) -> None:
    with pytest.raises(oracledb.DatabaseError, match="ORA-20001"):
        cursor.execute(
            "BEGIN INSERT INTO t (id) VALUES (200); COMMIT; INSERT INTO t (id) VALUES (201); RAISE_APPLICATION_ERROR(-20001, 'x'); END;"
        )
    assert cursor.execute("SELECT id FROM t WHERE id >= 200").fetchall() == [(200,)]
    cursor.execute("DELETE FROM t WHERE id >= 200")
    owner.commit()


def test_savepoints_inside_a_block(cursor: oracledb.Cursor) -> None:
    cursor.execute("INSERT INTO t (id) VALUES (100)")
    cursor.execute(
        "BEGIN INSERT INTO t (id) VALUES (101); SAVEPOINT here; INSERT INTO t (id) VALUES (102); ROLLBACK TO here; END;"
    )
    assert cursor.execute("SELECT id FROM t WHERE id >= 100 ORDER BY id").fetchall() == [(100,), (101,)]


def test_ddl_as_a_bind_with_a_guard(cursor: oracledb.Cursor) -> None:
    block = "BEGIN EXECUTE IMMEDIATE :stmt; EXCEPTION WHEN OTHERS THEN IF SQLCODE = -955 THEN NULL; ELSE RAISE; END IF; END;"
    for _ in range(2):
        cursor.execute(block, stmt="CREATE TABLE made (a NUMBER)")
    cursor.execute(
        "BEGIN FOR r IN (SELECT table_name n FROM user_tables WHERE table_name = 'MADE') LOOP EXECUTE IMMEDIATE 'DROP TABLE ' || r.n || ' PURGE'; END LOOP; END;"
    )
    assert cursor.execute("SELECT COUNT(*) FROM user_tables WHERE table_name = 'MADE'").fetchone() == (0,)


def test_a_block_runs_once_per_bind_row(cursor: oracledb.Cursor) -> None:
    cursor.executemany("BEGIN INSERT INTO t (id, a) VALUES (:1, :2); END;", [(n, n) for n in range(300, 305)])
    assert cursor.execute("SELECT COUNT(*), SUM(a) FROM t WHERE id >= 300").fetchone() == (5, 1510)


def test_out_and_in_out_binds(cursor: oracledb.Cursor) -> None:
    both = cursor.var(int)
    both.setvalue(0, 20)
    only = cursor.var(str, 10)
    cursor.execute("BEGIN :both := :both + 1; :only := 'v' || :given; END;", both=both, only=only, given=5)
    assert (both.getvalue(), only.getvalue()) == (21, "v5")
    small = cursor.var(str, 2)
    with pytest.raises(oracledb.DatabaseError, match="ORA-06502"):
        cursor.execute("BEGIN :s := 'much too long'; END;", s=small)


def test_sqlalchemys_question_for_the_transaction(
    local_database: LocalDatabase, owner: oracledb.Connection, cursor: oracledb.Cursor
) -> None:
    as_administrator(local_database, f"GRANT SELECT ANY DICTIONARY TO {owner.username}")
    identifier = out(cursor, "begin :o := dbms_transaction.local_transaction_id( TRUE ); end;")
    assert owner.transaction_in_progress
    usn, slot, sequence = identifier.split(".")
    cursor.execute(
        "SELECT COUNT(*) FROM v$transaction t WHERE (t.xidusn, t.xidslot, t.xidsqn) = ((:a, :b, :c))",
        [usn, slot, sequence],
    )
    assert cursor.fetchone() == (1,)
    owner.rollback()
    assert out(cursor, "begin :o := dbms_transaction.local_transaction_id; end;") is None


def test_dbms_output_keeps_lines_once_enabled(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "BEGIN DBMS_OUTPUT.PUT_LINE('lost'); DBMS_OUTPUT.ENABLE(NULL); DBMS_OUTPUT.PUT('a'); DBMS_OUTPUT.PUT_LINE('b' || 1); END;"
    )
    line, status = cursor.var(str), cursor.var(int)
    cursor.callproc("dbms_output.get_line", [line, status])
    assert (line.getvalue(), status.getvalue()) == ("ab1", 0)
    cursor.callproc("dbms_output.get_line", [line, status])
    assert status.getvalue() == 1
    cursor.callproc("dbms_output.disable")


def test_statistics_are_gathered_and_call_needs_no_block(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => 'T', estimate_percent => DBMS_STATS.AUTO_SAMPLE_SIZE, cascade => TRUE); END;"
    )
    assert cursor.execute("SELECT num_rows FROM user_tables WHERE table_name = 'T'").fetchone() == (5,)
    cursor.execute("CALL dbms_session.sleep(0)")
    with pytest.raises(oracledb.DatabaseError, match="ORA-20000"):
        cursor.execute("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'NOPE'); END;")


def test_a_cancelled_block_is_not_handled(owner: oracledb.Connection, cursor: oracledb.Cursor) -> None:
    owner.call_timeout = 300
    try:
        with pytest.raises(oracledb.DatabaseError, match="DPY-4024"):
            cursor.execute("BEGIN DBMS_SESSION.SLEEP(30); EXCEPTION WHEN OTHERS THEN NULL; END;")
    finally:
        owner.call_timeout = 0
    assert cursor.execute("SELECT 1 FROM dual").fetchone() == (1,)
