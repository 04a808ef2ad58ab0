"""Triggers: changes announce themselves, in the transaction that makes them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag import triggers as triggering
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, SourceError
from oraclerag.source import SelectSource, Source
from oraclerag.triggers.write import trigger_name
from tests.local.conftest import Account
from tests.local.write_path.tracker import TASK, Tracker, settings_of
from tests.unit import sqlplus

pytestmark = pytest.mark.one_size


def apply(database: Database, sources: list[Source]) -> list[str]:
    """Create the triggers of the sources; gives their statements."""
    planned = triggering.plan(database, sources)
    triggering.apply(database, planned)
    return list(planned.statements)


def triggers(database: Database, sources: list[Source]) -> list[str]:
    """Give the statements of the triggers of the sources."""
    return list(triggering.plan(database, sources).statements)


def announced(tracker: Tracker) -> list[tuple[Any, ...]]:
    rows = tracker.sql("SELECT SOURCE_ID, LANE, TENANT_ID FROM RAG_DIRTY ORDER BY DIRTY_ID")
    tracker.sql("DELETE FROM RAG_DIRTY")
    return rows


@pytest.fixture(autouse=True)
def cleaned(tracker: Tracker) -> Iterator[None]:
    """Take back what a test did and made; triggers go with their tables or before them."""
    yield
    tracker.connection.rollback()
    for view in ("open_task",):
        tracker.sql(f"DROP VIEW IF EXISTS {view}")
    for table in ("area", "link", "padded", "note", "member", "team", "copy_of_task", '"Mixed"'):
        tracker.sql(f"DROP TABLE IF EXISTS {table} CASCADE CONSTRAINTS PURGE")
    tracker.sql("DROP SYNONYM IF EXISTS task_synonym")
    for (name,) in tracker.sql("SELECT TRIGGER_NAME FROM USER_TRIGGERS"):
        tracker.sql(f'DROP TRIGGER "{name}"')


def test_a_column_that_is_not_read_is_not_watched(tracker: Tracker) -> None:
    select = (
        "select t.id as source_id, t.title, t.assignee_id, s.name from task t left join sprint s on s.id = t.sprint_id"
    )
    settings = dataclasses.replace(
        TASK, select=select, template="{{ title }} {{ name }}", sprint=None, occurred_at=None, metadata=(), children={}
    )
    statements = apply(tracker.database, [SelectSource(settings)])
    tracker.task(42)
    announced(tracker)
    assert 'UPDATE OF "ID", "TITLE", "SPRINT_ID", "ASSIGNEE_ID"' in statements[0]
    tracker.sql("UPDATE task SET status = 'DONE', description = 'other', due = SYSDATE")
    assert announced(tracker) == []
    tracker.sql("UPDATE task SET title = 'other', status = 'DONE' WHERE id = 42")
    assert announced(tracker) == [("42", 0, "-")]


def test_what_decides_who_may_see_it_goes_before_the_bulk(tracker: Tracker) -> None:
    """A column of a looked-up table that is a tenant, an owner or a condition is announced in the lane of changes."""
    tracker.sql(
        "CREATE TABLE area (id NUMBER PRIMARY KEY, name VARCHAR2(20), boss NUMBER, secret NUMBER, note VARCHAR2(9))"
    )
    select = (
        "select t.id as source_id, t.title, a.name as area, a.boss from task t join area a on a.id = t.sprint_id "
        "where a.secret = 0"
    )
    settings = dataclasses.replace(
        TASK, select=select, template="{{ title }} {{ area }}", owner="boss", sprint=None, occurred_at=None, metadata=(),
        children={}, tables={"task": "id", "area": "select id from task where sprint_id = :id"},
    )  # fmt: skip
    apply(tracker.database, [SelectSource(settings)])
    tracker.task(1, sprint_id=5)
    announced(tracker)
    for statement, expected in (
        ("INSERT INTO area VALUES (5, 'Five', 7, 0, NULL)", [("1", 0, "-")]),
        ("UPDATE area SET name = 'V'", [("1", 1, "-")]),
        ("UPDATE area SET boss = 8", [("1", 0, "-")]),
        ("UPDATE area SET secret = 1, name = 'Vth'", [("1", 0, "-")]),
        ("UPDATE area SET note = 'x'", []),
        ("DELETE FROM area", [("1", 0, "-")]),
    ):
        tracker.sql(statement)
        assert announced(tracker) == expected, statement


def test_an_entity_that_moves_to_another_tenant_is_announced_under_both(tracker: Tracker) -> None:
    tables = {"task": "id", "task_comment": "select id, status from task where id = :task_id"}
    source = SelectSource(dataclasses.replace(TASK, tenant="status", tables=tables))
    apply(tracker.database, [source])
    tracker.task(1, status="acme")
    assert announced(tracker) == [("1", 0, "acme")]
    tracker.sql("UPDATE task SET status = 'bolt'")
    assert sorted(announced(tracker)) == [("1", 0, "acme"), ("1", 0, "bolt")]
    tracker.sql("UPDATE task SET title = 'other'")
    assert announced(tracker) == [("1", 0, "bolt")]
    tracker.sql("UPDATE task SET status = NULL")  # its old tenant's row takes it out of the index
    assert announced(tracker) == [("1", 0, "bolt")]
    tracker.sql("UPDATE task SET title = 'third'")  # nobody may see it: there is nothing to do
    assert announced(tracker) == []
    tracker.sql("UPDATE task SET status = 'acme'")
    assert announced(tracker) == [("1", 0, "acme")]
    tracker.sql("INSERT INTO task_comment VALUES (1, 1, NULL, 'hello')")
    assert announced(tracker) == [("1", 0, "acme")]  # a query for the tenant's sake: a child's change is no fan-out


def test_an_entry_may_be_a_list(tracker: Tracker) -> None:
    """A link between two tasks concerns both."""
    tracker.sql("CREATE TABLE link (low NUMBER, high NUMBER, kind VARCHAR2(20))")
    settings = dataclasses.replace(TASK, tables={"link": ("low", "high", "select id from task where sprint_id = :low")})
    apply(tracker.database, [SelectSource(settings)])
    tracker.sql("INSERT INTO link VALUES (1, 2, 'blocks')")
    assert sorted(announced(tracker)) == [("1", 0, "-"), ("2", 0, "-")]
    tracker.sql("UPDATE link SET high = 3")
    assert sorted(announced(tracker)) == [("1", 0, "-"), ("2", 0, "-"), ("3", 0, "-")]


def test_a_tenant_is_taken_from_the_row_or_the_query(tracker: Tracker) -> None:
    tables = {"task": "id", "sprint": "select id, status from task where sprint_id = :id"}
    source = SelectSource(dataclasses.replace(TASK, tenant="status", tables=tables))
    apply(tracker.database, [source])
    tracker.sql("INSERT INTO sprint VALUES (1, 'One')")
    tracker.sql("INSERT INTO task (id, title, sprint_id, status) VALUES (1, 'A task', 1, 'acme')")
    assert announced(tracker) == [("1", 0, "acme")]
    tracker.sql("UPDATE sprint SET name = 'Two'")
    assert announced(tracker) == [("1", 1, "acme")]


def test_a_tenant_of_fixed_length_is_announced_without_its_blanks(tracker: Tracker) -> None:
    """As a backfill names it: CHAR has blanks at the end, and one longer than 128 bytes would be ORA-12899."""
    tracker.sql("CREATE TABLE padded (id NUMBER, tenant CHAR(200))")
    tracker.sql("CREATE TABLE note (id NUMBER, text VARCHAR2(20))")
    tables = {"padded": "id", "note": "select id, tenant from padded where id = :id"}
    source = SelectSource(
        dataclasses.replace(
            TASK, name="padded", select="select id as source_id, tenant from padded", tenant="tenant", tables=tables
        )
    )
    apply(tracker.database, [source])
    tracker.sql("INSERT INTO padded VALUES (1, 'acme')")
    assert announced(tracker) == [("1", 0, "acme")]
    tracker.sql("INSERT INTO note VALUES (1, 'a note')")
    assert announced(tracker) == [("1", 1, "acme")]


def test_rows_that_are_deleted_along_announce_themselves(tracker: Tracker) -> None:
    tracker.sql("CREATE TABLE team (id NUMBER PRIMARY KEY, name VARCHAR2(20))")
    tracker.sql("CREATE TABLE member (id NUMBER PRIMARY KEY, team_id NUMBER REFERENCES team (id) ON DELETE CASCADE)")
    tables = {"member": "id", "team": "select id from member where team_id = :id"}
    source = SelectSource(
        dataclasses.replace(TASK, name="member", select="select id as source_id from member", tables=tables)
    )
    statements = apply(tracker.database, [source])
    assert "UPDATING AND" not in statements[0]
    assert "UPDATING AND" in statements[1]
    tracker.sql("INSERT INTO team VALUES (1, 'One')")
    tracker.sql("INSERT INTO member VALUES (7, 1)")
    assert announced(tracker) == [("7", 0, "-")]
    tracker.sql("UPDATE team SET name = 'Two'")
    assert announced(tracker) == [("7", 1, "-")]
    tracker.sql("DELETE FROM team")
    assert announced(tracker) == [("7", 0, "-")]


def test_a_row_without_an_id_does_not_break_the_statement_that_changes_the_table(tracker: Tracker) -> None:
    """RAG_DIRTY.SOURCE_ID takes no NULL (ORA-01400)."""
    tables = {"task": "id", "sprint": "select nullif(id, 1) as id from task where sprint_id = :id"}
    apply(tracker.database, [SelectSource(dataclasses.replace(TASK, tables=tables))])
    tracker.sql("INSERT INTO sprint VALUES (1, 'One')")
    for number in (1, 2):
        tracker.sql("INSERT INTO task (id, title, sprint_id) VALUES (:id, 'A task', 1)", id=number)
    announced(tracker)
    tracker.sql("UPDATE sprint SET name = 'Two'")
    assert announced(tracker) == [("2", 1, "-")]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"task": "ident"}, "has no column IDENT"),
        ({"task": "description"}, "gives 'description' as CLOB, which cannot be a key"),
        ({"task": "id or so"}, "neither a list of columns nor a query"),
        ({"no_such_table": "id"}, "is not there, or not for this user"),
        ({"task": "id, sprint_id"}, "names 2 columns"),
        ({"sprint": "select id from task"}, "does not use the changed row"),
        ({"sprint": "select id, title from task where sprint_id = :id"}, "must give 1"),
        ({"sprint": "select id from task where sprint_id = :number"}, "has no column NUMBER"),
        ({"sprint": "select max(id) from task where sprint_id = :id"}, "has no name"),
        ({"sprint": "select id from task@there where sprint_id = :id"}, "TASK@THERE, in another database"),
        ({"task": "select id from task where sprint_id = :sprint_id"}, "ORA-04091"),
    ],
)
def test_an_entry_that_cannot_become_a_trigger_is_refused(tracker: Tracker, tables: dict[str, str], words: str) -> None:
    source = SelectSource(dataclasses.replace(TASK, tables=tables))
    with pytest.raises((ConfigurationError, SourceError), match=words):
        triggers(tracker.database, [source])


def test_a_tenant_that_the_table_does_not_have_needs_a_query(tracker: Tracker) -> None:
    source = SelectSource(dataclasses.replace(TASK, tenant="status", tables={"task_comment": "task_id"}))
    with pytest.raises(ConfigurationError, match="has no column STATUS"):
        triggers(tracker.database, [source])


# -- tables that a foreign key changes --------------------------------------------------------------------------------


def test_what_is_deleted_along_is_announced_by_what_takes_it_along(tracker: Tracker) -> None:
    """The child's query reads its parent, which it may not while the parent goes (ORA-04091): the DELETE must not fail."""
    tracker.sql("CREATE TABLE team (id NUMBER PRIMARY KEY, tenant VARCHAR2(20), name VARCHAR2(20))")
    tracker.sql("CREATE TABLE member (id NUMBER PRIMARY KEY, team_id NUMBER REFERENCES team (id) ON DELETE CASCADE)")
    tables = {"team": "id", "member": "select id, tenant from team where id = :team_id"}
    settings = dataclasses.replace(
        TASK, name="team", select="select id as source_id, tenant, name from team", tenant="tenant", tables=tables
    )
    statements = apply(tracker.database, [SelectSource(settings)])
    assert "rag_mutating" not in statements[0]
    assert "-- a row goes along with one of" in statements[1]
    tracker.sql("INSERT INTO team VALUES (1, 'acme', 'One')")
    assert announced(tracker) == [("1", 0, "acme")]
    tracker.sql("INSERT INTO member VALUES (7, 1)")
    tracker.sql("INSERT INTO member VALUES (8, 1)")
    tracker.sql("DELETE FROM member WHERE id = 8")
    assert announced(tracker) == [("1", 1, "acme")] * 3
    tracker.sql("DELETE FROM team")
    assert announced(tracker) == [("1", 0, "acme")]
    assert tracker.sql("SELECT COUNT(*) FROM member") == [(0,)]

    without = SelectSource(dataclasses.replace(settings, tables={"member": tables["member"]}))
    with pytest.raises(ConfigurationError, match=r"TEAM, whose DELETE deletes rows of this table") as caught:
        triggers(tracker.database, [without])
    assert caught.value.hint is not None
    assert "Write an entry for TEAM too" in caught.value.hint


# -- names ------------------------------------------------------------------------------------------------------------


def test_views_and_synonyms_are_followed_to_their_tables(tracker: Tracker) -> None:
    tracker.sql("CREATE VIEW open_task AS SELECT id, title, sprint_id FROM task WHERE status = 'OPEN'")
    tracker.sql("CREATE SYNONYM task_synonym FOR task")
    select = "select o.id as source_id, o.title from open_task o"
    settings = dataclasses.replace(
        TASK, select=select, template=None, body="title", owner=None, sprint=None, occurred_at=None, metadata=(),
        visibility="shared", children={}, tables={"task_synonym": "id"},
    )  # fmt: skip
    with pytest.raises(ConfigurationError, match="is a view, and only tables have row triggers") as caught:
        triggers(tracker.database, [SelectSource(dataclasses.replace(settings, tables={"open_task": "id"}))])
    assert caught.value.hint is not None
    assert caught.value.hint.endswith(".TASK.")
    (statement,) = apply(tracker.database, [SelectSource(settings)])
    assert statement.startswith(f'CREATE OR REPLACE TRIGGER "{tracker.database.schema}"."RAG_TASK$TASK"\n')
    tracker.task(1)  # through the view any column may matter: the trigger watches them all
    tracker.sql("UPDATE task SET status = 'DONE'")
    assert announced(tracker) == [("1", 0, "-"), ("1", 0, "-")]
    twice = dataclasses.replace(settings, tables={"task_synonym": "id", "task": "id"})
    with pytest.raises(ConfigurationError, match="the same table"):
        triggers(tracker.database, [SelectSource(twice)])
    reading = dataclasses.replace(settings, tables={"task": "select id from open_task where sprint_id = :sprint_id"})
    with pytest.raises(ConfigurationError, match="ORA-04091"):
        triggers(tracker.database, [SelectSource(reading)])


def test_names_that_need_quotes(tracker: Tracker) -> None:
    tracker.sql('CREATE TABLE "Mixed" ("Id" NUMBER, "Text" VARCHAR2(20), "Order" NUMBER)')
    select = 'select m."Id" as source_id, m."Text" as title from "Mixed" m'
    tables = {'"Mixed"': ('"Id"', 'select id from task where sprint_id = :"Order"')}
    settings = dataclasses.replace(
        TASK, select=select, template=None, body="title", owner=None, sprint=None, occurred_at=None, metadata=(),
        visibility="shared", children={}, tables=tables,
    )  # fmt: skip
    (statement,) = apply(tracker.database, [SelectSource(settings)])
    assert '"RAG_TASK$Mixed"' in statement
    assert 'UPDATE OF "Id", "Text", "Order"' in statement
    tracker.sql("""INSERT INTO "Mixed" VALUES (1, 'a', 5)""")
    tracker.task(9, sprint_id=5)
    tracker.sql("""UPDATE "Mixed" SET "Text" = 'b'""")
    assert sorted(announced(tracker)) == [("1", 0, "-"), ("1", 0, "-"), ("9", 1, "-")]


def test_a_column_whose_name_holds_an_apostrophe(tracker: Tracker) -> None:
    tracker.sql("""CREATE TABLE MEMO (ID NUMBER, "IT'S" CLOB)""")
    settings = dataclasses.replace(
        TASK, select="""select id as source_id, "IT'S" as title from memo""", template=None, body="title", owner=None,
        sprint=None, occurred_at=None, metadata=(), visibility="shared", children={}, tables={"memo": ("id",)},
    )  # fmt: skip
    apply(tracker.database, [SelectSource(settings)])
    tracker.sql("INSERT INTO MEMO VALUES (1, 'a')")
    tracker.sql("""UPDATE MEMO SET "IT'S" = 'b'""")
    assert announced(tracker) == [("1", 0, "-"), ("1", 0, "-")]


def test_a_table_of_another_owner_has_its_trigger_there(tracker: Tracker, module_account: Account) -> None:
    """The trigger runs with the rights of the table's owner, who needs INSERT on the queue's view."""
    owner = tracker.database.schema
    source = SelectSource(dataclasses.replace(TASK, tables={f"{owner}.task": "id"}))
    elsewhere = Database(settings_of(module_account, schema="RAG_OWNER"))
    try:
        planned = triggering.plan(elsewhere, [source])
    finally:
        elsewhere.close()
    assert planned.grants == (f'GRANT INSERT ON "RAG_OWNER".RAG_ENQUEUE TO "{owner}"',)
    assert 'INSERT INTO "RAG_OWNER".RAG_ENQUEUE ' in planned.statements[0]
    assert f'ON "{owner}"."TASK"' in planned.statements[0]
    assert f"{planned.grants[0]};" in triggering.script(planned)


def test_no_two_triggers_share_a_name() -> None:
    assert trigger_name("a_b", "C") != trigger_name("a", "B_C")
    long = trigger_name("a" * 30, "T" * 128)
    assert long != trigger_name("a" * 30, "T" * 127 + "U")
    assert len(long.encode()) <= 60
    assert len(trigger_name("a", "Ü" * 60).encode()) <= 60


# -- what is planned and done -----------------------------------------------------------------------------------------


def states(planned: triggering.TriggerPlan) -> dict[str, str]:
    return {trigger.name.partition("$")[2]: trigger.state for trigger in planned.triggers}


def test_a_plan_knows_what_is_there_and_what_nothing_wants(tracker: Tracker) -> None:
    source = tracker.sources["task"]
    other = SelectSource(dataclasses.replace(TASK, name="other", tables={"task": "id"}))
    planned = triggering.plan(tracker.database, [source, other])
    assert set(states(planned).values()) == {"new"}
    assert planned.changes == 4
    triggering.apply(tracker.database, planned)
    again = triggering.plan(tracker.database, [source, other])
    assert (set(states(again).values()), again.unwanted, again.changes) == ({"same"}, (), 0)

    tracker.sql('ALTER TRIGGER "RAG_TASK$SPRINT" DISABLE')
    fewer = SelectSource(
        dataclasses.replace(TASK, template="{{ title }}", tables={"task": "id", "sprint": TASK.tables["sprint"]})
    )
    planned = triggering.plan(tracker.database, [fewer])
    assert states(planned) == {"TASK": "same", "SPRINT": "changed"}
    owner = tracker.database.schema
    assert planned.unwanted == (f"{owner}.RAG_TASK$TASK_COMMENT",)  # the other source's are its own
    everything = triggering.plan(tracker.database, [fewer], everything=True)
    assert everything.unwanted == (f"{owner}.RAG_OTHER$TASK", f"{owner}.RAG_TASK$TASK_COMMENT")
    assert everything.statements[0] == f'DROP TRIGGER "{owner}"."RAG_OTHER$TASK"'
    tracker.sql("CREATE TRIGGER RAG_THEIRS BEFORE INSERT ON task FOR EACH ROW BEGIN NULL; END;")
    triggering.apply(tracker.database, triggering.plan(tracker.database, [fewer], everything=True))
    found = tracker.sql("SELECT TRIGGER_NAME, STATUS FROM USER_TRIGGERS ORDER BY TRIGGER_NAME")
    assert found == [("RAG_TASK$SPRINT", "ENABLED"), ("RAG_TASK$TASK", "ENABLED"), ("RAG_THEIRS", "ENABLED")]


def test_where_another_trigger_may_change_a_column_every_update_is_looked_at(tracker: Tracker) -> None:
    """UPDATE OF sees what a statement names: a title that a BEFORE trigger sets would be lost."""
    settings = dataclasses.replace(TASK, tables={"task_comment": "task_id"})
    (statement,) = triggers(tracker.database, [SelectSource(settings)])
    assert "UPDATE OF" in statement
    tracker.sql(
        "CREATE TRIGGER theirs BEFORE UPDATE ON task_comment FOR EACH ROW BEGIN :NEW.body := 'at ' || :NEW.id; END;"
    )
    (statement,) = apply(tracker.database, [SelectSource(settings)])
    assert "UPDATE OF" not in statement
    tracker.sql("INSERT INTO task_comment VALUES (1, 5, NULL, 'hello')")
    announced(tracker)
    select = "select c.task_id as source_id, c.id, c.body from task_comment c"
    watching = dataclasses.replace(
        settings, children={"comments": dataclasses.replace(TASK.children["comments"], select=select)}
    )
    tracker.connection.commit()
    apply(tracker.database, [SelectSource(watching)])
    tracker.sql("UPDATE task_comment SET created_at = SYSDATE")
    assert announced(tracker) == [("5", 0, "-")]
    tracker.sql("UPDATE task_comment SET created_at = SYSDATE")
    assert announced(tracker) == []


def test_the_script_is_what_sqlplus_reads(tracker: Tracker) -> None:
    query = "select id from task where title like '%&x' -- why; not\n\n and sprint_id = :id"
    source = SelectSource(dataclasses.replace(TASK, tables={"task": "id", "sprint": query}))
    apply(tracker.database, [tracker.sources["task"]])
    planned = triggering.plan(tracker.database, [source])
    assert len(planned.unwanted) == 1
    sent = sqlplus.statements(triggering.script(planned))
    assert sent == list(planned.statements)
    assert "SET DEFINE OFF" in triggering.script(planned)
    for statement in sent:
        tracker.sql(statement)
    assert states(triggering.plan(tracker.database, [source])) == {"TASK": "same", "SPRINT": "same"}


def test_a_line_that_would_end_the_block_is_joined(tracker: Tracker) -> None:
    tables = {"sprint": "select id from task where sprint_id = :id and 8\n/\n4 = 2"}
    planned = triggering.plan(tracker.database, [SelectSource(dataclasses.replace(TASK, tables=tables))])
    assert sqlplus.statements(triggering.script(planned)) == list(planned.statements)


def test_the_effects_are_named_before(tracker: Tracker) -> None:
    planned = triggering.plan(tracker.database, [tracker.sources["task"]])
    kinds = [effect.kind for effect in planned.effects]
    assert kinds == sorted(kinds, key=["does not fire", "stops", "slower"].index)
    said = " ".join(effect.text for effect in planned.effects)
    for word in ("TRUNCATE", "EXCHANGE", "DBMS_LOB", "ORA-26086", "APPEND", "DIRECT=TRUE"):
        assert word in said
    without = SelectSource(dataclasses.replace(TASK, tables={"task_comment": "task_id"}))
    assert "DBMS_LOB" not in " ".join(effect.text for effect in triggering.plan(tracker.database, [without]).effects)


def test_the_text_of_a_trigger_is_golden(tracker: Tracker) -> None:
    """A change of these texts is a change of every user's database: look at it."""
    tracker.sql("CREATE TABLE team (id NUMBER PRIMARY KEY, tenant VARCHAR2(400), name VARCHAR2(20), notes CLOB)")
    tracker.sql(
        "CREATE TABLE member (id NUMBER PRIMARY KEY, team_id NUMBER REFERENCES team (id) ON DELETE CASCADE, name VARCHAR2(20))"
    )
    select = "select t.id as source_id, t.tenant, t.name, t.notes from team t"
    members = "select m.team_id as source_id, m.id, m.name from member m"
    settings = dataclasses.replace(
        TASK, name="team", select=select, tenant="tenant", owner=None, sprint=None, occurred_at=None, metadata=(),
        visibility="shared", template="{{ name }}", children={"members": dataclasses.replace(TASK.children["comments"], select=members)},
        tables={"team": "id", "member": "select id, tenant from team where id = :team_id"},
    )  # fmt: skip
    text = triggering.script(triggering.plan(tracker.database, [SelectSource(settings)]))
    text = re.sub(
        r"triggers [0-9a-f]{16}\n", "triggers 0123456789abcdef\n", text.replace(tracker.database.schema, "APP")
    )
    golden = Path(__file__).parents[2] / "unit" / "golden" / "triggers.sql"
    assert text == golden.read_text("utf-8"), f"compare with {golden.name}"


def test_a_trigger_on_a_table_of_many_columns_is_not_too_long(tracker: Tracker) -> None:
    """32 KB at the most: where the columns would fill it, whatever an UPDATE names counts as changed."""
    columns = ", ".join(f"column_number_{number}_with_a_long_name VARCHAR2(10)" for number in range(200))
    tracker.sql(f"CREATE TABLE area (id NUMBER, {columns})")
    source = SelectSource(dataclasses.replace(TASK, tables={"area": "id"}))
    (statement,) = apply(tracker.database, [source])
    assert len(statement.encode()) < 32_000
    tracker.sql("INSERT INTO area (id) VALUES (1)")
    tracker.sql("UPDATE area SET column_number_7_with_a_long_name = 'x'")
    assert announced(tracker) == [("1", 0, "-"), ("1", 0, "-")]


# -- source check -----------------------------------------------------------------------------------------------------


def test_a_check_says_which_triggers_are_missing_or_of_other_settings(tracker: Tracker) -> None:
    source = tracker.sources["task"]
    assert triggering.problems(tracker.database, source) == []  # none: the program may announce its changes
    fewer = SelectSource(dataclasses.replace(TASK, tables={"task": "id", "task_comment": "id"}))
    apply(tracker.database, [fewer])
    found = triggering.problems(tracker.database, source)
    assert [(problem.code, problem.severity) for problem in found] == [
        ("TRIGGER_STALE", "warning"),
        ("TRIGGER_MISSING", "warning"),
    ]
    apply(tracker.database, [source])
    assert triggering.problems(tracker.database, source) == []
    (unwanted,) = triggering.problems(
        tracker.database,
        SelectSource(dataclasses.replace(TASK, tables={"task": "id", "sprint": TASK.tables["sprint"]})),
    )
    assert unwanted.code == "TRIGGER_UNWANTED"
    tracker.sql('ALTER TRIGGER "RAG_TASK$SPRINT" DISABLE')
    (stale,) = triggering.problems(tracker.database, source)
    assert "SPRINT has a trigger that is disabled" in stale.message
    (none,) = triggering.problems(tracker.database, SelectSource(dataclasses.replace(TASK, tables={"task": "ident"})))
    assert (none.code, none.severity) == ("NO_TRIGGER", "warning")


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"tables": {"task": "id", "task_comment": "task_id"}}, "TABLE_WITHOUT_ENTRY", "depend on SPRINT (the select)"),
        ({"tables": {"task": "id", "sprint": "id"}}, "TABLE_WITHOUT_ENTRY", "TASK_COMMENT (the select of children.comments)"),
        (
            {"tables": dict(TASK.tables) | {"note": "select t.id from task t join area a on a.id = t.sprint_id where a.note = :id"}},
            "TABLE_WITHOUT_ENTRY",
            "AREA (the query of the entry note)",
        ),
        ({"tables": {}}, "NO_TABLES", "a change of SPRINT, TASK, TASK_COMMENT concerns"),
        ({"select": "select o.id as source_id, o.title from open_task o", "tables": {"sprint": "id"}}, "TABLE_WITHOUT_ENTRY",
         "TASK, through the view OPEN_TASK"),
        ({"select": "select o.id as source_id, o.title from open_task o", "tables": {"task_synonym": "id"}}, None, ""),
        ({"select": "with q as (select id from task) select q.id as source_id, a.name as title from q, area a",
          "tables": {"task": "id"}}, "TABLE_WITHOUT_ENTRY", "AREA"),
    ],
)  # fmt: skip
def test_a_check_names_every_table_that_nobody_watches(
    tracker: Tracker, change: dict[str, Any], code: str | None, words: str
) -> None:
    tracker.sql("CREATE TABLE area (id NUMBER, name VARCHAR2(20), note NUMBER)")
    tracker.sql("CREATE TABLE note (id NUMBER)")
    tracker.sql("CREATE VIEW open_task AS SELECT id, title FROM task WHERE status = 'OPEN'")
    tracker.sql("CREATE SYNONYM task_synonym FOR task")
    settings = dataclasses.replace(TASK, **change)
    if "select" in change:
        settings = dataclasses.replace(
            settings, template=None, body="title", owner=None, sprint=None, occurred_at=None, metadata=(), children={},
            visibility="shared",
        )  # fmt: skip
    problems = SelectSource(settings).check(tracker.connection)
    assert [(problem.code, problem.severity) for problem in problems] == ([(code, "warning")] if code else [])
    if code:
        assert words in problems[0].message
