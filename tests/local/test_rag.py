"""Rag as a program uses it: declare a source, change rows, have the index follow, search, look."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import oracledb
import pytest
import sqlalchemy
from sqlalchemy.orm import Session

import oraclerag
from oraclerag import Cutting, Document, Rag, Scope, SourceKey, counts
from oraclerag.errors import AutocommitRefused, ConfigurationError, MissingTenant, UnknownSource
from oraclerag.local import LocalDatabase
from tests.local.conftest import Account
from tests.local.library import Entry, ids, install, settings_of, shelve

pytestmark = pytest.mark.one_size

MANAGER = Scope(manager=True)


@pytest.fixture
def rag(account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(account, tiny_file) as opened:
        with opened.database.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE NOTE (ID NUMBER(9) PRIMARY KEY, BODY VARCHAR2(200), WRITER NUMBER(9))")
        opened.source("note", visibility="owner", ids="select id from note")(read_notes)
        yield opened


def read_notes(connection: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
    marks = ", ".join(f":{n}" for n in range(len(wanted)))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT ID, BODY, WRITER FROM NOTE WHERE ID IN ({marks})", [int(one) for one in wanted])
        return {
            str(number): Document(text=f"[NOTE #{number}] {body}", title=body, owner=None if writer is None else str(writer))
            for number, body, writer in cursor
        }  # fmt: skip


def write(connection: oracledb.Connection, number: int, body: str, writer: int | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO NOTE (ID, BODY, WRITER) VALUES (:1, :2, :3)", [number, body, writer])


def test_the_index_follows_the_transactions(rag: Rag) -> None:
    with rag.database.transaction() as connection:
        write(connection, 1, "late payments", 7)
        rag.enqueue(connection, SourceKey("note", "1"))
    with rag.database.connect() as connection:
        write(connection, 2, "late deliveries", 7)
        rag.enqueue(connection, SourceKey("note", "2"))
        connection.rollback()
    assert [(entry.source, entry.state, entry.rows) for entry in rag.queue_status().backlog] == [("note", "READY", 1)]
    assert rag.drain().indexed == 1
    assert rag.queue_status().ready == 0
    assert ids(rag.search("late", scope=MANAGER)) == ["1"]
    assert ids(rag.search("late", scope=Scope(owner="7"))) == ["1"]
    assert ids(rag.search("late", scope=Scope(owner="8"))) == []

    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE NOTE SET WRITER = NULL WHERE ID = 1")
        rag.enqueue(connection, SourceKey("note", "1"))
    rag.drain()
    assert ids(rag.search("late", scope=Scope(owner="7"))) == []
    assert ids(rag.search("late", scope=MANAGER)) == ["1"]

    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM NOTE WHERE ID = 1")
        rag.enqueue(connection, SourceKey("note", "1"), action="DELETE")
    assert rag.drain().deleted == 1
    assert ids(rag.search("late", scope=MANAGER)) == []


def test_enqueue_on_sqlalchemy(rag: Rag, account: Account) -> None:
    engine = sqlalchemy.create_engine(account.url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("INSERT INTO note (id, body, writer) VALUES (1, 'from a connection', 7)"))
        rag.enqueue(connection, SourceKey("note", "1"))
    with Session(engine) as session:
        session.execute(sqlalchemy.text("INSERT INTO note (id, body, writer) VALUES (2, 'from a session', 7)"))
        rag.enqueue(session, SourceKey("note", "2"))
        session.commit()
    with Session(engine) as session:
        session.execute(sqlalchemy.text("INSERT INTO note (id, body, writer) VALUES (3, 'from a statement', 7)"))
        session.execute(rag.enqueue_statement(SourceKey("note", "3")))
        session.commit()
    with Session(engine) as session:
        rag.enqueue(session, SourceKey("note", "4"))
    engine.dispose()
    assert {row.key.id for row in rag.queue_rows()} == {"1", "2", "3"}
    rag.work(once=True)
    assert set(ids(rag.search("from", scope=Scope(owner="7")))) == {"1", "2", "3"}


def test_a_program_that_only_lends_connections_needs_no_settings(rag: Rag, account: Account) -> None:
    with Rag(settings_of(account, dsn=None, user=None, password=None)) as other, account.connect() as connection:
        other.source("note", visibility="owner")(read_notes)
        write(connection, 1, "late payments", 7)
        other.enqueue(connection, SourceKey("note", "1"))
        connection.commit()
    rag.drain()
    with Rag(settings_of(account, dsn=None, user=None, password=None)) as other, account.connect() as connection:
        assert ids(other.search("late", scope=Scope(owner="7"), connection=connection)) == ["1"]


def test_enqueue_refused(rag: Rag, account: Account) -> None:
    with rag.database.connect() as connection:
        with pytest.raises(UnknownSource, match="configured: note"):
            rag.enqueue(connection, SourceKey("task", "1"))
        connection.autocommit = True
        try:
            with pytest.raises(AutocommitRefused):
                rag.enqueue(connection, SourceKey("note", "1"))
        finally:
            connection.autocommit = False
    rag.source("kb", visibility="shared", tenants=True)(lambda connection, wanted: {})
    with pytest.raises(MissingTenant):
        rag.enqueue_statement(SourceKey("kb", "1"))
    assert rag.queue_status().ready == 0


def test_backfill_and_finish(rag: Rag) -> None:
    with rag.database.transaction() as connection:
        for number in range(40):
            write(connection, number, f"note number {number}", number % 3)
    (report,) = rag.backfill()
    assert (report.source, report.enqueued, report.total) == ("note", 40, 40)
    batches: list[int] = []
    total = rag.work(once=True, on_batch=lambda batch: batches.append(batch.claimed))
    assert total.indexed == 40
    assert sum(batches) == 40
    assert [report.enqueued for report in rag.backfill()] == [0]
    assert [report.enqueued for report in rag.backfill(source="note", everything=True)] == [40]
    assert not rag.finish().exists
    with rag.database.connect() as connection:
        known = counts.read(connection, rag.database.schema)
    assert known["note"]["main"] == counts.Population(40, 40, 3)
    assert len(rag.search("note", scope=Scope(owner="1"), k=100)) == 13


def test_a_worker_counts_when_it_has_nothing_to_do(rag: Rag) -> None:
    with rag.database.transaction() as connection:
        write(connection, 1, "late payments", 7)
        rag.enqueue(connection, SourceKey("note", "1"))
    rag.work(once=True)
    with rag.database.connect() as connection:
        assert counts.read(connection, rag.database.schema) == {"note": {"main": counts.Population(1, 1, 1)}}


def test_a_worker_ends_when_it_is_told(rag: Rag) -> None:
    stop = threading.Event()
    with rag.database.transaction() as connection:
        write(connection, 1, "late payments", 7)
        rag.enqueue(connection, SourceKey("note", "1"))
    quick = replace(rag.settings, initial_delay=0.0, poll_interval=0.05, backfill_on_start=False)
    with Rag(quick) as other:
        other.source("note", visibility="owner", ids="select id from note")(read_notes)
        worker = threading.Thread(target=lambda: other.work(stop, on_batch=lambda _: stop.set()))
        worker.start()
        worker.join(60)
    assert not worker.is_alive()
    assert ids(rag.search("late", scope=MANAGER)) == ["1"]


def test_status_names_what_is_wrong_and_what_to_do(account: Account, tiny_file: Path) -> None:
    with Rag(settings_of(account)) as rag:
        report = rag.status()
        assert [problem.code for problem in report.problems] == ["SCHEMA_MISSING"]
        assert "oraclerag migrate" in str(report.problems[0].hint)
        rag.migrate()
        assert [problem.code for problem in rag.status().problems] == ["MODEL_NOT_ACTIVE"]
        rag.provision(model_file=tiny_file)
        report = rag.status()
        assert report.healthy
        assert (report.revision, report.dimensions, report.max_tokens) == ("0001", 384, 256)
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, STATE) VALUES ('note', '1', 'DEAD')")
        assert [problem.code for problem in rag.status().problems] == ["DEAD_LETTERS"]
        (row,) = rag.queue_rows(state="DEAD")
        assert (str(row.key), row.state, row.lane, row.claimed) == ("note:1", "DEAD", "change", False)
        assert rag.queue_rows(state="READY") == []
    with Rag(settings_of(account, embedding_model="OTHER")) as other:
        assert [problem.code for problem in other.status().problems] == ["MODEL_NOT_ACTIVE", "DEAD_LETTERS"]


def test_provision_is_idempotent_and_needs_no_file_the_second_time(account: Account, tiny_file: Path) -> None:
    with Rag(settings_of(account)) as rag:
        said: list[str] = []
        first = rag.provision(model_file=tiny_file, said=said.append)
        assert (first.applied, first.loaded) == (("0001",), True)
        assert said[0] == "schema: migrate"
        second = rag.provision()
        assert (second.applied, second.loaded) == ((), False)
        assert second.model == first.model


def test_provision_names_the_remedy_for_a_model_it_cannot_fetch(account: Account) -> None:
    with Rag(settings_of(account, embedding_model="ALL_MINILM_L12_V2")) as rag:
        with pytest.raises(oraclerag.OracleRagError, match="ALL_MINILM_L12_V2") as raised:
            rag.provision()
        assert "oraclerag model load" in str(raised.value.hint)
        assert rag.status().revision == "0001"


def test_chunks_as_they_would_be_cut(rag: Rag) -> None:
    chunks = rag.chunk("A head line\n" + "word " * 600)
    assert len(chunks) > 1
    assert all(chunk.content.startswith("A head line") for chunk in chunks)
    with pytest.raises(ConfigurationError, match="chunk_size_tokens is 5000, but the model reads 256 tokens"):
        rag.chunk("x", cutting=Cutting(size=5000))
    assert len(rag.chunk("A head line\n" + "word " * 600, cutting=Cutting(allow_truncation=True))) == 1


def test_a_source_is_declared_once(rag: Rag) -> None:
    with pytest.raises(ConfigurationError, match="configured twice"):
        rag.source("note", visibility="shared")(read_notes)


def test_a_callers_engine_and_pool_stay_open(account: Account, tiny_file: Path) -> None:
    pool = oracledb.create_pool(user=account.user, password=account.password, dsn=account.dsn, min=1, max=2)
    engine = sqlalchemy.create_engine(account.url)
    try:
        with Rag(settings_of(account, dsn=None), pool=pool) as rag:
            rag.provision(model_file=tiny_file)
        with pool.acquire() as connection:
            connection.ping()
        with Rag(settings_of(account, dsn=None), engine=engine) as rag:
            assert rag.status().healthy
        with engine.connect() as connection_of_engine:
            assert connection_of_engine.scalar(sqlalchemy.text("SELECT COUNT(*) FROM RAG_MODEL")) == 1
    finally:
        engine.dispose()
        pool.close()


def test_the_user_of_a_borrowed_connection_is_not_the_schema_for_others(
    rag: Rag, account: Account, local_database: LocalDatabase, tiny_file: Path
) -> None:
    """Without the setting every connection means its own user's tables, in whichever order they come."""
    name = f"{account.user}_OTHER"
    other = Account(account.dsn, name, local_database.create_user(name))
    with install(other, tiny_file) as second, second.database.transaction() as connection:
        shelve(connection, name, [Entry("9", "late payments", source="note")])
    with rag.database.transaction() as connection:
        shelve(connection, account.user, [Entry("1", "late payments", source="note")])
    with Rag(settings_of(account)) as fresh:
        fresh.source("note", visibility="owner", ids="select id from note")(read_notes)
        for user, found in ((other, ["9"]), (account, ["1"]), (other, ["9"])):
            with user.connect() as connection:
                assert ids(fresh.search("late", scope=MANAGER, connection=connection)) == found
                fresh.enqueue(connection, SourceKey("note", found[0]))
                connection.commit()
        assert fresh.database.schema == account.user
        assert ids(fresh.search("late", scope=MANAGER)) == ["1"]
    for user, expected in ((other, "9"), (account, "1")):
        with user.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT DISTINCT SOURCE_ID FROM RAG_DIRTY")
            assert cursor.fetchall() == [(expected,)]
