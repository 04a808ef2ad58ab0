"""Hits that were looked up in their sources before they are returned, and as many as were asked for.

Those that may no longer be seen are dropped and the search is repeated for more, a bounded number of times.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from oraclerag.records import SearchResult, SourceKey
from oraclerag.search.question import MAX_K

if TYPE_CHECKING:
    import oracledb

    from oraclerag.scope import Scope

__all__ = ["Visible", "rechecked"]

_MOST_SEARCHES = 5
_MORE = 4  # times as many hits in every further search


class Visible(Protocol):
    """Says which entities a scope may see now."""

    def needed(self, sources: Sequence[str]) -> bool:
        """Whether any of these sources (empty: of all) is to be asked."""

    def visible(
        self, connection: oracledb.Connection, keys: Iterable[SourceKey], scope: Scope, *, borrowed: bool
    ) -> Collection[SourceKey]:
        """Give those of the keys that the scope may see; ``borrowed``: the connection is a caller's."""


def rechecked(
    search: Callable[[int], SearchResult], k: int, visible: Callable[[Iterable[SourceKey]], Collection[SourceKey]]
) -> SearchResult:
    """Search for ``k`` hits until so many of them are ``visible``, or there are no more to be found."""
    seen: dict[SourceKey, bool] = {}
    wanted, sent, seconds = k, 0, 0.0
    for left in reversed(range(_MOST_SEARCHES)):
        result = search(wanted)
        sent, seconds = sent + result.statements, seconds + result.seconds
        new = list(dict.fromkeys(hit.source for hit in result if hit.source not in seen))
        if new:
            found = visible(new)
            seen |= {key: key in found for key in new}
        hits = [hit for hit in result if seen[hit.source]][:k]
        if len(hits) == k or len(result) < wanted or wanted == MAX_K or not left:
            break
        wanted = min(_MORE * wanted, MAX_K)
    numbered = tuple(dataclasses.replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
    missing = result.codes_missing if hits else result.codes_missing or result.codes
    return dataclasses.replace(result, hits=numbered, codes_missing=missing, statements=sent, seconds=seconds)
