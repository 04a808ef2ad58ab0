"""A source that is a Python function: ids in, documents out."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import oracledb

from oraclerag.config import parse_source
from oraclerag.cutting import Cutting
from oraclerag.database import translated
from oraclerag.errors import ConfigurationError, EntityError, OracleRagError, SourceError, StatementFailed
from oraclerag.records import Document, Visibility
from oraclerag.source.base import Source, SourceProblem, SourceRead
from oraclerag.source.keys import Key, tenant_expression
from oraclerag.statements import quoted

__all__ = ["FunctionSource", "Reader"]

Reader = Callable[[oracledb.Connection, Sequence[str]], Mapping[str, Document | None]]


class FunctionSource(Source):
    """A function ``(connection, ids) -> {id: Document}``; an id that is missing, or None, is gone.

    ``ids`` is the query that gives the ids of all entities (and their tenants in a second column, where ``tenants`` is
    set); without it there is no backfill. ``version`` says which text the function makes: raise it when that changes,
    since a function cannot be compared with another one. The connection is an oracledb connection of the worker; what
    the function does in a transaction of its own is rolled back.
    """

    def __init__(
        self,
        name: str,
        function: Reader,
        *,
        visibility: Visibility,
        ids: str | None = None,
        tenants: bool = False,
        collection: str | None = None,
        time_zone: str = "UTC",
        version: str = "1",
        egress: bool = True,
        recheck: bool = False,
        cutting: Cutting | None = None,
        default_tenant: str = "main",
    ) -> None:
        table = {
            "select": ids or "-",
            "visibility": visibility,
            "body": "-",
            "owner": "-",
            "egress": egress,
            "recheck": recheck,
            "time_zone": time_zone,
            "collection": collection,
        }
        given = {key: value for key, value in table.items() if value is not None}
        settings = parse_source(name, given, Path(), f"source {name!r}")
        cutting = cutting if cutting is not None else settings.cutting
        settings = dataclasses.replace(settings, select=ids or "", body=None, owner=None, cutting=cutting)
        super().__init__(settings, maps_tenant=tenants, default_tenant=default_tenant)
        self.function = function
        self.version = version
        self._ids = ids
        self._enumeration: str | None = None

    def read_each(self, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
        """Call the function; when it fails, call it with fewer ids until the ones at fault are found.

        Raises SourceError where it fails for every id, also for one that was not asked for, or does not give a mapping
        of documents.
        """
        documents: dict[str, Document] = {}
        failures: dict[str, OracleRagError] = {}
        self._call(connection, list(ids), documents, failures)
        raised = [error for error in failures.values() if isinstance(error, (_Raised, StatementFailed))]
        if len(raised) == len(ids) > 1 and not self._reads_another(connection, ids):
            raise SourceError(
                f"The function of source {self.name!r} fails for every id: {raised[0].message}"
            ) from raised[0]
        return SourceRead(documents, failures)

    def _reads_another(self, connection: oracledb.Connection, ids: Sequence[str]) -> bool:
        """Whether the function works for an id that is not among these: two bad documents are not a bad source."""
        if self._ids is None:
            return False
        others = [key for key in self.ids(connection, limit=len(ids) + 1) if key not in ids]
        if not others:
            return False
        documents: dict[str, Document] = {}
        failures: dict[str, OracleRagError] = {}
        self._call(connection, others[:1], documents, failures)
        return not failures

    def verify(self, connection: oracledb.Connection) -> None:
        """See :meth:`Source.verify`: nothing can be said of a function before it is called."""

    def enumeration(self, connection: oracledb.Connection) -> str:
        """See :meth:`Source.enumeration`. Raises ConfigurationError where the source was declared without ``ids``."""
        if self._ids is None:
            raise ConfigurationError(
                f"Source {self.name!r} cannot be enumerated.", hint='Declare it with ids="select id from …".'
            )
        if self._enumeration is None:
            with connection.cursor() as cursor, translated():
                cursor.execute(f"SELECT q.* FROM (\n{self._ids}\n) q WHERE 1 = 0")
                columns = [(column[0].upper(), column[1]) for column in cursor.description]
            wanted = 2 if self.maps_tenant else 1
            if len(columns) != wanted:
                raise SourceError(
                    f"ids of source {self.name!r} gives {len(columns)} columns, but must give {wanted}: "
                    f"the id{' and the tenant' if self.maps_tenant else ''}."
                )
            key = Key.of([columns[0][0]], dict(columns), f"ids of source {self.name!r}")
            tenant = tenant_expression(f"q.{quoted(columns[1][0])}", columns[1][1]) if self.maps_tenant else "NULL"
            self._enumeration = (
                f"SELECT {key.whole_expression('q')} AS SOURCE_ID, {tenant} AS TENANT_ID FROM (\n{self._ids}\n) q"
            )
        return self._enumeration

    def check(self, connection: oracledb.Connection) -> list[SourceProblem]:
        """See :meth:`Source.check`: the ids can be enumerated and one document read."""
        try:
            ids = self.ids(connection, limit=1) if self._ids is not None else []
            if ids:
                self.read(connection, ids)
            return self.without_key(connection) if self._ids is not None else []
        except OracleRagError as error:
            return [SourceProblem(self.name, error.code, error.message, error.hint)]

    def _definition(self) -> Mapping[str, object]:
        settings = self.settings
        return {
            "function": self.version,
            "ids": self._ids,
            "visibility": settings.visibility,
            "collection": settings.collection,
            "cutting": dataclasses.asdict(settings.cutting),
            "time_zone": settings.time_zone,
        }

    def _call(
        self,
        connection: oracledb.Connection,
        ids: list[str],
        documents: dict[str, Document],
        failures: dict[str, OracleRagError],
    ) -> None:
        try:
            with translated():
                given = self.function(connection, ids)
            self._take(ids, given, documents, failures)
        except (EntityError, StatementFailed) as error:
            self._halves(connection, ids, error, documents, failures)
        except OracleRagError:
            raise
        except Exception as error:  # noqa: BLE001 - the user's own code: what it raises belongs to the ids it was given
            self._halves(connection, ids, _Raised(error, self.name), documents, failures)

    def _halves(
        self,
        connection: oracledb.Connection,
        ids: list[str],
        error: OracleRagError,
        documents: dict[str, Document],
        failures: dict[str, OracleRagError],
    ) -> None:
        if len(ids) == 1:
            failures[ids[0]] = error
            return
        middle = len(ids) // 2
        self._call(connection, ids[:middle], documents, failures)
        self._call(connection, ids[middle:], documents, failures)

    def _take(
        self,
        ids: Sequence[str],
        given: Any,
        documents: dict[str, Document],
        failures: dict[str, OracleRagError],
    ) -> None:
        if not isinstance(given, Mapping):
            raise SourceError(f"The function of source {self.name!r} must give a dict of id to Document.")
        wanted = set(ids)
        for key, document in given.items():
            if key not in wanted:
                raise SourceError(
                    f"The function of source {self.name!r} gave an id that it was not asked for.",
                    hint="The keys are the ids it was given, as text.",
                )
            if document is None:
                continue
            if not isinstance(document, Document) or not isinstance(document.text, str):
                raise SourceError(f"The function of source {self.name!r} must give Documents with a text.")
            if document.occurred_at is not None and not isinstance(document.occurred_at, dt.datetime):
                raise SourceError(f"The function of source {self.name!r} gave an occurred_at that is no datetime.")
            try:
                documents[key] = self.completed(document)
            except EntityError as error:
                failures[key] = error


class _Raised(EntityError):
    """What a user's function raised, without its text: that may hold data."""

    def __init__(self, error: Exception, name: str) -> None:
        super().__init__(f"The function of source {name!r} raised {type(error).__name__}.")
        self.__cause__ = error
