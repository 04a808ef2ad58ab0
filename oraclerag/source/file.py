"""The files that were ingested, as a source: one row of RAG_FILE is one entity.

Whose a file is, who sees it and how it is cut stand in its row, not in settings: prose becomes passages, what Oracle
wrote is cut as the reports that it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import oracledb

from oraclerag.config import Settings, SourceSettings
from oraclerag.cutting import Cutting
from oraclerag.errors import EntityError
from oraclerag.records import Document
from oraclerag.source.own_table import OwnTable

__all__ = ["FILE_KINDS", "FILE_SOURCE", "FileSource"]

FILE_SOURCE = "file"
"""The name of the source."""

FILE_KINDS: Mapping[str, str] = MappingProxyType({"docs": "passages", "diagnostics": "diagnostics"})
"""How the texts of each kind of file are cut: what RAG_FILE.FILE_KIND may say, and the chunker."""


class FileSource(OwnTable):
    """What ``ingest`` has put into RAG_FILE."""

    rows, keys, used = "files", "file_ids", "files_in_use"

    def __init__(self, settings: Settings, *, schema_on: Callable[[oracledb.Connection], str]) -> None:
        self._cuttings = {kind: settings.cutting(Cutting(chunker)) for kind, chunker in FILE_KINDS.items()}
        own = SourceSettings(
            name=FILE_SOURCE,
            select="",
            visibility="shared",
            cutting=self._cuttings["docs"],
            egress=settings.files_egress,
        )
        super().__init__(own, settings, schema_on=schema_on)

    @property
    def cuttings(self) -> tuple[Cutting, ...]:
        """See :attr:`Source.cuttings`: one for every kind of file."""
        return tuple(self._cuttings.values())

    def document(self, row: Sequence[Any]) -> Document:
        """See :meth:`OwnTable.document`."""
        _, tenant, collection, kind, title, url, visibility, owner, metadata, moment, body = row
        if kind not in self._cuttings:
            known = ", ".join(sorted(self._cuttings))
            raise EntityError(f"A row of RAG_FILE has the kind {kind!r}; known: {known}.")
        return Document(
            text=body,
            title=title,
            url=url,
            tenant=tenant,
            owner=owner,
            visibility="owner" if visibility == "OWNER" else "shared",
            collection=collection,
            occurred_at=moment,
            metadata=metadata or {},
            cutting=self._cuttings[kind],
        )

    def _definition(self) -> Mapping[str, object]:
        return {"cutting": {kind: dataclasses.asdict(cutting) for kind, cutting in self._cuttings.items()}}
