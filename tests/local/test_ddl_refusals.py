"""DDL that Oracle refuses is refused with the same number, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from tests.local.conftest import Account, as_administrator

FIXTURE = (
    "CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(10), d DATE, ts TIMESTAMP, c CLOB, j JSON, n NUMBER(3) NOT NULL)",
    "CREATE TABLE u (id NUMBER PRIMARY KEY, t_id NUMBER REFERENCES t, b VARCHAR2(10))",
    "CREATE TABLE tv (id NUMBER PRIMARY KEY, v VECTOR(3, FLOAT32), g VARCHAR2(10))",
    "CREATE TABLE nk2 (v VECTOR(3), c CLOB)",
    "CREATE SEQUENCE s",
    "CREATE TABLE k (a NUMBER, b NUMBER, CONSTRAINT k_uq UNIQUE (a, b))",
    "CREATE TABLE nk (a NUMBER, b NUMBER)",
    "CREATE TABLE one (a NUMBER)",
    "CREATE INDEX nk_i ON nk (a)",
    "CREATE VECTOR INDEX tv_i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY 90",
    "INSERT INTO t (id, a, b, n) VALUES (1, 5, 'long text', 100)",
    "INSERT INTO t (id, a, n) VALUES (2, 5, 1)",
)

REFUSED = [
    (902, "CREATE TABLE x (a TEXT)"),
    (902, "CREATE TABLE x (a BIGINT)"),
    (902, "CREATE TABLE x (a TIME)"),
    (3060, "CREATE TABLE x (a TIME(3))"),
    (3060, "CREATE TABLE x (a ENUM('a', 'b'))"),
    (3060, "CREATE TABLE x (a BINARY(20))"),
    (3062, "CREATE TABLE x (a NUMBER UNSIGNED)"),
    (2000, "CREATE TABLE x (a DOUBLE)"),
    (30089, "CREATE TABLE x (a INTERVAL)"),
    (906, "CREATE TABLE x (a VARCHAR2)"),
    (910, "CREATE TABLE x (a VARCHAR2(40001))"),
    (910, "CREATE TABLE x (a CHAR(2001))"),
    (1723, "CREATE TABLE x (a VARCHAR2(0))"),
    (1727, "CREATE TABLE x (a NUMBER(39))"),
    (1728, "CREATE TABLE x (a NUMBER(5, 128))"),
    (1724, "CREATE TABLE x (a FLOAT(127))"),
    (30088, "CREATE TABLE x (a TIMESTAMP(10))"),
    (3001, "CREATE TABLE x (a LONG)"),
    (3076, "CREATE TABLE x (a NUMBER NOT NULL DEFAULT 1)"),
    (30649, "ALTER TABLE t ADD z VARCHAR2(5) NOT NULL DEFAULT 'x'"),
    (3076, "CREATE TABLE x (a NUMBER PRIMARY KEY DEFAULT 1)"),
    (3062, "CREATE TABLE x (a NUMBER AUTO_INCREMENT)"),
    (922, "CREATE TABLE x (a NUMBER) ENGINE=InnoDB"),
    (3050, "CREATE TABLE x (LIKE t)"),
    (922, "CREATE TABLE x LIKE t"),
    (3050, "CREATE TABLE x (a NUMBER, UNIQUE NULLS NOT DISTINCT (a))"),
    (3048, "CREATE TABLE x AS SELECT * FROM t WITH NO DATA"),
    (901, "CREATE TEMPORARY TABLE x (a NUMBER)"),
    (901, "CREATE EXTENSION vector"),
    (901, "CREATE TABLEX x (a NUMBER)"),
    (2420, "CREATE SCHEMA x"),
    (1501, "CREATE DATABASE x"),
    (3050, "ALTER TABLE t ADD COLUMN z NUMBER"),
    (1735, "ALTER TABLE t ALTER COLUMN a TYPE NUMBER(10)"),
    (1735, "ALTER TABLE t DROP CONSTRAINT IF EXISTS ck"),
    (1735, "ALTER TABLE t ADD IF NOT EXISTS (z NUMBER)"),
    (2000, "ALTER TABLE t DROP CHECK ck"),
    (2000, "ALTER TABLE t ENABLE ROW LEVEL SECURITY"),
    (940, "ALTER FOO t"),
    (950, "DROP FOO t"),
    (969, "CREATE INDEX CONCURRENTLY i ON t (a)"),
    (906, "CREATE INDEX i ON t USING btree (a)"),
    (2158, "CREATE INDEX i ON t (a) WHERE a > 1"),
    (3048, "CREATE SEQUENCE s2 AS INTEGER"),
    (3049, "CREATE SEQUENCE s2 NO MAXVALUE NO CYCLE"),
    (3049, "CREATE SEQUENCE s2 IF NOT EXISTS"),
    (11541, "CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1 a FROM dual"),
    (11543, "CREATE TABLE IF EXISTS x (a NUMBER)"),
    (11544, "DROP TABLE IF NOT EXISTS x"),
    (988, "CREATE USER x IDENTIFIED BY 'pw'"),
    (3076, "CREATE TABLE x (id NUMBER GENERATED ALWAYS AS IDENTITY USING s)"),
    (2000, "CREATE TABLE x (id NUMBER GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME s))"),
    (3048, "CREATE TABLE x (a NUMBER);"),
    (3062, "CREATE TABLE x (a NUMBER"),
    (904, "CREATE TABLE x (a NUMBER,)"),
    (2263, "CREATE TABLE x (a)"),
    (904, "CREATE TABLE x ()"),
    (1741, 'CREATE TABLE "" (a NUMBER)'),
    (25716, 'CREATE TABLE "a""b" (x NUMBER)'),
    (911, "CREATE TABLE _x (a NUMBER)"),
    (957, "CREATE VIEW v AS SELECT t.id, u.id FROM t, u"),
    (998, "CREATE VIEW v AS SELECT a + 1 FROM t"),
    (1730, "CREATE VIEW v (x, y) AS SELECT a FROM t"),
    (942, "CREATE VIEW v AS SELECT a FROM nope"),
    (942, "DROP TABLE nope"),
    (1418, "DROP INDEX nope"),
    (2289, "DROP SEQUENCE nope"),
    (942, "DROP VIEW nope"),
    (1434, "DROP SYNONYM nope"),
    (4043, "DROP PROCEDURE nope"),
    (4080, "DROP TRIGGER nope"),
    (12003, "DROP MATERIALIZED VIEW nope"),
    (1918, "DROP USER nope"),
    (1919, "DROP ROLE nope"),
    (904, "ALTER TABLE t DROP COLUMN nope"),
    (2443, "ALTER TABLE t DROP CONSTRAINT nope"),
    (2441, "ALTER TABLE nk DROP PRIMARY KEY"),
    (3050, "CREATE TABLE x (comment NUMBER)"),
    (904, 'CREATE TABLE x ("ROWID" NUMBER)'),
    (903, "CREATE TABLE order (a NUMBER)"),
    (953, "CREATE INDEX select ON t (a)"),
    (3050, "ALTER TABLE t RENAME COLUMN a TO level"),
    (904, "CREATE TABLE x (n NUMBER DEFAULT foo)"),
    (22818, "CREATE TABLE x (n NUMBER DEFAULT (SELECT 1 FROM dual))"),
    (2251, "CREATE TABLE x (n NUMBER CHECK (n > (SELECT 1 FROM dual)))"),
    (2436, "CREATE TABLE x (d DATE CHECK (d < SYSDATE))"),
    (2438, "CREATE TABLE x (a NUMBER CHECK (b > 1), b NUMBER)"),
    (904, 'CREATE TABLE x ("v" NUMBER CHECK (v > 1))'),
    (2260, "CREATE TABLE x (a NUMBER PRIMARY KEY, b NUMBER PRIMARY KEY)"),
    (2261, "CREATE TABLE x (a NUMBER UNIQUE, UNIQUE (a))"),
    (2270, "CREATE TABLE x (a NUMBER REFERENCES t (a))"),
    (2256, "CREATE TABLE x (a NUMBER, FOREIGN KEY (a) REFERENCES t (id, n))"),
    (2267, "CREATE TABLE x (a VARCHAR2(9) REFERENCES t)"),
    (2268, "CREATE TABLE x (a NUMBER REFERENCES nk)"),
    (2264, "CREATE TABLE x (a NUMBER CONSTRAINT k_uq PRIMARY KEY)"),
    (2275, "ALTER TABLE u ADD CONSTRAINT fk2 FOREIGN KEY (t_id) REFERENCES t"),
    (2299, "ALTER TABLE t ADD UNIQUE (a)"),
    (2293, "ALTER TABLE t ADD CHECK (a < 5)"),
    (2298, "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u"),
    (1452, "CREATE UNIQUE INDEX i ON t (a)"),
    (2429, "DROP INDEX k_uq"),
    (2449, "DROP TABLE t"),
    (2266, "TRUNCATE TABLE t"),
    (12992, "ALTER TABLE t DROP COLUMN id"),
    (12991, "ALTER TABLE k DROP COLUMN a"),
    (12983, "ALTER TABLE one DROP COLUMN a"),
    (955, "CREATE TABLE t (a NUMBER)"),
    (955, "CREATE SEQUENCE t"),
    (955, "CREATE VIEW t AS SELECT 1 a FROM dual"),
    (957, "CREATE TABLE x (a NUMBER, a NUMBER)"),
    (1408, "CREATE INDEX i2 ON t (id)"),
    (1408, "CREATE INDEX i2 ON nk (a)"),
    (957, "CREATE INDEX i2 ON t (a, a)"),
    (904, "CREATE INDEX i2 ON t (nope)"),
    (1430, "ALTER TABLE t ADD a NUMBER"),
    (1758, "ALTER TABLE t ADD z NUMBER NOT NULL"),
    (1442, "ALTER TABLE t MODIFY n NOT NULL"),
    (1451, "ALTER TABLE t MODIFY a NULL"),
    (2296, "ALTER TABLE t MODIFY d NOT NULL"),
    (1439, "ALTER TABLE t MODIFY a VARCHAR2(5)"),
    (1440, "ALTER TABLE t MODIFY n NUMBER(2)"),
    (1441, "ALTER TABLE t MODIFY b VARCHAR2(1)"),
    (22859, "ALTER TABLE t MODIFY c VARCHAR2(100)"),
    (22858, "ALTER TABLE t MODIFY b CLOB"),
    (957, "ALTER TABLE t RENAME COLUMN a TO b"),
    (959, "CREATE TABLE x (a NUMBER) TABLESPACE nope"),
    (43853, "CREATE TABLE x (j JSON) TABLESPACE system"),
    (43853, "CREATE TABLE x (v VECTOR(3)) TABLESPACE system"),
    (2283, "ALTER SEQUENCE s START WITH 5"),
    (2286, "ALTER SEQUENCE s"),
    (4002, "CREATE SEQUENCE s2 INCREMENT BY 0"),
    (4010, "CREATE SEQUENCE s2 CACHE 1"),
    (4004, "CREATE SEQUENCE s2 MINVALUE 9 MAXVALUE 5"),
    (2285, "CREATE SEQUENCE s2 START WITH 1 START WITH 2"),
    (4006, "CREATE SEQUENCE s2 START WITH 0 MINVALUE 1"),
    (30669, "CREATE TABLE x (a NUMBER GENERATED ALWAYS AS IDENTITY, b NUMBER GENERATED ALWAYS AS IDENTITY)"),
    (30675, "CREATE TABLE x (a VARCHAR2(9) GENERATED ALWAYS AS IDENTITY)"),
    (30674, "CREATE TABLE x (a NUMBER DEFAULT 1 GENERATED ALWAYS AS IDENTITY)"),
    (30673, "ALTER TABLE t MODIFY a GENERATED ALWAYS AS IDENTITY"),
    (2327, "CREATE INDEX i ON t (c)"),
    (2327, "CREATE INDEX i ON tv (v)"),
    (2329, "CREATE TABLE x (c CLOB PRIMARY KEY)"),
    (2329, "CREATE TABLE x (v VECTOR(3) UNIQUE)"),
    (51900, "CREATE VECTOR INDEX i ON tv (g) ORGANIZATION NEIGHBOR PARTITIONS"),
    (2000, "CREATE VECTOR INDEX i ON tv (v)"),
    (2000, "CREATE VECTOR INDEX i ON tv (v) USING hnsw"),
    (2000, "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION CLUSTER DISTANCE METRIC COSINE"),
    (
        51937,
        "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY 101",
    ),
    (51917, "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS PARAMETERS (TYPE HNSW)"),
    (51938, "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH PARAMETERS (TYPE HNSW, NEIGHBORS 0)"),
    (51909, "CREATE VECTOR INDEX i ON nk2 (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE HAMMING"),
    (1408, "CREATE VECTOR INDEX i2 ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS"),
    (955, "CREATE VECTOR INDEX tv_i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS"),
    (51979, "CREATE VECTOR INDEX i ON nk2 (v) INCLUDE (c) ORGANIZATION NEIGHBOR PARTITIONS"),
    (51801, "CREATE TABLE x (v VECTOR(0))"),
    (51801, "CREATE TABLE x (v VECTOR(65536))"),
    (3001, "CREATE TABLE x (v VECTOR(8, BINARY))"),
    (3001, "CREATE TABLE x (v VECTOR(8, FLOAT32, SPARSE))"),
    (51802, "CREATE TABLE x (v VECTOR(8, FLOAT16))"),
    (1917, "GRANT SELECT ON t TO nope"),
    (3001, "CREATE INDEX i ON t (b) INDEXTYPE IS CTXSYS.CONTEXT"),
    (29833, "CREATE INDEX i ON t (b) INDEXTYPE IS NO_SUCH_TYPE"),
    (3001, "CREATE TABLE x (a NUMBER) PARTITION BY HASH (a)"),
    (3001, "CREATE GLOBAL TEMPORARY TABLE x (a NUMBER)"),
    (3001, "CREATE MATERIALIZED VIEW mv AS SELECT * FROM t"),
    (3001, "CREATE PROCEDURE p AS BEGIN NULL; END;"),
    (3001, "CREATE OR REPLACE PACKAGE p AS END;"),
    (3001, "CREATE OR REPLACE FUNCTION f RETURN NUMBER AS BEGIN RETURN 1; END;"),
    (3001, "ALTER TABLE t DISABLE CONSTRAINT x"),
    (3001, "ALTER TABLE t MODIFY PARTITION p"),
    (1780, "COMMENT ON TABLE t IS NULL"),
    (900, "FOO BAR"),
    (1027, "CREATE TABLE x (a NUMBER DEFAULT :x)"),
    (2329, "CREATE TABLE x (a TIMESTAMP WITH TIME ZONE PRIMARY KEY)"),
    (3001, "EXPLAIN PLAN FOR SELECT 1 FROM dual"),
    (972, f"CREATE TABLE {'x' * 129} (a NUMBER)"),
    (2437, "ALTER TABLE nk3 ADD CONSTRAINT pk2 PRIMARY KEY (a)"),
    (910, "CREATE TABLE x (a VARCHAR2(32768))"),
    (955, "CREATE INDEX nk_i ON nk (b)"),
    (1792, f"CREATE TABLE x ({', '.join(f'c{n} NUMBER' for n in range(1001))})"),
    (1793, f"CREATE INDEX i ON nk ({', '.join(f'a + {n}' for n in range(33))})"),
]


@pytest.fixture(scope="module")
def schema(module_account: Account, local_database: LocalDatabase) -> Iterator[oracledb.Connection]:
    as_administrator(local_database, f"GRANT CREATE USER, DROP USER, CREATE ROLE TO {module_account.user}")
    with module_account.connect() as connection:
        with connection.cursor() as cursor:
            for statement in FIXTURE:
                cursor.execute(statement)
            connection.commit()
            cursor.execute("CREATE TABLE nk3 (a NUMBER)")
            cursor.executemany("INSERT INTO nk3 VALUES (:1)", [(1,), (1,)])
            connection.commit()
        yield connection


def objects(connection: oracledb.Connection) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT object_type, object_name FROM user_objects ORDER BY 1, 2")
        return list(cursor)


@pytest.mark.parametrize(("number", "statement"), REFUSED, ids=[f"{n}-{s[:60]}" for n, s in REFUSED])
def test_a_statement_is_refused_with_oracles_number(schema: oracledb.Connection, number: int, statement: str) -> None:
    before = objects(schema)
    with schema.cursor() as cursor, pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(statement)
    assert caught.value.args[0].code == number, caught.value
    assert objects(schema) == before


def test_a_number_over_the_limit_of_this_size_is_refused(schema: oracledb.Connection, max_string_size: int) -> None:
    with schema.cursor() as cursor:
        with pytest.raises(oracledb.DatabaseError, match="ORA-00910"):
            cursor.execute(f"CREATE TABLE longest (a VARCHAR2({max_string_size + 1}))")
        cursor.execute(f"CREATE TABLE longest (a VARCHAR2({max_string_size}))")
        cursor.execute("DROP TABLE longest")


def test_a_syntax_error_does_not_commit_but_an_error_of_meaning_does(account: Account) -> None:
    with account.connect() as first, account.connect() as second:
        writer, reader = first.cursor(), second.cursor()
        writer.execute("CREATE TABLE t (a NUMBER)")
        writer.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(oracledb.DatabaseError, match="ORA-00901"):
            writer.execute("CREATE TABLEX x (a NUMBER)")
        assert reader.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)
        with pytest.raises(oracledb.DatabaseError, match="ORA-00955"):
            writer.execute("CREATE TABLE t (a NUMBER)")
        assert reader.execute("SELECT COUNT(*) FROM t").fetchone() == (1,)


def test_a_table_that_another_transaction_uses_is_busy(account: Account) -> None:
    with account.connect() as first, account.connect() as second:
        user, owner = first.cursor(), second.cursor()
        owner.execute("CREATE TABLE t (a NUMBER)")
        user.execute("INSERT INTO t VALUES (1)")
        for statement in ("ALTER TABLE t ADD b NUMBER", "DROP TABLE t", "TRUNCATE TABLE t", "CREATE INDEX i ON t (a)"):
            with pytest.raises(oracledb.DatabaseError, match="ORA-00054"):
                owner.execute(statement)
        first.rollback()
        owner.execute("DROP TABLE t")


def test_what_fails_half_way_leaves_nothing(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (a NUMBER)")
    cursor.execute("INSERT INTO t VALUES (1)")
    connection.commit()
    with pytest.raises(oracledb.DatabaseError, match="ORA-02293"):
        cursor.execute("ALTER TABLE t ADD (b NUMBER DEFAULT 1, CONSTRAINT never CHECK (a > 5))")
    with pytest.raises(oracledb.DatabaseError, match="ORA-01722"):
        cursor.execute("CREATE TABLE copied AS SELECT TO_NUMBER('x') AS a FROM t")
    cursor.execute("SELECT column_name FROM user_tab_columns")
    assert list(cursor) == [("A",)]
