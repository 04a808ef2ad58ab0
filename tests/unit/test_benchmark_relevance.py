"""The measures of rankings, against values reckoned by hand."""

from __future__ import annotations

import pytest

from tests.benchmarks.relevance import hit_rate, ndcg


def test_ndcg_against_the_ideal_of_all_judgements() -> None:
    # DCG = 1/log2(3) + 3/log2(4) = 2.130930; ideal = 3 + 2/log2(3) + 1/log2(4) = 4.761860
    assert ndcg(["x", "c", "a"], {"a": 3, "b": 2, "c": 1, "d": 1}, 3) == pytest.approx(0.447499, abs=1e-6)


def test_ndcg_of_more_relevant_documents_than_places() -> None:
    judged = {f"d{number}": 1.0 for number in range(15)}
    assert ndcg([f"d{number}" for number in range(5, 15)], judged, 10) == pytest.approx(1)
    assert ndcg(["x", *(f"d{number}" for number in range(9))], judged, 10) == pytest.approx(1 - 1 / 4.543560, abs=1e-6)


def test_a_document_counts_once() -> None:
    assert ndcg(["a", "a", "b"], {"a": 1, "b": 1}, 2) == pytest.approx(1)


def test_only_the_first_k_count() -> None:
    assert ndcg(["x", "a"], {"a": 1}, 1) == 0
    assert hit_rate(["x", "a"], {"a": 1}, 1) == 0
    assert hit_rate(["x", "a"], {"a": 1}, 2) == 1


@pytest.mark.parametrize("judged", [{}, {"a": 0.0}])
def test_what_was_not_judged_has_no_figure(judged: dict[str, float]) -> None:
    assert ndcg(["a"], judged, 10) is None
    assert hit_rate(["a"], judged, 10) is None
