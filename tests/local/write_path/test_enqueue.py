"""Enqueue: one INSERT in the caller's own transaction, from SQLAlchemy, from the driver, from plain SQL."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy
import sqlalchemy.orm

from oraclerag.enqueue import enqueue, enqueue_many, enqueue_statement
from oraclerag.errors import (
    AutocommitRefused,
    ConnectionFailed,
    InputError,
    MissingTenant,
    SchemaMissing,
    UnknownSource,
)
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.records import SourceKey
from oraclerag.scope import Scope
from oraclerag.source import SelectSource
from tests.local.conftest import Account
from tests.local.write_path.tracker import TASK, Tracker


@pytest.fixture
def engine(tracker: Tracker) -> Iterator[sqlalchemy.Engine]:
    made = sqlalchemy.create_engine(tracker.account.url)
    yield made
    made.dispose()


def arguments(tracker: Tracker) -> dict[str, Any]:
    return {"sources": tracker.sources, "schema": tracker.database.schema}


def rows(tracker: Tracker) -> list[tuple[Any, ...]]:
    tracker.connection.rollback()
    return tracker.sql("SELECT LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION, STATE FROM RAG_DIRTY ORDER BY DIRTY_ID")


def test_a_sqlalchemy_connection_takes_it_back_with_its_transaction(
    tracker: Tracker, engine: sqlalchemy.Engine
) -> None:
    with engine.connect() as connection:
        enqueue(connection, SourceKey("task", "42"), **arguments(tracker))
        assert connection.in_transaction()
        connection.rollback()
        assert rows(tracker) == []
        enqueue(connection, SourceKey("task", "43"), action="DELETE", **arguments(tracker))
        assert rows(tracker) == []
        connection.commit()
    assert rows(tracker) == [(0, "-", "task", "43", "DELETE", "READY")]


def test_a_session_takes_it_back_with_its_unit_of_work(tracker: Tracker, engine: sqlalchemy.Engine) -> None:
    with sqlalchemy.orm.Session(engine) as session:
        enqueue(session, SourceKey("task", "1"), **arguments(tracker))
        session.rollback()
        enqueue(session, SourceKey("task", "2", tenant="acme"), **arguments(tracker))
        session.commit()
    assert rows(tracker) == [(0, "acme", "task", "2", "UPSERT", "READY")]


def test_a_connection_of_the_driver(tracker: Tracker) -> None:
    with tracker.account.connect() as connection:
        enqueue(connection, SourceKey("task", "1"), **arguments(tracker))
        connection.rollback()
        keys = [SourceKey("task", str(number)) for number in range(3)]
        assert enqueue_many(connection, keys, lane=1, **arguments(tracker)) == 3
        connection.commit()
    assert [(row[0], row[3]) for row in rows(tracker)] == [(1, "0"), (1, "1"), (1, "2")]


def test_a_statement_for_whoever_executes_it(tracker: Tracker, engine: sqlalchemy.Engine) -> None:
    statement = enqueue_statement(SourceKey("task", "5"), sources=tracker.sources, schema=tracker.database.schema)
    with engine.begin() as connection:
        connection.execute(statement)
        connection.execute(enqueue_statement(SourceKey("task", "6"), sources=tracker.sources))
    assert [row[3] for row in rows(tracker)] == ["5", "6"]


def test_plain_sql_has_a_view(tracker: Tracker) -> None:
    tracker.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '7')")
    assert tracker.sql("SELECT LANE, TENANT_ID, ACTION, STATE, ATTEMPTS, CLAIM FROM RAG_DIRTY") == [
        (0, "-", "UPSERT", "READY", 0, None)
    ]


def test_autocommit_is_refused(tracker: Tracker, engine: sqlalchemy.Engine) -> None:
    with tracker.account.connect() as connection:
        connection.autocommit = True
        with pytest.raises(AutocommitRefused):
            enqueue(connection, SourceKey("task", "1"), **arguments(tracker))
    with (
        engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        pytest.raises(AutocommitRefused),
    ):
        enqueue(connection, SourceKey("task", "1"), **arguments(tracker))
    assert rows(tracker) == []


def test_an_announcement_is_one_round_trip(
    tracker: Tracker, engine: sqlalchemy.Engine, local_database: LocalDatabase
) -> None:
    def trips(action: Callable[[], object]) -> int:
        before = local_database.round_trips
        action()
        return local_database.round_trips - before

    key, keys = SourceKey("task", "42"), [SourceKey("task", str(number)) for number in range(200)]
    with Rag(tracker.settings) as rag:
        statement = rag.enqueue_statement(key)
        with tracker.account.connect() as connection:
            assert trips(lambda: rag.enqueue(connection, key)) == 1
            assert trips(lambda: rag.enqueue(connection, key)) == 1
            assert trips(lambda: enqueue_many(connection, keys, **arguments(tracker))) == 1
        with engine.connect() as begun:
            begun.execute(sqlalchemy.text("SELECT 1 FROM dual"))  # what an Engine asks of its first connection
            assert trips(lambda: rag.enqueue(begun, key)) == 1
            assert trips(lambda: begun.execute(statement)) == 1
        with sqlalchemy.orm.Session(engine) as session:
            assert trips(lambda: rag.enqueue(session, key)) == 1
            assert trips(lambda: enqueue_many(session, keys, **arguments(tracker))) == 1
            assert trips(lambda: session.execute(statement)) == 1


def test_a_missing_tenant_is_refused_where_the_source_maps_one(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tenant="status"))
    with pytest.raises(MissingTenant):
        enqueue(tracker.connection, SourceKey("task", "1"), sources={"task": source}, schema=tracker.database.schema)
    with pytest.raises(MissingTenant):
        enqueue_statement(SourceKey("task", "1"), sources={"task": source})


def test_an_unknown_source_is_named_with_those_there_are(tracker: Tracker) -> None:
    with pytest.raises(UnknownSource, match="'tusk'; configured: task"):
        enqueue(tracker.connection, SourceKey("tusk", "1"), **arguments(tracker))


def test_what_is_no_connection_is_refused(tracker: Tracker, engine: sqlalchemy.Engine) -> None:
    asynchronous = SimpleNamespace(sync_session=None, connection=None)  # the shape of an AsyncSession
    for wrong in (None, engine, "user/password@dsn", asynchronous):
        with pytest.raises(InputError):
            enqueue(wrong, SourceKey("task", "1"), **arguments(tracker))


def test_missing_tables_are_named(tracker: Tracker, account: Account) -> None:
    with account.connect() as connection, pytest.raises(SchemaMissing):
        enqueue(connection, SourceKey("task", "1"), sources=tracker.sources, schema=account.user)


def test_a_closed_connection_is_a_lost_one(tracker: Tracker, account: Account) -> None:
    closed = account.connect()
    closed.close()
    with pytest.raises(ConnectionFailed):
        enqueue(closed, SourceKey("task", "1"), **arguments(tracker))
    with Rag(tracker.settings) as rag:
        with pytest.raises(ConnectionFailed):
            rag.enqueue(closed, SourceKey("task", "1"))
        with pytest.raises(ConnectionFailed):
            rag.search("late payments", scope=Scope(), connection=closed)
