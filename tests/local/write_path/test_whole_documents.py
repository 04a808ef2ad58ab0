"""A document is indexed whole or not at all, whatever fails on the way, and what is recorded of it is what is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import oracledb
import pytest

from oraclerag import Rag, Scope
from oraclerag.database import own_tables
from oraclerag.merge import Merge
from oraclerag.model.active import ActiveModel
from oraclerag.records import Document
from oraclerag.source import FunctionSource, SelectSource, Source
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

WORDS = ("amber", "basalt", "cedar", "dahlia", "ember", "falcon", "garnet", "hazel", "indigo", "jasper")


def text(chunks: int, version: str = "first") -> str:
    """A text that is cut into so many chunks at least, each with a word of its own and that of the version."""
    return "\n".join(
        f"The {version} report, part {part}: {word} {word} {word} {word}."
        for word in WORDS[:chunks]
        for part in range(14)
    )


def notes(texts: Mapping[str, str]) -> dict[str, Source]:
    """A source of texts by id."""
    return {
        "note": FunctionSource(
            "note", lambda _, ids: {key: Document(texts[key]) for key in ids if key in texts}, visibility="shared"
        )
    }


@pytest.fixture
def found(tracker: Tracker) -> Iterator[Callable[[str], set[str]]]:
    """Searches: gives the ids of which a chunk with that word is found."""
    with Rag(tracker.settings) as rag:
        rag.source("note", visibility="shared")(lambda _, ids: {})

        def search(word: str) -> set[str]:
            hits = rag.search(word, scope=Scope(), k=100, source="note")
            return {hit.source.id for hit in hits if word in hit.content}

        yield search


class Embedder:
    """Lets the embedding of chunks with a word in their text fail, after they were written; counts its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.word = ""
        self.calls = 0
        whole = Merge._embed

        def embed(merge: Merge, cursor: oracledb.Cursor, entities: Sequence[int], model: ActiveModel) -> int:
            self.calls += bool(entities)
            if entities and self.word:
                with own_tables():
                    cursor.execute(
                        "UPDATE RAG_CHUNK SET SECTION = RPAD('x', 2000, 'x') "  # ORA-12899 where there is such a chunk
                        "WHERE CHUNK_ID IN (SELECT CHUNK_ID FROM RAG_CHUNK WHERE CONTENT LIKE :word)",
                        word=f"%{self.word}%",
                    )
            return whole(merge, cursor, entities, model)

        monkeypatch.setattr(Merge, "_embed", embed)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    return Embedder(monkeypatch)


@pytest.fixture(params=[256, 2], ids=["in one transaction", "in slices"])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of chunks that one transaction writes."""
    size: int = request.param
    monkeypatch.setattr("oraclerag.drain.SLICE", size)
    monkeypatch.setattr("oraclerag.merge.SLICE", size)
    return size


@pytest.mark.usefixtures("slices")
def test_one_bad_chunk_does_not_lose_the_document(
    tracker: Tracker, embedder: Embedder, found: Callable[[str], set[str]]
) -> None:
    """The old chunks are found until the new ones are complete."""
    texts = {"1": text(3)}
    tracker.sources = notes(texts)
    tracker.enqueue("1", source="note")
    tracker.drain()
    before = tracker.sql("SELECT CHUNK_ID, CONTENT FROM RAG_CHUNK ORDER BY CHUNK_NO")
    assert len(before) >= 3
    texts["1"] = text(6, "second")
    embedder.word = "basalt"
    tracker.enqueue("1", source="note")
    assert tracker.drain().postponed == 1
    old = "SELECT CHUNK_ID, CONTENT FROM RAG_CHUNK WHERE VISIBILITY = 'SHARED' ORDER BY CHUNK_NO"
    assert tracker.sql(old) == before
    assert (found("first"), found("second"), found("falcon")) == ({"1"}, set(), set())
    embedder.word = ""
    tracker.due()
    assert tracker.drain().indexed == 1
    assert (found("first"), found("second"), found("falcon")) == (set(), {"1"}, {"1"})
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE CHUNK_NO < 0 OR VISIBILITY <> 'SHARED'") == 0


@pytest.mark.usefixtures("slices")
def test_a_new_document_is_found_by_nobody_before_it_is_complete(
    tracker: Tracker, embedder: Embedder, found: Callable[[str], set[str]]
) -> None:
    tracker.sources = notes({"1": text(6)})
    embedder.word = "dahlia"
    tracker.enqueue("1", source="note")
    assert tracker.drain().postponed == 1
    assert [found(word) for word in WORDS[:6]] == [set()] * 6
    embedder.word = ""
    tracker.due()
    assert tracker.drain().indexed == 1
    assert [found(word) for word in WORDS[:6]] == [{"1"}] * 6


@pytest.mark.usefixtures("slices")
def test_a_failure_is_counted_though_everything_else_of_it_is_rolled_back(
    tracker: Tracker, embedder: Embedder, found: Callable[[str], set[str]]
) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=3)
    tracker.sources = notes({"1": text(3)})
    embedder.word = "cedar"
    tracker.enqueue("1", source="note")
    runs = 0
    for _ in range(10):
        runs += bool(tracker.drain().claimed)
        tracker.due()
    assert runs == 3
    assert tracker.queue() == [("1", "DEAD", 3, 0, 0)]
    assert "ORA-12899" in tracker.scalar("SELECT LAST_ERROR FROM RAG_DIRTY")
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE VISIBILITY <> 'HIDDEN'") == 0
    assert found("amber") == set()


def test_what_failed_once_does_not_count_as_unchanged(tracker: Tracker, embedder: Embedder) -> None:
    tracker.sources = notes({"1": text(3)})
    embedder.word = "amber"
    tracker.enqueue("1", source="note")
    assert tracker.drain().postponed == 1
    assert tracker.sql("SELECT CONTENT_HASH, FINGERPRINT, CHUNKS FROM RAG_ENTITY") == [(None, None, 0)]
    embedder.word = ""
    tracker.enqueue("1", source="note")  # announced again, and nothing has changed
    report = tracker.drain()
    assert (report.indexed, report.unchanged, report.embedded) == (1, 0, len(tracker.texts()["1"]))
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0


def test_what_was_written_is_recorded_and_the_rest_is_tried_again(tracker: Tracker, embedder: Embedder) -> None:
    tracker.sources = notes({str(number): f"note {WORDS[number]}" for number in range(5)})
    tracker.enqueue(*range(5), source="note")
    embedder.word = "cedar"
    report = tracker.drain()
    assert (report.indexed, report.postponed) == (4, 1)
    recorded = {key for (key,) in tracker.sql("SELECT SOURCE_ID FROM RAG_ENTITY WHERE CHUNKS > 0")}
    assert recorded == tracker.texts().keys() == {"0", "1", "3", "4"}
    assert [row[:3] for row in tracker.queue()] == [("2", "READY", 1)]
    embedder.word = ""
    tracker.due()
    assert tracker.drain().indexed == 1
    assert sorted(tracker.texts()) == ["0", "1", "2", "3", "4"]


def test_a_document_that_gets_shorter_leaves_no_old_chunk(tracker: Tracker, found: Callable[[str], set[str]]) -> None:
    texts = {"1": text(10)}
    tracker.sources = notes(texts)
    for version, chunks in (("second", 3), ("third", 0)):
        tracker.enqueue("1", source="note")
        tracker.drain()
        before = len(tracker.texts()["1"])
        texts["1"] = text(chunks, version)
        tracker.enqueue("1", source="note")
        assert tracker.drain().indexed == 1
        assert len(tracker.texts().get("1", ())) < before
        assert found("first") == found("jasper") == set()
    assert tracker.texts() == {}
    assert found("second") == set()


def test_documents_with_the_same_text_are_all_kept_and_one_that_is_announced_twice_is_one(tracker: Tracker) -> None:
    tracker.sources = notes({str(number): "the same text" for number in range(9)})
    tracker.enqueue(*range(9), 4, source="note")
    report = tracker.drain()
    assert (report.claimed, report.indexed, report.embedded) == (10, 9, 9)
    assert tracker.texts() == {str(number): ["the same text"] for number in range(9)}


def test_changes_during_the_work_are_one_more_run_whatever_their_number(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch, embedder: Embedder
) -> None:
    tracker.task(1, "version 1")
    tracker.enqueue(1)
    whole = SelectSource.read_each

    def read(self: SelectSource, *arguments: Any) -> Any:
        result = whole(self, *arguments)
        for _ in range(3):
            tracker.sql("UPDATE task SET title = 'version 2'")
            tracker.enqueue(1)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(SelectSource, "read_each", read)
        assert tracker.drain().indexed == 1
    assert "version 1" in tracker.texts()["1"][0]
    report = tracker.drain()
    assert (report.claimed, report.indexed) == (3, 1)
    assert "version 2" in tracker.texts()["1"][0]
    assert embedder.calls == 2
    assert tracker.drain().claimed == 0


def test_another_owner_finds_it_and_the_former_does_not_without_an_embedding(
    tracker: Tracker, embedder: Embedder
) -> None:
    tracker.task(10, "Late payments", assignee_id=7)
    tracker.enqueue(10)
    tracker.drain()
    tracker.sql("UPDATE task SET assignee_id = 8")
    tracker.enqueue(10)
    calls = embedder.calls
    assert tracker.drain().indexed == 1
    assert embedder.calls == calls
    with Rag(tracker.settings) as rag:
        assert len(rag.search("late payments", scope=Scope(owner="7"))) == 0
        assert len(rag.search("late payments", scope=Scope(owner="8"))) == 1


def test_a_failed_entity_comes_back_by_its_own_time(tracker: Tracker, embedder: Embedder) -> None:
    """Twice as late every time, give or take a half; not with the next poll, and not with the others."""
    tracker.sources = notes({"1": "amber", "2": "basalt"})
    embedder.word = "amber"
    tracker.enqueue("1", source="note")
    for attempt in range(4):
        tracker.enqueue("2", source="note")
        before = tracker.scalar("SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM dual")
        report = tracker.drain()
        assert (report.indexed + report.unchanged, report.postponed) == (1, 1)
        due, after = tracker.sql("SELECT AVAILABLE_AT, SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM RAG_DIRTY")[0]
        assert (due - before).total_seconds() >= 5 * 2**attempt * 0.5
        assert (due - after).total_seconds() <= 5 * 2**attempt * 1.5
        tracker.enqueue("2", source="note")
        assert tracker.drain().claimed == 1
        tracker.due()


def test_all_that_failed_for_one_reason_begins_again_by_one_command(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=1)
    broken = True

    def read(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document]:
        if broken and ids != ["other"]:
            raise ValueError("the provider has refused")
        return {key: Document(f"note {key}") for key in ids}

    tracker.sources = {"note": FunctionSource("note", read, visibility="shared")}
    tracker.enqueue(*range(30), "other", source="note")
    report = tracker.drain()
    assert (report.dead, report.indexed) == (30, 1)
    tracker.sql(
        "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, STATE, ERROR_CODE) VALUES ('note', 'x', 'DEAD', 'SOURCE')"
    )
    tracker.connection.commit()
    broken = False
    with Rag(tracker.settings) as rag:
        assert rag.queue_retry(error="EntityError").dead == 30
        assert rag.queue_retry(error="EntityError").dead == 0
    assert {row[1:] for row in tracker.queue() if row[0] != "x"} == {("READY", 0, 0, 0)}
    assert len(tracker.queue()) == 31
    assert tracker.drain().indexed == 30
    assert [row[:2] for row in tracker.queue()] == [("x", "DEAD")]
