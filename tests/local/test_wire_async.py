"""The asyncio flavour of the driver, and pipelining."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import oracledb
import pytest

from tests.local.wire_backend import CLOB_TEXT, PASSWORD, SETTINGS, USER, VECTOR, Served


@pytest.fixture(scope="module", params=SETTINGS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(SETTINGS[request.param]) as served:
        yield served


def _run(served: Served, work: Callable[[oracledb.AsyncConnection], Awaitable[None]]) -> None:
    async def main() -> None:
        async with oracledb.connect_async(user=USER, password=PASSWORD, dsn=served.server.dsn) as connection:
            await work(connection)

    asyncio.run(main())


def test_statements(served: Served) -> None:
    async def work(connection: oracledb.AsyncConnection) -> None:
        with connection.cursor() as cursor:
            await cursor.execute("select big 1003 from t")
            assert len(await cursor.fetchall()) == 1003
            await cursor.execute("select lobs from t")
            rows = await cursor.fetchall()
            assert await rows[0][1].read() == CLOB_TEXT
            await cursor.execute("select vectors from t")
            assert (await cursor.fetchone())[1] == VECTOR
            await cursor.execute("insert into t values (:1, :2)", ["z" * 300000, 1])
            with pytest.raises(oracledb.IntegrityError):
                await cursor.execute("insert into picky values (:1)", [3])
            await cursor.executemany("insert into t values (:1)", [[number] for number in range(500)])
            assert cursor.rowcount == 500

    _run(served, work)


def test_call_timeout(served: Served) -> None:
    async def work(connection: oracledb.AsyncConnection) -> None:
        with connection.cursor() as cursor:
            connection.call_timeout = 300
            with pytest.raises(oracledb.DatabaseError, match="DPY-4024"):
                await cursor.execute("select sleep 60 from dual")
            connection.call_timeout = 0
            await cursor.execute("select 1 from dual")
            assert await cursor.fetchall() == [(1,)]

    _run(served, work)


def test_a_pool(served: Served) -> None:
    async def main() -> None:
        pool = oracledb.create_pool_async(user=USER, password=PASSWORD, dsn=served.server.dsn, min=1, max=3)

        async def work(number: int) -> None:
            async with pool.acquire() as connection:
                assert await connection.fetchone("select echo :1", [number]) == (number,)

        await asyncio.gather(*(work(number) for number in range(12)))
        await pool.close()

    asyncio.run(main())


def test_a_pipeline(served: Served) -> None:
    async def work(connection: oracledb.AsyncConnection) -> None:
        pipeline = oracledb.create_pipeline()
        pipeline.add_execute("insert into t values (:1)", [1])
        pipeline.add_executemany("insert into t values (:1)", [[2], [3]])
        pipeline.add_fetchall("select 1 from dual")
        pipeline.add_fetchall("select big 500 from t")
        pipeline.add_fetchone("select echo :1", ["x"])
        pipeline.add_commit()
        results = await connection.run_pipeline(pipeline)
        assert [result.rows and len(result.rows) for result in results] == [None, None, 1, 500, 1, None]
        assert not connection.transaction_in_progress

    _run(served, work)


def test_a_pipeline_goes_on_after_errors_when_asked_to(served: Served) -> None:
    async def work(connection: oracledb.AsyncConnection) -> None:
        pipeline = oracledb.create_pipeline()
        pipeline.add_fetchall("select 1 from dual")
        pipeline.add_execute("insert into picky values (:1)", [3])
        pipeline.add_fetchall("select 1 from dual")
        results = await connection.run_pipeline(pipeline, continue_on_error=True)
        assert [result.rows for result in results] == [[(1,)], None, [(1,)]]
        assert [result.error and result.error.full_code for result in results] == [None, "ORA-00001", None]

    _run(served, work)


def test_a_pipeline_stops_at_its_first_error_otherwise(served: Served) -> None:
    async def work(connection: oracledb.AsyncConnection) -> None:
        served.engine.inserted.clear()
        pipeline = oracledb.create_pipeline()
        pipeline.add_execute("insert into t values (:1)", [1])
        pipeline.add_execute("insert into picky values (:1)", [3])
        pipeline.add_execute("insert into t values (:1)", [2])
        with pytest.raises(oracledb.IntegrityError):
            await connection.run_pipeline(pipeline)
        assert served.engine.inserted == [(1,)]
        assert await connection.fetchall("select 1 from dual") == [(1,)]

    _run(served, work)
