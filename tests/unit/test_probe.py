"""What probes make of what they see, whatever the database: times, plans, locks."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from oraclerag import index
from oraclerag.doctor.finding import State
from oraclerag.doctor.probe import locks, plans_used, query_vector
from oraclerag.doctor.probe.record import _cell
from oraclerag.plans import PlanRow

LOOK: Any = SimpleNamespace(schema="RAG", database=None)

ONCE, PER_ROW = 0.007, 1.0  # seconds, of 200 rows and 5 ms for one embedding
TIMES = {"embedding": 0.005, "bound": 0.002}


@pytest.mark.parametrize(
    ("inline", "subquery", "approximate", "state", "words"),
    [
        (ONCE, ONCE, ONCE, "ok", "exact inline once, exact subquery once, approximate inline once"),
        (PER_ROW, ONCE, ONCE, "ok", "exact inline for every row, exact subquery once"),
        (PER_ROW, ONCE, PER_ROW, "warn", "approximate inline for every row"),
        (PER_ROW, PER_ROW, ONCE, "warn", "exact subquery for every row"),
    ],
)
def test_how_often_a_vector_is_computed_is_read_from_times(
    inline: float, subquery: float, approximate: float, state: State, words: str
) -> None:
    times = TIMES | {"exact inline": inline, "exact subquery": subquery, "approximate inline": approximate}
    measured = query_vector.judged(times, 200)
    assert (measured.state, words in measured.answer) == (state, True)
    assert ("separate" in (measured.remedy or "")) == (state == "warn")
    assert measured.figures["exact inline times"] == pytest.approx(1 if inline == ONCE else 199.6)


PICKED = [
    PlanRow(0, "SELECT STATEMENT"), PlanRow(1, "FOR UPDATE"), PlanRow(2, "TABLE ACCESS BY INDEX ROWID", "RAG_DIRTY"),
    PlanRow(3, "INDEX RANGE SCAN", "RAG_DIRTY_PICK_IDX", filtered=True),
]  # fmt: skip
SORTED = [*PICKED, PlanRow(4, "SORT ORDER BY")]
FULL = [PlanRow(0, "SELECT STATEMENT"), PlanRow(1, "TABLE ACCESS FULL", "RAG_DIRTY")]


@pytest.mark.parametrize(
    ("rows", "state", "words"),
    [
        (PICKED, "ok", "in its order"),
        (SORTED, "fail", "locks all of it"),
        (FULL, "fail", "does not use RAG_DIRTY_PICK"),
    ],
)
def test_a_claim_reads_its_index_in_order(
    monkeypatch: pytest.MonkeyPatch, rows: Sequence[PlanRow], state: State, words: str
) -> None:
    seen: list[str] = []

    def plan(_look: object, statement: str, _binds: object) -> Sequence[PlanRow]:
        seen.append(statement)
        return rows

    monkeypatch.setattr(plans_used, "_plan", plan)
    measured = plans_used.claim(LOOK, None)
    assert (measured.state, words in measured.answer) == (state, True)
    assert "FOR UPDATE SKIP LOCKED" in seen[0]


@pytest.mark.parametrize(
    ("used", "chunks", "state"), [(True, 5, "ok"), (False, 9_999, "unknown"), (False, 10_000, "warn")]
)
def test_the_index_of_codes(monkeypatch: pytest.MonkeyPatch, used: bool, chunks: int, state: State) -> None:
    rows = [PlanRow(0, "SELECT STATEMENT"), PlanRow(1, "INDEX RANGE SCAN", "RAG_CHUNK_ERROR_IDX" if used else "OTHER")]
    monkeypatch.setattr(plans_used, "_search", lambda *_: (rows, chunks))
    assert plans_used.codes(LOOK, None).state == state


@pytest.mark.parametrize(
    ("name", "state", "words"),
    [
        ("VECTOR$RAG_CHUNK_EMB_IDX$1_2_0$IVF_FLAT_CENTROIDS", "ok", "uses RAG_CHUNK_EMB_IDX (IVF)"),
        ("RAG_CHUNK_PK", "warn", "does not use the vector index"),
    ],
)
def test_the_vector_index(monkeypatch: pytest.MonkeyPatch, name: str, state: State, words: str) -> None:
    rows = [
        PlanRow(0, "SELECT STATEMENT"), PlanRow(1, "TABLE ACCESS FULL", name),
        PlanRow(2, "TABLE ACCESS BY USER ROWID", "RAG_CHUNK"),
    ]  # fmt: skip
    monkeypatch.setattr(plans_used, "_search", lambda *_: (rows, 50_000))
    monkeypatch.setattr(index, "status", lambda _: SimpleNamespace(usable=True))
    measured = plans_used.approximate(LOOK, None)
    assert (measured.state, words in measured.answer) == (state, True)


def test_binds_are_replaced_whole_and_quoted() -> None:
    text = plans_used.with_literals(
        "a = :t AND b = :t1 AND c = :t10 AND d = :n", {"t": "it's", "t1": 7, "t10": "x", "n": None}
    )
    assert text == "a = 'it''s' AND b = 7 AND c = 'x' AND d = NULL"


@pytest.mark.parametrize(
    ("free", "state", "words"),
    [
        (range(1003, 1010), "ok", "locks these 3"),
        (range(1000, 1010), "fail", "locks 0"),
        ((), "warn", "locks 10"),
    ],
)
def test_what_is_locked_is_what_another_session_does_not_get(free: Sequence[int], state: State, words: str) -> None:
    measured = locks.judged(list(range(1000, 1010)), [1000, 1001, 1002], list(free))
    assert (measured.state, words in measured.answer) == (state, True)


def test_a_cell_stays_a_cell() -> None:
    assert _cell("a | b\n<i>*x*</i> `y`_z") == "a \\| b \\<i>\\*x\\*\\</i> \\`y\\`\\_z"
