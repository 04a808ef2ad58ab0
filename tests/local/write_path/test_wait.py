"""Reading one's own writes: index entities now, and wait for workers."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from oraclerag import Rag, SourceKey, in_force, render
from oraclerag import chunk as stage
from oraclerag.claim import Queue
from oraclerag.drain import drain
from oraclerag.errors import (
    EntityError,
    IndexingFailed,
    IndexingTimeout,
    InputError,
    SourceChanged,
    SourceError,
    UnknownSource,
)
from oraclerag.records import DrainReport
from oraclerag.source import SelectSource
from oraclerag.wait import index_now, wait
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size


@dataclasses.dataclass
class Time:
    """A clock that only waiting turns; ``meanwhile`` is what others do while somebody waits."""

    now: float = 0.0
    meanwhile: Callable[[], object] = lambda: None
    waited: int = 0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waited += 1
        self.meanwhile()


def key(number: int | str) -> SourceKey:
    return SourceKey("task", str(number))


def now(tracker: Tracker, *numbers: int, time: Time | None = None, timeout: float = 5.0) -> DrainReport:
    time = time or Time()
    return index_now(
        tracker.database, tracker.sources, tracker.settings, map(key, numbers),
        timeout=timeout, state=tracker.state, clock=time.clock, sleep=time.sleep,
    )  # fmt: skip


def wait_for(tracker: Tracker, *numbers: int, time: Time, timeout: float = 5.0) -> None:
    keys = [key(number) for number in numbers] if numbers else None
    wait(tracker.database, keys, timeout=timeout, clock=time.clock, sleep=time.sleep)


# -- index_now --------------------------------------------------------------------------------------------------------


def test_what_was_written_is_found_at_once(tracker: Tracker) -> None:
    for number in range(5):
        tracker.task(number, f"Number {number}")
    tracker.enqueue(3, 4)  # not asked for: left to a worker
    report = now(tracker, 0, 1, 2)
    assert (report.claimed, report.indexed) == (3, 3)
    assert sorted(tracker.texts()) == ["0", "1", "2"]
    assert [row[0] for row in tracker.queue()] == ["3", "4"]
    tracker.sql("DELETE FROM task WHERE id = 1")
    tracker.connection.commit()
    assert now(tracker, 1, 2).deleted == 1
    assert sorted(tracker.texts()) == ["0", "2"]


def test_everything_that_waits_of_an_entity_is_applied_with_it(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.enqueue(*[1] * 20)
    report = now(tracker, 1, 1)
    assert (report.claimed, report.indexed, report.embedded) == (21, 1, 1)
    assert tracker.queue() == []


def test_more_than_a_batch(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=2)
    for number in range(5):
        tracker.task(number)
    assert now(tracker, *range(5)).indexed == 5


def test_nothing_asked_for_is_nothing_done(tracker: Tracker) -> None:
    assert now(tracker) == DrainReport()


def test_one_that_a_worker_holds_is_waited_for(tracker: Tracker) -> None:
    """The worker read before the change, perhaps: what counts is a claim after the announcement."""
    tracker.task(1, "Old")
    tracker.enqueue(1)
    with tracker.database.connect() as connection:
        queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
        claim = queue.claim(0, "-", types={"task": False}, limit=1, come_back=1)
        tracker.sql("UPDATE task SET title = 'New' WHERE id = 1")
        tracker.connection.commit()
        time = Time()

        def end() -> None:
            if time.waited == 2:
                queue.give_back(claim, claim.entities)
                tracker.due()

        time.meanwhile = end
        assert now(tracker, 1, time=time).claimed == 2
    assert time.waited == 2
    assert "New" in tracker.texts()["1"][0]


def test_one_that_a_worker_keeps_is_named(tracker: Tracker) -> None:
    tracker.task(1)
    tracker.task(2)
    tracker.enqueue(1)
    with tracker.database.connect() as connection:
        queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
        assert queue.claim(0, "-", types={"task": False}, limit=1, come_back=1).entities
    with pytest.raises(IndexingTimeout, match=r"^Not in the index in time: task:1\.$") as caught:
        now(tracker, 1, 2, timeout=1.0)
    assert caught.value.keys == (key(1),)
    assert caught.value.retryable
    assert sorted(tracker.texts()) == ["2"]


def test_one_that_fails_is_named_and_the_others_are_done(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = stage.chunks

    def refuse(text: str, *arguments: Any, **more: Any) -> Any:
        if "poison" in text:
            raise EntityError("It cannot be cut.")
        return chunks(text, *arguments, **more)

    monkeypatch.setattr(render, "chunks", refuse)
    tracker.task(1)
    tracker.task(2, "poison")
    with pytest.raises(
        IndexingFailed, match=r"^task:2 could not be indexed, postponed: ENTITY: It cannot be cut\.$"
    ) as caught:
        now(tracker, 1, 2)
    assert caught.value.keys == (key(2),)
    assert sorted(tracker.texts()) == ["1"]
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=1)
    with pytest.raises(IndexingFailed, match="given up"):
        now(tracker, 2)
    tracker.sql("UPDATE task SET title = 'cured' WHERE id = 2")
    tracker.connection.commit()
    assert now(tracker, 2).indexed == 1, "its older failures are no reason to fail"


def test_a_source_that_is_paused_is_said_at_once(tracker: Tracker) -> None:
    tracker.task(1)
    with tracker.database.connect() as connection:
        in_force.pause(connection, tracker.database.schema, "task", "SOURCE: no such column")
    time = Time()
    with pytest.raises(SourceError, match="'task' is paused: SOURCE: no such column"):
        now(tracker, 1, time=time)
    assert time.waited == 0
    assert len(tracker.queue()) == 1, "what was announced stays so"


def test_other_settings_in_force_are_said_at_once(tracker: Tracker) -> None:
    tracker.task(1)
    now(tracker, 1)
    tracker.sources["task"] = SelectSource(dataclasses.replace(TASK, title=None))
    with pytest.raises(SourceChanged):
        now(tracker, 1)


def test_arguments_are_checked(tracker: Tracker) -> None:
    with pytest.raises(UnknownSource):
        index_now(tracker.database, tracker.sources, tracker.settings, SourceKey("nothing", "1"), timeout=1)
    with pytest.raises(InputError, match="keys must be SourceKeys, not str"):
        index_now(tracker.database, tracker.sources, tracker.settings, ["task:1"], timeout=1)  # type: ignore[list-item]
    for timeout in (-1, 1e9, float("nan")):
        with pytest.raises(InputError, match="timeout is"):
            wait(tracker.database, timeout=timeout)
    assert tracker.queue() == []


# -- wait -------------------------------------------------------------------------------------------------------------


def test_nothing_to_wait_for(tracker: Tracker) -> None:
    time = Time()
    wait_for(tracker, time=time)
    wait_for(tracker, 1, 2, time=time)
    assert time.waited == 0


@pytest.mark.parametrize("numbers", [(1, 2), ()], ids=["keys", "everything"])
def test_it_ends_when_a_worker_has_done_it(tracker: Tracker, numbers: tuple[int, ...]) -> None:
    tracker.task(1)
    tracker.task(2)
    tracker.enqueue(1, 2)
    time = Time()

    def meanwhile() -> None:
        tracker.enqueue(1)  # later changes are not waited for
        if time.waited == 3:
            drain(tracker.database, tracker.sources, dataclasses.replace(tracker.settings, batch_size=2))

    time.meanwhile = meanwhile
    wait_for(tracker, *numbers, time=time)
    assert time.waited == 3
    assert sorted(tracker.texts()) == ["1", "2"]
    assert tracker.queue(), "there are rows left, all of them later ones"


def test_others_are_not_waited_for(tracker: Tracker) -> None:
    tracker.enqueue(1)
    wait_for(tracker, 2, time=Time())


@pytest.mark.parametrize("numbers", [(1, 2, 3), ()], ids=["keys", "everything"])
def test_what_still_waits_is_named(tracker: Tracker, numbers: tuple[int, ...]) -> None:
    tracker.enqueue(1, 2)
    with pytest.raises(IndexingTimeout, match="task:1, task:2") as caught:
        wait_for(tracker, *numbers, time=Time(), timeout=1.0)
    assert set(caught.value.keys) == {key(1), key(2)}
    tracker.enqueue(*range(3, 12))
    with pytest.raises(IndexingTimeout, match=r"and 6 more"):
        wait_for(tracker, time=Time(), timeout=0.0)


def test_why_it_waits_is_said(tracker: Tracker) -> None:
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET ATTEMPTS = 1, ERROR_CODE = 'ENTITY', LAST_ERROR = 'It cannot be cut.'")
    tracker.connection.commit()
    with tracker.database.connect() as connection:
        in_force.pause(connection, tracker.database.schema, "task", "SOURCE: no such column")
    with pytest.raises(
        IndexingTimeout,
        match=r"source task is paused \(SOURCE: no such column\), task:1 was postponed \(ENTITY: It cannot be cut.\)",
    ):
        wait_for(tracker, 1, time=Time(), timeout=0.0)


@pytest.mark.parametrize("numbers", [(1,), ()], ids=["keys", "everything"])
def test_what_was_given_up_is_an_error(tracker: Tracker, numbers: tuple[int, ...]) -> None:
    tracker.enqueue(1)
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD', ERROR_CODE = 'CRASHED', LAST_ERROR = 'The worker died.'")
    tracker.connection.commit()
    with pytest.raises(IndexingFailed, match=r"task:1 could not be indexed, given up: CRASHED: The worker died\."):
        wait_for(tracker, *numbers, time=Time())
    tracker.task(1)
    tracker.enqueue(1)
    time = Time(meanwhile=tracker.drain)
    wait_for(tracker, *numbers, time=time)
    assert time.waited == 1, "a change that is applied settles what had failed before"


# -- from a program ---------------------------------------------------------------------------------------------------


@pytest.fixture
def rag(tracker: Tracker) -> Iterator[Rag]:
    settings = dataclasses.replace(tracker.settings, initial_delay=0.0, poll_interval=0.05, backfill_on_start=False)
    with Rag(settings) as opened:
        yield opened


def test_a_program_reads_what_it_wrote(tracker: Tracker, rag: Rag) -> None:
    tracker.task(1)
    assert rag.index_now(key(1)).indexed == 1
    stop = threading.Event()
    thread = threading.Thread(target=rag.work, args=(stop,))
    thread.start()
    try:
        tracker.sql("UPDATE task SET title = 'Changed' WHERE id = 1")
        rag.enqueue(tracker.connection, key(1))
        tracker.connection.commit()
        rag.wait([key(1)])
        assert "Changed" in tracker.texts()["1"][0]
        rag.wait()
    finally:
        stop.set()
        thread.join()
