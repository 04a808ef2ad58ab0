"""The dictionary: what SQLAlchemy reflects is what it created, users and grants are recorded, every view can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import oracle

from tests.local.conftest import Account


@pytest.fixture
def engine(account: Account) -> Iterator[sa.Engine]:
    opened = sa.create_engine(account.url)
    yield opened
    opened.dispose()


def tables() -> sa.MetaData:
    metadata = sa.MetaData()
    vector: Any = oracle.VECTOR(3, oracle.VectorStorageFormat.FLOAT32)  # type: ignore[no-untyped-call]
    sa.Table(
        "project",
        metadata,
        sa.Column("id", sa.Integer, sa.Identity(always=True, start=5), primary_key=True),
        sa.Column("name", sa.String(40), nullable=False, unique=True, comment="as people say it"),
        comment="what is worked on",
    )
    sa.Table(
        "task",
        metadata,
        sa.Column(
            "project_id", sa.ForeignKey("project.id", ondelete="CASCADE", name="task_project_fk"), primary_key=True
        ),
        sa.Column("no", sa.Numeric(9, 0), primary_key=True),
        sa.Column("title", sa.String(200), server_default="untitled"),
        sa.Column("body", sa.Text),
        sa.Column("estimate", sa.Numeric(6, 2)),
        sa.Column("done", sa.Boolean),
        sa.Column("created", oracle.TIMESTAMP, server_default=sa.text("SYSTIMESTAMP")),
        sa.Column("embedding", vector),
        sa.CheckConstraint("estimate >= 0", name="task_estimate_ck"),
        sa.UniqueConstraint("project_id", "title", name="task_title_uq"),
        sa.Index("task_title_ix", sa.text("UPPER(title)")),
        sa.Index("task_created_ix", sa.text("created DESC")),
        sa.Index("task_emb_ix", "embedding", oracle_vector=True),
    )
    return metadata


def test_what_was_created_is_what_is_reflected(engine: sa.Engine) -> None:
    tables().create_all(engine)
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["project", "task"]
    project: dict[str, Any] = {column["name"]: column for column in inspector.get_columns("project")}
    assert project["id"]["identity"] is not None
    assert project["id"]["identity"]["always"] is True
    assert project["id"]["identity"]["start"] == 5
    assert project["name"]["comment"] == "as people say it"
    assert inspector.get_table_comment("project") == {"text": "what is worked on"}
    task: dict[str, Any] = {column["name"]: column for column in inspector.get_columns("task")}
    assert task["title"]["type"].length == 200
    assert task["title"]["default"].strip() == "'untitled'"
    assert isinstance(task["body"]["type"], sa.CLOB)
    assert (task["estimate"]["type"].precision, task["estimate"]["type"].scale) == (6, 2)
    assert isinstance(task["embedding"]["type"], oracle.VECTOR)
    assert [task[name]["nullable"] for name in ("project_id", "title")] == [False, True]
    assert inspector.get_pk_constraint("task")["constrained_columns"] == ["project_id", "no"]
    assert inspector.get_foreign_keys("task") == [
        {
            "name": "task_project_fk",
            "constrained_columns": ["project_id"],
            "referred_schema": None,
            "referred_table": "project",
            "referred_columns": ["id"],
            "options": {"ondelete": "CASCADE"},
        }
    ]
    assert [check["sqltext"] for check in inspector.get_check_constraints("task")] == ["estimate >= 0"]
    assert [unique["name"] for unique in inspector.get_unique_constraints("task")] == ["task_title_uq"]
    indexes = {index["name"]: index for index in inspector.get_indexes("task")}
    assert indexes["task_title_ix"]["expressions"] == ['UPPER("TITLE")']
    assert set(indexes) >= {"task_title_ix", "task_created_ix", "task_emb_ix"}
    tables().drop_all(engine)
    assert sa.inspect(engine).get_table_names() == []


def test_views_and_sequences_are_reflected(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE t (a NUMBER)"))
        connection.execute(sa.text("CREATE VIEW v AS SELECT a FROM t WHERE a > 1"))
        connection.execute(sa.text("CREATE SEQUENCE s"))
    inspector = sa.inspect(engine)
    assert inspector.get_view_names() == ["v"]
    assert inspector.get_view_definition("v") == "SELECT a FROM t WHERE a > 1"
    assert inspector.has_sequence("s")
    assert inspector.has_table("T")


def dictionary_views() -> list[str]:
    path = Path(__file__).parents[2] / "oraclerag" / "local" / "engine" / "catalog" / "dictionary.sql"
    made = re.compile(r"""CREATE VIEW ora\."([^"]+)"|SELECT ora\.(?:own_view|part_of_view)\('([^']+)'""")
    return [one or other for one, other in made.findall(path.read_text(encoding="utf-8"))]


@pytest.mark.one_size
def test_every_dictionary_view_can_be_read(connection: oracledb.Connection, may: Callable[..., None]) -> None:
    may("SELECT ANY DICTIONARY")
    views = dictionary_views()
    assert len(views) >= 75
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a NUMBER DEFAULT 1 NOT NULL, b VARCHAR2(9), CONSTRAINT t_uq UNIQUE (b))")
        for view in views:
            cursor.execute(f"SELECT * FROM {view}")
            cursor.fetchall()
            assert "UNDEFINED" not in {info.type.name for info in cursor.description or ()}, view


@pytest.mark.one_size
def test_views_of_all_objects_and_of_the_instance_take_a_right(
    connection: oracledb.Connection, account: Account, may: Callable[..., None]
) -> None:
    allowed = {"V$VERSION", "V$OPTION", "V$NLS_PARAMETERS", "V$PARAMETER"}
    restricted = {view for view in dictionary_views() if view.startswith(("DBA_", "V$"))} - allowed
    assert {"DBA_USERS", "DBA_MINING_MODELS", "V$INSTANCE", "V$TRANSACTION"} <= restricted
    with connection.cursor() as cursor:
        for view in sorted(restricted):
            with pytest.raises(oracledb.DatabaseError, match="ORA-00942"):
                cursor.execute(f"SELECT * FROM {view}")
        for view in allowed:
            cursor.execute(f"SELECT * FROM {view}")
    may("SELECT_CATALOG_ROLE")
    with account.connect() as later, later.cursor() as cursor:  # roles are those of the beginning of a session
        for view in restricted:
            cursor.execute(f"SELECT * FROM {view}")


@pytest.mark.one_size
@pytest.mark.parametrize(
    "view",
    [
        "V$SESSION", "V$LOCK", "V$SQL_PLAN", "V$VECTOR_MEMORY_POOL", "V$VECTOR_INDEX", "VECSYS.VECTOR$INDEX", "DBA_SEGMENTS",
        "DBA_VECTOR_HITCOUNTS", "V$NOTHING", "ALL_NOTHING",
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_not_to_be(
    connection: oracledb.Connection, may: Callable[..., None], view: str
) -> None:
    may("SELECT ANY DICTIONARY")
    with connection.cursor() as cursor, pytest.raises(oracledb.DatabaseError, match="ORA-00942"):
        cursor.execute(f"SELECT * FROM {view}")


SHAPES = {
    "V$VERSION": "BANNER BANNER_FULL BANNER_LEGACY CON_ID",
    "PRODUCT_COMPONENT_VERSION": "PRODUCT VERSION VERSION_FULL STATUS",
    "V$OPTION": "PARAMETER VALUE CON_ID",
    "NLS_SESSION_PARAMETERS": "PARAMETER VALUE",
    "NLS_DATABASE_PARAMETERS": "PARAMETER VALUE",
    "DATABASE_PROPERTIES": "PROPERTY_NAME PROPERTY_VALUE DESCRIPTION",
    "SESSION_PRIVS": "PRIVILEGE",
    "SESSION_ROLES": "ROLE",
    "USER_ERRORS": "NAME TYPE SEQUENCE LINE POSITION TEXT ATTRIBUTE MESSAGE_NUMBER",
    "ALL_ERRORS": "OWNER NAME TYPE SEQUENCE LINE POSITION TEXT ATTRIBUTE MESSAGE_NUMBER",
    "USER_IND_EXPRESSIONS": "INDEX_NAME TABLE_NAME COLUMN_EXPRESSION COLUMN_POSITION",
    "USER_CONS_COLUMNS": "OWNER CONSTRAINT_NAME TABLE_NAME COLUMN_NAME POSITION",
}
"""Views whose columns are Oracle's, all of them and in its order."""

TYPES = {
    "USER_MINING_MODELS": "MODEL_NAME:VARCHAR MINING_FUNCTION:VARCHAR ALGORITHM:VARCHAR CREATION_DATE:DATE MODEL_SIZE:NUMBER",
    "USER_MINING_MODEL_ATTRIBUTES": "MODEL_NAME:VARCHAR ATTRIBUTE_NAME:VARCHAR DATA_TYPE:VARCHAR VECTOR_INFO:VARCHAR TARGET:VARCHAR",
    "USER_INDEXES": "INDEX_NAME:VARCHAR INDEX_TYPE:VARCHAR UNIQUENESS:VARCHAR STATUS:VARCHAR NUM_ROWS:NUMBER LAST_ANALYZED:DATE INDEX_SUBTYPE:VARCHAR",
    "USER_TAB_COLS": "COLUMN_NAME:VARCHAR DATA_TYPE:VARCHAR DATA_LENGTH:NUMBER NULLABLE:VARCHAR DATA_DEFAULT:LONG CHAR_USED:VARCHAR VECTOR_INFO:VARCHAR",
    "USER_TRIGGERS": "TRIGGER_NAME:VARCHAR TRIGGERING_EVENT:VARCHAR WHEN_CLAUSE:VARCHAR STATUS:VARCHAR TRIGGER_BODY:LONG",
    "USER_SEGMENTS": "SEGMENT_NAME:VARCHAR SEGMENT_TYPE:VARCHAR TABLESPACE_NAME:VARCHAR BYTES:NUMBER BLOCKS:NUMBER",
    "USER_TAB_PRIVS": "GRANTEE:VARCHAR OWNER:VARCHAR TABLE_NAME:VARCHAR GRANTOR:VARCHAR PRIVILEGE:VARCHAR GRANTABLE:VARCHAR HIERARCHY:VARCHAR TYPE:VARCHAR",
    "USER_SYS_PRIVS": "USERNAME:VARCHAR PRIVILEGE:VARCHAR ADMIN_OPTION:VARCHAR",
    "V$PARAMETER": "NUM:NUMBER NAME:VARCHAR TYPE:NUMBER VALUE:VARCHAR DISPLAY_VALUE:VARCHAR ISDEFAULT:VARCHAR CON_ID:NUMBER",
    "V$INSTANCE": "INSTANCE_NAME:VARCHAR HOST_NAME:VARCHAR VERSION_FULL:VARCHAR STARTUP_TIME:DATE STATUS:VARCHAR",
}
"""Columns that people read, with their types as the driver calls them; a LONG may be a VARCHAR2 here."""


@pytest.mark.one_size
def test_views_have_oracles_columns(connection: oracledb.Connection, may: Callable[..., None]) -> None:
    may("SELECT ANY DICTIONARY")
    with connection.cursor() as cursor:
        for view, names in SHAPES.items():
            cursor.execute(f"SELECT * FROM {view}")
            assert [info.name for info in cursor.description or ()] == names.split(), view
        for view, columns in TYPES.items():
            cursor.execute(f"SELECT * FROM {view}")
            found = {info.name: info.type.name.removeprefix("DB_TYPE_") for info in cursor.description or ()}
            for column in columns.split():
                name, kind = column.split(":")
                assert found.get(name) in ({"LONG", "VARCHAR"} if kind == "LONG" else {kind}), f"{view}.{name}"


@pytest.mark.one_size
def test_views_of_ones_own_have_no_owner(connection: oracledb.Connection) -> None:
    """A statement that asks for it would work here alone."""
    having = {"USER_CONSTRAINTS", "USER_CONS_COLUMNS", "USER_MVIEWS", "USER_TAB_PRIVS"}
    with connection.cursor() as cursor:
        for view in dictionary_views():
            if view.startswith("USER_"):
                cursor.execute(f"SELECT * FROM {view}")
                assert ("OWNER" in {info.name for info in cursor.description or ()}) == (view in having), view
        for view in ("ALL_TAB_COLUMNS", "USER_TAB_COLUMNS"):
            with pytest.raises(oracledb.DatabaseError, match="ORA-00904"):
                cursor.execute(f"SELECT hidden_column FROM {view}")


@pytest.mark.one_size
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'", "AL32UTF8"),
        (
            "SELECT status FROM all_objects WHERE owner = 'SYS' AND object_name = 'DBMS_VECTOR' AND object_type = 'PACKAGE'",
            "VALID",
        ),
        ("SELECT COUNT(*) FROM session_privs WHERE privilege = 'CREATE MINING MODEL'", 1),
        ("SELECT COUNT(*) FROM session_roles WHERE role = 'DB_DEVELOPER_ROLE'", 1),
        ("SELECT value FROM v$parameter WHERE name = 'compatible'", "23.6.0"),
        ("SELECT value FROM v$option WHERE parameter = 'Partitioning'", "FALSE"),
        ("SELECT property_value FROM database_properties WHERE property_name = 'DBTIMEZONE'", "00:00"),
        ("SELECT COUNT(*) FROM v$version WHERE banner LIKE 'Oracle%23.26%not Oracle software%'", 1),
    ],
)
def test_the_instance_tells_about_itself(connection: oracledb.Connection, query: str, expected: object) -> None:
    with connection.cursor() as cursor:
        assert cursor.execute(query).fetchone() == (expected,)


@pytest.mark.one_size
def test_formats_of_the_session_are_shown(connection: oracledb.Connection) -> None:
    question = "SELECT value FROM nls_session_parameters WHERE parameter = 'NLS_DATE_FORMAT'"
    with connection.cursor() as cursor:
        before = cursor.execute(question).fetchone()
        assert before == cursor.execute(question.replace("session", "database")).fetchone()
        cursor.execute("ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD'")
        assert cursor.execute(question).fetchone() == ("YYYY-MM-DD",)
        assert cursor.execute(question.replace("session", "database")).fetchone() == before


@pytest.mark.one_size
def test_a_vector_column_and_its_index_say_what_they_are(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a VECTOR(3, FLOAT32), b VECTOR(*, INT8), c VECTOR, d NUMBER)")
        cursor.execute("CREATE VECTOR INDEX t_ix ON t (a) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE")
        cursor.execute("SELECT column_name, data_type, vector_info FROM user_tab_cols ORDER BY column_id")
        assert cursor.fetchall() == [
            ("A", "VECTOR", "VECTOR(3,FLOAT32,DENSE)"),
            ("B", "VECTOR", "VECTOR(*,INT8,DENSE)"),
            ("C", "VECTOR", "VECTOR(*,*,DENSE)"),
            ("D", "NUMBER", None),
        ]
        cursor.execute("SELECT index_name, index_type, index_subtype, uniqueness, status FROM user_indexes")
        assert cursor.fetchall() == [("T_IX", "VECTOR", "NEIGHBOR_PARTITIONS_IVF", "NONUNIQUE", "VALID")]
        cursor.execute("SELECT column_name, column_position FROM user_ind_columns WHERE index_name = 'T_IX'")
        assert cursor.fetchall() == [("A", 1)]


def test_the_size_of_strings_is_a_parameter(connection: oracledb.Connection, max_string_size: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT value FROM v$parameter WHERE name = 'max_string_size'")
        assert cursor.fetchone() == ("STANDARD" if max_string_size == 4000 else "EXTENDED",)


def test_a_user_can_be_made_logged_in_changed_and_dropped(
    connection: oracledb.Connection, account: Account, may: Callable[..., None]
) -> None:
    may("CREATE USER", "ALTER USER", "DROP USER", "GRANT ANY ROLE", "GRANT ANY PRIVILEGE")
    name = f"{account.user}_X"
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE USER {name} IDENTIFIED BY "First 1" DEFAULT TABLESPACE users QUOTA UNLIMITED ON users')
        cursor.execute(f"GRANT CONNECT, RESOURCE, CREATE MINING MODEL TO {name}")
        with oracledb.connect(user=name, password="First 1", dsn=account.dsn) as other:
            other.cursor().execute("CREATE TABLE t (a NUMBER)")
            with pytest.raises(oracledb.DatabaseError, match="ORA-01940"):
                cursor.execute(f"DROP USER {name} CASCADE")
            assert other.cursor().execute("SELECT granted_role FROM user_role_privs ORDER BY 1").fetchall() == [
                ("CONNECT",),
                ("RESOURCE",),
            ]
        cursor.execute(f"ALTER USER {name} IDENTIFIED BY second")
        with pytest.raises(oracledb.DatabaseError, match="ORA-01017"):
            oracledb.connect(user=name, password="First 1", dsn=account.dsn)
        with oracledb.connect(user=name, password="second", dsn=account.dsn):
            pass
        with pytest.raises(oracledb.DatabaseError, match="ORA-01922"):
            cursor.execute(f"DROP USER {name}")
        cursor.execute(f"DROP USER {name} CASCADE")
        with pytest.raises(oracledb.DatabaseError, match="ORA-01918"):
            cursor.execute(f"DROP USER {name} CASCADE")


def test_grants_are_recorded_and_checked(
    connection: oracledb.Connection, account: Account, may: Callable[..., None]
) -> None:
    may("CREATE USER", "DROP USER", "CREATE ROLE")
    role = f"{account.user}_R"
    with connection.cursor() as cursor:
        for statement in (
            "CREATE TABLE t (a NUMBER, b NUMBER)",
            f"CREATE ROLE {role}",
            f"GRANT SELECT, INSERT ON t TO {role}",
            f"GRANT UPDATE (a) ON t TO {role}",
            f"REVOKE INSERT ON t FROM {role}",
        ):
            cursor.execute(statement)
        cursor.execute("SELECT grantee, privilege, table_name FROM user_tab_privs")
        assert cursor.fetchall() == [(role, "SELECT", "T")]
        for number, statement in (
            (990, f"GRANT FOO ON t TO {role}"),
            (1917, "GRANT SELECT ON t TO nobody"),
            (1749, f"GRANT SELECT ON t TO {account.user}"),
            (1926, f"GRANT SELECT ON t TO {role} WITH GRANT OPTION"),
            (1927, f"REVOKE INSERT ON t FROM {role}"),
            (1919, f"GRANT nosuchrole TO {role}"),
            (1940, f"DROP USER {account.user} CASCADE"),
            (1920, f"CREATE USER {account.user} IDENTIFIED BY x"),
        ):
            with pytest.raises(oracledb.DatabaseError) as caught:
                cursor.execute(statement)
            assert caught.value.args[0].code == number, statement
        cursor.execute(f"DROP ROLE {role}")
