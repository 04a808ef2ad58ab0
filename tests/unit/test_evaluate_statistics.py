"""Intervals, the paired test, comparisons and bounds: known answers, and what holds whatever comes."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.evaluate import Evaluation
from oraclerag.evaluate.compare import compare
from oraclerag.evaluate.intervals import interval, p_value
from oraclerag.evaluate.report import Difference, Latency, QuestionResult
from oraclerag.evaluate.summary import summary
from oraclerag.evaluate.tables import Table, differences, markdown, metrics
from oraclerag.evaluate.thresholds import Threshold, broken, threshold
from oraclerag.evaluate.variants import variant

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def evaluation(scores: dict[str, dict[str, float]], *, k: int = 10, **changes: object) -> Evaluation:
    rows = [QuestionResult(key, f"question {key}", of_one) for key, of_one in scores.items()]
    found, latency, notes = summary(rows, [k], answers=False, resamples=100, seed=1)
    return Evaluation("q.jsonl", k, found, tuple(rows), len(rows), latency, notes=notes)


def test_an_interval_is_where_means_of_resamples_lie() -> None:
    """Half of a hundred questions: the standard error is 0.05, so 95 % are within 0.4 and 0.6."""
    low, high = interval([0.0] * 50 + [1.0] * 50)
    assert low == pytest.approx(0.40, abs=0.02)
    assert high == pytest.approx(0.60, abs=0.02)
    assert interval([0.0] * 50 + [1.0] * 50) == (low, high), "the seed is fixed"
    assert interval([0.3]) == interval([0.3] * 9) == (0.3, 0.3)


@given(SHARES)
def test_an_interval_lies_between_the_least_and_the_greatest(values: list[float]) -> None:
    low, high = interval(values, resamples=40)
    assert min(values) <= low <= high <= max(values)


def test_an_interval_holds_the_mean_that_is_true_as_often_as_it_says() -> None:
    draw = random.Random(3)
    held = 0
    for _ in range(100):
        low, high = interval([draw.random() for _ in range(40)], resamples=100, seed=draw.randrange(10**6))
        held += low <= 0.5 <= high
    assert 88 <= held <= 99


def test_the_paired_test_counts_every_sign() -> None:
    """Of the 8 signs of three equal differences two are as extreme; zeros say nothing."""
    assert p_value([0.1, 0.1, 0.1]) == p_value([0.1, 0.0, 0.1, 0.0, 0.1]) == 2 / 8
    assert p_value([0.1] * 3 + [0.0] * 20, flips=1) == 2 / 8, "few enough to look at all, with many zeros"
    assert p_value([0.5, -0.5]) == p_value([]) == p_value([0.0]) == 1
    # of the 16 signs of 1, 2, 3, 4 those with a sum of at least 8, or of at most -8
    assert p_value([1, 2, 3, 4]) == 2 / 16
    assert p_value([-1, 2, 3, 4]) == 4 / 16


def test_drawn_signs_give_what_all_signs_give() -> None:
    """One of 2^20 signs, and its opposite, is as extreme: what was seen counts, so no draw gives 0."""
    assert p_value([0.1] * 20, flips=1000) == pytest.approx(1 / 1001)
    many = [0.1] * 12 + [-0.1] * 8  # P(|sum| >= 4 of 20 signs) = 0.5034
    assert p_value(many) == pytest.approx(0.5034, abs=0.02)


@given(st.lists(st.floats(-1, 1), max_size=30))
def test_p_is_a_probability_and_does_not_depend_on_which_side_is_called_first(changes: list[float]) -> None:
    p = p_value(changes, flips=50)
    assert 0 < p <= 1
    assert p_value([-change for change in changes], flips=50) == p


def test_alike_settings_are_told_apart_as_often_as_the_level_says() -> None:
    draw = random.Random(5)
    small = sum(p_value([draw.uniform(-1, 1) for _ in range(20)], flips=200) < 0.1 for _ in range(300))
    assert 15 <= small <= 50


def test_a_metric_is_the_mean_of_those_that_have_it() -> None:
    found = evaluation({"a": {"recall@10": 1}, "b": {"recall@10": 0.5}, "c": {}})
    recall, ndcg = found.metric("recall@10"), found.metric("ndcg@10")
    assert recall is not None
    assert (recall.value, recall.n, recall.unscored) == (0.75, 2, 1)
    assert ndcg is not None
    assert (ndcg.value, ndcg.low, ndcg.n, ndcg.unscored) == (None, None, 0, 3)


@given(st.dictionaries(st.sampled_from("abcdef"), st.dictionaries(st.just("recall@10"), st.floats(0, 1)), min_size=1))
def test_every_metric_is_from_0_to_1_within_its_interval(scores: dict[str, dict[str, float]]) -> None:
    for metric in evaluation(scores).metrics:
        if metric.value is not None:
            assert metric.low is not None
            assert metric.high is not None
            assert 0 <= metric.low <= metric.value <= metric.high <= 1


def test_a_comparison_is_question_by_question() -> None:
    a = evaluation({"1": {"recall@10": 0.0}, "2": {"recall@10": 0.5}, "3": {"recall@10": 1.0}, "4": {}})
    b = evaluation({"1": {"recall@10": 1.0}, "2": {"recall@10": 0.75}, "3": {"recall@10": 1.0}, "4": {"recall@10": 1}})
    found = compare("A", a, "B", b)
    by_name = {one.name: one for one in found.differences}
    recall = by_name["recall@10"]
    assert (recall.a, recall.n, recall.better, recall.worse, recall.p) == (0.5, 3, 2, 0, 0.5)
    assert recall.difference == pytest.approx(1.25 / 3)
    assert by_name["ndcg@10"] == Difference("ndcg@10", None, None, None, None, None, None, 0)
    assert {one.id: dict(one.differences) for one in found.questions} == {
        "1": {"recall@10": 1.0}, "2": {"recall@10": 0.25}, "3": {"recall@10": 0.0}, "4": {},
    }  # fmt: skip


def test_what_differs_in_k_is_paired_by_what_it_is() -> None:
    a, b = evaluation({"1": {"recall@5": 0.5}}, k=5), evaluation({"1": {"recall@10": 1.0}})
    assert {one.name: one.difference for one in compare("A", a, "B", b).differences}["recall@5 → @10"] == 0.5
    with pytest.raises(InputError, match="no question in common"):
        compare("A", a, "B", evaluation({"2": {}}))


def test_bounds_are_read_and_held() -> None:
    found = evaluation({"1": {"recall@10": 0.5}})
    assert threshold("recall@10=0.6") == Threshold("recall@10", 0.6)
    assert broken([threshold("recall@10=0.5")], found) == []
    assert broken([threshold("recall@10=.51")], found) == ["recall@10 is 0.5000, but must be at least 0.51."]
    assert broken([threshold("ndcg@10=0")], found) == ["ndcg@10 has no value, but must be at least 0."]
    with pytest.raises(InputError, match="not measured"):
        broken([threshold("recall@5=0.1")], found)


@pytest.mark.parametrize(
    "text", ["recall", "recall@10", "recall@10=2", "recall@10=-1", "recall@0=1", "speed=1", "=1", "recall=nan"]
)
def test_what_is_no_bound(text: str) -> None:
    with pytest.raises(InputError):
        threshold(text)


def test_a_side_of_a_comparison() -> None:
    side = variant("hybrid=true  weights=1,0.5 k=5 mode=exact min_score=0.2")
    assert side.options == {"hybrid": True, "weights": (1.0, 0.5), "k": 5, "mode": "exact", "min_score": 0.2}
    assert (side.file, side.name) == (None, "hybrid=true weights=1,0.5 k=5 mode=exact min_score=0.2")
    assert variant("-").options == {}


@pytest.mark.parametrize(
    "text",
    ["", " ", "k", "k=x", "k=-1", "hybrid=yes", "weights=1", "model=x", "k=1 k=2", "nowhere.toml", "min_score=x"],
)
def test_what_is_no_side(text: str) -> None:
    with pytest.raises(InputError):
        variant(text)


def test_tables_have_the_figures_and_no_markup_of_names() -> None:
    found = evaluation({"1": {"recall@10": 0.5}, "2": {"recall@10": 0.5}})
    assert ("recall@10", "0.5000", "0.5000 … 0.5000", "2", "0") in metrics(found).rows
    assert ("ndcg@10", "-", "-", "0", "2") in metrics(found).rows
    compared = compare("A", found, "B", evaluation({"1": {"recall@10": 1}, "2": {"recall@10": 1}}))
    assert ("recall@10", "0.500", "1.000", "+0.500", "+0.500 … +0.500", "0.5000", "2", "0", "2") in differences(
        compared
    ).rows
    text = markdown(Table(("a", "n"), (("x|<b>", "1"),), ("n",)))
    assert text == "| a | n |\n| --- | ---: |\n| x\\|\\<b\\> | 1 |"


def test_the_mean_of_many_equal_values_is_that_value() -> None:
    """The sum of ten times 0.1 is less than 1: a mean must not leave its interval."""
    value = evaluation({str(number): {"recall@10": 0.1} for number in range(10)}).metric("recall@10")
    assert value is not None
    assert (value.low, value.value, value.high) == (0.1, 0.1, 0.1)
    assert statistics.fmean([0.1] * 10) == pytest.approx(0.1)
    assert evaluation({"1": {}}).latency == Latency(0.0, 0.0, 0.0, 0.0)
