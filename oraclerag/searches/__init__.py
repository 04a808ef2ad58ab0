"""The search log: what was asked by whom, what was found and answered, and what was said of it.

Written after an answer, read for a scope. :mod:`oraclerag.searches.visible` says who sees what.
"""

from __future__ import annotations

from oraclerag.searches.by_scope import Searches
from oraclerag.searches.clear import clear_entities, clear_tenant
from oraclerag.searches.comparison import MovedHit, SearchReplay
from oraclerag.searches.course import Asked, Course, Kind
from oraclerag.searches.purge import SearchPurge, purge
from oraclerag.searches.statistics import Figures, Latency, SearchStatistics, count, statistics
from oraclerag.searches.write import followed, keeping

__all__ = [
    "Asked",
    "Course",
    "Figures",
    "Kind",
    "Latency",
    "MovedHit",
    "SearchPurge",
    "SearchReplay",
    "SearchStatistics",
    "Searches",
    "clear_entities",
    "clear_tenant",
    "count",
    "followed",
    "keeping",
    "purge",
    "statistics",
]
