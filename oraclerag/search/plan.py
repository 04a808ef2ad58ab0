"""Exact or approximate: the choice for one request, and why.

An approximate search with a selective predicate loses recall long before it runs short of rows, so what is estimated to
read few rows is searched exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oraclerag import counts
from oraclerag.filters import SHARE
from oraclerag.search.request import Request

__all__ = ["Plan", "choose"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search is run: APPROX may use the vector index, EXACT does not; ``reason`` is for people.

    ``preferred`` is how what is preferred is searched: it must come first however far it is, and is often little.
    """

    kind: Literal["APPROX", "EXACT"]
    reason: str
    preferred: Literal["APPROX", "EXACT"] = "EXACT"


def choose(request: Request, known: counts.Counts, *, indexed: bool, exact_below: int) -> Plan:
    """Choose for a request. ``indexed``: whether there is a usable vector index; ``exact_below`` is in rows."""
    if request.mode == "exact":
        return Plan("EXACT", "asked for")
    if not indexed:
        reason = "there is no usable vector index"
        return Plan("EXACT", f"asked for approximate, but {reason}" if request.mode == "approx" else reason)
    if request.mode == "approx":
        return Plan("APPROX", "asked for", "APPROX")
    if request.codes:
        return Plan("EXACT", f"few chunks name {' or '.join(request.codes)}")
    narrowing = request.filter.conditions + sum(
        bound is not None for bound in (request.since, request.until, request.months)
    ) + bool(request.collections) + (request.share is not None)  # fmt: skip
    rows = counts.estimate(known, request.scope, sources=request.sources, conditions=narrowing)
    if rows < exact_below:
        return Plan("EXACT", f"about {rows:,.0f} chunks to look at, fewer than {exact_below:,}")
    few = rows * SHARE**request.prefer.conditions < exact_below
    return Plan("APPROX", f"about {rows:,.0f} chunks to look at", "EXACT" if few else "APPROX")
