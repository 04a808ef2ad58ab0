"""Columns, DML and queries over tables are Oracle's: precision, lengths, NULLs, MERGE, row limits, sequences, constraints."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import oracledb
import pytest

from tests.local.conftest import Account
from tests.local.semantics import Case, Refuses, at, unlike

pytestmark = pytest.mark.one_size("standard")

D = Decimal

SETUP = (
    "CREATE TABLE emp (id NUMBER PRIMARY KEY, name VARCHAR2(10), dept NUMBER, sal NUMBER(7, 2), boss NUMBER, hired DATE)",
    *(
        f"INSERT INTO emp VALUES ({row})"
        for row in (
            "1, 'ada', 10, 100, NULL, DATE '2020-01-01'", "2, 'bob', 10, 200, 1, DATE '2021-01-01'",
            "3, 'cy', 20, 200, 1, DATE '2022-01-01'", "4, 'dan', 20, NULL, 2, NULL", "5, NULL, NULL, 50, 2, DATE '2020-01-01'",
        )
    ),
    "CREATE TABLE vec (id NUMBER, v VECTOR(2, FLOAT32), w VECTOR(2, INT8), x VECTOR(*, FLOAT64))",
    "INSERT INTO vec VALUES (1, '[1, 0]', '[1, -128]', '[1, 2, 3]')",
    "INSERT INTO vec VALUES (2, '[0, 1]', NULL, '[1]')",
    "CREATE TABLE doc (id NUMBER, j JSON)",
    """INSERT INTO doc VALUES (1, '{"s":"text","n":1.50,"b":true,"z":null,"e":"","a":[1,"x",{"k":2}],"o":{"k":"v"},"d":"2024-01-31"}')""",
    "INSERT INTO doc VALUES (2, '[]')",
    "INSERT INTO doc VALUES (3, NULL)",
)  # fmt: skip

CASES: dict[str, list[Case]] = {
    "order of NULLs": [
        ("SELECT id FROM emp ORDER BY sal, id", [(5,), (1,), (2,), (3,), (4,)]),
        ("SELECT id FROM emp ORDER BY sal DESC, id", [(4,), (2,), (3,), (1,), (5,)]),
        ("SELECT id FROM emp ORDER BY sal NULLS FIRST, id DESC", [(4,), (5,), (1,), (3,), (2,)]),
        ("SELECT id FROM emp ORDER BY sal DESC NULLS LAST, id", [(2,), (3,), (1,), (5,), (4,)]),
        ("SELECT DISTINCT dept FROM emp ORDER BY dept", [(10,), (20,), (None,)]),
        ("SELECT dept, COUNT(*) FROM emp GROUP BY dept ORDER BY 1", [(10, 2), (20, 2), (None, 1)]),
        ("SELECT MAX(sal), MIN(sal), COUNT(sal), COUNT(*) FROM emp", [(200, 50, 4, 5)]),
        ("SELECT name FROM emp ORDER BY UPPER(name) DESC FETCH FIRST 2 ROWS ONLY", [(None,), ("dan",)]),
    ],
    "row limits": [
        ("SELECT id FROM emp ORDER BY sal FETCH FIRST 3 ROWS WITH TIES", [(5,), (1,), (2,), (3,)]),
        ("SELECT id FROM emp ORDER BY sal, id FETCH FIRST 3 ROWS WITH TIES", [(5,), (1,), (2,)]),
        ("SELECT id FROM emp ORDER BY id OFFSET 3 ROWS FETCH NEXT 5 ROWS ONLY", [(4,), (5,)]),
        ("SELECT id FROM emp ORDER BY id OFFSET 9 ROWS", []),
        ("SELECT id FROM emp ORDER BY id OFFSET -1 ROWS FETCH FIRST 1 ROWS ONLY", [(1,)]),
        ("SELECT id FROM emp ORDER BY id FETCH FIRST 0 ROWS ONLY", []),
        ("SELECT id FROM emp ORDER BY id FETCH FIRST 1.9 ROWS ONLY", [(1,)]),
        ("SELECT id FROM emp ORDER BY id FETCH FIRST NULL ROWS ONLY", []),
        ("SELECT id FROM emp WHERE ROWNUM <= 2 ORDER BY id DESC", [(2,), (1,)]),
        ("SELECT id FROM (SELECT id FROM emp ORDER BY id DESC) WHERE ROWNUM <= 2", [(5,), (4,)]),
        ("SELECT COUNT(*) FROM emp WHERE ROWNUM < 3", [(2,)]),
        ("SELECT COUNT(*) FROM emp WHERE ROWNUM > 1", [(0,)]),
        ("SELECT ROWNUM, id FROM emp WHERE id > 3 AND ROWNUM <= 1", [(1, 4)]),
        ("SELECT id, r FROM (SELECT id, ROWNUM r FROM (SELECT id FROM emp ORDER BY id)) WHERE r BETWEEN 2 AND 3", [(2, 2), (3, 3)]),
    ],
    "groups and windows": [
        ("SELECT AVG(sal) FROM emp", [(D("137.5"),)]),
        ("SELECT AVG(id) FROM emp WHERE id IN (1, 2, 4)", [(D("2." + "3" * 38),)]),
        ("SELECT SUM(sal) FROM emp WHERE 1 = 0", [(None,)]),
        ("SELECT COUNT(*) FROM emp WHERE 1 = 0 GROUP BY dept", []),
        ("SELECT SUM(DISTINCT sal), COUNT(DISTINCT sal) FROM emp", [(350, 3)]),
        ("SELECT STDDEV(sal) FROM emp WHERE id = 1", [(0,)]),
        ("SELECT VARIANCE(sal), VAR_SAMP(sal) FROM emp WHERE id = 1", [(0, None)]),
        ("SELECT MEDIAN(sal) FROM emp", [(150,)]),
        ("SELECT LISTAGG(name, ',') WITHIN GROUP (ORDER BY id DESC) FROM emp", [("dan,cy,bob,ada",)]),
        ("SELECT dept, LISTAGG(name, '/') WITHIN GROUP (ORDER BY name) FROM emp GROUP BY dept ORDER BY dept", [(10, "ada/bob"), (20, "cy/dan"), (None, None)]),
        ("SELECT dept, SUM(sal) FROM emp GROUP BY ROLLUP(dept) ORDER BY 1, 2", [(10, 300), (20, 200), (None, 50), (None, 550)]),
        ("SELECT id, RANK() OVER (ORDER BY sal), DENSE_RANK() OVER (ORDER BY sal), ROW_NUMBER() OVER (ORDER BY sal, id) FROM emp ORDER BY id", [(1, 2, 2, 2), (2, 3, 3, 3), (3, 3, 3, 4), (4, 5, 4, 5), (5, 1, 1, 1)]),
        ("SELECT id, SUM(sal) OVER (PARTITION BY dept ORDER BY id) FROM emp WHERE dept = 10 ORDER BY id", [(1, 100), (2, 300)]),
        ("SELECT id, SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM emp ORDER BY id", [(1, 3), (2, 6), (3, 9), (4, 12), (5, 9)]),
        ("SELECT id, LAG(id) OVER (ORDER BY id), LEAD(id, 2, 0) OVER (ORDER BY id) FROM emp WHERE id < 4 ORDER BY id", [(1, None, 3), (2, 1, 0), (3, 2, 0)]),
        ("SELECT FIRST_VALUE(name) OVER (ORDER BY id), LAST_VALUE(name) OVER (ORDER BY id) FROM emp WHERE id < 3 ORDER BY id", [("ada", "ada"), ("ada", "bob")]),
        ("SELECT id, NTILE(2) OVER (ORDER BY id) FROM emp ORDER BY id", [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]),
        ("SELECT id, ROUND(AVG(sal) OVER (), 2) FROM emp WHERE id = 1", [(1, 100)]),
        ("SELECT dept FROM emp GROUP BY dept HAVING COUNT(*) > 1 ORDER BY dept", [(10,), (20,)]),
    ],
    "queries": [
        ("SELECT e.name, b.name FROM emp e LEFT JOIN emp b ON b.id = e.boss WHERE e.id < 3 ORDER BY e.id", [("ada", None), ("bob", "ada")]),
        ("SELECT id FROM emp e WHERE sal = (SELECT MAX(sal) FROM emp WHERE dept = e.dept) ORDER BY id", [(2,), (3,)]),
        ("SELECT id FROM emp WHERE boss NOT IN (SELECT boss FROM emp)", []),
        ("SELECT id FROM emp e WHERE NOT EXISTS (SELECT 1 FROM emp WHERE boss = e.id) ORDER BY id", [(3,), (4,), (5,)]),
        ("SELECT id, (SELECT name FROM emp WHERE id = e.boss) FROM emp e WHERE id = 3", [(3, "ada")]),
        ("SELECT id, (SELECT name FROM emp WHERE 1 = 0) FROM emp WHERE id = 1", [(1, None)]),
        ("SELECT (SELECT id FROM emp) FROM dual", Refuses(1427)),
        ("SELECT id FROM emp WHERE sal > ALL (SELECT sal FROM emp WHERE 1 = 0) ORDER BY id FETCH FIRST 1 ROWS ONLY", [(1,)]),
        ("SELECT id FROM emp WHERE sal > ANY (100, 150) ORDER BY id", [(2,), (3,)]),
        ("SELECT id FROM emp WHERE (dept, sal) IN ((10, 100), (20, 200)) ORDER BY id", [(1,), (3,)]),
        ("SELECT id FROM emp WHERE (dept, sal) IN (SELECT dept, MAX(sal) FROM emp GROUP BY dept) ORDER BY id", [(2,), (3,)]),
        ("SELECT id FROM emp WHERE sal BETWEEN 100 AND 200 AND dept <> 20 ORDER BY id", [(1,), (2,)]),
        ("SELECT id FROM emp WHERE NOT (sal > 60 OR dept = 10) ORDER BY id", []),
        ("SELECT id FROM emp WHERE sal > 60 AND name LIKE '%a%' OR id = 5 ORDER BY id", [(1,), (5,)]),
        ("WITH r (id, lvl) AS (SELECT id, 1 FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, r.lvl + 1 FROM emp e JOIN r ON e.boss = r.id) SELECT id, lvl FROM r ORDER BY id", [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)]),
        ("WITH r (a, b) AS (SELECT 1, 2 FROM dual UNION ALL SELECT b, a FROM r) SELECT * FROM r", Refuses(32044)),
        ("WITH r (n) AS (SELECT 1 FROM dual UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT MAX(n) FROM r", [(1000,)]),
        ("SELECT dept FROM emp MINUS SELECT 10 FROM dual ORDER BY 1", [(20,), (None,)]),
        ("SELECT dept FROM emp INTERSECT SELECT dept FROM emp WHERE dept IS NULL", [(None,)]),
        ("SELECT dept FROM emp WHERE id = 1 UNION ALL SELECT dept FROM emp WHERE id = 2", [(10,), (10,)]),
        ("SELECT 1 FROM dual UNION SELECT 2 FROM dual MINUS SELECT 1 FROM dual", [(2,)]),
        ("SELECT LEVEL FROM dual CONNECT BY LEVEL <= 3", [(1,), (2,), (3,)]),
        ("SELECT e.*, 1 one FROM emp e WHERE id = 1", [(1, "ada", 10, 100, None, at(2020, 1, 1), 1)]),
        ("SELECT COUNT(*) FROM emp a CROSS JOIN emp b", [(25,)]),
        ("SELECT a.id, b.id FROM (SELECT id FROM emp WHERE id < 3) a FULL JOIN (SELECT id FROM emp WHERE id IN (2, 3)) b ON a.id = b.id ORDER BY 1, 2", [(1, None), (2, 2), (None, 3)]),
        ("SELECT CASE dept WHEN 10 THEN 'ten' WHEN 20 THEN 'twenty' END FROM emp ORDER BY id FETCH FIRST 5 ROWS ONLY", [("ten",), ("ten",), ("twenty",), ("twenty",), (None,)]),
    ],
    "JSON": [
        ("SELECT JSON_VALUE(j, '$.s'), JSON_VALUE(j, '$.n'), JSON_VALUE(j, '$.b'), JSON_VALUE(j, '$.z') FROM doc WHERE id = 1", [("text", "1.5", "true", None)]),
        ("SELECT JSON_VALUE(j, '$.n' RETURNING NUMBER), JSON_VALUE(j, '$.s' RETURNING NUMBER) FROM doc WHERE id = 1", [(D("1.5"), None)]),
        ("SELECT JSON_VALUE(j, '$.s' RETURNING NUMBER ERROR ON ERROR) FROM doc WHERE id = 1", Refuses(1722)),
        ("SELECT JSON_VALUE(j, '$.d' RETURNING DATE) FROM doc WHERE id = 1", [(at(2024, 1, 31),)]),
        ("SELECT JSON_VALUE(j, '$.e'), JSON_VALUE(j, '$.o'), JSON_VALUE(j, '$.a[1]') FROM doc WHERE id = 1", [(None, None, "x")]),
        ("SELECT JSON_VALUE(j, '$.a[2].k'), JSON_VALUE(j, '$.a[last].k'), JSON_VALUE(j, '$.a.size()') FROM doc WHERE id = 1", [("2", "2", "3")]),
        ("SELECT JSON_VALUE(j, '$.nope' DEFAULT 'd' ON EMPTY), JSON_VALUE(j, '$.o' DEFAULT 'e' ON ERROR) FROM doc WHERE id = 1", [("d", "e")]),
        ("SELECT JSON_VALUE(j, '$.nope' ERROR ON EMPTY ERROR ON ERROR) FROM doc WHERE id = 1", Refuses(40462)),
        ("SELECT JSON_VALUE(j, '$.o' ERROR ON ERROR) FROM doc WHERE id = 1", Refuses(40456)),
        ("SELECT JSON_QUERY(j, '$.o' RETURNING VARCHAR2(99)), JSON_QUERY(j, '$.a[*]' RETURNING VARCHAR2(99) WITH WRAPPER) FROM doc WHERE id = 1", [('{"k":"v"}', '[1,"x",{"k":2}]')]),
        ("SELECT JSON_QUERY(j, '$.nope' RETURNING VARCHAR2(99)) FROM doc WHERE id = 1", [(None,)]),
        ("SELECT id FROM doc WHERE JSON_EXISTS(j, '$.a') ORDER BY id", [(1,)]),
        ("SELECT id FROM doc WHERE JSON_EXISTS(j, '$.z')", [(1,)]),
        ("SELECT id FROM doc WHERE JSON_EXISTS(j, '$?(@.n > 1)')", [(1,)]),
        ("SELECT id FROM doc WHERE JSON_EXISTS(j, '$.a[*]?(@.k == 2)')", [(1,)]),
        ("SELECT id FROM doc d WHERE d.j.s = 'text'", [(1,)]),
        ("SELECT d.j.o.k FROM doc d WHERE id = 1", [("v",)]),
        ("SELECT id FROM doc WHERE j IS NULL", [(3,)]),
        ("SELECT t.k, t.o FROM doc, JSON_TABLE(j, '$.a[*]' COLUMNS (k NUMBER PATH '$.k', o FOR ORDINALITY)) t WHERE id = 1 ORDER BY o", [(None, 1), (None, 2), (2, 3)]),
        ("SELECT t.s, t.n FROM doc, JSON_TABLE(j, '$' COLUMNS (s VARCHAR2(9) PATH '$.s', NESTED PATH '$.a[*]' COLUMNS (n VARCHAR2(9) PATH '$'))) t WHERE id = 1 ORDER BY n", [("text", "1"), ("text", "x"), ("text", None)]),
        ("SELECT JSON_OBJECT('a' VALUE 1, 'b' VALUE NULL, 'c' VALUE 'x' RETURNING VARCHAR2(99)) FROM dual", [('{"a":1,"b":null,"c":"x"}',)]),
        ("SELECT JSON_OBJECT('a' VALUE NULL ABSENT ON NULL RETURNING VARCHAR2(99)) FROM dual", [("{}",)]),
        ("SELECT JSON_OBJECT('d' VALUE DATE '2024-01-31', 'j' VALUE '[1]' FORMAT JSON RETURNING VARCHAR2(99)) FROM dual", [('{"d":"2024-01-31T00:00:00","j":[1]}',)]),
        ("SELECT JSON_ARRAY(1, 'a', NULL RETURNING VARCHAR2(99)), JSON_ARRAY(1, NULL NULL ON NULL RETURNING VARCHAR2(99)) FROM dual", [('[1,"a"]', "[1,null]")]),
        ("SELECT JSON_ARRAYAGG(id ORDER BY id DESC RETURNING VARCHAR2(99)) FROM doc", [("[3,2,1]",)]),
        ("SELECT JSON_OBJECTAGG(KEY TO_CHAR(id) VALUE id RETURNING VARCHAR2(99)) FROM doc WHERE id = 1", [('{"1":1}',)]),
        ("""SELECT JSON_SERIALIZE(JSON_MERGEPATCH('{"a":1,"b":{"c":2}}', '{"a":null,"b":{"d":3}}') RETURNING VARCHAR2(99)) FROM dual""", [('{"b":{"c":2,"d":3}}',)]),
        ("""SELECT JSON_VALUE('{"a":0.1}', '$.a' RETURNING NUMBER) FROM dual""", [(D("0.1"),)]),
        ("SELECT JSON_VALUE('{bad', '$.a') FROM dual", [(None,)]),
        ("SELECT JSON_VALUE('{bad', '$.a' ERROR ON ERROR) FROM dual", Refuses(40441)),
        ("SELECT 1 FROM dual WHERE '{\"a\":1}' IS JSON AND 'x' IS NOT JSON", [(1,)]),
    ],
    "VECTOR": [
        ("SELECT id FROM vec ORDER BY VECTOR_DISTANCE(v, '[0, 2]', COSINE), id", [(2,), (1,)]),
        ("SELECT VECTOR_DISTANCE(v, '[3, 4]', EUCLIDEAN) FROM vec WHERE id = 1 AND v <-> '[3, 4]' > 4", [(pytest.approx(20**0.5),)]),
        ("SELECT VECTOR_DISTANCE(v, '[3, 4]', MANHATTAN), VECTOR_DISTANCE(v, '[3, 4]', DOT) FROM vec WHERE id = 1", [(6.0, -3.0)]),
        ("SELECT VECTOR_DISTANCE(v, '[3, 4]', EUCLIDEAN_SQUARED), VECTOR_DISTANCE(v, '[2, 0]') FROM vec WHERE id = 1", [(20.0, 0.0)]),
        ("SELECT VECTOR_DISTANCE(v, NULL) FROM vec WHERE id = 1", [(None,)]),
        ("SELECT VECTOR_DISTANCE(v, '[1, 2, 3]') FROM vec", Refuses(51808)),
        ("SELECT VECTOR_DIMENSION_COUNT(x), VECTOR_DIMENSION_FORMAT(w), VECTOR_NORM(TO_VECTOR('[3, 4]')) FROM vec ORDER BY id", [(3, "INT8", 5.0), (1, None, 5.0)]),
        ("SELECT FROM_VECTOR(v) FROM vec ORDER BY id", [("[1.0E+000,0]",), ("[0,1.0E+000]",)]),
        ("SELECT id FROM vec WHERE v = TO_VECTOR('[1, 0]')", Refuses(22848)),
        ("SELECT v FROM vec ORDER BY v", Refuses(22848)),
        ("SELECT DISTINCT v FROM vec", Refuses(22848)),
        ("SELECT COUNT(*) FROM vec GROUP BY v", Refuses(22848)),
        ("SELECT id FROM vec WHERE v IN ('[1, 0]')", Refuses(22848)),
        ("SELECT v FROM vec UNION SELECT v FROM vec", Refuses(22848)),
        ("SELECT MAX(v) FROM vec", Refuses(932)),
        ("SELECT COUNT(v) FROM vec WHERE v IS NOT NULL", [(2,)]),
        ("SELECT TO_VECTOR('[1, 2', 2) FROM dual", Refuses(51804)),
        ("SELECT TO_VECTOR('[1, 2]', 3) FROM dual", Refuses(51803)),
        ("SELECT TO_VECTOR('[1, x]') FROM dual", Refuses(51805)),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def connection(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as opened:
        cursor = opened.cursor()
        for statement in SETUP:
            cursor.execute(statement)
        opened.commit()
        yield opened


@pytest.mark.parametrize("subject", CASES)
def test_queries(connection: oracledb.Connection, subject: str) -> None:
    assert unlike(connection.cursor(), CASES[subject]) == []
