"""The queue as people on call see it and mend it: every figure against rows that were put there, beside workers."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from oraclerag import Document, Rag, SourceKey, in_force
from oraclerag.backfill import backfill
from oraclerag.claim import Queue
from oraclerag.errors import InputError
from oraclerag.merge import Merge
from oraclerag.queue import Choice, upkeep
from oraclerag.source import from_settings
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = [pytest.mark.one_size, pytest.mark.usefixtures("tracker")]


@pytest.fixture(scope="module")
def rag(installation: Tracker) -> Iterator[Rag]:
    with Rag(installation.settings) as opened:
        yield opened


def put(tracker: Tracker, key: str, tenant: str = "-", *, ago: float = 0, due: float = -1, **columns: Any) -> None:
    """Put a row into the queue that was enqueued ``ago`` seconds ago and is due in ``due``; commits."""
    source, _, entity = key.rpartition(":")
    values = {"SOURCE_TYPE": source or "task", "SOURCE_ID": entity, "TENANT_ID": tenant} | columns
    now = "SYS_EXTRACT_UTC(SYSTIMESTAMP)"
    tracker.sql(
        f"INSERT INTO RAG_DIRTY ({', '.join(values)}, ENQUEUED_AT, AVAILABLE_AT) VALUES "
        f"({', '.join(f':{name}' for name in values)}, {now} - NUMTODSINTERVAL(:ago, 'SECOND'), "
        f"{now} + NUMTODSINTERVAL(:due, 'SECOND'))",
        **values,
        ago=ago,
        due=due,
    )
    tracker.connection.commit()


def dead(tracker: Tracker, key: str, code: str | None = "ENTITY", tenant: str = "-", **columns: Any) -> None:
    put(
        tracker,
        key,
        tenant,
        STATE="DEAD",
        ATTEMPTS=5,
        CRASHES=2,
        ERROR_CODE=code,
        LAST_ERROR=f"{code} it is",
        **columns,
    )


def entity(tracker: Tracker, number: int, **columns: Any) -> None:
    """Put an entity; an ``INDEXED_AT`` is seconds ago. The test commits."""
    values = {"SOURCE_TYPE": "task", "SOURCE_ID": str(number)} | columns
    places = [
        f"SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:{name}, 'SECOND')" if name.endswith(("_AT", "_UNTIL")) else f":{name}"
        for name in values
    ]  # fmt: skip
    tracker.sql(f"INSERT INTO RAG_ENTITY ({', '.join(values)}) VALUES ({', '.join(places)})", **values)


def breaking(tracker: Tracker) -> None:
    """Make every task of the worker impossible to read, as an entity's own fault."""
    template = TASK.template or ""
    settings = dataclasses.replace(TASK, template="{{ (title | int) // 0 }}" + template)
    tracker.sources = from_settings(dataclasses.replace(tracker.settings, sources=(settings,)))


# -- status -----------------------------------------------------------------------------------------------------------


def test_an_empty_queue_is_healthy_and_its_rate_unknown(rag: Rag) -> None:
    found = rag.queue_status()
    assert found.healthy
    assert (found.ready, found.dead, found.claimed, found.held, found.hidden) == (0, 0, 0, 0, 0)
    assert (found.lag, found.backlog, found.paused, found.problems) == ((), (), (), ())
    assert (found.settled, found.rate, found.empty_in) == (0, None, 0.0)
    assert abs(found.at - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=5)


def test_the_lag_is_the_oldest_change_that_is_not_applied(tracker: Tracker, rag: Rag) -> None:
    put(tracker, "1", "acme", ago=50)
    put(tracker, "2", "acme", ago=500, due=60, ATTEMPTS=3, ERROR_CODE="ENTITY")  # postponed
    put(tracker, "3", "beta", ago=900, due=60, CLAIM="a worker")
    put(tracker, "4", "beta", ago=100, due=-5, CLAIM="one that died")
    put(tracker, "5", "beta", ago=70, LANE=1)
    put(tracker, "other:6", ago=10)
    dead(tracker, "7", tenant="acme", ago=9999)
    found = rag.queue_status()
    assert [(lag.lane, lag.tenant, lag.rows, round(lag.age / 10)) for lag in found.lag] == [
        ("change", "beta", 2, 90),
        ("change", "acme", 2, 50),
        ("bulk", "beta", 1, 7),
        ("change", None, 1, 1),
    ]
    assert (found.ready, found.dead, found.failing) == (6, 1, 1)
    assert (found.claimed, found.claimed_expired) == (2, 1)
    assert [(b.source, b.state, b.lane, b.rows, b.claimed, b.postponed) for b in found.backlog] == [
        ("other", "READY", "change", 1, 0, 0),
        ("task", "READY", "change", 4, 2, 1),
        ("task", "READY", "bulk", 1, 0, 0),
        ("task", "DEAD", "change", 1, 0, 0),
    ]
    (due,) = [entry.due for entry in found.backlog if entry.due is not None]
    assert 0 < (due - found.at).total_seconds() <= 60


@pytest.mark.parametrize(("max_lag", "code"), [(None, None), (1000, None), (899, "LAG"), (0, "LAG")])
def test_a_lag_is_a_problem_where_one_says_so(
    tracker: Tracker, rag: Rag, max_lag: float | None, code: str | None
) -> None:
    put(tracker, "1", "acme", ago=900)
    put(tracker, "2", "beta", ago=5)
    found = rag.queue_status(max_lag=max_lag)
    assert [problem.code for problem in found.problems] == ([code] if code else [])
    assert found.healthy == (code is None)
    if found.problems:
        assert "'acme'" in found.problems[0].message


@pytest.mark.parametrize("max_lag", [-1, float("nan"), float("inf")])
def test_a_lag_that_is_no_time_is_refused(rag: Rag, max_lag: float) -> None:
    with pytest.raises(InputError, match="max_lag"):
        rag.queue_status(max_lag=max_lag)


def test_the_rate_is_what_was_settled_lately_and_nothing_else(tracker: Tracker, rag: Rag) -> None:
    for number in range(30):
        entity(tracker, number, INDEXED_AT=10 + number)
    entity(tracker, 90, INDEXED_AT=400)  # too long ago
    entity(tracker, 91)  # never
    tracker.connection.commit()
    for number in range(60):
        put(tracker, str(number))
    found = rag.queue_status()
    assert (found.settled, found.window, found.rate) == (30, 300.0, 0.1)
    assert found.empty_in == pytest.approx(600)
    tracker.sql("UPDATE RAG_ENTITY SET INDEXED_AT = INDEXED_AT - INTERVAL '1' HOUR")
    tracker.connection.commit()
    found = rag.queue_status()
    assert (found.settled, found.rate, found.empty_in) == (0, None, None)


def test_tickets_are_counted_and_those_longer_than_their_lease(tracker: Tracker, rag: Rag) -> None:
    entity(tracker, 1, HOLDER="a", HELD_UNTIL=-60)
    entity(tracker, 2, HOLDER="b", HELD_UNTIL=60)
    entity(tracker, 3)
    tracker.connection.commit()
    found = rag.queue_status()
    assert (found.held, found.held_expired) == (2, 1)


def test_hidden_counts_entities_whose_rights_could_not_be_read(tracker: Tracker, rag: Rag) -> None:
    """Quickly, by the entities that failed; the slow way over all chunks must give the same."""
    for number in (1, 2, 3):
        tracker.task(number)
    tracker.enqueue(1, 2, 3)
    tracker.drain_all()
    assert rag.queue_status().hidden == 0
    staged = (
        "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY) "
        "SELECT ENTITY_ID, -1, 'x', 'x', 'main', SOURCE_TYPE, SOURCE_ID, 'HIDDEN' FROM RAG_ENTITY WHERE SOURCE_ID = '3'"
    )
    tracker.sql(staged)
    tracker.sql("UPDATE RAG_ENTITY SET DETAILS_HASH = NULL WHERE SOURCE_ID = '3'")
    tracker.connection.commit()
    breaking(tracker)
    tracker.enqueue(1, 2)
    tracker.sql("UPDATE RAG_DIRTY SET ATTEMPTS = 4 WHERE SOURCE_ID = '1'")
    tracker.connection.commit()
    tracker.state = type(tracker.state)()
    in_force.put(tracker.connection, tracker.database.schema, "task", "fingerprint", None)
    tracker.sql("DELETE FROM RAG_SETTING WHERE SETTING = 'fingerprint'")
    tracker.connection.commit()
    report = tracker.drain()
    assert (report.dead, report.postponed) == (1, 1)
    slow = "SELECT COUNT(DISTINCT ENTITY_ID) FROM RAG_CHUNK WHERE VISIBILITY = 'HIDDEN' AND CHUNK_NO >= 0"
    found = rag.queue_status()
    assert found.hidden == tracker.scalar(slow) == 1
    assert [problem.code for problem in found.problems] == ["DEAD_LETTERS"]


def test_a_pause_says_why_and_since_when(tracker: Tracker, rag: Rag) -> None:
    in_force.pause(tracker.connection, tracker.database.schema, "task", "SOURCE: no column TITLE")
    found = rag.queue_status()
    (paused,) = found.paused
    assert (paused.source, paused.reason) == ("task", "SOURCE: no column TITLE")
    assert abs((found.at - paused.since).total_seconds()) < 60
    (problem,) = found.problems
    assert problem.code == "SOURCE_PAUSED"
    assert rag.status().problems[-1] == problem
    assert [source.paused for source in rag.status().sources] == ["SOURCE: no column TITLE"]


def test_four_statements_whatever_is_in_the_queue(tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        put(tracker, str(number), f"tenant {number}")
    sent = []
    whole = oracledb.Cursor.execute

    def execute(self: oracledb.Cursor, statement: str, *arguments: Any, **binds: Any) -> Any:
        sent.append(statement)
        return whole(self, statement, *arguments, **binds)

    rag.queue_status()
    monkeypatch.setattr(oracledb.Cursor, "execute", execute)
    assert len(rag.queue_status().lag) == 50
    assert len(sent) == 4
    assert not any("FOR UPDATE" in statement for statement in sent)


# -- list -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def failed(tracker: Tracker) -> Tracker:
    """A queue in which much went wrong."""
    for number in (1, 2, 2, 3):
        dead(tracker, str(number), "STATEMENT_FAILED", "acme", ago=100 + number)
    dead(tracker, "other:9", "CRASHED")
    dead(tracker, "5", None)
    put(tracker, "6", "beta", due=90, ATTEMPTS=2, ERROR_CODE="ENTITY", LAST_ERROR="no \x1b[2J text")
    put(tracker, "7", "beta", due=30, ATTEMPTS=1, ERROR_CODE="ENTITY", LAST_ERROR="the last one")
    put(tracker, "8", "beta", due=60, CLAIM="a worker", CRASHES=1, ERROR_CODE="ENTITY", ATTEMPTS=1)
    put(tracker, "1", "acme")
    return tracker


def test_errors_are_grouped_with_an_example(failed: Tracker, rag: Rag) -> None:
    groups = rag.queue_errors()
    assert [(group.error, group.state, group.rows, group.entities) for group in groups] == [
        ("STATEMENT_FAILED", "DEAD", 4, 3),
        ("ENTITY", "READY", 3, 3),
        ("CRASHED", "DEAD", 1, 1),
        ("UNKNOWN", "DEAD", 1, 1),
    ]
    first, second, third, _ = groups
    assert (str(first.example), first.example.tenant, first.message) == ("task:3", "acme", "STATEMENT_FAILED it is")
    assert first.due is None
    at = rag.queue_status().at
    assert 100 < (at - first.oldest).total_seconds() < 160
    assert second.due is not None
    assert 0 < (second.due - at).total_seconds() <= 30  # the claimed one is a worker's
    assert str(third.example) == "other:9"
    assert rag.queue_errors(limit=1) == groups[:1]


CHOSEN: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({"state": "DEAD"}, {"STATEMENT_FAILED": 4, "CRASHED": 1, "UNKNOWN": 1}),
    ({"state": "READY"}, {"ENTITY": 3}),
    ({"source": "other"}, {"CRASHED": 1}),
    ({"tenant": "beta"}, {"ENTITY": 3}),
    ({"error": "crashed"}, {"CRASHED": 1}),
    ({"error": "unknown"}, {"UNKNOWN": 1}),
    ({"error": "StatementFailed"}, {"STATEMENT_FAILED": 4}),
    ({"error": "statement-failed", "source": "other"}, {}),
    ({"error": "databaseerror"}, {"STATEMENT_FAILED": 4}),  # a class stands for those below it
    ({"error": "DATABASE"}, {}),  # a code for itself
    ({"error": "contention"}, {}),
    ({"error": "OracleRagError"}, {"STATEMENT_FAILED": 4, "ENTITY": 3}),
]


def test_errors_are_chosen(failed: Tracker, rag: Rag) -> None:
    for chosen, expected in CHOSEN:
        assert {group.error: group.rows for group in rag.queue_errors(**chosen)} == expected, chosen
        assert sum(row.attempts > 0 for row in rag.queue_rows(**chosen)) == sum(expected.values()), chosen


def test_an_unknown_error_names_those_that_there_are(tracker: Tracker, rag: Rag) -> None:
    for ask in (rag.queue_errors, rag.queue_rows, rag.queue_retry, rag.queue_purge):
        with pytest.raises(InputError, match=r"'RateLimted' is neither.*no row has failed"):
            ask(error="RateLimted")
    dead(tracker, "1", "CRASHED")
    dead(tracker, "2", "ENTITY")
    with pytest.raises(InputError, match="there are CRASHED, ENTITY"):
        rag.queue_retry(error="RateLimted")
    assert len(rag.queue_rows(state="DEAD")) == 2
    rag.queue_purge(dead=True)
    assert rag.queue_retry(error="CRASHED") == upkeep.RetryReport()  # known, though there is none


def test_rows_are_listed_oldest_first(failed: Tracker, rag: Rag) -> None:
    rows = rag.queue_rows(tenant="acme")
    assert [row.key.id for row in rows] == ["3", "2", "2", "1", "1"]
    assert [row.key.id for row in rag.queue_rows(tenant="acme", limit=2)] == ["3", "2"]
    assert [row.claimed for row in rag.queue_rows(tenant="beta")] == [False, False, True]
    for arguments in ({"limit": 0}, {"limit": 10_001}, {"state": "GONE"}):
        for ask in (rag.queue_rows, rag.queue_errors):
            with pytest.raises(InputError):
                ask(**arguments)


# -- retry ------------------------------------------------------------------------------------------------------------


def test_rows_that_were_given_up_begin_again(tracker: Tracker, rag: Rag) -> None:
    tracker.task(1, "one")
    dead(tracker, "1", ago=500, due=5000)
    assert tracker.drain().claimed == 0
    assert rag.queue_retry() == upkeep.RetryReport(dead=1)
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    (row,) = rag.queue_rows()
    assert (row.error_code, row.error) == ("ENTITY", "ENTITY it is")  # still known
    assert rag.queue_status().lag[0].age >= 500  # it has waited since then
    assert tracker.drain().indexed == 1
    assert tracker.queue() == []
    assert rag.queue_retry() == upkeep.RetryReport()


@pytest.mark.parametrize(
    ("chosen", "begun"),
    [
        ({}, "1 2 2 3 5 9"),
        ({"error": "STATEMENT_FAILED"}, "1 2 2 3"),
        ({"source": "other"}, "9"),
        ({"tenant": "acme"}, "1 2 2 3"),
        ({"tenant": "beta"}, ""),
        ({"keys": [SourceKey("task", "2"), SourceKey("other", "9"), SourceKey("task", "77")]}, "2 2 9"),
        ({"keys": [SourceKey("task", "9"), SourceKey("other", "2")]}, ""),
        ({"keys": [SourceKey("task", str(n)) for n in range(3, 700)], "error": "unknown"}, "5"),
        ({"keys": []}, ""),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_begins_again_is_chosen(failed: Tracker, rag: Rag, chosen: dict[str, Any], begun: str) -> None:
    before = {row.id for row in rag.queue_rows(state="DEAD")}
    report = rag.queue_retry(**chosen)
    again = [row for row in rag.queue_rows(state="READY") if row.id in before]
    assert " ".join(sorted(row.key.id for row in again)) == begun
    assert report == upkeep.RetryReport(dead=len(begun.split()))


def test_what_was_postponed_is_due_now_and_what_is_claimed_stays(failed: Tracker, rag: Rag) -> None:
    put(failed, "11", due=60)  # waits for an entity that another worker holds: it has failed at nothing
    later = "SELECT SOURCE_ID FROM RAG_DIRTY WHERE AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) AND STATE = 'READY'"
    claimed = "SELECT CLAIM, CRASHES, ATTEMPTS, AVAILABLE_AT FROM RAG_DIRTY WHERE SOURCE_ID = '8'"
    before = failed.sql(claimed)
    assert rag.queue_retry(error="entity") == upkeep.RetryReport()
    assert rag.queue_retry(error="entity", postponed=True) == upkeep.RetryReport(postponed=2)
    assert sorted(failed.sql(later)) == [("11",), ("8",)]
    assert failed.sql(claimed) == before
    assert [row.attempts for row in rag.queue_rows(tenant="beta")] == [0, 0, 1]


def test_slices_are_committed_one_by_one(tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        dead(tracker, str(number))
    seen = []
    whole = upkeep._Slices._once

    def once(self: upkeep._Slices, *arguments: Any) -> int:
        touched = whole(self, *arguments)
        seen.append((touched, tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE STATE = 'DEAD'")))
        tracker.connection.commit()
        return touched

    monkeypatch.setattr(upkeep, "SLICE", 2)
    monkeypatch.setattr(upkeep._Slices, "_once", once)
    assert rag.queue_retry().dead == 5
    assert seen == [(2, 3), (2, 1), (1, 0)]
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD'")
    tracker.connection.commit()
    assert rag.queue_purge(dead=True).dead == 5
    assert tracker.queue() == []


def test_a_retried_row_beside_an_untouched_one_is_one_embedding(tracker: Tracker, rag: Rag) -> None:
    tracker.task(1, "one")
    dead(tracker, "1")
    tracker.enqueue(1)
    assert rag.queue_retry().dead == 1
    report = tracker.drain()
    assert (report.claimed, report.indexed, report.embedded) == (2, 1, 1)
    assert tracker.queue() == []


def claimed(tracker: Tracker, connection: oracledb.Connection) -> tuple[Queue, Any]:
    """Claim what is due of the tasks, as a worker does."""
    queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
    return queue, queue.claim(0, "-", types={"task": False}, limit=10, come_back=1)


def test_retry_and_purge_leave_an_open_claim_alone(tracker: Tracker, rag: Rag) -> None:
    dead(tracker, "2")
    tracker.enqueue(1)
    with tracker.account.connect() as connection:
        queue, claim = claimed(tracker, connection)
        before = tracker.sql("SELECT * FROM RAG_DIRTY WHERE SOURCE_ID = '1'")
        assert rag.queue_retry(postponed=True) == upkeep.RetryReport(dead=1)
        assert rag.queue_purge(dead=True) == upkeep.PurgeReport()
        assert tracker.sql("SELECT * FROM RAG_DIRTY WHERE SOURCE_ID = '1'") == before
        queue.give_back(claim, claim.entities)
    assert tracker.queue() == [("2", "READY", 0, 0, 0), ("1", "READY", 0, 0, 0)]


def test_nobody_waits_for_rows_that_a_claim_has_locked(tracker: Tracker, rag: Rag) -> None:
    tracker.enqueue(1)
    dead(tracker, "2")
    put(tracker, "3", due=60, ATTEMPTS=1, ERROR_CODE="ENTITY")
    with tracker.account.connect() as connection:
        queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
        with connection.cursor() as cursor:
            assert len(queue._pick(cursor, 0, "-", ("task",), 10)) == 1  # locked, not committed
            assert rag.queue_retry(postponed=True) == upkeep.RetryReport(1, 1)
            assert rag.queue_purge(dead=True) == upkeep.PurgeReport()


def test_a_row_that_is_retried_under_a_worker_is_worked_off_once_more(
    tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has seen it DEAD before its read and would delete it as such."""
    tracker.task(1, "one")
    dead(tracker, "1")
    tracker.enqueue(1)
    whole = Merge.apply

    def apply(self: Merge, *arguments: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(Merge, "apply", whole)
            assert rag.queue_retry().dead == 1
        return whole(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", apply)
        assert tracker.drain().indexed == 1
    assert tracker.queue() == [("1", "READY", 0, 0, 0)]
    assert tracker.drain().unchanged == 1
    assert tracker.queue() == []


# -- purge ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ({}, "1 2 2 3 5 9"),
        ({"dead": True}, ""),
        ({"error": "STATEMENT_FAILED"}, "5 9"),
        ({"dead": True, "source": "other"}, "1 2 2 3 5"),
        ({"dead": True, "tenant": "acme"}, "5 9"),
        ({"older_than": dt.timedelta(seconds=102)}, "1 5 9"),
        ({"older_than": dt.timedelta(days=1)}, "1 2 2 3 5 9"),
        ({"source": "other"}, "1 2 2 3 5 9"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_deleted_is_chosen(failed: Tracker, rag: Rag, chosen: dict[str, Any], left: str) -> None:
    ready = len(rag.queue_rows(state="READY"))
    would = rag.queue_purge(**chosen, dry_run=True)
    assert len(rag.queue_rows(state="DEAD")) == 6
    assert rag.queue_purge(**chosen) == would
    rows = rag.queue_rows(state="DEAD")
    assert " ".join(sorted(row.key.id for row in rows)) == left
    assert would.dead == 6 - len(rows)
    assert len(rag.queue_rows(state="READY")) == ready


def test_an_age_cannot_be_negative(rag: Rag) -> None:
    with pytest.raises(InputError, match="older_than"):
        rag.queue_purge(older_than=dt.timedelta(seconds=-1))
    with pytest.raises(InputError, match="SourceKeys"):
        Choice(keys=("task:1",))  # type: ignore[arg-type]


def test_entities_that_are_gone_are_forgotten_and_those_without_text_stay(tracker: Tracker, rag: Rag) -> None:
    empty = dataclasses.replace(TASK, template="{% if title %}{{ title }}{% endif %}", title=None)
    tracker.sources = from_settings(dataclasses.replace(tracker.settings, sources=(empty,)))
    for number, title in ((1, "one"), (2, None), (3, "three")):
        tracker.task(number, title)  # type: ignore[arg-type]
    tracker.enqueue(1, 2, 3)
    tracker.drain_all()
    tracker.sql("DELETE FROM task WHERE id = 3")
    tracker.enqueue(3)
    tracker.drain_all()
    entity(tracker, 4, HOLDER="a worker", HELD_UNTIL=-60)
    entity(tracker, 5)
    put(tracker, "5")
    known = "SELECT SOURCE_ID, CHUNKS FROM RAG_ENTITY ORDER BY SOURCE_ID"
    assert tracker.sql(known) == [("1", 1), ("2", 0), ("3", 0), ("4", 0), ("5", 0)]
    assert rag.queue_purge(source="other") == upkeep.PurgeReport()
    assert rag.queue_purge(tenant="main") == upkeep.PurgeReport()
    assert rag.queue_purge(dry_run=True) == upkeep.PurgeReport(entities=1)
    assert rag.queue_purge() == upkeep.PurgeReport(entities=1)
    assert tracker.sql(known) == [("1", 1), ("2", 0), ("4", 0), ("5", 0)]
    assert rag.queue_purge() == upkeep.PurgeReport()
    report = backfill(tracker.database, tracker.sources["task"], tracker.settings)
    assert (report.enqueued, report.gone) == (0, 0)  # the one without text is not missing
    tracker.task(3, "again")
    tracker.enqueue(3)
    tracker.drain_all()
    assert tracker.texts() == {"1": ["one"], "3": ["again"]}


def test_an_entity_that_is_forgotten_under_a_claim_is_made_anew(
    tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look for its number and the lock, before its queue row is committed."""
    tracker.task(1, "one")
    entity(tracker, 1)
    tracker.connection.commit()
    tracker.enqueue(1)
    whole = Queue._free

    def free(self: Queue, *arguments: Any) -> set[int]:
        with monkeypatch.context() as patch:
            patch.setattr(Queue, "_free", whole)
            tracker.sql("DELETE FROM RAG_ENTITY WHERE SOURCE_ID = '1'")  # queue rows keep `purge` from it
            tracker.connection.commit()
        return whole(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Queue, "_free", free)
        assert tracker.drain().indexed == 0
    tracker.due()
    assert tracker.drain().indexed == 1
    assert tracker.queue() == []


def test_a_row_that_is_deleted_under_a_worker_hurts_nobody(
    tracker: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker.task(1, "one")
    dead(tracker, "1")
    tracker.enqueue(1)
    whole = Merge.apply

    def apply(self: Merge, *arguments: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(Merge, "apply", whole)
            assert rag.queue_purge(dead=True).dead == 1
        return whole(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Merge, "apply", apply)
        assert tracker.drain().indexed == 1
    assert tracker.queue() == []


def test_the_queue_is_made_smaller_beside_workers(tracker: Tracker, rag: Rag) -> None:
    indexes = ("RAG_DIRTY_PICK_IDX", "RAG_DIRTY_SRC_IDX", "RAG_DIRTY_PK")
    tracker.enqueue(1)
    assert rag.queue_purge(compact=True) == upkeep.PurgeReport(compacted=(*indexes, "RAG_DIRTY"))
    tracker.sql(
        "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '2')"
    )  # an application's, not committed
    report = rag.queue_purge(compact=True)
    assert report.compacted == indexes
    assert "in use" in report.skipped[0]
    tracker.connection.commit()
    tracker.sql("ALTER TABLE RAG_DIRTY DISABLE ROW MOVEMENT")
    try:
        report = rag.queue_purge(compact=True)
    finally:
        tracker.sql("ALTER TABLE RAG_DIRTY ENABLE ROW MOVEMENT")
    assert report.compacted == indexes
    assert "ORA-10636" in report.skipped[0]
    assert rag.queue_purge(compact=True, dry_run=True) == upkeep.PurgeReport()
    assert len(tracker.queue()) == 2


# -- paused sources ---------------------------------------------------------------------------------------------------


def test_a_source_that_is_green_again_is_taken_up(tracker: Tracker, rag: Rag) -> None:
    tracker.task(1)
    tracker.enqueue(1)
    in_force.pause(tracker.connection, tracker.database.schema, "task", "SOURCE: no column TITLE")
    assert tracker.drain().claimed == 0
    (found,) = rag.check_sources()
    assert found.green
    assert (found.paused, found.resumed) == (None, True)
    assert rag.paused_sources() == {}
    assert tracker.drain().indexed == 1
    (found,) = rag.check_sources("task")
    assert (found.green, found.resumed) == (True, False)


def test_a_source_that_is_red_stays_paused(tracker: Tracker) -> None:
    broken = dataclasses.replace(
        TASK, select="select id as source_id, nothing as title from task", children={}, tables={}
    )
    in_force.pause(tracker.connection, tracker.database.schema, "task", "SOURCE: no column NOTHING")
    with Rag(dataclasses.replace(tracker.settings, sources=(broken,))) as rag:
        (found,) = rag.check_sources()
        assert not found.green
        assert (found.paused, found.resumed) == ("SOURCE: no column NOTHING", False)
        assert set(rag.paused_sources()) == {"task"}


def test_what_a_function_began_is_not_kept_when_its_source_is_taken_up(tracker: Tracker) -> None:
    """The pause goes with a commit, on the connection that the function was given."""
    tracker.task(1)

    def read(connection: oracledb.Connection, ids: Any) -> dict[str, Document]:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE task SET title = 'begun'")
        return {key: Document("text") for key in ids}

    with Rag(dataclasses.replace(tracker.settings, sources=())) as rag:
        rag.source("note", visibility="shared", ids="select id from task")(read)
        in_force.pause(tracker.connection, tracker.database.schema, "note", "SOURCE: it failed")
        (found,) = rag.check_sources()
        assert found.resumed
    assert tracker.sql("SELECT COUNT(*) FROM task WHERE title = 'begun'") == [(0,)]
