"""A help desk of several tenants: tickets in a table, notes in files, resolved incidents, and an installation over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oracledb

from oraclerag import Resolution, Settings
from oraclerag.rag import Rag
from tests.local.conftest import Account

CONFIGURATION = """
[embedding]
model = "TINY"

[searches]
log = "ask"
log_prompts = true

[source.ticket]
select = "select id as source_id, tenant, title, body, writer, area from ticket"
template = "[TICKET #{{ source_id }}] {{ title }}\\n{{ body or '-' }}"
tenant = "tenant"
title = "title"
owner = "writer"
collection = "tickets"
visibility = "owner"
[source.ticket.tables]
ticket = "id"
"""

TABLE = """CREATE TABLE TICKET (ID VARCHAR2(60) PRIMARY KEY, TENANT VARCHAR2(60), TITLE VARCHAR2(200), BODY VARCHAR2(2000),
  WRITER VARCHAR2(30), AREA VARCHAR2(30))"""


@dataclass
class Desk:
    """The desk of one account; ``folder`` has its configuration, the model's file and the notes."""

    account: Account
    folder: Path
    rag: Rag
    connection: oracledb.Connection
    touched: bool = True

    def sql(self, statement: str, *binds: Any) -> list[tuple[Any, ...]]:
        """Run a statement and commit; gives the rows of a query."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement, list(binds), fetch_lobs=False)
            rows = cursor.fetchall() if cursor.description else []
        self.connection.commit()
        return rows

    def ticket(self, number: str, tenant: str | None, title: str, body: str = "suppliers wait") -> None:
        """Write a ticket, without announcing it."""
        self.sql(
            "INSERT INTO TICKET (ID, TENANT, TITLE, BODY, WRITER) VALUES (:1, :2, :3, :4, '7')",
            number,
            tenant,
            title,
            body,
        )

    def fill(self, *tenants: str) -> None:
        """Give each tenant three tickets, a note and a resolution, indexed, and something in the search log."""
        for tenant in tenants:
            for number in range(3):
                self.ticket(f"{tenant}/{number}", tenant, f"Late payment {number} of {tenant}")
            notes = self.folder / f"notes of {tenant}"
            notes.mkdir(exist_ok=True)
            (notes / f"{tenant}.md").write_text(f"# Closing the books\n\nWhat {tenant} does at the end of a month.")
            self.rag.ingest(notes, tenant=tenant)
            self.rag.record_resolution(
                Resolution(title=f"ORA-00060 at {tenant}", fix=f"Commit sooner, {tenant}.", tenant=tenant)
            )
        self.rag.backfill()
        self.rag.work(once=True)

    def clear(self) -> None:
        """Empty every table but those of the model."""
        self.connection.rollback()
        for table in ("RAG_DIRTY", "RAG_ENTITY", "RAG_SEARCH", "RAG_FILE", "RAG_RESOLUTION", "RAG_USAGE", "TICKET"):
            self.sql(f"DELETE FROM {table}")
        self.sql("DELETE FROM RAG_SETTING WHERE SCOPE_NAME <> '*'")

    def due(self) -> None:
        """Let every lease and pause be over."""
        self.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT - INTERVAL '5' HOUR")
        self.sql("UPDATE RAG_ENTITY SET HELD_UNTIL = HELD_UNTIL - INTERVAL '5' HOUR WHERE HELD_UNTIL IS NOT NULL")

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """Give every row of every table of the toolkit, vectors as texts."""
        found = {}
        for (table,) in self.sql("SELECT TABLE_NAME FROM USER_TABLES WHERE TABLE_NAME LIKE 'RAG\\_%' ESCAPE '\\'"):
            found[table] = sorted(self.sql(f"SELECT * FROM {table}"), key=repr)
        return found

    def of(self, tenant: str) -> dict[str, int]:
        """Count the rows in which a tenant's name stands anywhere, by table, those without any left out."""
        counts = {name: sum(tenant in repr(row) for row in rows) for name, rows in self.everything().items()}
        return {name: count for name, count in counts.items() if count}

    def index(self) -> list[tuple[Any, ...]]:
        """Give what the index says, without numbers and times."""
        return self.sql(
            "SELECT c.SOURCE_TYPE, c.SOURCE_ID, c.CHUNK_NO, c.TENANT_ID, c.VISIBILITY, c.OWNER_ID, c.CONTENT, d.TITLE, d.BODY "
            "FROM RAG_CHUNK c JOIN RAG_DOCUMENT d ON d.ENTITY_ID = c.ENTITY_ID ORDER BY 1, 2, 3"
        )

    def equal(self, *tenants: str) -> bool:
        """Whether an audit finds the index equal to the sources, with nothing waiting and nothing given up."""
        reports = [report for one in tenants or (None,) for report in self.rag.audit(tenant=one)]
        return bool(reports) and all(report.ok and report.equal == report.audited for report in reports)


def open_desk(account: Account, model: Path, folder: Path) -> Desk:
    """Make the tables, the model and the configuration; the caller closes ``rag`` and ``connection``."""
    (folder / "oraclerag.toml").write_text(CONFIGURATION)
    (folder / "model.onnx").write_bytes(model.read_bytes())
    settings = Settings.load(folder / "oraclerag.toml", dsn=account.dsn, user=account.user, password=account.password)
    connection = account.connect()
    with connection.cursor() as cursor:
        cursor.execute(TABLE)
    rag = Rag(settings)
    rag.provision(model_file=folder / "model.onnx")
    return Desk(account, folder, rag, connection)


def total(counts: Iterable[Any]) -> int:
    """Sum what reports count of entities."""
    return sum(one.entities for one in counts)
