"""How often a past case was found, week by week, and whether the targets are reached: pure, from what was logged.

The targets are those of a knowledge base that learns from resolved incidents: 40 % of the questions within 90 days,
70 % once it has been in use for a year.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oraclerag.evaluate.report import MatchRate, MatchTarget, MatchWeek
from oraclerag.index.accuracy import wilson

__all__ = ["TARGETS", "Target", "match_rate"]

_WINDOW = dt.timedelta(days=28)
_WEEK = dt.timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Target:
    """A rate to be reached within so many days of the first search; ``stays``: and to be held from then on."""

    name: str
    rate: float
    within_days: int
    stays: bool = False


TARGETS = (Target("within 90 days", 0.4, 90), Target("mature", 0.7, 365, stays=True))


def match_rate(
    rows: Iterable[tuple[dt.datetime, bool]], *, now: dt.datetime | None = None, targets: Sequence[Target] = TARGETS
) -> MatchRate:
    """Sum up when questions were asked (naive, UTC) and whether each found a match.

    There is a row for every week from the first to that of ``now`` (default: when the last was asked), also where
    nothing was asked. A target is measured over the four weeks before its end, or before now where that is earlier or
    the rate is to be held.
    """
    asked = sorted(rows)
    if not asked:
        return MatchRate(None, 0, 0, None, (), tuple(_target(one, [], None, None) for one in targets))
    first, last = asked[0][0], asked[-1][0]
    if now is not None:
        last = max(now, last)
    matched = sum(found for _, found in asked)
    return MatchRate(
        first,
        len(asked),
        matched,
        matched / len(asked),
        tuple(_weeks(asked, last)),
        tuple(_target(one, asked, first, last) for one in targets),
    )


def _weeks(asked: Sequence[tuple[dt.datetime, bool]], last: dt.datetime) -> Iterable[MatchWeek]:
    counts: dict[dt.date, list[int]] = {}
    for moment, found in asked:
        of_week = counts.setdefault(_monday(moment), [0, 0])
        of_week[0] += 1
        of_week[1] += found
    week = _monday(asked[0][0])
    while week <= _monday(last):
        searches, matched = counts.get(week, (0, 0))
        low, high = wilson(matched / searches, searches) if searches else (None, None)
        yield MatchWeek(week, searches, matched, matched / searches if searches else None, low, high)
        week += _WEEK


def _monday(moment: dt.datetime) -> dt.date:
    return moment.date() - dt.timedelta(days=moment.weekday())


def _target(
    target: Target, asked: Sequence[tuple[dt.datetime, bool]], first: dt.datetime | None, now: dt.datetime | None
) -> MatchTarget:
    if first is None or now is None:
        return MatchTarget(target.name, target.rate, target.within_days, "pending", None)
    due = first + dt.timedelta(days=target.within_days)
    end = now if target.stays else min(now, due)
    window = [found for moment, found in asked if end - _WINDOW < moment <= end]
    rate = sum(window) / len(window) if window else None
    if rate is not None and rate >= target.rate:
        state = "reached"
    else:
        state = "pending" if now < due else "missed"
    return MatchTarget(target.name, target.rate, target.within_days, state, rate)
