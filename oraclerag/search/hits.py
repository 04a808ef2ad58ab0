"""A row of the statement of a search → the hit, with why it has its place."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

from oraclerag.records import Hit, SourceKey
from oraclerag.search.request import Request

__all__ = ["hit_of"]


def hit_of(rank: int, row: tuple[Any, ...], columns: tuple[str, ...], asked: Request) -> Hit:
    """Give the hit that a row of the statement is."""
    values = dict(zip(columns, row, strict=True))
    occurred_at = values["OCCURRED_AT"]
    return Hit(
        rank=rank,
        chunk_id=int(values["CHUNK_ID"]),
        source=SourceKey(values["SOURCE_TYPE"], values["SOURCE_ID"], values["TENANT_ID"]),
        chunk_number=int(values["CHUNK_NO"]),
        content=values["CONTENT"],
        distance=float(values["DISTANCE"]),
        title=values["TITLE"],
        url=values["URL"],
        section=values["SECTION"],
        collection=values["COLLECTION"],
        project=values["PROJECT_ID"],
        sprint=values["SPRINT_ID"],
        why=", ".join(_why(values, asked)),
        stale=bool(values["STALE"]),
        occurred_at=None if occurred_at is None else occurred_at.replace(tzinfo=dt.UTC),
        metadata=json.loads(values["METADATA_TEXT"]) if values["METADATA_TEXT"] else {},
    )


def _why(values: Mapping[str, Any], asked: Request) -> Iterator[str]:
    if asked.codes:
        yield f"names {' or '.join(asked.codes)}"
    if values["PREFERRED"]:
        yield "preferred"
    if values["AUTHORITY"]:
        yield "validated resolution"
    for name, leg in (("VECTOR_RANK", "vector"), ("TEXT_RANK", "text")):
        if name in values:
            yield f"{leg} rank {int(values[name])}" if values[name] is not None else f"not found by {leg}"
    yield f"similarity {1 - float(values['DISTANCE']):.3f}"
