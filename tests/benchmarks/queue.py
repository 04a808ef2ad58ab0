"""The queue: what a claim costs beside a backlog, who waits for whom, unchanged entities, memory, round trips.

Blocks, batches, statements and round trips are counted; only the rate of unchanged entities is taken by the clock.
"""

from __future__ import annotations

import dataclasses
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import oracledb
import sqlalchemy
import sqlalchemy.orm

from oraclerag.claim import Queue, Turns
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.enqueue import enqueue, enqueue_statement
from oraclerag.local import LocalDatabase
from oraclerag.records import Document, DrainReport, SourceKey
from oraclerag.source import FunctionSource, Source
from oraclerag.worker import work
from tests.benchmarks.figures import Figure
from tests.benchmarks.free_model_server import free_model_database
from tests.local.blocks import Blocks
from tests.local.conftest import Account
from tests.local.write_path.test_fairness import announce, backlog, batches_until_done, source_of
from tests.local.write_path.test_two_workers import claims
from tests.local.write_path.tracker import Tracker, open_tracker

__all__ = ["measure"]

BACKLOGS = (1_000, 100_000, 1_000_000)
MANY = 100_000
UNCHANGED = 2_048
BATCH = 256
CHUNK_COLUMNS = (
    "ENTITY_ID, CHUNK_NO, TEXT_START, TEXT_END, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY, "
    "OWNER_ID, EMBEDDING"
)


def measure(folder: Path, model: Path) -> Iterator[Figure]:
    """Measure everything; ``folder`` takes the databases."""
    with LocalDatabase(folder / "queue", in_process=True) as database:
        yield from _fairness(_tracker(database, "BENCH_TURNS", model))
        yield from _round_trips(database, _tracker(database, "BENCH_ENQUEUE", model))
        yield from _two_workers(_tracker(database, "BENCH_TWO", model))
        yield from _blocks(database, _tracker(database, "BENCH_BLOCKS", model))
    with free_model_database(folder / "queue-free") as database:
        yield from _unchanged(_tracker(database, "BENCH_SAME", model))
        yield from _long_run(database, _tracker(database, "BENCH_LONG", model))


def _tracker(database: LocalDatabase, name: str, model: Path) -> Tracker:
    """Make an installation; its connections end with the database."""
    return open_tracker(Account(database.dsn, name, database.create_user(name)), model)


def _fairness(tracker: Tracker) -> Iterator[Figure]:
    """Count the batches until a row is done that others are ahead of."""
    sources = source_of({"B": "the row that waits"}, "note", "page")
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "of another tenant": (
            lambda: backlog(tracker, MANY, tenant="acme"),
            lambda: announce(tracker, "B", tenant="b"),
        ),
        "of a reindex": (lambda: backlog(tracker, MANY, lane=1), lambda: announce(tracker, "B")),
        "of another source": (lambda: backlog(tracker, MANY), lambda: announce(tracker, "B", source="page")),
    }
    for what, (ahead, behind) in cases.items():
        tracker.clear()
        ahead()
        state = WorkerState()
        worst = 0
        for _ in range(8):  # whoever's turn it is
            behind()
            worst = max(worst, batches_until_done(tracker, "B", sources, state))
        yield Figure(f"100,000 rows {what} ahead", worst, "batches", "until a row is done", 4)
    tracker.close()


def _round_trips(database: LocalDatabase, tracker: Tracker) -> Iterator[Figure]:
    """Count the round trips of an announcement."""
    key = SourceKey("task", "42")
    engine = sqlalchemy.create_engine(tracker.account.url)
    statement = enqueue_statement(key, sources=tracker.sources)

    def announced(connection: object) -> None:
        enqueue(connection, key, sources=tracker.sources, schema=tracker.database.schema)

    worst = 0
    with tracker.account.connect() as plain, engine.connect() as connection, sqlalchemy.orm.Session(engine) as session:
        for begun in (connection, session):
            begun.execute(sqlalchemy.text("SELECT 1 FROM dual"))  # what an Engine asks of its first connection
        actions: list[Callable[[], object]] = [
            lambda: announced(plain),
            lambda: announced(connection),
            lambda: announced(session),
            lambda: session.execute(statement),
        ]
        for action in actions:
            before = database.round_trips
            action()
            worst = max(worst, database.round_trips - before)
    engine.dispose()
    tracker.close()
    yield Figure("enqueue", worst, "round trips", "driver, SQLAlchemy connection, session, statement", 1)


def _two_workers(tracker: Tracker) -> Iterator[Figure]:
    """Count the statements per claimed row of two workers at once."""
    counts = []
    for workers in (1, 2):
        tracker.clear()
        found, sent = claims(tracker, workers, 800)
        taken = [entity.source_id for got in found for entity in got.entities]
        assert len(taken) == len(set(taken)) == 800
        counts.append((sent - 2 * workers) / len(taken))  # everybody looks once more: a statement and a commit
    tracker.close()
    yield Figure("statements per claimed row, two workers", counts[1] / counts[0], "×", "one worker", 1)


def _blocks(database: LocalDatabase, tracker: Tracker) -> Iterator[Figure]:
    """Count the blocks of a look and of a claim of 32 rows beside more and more rows."""
    with Blocks(database, tracker.account, "RAG_DIRTY", "RAG_ENTITY") as blocks:
        costs = []
        rows = 0
        for size in BACKLOGS:
            tracker.sql(
                "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) "
                "SELECT 'note', TO_CHAR(:done + LEVEL) FROM dual CONNECT BY LEVEL <= :how_many", done=rows, how_many=size - rows,
            )  # fmt: skip
            tracker.sql(
                "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID) "
                "SELECT 'note', TO_CHAR(:done + LEVEL) FROM dual CONNECT BY LEVEL <= :how_many", done=rows, how_many=size - rows,
            )  # fmt: skip
            tracker.connection.commit()
            rows = size
            costs.append(_cost(tracker, blocks))
        yield Figure("blocks per claim of 32, backlog 1,000", costs[0][1], "", "for orientation")
        for size, cost in zip(BACKLOGS[1:], costs[1:], strict=True):
            yield Figure(f"blocks per claim, backlog {size:,}", cost[1] / costs[0][1], "×", "backlog 1,000", 1.25)
        yield Figure("blocks per look, backlog 1,000,000", costs[-1][0] / costs[0][0], "×", "backlog 1,000", 2)

        tracker.sql("TRUNCATE TABLE RAG_DIRTY")
        backlog(tracker, 1_000)
        alone = _cost(tracker, blocks)
        yield Figure("blocks per look, backlog 1,000", alone[0], "", "for orientation")
        backlog(tracker, MANY, source="elsewhere")
        tracker.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT - INTERVAL '1' HOUR WHERE SOURCE_TYPE <> 'note'")
        tracker.connection.commit()
        beside = _cost(tracker, blocks)
        what = "100,000 rows of a paused source ahead"
        yield Figure(f"blocks per look, {what}", beside[0] / alone[0], "×", "without them", 2)
        yield Figure(f"blocks per claim, {what}", beside[1] / alone[1], "×", "without them", 1.25)
        backlog(tracker, MANY, tenant="+")  # before '-'
        tracker.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT + INTERVAL '2' HOUR WHERE TENANT_ID = '+'")
        tracker.connection.commit()
        beside = _cost(tracker, blocks)
        what = "100,000 rows that are not due"
        yield Figure(f"blocks per look, {what}", beside[0] / alone[0], "×", "without them", 2)
        yield Figure(f"blocks per claim, {what}", beside[1] / alone[1], "×", "without them", 1.25)
    tracker.close()


def _cost(tracker: Tracker, blocks: Blocks, *, tidy: bool = True) -> tuple[int, int]:
    """Give the blocks of a look and of a claim of 32 rows."""

    def queue(connection: oracledb.Connection) -> Queue:
        return Queue(connection, tracker.database.schema, lease=300, max_attempts=5)

    def claim(connection: oracledb.Connection) -> None:
        got = queue(connection).claim(0, "-", types={"note": False}, limit=32, come_back=2.0)
        assert len(got.entities) == 32

    if tidy:
        blocks.tidy()
    look = blocks.read(lambda connection: queue(connection).turn(Turns(), ["note"]))
    return look.total(), blocks.read(claim).total()


def _unchanged(tracker: Tracker) -> Iterator[Figure]:
    """Measure a drain in which no text has changed against writing as many chunks, and as many queue rows, anew."""
    settings = dataclasses.replace(tracker.settings, batch_size=BATCH)
    tracker.sql(
        "INSERT INTO task (id, title, status, assignee_id, description) SELECT LEVEL, 'Invoice ' || TO_CHAR(LEVEL), "
        "'OPEN', 7, 'The supplier invoice waits for approval because its purchase order was closed before the goods "
        "arrived.' FROM dual CONNECT BY LEVEL <= :tasks",
        tasks=UNCHANGED,
    )
    state = WorkerState()

    def drained() -> tuple[float, DrainReport]:
        tracker.sql("INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID) SELECT 'task', TO_CHAR(id) FROM task")
        tracker.connection.commit()
        total = DrainReport()
        start = time.perf_counter()
        while (report := drain(tracker.database, tracker.sources, settings, state=state)).claimed:
            total += report
        return time.perf_counter() - start, total

    assert drained()[1].indexed == UNCHANGED
    chunks, queue_rows, drains = [], [], []
    for _ in range(5):  # in turns, so that a busy moment of the machine meets all of them
        seconds, report = drained()
        assert report.unchanged == UNCHANGED, report
        rows = tracker.sql(f"SELECT {CHUNK_COLUMNS} FROM RAG_CHUNK ORDER BY ENTITY_ID")
        tracker.sql("DELETE FROM RAG_CHUNK")
        tracker.connection.commit()
        chunks.append(_insert(tracker, "RAG_CHUNK", CHUNK_COLUMNS, rows))
        announced = [("task", str(number)) for number in range(UNCHANGED)]
        queue_rows.append(_insert(tracker, "RAG_DIRTY", "SOURCE_TYPE, SOURCE_ID", announced))
        tracker.sql("DELETE FROM RAG_DIRTY")
        drains.append(seconds)
    tracker.close()
    against = "bare executemany of as many"
    yield Figure("unchanged entities, batch 256: rate", UNCHANGED / min(drains), "entities/s", "for orientation")
    yield Figure("unchanged entities: rate", min(chunks) / min(drains), "×", f"{against} chunks", 0.25, "at least")
    yield Figure("unchanged entities: rate", min(queue_rows) / min(drains), "×", f"{against} queue rows: orientation")


def _insert(tracker: Tracker, table: str, columns: str, rows: Sequence[tuple[object, ...]]) -> float:
    """Insert rows in arrays of a batch, each committed as a batch is; gives the time."""
    marks = ", ".join(f":{n}" for n in range(1, columns.count(",") + 2))
    with tracker.connection.cursor() as cursor:
        start = time.perf_counter()
        for begin in range(0, len(rows), BATCH):
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(rows[begin : begin + BATCH]))
            tracker.connection.commit()
        return time.perf_counter() - start


def _long_run(database: LocalDatabase, tracker: Tracker) -> Iterator[Figure]:
    """Measure a worker process that works off 100,000 rows: its memory, and what a claim costs after it.

    Every tenth row is of a new entity with a text, the others are of entities that are gone.
    """
    tracker.sql(
        "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) "
        "SELECT 'note', 'known ' || TO_CHAR(LEVEL) FROM dual CONNECT BY LEVEL <= :how_many",
        how_many=MANY,
    )
    backlog(tracker, 1_000)
    with Blocks(database, tracker.account, "RAG_DIRTY", "RAG_ENTITY") as blocks:
        before = _cost(tracker, blocks)
    tracker.sql("TRUNCATE TABLE RAG_DIRTY")
    tracker.sql("UPDATE RAG_ENTITY SET HOLDER = NULL")
    backlog(tracker, MANY)
    account = tracker.account
    command = [sys.executable, "-m", __name__, account.dsn, account.user]
    done = subprocess.run(command, input=account.password, capture_output=True, text=True, check=True)
    early, late = map(int, done.stdout.split())
    yield Figure("memory of a worker after 100,000 rows", late / early, "×", "after 10,000", 1.05)
    backlog(tracker, 1_000)
    with Blocks(database, tracker.account, "RAG_DIRTY", "RAG_ENTITY") as blocks:
        _cost(tracker, blocks, tidy=False)  # the first one notes which rows are dead
        after = _cost(tracker, blocks, tidy=False)
        tidied = _cost(tracker, blocks)
    # PostgreSQL reads past what was deleted until VACUUM has been there, Oracle past emptied blocks of the index until
    # they are used again or coalesced.
    yield Figure("blocks per look after 100,000 rows", after[0] / before[0], "×", "before; orientation")
    yield Figure("blocks per claim after 100,000 rows", after[1] / before[1], "×", "before; orientation")
    yield Figure("blocks per look after them and VACUUM", tidied[0] / before[0], "×", "before", 2)
    yield Figure("blocks per claim after them and VACUUM", tidied[1] / before[1], "×", "before", 1.25)
    tracker.close()


def _read(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
    return {key: Document(f"The text of {key}: " + "supplier " * 20, owner=key) for key in ids if key.endswith("0")}


def _worker() -> None:
    """Be the worker process; prints the most memory that it has had after 10,000 rows and in the end."""
    dsn, user, password = sys.argv[1], sys.argv[2], sys.stdin.read()
    settings = Settings(dsn=dsn, user=user, password=password, embedding_model="TINY", batch_size=BATCH)
    sources: dict[str, Source] = {"note": FunctionSource("note", _read, visibility="owner")}
    peaks: list[int] = []
    claimed = 0

    def report(batch: DrainReport) -> None:
        nonlocal claimed
        claimed += batch.claimed
        if not peaks and claimed >= 10_000:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    database = Database(settings)
    total = work(database, sources, settings, once=True, on_report=report)
    database.close()
    assert total.claimed == MANY, total
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(*peaks)


if __name__ == "__main__":
    _worker()
