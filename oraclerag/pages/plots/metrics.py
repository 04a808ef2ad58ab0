"""Metrics with their intervals: bars of what each is, or points of what a second setting changes."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # makes XML, reads none  # nosec B405
from collections.abc import Iterator, Sequence

from oraclerag.evaluate.report import Difference, Metric
from oraclerag.evaluate.tables import number
from oraclerag.pages.frame import Markup
from oraclerag.pages.svg import WIDTH, Scale, across, fitted, label, node, picture, ticks, width

__all__ = ["bars", "changes"]

_ROW = 40.0
_EDGE = 6.0


def bars(key: str, metrics: Sequence[Metric]) -> Markup:
    """Draw a bar for each metric, from 0 to 1, with its interval."""
    scale = Scale(0, 1, _EDGE, WIDTH - _EDGE)
    bottom = _ROW * max(len(metrics), 1) + 4
    drawn = across(scale, bottom, [(at / 4, f"{at / 4:g}") for at in range(5)], top=4)
    for place, metric in enumerate(metrics):
        drawn += _bar(metric, scale, place * _ROW)
    told = "; ".join(f"{one.name} {number(one.value)}" for one in metrics) or "There is none."
    return picture(key, "Metrics with their intervals of 95 %", told, bottom + 20, drawn)


def _bar(metric: Metric, scale: Scale, top: float) -> Iterator[ET.Element]:
    value, low, high = metric.value, metric.low, metric.high
    told = "not scored" if value is None else number(value)
    yield from _words(metric.name, told, top)
    yield node("rect", x=scale(0), y=top + 20, width=scale(1) - scale(0), height=9, class_="track")
    if value is None or low is None or high is None:
        return
    yield node("rect", x=scale(0), y=top + 20, width=scale(value) - scale(0), height=9, class_="blue")
    yield from _interval(scale(low), scale(high), top + 24.5)


def changes(key: str, differences: Sequence[Difference]) -> Markup:
    """Draw what the second setting changes of each metric, around a line at 0."""
    bounds = [abs(at) for one in differences for at in (one.low, one.high, one.difference) if at is not None]
    most = max(bounds, default=0.0) * 1.1 or 0.1
    scale = Scale(-most, most, _EDGE, WIDTH - _EDGE)
    bottom = _ROW * max(len(differences), 1) + 4
    drawn = across(scale, bottom, [(at, f"{at:+.4g}" if at else "0") for at in ticks(-most, most)], top=4)
    drawn.append(node("line", x1=scale(0), x2=scale(0), y1=4, y2=bottom, class_="zero"))
    for place, one in enumerate(differences):
        drawn += _change(one, scale, place * _ROW)
    told = "; ".join(f"{one.name} {number(one.difference, 3, signed=True)}" for one in differences) or "There is none."
    return picture(key, "What B changes of each metric, with intervals of 95 %", told, bottom + 20, drawn)


def _change(one: Difference, scale: Scale, top: float) -> Iterator[ET.Element]:
    if one.difference is None or one.low is None or one.high is None:
        yield from _words(one.name, "not scored", top)
        return
    yield from _words(one.name, number(one.difference, 3, signed=True), top)
    yield from _interval(scale(one.low), scale(one.high), top + 24.5)
    kind = "blue" if one.low > 0 else "orange" if one.high < 0 else "hollow"
    yield node("circle", cx=scale(one.difference), cy=top + 24.5, r=4.5, class_=kind)


def _words(name: str, told: str, top: float) -> Iterator[ET.Element]:
    yield label(fitted(name, WIDTH - width(told) - 20), 4, top + 15, kind="paper")
    yield label(told, WIDTH - 4, top + 15, anchor="end", kind="value paper")


def _interval(low: float, high: float, y: float) -> Iterator[ET.Element]:
    yield node("line", x1=low, x2=high, y1=y, y2=y, class_="whisker")
    for x in (low, high):
        yield node("line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_="whisker")
