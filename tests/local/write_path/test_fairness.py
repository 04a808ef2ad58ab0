"""Nobody waits behind somebody else's backlog: tenants, lanes and sources take turns, and what cannot be taken is passed.

Counted in batches. Backlogs are put in by one statement; their entities are gone, so that a batch costs little.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import oracledb
import pytest

from oraclerag import in_force
from oraclerag.backfill import backfill
from oraclerag.claim import Queue, Turn, Turns
from oraclerag.drain import WorkerState
from oraclerag.records import Document
from oraclerag.source import FunctionSource, Source
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

BACKLOGS = [4_000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(600)])]
FEW = 2  # batches


def source_of(texts: Mapping[str, str], *names: str) -> dict[str, Source]:
    """Sources of Python that give the same texts; all other ids are gone."""

    def read(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
        return {key: Document(texts[key], owner="7") for key in ids if key in texts}

    return {name: FunctionSource(name, read, visibility="owner") for name in names}


def backlog(tracker: Tracker, rows: int, *, tenant: str = "-", source: str = "note", lane: int = 0) -> None:
    """Put rows into the queue whose entities are gone; commits."""
    tracker.sql(
        "INSERT INTO RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID) "
        "SELECT :lane, :tenant, :source, :prefix || TO_CHAR(LEVEL) FROM dual CONNECT BY LEVEL <= :how_many",
        lane=lane, tenant=tenant, source=source, how_many=rows, prefix=f"{tenant} {lane} ",
    )  # fmt: skip
    tracker.connection.commit()


def announce(tracker: Tracker, key: str, *, tenant: str = "-", source: str = "note", lane: int = 0) -> None:
    tracker.sql(
        "INSERT INTO RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID) VALUES (:lane, :tenant, :source, :key)",
        lane=lane, tenant=tenant, source=source, key=key,
    )  # fmt: skip
    tracker.connection.commit()


def waits(tracker: Tracker, key: str) -> bool:
    return bool(tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE SOURCE_ID = :key", key=key))


def batches_until_done(tracker: Tracker, key: str, sources: dict[str, Source], state: WorkerState) -> int:
    """Count the batches that a worker needs until a row is worked off; gives up after twenty."""
    for count in range(20):
        if not waits(tracker, key):
            return count
        assert tracker.drain(sources=sources, state=state).claimed
    return 20


def queue_of(tracker: Tracker, connection: oracledb.Connection | None = None) -> Queue:
    return Queue(connection or tracker.connection, tracker.database.schema, lease=300, max_attempts=5)


def claim_next(tracker: Tracker, turns: Turns, limit: int, *types: str) -> Turn | None:
    """Claim for whoever's turn it is, and say whose it was."""
    queue = queue_of(tracker)
    found = queue.turn(turns, types)
    if not found:
        return None
    turn = found[0]
    got = queue.claim(turn.lane, turn.tenant, types=dict.fromkeys(turn.sources, False), limit=limit, come_back=2.0)
    assert got.entities
    turns.took(turn)
    turns.batches += 1
    return turn


# -- tenants ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", BACKLOGS)
def test_a_tenant_does_not_wait_behind_anothers_backlog(tracker: Tracker, rows: int) -> None:
    sources, state = source_of({"B": "of tenant beta"}, "note"), WorkerState()
    backlog(tracker, rows, tenant="acme")
    announce(tracker, "B", tenant="beta")
    assert batches_until_done(tracker, "B", sources, state) <= FEW
    announce(tracker, "B", tenant="aaa")  # behind the turn
    assert batches_until_done(tracker, "B", sources, state) <= FEW
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") >= rows - 2 * FEW * tracker.settings.batch_size


@pytest.mark.parametrize("tenants", [20, pytest.param(500, marks=pytest.mark.long)])
def test_many_tenants_are_visited_in_order_and_none_waits_longer_than_a_round(tracker: Tracker, tenants: int) -> None:
    names = [f"tenant {number:04}" for number in range(tenants)]
    with tracker.connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO RAG_DIRTY (TENANT_ID, SOURCE_TYPE, SOURCE_ID) VALUES (:1, 'note', :2)",
            [(name, str(number)) for number, name in enumerate(names * 3)],
        )
    tracker.connection.commit()
    turns = Turns()
    served = []
    while turn := claim_next(tracker, turns, 1, "note"):
        served.append(turn.tenant)
        if len(served) == tenants + tenants // 2:  # one that comes in the middle of a round, just behind its turn
            announce(tracker, "late", tenant=names[tenants // 2 - 1] + " b")
            announce(tracker, "later", tenant=names[0] + " b")
    late = [name for name in served if name.endswith(" b")]
    assert sorted(late) == sorted([names[tenants // 2 - 1] + " b", names[0] + " b"])
    assert all(served.index(name) - (tenants + tenants // 2) <= tenants + 1 for name in late)
    assert [name for name in served if name not in late] == names * 3


def test_a_tenant_whose_rows_cannot_be_taken_blocks_nobody(tracker: Tracker) -> None:
    sources = source_of({"B": "of tenant beta"}, "note")
    backlog(tracker, 500, tenant="acme")
    other = queue_of(tracker)
    other.claim(0, "acme", types={"note": False}, limit=100, come_back=2.0)  # with another worker
    tracker.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT + INTERVAL '1' HOUR WHERE CLAIM IS NULL")
    announce(tracker, "B", tenant="beta")
    assert batches_until_done(tracker, "B", sources, WorkerState()) == 1
    assert tracker.drain(sources=sources, state=WorkerState()).claimed == 0


def test_a_tenant_whose_rows_are_locked_at_the_moment_blocks_nobody(tracker: Tracker) -> None:
    sources = source_of({"B": "of tenant beta"}, "note")
    backlog(tracker, 20, tenant="acme")
    announce(tracker, "B", tenant="beta")
    with tracker.account.connect() as connection, connection.cursor() as cursor:
        assert len(queue_of(tracker, connection)._pick(cursor, 0, "acme", ["note"], 32)) == 20
        assert batches_until_done(tracker, "B", sources, WorkerState()) == 1
        connection.rollback()


def test_a_tenant_whose_entity_is_held_by_another_worker_blocks_nobody(tracker: Tracker) -> None:
    sources, state = source_of({"B": "of tenant beta"}, "note"), WorkerState()
    announce(tracker, "hot", tenant="acme")
    queue_of(tracker).claim(0, "acme", types={"note": False}, limit=1, come_back=2.0)
    for _ in range(100):
        announce(tracker, "hot", tenant="acme")
    announce(tracker, "B", tenant="beta")
    assert batches_until_done(tracker, "B", sources, state) == 1
    assert tracker.drain(sources=sources, state=state).claimed == 0  # what is left comes back after a while


# -- lanes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", BACKLOGS)
def test_a_change_does_not_wait_behind_a_reindex_of_its_own_tenant(tracker: Tracker, rows: int) -> None:
    sources, state = source_of({"B": "a change"}, "note"), WorkerState()
    backlog(tracker, rows, lane=1)
    for number in range(5):  # in whatever turn of the lanes it comes
        announce(tracker, "B")
        assert batches_until_done(tracker, "B", sources, state) <= FEW
        for _ in range(number):
            tracker.drain(sources=sources, state=state)
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE LANE = 1") < rows


@pytest.mark.parametrize("rows", [1_000, BACKLOGS[1]])
def test_a_change_during_a_reindex_is_done_within_a_few_batches(tracker: Tracker, rows: int) -> None:
    tracker.sql(
        "INSERT INTO task (id, title, status) SELECT LEVEL, 'Task ' || TO_CHAR(LEVEL), 'OPEN' FROM dual "
        "CONNECT BY LEVEL <= :how_many",
        how_many=rows,
    )
    tracker.connection.commit()
    report = backfill(tracker.database, tracker.sources["task"], tracker.settings, everything=True)
    assert report.enqueued == rows
    tracker.drain()
    for number in range(rows, rows - 3, -1):
        tracker.sql("UPDATE task SET title = 'Changed' WHERE id = :id", id=number)
        announce(tracker, str(number), source="task")
        for _ in range(FEW):
            tracker.drain()
        assert "Changed" in tracker.texts()[str(number)][0]
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY WHERE LANE = 1") > rows - 8 * tracker.settings.batch_size


def test_bulk_work_never_starves_behind_changes(tracker: Tracker) -> None:
    backlog(tracker, 60, tenant="acme")
    backlog(tracker, 60, tenant="beta")
    backlog(tracker, 60, tenant="acme", lane=1)
    turns = Turns()
    lanes = [turn.lane for turn in iter(lambda: claim_next(tracker, turns, 4, "note"), None)]
    assert lanes == [0, 0, 0, 1] * 10 + [1] * 5


# -- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", BACKLOGS)
def test_a_source_does_not_wait_behind_anothers_backlog(tracker: Tracker, rows: int) -> None:
    sources, state = source_of({"B": "of source page"}, "note", "page"), WorkerState()
    backlog(tracker, rows)
    for _ in range(3):
        announce(tracker, "B", source="page")
        assert batches_until_done(tracker, "B", sources, state) <= FEW


def test_sources_take_turns_whatever_the_number_of_tenants(tracker: Tracker) -> None:
    for source in ("a", "b", "c"):
        for tenant in ("acme", "beta", "coda"):
            backlog(tracker, 6, tenant=tenant, source=source)
    turns = Turns()
    served = [
        (turn.tenant, turn.sources[0]) for turn in iter(lambda: claim_next(tracker, turns, 2, "a", "b", "c"), None)
    ]
    assert served[:9] == [(tenant, source) for source in "abc" for tenant in ("acme", "beta", "coda")]
    assert len(served) == 27


def test_a_batch_is_filled_from_several_sources(tracker: Tracker) -> None:
    for source in ("a", "b", "c"):
        backlog(tracker, 3, source=source)
    turns = Turns()
    queue = queue_of(tracker)
    (turn,) = queue.turn(turns, ["c", "b", "a"])
    got = queue.claim(turn.lane, turn.tenant, types=dict.fromkeys(turn.sources, False), limit=7, come_back=2.0)
    assert [entity.source_type for entity in got.entities] == ["a"] * 3 + ["b"] * 3 + ["c"]


def test_a_row_that_may_have_ended_its_worker_is_claimed_alone_beside_other_sources(tracker: Tracker) -> None:
    announce(tracker, "suspect", source="b")
    queue = queue_of(tracker)
    types = {"a": False, "b": False, "c": False}
    queue.claim(0, "-", types=types, limit=8, come_back=2.0)
    tracker.due()
    announce(tracker, "fine", source="c")
    alone = queue.claim(0, "-", types=types, limit=8, come_back=2.0)
    assert [entity.source_id for entity in alone.entities] == ["suspect"]
    tracker.due()
    announce(tracker, "first", source="a")
    others = queue.claim(0, "-", types=types, limit=8, come_back=2.0)
    assert [entity.source_id for entity in others.entities] == ["first", "fine"]


@pytest.mark.parametrize("rows", BACKLOGS)
def test_a_paused_source_does_not_hold_up_the_others(tracker: Tracker, rows: int) -> None:
    sources, state = source_of({"B": "of source page"}, "note", "page"), WorkerState()
    backlog(tracker, rows, source="note")
    in_force.pause(tracker.connection, tracker.database.schema, "note", "TEMPLATE: for a test")
    announce(tracker, "B", source="page")
    assert batches_until_done(tracker, "B", sources, state) == 1
    assert tracker.drain(sources=sources, state=state).claimed == 0
    assert tracker.scalar("SELECT COUNT(*) FROM RAG_DIRTY") == rows


def test_the_size_of_a_batch_is_kept(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=16)
    sources: dict[str, Any] = source_of({}, "note", "page")
    backlog(tracker, 20, source="note")
    backlog(tracker, 20, source="page")
    assert [tracker.drain(sources=sources).claimed for _ in range(4)] == [16, 16, 8, 0]
