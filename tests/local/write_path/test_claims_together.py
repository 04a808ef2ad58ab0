"""Two claims at once, on connections of their own: each gets its rows, and locks them and no others."""

from __future__ import annotations

from collections.abc import Iterator

import oracledb
import pytest

from oraclerag import statements
from oraclerag.claim import Claim, Queue
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

ROWS, WANTED = 12, 4


class Undecided(oracledb.Connection):
    """A connection whose commit does not come, so that others can look at what its claim has locked."""

    def commit(self) -> None:
        """Do nothing yet."""


@pytest.fixture
def undecided(tracker: Tracker) -> Iterator[oracledb.Connection]:
    account = tracker.account
    with oracledb.connect(
        user=account.user, password=account.password, dsn=account.dsn, conn_class=Undecided
    ) as opened:  # fmt: skip
        yield opened


def claim(tracker: Tracker, connection: oracledb.Connection, limit: int = WANTED) -> Claim:
    queue = Queue(connection, tracker.database.schema, lease=300, max_attempts=5)
    return queue.claim(0, "-", types={"task": False}, limit=limit, come_back=2.0)


def ids(claimed: Claim) -> set[str]:
    return {entity.source_id for entity in claimed.entities}


def locked(tracker: Tracker, table: str) -> int:
    """Count the rows that are locked: a third connection can lock the others."""
    with tracker.account.connect() as third, third.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        ((rows,),) = cursor.fetchall()
        cursor.execute(f"SELECT t.* FROM {table} t FOR UPDATE SKIP LOCKED")
        free = len(cursor.fetchall())
        third.rollback()
    return int(rows) - free


def test_the_second_claims_other_rows_while_the_first_has_not_committed(
    tracker: Tracker, undecided: oracledb.Connection
) -> None:
    tracker.enqueue(*range(ROWS))
    first = claim(tracker, undecided)
    assert len(first.entities) == WANTED
    assert locked(tracker, "RAG_DIRTY") == WANTED
    second = claim(tracker, tracker.connection)
    assert len(second.entities) == WANTED
    assert not ids(first) & ids(second)
    assert locked(tracker, "RAG_DIRTY") == WANTED  # of the first; the second has committed
    third = claim(tracker, tracker.connection, ROWS)
    assert ids(third) == {str(number) for number in range(ROWS)} - ids(first) - ids(second)
    undecided.rollback()
    assert locked(tracker, "RAG_DIRTY") == 0


def test_a_claim_locks_the_entities_of_its_rows_alone(tracker: Tracker, undecided: oracledb.Connection) -> None:
    tracker.enqueue(*range(ROWS))
    tracker.drain_all()  # none of them is there, but each has its entity now
    tracker.enqueue(*range(ROWS))
    first = claim(tracker, undecided)
    assert len(first.entities) == WANTED
    assert locked(tracker, "RAG_ENTITY") == WANTED


def test_rows_that_are_limited_in_a_subquery_would_be_the_same_for_everybody(
    tracker: Tracker, undecided: oracledb.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why the statement has no row limit: the subquery does not know what is locked."""
    tracker.enqueue(*range(ROWS))
    sections = dict(statements._sections("claim"))
    head, _, rest = sections["pick"].partition("WHERE")
    condition = rest.replace("FOR UPDATE SKIP LOCKED", "")
    sections["pick"] = (
        f"{head}WHERE d.DIRTY_ID IN (SELECT d.DIRTY_ID FROM /*schema*/RAG_DIRTY d WHERE {condition} "
        f"FETCH FIRST {WANTED} ROWS ONLY) FOR UPDATE SKIP LOCKED"
    )
    whole = statements._sections
    monkeypatch.setattr(statements, "_sections", lambda stem: sections if stem == "claim" else whole(stem))
    assert len(claim(tracker, undecided).entities) == WANTED
    assert claim(tracker, tracker.connection).entities == ()
