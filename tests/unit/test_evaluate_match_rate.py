"""How often a past case was found: weeks, and targets that are reached, pending or missed."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.evaluate.match_rate import match_rate
from oraclerag.evaluate.tables import weeks

FIRST = dt.datetime.fromisoformat("2026-01-07T12:00")  # a Wednesday


def asked(*found: tuple[int, int, int]) -> list[tuple[dt.datetime, bool]]:
    """Give so many questions on a day after the first, and how many of them found something."""
    return [
        (FIRST + dt.timedelta(days=day), number < matched) for day, count, matched in found for number in range(count)
    ]


def test_weeks_begin_on_monday_and_none_is_left_out() -> None:
    rate = match_rate(asked((0, 2, 1), (4, 1, 1), (15, 4, 1)), now=FIRST + dt.timedelta(days=20))
    assert [(week.start, week.searches, week.matched, week.rate) for week in rate.weeks] == [
        (dt.date(2026, 1, 5), 3, 2, 2 / 3),
        (dt.date(2026, 1, 12), 0, 0, None),
        (dt.date(2026, 1, 19), 4, 1, 0.25),
        (dt.date(2026, 1, 26), 0, 0, None),
    ]
    assert (rate.first, rate.searches, rate.matched, rate.rate) == (FIRST, 7, 3, 3 / 7)
    assert weeks(rate).rows[1] == ("2026-01-12", "0", "0", "-", "-")


@pytest.mark.parametrize(
    ("found", "day", "states", "rates"),
    [
        ([(0, 10, 0)], 10, ("pending", "pending"), (0, 0)),
        ([(0, 10, 0), (80, 10, 4)], 89, ("reached", "pending"), (0.4, 0.4)),
        ([(0, 10, 0), (80, 10, 3)], 91, ("missed", "pending"), (0.3, 0.3)),
        # what comes after 90 days does not change what was reached by then
        ([(0, 10, 0), (80, 10, 3), (100, 10, 10)], 120, ("missed", "reached"), (0.3, 1)),
        ([(80, 10, 4), (0, 1, 0), (400, 10, 6)], 401, ("reached", "missed"), (0.4, 0.6)),
        ([(0, 1, 0), (400, 10, 7)], 401, ("missed", "reached"), (None, 0.7)),
        # a rate is to be held, too
        ([(0, 1, 0), (400, 10, 10), (460, 10, 1)], 461, ("missed", "missed"), (None, 0.1)),
    ],
)
def test_targets(
    found: list[tuple[int, int, int]], day: int, states: tuple[str, str], rates: tuple[float | None, float | None]
) -> None:
    rate = match_rate(asked(*found), now=FIRST + dt.timedelta(days=day))
    assert tuple(target.state for target in rate.targets) == states
    assert tuple(target.rate for target in rate.targets) == rates
    assert [target.target for target in rate.targets] == [0.4, 0.7]


def test_a_log_without_questions_has_no_rate() -> None:
    rate = match_rate([], now=FIRST)
    assert (rate.first, rate.rate, rate.weeks) == (None, None, ())
    assert {target.state for target in rate.targets} == {"pending"}


@given(st.lists(st.tuples(st.datetimes(FIRST, FIRST + dt.timedelta(days=500)), st.booleans()), max_size=20))
def test_every_rate_is_from_0_to_1_and_every_question_is_in_one_week(rows: list[tuple[dt.datetime, bool]]) -> None:
    rate = match_rate(rows, now=FIRST + dt.timedelta(days=200))
    assert sum(week.searches for week in rate.weeks) == len(rows)
    for week in rate.weeks:
        assert week.rate is None or 0 <= week.low <= week.rate <= week.high <= 1  # type: ignore[operator]
