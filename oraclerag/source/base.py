"""What every source can do, whatever it is made of."""

from __future__ import annotations

import abc
import dataclasses
import datetime as dt
import decimal
import hashlib
import json
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import oracledb

from oraclerag.config import SourceSettings
from oraclerag.cutting import Cutting
from oraclerag.errors import EntityError, InputError, OracleRagError
from oraclerag.records import NO_TENANT, Document

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel

__all__ = ["Source", "SourceProblem", "SourceRead", "model_mark"]

# Counts up when the toolkit itself makes other chunks of the same text.
_RENDERING = 1

# Bytes of the columns that decide who sees a chunk or group it: too long is an error, never cut.
_LIMITS = {"tenant": 128, "owner": 128, "project": 128, "sprint": 128, "collection": 128, "url": 2000}


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something in a source that fails, or will: ``severity`` "warning" is for what only may go stale."""

    source: str
    code: str
    message: str
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True, slots=True)
class SourceRead:
    """What a read gave: documents by id, and the entities that are there but cannot be read. All others are gone."""

    documents: Mapping[str, Document] = field(repr=False)
    failures: Mapping[str, OracleRagError] = field(default_factory=dict)


class Source(abc.ABC):
    """A kind of entity that can be indexed.

    ``maps_tenant``: whether its documents name their tenant; without that they belong to ``default_tenant``.
    """

    built_in = False
    """Whether it comes with every installation, over tables of the toolkit, and is not configured."""

    def __init__(self, settings: SourceSettings, *, maps_tenant: bool, default_tenant: str) -> None:
        self.settings = settings
        self.maps_tenant = maps_tenant
        self.default_tenant = default_tenant

    @property
    def name(self) -> str:
        """The type of its entities, as queue and index know it."""
        return self.settings.name

    @property
    def cuttings(self) -> tuple[Cutting, ...]:
        """The ways in which its texts are cut, as far as its settings say; a model must be able to read them all."""
        return (self.settings.cutting,)

    def in_use(self, connection: oracledb.Connection) -> bool:  # noqa: ARG002 - for those that are built in
        """Whether there is anything of it, in its tables or in the index; what is configured is always in use."""
        return True

    def read(self, connection: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document]:
        """Give the present documents of these ids; a missing id is gone. Raises the first failure."""
        result = self.read_each(connection, ids)
        for error in result.failures.values():
            raise error
        return dict(result.documents)

    @abc.abstractmethod
    def read_each(self, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        """Like :meth:`read`, with the failures of single entities beside the documents.

        Raises SourceError, TemplateError or a DatabaseError for what concerns the source as a whole.
        """

    @abc.abstractmethod
    def verify(self, connection: oracledb.Connection) -> None:
        """Raise what is wrong with the source as a whole, where anything is; what only some row has is not found."""

    @abc.abstractmethod
    def enumeration(self, connection: oracledb.Connection) -> str:
        """Give the query over all entities: SOURCE_ID as text, and TENANT_ID (NULL where none is mapped or named)."""

    @abc.abstractmethod
    def check(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """Find what fails or will fail; an empty list is green."""

    @abc.abstractmethod
    def _definition(self) -> Mapping[str, object]:
        """What the text and the mapping of an entity depend on, beside its data."""

    def narrowed(self, tenant: str | None) -> str | None:
        """Give the tenant that queries over the source must be narrowed to, if any.

        Raises InputError for one that it cannot have.
        """
        if tenant == NO_TENANT:
            raise InputError(f"The tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
        if tenant is not None and not self.maps_tenant and tenant != self.default_tenant:
            raise InputError(
                f"Source {self.name!r} maps no tenant: all of it belongs to {self.default_tenant!r}, not to {tenant!r}."
            )
        return tenant if self.maps_tenant else None

    def ids(self, connection: oracledb.Connection, after: str | None = None, limit: int = 1000) -> list[str]:
        """Give up to ``limit`` ids in the order of their texts, from the one behind ``after``."""
        from oraclerag.database import driver_types, translated

        behind = "WHERE s.SOURCE_ID IS NOT NULL " if after is None else "WHERE s.SOURCE_ID > :after "
        statement = (
            f"SELECT s.SOURCE_ID FROM ({self.enumeration(connection)}) s {behind}"
            f"ORDER BY s.SOURCE_ID FETCH FIRST :how_many ROWS ONLY"
        )
        with connection.cursor() as cursor, driver_types(connection), translated():
            cursor.arraysize = limit
            cursor.execute(statement, {"how_many": limit} | ({} if after is None else {"after": after}))
            return [row[0] for row in cursor]

    def without_key(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """Give a problem where rows have no id, because a part of their key is NULL: they can never be indexed."""
        from oraclerag.database import translated

        with connection.cursor() as cursor, translated():
            cursor.execute(f"SELECT COUNT(*) FROM ({self.enumeration(connection)}) s WHERE s.SOURCE_ID IS NULL")
            row = cursor.fetchone()
        if row is None or not row[0]:
            return []
        return [
            SourceProblem(
                self.name,
                "KEY_NULL",
                f"{row[0]:,} rows have no value in a column of the key: they are never indexed.",
                "Leave them out in the select, or give the column a value there (COALESCE).",
            )
        ]

    def fingerprint(self, model: ActiveModel) -> str:
        """Give 64 hex digits of which the first half stands for the source's settings, the second for the model.

        Two fingerprints with the same second half: the vectors of equal texts are equal. See :func:`fingerprint_half`.
        """
        mapping = dict(self._definition())
        mapping["rendering"] = _RENDERING
        mapping["default_tenant"] = None if self.maps_tenant else self.default_tenant
        return _digest(mapping)[:32] + model_mark(model)

    def completed(self, document: Document) -> Document:
        """Fill in what the source's settings say and bring times to UTC (naive).

        Raises EntityError where a value does not fit, and where a source without tenants names one.
        """
        if document.tenant and not self.maps_tenant and document.tenant != self.default_tenant:
            raise EntityError(
                f"A document of source {self.name!r} names a tenant, but the source does not map one.",
                hint='Declare it: tenant = "…" in its settings, or source(…, tenants=True).',
            )
        if document.tenant == NO_TENANT:
            raise EntityError(
                f"A document of source {self.name!r} has the tenant {NO_TENANT!r}, which stands for none in the queue.",
                hint="Give that tenant another name.",
            )
        document = dataclasses.replace(
            document,
            tenant=(document.tenant or None) if self.maps_tenant else self.default_tenant,
            visibility=document.visibility or self.settings.visibility,
            collection=document.collection or self.settings.collection,
            owner=document.owner or None,
            project=document.project or None,
            sprint=document.sprint or None,
            url=document.url or None,
            occurred_at=in_utc(document.occurred_at, self.settings.time_zone),
            metadata=self._json_object(document.metadata),
        )
        if document.visibility not in ("shared", "owner"):
            raise EntityError(f"A document of source {self.name!r} has neither visibility 'shared' nor 'owner'.")
        for name, limit in _LIMITS.items():
            value = getattr(document, name)
            if value is None:
                continue
            if not isinstance(value, str):
                raise EntityError(f"The {name} of a document of source {self.name!r} is no text.")
            try:
                size = len(value.encode())
            except UnicodeEncodeError:
                raise EntityError(
                    f"The {name} of a document of source {self.name!r} holds half of a surrogate pair."
                ) from None
            if size > limit:
                raise EntityError(f"The {name} of a document of source {self.name!r} is longer than {limit} bytes.")
        return document

    def _json_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Give metadata as a JSON column holds it: the driver's own words come too late."""
        try:
            return json_object(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise EntityError(
                f"The metadata of a document of source {self.name!r} has no JSON form ({type(error).__name__})."
            ) from None


def json_object(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give metadata as a JSON column holds it: names are texts; what the driver read as Decimal is a number again.

    Raises TypeError, ValueError or RecursionError where they have no JSON form.
    """
    text = _METADATA.encode(dict(value))
    text.encode()
    return dict(json.loads(text))


def _number(value: object) -> int | float:
    if not isinstance(value, decimal.Decimal):
        raise TypeError
    return int(value) if value == value.to_integral_value() and value.adjusted() < _DIGITS else float(value)


_DIGITS = 40  # of a NUMBER; a larger one is zeros at its end
_METADATA = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_number)


def in_utc(moment: dt.datetime | None, zone: str) -> dt.datetime | None:
    """Give a time in UTC without a zone; one that has none is taken in ``zone``.

    At the ends of the calendar (9999-12-31 for "never") it may have no time in UTC: it stays what it is.
    """
    if moment is None:
        return None
    try:
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zoneinfo.ZoneInfo(zone))
        return moment.astimezone(dt.UTC).replace(tzinfo=None)
    except OverflowError:
        return moment.replace(tzinfo=None)


def model_mark(model: ActiveModel) -> str:
    """Give 32 hex digits that stand for the vectors of a model: the second half of fingerprints."""
    return model.vectors_as or _digest([model.physical_name, model.column, model.passage_prefix])[:32]


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
