"""The dictionary: what SQLAlchemy reflects is what it created, users and grants are recorded, every view can be read."""

from __future__ import annotations

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


def test_every_dictionary_view_can_be_read(connection: oracledb.Connection) -> None:
    path = Path(__file__).parents[2] / "oraclerag" / "local" / "engine" / "catalog" / "dictionary.sql"
    views = [
        line.split('"')[1]
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith('CREATE VIEW ora."')
    ]
    assert len(views) >= 60
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a NUMBER DEFAULT 1 NOT NULL, b VARCHAR2(9), CONSTRAINT t_uq UNIQUE (b))")
        for view in views:
            cursor.execute(f"SELECT * FROM {view}")
            cursor.fetchall()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'", "AL32UTF8"),
        ("SELECT status FROM v$instance", "OPEN"),
        (
            "SELECT status FROM all_objects WHERE owner = 'SYS' AND object_name = 'DBMS_VECTOR' AND object_type = 'PACKAGE'",
            "VALID",
        ),
        ("SELECT COUNT(*) FROM session_privs WHERE privilege = 'CREATE MINING MODEL'", 1),
    ],
)
def test_the_instance_tells_about_itself(connection: oracledb.Connection, query: str, expected: object) -> None:
    with connection.cursor() as cursor:
        assert cursor.execute(query).fetchone() == (expected,)


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
