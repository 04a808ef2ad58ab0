"""What can be indexed: a SELECT with a template (:class:`SelectSource`) or a Python function (:class:`FunctionSource`).

Beside what is configured there are sources of the toolkit's own tables: :class:`FileSource`, what was ingested, and
:class:`ResolutionSource`, incidents that were resolved.
A source gives documents for ids; an id that it does not give is gone. It knows nothing of the queue and the index.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import oracledb

from oraclerag.config import Settings
from oraclerag.errors import UnknownSource
from oraclerag.source.base import Source, SourceProblem, SourceRead, model_mark
from oraclerag.source.file import FileSource
from oraclerag.source.function import FunctionSource, Reader
from oraclerag.source.resolution import ResolutionSource
from oraclerag.source.select import SelectSource

__all__ = [
    "FileSource",
    "FunctionSource",
    "Reader",
    "ResolutionSource",
    "SelectSource",
    "Source",
    "SourceProblem",
    "SourceRead",
    "built_in",
    "find",
    "from_settings",
    "model_mark",
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


def built_in(settings: Settings, schema_on: Callable[[oracledb.Connection], str]) -> dict[str, Source]:
    """Make the sources that come with every installation, by name; ``schema_on`` gives the owner of its tables."""
    sources: list[Source] = [
        FileSource(settings, schema_on=schema_on),
        ResolutionSource(settings, schema_on=schema_on),
    ]
    return {source.name: source for source in sources}


def find(sources: dict[str, Source], name: str) -> Source:
    """Give a source by its name or raise UnknownSource, which names those that there are."""
    source = sources.get(name)
    if source is None:
        known = ", ".join(sorted(name for name, one in sources.items() if not one.built_in)) or "none"
        raise UnknownSource(f"There is no source {name!r}; configured: {known}.")
    return source


def tenants_mapped(sources: dict[str, Source]) -> bool:
    """Whether any source maps a tenant: from then on there is no default tenant, and a Scope must name one.

    Those that are built in follow the others: they do not make an installation one of several tenants.
    """
    return any(source.maps_tenant for source in sources.values() if not source.built_in)
