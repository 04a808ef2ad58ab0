"""The scores of relevant and of other hits, to see which ``min_score`` tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.evaluate.report import Distances
from oraclerag.pages.frame import Markup
from oraclerag.pages.svg import (
    WIDTH,
    Scale,
    across,
    counts,
    label,
    node,
    number,
    picture,
    ticks,
    upright,
    width,
)

__all__ = ["distribution"]

_BINS = 24
_LEFT, _TOP, _BOTTOM = 40.0, 40.0, 190.0


def distribution(key: str, distances: Distances, least: float | None) -> Markup:
    """Draw which share of each group has which score (1 - distance), and a line at ``least``, the score suggested."""
    groups = [
        (name, kind, [1 - one for one in found])
        for name, kind, found in (
            ("relevant", "blue", distances.relevant),
            ("not relevant", "orange", distances.irrelevant),
            ("not judged", "grey", distances.unjudged),
        )
    ]
    every = [score for *_, scores in groups for score in scores]
    low, high = (min(every), max(every)) if every else (0.0, 1.0)
    if high - low < 0.01:  # all alike
        low, high = low - 0.05, high + 0.05
    shares = {name: _shares(scores, low, high) for name, _, scores in groups}
    most = max(max(found) for found in shares.values()) or 1.0
    along, up = Scale(low, high, _LEFT, WIDTH - 4), Scale(0, most, _BOTTOM, _TOP)
    drawn = upright(up, _LEFT, [(at, f"{at:.0%}") for at in ticks(0, most, most=4) if round(at * 100, 6) % 1 == 0])
    for x, (name, kind, scores) in zip((4.0, 112.0, 240.0), groups, strict=True):
        drawn.append(node("line", x1=x, x2=x + 20, y1=9, y2=9, class_=f"outline {kind}-line"))
        drawn.append(label(name, x + 26, 13))
        if scores:
            drawn.append(node("path", d=_steps(shares[name], along, up, low, high), class_=f"outline {kind}-line"))
    drawn += across(along, _BOTTOM, [(at, f"{at:.2g}" if at else "0") for at in ticks(low, high)], top=_BOTTOM)
    drawn.append(node("line", x1=_LEFT, x2=WIDTH, y1=_BOTTOM, y2=_BOTTOM, class_="zero"))
    told = "; ".join(
        f"{len(scores):,} {name}" + (f", from {min(scores):.3f} to {max(scores):.3f}" if scores else "")
        for name, _, scores in groups
    )
    if least is not None:
        at, words = along(least), f"min_score {least:g}"
        told += f"; suggested min_score {least:g}"
        drawn.append(node("line", x1=at, x2=at, y1=22, y2=_BOTTOM, class_="mark"))
        fits = at + 5 + width(words) < WIDTH
        drawn.append(label(words, at + 5 if fits else at - 5, 31, anchor="start" if fits else "end", kind="paper"))
    return picture(key, "Scores of hits by how they were judged", f"{told}.", _BOTTOM + 22, drawn)


def _shares(scores: Sequence[float], low: float, high: float) -> list[float]:
    return [count / max(len(scores), 1) for count in counts(scores, low, high, _BINS)]


def _steps(shares: Sequence[float], along: Scale, up: Scale, low: float, high: float) -> str:
    """Give the outline of a histogram."""
    path = f"M{number(along(low))} {number(up(0))}"
    for place, share in enumerate(shares, start=1):
        path += f"V{number(up(share))}H{number(along(low + (high - low) * place / len(shares)))}"
    return f"{path}V{number(up(0))}"
