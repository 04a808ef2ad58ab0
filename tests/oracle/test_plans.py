"""Plans of the statements that must use their index, and what a claim locks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag.claim import Queue
from oraclerag.plans import read_display, vector_access
from oraclerag.scope import Scope
from tests.local.conftest import Account
from tests.local.library import Entry, install, shelve
from tests.local.write_path.test_drain_protocol import claim
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.oracle


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The statements that are sent, with their binds."""
    statements: list[tuple[str, Any]] = []
    execute = oracledb.Cursor.execute

    def recorded(self: oracledb.Cursor, statement: Any, *arguments: Any, **more: Any) -> Any:
        statements.append((statement or "", arguments[0] if arguments else more))
        return execute(self, statement, *arguments, **more)

    monkeypatch.setattr(oracledb.Cursor, "execute", recorded)
    return statements


def literal(value: str | float | None) -> str:
    if value is None:
        return "NULL"
    return repr(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def plan(connection: oracledb.Connection, sent: list[tuple[str, Any]], words: str) -> str:
    """Explain the last statement that holds the words, with literals for its binds: their types matter to a plan."""
    statement, binds = next(pair for pair in reversed(sent) if words in pair[0])
    names = "|".join(map(re.escape, binds))
    statement = re.sub(rf":({names})\b", lambda found: literal(binds[found[1]]), statement)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN PLAN FOR {statement}")
        cursor.execute("SELECT PLAN_TABLE_OUTPUT FROM TABLE(DBMS_XPLAN.DISPLAY)")
        return "\n".join(line for (line,) in cursor)


def test_an_approximate_search_uses_the_vector_index(
    account: Account, tiny_file: Path, sent: list[tuple[str, Any]]
) -> None:
    with install(account, tiny_file, exact_below=0) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry(str(n), f"invoice {n} of supplier {n % 7}") for n in range(300)])
        rag.build_index(force=True)
        assert rag.search("invoice 7", scope=Scope(manager=True), k=3).approximate
        with rag.database.connect() as connection:
            found = plan(connection, sent, "FETCH APPROX FIRST")
            access = vector_access(read_display(found.splitlines()), "RAG_CHUNK")
            assert (access.index, access.kind) == ("RAG_CHUNK_EMB_IDX", "IVF")


def test_a_filter_on_covered_columns_leaves_the_vector_index_in_use(
    account: Account, tiny_file: Path, sent: list[tuple[str, Any]]
) -> None:
    with install(account, tiny_file, exact_below=0) as rag:
        with rag.database.transaction() as connection:
            shelve(
                connection,
                account.user,
                [
                    Entry(
                        str(n),
                        f"invoice {n} of supplier {n % 7}",
                        tenant="acme" if n % 2 else "globex",
                        collection="kb",
                    )
                    for n in range(300)
                ],
            )
        rag.build_index(force=True, partitions=10)
        found = rag.search("invoice 7", scope=Scope(tenant="acme", owner="7"), collections="kb", source="task", k=3)
        assert found.approximate
        with rag.database.connect() as connection:
            access = vector_access(read_display(plan(connection, sent, "FETCH APPROX FIRST").splitlines()), "RAG_CHUNK")
            assert (access.index, access.kind) == ("RAG_CHUNK_EMB_IDX", "IVF")


def test_an_exact_search_uses_no_vector_index(account: Account, tiny_file: Path, sent: list[tuple[str, Any]]) -> None:
    with install(account, tiny_file) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry(str(n), f"invoice {n} of supplier {n % 7}") for n in range(300)])
        rag.build_index(force=True)
        assert not rag.search("invoice 7", scope=Scope(manager=True), k=3).approximate
        with rag.database.connect() as connection:
            found = plan(connection, sent, "FETCH EXACT FIRST")
            access = vector_access(read_display(found.splitlines()), "RAG_CHUNK")
            assert access.exact
            assert access.sorts


def test_a_claim_uses_the_index_of_the_queue(tracker: Tracker, sent: list[tuple[str, Any]]) -> None:
    tracker.enqueue(*range(50))
    claim(tracker, tracker.connection, 4)
    found = plan(tracker.connection, sent, "FIRST_ROWS(32)")
    assert "RAG_DIRTY_PICK_IDX" in found
    assert "SORT ORDER BY" not in found  # it would lock every row that is due


def test_statistics_of_an_empty_queue_mislead_nobody(tracker: Tracker, sent: list[tuple[str, Any]]) -> None:
    with tracker.connection.cursor() as cursor:
        cursor.execute("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'RAG_DIRTY'); END;")
    tracker.task(1)
    tracker.enqueue(1)
    tracker.drain()
    for words, index in (
        ("AS FIRST_BULK", "RAG_DIRTY_PICK_IDX"),
        ("FIRST_ROWS(32)", "RAG_DIRTY_PICK_IDX"),
        ("LEADING(e)", "RAG_DIRTY_SRC_IDX"),
        ("CRASHES = CRASHES + 1", "RAG_DIRTY_PK"),
        ("DELETE /*+", "RAG_DIRTY_PK"),
    ):
        found = plan(tracker.connection, sent, words)
        assert index in found
        assert not re.search(r"TABLE ACCESS (STORAGE )?FULL *\| *RAG_DIRTY", found)


def test_a_claim_locks_the_rows_that_it_fetches_and_no_more(tracker: Tracker) -> None:
    tracker.enqueue(*range(10))
    with tracker.account.connect() as other, other.cursor() as cursor:
        queue = Queue(other, tracker.database.schema, lease=300, max_attempts=5)
        locked = queue._pick(cursor, 0, "-", ["task"], 4)
        got = claim(tracker, tracker.connection)
        other.rollback()
    assert [row.source_id for row in locked] == ["0", "1", "2", "3"]
    assert [entity.source_id for entity in got.entities] == ["4", "5", "6", "7", "8", "9"]
