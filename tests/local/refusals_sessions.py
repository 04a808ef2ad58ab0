"""What Oracle refuses in transactions, of privileges, in PL/SQL and of binds."""

from __future__ import annotations

from tests.local.refusals_rows import Refused

_UNITS = "procedures and functions are not stored"

REFUSED = [
    # transactions, privileges, sessions
    Refused("SET TRANSACTION READ WRITE NO WAIT", 3048),
    Refused("ROLLBACK TO SAVEPOINT nope", 1086),
    Refused("GRANT SELECT ON t TO DB_DEVELOPER_ROLE WITH GRANT OPTION", 1926),
    Refused("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", 2179),
    Refused("COMMIT TRANSACTION", 2185),
    Refused("GRANT SELECT ON t TO nope", 1917),
    Refused("ALTER SESSION SET CURRENT_SCHEMA = nope", 1435),
    Refused("ALTER SESSION SET foo = 1", 2248),
    Refused("SET TRANSACTION READ ONLY", 1453, setup=["DELETE FROM u"]),
    Refused("INSERT INTO t (id, n) VALUES (9, 1)", 1456, setup=["SET TRANSACTION READ ONLY"]),
    Refused("SET TRANSACTION READ WRITE NOWAIT", 3049),
    Refused("BEGIN EXECUTE IMMEDIATE 'GRANT SELECT ON t TO ' || USER; END;", 1749),
    Refused("GRANT FOO ON t TO public", 990),
    Refused("ROLLBACK TO SAVEPOINT a", 1086, setup=["SAVEPOINT a", "COMMIT"]),
    Refused("ROLLBACK TO SAVEPOINT a", 1086, setup=["SAVEPOINT a", "CREATE TABLE x (a NUMBER)"]),
    # triggers and PL/SQL
    Refused("CREATE TRIGGER tr BEFORE INSERT ON t BEGIN :NEW.a := 1; END;", 4082),
    Refused("CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN :NEW.a := 1; END;", 4084),
    Refused("BEGIN p; END;", 6550, setup=["CREATE PROCEDURE p AS BEGIN nope; END;"], gives=3001, differs=_UNITS),
    Refused("BEGIN nope; END;", 6550, also="PLS-00201"),
    Refused("BEGIN DBMS_SESSION.SLEEP(1, 2); END;", 6550, also="PLS-00306"),
    Refused("BEGIN SELECT 1 FROM dual; END;", 6550, also="PLS-00428"),
    Refused("DECLARE x NUMBER(1); BEGIN x := 10; END;", 6502),
    Refused("DECLARE x VARCHAR2(1); BEGIN x := 'ab'; END;", 6502),
    Refused("DECLARE x NUMBER; BEGIN SELECT id INTO x FROM t WHERE 1 = 0; END;", 1403),
    Refused("DECLARE x NUMBER; BEGIN SELECT id INTO x FROM t; END;", 1422),
    Refused("BEGIN RAISE_APPLICATION_ERROR(-20001, 'x'); END;", 20001),
    Refused("BEGIN CASE 9 WHEN 1 THEN NULL; END CASE; END;", 6592),
    Refused("DECLARE CURSOR k IS SELECT 1 a FROM dual; BEGIN OPEN k; OPEN k; END;", 6511),
    Refused("BEGIN CREATE TABLE x (a NUMBER); END;", 6550, also="PLS-00103"),
    Refused("BEGIN EXECUTE IMMEDIATE 'CREATE TABLE x (a NUMBER);'; END;", 3048, unsure=True),
    Refused(
        "INSERT INTO x SELECT 1 FROM dual", 4091, gives=0, differs="before INSERT … VALUES it may, and the two are not told apart",
        setup=["CREATE TABLE x (a NUMBER)", "CREATE TRIGGER tr BEFORE INSERT ON x FOR EACH ROW DECLARE m NUMBER; BEGIN SELECT COUNT(*) INTO m FROM x; END;"],
    ),
    Refused(
        "UPDATE t SET a = 1", 4091,
        setup=["CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW DECLARE m NUMBER; BEGIN SELECT COUNT(*) INTO m FROM t; END;"],
    ),
    Refused(
        "INSERT INTO t (id, n) VALUES (9, 1)", 4098, setup=["CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN :NEW.nope := 1; END;"],
        gives=6550, differs="a trigger that does not compile is not created",
    ),
    Refused("INSERT INTO t (id, n) VALUES (9, 1)", 4092, setup=["CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN COMMIT; END;"]),
    Refused("CREATE PROCEDURE p AS BEGIN nope; END;", 24344, gives=3001, differs=_UNITS),
    Refused("CREATE PROCEDURE p (x VARCHAR2(10)) AS BEGIN NULL; END;", 24344, gives=3001, differs=_UNITS),
    Refused("SELECT f(1, 2) FROM dual", 6553, setup=["CREATE FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END;"], gives=3001, differs=_UNITS),
    Refused("SELECT f FROM dual", 6575, setup=["CREATE FUNCTION f RETURN NUMBER IS BEGIN RETURN nope; END;"], gives=3001, differs=_UNITS),
    Refused("BEGIN DBMS_OUTPUT.PUT_LINE(f); END;", 6503, setup=["CREATE FUNCTION f RETURN NUMBER IS BEGIN NULL; END;"], gives=3001, differs=_UNITS),
    Refused("SELECT f FROM dual", 14551, setup=["CREATE FUNCTION f RETURN NUMBER IS BEGIN DELETE FROM u; RETURN 1; END;"], gives=3001, differs=_UNITS),
    Refused(
        "DECLARE TYPE l IS TABLE OF NUMBER; v l; BEGIN v(1) := 1; END;", 6531, gives=3001, differs="collections are not known",
    ),
    # binds
    Refused("SELECT * FROM t WHERE id IN (:ids)", 1484, unsure=True, binds={"ids": [1, 2]}),
    Refused("INSERT INTO t (:col) VALUES (1)", 1747, unsure=True, binds={"col": 1}),
]  # fmt: skip
