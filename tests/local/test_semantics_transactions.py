"""Transactions, locks and DML are Oracle's: what is undone, what is committed, who waits for whom and then sees what."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size("standard")

TABLES = (
    "CREATE TABLE q (id NUMBER PRIMARY KEY, n NUMBER(3), s VARCHAR2(5))",
    "INSERT INTO q VALUES (1, 10, 'a')",
    "INSERT INTO q VALUES (2, 20, 'b')",
    "INSERT INTO q VALUES (3, 30, NULL)",
    "CREATE TABLE par (id NUMBER PRIMARY KEY)",
    "CREATE TABLE casc (id NUMBER, p NUMBER REFERENCES par ON DELETE CASCADE)",
    "CREATE TABLE setn (id NUMBER, p NUMBER REFERENCES par ON DELETE SET NULL)",
    "CREATE TABLE later (id NUMBER CONSTRAINT later_uq UNIQUE DEFERRABLE INITIALLY IMMEDIATE)",
    "CREATE TABLE num (a NUMBER(5, 2), b NUMBER(3, -2), c NUMBER, d BINARY_DOUBLE, e NUMBER(*, 0), f NUMBER(2, 4))",
    "CREATE TABLE txt (b VARCHAR2(3 BYTE), c VARCHAR2(3 CHAR), f CHAR(3), l CLOB, d VARCHAR2(5) DEFAULT 'x' NOT NULL)",
    "CREATE TABLE src (id NUMBER, n NUMBER)",
    "CREATE SEQUENCE seq",
)


@pytest.fixture(scope="module")
def open_session(module_account: Account) -> Iterator[Callable[[], oracledb.Connection]]:
    with contextlib.ExitStack() as stack:
        with module_account.connect() as first:
            for statement in TABLES:
                first.cursor().execute(statement)
            first.commit()

        def connect() -> oracledb.Connection:
            opened: oracledb.Connection = stack.enter_context(module_account.connect())
            return opened

        yield connect


@pytest.fixture(scope="module")
def sessions(open_session: Callable[[], oracledb.Connection]) -> tuple[oracledb.Connection, oracledb.Connection]:
    return open_session(), open_session()


@pytest.fixture
def one(sessions: tuple[oracledb.Connection, oracledb.Connection]) -> Iterator[oracledb.Connection]:
    yield sessions[0]
    sessions[0].rollback()


@pytest.fixture
def two(sessions: tuple[oracledb.Connection, oracledb.Connection]) -> Iterator[oracledb.Connection]:
    yield sessions[1]
    sessions[1].rollback()


def run(connection: oracledb.Connection, statement: str, binds: Any = None) -> int:
    """Run a statement; give the number of its error, or 0."""
    try:
        connection.cursor().execute(statement, binds)
    except oracledb.DatabaseError as error:
        return int(error.args[0].code)
    return 0


def rows(connection: oracledb.Connection, query: str) -> list[tuple[Any, ...]]:
    return [
        tuple(value.read() if isinstance(value, oracledb.LOB) else value for value in row)
        for row in connection.cursor().execute(query)
    ]


class Waiting:
    """A statement that another thread runs because it is going to wait."""

    def __init__(self, connection: oracledb.Connection, statement: str) -> None:
        self.number: int | None = None
        self._thread = threading.Thread(target=lambda: setattr(self, "number", run(connection, statement)))
        self._thread.start()
        time.sleep(0.15)  # time enough to reach the lock

    @property
    def waits(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> int | None:
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self.number


# ---- what is undone


def test_a_failed_statement_undoes_itself_alone(one: oracledb.Connection) -> None:
    assert run(one, "UPDATE q SET n = n + 1") == 0
    assert run(one, "UPDATE q SET n = n * 40") == 1438
    assert run(one, "INSERT INTO q SELECT id + 10, n, s FROM q UNION ALL SELECT 1, 1, 'x' FROM dual") == 1
    assert rows(one, "SELECT id, n FROM q ORDER BY id") == [(1, 11), (2, 21), (3, 31)]


def test_an_array_keeps_the_rows_before_the_bad_one(one: oracledb.Connection) -> None:
    cursor = one.cursor()
    with pytest.raises(oracledb.DatabaseError, match="ORA-01438"):
        cursor.executemany("INSERT INTO q VALUES (:1, :2, NULL)", [(11, 1), (12, 2), (13, 9999), (14, 4)])
    assert rows(one, "SELECT id FROM q WHERE id > 10 ORDER BY id") == [(11,), (12,)]
    cursor.executemany(
        "INSERT INTO q VALUES (:1, :2, NULL)",
        [(21, 1), (21, 2), (23, 9999), (24, 4)],
        batcherrors=True,
        arraydmlrowcounts=True,
    )
    assert [(error.offset, error.code) for error in cursor.getbatcherrors()] == [(1, 1), (2, 1438)]
    assert cursor.getarraydmlrowcounts() == [1, 0, 0, 1]
    cursor.executemany("UPDATE q SET n = 1 WHERE id > :1", [(20,), (99,)], arraydmlrowcounts=True)
    assert (cursor.rowcount, cursor.getarraydmlrowcounts()) == (2, [2, 0])


def test_savepoints(one: oracledb.Connection) -> None:
    run(one, "DELETE FROM q WHERE id = 1")
    run(one, "SAVEPOINT a")
    run(one, "DELETE FROM q WHERE id = 2")
    run(one, "SAVEPOINT b")
    run(one, "DELETE FROM q WHERE id = 3")
    run(one, "SAVEPOINT a")  # moves
    run(one, "UPDATE src SET n = 1")
    assert run(one, "ROLLBACK TO b") == 0
    assert rows(one, "SELECT id FROM q") == [(3,)]
    assert run(one, "ROLLBACK TO a") == 1086  # it had moved behind b
    assert run(one, "ROLLBACK TO SAVEPOINT b") == 0
    one.rollback()
    assert run(one, "ROLLBACK TO b") == 1086


def test_ddl_commits_before_and_after(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "INSERT INTO src VALUES (1, 1)")
    assert run(one, "CREATE TABLE src (x NUMBER)") == 955  # fails, and has committed
    one.rollback()
    assert rows(two, "SELECT id FROM src") == [(1,)]
    run(one, "INSERT INTO src VALUES (2, 2)")
    assert run(one, "CREATE TABEL x (x NUMBER)") == 901  # no statement at all
    one.rollback()
    assert rows(two, "SELECT id FROM src") == [(1,)]
    run(one, "DELETE FROM src")
    assert run(one, "COMMENT ON TABLE src IS 'x'") == 0
    one.rollback()
    assert rows(two, "SELECT id FROM src") == []


# ---- who waits, and sees what


def test_readers_see_what_was_committed_when_their_statement_began(
    one: oracledb.Connection, two: oracledb.Connection
) -> None:
    run(one, "UPDATE q SET n = 99 WHERE id = 1")
    assert rows(two, "SELECT n FROM q WHERE id = 1") == [(10,)]
    cursor = two.cursor()
    cursor.prefetchrows, cursor.arraysize = 0, 1
    cursor.execute("SELECT n FROM q ORDER BY id")
    first = cursor.fetchone()
    one.commit()
    assert [first, *cursor.fetchall()] == [(10,), (20,), (30,)]
    assert rows(two, "SELECT n FROM q WHERE id = 1") == [(99,)]
    run(one, "UPDATE q SET n = 10 WHERE id = 1")
    one.commit()


def test_who_waited_works_on_the_new_version(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "UPDATE q SET n = n + 1 WHERE id = 1")
    waiting = Waiting(two, "UPDATE q SET n = n + 100 WHERE id = 1 AND n < 50")
    assert waiting.waits
    one.commit()
    assert waiting.end() == 0
    assert rows(two, "SELECT n FROM q WHERE id = 1") == [(111,)]
    two.rollback()
    run(one, "UPDATE q SET n = 60 WHERE id = 1")
    waiting = Waiting(two, "UPDATE q SET n = n + 100 WHERE id = 1 AND n < 50")
    one.commit()
    assert waiting.end() == 0
    assert rows(two, "SELECT n FROM q WHERE id = 1") == [(60,)]  # no longer found
    two.rollback()
    run(one, "UPDATE q SET n = 10 WHERE id = 1")
    one.commit()


def test_who_waited_for_a_key_gets_it_or_not(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "INSERT INTO q VALUES (50, 1, NULL)")
    waiting = Waiting(two, "INSERT INTO q VALUES (50, 2, NULL)")
    assert waiting.waits
    one.rollback()
    assert waiting.end() == 0
    waiting = Waiting(one, "INSERT INTO q VALUES (50, 3, NULL)")
    two.commit()
    assert waiting.end() == 1
    run(two, "DELETE FROM q WHERE id = 50")
    two.commit()


def test_a_deadlock_fails_one_statement_of_one_session(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "UPDATE q SET n = 1 WHERE id = 1")
    run(two, "UPDATE q SET n = 2 WHERE id = 2")
    first = Waiting(one, "UPDATE q SET n = 1 WHERE id = 2")
    second = Waiting(two, "UPDATE q SET n = 2 WHERE id = 1")
    while first.waits and second.waits:
        time.sleep(0.02)
    victim, other, held, done = (one, second, 1, first) if not first.waits else (two, first, 2, second)
    assert done.end() == 60
    assert rows(victim, f"SELECT n FROM q WHERE id = {held}") == [(held,)]  # its transaction goes on
    victim.rollback()
    assert other.end() == 0


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("SELECT * FROM q WHERE id = 1 FOR UPDATE NOWAIT", 54),
        ("SELECT * FROM q FOR UPDATE NOWAIT", 54),
        ("SELECT * FROM q WHERE id = 1 FOR UPDATE WAIT 1", 30006),
        ("LOCK TABLE q IN EXCLUSIVE MODE NOWAIT", 54),
        ("TRUNCATE TABLE q", 54),
        ("DROP TABLE q", 54),
        ("ALTER TABLE q MODIFY s VARCHAR2(6)", 54),
        ("SELECT * FROM q WHERE id = 2 FOR UPDATE NOWAIT", 0),
        ("LOCK TABLE q IN ROW EXCLUSIVE MODE NOWAIT", 0),
        ("UPDATE q SET n = 1 WHERE id = 2", 0),
    ],
)
def test_a_locked_row(one: oracledb.Connection, two: oracledb.Connection, statement: str, number: int) -> None:
    run(one, "UPDATE q SET n = 11 WHERE id = 1")
    assert run(two, statement) == number


def test_skip_locked_passes_over(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "UPDATE q SET n = 11 WHERE id = 1")
    assert rows(two, "SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED") == [(2,), (3,)]
    assert rows(one, "SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED") == [(1,)]
    run(two, "DELETE FROM q WHERE id = 2")
    assert rows(one, "SELECT COUNT(*) FROM q") == [(3,)]


def test_a_locking_cursor_ends_with_its_transaction(one: oracledb.Connection) -> None:
    cursor = one.cursor()
    cursor.prefetchrows, cursor.arraysize = 0, 1
    cursor.execute("SELECT id FROM q ORDER BY id FOR UPDATE")
    cursor.fetchone()
    one.commit()
    with pytest.raises(oracledb.DatabaseError, match="ORA-01002"):
        cursor.fetchall()


def test_serializable(one: oracledb.Connection, two: oracledb.Connection) -> None:
    run(one, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    assert rows(one, "SELECT n FROM q WHERE id = 1") == [(10,)]
    run(two, "UPDATE q SET n = 12 WHERE id = 1")
    two.commit()
    assert rows(one, "SELECT n FROM q WHERE id = 1") == [(10,)]
    assert run(one, "UPDATE q SET n = 13 WHERE id = 1") == 8177
    one.rollback()
    assert run(one, "UPDATE q SET n = 10 WHERE id = 1") == 0
    one.commit()
    run(one, "SET TRANSACTION READ ONLY")
    assert run(one, "DELETE FROM q") == 1456


# ---- constraints, DML


def test_constraints(one: oracledb.Connection) -> None:
    for statement in ("INSERT INTO par VALUES (1)", "INSERT INTO casc VALUES (1, 1)", "INSERT INTO setn VALUES (1, 1)"):
        run(one, statement)
    assert run(one, "INSERT INTO casc VALUES (2, 7)") == 2291
    assert run(one, "DELETE FROM par") == 0
    assert rows(one, "SELECT (SELECT COUNT(*) FROM casc), COUNT(*), COUNT(p) FROM setn") == [(0, 1, 0)]
    run(one, "INSERT INTO later VALUES (1)")
    assert run(one, "INSERT INTO later VALUES (1)") == 1


def test_numbers_in_columns(one: oracledb.Connection) -> None:
    cursor = one.cursor()
    cursor.execute("INSERT INTO num (a, b, c, d, e, f) VALUES (123.455, 1250, 1 / 3, 0.1, 7.5, 0.0012)")
    cursor.execute("SELECT a, b, TO_CHAR(c), d, e, f FROM num", fetch_decimals=True)
    found = cursor.fetchone()
    assert found is not None
    assert [str(found[0]), int(found[1]), found[2], found[3], int(found[4]), str(found[5])] == [
        "123.46", 1300, "." + "3" * 40, 0.1, 8, "0.0012",
    ]  # fmt: skip
    for column, value, number in (
        ("a", 1000, 1438), ("a", -999.995, 1438), ("b", 99950, 1438), ("f", 0.01, 1438), ("a", 999.994, 0), ("b", 99900, 0),
        ("c", 10**38 - 1, 0), ("d", float("inf"), 0), ("d", float("nan"), 0),
    ):  # fmt: skip
        if column == "d":
            cursor.setinputsizes(oracledb.DB_TYPE_BINARY_DOUBLE)
        try:
            cursor.execute(f"UPDATE num SET {column} = :1", [value])
            got = 0
        except oracledb.DatabaseError as error:
            got = error.args[0].code
        assert (column, value, got) == (column, value, number)
    cursor.execute("DELETE FROM num")
    cursor.setinputsizes(oracledb.DB_TYPE_BINARY_DOUBLE)
    cursor.executemany(
        "INSERT INTO num (d) VALUES (:1)", [(float("nan"),), (1.0,), (float("-inf"),), (None,), (float("inf"),)]
    )
    assert [str(d) for (d,) in rows(one, "SELECT d FROM num ORDER BY d")] == ["-inf", "1.0", "inf", "nan", "None"]


def test_texts_in_columns(one: oracledb.Connection) -> None:
    cursor = one.cursor()
    for column, value, number in (
        ("b", "äb", 0), ("b", "äö", 12899), ("c", "äöü", 0), ("c", "äöüx", 12899), ("f", "abcd", 12899), ("f", "a", 0),
        ("d", "", 1400), ("d", None, 1400), ("b", "", 0), ("l", "", 0),
    ):  # fmt: skip
        assert (column, value, run(one, f"INSERT INTO txt ({column}) VALUES (:1)", [value])) == (column, value, number)
    with pytest.raises(oracledb.DatabaseError, match=r"\(actual: 4, maximum: 3\)"):
        cursor.execute("INSERT INTO txt (b) VALUES ('äö')")
    assert rows(one, "SELECT f FROM txt WHERE f IS NOT NULL") == [("a  ",)]
    assert rows(one, "SELECT COUNT(*) FROM txt WHERE b = '' OR b <> ''") == [(0,)]
    assert rows(one, "SELECT COUNT(*), COUNT(d) FROM txt") == [(5, 5)]
    run(one, "DELETE FROM txt")
    run(one, "INSERT INTO txt (l) VALUES (:1)", ["ä" * 5000])
    assert rows(one, "SELECT LENGTH(l), LENGTH(SUBSTR(l, 4000)), INSTR(l, 'x') FROM txt") == [(5000, 1001, 0)]


def test_texts_become_what_the_column_is(one: oracledb.Connection) -> None:
    run(one, "CREATE TABLE kinds (r RAW(2), d DATE, b BOOLEAN, x BINARY_DOUBLE, l BLOB)")
    for column, text, number in (
        ("r", "0aFF", 0),
        ("r", "gg", 1465),
        ("r", "010203", 12899),
        ("d", "31-JAN-24", 0),
        ("d", "2024-01-31", 1861),
        ("b", "yes", 0),
        ("x", "1.5", 0),
        ("x", "0x1F", 1722),
        ("l", "zz", 1465),
    ):
        assert (column, text, run(one, f"INSERT INTO kinds ({column}) VALUES ('{text}')")) == (column, text, number)
    assert rows(
        one, "SELECT r, b, x FROM kinds WHERE r = '0AFF' OR b = 'true' OR x = '1.5' ORDER BY r, b NULLS LAST"
    ) == [
        (b"\x0a\xff", None, None),
        (None, True, None),
        (None, None, 1.5),
    ]
    run(one, "DROP TABLE kinds PURGE")


def test_returning_of_several_rows(one: oracledb.Connection) -> None:
    cursor = one.cursor()
    ids, numbers = cursor.var(int), cursor.var(int)
    cursor.execute("UPDATE q SET n = n + 1 WHERE id < 3 RETURNING id, n INTO :a, :b", a=ids, b=numbers)
    assert sorted(zip(ids.getvalue(), numbers.getvalue(), strict=True)) == [(1, 11), (2, 21)]
    cursor.execute("DELETE FROM q WHERE id > 90 RETURNING id INTO :a", a=ids)
    assert ids.getvalue() == []
    old, new = cursor.var(int), cursor.var(int)
    cursor.execute("UPDATE q SET n = 5 WHERE id = 1 RETURNING OLD n, NEW n INTO :a, :b", a=old, b=new)
    assert (old.getvalue(), new.getvalue()) == ([11], [5])


@pytest.mark.parametrize("open_transaction", [False, True])
def test_a_row_whose_returned_value_does_not_fit_its_bind_is_not_done(
    one: oracledb.Connection, *, open_transaction: bool
) -> None:
    """It is part of the statement, which is done as a whole or not at all; in an array the rows before it stay."""
    run(one, "CREATE TABLE codes (code VARCHAR2(9))")
    if open_transaction:
        run(one, "INSERT INTO codes VALUES ('first')")
    cursor = one.cursor()
    number = cursor.var(int)
    with pytest.raises(oracledb.DatabaseError, match="ORA-01722"):
        cursor.execute("INSERT INTO codes VALUES ('none') RETURNING code INTO :a", a=number)
    before = [("first",)] if open_transaction else []
    assert rows(one, "SELECT code FROM codes") == before
    numbers = cursor.var(int, arraysize=6)
    cursor.setinputsizes(None, numbers)
    with pytest.raises(oracledb.DatabaseError, match="ORA-01722"):
        cursor.executemany(
            "INSERT INTO codes VALUES (:1) RETURNING code INTO :2", [("1",), ("2",), ("no",), ("4",), ("x",), ("6",)]
        )
    assert rows(one, "SELECT code FROM codes ORDER BY code") == [("1",), ("2",), *before]
    cursor.execute("UPDATE codes SET code = '7' WHERE code = '1' RETURNING code INTO :a", a=number)
    assert number.getvalue() == [7]
    one.rollback()
    assert rows(one, "SELECT COUNT(*) FROM codes") == [(0,)]
    run(one, "DROP TABLE codes PURGE")


def test_merge(one: oracledb.Connection) -> None:
    run(one, "INSERT INTO src SELECT 1, 1 FROM dual UNION ALL SELECT 2, 2 FROM dual UNION ALL SELECT 9, 9 FROM dual")
    head = "MERGE INTO q USING src ON (q.id = src.id) "
    cursor = one.cursor()
    cursor.execute(
        head + "WHEN MATCHED THEN UPDATE SET q.n = src.n + q.n WHERE src.n > 1 DELETE WHERE q.n = 22 "
        "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (src.id, src.n) WHERE src.n < 100"
    )
    assert cursor.rowcount == 2
    assert rows(one, "SELECT id, n FROM q ORDER BY id") == [(1, 10), (3, 30), (9, 9)]
    assert run(one, head + "WHEN MATCHED THEN UPDATE SET q.id = 7") == 38104
    run(one, "INSERT INTO src VALUES (1, 5)")
    assert run(one, head + "WHEN MATCHED THEN UPDATE SET q.n = src.n") == 30926
    assert run(one, head + "WHEN MATCHED THEN UPDATE SET q.n = src.n WHERE src.n = 5") == 0
    assert (
        run(
            one,
            "MERGE INTO q USING (SELECT 77 id FROM dual) s ON (q.id = s.id) WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 1000)",
        )
        == 1438
    )


def test_sequences(one: oracledb.Connection, two: oracledb.Connection) -> None:
    assert run(two, "SELECT seq.CURRVAL FROM dual") == 8002
    assert rows(one, "SELECT seq.NEXTVAL, seq.NEXTVAL, seq.CURRVAL FROM dual") == [(1, 1, 1)]
    run(one, "INSERT INTO src SELECT seq.NEXTVAL, 0 FROM q")
    one.rollback()  # numbers do not come back
    assert rows(two, "SELECT seq.NEXTVAL FROM dual") == [(5,)]
    assert rows(one, "SELECT seq.CURRVAL FROM dual") == [(4,)]


def test_names(one: oracledb.Connection) -> None:
    assert run(one, 'CREATE TABLE "Mixed" ("a b" NUMBER, c NUMBER)') == 0
    assert run(one, "SELECT * FROM Mixed") == 942
    assert run(one, 'SELECT "A B" FROM "Mixed"') == 904
    assert rows(one, 'SELECT "a b", C, "C" FROM "Mixed"') == []
    assert run(one, 'DROP TABLE "Mixed" PURGE') == 0
    assert run(one, f"CREATE TABLE {'x' * 129} (a NUMBER)") == 972
    assert run(one, f"SELECT 1 AS {'x' * 129} FROM dual") == 972
