"""The page that a run of the benchmarks makes."""

from __future__ import annotations

from tests.benchmarks.figures import Figure
from tests.benchmarks.page import page


def test_the_page_says_what_was_not_held_and_wraps_its_sentences() -> None:
    figures = [
        Figure("a: time", 2.0, "×", "b | c", 1),
        Figure("a: recall", 1.0, "", "b", 0.95, "at least"),
        Figure("a: rate", 7.0, "a/s", "for orientation"),
    ]
    names = [f"part_{number}" for number in range(12)]
    made = page(figures, names)
    assert made.startswith("# Figures\n\nMade by `python -m tests.benchmarks part_0 part_1 ")
    assert f"{' '.join(names)} --page docs/benchmarks.md`" in " ".join(made.split())
    sentences, table = made.split("\n\n| figure ")
    assert max(map(len, sentences.splitlines())) <= 120
    assert table.splitlines()[2:] == [
        "| a: time | 2.00 × | b \\| c | ≤ 1 | **not held** |",
        "| a: recall | 1.00 | b | ≥ 0.95 |  |",
        "| a: rate | 7.00 a/s | for orientation |  |  |",
    ]
