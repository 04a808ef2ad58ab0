"""DML over arrays: the same as one execution after the other, only faster."""

from __future__ import annotations

import datetime as dt
from array import array
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oraclerag.local.engine.database import Database
from oraclerag.local.interface import BindType, OraError, OraType
from tests.local.engine.conftest import Driver, SilentClient, number_of

NUMBER, TEXT = BindType(OraType.NUMBER, 22), BindType(OraType.VARCHAR, 400)
INSERT = "INSERT INTO t (id, name) VALUES (:1, :2)"


@pytest.fixture
def table(db: Driver) -> Driver:
    db.run("CREATE TABLE t (id NUMBER(10) CONSTRAINT t_pk PRIMARY KEY, name VARCHAR2(10) NOT NULL)")
    return db


def count(db: Driver) -> int:
    return int(db.value("SELECT COUNT(*) FROM t"))


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 499, 500, 501, 1009, 2500])
def test_every_row_counts_once(table: Driver, size: int) -> None:
    result = table.many(INSERT, [(n, f"n{n}") for n in range(size)], [NUMBER, TEXT])
    assert (result.counts, result.error, result.errors) == ([1] * size, None, [])
    assert table.rows("SELECT MIN(id), MAX(id), COUNT(*) FROM t") == [(0, size - 1, size)]
    table.rollback()
    assert count(table) == 0


def test_updates_count_rows_per_execution(table: Driver) -> None:
    table.many(INSERT, [(n, "ab"[n % 2]) for n in range(10)], [NUMBER, TEXT])
    result = table.many("UPDATE t SET name = :1 WHERE name = :2", [("c", "a"), ("d", "x"), ("e", "c")], [TEXT, TEXT])
    assert result.counts == [5, 0, 5]


@pytest.mark.parametrize("size", [3, 40, 1200])
def test_returned_rows_belong_to_their_execution(table: Driver, size: int) -> None:
    sql = INSERT + " RETURNING id * 2, name INTO :3, :4"
    result = table.many(sql, [(n, f"n{n}") for n in range(size)], [NUMBER, TEXT, TEXT, TEXT])
    assert result.returned == [[[str(2 * n)], [f"n{n}"]] for n in range(size)]
    result = table.many("DELETE FROM t WHERE id < :1 RETURNING id INTO :2", [(2,), (0,), (3,)], [NUMBER, NUMBER])
    assert [sorted(row[0]) for row in result.returned] == [[0, 1], [], [2]]


@pytest.mark.parametrize("bad", [1, 5, 300, 700, 999])
def test_rows_before_a_bad_one_stay_done(table: Driver, bad: int) -> None:
    rows: list[tuple[Any, Any]] = [(n, "x") for n in range(1000)]
    rows[bad] = (bad, None)
    result = table.many(INSERT, rows, [NUMBER, TEXT])
    assert result.counts == [1] * bad
    assert result.error is not None
    assert result.error.number == 1400
    assert count(table) == bad
    assert table.session.in_transaction


def test_an_error_in_the_first_row_is_raised_and_leaves_the_transaction_as_it_was(table: Driver) -> None:
    assert number_of(lambda: table.many(INSERT, [(1, None), (2, "x")], [NUMBER, TEXT])) == 1400
    assert not table.session.in_transaction
    table.dml(INSERT, 1, "x")
    assert number_of(lambda: table.many(INSERT, [(1, "y"), (2, "x")], [NUMBER, TEXT])) == 1
    assert table.rows("SELECT name FROM t") == [("x",)]


def test_batch_errors(table: Driver, user: str) -> None:
    rows: list[tuple[Any, Any]] = [(n, "x") for n in range(1000)]
    rows[0] = (0, None)
    rows[7] = (6, "twice")
    rows[999] = (999, "much too long")
    result = table.many(INSERT, rows, [NUMBER, TEXT], batch=True)
    assert [(error.offset, error.error.number) for error in result.errors] == [(0, 1400), (7, 1), (999, 12899)]
    assert result.errors[1].error.message == f"unique constraint ({user}.T_PK) violated on table {user}.T columns (ID)"
    assert (sum(result.counts), len(result.counts), result.error) == (997, 1000, None)
    assert count(table) == 997


def test_batch_errors_where_nothing_was_good(table: Driver) -> None:
    result = table.many(INSERT, [(1, None), (2, None)], [NUMBER, TEXT], batch=True)
    assert [error.offset for error in result.errors] == [0, 1]
    assert not table.session.in_transaction


rows_with_faults = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["x", "y", None, "far too long for it"])), min_size=1, max_size=40
)


@pytest.fixture(scope="module")
def pair(database: Database) -> tuple[Driver, Driver]:
    """Two users with the same table."""
    drivers = []
    for name in ("ARRAY_A", "ARRAY_B"):
        database.create_user(name, "secret")
        driver = Driver(database.open(name, SilentClient()))
        driver.run("CREATE TABLE t (id NUMBER(10) PRIMARY KEY, name VARCHAR2(10) NOT NULL)")
        drivers.append(driver)
    return drivers[0], drivers[1]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=rows_with_faults,
    batch=st.booleans(),
    statement=st.sampled_from(["INSERT", "MERGE", "UPDATE", "UPDATE BY KEY", "DELETE BY KEY"]),
)
def test_an_array_is_its_rows_one_by_one(
    pair: tuple[Driver, Driver], rows: list[tuple[int, str | None]], batch: bool, statement: str
) -> None:
    sql = {
        "INSERT": INSERT,
        "MERGE": "MERGE INTO t USING (SELECT :1 AS id FROM dual) s ON (t.id = s.id)"
        " WHEN MATCHED THEN UPDATE SET name = :2 WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, :2)",
        "UPDATE": "UPDATE t SET id = :1, name = :2 WHERE id <= 5",
        "UPDATE BY KEY": "UPDATE t SET name = :2 WHERE id = :1",
        "DELETE BY KEY": "DELETE FROM t WHERE id = :1 AND name <> NVL(:2, '-')",
    }[statement]
    types = [NUMBER, TEXT]
    if statement == "MERGE":
        rows = [(number, name, name) for number, name in rows]  # type: ignore[misc]
        types = [NUMBER, TEXT, TEXT]
    elif statement == "UPDATE BY KEY":
        rows = [(name, number) for number, name in rows]  # type: ignore[misc]
        types = [TEXT, NUMBER]
    array, single = pair
    for driver in pair:
        driver.rollback()
        for number in range(3, 25, 3):
            driver.dml("INSERT INTO t VALUES (:1, 'there')", number)
    counts: list[int] = []
    errors: list[tuple[int, int]] = []
    for offset, row in enumerate(rows):
        try:
            counts.append(single.dml(sql, *row, types=types))
        except OraError as error:
            errors.append((offset, error.number))
            if not batch:
                break
            counts.append(0)
    if errors[:1] and errors[0][0] == 0 and not batch:
        assert number_of(lambda: array.many(sql, rows, types)) == errors[0][1]
    else:
        result = array.many(sql, rows, types, batch=batch)
        found = [(error.offset, error.error.number) for error in result.errors]
        if result.error is not None:
            found = [(len(counts), result.error.number)]
        assert (result.counts, found) == (counts, errors)
    everything = "SELECT id, name FROM t ORDER BY id"
    assert array.rows(everything) == single.rows(everything)


def test_a_row_may_need_the_one_before_it(db: Driver) -> None:
    db.run("CREATE TABLE t (id NUMBER PRIMARY KEY, name VARCHAR2(10), parent NUMBER REFERENCES t (id))")
    sql = "INSERT INTO t (id, name, parent) VALUES (:1, 'x', :2)"
    result = db.many(sql, [(1, None), (3, 2), (2, 1), *((n, 1) for n in range(4, 20))], [NUMBER, NUMBER])
    assert result.error is not None
    assert (result.error.number, result.counts) == (2291, [1])
    db.many(sql, [(n, n - 1) for n in range(2, 20)], [NUMBER, NUMBER])
    result = db.many("DELETE FROM t WHERE id = :1", [(19,), (18,), (16,), (17,), (15,)], [NUMBER])
    assert result.error is not None
    assert (result.error.number, result.counts) == (2292, [1, 1])


def test_the_order_of_rows_decides_about_unique_values(db: Driver) -> None:
    db.run("CREATE TABLE t (id NUMBER PRIMARY KEY, name VARCHAR2(10) UNIQUE)")
    db.many("INSERT INTO t VALUES (:1, :2)", [(n, f"n{n}") for n in range(6)], [NUMBER, TEXT])
    sql = "UPDATE t SET name = :1 WHERE id = :2"
    result = db.many(sql, [(f"n{n + 1}", n) for n in range(5, -1, -1)], [TEXT, NUMBER])
    assert (result.counts, result.error) == ([1] * 6, None)
    assert number_of(lambda: db.many(sql, [(f"n{n + 2}", n) for n in range(5)], [TEXT, NUMBER])) == 1


def test_every_type_of_bind_goes_in_arrays(db: Driver) -> None:
    db.run(
        "CREATE TABLE t (n NUMBER, f BINARY_DOUBLE, c CHAR(3), v VARCHAR2(40), r RAW(4), d DATE, ts TIMESTAMP,"
        " tz TIMESTAMP WITH TIME ZONE, i INTERVAL DAY TO SECOND, j JSON, b BOOLEAN, e VECTOR(2, FLOAT32), l CLOB, x BLOB)"
    )
    moment = dt.datetime(2026, 2, 3, 4, 5, 6, 789)  # noqa: DTZ001
    values = (
        Decimal("1.50"), 0.25, "ab", 'a"\\ {,} b', b"\0\xff", moment.replace(microsecond=0), moment,
        moment.replace(tzinfo=dt.UTC), dt.timedelta(days=-1, seconds=5), {"a": ['"\\', None, 2]}, True,
        array("f", [1.5, -2]), "text", b"bytes",
    )  # fmt: skip
    kinds = (
        "NUMBER BINARY_DOUBLE CHAR VARCHAR RAW DATE TIMESTAMP TIMESTAMP_TZ INTERVAL_DS JSON BOOLEAN VECTOR CLOB BLOB"
    )
    types = [BindType(OraType[kind], 40) for kind in kinds.split()]
    sql = f"INSERT INTO t VALUES ({', '.join(f':{n}' for n in range(1, 15))})"
    rows = [values, (None,) * 14] * 4
    assert db.many(sql, rows, types).counts == [1] * 8
    for row in rows[:2]:
        db.dml(sql, *row, types=types)
    found = db.rows("SELECT * FROM t")
    assert found[:8] == found[8:] * 4


def test_a_subquery_in_values_sees_the_rows_before_it(table: Driver) -> None:
    sql = "INSERT INTO t (id, name) VALUES ((SELECT NVL(MAX(id), 0) + 1 FROM t), :1)"
    assert table.many(sql, [("x",)] * 20, [TEXT]).counts == [1] * 20
    assert table.rows("SELECT MAX(id) FROM t") == [(20,)]


def test_a_skipped_duplicate_counts_zero(table: Driver) -> None:
    sql = "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t, t_pk) */ INTO t (id, name) VALUES (:1, :2)"
    result = table.many(sql, [(n % 5, "x") for n in range(12)], [NUMBER, TEXT])
    assert result.counts == [1] * 5 + [0] * 7


def test_identity_columns_refuse_values(db: Driver) -> None:
    db.run("CREATE TABLE t (id NUMBER GENERATED ALWAYS AS IDENTITY, name VARCHAR2(10))")
    assert number_of(lambda: db.dml(INSERT, 1, "x")) == 32795
    assert number_of(lambda: db.dml("UPDATE t SET id = 3")) == 32796
    result = db.many(
        "INSERT INTO t (id, name) VALUES (DEFAULT, :1) RETURNING id INTO :2", [("x",)] * 10, [TEXT, NUMBER]
    )
    numbers = [row[0][0] for row in result.returned]
    assert numbers == sorted(set(numbers))


def test_rows_longer_than_a_statement_should_be(db: Driver) -> None:
    db.run("CREATE TABLE t (id NUMBER, body CLOB, data BLOB)")
    rows = [(n, "x" * 200_000, bytes(1000 * n)) for n in range(60)]
    types = [NUMBER, BindType(OraType.CLOB, 40), BindType(OraType.BLOB, 40)]
    assert db.many("INSERT INTO t VALUES (:1, :2, :3)", rows, types).counts == [1] * 60
    assert db.rows("SELECT SUM(LENGTH(body)), SUM(LENGTH(data)) FROM t") == [(12_000_000, 1_770_000)]


def test_an_array_without_rows_does_nothing(table: Driver) -> None:
    assert table.many(INSERT, [], [NUMBER, TEXT]).counts == []
