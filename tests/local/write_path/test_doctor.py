"""Every finding of doctor that the local database can cause, caused; and who may see what."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy

from oraclerag import heartbeat, in_force, index
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.doctor import CHECKS, Check, Finding, examine, measure, write_record
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe import PROBES
from oraclerag.doctor.probe.measurement import Measured, Probe
from oraclerag.doctor.probe.scratch import Scratch
from oraclerag.source import FunctionSource, Source, built_in, from_settings
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size


def chosen(*names: str) -> list[Check]:
    """Give the checks of some names with those that must come before them."""
    wanted, before = set(names), 0
    while len(wanted) > before:
        before = len(wanted)
        wanted |= {name for check in CHECKS if check.name in wanted for name in check.after}
    return [check for check in CHECKS if check.name in wanted]


def found(tracker: Tracker, name: str, **more: Any) -> list[Finding]:
    """Make one check, and those before it; gives its findings."""
    report = examine(tracker.database, tracker.sources, checks=chosen(name), **more)
    return [finding for finding in report.findings if finding.name.partition(":")[0] == name]


def only(tracker: Tracker, name: str, **more: Any) -> Finding:
    [finding] = found(tracker, name, **more)
    return finding


def indexed(tracker: Tracker, *numbers: int) -> None:
    for number in numbers:
        tracker.task(number, f"Task number {number}")
    tracker.enqueue(*numbers)
    tracker.drain_all()


def test_where_nothing_is_wrong_every_check_says_so(tracker: Tracker) -> None:
    indexed(tracker, 1, 2)
    report = examine(tracker.database, tracker.sources)
    assert report.healthy
    assert report.skipped == ()
    assert {finding.name.partition(":")[0] for finding in report.findings} == {check.name for check in CHECKS}
    assert [finding for finding in report.findings if finding.state != "ok"] == []
    assert next(finding.detail for finding in report.findings if finding.name == "coverage:task").startswith("2 of 2")


def test_what_is_not_ok_says_what_to_type(tracker: Tracker) -> None:
    """Whatever is wrong: a remedy that names a command, a statement or a setting."""
    tracker.task(1)
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD', ERROR_CODE = 'ENTITY'")
    tracker.connection.commit()
    report = examine(tracker.database, tracker.sources)
    assert not report.healthy
    for finding in report.findings:
        assert (finding.state == "ok") == (finding.remedy is None), finding


@dataclass(frozen=True)
class Case:
    """What is done to an installation with one indexed task, what is found then, and how it is taken back."""

    name: str
    done: tuple[str, ...]
    state: str
    words: str
    remedy: str
    undone: tuple[str, ...] = ()
    finding: str | None = None


ENQUEUE = "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '1')"
OLD = "UPDATE RAG_DIRTY SET ENQUEUED_AT = ENQUEUED_AT - INTERVAL '1' HOUR, AVAILABLE_AT = AVAILABLE_AT - INTERVAL '1' HOUR"
POSTPONED = "UPDATE RAG_DIRTY SET ENQUEUED_AT = ENQUEUED_AT - INTERVAL '1' HOUR, AVAILABLE_AT = AVAILABLE_AT + INTERVAL '1' HOUR"
ANOTHER = "INSERT INTO TASK (ID, TITLE) VALUES (2, 'x')"
# of a long document that is being written
STAGED = (
    "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY) "
    "SELECT ENTITY_ID, -1, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY FROM RAG_CHUNK"
)
SETTLED_LONG_AGO = "UPDATE RAG_ENTITY SET INDEXED_AT = INDEXED_AT - INTERVAL '1' DAY"
LOGGED = (
    "INSERT INTO RAG_SEARCH (TENANT_ID, KIND, ASKED_ROLE, OUTCOME, ASKED_AT) VALUES ('main', 'ask', 'anyone', 'found', "
    "SYS_EXTRACT_UTC(SYSTIMESTAMP) - INTERVAL '100' DAY(3))"
)
OF_SWITCH = " WHERE SETTING IN ('second_model', 'second_state')"
NO_SWITCH = f"DELETE FROM RAG_SETTING{OF_SWITCH}"
SWITCH = "INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES ('*', 'second_model', 'OTHER_1')"
KEPT = "INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES ('*', 'second_state', 'former')"
CASES = [
    Case("backlog", (ENQUEUE, "UPDATE RAG_DIRTY SET ATTEMPTS = 3"), "warn", "1 have failed 3 times", "queue list"),
    Case("lag", (ENQUEUE, OLD), "warn", "the oldest change has waited for 3,6", "queue status"),
    Case(
        "dead_letters", (ENQUEUE, "UPDATE RAG_DIRTY SET STATE = 'DEAD', ERROR_CODE = 'ENTITY', LAST_ERROR = 'no title'"),
        "fail", "1 changes of 1 entities were given up, for example task:1: no title", "queue retry --error ENTITY",
        finding="dead_letters:ENTITY",
    ),
    Case(
        "claims", (ENQUEUE, "UPDATE RAG_DIRTY SET CLAIM = 'x', AVAILABLE_AT = AVAILABLE_AT - INTERVAL '1' HOUR"),
        "warn", "1 claimed changes and 0 held entities are past the lease", "oraclerag worker",
    ),
    Case(
        "claims", ("UPDATE RAG_ENTITY SET HOLDER = 'x', HELD_UNTIL = SYS_EXTRACT_UTC(SYSTIMESTAMP) - INTERVAL '1' HOUR",),
        "warn", "0 claimed changes and 1 held entities are past the lease", "oraclerag worker",
    ),
    Case(
        "hidden", ("UPDATE RAG_CHUNK SET VISIBILITY = 'HIDDEN'", "UPDATE RAG_ENTITY SET DETAILS_HASH = NULL"),
        "warn", "1 entities are found by nobody", "queue retry --now",
    ),
    Case("workers", (ENQUEUE, OLD, SETTLED_LONG_AGO), "fail", "nobody works", "oraclerag worker --once"),
    Case("workers", (SETTLED_LONG_AGO,), "unknown", "keeps no heartbeat", "doctor --heartbeat FILE"),
    Case("workers", (ENQUEUE, POSTPONED, SETTLED_LONG_AGO), "unknown", "keeps no heartbeat", "doctor --heartbeat FILE"),
    Case("orphans", (STAGED,), "ok", "every chunk and document belongs to an entity", ""),
    Case("orphans", ("UPDATE RAG_CHUNK SET EMBEDDING = NULL",), "fail", "1 chunks have no vector", "reindex"),
    Case("orphans", ("UPDATE RAG_ENTITY SET CHUNKS = 7",), "fail", "1 entities have not the chunks", "backfill"),
    Case(
        "strangers", ("UPDATE RAG_ENTITY SET SOURCE_TYPE = 'ticket'",), "warn", "1 entities are indexed of a source",
        "[source.ticket]", finding="strangers:ticket",
    ),
    Case(
        "coverage", (ANOTHER,), "warn", "1 of 2 entities are indexed; 1 are not",
        "backfill --source task", finding="coverage:task",
    ),
    Case(
        "coverage", (ANOTHER, ENQUEUE.replace("'1'", "'2'")), "ok", "1 of 2 entities are indexed, 1 wait", "",
        finding="coverage:task",
    ),
    Case(
        "coverage", (ANOTHER, ENQUEUE.replace("'1'", "'2'"), "UPDATE RAG_DIRTY SET STATE = 'DEAD'"), "warn",
        "1 of 2 entities are indexed; 1 are not", "backfill --source task", finding="coverage:task",
    ),
    Case("search_log", (LOGGED,), "warn", "nothing says how long they are kept", "searches purge"),
    Case(
        "model_hash", ("UPDATE RAG_MODEL SET LOADED_AT = LOADED_AT - INTERVAL '50' HOUR",), "warn", "created 2 days",
        "model verify TINY", ("UPDATE RAG_MODEL SET LOADED_AT = LOADED_AT + INTERVAL '50' HOUR",),
    ),
    Case(
        "model_hash", ("UPDATE RAG_MODEL SET SHA256 = SUBSTR(SHA256, 9) || SUBSTR(SHA256, 1, 8)",), "fail",
        "does not end with", "model load",
        ("UPDATE RAG_MODEL SET SHA256 = SUBSTR(SHA256, 57) || SUBSTR(SHA256, 1, 56)",),
    ),
    Case(
        "dimension", ("UPDATE RAG_MODEL SET DIMENSIONS = 383",), "fail",
        "column EMBEDDING 384, RAG_MODEL 383, the model itself 384", "model use TINY --rebuild",
        ("UPDATE RAG_MODEL SET DIMENSIONS = 384",),
    ),
    Case(
        "model", ("UPDATE RAG_SETTING SET SETTING_VALUE = 'GONE' WHERE SETTING = 'model'",), "fail", "GONE", "model load",
        ("UPDATE RAG_SETTING SET SETTING_VALUE = (SELECT MAX(PHYSICAL_NAME) FROM RAG_MODEL) WHERE SETTING = 'model'",),
    ),
    Case(
        "model_switch", (SWITCH,), "warn", "OTHER_1 is being filled since 0.0 days", "reembed --model OTHER_1", (NO_SWITCH,)
    ),
    Case("model_switch", (KEPT.replace("former", "unfinished"),), "warn", "interrupted", "reembed --abort", (NO_SWITCH,)),
    Case("model_switch", (SWITCH, KEPT), "ok", "OTHER_1 was in force until 0 days ago", "", (NO_SWITCH,)),
    Case(
        "model_switch", (SWITCH, KEPT, f"UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '15' DAY{OF_SWITCH}"),
        "warn", "OTHER_1 was in force until 15 days ago", "reembed --finish", (NO_SWITCH,),
    ),
    Case(
        "schema", ("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '9999'",), "fail", "'9999', which this version",
        "Upgrade", ("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '0001'",),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} {case.words[:24]}")
def test_what_is_wrong_is_found(tracker: Tracker, case: Case) -> None:
    indexed(tracker, 1)
    for statement in case.done:
        tracker.sql(statement)
    tracker.connection.commit()
    try:
        report = examine(tracker.database, tracker.sources, checks=chosen(case.name))
        findings = {finding.name: finding for finding in report.findings}
        finding = findings[case.finding or case.name]
        assert (finding.state, case.words in finding.detail) == (case.state, True), finding
        assert case.remedy in (finding.remedy or ""), finding
    finally:
        for statement in case.undone:
            tracker.sql(statement)
        tracker.connection.commit()


def test_what_belongs_to_nothing_is_found(tracker: Tracker) -> None:
    """The local database cannot disable a foreign key: it is dropped, and made again."""
    indexed(tracker, 1)
    tracker.sql("ALTER TABLE RAG_CHUNK DROP CONSTRAINT RAG_CHUNK_ENTITY_FK")
    tracker.sql("ALTER TABLE RAG_DOCUMENT DROP CONSTRAINT RAG_DOCUMENT_ENTITY_FK")
    try:
        tracker.sql("DELETE FROM RAG_ENTITY")
        tracker.connection.commit()
        finding = only(tracker, "orphans")
        assert (finding.state, finding.detail[:48]) == ("fail", "1 chunks and 1 documents belong to no entity: th")
        statement = (finding.remedy or "").partition(", the same")[0]
        tracker.sql(statement)
        tracker.sql(statement.replace("RAG_CHUNK", "RAG_DOCUMENT"))
        tracker.connection.commit()
    finally:
        for table in ("RAG_CHUNK", "RAG_DOCUMENT"):
            tracker.sql(
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_ENTITY_FK FOREIGN KEY (ENTITY_ID) "
                "REFERENCES RAG_ENTITY (ENTITY_ID) ON DELETE CASCADE"
            )
    assert only(tracker, "orphans").state == "ok"


def test_a_paused_source_is_found_and_its_changes_are_nobodys_fault(tracker: Tracker) -> None:
    tracker.enqueue(1)
    tracker.sql(OLD)
    in_force.pause(tracker.connection, tracker.database.schema, "task", "no column TITLE")
    finding = only(tracker, "paused")
    assert (finding.name, finding.state) == ("paused:task", "fail")
    assert finding.detail.startswith("no column TITLE (since ")
    assert "source check" in (finding.remedy or "")
    assert only(tracker, "workers").state == "unknown"


def test_a_worker_that_has_claimed_something_works(tracker: Tracker) -> None:
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET CLAIM = 'x', AVAILABLE_AT = AVAILABLE_AT + INTERVAL '1' HOUR")
    tracker.connection.commit()
    assert only(tracker, "workers") == Finding("workers", "ok", "1 changes are with a worker now")


@pytest.mark.parametrize(
    ("age", "state", "verdict", "words"),
    [(5, "idle", "ok", "was idle 5 s ago"), (5, "outage", "warn", "outage"), (600, "idle", "fail", "no worker writes")],
)
def test_a_heartbeat_says_whether_a_worker_works(
    tracker: Tracker, tmp_path: Path, age: int, state: heartbeat.State, verdict: str, words: str
) -> None:
    file = tmp_path / "heartbeat"
    now = dt.datetime.now(dt.UTC)
    heartbeat.write(file, heartbeat.Pulse(now - dt.timedelta(seconds=age), 4711, state))
    finding = only(tracker, "workers", heartbeat=file)
    assert (finding.state, words in finding.detail) == (verdict, True)


def test_a_heartbeat_that_is_not_there_fails(tracker: Tracker, tmp_path: Path) -> None:
    finding = only(tracker, "workers", heartbeat=tmp_path / "none")
    assert (finding.state, "There is no heartbeat" in finding.detail) == ("fail", True)


def test_the_vector_index_is_missed_unusable_and_outgrown(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index.state, "MIN_CHUNKS", 2)
    indexed(tracker, 1, 2)
    finding = only(tracker, "vector_index")
    assert (finding.state, finding.remedy) == ("warn", "Run `oraclerag index build`.")
    index.build(tracker.database, force=True)
    try:
        assert only(tracker, "vector_index").detail == "IVF VALID, 2 chunks with a vector in EMBEDDING"
        indexed(tracker, *range(3, 9))
        finding = only(tracker, "vector_index")
        assert (finding.state, "learnt from 2 chunks" in finding.detail) == ("warn", True)
        assert finding.remedy == "Run `oraclerag index rebuild`."
        tracker.sql("TRUNCATE TABLE RAG_CHUNK")
        finding = only(tracker, "vector_index")
        assert finding == Finding(
            "vector_index", "fail", "The vector index is UNUSABLE.", "Run `oraclerag index rebuild`."
        )
    finally:
        tracker.sql("DROP INDEX RAG_CHUNK_EMB_IDX")


def test_the_text_index_is_behind(tracker: Tracker) -> None:
    assert "no text index" in only(tracker, "text_index").detail
    tracker.sql(
        "CREATE INDEX RAG_CHUNK_TEXT_IDX ON RAG_CHUNK (CONTENT) INDEXTYPE IS CTXSYS.CONTEXT "
        "PARAMETERS ('LEXER CTXSYS.DEFAULT_LEXER STOPLIST CTXSYS.EMPTY_STOPLIST SYNC (MANUAL)')"
    )
    try:
        indexed(tracker, 1)
        finding = only(tracker, "text_index")
        assert (finding.state, finding.remedy) == ("warn", "Run `oraclerag index sync`, if it stays.")
        index.sync_text(tracker.database)
        assert only(tracker, "text_index").detail == "RAG_CHUNK_TEXT_IDX VALID, knows every chunk"
    finally:
        tracker.sql("DROP INDEX RAG_CHUNK_TEXT_IDX FORCE")


def test_a_source_that_cannot_be_counted_says_why(tracker: Tracker) -> None:
    settings = replace(tracker.settings.sources[0], name="broken", select="select x as source_id from task")
    broken = from_settings(replace(tracker.settings, sources=(settings,)))
    silent: dict[str, Source] = {"silent": FunctionSource("silent", lambda connection, ids: {}, visibility="shared")}
    tracker.sources = {**tracker.sources, **broken, **silent}
    findings = {finding.name: finding for finding in found(tracker, "coverage")}
    assert findings["coverage:task"].state == "ok"
    assert (findings["coverage:broken"].state, "ORA-00904" in findings["coverage:broken"].detail) == ("fail", True)
    assert findings["coverage:silent"].state == "unknown"
    assert 'ids="select id' in (findings["coverage:silent"].remedy or "")


def test_what_is_built_in_is_counted_where_there_is_any(tracker: Tracker) -> None:
    tracker.sources = {**tracker.sources, **built_in(tracker.settings, tracker.database.schema_on)}
    assert [finding.name for finding in found(tracker, "coverage")] == ["coverage:task"]
    tracker.sql(
        "INSERT INTO RAG_FILE (TENANT_ID, COLLECTION, FILE_PATH, FILE_KIND, BODY, BODY_HASH) "
        "VALUES ('main', 'kb', 'a.md', 'docs', 'text', 'x')"
    )
    tracker.connection.commit()
    try:
        findings = {finding.name: finding for finding in found(tracker, "coverage")}
    finally:
        tracker.sql("DELETE FROM RAG_FILE")
        tracker.connection.commit()
    assert findings["coverage:file"].detail.startswith("0 of 1 entities are indexed; 1 are not")


def test_clocks_that_differ_are_found(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    now = Look(tracker.database).now
    monkeypatch.setattr(
        "oraclerag.doctor.examination.Look", partial(Look, now=lambda: now() - dt.timedelta(seconds=90))
    )
    finding = only(tracker, "clock")
    assert (finding.state, "90.0 s ahead of this machine" in finding.detail) == ("warn", True)


def test_searches_that_shall_be_gone_are_found(tracker: Tracker) -> None:
    tracker.sql(LOGGED)
    tracker.connection.commit()
    for days, state in ((30, "warn"), (99, "ok"), (200, "ok")):
        database = Database(replace(tracker.settings, searches_keep_days=days))
        try:
            report = examine(database, tracker.sources, checks=chosen("search_log"))
        finally:
            database.close()
        assert (report.findings[-1].name, report.findings[-1].state) == ("search_log", state)


@pytest.mark.parametrize(
    ("changes", "words", "remedy"),
    [
        ({"dsn": None}, "ORACLE_DSN is not set", "Set them"),
        ({"dsn": "127.0.0.1:1/FREEPDB1"}, "DPY-6005", ""),
        ({"password": "Zorro"}, "ORA-01017", "Check ORACLE_USER and ORACLE_PASSWORD"),
        ({"dsn": "no_such_alias"}, "DPY-4", ""),
    ],
)
def test_without_a_connection_the_rest_is_skipped(
    tracker: Tracker, changes: dict[str, Any], words: str, remedy: str
) -> None:
    database = Database(replace(tracker.settings, **changes))
    report = examine(database, tracker.sources)
    findings = {finding.name: finding for finding in report.findings}
    assert findings.keys() == {"connection", "wallet", "par", "generator", "embedder"}
    assert (findings["connection"].state, words in findings["connection"].detail) == ("fail", True)
    assert remedy in (findings["connection"].remedy or "")
    assert "Zorro" not in str(report)
    assert {"schema", "backlog", "coverage"} < set(report.skipped)


def test_a_slow_way_to_the_database_is_a_warning(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oraclerag.doctor.session._SLOW", -1.0)
    finding = only(tracker, "connection")
    assert (finding.state, "ms a round trip" in finding.detail) == ("warn", True)


def test_a_schema_without_tables_says_what_to_run(account: Account) -> None:
    database = Database(Settings(dsn=account.dsn, user=account.user, password=account.password))
    try:
        report = examine(database, {})
    finally:
        database.close()
    finding = next(finding for finding in report.findings if finding.name == "schema")
    assert (finding.state, "oraclerag migrate" in (finding.remedy or "")) == ("fail", True)
    assert "backlog" in report.skipped


def test_a_pool_of_one_connection_is_enough(tracker: Tracker) -> None:
    """No check waits for a second one while it holds the first."""
    database = Database(replace(tracker.settings, pool_size=1))
    try:
        assert examine(database, tracker.sources).healthy
    finally:
        database.close()


def test_it_reads_and_writes_nothing(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed(tracker, 1)
    sent: list[str] = []
    execute = oracledb.Cursor.execute

    def recorded(self: oracledb.Cursor, statement: Any, *given: Any, **named: Any) -> Any:
        sent.append(str(statement))
        return execute(self, statement, *given, **named)

    monkeypatch.setattr(oracledb.Cursor, "execute", recorded)
    assert examine(tracker.database, tracker.sources).healthy
    assert len(sent) > 30
    assert [text for text in sent if not re.match(r"\s*SELECT\b", text) or "FOR UPDATE" in text] == []


def test_it_works_on_an_engine(tracker: Tracker) -> None:
    engine = sqlalchemy.create_engine(tracker.account.url)
    try:
        database = Database(replace(tracker.settings, dsn=None, user=None, password=None), engine=engine)
        assert examine(database, tracker.sources).healthy
    finally:
        engine.dispose()


def test_how_long_a_change_may_wait_can_be_said(tracker: Tracker) -> None:
    tracker.enqueue(1)
    tracker.sql(OLD)
    tracker.connection.commit()
    assert (only(tracker, "lag", max_lag=3000).state, only(tracker, "lag", max_lag=7200).state) == ("warn", "ok")


def test_another_model_than_the_configured_one_fails(tracker: Tracker) -> None:
    database = Database(replace(tracker.settings, embedding_model="OTHER"))
    try:
        report = examine(database, tracker.sources, checks=chosen("model", "dimension"))
    finally:
        database.close()
    finding = report.findings[-1]
    assert (finding.name, finding.state) == ("model", "fail")
    assert "The model in force is TINY, this process is configured with OTHER" in finding.detail
    assert finding.remedy
    assert report.skipped == ("dimension",)


# -- measuring --------------------------------------------------------------------------------------------------------


def tables(tracker: Tracker) -> list[str]:
    return [str(name) for (name,) in tracker.sql("SELECT TABLE_NAME FROM USER_TABLES ORDER BY TABLE_NAME")]


def test_what_is_measured_here_and_what_only_oracle_tells(tracker: Tracker) -> None:
    before, said = tables(tracker), list[str]()
    measured = {one.name: one for one in measure(tracker.database, said=said.append)}
    assert list(measured) == [probe.name for probe in PROBES]
    assert {name: one.state for name, one in measured.items()} == {
        "query_vector": "ok", "claim_index": "unknown", "code_index": "unknown", "vector_access": "unknown",
        "fetch_locks": "ok", "bind_sizes": "ok",
    }  # fmt: skip
    assert measured["claim_index"].answer == "Not on the local database."
    assert measured["fetch_locks"].figures == {"rows": 10, "fetched": 3, "locked": 3}
    [first] = said
    assert re.fullmatch(r"The probe makes the table ORACLERAG_PROBE_[0-9A-F]{8} in the schema .* drops it .*", first)
    assert tables(tracker) == before


def test_a_probe_that_breaks_leaves_no_table(tracker: Tracker) -> None:
    def breaks(look: Look, table: Scratch | None) -> Measured:
        assert table is not None
        tracker.sql(f"SELECT ID, CONTENT, EMBEDDING FROM {table.sql_name}")
        raise KeyboardInterrupt

    before = tables(tracker)
    with pytest.raises(KeyboardInterrupt):
        measure(tracker.database, probes=(Probe("breaks", "?", breaks, writes=True),))
    assert tables(tracker) == before


def test_the_record_of_measurements_is_a_section_of_a_page(tracker: Tracker, tmp_path: Path) -> None:
    file = tmp_path / "probes.md"
    write_record(file, measure(tracker.database), version="Oracle | 26ai")
    text = file.read_text("utf-8")
    assert text.startswith("## Measured on Oracle \\| 26ai\n")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "Point" not in line]
    assert len(rows) == len(PROBES)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert tracker.account.user not in text
    assert tracker.account.password not in text
