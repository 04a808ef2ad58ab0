"""Another model: everything is embedded again, nothing is cut again that need not be, prefixes are put before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oraclerag.backfill import backfill
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker


@pytest.fixture
def own(account: Account, tiny_file: Path) -> Iterator[Tracker]:
    """An installation of this test alone: it changes the model."""
    opened = open_tracker(account, tiny_file)
    yield opened
    opened.close()


def test_another_model_embeds_everything_again(own: Tracker, tmp_path: Path) -> None:
    own.task(1, "one")
    own.task(2, "two", "\n".join(f"Line {number} of the report: the supplier waits." for number in range(40)))
    own.enqueue(1, 2)
    chunks = own.drain().embedded
    before = own.sql("SELECT CHUNK_ID, CONTENT_HASH FROM RAG_CHUNK ORDER BY CHUNK_ID")
    path = tmp_path / "other.onnx"
    path.write_bytes(tiny_model(64, seed=3))
    with own.database.connect() as connection:
        load_model(connection, path, name="TINY", schema=own.database.schema, passage_prefix="passage: ")
        model = use_model(connection, "TINY", schema=own.database.schema, rebuild=True)
    assert backfill(own.database, own.sources["task"], own.settings).enqueued == 2
    report = own.drain()  # by a worker that knew the old model
    assert (report.indexed, report.embedded) == (2, chunks)
    assert own.sql("SELECT CHUNK_ID, CONTENT_HASH FROM RAG_CHUNK ORDER BY CHUNK_ID") == before
    assert own.state.model == model
    distance = (
        f"SELECT MAX(VECTOR_DISTANCE(EMBEDDING, VECTOR_EMBEDDING({model.sql_name} USING 'passage: ' || CONTENT AS DATA), "
        f"COSINE)) FROM RAG_CHUNK"
    )
    assert own.scalar(distance) < 1e-6
    assert own.drain().claimed == 0


def test_a_batch_that_was_read_under_the_old_model_is_given_back(
    own: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oraclerag.claim import Queue

    own.task(1)
    own.enqueue(1)
    path = tmp_path / "other.onnx"
    path.write_bytes(tiny_model(64, seed=3))
    whole = Queue.hold

    def hold(self: Queue, *arguments: object) -> object:
        with monkeypatch.context() as patch, own.database.connect() as connection:
            patch.setattr(Queue, "hold", whole)
            load_model(connection, path, name="TINY", schema=own.database.schema)
            use_model(connection, "TINY", schema=own.database.schema, rebuild=True)
        return whole(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "hold", hold)
        assert own.drain().given_back == 1
    assert own.queue() == [("1", "READY", 0, 0, 0)]
    assert own.drain().indexed == 1
