"""A source that is a SELECT: one row per entity, a template or a column for its text, children in a unique order.

The SELECT is written over all rows. It is described once; reading wraps it with the ids, bound in the key's own type,
and enumerating turns the key into text in the database.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.config import ChildSettings, SourceSettings
from oraclerag.database import driver_types, parts, translated
from oraclerag.errors import EntityError, OracleRagError, SourceError, StatementFailed
from oraclerag.records import Document
from oraclerag.source.base import Source, SourceProblem, SourceRead
from oraclerag.source.keys import PADDED, Key, tenant_expression
from oraclerag.source.template import Row, Template
from oraclerag.statements import quoted

__all__ = ["Described", "SelectSource"]

_AS_UTC = "RAG_OCCURRED_AT_UTC"


@dataclass(frozen=True, slots=True)
class Described:
    """The columns of a SELECT by upper-case name, and its key."""

    columns: Mapping[str, oracledb.DbType]
    key: Key


class SelectSource(Source):
    """A ``[source.NAME]`` of the settings. Raises TemplateError where its template is not valid."""

    def __init__(self, settings: SourceSettings, *, default_tenant: str = "main") -> None:
        super().__init__(settings, maps_tenant=settings.tenant is not None, default_tenant=default_tenant)
        self.template = Template(settings.template, f"source {settings.name!r}") if settings.template else None
        self._described: Described | None = None
        self._children: dict[str, Described] = {}

    def read_each(self, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        """See :meth:`Source.read_each`: one statement for the rows and one per kind of children."""
        documents: dict[str, Document] = {}
        failures: dict[str, OracleRagError] = {}
        for part in parts(ids):
            rows, twice = self._rows(connection, part)
            children = {
                name: self._child_rows(connection, name, child, [key for key in part if key in rows])
                for name, child in self.settings.children.items()
            }
            for key, row in rows.items():
                try:
                    if key in twice:
                        raise EntityError(
                            f"The select of source {self.name!r} gives several rows for one id.",
                            hint="A join multiplies rows: make them children, or aggregate them.",
                        )
                    listed = {name: found.get(key, []) for name, found in children.items()}
                    documents[key] = self._document(row, listed)
                except EntityError as error:
                    failures[key] = error
        return SourceRead(documents, failures)

    def verify(self, connection: oracledb.Connection) -> None:
        """See :meth:`Source.verify`: describe the selects again. Raises SourceError."""
        self._described = None
        self._children.clear()
        try:
            self.described(connection)
            for name in self.settings.children:
                self.described_child(connection, name)
        except StatementFailed as error:
            raise SourceError(f"The select of source {self.name!r} cannot be run: {error.message}") from error

    def enumeration(self, connection: oracledb.Connection) -> str:
        """See :meth:`Source.enumeration`."""
        tenant = "NULL"
        if self.settings.tenant is not None:
            kind = self.described(connection).columns.get(self.settings.tenant.upper())
            tenant = tenant_expression(f"q.{quoted(self.settings.tenant)}", kind)
        key = self.described(connection).key
        return (
            f"SELECT {key.whole_expression('q')} AS SOURCE_ID, {tenant} AS TENANT_ID "
            f"FROM (\n{self.settings.select}\n) q"
        )

    def check(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """See :meth:`Source.check`."""
        from oraclerag.source.check import check_select

        self._described = None
        self._children.clear()
        return check_select(self, connection)

    def described(self, connection: oracledb.Connection) -> Described:
        """Give the columns and the key of the SELECT; the database is asked once."""
        if self._described is None:
            place = f"The select of source {self.name!r}"
            self._described = self._describe(connection, self.settings.select, place)
        return self._described

    def described_child(self, connection: oracledb.Connection, name: str) -> Described:
        """Give the columns and the key of the SELECT of a kind of children."""
        if name not in self._children:
            place = f"The select of children.{name} of source {self.name!r}"
            self._children[name] = self._describe(connection, self.settings.children[name].select, place)
        return self._children[name]

    def render_first(self, connection: oracledb.Connection) -> Document | None:
        """Render any one row, None where there is none."""
        ids = self.ids(connection, limit=1)
        return self.read(connection, ids).get(ids[0]) if ids and ids[0] is not None else None

    def _definition(self) -> Mapping[str, object]:
        settings = self.settings
        names = ("select", "key", "template", "body", "title", "url", "tenant", "owner", "project", "sprint")
        more = ("occurred_at", "collection", "metadata", "visibility", "time_zone")
        children = {name: [child.select, child.order_by] for name, child in settings.children.items()}
        cutting = dataclasses.asdict(settings.cutting)
        return {name: getattr(settings, name) for name in (*names, *more)} | {"children": children, "cutting": cutting}

    def _describe(self, connection: oracledb.Connection, select: str, place: str) -> Described:
        with connection.cursor() as cursor, translated():
            cursor.execute(f"SELECT q.* FROM (\n{select}\n) q WHERE 1 = 0")
            columns = {column[0].upper(): column[1] for column in cursor.description}
        return Described(columns, Key.of(self.settings.key, columns, place))

    def _rows(self, connection: oracledb.Connection, ids: Sequence[str]) -> tuple[dict[str, Row], set[str]]:
        described = self.described(connection)
        found, twice = {}, set()
        for key, values in self._fetch(connection, self.settings.select, described, ids, self._utc(described), ""):
            if key in found:
                twice.add(key)
            found[key] = Row(values)
        return found, twice

    def _utc(self, described: Described) -> str:
        """Give the column that brings a time with a zone to UTC: the driver would drop the zone."""
        name = self.settings.occurred_at
        kind = described.columns.get(name.upper()) if name else None
        if name is None or kind not in (oracledb.DB_TYPE_TIMESTAMP_TZ, oracledb.DB_TYPE_TIMESTAMP_LTZ):
            return ""
        return f", SYS_EXTRACT_UTC(q.{quoted(name)}) AS {_AS_UTC}"

    def _child_rows(
        self, connection: oracledb.Connection, name: str, child: ChildSettings, ids: Sequence[str]
    ) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = defaultdict(list)
        if ids:
            described = self.described_child(connection, name)
            order = ", ".join(f"q.{quoted(part.strip())}" for part in child.order_by.split(","))
            for key, values in self._fetch(connection, child.select, described, ids, "", f" ORDER BY {order}"):
                rows[key].append(Row(values))
        return rows

    @staticmethod
    def _fetch(
        connection: oracledb.Connection, select: str, described: Described, ids: Sequence[str], more: str, order: str
    ) -> list[tuple[str, dict[str, Any]]]:
        wanted = set(ids)
        keys = [values for values in map(described.key.values, ids) if values is not None]
        if not keys:
            return []
        condition, binds, kinds = described.key.condition("q", keys)
        with connection.cursor() as cursor, driver_types(connection), translated():
            cursor.arraysize = cursor.prefetchrows = len(binds) + 1
            if kinds:
                cursor.setinputsizes(
                    **{
                        name: cursor.var(kind, size=len(binds[name])) if kind in PADDED else kind
                        for name, kind in kinds.items()
                    }
                )
            statement = f"SELECT q.*{more} FROM (\n{select}\n) q WHERE {condition}{order}"
            cursor.execute(statement, binds, fetch_lobs=False, fetch_decimals=True)
            names = [column[0].lower() for column in cursor.description]
            found = []
            for row in cursor:
                values = {name: _plain(value) for name, value in zip(names, row, strict=True)}
                key = described.key.text(values)
                if key in wanted:
                    assert key is not None  # noqa: S101 - wanted holds texts only
                    found.append((key, values))
        return found

    def _document(self, row: Row, children: Mapping[str, list[Row]]) -> Document:
        settings = self.settings
        if self.template is not None:
            text = self.template.render({**row.variables(), **children})
        else:
            text = self._column(row, settings.body) or ""
        moment = None
        if settings.occurred_at is not None:
            moment = row[_AS_UTC.lower()] if _AS_UTC.lower() in row else self._value(row, settings.occurred_at)
            if moment is not None and not isinstance(moment, dt.datetime):
                raise SourceError(
                    f"occurred_at of source {self.name!r} names {settings.occurred_at!r}, which is no time."
                )
            if _AS_UTC.lower() in row and moment is not None:
                moment = moment.replace(tzinfo=dt.UTC)
        return self.completed(
            Document(
                text=text,
                title=self._column(row, settings.title),
                url=self._column(row, settings.url),
                tenant=self._column(row, settings.tenant),
                owner=self._column(row, settings.owner),
                project=self._column(row, settings.project),
                sprint=self._column(row, settings.sprint),
                occurred_at=moment,
                metadata={
                    name: _as_json(self._value(row, name))
                    for name in settings.metadata
                    if self._value(row, name) is not None
                },
            )
        )

    def _value(self, row: Row, name: str) -> Any:
        try:
            return row[name.lower()]
        except KeyError:
            raise SourceError(
                f"Source {self.name!r} names the column {name!r}, which its select does not give."
            ) from None

    def _column(self, row: Row, name: str | None) -> str | None:
        value = None if name is None else self._value(row, name)
        if name is not None and self._described is not None and self._described.columns.get(name.upper()) in PADDED:
            value = value and value.rstrip(" ")  # as keys: a scope names a tenant or an owner without the blanks
        return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """Give whole numbers as int: a template shows 3, not 3.0."""
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value():
        return int(value)
    return value


def _as_json(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dt.date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, (str, int, float, bool)):
        return value
    try:
        return json.loads(json.dumps(value, default=_as_json))
    except (TypeError, ValueError, RecursionError):
        raise EntityError(f"A metadata column holds a {type(value).__name__}, which has no JSON form.") from None
