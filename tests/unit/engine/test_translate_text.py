"""What translated statements look like, where the exact text matters: index use, numbers, names, parameters."""

from __future__ import annotations

import pytest

from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.plan import BindParameter, EmbedParameter, LockWait, Plan, Verb
from oraclerag.local.engine.translate import expression, shape, translate, view_query
from oraclerag.local.interface import StatementKind
from tests.unit.engine.catalog import names


def plan(sql: str) -> Plan:
    return translate(sql, names())


QUERIES: list[tuple[str, str]] = [
    ("SELECT 1 FROM dual", "SELECT 1."),
    ("SELECT dummy FROM dual", 'SELECT "DUMMY" FROM (SELECT \'X\'::ora.varchar2 AS "DUMMY") AS "DUAL"'),
    ("SELECT 5 / 2", "SELECT ora.div(5., 2.)"),
    ("SELECT '' || 'a'", "SELECT ora.cat_varchar2(ora.s(NULL), 'a'::text)"),
    ('SELECT a "x y" FROM t', 'SELECT "A" AS "x y" FROM "T"'),
    (
        "SELECT b || a, b || c, b || :x FROM t",
        (
            'SELECT ora.cat_varchar2(ora.s("B"), ora.s("A")), ora.cat(ora.s("B"), ora.s("C"))::ora.clob,'
            ' ora.cat(ora.s("B"), ora.s($1)) FROM "T"'
        ),
    ),
    ("SELECT x.a FROM rag.t x", 'SELECT "X"."A" FROM "RAG"."T" AS "X"'),
    ("SELECT owner FROM sys.all_tables", 'SELECT "OWNER" FROM ora."ALL_TABLES"'),
    ("SELECT a FROM t WHERE b LIKE 'x%'", 'SELECT "A" FROM "T" WHERE "B" LIKE \'x%\' ESCAPE \'\''),
    (
        "SELECT a FROM t WHERE (a = 1 OR n = 2) AND b = ''",
        'SELECT "A" FROM "T" WHERE ("A" = 1. OR "N" = 2.) AND "B" = NULL',
    ),
    ("SELECT a FROM t WHERE ROWNUM <= 5", 'SELECT "A" FROM "T" LIMIT ora.row_count(5.)'),
    (
        "SELECT a FROM t WHERE n = 1 AND ROWNUM < 5 ORDER BY a",
        'SELECT "A" FROM (SELECT * FROM "T" WHERE "N" = 1. LIMIT ora.row_count(ceil((5.)::numeric) - 1)) AS "T" ORDER BY "A"',
    ),
    (
        "SELECT a FROM t WHERE ROWNUM <= :n FOR UPDATE SKIP LOCKED",
        (
            'SELECT "A" FROM "T" WHERE "T".ctid = ANY (ARRAY(SELECT "T".ctid FROM "T" LIMIT ora.row_count($1)))'
            " FOR UPDATE SKIP LOCKED"
        ),
    ),
    ("SELECT a + 1 AS k FROM t ORDER BY k * 2", 'SELECT "A" + 1. AS "K" FROM "T" ORDER BY ("A" + 1.) * 2.'),
    ("SELECT a FROM t ORDER BY 1 DESC NULLS LAST", 'SELECT "A" FROM "T" ORDER BY 1 DESC NULLS LAST'),
    (
        "SELECT a + 1 AS k, COUNT(*) FROM t GROUP BY k HAVING k > 1",
        'SELECT "A" + 1. AS "K", count(*)::numeric FROM "T" GROUP BY ("A" + 1.) HAVING ("A" + 1.) > 1.',
    ),
    ("SELECT 1 FROM dual MINUS SELECT 2 FROM dual", 'SELECT 1. EXCEPT SELECT 2. AS "2"'),
    (
        "SELECT 1 FROM dual UNION ALL SELECT 2 FROM dual INTERSECT SELECT 2 FROM dual",
        '(SELECT 1. UNION ALL SELECT 2. AS "2") INTERSECT SELECT 2. AS "2"',
    ),
    (
        "SELECT LEVEL FROM dual CONNECT BY LEVEL <= 3",
        (
            'SELECT "LEVEL" FROM (SELECT g::numeric AS "LEVEL", \'X\'::ora.varchar2 AS "DUMMY"'
            ' FROM generate_series(1, ora.row_count(3.)) g) AS "DUAL"'
        ),
    ),
    ("SELECT t.ROWID FROM t WHERE ROWID = :r", 'SELECT "T".ctid FROM "T" WHERE ctid = $1'),
    ("SELECT x.j.a.b FROM t x", 'SELECT JSON_QUERY("X"."J", \'$."a"."b"\') FROM "T" AS "X"'),
    (
        "SELECT 1 FROM t x WHERE x.j.a.b = 'y' AND x.j.n.number() > 1",
        (
            'SELECT 1. FROM "T" AS "X" WHERE ora.json_scalar(JSON_QUERY("X"."J", \'$."a"."b"\' RETURNING jsonb)) = \'y\''
            ' AND JSON_VALUE("X"."J", \'$."n"\' RETURNING numeric) > 1.'
        ),
    ),
    ("SELECT 1 FROM t WHERE d = '01-JAN-24'", 'SELECT 1. FROM "T" WHERE "D" = ora.to_date(\'01-JAN-24\')'),
    ("SELECT DATE '2024-01-31'", "SELECT '2024-01-31 00:00:00'::ora.odate"),
    (
        "SELECT ts + INTERVAL '1 2:03:04' DAY TO SECOND FROM t",
        'SELECT "TS" + interval \'1 day 2 hour 03 minute 04 second\' FROM "T"',
    ),
    ("SELECT s.NEXTVAL, s.NEXTVAL FROM dual", "SELECT ora.nextval('\"S\"'::regclass), ora.currval('\"S\"'::regclass)"),
    (
        "SELECT v <=> :q, v <#> '[1,2,3]' FROM tv",
        'SELECT ("V" <=> $1::vector), ("V" <#> \'[1,2,3]\'::vector) FROM "TV"',
    ),
    (
        "SELECT AVG(a) OVER (ORDER BY id ROWS 2 PRECEDING) FROM t",
        'SELECT (avg("A") OVER (ORDER BY "ID" ROWS (2.)::int8 PRECEDING)) FROM "T"',
    ),
]


@pytest.mark.parametrize(("sql", "text"), QUERIES, ids=[sql for sql, _ in QUERIES])
def test_queries(sql: str, text: str) -> None:
    assert plan(sql).text == text


CHANGES: list[tuple[str, str]] = [
    (
        "UPDATE t x SET x.a = 1, n = DEFAULT WHERE x.id = :1",
        'UPDATE "T" AS "X" SET "A" = 1., "N" = DEFAULT WHERE "X"."ID" = $1',
    ),
    ("UPDATE t SET (a, n) = (SELECT 1, 2 FROM dual)", 'UPDATE "T" SET ("A", "N") = (SELECT 1. AS "1", 2. AS "2")'),
    (
        "DELETE t WHERE ROWNUM <= 10 AND a = 1",
        'DELETE FROM "T" WHERE "T".ctid = ANY (ARRAY(SELECT "T".ctid FROM "T" WHERE "A" = 1. LIMIT ora.row_count(10.)))',
    ),
    (
        "INSERT INTO t (id, d) VALUES (1, '01-JAN-24')",
        'INSERT INTO "T" ("ID", "D") VALUES (1., ora.to_date(\'01-JAN-24\'))',
    ),
    (
        "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t (id)) */ INTO t (id) VALUES (:1)",
        'INSERT INTO "T" ("ID") VALUES ($1) ON CONFLICT ("ID") DO NOTHING',
    ),
    (
        "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t, t_pk) */ INTO t (id) VALUES (:1)",
        'INSERT INTO "T" ("ID") VALUES ($1) ON CONFLICT DO NOTHING',
    ),
    (
        "UPDATE t SET a = a + 1 RETURNING OLD a, NEW a INTO :o, :n",
        'UPDATE "T" SET "A" = "A" + 1. RETURNING old."A", new."A"',
    ),
    (
        (
            "MERGE INTO t USING (SELECT :a AS id, :b AS a FROM dual) s ON (t.id = s.id)"
            " WHEN MATCHED THEN UPDATE SET t.a = s.a WHERE t.n > 0 DELETE WHERE t.a = 0"
            " WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) WHERE s.a > 0"
        ),
        (
            'MERGE INTO "T" USING (SELECT $1 AS "ID", $2 AS "A") AS "S" ON ("T"."ID" = "S"."ID")'
            ' WHEN MATCHED AND ("T"."N" > 0.) AND (("S"."A") = 0.) THEN DELETE'
            ' WHEN MATCHED AND ("T"."N" > 0.) THEN UPDATE SET "A" = "S"."A"'
            ' WHEN NOT MATCHED AND ("S"."A" > 0.) THEN INSERT ("ID", "A") VALUES ("S"."ID", "S"."A")'
        ),
    ),
]


@pytest.mark.parametrize(("sql", "text"), CHANGES, ids=[sql for sql, _ in CHANGES])
def test_changes(sql: str, text: str) -> None:
    assert plan(sql).text == text


DISTANCE = "VECTOR_DISTANCE(v, :q, COSINE)"


@pytest.mark.parametrize(
    ("limit", "exact"),
    [
        ("", True),
        (" FETCH FIRST 5 ROWS ONLY", True),
        (" FETCH EXACT FIRST 5 ROWS ONLY", True),
        (" FETCH APPROX FIRST 5 ROWS ONLY", False),
        (" FETCH APPROXIMATE FIRST 5 ROWS ONLY", False),
    ],
)
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT id, {DISTANCE} AS dist FROM tv ORDER BY dist",
        f"SELECT id, {DISTANCE} FROM tv ORDER BY 2",
        f"SELECT id FROM tv ORDER BY {DISTANCE}",
        f"SELECT id, {DISTANCE} FROM tv ORDER BY {DISTANCE}",
        f"SELECT * FROM tv ORDER BY {DISTANCE}",
    ],
)
def test_only_an_approximate_search_may_use_the_index(sql: str, limit: str, exact: bool) -> None:
    assert ("+ 0::float8" in plan(sql + limit).text) is exact


def test_an_embedding_of_a_bind_is_a_parameter_also_inside_a_scalar_subquery() -> None:
    embedded = EmbedParameter("RAG.M", "Q")
    for text in ("VECTOR_EMBEDDING(m USING :q AS data)", "(SELECT VECTOR_EMBEDDING(rag.m USING :q AS data) FROM dual)"):
        found = plan(f"SELECT id FROM tv ORDER BY v <=> {text} FETCH APPROX FIRST :k ROWS ONLY")
        assert found.text == 'SELECT "ID" FROM "TV" ORDER BY ("V" <=> $1) LIMIT ora.row_count($2)'
        assert found.parameters == (embedded, BindParameter("K"))
        assert not found.embeds


def test_an_embedding_of_a_literal_is_a_parameter_and_that_of_a_column_is_announced() -> None:
    assert plan("SELECT VECTOR_EMBEDDING(m USING 'x' AS data) FROM dual").parameters == (
        EmbedParameter("RAG.M", None, "x"),
    )
    found = plan("UPDATE tv SET v = VECTOR_EMBEDDING(m USING g AS data) WHERE v IS NULL")
    assert found.embeds
    assert "ora.embed('RAG.M', 3, ora.s(\"G\"))" in found.text
    once = plan("SELECT id FROM tv ORDER BY v <=> VECTOR_EMBEDDING(m USING 'a' || :q AS data)")
    assert "(SELECT ora.embed(" in once.text
    assert plan("SELECT VECTOR_EMBEDDING(m USING NULL AS data)").text == "SELECT NULL::vector"


def test_equal_binds_are_one_parameter() -> None:
    found = plan("SELECT SUBSTR(b, 1, :n), COUNT(*) FROM t WHERE a = :N GROUP BY SUBSTR(b, 1, :n)")
    assert found.parameters == (BindParameter("N"),)


def test_a_bind_beside_a_rowid_is_a_rowid() -> None:
    found = plan("SELECT a FROM t WHERE ROWID = :r AND a = :r")
    assert found.parameters == (BindParameter("R", rowid=True), BindParameter("R"))


@pytest.mark.parametrize(
    ("sql", "headings"),
    [
        ("SELECT a, t.b, COUNT (*) OVER (), a  +  1, 'x y' FROM t", ("A", "B", "COUNT(*)OVER()", "A+1", "'XY'")),
        ('SELECT a x, b "y" FROM t', ("X", "y")),
        (
            "SELECT SYSDATE, USER, ROWNUM, (SELECT 1 FROM dual) FROM t",
            ("SYSDATE", "USER", "ROWNUM", "(SELECT1FROMDUAL)"),
        ),
        ("SELECT a FROM t UNION SELECT n FROM t", ("A",)),
        ("SELECT t.*, a FROM t", None),
        ("SELECT x.j.a.b FROM t x", ("B",)),
    ],
)
def test_headings(sql: str, headings: tuple[str, ...] | None) -> None:
    assert plan(sql).headings == headings


def test_the_values_of_a_single_row_insert_are_marked() -> None:
    found = plan("INSERT INTO t (id, a) VALUES (:1, VALUE_OF(:2))".replace("VALUE_OF", "ABS"))
    assert found.values is not None
    assert found.text[slice(*found.values)] == "($1, ora.abs($2))"
    assert found.columns == ("ID", "A")
    assert plan("INSERT INTO t (id) VALUES (1), (2)").values is None
    assert plan("INSERT INTO t (id) SELECT id FROM u").values is None


def test_returning_counts_its_targets() -> None:
    found = plan("INSERT INTO t (id, a) VALUES (:1, :2) RETURNING id, ROWID INTO :3, :4")
    assert (found.returning, len(found.parameters)) == (2, 2)
    assert found.text.endswith(' RETURNING "ID", ctid')


@pytest.mark.parametrize(
    ("clause", "wait", "seconds", "text"),
    [
        ("FOR UPDATE", LockWait.WAIT, 0, " FOR UPDATE"),
        ("FOR UPDATE NOWAIT", LockWait.NOWAIT, 0, " FOR UPDATE NOWAIT"),
        ("FOR UPDATE WAIT 7", LockWait.SECONDS, 7, " FOR UPDATE"),
        ("FOR UPDATE SKIP LOCKED", LockWait.SKIP_LOCKED, 0, " FOR UPDATE SKIP LOCKED"),
        ("FOR UPDATE OF t.a SKIP LOCKED", LockWait.SKIP_LOCKED, 0, ' FOR UPDATE OF "T" SKIP LOCKED'),
        ("FOR UPDATE OF a NOWAIT", LockWait.NOWAIT, 0, ' FOR UPDATE OF "T" NOWAIT'),
    ],
)
def test_locks(clause: str, wait: LockWait, seconds: int, text: str) -> None:
    found = plan(f"SELECT a FROM t ORDER BY id {clause}")
    assert (found.locks, found.lock_wait, found.lock_seconds) == (True, wait, seconds)
    assert found.text.endswith(text)


@pytest.mark.parametrize(
    ("clause", "accuracy", "probes", "ef_search"),
    [
        ("", 0, None, None),
        (" WITH TARGET ACCURACY 90", 90, None, None),
        (" WITH TARGET ACCURACY 100 PERCENT", 100, None, None),
        (" WITH TARGET ACCURACY PARAMETERS (EFSEARCH 500)", None, None, 500),
        (" WITH TARGET ACCURACY PARAMETERS (NEIGHBOR PARTITION PROBES 10)", None, 10, None),
    ],
)
def test_target_accuracy(clause: str, accuracy: int | None, probes: int | None, ef_search: int | None) -> None:
    found = plan(f"SELECT id FROM tv ORDER BY v <=> :q FETCH APPROX FIRST 3 ROWS ONLY{clause}")
    assert (found.accuracy, found.probes, found.ef_search) == (accuracy, probes, ef_search)
    assert found.wants_settings


def test_the_tables_of_a_statement_are_named() -> None:
    found = plan("WITH q AS (SELECT id FROM u) SELECT 1 FROM t, q, sys.all_tables WHERE EXISTS (SELECT 1 FROM other.x)")
    assert found.verb is Verb.SELECT
    assert found.tables == (("RAG", "U"), ("RAG", "T"), ("SYS", "ALL_TABLES"), ("OTHER", "X"))


@pytest.mark.parametrize(
    ("sql", "kind", "binds", "returning"),
    [
        ("select :a, :b, :a from dual", StatementKind.QUERY, ("A", "B", "A"), None),
        ("(select :a from dual)", StatementKind.QUERY, ("A",), None),
        ("insert into t values (:1, :2) returning id into :3", StatementKind.DML, ("1", "2", "3"), 2),
        ("begin :x := f(:x, :y); end;", StatementKind.PLSQL, ("X", "Y"), None),
        ("call p(:x)", StatementKind.PLSQL, ("X",), None),
        ("create table x (a number default ':a')", StatementKind.DDL, (), None),
        ("commit", StatementKind.OTHER, (), None),
        ("select ':a' /* :b */, json_object('k' : :c) from dual -- :d", StatementKind.QUERY, ("C",), None),
        ('select :"level" from nonsense where', StatementKind.QUERY, ("level",), None),
    ],
)
def test_shape(sql: str, kind: StatementKind, binds: tuple[str, ...], returning: int | None) -> None:
    found = shape(sql)
    assert (found.kind, found.binds, found.returning) == (kind, binds, returning)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SYS_EXTRACT_UTC(SYSTIMESTAMP)", "ora.utc(statement_timestamp())"),
        ("s.NEXTVAL", "ora.nextval('\"S\"'::regclass)"),
        ("UPPER(b)", 'ora.upper("B")'),
        ("'x'", "'x'"),
    ],
)
def test_expressions(sql: str, text: str) -> None:
    assert expression(sql, names()) == text


def test_a_long_alias_is_short_for_postgresql_and_long_in_the_heading() -> None:
    name = "N" * 100
    found = plan(f"SELECT k AS {name} FROM (SELECT a AS {name}_, {name}_ AS k FROM (SELECT a, a AS {name}_ FROM t))")
    assert found.headings == (name,)
    assert name not in found.text
    assert found.text.count(f'"{stored(name)}"') == 1
    assert found.text.count(f'"{stored(f"{name}_")}"') == 3


def test_conditions() -> None:
    assert expression("b IN ('a', 'b') AND a > 0", names(), condition=True) == "\"B\" IN ('a', 'b') AND \"A\" > 0."


def test_view_queries_name_every_column() -> None:
    assert view_query("SELECT t.a, COUNT(*) AS n FROM t GROUP BY t.a", names()) == (
        'SELECT "T"."A" AS "A", count(*)::numeric AS "N" FROM "T" GROUP BY "T"."A"',
        ("A", "N"),
    )
    assert view_query("SELECT * FROM u", names())[1] == ("ID", "T_ID", "B")
