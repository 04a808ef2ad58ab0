"""Search: a question and a scope → hits."""

from __future__ import annotations

from oraclerag.search.compose import Statement, compose
from oraclerag.search.question import MAX_K, cut
from oraclerag.search.request import Request, SearchOptions, request
from oraclerag.search.searcher import Searcher

__all__ = ["MAX_K", "Request", "SearchOptions", "Searcher", "Statement", "compose", "cut", "request"]
