"""A provider embeds: what is sent to it, what becomes of its vectors, and what its failures cost whom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from oraclerag import Rag, Scope, embed, schema
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.model.external import external_model
from oraclerag.model.register import register_model
from oraclerag.model.use import use_model
from oraclerag.source import from_settings
from tests.local.conftest import Account
from tests.local.write_path.tracker import TABLES, TASK, Tracker
from tests.unit.fake_embeddings import fake_embeddings, openai, texts_sent
from tests.unit.fake_llm import FakeLlm

pytestmark = pytest.mark.one_size


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeLlm]:
    with fake_embeddings() as fake:
        yield fake


@pytest.fixture(scope="module")
def provided(module_account: Account, endpoint: FakeLlm) -> Iterator[Tracker]:
    account = module_account
    settings = Settings(
        dsn=account.dsn, user=account.user, password=account.password, sources=(TASK,),
        embedding_provider="openai-compatible", embedding_base_url=endpoint.url, embedding_model="words",
        embedding_max_tokens=8000,
    )  # fmt: skip
    database = Database(settings)
    schema.migrate(database)
    embedder = embed.from_settings(settings)
    assert embedder is not None
    with database.connect() as connection:
        made = register_model(connection, external_model(settings), schema=database.schema, embedder=embedder)
        use_model(connection, made.name, schema=database.schema, embedder=embedder)
    connection = account.connect()
    with connection.cursor() as cursor:
        for statement in TABLES.split("\n/\n"):
            cursor.execute(statement.strip())
    tracker = Tracker(account, database, settings, from_settings(settings), connection)
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
    assert texts_sent(endpoint)[-1] == "late invoice"
    assert tracker.sql("SELECT TENANT_ID, TOKENS, REQUESTS FROM RAG_USAGE")[0][::2] == ("main", 1)
