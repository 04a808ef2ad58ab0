"""SQLAlchemy and Alembic, as they come from PyPI: reflection, the ORM, autogenerate, on the local database."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import oracle
from sqlalchemy.dialects.oracle import (
    VECTOR,
    VectorDistanceType,
    VectorIndexConfig,
    VectorIndexType,
    VectorStorageFormat,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from alembic import command
from oraclerag.integrations.alembic import include_object
from tests.local.conftest import Account
from tests.local.library import install

pytestmark = pytest.mark.one_size

if not hasattr(oracle.base.OracleTypeCompiler, "visit_JSON"):
    pytest.skip("the JSON type came to SQLAlchemy's Oracle dialect with 2.1", allow_module_level=True)


class Base(DeclarativeBase):
    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


EMBEDDING: sa.types.TypeEngine[Any] = VECTOR(3, VectorStorageFormat.FLOAT32)  # type: ignore[no-untyped-call]


class Project(Base):
    __tablename__ = "project"

    id: Mapped[int] = mapped_column(sa.Identity(), primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(60), unique=True)
    budget: Mapped[decimal.Decimal | None] = mapped_column(sa.Numeric(12, 2))
    started: Mapped[dt.datetime] = mapped_column(sa.DateTime, server_default=sa.text("SYSDATE"))
    issues: Mapped[list[Issue]] = relationship(back_populates="project", cascade="all, delete-orphan")

    __table_args__ = (sa.CheckConstraint("budget >= 0", name="budget"), {"comment": "What money is spent on"})


class Issue(Base):
    __tablename__ = "issue"

    id: Mapped[int] = mapped_column(sa.Identity(always=True), primary_key=True)
    project_id: Mapped[int] = mapped_column(sa.ForeignKey("project.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(sa.String(200), comment="One line")
    body: Mapped[str | None] = mapped_column(sa.Text)
    done: Mapped[bool] = mapped_column(sa.Boolean, default=False)
    weight: Mapped[float | None] = mapped_column(oracle.BINARY_DOUBLE)
    key: Mapped[uuid.UUID] = mapped_column(sa.Uuid, default=uuid.uuid4)
    labels: Mapped[Any] = mapped_column(sa.JSON, default=list)
    attachment: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    changed: Mapped[dt.datetime | None] = mapped_column(oracle.TIMESTAMP(timezone=True))
    embedding: Mapped[Any] = mapped_column(EMBEDDING, nullable=True)
    project: Mapped[Project] = relationship(back_populates="issues")


sa.Index("ix_issue_title_lower", sa.func.lower(Issue.title))
sa.Index(
    "ix_issue_embedding",
    Issue.embedding,
    oracle_vector=VectorIndexConfig(
        index_type=VectorIndexType.IVF, distance=VectorDistanceType.COSINE, accuracy=90, ivf_neighbor_partitions=2
    ),
)


@pytest.fixture
def engine(account: Account) -> Iterator[sa.Engine]:
    made = sa.create_engine(account.url)
    yield made
    made.dispose()


@pytest.fixture
def tables(engine: sa.Engine) -> sa.Engine:
    """An engine on a schema with the tables above."""
    Base.metadata.create_all(engine)
    return engine


def test_the_server_is_taken_for_23ai(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.dialect.server_version_info >= (23, 4)  # type: ignore[operator]
        assert connection.scalar(sa.select(sa.literal_column("1"))) == 1
        assert connection.dialect.default_schema_name == engine.url.username.lower()  # type: ignore[union-attr]


def test_reflection_gives_the_tables_back(tables: sa.Engine) -> None:
    inspector = sa.inspect(tables)
    assert sorted(inspector.get_table_names()) == ["issue", "project"]
    assert inspector.has_table("issue")
    assert not inspector.has_table("nothing")
    assert inspector.get_pk_constraint("issue")["constrained_columns"] == ["id"]
    assert inspector.get_pk_constraint("issue")["name"] == "pk_issue"
    (key,) = inspector.get_foreign_keys("issue")
    assert (key["constrained_columns"], key["referred_table"], key["referred_columns"]) == (
        ["project_id"],
        "project",
        ["id"],
    )
    assert key["options"] == {"ondelete": "CASCADE"}
    assert [unique["column_names"] for unique in inspector.get_unique_constraints("project")] == [["name"]]
    assert [check["sqltext"] for check in inspector.get_check_constraints("project")] == ["budget >= 0"]
    assert inspector.get_table_comment("project") == {"text": "What money is spent on"}
    indexes = {index["name"]: index["column_names"] for index in inspector.get_indexes("issue")}
    assert indexes["ix_issue_project_id"] == ["project_id"]
    assert indexes["ix_issue_embedding"] == ["embedding"]
    assert indexes["ix_issue_title_lower"] == [None]


def test_reflected_columns_have_their_types(tables: sa.Engine) -> None:
    columns = {column["name"]: column for column in sa.inspect(tables).get_columns("issue")}
    assert list(columns) == [column.name for column in Issue.__table__.columns]
    assert {name: type(column["type"]).__name__ for name, column in columns.items()} == {
        "id": "INTEGER",
        "project_id": "INTEGER",
        "title": "VARCHAR",
        "body": "CLOB",
        "done": "BOOLEAN",
        "weight": "BINARY_DOUBLE",
        "key": "CHAR",
        "labels": "JSON",
        "attachment": "BLOB",
        "changed": "TIMESTAMP",
        "embedding": "VECTOR",
    }
    assert str(columns["title"]["type"]) == "VARCHAR(200)"
    assert columns["title"]["comment"] == "One line"
    assert columns["id"]["identity"]["always"] is True
    assert (columns["title"]["nullable"], columns["body"]["nullable"]) == (False, True)
    assert repr(columns["changed"]["type"]) == "TIMESTAMP(timezone=True)"


def test_a_reflected_table_can_be_queried(tables: sa.Engine) -> None:
    issue = sa.Table("issue", sa.MetaData(), autoload_with=tables)
    with tables.begin() as connection:
        connection.execute(sa.insert(Project).values(name="reflected"))
        project = connection.scalar(sa.select(Project.id))
        connection.execute(
            issue.insert(),
            [
                {"project_id": project, "title": f"t{n}", "done": False, "key": uuid.uuid4().hex, "labels": []}
                for n in range(3)
            ],
        )
        assert connection.scalars(sa.select(issue.c.title).order_by(issue.c.title)).all() == ["t0", "t1", "t2"]


def test_objects_make_the_round_trip(tables: sa.Engine) -> None:
    when = dt.datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=dt.UTC)
    key = uuid.uuid4()
    with Session(tables) as session:
        project = Project(name="Faktura", budget=decimal.Decimal("1200.50"))
        project.issues.append(
            Issue(
                title="Rechnung ohne Straße", body="ä" * 40_000, done=True, weight=0.1, key=key,
                labels=["späte Zahlung", {"n": 2, "x": None}], attachment=bytes(range(256)) * 300, changed=when,
                embedding=[1.0, 0.0, 0.5],
            )
        )  # fmt: skip
        project.issues.append(Issue(title="leer"))
        session.add(project)
        session.commit()
        number = project.id
    with Session(tables) as session:
        project = session.get_one(Project, number)
        assert project.budget == decimal.Decimal("1200.50")
        assert abs(project.started - dt.datetime.now()) < dt.timedelta(days=2)  # noqa: DTZ005 DATE has no zone
        full, empty = sorted(project.issues, key=lambda issue: issue.id)
        assert (full.body, full.attachment) == ("ä" * 40_000, bytes(range(256)) * 300)
        assert (full.done, full.weight, full.key) == (True, 0.1, key)
        assert full.labels == ["späte Zahlung", {"n": 2, "x": None}]
        assert full.changed == when.replace(tzinfo=None)  # the driver gives no zone
        assert list(full.embedding) == [1.0, 0.0, 0.5]
        assert (empty.body, empty.done, empty.labels, empty.embedding) == (None, False, [], None)
        full.title = "Rechnung mit Straße"
        session.delete(empty)
        session.commit()
    with Session(tables) as session:
        assert session.scalars(sa.select(Issue.title)).all() == ["Rechnung mit Straße"]
        session.delete(session.get_one(Project, number))
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Issue)) == 0


def test_queries_of_the_expression_language(tables: sa.Engine) -> None:
    with Session(tables) as session:
        for name in ("one", "two", "three"):
            session.add(
                Project(name=name, issues=[Issue(title=f"{name} {n}", weight=n, embedding=[n, 1, 0]) for n in range(4)])
            )
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).where(Issue.done == sa.false())) == 12
        per_project = (
            sa.select(Project.name, sa.func.count(Issue.id), sa.func.max(Issue.weight))
            .join(Issue).where(Issue.weight > 0).group_by(Project.name).having(sa.func.count() > 2).order_by(Project.name)
        )  # fmt: skip
        assert session.execute(per_project).all() == [("one", 3, 3.0), ("three", 3, 3.0), ("two", 3, 3.0)]
        page = sa.select(Issue.title).order_by(Issue.title).offset(2).limit(3)
        assert session.scalars(page).all() == ["one 2", "one 3", "three 0"]
        distance = Issue.embedding.cosine_distance([3, 1, 0])
        nearest = sa.select(Issue.weight).order_by(distance).fetch(3, oracle_fetch_approximate=True)
        assert session.scalars(nearest).all() == [3.0, 3.0, 3.0]
        latest = sa.select(
            Issue.project_id,
            sa.func.row_number().over(partition_by=Issue.project_id, order_by=Issue.id.desc()).label("place"),
            Issue.title,
        ).subquery()
        assert sorted(session.scalars(sa.select(latest.c.title).where(latest.c.place == 1))) == [
            "one 3",
            "three 3",
            "two 3",
        ]
        assert session.scalar(sa.select(sa.exists().where(Issue.title == "two 1"))) in (True, 1)
        cte = sa.select(Issue.title).where(Issue.weight == 0).cte("first")
        assert session.scalars(sa.select(cte.c.title).where(cte.c.title.ilike("T%")).order_by(cte.c.title)).all() == [
            "three 0",
            "two 0",
        ]
        union = sa.union_all(sa.select(Project.name), sa.select(Project.name))
        assert len(session.execute(union).all()) == 6


def test_dml_returns_what_it_wrote(tables: sa.Engine) -> None:
    with tables.begin() as connection:
        names = [{"name": f"p{n}"} for n in range(50)]
        ids = connection.scalars(sa.insert(Project).returning(Project.id, sort_by_parameter_order=True), names).all()
        assert len(set(ids)) == 50
        changed = connection.execute(
            sa.update(Project).where(Project.name == "p7").values(budget=5).returning(Project.id, Project.name)
        ).all()  # fmt: skip
        assert changed == [(ids[7], "p7")]
        gone = connection.execute(sa.delete(Project).where(Project.id == ids[7]).returning(Project.name)).all()
        assert gone == [("p7",)]
        assert connection.execute(sa.delete(Project).where(Project.name.like("p1%"))).rowcount == 11


def test_a_broken_constraint_is_an_integrity_error(tables: sa.Engine) -> None:
    with Session(tables) as session:
        session.add(Project(name="once"))
        session.commit()
        session.add(Project(name="once"))
        with pytest.raises(IntegrityError, match="ORA-00001"):
            session.commit()
        session.rollback()
        session.add(Project(name="poor", budget=decimal.Decimal(-1)))
        with pytest.raises(IntegrityError, match="ORA-02290"):
            session.commit()
        session.rollback()
        with session.begin_nested() as savepoint:
            session.add(Project(name="undone"))
            session.flush()
            savepoint.rollback()
        assert session.scalars(sa.select(Project.name)).all() == ["once"]


ENVIRONMENT = """
from alembic import context
from tests.local.test_client_sqlalchemy import OPTIONS, Base
connectable = context.config.attributes["engine"]
with connectable.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, **OPTIONS)
    with context.begin_transaction():
        context.run_migrations()
"""
TEMPLATE = '''"""${message}"""
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
import sqlalchemy as sa
from alembic import op
import sqlalchemy.dialects.oracle
from sqlalchemy.dialects import oracle
${imports or ""}


def upgrade():
    ${upgrades or "pass"}


def downgrade():
    ${downgrades or "pass"}
'''


def include(thing: sa.schema.SchemaItem, name: str | None, kind: str, reflected: bool, other: object) -> bool:
    """Leave out two indexes that Alembic takes for changed on Oracle, whatever the server.

    A vector index comes back without its options, an expression as ``LOWER("TITLE")``.
    """
    return not (kind == "index" and name in ("ix_issue_embedding", "ix_issue_title_lower"))


def compare_type(
    context: MigrationContext, reflected: object, column: object, reflected_type: object, wanted: object
) -> bool | None:
    """Leave VECTOR out: SQLAlchemy reflects it without dimension and format."""
    return False if isinstance(wanted, VECTOR) else None


def render_item(kind: str, value: Any, context: object) -> str | Literal[False]:
    """Write VECTOR as Python: the repr of its format is none."""
    if kind == "type" and isinstance(value, VECTOR) and value.storage_format is not None:
        return f"oracle.VECTOR({value.dim}, oracle.VectorStorageFormat.{value.storage_format.name})"
    return False


OPTIONS: dict[str, Any] = {
    "include_object": include,
    "compare_type": compare_type,
    "compare_server_default": True,
    "render_item": render_item,
}


@pytest.fixture
def project_directory(tmp_path: Path, engine: sa.Engine) -> Config:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT, encoding="utf-8")
    (tmp_path / "script.py.mako").write_text(TEMPLATE, encoding="utf-8")
    config = Config()
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    return config


def test_autogenerate_sees_no_difference_where_there_is_none(tables: sa.Engine) -> None:
    with tables.connect() as connection:
        context = MigrationContext.configure(connection, opts=OPTIONS)
        assert compare_metadata(context, Base.metadata) == []


def test_a_generated_revision_goes_up_and_down(project_directory: Config, engine: sa.Engine) -> None:
    command.revision(project_directory, "everything", autogenerate=True)
    command.upgrade(project_directory, "head")
    assert sorted(sa.inspect(engine).get_table_names()) == ["alembic_version", "issue", "project"]
    command.check(project_directory)
    command.downgrade(project_directory, "base")
    assert sa.inspect(engine).get_table_names() == ["alembic_version"]


def test_autogenerate_sees_what_differs(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE project (id NUMBER(38) PRIMARY KEY, name VARCHAR2(10 CHAR), old NUMBER)")
        )
        context = MigrationContext.configure(connection, opts=OPTIONS)
        differences = compare_metadata(context, Base.metadata)
    flat = [one for entry in differences for one in (entry if isinstance(entry, list) else [entry])]
    found = {
        (entry[0], entry[3] if entry[0].startswith("modify") else str(getattr(entry[-1], "name", ""))) for entry in flat
    }
    assert {
        ("add_table", "issue"), ("add_column", "budget"), ("add_column", "started"), ("remove_column", "old"),
        ("modify_type", "name"), ("modify_nullable", "name"), ("add_constraint", "uq_project_name"),
    } <= found  # fmt: skip


def test_names_of_128_bytes_are_reflected_and_no_difference(engine: sa.Engine) -> None:
    def long(name: str) -> str:
        return ("n" * 70 + name).ljust(128, "_")

    metadata = sa.MetaData()
    sa.Table(
        long("parent"),
        metadata,
        sa.Column(long("id"), sa.Integer, sa.Identity()),
        sa.Column(long("name"), sa.String(9), server_default="x"),
        sa.PrimaryKeyConstraint(long("id"), name=long("pk")),
        sa.UniqueConstraint(long("name"), long("id"), name=long("uq")),
        sa.Index(long("ix"), long("name")),
    )
    child = sa.Table(
        long("child"),
        metadata,
        sa.Column(long("ref"), sa.Integer),
        sa.ForeignKeyConstraint([long("ref")], [f"{long('parent')}.{long('id')}"], name=long("fk")),
        sa.CheckConstraint(f"{long('ref')} > 0", name=long("ck")),
        comment="a child",
    )
    metadata.create_all(engine)
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names()) == {long("parent"), long("child")}
    (foreign,) = inspector.get_foreign_keys(long("child"))
    assert (foreign["name"], foreign["referred_columns"]) == (long("fk"), [long("id")])
    assert [one["name"] for one in inspector.get_check_constraints(long("child"))] == [long("ck")]
    assert inspector.get_pk_constraint(long("parent"))["name"] == long("pk")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        connection.execute(sa.insert(child), [{long("ref"): None}])
        assert connection.execute(sa.select(child)).mappings().one() == {long("ref"): None}
    metadata.drop_all(engine)
    assert sa.inspect(engine).get_table_names() == []


@pytest.fixture(scope="module")
def ours(module_account: Account, tiny_file: Path) -> Iterator[sa.Engine]:
    """An installation of the toolkit, with its vector column and index."""
    with install(module_account, tiny_file) as rag:
        rag.build_index(force=True)
    opened = sa.create_engine(module_account.url)
    yield opened
    opened.dispose()


def test_the_toolkits_tables_are_reflected_without_a_gap(ours: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(ours, resolve_fks=False)
    assert {"rag_entity", "rag_chunk", "rag_dirty"} <= set(metadata.tables)
    columns = [column for table in metadata.tables.values() for column in table.columns]
    unknown = [f"{column.table.name}.{column.name}" for column in columns if isinstance(column.type, sa.types.NullType)]
    assert unknown == []
    assert {type(column.type).__name__ for column in columns} == {
        "NUMBER", "VARCHAR", "CLOB", "JSON", "TIMESTAMP", "DATE", "BINARY_DOUBLE", "VECTOR",
    }  # fmt: skip
    chunk = metadata.tables["rag_chunk"]
    assert {index.name for index in chunk.indexes} >= {"rag_chunk_emb_idx", "rag_chunk_src_uq", "rag_chunk_error_idx"}
    with ours.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_autogenerate_of_an_application_leaves_the_toolkits_tables_alone(ours: sa.Engine) -> None:
    metadata = sa.MetaData()
    sa.Table("invoice", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column("total", sa.Numeric(9, 2)))
    metadata.create_all(ours)
    with ours.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True, "include_object": include_object}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
        drops = compare_metadata(MigrationContext.configure(connection), metadata)
    assert {entry[1].name for entry in drops if entry[0] == "remove_table"} >= {"rag_chunk", "rag_dirty"}
