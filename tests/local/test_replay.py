"""What is recorded on one schema is repeated on another, and every answer that differs is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import oracledb
import pytest
from typer.testing import CliRunner

from oraclerag.cli import app
from oraclerag.errors import InputError
from oraclerag.local import LocalDatabase
from oraclerag.replay import Recording, Replayed, clear, contents, lent, recording_pool, replay
from tests.local.conftest import Account

pytestmark = pytest.mark.one_size("standard")

Program = Callable[[oracledb.ConnectionPool], None]


@contextmanager
def pool_of(account: Account, recording: Recording) -> Iterator[oracledb.ConnectionPool]:
    pool = recording_pool(recording, min=1, max=2, dsn=account.dsn, user=account.user, password=account.password)
    try:
        yield pool
    finally:
        pool.close(force=True)


@pytest.fixture
def repeated(account: Account, local_database: LocalDatabase) -> Callable[[Program, str], Replayed]:
    """Record a program on the test's user, and repeat it on a second one that a statement has prepared."""

    def run(program: Program, preparation: str = "") -> Replayed:
        recording = Recording()
        with pool_of(account, recording) as pool:
            program(pool)
        other = f"{account.user}_B"
        second = Account(local_database.dsn, other, local_database.create_user(other))
        if preparation:
            with second.connect() as connection:
                connection.cursor().execute(preparation)
                connection.commit()
        return replay(recording, second.connect)

    return run


def everything(pool: oracledb.ConnectionPool) -> None:
    """Use what the toolkit uses of the driver."""
    connection = pool.acquire()
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE NOTE (ID NUMBER PRIMARY KEY, BODY CLOB, STAMP TIMESTAMP DEFAULT SYSTIMESTAMP)")
    cursor.setinputsizes(body=oracledb.DB_TYPE_CLOB)
    cursor.executemany(
        "INSERT INTO NOTE (ID, BODY) VALUES (:id, :body)",
        [{"id": 1, "body": "a"}, {"id": 1, "body": "b"}, {"id": 2, "body": None}],
        batcherrors=True,
    )
    assert [error.offset for error in cursor.getbatcherrors()] == [1]
    connection.commit()
    cursor.setinputsizes(id=cursor.var(oracledb.DB_TYPE_NUMBER))
    cursor.execute("SELECT ID, BODY, STAMP FROM NOTE WHERE ID = :id", {"id": 1})
    row = cursor.fetchone()
    assert (row[0], row[1].read()) == (1, "a")
    with pytest.raises(oracledb.DatabaseError, match="ORA-00942"):
        cursor.execute("SELECT 1 FROM NOTHING")
    cursor.arraysize = cursor.prefetchrows = 1
    cursor.execute("SELECT ID FROM NOTE ORDER BY ID FOR UPDATE SKIP LOCKED")
    assert cursor.fetchmany(1) == [(1,)]
    second = pool.acquire()
    other = second.cursor()
    other.execute("SELECT ID FROM NOTE FOR UPDATE SKIP LOCKED")
    assert other.fetchall() == [(2,)]
    pool.release(second)
    cursor.executemany("DELETE FROM NOTE WHERE ID = :1", [(1,), (5,)], arraydmlrowcounts=True)
    pool.release(connection)  # without a commit
    third = pool.acquire()
    assert list(third.cursor().execute("SELECT COUNT(*) FROM NOTE")) == [(2,)]
    third.close()


def test_the_same_database_answers_the_same(repeated: Callable[..., Replayed]) -> None:
    found = repeated(everything)
    assert found.differences == ()
    assert found.statements >= 7


def test_each_answer_that_differs_is_found(repeated: Callable[..., Replayed]) -> None:
    def program(pool: oracledb.ConnectionPool) -> None:
        with pool.acquire() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE NOTE (ID NUMBER PRIMARY KEY, BODY VARCHAR2(10))")
            cursor.execute("INSERT INTO NOTE VALUES (1, 'a')")
            connection.commit()
            cursor.execute("SELECT ID, BODY FROM NOTE").fetchall()
            cursor.execute("UPDATE NOTE SET BODY = 'b'")

    found = repeated(program, "CREATE TABLE NOTE (ID NUMBER, BODY CLOB)").differences
    assert [(one.what, one.recorded, one.replayed) for one in found] == [
        ("error", "no error", "ORA-00955"),
        ("columns", "(('ID', 'DB_TYPE_NUMBER'), ('BODY', 'DB_TYPE_VARCHAR'))",
         "(('ID', 'DB_TYPE_NUMBER'), ('BODY', 'DB_TYPE_CLOB'))"),
    ]  # fmt: skip


def test_a_schema_is_emptied_of_everything(account: Account) -> None:
    with account.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE A (ID NUMBER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, V VECTOR(2))")
        cursor.execute("CREATE TABLE B (A_ID NUMBER REFERENCES A (ID))")
        cursor.execute("CREATE VIEW C AS SELECT * FROM B")
        cursor.execute("CREATE SEQUENCE D")
        made = contents(connection)
        assert made
        assert clear(connection, made) == []


def test_what_was_not_made_by_the_replay_stays(account: Account, local_database: LocalDatabase) -> None:
    other = Account(account.dsn, f"{account.user}_C", local_database.create_user(f"{account.user}_C"))
    with account.connect() as connection, other.connect() as another, connection.cursor() as cursor:
        another.cursor().execute("CREATE TABLE A (ID NUMBER)")
        cursor.execute("CREATE TABLE A (ID NUMBER)")
        cursor.execute("CREATE TABLE MINE (ID NUMBER)")
        cursor.execute(f"ALTER SESSION SET CURRENT_SCHEMA = {other.user}")
        assert clear(connection, [("TABLE", "A"), ("VIEW", "MINE")]) == [("TABLE", "MINE")]
        assert contents(another) == [("TABLE", "A")]


def test_a_schema_is_lent_by_the_session_that_works_in_it(account: Account, local_database: LocalDatabase) -> None:
    with account.connect() as connection, connection.cursor() as cursor:
        assert lent(connection) == account.user
        other = f"{account.user}_D"
        local_database.create_user(other)
        cursor.execute(f"ALTER SESSION SET CURRENT_SCHEMA = {other}")
        with pytest.raises(InputError, match=f"work in the schema {other}, which is not lent"):
            lent(connection)


@pytest.fixture
def verify(
    account: Account, tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[int, str]]:
    """Run the verb against the test's user; gives exit code and what it printed."""
    for name, value in (
        ("ORACLE_DSN", account.dsn),
        ("ORACLE_USER", account.user),
        ("ORACLE_PASSWORD", account.password),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def run() -> tuple[int, str]:
        result = CliRunner().invoke(app, ["verify-oracle", "--model", str(tiny_file), "-o", "seen.md"])
        return result.exit_code, f"{result.output}{result.exception or ''}"

    return run


def test_the_demo_is_answered_alike_by_a_second_local_database(
    verify: Callable[[], tuple[int, str]], account: Account, tmp_path: Path
) -> None:
    code, printed = verify()
    assert code == 0, printed
    assert "No difference in rows, types or error numbers." in (tmp_path / "seen.md").read_text("utf-8")
    with account.connect() as connection:
        assert contents(connection) == []


def test_a_schema_that_holds_anything_is_left_alone(
    verify: Callable[[], tuple[int, str]], account: Account, tmp_path: Path
) -> None:
    with account.connect() as connection:
        connection.cursor().execute("CREATE TABLE MINE (ID NUMBER)")
    code, printed = verify()
    assert code == 1
    assert f"The schema {account.user} is not empty: it holds table MINE" in printed
    assert not (tmp_path / "seen.md").exists()
    with account.connect() as connection:
        assert contents(connection) == [("TABLE", "MINE")]


def making(account: Account, *tables: str) -> None:
    """Make tables in a session of its own."""
    with account.connect() as connection, connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"CREATE TABLE {table} (ID NUMBER)")


def test_what_comes_into_the_schema_while_the_demo_is_recorded_is_left_alone(
    verify: Callable[[], tuple[int, str]], account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recorded(*_: object) -> tuple[Recording, list[tuple[str, str]]]:
        making(account, "TASK")
        return Recording(), [("TABLE", "TASK")]

    monkeypatch.setattr("oraclerag.cli.verify_oracle._recorded", recorded)
    code, printed = verify()
    assert code == 1
    assert f"The schema {account.user} is not empty: it holds table TASK" in printed
    with account.connect() as connection:
        assert contents(connection) == [("TABLE", "TASK")]


def test_what_comes_into_the_schema_while_the_demo_is_repeated_is_left_and_said(
    verify: Callable[[], tuple[int, str]], account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def repeated(*_: object, **__: object) -> Replayed:
        making(account, "TASK", "MINE")
        return Replayed(0, 0, ())

    monkeypatch.setattr("oraclerag.cli.verify_oracle._recorded", lambda *_: (Recording(), [("TABLE", "TASK")]))
    monkeypatch.setattr("oraclerag.replay.replay", repeated)
    code, printed = verify()
    assert code == 1
    assert f"the schema {account.user} is not empty: table MINE and 0 more are left" in printed
    assert (tmp_path / "seen.md").exists()
    with account.connect() as connection:
        assert contents(connection) == [("TABLE", "MINE")]
