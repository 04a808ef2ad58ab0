"""The schema on a real database: what only Oracle can say."""

from __future__ import annotations

from collections.abc import Iterator

import oracledb
import pytest

from oraclerag import schema
from oraclerag.config import Settings
from oraclerag.database import Database
from tests.local.conftest import Account
from tests.unit.sqlplus import statements

pytestmark = pytest.mark.oracle


@pytest.fixture
def database(account: Account) -> Iterator[Database]:
    database = Database(Settings(dsn=account.dsn, user=account.user, password=account.password))
    yield database
    database.close()


def names(connection: oracledb.Connection) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_NAME NOT LIKE 'BIN$%'")
        return {name for (name,) in cursor}


def test_migrate_and_back(database: Database) -> None:
    with database.connect() as connection:
        before = names(connection)
        assert schema.migrate(database).applied == schema.revisions()
        assert schema.migrate(database).applied == ()
        schema.require(connection, database.schema)
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, LANE) VALUES ('task', '1', NULL)")
            cursor.execute(
                "SELECT LANE, TENANT_ID, ACTION, STATE FROM RAG_DIRTY "
                "WHERE AVAILABLE_AT BETWEEN SYS_EXTRACT_UTC(SYSTIMESTAMP) - INTERVAL '1' MINUTE "
                "AND SYS_EXTRACT_UTC(SYSTIMESTAMP)"
            )
            assert cursor.fetchall() == [(0, "-", "UPSERT", "READY")]
        connection.rollback()
        schema.migrate(database, "base")
        assert names(connection) == before


def test_the_script_runs_twice(database: Database) -> None:
    script = statements(schema.script(database.schema))
    with database.connect() as connection:
        for statement in script + script:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        schema.require(connection, database.schema)
        back = statements(schema.script(database.schema, from_revision="0001", to="base"))
        for statement in back:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        assert schema.current(connection, database.schema) is None


def test_the_multivalue_index_is_used(database: Database) -> None:
    schema.migrate(database)
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN PLAN FOR SELECT /*+ INDEX(c RAG_CHUNK_ERROR_IDX) */ c.CHUNK_ID FROM RAG_CHUNK c WHERE "
            """JSON_EXISTS(c.METADATA, '$.oracle_error_code?(@.stringOnly() == $code)' PASSING 'ORA-00904' AS "code")"""
        )
        cursor.execute("SELECT PLAN_TABLE_OUTPUT FROM TABLE(DBMS_XPLAN.DISPLAY)")
        assert any("RAG_CHUNK_ERROR_IDX" in line for (line,) in cursor)
