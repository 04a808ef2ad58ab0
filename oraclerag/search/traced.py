"""A search as a span: how it was run and how much came of it; no question, no filter, no hit."""

from __future__ import annotations

from collections.abc import Callable

from oraclerag import telemetry
from oraclerag.records import SearchResult
from oraclerag.search.request import Request

__all__ = ["traced"]


def traced(asked: Request, search: Callable[[], SearchResult]) -> SearchResult:
    """Search, as a span."""
    begun: dict[str, str | int | bool] = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.request.top_k": asked.k,
        "db.system.name": "oracle.db",
        "db.operation.name": "SELECT",
        "db.collection.name": "RAG_CHUNK",
        "oraclerag.search.hybrid": asked.hybrid,
        "oraclerag.search.rerank": asked.rerank is not None,
    }
    with telemetry.span("retrieval", begun, duration="oraclerag.search.duration") as span:
        found = search()
        plan = "approximate" if found.approximate else "exact"
        span.label("plan", plan)
        span.set_all(
            {
                "gen_ai.request.model": found.model,
                "db.response.returned_rows": len(found),
                "oraclerag.search.plan": plan,
                "oraclerag.search.text_leg": found.text_leg,
                "oraclerag.search.truncated": found.truncated,
                "oraclerag.search.round_trips": found.statements,
            }
        )
        return found
