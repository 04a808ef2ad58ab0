"""A small task tracker with an installation beside it: what the tests of the write path work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import oracledb

from oraclerag import schema
from oraclerag.config import ChildSettings, Settings, SourceSettings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.records import DrainReport
from oraclerag.source import Source, from_settings
from tests.local.conftest import Account

TEMPLATE = """[TASK #{{ source_id }}] {{ title }}
Status: {{ status }} | Sprint: {{ sprint or "none" }}
Description: {{ description or "-" }}
Comments:
{% for comment in comments %}
- {{ comment.body }}
{% endfor %}
"""

TABLES = """
CREATE TABLE sprint (id NUMBER(9) PRIMARY KEY, name VARCHAR2(100))
/
CREATE TABLE task (id NUMBER(9) PRIMARY KEY, title VARCHAR2(200), status VARCHAR2(20), description CLOB,
  sprint_id NUMBER(9), assignee_id NUMBER(9), due DATE)
/
CREATE TABLE task_comment (id NUMBER(9) PRIMARY KEY, task_id NUMBER(9) NOT NULL, created_at DATE, body VARCHAR2(2000))
"""

SELECT = """
select t.id as source_id, t.title, t.status, t.description, s.name as sprint, t.sprint_id, t.assignee_id, t.due
from task t left join sprint s on s.id = t.sprint_id
"""

COMMENTS = "select c.task_id as source_id, c.id, c.created_at, c.body from task_comment c"

TASK = SourceSettings(
    name="task",
    select=SELECT.strip(),
    visibility="owner",
    template=TEMPLATE,
    title="title",
    owner="assignee_id",
    sprint="sprint_id",
    occurred_at="due",
    metadata=("status",),
    children=MappingProxyType({"comments": ChildSettings(COMMENTS, "CREATED_AT, ID")}),
    tables=MappingProxyType(
        {"task": "id", "task_comment": "task_id", "sprint": "select id from task where sprint_id = :id"}
    ),
)


@dataclass
class Tracker:
    """The installation of one account; ``state`` is that of a worker that goes on from batch to batch."""

    account: Account
    database: Database
    settings: Settings
    sources: dict[str, Source]
    connection: oracledb.Connection
    state: WorkerState = field(default_factory=WorkerState)

    def sql(self, statement: str, **binds: Any) -> list[tuple[Any, ...]]:
        """Run a statement; gives the rows of a query. The test commits."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement, binds, fetch_lobs=False)
            return cursor.fetchall() if cursor.description else []

    def scalar(self, statement: str, **binds: Any) -> Any:
        """Give the first value of the first row."""
        rows = self.sql(statement, **binds)
        return rows[0][0] if rows else None

    def task(self, number: int, title: str = "A task", description: str | None = None, **more: Any) -> None:
        """Insert a task; commits."""
        values = {"status": "OPEN", "sprint_id": None, "assignee_id": None, "due": None} | more
        self.sql(
            "INSERT INTO task (id, title, status, sprint_id, assignee_id, due, description) "
            "VALUES (:id, :title, :status, :sprint_id, :assignee_id, :due, :description)",
            id=number, title=title, description=description, **values,
        )  # fmt: skip
        self.connection.commit()

    def enqueue(self, *numbers: int | str, source: str = "task", tenant: str | None = None) -> None:
        """Put rows into the queue; commits."""
        for number in numbers:
            self.sql(
                "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID) VALUES (:source, :id, :tenant)",
                source=source, id=str(number), tenant=tenant,
            )  # fmt: skip
        self.connection.commit()

    def drain(self, *, sources: dict[str, Source] | None = None, state: WorkerState | None = None) -> DrainReport:
        """Work one batch off."""
        return drain(self.database, sources or self.sources, self.settings, state=state or self.state)

    def drain_all(self) -> DrainReport:
        """Work off what waits."""
        total = DrainReport()
        while (report := self.drain()).claimed:
            total += report
        return total

    def texts(self) -> dict[str, list[str]]:
        """Give the chunks of every entity in order."""
        found: dict[str, list[str]] = {}
        for source_id, content in self.sql("SELECT SOURCE_ID, CONTENT FROM RAG_CHUNK ORDER BY SOURCE_ID, CHUNK_NO"):
            found.setdefault(source_id, []).append(content)
        return found

    def queue(self) -> list[tuple[Any, ...]]:
        """Give the queue: id, state, attempts, crashes, whether it is claimed."""
        return self.sql(
            "SELECT SOURCE_ID, STATE, ATTEMPTS, CRASHES, CASE WHEN CLAIM IS NULL THEN 0 ELSE 1 END "
            "FROM RAG_DIRTY ORDER BY DIRTY_ID"
        )

    def due(self) -> None:
        """Let every waiting time of the queue be over, as if hours had passed."""
        self.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT - INTERVAL '5' HOUR")
        self.sql("UPDATE RAG_ENTITY SET HELD_UNTIL = HELD_UNTIL - INTERVAL '5' HOUR WHERE HELD_UNTIL IS NOT NULL")
        self.connection.commit()

    def clear(self) -> None:
        """Empty every table and forget what a worker knew."""
        self.connection.rollback()
        for table in ("RAG_DIRTY", "RAG_ENTITY", "RAG_SEARCH", "task_comment", "task", "sprint"):
            self.sql(f"DELETE FROM {table}")
        self.sql("DELETE FROM RAG_SETTING WHERE SCOPE_NAME <> '*'")
        self.connection.commit()
        self.state = WorkerState()
        self.settings = self.database.settings
        self.sources = from_settings(self.settings)

    def close(self) -> None:
        """Give the connections back."""
        self.connection.close()
        self.database.close()


def settings_of(account: Account, *sources: SourceSettings, **more: Any) -> Settings:
    """Settings that connect to an account and expect the tiny model."""
    return Settings(
        dsn=account.dsn, user=account.user, password=account.password, embedding_model="TINY", sources=sources, **more
    )  # fmt: skip


def open_tracker(account: Account, model: Path, *sources: SourceSettings, **more: Any) -> Tracker:
    """Make the tables, the model and the application of an account; the caller closes it."""
    settings = settings_of(account, *(sources or (TASK,)), **more)
    database = Database(settings)
    schema.migrate(database)
    with database.connect() as connection:
        load_model(connection, model, name="TINY", schema=database.schema)
        use_model(connection, "TINY", schema=database.schema)
    connection = account.connect()
    with connection.cursor() as cursor:
        for statement in TABLES.split("\n/\n"):
            cursor.execute(statement.strip())
    return Tracker(account, database, settings, from_settings(settings), connection)
