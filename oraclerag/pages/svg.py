"""Pictures as SVG: elements, scales, axes. What a picture shows is said in words too, in its title and description.

Colours are classes, which the page's style fills; there are no style attributes, which a content security policy
would forbid. A picture is 360 units wide, so that its words can be read on a telephone.
"""

from __future__ import annotations

import math
import sys
import unicodedata
import xml.etree.ElementTree as ET  # makes XML, reads none  # nosec B405
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oraclerag.console import visible
from oraclerag.pages.frame import Markup

__all__ = [
    "WIDTH",
    "Scale",
    "across",
    "counts",
    "fitted",
    "label",
    "node",
    "number",
    "picture",
    "ticks",
    "upright",
    "width",
]

WIDTH = 360.0
_LETTER = 7.0  # units that a letter of a label takes, a wide one the double


@dataclass(frozen=True, slots=True)
class Scale:
    """Gives the place of a value: ``low`` is at ``start``, ``high`` at ``end``; what is beyond stays at the edge."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Give the place of a value."""
        if not self.low < self.high:
            return (self.start + self.end) / 2
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Give round values from ``low`` to ``high``: 1, 2 or 5 of a power of ten apart, ``most`` of them at the most."""
    span = high - low
    if not sys.float_info.min < span < math.inf or span < abs(high) * 1e-9:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * factor for factor in (1, 2, 5, 10, 20)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [min(max(at * step, low), high) for at in range(first, last + 1)]
    return [low]


def counts(values: Iterable[float], low: float, high: float, bins: int) -> list[int]:
    """Count values in ``bins`` of equal width from ``low`` to ``high``; what is beyond counts at the edge."""
    found = [0] * bins
    place = Scale(low, high, 0, bins)
    for value in values:
        found[min(int(place(value)), bins - 1)] += 1
    return found


def node(name: str, text: str | None = None, /, *children: ET.Element, **attributes: float | str) -> ET.Element:
    """Make an element; ``class_`` and ``text_anchor`` are ``class`` and ``text-anchor``, numbers have two decimals."""
    element = ET.Element(name, {
        key.rstrip("_").replace("_", "-"): value if isinstance(value, str) else number(value)
        for key, value in attributes.items()
    })  # fmt: skip
    element.text = None if text is None else visible(text)
    element.extend(children)
    return element


def number(value: float) -> str:
    """Give a coordinate."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0", value > -0.005)


def label(text: str, x: float, y: float, *, anchor: str = "start", kind: str = "") -> ET.Element:
    """Write a text with its base line at ``y``: from ``x`` on, around it ("middle"), or up to it ("end")."""
    return node("text", text, x=x, y=y, text_anchor=anchor, **({"class_": kind} if kind else {}))


def width(text: str) -> float:
    """Give about how wide a label is."""
    return _LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def fitted(text: str, room: float) -> str:
    """Cut a text so that it fits, with an ellipsis; control characters become visible."""
    text = visible(text)
    if width(text) <= room:
        return text
    while text and width(text) + _LETTER > room:
        text = text[:-1]
    return f"{text}…"


def across(scale: Scale, y: float, marks: Sequence[tuple[float, str]], *, top: float) -> list[ET.Element]:
    """Draw an axis along the bottom at ``y``: lines up to ``top``, and a label below each."""
    drawn = [node("line", x1=scale(at), x2=scale(at), y1=top, y2=y, class_="grid") for at, _ in marks]
    for at, text in marks:
        half = width(text) / 2
        drawn.append(label(text, min(max(scale(at), half), WIDTH - half), y + 14, anchor="middle", kind="tick"))
    return drawn


def upright(scale: Scale, x: float, marks: Sequence[tuple[float, str]], *, to: float = WIDTH) -> list[ET.Element]:
    """Draw an axis along the left: lines from ``x`` on, and a label before each."""
    drawn = [node("line", x1=x, x2=to, y1=scale(at), y2=scale(at), class_="grid") for at, _ in marks]
    return drawn + [label(text, x - 5, scale(at) + 4, anchor="end", kind="tick") for at, text in marks]


def picture(key: str, title: str, description: str, height: float, drawn: Iterable[ET.Element]) -> Markup:
    """Give a picture as text to stand in a page; ``key`` is of this picture alone on it."""
    root = node(
        "svg", None,
        node("title", title, id=f"{key}-title"),
        node("desc", description, id=f"{key}-desc"),
        *drawn,
        xmlns="http://www.w3.org/2000/svg", role="img", viewBox=f"0 0 {number(WIDTH)} {number(height)}",
        aria_labelledby=f"{key}-title {key}-desc",
    )  # fmt: skip
    return Markup(ET.tostring(root, encoding="unicode"))
