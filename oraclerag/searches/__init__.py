"""The search log: what was asked by whom, what was found and answered, and what was said of it.

Written after an answer, read for a scope. :mod:`oraclerag.searches.visible` says who sees what.
"""

from __future__ import annotations

from oraclerag.searches.by_scope import Searches
from oraclerag.searches.comparison import MovedHit, SearchReplay
from oraclerag.searches.purge import SearchPurge, purge
from oraclerag.searches.statistics import Figures, Latency, SearchStatistics, statistics

__all__ = [
    "Figures",
    "Latency",
    "MovedHit",
    "SearchPurge",
    "SearchReplay",
    "SearchStatistics",
    "Searches",
    "purge",
    "statistics",
]
