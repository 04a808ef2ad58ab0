"""How long searches took, as a histogram, with the median and the 95th percentile."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.evaluate.report import latency
from oraclerag.evaluate.tables import duration
from oraclerag.pages.frame import Markup
from oraclerag.pages.svg import WIDTH, Scale, across, counts, label, node, picture, ticks, upright, width

__all__ = ["histogram"]

_BINS = 24
_LEFT, _TOP, _BOTTOM = 34.0, 36.0, 170.0


def histogram(key: str, seconds: Sequence[float], *, most: float | None = None) -> Markup:
    """Draw how many searches took how long, from 0 to ``most`` seconds (default: the slowest)."""
    summed = latency(tuple(seconds))
    far = max(most or 0.0, *seconds, 0.0) * 1.1 or 0.001
    found = counts(seconds, 0, far, _BINS)
    along, up = Scale(0, far, _LEFT, WIDTH - 4), Scale(0, max(*found, 1), _BOTTOM, _TOP)
    bins = Scale(0, _BINS, _LEFT, WIDTH - 4)
    marks = [(at, duration(at) if at else "0") for at in ticks(0, far, most=4)]
    drawn = upright(up, _LEFT, [(at, f"{at:,.0f}") for at in ticks(0, max(*found, 1), most=4) if at == int(at)])
    drawn += [
        node("rect", x=bins(place) + 0.5, width=bins(1) - bins(0) - 1, y=up(count), height=up(0) - up(count),
             class_="blue")
        for place, count in enumerate(found) if count
    ]  # fmt: skip
    drawn += across(along, _BOTTOM, marks, top=_BOTTOM)
    drawn.append(node("line", x1=_LEFT, x2=WIDTH, y1=_BOTTOM, y2=_BOTTOM, class_="zero"))
    told = f"{len(seconds):,} searches"
    for place, (name, value) in enumerate((("p50", summed.median), ("p95", summed.p95))):
        if value is None:
            continue
        words = f"{name} {duration(value)}"
        told += f", {words}"
        y = 12.0 + 14 * place
        x = along(value)
        drawn.append(node("line", x1=x, x2=x, y1=y - 9, y2=_BOTTOM, class_="mark"))
        fits = x + 5 + width(words) < WIDTH
        drawn.append(label(words, x + 5 if fits else x - 5, y, anchor="start" if fits else "end", kind="paper"))
    return picture(key, "How long searches took", f"{told}.", _BOTTOM + 22, drawn)
