"""Transactions and locks: statements undone alone, rows locked as they are fetched, DDL beside other sessions, cancel."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Iterator

import pytest

from oraclerag.local.engine.database import Database
from oraclerag.local.interface import OraError
from tests.local.engine.conftest import Background, Connect, Driver, fetched, number_of

PICK = "SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED"


@pytest.fixture
def queue(db: Driver) -> Driver:
    db.run("CREATE TABLE q (id NUMBER PRIMARY KEY, state VARCHAR2(10))")
    db.dml("INSERT INTO q SELECT level, 'READY' FROM dual CONNECT BY level <= 20")
    db.commit()
    return db


def free(connect: Connect) -> list[int]:
    """Give the rows that nobody has locked."""
    other = connect()
    ids = [row[0] for row in other.rows(PICK)]
    other.rollback()
    return ids


def test_a_failed_statement_is_undone_alone(queue: Driver) -> None:
    queue.dml("INSERT INTO q VALUES (21, 'NEW')")
    assert number_of(lambda: queue.dml("INSERT INTO q SELECT id + 20, 'X' FROM q ORDER BY id")) == 1
    assert number_of(lambda: queue.rows("SELECT 1 / (id - 21) FROM q")) == 1476
    assert number_of(lambda: queue.rows("SELECT nix FROM q")) == 904
    assert queue.value("SELECT COUNT(*) FROM q") == 21
    queue.commit()
    assert queue.value("SELECT COUNT(*) FROM q") == 21


def test_a_first_statement_that_fails_opens_no_transaction(queue: Driver) -> None:
    assert number_of(lambda: queue.dml("INSERT INTO q VALUES (1, 'TWICE')")) == 1
    assert not queue.session.in_transaction


def test_savepoints(queue: Driver) -> None:
    queue.dml("DELETE FROM q WHERE id = 1")
    queue.run("SAVEPOINT a")
    queue.dml("DELETE FROM q WHERE id = 2")
    queue.run("SAVEPOINT b", "ROLLBACK TO SAVEPOINT a")
    assert queue.value("SELECT MIN(id) FROM q") == 2
    with pytest.raises(OraError) as caught:
        queue.run("ROLLBACK TO b")
    assert (caught.value.number, caught.value.message) == (
        1086,
        "savepoint 'B' never established in this session or is invalid",
    )
    queue.dml("DELETE FROM q WHERE id = 2")  # the transaction is usable after the error
    queue.run("ROLLBACK TO a")
    queue.commit()
    assert queue.value("SELECT MIN(id) FROM q") == 2
    assert number_of(lambda: queue.run("ROLLBACK TO a")) == 1086


def test_ddl_commits_before_and_after(queue: Driver) -> None:
    queue.dml("DELETE FROM q")
    assert number_of(lambda: queue.run("CREATE TABLE q (a NUMBER)")) == 955
    queue.rollback()
    assert queue.value("SELECT COUNT(*) FROM q") == 0


def test_skip_locked_locks_exactly_what_is_fetched(queue: Driver, connect: Connect) -> None:
    second = connect()
    first_rows = queue.open(PICK)
    assert free(connect) == list(range(1, 21))
    assert fetched(first_rows, 5) == 5
    assert free(connect) == list(range(6, 21))
    second_rows = second.open(PICK)
    assert fetched(second_rows, 5) == 5
    assert free(connect) == list(range(11, 21))
    assert fetched(first_rows, 2) == 2
    assert free(connect) == list(range(13, 21))
    first_rows.close()
    assert free(connect) == list(range(13, 21))
    queue.commit()
    assert free(connect) == [1, 2, 3, 4, 5, 11, 12, *range(13, 21)]
    assert fetched(second_rows, 100) == 10  # it is past the first five
    assert fetched(second_rows, 100) == 0


def test_a_locking_cursor_ends_with_the_transaction(queue: Driver) -> None:
    for sql in (PICK, "SELECT id FROM q FOR UPDATE"):
        rows = queue.open(sql)
        assert fetched(rows, 1) == 1
        queue.commit()
        assert number_of(lambda rows=rows: fetched(rows, 1)) == 1002  # type: ignore[misc]
        rows.close()


def test_for_update_without_skip_locked_locks_all_at_once(queue: Driver, connect: Connect) -> None:
    queue.open("SELECT id FROM q WHERE id <= 15 FOR UPDATE")
    assert free(connect) == list(range(16, 21))
    assert queue.session.in_transaction


def test_nowait_and_wait(queue: Driver, connect: Connect) -> None:
    queue.rows("SELECT id FROM q WHERE id = 3 FOR UPDATE")
    other = connect()
    other.dml("UPDATE q SET state = 'MINE' WHERE id = 4")
    assert number_of(lambda: other.rows("SELECT id FROM q FOR UPDATE NOWAIT")) == 54
    started = time.monotonic()
    assert number_of(lambda: other.rows("SELECT id FROM q FOR UPDATE WAIT 1")) == 30006
    assert time.monotonic() - started >= 1
    assert other.rows("SELECT state FROM q WHERE id = 4") == [("MINE",)]
    # The time limit was that statement's alone.
    waiting = Background(lambda: other.dml("UPDATE q SET state = 'MINE' WHERE id = 3"))
    time.sleep(1.2)
    assert waiting.running
    queue.rollback()
    assert waiting.result() == 1


def test_a_deadlock_undoes_one_statement_of_one_session(queue: Driver, connect: Connect) -> None:
    pair = [queue, connect()]
    for own, driver in enumerate(pair, 1):
        driver.dml("UPDATE q SET state = 'FIRST' WHERE id = :1", own)
    calls = [
        Background(lambda driver=driver, other=other: driver.dml("UPDATE q SET state = 'SECOND' WHERE id = :1", other))  # type: ignore[misc]
        for driver, other in zip(pair, (2, 1), strict=True)
    ]
    while all(call.running for call in calls):
        time.sleep(0.01)
    victim = 0 if not calls[0].running else 1
    assert number_of(calls[victim].result) == 60
    # Its transaction goes on, with what it did before; the other one waits for its end.
    assert pair[victim].rows("SELECT state FROM q WHERE id = :1", victim + 1) == [("FIRST",)]
    pair[victim].rollback()
    assert calls[1 - victim].result() == 1


def test_serializable(queue: Driver, connect: Connect) -> None:
    queue.run("ALTER SESSION SET ISOLATION_LEVEL = SERIALIZABLE")
    assert queue.value("SELECT COUNT(*) FROM q") == 20
    other = connect()
    other.dml("DELETE FROM q WHERE id > 10")
    other.commit()
    assert queue.value("SELECT COUNT(*) FROM q") == 20
    assert number_of(lambda: queue.dml("UPDATE q SET state = 'X' WHERE id = 11")) == 8177
    queue.commit()
    assert queue.value("SELECT COUNT(*) FROM q") == 10
    queue.commit()
    queue.run("ALTER SESSION SET ISOLATION_LEVEL = READ COMMITTED")
    queue.value("SELECT COUNT(*) FROM q")
    assert not queue.session.in_transaction


def test_set_transaction(queue: Driver) -> None:
    queue.run("SET TRANSACTION READ ONLY")
    assert number_of(lambda: queue.dml("DELETE FROM q")) == 1456
    queue.rollback()
    queue.dml("DELETE FROM q WHERE id = 1")
    assert number_of(lambda: queue.run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")) == 1453


def test_lock_table(queue: Driver, connect: Connect) -> None:
    queue.run("LOCK TABLE q IN EXCLUSIVE MODE")
    other = connect()
    assert number_of(lambda: other.run("LOCK TABLE q IN ROW EXCLUSIVE MODE NOWAIT")) == 54
    assert number_of(lambda: other.run("LOCK TABLE q IN SHARE MODE WAIT 1")) == 30006
    assert number_of(lambda: other.run("LOCK TABLE q IN MY MODE")) == 1737
    assert other.value("SELECT COUNT(*) FROM q") == 20


def test_ddl_does_not_wait_for_a_table_in_use(queue: Driver, connect: Connect) -> None:
    queue.dml("UPDATE q SET state = 'X' WHERE id = 1")
    other = connect()
    assert number_of(lambda: other.run("ALTER TABLE q ADD more NUMBER")) == 54
    queue.rollback()
    other.run("ALTER TABLE q ADD more NUMBER")


@pytest.mark.parametrize("shared", [True, False], ids=["one server", "another server"])
def test_other_sessions_see_new_definitions(
    queue: Driver, connect: Connect, database: Database, extended_database: Database, shared: bool
) -> None:
    other = connect(on=database if shared else extended_database)
    everything = "SELECT * FROM q WHERE id = 1"
    for driver in (queue, other):
        assert len(driver.open(everything).columns) == 2
    other.dml("INSERT INTO q VALUES (30, 'X')")
    other.commit()
    queue.run("ALTER TABLE q ADD more NUMBER DEFAULT 5")
    if shared:
        assert other.rows(everything) == [(1, "READY", 5)]
        assert number_of(lambda: other.dml("INSERT INTO q VALUES (31, 'X')")) == 947
        other.dml("UPDATE q SET state = 'Y' WHERE id = 1")
        other.rollback()
    queue.run("DROP TABLE q", "CREATE TABLE q (id VARCHAR2(10))")
    queue.dml("INSERT INTO q VALUES ('1')")
    queue.commit()
    # In a transaction, too, where an outdated plan would abort it.
    other.run("SAVEPOINT a")
    assert other.rows("SELECT * FROM q") == [("1",)]


def test_settings_outlive_a_rollback(db: Driver) -> None:
    db.run("CREATE TABLE t (a DATE)")
    db.dml("INSERT INTO t VALUES (NULL)")
    db.run("ALTER SESSION SET TIME_ZONE = '+03:00'")
    db.rollback()
    (zoned,) = db.rows("SELECT CURRENT_TIMESTAMP FROM dual")[0]
    assert zoned.utcoffset() == dt.timedelta(hours=3)


def test_the_last_setting_counts_after_a_commit_and_a_rollback(db: Driver) -> None:
    db.run("CREATE TABLE t (a DATE)")
    db.dml("INSERT INTO t VALUES (NULL)")
    db.run("ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY'")
    db.commit()
    db.run("ALTER SESSION SET NLS_DATE_FORMAT = 'MM'")
    db.dml("INSERT INTO t VALUES (NULL)")
    db.rollback()
    assert db.value("SELECT TO_CHAR(DATE '2024-02-03') FROM dual") == "02"


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("ALTER SESSION SET nonsense = 1", 2248),
        ("ALTER SESSION SET NLS_SORT = GERMAN", 3001),
        ("ALTER SESSION SET TIME_ZONE = '+99:00'", 1874),
        ("ALTER SESSION SET TIME_ZONE = 'Nowhere/Land'", 1882),
        ("ALTER SESSION SET CURRENT_SCHEMA = nobody", 1435),
        ("ALTER SESSION SET ISOLATION_LEVEL = CHAOS", 2183),
        ("COMMIT NOW", 2185),
        ("ROLLBACK FROM x", 2181),
        ("SET TRANSACTION FAST", 900),
        ("SET TRANSACTION READ WRITE NO WAIT", 3048),
    ],
)
def test_refused_session_statements(db: Driver, statement: str, number: int) -> None:
    assert number_of(lambda: db.run(statement)) == number


def test_the_current_schema(db: Driver, database: Database, connect: Connect, user: str) -> None:
    database.create_user("NEIGHBOUR", "secret")
    db.run("CREATE TABLE t (a NUMBER)", "ALTER SESSION SET CURRENT_SCHEMA = neighbour")
    assert number_of(lambda: db.rows("SELECT * FROM t")) == 942
    assert db.rows(f"SELECT * FROM {user}.t") == []
    assert db.value("SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM dual") == "NEIGHBOUR"
    assert db.value("SELECT USER FROM dual") == user


def test_savepoints_of_the_engine_leave_no_transaction(queue: Driver) -> None:
    session = queue.session
    session.savepoint("block")
    queue.rows("SELECT * FROM q")
    session.release("block")
    assert not session.in_transaction
    session.savepoint("block")
    queue.dml("DELETE FROM q")
    session.rollback_to("block")
    session.release("block")
    assert queue.value("SELECT COUNT(*) FROM q") == 20


def test_the_engines_own_questions_do_not_harm_the_transaction(queue: Driver) -> None:
    queue.dml("DELETE FROM q WHERE id = 1")
    with pytest.raises(OraError):
        queue.session.ask("SELECT nonsense")
    assert queue.session.ask("SELECT 1::int4, true, 'x', NULL, '\\x00ff'::bytea, $1::text, $2::int4", "é", 5) == [
        (1, True, "x", None, b"\x00\xff", "é", 5)
    ]
    assert queue.value("SELECT COUNT(*) FROM q") == 19


class ImpatientClient:
    """A client whose socket can be made readable; it then wants to stop."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def fileno(self) -> int:
        return self._read

    def interrupted(self) -> bool:
        return os.read(self._read, 1) == b"!"

    def ask_to_stop(self) -> None:
        os.write(self._write, b"!")

    def say_something(self) -> None:
        os.write(self._write, b".")

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


@pytest.fixture
def impatient() -> Iterator[ImpatientClient]:
    client = ImpatientClient()
    yield client
    client.close()


ENDLESS = "SELECT COUNT(*) FROM q a, q b, q c, q d, q e, q f, q g, q h"


@pytest.mark.parametrize("inside", [False, True], ids=["no transaction", "in a transaction"])
@pytest.mark.parametrize(
    "call",
    [
        lambda db: db.rows(ENDLESS),
        lambda db: db.dml(f"INSERT INTO q SELECT -1, 'X' FROM dual WHERE 0 = ({ENDLESS})"),
        lambda db: db.many(f"UPDATE q SET state = 'X' WHERE 0 = ({ENDLESS})", [()] * 20, []),
        lambda db: db.dml("DELETE FROM q WHERE id = 20"),
    ],
    ids=["query", "insert", "array", "waits for a lock"],
)
def test_cancel(
    queue: Driver, connect: Connect, impatient: ImpatientClient, call: Callable[[Driver], object], inside: bool
) -> None:
    queue.rows("SELECT id FROM q WHERE id = 20 FOR UPDATE")
    db = connect(impatient)
    if inside:
        db.dml("DELETE FROM q WHERE id = 1")
    running = Background(lambda: call(db))
    time.sleep(0.2)
    impatient.say_something()
    time.sleep(0.1)
    assert running.running
    impatient.ask_to_stop()
    with pytest.raises(OraError, match="ORA-01013"):
        running.result()
    assert db.session.in_transaction == inside
    assert db.value("SELECT COUNT(*) FROM q") == (19 if inside else 20)


def test_cancel_reaches_the_whole_block(connect: Connect, impatient: ImpatientClient) -> None:
    db = connect(impatient)
    block = "DECLARE n NUMBER := 0; BEGIN FOR i IN 1 .. 100000000 LOOP n := n + i; END LOOP; END;"
    running = Background(lambda: db.session.block(block, [()], []))
    time.sleep(0.3)
    impatient.ask_to_stop()
    with pytest.raises(OraError, match="ORA-01013"):
        running.result()
