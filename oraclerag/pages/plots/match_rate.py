"""How often a past case was found, week by week, against the targets."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.evaluate.report import MatchRate
from oraclerag.pages.frame import Markup
from oraclerag.pages.svg import WIDTH, Scale, across, fitted, label, node, number, picture, upright

__all__ = ["over_time"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 326.0, 30.0, 196.0
_DATED = 4
_MANY = 60


def over_time(key: str, rate: MatchRate) -> Markup:
    """Draw the rate of each week with its interval, and a line at each target; a week without questions is a gap."""
    weeks = rate.weeks
    along, up = Scale(0, max(len(weeks) - 1, 0), _LEFT + 8, _RIGHT - 8), Scale(0, 1, _BOTTOM, _TOP)
    drawn = upright(up, _LEFT, [(at / 4, f"{at / 4:.0%}") for at in range(5)], to=_RIGHT)
    step = max(-(-len(weeks) // _DATED), 1)
    marks = [(float(at), f"{week.start:%d %b %y}") for at, week in enumerate(weeks) if at % step == 0]
    drawn += across(along, _BOTTOM, marks, top=_BOTTOM)
    for target in rate.targets:
        y = up(target.target)
        drawn.append(node("line", x1=_LEFT, x2=_RIGHT, y1=y, y2=y, class_="target"))
        drawn.append(label(f"{target.target:.0%}", WIDTH, y + 4, anchor="end", kind="orange-text"))
    if rate.targets:
        words = ", ".join(f"{target.target:.0%} {target.name}" for target in rate.targets)
        drawn.append(node("line", x1=_LEFT, x2=_LEFT + 24, y1=9, y2=9, class_="target"))
        drawn.append(label(fitted(f"targets: {words}", WIDTH - _LEFT - 30), _LEFT + 30, 13, kind="orange-text"))
    many = len(weeks) > _MANY
    for at, week in enumerate(weeks):
        if week.low is not None and week.high is not None:
            kind = "thin" if many else "whisker"
            drawn.append(node("line", x1=along(at), x2=along(at), y1=up(week.low), y2=up(week.high), class_=kind))
    asked = [(at, week.rate) for at, week in enumerate(weeks) if week.rate is not None]
    if asked:
        drawn.append(node("path", d=_course(asked, along, up), class_="course"))
    radius = 1.5 if many else 3.5
    drawn += [node("circle", cx=along(at), cy=up(share), r=radius, class_="blue") for at, share in asked]
    told = "Nothing was asked."
    if rate.rate is not None:
        told = f"{len(weeks):,} weeks, {rate.searches:,} questions, of which {rate.rate:.0%} found a past case."
    return picture(key, "Match rate by week, against the targets", told, _BOTTOM + 22, drawn)


def _course(asked: Sequence[tuple[int, float]], along: Scale, up: Scale) -> str:
    """Give a line through the weeks that follow each other."""
    path, last = "", None
    for at, share in asked:
        path += f"{'M' if last is None or last < at - 1 else 'L'}{number(along(at))} {number(up(share))}"
        last = at
    return path
