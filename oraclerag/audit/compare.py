"""One entity as the index has it against one as its source says it now."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from oraclerag.errors import OracleRagError
from oraclerag.merge import Write, rights_row, text_hash
from oraclerag.records import AuditKind, fingerprint_half

__all__ = ["Indexed", "State", "StoredChunk", "Verdict", "compare"]


class State(NamedTuple):
    """What RAG_ENTITY says of an entity. INDEXED_AT is another after every write."""

    fingerprint: str | None
    content_hash: str | None
    details_hash: str | None
    chunks: int
    indexed_at: dt.datetime | None


class StoredChunk(NamedTuple):
    """A row of RAG_CHUNK, without its text: ``whole`` says that it is the text that was hashed."""

    content_hash: str
    tenant: str
    owner: str | None
    visibility: str
    embedded: bool
    whole: bool


@dataclass(slots=True)
class Indexed:
    """What the index has of an entity: its state, None where it knows nothing of it, its chunks, whether a document."""

    state: State | None = None
    tenant: str | None = None
    document: bool = False
    chunks: dict[int, StoredChunk] = field(default_factory=dict)

    @property
    def hidden(self) -> bool:
        """Whether nobody sees some of it."""
        return any(chunk.visibility == "HIDDEN" for chunk in self.chunks.values())


class Verdict(NamedTuple):
    """What is wrong with an entity, None for nothing, in what it differs, and whose it is."""

    kind: AuditKind | None
    differs: tuple[str, ...] = ()
    tenant: str | None = None


def compare(indexed: Indexed, said: Write | OracleRagError) -> Verdict:
    """Compare what the index has with what the source says, or with why it cannot say it."""
    state, chunks = indexed.state, indexed.chunks
    if isinstance(said, OracleRagError):
        return Verdict("unreadable", (said.code,))
    document = said.document
    if document is None:
        return Verdict("orphaned" if chunks or (state is not None and state.chunks) else None)
    tenant = document.tenant
    if any(chunk.tenant != tenant for chunk in chunks.values()):
        return Verdict("foreign", ("tenant",), tenant)
    if state is None or state.fingerprint is None:
        return Verdict("missing", (), tenant)
    differs = tuple(_differences(state, indexed, said))
    if said.chunks and not chunks:
        return Verdict("missing", differs, tenant)
    return Verdict("stale" if differs else None, differs, tenant)


def _differences(state: State, indexed: Indexed, said: Write) -> Iterator[str]:
    chunks = indexed.chunks
    for half in ("settings", "model"):
        if fingerprint_half(state.fingerprint, half) != fingerprint_half(said.fingerprint, half):
            yield half
    if state.content_hash != said.content_hash:
        yield "text"
    if state.details_hash != said.details_hash:
        yield "details"
    if said.chunks and not indexed.document:
        yield "document"
    hashes = {number: chunk.content_hash for number, chunk in chunks.items()}
    rendered = {chunk.number: text_hash(chunk.content) for chunk in said.chunks}
    if hashes != rendered or state.chunks != len(rendered) or not all(chunk.whole for chunk in chunks.values()):
        yield "chunks"
    rights = rights_row(said)
    if any((chunk.owner, chunk.visibility) != (rights["owner_id"], rights["visibility"]) for chunk in chunks.values()):
        yield "rights"
    if not all(chunk.embedded for chunk in chunks.values()):
        yield "vectors"
