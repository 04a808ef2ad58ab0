"""What names an entity, and what its names may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from oraclerag.errors import InputError

__all__ = [
    "MAX_ID_BYTES",
    "MAX_TENANT_BYTES",
    "MAX_TYPE_BYTES",
    "NO_TENANT",
    "Action",
    "SourceKey",
    "Visibility",
    "fits",
    "nothing",
]

NO_TENANT = "-"
"""RAG_DIRTY.TENANT_ID where the writer names none; no tenant may be called so."""

MAX_TYPE_BYTES = 30
"""What RAG_DIRTY.SOURCE_TYPE and its like hold."""

MAX_ID_BYTES = 400
"""What RAG_DIRTY.SOURCE_ID and its like hold."""

MAX_TENANT_BYTES = 128
"""What RAG_DIRTY.TENANT_ID and its like hold."""

Action = Literal["UPSERT", "DELETE"]
Visibility = Literal["shared", "owner"]


def nothing() -> Mapping[str, Any]:
    """Give an empty mapping that stays so."""
    return MappingProxyType({})


def fits(value: object, size: int) -> bool:
    """Whether a value is a text that a column of so many bytes holds; '' would be NULL."""
    try:
        return isinstance(value, str) and 0 < len(value.encode()) <= size
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class SourceKey:
    """Names one entity of a source: the type as configured, and its id as text.

    ``tenant`` is a hint for fair turns and for refusing strays, never part of the identity; required where the source
    maps a tenant. A key of several columns is joined with ``/`` in the order of the source's ``key``.
    """

    type: str
    id: str
    tenant: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not fits(self.type, MAX_TYPE_BYTES):
            raise InputError(
                f"The type of a SourceKey must be a text of 1 to {MAX_TYPE_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )
        if not fits(self.id, MAX_ID_BYTES):
            raise InputError(
                f"The id of a SourceKey of type {self.type!r} must be a text of 1 to {MAX_ID_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )
        if self.tenant is not None and not fits(self.tenant, MAX_TENANT_BYTES):
            raise InputError(
                f"The tenant of a SourceKey of type {self.type!r} must be a text of 1 to {MAX_TENANT_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )

        if self.tenant == NO_TENANT:
            raise InputError(
                f"The tenant of a SourceKey of type {self.type!r} is {NO_TENANT!r}, which stands for none.",
                hint="Give that tenant another name, or leave it out where the source maps none.",
            )

    def __str__(self) -> str:
        return f"{self.type}:{self.id}"
