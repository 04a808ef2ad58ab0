"""Connections of actors: real ones, which ask the director before every statement and end when he says so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import oracledb

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.statements import Statements
from tests.local.conftest import Account
from tests.local.interleavings.actors import Actor, Crash, Order

__all__ = ["ActorDatabase", "ActorSession", "labels_of_statements", "open_session"]

_labels: dict[str, str] = {}


@contextlib.contextmanager
def labels_of_statements() -> Iterator[None]:
    """Remember the names of the toolkit's statements while they are made, for traces and schedules."""
    whole = Statements.with_names

    def with_names(self: Statements, name: str, /, **names: str) -> str:
        text = whole(self, name, **names)
        _labels.setdefault(text, f"{self._stem}.{name}")
        return text

    Statements.with_names = with_names  # type: ignore[method-assign]
    try:
        yield
    finally:
        Statements.with_names = whole  # type: ignore[method-assign]


def _label(statement: str | None) -> str:
    if statement is None:
        return "statement"
    known = _labels.get(statement.removesuffix(" /* counted */"))
    if known is None:
        first = statement.split(None, 1)[0].lower()
        known = (
            "source.describe" if statement.endswith("WHERE 1 = 0") else "source.read" if first == "select" else first
        )
        if "UNION ALL" in statement:
            known = "claim.next_tenants"
        _labels[statement] = known
    return known


class _Failure:
    """What the driver puts into its exceptions."""

    def __init__(self, code: str, text: str) -> None:
        self.full_code, self.message, self.offset = code, f"{code}: {text}", 0

    def __str__(self) -> str:
        return self.message


def _cut() -> oracledb.Error:
    return oracledb.OperationalError(_Failure("DPY-4011", "the database or network closed the connection"))


class ActorSession(oracledb.Connection):
    """A connection whose statements are steps of an actor, while it has one."""

    actor: Actor | None = None
    lost: BaseException | None = None
    broken = False  # what the source reads is not there, until the end of the batch

    def cursor(self, scrollable: bool = False, handle: Any = None) -> oracledb.Cursor:
        """Give a cursor whose statements are steps."""
        return _Cursor(self, scrollable)

    def commit(self) -> None:
        """Commit, as a step."""
        self.perform("commit", super().commit)

    def rollback(self) -> None:
        """Roll back, as a step."""
        self.perform("rollback", super().rollback)

    def end(self) -> None:
        """Do what the database does when a session ends: take back what was not committed."""
        super().rollback()

    def perform(self, label: str, call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """Do a round trip when the director says so, or fail as he says."""
        if self.actor is None:
            return call(*arguments, **more)
        if self.lost is not None:
            raise self.lost
        order = self.actor.pause(label)
        self.broken = self.broken or order is Order.BROKEN
        if self.broken and label.startswith("source."):
            raise oracledb.DatabaseError(_Failure("ORA-00942", "table or view does not exist"))
        if order is Order.GO:
            return call(*arguments, **more)
        if order is Order.CRASH:
            self.lost = Crash()
            raise self.lost
        if order is Order.DEADLOCK:
            raise oracledb.OperationalError(_Failure("ORA-00060", "deadlock detected while waiting for resource"))
        if order is Order.REFUSED:
            raise oracledb.DatabaseError(_Failure("ORA-00600", "internal error code"))
        if order is Order.CUT_AFTER:
            call(*arguments, **more)
        self.end()
        self.lost = _cut()
        raise self.lost


class _Cursor(oracledb.Cursor):
    """Its execute is a step; rows come with it, so that fetching is none."""

    def prepare(self, statement: str, *arguments: Any, **more: Any) -> None:
        self._prepared = statement
        super().prepare(statement, *arguments, **more)

    def execute(self, statement: Any, *arguments: Any, **more: Any) -> Any:
        return self._session.perform(_label(statement), super().execute, statement, *arguments, **more)

    def executemany(self, statement: Any, *arguments: Any, **more: Any) -> Any:
        label = _label(self._prepared if statement is None else statement)
        return self._session.perform(label, super().executemany, statement, *arguments, **more)

    @property
    def _session(self) -> ActorSession:
        session = self.connection
        assert isinstance(session, ActorSession)
        return session


class ActorDatabase(Database):
    """Lends the one session of an actor, as a pool that holds it would."""

    def __init__(self, settings: Settings, session: ActorSession, schema: str) -> None:
        super().__init__(settings)
        self._session = session
        self._known = schema

    @property
    def schema(self) -> str:
        """The owner of the tables."""
        return self._known

    @contextlib.contextmanager
    def connect(self, *, call_timeout: float = 0.0) -> Iterator[oracledb.Connection]:
        """Lend the session; one that lost its connection is a new one."""
        self._session.lost, self._session.broken = None, False
        try:
            yield self._session
        finally:
            if not isinstance(self._session.lost, Crash):  # the dead give nothing back; see the worker
                self._session.end()


def open_session(account: Account) -> ActorSession:
    """Open a connection that can have an actor."""
    opened = oracledb.connect(user=account.user, password=account.password, dsn=account.dsn, conn_class=ActorSession)
    assert isinstance(opened, ActorSession)
    return opened
