"""What can be indexed: a SELECT with a template (:class:`SelectSource`) or a Python function (:class:`FunctionSource`).

A source gives documents for ids; an id that it does not give is gone. It knows nothing of the queue and the index.
"""

from __future__ import annotations

import dataclasses

from oraclerag.config import Settings
from oraclerag.errors import UnknownSource
from oraclerag.source.base import Source, SourceProblem, SourceRead
from oraclerag.source.function import FunctionSource, Reader
from oraclerag.source.select import SelectSource

__all__ = [
    "FunctionSource",
    "Reader",
    "SelectSource",
    "Source",
    "SourceProblem",
    "SourceRead",
    "find",
    "from_settings",
    "tenants_mapped",
]


def from_settings(settings: Settings) -> dict[str, Source]:
    """Make the sources of the settings, by name. Raises TemplateError where a template is not valid."""
    return {
        source.name: SelectSource(
            dataclasses.replace(source, cutting=settings.cutting(source.cutting)), default_tenant=settings.tenant
        )
        for source in settings.sources
    }


def find(sources: dict[str, Source], name: str) -> Source:
    """Give a source by its name or raise UnknownSource, which names those that there are."""
    source = sources.get(name)
    if source is None:
        known = ", ".join(sorted(sources)) or "none"
        raise UnknownSource(f"There is no source {name!r}; configured: {known}.")
    return source


def tenants_mapped(sources: dict[str, Source]) -> bool:
    """Whether any source maps a tenant: from then on there is no default tenant, and a Scope must name one."""
    return any(source.maps_tenant for source in sources.values())
