"""Pictures of a page: well-formed, everything inside, for whatever was measured."""

from __future__ import annotations

import datetime as dt
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oraclerag.evaluate.match_rate import match_rate
from oraclerag.evaluate.report import Difference, Distances, Metric
from oraclerag.pages import svg
from oraclerag.pages.plots.latency import histogram
from oraclerag.pages.plots.match_rate import over_time
from oraclerag.pages.plots.metrics import bars, changes
from oraclerag.pages.plots.questions import MOST, sorted_bars
from oraclerag.pages.plots.scores import distribution

NAMESPACE = "{http://www.w3.org/2000/svg}"
SHARE = st.floats(0, 1)
MOMENT = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2030, 1, 1))  # noqa: DTZ001 - naive, UTC
NAME = st.text(max_size=60)
DISTANCES = st.lists(st.floats(0, 2), max_size=30).map(tuple)


def points(element: ET.Element) -> Iterator[tuple[float, float]]:
    """Give the corners of what an element draws."""
    tag, value = element.tag.removeprefix(NAMESPACE), {key: element.get(key, "") for key in element.keys()}  # noqa: SIM118
    if tag == "rect":
        x, y, width, height = (float(value[key]) for key in ("x", "y", "width", "height"))
        assert width >= 0
        assert height >= 0
        yield from ((x, y), (x + width, y + height))
    elif tag == "line":
        yield from ((float(value[f"x{end}"]), float(value[f"y{end}"])) for end in "12")
    elif tag == "circle":
        x, y, r = (float(value[key]) for key in ("cx", "cy", "r"))
        yield from ((x - r, y - r), (x + r, y + r))
    elif tag == "text":
        yield float(value["x"]), float(value["y"])
    elif tag == "path":
        yield from path(value["d"])


def path(commands: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    for command, numbers in re.findall(r"([MLHVhz])([-\d. ]*)", commands):
        given = [float(number) for number in numbers.split()]
        if command in "ML":
            x, y = given
        elif command == "V":
            (y,) = given
        elif command in "Hh":
            x = given[0] + (x if command == "h" else 0)
        yield x, y


def drawn(text: str) -> ET.Element:
    """Read a picture, in which all is inside and which says in words what it shows."""
    root = ET.fromstring(text)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for element in root.iter():
        for x, y in points(element):
            assert -0.02 <= x <= width + 0.02, ET.tostring(element)
            assert -0.02 <= y <= height + 0.02, ET.tostring(element)
        assert "style" not in element.keys()  # noqa: SIM118 - the policy of the page forbids it
    named = {element.get("id"): element.text for element in root.iter()}
    assert all(named[key] for key in root.get("aria-labelledby", "").split())
    return root


def words(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}text")]


@st.composite
def metric(draw: st.DrawFn) -> Metric:
    if draw(st.booleans()):
        return Metric(draw(NAME), None, None, None, 0, 3)
    low, value, high = sorted(draw(st.tuples(SHARE, SHARE, SHARE)))
    return Metric(draw(NAME), value, low, high, 3)


@st.composite
def difference(draw: st.DrawFn) -> Difference:
    if draw(st.booleans()):
        return Difference(draw(NAME), None, None, None, None, None, None, 0)
    change = st.floats(-1, 1)
    low, value, high = sorted(draw(st.tuples(change, change, change)))
    return Difference(draw(NAME), 0.5, 0.5, value, low, high, draw(SHARE), 3)


@given(st.lists(metric(), max_size=5))
def test_bars_of_any_metrics(metrics: list[Metric]) -> None:
    drawn(bars("k", metrics))


@given(st.lists(difference(), max_size=5))
def test_changes_of_any_metrics(differences: list[Difference]) -> None:
    drawn(changes("k", differences))


@given(NAME, st.lists(st.floats(-1, 1), max_size=50))
def test_any_differences_of_questions(name: str, differences: list[float]) -> None:
    drawn(sorted_bars("k", name, differences))


@given(st.lists(st.floats(0, 1e9), max_size=40))
@example([5e-324])  # cannot be divided into bins
def test_any_times(seconds: list[float]) -> None:
    drawn(histogram("k", seconds))


@given(DISTANCES, DISTANCES, DISTANCES, st.none() | st.floats(-1, 1))
def test_any_distances(
    relevant: tuple[float, ...], irrelevant: tuple[float, ...], unjudged: tuple[float, ...], least: float | None
) -> None:
    drawn(distribution("k", Distances(relevant, irrelevant, unjudged), least))


@given(st.lists(st.tuples(MOMENT, st.booleans()), max_size=20))
def test_any_weeks(asked: list[tuple[dt.datetime, bool]]) -> None:
    drawn(over_time("k", match_rate(asked)))


def test_a_bar_is_as_long_as_its_value() -> None:
    root = drawn(bars("k", [Metric("ndcg@10", 0.25, 0.125, 0.5, 3), Metric("mrr@10", None, None, None, 0)]))
    [bar] = root.findall(f"{NAMESPACE}rect[@class='blue']")
    full = root.find(f"{NAMESPACE}rect[@class='track']")
    assert full is not None
    assert float(bar.get("width", "")) == pytest.approx(float(full.get("width", "")) / 4)
    assert words(root)[5:] == ["ndcg@10", "0.2500", "mrr@10", "not scored"]


def test_a_change_is_filled_where_its_interval_does_not_hold_0() -> None:
    root = drawn(
        changes("k", [
            Difference("a", 0, 0, 0.2, 0.1, 0.3, 0.01, 9),
            Difference("b", 0, 0, -0.2, -0.3, -0.1, 0.01, 9),
            Difference("c", 0, 0, 0.1, -0.1, 0.3, 0.4, 9),
        ])
    )  # fmt: skip
    assert [one.get("class") for one in root.iter(f"{NAMESPACE}circle")] == ["blue", "orange", "hollow"]


def test_questions_are_counted_also_where_not_each_is_drawn() -> None:
    root = drawn(sorted_bars("k", "ndcg@10", [0.5] * 3000 + [0.0] * 20 + [-0.25] * 1000))
    assert {"▲ 3,000 better", "20 alike", "1,000 worse ▼"} <= set(words(root))
    outline = "".join(one.get("d", "") for one in root.iter(f"{NAMESPACE}path"))
    assert outline.count("M") <= MOST


def test_percentiles_are_drawn_where_they_are() -> None:
    root = drawn(histogram("k", [0.010] * 90 + [0.040] * 10, most=0.080))
    lines = [float(one.get("x1", "")) for one in root.findall(f"{NAMESPACE}line[@class='mark']")]
    zero, far = 34.0, svg.WIDTH - 4
    assert lines == pytest.approx([zero + (far - zero) * share / 8.8 for share in (1, 4)], abs=0.01)
    assert {"p50 10 ms", "p95 40 ms"} <= set(words(root))
    heights = [float(one.get("height", "")) for one in root.findall(f"{NAMESPACE}rect[@class='blue']")]
    assert len(heights) == 2
    assert min(heights) * 9 == pytest.approx(max(heights), abs=0.1)


def test_a_week_without_questions_is_a_gap() -> None:
    monday = dt.datetime(2026, 3, 2)  # noqa: DTZ001
    rate = match_rate([(monday + dt.timedelta(weeks=week), True) for week in (0, 1, 3)])
    root = drawn(over_time("k", rate))
    [course] = root.findall(f"{NAMESPACE}path[@class='course']")
    assert re.sub(r"[^ML]", "", course.get("d", "")) == "MLM"
    assert "targets: 40% within 90 days, 70% mature" in words(root)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(2, 8))
@example(0.0, 5e-324, 5)  # a fifth of it is 0
@example(0.0, 2e-323, 4)  # a fourth of it has no power of ten below
def test_ticks_are_few_in_order_and_within(low: float, high: float, most: int) -> None:
    low, high = min(low, high), max(low, high)
    found = svg.ticks(low, high, most)
    assert 1 <= len(found) <= most
    assert found == sorted(set(found))
    assert all(low <= at <= high for at in found)


@pytest.mark.parametrize(("low", "high", "expected"), [
    (0, 1, [0, 0.5, 1]), (0, 0.09, [0, 0.02, 0.04, 0.06, 0.08]), (-1, 1, [-1, -0.5, 0, 0.5, 1]), (3, 3, [3]),
])  # fmt: skip
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert svg.ticks(low, high, 5) == pytest.approx(expected)


def test_labels_are_cut_escaped_and_show_what_is_hidden() -> None:
    assert svg.fitted("recall", 100) == "recall"
    assert svg.fitted("x" * 100, 70) == "x" * 9 + "…"
    assert svg.fitted("見" * 100, 70) == "見" * 4 + "…"
    text = svg.picture("k", "<script>\x1b", "</desc>&\u202e", 10, [svg.label("]]>\x00", 1, 1)])
    assert "&lt;script&gt;␛" in text
    assert "<U+202E>" in (ET.fromstring(text).findtext(f"{NAMESPACE}desc") or "")
    assert words(drawn(text)) == ["]]>␀"]
