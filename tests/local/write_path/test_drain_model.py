"""Another model: everything is embedded again, nothing is cut again that need not be, prefixes are put before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import index
from oraclerag.backfill import backfill
from oraclerag.errors import Contention, ModelNotActive
from oraclerag.merge import Merge, Merged
from oraclerag.model.active import active_model
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker

pytestmark = pytest.mark.one_size


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


def _other(own: Tracker, folder: Path, dimensions: int = 64) -> None:
    path = folder / "other.onnx"
    path.write_bytes(tiny_model(dimensions, seed=3))
    with own.database.connect() as connection:
        load_model(connection, path, name="TINY", schema=own.database.schema)


def _switch(own: Tracker) -> None:
    with own.database.connect() as connection:
        use_model(connection, "TINY", schema=own.database.schema, rebuild=True)


@pytest.mark.parametrize("dimensions", [64, 384])
def test_a_model_that_is_replaced_right_before_the_write_counts_against_no_row(
    own: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    """What is in force was read, then the column changes: ORA-51803, or old vectors in the new column."""
    own.task(1)
    own.task(2)
    own.enqueue(1, 2)
    _other(own, tmp_path, dimensions)
    whole = Merge.apply

    def apply(self: Merge, *arguments: Any) -> Merged:
        with monkeypatch.context() as patch:
            patch.setattr(Merge, "apply", whole)
            begin_switch()
        return whole(self, *arguments)

    def begin_switch() -> None:  # as far as a switch gets beside a worker that holds an entity
        with own.account.connect() as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE RAG_SETTING SET SETTING = 'model_replaced' WHERE SETTING = 'model'")
            connection.commit()
            cursor.execute("ALTER TABLE RAG_CHUNK DROP COLUMN EMBEDDING")
            cursor.execute(f"ALTER TABLE RAG_CHUNK ADD (EMBEDDING VECTOR({dimensions}, FLOAT32))")

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", apply)
        report = own.drain()
    assert (report.given_back, report.paused, report.postponed, report.indexed) == (2, (), 0, 0)
    assert own.queue() == [("1", "READY", 0, 0, 0), ("2", "READY", 0, 0, 0)]
    assert own.sql("SELECT * FROM RAG_SETTING WHERE SETTING = 'paused'") == []
    assert own.scalar("SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 0
    with pytest.raises(ModelNotActive, match="being made active"):
        own.drain()
    _switch(own)
    assert own.drain().indexed == 2


def test_a_column_that_is_gone_counts_against_no_row(
    own: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORA-00904."""
    own.task(1)
    own.enqueue(1)
    _other(own, tmp_path)
    whole = Merge.apply

    def apply(self: Merge, *arguments: Any) -> Merged:
        with own.account.connect() as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE RAG_SETTING SET SETTING = 'model_replaced' WHERE SETTING = 'model'")
            connection.commit()
            cursor.execute("ALTER TABLE RAG_CHUNK DROP COLUMN EMBEDDING")
        return whole(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", apply)
        assert own.drain().given_back == 1
    assert own.queue() == [("1", "READY", 0, 0, 0)]
    _switch(own)
    assert own.drain().indexed == 1


def test_back_to_a_model_that_was_in_force_before_misses_everything(own: Tracker, tmp_path: Path) -> None:
    own.task(1)
    own.enqueue(1)
    own.drain()
    first = own.state.model
    assert first is not None
    _other(own, tmp_path)
    _switch(own)
    with own.database.connect() as connection:
        use_model(connection, first.physical_name, schema=own.database.schema, rebuild=True)
    assert own.scalar("SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 0
    assert backfill(own.database, own.sources["task"], own.settings).enqueued == 1
    assert own.drain().embedded == 1
    assert own.scalar("SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 1


def test_a_switch_that_meets_a_writer_leaves_the_model_in_force(own: Tracker, tmp_path: Path) -> None:
    """ORA-00054: the DDL fails, and everything is as it was."""
    own.task(1)
    own.enqueue(1)
    own.drain()
    model = own.state.model
    _other(own, tmp_path)
    own.sql("UPDATE RAG_CHUNK SET SECTION = 'x'")
    with pytest.raises(Contention, match="ORA-00054") as caught:
        _switch(own)
    assert "workers" in (caught.value.hint or "")
    own.connection.rollback()
    with own.database.connect() as connection:
        assert active_model(connection, own.database.schema) == model
    assert own.scalar("SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 1


def test_a_switch_that_was_interrupted_can_be_taken_back(own: Tracker, tmp_path: Path) -> None:
    own.task(1)
    own.enqueue(1)
    own.drain()
    model = own.state.model
    assert model is not None
    _other(own, tmp_path)
    own.sql("UPDATE RAG_SETTING SET SETTING = 'model_replaced' WHERE SETTING = 'model'")
    own.connection.commit()
    with own.database.connect() as connection:
        assert use_model(connection, model.physical_name, schema=own.database.schema) == model
    assert own.scalar("SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 1
    assert own.sql("SELECT * FROM RAG_SETTING WHERE SETTING = 'model_replaced'") == []


def test_the_vector_index_goes_before_its_column(own: Tracker, tmp_path: Path) -> None:
    own.task(1)
    own.enqueue(1)
    own.drain()
    index.build(own.database, force=True)
    _other(own, tmp_path)
    assert own.scalar("SELECT COUNT(*) FROM USER_INDEXES WHERE INDEX_NAME = 'RAG_CHUNK_EMB_IDX'") == 1
    sent: list[str] = []
    with own.database.connect() as connection:
        use_model(_Listening(connection, sent), "TINY", schema=own.database.schema, rebuild=True)  # type: ignore[arg-type]
    changes = [statement.split()[:2] for statement in sent if statement.startswith(("DROP", "ALTER"))]
    assert changes == [["DROP", "INDEX"], ["ALTER", "TABLE"], ["ALTER", "TABLE"]]
    assert own.scalar("SELECT COUNT(*) FROM USER_INDEXES WHERE INDEX_NAME = 'RAG_CHUNK_EMB_IDX'") == 0


class _Listening:
    """A connection that notes what its cursors execute."""

    def __init__(self, connection: oracledb.Connection, sent: list[str]) -> None:
        self._connection = connection
        self._sent = sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def cursor(self) -> Any:
        cursor = self._connection.cursor()
        sent = self._sent

        class Listening(oracledb.Cursor):
            def execute(self, statement: Any, *arguments: Any, **more: Any) -> Any:
                sent.append(statement)
                return super().execute(statement, *arguments, **more)

        cursor.__class__ = Listening
        return cursor
