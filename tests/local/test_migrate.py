"""Migrations on a database: complete, repeatable from any point of interruption, and gone without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import alembic.autogenerate
import alembic.migration
import oracledb
import pytest
import sqlalchemy as sa

from oraclerag import schema, triggers
from oraclerag.config import Settings, parse_source
from oraclerag.database import Database
from oraclerag.errors import (
    ConnectionFailed,
    Contention,
    LoginFailed,
    SchemaError,
    SchemaMissing,
    SchemaTooNew,
)
from oraclerag.integrations.alembic import include_object
from oraclerag.local import LocalDatabase
from oraclerag.schema.objects import ddl
from oraclerag.source import SelectSource
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.unit.sqlplus import statements

pytestmark = pytest.mark.one_size
OBJECTS = ddl("0001_tables.sql")


@pytest.fixture
def database(account: Account) -> Iterator[Database]:
    database = Database(settings(account))
    yield database
    database.close()


def settings(account: Account, **more: Any) -> Settings:
    return Settings(dsn=account.dsn, user=account.user, password=account.password, **more)


def shape(connection: oracledb.Connection, owner: str) -> dict[str, Any]:
    """Everything in a schema: columns with their types and defaults, indexes, constraints, views."""
    found: dict[str, Any] = {}
    for name, query in {
        "columns": "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, DATA_LENGTH, DATA_PRECISION, DATA_SCALE, NULLABLE "
        "FROM ALL_TAB_COLUMNS WHERE OWNER = :owner",
        "indexes": "SELECT INDEX_NAME, TABLE_NAME, UNIQUENESS FROM ALL_INDEXES WHERE OWNER = :owner "
        "AND INDEX_NAME NOT LIKE 'SYS!_%' ESCAPE '!'",  # Oracle names those of LOBs anew every time
        "constraints": "SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE, TABLE_NAME, DELETE_RULE FROM ALL_CONSTRAINTS "
        "WHERE OWNER = :owner AND CONSTRAINT_NAME LIKE 'RAG%'",
        "views": "SELECT VIEW_NAME FROM ALL_VIEWS WHERE OWNER = :owner",
        "sequences": "SELECT COUNT(*) FROM ALL_SEQUENCES WHERE SEQUENCE_OWNER = :owner",
    }.items():
        with connection.cursor() as cursor:
            cursor.execute(query, owner=owner)
            found[name] = sorted(cursor.fetchall(), key=repr)
    return found


def execute(connection: oracledb.Connection, *texts: str) -> None:
    with connection.cursor() as cursor:
        for text in texts:
            cursor.execute(text)


def scalar(connection: oracledb.Connection, text: str, **binds: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(text, binds)
        row = cursor.fetchone()
        return row[0] if row else None


# -- the way there ----------------------------------------------------------------------------------------------------


def test_every_object_is_made_and_a_second_run_does_nothing(
    database: Database, connection: oracledb.Connection, account: Account
) -> None:
    assert schema.current(connection, account.user) is None
    with pytest.raises(SchemaMissing, match=f"no tables of oraclerag in the schema {account.user}"):
        schema.require(connection, account.user)

    report = schema.migrate(database)

    assert report == schema.MigrationReport(account.user, None, schema.revisions()[-1], schema.revisions())
    assert schema.current(connection, account.user) == schema.revisions()[-1]
    schema.require(connection, account.user)
    found = shape(connection, account.user)
    assert {table for table, *_ in found["columns"]} == {
        *(item.name for item in OBJECTS if item.table is None),
        "RAG_ALEMBIC_VERSION",
    }
    assert {item.name for item in OBJECTS if item.table is not None} <= {index for index, *_ in found["indexes"]}

    again = schema.migrate(database)
    assert again == schema.MigrationReport(account.user, "0001", "0001", ())
    assert shape(connection, account.user) == found


def test_the_view_enqueues_with_the_defaults_of_the_queue(database: Database, connection: oracledb.Connection) -> None:
    schema.migrate(database)
    execute(connection, "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '42')")
    with connection.cursor() as cursor:
        cursor.execute("SELECT LANE, TENANT_ID, ACTION, STATE, ATTEMPTS, CRASHES, CLAIM FROM RAG_DIRTY")
        assert cursor.fetchall() == [(0, "-", "UPSERT", "READY", 0, 0, None)]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, ACTION) VALUES ('t', '1', 'TOUCH')", 2290),
        ("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, LANE) VALUES ('t', '1', 2)", 2290),
        ("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE) VALUES ('t')", 1400),
        ("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('t', '')", 1400),
        ("INSERT INTO RAG_DOCUMENT (ENTITY_ID, TENANT_ID) VALUES (1, 'main')", 2291),
        ("INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING) VALUES (RPAD('x', 31, 'x'), 's')", 12899),
    ],
)
def test_the_tables_refuse_what_must_not_be(
    database: Database, connection: oracledb.Connection, statement: str, code: int
) -> None:
    schema.migrate(database)
    with pytest.raises(oracledb.DatabaseError) as caught:
        execute(connection, statement)
    assert caught.value.args[0].code == code


# -- the way back -----------------------------------------------------------------------------------------------------


def test_everything_of_ours_goes_and_nothing_else(
    database: Database, connection: oracledb.Connection, account: Account
) -> None:
    execute(
        connection,
        "CREATE TABLE TASK (ID NUMBER PRIMARY KEY, TITLE VARCHAR2(100))",
        "CREATE TABLE RAG_NOTES (ID NUMBER PRIMARY KEY)",
        "CREATE VIEW RAGS AS SELECT ID FROM TASK",
        "CREATE TABLE ALEMBIC_VERSION (VERSION_NUM VARCHAR2(32) NOT NULL)",
        "INSERT INTO ALEMBIC_VERSION (VERSION_NUM) VALUES ('theirs')",
    )
    connection.commit()
    before = shape(connection, account.user)
    schema.migrate(database)
    execute(
        connection,
        "ALTER TABLE RAG_CHUNK ADD (EMBEDDING VECTOR(384, FLOAT32))",
        "CREATE VECTOR INDEX RAG_CHUNK_EMB_IDX ON RAG_CHUNK (EMBEDDING) "
        "ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY 90",
        "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '1')",
    )
    connection.commit()

    report = schema.migrate(database, "base")

    assert report == schema.MigrationReport(account.user, "0001", None, ("0001",))
    assert shape(connection, account.user) == before
    assert scalar(connection, "SELECT VERSION_NUM FROM ALEMBIC_VERSION") == "theirs"
    assert schema.migrate(database, "base").applied == ()


def test_base_on_a_schema_that_was_never_migrated_touches_nothing(
    database: Database, connection: oracledb.Connection, account: Account
) -> None:
    execute(connection, "CREATE TABLE RAG_CHUNK (ID NUMBER)")
    schema.migrate(database, "base")
    assert scalar(connection, "SELECT COUNT(*) FROM RAG_CHUNK") == 0


def test_models_that_were_loaded_go_and_others_stay(
    database: Database, connection: oracledb.Connection, account: Account
) -> None:
    schema.migrate(database)
    for name in ("OURS_1A2B3C4D", "THEIRS"):
        with connection.cursor() as cursor:
            cursor.execute(
                "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :name, model_data => :data, metadata => JSON(:meta)); END;",
                name=name,
                data=tiny_model(),
                meta='{"function":"embedding","embeddingOutput":"embedding","input":{"input":["DATA"]}}',
            )
    execute(
        connection,
        "INSERT INTO RAG_MODEL (PHYSICAL_NAME, MODEL_NAME, SHA256, DIMENSIONS, MAX_TOKENS) "
        "VALUES ('OURS_1A2B3C4D', 'OURS', '00', 384, 256)",
        "INSERT INTO RAG_MODEL (PHYSICAL_NAME, MODEL_NAME, SHA256, DIMENSIONS, MAX_TOKENS) "
        "VALUES ('GONE_1A2B3C4D', 'GONE', '00', 384, 256)",
    )
    connection.commit()
    schema.migrate(database, "base")
    with connection.cursor() as cursor:
        cursor.execute("SELECT MODEL_NAME FROM USER_MINING_MODELS")
        assert cursor.fetchall() == [("THEIRS",)]


def test_triggers_that_were_written_go_and_others_stay(
    database: Database, connection: oracledb.Connection, account: Account
) -> None:
    schema.migrate(database)
    execute(
        connection,
        "CREATE TABLE TASK (ID NUMBER PRIMARY KEY, TITLE VARCHAR2(100))",
        "CREATE TABLE TASK_LOG (ID NUMBER)",
        "CREATE TRIGGER RAG_THEIRS_TRG AFTER INSERT ON TASK FOR EACH ROW "
        "BEGIN INSERT INTO TASK_LOG (ID) VALUES (:NEW.ID); END;",
    )
    table = {"select": "select id as source_id, title from task", "body": "title", "visibility": "shared"}
    source = parse_source("task", table | {"tables": {"task": "id"}}, Path(), "[source.task]")
    triggers.apply(database, triggers.plan(database, [SelectSource(source)]))
    execute(connection, "INSERT INTO TASK (ID, TITLE) VALUES (1, 'one')")
    connection.commit()
    assert scalar(connection, "SELECT COUNT(*) FROM RAG_DIRTY") == 1
    assert scalar(connection, "SELECT COUNT(*) FROM USER_TRIGGERS") == 2

    schema.migrate(database, "base")

    assert scalar(connection, "SELECT TRIGGER_NAME FROM USER_TRIGGERS") == "RAG_THEIRS_TRG"
    execute(connection, "INSERT INTO TASK (ID, TITLE) VALUES (2, 'two')")
    assert scalar(connection, "SELECT COUNT(*) FROM TASK_LOG") == 2


# -- interrupted ------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


class Interrupted:
    """An engine that is killed before a statement that changes something, or before a commit."""

    def __init__(self, account: Account) -> None:
        engine = sa.create_engine(account.url, poolclass=sa.pool.NullPool)
        self.database = Database(settings(account), engine=engine)
        self.left = {"statement": -1, "commit": -1}
        self.seen = {"statement": 0, "commit": 0}
        sa.event.listen(engine, "before_cursor_execute", self._statement)
        sa.event.listen(engine, "commit", lambda _connection: self._step("commit"))

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.lstrip().upper().startswith("SELECT"):
            self._step("statement")

    def _step(self, what: str) -> None:
        if self.left[what] == 0:
            raise Killed
        self.left[what] -= 1
        self.seen[what] += 1

    def run(self, to: str, *, statements: int = -1, commits: int = -1) -> bool:
        """Migrate, killed after so many statements or commits; True when it ended before."""
        self.left = {"statement": statements, "commit": commits}
        self.seen = dict.fromkeys(self.left, 0)
        try:
            schema.migrate(self.database, to)
        except Killed:
            return False
        return True


@pytest.mark.one_size
def test_an_upgrade_killed_after_every_statement_gets_there(account: Account, connection: oracledb.Connection) -> None:
    interrupted = Interrupted(account)
    killed = 0
    while not interrupted.run("head", statements=1):
        killed += 1
        assert interrupted.seen["statement"] == 1
        with pytest.raises(SchemaMissing):
            schema.require(connection, account.user)
    # the version table, every object, and the version row, which was lost when it was killed before its commit
    assert killed == 1 + len(OBJECTS)
    schema.require(connection, account.user)
    found = shape(connection, account.user)
    assert interrupted.run("base")
    assert interrupted.run("head")
    assert shape(connection, account.user) == found


@pytest.mark.one_size
def test_a_removal_killed_after_every_statement_gets_there(account: Account, connection: oracledb.Connection) -> None:
    interrupted = Interrupted(account)
    empty = shape(connection, account.user)
    interrupted.run("head")
    killed = 0
    while not interrupted.run("base", statements=1):
        killed += 1
        assert interrupted.seen["statement"] == 1
    assert killed >= sum(item.table is None for item in OBJECTS)
    assert shape(connection, account.user) == empty


@pytest.mark.one_size
@pytest.mark.parametrize("to", ["head", "base"])
def test_one_killed_before_any_commit_is_ended_by_the_next(
    account: Account, connection: oracledb.Connection, to: str
) -> None:
    interrupted = Interrupted(account)
    other = {"head": "base", "base": "head"}[to]
    interrupted.run(other)
    before = shape(connection, account.user)
    assert interrupted.run(to)
    after, commits = shape(connection, account.user), interrupted.seen["commit"]
    assert commits > 0
    for number in range(commits):
        assert interrupted.run(other)
        assert shape(connection, account.user) == before
        assert not interrupted.run(to, commits=number)
        assert interrupted.run(to)
        assert shape(connection, account.user) == after, f"killed before commit {number}"


def test_after_half_a_removal_migrate_says_what_to_do(account: Account, connection: oracledb.Connection) -> None:
    interrupted = Interrupted(account)
    interrupted.run("head")
    assert not interrupted.run("base", statements=3)
    with pytest.raises(SchemaError, match="is missing: a removal did not end") as caught:
        interrupted.run("head")
    assert "--to base" in str(caught.value.hint)
    assert interrupted.run("base")
    assert interrupted.run("head")
    schema.require(connection, account.user)


def test_an_upgrade_killed_half_way_can_be_taken_back(account: Account, connection: oracledb.Connection) -> None:
    interrupted = Interrupted(account)
    empty = shape(connection, account.user)
    assert not interrupted.run("head", statements=8)
    assert interrupted.run("base")
    assert shape(connection, account.user) == empty


@pytest.mark.one_size
def test_threads_take_turns(account: Account, connection: oracledb.Connection) -> None:
    def run(to: str) -> None:
        database = Database(settings(account))
        outcomes.append(schema.migrate(database, to))
        database.close()

    for to in ("head", "base"):
        outcomes: list[schema.MigrationReport] = []
        threads = [threading.Thread(target=run, args=(to,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcome.applied for outcome in outcomes) == [(), (), schema.revisions()]


@pytest.mark.one_size
def test_processes_at_the_same_time_do_no_harm(account: Account, connection: oracledb.Connection) -> None:
    empty = shape(connection, account.user)
    program = (
        "import sys\n"
        "from oraclerag import schema\n"
        "from oraclerag.config import Settings\n"
        "from oraclerag.database import Database\n"
        "from oraclerag.errors import Contention\n"
        "database = Database(Settings.load())\n"
        "for line in sys.stdin:\n"
        "    try:\n"
        "        schema.migrate(database, line.strip())\n"
        "        print('done', flush=True)\n"
        "    except Contention as error:\n"
        "        print(error.code, flush=True)\n"
    )
    environment = {"ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        for to in ("head", "base"):
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(f"{to}\n")
                process.stdin.flush()
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline().strip() in ("done", Contention.code)
            database = Database(settings(account))
            schema.migrate(database, to)
            database.close()
            if to == "head":
                schema.require(connection, account.user)
    finally:
        ends = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
    assert [code for _, code in ends] == [0, 0, 0], ends
    assert shape(connection, account.user) == empty


# -- not ours ---------------------------------------------------------------------------------------------------------


def test_a_table_of_somebody_else_is_told_from_ours(database: Database, connection: oracledb.Connection) -> None:
    execute(connection, "CREATE TABLE RAG_CHUNK (ID NUMBER, CONTENT VARCHAR2(100))")
    with pytest.raises(SchemaError, match="has a table RAG_CHUNK that is not of oraclerag: it has no column") as caught:
        schema.migrate(database)
    assert "ORACLERAG_SCHEMA" in str(caught.value.hint)
    assert scalar(connection, "SELECT COUNT(*) FROM RAG_CHUNK") == 0


def test_an_index_of_somebody_else_is_told_from_ours(database: Database, connection: oracledb.Connection) -> None:
    execute(
        connection, "CREATE TABLE TASK (OWNER_ID VARCHAR2(10))", "CREATE INDEX RAG_CHUNK_OWNER_IDX ON TASK (OWNER_ID)"
    )
    with pytest.raises(SchemaError, match="has an index RAG_CHUNK_OWNER_IDX on TASK that is not of oraclerag"):
        schema.migrate(database)


def test_an_object_of_another_kind_is_in_the_way(database: Database, connection: oracledb.Connection) -> None:
    execute(connection, "CREATE SEQUENCE RAG_FILE")
    with pytest.raises(SchemaError, match=r"table RAG_FILE cannot be made .* \(ORA-00955\)") as caught:
        schema.migrate(database)
    assert "Rename or drop the other object" in str(caught.value.hint)


# -- owner and user ---------------------------------------------------------------------------------------------------


def test_the_tables_can_belong_to_another_user(
    local_database: LocalDatabase, account: Account, may: Callable[..., None]
) -> None:
    owner = f"{account.user}_OWNER"
    local_database.create_user(owner)
    may("DBA")
    database = Database(settings(account, schema=owner.lower()))
    with account.connect() as connection:
        empty = shape(connection, account.user)
        assert schema.migrate(database).schema == owner
        schema.require(connection, owner)
        assert shape(connection, account.user) == empty
        schema.migrate(database, "base")
        assert shape(connection, owner) == empty
    database.close()


def test_a_schema_that_is_not_there(account: Account, may: Callable[..., None]) -> None:
    may("DBA")
    database = Database(settings(account, schema="NOBODY"))
    with pytest.raises(Exception, match="ORA-01918") as caught:
        schema.migrate(database)
    assert "sql/setup/create_user.sql" in str(caught.value.hint)  # type: ignore[attr-defined]
    database.close()


def test_a_newer_schema_is_left_alone(database: Database, connection: oracledb.Connection, account: Account) -> None:
    schema.migrate(database)
    execute(connection, "UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '9999'")
    connection.commit()
    for to in ("head", "0001", "base"):
        with pytest.raises(SchemaTooNew, match="'9999'") as caught:
            schema.migrate(database, to)
        assert "Upgrade oraclerag" in str(caught.value.hint)
    with pytest.raises(SchemaTooNew):
        schema.require(connection, account.user)


@pytest.mark.one_size
def test_a_wrong_password_is_one_sentence(account: Account) -> None:
    database = Database(Settings(dsn=account.dsn, user=account.user, password="wrong"))
    with pytest.raises(LoginFailed, match="ORA-01017") as caught:
        schema.migrate(database)
    assert "wrong" not in str(caught.value)
    assert "\n" not in caught.value.message
    database.close()


@pytest.mark.one_size
def test_nobody_listens(account: Account) -> None:
    database = Database(Settings(dsn="127.0.0.1:1/FREEPDB1", user=account.user, password=account.password))
    with pytest.raises(ConnectionFailed, match="Connection refused") as caught:
        schema.migrate(database)
    assert "\n" not in caught.value.message
    database.close()


# -- script, pools, a user's own Alembic ------------------------------------------------------------------------------


def test_the_script_makes_the_same(
    local_database: LocalDatabase, account: Account, database: Database, may: Callable[..., None]
) -> None:
    may("DBA")
    schema.migrate(database)
    other = f"{account.user}_SCRIPT"
    local_database.create_user(other)
    script = statements(schema.script(other))
    with account.connect() as connection:
        for _ in range(2):
            execute(connection, *script)
        schema.require(connection, other)
        assert shape(connection, other) == shape(connection, account.user)


def test_the_script_takes_everything_back(
    database: Database, account: Account, connection: oracledb.Connection
) -> None:
    empty = shape(connection, account.user)
    schema.migrate(database)
    execute(connection, *statements(schema.script(account.user, from_revision="0001", to="base")))
    assert shape(connection, account.user) == empty


def test_a_borrowed_pool_is_given_back_as_it_was(account: Account) -> None:
    pool = oracledb.create_pool(user=account.user, password=account.password, dsn=account.dsn, min=1, max=2)
    database = Database(Settings(), pool=pool)
    schema.migrate(database)
    assert pool.busy == 0
    with pool.acquire() as connection:
        assert connection.outputtypehandler is None
        schema.require(connection, account.user)
    pool.close()


def test_a_borrowed_engine_stays_open(account: Account) -> None:
    engine = sa.create_engine(account.url)
    database = Database(Settings(), engine=engine)
    schema.migrate(database)
    database.close()
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT COUNT(*) FROM RAG_CHUNK")) == 0
    engine.dispose()


@pytest.mark.one_size
@pytest.mark.filterwarnings("ignore:Did not recognize type 'JSON':sqlalchemy.exc.SAWarning")  # SQLAlchemy 2.0
def test_autogenerate_of_an_application_leaves_ours_alone(account: Account, database: Database) -> None:
    schema.migrate(database)
    metadata = sa.MetaData()
    sa.Table("task", metadata, sa.Column("id", sa.Integer, primary_key=True))
    engine = sa.create_engine(account.url, poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        context = alembic.migration.MigrationContext.configure(connection, opts={"include_object": include_object})
        found = alembic.autogenerate.compare_metadata(context, metadata)
    assert [(what, thing.name) for what, thing in found] == [("add_table", "task")]
