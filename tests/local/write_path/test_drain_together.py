"""Several workers at once, while the sources change: in the end the index says what the sources say."""

from __future__ import annotations

import random
import threading

import pytest

from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import ConnectionFailed
from oraclerag.merge import Merge, Merged
from oraclerag.source import from_settings
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

ENTITIES = 12


def worker(tracker: Tracker, stop: threading.Event, errors: list[BaseException]) -> None:
    database = Database(tracker.settings)
    sources, state = from_settings(tracker.settings), WorkerState()
    try:
        while not stop.is_set():
            try:
                if not drain(database, sources, tracker.settings, state=state).claimed:
                    stop.wait(0.01)
            except ConnectionFailed:
                continue  # an outage: it slows down and goes on
    except BaseException as error:  # noqa: BLE001 - a thread tells the test
        errors.append(error)
    finally:
        database.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_index_follows_whatever_the_order(tracker: Tracker, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    whole = Merge.apply
    guard = threading.Lock()

    def flaky(self: Merge, *arguments: object) -> Merged:
        result = whole(self, *arguments)  # type: ignore[arg-type]
        with guard:
            fails = chance.random() < 0.1
        if fails:
            raise ConnectionFailed
        return result

    monkeypatch.setattr(Merge, "apply", flaky)
    stop, errors = threading.Event(), list[BaseException]()
    threads = [threading.Thread(target=worker, args=(tracker, stop, errors)) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for step in range(120):
            number = chance.randrange(ENTITIES)
            what = chance.random()
            if what < 0.25:
                tracker.sql("DELETE FROM task WHERE id = :id", id=number)
            elif tracker.scalar("SELECT COUNT(*) FROM task WHERE id = :id", id=number):
                tracker.sql(
                    "UPDATE task SET title = :t, assignee_id = :a WHERE id = :id", t=f"step {step}", a=step, id=number
                )
            else:
                tracker.sql(
                    "INSERT INTO task (id, title, assignee_id) VALUES (:id, :t, 1)", id=number, t=f"step {step}"
                )
            tracker.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', :id)", id=str(number))
            if chance.random() < 0.1:
                tracker.connection.rollback()
            else:
                tracker.connection.commit()
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    assert errors == []
    monkeypatch.setattr(Merge, "apply", whole)
    for _ in range(20):
        tracker.due()
        tracker.drain()
    assert tracker.queue() == []
    expected = {
        str(number): (f"[TASK #{number}] {title}", str(owner))
        for number, title, owner in tracker.sql("SELECT id, title, assignee_id FROM task")
    }
    found = {
        key: (content.partition("\n")[0], owner)
        for key, content, owner in tracker.sql("SELECT SOURCE_ID, CONTENT, OWNER_ID FROM RAG_CHUNK")
    }
    assert found == expected
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_ENTITY WHERE HOLDER IS NOT NULL") == 0
