"""What a claim costs does not depend on what waits: blocks that it reads, whatever stands in the queue besides."""

from __future__ import annotations

from collections.abc import Iterator

import oracledb
import pytest

from oraclerag.claim import Queue, Turns
from oraclerag.local import LocalDatabase
from tests.local.blocks import Blocks
from tests.local.write_path.test_fairness import backlog
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size("standard")

MANY = [10_000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(600)])]


@pytest.fixture
def blocks(local_database: LocalDatabase, tracker: Tracker) -> Iterator[Blocks]:
    tracker.sql("TRUNCATE TABLE RAG_DIRTY")  # with the holes that the tests before have left behind
    with Blocks(local_database, tracker.account, "RAG_DIRTY", "RAG_ENTITY") as counting:
        yield counting


def look(tracker: Tracker, connection: oracledb.Connection, *types: str) -> object:
    """Look once whose turn it is."""
    return Queue(connection, tracker.database.schema, lease=300, max_attempts=5).turn(Turns(), types or ("note",))


def claim(tracker: Tracker, connection: oracledb.Connection, tenant: str = "-") -> None:
    """Claim a batch of 32."""
    queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
    got = queue.claim(0, tenant, types={"note": False}, limit=32, come_back=2.0)
    assert len(got.entities) == 32


def cost(tracker: Tracker, blocks: Blocks, tenant: str = "-") -> tuple[int, int]:
    """Blocks of a look and of a claim, and none of those that making the backlog has read."""
    blocks.end(tracker.connection)
    tracker.connection = tracker.account.connect()
    blocks.tidy()
    return (
        blocks.read(lambda connection: look(tracker, connection)).total(),
        blocks.read(lambda connection: claim(tracker, connection, tenant)).total(),
    )


@pytest.mark.parametrize("rows", MANY)
def test_blocks_per_claim_do_not_depend_on_the_backlog(tracker: Tracker, blocks: Blocks, rows: int) -> None:
    backlog(tracker, 1_000)
    small = cost(tracker, blocks)
    backlog(tracker, rows, tenant="-")
    large = cost(tracker, blocks)
    assert large[0] <= small[0] + 8  # four indexes of one level more, twice
    assert large[1] <= small[1] * 1.25


@pytest.mark.parametrize("rows", MANY)
def test_the_backlog_of_a_source_that_is_left_alone_costs_nothing(tracker: Tracker, blocks: Blocks, rows: int) -> None:
    backlog(tracker, 1_000)
    alone = cost(tracker, blocks)
    backlog(tracker, rows, source="another")
    # It is ahead: older than everything else.
    tracker.sql("UPDATE RAG_DIRTY SET AVAILABLE_AT = AVAILABLE_AT - INTERVAL '1' HOUR WHERE SOURCE_TYPE = 'another'")
    tracker.connection.commit()
    beside = cost(tracker, blocks)
    assert beside[0] <= alone[0] + 8
    assert beside[1] <= alone[1] * 1.25


def test_an_entity_that_is_announced_again_and_again_costs_a_claim_nothing_more(
    tracker: Tracker, blocks: Blocks
) -> None:
    backlog(tracker, 10_000, tenant="dead letters")
    tracker.sql("UPDATE RAG_DIRTY SET STATE = 'DEAD'")
    backlog(tracker, 1_000)
    alone = cost(tracker, blocks)
    tracker.sql(
        "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, AVAILABLE_AT) "
        "SELECT 'note', '- 0 40', SYS_EXTRACT_UTC(SYSTIMESTAMP) + INTERVAL '1' HOUR FROM dual CONNECT BY LEVEL <= 40000"
    )
    tracker.connection.commit()
    assert cost(tracker, blocks)[1] <= alone[1] + 300  # its rows fill 600 blocks


def test_rows_that_are_not_due_are_not_read_by_a_claim(tracker: Tracker, blocks: Blocks) -> None:
    backlog(tracker, 1_000)
    alone = cost(tracker, blocks)
    tracker.sql("INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, AVAILABLE_AT) "
        "SELECT 'note', 'later ' || TO_CHAR(LEVEL), SYS_EXTRACT_UTC(SYSTIMESTAMP) + INTERVAL '1' HOUR "
        "FROM dual CONNECT BY LEVEL <= 10000")  # fmt: skip
    tracker.connection.commit()
    assert cost(tracker, blocks)[1] <= alone[1] * 1.25
