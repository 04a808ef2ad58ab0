"""The audit: what it calls wrong is wrong, what only waits is not, and what it repairs is right afterwards."""

from __future__ import annotations

import dataclasses
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from oraclerag import render
from oraclerag.audit import audit
from oraclerag.audit import run as module
from oraclerag.backfill import backfill
from oraclerag.config import SourceSettings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.errors import InputError, SourceChanged, StatementFailed
from oraclerag.merge import Merge
from oraclerag.records import AuditReport, Document, SourceKey
from oraclerag.source import FunctionSource, SelectSource, Source, from_settings
from tests.benchmarks.backfill import fill, peak
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size  # nothing here depends on the length of strings

TENANTS = SelectSource(dataclasses.replace(TASK, tenant="status"))


def look(tracker: Tracker, source: Source | None = None, **more: Any) -> AuditReport:
    report = audit(tracker.database, source or tracker.sources["task"], tracker.settings, **more)
    assert report.audited == report.equal + report.wrong + report.waiting + report.dead
    return report


def counts(report: AuditReport) -> dict[str, int]:
    """What is not zero."""
    names = ("equal", "missing", "stale", "orphaned", "foreign", "unreadable", "waiting", "dead", "hidden")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def index(tracker: Tracker, how_many: int = 6) -> None:
    for number in range(how_many):
        tracker.task(number, f"task {number}", assignee_id=7)
    tracker.enqueue(*range(how_many))
    assert tracker.drain_all().indexed == how_many


def change(tracker: Tracker, statement: str, **binds: Any) -> None:
    tracker.sql(statement, **binds)
    tracker.connection.commit()


def test_an_index_that_equals_its_source_is_green(tracker: Tracker) -> None:
    index(tracker)
    report = look(tracker)
    assert (report.total, report.audited, report.equal, report.ok) == (6, 6, 6, True)
    assert report.examples == ()


def test_an_empty_source_is_green(tracker: Tracker) -> None:
    report = look(tracker)
    assert report == AuditReport("task", 0, 0, 0, seconds=report.seconds)
    assert report.ok


@pytest.mark.parametrize(
    ("damage", "kind", "differs"),
    [
        ("UPDATE task SET title = 'other' WHERE id = 2", "stale", {"text", "details", "chunks"}),
        ("UPDATE task SET assignee_id = 8 WHERE id = 2", "stale", {"details", "rights"}),
        ("DELETE FROM RAG_CHUNK WHERE SOURCE_ID = '2'", "missing", set()),
        ("DELETE FROM RAG_ENTITY WHERE SOURCE_ID = '2'", "missing", set()),
        ("UPDATE RAG_ENTITY SET FINGERPRINT = NULL WHERE SOURCE_ID = '2'", "missing", set()),
        (
            "UPDATE RAG_ENTITY SET FINGERPRINT = RPAD('f', 64, 'f') WHERE SOURCE_ID = '2'",
            "stale",
            {"settings", "model"},
        ),
        ("UPDATE RAG_CHUNK SET CONTENT = 'forged' WHERE SOURCE_ID = '2'", "stale", {"chunks"}),
        ("UPDATE RAG_CHUNK SET CONTENT_HASH = 'forged' WHERE SOURCE_ID = '2'", "stale", {"chunks"}),
        ("UPDATE RAG_CHUNK SET EMBEDDING = NULL WHERE SOURCE_ID = '2'", "stale", {"vectors"}),
        ("UPDATE RAG_CHUNK SET OWNER_ID = '8' WHERE SOURCE_ID = '2'", "stale", {"rights"}),
        ("UPDATE RAG_CHUNK SET VISIBILITY = 'SHARED' WHERE SOURCE_ID = '2'", "stale", {"rights"}),
        ("UPDATE RAG_CHUNK SET TENANT_ID = 'other' WHERE SOURCE_ID = '2'", "foreign", set()),
        ("DELETE FROM task WHERE id = 2", "orphaned", set()),
    ],
)
def test_what_is_wrong_is_counted_named_and_repaired(
    tracker: Tracker, damage: str, kind: str, differs: set[str]
) -> None:
    index(tracker)
    change(tracker, damage)
    report = look(tracker)
    assert {**counts(report), "equal": 5} == {"equal": 5, kind: 1}
    assert not report.ok
    assert set(report.differs) == differs
    assert [(finding.kind, finding.key) for finding in report.examples] == [(kind, SourceKey("task", "2"))]
    assert tracker.queue() == []  # it writes nothing
    assert look(tracker, repair=True).repaired == 1
    assert counts(look(tracker)).get("waiting") == 1
    tracker.drain_all()
    assert look(tracker).ok
    assert counts(look(tracker)).keys() == {"equal"}
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0


def test_hidden_chunks_are_counted_beside_what_they_are(tracker: Tracker) -> None:
    index(tracker)
    change(tracker, "UPDATE RAG_CHUNK SET VISIBILITY = 'HIDDEN' WHERE SOURCE_ID = '2'")
    assert counts(look(tracker)) == {"equal": 5, "stale": 1, "hidden": 1}


def test_chunks_of_a_foreign_tenant_are_hidden_by_the_repair(tracker: Tracker) -> None:
    index(tracker)
    change(tracker, "UPDATE RAG_CHUNK SET TENANT_ID = 'other' WHERE SOURCE_ID = '2'")
    look(tracker, repair=True)
    assert tracker.sql("SELECT SOURCE_ID FROM RAG_CHUNK WHERE VISIBILITY = 'HIDDEN'") == [("2",)]


def test_what_waits_is_not_wrong_and_what_was_given_up_is_counted_by_itself(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise StatementFailed

    index(tracker)
    change(tracker, "UPDATE task SET title = 'other' WHERE id IN (1, 2)")
    tracker.enqueue(1)
    tracker.settings = dataclasses.replace(tracker.settings, max_attempts=1)
    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", broken)
        assert tracker.drain().dead == 1
    tracker.enqueue(2)
    report = look(tracker)
    assert counts(report) == {"equal": 4, "waiting": 1, "dead": 1}
    assert report.ok


def test_what_a_source_cannot_read_is_said(tracker: Tracker) -> None:
    def function(connection: Any, ids: Any) -> dict[str, Document]:
        if "2" in ids:
            raise ValueError("secret")
        return {key: Document(f"note {key}") for key in ids}

    for number in range(4):
        tracker.task(number)
    source = FunctionSource("note", function, visibility="shared", ids="select id from task")
    backfill(tracker.database, source, tracker.settings)
    tracker.drain(sources={"note": source})
    tracker.sql("DELETE FROM RAG_DIRTY")
    tracker.connection.commit()
    report = look(tracker, source)
    assert counts(report) == {"equal": 3, "unreadable": 1}
    [finding] = report.examples
    assert (finding.key.id, finding.differs) == ("2", ("ENTITY",))
    assert "secret" not in repr(report)


def test_an_entity_with_an_empty_text_is_equal(tracker: Tracker) -> None:
    source = SelectSource(
        SourceSettings("text", "select id as source_id, description from task", "shared", body="description")
    )
    tracker.task(1, description=None)
    backfill(tracker.database, source, tracker.settings)
    assert counts(look(tracker, source)) == {"waiting": 1}
    tracker.drain(sources={"text": source})
    assert counts(look(tracker, source)) == {"equal": 1}


def test_one_tenant_only(tracker: Tracker) -> None:
    tracker.sources = {"task": TENANTS}
    for number, tenant in enumerate(["acme", "acme", "beta", "acme", None]):
        tracker.task(number, status=tenant)
    backfill(tracker.database, TENANTS, tracker.settings)
    tracker.drain_all()
    assert look(tracker, TENANTS).equal == 4
    change(tracker, "UPDATE task SET status = 'beta' WHERE id = 1")  # moved and not announced
    change(tracker, "UPDATE task SET status = NULL WHERE id = 3")
    change(tracker, "UPDATE task SET title = 'other' WHERE id = 2")
    assert counts(look(tracker, TENANTS, tenant="acme")) == {"equal": 1, "foreign": 1, "orphaned": 1}
    assert counts(look(tracker, TENANTS, tenant="beta")) == {"foreign": 1, "stale": 1}
    assert counts(look(tracker, TENANTS)) == {"equal": 1, "foreign": 1, "orphaned": 1, "stale": 1}
    assert look(tracker, TENANTS, repair=True).repaired == 3
    tracker.drain_all()
    assert tracker.queue() == []
    assert counts(look(tracker, TENANTS)) == {"equal": 3}
    with pytest.raises(InputError, match="no tenant"):
        look(tracker, SelectSource(TASK), tenant="acme")


def test_a_sample_is_drawn_again_by_its_seed(tracker: Tracker) -> None:
    index(tracker, 30)
    change(tracker, "UPDATE task SET title = 'other'")
    change(tracker, "DELETE FROM task WHERE id < 3")
    reports = [look(tracker, sample=4, seed=seed, examples=9) for seed in (1, 1, 2, 3)]
    assert [(report.sample, report.total, report.stale) for report in reports] == [(4, 27, 4)] * 4
    assert [report.orphaned for report in reports] == [3] * 4
    drawn = [tuple(finding.key.id for finding in report.examples if finding.kind == "stale") for report in reports]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3
    with pytest.raises(InputError, match="sample"):
        look(tracker, sample=0)


def test_examples_are_as_many_of_each_kind_as_were_asked_for(tracker: Tracker) -> None:
    index(tracker, 8)
    change(tracker, "UPDATE task SET title = 'other' WHERE id < 4")
    change(tracker, "DELETE FROM RAG_ENTITY WHERE SOURCE_ID IN ('5', '6', '7')")
    assert [finding.kind for finding in look(tracker, examples=2).examples] == ["missing"] * 2 + ["stale"] * 2
    assert look(tracker, examples=0).examples == ()


def test_other_settings_than_those_in_force_are_no_audit(tracker: Tracker) -> None:
    index(tracker)
    with pytest.raises(SourceChanged):
        look(tracker, SelectSource(dataclasses.replace(TASK, title=None)))


def test_ranges_and_batches_leave_nothing_out_and_count_nothing_twice(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(tracker, 30)
    change(tracker, "UPDATE task SET title = 'other' WHERE MOD(id, 3) = 0")
    change(tracker, "DELETE FROM task WHERE MOD(id, 7) = 1")
    expected = counts(look(tracker))
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(module, "_RANGE", 7)
    monkeypatch.setattr(module, "_BATCH", 3)
    assert counts(look(tracker, on_progress=lambda done, total: told.append((done, total)))) == expected
    assert told == sorted(told)
    assert {total for _, total in told} == {25}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_memory_of_an_audit_does_not_grow_with_the_source(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is wrong, which is the worst: what is equal is forgotten at once."""
    monkeypatch.setattr(module, "_RANGE", 1_000)
    peaks = []
    for how_many in (8_000, 2_000, 8_000):  # the first one fills caches of words and statements
        tracker.clear()
        fill(tracker, how_many)

        def missing(how_many: int = how_many) -> None:
            assert look(tracker).missing == how_many

        peaks.append(peak(missing))
    assert peaks[2] < peaks[1] * 1.3, peaks


@pytest.mark.parametrize("everything", [False, True])
def test_after_the_index_was_lost_a_reindex_brings_it_back(tracker: Tracker, everything: bool) -> None:
    index(tracker, 20)
    before = tracker.texts()
    tracker.sql("TRUNCATE TABLE RAG_CHUNK")
    tracker.sql("TRUNCATE TABLE RAG_DOCUMENT")
    assert counts(look(tracker)) == {"missing": 20}
    report = backfill(tracker.database, tracker.sources["task"], tracker.settings, everything=everything)
    assert report.enqueued == 20
    assert tracker.drain_all().indexed == 20
    assert counts(look(tracker)) == {"equal": 20}
    assert tracker.texts() == before
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DOCUMENT") == 20
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_CHUNK WHERE EMBEDDING IS NULL") == 0


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM RAG_CHUNK WHERE SOURCE_ID = '2'",
        "UPDATE RAG_CHUNK SET EMBEDDING = NULL WHERE SOURCE_ID = '2'",
        "UPDATE RAG_CHUNK SET CONTENT = 'forged' WHERE SOURCE_ID = '2'",
        "UPDATE RAG_CHUNK SET TENANT_ID = 'other' WHERE SOURCE_ID = '2'",
    ],
)
def test_a_reindex_of_everything_sees_what_chunks_lack_and_embeds_nothing_else(tracker: Tracker, damage: str) -> None:
    index(tracker)
    change(tracker, damage)
    backfill(tracker.database, tracker.sources["task"], tracker.settings, everything=True)
    report = tracker.drain_all()
    assert (report.indexed, report.unchanged, report.embedded) == (1, 5, 1)
    assert counts(look(tracker)) == {"equal": 6}


@pytest.mark.parametrize("applied", ["never", "late", "before the source is read", "after the source was read"])
def test_a_change_during_the_audit_is_no_false_alarm(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch, applied: str
) -> None:
    """Also where it comes again at every look, each time between the same two statements.

    "late": it is announced only after it looked wrong.
    """
    index(tracker)
    whole = render.read
    number = 0

    def reading(*arguments: Any) -> Any:
        nonlocal number
        number += 1
        tracker.sql("UPDATE task SET title = :title WHERE id = 2", title=f"other {number}")
        if applied != "late" or number > 1:
            tracker.enqueue(2)
        tracker.connection.commit()
        if applied.startswith("before"):
            tracker.drain_all()
        found = whole(*arguments)
        if applied.startswith("after"):
            tracker.drain_all()
        return found

    monkeypatch.setattr(module, "read", reading)
    assert counts(look(tracker)) == {"equal": 5, "waiting": 1}
    assert number == {"never": 1, "late": 2}.get(applied, 4)


def test_a_change_that_nobody_announced_is_an_alarm_also_while_others_are(
    tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin of the test above: it could be green because nothing is ever wrong."""
    index(tracker)
    whole = render.read

    def reading(*arguments: Any) -> Any:
        tracker.sql("UPDATE task SET title = 'announced' WHERE id = 2")
        tracker.enqueue(2)
        tracker.sql("UPDATE task SET title = 'silent' WHERE id = 3")
        tracker.connection.commit()
        return whole(*arguments)

    monkeypatch.setattr(module, "read", reading)
    assert counts(look(tracker)) == {"equal": 4, "stale": 1, "waiting": 1}


def test_an_audit_beside_workers_and_writers_raises_no_alarm(tracker: Tracker) -> None:
    index(tracker, 12)
    stop, errors = threading.Event(), list[BaseException]()

    def thread(step: Callable[[Database, random.Random], None], seed: int) -> threading.Thread:
        def run() -> None:
            database, chance = Database(tracker.settings), random.Random(seed)
            try:
                while not stop.is_set():
                    step(database, chance)
            except BaseException as error:  # noqa: BLE001 - a thread tells the test
                errors.append(error)
            finally:
                database.close()

        started = threading.Thread(target=run)
        started.start()
        return started

    def write(database: Database, chance: random.Random) -> None:
        number = chance.randrange(12)
        with database.transaction() as connection, connection.cursor() as cursor:
            if chance.random() < 0.3:
                cursor.execute("DELETE FROM task WHERE id = :1", [number])
            cursor.execute("UPDATE task SET title = :1 WHERE id = :2", [f"step {chance.random()}", number])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO task (id, title) VALUES (:1, 'new')", [number])
            cursor.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', :1)", [str(number)])

    sources, state = from_settings(tracker.settings), WorkerState()

    def work(database: Database, _: random.Random) -> None:
        drain(database, sources, tracker.settings, state=state)

    threads = [thread(write, 1), thread(work, 2)]
    try:
        reports = [look(tracker) for _ in range(12)]
    finally:
        stop.set()
        for started in threads:
            started.join(30)
    assert errors == []
    assert [counts(report) for report in reports if not report.ok] == []
    tracker.due()
    tracker.drain_all()
    assert counts(look(tracker)).keys() == {"equal"}
