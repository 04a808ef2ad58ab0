"""Sessions of real clients, recorded and sent again with changes: no hang, no fault, and others do not notice."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import resource
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import oracledb
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from oraclerag.local import LocalDatabase
from oraclerag.local.wire.packets import Marker, PacketType
from tests.local.conftest import Account
from tests.local.wire_backend import CLOB_TEXT, PASSWORD, SETTINGS, USER, Served
from tests.local.wire_raw import packet
from tests.local.wire_recording import Case, changed, record, repeatable_logins, replay, run

_ENGINE_OF_THE_TESTS = "tests/local/wire_backend.py"  # it knows some statements by heart, and trips over others
_BREAK, _RESET = (packet(PacketType.MARKER, bytes((1, 0, kind))) for kind in (Marker.INTERRUPT, Marker.RESET))
_EXAMPLES = 200
_LONG = 12_000
_GROWTH = 400_000_000  # bytes of memory


def _values(connection: oracledb.Connection) -> None:
    run(connection, "select all_types from t")
    run(connection, "select big 250 from t")
    run(connection, "select none from t")
    run(connection, "select * from missing")
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678)  # noqa: DTZ001
    run(
        connection,
        "select echo :1, :2, :3, :4, :5, :6, :7 from dual",
        ["text", 12.5, moment, b"raw", True, None, dt.timedelta(1)],
    )
    with connection.cursor() as cursor:
        cursor.setinputsizes(oracledb.DB_TYPE_VECTOR, oracledb.DB_TYPE_JSON, oracledb.DB_TYPE_TIMESTAMP_TZ)
        cursor.execute("select echo :1, :2, :3", [array("f", [1, 2, 3]), {"a": [1, "x", None]}, moment])
        cursor.fetchall()


def _changes(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.executemany("insert into t values (:1, :2)", [[number, f"row {number}"] for number in range(100)])
        cursor.executemany("insert into t values (:1, :2)", [[number, None] for number in range(3)])
        cursor.executemany("insert into picky values (:1)", [[number] for number in range(6)], batcherrors=True)
        cursor.executemany("insert into t values (:1)", [[1], [2]], arraydmlrowcounts=True)
        given, returned = cursor.var(int), cursor.var(str)
        cursor.execute("update t set a = :1 returning id, name into :2, :3", [1, given, returned])
        out = cursor.var(int)
        cursor.execute("begin :1 := :2 * 2; end;", [out, 21])
        cursor.execute("begin :1 := :2 * 2; end;", [out, 22])
        cursor.execute("insert into t values (:1)", ["z" * 40_000])
    connection.commit()
    connection.current_schema = "OTHER"
    connection.module = "module"
    run(connection, "select schema from dual")
    run(connection, "create table t (n number)")
    connection.ping()
    connection.rollback()


def _large_values(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select lobs from t")
        for _, text, _ in cursor:
            if text is not None:
                text.read(1, 100)
                text.size()
        lob = connection.createlob(oracledb.DB_TYPE_CLOB)
        lob.write(CLOB_TEXT[:3000])
        lob.write("ä😀", 10)
        lob.trim(50)
        lob.open()
        lob.isopen()
        lob.close()
        lob.getchunksize()
        cursor.execute("insert into t values (:1)", [lob])
        cursor.execute("select vectors from t")
        cursor.fetchall()
        cursor.execute("select json from t")
        cursor.fetchall()


SCRIPTS: dict[str, Callable[[oracledb.Connection], None]] = {
    "values": _values,
    "changes": _changes,
    "large values": _large_values,
}


def _recorded(
    port: int, user: str, password: str, scripts: dict[str, Callable[..., None]], trips: Callable[[], int]
) -> dict[str, list[bytes]]:
    """Record a session of each script, one whose password is wrong, and one with a pipeline.

    Sent again unchanged, each gets as far as it did: ``trips`` counts requests that were answered.
    """

    def playing(script: Callable[[oracledb.Connection], None]) -> Callable[[str], None]:
        def play(dsn: str) -> None:
            with oracledb.connect(user=user, password=password, dsn=dsn) as connection:
                script(connection)

        return play

    def refused(dsn: str) -> None:
        with pytest.raises(oracledb.DatabaseError, match="ORA-01017"):
            oracledb.connect(user=user, password="wrong", dsn=dsn)

    def pipelined(dsn: str) -> None:
        async def main() -> None:
            async with oracledb.connect_async(user=user, password=password, dsn=dsn) as connection:
                pipeline = oracledb.create_pipeline()
                pipeline.add_fetchall("select 1 from dual")
                pipeline.add_execute("select * from missing")
                pipeline.add_executemany("insert into t values (:1)", [[1], [2]])
                pipeline.add_commit()
                await connection.run_pipeline(pipeline, continue_on_error=True)

        asyncio.run(main())

    plays = {name: playing(script) for name, script in scripts.items()} | {"refused": refused, "pipeline": pipelined}
    sessions = {}
    for name, play in plays.items():
        before = trips()
        sessions[name] = record(port, play)
        between = trips()
        replay(port, sessions[name])
        assert trips() - between == between - before, name
    return sessions


class _Faults(logging.Handler):
    """Collects what the server logs of faults of its own."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if _ENGINE_OF_THE_TESTS not in text:
            self.found.append(text)


@contextmanager
def _faults() -> Iterator[_Faults]:
    handler = _Faults()
    logger = logging.getLogger("oraclerag.local")
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _fuzz(
    port: int, sessions: dict[str, list[bytes]], examples: int, check: Callable[[], None], pause: float = 0.0
) -> None:
    """Send changed sessions, look for faults after each and have a fresh client ask every now and then."""
    count = 0
    with _faults() as faults:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

        @settings(
            max_examples=examples,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(changed(sessions))
        def send(case: Case) -> None:
            nonlocal count
            faults.found.clear()
            replay(port, case.packets, pause=pause)
            assert faults.found == []
            count += 1
            if count % 20 == 0:
                check()

        send()
        check()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < _GROWTH


def _canned(served: Served, examples: int) -> None:
    with repeatable_logins():
        sessions = _recorded(served.server.port, USER, PASSWORD, SCRIPTS, lambda: served.server.round_trips)

        def check() -> None:
            served.engine.inserted.clear()
            served.engine.statements.clear()
            served.engine.rows.clear()
            served.engine.sessions.clear()
            with served.connect() as connection, connection.cursor() as cursor:
                cursor.execute("select echo :1", ["fresh"])
                assert cursor.fetchone() == ("fresh",)

        _fuzz(served.server.port, sessions, examples, check)
    deadline = time.monotonic() + 20
    while served.server.sessions:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_changed_sessions_do_no_harm() -> None:
    with Served(SETTINGS["default"]) as served:
        _canned(served, _EXAMPLES)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SETTINGS)
def test_changed_sessions_do_no_harm_at_length(name: str) -> None:
    with Served(SETTINGS[name]) as served:
        _canned(served, _LONG)


@pytest.mark.parametrize("program", ["short", "/with/a/long/path" * 12], ids=["short", "long"])
def test_a_break_in_the_middle_of_a_request_is_for_that_request_alone(program: str) -> None:
    """A client goes on sending the request, then takes part in the reset, and means the next request."""

    def play(dsn: str) -> None:
        account = {"user": USER, "password": PASSWORD, "program": program}
        with oracledb.connect(dsn=dsn, **account) as connection, connection.cursor() as cursor:
            cursor.execute("insert into t values (:1)", ["z" * 40_000])
            cursor.execute("insert into t values (:other)", ["next"])

    with Served(SETTINGS["default"]) as served, repeatable_logins():
        packets = record(served.server.port, play)
        (first,) = [place for place, sent in enumerate(packets) if b"insert into t" in sent and len(sent) > 8000]
        (following,) = [place for place, sent in enumerate(packets) if b"next" in sent]
        assert following - first > 3
        for place in range(first + 1, following):
            served.engine.inserted.clear()
            broken = [*packets[:place], _BREAK, *packets[place:following], _RESET, *packets[following:]]
            assert b"ORA-01013" in replay(served.server.port, broken)
            assert served.engine.inserted == [("next",)]


def _real_values(connection: oracledb.Connection) -> None:
    run(connection, "SELECT n, s, d, c, j, v FROM fuzzed ORDER BY n")
    run(connection, "SELECT COUNT(*), MAX(s) FROM fuzzed WHERE n > :1 AND s LIKE :2", [0, "r%"])
    run(connection, "SELECT n FROM fuzzed ORDER BY VECTOR_DISTANCE(v, :1, COSINE) FETCH FIRST 3 ROWS ONLY",
        [array("f", [1, 2, 3])])  # fmt: skip
    run(connection, "SELECT n FROM fuzzed FOR UPDATE SKIP LOCKED")
    run(connection, "SELECT table_name FROM user_tables")
    run(connection, "DECLARE a NUMBER := :1; BEGIN :2 := a * 2; END;", [4, 5])


def _real_changes(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.setinputsizes(None, None, None, None, oracledb.DB_TYPE_JSON, oracledb.DB_TYPE_VECTOR)
        row: list[Any] = [1, "row", dt.datetime(2026, 1, 1), "clob" * 2000, {"a": [1]}, array("f", [1, 2, 3])]  # noqa: DTZ001
        cursor.executemany("INSERT INTO fuzzed VALUES (:1, :2, :3, :4, :5, :6)", [row] * 3)
    run(connection, "MERGE INTO fuzzed f USING (SELECT :1 n FROM dual) g ON (f.n = g.n) WHEN MATCHED THEN"
        " UPDATE SET s = :2 WHEN NOT MATCHED THEN INSERT (n) VALUES (g.n)", [1, "merged"])  # fmt: skip
    run(connection, "UPDATE fuzzed SET s = :1 WHERE n = :2", ["x", 1])
    run(connection, "SAVEPOINT a")
    run(connection, "DELETE FROM fuzzed WHERE n = :1", [1])
    run(connection, "ROLLBACK TO a")
    lob = connection.createlob(oracledb.DB_TYPE_CLOB)
    lob.write("text" * 500)
    run(connection, "UPDATE fuzzed SET c = :1", [lob])
    connection.rollback()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.one_size("standard")
def test_changed_sessions_do_the_engine_no_harm(local_database: LocalDatabase, account: Account) -> None:
    port = int(local_database.dsn.partition(":")[2].partition("/")[0])
    scripts = {"values": _real_values, "changes": _real_changes}
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE fuzzed (n NUMBER, s VARCHAR2(100), d DATE, c CLOB, j JSON, v VECTOR(3, FLOAT32))")
        with repeatable_logins():
            sessions = _recorded(port, account.user, account.password, scripts, lambda: local_database.round_trips)

            def check() -> None:
                cursor.execute("SELECT USER FROM dual")
                assert cursor.fetchone() == (account.user,)

            _fuzz(port, sessions, _LONG // 3, check, pause=0.05)
