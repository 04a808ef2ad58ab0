"""Worker processes are killed with SIGKILL at any moment while the sources change: the index follows all the same."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Rag
from oraclerag.chunk import Limits, chunks
from oraclerag.model.active import active_model
from oraclerag.records import Chunk, Document
from tests.local.conftest import Account
from tests.local.crashes.application import ARCHIVE, TASKS, Writer
from tests.local.crashes.nursery import PHASES, Nursery
from tests.local.write_path.tracker import Tracker, open_tracker

pytestmark = pytest.mark.one_size

WORKERS = 3


@pytest.fixture
def own(account: Account, tiny_file: Path) -> Iterator[Tracker]:
    opened = open_tracker(account, tiny_file, TASKS, ARCHIVE, lease=2.0, poll_interval=0.05)
    yield opened
    opened.close()


@dataclass(frozen=True, slots=True)
class Difference:
    """Entities that the index lacks, has with another text or for other people, or has though they are gone."""

    lost: set[str]
    stale: set[str]
    resurrected: set[str]
    duplicates: int


def rendered(own: Tracker) -> dict[str, tuple[Document, list[Chunk]]]:
    """Render all sources as they are."""
    with own.database.connect() as connection:
        model = active_model(connection, own.database.schema, configured=own.settings.embedding_model)
        limits = Limits.of(model)
        found = {}
        for name, source in own.sources.items():
            for key, document in source.read(connection, source.ids(connection, limit=100_000)).items():
                found[f"{name}:{key}"] = document, list(chunks(document.text, limits))
    return found


def compare(own: Tracker) -> Difference:
    wanted = rendered(own)
    found: dict[str, list[tuple[Any, ...]]] = {}
    for kind, key, *chunk in own.sql(
        "SELECT SOURCE_TYPE, SOURCE_ID, CHUNK_NO, CONTENT, TENANT_ID, OWNER_ID, VISIBILITY FROM RAG_CHUNK "
        "ORDER BY SOURCE_TYPE, SOURCE_ID, CHUNK_NO"
    ):
        found.setdefault(f"{kind}:{key}", []).append(tuple(chunk))
    stale, duplicates = set(), 0
    for key in wanted.keys() & found.keys():
        document, chunks = wanted[key]
        visibility = str(document.visibility).upper()
        expected = [(c.number, c.content, document.tenant, document.owner, visibility) for c in chunks]
        duplicates += max(0, len(found[key]) - len(expected))
        if found[key] != expected:
            stale.add(key)
    bodies = {f"{kind}:{key}": body for kind, key, body in own.sql(
        "SELECT e.SOURCE_TYPE, e.SOURCE_ID, d.BODY FROM RAG_DOCUMENT d JOIN RAG_ENTITY e ON e.ENTITY_ID = d.ENTITY_ID"
    )}  # fmt: skip
    stale |= {key for key, (document, _) in wanted.items() if key in bodies and bodies[key] != document.text}
    return Difference(wanted.keys() - (found.keys() & bodies.keys()), stale, found.keys() - wanted.keys()
                      | bodies.keys() - wanted.keys(), duplicates)  # fmt: skip


def nothing_is_left(own: Tracker) -> None:
    """Look for what an interrupted batch may leave."""
    assert own.queue() == []
    for table, condition in (
        ("RAG_ENTITY e", "HOLDER IS NOT NULL OR HELD_UNTIL IS NOT NULL"),
        ("RAG_ENTITY e", "CHUNKS <> (SELECT COUNT(*) FROM RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID)"),
        ("RAG_CHUNK", "CHUNK_NO < 0 OR EMBEDDING IS NULL OR VISIBILITY = 'HIDDEN'"),
        ("RAG_SETTING", "SETTING IN ('paused', 'backfill') AND SETTING_VALUE IS NOT NULL"),
    ):
        assert own.scalar(f"SELECT COUNT(*) FROM {table} WHERE {condition}") == 0, condition
    with own.database.connect() as connection:
        model = active_model(connection, own.database.schema, configured=own.settings.embedding_model)
    vector = f"VECTOR_EMBEDDING({model.sql_name} USING CONTENT AS DATA)"
    assert own.scalar(f"SELECT MAX(VECTOR_DISTANCE(EMBEDDING, {vector}, COSINE)) FROM RAG_CHUNK") < 1e-6


def crash(
    own: Tracker, folder: Path, *, kills: int, entities: int, batch_size: int, seed: int
) -> tuple[Counter[str], Writer]:
    """Kill workers while a writer changes the sources, as many times as there are entities at least.

    Gives in which phase they were hit.
    """
    chance = random.Random(seed)
    settings = own.settings
    given = {name: getattr(settings, name) for name in ("dsn", "user", "password", "embedding_model", "lease")}
    given |= {"poll_interval": 0.05, "initial_delay": 0.0, "backfill_on_start": False, "pool_size": 2}
    given |= {"batch_size": batch_size}
    rag = Rag(settings)
    writer = Writer(rag, own.connection, entities, chance)
    writer.begin()
    stop, failures = threading.Event(), list[BaseException]()

    def write() -> None:
        try:
            while not stop.wait(0.002) or writer.transactions < entities:
                writer.step()
        except BaseException as error:  # noqa: BLE001 - a thread tells the test
            failures.append(error)

    hit: Counter[str] = Counter()
    thread = threading.Thread(target=write)
    with Nursery(folder, WORKERS, given) as nursery:
        for slot in range(WORKERS):
            nursery.start(slot, chance.getrandbits(32))
        thread.start()
        try:
            for number in range(kills):
                # by turns at any moment, and in a phase that may be short
                wanted = PHASES[1 + number // 2 % (len(PHASES) - 1)] if number % 2 else None
                slot = _victim(nursery, chance, wanted)
                hit[nursery.kill(slot)] += 1
                nursery.start(slot, chance.getrandbits(32))
        finally:
            stop.set()
            thread.join()
    assert failures == []
    rag.close()
    return hit, writer


def _victim(nursery: Nursery, chance: random.Random, wanted: str | None) -> int:
    """Wait for a while and choose a worker, one in the phase that is wanted if there is one in time."""
    if wanted is None:
        time.sleep(chance.uniform(0.0, 0.2))
        return chance.randrange(WORKERS)
    for _ in range(2000):
        for slot in chance.sample(range(WORKERS), WORKERS):
            if nursery.phase(slot) == wanted:
                time.sleep(chance.uniform(0.0, 0.003))
                return slot
        time.sleep(0.0002)
    return chance.randrange(WORKERS)


def recover(own: Tracker) -> None:
    """A healthy worker a lease later: it works off what is there, and the archive is complete after a backfill."""
    with Rag(own.settings) as rag:
        own.due()
        own.sql("UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '1' HOUR WHERE SETTING = 'backfill'")
        own.connection.commit()
        rag.backfill(source="archive")
        for _ in range(100):
            own.due()
            while rag.drain().claimed:
                pass
            if not own.queue():
                return
    pytest.fail(f"left in the queue: {own.queue()[:10]}")


def run(own: Tracker, folder: Path, **figures: int) -> Counter[str]:
    hit, writer = crash(own, folder, **figures)
    dead = own.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE STATE = 'DEAD'")
    recover(own)
    difference = compare(own)
    found = own.scalar("SELECT COUNT(DISTINCT SOURCE_TYPE || SOURCE_ID) FROM RAG_CHUNK")
    print(f"{figures}, hit in {dict(hit)}, {writer.transactions} transactions, {writer.rollbacks} taken back, "
          f"{found} entities indexed, {difference}, {dead} dead")  # fmt: skip
    assert dead == 0
    assert difference == Difference(set(), set(), set(), 0)
    nothing_is_left(own)
    assert writer.rollbacks
    return hit


def test_killed_workers_lose_nothing(own: Tracker, tmp_path: Path) -> None:
    hit = run(own, tmp_path, kills=12, entities=150, batch_size=8, seed=1)
    assert hit.total() == 12
    assert len(hit) > 3


@pytest.mark.long
@pytest.mark.timeout(900)
def test_two_hundred_killed_workers_lose_nothing_of_two_thousand_entities(own: Tracker, tmp_path: Path) -> None:
    hit = run(own, tmp_path, kills=200, entities=2000, batch_size=32, seed=2)
    assert hit.total() == 200
    assert hit.keys() >= {"claim", "read", "write", "stage", "settle", "give back", "backfill"}
