"""Who may do what: the users that sql/setup makes, and the rules of object privileges, roles, views and triggers."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import oracledb
import pytest

from oraclerag import Rag, Resolution, Scope, SourceKey
from oraclerag.config import SourceSettings
from oraclerag.errors import PrivilegeMissing, SchemaMissing
from oraclerag.local import LocalDatabase
from oraclerag.model.load import load_model
from oraclerag.statements import root
from tests.local.conftest import Account, as_administrator
from tests.local.write_path.tracker import Tracker, open_tracker, settings_of
from tests.unit.sqlplus import statements

pytestmark = pytest.mark.one_size

ALLOWED = 0
SETUP = root("sql") / "setup"
ROLES = ("ENQUEUER", "SEARCHER", "WORKER", "RECORDER")


def outcome(connection: oracledb.Connection, statement: str) -> int:
    """Run a statement; give ALLOWED or Oracle's number."""
    with connection.cursor() as cursor:
        try:
            if cursor.execute(statement) is not None:
                cursor.fetchall()
        except oracledb.DatabaseError as error:
            return int(error.args[0].code)
    return ALLOWED


# -- the users of sql/setup -------------------------------------------------------------------------------------------


@dataclass
class Installation:
    """The tables of ``owner``, made as the scripts say, and one user with each of the roles."""

    owner: Account
    users: dict[str, Account]
    tracker: Tracker

    def settings(self, role: str) -> dict[str, object]:
        user = self.users[role]
        return {"user": user.user, "password": user.password, "schema": self.owner.user}


def script(name: str, owner: str) -> list[str]:
    """Give what SQL*Plus would send for another owner, with roles of his own."""
    text = (SETUP / name).read_text("utf-8")
    for variable in ("rag_owner", "rag_role"):
        text = text.replace(f"DEFINE {variable} = RAG\n", f"DEFINE {variable} = {owner}\n")
    return statements(text)


SOURCE = SourceSettings(
    name="task",
    select="select t.id as source_id, t.title, t.status from {owner}.task t",
    visibility="owner",
    template="{{ title }}",
    title="title",
    metadata=("status",),
    tables=MappingProxyType({"task": "id"}),
)


@pytest.fixture(scope="module")
def installation(module_account: Account, local_database: LocalDatabase, tiny_file: Path) -> Iterator[Installation]:
    name = f"{module_account.user}_RAG"
    as_administrator(local_database, *script("create_user.sql", name))
    owner = Account(module_account.dsn, name, "TYPED")
    tracker = open_tracker(owner, tiny_file, replace(SOURCE, select=SOURCE.select.format(owner=name)))
    with owner.connect() as connection:
        load_model(connection, tiny_file, name="HIDDEN", schema=name)
    as_administrator(local_database, *script("grant_users.sql", name))
    users = {}
    for role in ROLES:
        user = Account(owner.dsn, f"{name}_{role[0]}", f"secret_{role}")
        as_administrator(
            local_database,
            f'CREATE USER {user.user} IDENTIFIED BY "{user.password}"',
            f"GRANT CREATE SESSION, {name}_{role} TO {user.user}",
        )
        users[role] = user
    as_administrator(local_database, f"GRANT READ ON {name}.TASK TO {name}_WORKER", *script("grant_model.sql", name))
    yield Installation(owner, users, tracker)
    tracker.close()


def test_who_may_not_log_in(installation: Installation, local_database: LocalDatabase) -> None:
    name = f"{installation.owner.user}_N"
    as_administrator(local_database, f'CREATE USER {name} IDENTIFIED BY "secret"')
    with pytest.raises(oracledb.DatabaseError, match="ORA-01045"):
        oracledb.connect(user=name, password="secret", dsn=installation.owner.dsn)
    as_administrator(local_database, f"GRANT CREATE SESSION TO {name}")
    with oracledb.connect(user=name, password="secret", dsn=installation.owner.dsn) as connection:
        assert outcome(connection, "CREATE TABLE t (a NUMBER)") == 1031


KEY = "(SOURCE_TYPE, SOURCE_ID) VALUES ('task', '1')"
ASKED = "(TENANT_ID, KIND, ASKED_ROLE, OUTCOME, QUESTION) VALUES ('*', 'search', 'anyone', 'nothing', 'why')"
CASES: list[tuple[str, int, str]] = [
    # A service that searches reads chunks and documents, and neither locks nor changes them.
    ("SEARCHER", ALLOWED, "SELECT COUNT(*) FROM {o}.RAG_CHUNK c CROSS JOIN {o}.RAG_DOCUMENT d"),
    ("SEARCHER", ALLOWED, "SELECT VECTOR_EMBEDDING({o}.{model} USING 'x' AS DATA) FROM dual"),
    ("SEARCHER", ALLOWED, "INSERT INTO {o}.RAG_SEARCH " + ASKED),
    ("SEARCHER", ALLOWED, "SELECT COUNT(*) FROM {o}.RAG_SEARCH s CROSS JOIN {o}.RAG_SEARCH_HIT h"),
    ("SEARCHER", ALLOWED, "UPDATE {o}.RAG_SEARCH SET FEEDBACK = 1, FEEDBACK_NOTE = 'x' WHERE SEARCH_ID = 0"),
    ("SEARCHER", 41900, "SELECT CHUNK_ID FROM {o}.RAG_CHUNK FOR UPDATE"),
    ("SEARCHER", 41900, "LOCK TABLE {o}.RAG_CHUNK IN SHARE MODE"),
    ("SEARCHER", 41900, "DELETE FROM {o}.RAG_CHUNK"),
    ("SEARCHER", 41900, "UPDATE {o}.RAG_CHUNK SET CHUNK_NO = 1"),
    ("SEARCHER", 41900, "UPDATE {o}.RAG_SEARCH SET QUESTION = 'x' WHERE SEARCH_ID = 0"),
    ("SEARCHER", 41900, "UPDATE {o}.RAG_SEARCH_HIT SET CITED = 1"),
    ("SEARCHER", 41900, "DELETE FROM {o}.RAG_SEARCH"),
    ("SEARCHER", 942, "SELECT COUNT(*) FROM {o}.RAG_DIRTY"),
    ("SEARCHER", 942, "SELECT NO_SUCH_COLUMN FROM {o}.RAG_FILE"),
    ("SEARCHER", 942, "INSERT INTO {o}.RAG_DIRTY " + KEY),
    ("SEARCHER", 942, "INSERT INTO {o}.RAG_ENQUEUE " + KEY),
    ("SEARCHER", 942, "SELECT title FROM {o}.task"),
    ("SEARCHER", 40284, "SELECT VECTOR_EMBEDDING({o}.{hidden} USING 'x' AS DATA) FROM dual"),
    ("SEARCHER", 40284, "SELECT VECTOR_EMBEDDING({o}.{hidden} USING SOURCE_ID AS DATA) FROM {o}.RAG_CHUNK"),
    ("SEARCHER", 1031, "CREATE TABLE t (a NUMBER)"),
    ("SEARCHER", 1031, "CREATE VIEW v AS SELECT CHUNK_ID FROM {o}.RAG_CHUNK"),
    ("SEARCHER", 1031, "CREATE TABLE {o}.t (a NUMBER)"),
    ("SEARCHER", 1031, "DROP TABLE {o}.RAG_CHUNK"),
    ("SEARCHER", 1031, "TRUNCATE TABLE {o}.RAG_CHUNK"),
    ("SEARCHER", 1031, "ALTER TABLE {o}.RAG_CHUNK ADD x NUMBER"),
    ("SEARCHER", 1031, "CREATE INDEX {o}.i ON {o}.RAG_CHUNK (CHUNK_NO)"),
    ("SEARCHER", 1031, "GRANT READ ON {o}.RAG_CHUNK TO PUBLIC"),
    ("SEARCHER", 942, "DROP TABLE {o}.RAG_DIRTY"),
    ("SEARCHER", 942, "COMMENT ON TABLE {o}.RAG_DIRTY IS 'x'"),
    ("SEARCHER", 942, "GRANT READ ON {o}.RAG_DIRTY TO PUBLIC"),
    # A service that announces adds to the queue, by the columns it is meant to fill, and does not look into it.
    ("ENQUEUER", ALLOWED, "INSERT INTO {o}.RAG_DIRTY " + KEY),
    ("ENQUEUER", ALLOWED, "INSERT INTO {o}.RAG_ENQUEUE " + KEY),
    ("ENQUEUER", ALLOWED, "SELECT VERSION_NUM FROM {o}.RAG_ALEMBIC_VERSION"),
    ("ENQUEUER", 41900, "INSERT INTO {o}.RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, STATE) VALUES ('task', '1', 'FAILED')"),
    ("ENQUEUER", 41900, "SELECT COUNT(*) FROM {o}.RAG_DIRTY"),
    ("ENQUEUER", 41900, "SELECT COUNT(*) FROM {o}.RAG_ENQUEUE"),
    ("ENQUEUER", 41900, "DELETE FROM {o}.RAG_DIRTY"),
    ("ENQUEUER", 41900, "UPDATE {o}.RAG_DIRTY SET LANE = 1"),
    (
        "ENQUEUER",
        41900,
        "MERGE INTO {o}.RAG_DIRTY d USING dual ON (d.SOURCE_ID = '1') WHEN MATCHED THEN UPDATE SET LANE = 1",
    ),
    ("ENQUEUER", 942, "SELECT COUNT(*) FROM {o}.RAG_CHUNK"),
    ("ENQUEUER", 942, "INSERT INTO {o}.RAG_ENTITY (TENANT_ID, SOURCE_TYPE, SOURCE_ID) VALUES ('*', 'task', '1')"),
    ("ENQUEUER", 40284, "SELECT VECTOR_EMBEDDING({o}.{model} USING 'x' AS DATA) FROM dual"),
    # A worker reads sources, and writes what is the toolkit's.
    ("WORKER", ALLOWED, "SELECT DIRTY_ID FROM {o}.RAG_DIRTY FOR UPDATE SKIP LOCKED"),
    ("WORKER", ALLOWED, "DELETE FROM {o}.RAG_DIRTY WHERE DIRTY_ID = 0"),
    ("WORKER", ALLOWED, "UPDATE {o}.RAG_CHUNK SET CHUNK_NO = 1 WHERE CHUNK_ID = 0"),
    ("WORKER", ALLOWED, "SELECT title FROM {o}.task"),
    ("WORKER", 41900, "UPDATE {o}.task SET title = 'x'"),
    ("WORKER", 41900, "SELECT title FROM {o}.task FOR UPDATE"),
    ("WORKER", 41900, "DELETE FROM {o}.RAG_MODEL"),
    ("WORKER", 41900, "UPDATE {o}.RAG_FILE SET TENANT_ID = 'x'"),
    ("WORKER", 942, "SELECT COUNT(*) FROM {o}.RAG_SEARCH"),
    ("WORKER", 41900, "SELECT SEARCH_ID FROM {o}.RAG_SEARCH_HIT FOR UPDATE"),
    ("WORKER", 41900, "UPDATE {o}.RAG_SEARCH_TEXT SET SEARCH_ID = 1"),
    ("WORKER", 41900, "DELETE FROM {o}.RAG_SEARCH_TEXT"),
    (
        "WORKER",
        ALLOWED,
        "UPDATE {o}.RAG_SEARCH_TEXT SET PROMPT = NULL WHERE SEARCH_ID IN (SELECT SEARCH_ID FROM {o}.RAG_SEARCH_HIT)",
    ),
    ("WORKER", 942, "SELECT COUNT(*) FROM {o}.task_comment"),
    ("WORKER", 1031, "DROP TABLE {o}.RAG_CHUNK"),
    ("WORKER", 40284, "BEGIN DBMS_VECTOR.DROP_ONNX_MODEL('{o}.{hidden}'); END;"),
    ("WORKER", 1031, "BEGIN DBMS_VECTOR.DROP_ONNX_MODEL('{o}.{model}'); END;"),
    # Who records writes what is of record, and sees nothing of the index and of the queue.
    ("RECORDER", ALLOWED, "DELETE FROM {o}.RAG_FILE WHERE FILE_ID = 0"),
    ("RECORDER", 41900, "SELECT COUNT(*) FROM {o}.RAG_DIRTY"),
    ("RECORDER", 942, "SELECT COUNT(*) FROM {o}.RAG_CHUNK"),
]


@pytest.fixture(scope="module")
def sessions(installation: Installation) -> Iterator[dict[str, oracledb.Connection]]:
    opened = {role: user.connect() for role, user in installation.users.items()}
    yield opened
    for connection in opened.values():
        connection.close()


@pytest.fixture(scope="module")
def models(installation: Installation) -> dict[str, str]:
    """The names of the model in force and of one that nobody else may use."""
    rows = installation.tracker.sql("SELECT MODEL_NAME FROM USER_MINING_MODELS")
    return {("hidden" if name.startswith("HIDDEN") else "model"): name for (name,) in rows}


@pytest.mark.parametrize(("role", "number", "statement"), CASES)
def test_a_role_may(
    sessions: dict[str, oracledb.Connection],
    installation: Installation,
    models: dict[str, str],
    role: str,
    number: int,
    statement: str,
) -> None:
    connection = sessions[role]
    try:
        assert outcome(connection, statement.format(o=installation.owner.user, **models)) == number
    finally:
        connection.rollback()


def test_a_searcher_learns_the_number_under_which_it_logs(
    sessions: dict[str, oracledb.Connection], installation: Installation
) -> None:
    with sessions["SEARCHER"].cursor() as cursor:
        made = cursor.var(int)
        cursor.execute(
            f"INSERT INTO {installation.owner.user}.RAG_SEARCH {ASKED} RETURNING SEARCH_ID INTO :id", id=made
        )
        assert made.getvalue()[0] > 0
    sessions["SEARCHER"].rollback()


def test_what_is_returned_must_be_readable(
    sessions: dict[str, oracledb.Connection], installation: Installation
) -> None:
    """SQL92_SECURITY: RETURNING takes SELECT, and the service that announces has only INSERT."""
    with sessions["ENQUEUER"].cursor() as cursor:
        target = cursor.var(int)
        with pytest.raises(oracledb.DatabaseError, match="ORA-41900: missing SELECT privilege on"):
            cursor.execute(
                f"INSERT INTO {installation.owner.user}.RAG_DIRTY {KEY} RETURNING DIRTY_ID INTO :id", id=target
            )
    sessions["ENQUEUER"].rollback()


def test_the_dictionary_shows_what_one_may_use(
    sessions: dict[str, oracledb.Connection], installation: Installation, models: dict[str, str]
) -> None:
    owner = installation.owner.user
    seen = {}
    for role, connection in sessions.items():
        with connection.cursor() as cursor:
            cursor.execute("SELECT TABLE_NAME FROM ALL_TABLES WHERE OWNER = :o", o=owner)
            tables = {name for (name,) in cursor}
            cursor.execute("SELECT MODEL_NAME FROM ALL_MINING_MODELS WHERE OWNER = :o", o=owner)
            seen[role] = tables, [name for (name,) in cursor]
    assert seen["ENQUEUER"] == ({"RAG_ALEMBIC_VERSION", "RAG_DIRTY"}, [])
    assert seen["SEARCHER"][0] == {
        "RAG_ALEMBIC_VERSION", "RAG_CHUNK", "RAG_DOCUMENT", "RAG_SETTING", "RAG_MODEL", "RAG_SEARCH", "RAG_SEARCH_HIT"
    }  # fmt: skip
    assert seen["SEARCHER"][1] == seen["WORKER"][1] == [models["model"]]
    assert "TASK" in seen["WORKER"][0]
    assert "TASK_COMMENT" not in seen["WORKER"][0]


DOCTOR: dict[str, tuple[str, set[str]]] = {
    # what each kind of user may do, and what stays unknown to it
    "SEARCHER": ("search", {"backlog", "orphans", "strangers", "vector_memory"}),
    "WORKER": ("index (a worker)", {"workers", "search_log", "vector_memory"}),
    "RECORDER": ("ingest and record", {"search_log", "model", "backlog", "strangers"}),
    "ENQUEUER": ("enqueue", {"search_log", "model", "backlog", "strangers"}),
}


@pytest.mark.parametrize("role", ROLES)
def test_doctor_works_as_each_user(installation: Installation, role: str) -> None:
    """What a user may not look at is unknown, with the grant to give; nothing fails for it."""
    installation.tracker.clear()
    owner = installation.owner.user
    source = replace(SOURCE, select=SOURCE.select.format(owner=owner))
    with Rag(replace(settings_of(installation.owner, source), **installation.settings(role))) as rag:  # type: ignore[arg-type]
        report = rag.doctor()
    assert [finding for finding in report.findings if finding.state in ("fail", "warn")] == []
    found = {finding.name: finding for finding in report.findings}
    does, unknown = DOCTOR[role]
    assert found["privileges"].detail == f"{owner}_{role[0]} is not the owner of the tables ({owner}) and may {does}"
    assert {finding.name for finding in report.findings if finding.state == "unknown"} == unknown
    for name in unknown - {"workers"}:
        assert re.search(rf"GRANT (READ|SELECT) ON \S+ TO {owner}_{role[0]}\b", found[name].remedy or ""), name


def test_doctor_finds_a_grant_that_is_missing(installation: Installation, local_database: LocalDatabase) -> None:
    owner = installation.owner.user
    worker = f"{owner}_W"
    as_administrator(local_database, f"REVOKE DELETE ON {owner}.RAG_CHUNK FROM {owner}_WORKER")
    try:
        with Rag(replace(settings_of(installation.owner), **installation.settings("WORKER"))) as rag:  # type: ignore[arg-type]
            found = {finding.name: finding for finding in rag.doctor().findings}
    finally:
        as_administrator(local_database, f"GRANT DELETE ON {owner}.RAG_CHUNK TO {owner}_WORKER")
    assert found["privileges"].state == "fail"
    assert found["privileges"].detail.endswith("to index (a worker), it lacks DELETE ON RAG_CHUNK")
    assert found["privileges"].remedy == f"GRANT DELETE ON {owner}.RAG_CHUNK TO {worker}"


def test_doctor_of_a_worker_that_may_not_read_a_source(
    installation: Installation, local_database: LocalDatabase
) -> None:
    owner = installation.owner.user
    source = replace(SOURCE, select=SOURCE.select.format(owner=owner))
    as_administrator(local_database, f"REVOKE READ ON {owner}.TASK FROM {owner}_WORKER")
    try:
        with Rag(replace(settings_of(installation.owner, source), **installation.settings("WORKER"))) as rag:  # type: ignore[arg-type]
            found = {finding.name: finding for finding in rag.doctor().findings}
    finally:
        as_administrator(local_database, f"GRANT READ ON {owner}.TASK TO {owner}_WORKER")
    assert found["coverage:task"].state == "unknown"
    assert "GRANT READ on the tables of its select" in (found["coverage:task"].remedy or "")


def test_the_probe_of_a_user_that_may_make_no_table(installation: Installation) -> None:
    with Rag(replace(settings_of(installation.owner), **installation.settings("WORKER"))) as rag:  # type: ignore[arg-type]
        measured = {one.name: one for one in rag.probe()}
    assert {one.state for one in measured.values()} == {"unknown"}
    assert measured["fetch_locks"].remedy == (
        f"GRANT CREATE TABLE TO {installation.owner.user}_W, and a quota: "
        f"ALTER USER {installation.owner.user}_W QUOTA 10M ON USERS."
    )


def test_doctor_of_a_user_without_any_role(installation: Installation, local_database: LocalDatabase) -> None:
    owner = installation.owner.user
    name = f"{owner}_X"
    as_administrator(
        local_database,
        f'CREATE USER {name} IDENTIFIED BY "secret"',
        f"GRANT CREATE SESSION TO {name}",
        f"GRANT READ ON {owner}.RAG_ALEMBIC_VERSION TO {name}",
    )
    settings = replace(settings_of(installation.owner), user=name, password="secret", schema=owner)
    with Rag(settings) as rag:
        found = {finding.name: finding for finding in rag.doctor().findings}
    assert (found["privileges"].state, "may do nothing" in found["privileges"].detail) == ("fail", True)
    assert f"GRANT RAG_SEARCHER TO {name}" in (found["privileges"].remedy or "")


def test_the_toolkit_works_as_these_users(installation: Installation) -> None:
    """Announce, work off and search: three services, three users, nobody's password but their own."""
    tracker = installation.tracker
    tracker.clear()
    tracker.task(1, "The invoice was paid twice", assignee_id=7)
    settings = {
        role: replace(
            settings_of(
                installation.owner, replace(SOURCE, select=SOURCE.select.format(owner=installation.owner.user))
            ),
            **installation.settings(role),  # type: ignore[arg-type]
        )
        for role in ROLES
    }
    with Rag(settings["ENQUEUER"]) as application, installation.users["ENQUEUER"].connect() as connection:
        application.enqueue(connection, SourceKey("task", "1"))
        connection.commit()
    with Rag(settings["WORKER"]) as worker:
        assert worker.drain().indexed == 1
        assert worker.queue_status().ready == 0
        assert [report.enqueued for report in worker.backfill(everything=True)] == [1]
        assert worker.drain().claimed == 1
        assert [(report.audited, report.equal) for report in worker.audit()] == [(1, 1)]
        assert worker.queue_retry().dead == 0
        worker.queue_purge(dead=True)
        assert worker.status().healthy
        with pytest.raises(PrivilegeMissing, match="ORA-01418"):
            worker.queue_purge(compact=True)
        assert worker.finish().chunks == 1
        with pytest.raises(PrivilegeMissing, match="ORA-01031"):
            worker.build_index(force=True)
    with Rag(settings["SEARCHER"]) as searcher:
        assert [hit.source.id for hit in searcher.search("paid twice", scope=Scope(manager=True))] == ["1"]


def test_what_is_asked_is_logged_and_cleared_by_these_users(installation: Installation) -> None:
    """The searcher writes, reads and judges; the worker takes out what quotes a task that is gone."""
    tracker = installation.tracker
    tracker.clear()
    tracker.task(1, "The invoice was paid twice", assignee_id=7)
    tracker.enqueue(1)
    owner = settings_of(installation.owner, replace(SOURCE, select=SOURCE.select.format(owner=installation.owner.user)))
    settings = {role: replace(owner, **installation.settings(role)) for role in ROLES}  # type: ignore[arg-type]
    scope = Scope(manager=True)
    logging = replace(settings["SEARCHER"], searches_log_prompts=True)
    with Rag(settings["WORKER"]) as worker, Rag(logging) as searcher:
        assert worker.drain().indexed == 1
        answer = searcher.ask("paid twice", scope=scope)
        assert answer.search_id is not None
        searcher.feedback(answer.search_id, True, scope=scope)
        kept = searcher.searches.show(answer.search_id, scope=scope)
        assert (kept.answer, kept.feedback) == (answer.text, True)
        tracker.sql("DELETE FROM task")
        tracker.enqueue(1)
        assert worker.drain().deleted == 1
        kept = searcher.searches.show(answer.search_id, scope=scope)
        assert (kept.answer, kept.prompt, [hit.key for hit in kept.hits]) == (None, None, ["task:1:0"])
    tracker.sql("DELETE FROM RAG_SEARCH")
    tracker.connection.commit()


def test_every_way_to_read_is_open_to_who_searches(installation: Installation) -> None:
    """And what looks into the queue is not: waiting is for who has the role of a worker, or READ on RAG_DIRTY."""
    tracker = installation.tracker
    tracker.clear()
    tracker.task(1, "ORA-01555 in the ledger: raise undo_retention", assignee_id=7)
    tracker.task(2, "The invoice was paid twice", assignee_id=7)
    tracker.enqueue(1, 2)
    owner = settings_of(installation.owner, replace(SOURCE, select=SOURCE.select.format(owner=installation.owner.user)))
    settings = {role: replace(owner, **installation.settings(role)) for role in ROLES}  # type: ignore[arg-type]
    scope = Scope(manager=True)
    with Rag(settings["WORKER"]) as worker, Rag(settings["SEARCHER"]) as searcher:
        assert worker.drain().indexed == 2
        worker.wait(SourceKey("task", "1"), timeout=1)
        assert len(searcher.search_each(["paid", "ledger"], scope=scope)) == 2
        hits = searcher.search("ORA-01555", scope=scope, log=True, diversity=0.2).hits
        assert [hit.key for hit in searcher.fetch([hits[0].key], scope=scope)] == [hits[0].key]
        assert searcher.expand(hits, scope=scope)
        prompt = searcher.prompt("why ORA-01555", scope=scope)
        assert prompt is not None
        assert "ORA-01555" in prompt.text
        diagnosis = searcher.diagnose("ORA-01555: snapshot too old", scope=scope, log=True)
        assert [match.hit.source.id for match in diagnosis.notes] == ["1"]
        assert searcher.searches.stats(scope=scope).total.count == len(searcher.searches.list(scope=scope)) > 1
        with pytest.raises(SchemaMissing, match="or this user may not use them") as hidden:
            searcher.wait(SourceKey("task", "1"), timeout=1)
        assert "grant_users.sql" in str(hidden.value.hint)
        with pytest.raises(PrivilegeMissing):
            searcher.purge_searches(dt.timedelta(0))
    tracker.sql("DELETE FROM RAG_SEARCH")
    tracker.connection.commit()


def test_files_are_taken_in_and_indexed_by_these_users(installation: Installation, tmp_path: Path) -> None:
    installation.tracker.clear()
    owner = settings_of(installation.owner)
    settings = {role: replace(owner, **installation.settings(role)) for role in ROLES}  # type: ignore[arg-type]
    (tmp_path / "kb").mkdir()
    for name in ("a.md", "b.md"):
        (tmp_path / "kb" / name).write_text(f"# {name}")
    with Rag(settings["RECORDER"]) as recorder, Rag(settings["WORKER"]) as worker:
        assert recorder.ingest(tmp_path / "kb").new == 2
        assert worker.drain().indexed == 2
        (tmp_path / "kb" / "a.md").write_text("# another")
        (tmp_path / "kb" / "b.md").unlink()
        report = recorder.ingest(tmp_path / "kb", prune=True)
        assert (report.changed, report.removed) == (1, 1)
        assert worker.drain().deleted == 1
        assert [(one.source, one.ok) for one in worker.audit()] == [("file", True)]
        kept = recorder.record_resolution(Resolution(title="Full", fix="Add a file."))
        assert kept.id is not None
        assert recorder.resolutions.validate(kept.id, by="ana", scope=Scope()).validated_by == "ana"
        assert worker.drain().indexed == 1
        assert [(one.source, one.ok) for one in worker.audit()] == [("file", True), ("resolution", True)]
        recorder.resolutions.remove(kept.id, scope=Scope())
        assert worker.drain().deleted == 1


@pytest.mark.parametrize("role", ROLES)
def test_a_tenant_is_exported_whole_or_not_at_all(installation: Installation, tmp_path: Path, role: str) -> None:
    settings = replace(settings_of(installation.owner), **installation.settings(role))  # type: ignore[arg-type]
    with Rag(settings) as rag, pytest.raises(PrivilegeMissing, match="may not read RAG_"):
        rag.tenants.export("main", tmp_path / "main.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_the_last_script_leaves_what_is_not_the_toolkits(installation: Installation) -> None:
    installation.tracker.connection.rollback()
    with installation.owner.connect() as connection, connection.cursor() as cursor:
        for statement in script("drop_all.sql", installation.owner.user):
            with pytest.raises(oracledb.DatabaseError, match="ORA-20000") if "TYPED" in statement else nullcontext():
                cursor.execute(statement)
            if "TYPED" in statement:  # what somebody types who is sure
                cursor.execute(statement.replace("TYPED", "DROP"))
        cursor.execute("SELECT OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_TYPE IN ('TABLE', 'VIEW') ORDER BY 1")
        assert [name for (name,) in cursor] == ["SPRINT", "TASK", "TASK_COMMENT"]
        cursor.execute("SELECT COUNT(*) FROM USER_MINING_MODELS")
        assert cursor.fetchone() == (0,)


# -- rules ------------------------------------------------------------------------------------------------------------


@dataclass
class World:
    """Three users with schemas: ``a`` owns tables, ``b`` is given rights, ``c`` gets what b makes."""

    a: Account
    b: Account
    c: Account
    sessions: dict[str, oracledb.Connection]

    def begin(self) -> None:
        """Make a's table."""
        self.run(
            "a",
            "CREATE TABLE t (id NUMBER PRIMARY KEY, x NUMBER, y NUMBER)",
            "INSERT INTO t VALUES (1, 1, 1)",
            "COMMIT",
        )

    def names(self, statement: str) -> str:
        return statement.format(a=self.a.user, b=self.b.user, c=self.c.user)

    def run(self, who: str, *texts: str) -> None:
        with self.sessions[who].cursor() as cursor:
            for statement in texts:
                cursor.execute(self.names(statement))

    def outcome(self, who: str, statement: str) -> int:
        return outcome(self.sessions[who], self.names(statement))

    def again(self, who: str) -> None:
        """Begin another session, with the roles of now."""
        self.sessions[who].close()
        self.sessions[who] = {"a": self.a, "b": self.b, "c": self.c}[who].connect()


@pytest.fixture
def world(account: Account, local_database: LocalDatabase) -> Iterator[World]:
    others = [
        Account(account.dsn, name, local_database.create_user(name))
        for name in (f"{account.user}_B", f"{account.user}_C")
    ]
    sessions = {letter: user.connect() for letter, user in zip("abc", (account, *others), strict=True)}
    made = World(account, others[0], others[1], sessions)
    made.begin()
    yield made
    for connection in sessions.values():
        connection.close()


Step = tuple[str, int, str]
RULES: dict[str, list[Step]] = {
    "SELECT locks, READ does not": [
        ("b", 942, "SELECT x FROM {a}.t"),
        ("a", ALLOWED, "GRANT READ ON t TO {b}"),
        ("b", ALLOWED, "SELECT x FROM {a}.t"),
        ("b", 41900, "SELECT x FROM {a}.t FOR UPDATE"),
        ("b", 41900, "LOCK TABLE {a}.t IN EXCLUSIVE MODE"),
        ("a", ALLOWED, "GRANT SELECT ON t TO {b}"),
        ("b", ALLOWED, "SELECT x FROM {a}.t FOR UPDATE"),
        ("b", ALLOWED, "LOCK TABLE {a}.t IN EXCLUSIVE MODE"),
        ("b", ALLOWED, "ROLLBACK"),
        ("a", ALLOWED, "REVOKE ALL ON t FROM {b}"),
        ("b", 942, "SELECT x FROM {a}.t"),
    ],
    "columns of an UPDATE and an INSERT": [
        ("a", ALLOWED, "GRANT UPDATE (x), INSERT (id, x) ON t TO {b}"),
        ("b", ALLOWED, "UPDATE {a}.t SET x = 2"),
        ("b", 41900, "UPDATE {a}.t SET y = 2"),
        ("b", 41900, "UPDATE {a}.t SET x = 2, y = 2"),
        ("b", 41900, "UPDATE {a}.t SET x = y"),
        ("b", 41900, "UPDATE {a}.t SET x = 2 WHERE id = 1"),
        ("b", ALLOWED, "INSERT INTO {a}.t (id, x) VALUES (2, 2)"),
        ("b", 41900, "INSERT INTO {a}.t (id, y) VALUES (3, 2)"),
        ("b", 41900, "INSERT INTO {a}.t VALUES (3, 2, 2)"),
        ("b", ALLOWED, "ROLLBACK"),
        ("a", 1750, "REVOKE UPDATE (x) ON t FROM {b}"),
        ("a", ALLOWED, "REVOKE UPDATE ON t FROM {b}"),
        ("b", 41900, "UPDATE {a}.t SET x = 2"),
    ],
    "a WHERE over the target takes SELECT": [
        ("a", ALLOWED, "GRANT DELETE, READ ON t TO {b}"),
        ("b", 41900, "DELETE FROM {a}.t WHERE x = 9"),
        ("b", 41900, "DELETE FROM {a}.t t WHERE EXISTS (SELECT 1 FROM dual WHERE t.x = 9)"),
        ("b", ALLOWED, "DELETE FROM {a}.t"),
        ("b", ALLOWED, "ROLLBACK"),
        ("a", ALLOWED, "GRANT SELECT ON t TO {b}"),
        ("b", ALLOWED, "DELETE FROM {a}.t WHERE x = 9"),
    ],
    "everybody": [
        ("a", ALLOWED, "GRANT READ ON t TO PUBLIC"),
        ("b", ALLOWED, "SELECT x FROM {a}.t"),
        ("c", ALLOWED, "BEGIN FOR r IN (SELECT x FROM {a}.t) LOOP NULL; END LOOP; END;"),
        ("c", 6550, "BEGIN DELETE FROM {a}.t; END;"),
    ],
    "what one may not see is not described either": [
        ("b", 6550, "DECLARE r {a}.t%ROWTYPE; BEGIN NULL; END;"),
        ("b", 942, "SELECT no_such_column FROM {a}.t"),
        ("b", 942, "INSERT INTO {a}.t (no_such_column) VALUES (1)"),
        ("a", ALLOWED, "GRANT INSERT ON t TO {b}"),
        ("b", ALLOWED, "DECLARE r {a}.t%ROWTYPE; BEGIN NULL; END;"),
        ("b", 904, "INSERT INTO {a}.t (no_such_column) VALUES (1)"),
    ],
    "the current schema gives no rights": [
        ("b", ALLOWED, "ALTER SESSION SET CURRENT_SCHEMA = {a}"),
        ("b", 942, "SELECT x FROM t"),
        ("b", ALLOWED, "SELECT COUNT(*) FROM user_tables"),
        ("b", 1031, "CREATE TABLE mine (a NUMBER)"),
    ],
    "views have the rights of their owner": [
        ("b", 942, "CREATE VIEW v AS SELECT x FROM {a}.t"),
        ("a", ALLOWED, "GRANT READ ON t TO {b}"),
        ("b", ALLOWED, "CREATE VIEW v AS SELECT x FROM {a}.t"),
        ("b", ALLOWED, "SELECT x FROM v"),
        ("b", 1720, "GRANT READ ON v TO {c}"),
        ("a", ALLOWED, "GRANT READ ON t TO {b} WITH GRANT OPTION"),
        ("b", ALLOWED, "GRANT READ ON v TO {c}"),
        ("c", ALLOWED, "SELECT x FROM {b}.v"),
        ("c", 942, "SELECT x FROM {a}.t"),
        ("c", 41900, "DELETE FROM {b}.v"),
        ("a", ALLOWED, "REVOKE READ ON t FROM {b}"),
        ("b", 4063, "SELECT x FROM v"),
        ("c", 4063, "SELECT x FROM {b}.v"),
    ],
    "grants end where the view or table does": [
        ("b", ALLOWED, "CREATE VIEW v AS SELECT 1 AS one FROM dual"),
        ("b", ALLOWED, "GRANT READ ON v TO {c}"),
        ("b", ALLOWED, "CREATE OR REPLACE VIEW v AS SELECT 2 AS one FROM dual"),
        ("c", ALLOWED, "SELECT one FROM {b}.v"),
        ("b", ALLOWED, "DROP VIEW v"),
        ("b", ALLOWED, "CREATE VIEW v AS SELECT 2 AS one FROM dual"),
        ("c", 942, "SELECT one FROM {b}.v"),
        ("a", ALLOWED, "GRANT READ ON t TO {c}"),
        ("a", ALLOWED, "RENAME t TO t2"),
        ("c", ALLOWED, "SELECT x FROM {a}.t2"),
        ("a", ALLOWED, "DROP TABLE t2"),
        ("a", ALLOWED, "CREATE TABLE t2 (x NUMBER)"),
        ("c", 942, "SELECT x FROM {a}.t2"),
    ],
    "triggers have the rights of their owner": [
        ("b", ALLOWED, "CREATE TABLE log (x NUMBER)"),
        ("b", ALLOWED, "GRANT INSERT ON log TO {a}"),
        ("a", ALLOWED, "CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW BEGIN INSERT INTO {b}.log VALUES (:NEW.x); END;"),
        ("a", ALLOWED, "GRANT UPDATE ON t TO {c}"),
        ("c", ALLOWED, "UPDATE {a}.t SET x = 5"),
        ("c", 942, "SELECT x FROM {b}.log"),
        ("c", ALLOWED, "ROLLBACK"),
    ],
    "a synonym gives no rights": [
        ("b", ALLOWED, "CREATE SYNONYM s FOR {a}.t"),
        ("b", 942, "SELECT x FROM s"),
        ("a", ALLOWED, "GRANT READ ON t TO {b}"),
        ("b", ALLOWED, "SELECT x FROM s"),
        ("b", 41900, "DELETE FROM s"),
    ],
    "sequences": [
        ("a", ALLOWED, "CREATE SEQUENCE sq"),
        ("b", 2289, "SELECT {a}.sq.NEXTVAL FROM dual"),
        ("a", ALLOWED, "GRANT ALTER ON sq TO {b}"),
        ("b", 41900, "SELECT {a}.sq.NEXTVAL FROM dual"),
        ("a", ALLOWED, "GRANT SELECT ON sq TO {b}"),
        ("b", ALLOWED, "SELECT {a}.sq.NEXTVAL FROM dual"),
        ("b", 1031, "DROP SEQUENCE {a}.sq"),
    ],
    "an identity column takes no right on its sequence": [
        ("a", ALLOWED, "CREATE TABLE i (id NUMBER GENERATED ALWAYS AS IDENTITY, x NUMBER)"),
        ("a", ALLOWED, "GRANT INSERT ON i TO {b}"),
        ("b", ALLOWED, "INSERT INTO {a}.i (x) VALUES (1)"),
        ("b", ALLOWED, "ROLLBACK"),
    ],
    "the grant option": [
        ("b", 942, "GRANT READ ON {a}.t TO {c}"),
        ("a", ALLOWED, "GRANT READ ON t TO {b}"),
        ("b", 1031, "GRANT READ ON {a}.t TO {c}"),
        ("a", ALLOWED, "GRANT READ ON t TO {b} WITH GRANT OPTION"),
        ("b", ALLOWED, "GRANT READ ON {a}.t TO {c}"),
        ("b", 1031, "GRANT UPDATE ON {a}.t TO {c}"),
        ("c", ALLOWED, "SELECT x FROM {a}.t"),
        ("a", 1927, "REVOKE READ ON t FROM {c}"),
        ("a", ALLOWED, "REVOKE READ ON t FROM {b}"),
        ("c", 942, "SELECT x FROM {a}.t"),
    ],
    "a foreign key takes REFERENCES": [
        ("b", 942, "CREATE TABLE d (id NUMBER REFERENCES {a}.t (id))"),
        ("a", ALLOWED, "GRANT READ ON t TO {b}"),
        ("b", 41900, "CREATE TABLE d (id NUMBER REFERENCES {a}.t (id))"),
        ("a", ALLOWED, "GRANT REFERENCES ON t TO {b}"),
        ("b", ALLOWED, "CREATE TABLE d (id NUMBER REFERENCES {a}.t (id))"),
    ],
    "DDL on another's table": [
        ("b", 942, "ALTER TABLE {a}.t ADD z NUMBER"),
        ("b", 942, "CREATE INDEX i ON {a}.t (x)"),
        ("a", ALLOWED, "GRANT ALTER, INDEX ON t TO {b}"),
        ("b", ALLOWED, "ALTER TABLE {a}.t ADD z NUMBER"),
        ("b", 1031, "CREATE INDEX {a}.i ON {a}.t (x)"),
        ("b", 1031, "DROP TABLE {a}.t"),
        ("b", 1031, "CREATE TRIGGER tr BEFORE INSERT ON {a}.t FOR EACH ROW BEGIN NULL; END;"),
    ],
    "what a developer may not": [
        ("a", 1031, "CREATE USER nobody IDENTIFIED BY x"),
        ("a", 1031, "DROP USER {b}"),
        ("a", 1031, "ALTER USER {b} IDENTIFIED BY x"),
        ("a", 1031, "CREATE ROLE r"),
        ("a", 1031, "CREATE DIRECTORY d AS '/tmp'"),
        ("a", 1031, "GRANT CREATE TABLE TO {b}"),
        ("a", 1932, "GRANT DBA TO {b}"),
        ("a", 1031, "CREATE TABLE {b}.t (a NUMBER)"),
        ("a", 1031, "CREATE VIEW {b}.v AS SELECT 1 AS one FROM dual"),
    ],
    "what cannot be granted": [
        ("a", 2204, "GRANT INDEX ON v TO {b}"),
        ("a", 990, "GRANT SELEKT ON t TO {b}"),
        ("a", 3001, "GRANT SELECT ANY TABLE ON SCHEMA {a} TO {b}"),
        ("a", 3001, "GRANT ALL PRIVILEGES TO {b}"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rule(world: World, rule: str) -> None:
    if "what cannot be granted" in rule:
        world.run("a", "CREATE VIEW v AS SELECT x FROM t")
    for who, number, statement in RULES[rule]:
        assert (world.outcome(who, statement), who, statement) == (number, who, statement)


def test_roles_hold_roles_and_count_from_the_next_session_on(world: World, local_database: LocalDatabase) -> None:
    inner, outer = f"{world.a.user}_INNER", f"{world.a.user}_OUTER"
    as_administrator(
        local_database,
        f"CREATE ROLE {inner}",
        f"CREATE ROLE {outer}",
        f"GRANT {inner} TO {outer}",
        f"GRANT {outer} TO {world.b.user}",
    )
    world.run("a", f"GRANT READ ON t TO {inner}")
    assert world.outcome("b", "SELECT x FROM {a}.t") == 942
    world.again("b")
    assert world.outcome("b", "SELECT x FROM {a}.t") == ALLOWED
    assert world.outcome("b", "CREATE VIEW v AS SELECT x FROM {a}.t") == 1031, "roles do not count in views"
    assert world.outcome("a", f"GRANT REFERENCES ON t TO {inner}") == 1931
    assert world.outcome("b", f"GRANT {outer} TO {{c}}") == 1932
    with pytest.raises(oracledb.DatabaseError, match="ORA-01934"):
        as_administrator(local_database, f"GRANT {outer} TO {inner}")
    as_administrator(local_database, f"REVOKE {inner} FROM {outer}")
    assert world.outcome("b", "SELECT x FROM {a}.t") == 942
    as_administrator(local_database, f"DROP ROLE {inner}", f"DROP ROLE {outer}")


def test_an_administrator_may_everything(world: World, local_database: LocalDatabase) -> None:
    as_administrator(
        local_database,
        f"SELECT x FROM {world.a.user}.t FOR UPDATE",
        f"UPDATE {world.a.user}.t SET x = 2 WHERE id = 1",
        f"CREATE TABLE {world.b.user}.made (id NUMBER GENERATED ALWAYS AS IDENTITY)",
        f"CREATE INDEX {world.a.user}.made_i ON {world.a.user}.t (y)",
        f"GRANT READ ON {world.a.user}.t TO {world.c.user}",
        f"DROP TABLE {world.b.user}.made",
    )
    with world.sessions["c"].cursor() as cursor:
        cursor.execute("SELECT GRANTOR, PRIVILEGE FROM USER_TAB_PRIVS WHERE GRANTEE = USER")
        assert cursor.fetchall() == [(world.a.user, "READ")], "it is the owner who granted"


def test_a_directory_is_read_by_whom_it_was_granted_to(world: World, local_database: LocalDatabase) -> None:
    name = f"{world.a.user}_DIR"
    load = f"BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL('{name}', 'none.onnx', 'm', JSON('{{{{}}}}')); END;"
    as_administrator(local_database, f"CREATE DIRECTORY {name} AS '/nowhere'")
    assert world.outcome("b", load) == 22285
    as_administrator(local_database, f"GRANT WRITE ON DIRECTORY {name} TO {world.b.user}")
    assert world.outcome("b", load) == 22286
    as_administrator(local_database, f"GRANT READ ON DIRECTORY {name} TO {world.b.user}")
    assert world.outcome("b", load) == 22288, "there is no such file"
    as_administrator(local_database, f"DROP DIRECTORY {name}")


def test_one_changes_his_own_password(world: World) -> None:
    world.run("c", "ALTER USER {c} IDENTIFIED BY another")
    with oracledb.connect(user=world.c.user, password="another", dsn=world.c.dsn):
        pass


def test_the_same_statement_of_two_users_is_two_plans(world: World) -> None:
    """Both look at a's schema: what is permitted to the one is not to the other, whoever comes first."""
    for who in "bc":
        world.run(who, "ALTER SESSION SET CURRENT_SCHEMA = {a}")
    world.run("a", "GRANT READ ON t TO {b}")
    for _ in range(2):
        assert world.outcome("b", "SELECT x FROM t") == ALLOWED
        assert world.outcome("c", "SELECT x FROM t") == 942


def test_privileges_are_listed(world: World) -> None:
    world.run("a", "GRANT READ ON t TO {b}", "GRANT UPDATE (x) ON t TO {b}")
    with world.sessions["b"].cursor() as cursor:
        cursor.execute("SELECT PRIVILEGE FROM SESSION_PRIVS WHERE PRIVILEGE LIKE 'CREATE T%' ORDER BY 1")
        assert [name for (name,) in cursor] == ["CREATE TABLE", "CREATE TRIGGER", "CREATE TYPE"]
        cursor.execute("SELECT ROLE FROM SESSION_ROLES ORDER BY 1")
        assert [name for (name,) in cursor] == ["CTXAPP", "DB_DEVELOPER_ROLE", "RESOURCE"]
        cursor.execute("SELECT COLUMN_NAME, PRIVILEGE FROM ALL_COL_PRIVS WHERE GRANTEE = USER")
        assert cursor.fetchall() == [("X", "UPDATE")]
    with world.sessions["c"].cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM ALL_TAB_PRIVS WHERE TABLE_SCHEMA = :o", o=world.a.user)
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT COUNT(*) FROM ALL_OBJECTS WHERE OWNER = :o", o=world.a.user)
        assert cursor.fetchone() == (0,)


def test_users_roles_and_privileges_have_names_of_128_bytes(local_database: LocalDatabase, account: Account) -> None:
    def long(beginning: str) -> str:
        return (beginning + "N" * 70 + str(account.user)).ljust(128, "_")

    user, role, table, column = map(long, ("U", "R", "T", "C"))
    as_administrator(
        local_database,
        f"CREATE ROLE {role}",
        f"CREATE USER {user} IDENTIFIED BY secret",
        f"GRANT CREATE SESSION, CREATE VIEW, {role} TO {user}",
        f"CREATE DIRECTORY {long('D')} AS '/nowhere'",
    )
    with account.connect() as owner, owner.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} ({column} NUMBER)")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE ({column}) ON {table} TO {role}")
        cursor.execute(f"GRANT SELECT ON {table} TO {user} WITH GRANT OPTION")
    other = Account(account.dsn, user, "secret")
    with other.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {account.user}.{table} VALUES (1)")
        assert outcome(connection, f"DELETE FROM {account.user}.{table}") == 41900
        cursor.execute(f"CREATE VIEW {table} AS SELECT * FROM {account.user}.{table}")
        cursor.execute(f"GRANT SELECT ON {table} TO {role}")
        cursor.execute("SELECT USER, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), USERNAME FROM USER_USERS WHERE UID > 0")
        assert cursor.fetchall() == [(user, user, user)]
        cursor.execute("SELECT GRANTED_ROLE FROM USER_ROLE_PRIVS")
        assert cursor.fetchall() == [(role,)]
        cursor.execute("SELECT OWNER, TABLE_NAME FROM ALL_TABLES WHERE OWNER = :1", [account.user])
        assert cursor.fetchall() == [(account.user, table)]
        cursor.execute(
            "SELECT GRANTEE, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM ALL_COL_PRIVS WHERE TABLE_SCHEMA = :1",
            [account.user],
        )
        assert cursor.fetchall() == [(role, account.user, table, column)]
        cursor.execute(
            f"SELECT TABLE_SCHEMA, TABLE_NAME FROM ALL_TAB_PRIVS WHERE GRANTEE = '{role}' AND PRIVILEGE = 'SELECT'"
        )
        assert sorted(cursor.fetchall()) == sorted([(account.user, table), (user, table)])
        cursor.execute(f"ALTER SESSION SET CURRENT_SCHEMA = {account.user}")
        cursor.execute(f"SELECT * FROM {table}")
        connection.rollback()
        with pytest.raises(oracledb.DatabaseError, match="ORA-01940"):
            as_administrator(local_database, f"DROP USER {user} CASCADE")
    as_administrator(local_database, f"DROP USER {user} CASCADE", f"DROP ROLE {role}", f"DROP DIRECTORY {long('D')}")
    with pytest.raises(oracledb.DatabaseError, match="ORA-01017"):
        other.connect()
