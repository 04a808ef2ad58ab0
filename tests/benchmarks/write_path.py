"""Indexing against what it cannot do without: embedding the texts, and writing the rows."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb

from oraclerag.config import Settings
from oraclerag.drain import WorkerState, drain
from oraclerag.local import LocalDatabase
from oraclerag.local.models import OnnxModels
from oraclerag.merge import SLICE
from oraclerag.records import DrainReport
from tests.benchmarks.figures import Figure
from tests.benchmarks.free_model_server import free_model_database
from tests.benchmarks.row_by_row import index_row_by_row, prepare
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker

__all__ = ["measure", "overhead", "round_trips"]

TASKS = 500


def measure(database: LocalDatabase, minilm: Path) -> Iterator[Figure]:
    """Measure the indexing of 500 tasks with MiniLM against embedding the same texts."""
    indexing, embedding, row_by_row = [], [], []
    with _tracker(database, "BENCH_MINILM", minilm) as tracker:
        prepare(tracker)
        for turn in range(3):  # in turns, so that a busy moment of the machine meets both
            _empty(tracker)
            _fill(tracker, turn)  # other texts: the local database remembers what it has embedded
            indexing.append(_index(tracker))
            texts = [text for (text,) in tracker.sql("SELECT CONTENT FROM RAG_CHUNK")]
            embedding.append(_embed(minilm, texts))
            row_by_row.append(_row_by_row(tracker, 100 + turn))
        ratio = min(indexing) / min(embedding)
        yield Figure("index 500 tasks, MiniLM-L6: time", ratio, "×", "pure embedding, same texts", 1.3)
        against = "one task after the other, see row_by_row.py"
        yield Figure("index 500 tasks, MiniLM-L6: time", min(indexing) / min(row_by_row), "×", against, 1)
        yield Figure("index 500 tasks, MiniLM-L6: rate", TASKS / min(indexing), "tasks/s", "for orientation")


def overhead(directory: Path, model: Path) -> Iterator[Figure]:
    """Measure the same with a model that costs nothing against three arrays that write the same rows.

    The rows go into the same tables, with the same indexes, of another schema: entities, documents and chunks with
    their vectors. One task after the other is not quite without cost: a single text is embedded, by a tiny model.
    """
    with (
        free_model_database(directory) as database,
        _tracker(database, "BENCH_DRAIN", model) as tracker,
        _tracker(database, "BENCH_BARE", model) as bare,
    ):
        ratios: dict[int, list[float]] = {SLICE: [], 64: []}
        row_by_row: list[float] = []
        taken: dict[int, float] = {}
        prepare(tracker)
        for turn in range(9):
            for batch, found in ratios.items():
                for each in (tracker, bare):
                    _empty(each)
                _fill(tracker, turn * 1000 + batch)
                taken[batch] = _index(tracker, batch)
                found.append(taken[batch] / _write(bare, _arrays(tracker)))
            row_by_row.append(taken[64] / _row_by_row(tracker, turn * 1000 + 999))
        against = "bare executemany, same rows"
        for batch, found in ratios.items():
            name = f"index 500 tasks, model without cost, batches of {batch}: time"
            ratio = statistics.median(found[2:])  # the first ones warm caches
            yield Figure(name, ratio, "×", against, 3 if batch == SLICE else None)
        ratio = statistics.median(row_by_row[2:])
        against = "one task after the other, see row_by_row.py"
        yield Figure("index 500 tasks, model without cost, batches of 64: time", ratio, "×", against, 1)


def round_trips(model: Path) -> Iterator[Figure]:
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


def _model(tracker: Tracker) -> str:
    return str(tracker.scalar("SELECT SETTING_VALUE FROM RAG_SETTING WHERE SETTING = 'model'"))


def _settings(tracker: Tracker, batch: int) -> Settings:
    return dataclasses.replace(tracker.settings, batch_size=batch)


def _fill(tracker: Tracker, turn: int = 0) -> None:
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
                    f"Invoice {n} of supplier {n % 37} is late ({turn})",
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


def _index(tracker: Tracker, batch: int = 64) -> float:
    """Drain what waits, in batches of ``batch``, and give the time."""
    settings, state, total = _settings(tracker, batch), WorkerState(), DrainReport()
    start = time.perf_counter()
    while (report := drain(tracker.database, tracker.sources, settings, state=state)).claimed:
        total += report
    taken = time.perf_counter() - start
    assert total.indexed == TASKS, total
    return taken


def _row_by_row(tracker: Tracker, turn: int) -> float:
    """Index as many new tasks one after the other, and give the time."""
    _empty(tracker)
    tracker.sql("DELETE FROM base_chunk")
    _fill(tracker, turn)
    return index_row_by_row(tracker, _model(tracker))


_TABLES = {
    "RAG_ENTITY": "SOURCE_TYPE, SOURCE_ID, TENANT_ID, FINGERPRINT, CONTENT_HASH, DETAILS_HASH, CHUNKS, INDEXED_AT",
    "RAG_DOCUMENT": "ENTITY_ID, TENANT_ID, TITLE, BODY, METADATA",
    "RAG_CHUNK": "ENTITY_ID, CHUNK_NO, TEXT_START, TEXT_END, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, "
    "VISIBILITY, OWNER_ID, METADATA, EMBEDDING",
}


def _empty(tracker: Tracker) -> None:
    """Take all rows away. No DDL: after it every statement is translated and prepared anew, which no worker meets."""
    for table in ("RAG_CHUNK", "RAG_DOCUMENT", "RAG_ENTITY", "RAG_DIRTY", "TASK"):
        tracker.sql(f"DELETE FROM {table}")
    tracker.connection.commit()


def _arrays(tracker: Tracker) -> list[tuple[str, list[Any]]]:
    """Read what an indexing wrote: per table the INSERT that writes it, and the rows."""
    arrays = []
    for table, columns in _TABLES.items():
        rows = tracker.sql(f"SELECT {columns} FROM {table} ORDER BY ENTITY_ID")
        marks = ", ".join(f":{n}" for n in range(1, columns.count(",") + 2))
        arrays.append((f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows))
    return arrays


def _write(bare: Tracker, arrays: list[tuple[str, list[Any]]]) -> float:
    """Write rows into another schema, an array per table and one commit; give the time."""
    with bare.connection.cursor() as cursor:
        start = time.perf_counter()
        for statement, rows in arrays:
            if "METADATA" in statement:
                at = [name.strip() for name in statement.partition("(")[2].partition(")")[0].split(",")].index(
                    "METADATA"
                )
                cursor.setinputsizes(*[oracledb.DB_TYPE_JSON if n == at else None for n in range(len(rows[0]))])
            cursor.executemany(statement, rows)
        bare.connection.commit()
        return time.perf_counter() - start


def _embed(model: Path, texts: list[str]) -> float:
    models = OnnxModels()
    with contextlib.closing(models):
        models.embed("benchmark", model.read_bytes, texts[:8])
        start = time.perf_counter()
        models.embed("benchmark", model.read_bytes, texts)
        return time.perf_counter() - start
