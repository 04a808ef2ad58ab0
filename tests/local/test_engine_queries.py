"""Statements and what they give, through the driver: the rules of Oracle that PostgreSQL does not have."""

# ruff: noqa: DTZ001 - DATE and TIMESTAMP have no zone

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from tests.local.conftest import Account

TABLES = """
CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(10), d DATE, ts TIMESTAMP, c CLOB, j JSON, n NUMBER(3) NOT NULL);
CREATE TABLE u (id NUMBER PRIMARY KEY, t_id NUMBER REFERENCES t, b VARCHAR2(10));
CREATE TABLE tv (id NUMBER PRIMARY KEY, v VECTOR(3, FLOAT32), g VARCHAR2(10));
CREATE SEQUENCE s;
INSERT INTO t VALUES (1, 10, 'x', DATE '2024-01-31', TIMESTAMP '2024-01-31 10:20:30.5', 'some text',
  '{"a":1,"b":{"c":"y"},"items":[{"n":1},{"n":2}]}', 1);
INSERT INTO t VALUES (2, 20, 'y', DATE '2024-02-29', NULL, NULL, '{"a":"text","b":{"c":"z"}}', 2);
INSERT INTO t VALUES (3, NULL, NULL, NULL, NULL, NULL, NULL, 3);
INSERT INTO u VALUES (1, 1, 'u1');
INSERT INTO u VALUES (2, 1, 'u2');
INSERT INTO u VALUES (3, 2, NULL);
INSERT INTO tv VALUES (1, '[1, 0, 0]', 'x');
INSERT INTO tv VALUES (2, '[0, 1, 0]', 'y');
INSERT INTO tv VALUES (3, NULL, 'z');
"""


@pytest.fixture(scope="module")
def database(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as opened:
        with opened.cursor() as cursor:
            for statement in TABLES.split(";"):
                if statement.strip():
                    cursor.execute(statement)
        opened.commit()
        yield opened


@pytest.fixture
def cursor(database: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    with database.cursor() as opened:
        yield opened
    database.rollback()


def _row(*values: Any) -> list[tuple[Any, ...]]:
    return [values]


QUERIES: list[tuple[str, list[tuple[Any, ...]]]] = [
    # select lists, row limits, ROWNUM
    ("SELECT 1", _row(1)),
    ("SELECT * FROM dual", _row("X")),
    ("SELECT id FROM t FETCH NEXT ROW ONLY", _row(1)),
    ("SELECT id FROM t ORDER BY id OFFSET 1 ROWS", [(2,), (3,)]),
    ("SELECT id FROM t ORDER BY id OFFSET -1 ROWS FETCH FIRST 1.9 ROWS ONLY", _row(1)),
    ("SELECT id FROM t ORDER BY id FETCH FIRST NULL ROWS ONLY", []),
    ("SELECT n FROM t ORDER BY 0 * n FETCH FIRST 1 ROWS WITH TIES", [(1,), (2,), (3,)]),
    ("SELECT id FROM t WHERE ROWNUM > 1", []),
    ("SELECT id FROM t WHERE ROWNUM = 2", []),
    ("SELECT id FROM (SELECT id FROM t ORDER BY id DESC) WHERE ROWNUM <= 2", [(3,), (2,)]),
    (
        "SELECT id, k FROM (SELECT x.*, ROWNUM k FROM (SELECT id FROM t ORDER BY id DESC) x WHERE ROWNUM <= 2) WHERE k >= 2",
        _row(2, 2),
    ),
    ("SELECT COUNT(*) FROM (SELECT id FROM t WHERE ROWNUM <= 2 ORDER BY id DESC)", _row(2)),
    ("SELECT id FROM t ORDER BY a", [(1,), (2,), (3,)]),
    ("SELECT id FROM t ORDER BY a DESC", [(3,), (2,), (1,)]),
    ("SELECT s.NEXTVAL - s.NEXTVAL FROM dual", _row(0)),
    ("SELECT LEVEL FROM dual CONNECT BY LEVEL <= 3", [(1,), (2,), (3,)]),
    ("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v (x, y) ORDER BY x", [(1, "a"), (2, "b")]),
    ("WITH v (x) AS (VALUES (1), (2)) SELECT SUM(x) FROM v", _row(3)),
    (
        "WITH r (k) AS (SELECT 1 FROM dual UNION ALL SELECT k + 1 FROM r WHERE k < 3) SELECT k FROM r",
        [(1,), (2,), (3,)],
    ),
    ("SELECT 1 x FROM dual UNION ALL SELECT 2 FROM dual INTERSECT SELECT 2 FROM dual", _row(2)),
    ("SELECT a FROM t MINUS SELECT 10 FROM dual ORDER BY a", [(20,), (None,)]),
    ("SELECT a + 1 AS k, COUNT(*) FROM t GROUP BY k HAVING k > 11", _row(21, 1)),
    ("SELECT t.id, x.k FROM t CROSS APPLY (SELECT t.a + 1 k FROM dual) x WHERE t.id = 1", _row(1, 11)),
    (
        "SELECT t.id, u.id FROM t LEFT JOIN u ON u.t_id = t.id AND u.b = 'u2' ORDER BY t.id",
        [(1, 2), (2, None), (3, None)],
    ),
    ("SELECT id FROM t WHERE (a, n) IN ((SELECT MAX(a), 2 FROM t))", _row(2)),
    # NULL and text
    ("SELECT id FROM t WHERE b = ''", []),
    ("SELECT 1 FROM dual WHERE '' IS NULL", _row(1)),
    ("SELECT LENGTH(''), 'a' || NULL || 'b', '' || NULL FROM dual", _row(None, "ab", None)),
    ("SELECT NVL(NULL, 1), NVL2(NULL, 'y', 'n'), COALESCE(NULL, 2), NULLIF(1, 1) FROM dual", _row(1, "n", 2, None)),
    ("SELECT DECODE(NULL, NULL, 'same', 'other'), DECODE(2, 1, 'a', 2, 'b', 'c') FROM dual", _row("same", "b")),
    ("SELECT GREATEST(1, NULL), LEAST(2, 1, 3), GREATEST('a', 'B') FROM dual", _row(None, 1, "a")),
    ("SELECT REPLACE('abc', 'b', ''), REPLACE('abc', '', 'x'), REPLACE('aaa', 'a') FROM dual", _row("ac", "abc", None)),
    (
        "SELECT SUBSTR('abc', 0, 1), SUBSTR('abc', -2), SUBSTR('abc', 2, 0), SUBSTR('abc', -4) FROM dual",
        _row("a", "bc", None, None),
    ),
    ("SELECT INSTR('abcb', 'b', -1), INSTR('abcb', 'b', 1, 2), INSTR('abcb', 'z') FROM dual", _row(4, 4, 0)),
    (
        "SELECT TRIM('  x '), LTRIM('xxa', 'x'), TRIM(LEADING '0' FROM '007'), RPAD('a', 3, '-') FROM dual",
        _row("x", "a", "7", "a--"),
    ),
    ("SELECT id FROM t WHERE c LIKE '%text%'", _row(1)),
    (r"SELECT 1 FROM dual WHERE 'a\b' LIKE 'a\%' AND 'a_b' LIKE 'a\_b' ESCAPE '\'", _row(1)),
    (
        "SELECT REGEXP_SUBSTR('a.b.c', '[^.]+', 1, 2), REGEXP_REPLACE('a1b22', '[0-9]+', '#'), REGEXP_COUNT('aXbX', 'x', 1, 'i') FROM dual",
        _row("b", "a#b#", 2),
    ),
    ("SELECT LISTAGG(b, ',') WITHIN GROUP (ORDER BY id DESC) FROM u", _row("u2,u1")),
    (
        (
            "SELECT (SELECT LISTAGG(REGEXP_SUBSTR('a.b.c', '[^.]+', 1, LEVEL), '/') WITHIN GROUP (ORDER BY LEVEL)"
            " FROM dual CONNECT BY LEVEL <= 2) FROM dual"
        ),
        _row("a/b"),
    ),
    # numbers
    ("SELECT 5 / 2, 1 / 4, 2 * 3 - -1, MOD(5, 0), MOD(-5, 3) FROM dual", _row(2.5, 0.25, 7, 5, -2)),
    ("SELECT '1' + 1, 1 || 2, ROUND(2.5), ROUND(-2.5), TRUNC(-1.7), CEIL(1.2) FROM dual", _row(2, "12", 3, -3, -1, 2)),
    ("SELECT AVG(id), COUNT(a), SUM(a), STDDEV(n), MEDIAN(n) FROM t", _row(2, 2, 30, 1, 2)),
    (
        "SELECT TO_CHAR(0.5), TO_CHAR(1234.5, 'FM9G990D00'), TO_CHAR(1234567, '999'), TO_NUMBER('1.5') FROM dual",
        _row(".5", "1,234.50", "####", 1.5),
    ),
    (
        "SELECT TO_NUMBER('x' DEFAULT 0 ON CONVERSION ERROR), CAST('12' AS NUMBER(3)), CAST(1.26 AS NUMBER(3, 1)) FROM dual",
        _row(0, 12, 1.3),
    ),
    ("SELECT id FROM t WHERE id = '1'", _row(1)),
    ("SELECT BITAND(6, 3), POWER(2, 10), SIGN(-3), ABS(-1.5) FROM dual", _row(2, 1024, -1, 1.5)),
    # dates
    (
        "SELECT DATE '2024-03-01' - DATE '2024-02-28', DATE '2024-01-01' + 1.5 FROM dual",
        _row(2, dt.datetime(2024, 1, 2, 12)),
    ),
    (
        "SELECT ADD_MONTHS(DATE '2024-01-31', 1), LAST_DAY(DATE '2024-02-10'), MONTHS_BETWEEN(DATE '2024-03-31', DATE '2024-02-29') FROM dual",
        _row(dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29), 1),
    ),
    (
        "SELECT TRUNC(ts, 'MM'), TRUNC(ts), CAST(ts AS DATE) FROM t WHERE id = 1",
        _row(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 20, 30)),
    ),
    (
        "SELECT TO_DATE('2024-1-5', 'YYYY-MM-DD'), TO_DATE('20240105 07', 'YYYYMMDD HH24') FROM dual",
        _row(dt.datetime(2024, 1, 5), dt.datetime(2024, 1, 5, 7)),
    ),
    (
        "SELECT TO_CHAR(ts, 'YYYY-MM-DD\"T\"HH24:MI:SS.FF3'), TO_CHAR(d, 'FMDay DD Month YYYY') FROM t WHERE id = 1",
        _row("2024-01-31T10:20:30.500", "Wednesday 31 January 2024"),
    ),
    (
        "SELECT ts + INTERVAL '1' DAY, ts - NUMTODSINTERVAL(5, 'MINUTE') FROM t WHERE id = 1",
        _row(dt.datetime(2024, 2, 1, 10, 20, 30, 500000), dt.datetime(2024, 1, 31, 10, 15, 30, 500000)),
    ),
    (
        "SELECT EXTRACT(YEAR FROM d), EXTRACT(MINUTE FROM ts), EXTRACT(DAY FROM INTERVAL '3 04:00' DAY TO MINUTE) FROM t WHERE id = 1",
        _row(2024, 20, 3),
    ),
    ("SELECT id FROM t WHERE d = '31-JAN-24'", _row(1)),
    ("SELECT 1 FROM dual WHERE SYS_EXTRACT_UTC(SYSTIMESTAMP) BETWEEN SYSDATE - 1 AND SYSDATE + 1", _row(1)),
    ("SELECT MAX(d) FROM t", _row(dt.datetime(2024, 2, 29))),
    # JSON
    (
        "SELECT JSON_VALUE(j, '$.a'), JSON_VALUE(j, '$.a' RETURNING NUMBER), JSON_VALUE(j, '$.A') FROM t WHERE id = 1",
        _row("1", 1, None),
    ),
    (
        "SELECT JSON_VALUE('no json', '$.a'), JSON_VALUE('{\"a\":1}', '$.b' DEFAULT 'd' ON EMPTY) FROM dual",
        _row(None, "d"),
    ),
    ("SELECT JSON_QUERY(j, '$.items[*].n' WITH WRAPPER) FROM t WHERE id = 1", _row([1, 2])),
    ("SELECT id FROM t WHERE JSON_EXISTS(j, '$.items[*]?(@.n == 2)')", _row(1)),
    ("SELECT x.j.b.c, x.j.a.number() FROM t x WHERE x.j.b.c = 'y'", _row("y", 1)),
    (
        "SELECT x.n, x.o FROM t, JSON_TABLE(j, '$.items[*]' COLUMNS (n NUMBER PATH '$.n', o FOR ORDINALITY)) x ORDER BY n",
        [(1, 1), (2, 2)],
    ),
    (
        "SELECT JSON_OBJECT('id' : id, 'b' VALUE b, KEY 'n' VALUE NULL, 'o' VALUE JSON_ARRAY(1, 'x')) FROM t WHERE id = 1",
        _row('{"id":1,"b":"x","n":null,"o":[1,"x"]}'),
    ),
    (
        "SELECT JSON_OBJECT('a' VALUE NULL ABSENT ON NULL), JSON_ARRAYAGG(id ORDER BY id DESC) FROM u",
        _row("{}", "[3,2,1]"),
    ),
    (
        'SELECT JSON_SERIALIZE(JSON(\'{"b": 1, "a": [1, 2]}\')), JSON_MERGEPATCH(\'{"a":1,"b":2}\', \'{"a":null}\') FROM dual',
        _row('{"a":[1,2],"b":1}', {"b": 2}),
    ),
    ("SELECT JSON_SERIALIZE(JSON('[1234]') RETURNING VARCHAR2(6)) FROM dual", _row("[1234]")),
    ("SELECT JSON_SERIALIZE(JSON('[1234]') RETURNING VARCHAR2(5) NULL ON ERROR) FROM dual", _row(None)),
    ("SELECT JSON{'a' : 1, 'b' : [1, 'x']} FROM dual", _row({"a": 1, "b": [1, "x"]})),
    ("SELECT id FROM t WHERE JSON_EQUAL(JSON_QUERY(j, '$.b'), '{\"c\": \"y\"}')", _row(1)),
    ("SELECT 1 FROM dual WHERE '{\"a\":1}' IS JSON AND '{a' IS NOT JSON", _row(1)),
    # vectors
    ("SELECT v FROM tv WHERE id = 1", _row(array("f", [1, 0, 0]))),
    (
        "SELECT VECTOR_DISTANCE(v, '[1,0,0]'), v <-> '[0,0,0]', v <#> '[2,0,0]', INNER_PRODUCT(v, '[2,0,0]') FROM tv WHERE id = 1",
        _row(0, 1, -2, 2),
    ),
    (
        "SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, TO_VECTOR('[0,1,0]'), EUCLIDEAN) FETCH FIRST 2 ROWS ONLY",
        [(2,), (1,)],
    ),
    (
        "SELECT VECTOR_DIMENSION_COUNT(v), VECTOR_NORM(v), FROM_VECTOR(v) FROM tv WHERE id = 2",
        _row(3, 1, "[0,1.0E+000,0]"),
    ),
    ("SELECT v + v FROM tv WHERE id = 1", _row(array("f", [2, 0, 0]))),
    # conditions as values
    ("SELECT a > 10, TRUE, TO_BOOLEAN('no') FROM t WHERE id = 2", _row(True, True, False)),
    (
        "SELECT CASE WHEN a = 10 THEN 'ten' ELSE 'other' END, CASE n WHEN 1 THEN 1 END FROM t ORDER BY id",
        [("ten", 1), ("other", None), ("other", None)],
    ),
    (
        "SELECT COUNT(*) OVER (), ROW_NUMBER() OVER (PARTITION BY t_id ORDER BY id DESC), LAG(id, 1, 0) OVER (ORDER BY id) FROM u ORDER BY id",
        [(3, 2, 0), (3, 1, 1), (3, 1, 2)],
    ),
    (
        "SELECT RAWTOHEX(STANDARD_HASH('a', 'SHA256')), HEXTORAW('ff0') FROM dual",
        _row("CA978112CA1BBDCAFAC231B39A23DC4DA786EFF8147C4E72B9807785AFEE48BB", b"\x0f\xf0"),
    ),
    ("SELECT DBMS_LOB.GETLENGTH(c), DBMS_LOB.SUBSTR(c, 4, 6) FROM t WHERE id = 1", _row(9, "text")),
]


@pytest.mark.parametrize(("sql", "rows"), QUERIES, ids=[sql for sql, _ in QUERIES])
def test_queries(cursor: oracledb.Cursor, sql: str, rows: list[tuple[Any, ...]]) -> None:
    cursor.execute(sql)
    assert cursor.fetchall() == rows


def test_the_session_knows_its_user(cursor: oracledb.Cursor, module_account: Account) -> None:
    cursor.execute(
        "SELECT USER, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), SYS_CONTEXT('userenv', 'session_user') FROM dual"
    )
    assert cursor.fetchone() == (module_account.user,) * 3


def _changed(cursor: oracledb.Cursor, sql: str, *binds: Any, look: str = "") -> tuple[int, list[tuple[Any, ...]]]:
    cursor.execute(sql, binds)
    count = cursor.rowcount
    if not look:
        return count, []
    cursor.execute(look)
    return count, cursor.fetchall()


CHANGES: list[tuple[str, int, str, list[tuple[Any, ...]]]] = [
    ("INSERT INTO t (id, n, b) VALUES ('7', '3', 12)", 1, "SELECT id, n, b FROM t WHERE id = 7", _row(7, 3, "12")),
    ("INSERT INTO t (id, n, b) VALUES (7, 1, '')", 1, "SELECT b FROM t WHERE id = 7", _row(None)),
    (
        "INSERT INTO t (id, n, a) VALUES (7, 1, 1), (8, 2, DEFAULT)",
        2,
        "SELECT a FROM t WHERE id > 6 ORDER BY id",
        [(1,), (None,)],
    ),
    (
        "INSERT INTO t (id, n) WITH q AS (SELECT 9 k FROM dual) SELECT k, 1 FROM q",
        1,
        "SELECT n FROM t WHERE id = 9",
        _row(1),
    ),
    (
        "INSERT INTO u (id, t_id) SELECT id + 10, t_id FROM u x WHERE NOT EXISTS (SELECT 1 FROM u y WHERE y.id = x.id + 10)",
        3,
        "",
        [],
    ),
    (
        "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t (id)) */ INTO t (id, n) VALUES (1, 9)",
        0,
        "SELECT n FROM t WHERE id = 1",
        _row(1),
    ),
    ("UPDATE t SET (a, n) = (SELECT 1, 2 FROM dual) WHERE id = 1", 1, "SELECT a, n FROM t WHERE id = 1", _row(1, 2)),
    ("UPDATE t x SET x.a = x.a + 1 WHERE ROWNUM <= 2", 2, "", []),
    ("UPDATE t SET t.a = u.id FROM u WHERE u.t_id = t.id AND u.id = 2", 1, "SELECT a FROM t WHERE id = 1", _row(2)),
    ("DELETE u WHERE ROWNUM <= 2", 2, "SELECT COUNT(*) FROM u", _row(1)),
    (
        "UPDATE t SET j = JSON_TRANSFORM(j, SET '$.a' = 2, REMOVE '$.b', REMOVE '$.items') WHERE id = 1",
        1,
        "SELECT j FROM t WHERE id = 1",
        _row({"a": 2}),
    ),
    (
        (
            "MERGE INTO t USING u ON (t.id = u.id) WHEN MATCHED THEN UPDATE SET t.a = u.id * 10 WHERE t.n < 3 DELETE WHERE t.a = 30"
            " WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id, 1) WHERE u.b IS NOT NULL"
        ),
        2,
        "SELECT a FROM t ORDER BY id",
        [(10,), (20,), (None,)],
    ),
    (
        (
            "MERGE INTO tv USING (SELECT 1 AS id FROM dual UNION ALL SELECT 2 FROM dual) s ON (tv.id = s.id)"
            " WHEN MATCHED THEN UPDATE SET g = UPPER(g) DELETE WHERE g = 'X'"
        ),
        2,
        "SELECT id, g FROM tv ORDER BY id",
        [(2, "Y"), (3, "z")],
    ),
]


@pytest.mark.parametrize(("sql", "count", "look", "rows"), CHANGES, ids=[change[0] for change in CHANGES])
def test_changes(cursor: oracledb.Cursor, sql: str, count: int, look: str, rows: list[tuple[Any, ...]]) -> None:
    assert _changed(cursor, sql, look=look) == (count, rows)


def test_merge_from_binds_inserts_then_updates(cursor: oracledb.Cursor) -> None:
    sql = (
        "MERGE INTO tv USING (SELECT :1 AS id, :2 AS v, :3 AS g FROM dual) s ON (tv.id = s.id)"
        " WHEN MATCHED THEN UPDATE SET v = s.v, g = s.g WHEN NOT MATCHED THEN INSERT (id, v, g) VALUES (s.id, s.v, s.g)"
    )
    vector = array("f", [1, 2, 3])
    cursor.executemany(sql, [(4, vector, "new"), (4, vector, "again"), (1, vector, None)])
    assert cursor.rowcount == 3
    cursor.execute("SELECT id, g FROM tv WHERE id IN (1, 4) ORDER BY id")
    assert cursor.fetchall() == [(1, None), (4, "again")]


def test_a_rowid_finds_its_row(cursor: oracledb.Cursor) -> None:
    cursor.execute("SELECT ROWID FROM t WHERE id = 2")
    found = cursor.fetchone()
    cursor.execute("SELECT id FROM t WHERE ROWID = :r", r=found[0])
    assert cursor.fetchall() == [(2,)]


REFUSED: list[tuple[int, str]] = [
    (904, "SELECT nope FROM t"),
    (904, "SELECT x.nope FROM (SELECT id FROM t) x"),
    (918, "SELECT id FROM t JOIN u ON u.t_id = t.id"),
    (932, "SELECT MAX(c) FROM t"),
    (942, "SELECT * FROM nope"),
    (979, "SELECT id, b FROM t GROUP BY id"),
    (1424, "SELECT * FROM t WHERE b LIKE 'a!x' ESCAPE '!'"),
    (1426, "SELECT POWER(10, 200) FROM dual"),
    (1428, "SELECT SQRT(-1) FROM dual"),
    (1465, "SELECT HEXTORAW('xyz') FROM dual"),
    (1476, "SELECT 1 / 0 FROM dual"),
    (1489, "SELECT RPAD('x', 32767) || 'y' || RPAD('x', 4000) FROM dual"),
    (1722, "SELECT TO_NUMBER('12x') FROM dual"),
    (1722, "SELECT * FROM t WHERE a = 'abc'"),
    (1785, "SELECT a FROM t ORDER BY 5"),
    (1789, "SELECT a FROM t UNION SELECT a, n FROM t"),
    (1790, "SELECT a FROM t UNION SELECT b FROM t"),
    (1791, "SELECT DISTINCT a FROM t ORDER BY n"),
    (1830, "SELECT TO_DATE('2024-01-01 10', 'YYYY-MM-DD') FROM dual"),
    (1839, "SELECT TO_DATE('2024-02-30', 'YYYY-MM-DD') FROM dual"),
    (1839, "SELECT DATE '2024-01-31' + INTERVAL '1' MONTH FROM dual"),
    (1840, "SELECT TO_DATE('2024', 'YYYY-MM-DD') FROM dual"),
    (1843, "SELECT TO_DATE('2024-13-01', 'YYYY-MM-DD') FROM dual"),
    (1858, "SELECT TO_DATE('2024-01-xx', 'YYYY-MM-DD') FROM dual"),
    (1861, "SELECT * FROM t WHERE d = '2026-08-10'"),
    (1843, "SELECT * FROM t WHERE ts = '2026-08-10'"),
    (2003, "SELECT SYS_CONTEXT('USERENV', 'NOPE') FROM dual"),
    (2289, "SELECT nope.NEXTVAL FROM dual"),
    (12725, "SELECT 1 FROM t WHERE REGEXP_LIKE(b, '(')"),
    (22848, "SELECT id FROM t ORDER BY c"),
    (22848, "SELECT * FROM tv WHERE v = TO_VECTOR('[1,2,3]')"),
    (22848, "SELECT DISTINCT v FROM tv"),
    (40441, "SELECT JSON('{bad') FROM dual"),
    (40462, "SELECT JSON_VALUE('{\"a\":1}', '$.b' ERROR ON ERROR) FROM dual"),
    (40478, "SELECT JSON_SERIALIZE(JSON('[1234]') RETURNING VARCHAR2(5)) FROM dual"),
    (40478, "SELECT JSON_SERIALIZE(c) FROM (SELECT TO_CLOB('[\"') || RPAD('x', 4000, 'x') || '\"]' AS c FROM dual)"),
    (51803, "INSERT INTO tv (id, v) VALUES (9, '[1,2]')"),
    (51808, "SELECT VECTOR_DISTANCE(TO_VECTOR('[1,2]'), TO_VECTOR('[1,2,3]'), COSINE) FROM dual"),
]


@pytest.mark.parametrize(("number", "sql"), REFUSED, ids=[sql for _, sql in REFUSED])
def test_refused(cursor: oracledb.Cursor, number: int, sql: str) -> None:
    with pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(sql).fetchall()
    assert caught.value.args[0].full_code == f"ORA-{number:05d}", caught.value
