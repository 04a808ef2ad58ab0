"""Search: a question and a scope → hits.

``request`` checks what is asked (``question``, ``given_vector``), ``predicate`` says what may be read, ``plan`` whether
the vector index is used. ``text_query``, ``text_leg`` and ``fusion`` are the words of a hybrid search. ``compose``
writes the statement, ``searcher`` sends it and makes ``hits`` of its rows, with ``long_metadata``. What comes after:
``diversify``, ``rerank``, ``rechecked``. ``fetch`` gives chunks by their names, ``expand`` what stands around hits.
"""

from __future__ import annotations

from oraclerag.search.compose import Statement, compose
from oraclerag.search.question import MAX_K, cut
from oraclerag.search.request import Request, SearchOptions, request
from oraclerag.search.searcher import Searcher

__all__ = ["MAX_K", "Request", "SearchOptions", "Searcher", "Statement", "compose", "cut", "request"]
