"""One ``[source.NAME]`` table of the configuration: what to read, and how its columns are meant."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from oraclerag.config.reading import KINDS, template_text
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.records import Visibility
from oraclerag.statements import identifier, qualified

__all__ = ["RESERVED_SOURCES", "ChildSettings", "SourceSettings", "parse_source", "table_entries"]

RESERVED_SOURCES = ("file", "resolution")
"""Sources that come with every installation; no other one may be called so."""

_SOURCE_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_CHILD_NAME = re.compile(r"[a-z][a-z0-9_]*")  # templates use it


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """Rows that belong to an entity (comments of a task): a SELECT that gives ``source_id``, and a unique order."""

    select: str
    order_by: str


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One ``[source.NAME]`` table: what to read and how its columns are meant.

    ``select`` gives the whole source with a column ``source_id`` (or the columns of ``key``). ``template`` is Jinja2
    text (a path in the file is read when the settings are loaded); without one, ``body`` names the column that is the
    text. ``title``, ``owner``, … name columns of the SELECT; ``collection`` is a constant. ``tables`` says for every
    table that the text depends on which entities a changed row concerns: a column, a query with ``:id``, or several of
    them. Naive times are taken in ``time_zone``. ``egress`` says whether a text may be sent to a language model
    that is not on this machine. ``recheck``: hits are looked up in the source before they are returned.
    """

    name: str
    select: str
    visibility: Visibility
    key: tuple[str, ...] = ("source_id",)
    template: str | None = None
    body: str | None = None
    title: str | None = None
    url: str | None = None
    tenant: str | None = None
    owner: str | None = None
    project: str | None = None
    sprint: str | None = None
    occurred_at: str | None = None
    collection: str | None = None
    metadata: tuple[str, ...] = ()
    cutting: Cutting = field(default_factory=Cutting)
    time_zone: str = "UTC"
    egress: bool = True
    recheck: bool = False
    children: Mapping[str, ChildSettings] = field(default_factory=lambda: MappingProxyType({}))
    tables: Mapping[str, str | tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


_TEXT_KEYS = ("title", "url", "tenant", "owner", "project", "sprint", "occurred_at", "collection", "body", "time_zone")
_SOURCE_KEYS = {
    *_TEXT_KEYS, "select", "visibility", "key", "template", "metadata", "chunker", "egress", "children", "tables",
    "preset", "chunk_size_tokens", "chunk_overlap_tokens", "allow_truncation", "vector_chunks", "recheck",
}  # fmt: skip


def parse_source(name: str, table: Any, folder: Path, place: str) -> SourceSettings:
    """Check one ``[source.NAME]`` table; ``folder`` is where a template's path starts."""
    if not _SOURCE_NAME.fullmatch(name):
        raise ConfigurationError(
            f"{place}: a source's name is a lower-case letter, then lower-case letters, digits or '_', 30 at most."
        )
    if name in RESERVED_SOURCES:
        raise ConfigurationError(
            f"{place}: {name!r} is the name of a source that comes with every installation.",
            hint="Give yours another name.",
        )
    if not isinstance(table, dict):
        raise ConfigurationError(f"{place} must be a table.")
    for key in table:
        if key not in _SOURCE_KEYS:
            raise ConfigurationError(f"{place} has an unknown key {key!r}.")

    def text(key: str) -> str | None:
        value = table.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise ConfigurationError(f"{place}: {key} must be a non-empty text.")
        return value

    select = text("select")
    if select is None:
        raise ConfigurationError(f"{place} needs a select: a query that gives source_id and the columns of the text.")
    visibility = table.get("visibility")
    if visibility not in ("shared", "owner"):
        raise ConfigurationError(
            f'{place} must say visibility = "shared" (everybody of the tenant) or "owner" '
            f"(the owner and managers); there is no default."
        )
    if visibility == "owner" and text("owner") is None:
        raise ConfigurationError(f'{place} has visibility = "owner" and must name the owner\'s column: owner = "…".')
    template, body = text("template"), text("body")
    if (template is None) == (body is None):
        raise ConfigurationError(f"{place} needs either a template or body (the column that is the text), not both.")
    if template is not None:
        template = template_text(template, folder, place)
    cutting = _cutting(table, place)
    zone = text("time_zone") or "UTC"
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # OSError: "Europe" is a directory of zones
        raise ConfigurationError(f'{place}: {zone!r} is not a time zone, such as "Europe/Madrid".') from None
    egress = table.get("egress", True)
    if not isinstance(egress, bool):
        raise ConfigurationError(f"{place}: egress must be true or false.")
    recheck = table.get("recheck", False)
    if not isinstance(recheck, bool):
        raise ConfigurationError(f"{place}: recheck must be true or false.")
    key = _names(table.get("key", ["source_id"]), f"{place}: key")
    if not key:
        raise ConfigurationError(f"{place}: key must name at least one column.")
    return SourceSettings(
        name=name,
        select=select.strip().rstrip(";").rstrip(),
        visibility=cast("Visibility", visibility),
        key=key,
        template=template,
        body=body,
        metadata=_names(table.get("metadata", []), f"{place}: metadata"),
        cutting=cutting,
        time_zone=zone,
        egress=egress,
        recheck=recheck,
        children=MappingProxyType(_children(table.get("children", {}), place)),
        tables=MappingProxyType(_tables(table.get("tables", {}), place)),
        **{key: text(key) for key in _TEXT_KEYS if key not in ("body", "time_zone")},
    )


def _cutting(table: Mapping[str, Any], place: str) -> Cutting:
    kinds = {
        "chunker": str,
        "preset": str,
        "chunk_size_tokens": int,
        "chunk_overlap_tokens": int,
        "allow_truncation": bool,
        "vector_chunks": str,
    }
    for key, kind in kinds.items():
        if type(table.get(key, kind())) is not kind:
            raise ConfigurationError(f"{place}: {key} must be {KINDS.get(kind.__name__, 'a text')}.")
    try:
        return Cutting(
            table.get("chunker", "whole"),
            table.get("preset"),
            table.get("chunk_size_tokens"),
            table.get("chunk_overlap_tokens"),
            table.get("allow_truncation", False),
            table.get("vector_chunks"),
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error.message}") from None


def _names(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigurationError(f"{place} must be a list of column names.")
    for name in value:
        identifier(name, f"a column in {place}")
    names = tuple(name.lower() for name in value)
    if len(set(names)) < len(names):
        raise ConfigurationError(f"{place} names a column twice.")
    return names


def _children(value: Any, place: str) -> dict[str, ChildSettings]:
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place}: children must be tables.")
    children = {}
    for name, child in value.items():
        if not _CHILD_NAME.fullmatch(name):
            raise ConfigurationError(
                f"{place}: {name!r} is no name for children: "
                f"a lower-case letter, then lower-case letters, digits or '_'."
            )
        if not isinstance(child, dict) or set(child) != {"select", "order_by"}:
            raise ConfigurationError(f"{place}: children.{name} needs exactly select and order_by.")
        if not all(isinstance(part, str) and part.strip() for part in child.values()):
            raise ConfigurationError(f"{place}: select and order_by of children.{name} must be non-empty texts.")
        order = ", ".join(
            identifier(part.strip(), f"order of children.{name}") for part in child["order_by"].split(",")
        )
        children[name] = ChildSettings(child["select"].strip().rstrip(";").rstrip(), order)
    return children


def _tables(value: Any, place: str) -> dict[str, str | tuple[str, ...]]:
    found: dict[str, str | tuple[str, ...]] = {}
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place}: tables must map table names to a column or a query.")
    for name, entry in value.items():
        qualified(name, f"a table in {place}")
        texts = entry if isinstance(entry, list) else [entry]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise ConfigurationError(
                f"{place}: tables must map table names to a column or a query, or to a list of them; {name} does not."
            )
        found[name] = tuple(texts) if isinstance(entry, list) else texts[0]
    return found


def table_entries(source: SourceSettings) -> dict[str, tuple[str, ...]]:
    """Give the entries under ``tables``: by table, the columns or queries that say whom a changed row concerns."""
    return {name: (entry,) if isinstance(entry, str) else tuple(entry) for name, entry in source.tables.items()}
