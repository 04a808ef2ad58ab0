"""Entities that a worker holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Claimed", "Held", "fingerprint_half"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """An entity that was got, with its queue rows (id, attempts so far) and the DEAD rows seen before the read."""

    entity_id: int
    source_type: str
    source_id: str
    rows: tuple[tuple[int, int], ...]
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What RAG_ENTITY says of an entity whose ticket is ours and whose row is locked until the transaction ends."""

    fingerprint: str | None
    content_hash: str | None
    details_hash: str | None
    chunks: int
    tenant: str | None = None


def fingerprint_half(fingerprint: str | None, what: Literal["settings", "model"]) -> str | None:
    """Give the half of a fingerprint that stands for the source's settings or for the model."""
    if fingerprint is None:
        return None
    return fingerprint[:32] if what == "settings" else fingerprint[32:]
