"""What a check looks with, and what a check is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import oracledb

from oraclerag.config import Settings
from oraclerag.database import MAY_NOT_READ, Database, code_of, translated
from oraclerag.doctor.finding import Verdict
from oraclerag.errors import OracleRagError
from oraclerag.index import IndexStatus
from oraclerag.queue import QueueStatus
from oraclerag.source import Source
from oraclerag.statements import Statements

__all__ = ["MAX_LAG", "Check", "Look", "may_not_read"]

MAX_LAG = 900.0
"""Seconds that a change may wait."""


@dataclass(slots=True)
class Look:
    """One run of doctor: whose installation, and what earlier checks have found out for later ones.

    ``heartbeat`` is the file of a worker, ``probe`` whether others than the database may be asked, ``max_lag`` how long
    a change may wait, in seconds. ``now`` is the time of this machine, in UTC.
    """

    database: Database
    sources: Mapping[str, Source] = field(default_factory=dict)
    heartbeat: Path | None = None
    probe: bool = False
    max_lag: float = MAX_LAG
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)
    queue: QueueStatus | None = None
    """Set by the check of the backlog."""
    index: IndexStatus | None = None
    """Set by the check of the vector index: it counts chunks."""
    restricted: bool = False
    """Whether row security hides rows from this user; set by the check of row security."""

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        return self.database.settings

    @property
    def schema(self) -> str:
        """The owner of the tables."""
        return self.database.schema

    @property
    def sql(self) -> Statements:
        """The statements of doctor."""
        return Statements("doctor", self.schema)

    def row(self, statement: str, **binds: Any) -> tuple[Any, ...] | None:
        """Run a statement and give its first row. Raises the toolkit's errors."""
        with self.database.connect() as connection, connection.cursor() as cursor, translated():
            cursor.execute(statement, binds)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def rows(self, statement: str, **binds: Any) -> list[tuple[Any, ...]]:
        """Run a statement and give its rows. Raises the toolkit's errors."""
        with self.database.connect() as connection, connection.cursor() as cursor, translated():
            cursor.arraysize = cursor.prefetchrows = 500
            cursor.execute(statement, binds)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def user(self) -> str:
        """Give the database user of this process."""
        row = self.row(self.sql["session_user"])
        return str(row[0]) if row is not None else "this user"

    def first_allowed(self, *names: str) -> tuple[Any, ...] | None:
        """Give the row of the first statement that this user may run and that gives one; None where there is none."""
        for name in names:
            try:
                row = self.row(self.sql[name])
            except OracleRagError as error:
                if not may_not_read(error):
                    raise
            else:
                if row is not None and row[0] is not None:
                    return row
        return None


Answer = Verdict | Iterable[Verdict]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it asks (for people), how it looks.

    ``after`` are the checks that must not have failed before, ``reads`` the tables whose lack of a grant makes it
    unknown.
    """

    name: str
    asks: str
    look: Callable[[Look], Answer]
    after: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


def may_not_read(error: BaseException | None) -> bool:
    """Whether an error, or its cause, says that this user may not read something."""
    while error is not None:
        if isinstance(error, oracledb.Error) and code_of(error) in MAY_NOT_READ:
            return True
        error = error.__cause__
    return False
