"""Which vector index is designed for what was asked, and its statements against golden files.

``python -m tests.unit.test_index_sql`` writes the golden files anew; read the difference before you keep it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.index import ddl
from oraclerag.index.accuracy import _middle, _percent, recall, wilson
from oraclerag.index.design import INCLUDED, Design, Surroundings, design, partitions_for, wish

GOLDEN = Path(__file__).parent / "golden"
NEWEST = (23, 26, 1, 0, 0)


def designed(
    version: tuple[int, ...] = NEWEST, policies: tuple[str, ...] = (), rows: int = 5183, **options: Any
) -> Design:
    return design(wish(options), Surroundings(rows, version, policies), target_accuracy=90)


def create(**more: Any) -> str:
    return ddl.create("RAG", "EMBEDDING", designed(**more))


CASES = {
    "default": create(),
    "before_include": create(version=(23, 6, 0, 24, 10)),
    "with_a_policy": create(policies=("TENANTS",)),
    "not_included": create(include=False, parallel=4),
    "online": create(online=True, parallel=8, accuracy=95),
    "hnsw": create(kind="hnsw"),
    "hnsw_included": create(kind="hnsw", include=True, parallel=2),
    "rebuild_online": ddl.rebuild_online("RAG", "EMBEDDING", None),
    "rebuild_online_parallel": ddl.rebuild_online("RAG", "EMBEDDING", 8),
    "drop": ddl.drop("RAG", "EMBEDDING"),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    assert CASES[name] + "\n" == (GOLDEN / f"index_{name}.sql").read_text("utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("index_*.sql")} == {f"index_{name}" for name in CASES}


@pytest.mark.parametrize(
    ("surroundings", "options", "included"),
    [
        ({}, {}, INCLUDED),
        ({"version": (23, 7, 0, 25, 1)}, {}, INCLUDED),
        ({"version": (23, 6, 0, 24, 10)}, {}, ()),
        ({"policies": ("P",)}, {}, ()),
        ({}, {"include": False}, ()),
        ({}, {"online": True}, ()),
        ({}, {"kind": "hnsw"}, ()),
        ({}, {"kind": "hnsw", "include": True}, INCLUDED),
    ],
    ids=str,
)
def test_the_columns_of_a_scope_are_covered_where_they_can_be(
    surroundings: dict[str, Any], options: dict[str, Any], included: tuple[str, ...]
) -> None:
    assert designed(**surroundings, **options).included == included


@pytest.mark.parametrize(
    ("surroundings", "options", "says"),
    [
        ({}, {"include": True, "online": True}, "include and online exclude one another"),
        ({"version": (23, 6, 0)}, {"include": True}, "IVF index covers further columns from 23.7 on, and this is 23.6"),
        ({"version": (23, 9, 0)}, {"include": True, "kind": "hnsw"}, "HNSW index covers further columns from 23.26 on"),
        ({"policies": ("TENANTS",)}, {"include": True}, r"policy TENANTS stands on RAG_CHUNK.*ORA-51987"),
        ({"version": (23, 9, 0)}, {"online": True}, r"online from 23.26 \(26ai\) on, and this is 23.9"),
        ({}, {"online": True, "kind": "hnsw"}, "Only an IVF index can be built online"),
        ({}, {"partitions": 9, "kind": "HNSW"}, "HNSW index has no partitions"),
        ({"version": (23, 5, 0)}, {"kind": "hnsw"}, r"takes no changes before 23.6 \(ORA-51928\)"),
        ({}, {"kind": "flat"}, 'kind must be "ivf" or "hnsw"'),
        ({}, {"kind": 1}, "kind must be"),
        ({}, {"accuracy": 0}, "accuracy must be a whole number between 1 and 100"),
        ({}, {"accuracy": True}, "accuracy"),
        ({}, {"partitions": "8; DROP TABLE RAG_CHUNK"}, "partitions must be a whole number between 1 and 10,000,000"),
        ({}, {"parallel": 0}, "parallel must be"),
        ({}, {"online": "yes"}, "include and online must be True or False"),
        ({}, {"include": 2}, "include and online must be True or False"),
    ],
    ids=str,
)
def test_refused(surroundings: dict[str, Any], options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        designed(**surroundings, **options)


def test_an_argument_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no argument 'lists'"):
        wish({"lists": 3})


@pytest.mark.parametrize(
    ("rows", "partitions"),
    [(0, 1), (3, 1), (199, 1), (1000, 10), (5183, 51), (10_000, 100), (250_000, 500), (10**8, 10_000), (10**15, 10**7)],
)
def test_partitions_by_rows(rows: int, partitions: int) -> None:
    assert partitions_for(rows) == partitions


@given(st.integers(0, 10**16))
def test_partitions_hold_a_hundred_rows_and_are_not_more_than_the_root(rows: int) -> None:
    found = partitions_for(rows)
    assert 1 <= found <= max(1, math.isqrt(rows))
    assert found == 1 or rows / found >= 100


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_the_interval_holds_what_was_seen_and_narrows(share: float, count: int) -> None:
    low, high = wilson(share, count)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1
    assert high - low >= wilson(share, count + 1)[1] - wilson(share, count + 1)[0] - 1e-9


def test_the_interval_is_wilsons() -> None:
    assert wilson(0.95, 100) == pytest.approx((0.8882, 0.9785), abs=1e-4)
    assert wilson(1.0, 50) == pytest.approx((0.9287, 1.0), abs=1e-4)


@pytest.mark.parametrize(
    ("nearest", "found", "expected"),
    [
        ([0.1, 0.2], [0.1, 0.2], 1.0),
        ([0.1, 0.2], [0.1, 0.3], 0.5),
        ([0.1, 0.2], [], 0.0),
        ([0.1, 0.2, 0.2], [0.1, 0.2], 2 / 3),
        ([0.1], [0.1, 0.1], 1.0),  # equally near: either will do
    ],
)
def test_recall(nearest: list[float], found: list[float], expected: float) -> None:
    assert recall(nearest, found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Accuracy achieved (100%) is 10% higher than the Target Accuracy requested (90%)", [100.0]),
        ("Accuracy achieved (87.5%) is 2.5% lower than the Target Accuracy requested (90%)", [87.5]),
        ("no such index", []),
        (None, []),
    ],
)
def test_what_oracle_says_of_its_accuracy(text: str | None, expected: list[float]) -> None:
    assert list(_percent(text)) == expected


def test_a_question_from_a_text_is_its_middle() -> None:
    assert _middle(" ".join(str(n) for n in range(100))) == " ".join(str(n) for n in range(42, 58))
    assert _middle("two\nwords") == "two words"


def write_golden() -> None:
    for name, text in CASES.items():
        (GOLDEN / f"index_{name}.sql").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write_golden()
