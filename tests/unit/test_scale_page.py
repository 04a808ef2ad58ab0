"""docs/scale.md does sums: each of them again, from the figures that the page itself gives."""

from __future__ import annotations

import math
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
ROWS = {
    cells[0].strip("* "): [cell.strip("* ") for cell in cells[1:]]
    for cells in (line.strip("|").split(" | ") for line in PAGE.splitlines() if re.match(r"\| ", line))
}
SIZES = (10**6, 10**8, 10**9)
VECTOR = 384 * 4


def number(text: str) -> float:
    return float(text.rstrip("| ").replace(",", ""))


def said(row: str) -> list[float]:
    return [number(cell) for cell in ROWS[row]]


def rounded(value: float, like: float) -> float:
    """A value as exact as the page's: one decimal below 100, none above."""
    return round(value, 1) if like < 100 and like != int(like) else float(round(value))


def agree(row: str, values: list[float]) -> None:
    assert [rounded(value, like) for value, like in zip(values, said(row), strict=True)] == said(row), row


def test_a_chunk_is_the_sum_of_its_parts() -> None:
    parts = ("content", "keys, scope, hash, times", "metadata", "vector", "copy in the IVF index", "b-trees",
             "its part of RAG_DOCUMENT", "its part of RAG_ENTITY")  # fmt: skip
    used = sum(number(ROWS[part][0]) for part in parts)
    assert number(ROWS["vector"][0]) == VECTOR
    free = number(ROWS["free space, 15 %"][0])
    assert free == round(0.15 * used)
    assert number(ROWS["altogether"][0]) == used + free


def test_the_table_of_sizes() -> None:
    whole = number(ROWS["altogether"][0])
    lists = [math.sqrt(size) for size in SIZES]
    hnsw = [1.3 * size * VECTOR / 1e9 for size in SIZES]
    agree("storage, GB", [size * whole / 1e9 for size in SIZES])
    agree("vectors alone, GB", [size * VECTOR / 1e9 for size in SIZES])
    agree("IVF: lists (√n)", lists)
    agree("IVF: vectors in a list", lists)
    agree("IVF: centroids, MB", [count * VECTOR / 1e6 for count in lists])
    agree("IVF: vectors that a search of 1 % of the lists reads", [size / 100 for size in SIZES])
    agree("the same in MB", [size / 100 * VECTOR / 1e6 for size in SIZES])
    agree("HNSW: vector memory, GB (1.3 × vectors)", hnsw)
    agree("HNSW: while it is made anew, GB (2.1 × that)", [2.1 * size for size in hnsw])
    hours = [size / 46 / 3600 for size in SIZES]
    agree("embedding, hours of one core at 46 chunks a second", hours)
    agree("embedding, hours of 64 cores", [hour / 64 for hour in hours])
    agree("queue, hours of 16 workers at 300 rows a second each", [size / 16 / 300 / 3600 for size in SIZES])


def test_sums_in_sentences() -> None:
    text = " ".join(PAGE.split())
    assert 10**8 // 64 == 1_562_500
    assert "of 10⁸ chunks 1,562,500, in 1,250 lists" in text
    assert round(math.sqrt(1_562_500)) == 1250
    assert round(50_000 * VECTOR / 1e6) == 77
    assert "50,000 vectors are 77 MB" in text
    assert round(10**5 * VECTOR / 1e6) == 154
    assert "every vector is read: 154 MB" in text
    assert round(1.3 * 10**7 * VECTOR / 1e9) == 20
    assert "Below 10⁷ (20 GB)" in text
