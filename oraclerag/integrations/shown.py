"""Records as JSON for those who ask through a service: what was found and answered, and none of the SQL."""

from __future__ import annotations

from typing import Any

from oraclerag.console import record
from oraclerag.records import Answer, Hit, Passage, SearchResult, StoredChunk

__all__ = ["answer", "chunk", "found", "passage"]

_FIELDS = (
    "key",
    "title",
    "url",
    "section",
    "collection",
    "project",
    "sprint",
    "occurred_at",
    "stale",
    "metadata",
    "content",
)


def chunk(one: Hit | StoredChunk) -> dict[str, Any]:
    """Give a chunk with its name, what it is about, and its text; of a hit its score too."""
    shown = {"source": str(one.source)} | {name: record(getattr(one, name)) for name in _FIELDS}
    return shown | {"score": round(one.score, 4)} if isinstance(one, Hit) else shown


def found(result: SearchResult) -> dict[str, Any]:
    """Give the hits, best first, and what there is to say of the search."""
    return {
        "hits": [chunk(hit) for hit in result],
        "truncated": result.truncated,
        "codes": list(result.codes),
        "codes_missing": list(result.codes_missing),
        "search_id": result.search_id,
    }


def passage(one: Passage) -> dict[str, Any]:
    """Give the text around hits."""
    return {
        "source": str(one.source),
        "title": one.title,
        "url": one.url,
        "section": one.section,
        "chunks": list(one.chunks),
        "cut": one.cut,
        "content": one.content,
    }


def answer(one: Answer) -> dict[str, Any]:
    """Give an answer with its citations, and without the prompt."""
    return {
        "text": one.text,
        "outcome": one.outcome,
        "generator": one.generator,
        "references": one.references,
        "citations": [
            {
                "number": citation.number,
                "source": str(citation.source),
                "title": citation.title,
                "url": citation.url,
                "quote": citation.quote,
                "keys": list(citation.keys),
            }
            for citation in one.citations
        ],
        "support": record(one.support),
        "standalone": one.standalone,
        "codes_missing": list(one.result.codes_missing),
        "notes": list(one.notes),
        "search_id": one.search_id,
    }
