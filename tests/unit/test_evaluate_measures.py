"""Measures of rankings: values reckoned by hand, trec_eval's, and what holds whatever comes."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.evaluate import load
from oraclerag.evaluate.measures import MEASURES, hit_rate, judged_share, mrr, ndcg, precision, recall
from tests.trec_eval import reckoned

DATA = Path(os.environ.get("ORACLERAG_BENCHMARK_DATA", Path(__file__).resolve().parents[2] / "benchmark_data"))
GRADED = {"a": 3, "b": 2, "c": 1, "d": 1}
RANKING = ["x", "c", "a"]


def test_ndcg_against_the_ideal_of_all_judgements() -> None:
    # DCG = 1/log2(3) + 3/log2(4) = 2.130930; ideal = 3 + 2/log2(3) + 1/log2(4) = 4.761860
    assert ndcg(RANKING, GRADED, 3) == pytest.approx(0.447499, abs=1e-6)


def test_ndcg_of_more_relevant_documents_than_places() -> None:
    judged = {f"d{number}": 1.0 for number in range(15)}
    assert ndcg([f"d{number}" for number in range(5, 15)], judged, 10) == pytest.approx(1)
    assert ndcg(["x", *(f"d{number}" for number in range(9))], judged, 10) == pytest.approx(1 - 1 / 4.543560, abs=1e-6)


def test_the_other_measures_of_the_same_ranking() -> None:
    assert recall(RANKING, GRADED, 3) == 2 / 4
    assert precision(RANKING, GRADED, 3) == 2 / 3
    assert mrr(RANKING, GRADED, 3) == 1 / 2
    assert hit_rate(RANKING, GRADED, 3) == 1
    assert judged_share(RANKING, GRADED, 3) == 2 / 3


def test_only_the_first_k_count() -> None:
    assert [measure(["x", "a"], {"a": 1}, 1) for measure in MEASURES.values()] == [0] * 6
    assert [measure(["x", "a"], {"a": 1}, 2) for measure in (recall, precision, mrr, hit_rate)] == [1, 0.5, 0.5, 1]


def test_what_comes_twice_counts_once_and_what_follows_moves_up() -> None:
    assert ndcg(["a", "a", "b"], {"a": 1, "b": 1}, 2) == pytest.approx(1)
    assert recall(["a", "a", "b"], {"a": 1, "b": 1}, 2) == 1
    assert mrr(["x", "x", "a"], {"a": 1}, 3) == 1 / 2


def test_precision_counts_places_that_nothing_holds() -> None:
    assert precision(["a"], {"a": 1}, 10) == 1 / 10
    assert [measure([], {"a": 1}, 10) for measure in (ndcg, recall, precision, mrr, hit_rate)] == [0] * 5


def test_judged_and_not_relevant_is_not_relevant_but_judged() -> None:
    judged = {"a": 1.0, "bad": 0.0, "junk": -2.0}
    assert (
        ndcg(["bad", "a", "junk"], judged, 3) == ndcg(["x", "a", "y"], judged, 3) == pytest.approx(0.630930, abs=1e-6)
    )
    assert precision(["bad", "a", "junk"], judged, 3) == 1 / 3
    assert judged_share(["bad", "a", "x", "junk"], judged, 4) == 3 / 4


@pytest.mark.parametrize("judged", [{}, {"a": 0.0}, {"a": -1.0}])
def test_where_nothing_is_relevant_there_is_no_figure(judged: dict[str, float]) -> None:
    assert [measure(["a"], judged, 10) for measure in MEASURES.values()] == [None] * 6


_NAMES = st.sampled_from("abcdefgh")


@given(
    st.lists(_NAMES, max_size=12),
    st.dictionaries(_NAMES, st.one_of(st.integers(-2, 4), st.floats(allow_nan=False, allow_infinity=False))),
    st.integers(1, 12),
)
def test_every_measure_is_from_0_to_1_and_perfect_is_1(ranking: list[str], judged: dict[str, float], k: int) -> None:
    for measure in MEASURES.values():
        value = measure(ranking, judged, k)
        assert value is None or 0 <= value <= 1
    best = sorted(judged, key=lambda name: -judged[name])
    if any(grade > 0 for grade in judged.values()):
        assert ndcg(best, judged, k) == pytest.approx(1)
        assert mrr(best, judged, k) == 1


@given(
    st.lists(_NAMES, unique=True, min_size=1),
    st.dictionaries(_NAMES, st.integers(-1, 3), min_size=1),
    st.integers(1, 12),
)
def test_trec_eval_reckons_the_same(ranking: list[str], judged: dict[str, float], k: int) -> None:
    theirs = reckoned({"q": ranking}, {"q": judged}, k)["q"]
    for name, value in theirs.items():
        ours = MEASURES[name](ranking, judged, k)
        assert value == pytest.approx(0 if ours is None else ours, abs=1e-6)


@pytest.mark.skipif(not (DATA / "scifact").is_dir(), reason="ORACLERAG_BENCHMARK_DATA names no folder with SciFact")
def test_trec_eval_reckons_the_same_over_the_judgements_of_scifact() -> None:
    """The rankings are drawn; those of a search are compared by ``python -m tests.benchmarks retrieval``."""
    judged = {question.id: question.judged for question in load(DATA / "scifact", source="passage").questions}
    every = sorted({key for of_one in judged.values() for key in of_one})
    draw = random.Random(1)
    rankings = {}
    for key, of_one in judged.items():
        rankings[key] = list(dict.fromkeys([*of_one, *draw.sample(every, 20)]))
        draw.shuffle(rankings[key])
    theirs = reckoned(rankings, judged, 10)
    assert len(theirs) == 300
    for key, row in theirs.items():
        for name, value in row.items():
            assert MEASURES[name](rankings[key], judged[key], 10) == pytest.approx(value, abs=1e-6)
