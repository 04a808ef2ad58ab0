"""Sources proposed from a dictionary that is there: what is found, what is rendered, and that triggers take it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import oracledb
import pytest

from oraclerag import schema, triggers
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import InputError
from oraclerag.local import LocalDatabase
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.propose import Proposed, propose, read
from oraclerag.propose.trial import source_of
from tests.local import helpdesk
from tests.local.conftest import Account, as_administrator

pytestmark = pytest.mark.one_size

WORKERS = f"""CREATE TABLE country (code CHAR(2) PRIMARY KEY, name VARCHAR2(50) NOT NULL)
/
CREATE TABLE "worker" ("id" NUMBER(9) PRIMARY KEY, "Full name" VARCHAR2(50), "LEVEL" NUMBER, {"L" * 128} VARCHAR2(20),
  country_code CHAR(2) REFERENCES country (code))
/
INSERT INTO country VALUES ('ES', 'Spain')
/
INSERT INTO "worker" VALUES (1, 'Ana' || CHR(27) || '[31m', 3, 'x', 'ES')
/
GRANT SELECT ON "worker" TO TO_WHOM
/
GRANT SELECT ON country TO TO_WHOM"""

TASKS = """CREATE TABLE project (tenant_id VARCHAR2(20), id NUMBER(9), name VARCHAR2(50), PRIMARY KEY (tenant_id, id))
/
CREATE TABLE task (tenant_id VARCHAR2(20), id NUMBER(9), title VARCHAR2(50), project_id NUMBER(9),
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, id))
/
CREATE TABLE task_note (id NUMBER(9) PRIMARY KEY, tenant_id VARCHAR2(20), task_id NUMBER(9), note VARCHAR2(50),
  FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id))
/
INSERT INTO project VALUES ('a', 1, 'Payments')
/
INSERT INTO task VALUES ('a', 7, 'Find out', 1)
/
INSERT INTO task_note VALUES (1, 'a', 7, 'An index')"""


@pytest.fixture(scope="module")
def database(module_account: Account) -> Iterator[Database]:
    """The database of a help desk; nothing of oraclerag is in it."""
    with module_account.connect() as connection:
        helpdesk.create(connection)
    settings = Settings(dsn=module_account.dsn, user=module_account.user, password=module_account.password)
    opened = Database(settings)
    yield opened
    opened.close()


def proposed(database: Database, table: str, **more: object) -> Proposed:
    return propose(database, database.settings, table, **more)  # type: ignore[arg-type]


def test_a_table_with_all_that_is_around_it(database: Database) -> None:
    found = proposed(database, "ticket", visibility="owner")
    settings = found.proposal.settings
    assert (settings["title"], settings["owner"], settings["url"], settings["occurred_at"]) == (
        "subject",
        "assignee_id",
        "link_url",
        "opened_at",
    )
    assert set(settings["tables"]) == {"ticket", "employees", "team", "ticket_comment"}
    assert set(found.proposal.left_out) >= {
        "API_TOKEN",
        "PAYLOAD",
        "SCREENSHOT",
        "TIMESHEET (by TICKET_ID)",
        "TICKET (by PARENT_ID)",
    }
    assert found.trial.problems == ()
    assert found.trial.text is not None
    assert found.trial.text.splitlines() == [
        "Payments are late", "What happened:", "The batch of the night ends at noon.", "Status: OPEN", "Urgency: 1",
        "Opened at: 2026-03-31", "Assignee: Ana Ruiz", "Reported by: Ben Okoro", "Team: Payments", "Comments:",
        "- 2026-04-01: An index was missing.", "- 2026-04-01: It is there now.",
    ]  # fmt: skip
    cost = found.trial.cost
    assert cost is not None
    assert (cost.rows, cost.counted, cost.sampled, cost.chunks) == (2, "counted", 2, 2)
    assert "no model is in force" in cost.basis


def test_people_are_not_shown_with_what_is_nobodys_business(database: Database) -> None:
    found = proposed(database, "employees", visibility="shared")
    assert found.trial.problems == ()
    assert found.trial.title == "Ana Ruiz"
    assert set(found.proposal.left_out) >= {"PASSWORD_HASH", "SALARY"}
    assert found.proposal.settings["owner"] == "source_id"


def test_tables_without_a_key_and_views_are_refused_with_a_remedy(database: Database) -> None:
    for table, sentence in (
        ("audit_line", "no primary key"),
        ("open_ticket", "is a view"),
        ("nothing", "no table or view"),
    ):
        with pytest.raises(InputError, match=sentence) as caught:
            proposed(database, table)
        assert caught.value.hint
    found = proposed(database, "open_ticket", key=["id"])
    assert found.trial.title == "Payments are late"
    assert "tables" not in found.proposal.settings
    said = proposed(database, "audit_line", key=["happened"], rows=1).trial
    assert (said.problems, said.id) == ((), None)


def test_a_key_that_names_several_rows_is_found_out(database: Database) -> None:
    found = proposed(database, "ticket_comment", key=["ticket_id"])
    assert found.trial.problems[0].code == "KEY_NOT_UNIQUE"
    assert found.trial.failed == 1
    assert not found.trial.green


def test_rows_are_counted_up_to_a_bound_and_statistics_believed_where_they_are_many(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "COUNTED", 1)
    with database.connect() as connection:
        ticket = read.surroundings(connection, "ticket").table
        assert read.rows_of(connection, ticket, database.schema) == (1, "more than that, and no statistics")
        with connection.cursor() as cursor:
            cursor.callproc("DBMS_STATS.GATHER_TABLE_STATS", [database.schema, "TICKET"])
        assert read.rows_of(connection, ticket, database.schema)[1] == "more than that, and no statistics"
        monkeypatch.setattr(read, "_STALE", 1)
        assert read.rows_of(connection, ticket, database.schema) == (2, "by the table's statistics")


def test_odd_names_another_owner_and_a_synonym(
    database: Database, local_database: LocalDatabase, module_account: Account
) -> None:
    password = local_database.create_user("HR_OTHER")
    with (
        oracledb.connect(user="HR_OTHER", password=password, dsn=local_database.dsn) as other,
        other.cursor() as cursor,
    ):
        for statement in WORKERS.split("\n/\n"):
            cursor.execute(statement.replace("TO_WHOM", module_account.user))
        other.commit()
    as_administrator(local_database, f'CREATE SYNONYM {module_account.user}.staff FOR HR_OTHER."worker"')
    for written in ('HR_OTHER."worker"', "staff"):
        found = proposed(database, written, visibility="shared")
        assert found.proposal.settings["tables"] == {
            'HR_OTHER."worker"': '"id"',
            "HR_OTHER.COUNTRY": 'select "id" from HR_OTHER."worker" where country_code = :code',
        }
        assert "Country: Spain" in (found.trial.text or "")
        assert "Level: 3" in (found.trial.text or "")
        assert found.trial.title == "Ana\x1b[31m"
        assert [problem for problem in found.trial.problems if problem.severity == "error"] == []


def test_several_tenants_and_a_key_of_several_columns(database: Database) -> None:
    with database.transaction() as connection, connection.cursor() as cursor:
        for statement in TASKS.split("\n/\n"):
            cursor.execute(statement)
    found = proposed(database, "task", visibility="shared")
    assert found.trial.problems == ()
    assert found.trial.id == "a/7"
    assert (found.trial.text or "").splitlines() == ["Find out", "Project: Payments", "Notes:", "- An index"]
    assert found.proposal.settings["tables"] == {
        "task": "tenant_id, id",
        "project": "select tenant_id, id, tenant_id as of_tenant from task where tenant_id = :tenant_id and project_id = :id",
        "task_note": "tenant_id, task_id",
    }


def test_with_a_model_the_cost_is_measured_and_the_triggers_fire(
    database: Database, tiny_file: Path, module_account: Account
) -> None:
    schema.migrate(database)
    with database.connect() as connection:
        load_model(connection, tiny_file, name="TINY", schema=database.schema)
        use_model(connection, "TINY", schema=database.schema)
    settings = dataclasses.replace(database.settings, embedding_model="TINY")
    found = propose(database, settings, "ticket", visibility="owner")
    assert found.trial.cost is not None
    assert "TINY" in found.trial.cost.basis
    assert found.trial.cost.minutes is not None
    with pytest.raises(InputError, match="a table of oraclerag itself"):
        propose(database, settings, "rag_chunk")
    source = source_of(found.proposal, settings)
    triggers.apply(database, triggers.plan(database, [source]))
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE team SET name = 'Ledger' WHERE id = 1")
        cursor.execute("SELECT DISTINCT SOURCE_TYPE, SOURCE_ID FROM RAG_DIRTY ORDER BY SOURCE_ID")
        assert cursor.fetchall() == [("ticket", "1"), ("ticket", "2")]
        connection.rollback()
        cursor.execute("UPDATE ticket_comment SET body = 'Found.' WHERE id = 2")
        cursor.execute("SELECT SOURCE_TYPE, SOURCE_ID FROM RAG_DIRTY")
        assert cursor.fetchall() == [("ticket", "1")]
        connection.rollback()
