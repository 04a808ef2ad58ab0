"""Login with the real driver: good and bad, in all settings of the protocol."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import oracledb
import pytest

from oraclerag.local.server import Server
from tests.local.wire_backend import PASSWORD, SETTINGS, USER, Served


@pytest.fixture(scope="module", params=SETTINGS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(SETTINGS[request.param]) as served:
        yield served


def test_a_session_knows_what_drivers_ask_of_the_login_data(served: Served) -> None:
    with served.connect() as connection:
        assert connection.version == "23.26.1.0.0"
        assert connection.max_identifier_length == 128
        assert connection.max_open_cursors == 1000
        assert connection.service_name == "FREEPDB1"
        assert connection.instance_name == "FREE"
        assert connection.session_id > 0
        connection.ping()
    assert served.engine.sessions[-1].user == "RAG"


@pytest.mark.parametrize("given", ["rag", "RAG", "Rag", '"RAG"'])
def test_user_names_are_upper_case_unless_quoted(served: Served, given: str) -> None:
    with served.connect(user=given):
        assert served.engine.sessions[-1].user == "RAG"


@pytest.mark.parametrize(
    ("user", "password"),
    [(USER, "wrong"), (USER, PASSWORD.upper()), ("nobody", PASSWORD), ('"rag"', PASSWORD), (USER, PASSWORD + "\0")],
)
def test_wrong_credentials_are_ora_1017(served: Served, user: str, password: str) -> None:
    opened = len(served.engine.sessions)
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01017: ") as caught:
        served.connect(user=user, password=password)
    assert PASSWORD not in str(caught.value)
    assert len(served.engine.sessions) == opened


def test_the_engine_can_refuse_a_session(served: Served) -> None:
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-28000: "):
        served.connect(user="locked")


def test_sysdba_is_refused(served: Served) -> None:
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01017: "):
        served.connect(mode=oracledb.AUTH_MODE_SYSDBA)


def test_changing_the_password_is_refused(served: Served) -> None:
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*password"):
        served.connect(newpassword="other")
    with served.connect() as connection, pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*password"):
        connection.changepassword(PASSWORD, "other")


def test_unknown_services_are_refused_by_the_listener(served: Served) -> None:
    address = f"127.0.0.1:{served.server.port}"
    with pytest.raises(oracledb.OperationalError, match="DPY-6001"):
        served.connect(dsn=f"{address}/NOSUCH")
    with pytest.raises(oracledb.OperationalError, match="DPY-6003"):
        served.connect(dsn=None, host="127.0.0.1", port=served.server.port, sid="NOSUCH")
    with served.connect(dsn=f"{address}/freepdb1"):
        pass


def test_a_descriptor_longer_than_the_connect_packet(served: Served) -> None:
    descriptor = (
        f"(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={served.server.port}))"
        f"(CONNECT_DATA=(SERVICE_NAME=FREEPDB1)(PADDING={'x' * 300})))"
    )
    with served.connect(dsn=descriptor) as connection:
        connection.ping()


def test_the_time_zone_statement_of_the_login_reaches_the_engine(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORA_SDTZ", "+02:00")
    served.engine.statements.clear()
    with served.connect():
        assert served.engine.statements[0].startswith("ALTER SESSION SET TIME_ZONE=")
        assert "\0" not in served.engine.statements[0]


def test_pools_share_sessions_among_threads(served: Served) -> None:
    pool = oracledb.create_pool(
        user=USER, password=PASSWORD, dsn=served.server.dsn, min=2, max=4, increment=1, ping_interval=0
    )
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(10):
                with pool.acquire() as connection, connection.cursor() as cursor:
                    cursor.execute("select echo :1", [number])
                    assert cursor.fetchone() == (number,)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    pool.close()


def test_released_connections_are_rolled_back(served: Served) -> None:
    pool = oracledb.create_pool(user=USER, password=PASSWORD, dsn=served.server.dsn, min=1, max=1)
    before = served.engine.rollbacks
    with pool.acquire() as connection, connection.cursor() as cursor:
        cursor.execute("insert into t values (1)")
    with pool.acquire() as connection, connection.cursor() as cursor:
        cursor.execute("select 1 from dual")
    assert served.engine.rollbacks == before + 1
    pool.close()


def test_pooled_servers(served: Served) -> None:
    with served.connect(dsn=f"{served.server.dsn}:pooled", cclass="RAG", purity=oracledb.PURITY_SELF) as connection:
        cursor = connection.cursor()
        cursor.execute("select 1 from dual")
        assert cursor.fetchall() == [(1,)]


def test_a_port_that_is_taken(served: Served, tmp_path: Path) -> None:
    second = Server(served.engine, port=served.server.port, log_statements=tmp_path / "log")
    with pytest.raises(OSError, match="in use"):
        second.start()
    with pytest.raises(RuntimeError):
        served.server.start()
    second.close()


def test_a_server_that_never_started_can_be_closed(served: Served) -> None:
    server = Server(served.engine)
    with pytest.raises(RuntimeError):
        _ = server.port
    server.close()


def test_asyncio(served: Served) -> None:
    async def run() -> None:
        connection = await oracledb.connect_async(user=USER, password=PASSWORD, dsn=served.server.dsn)
        await connection.ping()
        await connection.close()
        with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01017: "):
            await oracledb.connect_async(user=USER, password="wrong", dsn=served.server.dsn)

    asyncio.run(run())
