"""Resolved incidents as a source: one row of RAG_RESOLUTION is one entity, cut only where it is too long."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import oracledb

from oraclerag import error_codes
from oraclerag.config import Settings, SourceSettings
from oraclerag.records import Document
from oraclerag.source.own_table import OwnTable

__all__ = ["RESOLUTION_SOURCE", "ResolutionSource"]

RESOLUTION_SOURCE = "resolution"
"""The name of the source."""


class ResolutionSource(OwnTable):
    """What ``record_resolution`` has put into RAG_RESOLUTION.

    A text begins with ``[RESOLUTION #7] title``, and every chunk of it repeats that. All its chunks carry all error
    codes that it names anywhere, so that a question about one of them finds the fix and not only the symptom.
    """

    rows, keys, used = "resolutions", "resolution_ids", "resolutions_in_use"

    def __init__(self, settings: Settings, *, schema_on: Callable[[oracledb.Connection], str]) -> None:
        own = SourceSettings(name=RESOLUTION_SOURCE, select="", visibility="shared", egress=settings.resolutions_egress)
        super().__init__(own, settings, schema_on=schema_on)

    def document(self, row: Sequence[Any]) -> Document:
        """See :meth:`OwnTable.document`."""
        number, tenant, collection, title, visibility, owner, by, at, recorded, metadata, symptom, analysis, fix = row
        given = dict(metadata or {})
        codes = list(given.get("oracle_error_code", ()))
        text = _text(number, title, codes, symptom, analysis, fix)
        given |= error_codes.marked([*codes, *(code.code for code in error_codes.find(text))])
        if by is not None:
            given["validated_by"] = by
        return Document(
            text=text,
            title=title,
            tenant=tenant,
            owner=owner,
            visibility="owner" if visibility == "OWNER" else "shared",
            collection=collection,
            occurred_at=at if at is not None else recorded,
            metadata=given,
        )

    def _definition(self) -> Mapping[str, object]:
        return {"cutting": dataclasses.asdict(self.settings.cutting)}


def _text(number: int, title: str, codes: Sequence[str], symptom: str | None, analysis: str | None, fix: str) -> str:
    text = f"[RESOLUTION #{number}] {' '.join(title.split())}\n"
    unsaid = [code for code in codes if code not in f"{title} {symptom}"]
    if unsaid:
        text += f"Errors: {', '.join(unsaid)}\n"
    parts = {"Symptom": symptom, "Analysis": analysis, "Fix": fix}
    return text + "\n".join(f"{name}: {part.strip()}\n" for name, part in parts.items() if part)
