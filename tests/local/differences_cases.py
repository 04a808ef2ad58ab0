"""Every difference with statements that show it, and what is refused though Oracle takes it: one table for both sides.

``here`` is what the local database gives, ``oracle`` what Oracle is documented to give for the same statements.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import oracledb

ALLOWED = 0

Connect = Callable[[], oracledb.Connection]
Probe = Callable[[oracledb.Connection, Connect], Any]


@dataclass(frozen=True)
class Case:
    """A difference: ``probe`` gives what is seen after ``setup``; ``oracle`` is a value, or tells whether one is right."""

    key: str
    probe: Probe
    here: Any
    oracle: Any
    setup: tuple[str, ...] = ()
    bound_as_long: bool = False  # only where the driver binds a text for a CLOB as LONG, not as a temporary LOB


@dataclass(frozen=True)
class Refusal:
    """Something that Oracle takes and the local database refuses with ORA-``number``: a row of docs/local.md.

    ``oracle`` is what Oracle says: nothing, if not what it takes beyond the statement (a link, a right).
    """

    group: str
    what: str
    statement: str
    instead: str = ""
    number: int = 3001
    oracle: tuple[int, ...] = (ALLOWED,)
    setup: tuple[str, ...] = ()


def _access_is_listed(connection: oracledb.Connection, _: Connect) -> bool:
    """Whether it is an access control list that keeps a statement from a port at which nobody listens."""
    params = {"provider": "ollama", "host": "local", "url": "http://127.0.0.1:1/api/generate", "model": "m"}
    with connection.cursor() as cursor:
        try:
            cursor.execute("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('x', JSON(:p)) FROM dual", p=json.dumps(params))
        except oracledb.DatabaseError as error:
            return "ORA-24247" in str(error)
    raise AssertionError("somebody listens")


def outcome(connection: oracledb.Connection, statement: str) -> int:
    """Run a statement to its end; give ALLOWED or Oracle's number."""
    with connection.cursor() as cursor:
        try:
            if cursor.execute(statement) is not None:
                cursor.fetchall()
        except oracledb.DatabaseError as error:
            return int(error.args[0].code)
    return ALLOWED


def _waited(connection: oracledb.Connection, connect: Connect) -> int:
    """Let an UPDATE wait for row 2 of t while row 1 comes to fit it too; give how many rows it changes."""
    connection.cursor().execute("UPDATE t SET id = id WHERE id = 2")
    connection.cursor().execute("UPDATE t SET id = 9 WHERE id = 1")
    with connect() as other:
        cursor = other.cursor()
        waiting = threading.Thread(target=lambda: cursor.execute("UPDATE t SET id = id + 10 WHERE id >= 2"))
        waiting.start()
        time.sleep(0.3)  # time enough to reach the lock
        connection.commit()
        waiting.join(20)
        return int(cursor.rowcount)


def value(connection: oracledb.Connection, statement: str, **binds: Any) -> Any:
    """Give the first value of a query."""
    with connection.cursor() as cursor:
        row = cursor.execute(statement, binds).fetchone()
    assert row is not None
    return row[0]


def run(connection: oracledb.Connection, *statements: str) -> None:
    """Run statements."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _of(statement: str) -> Probe:
    return lambda connection, _: value(connection, statement)


def _number(statement: str) -> Probe:
    return lambda connection, _: outcome(connection, statement)


def _room(connection: oracledb.Connection, _: Connect) -> bool:
    """Whether a table whose blocks stay empty is larger than one whose blocks are filled."""
    for name, free in (("P0", 0), ("P9", 95)):
        run(
            connection,
            f"CREATE TABLE {name} (b VARCHAR2(600)) PCTFREE {free}",
            f"INSERT INTO {name} SELECT LPAD('x', 500, 'x') FROM dual CONNECT BY LEVEL <= 2000",
            "COMMIT",
        )
    size = "SELECT SUM(BYTES) FROM USER_SEGMENTS WHERE SEGMENT_NAME = :n"
    return bool(value(connection, size, n="P9") > value(connection, size, n="P0"))


def _shrunk(connection: oracledb.Connection, _: Connect) -> bool:
    """Whether the last row moved to the front."""
    run(
        connection,
        "INSERT INTO p SELECT LEVEL, LPAD('x', 900, 'x') FROM dual CONNECT BY LEVEL <= 100",
        "DELETE FROM p WHERE a < 100",
        "COMMIT",
    )
    before = value(connection, "SELECT MIN(ROWID) FROM p")
    run(connection, "ALTER TABLE p SHRINK SPACE")
    return bool(value(connection, "SELECT MIN(ROWID) FROM p") != before)


def _after_drop(connection: oracledb.Connection, _: Connect) -> int:
    run(connection, "CREATE TABLE dropped (a NUMBER)", "DROP TABLE dropped")
    return outcome(connection, "FLASHBACK TABLE dropped TO BEFORE DROP")


def _exact(connection: oracledb.Connection, _: Connect) -> bool:
    return bool(value(connection, "SELECT v FROM d")[0] == 0.1)


def _same_rowid(connection: oracledb.Connection, _: Connect) -> bool:
    before = value(connection, "SELECT ROWID FROM t")
    run(connection, "UPDATE t SET x = 2")
    return bool(value(connection, "SELECT ROWID FROM t") == before)


def _empty_lobs(connection: oracledb.Connection, _: Connect) -> int:
    with connection.cursor() as cursor:
        cursor.setinputsizes(x=oracledb.DB_TYPE_CLOB)
        cursor.execute("INSERT INTO c (x) VALUES (:x)", x="")
    return int(value(connection, "SELECT COUNT(*) FROM c WHERE x IS NULL"))


def _beside_a_reader(connection: oracledb.Connection, connect: Connect) -> int:
    run(connection, "DELETE FROM u")
    value(connection, "SELECT COUNT(*) FROM t")
    with connect() as other:
        return outcome(other, "ALTER TABLE t ADD z NUMBER")


def _attributes(connection: oracledb.Connection, _: Connect) -> list[Any]:
    connection.module, connection.action, connection.client_identifier = "module", "action", "identifier"
    return [
        value(connection, f"SELECT SYS_CONTEXT('USERENV', '{name}') FROM dual")
        for name in ("MODULE", "ACTION", "CLIENT_IDENTIFIER")
    ]


def _types(statement: str) -> Probe:
    def probe(connection: oracledb.Connection, _: Connect) -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return [column.type_code.name for column in cursor.description or ()]

    return probe


def _typed_inside_json(connection: oracledb.Connection, _: Connect) -> list[str]:
    with connection.cursor() as cursor:
        cursor.setinputsizes(x=oracledb.DB_TYPE_JSON)
        cursor.execute("INSERT INTO d VALUES (:x)", x={"d": dt.datetime(2026, 1, 31), "r": b"raw"})  # noqa: DTZ001
    kept = value(connection, "SELECT x FROM d")
    return [type(kept[name]).__name__ for name in ("d", "r")]


def _bound_type(connection: oracledb.Connection, _: Connect) -> str:
    with connection.cursor() as cursor:
        cursor.setinputsizes(x=oracledb.DB_TYPE_CLOB)
        cursor.execute("SELECT :x FROM dual", x="text")
        return str(next(column.type_code.name for column in cursor.description or ()))


def _batch(connection: oracledb.Connection, _: Connect) -> list[tuple[int, int]]:
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO b VALUES (:1)", [[1], [1], [2], [1000]], batcherrors=True)
        return [(error.offset, error.code) for error in cursor.getbatcherrors() or []]


TABLE = "CREATE TABLE t (id NUMBER PRIMARY KEY, x NUMBER)"
ROW = "INSERT INTO t VALUES (1, 1)"
VECTORS = ("CREATE TABLE tv (id NUMBER PRIMARY KEY, v VECTOR(3, FLOAT32))", "INSERT INTO tv VALUES (1, '[1, 0, 0]')")

TEXT_INDEX = (
    "CREATE INDEX d_x ON d (x) INDEXTYPE IS CTXSYS.CONTEXT"
    " PARAMETERS ('STOPLIST CTXSYS.EMPTY_STOPLIST SYNC (ON COMMIT)')"
)


def _found_after_a_change(connection: oracledb.Connection, _: Connect) -> Any:
    """Whether a row is found whose other column its own transaction has changed."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE d SET id = 2")
        cursor.execute("SELECT COUNT(*) FROM d WHERE CONTAINS(x, '{zebra}', 1) > 0")
        return cursor.fetchone()[0]


CASES: tuple[Case, ...] = (
    Case("storage", _room, False, True),
    Case(
        "space", _shrunk, False, True, ("CREATE TABLE p (a NUMBER PRIMARY KEY, b VARCHAR2(1000)) ENABLE ROW MOVEMENT",)
    ),
    Case("recycle-bin", _after_drop, 3001, ALLOWED),
    Case(
        "approximate",
        _of("SELECT COUNT(*) FROM USER_TABLES WHERE TABLE_NAME LIKE 'VECTOR$%'"),
        0,
        lambda found: found > 0,
        (
            *VECTORS,
            "CREATE VECTOR INDEX tv_v ON tv (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY 90",
        ),
    ),
    Case(
        "hnsw",
        _number("CREATE VECTOR INDEX tv_v ON tv (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH DISTANCE COSINE"),
        ALLOWED,
        lambda number: number in {ALLOWED, 51962},
        VECTORS,
    ),
    Case("float64", _exact, False, True, ("CREATE TABLE d (v VECTOR(1, FLOAT64))", "INSERT INTO d VALUES ('[0.1]')")),
    Case(
        "timestamp-digits",
        _of("SELECT TO_CHAR(ts, 'FF9') FROM s"),
        "123456000",
        "123456789",
        ("CREATE TABLE s (ts TIMESTAMP(9))", "INSERT INTO s VALUES (TIMESTAMP '2024-01-01 10:00:00.123456789')"),
    ),
    Case(
        "time-zone",
        _of("SELECT TO_CHAR(tz, 'HH24:MI TZH:TZM') FROM z"),
        "05:00 +00:00",
        "10:00 +05:00",
        (
            "CREATE TABLE z (tz TIMESTAMP WITH TIME ZONE)",
            "INSERT INTO z VALUES (TIMESTAMP '2024-01-01 10:00:00 +05:00')",
            "ALTER SESSION SET TIME_ZONE = '+00:00'",
        ),
    ),
    Case(
        "oracle-text",
        _found_after_a_change,
        0,
        1,
        ("CREATE TABLE d (id NUMBER, x VARCHAR2(100))", "INSERT INTO d VALUES (1, 'zebra')", TEXT_INDEX),
    ),
    Case("rowid", _same_rowid, False, True, (TABLE, ROW)),
    Case(
        "char",
        _of("SELECT COUNT(*) FROM c WHERE x = y"),
        1,
        0,
        ("CREATE TABLE c (x CHAR(5), y VARCHAR2(5))", "INSERT INTO c VALUES ('ab', 'ab')"),
    ),
    Case(
        "keys",
        lambda connection, _: outcome(connection, "UPDATE t SET id = 3 - id"),
        1,
        ALLOWED,
        (TABLE, "INSERT INTO t (id) VALUES (1)", "INSERT INTO t (id) VALUES (2)"),
    ),
    Case("restart", _waited, 1, 2, (TABLE, "INSERT INTO t (id) VALUES (1)", "INSERT INTO t (id) VALUES (2)", "COMMIT")),
    Case(
        "mutating",
        lambda connection, _: outcome(connection, "INSERT INTO m SELECT 1 FROM dual"),
        ALLOWED,
        4091,
        (
            "CREATE TABLE m (a NUMBER)",
            "CREATE TRIGGER m_bi BEFORE INSERT ON m FOR EACH ROW DECLARE n NUMBER; BEGIN SELECT COUNT(*) INTO n FROM m; END;",
        ),
    ),
    Case("empty-lob", _empty_lobs, 1, 0, ("CREATE TABLE c (x CLOB)",), bound_as_long=True),
    Case(
        "json-order",
        _of("SELECT JSON_SERIALIZE(x) FROM j"),
        '{"a":3,"b":2,"zz":1}',
        lambda text: json.loads(text) == {"zz": 1, "b": 2, "a": 3},
        ("CREATE TABLE j (x JSON)", """INSERT INTO j VALUES ('{"zz":1,"b":2,"a":3}')"""),
    ),
    Case(
        "json-types",
        _typed_inside_json,
        ["str", "str"],
        ["datetime", "bytes"],
        ("CREATE TABLE d (x JSON)",),
    ),
    Case(
        "json-options",
        _of('SELECT JSON_SERIALIZE(JSON(\'{"a":"é"}\') RETURNING VARCHAR2(100) ASCII) FROM dual'),
        '{"a":"é"}',
        lambda text: text.lower() == '{"a":"\\u00e9"}',
    ),
    Case("ddl-readers", _beside_a_reader, 54, ALLOWED, (TABLE, "CREATE TABLE u (a NUMBER)")),
    Case("session-parameters", _number("ALTER SESSION SET OPTIMIZER_MODE = NO_SUCH_MODE"), ALLOWED, 96),
    Case("session-attributes", _attributes, [None, None, None], ["module", "action", "identifier"]),
    Case(
        "result-types",
        _types("SELECT a, b, c FROM n"),
        ["DB_TYPE_VARCHAR", "DB_TYPE_CHAR", "DB_TYPE_CLOB"],
        ["DB_TYPE_NVARCHAR", "DB_TYPE_NCHAR", "DB_TYPE_NCLOB"],
        ("CREATE TABLE n (a NVARCHAR2(9), b NCHAR(9), c NCLOB)",),
    ),
    Case("bound-lobs", _bound_type, "DB_TYPE_VARCHAR", "DB_TYPE_CLOB", bound_as_long=True),
    Case(
        "executemany-errors",
        _batch,
        [(1, 1), (3, 1438)],
        [(3, 1438), (1, 1)],
        ("CREATE TABLE b (x NUMBER(3) PRIMARY KEY)",),
    ),
    Case(
        "column-views",
        _of("SELECT DATA_TYPE FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'FV'"),
        "NUMBER",
        "FLOAT",
        ("CREATE TABLE f (x FLOAT)", "CREATE VIEW fv AS SELECT x FROM f"),
    ),
    Case("dynamic-views", _of("SELECT COUNT(*) FROM V$PARAMETER"), 6, lambda count: count > 100),
    Case(
        "broken-triggers",
        _number("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN DELETE FROM nowhere; END;"),
        6550,
        ALLOWED,
        (TABLE,),
    ),
    Case(
        "dependencies",
        _of("SELECT COUNT(*) FROM USER_DEPENDENCIES WHERE TYPE = 'TRIGGER' AND REFERENCED_NAME = 'U'"),
        0,
        1,
        (
            TABLE,
            "CREATE TABLE u (a NUMBER)",
            "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO u VALUES (:NEW.x); END;",
        ),
    ),
    Case(
        "statistics",
        _number("SELECT NUM_DISTINCT FROM USER_TAB_COL_STATISTICS WHERE TABLE_NAME = 'T'"),
        942,
        ALLOWED,
        (TABLE, "BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'T'); END;"),
    ),
    Case("text-generation", _access_is_listed, False, True),
    Case(
        "hints",
        lambda connection, _: (
            outcome(connection, "SELECT /*+ FULL(t) */ id FROM t"),
            outcome(connection, "EXPLAIN PLAN FOR SELECT /*+ FULL(t) */ id FROM t"),
        ),
        (ALLOWED, 3001),
        (ALLOWED, ALLOWED),
        (TABLE,),
    ),
)
"""Those that one user can show; users and rights are shown by tests of their own."""

OF_SEVERAL_USERS = frozenset({"users", "trigger-rights", "sequence-defaults"})

_T = (TABLE, ROW)
_TEXT = "CREATE TABLE d (id NUMBER PRIMARY KEY, x VARCHAR2(100), j JSON)"

REFUSALS: tuple[Refusal, ...] = (
    Refusal("Queries", "the operator `(+)`", "SELECT a.id FROM t a, t b WHERE a.id = b.x (+)", "LEFT JOIN", setup=_T),
    Refusal(
        "Queries",
        "CONNECT BY other than LEVEL over DUAL",
        "SELECT id FROM t START WITH id = 1 CONNECT BY PRIOR id = x - 1",
        "a recursive WITH",
        setup=_T,
    ),
    Refusal(
        "Queries",
        "ROWNUM in the select list of a query with ORDER BY",
        "SELECT ROWNUM, id FROM t ORDER BY x",
        "the ROWNUM of a subquery",
        setup=_T,
    ),
    Refusal(
        "Queries",
        "FX, YEAR, SP and I in formats of dates",
        "SELECT TO_CHAR(SYSDATE, 'YEAR') FROM dual",
    ),
    Refusal("Queries", "KEEP", "SELECT MAX(id) KEEP (DENSE_RANK FIRST ORDER BY x) FROM t", setup=_T),
    Refusal("Queries", "named windows", "SELECT SUM(x) OVER w FROM t WINDOW w AS (ORDER BY id)", setup=_T),
    Refusal("Queries", "PIVOT", "SELECT * FROM t PIVOT (COUNT(id) FOR x IN (1, 2))", setup=_T),
    Refusal(
        "Queries",
        "MODEL",
        "SELECT id, x FROM t MODEL DIMENSION BY (id) MEASURES (x) RULES (x[1] = 2)",
        setup=_T,
    ),
    Refusal("Queries", "SAMPLE", "SELECT id FROM t SAMPLE (10)", setup=_T),
    Refusal("Queries", "flashback", "SELECT id FROM t AS OF TIMESTAMP SYSTIMESTAMP", setup=_T, oracle=(ALLOWED, 1466)),
    Refusal(
        "Queries",
        "functions in WITH",
        "WITH FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END; SELECT f FROM dual",
    ),
    Refusal("Queries", "FETCH … PERCENT", "SELECT id FROM t FETCH FIRST 10 PERCENT ROWS ONLY", setup=_T),
    Refusal("Queries", "database links", "SELECT id FROM t@elsewhere", setup=_T, oracle=(2019,)),
    Refusal("Queries", "IGNORE NULLS", "SELECT LAST_VALUE(x) IGNORE NULLS OVER (ORDER BY id) FROM t", setup=_T),
    Refusal(
        "DML", "multi-table INSERT", "INSERT ALL INTO t VALUES (5, 1) INTO t VALUES (6, 1) SELECT 1 FROM dual", setup=_T
    ),
    Refusal("DML", "INSERT … SET", "INSERT INTO t SET id = 5, x = 1", "a list of columns", setup=_T),
    Refusal("DML", "INSERT … BY NAME", "INSERT INTO t BY NAME SELECT 5 AS id, 1 AS x FROM dual", setup=_T),
    Refusal(
        "DML",
        "LOG ERRORS",
        "INSERT INTO t VALUES (1, 1) LOG ERRORS REJECT LIMIT UNLIMITED",
        "`batcherrors`",
        setup=_T,
        oracle=(942,),
    ),
    Refusal("DML", "a query as the target", "DELETE FROM (SELECT id FROM t WHERE x = 9)", setup=_T),
    Refusal("Types", "BINARY vectors", "CREATE TABLE y (v VECTOR(8, BINARY))"),
    Refusal("Types", "SPARSE vectors", "CREATE TABLE y (v VECTOR(8, FLOAT32, SPARSE))"),
    Refusal("Types", "more than 16,000 dimensions", "CREATE TABLE y (v VECTOR(20000, FLOAT32))"),
    Refusal(
        "Types",
        "more than 2,000 dimensions in an index",
        "CREATE VECTOR INDEX y_v ON y (v) ORGANIZATION NEIGHBOR PARTITIONS",
        setup=("CREATE TABLE y (v VECTOR(3000, FLOAT32))",),
    ),
    Refusal("Types", "INTERVAL YEAR TO MONTH", "CREATE TABLE y (x INTERVAL YEAR TO MONTH)"),
    Refusal("Types", "LONG", "CREATE TABLE y (x LONG)", "CLOB"),
    Refusal("Types", "BFILE", "CREATE TABLE y (x BFILE)"),
    Refusal("Types", "XMLTYPE", "CREATE TABLE y (x XMLTYPE)"),
    Refusal("Types", "objects and collections", "CREATE TYPE o AS OBJECT (a NUMBER)"),
    Refusal("Names", "other NLS_SORT than BINARY", "ALTER SESSION SET NLS_SORT = GERMAN"),
    Refusal("Names", "other NLS_COMP than BINARY", "ALTER SESSION SET NLS_COMP = LINGUISTIC"),
    Refusal(
        "DDL",
        "partitions",
        "CREATE TABLE y (a NUMBER) PARTITION BY RANGE (a) (PARTITION p1 VALUES LESS THAN (10))",
    ),
    Refusal("DDL", "temporary tables", "CREATE GLOBAL TEMPORARY TABLE y (a NUMBER)"),
    Refusal("DDL", "materialized views", "CREATE MATERIALIZED VIEW y AS SELECT id FROM t", setup=_T),
    Refusal("DDL", "public synonyms", "CREATE PUBLIC SYNONYM y FOR t", setup=_T, oracle=(1031,)),
    Refusal("DDL", "invisible columns", "CREATE TABLE y (a NUMBER, b NUMBER INVISIBLE)"),
    Refusal("DDL", "annotations", "CREATE TABLE y (a NUMBER ANNOTATIONS (Display 'A'))"),
    Refusal("DDL", "disabled constraints", "ALTER TABLE t ADD CONSTRAINT c CHECK (x > 0) DISABLE", setup=_T),
    Refusal("DDL", "bitmap indexes", "CREATE BITMAP INDEX y ON t (x)", setup=_T, oracle=(ALLOWED, 439)),
    Refusal("DDL", "clusters", "CREATE CLUSTER y (a NUMBER)"),
    Refusal("DDL", "stored procedures", "CREATE PROCEDURE y AS BEGIN NULL; END;", "an anonymous block"),
    Refusal("DDL", "stored functions", "CREATE FUNCTION y RETURN NUMBER AS BEGIN RETURN 1; END;"),
    Refusal("DDL", "packages", "CREATE PACKAGE y AS a NUMBER; END;"),
    Refusal("PL/SQL", "REF CURSOR", "DECLARE c SYS_REFCURSOR; BEGIN OPEN c FOR SELECT 1 FROM dual; END;"),
    Refusal(
        "PL/SQL",
        "BULK COLLECT",
        "DECLARE TYPE l IS TABLE OF NUMBER; x l; BEGIN SELECT id BULK COLLECT INTO x FROM t; END;",
        "a cursor loop",
        setup=_T,
    ),
    Refusal("PL/SQL", "autonomous transactions", "DECLARE PRAGMA AUTONOMOUS_TRANSACTION; BEGIN COMMIT; END;"),
    Refusal(
        "PL/SQL",
        "triggers on statements",
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN NULL; END;",
        "FOR EACH ROW",
        setup=_T,
    ),
    Refusal(
        "PL/SQL",
        "compound triggers",
        "CREATE TRIGGER tr FOR INSERT ON t COMPOUND TRIGGER BEFORE EACH ROW IS BEGIN NULL; END BEFORE EACH ROW; END;",
        setup=_T,
    ),
    Refusal("PL/SQL", "triggers on system events", "CREATE TRIGGER tr AFTER LOGON ON SCHEMA BEGIN NULL; END;"),
    Refusal("Plans and policies", "EXPLAIN PLAN", "EXPLAIN PLAN FOR SELECT id FROM t", setup=_T),
    Refusal(
        "Plans and policies",
        "row level security (DBMS_RLS)",
        "BEGIN DBMS_RLS.DROP_POLICY(USER, 'T', 'P'); END;",
        setup=_T,
        oracle=(28102, 6550),
    ),
    Refusal(
        "Oracle Text",
        "CONTEXT indexes with automatic maintenance",
        "CREATE INDEX d_x ON d (x) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('STOPLIST CTXSYS.EMPTY_STOPLIST')",
        "SYNC (ON COMMIT) or SYNC (MANUAL)",
        oracle=(ALLOWED, 29833),
        setup=(_TEXT,),
    ),
    Refusal(
        "Oracle Text",
        "the default stop list",
        "CREATE INDEX d_x ON d (x) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('SYNC (ON COMMIT)')",
        "STOPLIST CTXSYS.EMPTY_STOPLIST",
        oracle=(ALLOWED, 29833),
        setup=(_TEXT,),
    ),
    Refusal(
        "Oracle Text",
        "preferences, other than the default lexer",
        "CREATE INDEX d_x ON d (x) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('SECTION GROUP CTXSYS.NULL_SECTION_GROUP')",
        oracle=(ALLOWED, 29833),
        setup=(_TEXT,),
    ),
    Refusal(
        "Oracle Text",
        "operators other than words, phrases, ACCUM and AND",
        "SELECT id FROM d WHERE CONTAINS(x, 'a NEAR b') > 0",
        setup=(_TEXT, TEXT_INDEX),
    ),
    Refusal(
        "Oracle Text",
        "search indexes and hybrid vector indexes",
        "CREATE SEARCH INDEX d_x ON d (x) FOR TEXT",
        oracle=(ALLOWED, 29833),
        setup=(_TEXT,),
    ),
    Refusal(
        "Functions",
        "VECTOR_CHUNKS by words or vocabulary",
        "SELECT c.CHUNK_TEXT FROM d, VECTOR_CHUNKS(d.x BY WORDS MAX 100 OVERLAP 0 SPLIT BY NONE LANGUAGE AMERICAN"
        " NORMALIZE NONE) c",
        "BY CHARACTERS with OVERLAP 0, SPLIT BY NONE",
        setup=(_TEXT,),
    ),
    Refusal(
        "Functions",
        "VECTOR_CHUNKS with SPLIT BY anything but NONE",
        "SELECT c.CHUNK_TEXT FROM d, VECTOR_CHUNKS(d.x BY CHARACTERS MAX 100) c",
        setup=(_TEXT,),
    ),
    Refusal(
        "Functions",
        "VECTOR_CHUNKS with OVERLAP or NORMALIZE",
        "SELECT c.CHUNK_TEXT FROM d, VECTOR_CHUNKS(d.x BY CHARACTERS MAX 100 OVERLAP 10 SPLIT BY NONE) c",
        setup=(_TEXT,),
    ),
    Refusal(
        "Functions",
        "UTL_TO_GENERATE_TEXT in anything but a query of DUAL alone",
        "SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('x', JSON('{}')) FROM t WHERE 0 = 1",
        "a block that loops",
        setup=_T,
    ),
    Refusal(
        "Functions",
        "UTL_TO_GENERATE_TEXT by other providers than openai and ollama",
        """SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('x', JSON('{"provider": "cohere", "url": "http://127.0.0.1:1/"}'))"""
        " FROM dual",
        oracle=(20002, 20003),
    ),
    Refusal(
        "Functions",
        "UTL_TO_GENERATE_TEXT of other hosts than this one, or over https",
        """SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('x', JSON('{"provider": "ollama", "host": "local","""
        """ "url": "http://elsewhere.example/", "model": "m"}')) FROM dual""",
        "a gateway on this machine",
        oracle=(20002,),
    ),
    Refusal("Functions", "UNISTR", "SELECT UNISTR('\\00e9') FROM dual"),
    Refusal("Functions", "TO_NCLOB", "SELECT TO_NCLOB('x') FROM dual", number=904),
    Refusal(
        "Conditions", "numbers as conditions", "SELECT id FROM t WHERE 0 = 1 OR 1", number=920, oracle=(920,), setup=_T
    ),
    Refusal(
        "Conditions",
        "a branch of UNION in brackets with FETCH FIRST",
        "(SELECT id FROM t FETCH FIRST 1 ROWS ONLY) UNION ALL (SELECT x FROM t FETCH FIRST 1 ROWS ONLY)",
        "a subquery in FROM",
        number=907,
        setup=_T,
    ),
)
"""The rows of the second table of docs/local.md, in its order."""
