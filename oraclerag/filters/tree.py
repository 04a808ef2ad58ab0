"""A filter as a tree: conditions on fields, joined by and, or, not. Every condition is true or false, never unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

__all__ = [
    "SHARE",
    "All",
    "Any",
    "Between",
    "Column",
    "Compare",
    "Constant",
    "Exists",
    "Field",
    "Like",
    "Node",
    "Not",
    "OneOf",
    "Path",
    "Span",
    "Value",
    "narrowing",
]

SHARE = 0.05
"""What share of the rows one equality keeps, where nothing is known: a guess on the safe side (an exact search)."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of RAG_CHUNK: of texts, or of times."""

    name: str
    times: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A field of METADATA: the keys that lead to it."""

    steps: tuple[str, ...]


Field = Column | Path


@dataclass(frozen=True, slots=True)
class Span:
    """A time or a day in UTC, as texts ``YYYY-MM-DD HH24:MI:SS.FF9``: its first and its last nanosecond."""

    first: str
    last: str


Value = str | int | float | Decimal | bool | Span


@dataclass(frozen=True, slots=True)
class Exists:
    """The field has a value: it is there and not null."""

    field: Field


@dataclass(frozen=True, slots=True)
class Compare:
    """The field has a value, or its list an element, of the same type that compares so."""

    field: Field
    operator: Literal["=", ">", ">=", "<", "<="]
    value: Value


@dataclass(frozen=True, slots=True)
class Between:
    """The field has a value, or its list an element, that is neither below nor above; both are of one type."""

    field: Field
    low: Value
    high: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of some values, of any types."""

    field: Field
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """The field is a text, or its list has one, of this pattern: % and _, which a backslash makes literal."""

    field: Field
    pattern: str


@dataclass(frozen=True, slots=True)
class Constant:
    """Always true, or never."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    """What does not fulfil a condition."""

    node: Node


@dataclass(frozen=True, slots=True)
class All:
    """What fulfils all conditions."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """What fulfils at least one condition."""

    nodes: tuple[Node, ...]


Node = Exists | Compare | Between | OneOf | Like | Constant | Not | All | Any


def narrowing(node: Node) -> float:
    """Give how many equalities narrow about as much; 0 for a negation, which keeps nearly everything."""
    if isinstance(node, All):
        return sum(map(narrowing, node.nodes))
    if isinstance(node, Any):
        return _conditions(sum(SHARE ** narrowing(part) for part in node.nodes))
    if isinstance(node, OneOf):
        return _conditions(SHARE * len(node.values))
    if isinstance(node, Not) or (isinstance(node, Constant) and node.value):
        return 0.0
    return 1.0


def _conditions(share: float) -> float:
    return max(0.0, math.log(share) / math.log(SHARE)) + 0.0
