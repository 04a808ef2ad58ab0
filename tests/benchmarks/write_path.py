"""Indexing against what it cannot do without: embedding the texts, and writing the rows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from oraclerag.config import Settings
from oraclerag.drain import WorkerState, drain
from oraclerag.local import LocalDatabase
from oraclerag.local.models import OnnxModels
from oraclerag.records import DrainReport
from tests.benchmarks.figures import Figure
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker

__all__ = ["measure", "statements"]

TASKS = 500


def measure(database: LocalDatabase, model: Path, minilm: Path | None) -> Iterator[Figure]:
    """Measure the indexing of 500 tasks with a model that costs nothing, and with MiniLM where its file is at hand."""
    with _tracker(database, "BENCH_TINY", model) as tracker:
        _fill(tracker)
        indexing = _index(tracker)
        writing = _write(tracker)
        yield Figure("index 500 tasks, model without cost: time", indexing / writing, "×", "bare executemany", 3)
    if minilm is None:
        return
    with _tracker(database, "BENCH_MINILM", minilm) as tracker:
        _fill(tracker)
        indexing = _index(tracker)
        texts = [text for (text,) in tracker.sql("SELECT CONTENT FROM RAG_CHUNK")]
        embedding = _embed(minilm, texts)
        yield Figure("index 500 tasks, MiniLM-L6: time", indexing / embedding, "×", "pure embedding, same texts", 1.3)
        yield Figure("index 500 tasks, MiniLM-L6: rate", TASKS / indexing, "tasks/s", "for orientation")


def statements(model: Path) -> Iterator[Figure]:
    """Count the round trips of a batch of 8 and of one of 64 entities."""
    with LocalDatabase(in_process=True) as database, _tracker(database, "BENCH_TRIPS", model) as tracker:
        counts = []
        for size, first in ((64, 1), (8, 1001), (64, 2001)):  # the first batch warms connection and caches
            for number in range(first, first + size):
                tracker.task(number, f"Task {number}", "Supplier invoices wait for approval.")
                tracker.enqueue(number)
            before = database.round_trips
            report = drain(tracker.database, tracker.sources, _settings(tracker, 64), state=tracker.state)
            assert report.indexed == size, report
            counts.append(database.round_trips - before)
        yield Figure("round trips of a batch of 8", counts[1], "", "for orientation")
        yield Figure("round trips, batch of 64", counts[2] / counts[1], "×", "batch of 8", 1)


@contextlib.contextmanager
def _tracker(database: LocalDatabase, name: str, model: Path) -> Iterator[Tracker]:
    account = Account(database.dsn, name, database.create_user(name))
    tracker = open_tracker(account, model)
    try:
        yield tracker
    finally:
        tracker.close()


def _settings(tracker: Tracker, batch: int) -> Settings:
    import dataclasses

    return dataclasses.replace(tracker.settings, batch_size=batch)


def _fill(tracker: Tracker) -> None:
    """Insert 500 tasks of about 60 words and announce them."""
    words = [
        "the",
        "supplier",
        "invoice",
        "waits",
        "for",
        "approval",
        "because",
        "its",
        "purchase",
        "order",
        "was",
        "closed",
        "before",
        "the",
        "goods",
        "arrived",
        "and",
        "nobody",
        "in",
        "accounts",
        "payable",
        "can",
        "reopen",
        "it",
        "without",
        "the",
        "buyer",
        "who",
        "left",
        "the",
        "company",
        "in",
        "spring",
    ]
    with tracker.connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO task (id, title, status, description) VALUES (:1, :2, 'OPEN', :3)",
            [
                (
                    n,
                    f"Invoice {n} of supplier {n % 37} is late",
                    " ".join(words[n % 9 :] + words[: n % 31]) + f" ({n}).",
                )
                for n in range(1, TASKS + 1)
            ],
        )
        cursor.executemany(
            "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', :1)",
            [(str(n),) for n in range(1, TASKS + 1)],
        )
    tracker.connection.commit()


def _index(tracker: Tracker) -> float:
    """Drain what waits, in batches of 64, and give the time."""
    settings, state, total = _settings(tracker, 64), WorkerState(), DrainReport()
    start = time.perf_counter()
    while (report := drain(tracker.database, tracker.sources, settings, state=state)).claimed:
        total += report
    taken = time.perf_counter() - start
    assert total.indexed == TASKS, total
    return taken


def _write(tracker: Tracker) -> float:
    """Insert the same rows, vectors included, with one executemany and a commit, and give the time."""
    columns = "ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY, EMBEDDING"
    rows = tracker.sql(f"SELECT {columns} FROM RAG_CHUNK")
    tracker.sql(f"CREATE TABLE bare AS SELECT {columns} FROM RAG_CHUNK WHERE 1 = 0")
    marks = ", ".join(f":{n}" for n in range(1, 10))
    with tracker.connection.cursor() as cursor:
        start = time.perf_counter()
        cursor.executemany(f"INSERT INTO bare ({columns}) VALUES ({marks})", rows)
        tracker.connection.commit()
        return time.perf_counter() - start


def _embed(model: Path, texts: list[str]) -> float:
    models = OnnxModels()
    with contextlib.closing(models):
        models.embed("benchmark", model.read_bytes, texts[:8])
        start = time.perf_counter()
        models.embed("benchmark", model.read_bytes, texts)
        return time.perf_counter() - start
