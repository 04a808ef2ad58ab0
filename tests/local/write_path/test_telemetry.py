"""What leaves the process by traces and metrics, over everything that is traced: numbers and names, never data."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from oraclerag import Rag, Scope, drain, telemetry
from oraclerag.database import Database, own_tables
from oraclerag.errors import ConnectionFailed, EntityError, UnknownSource
from oraclerag.metrics import Page
from oraclerag.metrics.exposition import written
from oraclerag.metrics.figures import Figures
from oraclerag.metrics.refreshed import Cancellable, Refreshed
from oraclerag.records import Claimed
from oraclerag.render import rendered
from tests.local.write_path.tracker import TASK, Tracker
from tests.otel import Exported, exported
from tests.unit.fake_llm import JSON, Reply, completion, fake_llm
from tests.unit.test_metrics import parsed

__all__ = ["exported"]

pytestmark = pytest.mark.one_size

KEY, OWNER, TENANT = 867530, 775577, "xyzzytenant"
ATTRIBUTE = re.compile(r"(oraclerag|gen_ai|db)\.[a-z_.]+|error\.type")


@pytest.fixture
def rag(tracker: Tracker) -> Iterator[Rag]:
    with Rag(dataclasses.replace(tracker.settings, sources=(TASK,), searches_log="all", tenant=TENANT)) as opened:
        yield opened


def asking(rag: Rag, url: str) -> Rag:
    """Open another Rag, whose questions and answers are a model's."""
    return Rag(
        dataclasses.replace(
            rag.settings, generate_provider="openai", generate_base_url=url, generate_model="m", reduce_by="model",
            searches_log_prompts=True,
        )
    )  # fmt: skip


def enqueued(tracker: Tracker, rag: Rag) -> None:
    """Fill the queue with what must not be told."""
    for number in (KEY, KEY + 1):
        tracker.task(number, "xyzzytitle ORA-01652", "xyzzytext", status="xyzzystatus", assignee_id=OWNER)
        tracker.enqueue(number)


def at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one entity fail with words of its own."""

    def failing(entity: Claimed, *args: Any, **more: Any) -> Any:
        if entity.source_id == str(KEY + 1):
            raise EntityError("xyzzyreason")
        return rendered(entity, *args, **more)

    monkeypatch.setattr(drain, "rendered", failing)


def test_a_batch_is_a_span_of_its_steps_and_an_empty_look_is_none(
    tracker: Tracker, rag: Rag, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.drain()
    assert not exported.spans
    at_fault(monkeypatch)
    enqueued(tracker, rag)
    report = rag.drain()
    assert (report.indexed, report.postponed) == (1, 1)
    batch = exported.one("oraclerag.worker.batch")
    steps = ["claim", "read", "chunk", "write"]
    assert exported.children(batch) == [f"oraclerag.worker.{step}" for step in steps]
    assert exported.children(exported.one("oraclerag.worker.write")) == ["oraclerag.worker.settle"]
    told = {name.removeprefix("oraclerag.worker.batch."): value for name, value in (batch.attributes or {}).items()}
    assert told["lane"] == "change"
    assert (told["claimed"], told["indexed"], told["postponed"], told["embedded"]) == (2, 1, 1, 1)
    [(labels, failures)] = exported.points("oraclerag.worker.failures").items()
    assert (dict(labels), failures.value) == ({"error.type": "ENTITY", "scope": "entity"}, 1)
    outcomes = exported.points("oraclerag.worker.entities")
    assert {dict(key)["outcome"]: point.value for key, point in outcomes.items()} == {"indexed": 1, "postponed": 1}
    assert {dict(key)["step"] for key in exported.points("oraclerag.worker.step.duration")} == {*steps, "settle"}


def test_an_outage_is_an_error_by_its_code(
    tracker: Tracker, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> Any:
        raise ConnectionFailed("xyzzyhost is gone")

    tracker.task(KEY)
    tracker.enqueue(KEY)
    monkeypatch.setattr(drain, "read", lost)
    with pytest.raises(ConnectionFailed):
        tracker.drain()
    for name in ("oraclerag.worker.batch", "oraclerag.worker.read"):
        span = exported.one(name)
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "CONNECTION_FAILED")
    assert "xyzzy" not in exported.everything()


def test_nothing_that_is_traced_or_measured_holds_data(
    tracker: Tracker, rag: Rag, exported: Exported, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_fault(monkeypatch)
    enqueued(tracker, rag)
    rag.backfill(source="task")
    file = tmp_path / "xyzzyfile.md"
    file.write_text("# xyzzyheading\n\nxyzzyfiletext", "utf-8")
    rag.ingest([file], kind="docs", owner=str(OWNER), visibility="owner", metadata={"topic": "xyzzytopic"})
    while rag.drain().claimed:
        pass
    scope = Scope(owner=str(OWNER), groups=("xyzzygroup",))
    filters = {"status": "xyzzystatus"}
    question = "xyzzyquestion: why ORA-01652 and xyzzytitle?"
    assert len(rag.search(question, scope=scope, filter=filters)) == 1
    assert rag.search_each(["xyzzyone", "xyzzytwo"], scope=scope, hybrid=True)
    with fake_llm(Reply(completion("xyzzyanswer ##1##"), headers=JSON)) as fake, asking(rag, fake.url) as asks:
        assert asks.ask(question, scope=scope, session="xyzzysession", filter=filters).outcome == "answered"
        asks.ask(question, scope=scope, on_text=lambda _: None)
        report = tmp_path / "xyzzyalert.log"
        report.write_text("2026-03-01T10:00:00.000000+00:00\nORA-01652: unable to extend xyzzysegment\n", "utf-8")
        asks.diagnose(report, scope=scope)
    with pytest.raises(UnknownSource, match="xyzzymissing"):
        rag.search(question, scope=scope, source="xyzzymissing")
    names = {span.name for span in exported.spans}
    assert names >= {
        "oraclerag.ask", "oraclerag.reduce", "oraclerag.search", "retrieval", "oraclerag.prompt", "oraclerag.generate",
        "chat m", "oraclerag.cite", "oraclerag.log", "oraclerag.diagnose", "oraclerag.analyse", "oraclerag.store",
        "oraclerag.backfill", "oraclerag.ingest", "oraclerag.worker.batch",
    }  # fmt: skip
    told = exported.everything().lower()
    assert "xyzzy" not in told
    for data in ("01652", str(KEY), str(KEY + 1), str(OWNER), str(tmp_path).lower(), rag.settings.user or "?"):
        assert data.lower() not in told, data
    for span in exported.spans:
        assert not span.events, f"{span.name}: an event could hold a message"
        for name in span.attributes or {}:
            assert ATTRIBUTE.fullmatch(name), f"{span.name}: {name}"
    chat = exported.named("chat m")[0]
    assert chat.kind is SpanKind.CLIENT


def test_a_search_says_how_it_was_run(tracker: Tracker, rag: Rag, exported: Exported) -> None:
    enqueued(tracker, rag)
    rag.drain()
    exported.clear()
    rag.search("late payments", scope=Scope(manager=True), k=3, log=False)
    assert dict(exported.one("retrieval").attributes or {}) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.request.model": tracker.scalar("SELECT PHYSICAL_NAME FROM RAG_MODEL"),
        "gen_ai.request.top_k": 3,
        "db.system.name": "oracle.db",
        "db.operation.name": "SELECT",
        "db.collection.name": "RAG_CHUNK",
        "db.response.returned_rows": 2,
        "oraclerag.search.hybrid": False,
        "oraclerag.search.plan": "exact",
        "oraclerag.search.rerank": False,
        "oraclerag.search.round_trips": 1,
        "oraclerag.search.truncated": False,
    }
    assert exported.children(exported.one("oraclerag.search")) == ["retrieval"]
    [(labels, _)] = exported.points("oraclerag.search.duration").items()
    assert dict(labels) == {"plan": "exact"}


def test_an_answer_is_one_trace_with_its_log(tracker: Tracker, rag: Rag, exported: Exported) -> None:
    enqueued(tracker, rag)
    rag.drain()
    exported.clear()
    rag.ask("late payments", scope=Scope(manager=True))
    root = exported.one("oraclerag.ask")
    steps = ["reduce", "search", "prompt", "generate", "cite", "log"]
    assert exported.children(root) == [f"oraclerag.{step}" for step in steps]
    assert exported.children(exported.one("oraclerag.search")) == ["retrieval"]
    assert (root.attributes or {})["oraclerag.ask.outcome"] == "answered"
    assert {dict(labels)["outcome"] for labels in exported.points("oraclerag.ask.duration")} == {"answered"}


def test_the_page_has_the_queue_and_the_sources_as_they_are(
    tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_fault(monkeypatch)
    enqueued(tracker, rag)
    page = Page(rag.settings, figures := Figures(rag.database, {"task": rag.sources["task"]}))
    with telemetry.listening(page.recorder):
        tracker.enqueue(KEY + 1)
        rag.drain()
    tracker.sql("UPDATE RAG_DIRTY SET ATTEMPTS = 3, ENQUEUED_AT = ENQUEUED_AT - INTERVAL '2' HOUR WHERE ATTEMPTS = 1")
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD' WHERE DIRTY_ID = (SELECT MAX(DIRTY_ID) FROM RAG_DIRTY)")
    tracker.connection.commit()
    assert figures._coverage is not None
    figures._coverage._patience = 30.0
    text = page.text()
    assert "xyzzy" not in text
    found = parsed(text)
    ready = (("source", "task"), ("lane", "change"), ("state", "ready"))
    dead = (("source", "task"), ("lane", "change"), ("state", "dead"))
    assert (found["oraclerag_queue_rows", ready], found["oraclerag_queue_rows", dead]) == (1, 1)
    assert found["oraclerag_queue_failing_rows", ready] == 1
    assert found["oraclerag_queue_oldest_age_seconds", ready] == pytest.approx(7200, abs=600)
    assert found["oraclerag_queue_rows", (("source", "task"), ("lane", "bulk"), ("state", "ready"))] == 0
    assert found["oraclerag_queue_read_success", ()] == 1
    assert found["oraclerag_source_paused", (("source", "task"),)] == 0
    assert found["oraclerag_source_entities", (("source", "task"),)] == 2
    assert found["oraclerag_source_missing_entities", (("source", "task"),)] == 1
    assert found["oraclerag_worker_entities_total", (("outcome", "indexed"),)] == 1
    assert found["oraclerag_worker_failures_total", (("error_type", "ENTITY"), ("scope", "entity"))] == 1
    assert found["oraclerag_worker_batches_total", (("lane", "change"),)] == 1


def test_without_a_database_the_page_has_what_the_process_knows(
    tracker: Tracker, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = Database(dataclasses.replace(tracker.settings, dsn="127.0.0.1:1/none"))
    found = parsed(written(Figures(nowhere, tracker.sources, coverage_every=0).families()))
    assert found == {("oraclerag_queue_read_success", ()): 0}
    assert [record for record in caplog.records if getattr(record, "action", "") == "unread"]


def test_who_ends_waits_for_no_figures(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    """What is being asked is ended: to close a connection in the middle of a call would end the process."""
    begun, give_up = threading.Event(), threading.Event()
    database = Cancellable(tracker.settings)

    def read() -> None:
        with database.connect() as connection, own_tables(), connection.cursor() as cursor:
            while not give_up.is_set():
                cursor.execute("SELECT COUNT(*) FROM RAG_DIRTY")
                begun.set()

    reading = Refreshed(read, 60.0, patience=0.0)
    reading.look()
    try:
        assert begun.wait(30)
        assert not reading.ended(0)
        reading.close()
        for _ in range(100):
            database.cancel()
            if reading.ended(0.3):
                break
        assert reading.ended(0)
    finally:
        give_up.set()
    database.close()
    assert not caplog.records, "it is no news"


def test_a_scrape_waits_for_no_worker(tracker: Tracker, rag: Rag) -> None:
    """The figures are read beside a transaction that holds rows of the queue."""
    enqueued(tracker, rag)
    tracker.sql("SELECT DIRTY_ID FROM RAG_DIRTY FOR UPDATE")
    try:
        found = parsed(written(Figures(rag.database, rag.sources, coverage_every=0).families()))
    finally:
        tracker.connection.rollback()
    assert found["oraclerag_queue_rows", (("source", "task"), ("lane", "change"), ("state", "ready"))] == 2
