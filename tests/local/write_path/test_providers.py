"""A provider embeds: what is sent to it, what becomes of its vectors, and what its failures cost whom."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import random
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import Document, Rag, Scope, SourceKey, embed, queue
from oraclerag.batch import WorkerState
from oraclerag.check import check
from oraclerag.config import Settings, SourceSettings
from oraclerag.cutting import Cutting
from oraclerag.database import Database
from oraclerag.errors import (
    ConfigurationError,
    Contention,
    EmbeddingDimensionMismatch,
    InputError,
    ModelNotActive,
    ProviderError,
    ProviderLoginFailed,
    ProviderRateLimited,
    ProviderUnavailable,
)
from oraclerag.merge import SLICE, Merge
from oraclerag.model import drop_model, list_models, use_model
from oraclerag.model.external import external_model
from oraclerag.model.register import register_model
from oraclerag.provision import provision
from oraclerag.reembed.provided import _write as provided_write
from oraclerag.reembed.state import wait_for_writers
from oraclerag.source import from_settings
from tests.acceptance.test_cli import Shell
from tests.local.conftest import Account
from tests.local.write_path.tracker import TABLES, TASK, Tracker
from tests.unit.fake_embeddings import Answer, fake_embeddings, openai, refusal, said, texts_sent, vector_of
from tests.unit.fake_llm import KEY, FakeLlm, Reply

pytestmark = pytest.mark.one_size

NOTE = SourceSettings(
    name="note", select="select id as source_id, title, description, status from task", visibility="shared",
    template="{{ title }}\n\n{{ description or '' }}", cutting=Cutting("passages", size=60, overlap=0),
    tenant="status", tables=TASK.tables,
)  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeLlm]:
    with fake_embeddings() as fake:
        yield fake


@pytest.fixture(scope="module")
def settings(module_account: Account, endpoint: FakeLlm) -> Settings:
    account = module_account
    return Settings(
        dsn=account.dsn, user=account.user, password=account.password, sources=(TASK,),
        embedding_provider="openai-compatible", embedding_base_url=endpoint.url, embedding_model="words",
        embedding_max_tokens=3000, embedding_query_prefix="query: ", embedding_timeout=5.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def provided(module_account: Account, settings: Settings) -> Iterator[Tracker]:
    database = Database(settings)
    provision(database)
    connection = module_account.connect()
    with connection.cursor() as cursor:
        for statement in TABLES.split("\n/\n"):
            cursor.execute(statement.strip())
    tracker = Tracker(module_account, database, settings, from_settings(settings), connection)
    yield tracker
    tracker.close()


@pytest.fixture
def tracker(provided: Tracker, endpoint: FakeLlm) -> Tracker:
    provided.clear()
    provided.sql("DELETE FROM RAG_USAGE")
    provided.connection.commit()
    endpoint.replies[:] = [openai]
    endpoint.asked.clear()
    return provided


def configured(tracker: Tracker, **values: Any) -> None:
    """Let a worker begin anew with other settings."""
    tracker.settings = dataclasses.replace(tracker.settings, **values)
    tracker.sources = from_settings(tracker.settings)
    tracker.state = WorkerState()


def impatient(tracker: Tracker) -> None:
    """Let what fails be asked for once, so that no test waits."""
    embedder: Any = tracker.state.embedder
    if embedder is None:
        tracker.drain()  # finds nothing, and so does not look
        tracker.task(900)
        tracker.enqueue(900)
        tracker.drain()
        embedder = tracker.state.embedder
    once = dataclasses.replace(embedder.attempts, most=1)
    tracker.state.embedder = dataclasses.replace(embedder, attempts=once)


# -- what is sent -----------------------------------------------------------------------------------------------------


def test_texts_are_embedded_and_found(tracker: Tracker, endpoint: FakeLlm) -> None:
    for number, title in enumerate(("The invoice of Acme is late", "Buy coffee for the office"), 1):
        tracker.task(number, title)
        tracker.enqueue(number)
    report = tracker.drain()
    assert (report.indexed, report.embedded) == (2, 2)
    assert len(endpoint.asked) == 1
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0
    with Rag(tracker.settings) as rag:
        found = rag.search("late invoice", scope=Scope(manager=True))
        assert [hit.key for hit in found] == ["task:1:0", "task:2:0"]
        assert texts_sent(endpoint)[-1] == "query: late invoice"
        assert rag.audit(source="task")[0].equal == 2
        told = rag.why("late invoice", found[0].source, scope=Scope(manager=True))
        assert (told.rank, told.chunks[0].place) == (1, 1)
    (day,) = tracker.sql("SELECT TENANT_ID, TOKENS, REQUESTS FROM RAG_USAGE")
    assert day == ("main", sum(len(text.split()) + 1 for text in texts_sent(endpoint)[:2]), 1)


def test_only_texts_that_changed_are_sent(tracker: Tracker, endpoint: FakeLlm) -> None:
    configured(tracker, sources=(NOTE,))
    paragraphs = [f"Paragraph number {number} about {'tea and ' * 8}water." for number in range(4)]
    tracker.task(1, "Tea", "\n\n".join(paragraphs), status="acme")
    tracker.enqueue(1, source="note", tenant="acme")
    assert tracker.drain().embedded == len(tracker.texts()["1"]) > 3
    endpoint.asked.clear()
    tracker.sql("UPDATE task SET status = 'globex'")
    tracker.enqueue(1, source="note", tenant="globex")
    assert tracker.drain().indexed == 1
    assert endpoint.asked == [], "whose it is, is no text"
    tracker.sql("UPDATE task SET description = description || ' And milk.'")
    tracker.enqueue(1, source="note", tenant="globex")
    assert tracker.drain().embedded == 1
    assert [text.endswith("And milk.") for text in texts_sent(endpoint)] == [True]
    endpoint.asked.clear()
    tracker.sql("DELETE FROM task")
    tracker.enqueue(1, source="note", tenant="globex")
    assert tracker.drain().deleted == 1
    assert endpoint.asked == []


def test_equal_texts_are_sent_once_and_requests_hold_what_they_may(tracker: Tracker, endpoint: FakeLlm) -> None:
    configured(tracker, embedding_batch_items=3)
    template = dataclasses.replace(TASK, template="{{ title }}", children={})
    configured(tracker, sources=(template,))
    for number in range(1, 9):
        tracker.task(number, f"Title {number // 2}")
    tracker.enqueue(*range(1, 9))
    assert tracker.drain().embedded == 8
    assert [len(asked["input"]) for asked in endpoint.asked] == [3, 2]
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0


def test_no_lock_is_held_while_a_provider_is_asked(tracker: Tracker, endpoint: FakeLlm) -> None:
    """Neither for a small document nor between the slices of one that is put together out of sight."""
    configured(tracker, sources=(NOTE,), batch_size=2)
    looked: list[int] = []

    def looking(asked: dict[str, Any]) -> Reply:
        with tracker.account.connect() as other, other.cursor() as cursor:
            for table in ("RAG_ENTITY", "RAG_DIRTY", "RAG_CHUNK"):
                cursor.execute(f"SELECT 1 FROM {table} FOR UPDATE NOWAIT")  # ORA-00054 where a row is locked
                cursor.fetchall()
            cursor.execute("SELECT COUNT(*) FROM RAG_CHUNK WHERE SOURCE_ID = '2' AND CHUNK_NO >= 0")
            looked.extend(cursor.fetchone() or ())
        return openai(asked)

    endpoint.replies[:] = [looking]
    long = "\n\n".join(f"Paragraph {number} of a book about bread and {'butter ' * 5}." for number in range(300))
    tracker.task(1, "Short", "text", status="acme")
    tracker.task(2, "Long", long, status="acme")
    tracker.enqueue(1, 2, source="note", tenant="acme")
    report = tracker.drain()
    count = tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE SOURCE_ID = '2'")
    assert count > SLICE
    assert report.indexed == 2
    assert report.embedded == count + 1
    assert set(looked) == {0}, "readers see it whole or not at all"
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0


# -- what goes wrong ----------------------------------------------------------------------------------------------------


def test_an_outage_costs_nobody_an_attempt_and_holds_up_no_removal(tracker: Tracker, endpoint: FakeLlm) -> None:
    tracker.task(1, "One", assignee_id=7)
    tracker.task(2, "Two", assignee_id=7)
    tracker.enqueue(1, 2)
    tracker.drain()
    impatient(tracker)
    tracker.sql("DELETE FROM task WHERE id = 1")
    tracker.sql("UPDATE task SET title = 'Another text', assignee_id = 8 WHERE id = 2")
    tracker.task(3, "Three")
    tracker.enqueue(1, 2, 3)
    endpoint.replies[:] = [refusal(429, "rate_limit_exceeded", **{"Retry-After": "1"})]
    with pytest.raises(ProviderRateLimited) as caught:
        tracker.drain()
    assert caught.value.retry_after == 1.0
    assert tracker.queue() == [("2", "READY", 0, 0, 0), ("3", "READY", 0, 0, 0)]
    assert tracker.sql("SELECT SOURCE_ID, VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID IN ('1', '2', '3')") == [
        ("2", "HIDDEN")
    ], "who lost it sees it no longer, though nobody knows the new vector"
    endpoint.replies[:] = [openai]
    assert tracker.drain().indexed == 2
    assert tracker.sql("SELECT OWNER_ID, VISIBILITY FROM RAG_CHUNK WHERE SOURCE_ID = '2'") == [("8", "OWNER")]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refusal(401, "invalid_api_key"), ProviderLoginFailed),
        (refusal(500), ProviderUnavailable),
        (said({"error": {"code": "server_error", "message": "x"}}), ProviderUnavailable),
    ],
    ids=["key", "outage", "inside a 200"],
)
def test_what_is_nobodys_fault_is_counted_against_nobody(
    tracker: Tracker, endpoint: FakeLlm, answer: Reply, error: type[Exception]
) -> None:
    impatient(tracker)
    tracker.task(1)
    tracker.enqueue(1)
    endpoint.replies[:] = [answer]
    for _ in range(3):
        with pytest.raises(error):
            tracker.drain()
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]


def test_a_text_that_is_refused_is_postponed_alone(tracker: Tracker, endpoint: FakeLlm) -> None:
    def choosy(asked: dict[str, Any]) -> Reply:
        if any("forbidden" in text for text in asked["input"]):
            return refusal(400, "content_policy_violation", "I will not embed: forbidden words of this text")
        return openai(asked)

    endpoint.replies[:] = [choosy]
    for number, title in enumerate(("One", "Two", "forbidden words of this text", "Four"), 1):
        tracker.task(number, title)
    tracker.enqueue(1, 2, 3, 4)
    report = tracker.drain()
    assert (report.indexed, report.postponed) == (3, 1)
    assert tracker.queue() == [("3", "READY", 1, 0, 0)]
    (code, message) = tracker.sql("SELECT ERROR_CODE, LAST_ERROR FROM RAG_DIRTY")[0]
    assert code == "ENTITY"
    assert "forbidden" not in message
    assert "400" in message


def test_another_dimension_pauses_the_source_until_it_is_right_again(tracker: Tracker, endpoint: FakeLlm) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    short = said({"data": [{"index": 0, "embedding": [0.1, 0.2]}]})
    endpoint.replies[:] = [short]
    report = tracker.drain()
    assert report.paused == ("task",)
    assert len(endpoint.asked) == 1, "never tried again"
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    (checked,) = check(tracker.database, tracker.sources.values())
    assert [problem.code for problem in checked.problems] == [EmbeddingDimensionMismatch.code]
    assert not checked.resumed
    endpoint.replies[:] = [openai]
    (checked,) = check(tracker.database, tracker.sources.values())
    assert checked.resumed
    assert tracker.drain().indexed == 1


def test_a_worker_that_ends_between_embedding_and_writing_leaves_nothing(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    with monkeypatch.context() as patch:

        def end(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(Merge, "apply", end)
        with pytest.raises(KeyboardInterrupt):
            tracker.drain()
    assert tracker.texts() == {}
    assert tracker.drain().indexed == 1
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NOT NULL") == 1
    assert tracker.queue() == []


def test_whoever_was_too_slow_does_not_write(tracker: Tracker, endpoint: FakeLlm) -> None:
    """While the provider thinks, the lease ends, another worker takes the entity over and writes a newer text."""
    tracker.task(1, "Old")
    tracker.enqueue(1)
    other = WorkerState()

    def slow(asked: dict[str, Any]) -> Reply:
        endpoint.replies[:] = [openai]
        tracker.due()
        tracker.sql("UPDATE task SET title = 'New'")
        tracker.connection.commit()
        assert tracker.drain(state=other).indexed == 1
        return openai(asked)

    endpoint.replies[:] = [slow]
    report = tracker.drain()
    assert (report.indexed, report.given_back) == (0, 1)
    assert ["New" in text for text in tracker.texts()["1"]] == [True]
    assert tracker.scalar("SELECT VECTOR_DISTANCE(EMBEDDING, :v, COSINE) FROM RAG_CHUNK", v=_vector(tracker)) < 1e-6


def _vector(tracker: Tracker) -> Any:
    import array

    return array.array("f", vector_of(tracker.texts()["1"][0]))


def test_a_change_that_came_between_is_embedded_by_whoever_has_it(tracker: Tracker, endpoint: FakeLlm) -> None:
    """What is in the index when the write begins is not what it was when the texts were chosen: once more."""
    tracker.task(1, "Text")
    tracker.enqueue(1)
    tracker.drain()
    tracker.sql("UPDATE task SET due = DATE '2026-01-01'")  # no text of it changes
    tracker.enqueue(1)
    tracker.task(2, "Another")
    tracker.enqueue(2)

    def meddling(asked: dict[str, Any]) -> Reply:
        with tracker.account.connect() as other, other.cursor() as cursor:
            cursor.execute("UPDATE RAG_ENTITY SET CONTENT_HASH = 'x' WHERE SOURCE_ID = '2'")
            cursor.execute("DELETE FROM RAG_CHUNK")
            other.commit()
        endpoint.replies[:] = [openai]
        return openai(asked)

    endpoint.replies[:] = [meddling]
    tracker.drain_all()
    assert tracker.queue() == []
    assert sorted(tracker.texts()) == ["2"]  # of the first nobody said that it is gone


def test_neither_texts_nor_keys_are_logged(
    tracker: Tracker, endpoint: FakeLlm, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    configured(tracker, embedding_api_key_env="A_KEY")

    def indiscreet(asked: dict[str, Any]) -> Reply:
        return refusal(400, "invalid_request", f"Bearer {KEY} sent me {asked['input'][0]}")

    with caplog.at_level(logging.DEBUG):
        answers: list[Answer] = [openai, indiscreet, refusal(401, None, f"{KEY} is no key")]
        for number, answer in enumerate(answers, 1):
            tracker.task(number, f"hush {number}", description="and hush again, for this is a secret of this house")
            tracker.enqueue(number)
            endpoint.replies[:] = [answer, refusal(503)]
            with contextlib.suppress(ProviderError):
                tracker.drain()
    assert endpoint.headers[-1]["authorization"] == f"Bearer {KEY}"
    fields = [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    assert len(fields) > 5
    assert [field for field in fields if "hush" in field or "secret of" in field or KEY in field] == []
    (tokens,) = (vars(record)["tokens"] for record in caplog.records if vars(record).get("action") == "batch")
    assert tokens == tracker.scalar("SELECT SUM(TOKENS) FROM RAG_USAGE") > 0


def test_every_vector_is_that_of_its_text_whoever_writes_and_whatever_fails(
    tracker: Tracker, endpoint: FakeLlm
) -> None:
    """Two workers, a provider that fails now and then, and texts that change while they are embedded."""
    luck = random.Random(7)
    configured(tracker, sources=(NOTE,), batch_size=4, poll_interval=0.05)
    for number in range(12):
        tracker.task(number, f"Title {number}", "Some text of it.", status="acme")
    tracker.enqueue(*range(12), source="note", tenant="acme")

    def moody(asked: dict[str, Any]) -> Reply:
        return refusal(503, **{"Retry-After": "0"}) if luck.random() < 0.3 else openai(asked)

    endpoint.replies[:] = [moody]
    ended = threading.Event()
    failures: list[BaseException] = []

    def worker() -> None:
        state = WorkerState()
        while not ended.is_set():
            try:
                tracker.drain(state=state)
            except ProviderError:
                continue
            except BaseException as error:  # noqa: BLE001 - told by the test
                failures.append(error)
                return

    workers = [threading.Thread(target=worker) for _ in range(2)]
    for one in workers:
        one.start()
    for change in range(8):
        tracker.sql(
            "UPDATE task SET description = :text WHERE MOD(id, 4) = :turn", text=f"Text {change}.", turn=change % 4
        )
        for number in range(change % 4, 12, 4):
            tracker.enqueue(number, source="note", tenant="acme")
    while tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") and not failures:
        tracker.connection.rollback()
        time.sleep(0.02)
    ended.set()
    for one in workers:
        one.join()
    assert failures == []
    rows = tracker.sql("SELECT SOURCE_ID, CONTENT, EMBEDDING FROM RAG_CHUNK ORDER BY TO_NUMBER(SOURCE_ID)")
    assert [int(source_id) for source_id, _, _ in rows] == list(range(12))
    for source_id, content, vector in rows:
        assert f"Text {4 + int(source_id) % 4}." in content
        assert list(vector) == pytest.approx(vector_of(content), abs=1e-6)


# -- who pays -----------------------------------------------------------------------------------------------------------


def test_a_tenant_that_has_spent_its_tokens_waits_for_tomorrow(tracker: Tracker, endpoint: FakeLlm) -> None:
    configured(
        tracker, sources=(NOTE,), batch_size=1, embedding_tokens_per_day=1, embedding_tenant_tokens={"globex": 1000}
    )
    for number, tenant in enumerate(("acme", "acme", "globex", "globex"), 1):
        tracker.task(number, f"Title {number}", status=tenant)
        tracker.enqueue(number, source="note", tenant=tenant)
    report = tracker.drain_all()
    assert (report.indexed, report.given_back) == (3, 1)
    assert [(row[0], row[2], row[3], row[4]) for row in tracker.queue()] == [("2", 0, 0, 0)]
    found = queue.status(tracker.database)
    assert [(problem.code, "'acme'" in problem.message) for problem in found.problems] == [
        ("EMBEDDING_BUDGET_SPENT", True)
    ]
    assert 0 < (found.backlog[0].due - found.at).total_seconds() <= 86_400 + 600  # type: ignore[operator]
    assert tracker.sql("SELECT TENANT_ID FROM RAG_USAGE ORDER BY TENANT_ID") == [("acme",), ("globex",)]
    tracker.sql("UPDATE task SET status = 'globex' WHERE id = 2")
    tracker.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT - INTERVAL '2' DAY")
    tracker.sql("UPDATE RAG_USAGE SET USAGE_DAY = USAGE_DAY - 1")
    tracker.connection.commit()
    assert tracker.drain().indexed == 1
    assert queue.status(tracker.database).problems == ()


def test_rights_do_not_wait_for_tomorrow(tracker: Tracker) -> None:
    tracker.task(1, "Text", assignee_id=7)
    tracker.enqueue(1)
    tracker.drain()
    configured(tracker, embedding_tokens_per_day=0)
    tracker.sql("UPDATE task SET title = 'Another', assignee_id = 8")
    tracker.enqueue(1)
    assert tracker.drain().given_back == 1
    assert tracker.scalar("SELECT VISIBILITY FROM RAG_CHUNK") == "HIDDEN"
    tracker.sql("DELETE FROM task")
    tracker.enqueue(1)
    assert tracker.drain().deleted == 1, "what needs no tokens does not wait"


def test_a_source_whose_texts_may_not_leave_is_paused(tracker: Tracker, endpoint: FakeLlm) -> None:
    configured(tracker, sources=(dataclasses.replace(TASK, egress=False),))
    tracker.task(1)
    tracker.enqueue(1)
    assert tracker.drain().indexed == 1, "the endpoint is on this machine"
    tracker.task(2)
    tracker.enqueue(2)
    embedder: Any = tracker.state.embedder
    tracker.state.embedder = dataclasses.replace(embedder, base_url="https://api.example/v1")
    endpoint.asked.clear()
    assert tracker.drain().paused == ("task",)
    assert endpoint.asked == []
    away = Database(dataclasses.replace(tracker.settings, embedding_base_url="https://api.example/v1"))
    (checked,) = check(away, tracker.sources.values())
    away.close()
    assert [problem.code for problem in checked.problems] == ["SOURCE"]
    assert not checked.resumed


# -- searching ------------------------------------------------------------------------------------------------------------


def test_questions_are_sent_once_and_together(tracker: Tracker, endpoint: FakeLlm) -> None:
    for number, owner in ((1, 7), (2, 8)):
        tracker.task(number, f"Invoice {number}", assignee_id=owner)
        tracker.enqueue(number)
    tracker.drain()
    endpoint.asked.clear()
    with Rag(tracker.settings) as rag:
        found = rag.search_each(["invoice 1", "invoice 2", "invoice 1"], scope=Scope(owner="7"))
        assert [[hit.key for hit in one] for one in found] == [["task:1:0"]] * 3
        assert [asked["input"] for asked in endpoint.asked] == [["query: invoice 1", "query: invoice 2"]]
        given = rag.search("x", scope=Scope(manager=True), vector=vector_of("Invoice 2"))
        assert len(given) == 2
        rag.search("invoice", scope=Scope(manager=True), mode="approx", diversity=0.5)
        rag.search("invoice", scope=Scope(manager=True), hybrid=True)
        long = rag.search("invoice " * 900, scope=Scope(manager=True))
        assert long.truncated
        assert len(texts_sent(endpoint)) == 5
        assert len(texts_sent(endpoint)[-1].encode()) <= 3000
        endpoint.replies[:] = [refusal(401)]
        with pytest.raises(ProviderLoginFailed):
            rag.search("late", scope=Scope(manager=True))


def test_tenants_stay_apart(tracker: Tracker) -> None:
    configured(tracker, sources=(NOTE,))
    for number, tenant in enumerate(("acme", "globex"), 1):
        tracker.task(number, "The same text", status=tenant)
        tracker.enqueue(number, source="note", tenant=tenant)
    tracker.drain_all()
    with Rag(tracker.settings) as rag:
        for number, tenant in enumerate(("acme", "globex"), 1):
            found = rag.search_each(["same text", "text"], scope=Scope(tenant=tenant, manager=True))
            assert [[hit.key for hit in one] for one in found] == [[f"note:{number}:0"]] * 2
        assert not rag.search("same text", scope=Scope(tenant="other", manager=True))


def test_what_a_backfill_would_cost_is_estimated_without_asking(tracker: Tracker, endpoint: FakeLlm) -> None:
    tracker.task(1, "Some text")
    with Rag(tracker.settings) as rag:
        (found,) = [one for one in rag.estimate_backfill() if one.source == "task"]
    assert found.tokens
    assert found.minutes is None
    assert endpoint.asked == []


def test_a_search_with_another_model_than_the_one_in_force_is_refused(tracker: Tracker, endpoint: FakeLlm) -> None:
    others: list[dict[str, Any]] = [
        {"embedding_model": "other"},
        {"embedding_provider": "database", "embedding_model": "WORDS"},
    ]
    for other in others:
        with (
            Rag(dataclasses.replace(tracker.settings, **other)) as rag,
            pytest.raises(ModelNotActive, match="OPENAI_COMPATIBLE_WORDS"),
        ):
            rag.search("late", scope=Scope())
    assert endpoint.asked == []
    with Rag(dataclasses.replace(tracker.settings, embedding_provider="anthropic")) as rag:
        assert "EMBEDDING_PROVIDER_NOT_SUPPORTED" in [problem.code for problem in rag.status().problems]


# -- models ---------------------------------------------------------------------------------------------------------------


def test_from_the_database_to_a_provider_and_back(account: Account, tiny_file: Path, endpoint: FakeLlm) -> None:
    endpoint.replies[:] = [openai]
    inside = Settings(dsn=account.dsn, user=account.user, password=account.password, embedding_model="TINY")
    outside = dataclasses.replace(
        inside, embedding_provider="openai-compatible", embedding_model="words", embedding_base_url=endpoint.url,
        embedding_max_tokens=3000,
    )  # fmt: skip
    with Rag(inside) as rag:
        rag.provision(model_file=tiny_file)
    with Rag(outside) as rag:
        report = rag.provision()
        assert (report.model.provider, report.model.dimensions, report.loaded) == ("openai-compatible", 16, True)
        assert not rag.provision().loaded
    with Database(inside).connect() as connection:
        models = list_models(connection, schema=account.user)
        assert [(model.name, model.provider, model.active) for model in models] == [
            ("OPENAI_COMPATIBLE_WORDS", "openai-compatible", True),
            ("TINY", None, False),
        ]
        with pytest.raises(ConfigurationError, match="not configured"):
            use_model(connection, "OPENAI_COMPATIBLE_WORDS", schema=account.user)
        use_model(connection, "TINY", schema=account.user)
        drop_model(connection, "OPENAI_COMPATIBLE_WORDS", schema=account.user)
        assert [model.name for model in list_models(connection, schema=account.user)] == ["TINY"]


def test_a_model_is_switched_to_a_provider_and_back_without_a_gap(
    account: Account, tiny_file: Path, endpoint: FakeLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found throughout; workers write both; what the provider refused meanwhile is made up for."""
    endpoint.replies[:] = [openai]
    inside = Settings(dsn=account.dsn, user=account.user, password=account.password, embedding_model="TINY")
    outside = dataclasses.replace(
        inside, embedding_provider="openai-compatible", embedding_model="words", embedding_base_url=endpoint.url,
        embedding_max_tokens=3000, embedding_timeout=5.0,
    )  # fmt: skip
    texts = {"1": "The invoice of Acme is late", "2": "Buy coffee for the office"}

    def found(rag: Rag) -> list[str]:
        return [hit.key for hit in rag.search("late invoice", scope=Scope())]

    def notes(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document]:
        return {one: Document(text=texts[one]) for one in ids if one in texts}

    def index(rag: Rag, *numbers: str) -> None:
        with rag.database.transaction() as connection:
            for number in numbers:
                rag.enqueue(connection, SourceKey("note", number))
        rag.work(once=True)

    with Rag(inside) as before, Rag(outside) as rag, rag.database.connect() as looking:
        for one in (before, rag):
            one.source("note", visibility="shared", ids="select '1' as source_id from dual")(notes)
        before.provision(model_file=tiny_file)

        def lacking() -> int:
            with looking.cursor() as cursor:
                cursor.execute("SELECT COUNT(*) - COUNT(EMBEDDING_2) FROM RAG_CHUNK")
                return int((cursor.fetchone() or [-1])[0])

        index(before, "1", "2")
        name = register_model(looking, external_model(outside), schema=account.user, embedder=_embedder(outside)).name
        rag.reembedding.fill(name)
        assert lacking() == 0
        assert found(before) == found(rag) == ["note:1:0", "note:2:0"]
        texts["2"] = "Buy tea for the office"
        index(rag, "2")
        assert lacking() == 0, "a worker that has the provider writes both"
        texts["2"] = "Buy milk for the office"
        endpoint.replies[:] = [refusal(404, "model_not_found")]
        index(rag, "2")
        assert lacking() == 1, "what is in force does not wait for what is to come"
        with pytest.raises(InputError, match="no vector"):
            rag.reembedding.switch()
        endpoint.replies[:] = [openai]
        rag.reembedding.fill(name)
        compared = rag.reembedding.compare(scope=Scope(manager=True), questions=["late invoice"], k=1)
        assert (compared.questions, compared.overlap) == (1, 1.0)
        with account.connect() as writing, monkeypatch.context() as patch:  # a worker without its vector, not committed

            def waits(*args: Any) -> None:
                writing.commit()
                wait_for_writers(*args)

            patch.setattr("oraclerag.reembed.run.wait_for_writers", waits)
            writing.cursor().execute("UPDATE RAG_CHUNK SET EMBEDDING_2 = NULL WHERE SOURCE_ID = '2'")
            with pytest.raises(InputError, match="1 of 2 chunks have no vector"):
                rag.reembedding.switch()
        with monkeypatch.context() as patch:  # it meets a worker that has locked chunks in the other order
            met: list[str] = ["ORA-00060"]

            def write(*args: Any) -> int:
                if met:
                    raise Contention(met.pop())
                return provided_write(*args)

            patch.setattr("oraclerag.reembed.provided._write", write)
            assert rag.reembedding.fill(name).complete
            assert not met
        assert rag.reembedding.switch().model.startswith("OPENAI_COMPATIBLE_WORDS")
        assert found(rag) == ["note:1:0", "note:2:0"]
        texts["2"] = "Buy bread for the office"
        index(rag, "2")
        assert rag.reembedding.rollback().model.startswith("TINY")
        assert found(rag) == found(before) == ["note:1:0", "note:2:0"]
        rag.reembedding.switch()
        rag.reembedding.finish()
        assert found(rag) == ["note:1:0", "note:2:0"]
        with pytest.raises(ModelNotActive):
            found(before)


def _embedder(settings: Settings) -> Any:
    return embed.from_settings(settings)


def test_verbs(account: Account, endpoint: FakeLlm, tmp_path: Path) -> None:
    endpoint.replies[:] = [openai]
    environment = {
        "ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password,
        "ORACLERAG_EMBEDDING_PROVIDER": "openai-compatible", "ORACLERAG_EMBEDDING_MODEL": "words",
        "ORACLERAG_EMBEDDING_BASE_URL": endpoint.url, "ORACLERAG_EMBEDDING_MAX_TOKENS": "3000",
    }  # fmt: skip
    shell = Shell(tmp_path, environment)
    shell.call("migrate")
    made = shell.json("model", "register")
    assert (made["provider"], made["dimensions"], made["loaded"]) == ("openai-compatible", 16, True)
    assert "was there" in shell.call("model", "register").stdout
    assert "in force" in shell.call("model", "use", made["name"]).stderr
    assert "openai-compatible" in shell.call("model", "list").stdout
    assert shell.json("model", "verify", made["name"])["dimensions"] == 16
    fewer = shell.json("model", "register", "--dimensions", "8")
    assert (fewer["name"], fewer["dimensions"]) == ("OPENAI_COMPATIBLE_WORDS_8", 8)
    assert "not configured" in shell.call("model", "use", fewer["name"], expect=1).stderr
    shell.call("model", "drop", fewer["name"])
    refused = shell.call("model", "register", "--provider", "anthropic", expect=1).stderr
    assert "Anthropic has no endpoint" in refused
