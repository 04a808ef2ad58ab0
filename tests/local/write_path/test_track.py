"""rag.track: what SQLAlchemy's ORM flushes announces itself, in the same transaction."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, scoped_session, sessionmaker

from oraclerag import Rag, SourceKey
from oraclerag.errors import AutocommitRefused, ConfigurationError, InputError, UnknownSource
from tests.local.write_path.tracker import TASK, Tracker, settings_of

pytestmark = pytest.mark.one_size


class Base(DeclarativeBase):
    pass


class Task(Base):
    __tablename__ = "task"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    title: Mapped[str | None] = mapped_column(sa.String(200))
    status: Mapped[str | None] = mapped_column(sa.String(20))
    comments: Mapped[list[Comment]] = relationship(back_populates="task", cascade="all, delete-orphan")


class Comment(Base):
    __tablename__ = "task_comment"
    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(sa.ForeignKey("task.id"))
    body: Mapped[str | None] = mapped_column(sa.String(2000))
    task: Mapped[Task] = relationship(back_populates="comments")


def of_comment(comment: Any) -> SourceKey | None:
    return SourceKey("task", str(comment.task_id)) if comment.task_id is not None else None


@pytest.fixture
def engine(tracker: Tracker) -> Iterator[sa.Engine]:
    account = tracker.account
    url = sa.URL.create("oracle+oracledb", account.user, account.password)
    made = sa.create_engine(url, connect_args={"dsn": account.dsn})
    yield made
    made.dispose()


@pytest.fixture
def rag(tracker: Tracker, engine: sa.Engine) -> Iterator[Rag]:
    with Rag(settings_of(tracker.account, TASK), engine=engine) as made:
        yield made


@pytest.fixture
def sessions(rag: Rag, engine: sa.Engine) -> Iterator[sessionmaker[Session]]:
    """Sessions in which tasks and their comments are tracked; three tasks are there, nothing is in the queue."""
    maker = sessionmaker(engine)
    with maker.begin() as session:
        session.add_all([Task(id=number, title=f"Task {number}", status="OPEN") for number in (1, 2, 3)])
        session.add(Comment(id=10, task_id=1, body="hello"))
    with rag.track(maker, Task), rag.track(maker, Comment, of_comment):
        yield maker


def queued(session: Session) -> list[tuple[Any, ...]]:
    """Give what this transaction sees in the queue, and empty it."""
    rows = session.execute(sa.text("SELECT SOURCE_ID, TENANT_ID, ACTION FROM RAG_DIRTY ORDER BY SOURCE_ID, TENANT_ID"))
    found = [tuple(row) for row in rows]
    session.execute(sa.text("DELETE FROM RAG_DIRTY"))
    return found


def keys(session: Session) -> list[str]:
    return [row[0] for row in queued(session)]


def test_a_flush_announces_what_it_wrote(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        session.add(Task(id=4, title="new"))
        session.get_one(Task, 1).title = "other"
        session.delete(session.get_one(Task, 2))
        session.get_one(Task, 3).title = "Task 3"  # what it was
        session.flush()
        assert queued(session) == [("1", "-", "UPSERT"), ("2", "-", "DELETE"), ("4", "-", "UPSERT")]
        session.flush()
        assert queued(session) == []


def test_an_id_that_the_database_makes_is_announced(tracker: Tracker, rag: Rag, engine: sa.Engine) -> None:
    class Made(DeclarativeBase):
        pass

    class Note(Made):
        __tablename__ = "made_note"
        id: Mapped[int] = mapped_column(sa.Identity(), primary_key=True)
        title: Mapped[str | None] = mapped_column(sa.String(20))

    Made.metadata.create_all(engine)
    try:
        maker = sessionmaker(engine)
        with rag.track(maker, Note, source="task"), maker() as session:
            session.add_all([Note(title="a"), Note(title="b")])
            session.flush()
            assert keys(session) == ["1", "2"]
    finally:
        Made.metadata.drop_all(engine)


def test_a_child_announces_its_parent_and_the_one_before(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        session.add(Comment(id=11, task_id=2, body="new"))
        session.flush()
        assert keys(session) == ["2"]
    with sessions() as session:
        session.get_one(Comment, 10).task_id = 2
        session.flush()
        assert keys(session) == ["1", "2"]
    with sessions() as session:
        session.get_one(Comment, 10).task = session.get_one(Task, 3)
        session.flush()
        assert keys(session) == ["1", "3"]
    with sessions() as session:  # a collection that loses it deletes it
        task = session.get_one(Task, 1)
        task.comments.clear()
        session.flush()
        assert keys(session) == ["1"]
    with sessions() as session:
        session.get_one(Comment, 10).task_id = 3
        session.delete(session.get_one(Comment, 10))
        session.flush()
        assert keys(session) == ["1"]


def test_the_parent_before_is_known_though_it_was_never_loaded(sessions: sessionmaker[Session]) -> None:
    """An attribute that was expired by a commit and is then set has no history: the database is asked."""
    with sessions() as session:
        comment = session.get_one(Comment, 10)
        session.commit()
        comment.task_id = 2
        session.flush()
        assert keys(session) == ["1", "2"]


def test_a_cascade_announces_the_children_of_what_is_deleted(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        session.delete(session.get_one(Task, 1))
        session.flush()
        assert queued(session) == [("1", "-", "DELETE")]


def test_a_key_is_announced_once_in_a_transaction_and_again_in_the_next(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        task = session.get_one(Task, 1)
        for title in ("a", "b", "c"):
            task.title = title
            session.flush()
        assert keys(session) == ["1"]
        session.commit()
        task.title = "d"
        session.commit()
        assert keys(session) == ["1"]
        session.commit()


def test_a_rollback_takes_the_announcement_back(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        session.get_one(Task, 1).title = "other"
        session.flush()
        session.rollback()
        assert keys(session) == []
        session.get_one(Task, 1).title = "other"
        session.flush()
        assert keys(session) == ["1"]


@pytest.mark.parametrize("on", ["session", "connection"])
def test_a_savepoint_that_is_rolled_back_takes_only_its_own_back(sessions: sessionmaker[Session], on: str) -> None:
    with sessions() as session:
        first, second = session.get_one(Task, 1), session.get_one(Task, 2)
        first.title = "other"
        session.flush()
        nested = (session if on == "session" else session.connection()).begin_nested()
        first.title, second.title = "third", "other"
        session.flush()
        nested.rollback()
        session.expire_all()
        second.title = "again"
        session.flush()
        assert keys(session) == ["1", "2"]


def test_a_flush_that_fails_leaves_nothing_for_the_next(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        session.get_one(Task, 1).title = "other"
        session.add(Task(id=2, title="there already"))
        with pytest.raises(sa.exc.IntegrityError):
            session.flush()
        session.rollback()
        session.get_one(Task, 3).title = "other"
        session.flush()
        assert keys(session) == ["3"]


def test_a_flush_is_one_insert(sessions: sessionmaker[Session], engine: sa.Engine) -> None:
    statements: list[tuple[str, bool]] = []

    def seen(*arguments: Any) -> None:
        if "INTO" in arguments[2] and "rag_dirty" in arguments[2].lower():
            statements.append((arguments[2], arguments[5]))

    sa.event.listen(engine, "before_cursor_execute", seen)
    with sessions() as session:
        for task in session.scalars(sa.select(Task)):
            task.title = "other"
        session.flush()
        assert keys(session) == ["1", "2", "3"]
    assert [many for _, many in statements] == [True]


@pytest.mark.parametrize(
    "statement",
    [
        sa.update(Task).values(title="x"),
        sa.delete(Task).where(Task.id == 1),
        sa.insert(Task).values(id=9),
        sa.update(Task.__table__).values(title="x"),  # type: ignore[arg-type]
    ],
)
def test_a_bulk_statement_is_refused(sessions: sessionmaker[Session], statement: Any) -> None:
    with sessions() as session:
        with pytest.raises(InputError, match="Task is tracked, and a statement over many rows"):
            session.execute(statement)
        session.execute(statement, execution_options={"oraclerag_untracked": True})
        assert keys(session) == []
        session.rollback()
        session.execute(sa.select(Task))
        session.execute(sa.text("DELETE FROM sprint"))


def test_it_ends_and_other_sessions_never_knew(sessions: sessionmaker[Session], rag: Rag, engine: sa.Engine) -> None:
    others = sessionmaker(engine)
    with others() as session:
        session.get_one(Task, 1).title = "other"
        session.execute(sa.update(Task).values(status="x"))
        session.flush()
        assert keys(session) == []
    tracking = rag.track(others, Task)
    tracking.stop()
    tracking.stop()
    with others() as session:
        session.get_one(Task, 1).title = "other"
        session.flush()
        assert keys(session) == []


def test_every_kind_of_session_can_be_tracked(rag: Rag, engine: sa.Engine, tracker: Tracker) -> None:
    tracker.task(1)

    class Own(Session):
        pass

    scoped = scoped_session(sessionmaker(engine))
    one = Session(engine)
    made: list[tuple[Any, Callable[[], Session]]] = [(Own, lambda: Own(engine)), (scoped, scoped), (one, lambda: one)]
    for target, make in made:
        with rag.track(target, Task), make() as session:
            session.get_one(Task, 1).title = "other"
            session.flush()
            assert keys(session) == ["1"], target
            session.rollback()
    scoped.remove()


def test_an_asynchronous_session_is_tracked(rag: Rag, tracker: Tracker) -> None:
    tracker.task(1)
    account = tracker.account
    url = sa.URL.create("oracle+oracledb_async", account.user, account.password)

    async def main() -> None:
        engine = create_async_engine(url, connect_args={"dsn": account.dsn})
        maker = async_sessionmaker(engine)
        try:
            with rag.track(maker, Task):
                async with maker() as session:
                    (await session.get_one(Task, 1)).title = "other"
                    await session.flush()
                    rows = await session.execute(sa.text("SELECT SOURCE_ID FROM RAG_DIRTY"))
                    assert [tuple(row) for row in rows] == [("1",)]
                    with pytest.raises(InputError, match="many rows"):
                        await session.execute(sa.update(Task).values(title="x"))
            async with async_sessionmaker(engine)() as session:
                with rag.track(session, Task):
                    (await session.get_one(Task, 1)).title = "third"
                    await session.flush()
                    rows = await session.execute(sa.text("SELECT SOURCE_ID FROM RAG_DIRTY"))
                    assert [tuple(row) for row in rows] == [("1",)]
        finally:
            await engine.dispose()

    asyncio.run(main())


def test_a_tenant_is_taken_from_the_object_the_old_one_too(tracker: Tracker, engine: sa.Engine) -> None:
    tracker.task(1, status="acme")
    settings = settings_of(tracker.account, dataclasses.replace(TASK, tenant="status"))
    maker = sessionmaker(engine)
    with Rag(settings, engine=engine) as rag:
        with pytest.raises(ConfigurationError, match="which attribute of Task holds it"):
            rag.track(maker, Task)
        with rag.track(maker, Task, tenant="status"), maker() as session:
            task = session.get_one(Task, 1)
            task.title = "other"
            session.flush()
            assert queued(session) == [("1", "acme", "UPSERT")]
            session.commit()
            task.status = "bolt"
            session.flush()
            assert queued(session) == [("1", "acme", "UPSERT"), ("1", "bolt", "UPSERT")]
            session.commit()
            task.status = None
            session.flush()
            assert queued(session) == [("1", "bolt", "UPSERT")]


def test_what_cannot_be_tracked_is_refused(rag: Rag, engine: sa.Engine) -> None:
    maker = sessionmaker(engine)
    with pytest.raises(UnknownSource, match="'comment'"):
        rag.track(maker, Comment)
    with pytest.raises(InputError, match="no mapped column 'ident'"):
        rag.track(maker, Task, "ident")
    with pytest.raises(InputError, match="'int' is no mapped class"):
        rag.track(maker, int)
    with pytest.raises(InputError, match="not Engine"):
        rag.track(engine, Task)
    with pytest.raises(InputError, match="gives a whole SourceKey"):
        rag.track(maker, Comment, of_comment, source="task")
    with rag.track(maker, Task, lambda task: task.title), maker() as session:
        session.add(Task(id=1, title="x"))
        with pytest.raises(InputError, match="gave a str"):
            session.flush()


def test_autocommit_is_refused(rag: Rag, engine: sa.Engine) -> None:
    """The announcement would be there before the change, or without it."""
    maker = sessionmaker(engine.execution_options(isolation_level="AUTOCOMMIT"))
    with rag.track(maker, Task), maker() as session:
        session.add(Task(id=77, title="x"))
        with pytest.raises(AutocommitRefused):
            session.flush()
