"""Queries: what comes back, how it is described, how text becomes what a column is."""

# ruff: noqa: DTZ001 - DATE and TIMESTAMP have no zone

from __future__ import annotations

import datetime as dt
from array import array
from decimal import Decimal
from typing import Any

import pytest

from oraclerag.local.engine import pipeline
from oraclerag.local.engine.database import Database
from oraclerag.local.interface import BindType, CellForm, OraError, OraType, VectorFormat
from tests.local.engine.conftest import Connect, Driver, fetch, fetched, number_of

NOW = dt.datetime(2026, 11, 30, 10, 11, 12)


@pytest.fixture
def types(db: Driver) -> Driver:
    db.run(
        "CREATE TABLE t (id NUMBER(10) NOT NULL, price NUMBER(8,2), anything NUMBER, name VARCHAR2(20 CHAR),"
        " code VARCHAR2(10), fixed CHAR(3), day DATE, at TIMESTAMP(6), zoned TIMESTAMP WITH TIME ZONE, body CLOB,"
        " bytes BLOB, key RAW(16), data JSON, embedding VECTOR(3, FLOAT32), any_vector VECTOR, flag BOOLEAN,"
        " ratio BINARY_DOUBLE, span INTERVAL DAY TO SECOND, measure FLOAT)"
    )
    return db


VALUES: dict[str, tuple[Any, BindType]] = {
    "id": (7, BindType(OraType.NUMBER, 22)),
    "price": (Decimal("-12.5"), BindType(OraType.NUMBER, 22)),
    "anything": (Decimal("0.00000000000000000000000001"), BindType(OraType.NUMBER, 22)),
    "name": ("größer €", BindType(OraType.VARCHAR, 80)),
    "code": ("x", BindType(OraType.VARCHAR, 80)),
    "day": (NOW, BindType(OraType.DATE, 7)),
    "at": (NOW.replace(microsecond=123456), BindType(OraType.TIMESTAMP, 11)),
    "zoned": (NOW.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))), BindType(OraType.TIMESTAMP_TZ, 13)),
    "body": ("long " * 3000, BindType(OraType.CLOB, 40)),
    "bytes": (bytes(range(256)) * 50, BindType(OraType.BLOB, 40)),
    "key": (b"\0\1\2", BindType(OraType.RAW, 16)),
    "data": ({"a": [1, Decimal("0.1"), None, "ü"]}, BindType(OraType.JSON, 8200)),
    "embedding": (array("f", [1.5, -2.0, 0.25]), BindType(OraType.VECTOR, 8200)),
    "any_vector": (array("f", [1.0]), BindType(OraType.VECTOR, 8200)),
    "flag": (True, BindType(OraType.BOOLEAN, 4)),
    "ratio": (float("inf"), BindType(OraType.BINARY_DOUBLE, 8)),
    "span": (dt.timedelta(days=-1, hours=3, microseconds=5), BindType(OraType.INTERVAL_DS, 11)),
}


def test_every_type_comes_back_as_it_was_bound(types: Driver) -> None:
    names = ", ".join(VALUES)
    places = ", ".join(f":{name}_" for name in VALUES)
    types.dml(
        f"INSERT INTO t ({names}) VALUES ({places})",
        *(value for value, _ in VALUES.values()),
        types=[declared for _, declared in VALUES.values()],
    )
    ((*got,),) = types.rows(f"SELECT {names} FROM t")
    assert dict(zip(VALUES, got, strict=True)) == {name: value for name, (value, _) in VALUES.items()}


def test_every_type_is_null_as_well(types: Driver) -> None:
    names = [name for name in VALUES if name != "id"]
    types.dml(
        f"INSERT INTO t (id, {', '.join(names)}) VALUES (1, {', '.join(f':{name}_' for name in names)})",
        *(None for _ in names),
        types=[VALUES[name][1] for name in names],
    )
    assert types.rows(f"SELECT {', '.join(names)} FROM t") == [(None,) * len(names)]
    sent = fetch(types.open(f"SELECT {', '.join(names)} FROM t"), 1)
    assert sent == b"\x07" + bytes(len(names))


def test_describe(types: Driver) -> None:
    columns = {column.name: column for column in types.session.describe("SELECT * FROM t")}
    described = {
        name: (column.type, column.precision, column.scale, column.size, column.chars)
        for name, column in columns.items()
        if name in {"ID", "PRICE", "ANYTHING", "NAME", "CODE", "FIXED", "KEY", "AT", "MEASURE"}
    }
    assert described == {
        "ID": (OraType.NUMBER, 10, 0, 22, 0),
        "PRICE": (OraType.NUMBER, 8, 2, 22, 0),
        "ANYTHING": (OraType.NUMBER, 0, -127, 22, 0),
        "NAME": (OraType.VARCHAR, 0, 0, 80, 20),
        "CODE": (OraType.VARCHAR, 0, 0, 10, 10),
        "FIXED": (OraType.CHAR, 0, 0, 3, 3),
        "KEY": (OraType.RAW, 0, 0, 16, 0),
        "AT": (OraType.TIMESTAMP, 0, 6, 11, 0),
        "MEASURE": (OraType.NUMBER, 126, -127, 22, 0),
    }
    assert [name for name, column in columns.items() if not column.nullable] == ["ID"]
    vectors = {
        name: (columns[name].vector_dimensions, columns[name].vector_format) for name in ("EMBEDDING", "ANY_VECTOR")
    }
    assert vectors == {"EMBEDDING": (3, VectorFormat.FLOAT32), "ANY_VECTOR": (0, VectorFormat.FLEXIBLE)}


def test_lengths_and_precisions_pass_through_queries(types: Driver) -> None:
    sql = "SELECT (SELECT code FROM t), CASE WHEN 1 = 1 THEN code ELSE code END, price FROM (SELECT code, price FROM t)"
    assert [(column.size, column.precision) for column in types.session.describe(sql)] == [(10, 0), (10, 0), (22, 8)]


def test_headings_are_the_source_text(db: Driver) -> None:
    columns = db.session.describe("SELECT 1 + 1, 'x' AS \"Mixed\", dummy d, COUNT( * ) FROM dual GROUP BY dummy")
    assert [column.name for column in columns] == ["1+1", "Mixed", "D", "COUNT(*)"]


def test_describe_does_not_run_the_query(db: Driver) -> None:
    assert db.session.describe("SELECT 1/0 x FROM dual")[0].type is OraType.NUMBER
    assert number_of(lambda: db.rows("SELECT 1/0 FROM dual")) == 1476


def test_the_empty_string_is_null(db: Driver) -> None:
    db.run("CREATE TABLE t (a VARCHAR2(10))")
    db.dml("INSERT INTO t VALUES (:1)", "")
    assert db.rows("SELECT a FROM t WHERE a IS NULL") == [(None,)]


@pytest.mark.parametrize(
    ("column", "text", "stored"),
    [
        ("NUMBER", " 1.50 ", Decimal("1.5")),
        ("NUMBER", "1e3", 1000),
        ("DATE", "03-FEB-24", dt.datetime(2024, 2, 3)),
        ("RAW(4)", "00FF", b"\x00\xff"),
        ("JSON", '{"a": 1}', {"a": 1}),
        ("VECTOR(2)", "[1, 2.5]", array("f", [1.0, 2.5])),
        ("CLOB", "x", "x"),
        ("BOOLEAN", "true", True),
    ],
)
def test_text_becomes_what_the_column_is(db: Driver, column: str, text: str, stored: Any) -> None:
    db.run(f"CREATE TABLE t (a {column})")
    db.dml("INSERT INTO t VALUES (:1)", text)
    assert db.value("SELECT a FROM t") == stored


@pytest.mark.parametrize(
    ("column", "source", "stored"),
    [
        ("NUMBER", "' 1.5 '", Decimal("1.5")),
        ("DATE", "'03-FEB-24'", dt.datetime(2024, 2, 3)),
        ("DATE", "TIMESTAMP '2024-02-03 10:11:12.9'", dt.datetime(2024, 2, 3, 10, 11, 12)),
        ("TIMESTAMP", "'03-FEB-24 10.11.12.5 PM'", dt.datetime(2024, 2, 3, 22, 11, 12, 500_000)),
        ("RAW(4)", "'00FF'", b"\x00\xff"),
        ("VARCHAR2(20)", "-0.50", "-.5"),
        ("VARCHAR2(20)", "DATE '2024-02-03'", "03-FEB-24"),
        ("BINARY_DOUBLE", "'2.5'", 2.5),
        ("BOOLEAN", "'yes'", True),
        ("NUMBER", "TRUE", 1),
    ],
)
def test_what_a_query_gives_becomes_what_the_column_is(db: Driver, column: str, source: str, stored: Any) -> None:
    db.run(f"CREATE TABLE t (a {column})", "CREATE TABLE s (v VARCHAR2(40))")
    db.dml("INSERT INTO s VALUES ('x')")
    db.dml(
        f"INSERT INTO t SELECT MAX({source}) FROM s" if source[0] == "'" else f"INSERT INTO t SELECT {source} FROM s"
    )
    assert db.value("SELECT a FROM t") == stored


@pytest.mark.parametrize(
    ("column", "text", "number"),
    [
        ("NUMBER", "ten", 1722),
        ("NUMBER", "NaN", 1722),
        ("NUMBER(3)", "1000", 1438),
        ("DATE", "2024-02-03", 1861),
        ("DATE", "30-FEB-24", 1839),
        ("RAW(4)", "xyz", 1465),
        ("RAW(4)", "0011223344", 12899),
        ("JSON", "{", 40441),
        ("VECTOR(2)", "[1,2,3]", 51803),
        ("VECTOR(2)", "[a]", 51805),
        ("VARCHAR2(3)", "four", 12899),
        ("VARCHAR2(3)", "ééx", 12899),
        ("VARCHAR2(9)", "a\0b", 3001),
    ],
)
def test_text_that_does_not_fit(db: Driver, column: str, text: str, number: int) -> None:
    db.run(f"CREATE TABLE t (a {column})")
    assert number_of(lambda: db.dml("INSERT INTO t VALUES (:1)", text)) == number
    assert not db.session.in_transaction


def test_the_error_of_a_length_names_the_column_and_the_sizes(db: Driver, user: str) -> None:
    db.run("CREATE TABLE t (a VARCHAR2(5))")
    with pytest.raises(OraError) as caught:
        db.dml("INSERT INTO t VALUES (:1)", "sixsix")
    assert caught.value.message == f'value too large for column "{user}"."T"."A" (actual: 6, maximum: 5)'


def test_the_nls_format_of_the_session_reads_and_returns_dates(db: Driver) -> None:
    db.run("CREATE TABLE t (a DATE)", "ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI'")
    result = db.many(
        "INSERT INTO t VALUES (:1) RETURNING a INTO :2", [("2024-02-03 10:11",)], [BindType(OraType.VARCHAR, 40)] * 2
    )
    assert result.returned == [[["2024-02-03 10:11"]]]
    assert db.value("SELECT a FROM t") == dt.datetime(2024, 2, 3, 10, 11)


def test_a_number_is_compared_with_text_as_a_number(db: Driver) -> None:
    db.run("CREATE TABLE t (n NUMBER, v VARCHAR2(10))")
    db.dml("INSERT INTO t VALUES (5, '05')")
    assert db.rows("SELECT n FROM t WHERE n = :1 AND v = :2", "5.0", 5) == [(5,)]
    assert db.rows("SELECT n FROM t WHERE v = '5'") == []


def test_a_number_beyond_its_range(db: Driver) -> None:
    db.run("CREATE TABLE t (n NUMBER)")
    sent = db.open("SELECT POWER(10, 100) * POWER(10, 30) x FROM dual")
    out = bytearray(b"before")
    with pytest.raises(OraError, match="ORA-01426"):
        sent.write(out, 1, [CellForm.VALUE], None)  # type: ignore[arg-type]
    assert out == b"before"


def test_a_result_survives_the_commit(db: Driver) -> None:
    rows = db.open("SELECT level n FROM dual CONNECT BY level <= 5")
    assert fetched(rows, 2) == 2
    db.run("CREATE TABLE t2 (a NUMBER)")
    db.dml("INSERT INTO t2 VALUES (1)")
    db.commit()
    assert [fetched(rows, 2), fetched(rows, 2), fetched(rows, 2)] == [2, 1, 0]


def test_a_query_leaves_no_transaction_open(db: Driver, connect: Connect) -> None:
    db.run("CREATE TABLE t (a NUMBER)")
    rows = db.open("SELECT * FROM t")
    assert not db.session.in_transaction
    connect().run("DROP TABLE t")
    assert fetched(rows, 1) == 0


STANDARD_LONG = BindType(OraType.VARCHAR, 16_000)


def test_a_long_bind_only_straight_into_a_column(db: Driver, extended_database: Database, connect: Connect) -> None:
    db.run("CREATE TABLE t (a VARCHAR2(4000), c CLOB)")
    db.dml("INSERT INTO t (a) VALUES (:1)", "x" * 3000, types=[STANDARD_LONG])
    db.dml("UPDATE t SET c = :1 WHERE c IS NULL", "y" * 5000, types=[BindType(OraType.LONG, 20_000)])
    statements = ["SELECT UPPER(:1) FROM dual", "SELECT a FROM t WHERE a = :1"]
    for sql in statements:
        assert number_of(lambda sql=sql: db.rows(sql, "x", types=[STANDARD_LONG])) == 1461  # type: ignore[misc]
    assert number_of(lambda: db.dml("INSERT INTO t (a) SELECT :1 FROM dual", "x", types=[STANDARD_LONG])) == 1461
    wide = connect(on=extended_database)
    assert wide.value("SELECT UPPER(:1) FROM dual", "x", types=[STANDARD_LONG]) == "X"


def test_unknown_names_have_a_place(db: Driver) -> None:
    with pytest.raises(OraError) as caught:
        db.rows("SELECT dummy, nix FROM dual")
    assert (caught.value.number, caught.value.position) == (904, 14)
    assert caught.value.message == '"NIX": invalid identifier'


def test_a_query_is_no_dml_and_dml_no_query(db: Driver) -> None:
    db.run("CREATE TABLE t (a NUMBER)")
    assert number_of(lambda: db.rows("DELETE FROM t")) == 900
    assert number_of(lambda: db.dml("SELECT 1 FROM dual")) == 900


def test_too_few_values_for_the_binds(db: Driver) -> None:
    assert number_of(lambda: db.rows("SELECT :a, :b FROM dual", 1)) == 1008


@pytest.mark.parametrize("inside", [False, True])
def test_a_large_result_comes_whole_and_in_order(db: Driver, inside: bool) -> None:
    db.run("CREATE TABLE t (a NUMBER)")
    if inside:
        db.dml("INSERT INTO t VALUES (1)")
    sql = "SELECT level n FROM dual CONNECT BY level <= 25000"
    assert db.rows(sql) == [(n,) for n in range(1, 25_001)]
    rows = db.open(sql)
    assert [fetched(rows, 9_999), fetched(rows, 10_002), fetched(rows, 10_000), fetched(rows, 1)] == [
        9_999,
        10_002,
        4_999,
        0,
    ]
    assert fetched(db.open("SELECT level n FROM dual CONNECT BY level <= 10000"), 20_000) == 10_000


@pytest.mark.parametrize("inside", [False, True])
def test_a_result_that_is_too_large_is_refused(db: Driver, monkeypatch: pytest.MonkeyPatch, inside: bool) -> None:
    monkeypatch.setattr(pipeline, "RESULT_LIMIT", 1_000_000)
    db.run("CREATE TABLE t (a NUMBER)")
    if inside:
        db.dml("INSERT INTO t VALUES (1)")
    wide = "SELECT level, RPAD('x', 1000, 'x') FROM dual CONNECT BY level <= "
    assert number_of(lambda: db.open(wide + "3000000")) == 4030
    assert db.session.in_transaction == inside
    assert db.value("SELECT COUNT(*) FROM t") == int(inside)
    assert len(db.rows(wide + "9000")) == 9000


@pytest.mark.parametrize(
    "table", ['"users"', '"ora"."users"', '"pg_authid"', '"pg_catalog"."pg_authid"', '"model"', '"pg_class" c, dual']
)
def test_what_is_behind_the_database_stays_hidden(db: Driver, table: str) -> None:
    assert number_of(lambda: db.rows(f"SELECT * FROM {table}")) == 942


def test_names_in_lower_case_are_names(db: Driver) -> None:
    db.run('CREATE TABLE "users" ("name" VARCHAR2(10))')
    db.dml("INSERT INTO \"users\" VALUES ('mine')")
    assert db.rows('WITH "x" AS (SELECT "name" FROM "users") SELECT * FROM "x"') == [("mine",)]
