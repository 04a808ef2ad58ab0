"""What the workers that are killed index: tasks of tenants that change and announce it, and an archive that does not."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import oracledb

from oraclerag import Rag, SourceKey
from oraclerag.config import SourceSettings
from tests.local.write_path.tracker import TASK

TENANTS = ("acme", "beta", "coda")

TASKS = dataclasses.replace(
    TASK,
    tenant="status",
    template="[TASK #{{ source_id }}] {{ title }}\n{{ description or '-' }}\n"
    "{% for comment in comments %}- {{ comment.body }}\n{% endfor %}",
    metadata=(),
)

# Nothing announces its rows: only a backfill finds them. Tasks are never backfilled, which would hide a lost change.
ARCHIVE = SourceSettings("archive", "select id as source_id, name from sprint", "shared", body="name")

LONG = "\n".join(f"Line {number} of the report: the supplier of batch {number} waits." for number in range(300))


class Writer:
    """Changes ``entities`` tasks at random and announces every change in the same transaction."""

    def __init__(self, rag: Rag, connection: oracledb.Connection, entities: int, chance: random.Random) -> None:
        self._rag = rag
        self._connection = connection
        self._entities = entities
        self._chance = chance
        self._steps = 0
        self._archived = 0
        self.transactions = 0
        self.rollbacks = 0

    def begin(self) -> None:
        """Insert all tasks, in transactions of fifty; every fiftieth is a long document."""
        for number in range(self._entities):
            self._insert(number, self._chance.choice(TENANTS), LONG if number % 50 == 7 else "Suppliers wait.")
            if number % 50 == 49:
                self._connection.commit()
        self._connection.commit()

    def step(self) -> None:
        """One transaction of a few changes; one in eight is rolled back."""
        for _ in range(self._chance.randint(1, 4)):
            self._change(self._chance.randrange(self._entities))
        if self._chance.random() < 0.1:
            self._archived += 1
            self._sql("INSERT INTO sprint (id, name) VALUES (:id, :name)", id=self._archived, name=f"Old {self._steps}")
        self.transactions += 1
        if self._chance.random() < 0.125:
            self.rollbacks += 1
            self._connection.rollback()
        else:
            self._connection.commit()

    def _change(self, number: int) -> None:
        self._steps += 1
        found = self._sql("SELECT status FROM task WHERE id = :id", id=number)
        if not found:
            self._insert(number, self._chance.choice(TENANTS), "Back again.")
            return
        tenant = found[0][0]
        what = self._chance.random()
        if what < 0.35:
            self._sql("UPDATE task SET title = :title WHERE id = :id", title=f"Step {self._steps}", id=number)
        elif what < 0.5:
            self._sql("UPDATE task SET assignee_id = :owner WHERE id = :id", owner=self._steps % 9, id=number)
        elif what < 0.65:
            tenant = self._chance.choice(TENANTS)
            self._sql("UPDATE task SET status = :tenant WHERE id = :id", tenant=tenant, id=number)
        elif what < 0.75:
            values = {"id": self._steps, "task": number, "body": f"A remark of step {self._steps}."}
            self._sql("INSERT INTO task_comment (id, task_id, body) VALUES (:id, :task, :body)", **values)
        elif what < 0.78:
            self._sql("UPDATE task SET description = :text WHERE id = :id", text=f"{self._steps}\n{LONG}", id=number)
        elif what < 0.85:
            self._sql("UPDATE task SET description = :text WHERE id = :id", text=f"Short {self._steps}.", id=number)
        else:
            self._sql("DELETE FROM task_comment WHERE task_id = :id", id=number)
            self._sql("DELETE FROM task WHERE id = :id", id=number)
            if self._chance.random() < 0.3:
                self._insert(number, tenant, "Deleted and there again in one transaction.")
        self._announce(number, tenant)

    def _insert(self, number: int, tenant: str, description: str) -> None:
        self._sql(
            "INSERT INTO task (id, title, status, assignee_id, description) VALUES (:id, :title, :tenant, 1, :text)",
            id=number, title=f"Task {number}", tenant=tenant, text=description,
        )  # fmt: skip
        self._announce(number, tenant)

    def _announce(self, number: int, tenant: str) -> None:
        self._rag.enqueue(self._connection, SourceKey("task", str(number), tenant=tenant))

    def _sql(self, statement: str, **binds: Any) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, binds)
            return cursor.fetchall() if cursor.description else []
