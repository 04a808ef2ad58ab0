"""Codes become classes; what is lent is given back as it was; nothing here needs a database."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import oracledb
import pytest
import sqlalchemy
import sqlalchemy.exc

from oraclerag import database, errors
from oraclerag.config import Settings
from oraclerag.database import Database, connect_arguments, driver_connection, driver_types, in_list, parts, translated


def driver_error(full_code: str, text: str = "something") -> oracledb.DatabaseError:
    class Details:
        def __init__(self) -> None:
            self.full_code = full_code

        def __str__(self) -> str:
            return f"{full_code}: {text}"

    return oracledb.DatabaseError(Details())


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        ("ORA-01017", errors.LoginFailed),
        ("ORA-28000", errors.LoginFailed),
        ("DPY-6005", errors.ConnectionFailed),
        ("DPY-4011", errors.ConnectionFailed),
        ("ORA-03113", errors.ConnectionFailed),
        ("ORA-00018", errors.ConnectionFailed),
        ("ORA-01031", errors.PrivilegeMissing),
        ("ORA-01045", errors.PrivilegeMissing),
        ("ORA-01950", errors.PrivilegeMissing),
        ("ORA-00060", errors.Contention),
        ("ORA-00054", errors.Contention),
        ("ORA-12954", errors.SpaceExhausted),
        ("ORA-01653", errors.SpaceExhausted),
        ("ORA-01691", errors.SpaceExhausted),
        ("ORA-30036", errors.SpaceExhausted),
        ("ORA-04036", errors.SpaceExhausted),
        ("ORA-01555", errors.Contention),
        ("ORA-12838", errors.ParallelDml),
        ("ORA-40284", errors.ModelMissing),
        ("ORA-51803", errors.EmbeddingDimensionMismatch),
        ("ORA-51808", errors.EmbeddingDimensionMismatch),
        ("ORA-00942", errors.StatementFailed),
        ("ORA-00600", errors.StatementFailed),  # looks like a lost connection to the driver, but must not be retried
    ],
)
def test_codes_become_classes(code: str, cls: type[errors.OracleRagError]) -> None:
    original = driver_error(code)
    with pytest.raises(cls) as caught, translated():
        raise original
    assert type(caught.value) is cls
    assert caught.value.__cause__ is original
    assert code in caught.value.message


def test_no_code_belongs_to_two_classes() -> None:
    codes = [code for codes in database._CLASSES.values() for code in codes]
    assert len(codes) == len(set(codes)) == len(database._CLASS_OF)


def test_codes_have_the_form_of_the_driver() -> None:
    for code in database._CLASS_OF:
        assert (code.startswith("ORA-") and len(code) == 9) or (code.startswith("DPY-") and len(code) == 8)


def test_the_code_decides_not_the_text() -> None:
    with pytest.raises(errors.StatementFailed), translated():
        raise driver_error("ORA-20001", "user says ORA-01017 and ORA-40284")


def test_only_the_first_line_is_shown() -> None:
    text = "unique constraint (RAG.X) violated\nORA-03301: row with column values (NAME:'SECRET') already exists"
    with pytest.raises(errors.StatementFailed) as caught, translated():
        raise driver_error("ORA-00001", text)
    assert "unique constraint" in caught.value.message
    assert "SECRET" not in caught.value.message


@pytest.mark.parametrize("code", ["ORA-01722", "ORA-01858", "ORA-01438", "ORA-20001", "ORA-20999"])
def test_values_in_conversion_errors_are_not_shown(code: str) -> None:
    with pytest.raises(errors.StatementFailed) as caught, translated():
        raise driver_error(code, "unable to convert string value containing 'SECRET' to a number")
    assert code in caught.value.message
    assert "SECRET" not in caught.value.message


def test_why_a_connection_failed_is_said_without_noise() -> None:
    with pytest.raises(errors.ConnectionFailed) as caught, translated():
        raise driver_error(
            "DPY-6005", "cannot connect to database (CONNECTION_ID=abc==).\n[Errno 111] Connection refused"
        )
    assert caught.value.message.endswith("(DPY-6005: cannot connect to database: Connection refused).")


def test_an_error_that_sqlalchemy_wrapped_is_opened() -> None:
    original = driver_error("ORA-01017")
    with pytest.raises(errors.LoginFailed) as caught, translated():
        raise sqlalchemy.exc.DatabaseError("SELECT 1", {}, original)
    assert caught.value.__cause__ is original


@pytest.mark.parametrize("error", [ValueError("x"), errors.InputError("y"), sqlalchemy.exc.InvalidRequestError("z")])
def test_other_errors_pass(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translated():
        raise error
    assert caught.value is error


class Connection(oracledb.Connection):
    """An oracledb connection that was never opened."""

    def __init__(self) -> None:
        self._handler: Any = "theirs"

    def __repr__(self) -> str:
        return "<never opened>"

    @property
    def outputtypehandler(self) -> Any:
        return self._handler

    @outputtypehandler.setter
    def outputtypehandler(self, value: Any) -> None:
        self._handler = value


def test_the_connection_inside_is_found() -> None:
    inner = Connection()
    assert driver_connection(inner) is inner
    of_sqlalchemy = SimpleNamespace(connection=SimpleNamespace(driver_connection=inner))
    assert driver_connection(of_sqlalchemy) is inner
    assert driver_connection(SimpleNamespace(connection=lambda: of_sqlalchemy)) is inner


@pytest.mark.parametrize(
    "thing",
    [
        "not a connection",
        None,
        SimpleNamespace(connection=SimpleNamespace(driver_connection="psycopg")),
        SimpleNamespace(sync_connection=None, connection=None),
        SimpleNamespace(sync_session=None),
    ],
)
def test_anything_else_is_refused(thing: object) -> None:
    with pytest.raises(errors.InputError, match="is needed"):
        driver_connection(thing)


def test_a_connection_of_sqlalchemy_gives_the_driver_types_and_gets_its_handler_back() -> None:
    connection = Connection()
    with driver_types(connection):
        assert connection.outputtypehandler is None
    assert connection.outputtypehandler == "theirs"


class Pool:
    """Lends one connection and counts."""

    def __init__(self) -> None:
        self.healthy = True
        self.connection = SimpleNamespace(call_timeout=0, events=[], is_healthy=lambda: self.healthy)
        self.connection.commit = lambda: self.connection.events.append("commit")
        self.connection.rollback = lambda: self.connection.events.append("rollback")
        self.connection.cancel = lambda: self.connection.events.append("cancel")

    def acquire(self) -> Any:
        self.connection.events.append("acquire")
        return self.connection

    def release(self, connection: Any) -> None:
        assert connection is self.connection
        connection.events.append("release")

    def drop(self, connection: Any) -> None:
        assert connection is self.connection
        connection.events.append("drop")


def borrowed(pool: Pool) -> Database:
    return Database(Settings(call_timeout=9, schema="rag"), pool=pool)  # type: ignore[arg-type]


def test_a_transaction_commits_and_gives_back() -> None:
    pool = Pool()
    with borrowed(pool).transaction():
        pass
    assert pool.connection.events == ["acquire", "commit", "release"]


def test_an_exception_rolls_back_and_gives_back() -> None:
    pool = Pool()
    with pytest.raises(KeyError), borrowed(pool).transaction():
        raise KeyError
    assert pool.connection.events == ["acquire", "rollback", "release"]


@pytest.mark.parametrize(
    ("healthy", "events"),
    [(True, ["acquire", "cancel", "drop"]), (False, ["acquire", "drop"])],
    ids=["alive", "dropped by the driver: cancel() would end the process"],
)
def test_a_connection_that_a_signal_interrupted_is_lent_to_nobody_else(healthy: bool, events: list[str]) -> None:
    """It may be in the middle of a call, whose answer would be taken for that of the next one."""
    pool = Pool()
    pool.healthy = healthy
    with pytest.raises(KeyboardInterrupt), borrowed(pool).connect():
        raise KeyboardInterrupt
    assert pool.connection.events[: len(events)] == events


def test_a_borrowed_pool_keeps_its_timeout() -> None:
    pool = Pool()
    with borrowed(pool).connect() as connection:
        assert connection.call_timeout == 0
    pool.connection.call_timeout = 5
    with borrowed(pool).connect(call_timeout=900) as connection:
        assert connection.call_timeout == 5
    assert pool.connection.call_timeout == 5


def test_a_borrowed_connection_without_a_timeout_is_bounded_for_as_long_as_it_is_lent() -> None:
    pool = Pool()
    with borrowed(pool).connect(call_timeout=900) as connection:
        assert connection.call_timeout == 900_000
    assert pool.connection.call_timeout == 0


def test_a_connection_that_the_driver_has_dropped_is_not_touched_any_more() -> None:
    """Setting the timeout of one ends the process."""
    pool = Pool()
    with borrowed(pool).connect(call_timeout=900):
        pool.healthy = False
    assert pool.connection.call_timeout == 900_000


@pytest.mark.parametrize(("setting", "asked", "bound"), [(0, 0, 0), (0, 900, 900_000), (9, 900, 9_000), (9, 0, 9_000)])
def test_the_setting_wins_over_what_a_caller_asks_for(
    monkeypatch: pytest.MonkeyPatch, setting: float, asked: float, bound: int
) -> None:
    pool = Pool()
    pool.connection.call_timeout = 7  # left from whoever had it before
    monkeypatch.setattr(oracledb, "create_pool", lambda **_: pool)
    settings = Settings(dsn="h/s", user="rag", password="p", schema="rag", call_timeout=setting)
    with Database(settings).connect(call_timeout=asked) as connection:
        assert connection.call_timeout == bound


def test_sessions_of_the_own_pool_sort_as_they_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    cursor = SimpleNamespace(execute=said.append)
    session = SimpleNamespace(cursor=lambda: contextlib.nullcontext(cursor))

    def create_pool(**arguments: Any) -> Pool:
        arguments["session_callback"](session, "")
        return Pool()

    monkeypatch.setattr(oracledb, "create_pool", create_pool)
    with Database(Settings(dsn="h/s", user="rag", password="p", schema="rag")).connect():
        assert said == ["ALTER SESSION SET NLS_SORT = BINARY"]


def test_the_schema_is_the_setting_in_upper_case() -> None:
    assert borrowed(Pool()).schema == "RAG"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(errors.ConfigurationError) as caught:
        connect_arguments(Settings(user="rag"))
    assert caught.value.message.startswith("ORACLE_DSN, ORACLE_PASSWORD are not set")
    with pytest.raises(errors.ConfigurationError, match=r"^ORACLE_DSN is not set"):
        connect_arguments(Settings(user="rag", password="p"))


def test_only_what_is_set_reaches_the_driver_and_connections_are_kept_alive() -> None:
    settings = Settings(dsn="h/s", user="rag", password="p", wallet_location="/w")
    wanted = {"dsn": "h/s", "user": "rag", "password": "p", "wallet_location": "/w", "expire_time": 1}
    assert connect_arguments(settings) == wanted


def test_the_callers_engine_is_used() -> None:
    engine = sqlalchemy.create_engine("oracle+oracledb://", creator=lambda: None)
    assert Database(Settings(), engine=engine).sqlalchemy_engine() is engine


def test_an_engine_of_settings_needs_them() -> None:
    with pytest.raises(errors.ConfigurationError, match="ORACLE_DSN"):
        Database(Settings()).sqlalchemy_engine()


def test_an_engine_over_a_pool_keeps_no_connections() -> None:
    engine = Database(Settings(), pool=Pool()).sqlalchemy_engine()  # type: ignore[arg-type]
    assert engine.dialect.name == "oracle"
    assert type(engine.pool).__name__ == "NullPool"


def test_a_password_is_not_in_repr() -> None:
    assert "hunter2" not in repr(Settings(password="hunter2", wallet_password="hunter2"))


@pytest.mark.parametrize(("count", "size"), [(1, 1), (2, 2), (3, 4), (32, 32), (33, 64), (513, 1000), (1000, 1000)])
def test_lists_are_padded_to_powers_of_two(count: int, size: int) -> None:
    listed, binds = in_list(range(count))
    assert listed == ", ".join(f":e{n}" for n in range(size))
    assert list(binds.values()) == [*range(count), *[count - 1] * (size - count)]


def test_a_long_list_is_cut_into_parts() -> None:
    assert [len(part) for part in parts(range(1030))] == [512, 512, 6]
