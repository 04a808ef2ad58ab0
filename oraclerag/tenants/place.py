"""Where a tenant is looked at: an installation, its sources, and how it is searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import InputError
from oraclerag.records import NO_TENANT, SearchResult
from oraclerag.scope import Scope
from oraclerag.source import Source, tenants_mapped

__all__ = ["Place", "Search", "checked"]


class Search(Protocol):
    """Searches for a scope; is not logged."""

    def __call__(self, question: str, *, scope: Scope, k: int) -> SearchResult:
        """Give the hits."""


@dataclass(frozen=True, slots=True)
class Place:
    """One installation."""

    database: Database
    settings: Settings
    sources: Mapping[str, Source]
    search: Search

    @property
    def mapped(self) -> bool:
        """Whether any configured source maps tenants."""
        return tenants_mapped(dict(self.sources))

    def queue_tenant(self, tenant: str) -> str:
        """Give how else the queue calls a tenant: rows that name none are the default tenant's where none is mapped."""
        return NO_TENANT if tenant == self.settings.tenant and not self.mapped else tenant

    def of(self, tenant: str) -> list[Source]:
        """Give the sources that can have something of a tenant, those that are built in among them."""
        return [source for source in self.sources.values() if source.maps_tenant or tenant == source.default_tenant]


def checked(tenant: str) -> str:
    """Give a tenant's name. Raises InputError where no tenant can be called so."""
    name = Scope(tenant=tenant).tenant
    if name is None:
        raise InputError("Whose data is meant? Name a tenant.")
    return name
