"""Table of statements with what Oracle Database 23ai/26ai does with them, and where the local database differs.

The tables FIXTURE makes are there for every row; a row's ``setup`` is run before it. Every row starts from the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ACCEPTED = 0

FIXTURE = (
    "CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(10), d DATE, ts TIMESTAMP, c CLOB, j JSON, n NUMBER(3) NOT NULL)",
    "CREATE TABLE u (id NUMBER PRIMARY KEY, t_id NUMBER REFERENCES t, b VARCHAR2(10))",
    "CREATE TABLE tv (id NUMBER PRIMARY KEY, v VECTOR(3, FLOAT32), g VARCHAR2(10))",
    "CREATE SEQUENCE s",
    """INSERT INTO t VALUES (1, 5, 'x', DATE '2024-03-01', TIMESTAMP '2024-03-01 10:20:30.5', 'some text',
    '{"a":1,"x":[1,2],"items":[{"n":1},{"n":2}]}', 1)""",
    "INSERT INTO t (id, b, n) VALUES (2, 'y', 2)",
    "INSERT INTO t (id, a, n) VALUES (3, 7, 3)",
    "INSERT INTO u VALUES (1, 1, 'x')",
    "INSERT INTO u VALUES (2, 1, 'z')",
    "INSERT INTO tv VALUES (1, '[1,0,0]', 'g')",
    "INSERT INTO tv VALUES (2, '[0,1,0]', 'h')",
    "INSERT INTO tv (id) VALUES (3)",
)


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that Oracle refuses with ORA-``error``.

    ``differs`` says what the local database does instead and why; it then gives ``gives`` (ACCEPTED: no error).
    ``also`` must be part of the message, for the numbers of PL/SQL.
    """

    sql: str
    error: int
    setup: Sequence[str] = ()
    binds: dict[str, Any] = field(default_factory=dict)
    gives: int | None = None
    differs: str = ""
    also: str = ""


@dataclass(frozen=True, slots=True)
class Works:
    """A statement that Oracle runs: ``result`` is its rows, or how many it wrote; ``then`` gives ``rows`` afterwards.

    ``differs`` says why the local database refuses it with ORA-``gives``.
    """

    sql: str
    result: Sequence[tuple[Any, ...]] | int | None = None
    setup: Sequence[str] = ()
    binds: dict[str, Any] = field(default_factory=dict)
    then: str = ""
    rows: Sequence[tuple[Any, ...]] = ()
    gives: int | None = None
    differs: str = ""


_NOT_WRITTEN = "ORA-03001 names the clause, which the local database does not know at all"
_MERGE = "MERGE INTO t USING u ON (t.id = u.t_id) "
_IVF = "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE"

REFUSED = [
    # row limits, aliases and other habits of PostgreSQL and MySQL
    Refused("SELECT * FROM t LIMIT 5", 3047),
    Refused("SELECT * FROM t x LIMIT 5", 3049),
    Refused("SELECT * FROM t WHERE a = 1 LIMIT 5", 3049),
    Refused("SELECT * FROM t ORDER BY a LIMIT 5 OFFSET 2", 3049),
    Refused("SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q) LIMIT 5", 3049, binds={"q": "[1,2,3]"}),
    Refused("SELECT a FROM t WHERE b ILIKE 'x%'", 3049),
    Refused("SELECT * FROM t AS x", 3048),
    Refused("SELECT * FROM (SELECT 1 AS a FROM dual) AS x", 3048),
    Refused("SELECT * FROM t JOIN u AS x ON x.t_id = t.id", 2000),
    Refused("SELECT * FROM t LEFT JOIN u AS x ON x.t_id = t.id", 2000),
    Refused("UPDATE t AS x SET a = 1", 971),
    Refused("DELETE FROM t AS x WHERE x.a = 1", 3048),
    Refused("DELETE x FROM t AS x", 3048),
    Refused("DELETE FROM t, u WHERE t.id = u.t_id", 3048),
    Refused("DELETE FROM t INNER JOIN u ON u.t_id = t.id", 3049),
    Refused("DELETE x FROM t x INNER JOIN u y ON y.t_id = x.id", 942),
    Refused("SELECT * FROM (SELECT a FROM t) x (c1)", 3048),
    Refused("INSERT INTO t (id, n) VALUES (1, 1) ON CONFLICT DO NOTHING", 3048),
    Refused("INSERT INTO t (id, n) VALUES (9, 1) RETURNING id", 925),
    Refused("UPDATE t SET a = 1 RETURNING id", 925),
    Refused("DELETE FROM t RETURNING id", 925),
    Refused("UPDATE t SET a = 1 RETURNING id INTO :x, n INTO :y", 3048, binds={"x": 1, "y": 1}),
    Refused("UPDATE t SET a = 1 RETURNING INTO :x", 936, binds={"x": 1}),
    Refused("INSERT INTO t (id, n) SELECT id + 9, n FROM t RETURNING id INTO :x", 3049, binds={"x": 1}),
    Refused("SELECT NOW() FROM dual", 904),
    *(
        Refused(f"SELECT {call} FROM t", 904)
        for call in (
            "IFNULL(a, 0)", "CONCAT_WS(',', a, b)", "STRING_AGG(b, ',')", "GROUP_CONCAT(b)", "SUBSTRING(b, 1, 1)",
            "LEFT(b, 1)", "LOG10(a)", "PI()", "DATE_TRUNC('day', d)", "DATE_ADD(d, 1)", "GEN_RANDOM_UUID()",
            "UNNEST(a)", "TO_TSVECTOR(b)",
        )
    ),
    Refused("SELECT a % 2 FROM t", 911),
    Refused("SELECT * FROM t WHERE a = ?", 911),
    Refused("SELECT * FROM t WHERE a = $1", 911),
    Refused('SELECT * FROM t WHERE b = "abc"', 904),
    Refused("SELECT *, a FROM t", 923),
    Refused("SELECT CAST(a > 1 AS INTEGER) FROM t", 2000),
    Refused("SELECT X'FF' FROM dual", 3046),
    Refused("SELECT INTERVAL '1 day' FROM dual", 30089),
    Refused("SELECT * FROM t FOR SHARE", 2000),
    Refused("WITH RECURSIVE r (n) AS (SELECT 1 FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r", 2000),
    Refused("WITH x AS MATERIALIZED (SELECT 1 a FROM dual) SELECT * FROM x", 906),
    Refused("WITH x AS (SELECT 1 a FROM dual) UPDATE t SET a = 1", 928),
    Refused("WITH x AS (SELECT 1 a FROM dual) DELETE FROM t", 928),
    Refused("DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY id)", 907),
    Refused("TRUNCATE TABLE t, u", 3291),
    # types and DDL of other databases
    Refused("CREATE TABLE x (a TIME)", 902),
    Refused("CREATE TABLE x (a TIME(3))", 3060),
    Refused("CREATE TABLE x (a ENUM('a', 'b'))", 3060),
    Refused("CREATE TABLE x (a BINARY(20))", 3060),
    Refused("CREATE TABLE x (a NUMBER UNSIGNED)", 3062),
    Refused("CREATE TABLE x (a INTERVAL)", 30089),
    Refused("CREATE TABLE x (a VARCHAR2)", 906),
    Refused("SELECT CAST(1 AS VARCHAR2) FROM dual", 906),
    Refused("CREATE TABLE x (a VARCHAR2(4001))", 910),
    Refused("CREATE TABLE x (a NUMBER NOT NULL DEFAULT 1)", 3076),
    Refused("ALTER TABLE t ADD z VARCHAR2(5) NOT NULL DEFAULT 'x'", 30649),
    Refused("CREATE TABLE x (a NUMBER PRIMARY KEY DEFAULT 1)", 3076),
    Refused("CREATE TABLE x (a NUMBER, UNIQUE NULLS NOT DISTINCT (a))", 3050),
    Refused("CREATE TABLE x AS SELECT * FROM t WITH NO DATA", 3048),
    Refused("CREATE TABLEX x (a NUMBER)", 901),
    Refused("CREATE SCHEMA x", 2420),
    Refused("CREATE DATABASE x", 1501),
    Refused("ALTER TABLE t ADD COLUMN z NUMBER", 3050),
    Refused("ALTER TABLE t ALTER COLUMN a TYPE NUMBER(10)", 1735),
    Refused("ALTER TABLE t DROP CONSTRAINT IF EXISTS ck", 1735),
    Refused("ALTER TABLE t DROP CHECK ck", 2000),
    Refused("ALTER TABLE t ENABLE ROW LEVEL SECURITY", 2000),
    Refused("CREATE INDEX CONCURRENTLY i ON t (a)", 969),
    Refused("CREATE INDEX i ON t (a) WHERE a > 1", 2158),
    Refused("CREATE SEQUENCE s2 AS INTEGER", 3048),
    Refused("CREATE SEQUENCE s2 NO MAXVALUE NO CYCLE", 3049),
    Refused("CREATE SEQUENCE s2 IF NOT EXISTS", 3049),
    Refused("CREATE SEQUENCE s2 START WITH 1 START WITH 2", 2285),
    Refused("CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1 a FROM dual", 11541),
    Refused("CREATE TABLE IF EXISTS x (a NUMBER)", 11543),
    Refused("DROP TABLE IF NOT EXISTS x", 11544),
    Refused("CREATE TRIGGER tr BEFORE INSERT, UPDATE ON t BEGIN NULL; END;", 969),
    Refused(
        "CREATE TABLE x (a NUMBER DEFAULT (NEXT VALUE FOR s))", 4044,
        gives=907, differs="NEXT is read as a column; Oracle's number comes from its reading VALUE as a procedure",
    ),
    Refused("CREATE TABLE x (id NUMBER GENERATED ALWAYS AS IDENTITY USING s)", 3076),
    Refused("CREATE TABLE x (id NUMBER GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME s))", 2000),
    Refused(
        "CREATE MATERIALIZED VIEW mv AS SELECT * FROM t WITH NO DATA", 3048,
        gives=3001, differs="materialized views are not known",
    ),
    Refused("SELECT CAST(b AS CLOB) FROM t", 22849),
    Refused("SELECT CAST('[1,2]' AS VECTOR) FROM dual", 22849),
    Refused("SELECT CAST(1234.5 AS CHAR) FROM dual", 25137),
    # words out of place
    Refused("SELECT 1 FROM dual;", 3048),
    Refused("SELECT", 936),
    Refused("SELECT * FROM (CASE t WHEN a > 1 THEN 'x' END)", 907),
    Refused("SELECT * FROM t WHERE ORDER BY a", 936),
    Refused("SELECT * FROM (SELECT * FROM t) AND a > 1", 3048),
    Refused("SELECT 1 FROM dual SELECT 2 FROM dual", 3048),
    Refused("SELECT * FROM t WHERE EXISTS :x", 906, binds={"x": 1}),
    Refused("SELECT CASE ELSE 1 END FROM dual", 923),
    Refused("INSERT INTO t VALUES ()", 936),
    Refused("UPDATE t SET a =", 936),
    Refused("INSERT INTO t (id, n) VALUES (9)", 947),
    Refused("INSERT INTO t (id, n) VALUES (9, 2, 3)", 3094),
    Refused('CREATE TABLE "" (a NUMBER)', 1741),
    Refused('CREATE TABLE "a""b" (x NUMBER)', 25716),
    Refused(f"CREATE TABLE {'x' * 129} (a NUMBER)", 972),
    Refused(f"CREATE TABLE {'ä' * 65} (a NUMBER)", 972),
    Refused("SELECT 1 FROM 123", 903),
    Refused("SELECT * FROM public.t", 903),
    Refused("(SELECT a FROM t ORDER BY a) UNION ALL SELECT a FROM t", 907),
    Refused("SELECT * FROM t PIVOT (", 3049, gives=3001, differs=_NOT_WRITTEN),
    Refused("BEGIN NULL; END", 6550, also="PLS-00103"),
    Refused("BEGIN NULL", 6550, also="PLS-00103"),
    # names
    Refused("SELECT nope FROM t", 904),
    Refused("SELECT nofn(1) FROM dual", 904),
    Refused("SELECT * FROM nope", 942),
    Refused("DELETE FRUM t", 942),
    Refused("SELECT id FROM t JOIN u ON u.t_id = t.id", 918),
    Refused("SELECT * FROM (SELECT t.id, u.id FROM t, u) WHERE id = 1", 918),
    Refused("SELECT * FROM (SELECT t.id, u.id FROM t, u)", 918),
    Refused("SELECT q.* FROM (SELECT t.id, u.id FROM t JOIN u ON u.t_id = t.id) q WHERE 1 = 0", 918),
    Refused("SELECT * FROM (SELECT * FROM t JOIN u ON u.t_id = t.id)", 918),
    Refused("SELECT * FROM other.secret", 942),
    Refused("DROP TABLE nope", 942),
    Refused("DROP USER nope", 1918),
    Refused("DROP ROLE nope", 1919),
    Refused("ALTER TABLE t DROP COLUMN nope", 904),
    Refused("CREATE TABLE x (comment NUMBER)", 3050),
    Refused("SELECT size * 2 FROM t", 936),
    Refused("UPDATE t SET rowid = 'x'", 3050),
    Refused("INSERT INTO t (id, rowid) VALUES (9, 'x')", 3050),
    # groups, sets, subqueries, locks
    Refused("SELECT a, COUNT(*) FROM t", 937),
    Refused("SELECT a, b, COUNT(*) FROM t GROUP BY a", 979),
    Refused("SELECT SUBSTR(b, 1, :n) FROM t GROUP BY SUBSTR(b, 1, :m)", 979, binds={"n": 1, "m": 1}),
    Refused("SELECT a FROM t GROUP BY 1", 3162),
    Refused(
        "SELECT a FROM t GROUP BY 9", 3070, setup=["ALTER SESSION SET GROUP_BY_POSITION_ENABLED = TRUE"],
        gives=3001, differs="the session refuses the setting itself",
    ),
    Refused("SELECT a FROM t WHERE COUNT(*) > 1", 934),
    Refused("SELECT a FROM t GROUP BY COUNT(*)", 934),
    Refused("SELECT a FROM t GROUP BY (SELECT 1 FROM dual)", 22818),
    Refused("SELECT JSON_ARRAYAGG(DISTINCT b) FROM t", 30482),
    Refused("SELECT a FROM t UNION SELECT b FROM t", 1790),
    Refused("SELECT LISTAGG(RPAD(b, 3000), ',') WITHIN GROUP (ORDER BY id) FROM t", 1489),
    Refused("SELECT COALESCE(a) FROM t", 938),
    Refused("SELECT * FROM t WHERE a = (SELECT a FROM t)", 1427),
    Refused("SELECT * FROM t WHERE a = (SELECT a FROM t ORDER BY a)", 907),
    Refused("WITH r AS (SELECT 1 n FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r", 32039),
    Refused("WITH r (n) AS (SELECT 1 FROM dual UNION SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r", 32040),
    Refused(
        "SELECT id FROM t CONNECT BY PRIOR id = a", 1436, setup=["UPDATE t SET a = id"],
        gives=3001, differs="PRIOR is not known; hierarchies are written with a recursive WITH",
    ),
    Refused(
        "DELETE FROM t SAMPLE (10)", 30560, gives=3001, differs=_NOT_WRITTEN,
    ),
    Refused("SELECT * FROM (SELECT DISTINCT a FROM t) FOR UPDATE", 2014),
    Refused("SELECT * FROM (SELECT * FROM t ORDER BY id) WHERE ROWNUM <= 1 FOR UPDATE SKIP LOCKED", 2014),
    Refused("SELECT * FROM t FETCH FIRST 1 ROWS ONLY FOR UPDATE SKIP LOCKED", 2014),
    Refused("SELECT * FROM t FOR UPDATE OF t", 904),
    Refused("SELECT * FROM t FOR UPDATE WAIT -1", 30005),
    # values
    Refused("SELECT * FROM t WHERE a = 'abc'", 1722),
    Refused("INSERT INTO t (id, n) VALUES ('x', 1)", 1722),
    Refused("SELECT * FROM t WHERE b = 1", 1722),
    Refused("SELECT CASE WHEN 1 = 1 THEN 1 ELSE 'a' END FROM dual", 932),
    Refused("SELECT * FROM t WHERE d = '2026-08-10'", 1861),
    Refused("SELECT * FROM t WHERE ts = '2026-08-10'", 1843),
    Refused("CREATE TABLE x (d DATE DEFAULT '2024-04-14')", 1861),
    Refused("CREATE TABLE x (n NUMBER DEFAULT 'false')", 1722),
    Refused("SELECT DATE '2024-01-31' + INTERVAL '1' MONTH FROM dual", 1839),
    Refused(f"SELECT '{'x' * 4001}' FROM dual", 1704),
    Refused("SELECT RPAD('x', 4000) || 'y' FROM dual", 1489),
    Refused("SELECT TO_CHAR(c) FROM t", 22835, setup=["UPDATE t SET c = RPAD('x', 4000) || TO_CLOB('y')"]),
    Refused("SELECT HEXTORAW('xyz') FROM dual", 1465),
    Refused(
        "SELECT UUID_TO_RAW('not a v4 uuid') FROM dual", 62432,
        gives=904, differs="UUID_TO_RAW, of 23.9, is not known",
    ),
    Refused("SELECT a - b FROM (SELECT s.NEXTVAL a, s.NEXTVAL b FROM dual)", 2287),
    Refused("SELECT id FROM t WHERE id IN (SELECT s.NEXTVAL FROM dual)", 2287),
    Refused("SELECT DISTINCT s.NEXTVAL FROM t", 2287),
    Refused("SELECT a FROM t WHERE s.NEXTVAL > 1", 2287),
    # constraints
    Refused("INSERT INTO t (id) VALUES (9)", 1400),
    Refused("INSERT INTO x (b) VALUES ('')", 1400, setup=["CREATE TABLE x (b VARCHAR2(9) NOT NULL)"]),
    Refused("INSERT INTO t (id, n) VALUES (1, 1)", 1),
    Refused("INSERT INTO x (k) VALUES ('bogus')", 2290, setup=["CREATE TABLE x (k VARCHAR2(9) CHECK (k IN ('a')))"]),
    Refused("INSERT INTO t (id, n, b) VALUES (9, 1, '12345678901')", 12899),
    Refused("INSERT INTO t (id, n, b) VALUES (9, 1, 'äöüäöü')", 12899),
    Refused("INSERT INTO t (id, n) VALUES (9, 1000)", 1438),
    Refused("INSERT INTO idt (id) VALUES (5)", 32795, setup=["CREATE TABLE idt (id NUMBER GENERATED ALWAYS AS IDENTITY)"]),
    Refused("CREATE TABLE x (n NUMBER DEFAULT foo)", 904),
    Refused("CREATE TABLE x (a NUMBER CHECK (b > 1), b NUMBER)", 2438),
    Refused('CREATE TABLE x ("v" NUMBER CHECK (v > 1))', 904),
    Refused("CREATE TABLE x (a NUMBER PRIMARY KEY, b NUMBER PRIMARY KEY)", 2260),
    Refused("CREATE TABLE x (a NUMBER REFERENCES t (a))", 2270),
    Refused("CREATE TABLE x (a NUMBER GENERATED ALWAYS AS IDENTITY, b NUMBER GENERATED ALWAYS AS IDENTITY)", 30669),
    Refused("DROP INDEX x_pk", 2429, setup=["CREATE TABLE x (a NUMBER CONSTRAINT x_pk PRIMARY KEY)"]),
    Refused("DROP TABLE t", 2449),
    Refused("CREATE TABLE t (a NUMBER)", 955),
    Refused("CREATE VIEW t AS SELECT 1 a FROM dual", 955),
    Refused("CREATE SEQUENCE t", 955),
    Refused("ALTER TABLE t ADD a NUMBER", 1430),
    Refused("ALTER TABLE t MODIFY n NOT NULL", 1442),
    Refused("ALTER TABLE t MODIFY a NULL", 1451),
    Refused("ALTER TABLE t MODIFY c VARCHAR2(100)", 22859),
    Refused(f"CREATE TABLE x ({', '.join(f'c{n} NUMBER' for n in range(1001))})", 1792),
    Refused(
        "CREATE GLOBAL TEMPORARY TABLE x (a NUMBER, b NUMBER GENERATED ALWAYS AS (a + 1) VIRTUAL)", 54010,
        gives=3001, differs="temporary tables are not known",
    ),
    Refused("CREATE TABLE x (j JSON) TABLESPACE system", 43853),
    # large objects
    Refused("SELECT * FROM t ORDER BY c", 22848),
    Refused("SELECT c FROM t GROUP BY c", 22848),
    Refused("SELECT DISTINCT c FROM t", 22848),
    Refused("SELECT * FROM t WHERE c = 'x'", 22848),
    Refused("SELECT * FROM t WHERE c IN ('x')", 22848),
    # vectors
    Refused("CREATE TABLE x (v VECTOR(3, FLOAT32, DENSE, 1))", 51800),
    Refused("CREATE TABLE x (v VECTOR(0, FLOAT32))", 51801),
    Refused("CREATE TABLE x (v VECTOR(65536, FLOAT32))", 51801),
    Refused("CREATE TABLE x (v VECTOR(3, FLOAT16))", 51802),
    Refused("CREATE TABLE x (v VECTOR(10, BINARY))", 51813, gives=3001, differs="BINARY vectors are not known"),
    Refused("CREATE TABLE x (v VECTOR(8, BINARY, SPARSE))", 51820, gives=3001, differs="BINARY vectors are not known"),
    Refused("INSERT INTO tv (id, v) VALUES (9, '[1,2]')", 51803),
    Refused("INSERT INTO tv (id, v) VALUES (9, '[1,NaN,3]')", 51805),
    Refused("""INSERT INTO tv (id, v) VALUES (9, '[1,"a",3]')""", 51805),
    Refused(
        "INSERT INTO x (v) VALUES ('[1,2,300]')", 51806, setup=["CREATE TABLE x (v VECTOR(3, INT8))"],
    ),
    Refused(
        "INSERT INTO x (v) VALUES ('[1,0,0]')", 51833, setup=["CREATE TABLE x (v VECTOR(3, FLOAT32, SPARSE))"],
        gives=3001, differs="SPARSE vectors are not known: the table is refused",
    ),
    Refused("SELECT VECTOR_DISTANCE(TO_VECTOR('[1,2]'), TO_VECTOR('[1,2,3]'), COSINE) FROM dual", 51808),
    Refused("SELECT VECTOR_DISTANCE(v, v, FOO) FROM tv", 51964),
    Refused("SELECT VECTOR_DISTANCE(v, v, CUSTOM) FROM tv", 51971),
    Refused("SELECT JACCARD_DISTANCE(v, v) FROM tv", 51837),
    Refused("SELECT FROM_VECTOR(v RETURNING NUMBER) FROM tv", 51809),
    Refused(
        "SELECT SUM(v) FROM x", 51808,
        setup=["CREATE TABLE x (v VECTOR)", "INSERT INTO x VALUES ('[1,2]')", "INSERT INTO x VALUES ('[1,2,3]')"],
    ),
    Refused("SELECT * FROM tv ORDER BY v", 22848),
    Refused("SELECT v FROM tv GROUP BY v", 22848),
    Refused("SELECT DISTINCT v FROM tv", 22848),
    Refused("SELECT COUNT(DISTINCT v) FROM tv", 22848),
    Refused("SELECT * FROM tv WHERE v = TO_VECTOR('[1,2,3]')", 22848),
    Refused("SELECT * FROM tv x JOIN tv y ON x.v = y.v", 22848),
    Refused("ALTER TABLE tv MODIFY v VECTOR(4)", 51859),
    Refused("CREATE INDEX i ON tv (v)", 2327),
    Refused("CREATE TABLE x (v VECTOR(3)) TABLESPACE system", 43853),
    Refused("UPDATE tv SET v = '[1,2,3,4]'", 51803),
    Refused("SELECT id FROM tv ORDER BY v <=> '[1,2]' FETCH FIRST 1 ROWS ONLY", 51808),
    # vector indexes
    Refused("CREATE VECTOR INDEX i ON tv (g) ORGANIZATION NEIGHBOR PARTITIONS", 51900),
    Refused(f"{_IVF} WITH TARGET ACCURACY 101", 51937),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS PARAMETERS (TYPE HNSW)", 51917),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH PARAMETERS (TYPE HNSW, NEIGHBORS 0)", 51938),
    Refused("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE HAMMING", 51909),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH", 51962,
        gives=ACCEPTED, differs="there is no vector memory pool whose size could be 0: HNSW needs no setting",
    ),
    Refused(_IVF, 955, setup=["CREATE INDEX i ON t (a)"]),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE (c) ORGANIZATION NEIGHBOR PARTITIONS", 51979,
        setup=["ALTER TABLE tv ADD c CLOB"],
    ),
    Refused("CREATE VECTOR INDEX i ON tv (v) INCLUDE (UPPER(g)) ORGANIZATION NEIGHBOR PARTITIONS", 51980),
    Refused(
        "CREATE VECTOR INDEX i ON tv (v) INCLUDE ({}) ORGANIZATION NEIGHBOR PARTITIONS".format(
            ", ".join(f"c{n}" for n in range(32))
        ),
        51977, setup=["ALTER TABLE tv ADD ({})".format(", ".join(f"c{n} NUMBER" for n in range(32)))],
    ),
    Refused(
        "ALTER TABLE tv MODIFY g VARCHAR2(99)", 51989,
        setup=["CREATE VECTOR INDEX i ON tv (v) INCLUDE (g) ORGANIZATION NEIGHBOR PARTITIONS"],
    ),
    # embedding, chunks, text search
    Refused("SELECT VECTOR_EMBEDDING(nomodel USING 'x' AS DATA) FROM dual", 40284),
    Refused("SELECT * FROM VECTOR_CHUNKS('x' BY WORDS MAX 5)", 30584, gives=3001, differs="VECTOR_CHUNKS is not known"),
    Refused(
        "SELECT * FROM t WHERE CONTAINS(b, 'x') > 0", 20000, gives=3001, differs="Oracle Text is not there",
    ),
    # JSON
    Refused("SELECT JSON_VALUE(j, 'a.b') FROM t", 40597),
    Refused("SELECT JSON_VALUE(j, '$.a[') FROM t", 40597),
    Refused("SELECT JSON_VALUE(j, '$.' || b) FROM t", 40597),
    Refused("INSERT INTO t (id, n, j) VALUES (9, 1, '{bad')", 40441),
    Refused("SELECT JSON('{bad') FROM dual", 40441),
    Refused("""SELECT JSON_VALUE('{"a":[1]}', '$.a' ERROR ON ERROR) FROM dual""", 40456),
    Refused("""SELECT JSON_VALUE('{"a":1}', '$.b' ERROR ON ERROR) FROM dual""", 40462),
    Refused("""SELECT JSON_VALUE('{"a":[1,2]}', '$.a[*]' ERROR ON ERROR) FROM dual""", 40470),
    Refused("""SELECT JSON_VALUE('{"a":"xyz"}', '$.a' RETURNING VARCHAR2(2) ERROR ON ERROR) FROM dual""", 40478),
    # MERGE
    Refused(_MERGE, 2000),
    Refused("MERGE INTO t USING u ON t.id = u.t_id WHEN MATCHED THEN UPDATE SET t.a = 1", 969),
    Refused(_MERGE + "WHEN MATCHED THEN UPDATE SET t.a = u.id", 30926),
    Refused(_MERGE + "WHEN MATCHED THEN UPDATE SET", 921),
    Refused(_MERGE + "WHEN NOT MATCHED THEN INSERT", 926),
    Refused(_MERGE + "WHEN MATCHED AND u.b = 'x' THEN UPDATE SET t.a = 1", 2000),
    Refused(_MERGE + "WHEN MATCHED THEN DO NOTHING", 2000),
    # transactions, privileges
    Refused("SET TRANSACTION READ WRITE NO WAIT", 3048),
    Refused("ROLLBACK TO SAVEPOINT nope", 1086),
    Refused("GRANT SELECT ON t TO DB_DEVELOPER_ROLE WITH GRANT OPTION", 1926),
]  # fmt: skip

# The reserved words of Oracle's documentation: none is a column name without quotes.
RESERVED = """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS CONNECT
    CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP
    HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG
    MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF OFFLINE ON ONLINE
    OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT SESSION SET SHARE SIZE
    SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE USER VALIDATE VALUES VARCHAR
    VARCHAR2 VIEW WHENEVER WHERE WITH
    """.split()  # noqa: SIM905

# Words that look reserved and are not.
FREE = """
    GENERATED IDENTITY JSON LATERAL XMLTABLE VERSIONS MEASURES PATH VALUE KEY TYPE STATUS LIMIT OFFSET DESCRIPTION TITLE
    AMOUNT EMAIL NAME
    """.split()  # noqa: SIM905

_LONG_NAME = "PostgreSQL keeps names of up to 63 bytes"
_HIERARCHY = "hierarchical queries beyond LEVEL over DUAL are not known; a recursive WITH does the same"

WORKS = [
    # shape of a query
    Works("SELECT 1", [(1,)]),
    Works("SELECT * FROM dual", [("X",)]),
    Works("SELECT t.*, a FROM t WHERE id = 9", []),
    Works('SELECT a total, b "Total" FROM t WHERE id = 1', [(5, "x")]),
    Works("SELECT a AS value, b AS key FROM t WHERE id = 1", [(5, "x")]),
    Works("SELECT 1 AS type, 2 AS status, 3 AS limit, 4 AS offset, 5 AS path, 6 AS json, 7 AS identity FROM dual", [(1, 2, 3, 4, 5, 6, 7)]),
    Works("SELECT t.id, u.id FROM t JOIN u ON u.t_id = t.id ORDER BY u.id", [(1, 1), (1, 2)]),
    Works("SELECT UNIQUE a FROM t WHERE a = 5", [(5,)]),
    Works("SELECT ALL a FROM t WHERE a = 5", [(5,)]),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST 2 ROWS ONLY", [(1,), (2,)]),
    Works("SELECT id FROM t ORDER BY id FETCH NEXT 1 ROW ONLY", [(1,)]),
    Works("SELECT id FROM t ORDER BY id FETCH NEXT ROWS ONLY", [(1,)]),
    Works("SELECT id FROM t ORDER BY id OFFSET 2 ROWS", [(3,)]),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST 34 PERCENT ROWS ONLY", [(1,), (2,)], gives=3001, differs="PERCENT is not known"),
    Works("SELECT t_id FROM u ORDER BY t_id FETCH FIRST 1 ROWS WITH TIES", [(1,), (1,)]),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST :n ROWS ONLY", [(1,), (2,)], binds={"n": 2}),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST :n ROWS ONLY", [], binds={"n": -1}),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST :n ROWS ONLY", [], binds={"n": None}),
    Works("SELECT id FROM t ORDER BY id FETCH FIRST :n ROWS ONLY", [(1,)], binds={"n": 1.7}),
    Works("SELECT DISTINCT t_id FROM u FETCH FIRST 2 ROWS ONLY", [(1,)]),
    Works("SELECT COUNT(*) FROM (SELECT * FROM t WHERE ROWNUM <= 2)", [(2,)]),
    Works("SELECT id FROM (SELECT * FROM t ORDER BY id DESC) WHERE ROWNUM <= 1", [(3,)]),
    Works("SELECT * FROM t WHERE ROWNUM > 1", []),
    Works("SELECT * FROM t WHERE ROWNUM = 2", []),
    Works("SELECT id FROM t WHERE ROWNUM <= 5 AND id = 1 FOR UPDATE SKIP LOCKED", [(1,)]),
    Works("SELECT id FROM t ORDER BY id FOR UPDATE OF n SKIP LOCKED", [(1,), (2,), (3,)]),
    Works("SELECT id FROM t ORDER BY a", [(1,), (3,), (2,)]),
    Works("SELECT id FROM t ORDER BY a DESC", [(2,), (3,), (1,)]),
    Works("SELECT id FROM t ORDER BY 1", [(1,), (2,), (3,)]),
    Works("SELECT a FROM t ORDER BY id DESC", [(7,), (None,), (5,)]),
    Works("SELECT a + 1 AS k, COUNT(*) FROM t WHERE a > 0 GROUP BY k HAVING k > 6", [(8, 1)]),
    Works("SELECT COUNT(*) FROM t HAVING COUNT(*) > 0", [(3,)]),
    Works("SELECT COUNT(*) FROM t limit", [(3,)]),
    Works("WITH q AS (SELECT 1 a FROM dual) SELECT * FROM q", [(1,)]),
    Works("WITH r (n) AS (SELECT 1 FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r", [(1,), (2,), (3,)]),
    Works(
        "WITH FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END; SELECT f FROM dual", [(1,)],
        gives=3001, differs="functions in WITH are not known",
    ),
    Works("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v (x, y) ORDER BY x", [(1, "a"), (2, "b")]),
    Works("WITH v (x) AS (VALUES (1), (2)) SELECT * FROM v ORDER BY x", [(1,), (2,)]),
    Works("SELECT 1 FROM dual MINUS SELECT 2 FROM dual", [(1,)]),
    Works("SELECT 1 FROM dual EXCEPT SELECT 2 FROM dual", [(1,)]),
    Works("SELECT t_id FROM u MINUS ALL SELECT 1 FROM dual", [(1,)]),
    Works("SELECT t_id FROM u INTERSECT ALL SELECT t_id FROM u", [(1,), (1,)]),
    Works("SELECT a FROM t WHERE a > 0 UNION SELECT n FROM t ORDER BY a", [(1,), (2,), (3,), (5,), (7,)]),
    Works("SELECT 1 x FROM dual UNION ALL SELECT 2 FROM dual INTERSECT SELECT 2 FROM dual", [(2,)]),
    Works("SELECT /*+ FULL(t) NO_SUCH_HINT */ id FROM t WHERE id = 1", [(1,)]),
    Works("SELECT --+ FULL(t)\n id FROM t WHERE id = 1", [(1,)]),
    Works(
        "SELECT COUNT(*) FROM t AS OF TIMESTAMP SYSTIMESTAMP", [(3,)], gives=3001, differs="no flashback",
    ),
    # joins and hierarchies
    Works(
        "SELECT t.id, u.id FROM t, u WHERE t.id = u.t_id (+) ORDER BY 1, 2", [(1, 1), (1, 2), (2, None), (3, None)],
        gives=3001, differs="the operator (+) is not known; LEFT JOIN is",
    ),
    Works("SELECT x FROM t CROSS APPLY (SELECT t.a + 1 x FROM dual) WHERE id = 1", [(6,)]),
    Works("SELECT t.id, x FROM t, LATERAL (SELECT t.id * 2 x FROM dual) WHERE t.id = 3", [(3, 6)]),
    Works("SELECT b FROM t NATURAL JOIN u", [("x",)]),
    Works("SELECT id FROM t JOIN u USING (id) ORDER BY id", [(1,), (2,)]),
    Works("SELECT LEVEL FROM dual CONNECT BY LEVEL <= 3", [(1,), (2,), (3,)]),
    Works("SELECT id FROM t START WITH a IS NULL CONNECT BY NOCYCLE PRIOR id = a", [(2,)], gives=3001, differs=_HIERARCHY),
    Works(
        "SELECT * FROM (SELECT n, b FROM t) PIVOT (SUM(n) FOR b IN ('x' AS x, 'y' AS y))", [(1, 2)],
        gives=3001, differs=_NOT_WRITTEN,
    ),
    # NULL and text
    Works("SELECT id FROM t WHERE b = ''", []),
    Works("SELECT 1 FROM dual WHERE '' IS NULL", [(1,)]),
    Works("INSERT INTO t (id, n, b) VALUES (9, 1, '')", 1, then="SELECT id FROM t WHERE b IS NULL ORDER BY id", rows=[(3,), (9,)]),
    Works("SELECT LENGTH('') FROM dual", [(None,)]),
    Works("SELECT 'a' || NULL || 'b' FROM dual", [("ab",)]),
    Works("SELECT CONCAT('a', NULL, 'b') FROM dual", [("ab",)]),
    Works("SELECT NVL(NULL, 1), NVL2(NULL, 'y', 'n'), COALESCE(NULL, 2) FROM dual", [(1, "n", 2)]),
    Works("SELECT DECODE(NULL, NULL, 'same', 'other') FROM dual", [("same",)]),
    Works("SELECT GREATEST(1, NULL), LEAST(NULL, 1) FROM dual", [(None, None)]),
    Works("SELECT NULLIF(1, 1) FROM dual", [(None,)]),
    Works("SELECT REPLACE('abc', 'b', ''), REPLACE('abc', '', 'x') FROM dual", [("ac", "abc")]),
    Works("SELECT SUBSTR('abc', 0, 1), SUBSTR('abc', -1) FROM dual", [("a", "c")]),
    Works("SELECT INSTR('abcb', 'b', -1) FROM dual", [(4,)]),
    Works(r"SELECT COUNT(*) FROM dual WHERE 'a_b' LIKE 'a\_%' ESCAPE '\'", [(1,)]),
    Works(r"SELECT COUNT(*) FROM dual WHERE 'a_b' LIKE 'a\_%'", [(0,)]),
    Works("""SELECT q'[it's]', Q'{a"b}', nq'!x!' FROM dual""", [("it's", 'a"b', "x")]),
    Works("SELECT 'it''s', 'a\\n' FROM dual", [("it's", "a\\n")]),
    Works("SELECT N'x' FROM dual", [("x",)]),
    Works("SELECT LENGTH(RPAD('x', 9999)) FROM dual", [(4000,)]),
    Works("SELECT id FROM t WHERE c LIKE '%text'", [(1,)]),
    Works("SELECT INSTR(c, 'text'), SUBSTR(c, 1, 4), LENGTH(c) FROM t WHERE id = 1", [(6, "some", 9)]),
    Works("CREATE TABLE x (b VARCHAR2(4000 CHAR))"),
    Works("SELECT LISTAGG(n, ',' ON OVERFLOW TRUNCATE '…' WITH COUNT) WITHIN GROUP (ORDER BY n DESC) FROM t", [("3,2,1",)]),
    Works("SELECT LISTAGG(DISTINCT t_id, ',') FROM u", [("1",)]),
    Works("SELECT MIN(n) KEEP (DENSE_RANK LAST ORDER BY id) FROM t", [(3,)], gives=3001, differs=_NOT_WRITTEN),
    Works("SELECT ANY_VALUE(b), t_id FROM u WHERE id = 1 GROUP BY t_id", [("x", 1)]),
    # numbers and conversions
    Works("SELECT 5 / 2 FROM dual", [(2.5,)]),
    Works("SELECT AVG(id) FROM u", [(1.5,)]),
    Works("SELECT MOD(5, 0), MOD(-5, 3) FROM dual", [(5, -2)]),
    Works("SELECT '1' + 1, 1 || 2 FROM dual", [(2, "12")]),
    Works("SELECT id FROM t WHERE id = '1'", [(1,)]),
    Works("INSERT INTO t (id, n, b) VALUES ('9', '3', 12)", 1, then="SELECT id, n, b FROM t WHERE id = 9", rows=[(9, 3, "12")]),
    Works("INSERT INTO x VALUES (123.456)", 1, setup=["CREATE TABLE x (v NUMBER(5, 2))"], then="SELECT v FROM x", rows=[(123.46,)]),
    Works("SELECT ROUND(2.5), ROUND(-2.5) FROM dual", [(3, -3)]),
    Works("SELECT 1e3, .5, 1f, 2d FROM dual", [(1000, 0.5, 1.0, 2.0)]),
    Works("SELECT TO_NUMBER('x' DEFAULT 0 ON CONVERSION ERROR) FROM dual", [(0,)]),
    Works("SELECT TO_CHAR(-1.5, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''') FROM dual", [("-1.5",)]),
    Works("SELECT TO_CHAR(0.5), TO_CHAR(1234.5, 'FM9G990D00'), TO_CHAR(1234567, '999') FROM dual", [(".5", "1,234.50", "####")]),
    Works(
        "CREATE TABLE x (a INTEGER, b FLOAT, c REAL, e DOUBLE PRECISION, f DECIMAL(5,2))",
        then="SELECT COLUMN_NAME, DATA_TYPE, DATA_PRECISION, DATA_SCALE FROM USER_TAB_COLUMNS "
        "WHERE TABLE_NAME = 'X' AND COLUMN_NAME != 'C' ORDER BY COLUMN_ID",  # C, a REAL, is FLOAT(126) here, not 63
        rows=[("A", "NUMBER", None, 0), ("B", "FLOAT", 126, None), ("E", "FLOAT", 126, None), ("F", "NUMBER", 5, 2)],
    ),
    Works("CREATE TABLE x (n NUMBER DEFAULT '5')"),
    Works(f"SELECT id FROM t WHERE id IN ({','.join(map(str, range(1, 2001)))}) ORDER BY id", [(1,), (2,), (3,)]),
    Works("SELECT id FROM t WHERE (id, 0) IN ((1, 0), (2, 1))", [(1,)]),
    Works("SELECT id FROM t WHERE id != 1 AND id ^= 2 AND NOT id <> 3", [(3,)]),
    # BOOLEAN
    Works("SELECT TRUE, FALSE", [(True, False)]),
    Works("SELECT COUNT(*) FROM x WHERE f", [(1,)], setup=["CREATE TABLE x (f BOOLEAN DEFAULT TRUE NOT NULL, g BOOL)", "INSERT INTO x (g) VALUES ('no')"]),
    Works(
        "SELECT COUNT(*) FROM x WHERE NOT g AND g IS FALSE AND f IS NOT FALSE AND f = TRUE", [(1,)],
        setup=["CREATE TABLE x (f BOOLEAN, g BOOLEAN)", "INSERT INTO x VALUES (1, 'off')"],
    ),
    *(
        Works(f"INSERT INTO x VALUES ({value})", 1, setup=["CREATE TABLE x (f BOOLEAN)"], then="SELECT f FROM x", rows=[(wanted,)])
        for value, wanted in (
            ("'true'", True), ("'t'", True), ("'yes'", True), ("'y'", True), ("'on'", True), ("'1'", True), ("1", True),
            ("'no'", False), ("'off'", False), ("'0'", False), ("0", False),
        )
    ),
    Works(
        "SELECT COUNT(*) FROM x WHERE f = 1 AND 1 = f AND f <> 0 AND f IN (1, 2)", [(1,)],
        setup=["CREATE TABLE x (f BOOLEAN)", "INSERT INTO x VALUES (TRUE)", "INSERT INTO x VALUES (FALSE)"],
    ),
    Works("SELECT a > 6 AS big FROM t ORDER BY id", [(False,), (None,), (True,)]),
    Works("SELECT JSON_EXISTS(j, '$.a') FROM t WHERE id = 1", [(True,)]),
    Works("SELECT TO_BOOLEAN('yes'), CAST(0 AS BOOLEAN) FROM dual", [(True, False)]),
    Works("SELECT BOOLEAN_AND_AGG(a > 5), EVERY(a > 4), BOOLEAN_OR_AGG(a > 5) FROM t", [(False, True, True)]),
    # dates
    Works("SELECT DATE '2024-01-02' + 0.5 - DATE '2024-01-01' FROM dual", [(1.5,)]),
    Works("SELECT TO_CHAR(TIMESTAMP '2024-01-01 10:00:00.7' + 1, 'YYYY-MM-DD HH24:MI:SS') FROM dual", [("2024-01-02 10:00:00",)]),
    Works("SELECT TO_CHAR(TRUNC(DATE '2024-05-17', 'MM'), 'YYYY-MM-DD') FROM dual", [("2024-05-01",)]),
    Works("SELECT COUNT(*) FROM t WHERE d = DATE '2024-03-01'", [(1,)]),
    Works(
        "INSERT INTO t (id, n, d) VALUES (9, 1, TIMESTAMP '2024-01-01 10:20:30.2')", 1,
        then="SELECT TO_CHAR(d, 'YYYY-MM-DD HH24:MI:SS') FROM t WHERE id = 9", rows=[("2024-01-01 10:20:30",)],
    ),
    Works("CREATE TABLE x (d DATE DEFAULT DATE '2024-04-14')"),
    Works("SELECT COUNT(*) FROM t WHERE d = '2024-03-01'", [(1,)], setup=["ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD'"]),
    Works("SELECT TO_CHAR(DATE '2024-03-01', 'FMDay DD Month YYYY'), TO_CHAR(DATE '2024-03-01', 'Month') || '|' FROM dual", [("Friday 1 March 2024", "March    |")]),
    Works("""SELECT TO_CHAR(ts, 'YYYY-MM-DD"T"HH24:MI:SS.FF3') FROM t WHERE id = 1""", [("2024-03-01T10:20:30.500",)]),
    Works("SELECT COUNT(*) FROM dual WHERE TO_DATE('2024-1-5', 'YYYY-MM-DD') = TO_DATE('20240105', 'YYYY-MM-DD')", [(1,)]),
    Works("SELECT TO_CHAR(ADD_MONTHS(DATE '2024-01-31', 1), 'YYYY-MM-DD'), TO_CHAR(LAST_DAY(DATE '2023-02-01'), 'DD') FROM dual", [("2024-02-29", "28")]),
    Works("SELECT TO_CHAR(ts + INTERVAL '1' DAY - NUMTODSINTERVAL(5, 'MINUTE'), 'DD HH24:MI') FROM t WHERE id = 1", [("02 10:15",)]),
    Works("SELECT EXTRACT(YEAR FROM d), EXTRACT(HOUR FROM ts) FROM t WHERE id = 1", [(2024, 10)]),
    Works("SELECT EXTRACT(HOUR FROM TIMESTAMP '2024-01-01 10:00:00 +02:00') FROM dual", [(8,)]),
    Works("SELECT CAST(ts AS DATE) - d FROM t WHERE id = 1", [(37230 / 86400,)]),
    # names
    Works('SELECT COUNT(*) FROM "FOO"', [(0,)], setup=["CREATE TABLE Foo (Bar NUMBER)"]),
    Works('SELECT (SELECT COUNT(*) FROM "x"), (SELECT COUNT(*) FROM x) FROM dual', [(1, 0)], setup=['CREATE TABLE "x" (a NUMBER)', "CREATE TABLE x (a NUMBER)", 'INSERT INTO "x" VALUES (1)']),
    Works('CREATE TABLE "SELECT" ("FROM" NUMBER, "a b" NUMBER)', then='SELECT "FROM", "a b" FROM "SELECT"'),
    Works(f"CREATE TABLE {'x' * 128} (a$b NUMBER, a#b NUMBER, a_b NUMBER)", then=f"SELECT a$b FROM {'x' * 128}", gives=3001, differs=_LONG_NAME),
    Works(f"CREATE TABLE {'가' * 42} (a NUMBER)", then=f"SELECT a FROM {'가' * 42}", gives=3001, differs=_LONG_NAME),
    Works('SELECT 1 "ROWID", 2 "USER" FROM dual', [(1, 2)]),
    # binds
    Works("SELECT :a, :a FROM dual", [("v", "v")], binds={"a": "v"}),
    Works("SELECT :A FROM dual", [("v",)], binds={"a": "v"}),
    Works("SELECT ':b', :a FROM dual /* :c */", [(":b", "v")], binds={"a": "v"}),
    # DML
    Works("INSERT INTO t (id, n, a) VALUES (8, 1, 1), (9, 2, DEFAULT)", 2, then="SELECT id, a FROM t WHERE id > 3 ORDER BY id", rows=[(8, 1), (9, None)]),
    Works("INSERT INTO t SET id = 9, n = 1", 1, gives=3001, differs=_NOT_WRITTEN),
    Works("INSERT INTO t BY NAME SELECT 1 AS n, 9 AS id FROM dual", 1, then="SELECT n FROM t WHERE id = 9", rows=[(1,)], gives=3001, differs=_NOT_WRITTEN),
    Works("INSERT INTO t (id, n) WITH q AS (SELECT 9 a FROM dual) SELECT a, 1 FROM q", 1),
    Works(
        "INSERT ALL INTO t (id, n) VALUES (8, 1) INTO u (id) VALUES (8) SELECT 1 FROM dual", 2,
        gives=3001, differs=_NOT_WRITTEN,
    ),
    Works(
        "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t (id)) */ INTO t (id, n) VALUES (1, 1)", 0,
    ),
    Works("UPDATE t SET (a, n) = (SELECT 1, 2 FROM dual) WHERE id = 1", 1, then="SELECT a, n FROM t WHERE id = 1", rows=[(1, 2)]),
    Works("UPDATE t SET a = DEFAULT", 3, then="SELECT COUNT(a) FROM t", rows=[(0,)]),
    Works("UPDATE (SELECT a FROM t) SET a = 1", 3, gives=3001, differs=_NOT_WRITTEN),
    Works("UPDATE t x SET x.a = 1 WHERE x.id = 1", 1),
    Works("UPDATE t SET t.a = u.id FROM u WHERE u.t_id = t.id AND u.b = 'z'", 1, then="SELECT a FROM t WHERE id = 1", rows=[(2,)]),
    Works("DELETE u WHERE id = 1", 1),
    Works("DELETE FROM u x USING t y WHERE x.t_id = y.id AND y.b = 'x'", 2),
    Works(
        "MERGE INTO t USING dual ON (t.id = :id) WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (:id, 1)",
        1, binds={"id": 9}, then="SELECT n FROM t WHERE id = 9", rows=[(1,)],
    ),
    Works(
        "MERGE INTO t USING (VALUES (:id, :a)) s (id, a) ON (t.id = s.id) WHEN MATCHED THEN UPDATE SET t.a = s.a",
        1, binds={"id": 2, "a": 6}, then="SELECT a FROM t WHERE id = 2", rows=[(6,)],
    ),
    Works(
        "MERGE INTO t USING (SELECT 1 id FROM dual UNION ALL SELECT 3 FROM dual) s ON (t.id = s.id) "
        "WHEN MATCHED THEN UPDATE SET t.a = t.a + 2 WHERE t.n > 0 DELETE WHERE t.a = 9",
        2, setup=["DELETE FROM u"], then="SELECT id, a FROM t ORDER BY id", rows=[(1, 7), (2, None)],
    ),
    Works("MERGE INTO t USING u ON (t.id = u.id + 8) WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id + 8, 1) WHERE u.b = 'z'", 1),
    Works("TRUNCATE TABLE t CASCADE", setup=["DROP TABLE u", "CREATE TABLE u (t_id NUMBER REFERENCES t ON DELETE CASCADE)", "INSERT INTO u VALUES (1)"], then="SELECT COUNT(*) FROM u", rows=[(0,)]),
    Works("LOCK TABLE t IN SHARE MODE NOWAIT"),
    # DDL
    Works("CREATE TABLE IF NOT EXISTS t (other NUMBER)", then="SELECT COUNT(n) FROM t", rows=[(3,)]),
    Works("DROP TABLE IF EXISTS nope PURGE"),
    Works("DROP INDEX IF EXISTS nope"),
    Works("DROP SEQUENCE IF EXISTS nope"),
    Works("INSERT INTO x (id) VALUES (NULL)", 1, setup=["CREATE TABLE x (id NUMBER GENERATED BY DEFAULT ON NULL AS IDENTITY)"], then="SELECT id FROM x", rows=[(1,)]),
    Works("INSERT INTO x (b) VALUES (1)", 1, setup=["CREATE TABLE x (id NUMBER GENERATED AS IDENTITY, b NUMBER)", "INSERT INTO x (b) VALUES (0)"], then="SELECT id FROM x ORDER BY b", rows=[(1,), (2,)]),
    Works("INSERT INTO x VALUES (NULL)", 1, setup=["CREATE TABLE x (a NUMBER DEFAULT ON NULL 5)"], then="SELECT a FROM x", rows=[(5,)]),
    Works("CREATE TABLE x (id NUMBER DEFAULT s.NEXTVAL, u VARCHAR2(128) DEFAULT USER, r RAW(16) DEFAULT SYS_GUID())"),
    Works("INSERT INTO x (a) VALUES (2)", 1, setup=["CREATE TABLE x (a NUMBER, b NUMBER GENERATED ALWAYS AS (a * 2) VIRTUAL)"], then="SELECT b FROM x", rows=[(4,)]),
    Works("INSERT INTO x VALUES (1)", 1, setup=["CREATE TABLE x (a NUMBER, s VARCHAR2(9) INVISIBLE)"], then="SELECT * FROM x", rows=[(1,)], gives=3001, differs="INVISIBLE columns are not known"),
    Works("INSERT INTO x VALUES (NULL)", 1, setup=["CREATE TABLE x (a NUMBER CHECK (a > 0), CHECK (a < 9))"]),
    Works("INSERT INTO x VALUES (NULL, NULL)", 1, setup=["CREATE TABLE x (a NUMBER, b NUMBER)", "CREATE UNIQUE INDEX i ON x (a, b)", "INSERT INTO x VALUES (NULL, NULL)"]),
    Works("ALTER TABLE t MODIFY n NUMBER(5)", then="SELECT NULLABLE FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'T' AND COLUMN_NAME = 'N'", rows=[("N",)]),
    Works("ALTER TABLE t ADD (z1 NUMBER, z2 DATE DEFAULT SYSDATE)", then="SELECT z1 FROM t WHERE z2 IS NULL"),
    Works("ALTER TABLE t RENAME COLUMN a TO aa", then="SELECT aa FROM t WHERE id = 1", rows=[(5,)]),
    Works("CREATE INDEX i ON t (UPPER(b), a DESC) ONLINE"),
    Works(
        "CREATE GLOBAL TEMPORARY TABLE g (a NUMBER) ON COMMIT PRESERVE ROWS", gives=3001, differs="temporary tables are not known",
    ),
    Works("CREATE TABLE y AS SELECT id, n FROM t WHERE 1 = 0", then="SELECT NULLABLE FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'Y' AND COLUMN_NAME = 'N'", rows=[("N",)]),
    Works("CREATE TABLE x (a NUMBER ANNOTATIONS (display 'Amount')) ANNOTATIONS (owner 'me')", gives=3001, differs="annotations are not known"),
    Works("CREATE OR REPLACE FORCE VIEW v AS SELECT id FROM t", then="SELECT COUNT(*) FROM v", rows=[(3,)]),
    Works("COMMENT ON COLUMN t.a IS ''"),
    Works("DROP TABLE u", then="SELECT COUNT(*) FROM USER_TABLES WHERE TABLE_NAME = 'U'", rows=[(0,)]),
    Works("RENAME u TO u9", then="SELECT COUNT(*) FROM u9", rows=[(2,)]),
    # transactions
    Works("SAVEPOINT a", setup=["SAVEPOINT a"]),
    Works("ROLLBACK TO a", setup=["SAVEPOINT a", "DELETE FROM u"], then="SELECT COUNT(*) FROM u", rows=[(2,)]),
    Works("COMMIT WORK"),
    Works("SET TRANSACTION READ ONLY"),
    Works("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
    Works("SELECT COUNT(*) FROM dual WHERE SYS_CONTEXT('USERENV', 'SESSION_USER') = USER", [(1,)]),
    Works("SELECT s9.NEXTVAL, s9.NEXTVAL, s9.CURRVAL FROM dual", [(1, 1, 1)], setup=["CREATE SEQUENCE s9"]),
    Works("INSERT INTO x SELECT s9.NEXTVAL FROM t", 3, setup=["CREATE SEQUENCE s9", "CREATE TABLE x (a NUMBER)"], then="SELECT MAX(a) FROM x", rows=[(3,)]),
    # JSON
    Works("SELECT x.j.a, x.j.a.number() + 1 FROM t x WHERE id = 1", [(1, 2)]),
    Works("SELECT JSON_VALUE(j, '$.nope'), JSON_VALUE(j, '$.A') FROM t WHERE id = 1", [(None, None)]),
    Works(
        "SELECT JSON_VALUE(j, '$.t'), JSON_VALUE(j, '$.e'), JSON_VALUE(j, '$.s' RETURNING VARCHAR2(2)), JSON_VALUE(j, '$.l'), "
        "JSON_VALUE(j, '$.q' DEFAULT 'none' ON EMPTY), x.j.t FROM t x WHERE id = 2", [("true", None, None, None, "none", True)],
        setup=["""UPDATE t SET j = '{"t":true,"e":"","s":"long","l":[1]}' WHERE id = 2"""],
    ),
    Works("SELECT JSON_VALUE(j, '$.a') FROM t ORDER BY id DESC", [(None,), (None,), ("1",)]),
    Works("SELECT JSON_VALUE(j, '$.items' DEFAULT 'list' ON ERROR) FROM t WHERE id = 1", [("list",)]),
    Works(
        "SELECT v FROM JSON_TABLE('[true,\"t\",1.5,null,[2]]', '$[*]' COLUMNS (v VARCHAR2(9) PATH '$', o FOR ORDINALITY)) ORDER BY o",
        [("true",), ("t",), ("1.5",), (None,), (None,)],
    ),
    Works("SELECT JSON_VALUE(j, '$.a' RETURNING NUMBER), JSON_QUERY(j, '$.x[*]' RETURNING VARCHAR2(99) WITH WRAPPER) FROM t WHERE id = 1", [(1, "[1,2]")]),
    Works("""SELECT id FROM t WHERE JSON_EXISTS(j, '$.a?(@ == $v)' PASSING :x AS "v")""", [(1,)], binds={"x": 1}),
    Works(
        "SELECT JSON_OBJECT(id, b RETURNING VARCHAR2(99)) FROM t WHERE id = 2", [('{"id":2,"b":"y"}',)],
        gives=2000, differs="a column alone as an entry is not known; 'b' : b is",
    ),
    Works("SELECT JSON_OBJECT('id' : id, 'b' : b RETURNING VARCHAR2(99)), JSON_ARRAY(1, 2 RETURNING VARCHAR2(99)) FROM t WHERE id = 2", [('{"id":2,"b":"y"}', "[1,2]")]),
    Works("SELECT JSON_SERIALIZE(JSON{'a' : 1, 'b' : [1, 2]}) FROM dual", [('{"a":1,"b":[1,2]}',)]),
    Works("SELECT id, jt.* FROM t, JSON_TABLE(j, '$.items[*]' COLUMNS (n NUMBER PATH '$.n', o FOR ORDINALITY)) jt ORDER BY o", [(1, 1, 1), (1, 2, 2)]),
    Works("UPDATE t SET j = JSON_TRANSFORM(j, SET '$.a' = 2, REMOVE '$.x') WHERE id = 1", 1, then="SELECT JSON_VALUE(j, '$.a'), JSON_VALUE(j, '$.x[0]') FROM t WHERE id = 1", rows=[("2", None)]),
    Works("""UPDATE t SET j = JSON_MERGEPATCH(j, '{"a":null}') WHERE id = 1""", 1, then="SELECT JSON_VALUE(j, '$.a') FROM t WHERE id = 1", rows=[(None,)]),
    Works("SELECT COUNT(*) FROM (SELECT DISTINCT j FROM t ORDER BY j)", [(2,)]),
    # vectors
    Works("INSERT INTO x VALUES ('[1,2]')", 1, setup=["CREATE TABLE x (v VECTOR)", "INSERT INTO x VALUES ('[1,2,3]')"]),
    Works("INSERT INTO tv (id, v) VALUES (9, '[10, 2e1, 30]')", 1, then="SELECT FROM_VECTOR(v) FROM tv WHERE id = 9", rows=[("[1.0E+001,2.0E+001,3.0E+001]",)]),
    Works("INSERT INTO tv (id, v) VALUES (9, TO_VECTOR('[1, 2, 3]', 3, FLOAT32))", 1),
    Works("SELECT VECTOR_DISTANCE(v, '[1,0,0]') FROM tv ORDER BY id", [(0.0,), (1.0,), (None,)]),
    Works("SELECT v <=> :q, v <-> :q, v <#> :q FROM tv WHERE id = 1", [(0.0, 1.0, -2.0)], binds={"q": "[2,0,0]"}),
    Works("SELECT VECTOR_DIMENSION_COUNT(v), VECTOR_DIMENSION_FORMAT(v), VECTOR_NORM(v) FROM tv WHERE id = 1", [(3, "FLOAT32", 1.0)]),
    Works("SELECT FROM_VECTOR(SUM(v)), FROM_VECTOR(AVG(v)) FROM tv", [("[1.0E+000,1.0E+000,0]", "[5.0E-001,5.0E-001,0]")]),
    Works("SELECT FROM_VECTOR(v + v), FROM_VECTOR(v - v), FROM_VECTOR(v * v) FROM tv WHERE id = 1", [("[2.0E+000,0,0]", "[0,0,0]", "[1.0E+000,0,0]")]),
    Works("SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q, COSINE) FETCH APPROX FIRST 1 ROWS ONLY WITH TARGET ACCURACY 90", [(2,)], binds={"q": "[0,2,0]"}),
    Works("SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q, COSINE) FETCH APPROXIMATE FIRST :k ROWS ONLY", [(2,)], binds={"q": "[0,2,0]", "k": 1}),
    Works("SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q, EUCLIDEAN) FETCH EXACT FIRST 1 ROWS ONLY", [(1,)], binds={"q": "[2,0,0]"}),
    Works("CREATE VECTOR INDEX i ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS WITH TARGET ACCURACY 95 DISTANCE COSINE PARAMETERS (type IVF, neighbor partitions 10) PARALLEL 2"),
    Works("CREATE VECTOR INDEX i ON x (v) ORGANIZATION NEIGHBOR PARTITIONS", setup=["CREATE TABLE x (v VECTOR(3))"]),
    Works("SELECT COUNT(*) FROM VECTOR_CHUNKS('a b c' BY WORDS MAX 10) c", [(1,)], gives=3001, differs="VECTOR_CHUNKS is not known"),
    # PL/SQL
    Works("DECLARE n NUMBER; BEGIN SELECT COUNT(*) INTO n FROM t; IF n = 3 THEN DELETE FROM u; END IF; END;", then="SELECT COUNT(*) FROM u", rows=[(0,)]),
    Works("BEGIN EXECUTE IMMEDIATE 'DROP TABLE nope'; EXCEPTION WHEN OTHERS THEN IF SQLCODE != -942 THEN RAISE; END IF; END;"),
    Works("BEGIN NULL; END;"),
    Works("CALL dbms_session.sleep(0)"),
    Works("BEGIN EXECUTE IMMEDIATE :statement; END;", binds={"statement": "DELETE FROM u"}, then="SELECT COUNT(*) FROM u", rows=[(0,)]),
]  # fmt: skip
