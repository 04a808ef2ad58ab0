"""Statements that Oracle refuses, with its number; the catalog is that of ``catalog.py``."""

from __future__ import annotations

import pytest

from oraclerag.local.engine import expressions
from oraclerag.local.engine.translate import expression, translate, view_query
from oraclerag.local.interface import OraError
from tests.unit.engine.catalog import names

REFUSED: list[tuple[int, str]] = [
    (3047, "SELECT * FROM t LIMIT 5"),
    (3049, "SELECT * FROM t x LIMIT 5"),
    (3049, "SELECT * FROM t WHERE a = 1 LIMIT 5"),
    (3049, "SELECT * FROM t ORDER BY a LIMIT 5 OFFSET 2"),
    (3048, "SELECT * FROM t LIMIT :n"),
    (923, "SELECT TOP 5 * FROM t"),
    (3049, "SELECT a FROM t WHERE b ILIKE 'x%'"),
    (3049, "SELECT a FROM t WHERE b REGEXP 'x'"),
    (911, "SELECT a FROM t WHERE b ~ 'x'"),
    (3048, "SELECT * FROM t AS x"),
    (3048, "SELECT * FROM (SELECT 1 AS a FROM dual) AS x"),
    (2000, "SELECT * FROM t JOIN u AS x ON x.t_id = t.id"),
    (2000, "SELECT * FROM t LEFT JOIN u AS x ON x.t_id = t.id"),
    (971, "UPDATE t AS x SET a = 1"),
    (3048, "DELETE FROM t AS x WHERE x.a = 1"),
    (3048, "DELETE FROM t, u WHERE t.id = u.t_id"),
    (3049, "DELETE FROM t INNER JOIN u ON u.t_id = t.id"),
    (2012, "MERGE INTO t AS x USING u ON (x.id = u.t_id) WHEN MATCHED THEN UPDATE SET x.a = 1"),
    (969, "MERGE INTO t USING (SELECT 1 id FROM dual) AS x ON (t.id = x.id) WHEN MATCHED THEN UPDATE SET t.a = 1"),
    (3048, "SELECT * FROM (SELECT a FROM t) x (c1)"),
    (3048, "INSERT INTO t (id, n) VALUES (1, 1) ON CONFLICT DO NOTHING"),
    (3048, "INSERT INTO t (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = 2"),
    (925, "INSERT IGNORE INTO t (id, n) VALUES (1, 1)"),
    (925, "INSERT t (id, n) VALUES (1, 1)"),
    (926, "INSERT INTO t DEFAULT VALUES"),
    (900, "REPLACE INTO t VALUES (1, 1)"),
    (925, "INSERT INTO t (id, n) VALUES (1, 1) RETURNING id"),
    (925, "UPDATE t SET a = 1 RETURNING id"),
    (925, "DELETE FROM t RETURNING id"),
    (907, "INSERT INTO t (id, n) VALUES (1, 1) RETURNING (id, n) INTO :x, :y"),
    (3048, "UPDATE t SET a = 1 RETURNING id INTO :x, n INTO :y"),
    (936, "UPDATE t SET a = 1 RETURNING INTO :x"),
    (947, "UPDATE t SET a = 1 RETURNING id, n INTO :x"),
    (3049, "INSERT INTO t (id, n) SELECT id + 9, n FROM t RETURNING id INTO :x"),
    (923, "SELECT '1'::int FROM dual"),
    (904, "SELECT NOW() FROM dual"),
    (904, "SELECT IFNULL(a, 0) FROM t"),
    (923, "SELECT SYSDATE() FROM dual"),
    (911, "SELECT a % 2 FROM t"),
    (911, "SELECT * FROM t WHERE a = ?"),
    (911, "SELECT * FROM t WHERE a = $1"),
    (911, "SELECT `a` FROM t"),
    (936, "SELECT [a] FROM t"),
    (904, 'SELECT * FROM t WHERE b = "abc"'),
    (923, "SELECT *, a FROM t"),
    (923, "SELECT * AS x FROM t"),
    (923, "SELECT t.* AS x FROM t"),
    (2000, "SELECT CAST(a > 1 AS INTEGER) FROM t"),
    (936, "SELECT DISTINCT ON (a) a, b FROM t"),
    (923, "SELECT COUNT(*) FILTER (WHERE a > 1) FROM t"),
    (923, "SELECT ARRAY[1, 2] FROM dual"),
    (3046, "SELECT X'FF' FROM dual"),
    (3046, "SELECT E'a\\n' FROM dual"),
    (30089, "SELECT INTERVAL '1 day' FROM dual"),
    (907, "SELECT EXTRACT(EPOCH FROM ts) FROM t"),
    (2000, "SELECT * FROM t FOR SHARE"),
    (2000, "WITH RECURSIVE r (n) AS (SELECT 1 FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r"),
    (906, "WITH x AS MATERIALIZED (SELECT 1 a FROM dual) SELECT * FROM x"),
    (928, "WITH x AS (SELECT 1 a FROM dual) UPDATE t SET a = 1"),
    (928, "WITH x AS (SELECT 1 a FROM dual) DELETE FROM t"),
    (928, "WITH x AS (SELECT 1 a FROM dual) INSERT INTO t (id) SELECT a FROM x"),
    (971, "UPDATE t JOIN u ON u.t_id = t.id SET t.a = 1"),
    (3049, "UPDATE t SET a = 1 LIMIT 1"),
    (3047, "DELETE FROM t LIMIT 1"),
    (3048, "UPDATE t SET a = 1 ORDER BY id"),
    (907, "DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY id)"),
    (905, "SELECT a INTO x FROM t"),
    (907, "DELETE FROM t WHERE id IN (SELECT id FROM t FOR UPDATE SKIP LOCKED)"),
    (906, "SELECT CAST(1 AS VARCHAR2) FROM dual"),
    (22849, "SELECT CAST(b AS CLOB) FROM t"),
    (22849, "SELECT CAST('[1,2]' AS VECTOR) FROM dual"),
    (3048, "SELECT 1 FROM dual;"),
    (900, "FROM t"),
    (936, "SELECT"),
    (936, "SELECT FROM dual"),
    (936, "SELECT a, FROM t"),
    (923, "SELECT a b c FROM t"),
    (923, "SELECT * dual"),
    (911, "SELECT * FROM ##4"),
    (907, "SELECT (a FROM t"),
    (907, "SELECT * FROM (CASE t WHEN a > 1 THEN 'x' END)"),
    (903, "SELECT * FROM"),
    (903, "SELECT * FROM WHERE a = 1"),
    (936, "SELECT * FROM t WHERE"),
    (936, "SELECT * FROM t WHERE ORDER BY a"),
    (936, "SELECT * FROM t WHERE a IN ()"),
    (907, "SELECT * FROM t WHERE a IN (1, 2"),
    (936, "SELECT * FROM t WHERE a == 1"),
    (905, "SELECT * FROM t WHERE a BETWEEN 1 OR 2"),
    (936, "SELECT * FROM t WHERE b LIKE"),
    (936, "SELECT * FROM t GROUP BY"),
    (924, "SELECT * FROM t ORDER a"),
    (3048, "SELECT * FROM (SELECT * FROM t) AND a > 1"),
    (3048, "SELECT 1 FROM dual SELECT 2 FROM dual"),
    (906, "SELECT * FROM t WHERE EXISTS :x"),
    (923, "SELECT CASE ELSE 1 END FROM dual"),
    (905, "SELECT CASE WHEN 1 = 1 THEN 1 FROM dual"),
    (936, "INSERT INTO t VALUES ()"),
    (936, "UPDATE t SET a ="),
    (906, "INSERT INTO t VALUES"),
    (917, "INSERT INTO t (id n) VALUES (1, 1)"),
    (917, "INSERT INTO t (id, n) VALUES (1 2)"),
    (947, "INSERT INTO t (id, n) VALUES (1)"),
    (3094, "INSERT INTO t (id, n) VALUES (1, 2, 3)"),
    (957, "INSERT INTO t (id, id) VALUES (1, 2)"),
    (957, "UPDATE t SET a = 1, a = 2"),
    (936, "UPDATE t SET"),
    (971, "UPDATE t a = 1"),
    (927, "UPDATE t SET a 1"),
    (947, "UPDATE t SET (a, n) = (SELECT 1 FROM dual)"),
    (1756, "SELECT 'abc FROM dual"),
    (1740, 'SELECT "abc FROM dual'),
    (1742, "SELECT /* x FROM dual"),
    (903, "SELECT 1 FROM 123"),
    (903, "SELECT * FROM public.t"),
    (903, "SELECT * FROM :tab"),
    (907, "(SELECT a FROM t ORDER BY a) UNION ALL SELECT a FROM t"),
    (906, "WITH q AS SELECT 1 a FROM dual SELECT * FROM q"),
    (904, "SELECT nope FROM t"),
    (904, "SELECT x.nope FROM t x"),
    (904, "SELECT y.a FROM t x"),
    (904, 'SELECT "a" FROM t'),
    (904, "SELECT a + 1 AS k FROM t WHERE k > 1"),
    (904, "SELECT nofn(1) FROM dual"),
    (25154, "SELECT * FROM t JOIN u USING (id) WHERE t.id = 1"),
    (25155, "SELECT t.id FROM t NATURAL JOIN u"),
    (904, "INSERT INTO t (nope) VALUES (1)"),
    (904, "UPDATE t SET nope = 1"),
    (984, "INSERT INTO t (id, a) VALUES (1, b)"),
    (936, "SELECT size * 2 FROM t"),
    (1788, "SELECT level FROM t"),
    (923, "SELECT a AS date FROM t"),
    (924, "SELECT * FROM t order"),
    (3050, "UPDATE t SET rowid = 'x'"),
    (3050, "INSERT INTO t (id, rowid) VALUES (1, 'x')"),
    (1745, "SELECT :select FROM dual"),
    (937, "SELECT a, COUNT(*) FROM t"),
    (937, "SELECT COUNT(*) FROM t ORDER BY a"),
    (979, "SELECT a, b, COUNT(*) FROM t GROUP BY a"),
    (979, "SELECT id, b FROM t GROUP BY id"),
    (979, "SELECT * FROM t GROUP BY a"),
    (979, "SELECT SUBSTR(b, 1, :n) FROM t GROUP BY SUBSTR(b, 1, :m)"),
    (979, "SELECT a FROM t HAVING a > 1"),
    (3162, "SELECT a FROM t GROUP BY 1"),
    (934, "SELECT a FROM t WHERE COUNT(*) > 1"),
    (934, "SELECT a FROM t GROUP BY COUNT(*)"),
    (934, "UPDATE t SET a = MAX(a)"),
    (978, "SELECT MAX(COUNT(*)) FROM t"),
    (909, "SELECT COUNT(DISTINCT a, n) FROM t"),
    (22818, "SELECT a FROM t GROUP BY (SELECT 1 FROM dual)"),
    (30482, "SELECT JSON_ARRAYAGG(DISTINCT b) FROM t"),
    (1785, "SELECT a FROM t ORDER BY 5"),
    (904, "SELECT a FROM t UNION SELECT n FROM t ORDER BY n"),
    (1789, "SELECT a FROM t UNION SELECT a, n FROM t"),
    (1790, "SELECT a FROM t UNION SELECT b FROM t"),
    (928, "SELECT a FROM t UNION"),
    (30483, "SELECT a FROM t WHERE ROW_NUMBER() OVER (ORDER BY id) = 1"),
    (30484, "SELECT ROW_NUMBER() FROM t"),
    (30485, "SELECT ROW_NUMBER() OVER () FROM t"),
    (30487, "SELECT COUNT(DISTINCT a) OVER (ORDER BY id) FROM t"),
    (938, "SELECT COALESCE(a) FROM t"),
    (938, "SELECT SUBSTR('a') FROM dual"),
    (939, "SELECT SUBSTR('a', 1, 1, 1) FROM dual"),
    (909, "SELECT NVL(1) FROM dual"),
    (2000, "SELECT * FROM t JOIN u"),
    (907, "SELECT * FROM t WHERE a = (SELECT a FROM t ORDER BY a)"),
    (32039, "WITH r AS (SELECT 1 n FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r"),
    (32040, "WITH r (n) AS (SELECT 1 FROM dual UNION SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r"),
    (32038, "WITH q (a, b) AS (SELECT 1 FROM dual) SELECT * FROM q"),
    (30929, "SELECT a FROM t ORDER SIBLINGS BY a"),
    (2000, "SELECT * FROM t FETCH FIRST 5"),
    (936, "SELECT * FROM t OFFSET ROWS"),
    (3049, "SELECT * FROM t FETCH FIRST 5 ROWS ONLY OFFSET 2 ROWS"),
    (1786, "SELECT DISTINCT a FROM t FOR UPDATE"),
    (1786, "SELECT MAX(a) FROM t FOR UPDATE"),
    (1786, "SELECT a FROM t UNION ALL SELECT a FROM t FOR UPDATE"),
    (2014, "SELECT * FROM (SELECT DISTINCT a FROM t) FOR UPDATE"),
    (2014, "SELECT * FROM t OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY FOR UPDATE"),
    (2014, "SELECT * FROM t ORDER BY id FETCH FIRST 1 ROWS ONLY FOR UPDATE SKIP LOCKED"),
    (2014, "SELECT * FROM (SELECT * FROM t ORDER BY id) WHERE ROWNUM <= 1 FOR UPDATE SKIP LOCKED"),
    (2014, "SELECT * FROM t FETCH FIRST 1 ROWS ONLY FOR UPDATE"),
    (3049, "SELECT * FROM t FOR UPDATE FETCH FIRST 1 ROWS ONLY"),
    (904, "SELECT * FROM t FOR UPDATE OF t"),
    (30005, "SELECT * FROM t FOR UPDATE WAIT -1"),
    (3049, "SELECT * FROM t FOR UPDATE NOWAIT SKIP LOCKED"),
    (3049, "SELECT * FROM t SKIP LOCKED"),
    (907, "SELECT * FROM (SELECT * FROM t FOR UPDATE SKIP LOCKED)"),
    (932, "SELECT CASE WHEN 1 = 1 THEN 1 ELSE 'a' END FROM dual"),
    (932, "SELECT COALESCE(1, 'a') FROM dual"),
    (975, "SELECT SYSDATE + SYSDATE FROM dual"),
    (30087, "SELECT SYSTIMESTAMP + SYSTIMESTAMP FROM dual"),
    (1821, "SELECT TO_CHAR(SYSDATE, 'FOO') FROM dual"),
    (1810, "SELECT TO_DATE('1 1', 'DD DD') FROM dual"),
    (1841, "SELECT DATE '0000-01-01' FROM dual"),
    (1873, "SELECT INTERVAL '100' DAY FROM dual"),
    (30089, "SELECT INTERVAL '1' FORTNIGHT FROM dual"),
    (30076, "SELECT EXTRACT(HOUR FROM SYSDATE) FROM dual"),
    (30001, "SELECT TRIM('ab' FROM b) FROM t"),
    (1424, "SELECT * FROM t WHERE b LIKE 'a\\' ESCAPE '\\'"),
    (1425, "SELECT * FROM t WHERE b LIKE 'a' ESCAPE 'xy'"),
    (2287, "SELECT a FROM t WHERE s.NEXTVAL > 1"),
    (22848, "SELECT * FROM t ORDER BY c"),
    (22848, "SELECT c FROM t GROUP BY c"),
    (22848, "SELECT DISTINCT c FROM t"),
    (22848, "SELECT * FROM t WHERE c = 'x'"),
    (22848, "SELECT COUNT(DISTINCT c) FROM t"),
    (932, "SELECT MAX(c) FROM t"),
    (51964, "SELECT VECTOR_DISTANCE(v, v, FOO) FROM tv"),
    (51971, "SELECT VECTOR_DISTANCE(v, v, CUSTOM) FROM tv"),
    (51809, "SELECT FROM_VECTOR(v RETURNING NUMBER) FROM tv"),
    (22848, "SELECT * FROM tv ORDER BY v"),
    (22848, "SELECT v FROM tv GROUP BY v"),
    (22848, "SELECT DISTINCT v FROM tv"),
    (22848, "SELECT * FROM tv WHERE v = TO_VECTOR('[1,2,3]')"),
    (22848, "SELECT * FROM tv x JOIN tv y ON x.v = y.v"),
    (
        51937,
        "SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q) FETCH APPROX FIRST 5 ROWS ONLY WITH TARGET ACCURACY 101",
    ),
    (2000, "SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q) FETCH APPROX 5 ROWS ONLY"),
    (2000, "SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q) FETCH FIRST 5 APPROX ROWS ONLY"),
    (3049, "SELECT id FROM tv ORDER BY VECTOR_DISTANCE(v, :q) LIMIT 5"),
    (40284, "SELECT VECTOR_EMBEDDING(nomodel USING 'x' AS DATA) FROM dual"),
    (904, "SELECT VECTOR_EMBEDDING(:m USING 'x' AS DATA) FROM dual"),
    (904, "SELECT VECTOR_EMBEDDING('m' USING 'x' AS DATA) FROM dual"),
    (2000, "SELECT VECTOR_EMBEDDING(m, 'x') FROM dual"),
    (3001, "SELECT VECTOR_CHUNKS('x') FROM dual"),
    (40597, "SELECT JSON_VALUE(j, 'a.b') FROM t"),
    (40597, "SELECT JSON_VALUE(j, '$.a[') FROM t"),
    (40597, "SELECT JSON_VALUE(j, '$.' || b) FROM t"),
    (40597, "SELECT JSON_VALUE(j, :p) FROM t"),
    (40449, "SELECT JSON_SERIALIZE(j RETURNING JSON) FROM t"),
    (3001, "SELECT JSON_SERIALIZE(j EMPTY ON ERROR) FROM t"),
    (3001, "SELECT JSON_SERIALIZE(j NULL ON EMPTY) FROM t"),
    (40463, "SELECT JSON_EXISTS(j, '$?(@.a == $v)') FROM t"),
    (40490, "SELECT * FROM JSON_TABLE('[1]', '$[*]')"),
    (904, "UPDATE t SET j.a = 1"),
    (936, "SELECT j->>'a' FROM t"),
    (923, "SELECT j @> '{}' FROM t"),
    (969, "MERGE INTO t USING u ON t.id = u.t_id WHEN MATCHED THEN UPDATE SET t.a = 1"),
    (38104, "MERGE INTO t USING u ON (t.id = u.t_id) WHEN MATCHED THEN UPDATE SET t.id = 9"),
    (2000, "MERGE INTO t USING u ON (t.id = u.t_id)"),
    (3048, "SELECT :a, :b FROM dual with one value"),
    (3049, "SELECT :a FROM dual mixed named and positional"),
    (1747, "INSERT INTO t (:col) VALUES (1)"),
    (902, "SELECT CAST('10:00' AS TIME) FROM dual"),
]


@pytest.mark.parametrize(("number", "sql"), REFUSED, ids=[sql for _, sql in REFUSED])
def test_refused(number: int, sql: str) -> None:
    with pytest.raises(OraError) as caught:
        translate(sql, names())
    assert caught.value.number == number, caught.value
    assert 0 <= caught.value.position <= len(sql)


MORE: list[tuple[int, str]] = [
    (904, "SELECT x.b.c FROM t x"),
    (920, "SELECT 1 FROM t WHERE a"),
    (920, "SELECT 1 FROM t WHERE a = 1 AND 1"),
    (920, "SELECT 1 FROM t WHERE NOT b"),
    (920, "SELECT CASE WHEN d THEN 1 END FROM t"),
    (920, "SELECT 1 FROM t JOIN u ON t.id"),
    (923, "SELECT *"),
    (936, "SELECT 1 FROM t WHERE a = 1 AND"),
    (1745, "SELECT :level FROM dual"),
    (2014, "SELECT id FROM (SELECT id FROM t ORDER BY id) FOR UPDATE"),
    (3001, "SELECT * FROM t, u WHERE t.id = u.t_id (+)"),
    (3001, "INSERT ALL INTO t (id) VALUES (1) INTO u (id) VALUES (1) SELECT 1 FROM dual"),
    (3001, "SELECT id FROM t START WITH a IS NULL CONNECT BY PRIOR id = a"),
    (3001, "SELECT * FROM t PARTITION (p1)"),
    (3001, "SELECT CAST(SYSTIMESTAMP AT TIME ZONE 'Europe/Berlin' AS DATE) FROM dual"),
    (3001, "SELECT 1 FROM t WHERE ROWNUM <= 5 OR a = 1"),
    (3001, "UPDATE t SET a = ROWNUM"),
    (3094, "INSERT INTO t (id) VALUES (1, 2)"),
    (22848, "SELECT c, COUNT(*) FROM t GROUP BY c"),
    (22848, "SELECT x.v FROM (SELECT v FROM tv) x ORDER BY x.v"),
    (22848, "SELECT id, v AS k FROM tv ORDER BY k"),
    (38102, "MERGE INTO t USING u ON (t.id = u.id) WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id) WHERE t.a = 1"),
    (38104, "MERGE INTO t USING u ON (t.id = u.t_id) WHEN MATCHED THEN UPDATE SET id = 9"),
    (40284, "SELECT VECTOR_EMBEDDING(other.m USING 'x' AS data) FROM dual"),
    (51937, "SELECT id FROM tv ORDER BY v <-> :q FETCH APPROX FIRST 1 ROWS ONLY WITH TARGET ACCURACY 0"),
]


@pytest.mark.parametrize(("number", "sql"), MORE, ids=[sql for _, sql in MORE])
def test_refused_too(number: int, sql: str) -> None:
    with pytest.raises(OraError) as caught:
        translate(sql, names())
    assert caught.value.number == number, caught.value


def test_a_list_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert expressions.MAX_LIST == 65535
    monkeypatch.setattr(expressions, "MAX_LIST", 3)
    translate("SELECT 1 FROM t WHERE a IN (1, 2, 3)", names())
    with pytest.raises(OraError) as caught:
        translate("SELECT 1 FROM t WHERE a IN (1, 2, 3, 4)", names())
    assert caught.value.number == 1795


@pytest.mark.parametrize("sql", [f"SELECT {'(' * 3000}1{')' * 3000}", f"SELECT {'1 + ' * 3000}1"])
def test_what_is_nested_too_deeply_is_an_error_of_oracle(sql: str) -> None:
    with pytest.raises(OraError, match=r"ORA-03001: .*nested"):
        translate(sql, names())


@pytest.mark.parametrize(
    "sql", ["", "   ", "-- only a comment", "EXPLAIN PLAN FOR SELECT 1 FROM dual", "BEGIN NULL; END;"]
)
def test_what_is_no_query_and_no_dml_is_not_translated(sql: str) -> None:
    with pytest.raises(OraError) as caught:
        translate(sql, names())
    assert caught.value.number == 900


def test_the_message_names_what_is_out_of_place() -> None:
    with pytest.raises(OraError) as caught:
        translate("SELECT * FROM t x LIMIT 5", names())
    assert str(caught.value) == (
        "ORA-03049: SQL keyword 'LIMIT' is not syntactically valid following '...SELECT * FROM t x'"
    )
    assert caught.value.position == 18


def test_an_unsupported_feature_is_named() -> None:
    with pytest.raises(OraError, match=r"ORA-03001: unimplemented feature: .*\(\+\)"):
        translate("SELECT 1 FROM t, u WHERE t.id = u.id (+)", names())


@pytest.mark.parametrize(
    ("number", "sql"),
    [(1027, ":a"), (936, ""), (3048, "1;"), (904, "nofn(1)"), (911, "a % 2"), (936, "a +")],
)
def test_expressions_of_ddl_are_as_strict(number: int, sql: str) -> None:
    with pytest.raises(OraError) as caught:
        expression(sql, names())
    assert caught.value.number == number


@pytest.mark.parametrize(
    ("number", "sql"),
    [
        (957, "SELECT t.id, u.id FROM t, u"),
        (998, "SELECT a + 1 FROM t"),
        (942, "SELECT * FROM nope"),
        (1027, "SELECT :a AS x FROM dual"),
        (3048, "SELECT a FROM t FOR UPDATE"),
    ],
)
def test_queries_of_views_are_as_strict(number: int, sql: str) -> None:
    with pytest.raises(OraError) as caught:
        view_query(sql, names())
    assert caught.value.number == number
