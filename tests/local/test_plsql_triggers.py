"""Row triggers and INSTEAD OF triggers."""

from __future__ import annotations

from typing import Any

import oracledb
import pytest

pytestmark = pytest.mark.one_size


@pytest.fixture
def cursor(connection: oracledb.Connection) -> oracledb.Cursor:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(20))")
    cursor.execute("CREATE TABLE log (no NUMBER GENERATED ALWAYS AS IDENTITY, what VARCHAR2(40), id NUMBER)")
    return cursor


def run(cursor: oracledb.Cursor, *statements: str) -> None:
    for statement in statements:
        cursor.execute(statement)


def rows(cursor: oracledb.Cursor, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    return list(cursor)


def test_a_before_trigger_changes_the_new_row(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        """CREATE OR REPLACE TRIGGER tr BEFORE INSERT OR UPDATE ON t FOR EACH ROW WHEN (NEW.a IS NOT NULL)
           DECLARE
             v NUMBER := 2;
             label t.b%TYPE;
           BEGIN
             :NEW.a := :NEW.a * v;
             label := 'row ' || :NEW."ID";
             IF :NEW.b IS NULL THEN :NEW.b := label; ELSE :NEW.b := UPPER(:NEW.b); END IF;
           END;""",
        "INSERT INTO t (id, a) VALUES (1, 5)",
        "INSERT INTO t (id, b) VALUES (2, 'kept')",
        "UPDATE t SET b = 'x', a = 1 WHERE id = 1",
    )
    assert rows(cursor, "SELECT * FROM t ORDER BY id") == [(1, 2, "X"), (2, None, "kept")]


def test_an_after_trigger_writes_elsewhere_in_the_same_transaction(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        """CREATE TRIGGER tr AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW
           BEGIN
             IF INSERTING THEN
               INSERT INTO log (what, id) VALUES ('new ' || :NEW.b, :NEW.id);
             ELSIF UPDATING THEN
               INSERT INTO log (what, id) SELECT q.w, :OLD.id FROM (SELECT 'was ' || :OLD.b AS w FROM dual WHERE :NEW.b <> :OLD.b) q;
             ELSE
               INSERT INTO log (what, id) VALUES ('gone', :OLD.id);
             END IF;
           END;""",
    )
    cursor.executemany("INSERT INTO t (id, b) VALUES (:1, :2)", [(1, "a"), (2, "b")])
    run(cursor, "UPDATE t SET b = 'b'", "DELETE FROM t WHERE id = 2")
    assert rows(cursor, "SELECT what, id FROM log ORDER BY no") == [
        ("new a", 1),
        ("new b", 2),
        ("was a", 1),
        ("gone", 2),
    ]
    cursor.connection.rollback()
    assert rows(cursor, "SELECT what FROM log") == []


def test_update_of_fires_only_for_its_columns_and_can_refuse(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "INSERT INTO t VALUES (1, 1, 'a')",
        """CREATE TRIGGER tr BEFORE UPDATE OF a, b ON t REFERENCING NEW AS n OLD AS o FOR EACH ROW
           BEGIN RAISE_APPLICATION_ERROR(-20000 - 7, 'no ' || :o.a || :n.a); END;""",
        "UPDATE t SET id = 2",
    )
    with pytest.raises(oracledb.DatabaseError, match="ORA-20007: no 12"):
        cursor.execute("UPDATE t SET a = 2")
    run(cursor, "ALTER TRIGGER tr DISABLE", "UPDATE t SET a = 2", "ALTER TABLE t ENABLE ALL TRIGGERS")
    with pytest.raises(oracledb.DatabaseError, match="ORA-20007"):
        cursor.execute("UPDATE t SET a = 3")
    run(cursor, "DROP TRIGGER tr", "UPDATE t SET a = 3")


def test_queries_loops_and_handlers_in_a_trigger(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "INSERT INTO log (what, id) VALUES ('seed', 3)",
        """CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW
           DECLARE found NUMBER;
           BEGIN
             SELECT id INTO found FROM log WHERE what = :NEW.b;
             :NEW.a := found;
             FOR r IN (SELECT id, what FROM log WHERE id > 0) LOOP :NEW.b := :NEW.b || '/' || r.id; END LOOP;
           EXCEPTION
             WHEN NO_DATA_FOUND THEN :NEW.a := -1;
           END;""",
        "INSERT INTO t (id, b) VALUES (1, 'seed')",
        "INSERT INTO t (id, b) VALUES (2, 'none')",
    )
    assert rows(cursor, "SELECT a, b FROM t ORDER BY id") == [(3, "seed/3"), (-1, "none")]


def test_a_view_is_written_through_an_instead_of_trigger(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "CREATE VIEW v AS SELECT id, b, COUNT(*) AS n FROM t GROUP BY id, b",
        "CREATE TRIGGER tv INSTEAD OF INSERT OR DELETE ON v FOR EACH ROW BEGIN"
        " IF DELETING THEN DELETE FROM t WHERE id = :OLD.id; ELSE INSERT INTO t (id, b) VALUES (:NEW.id + 1, :NEW.b); END IF; END;",
        "INSERT INTO v (id, b) VALUES (1, 'q')",
    )
    assert cursor.rowcount == 1
    assert rows(cursor, "SELECT id, b, n FROM v") == [(2, "q", 1)]
    run(cursor, "DELETE FROM v WHERE b = 'q'")
    assert rows(cursor, "SELECT id FROM t") == []


def test_a_row_trigger_may_not_see_its_own_table(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "INSERT INTO t VALUES (1, 1, 'a')",
        "CREATE TRIGGER tr BEFORE INSERT OR UPDATE ON t FOR EACH ROW DECLARE n NUMBER; BEGIN SELECT COUNT(*) INTO n FROM t; :NEW.a := n; END;",
        "INSERT INTO t (id) VALUES (2)",
    )
    assert rows(cursor, "SELECT a FROM t WHERE id = 2") == [(1,)]
    with pytest.raises(oracledb.DatabaseError, match="ORA-04091"):
        cursor.execute("UPDATE t SET b = 'b'")


def test_updating_a_column_is_what_the_statement_names(cursor: oracledb.Cursor) -> None:
    """Whether the value changed does not matter; the next statement begins anew, and so does MERGE."""
    run(
        cursor,
        'ALTER TABLE t ADD (c CLOB, "Mixed" NUMBER)',
        """CREATE TRIGGER tr AFTER INSERT OR UPDATE ON t FOR EACH ROW
           BEGIN
             IF UPDATING('C') THEN INSERT INTO log (what) VALUES ('c'); END IF;
             IF UPDATING('b') OR UPDATING('MIXED') THEN INSERT INTO log (what) VALUES ('b'); END IF;
             IF UPDATING('NOPE') THEN INSERT INTO log (what) VALUES ('nope'); END IF;
           END;""",
        """CREATE TRIGGER tr2 AFTER UPDATE ON t FOR EACH ROW
           BEGIN IF UPDATING('A') THEN INSERT INTO log (what) VALUES ('a'); END IF; END;""",
    )

    def logged() -> str:
        found = "".join(what for (what,) in rows(cursor, "SELECT what FROM log ORDER BY no"))
        cursor.execute("DELETE FROM log")
        return found

    for statement, expected in (
        ("INSERT INTO t (id, a, b, c) VALUES (1, 1, 'x', 'y')", ""),
        ("UPDATE t SET c = c", "c"),
        ("UPDATE t SET id = id", ""),
        ("UPDATE t SET a = 2, b = 'x'", "ba"),
        ('UPDATE t SET "Mixed" = 1', "b"),
        (
            "MERGE INTO t USING (SELECT 1 AS id FROM dual) s ON (t.id = s.id) WHEN MATCHED THEN UPDATE SET t.c = 'z'",
            "c",
        ),
        ("UPDATE t SET c = 'z' WHERE id = 99", ""),
        ("UPDATE t SET a = 3", "a"),
    ):
        cursor.execute(statement)
        assert logged() == expected, statement
    run(cursor, "CREATE OR REPLACE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW BEGIN NULL; END;", "DROP TRIGGER tr2")
    cursor.execute("UPDATE t SET a = 4, c = 'q'")
    assert logged() == ""


def test_an_exception_with_a_number_is_handled(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        """CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW
           DECLARE
             odd EXCEPTION;
             PRAGMA EXCEPTION_INIT(odd, -20001);
           BEGIN
             BEGIN
               RAISE_APPLICATION_ERROR(-20000 - :NEW.a, 'no');
             EXCEPTION
               WHEN odd THEN :NEW.b := 'odd';
               WHEN ZERO_DIVIDE THEN :NEW.b := 'zero';
             END;
           END;""",
        "INSERT INTO t (id, a) VALUES (1, 1)",
    )
    assert rows(cursor, "SELECT b FROM t") == [("odd",)]
    with pytest.raises(oracledb.DatabaseError, match="ORA-20002: no"):
        cursor.execute("INSERT INTO t (id, a) VALUES (2, 2)")
    cursor.execute("CREATE OR REPLACE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW DECLARE odd EXCEPTION; "
                   "PRAGMA EXCEPTION_INIT(odd, -20001); BEGIN RAISE_APPLICATION_ERROR(-20002, 'no'); "
                   "EXCEPTION WHEN odd THEN NULL; WHEN OTHERS THEN :NEW.b := 'other'; END;")  # fmt: skip
    cursor.execute("INSERT INTO t (id, a) VALUES (2, 2)")
    assert rows(cursor, "SELECT b FROM t WHERE id = 2") == [("other",)]


MUTATES = (
    "CREATE OR REPLACE TRIGGER tr AFTER {event} ON {on} FOR EACH ROW "
    "BEGIN INSERT INTO log (what, id) SELECT 'seen', id FROM {reads} WHERE id > 0; END;"
)


@pytest.mark.parametrize(("rule", "child"), [("CASCADE", "DELETE"), ("SET NULL", "UPDATE")])
def test_tables_that_a_foreign_key_changes_may_not_be_seen(cursor: oracledb.Cursor, rule: str, child: str) -> None:
    """By the parent's trigger while it deletes, nor the parent by the child's: ORA-04091 both ways, over any distance."""
    run(
        cursor,
        f"CREATE TABLE mid (id NUMBER PRIMARY KEY, t_id NUMBER REFERENCES t (id) ON DELETE {rule})",
        f"CREATE TABLE low (id NUMBER PRIMARY KEY, mid_id NUMBER REFERENCES mid (id) ON DELETE {rule})",
        "CREATE VIEW low_view AS SELECT id FROM low",
        "INSERT INTO t (id) VALUES (1)",
        "INSERT INTO mid VALUES (1, 1)",
        "INSERT INTO low VALUES (1, 1)",
    )
    cursor.connection.commit()
    cases = [("DELETE", "t", "mid", "MID"), (child, "mid", "t", "T")]
    if rule == "CASCADE":
        cases += [("DELETE", "t", "low_view", "LOW"), ("DELETE", "low", "t", "T"), ("DELETE", "low", "mid", "MID")]
    for event, on, reads, named in cases:
        cursor.execute(MUTATES.format(event=event, on=on, reads=reads))
        with pytest.raises(oracledb.DatabaseError, match=rf"ORA-04091: table \w+\.{named} is mutating"):
            cursor.execute("DELETE FROM t")
        cursor.connection.rollback()
        cursor.execute("DROP TRIGGER tr")
    # the same reads are right when nothing comes along
    for event, on, reads in (("UPDATE", "t", "mid"), (child, "mid", "t")):
        cursor.execute(MUTATES.format(event=event, on=on, reads=reads))
        cursor.execute(f"UPDATE {on} SET id = id" if event == "UPDATE" else f"DELETE FROM {on} WHERE id = 99")
        cursor.execute("DROP TRIGGER tr")


def test_a_trigger_that_does_not_compile_any_more_stops_its_table(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "CREATE TABLE other (id NUMBER)",
        "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO other (id) VALUES (:NEW.id); END;",
    )
    run(cursor, "INSERT INTO t (id) VALUES (1)", "DROP TABLE other PURGE")
    with pytest.raises(
        oracledb.DatabaseError, match=r"ORA-04098: trigger '\w+\.TR' is invalid and failed re-validation"
    ):
        cursor.execute("INSERT INTO t (id) VALUES (2)")
    run(cursor, "CREATE TABLE other (no NUMBER)")
    with pytest.raises(oracledb.DatabaseError, match="ORA-04098"):
        cursor.execute("INSERT INTO t (id) VALUES (2)")
    run(cursor, "ALTER TABLE other ADD (id NUMBER)", "INSERT INTO t (id) VALUES (2)")


def test_the_dictionary_knows_what_views_read(cursor: oracledb.Cursor) -> None:
    run(
        cursor,
        "CREATE VIEW inner_view AS SELECT id FROM t",
        "CREATE VIEW v AS SELECT l.id FROM log l JOIN inner_view i ON i.id = l.id",
    )
    query = "SELECT name, referenced_name, referenced_type FROM user_dependencies WHERE name = 'V' ORDER BY 2"
    assert rows(cursor, query) == [("V", "INNER_VIEW", "VIEW"), ("V", "LOG", "TABLE")]


def test_the_dictionary_knows_triggers(cursor: oracledb.Cursor) -> None:
    run(cursor, "CREATE TRIGGER tr AFTER INSERT OR DELETE ON t FOR EACH ROW WHEN (NEW.a > 1) BEGIN NULL; END;")
    query = "SELECT trigger_name, trigger_type, triggering_event, table_name, when_clause, status, trigger_body FROM user_triggers"
    assert rows(cursor, query) == [
        ("TR", "AFTER EACH ROW", "INSERT OR DELETE", "T", "NEW.a > 1", "ENABLED", "BEGIN NULL; END;")
    ]
    run(cursor, "DROP TABLE t")
    assert rows(cursor, query) == []


@pytest.mark.parametrize(
    ("number", "statement"),
    [
        (4081, "CREATE TRIGGER there BEFORE INSERT ON t FOR EACH ROW BEGIN NULL; END;"),
        (4095, "CREATE OR REPLACE TRIGGER there BEFORE INSERT ON log FOR EACH ROW BEGIN NULL; END;"),
        (4082, "CREATE TRIGGER tr BEFORE INSERT ON t BEGIN :NEW.a := 1; END;"),
        (4084, "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN :NEW.a := 1; END;"),
        (4085, "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW BEGIN :OLD.a := 1; END;"),
        (969, "CREATE TRIGGER tr BEFORE INSERT, UPDATE ON t BEGIN NULL; END;"),
        (942, "CREATE TRIGGER tr BEFORE INSERT ON nope FOR EACH ROW BEGIN NULL; END;"),
        (904, "CREATE TRIGGER tr BEFORE UPDATE OF nope ON t FOR EACH ROW BEGIN NULL; END;"),
        (25002, "CREATE TRIGGER tr INSTEAD OF INSERT ON t BEGIN NULL; END;"),
        (6550, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN :NEW.nope := 1; END;"),
        (6550, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN INSERT INTO nope VALUES (1); END;"),
        (6550, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN nope := 1; END;"),
        (25006, "CREATE TRIGGER tr BEFORE UPDATE OF c ON texts FOR EACH ROW BEGIN NULL; END;"),
        (25006, "CREATE TRIGGER tr BEFORE UPDATE OF id, b ON texts FOR EACH ROW BEGIN NULL; END;"),
        (3001, "CREATE TRIGGER tr BEFORE UPDATE OF j ON texts FOR EACH ROW BEGIN NULL; END;"),
        (3001, "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW BEGIN IF UPDATING(:NEW.b) THEN NULL; END IF; END;"),
        (3001, "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW BEGIN IF INSERTING('A') THEN NULL; END IF; END;"),
        (3001, "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW DECLARE e EXCEPTION; BEGIN NULL; END;"),
        (3001, "CREATE TRIGGER tr AFTER INSERT ON t BEGIN NULL; END;"),
        (3001, "CREATE TRIGGER tr FOR INSERT ON t COMPOUND TRIGGER BEFORE STATEMENT IS BEGIN NULL; END; END;"),
        (3001, "CREATE TRIGGER tr AFTER LOGON ON DATABASE BEGIN NULL; END;"),
        (3001, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN DBMS_OUTPUT.PUT_LINE('x'); END;"),
        (4080, "ALTER TRIGGER nope DISABLE"),
    ],
)
def test_a_trigger_is_refused(cursor: oracledb.Cursor, number: int, statement: str) -> None:
    run(cursor, "CREATE TRIGGER there BEFORE INSERT ON t FOR EACH ROW BEGIN NULL; END;")
    run(cursor, "CREATE TABLE texts (id NUMBER, c CLOB, b BLOB, j JSON)")
    with pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(statement)
    assert caught.value.args[0].code == number, caught.value
    assert rows(cursor, "SELECT trigger_name FROM user_triggers") == [("THERE",)]
