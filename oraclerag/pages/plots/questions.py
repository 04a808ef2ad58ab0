"""What a second setting changes of each question: a bar each, sorted, around a line at 0."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.pages.frame import Markup
from oraclerag.pages.svg import WIDTH, Scale, label, node, number, picture, ticks, upright

__all__ = ["sorted_bars"]

MOST = 400
_LEFT, _TOP, _BOTTOM = 44.0, 22.0, 190.0
_WIDEST = 24.0


def sorted_bars(key: str, metric: str, differences: Sequence[float]) -> Markup:
    """Draw the differences of a metric from the greatest gain to the greatest loss; of many, some at even distances."""
    ordered = sorted(differences, reverse=True)
    shown = ordered
    if len(ordered) > MOST:
        shown = [ordered[place * (len(ordered) - 1) // (MOST - 1)] for place in range(MOST)]
    most = max(map(abs, shown), default=0.0) or 1.0
    up = Scale(-most, most, _BOTTOM, _TOP)
    across = Scale(0, max(len(shown), 1), _LEFT, WIDTH)
    room = min((WIDTH - _LEFT) / max(len(shown), 1), _WIDEST)
    gap = 0.15 * room if room > 3 else 0.0
    better, worse = sum(one > 0 for one in ordered), sum(one < 0 for one in ordered)
    drawn = upright(up, _LEFT, [(at, f"{at:+.4g}" if at else "0") for at in ticks(-most, most)])
    for kind, sign in (("blue", 1), ("orange", -1)):
        outline = "".join(
            f"M{number(across(place))} {number(up(0))}V{number(up(one))}h{number(room - gap)}V{number(up(0))}z"
            for place, one in enumerate(shown)
            if one * sign > 0
        )
        if outline:
            drawn.append(node("path", d=outline, class_=kind))
    drawn.append(node("line", x1=_LEFT, x2=WIDTH, y1=up(0), y2=up(0), class_="zero"))
    alike = len(ordered) - better - worse
    drawn.append(label(f"▲ {better:,} better", _LEFT, 13, kind="blue-text"))
    drawn.append(label(f"{alike:,} alike", (WIDTH + _LEFT) / 2, 13, anchor="middle", kind="tick"))
    drawn.append(label(f"{worse:,} worse ▼", WIDTH - 2, 13, anchor="end", kind="orange-text"))
    told = f"Of {len(ordered):,} questions, {better:,} are better with B, {alike:,} alike, {worse:,} worse."
    return picture(key, f"Change of {metric} by question, sorted", told, _BOTTOM + 8, drawn)
