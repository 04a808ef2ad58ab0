"""Resolved incidents: kept in RAG_RESOLUTION, each change announced in the same transaction, and looked at by scope."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import oracledb

from oraclerag import envelope
from oraclerag.database import Database, own_tables
from oraclerag.enqueue import enqueue
from oraclerag.errors import InputError
from oraclerag.records import Action, Resolution, SourceKey
from oraclerag.scope import Scope
from oraclerag.security import reading, writing
from oraclerag.source import Source, tenants_mapped
from oraclerag.source.base import in_utc, json_object
from oraclerag.source.resolution import RESOLUTION_SOURCE
from oraclerag.statements import Statements, quoted

__all__ = ["Resolutions"]

_MOST = 10_000  # of a list

_OF_ITS_OWN = ("oracle_error_code", "oracle_error_primary", "oracle_error_cause", "validated_by")
_KINDS = {
    "validated_at": oracledb.DB_TYPE_TIMESTAMP,
    "metadata": oracledb.DB_TYPE_JSON,
    "symptom": oracledb.DB_TYPE_CLOB,
    "analysis": oracledb.DB_TYPE_CLOB,
    "fix": oracledb.DB_TYPE_CLOB,
}


class Resolutions:
    """The resolved incidents of an installation; workers index them, searches find them as source ``resolution``.

    What a scope does not see is not there: neither listed nor given, validated or removed.
    """

    def __init__(self, database: Database, sources: Mapping[str, Source]) -> None:
        self._database = database
        self._sources = sources

    def record(self, resolution: Resolution) -> Resolution:
        """Keep a resolution, or replace the one of its tenant that has its ``id``; commits. Gives it as it is kept.

        Raises InputError, also where there is none to replace, and MissingTenant.
        """
        tenant = self._resolved(Scope(tenant=resolution.tenant)).tenant
        binds = {
            "tenant_id": tenant,
            "collection": resolution.collection,
            "title": resolution.title,
            "visibility": resolution.visibility.upper(),
            "owner_id": resolution.owner,
            "validated_by": resolution.validated_by,
            "validated_at": in_utc(resolution.validated_at, "UTC"),
            "metadata": _metadata(resolution),
            "symptom": resolution.symptom,
            "analysis": resolution.analysis,
            "fix": resolution.fix,
        }
        with writing(self._database, tenant) as connection, connection.cursor() as cursor, own_tables():
            if resolution.id is None:
                made = cursor.var(oracledb.DB_TYPE_NUMBER)
                cursor.setinputsizes(**_KINDS)
                cursor.execute(self._statements["add"], binds | {"resolution_id": made})
                number = int(made.getvalue()[0])
            else:
                number = resolution.id
                cursor.setinputsizes(**_KINDS)
                cursor.execute(self._statements["replace"], binds | {"resolution_id": number})
                if not cursor.rowcount:
                    raise _missing(number, tenant)
            self._announce(connection, number, tenant)
            return self._one(cursor, number, Scope(tenant=tenant, manager=True))

    def get(self, number: int, *, scope: Scope) -> Resolution:
        """Give a resolution. Raises InputError where the scope sees none of this number."""
        resolved = self._resolved(scope)
        with reading(self._database, resolved.tenant) as (connection, _), connection.cursor() as cursor, own_tables():
            return self._one(cursor, number, resolved)

    def list(self, *, scope: Scope, validated: bool | None = None, limit: int = 50) -> list[Resolution]:
        """Give the youngest, at most ``limit`` (1 to 10,000): those ``validated`` or not, or both."""
        if not 1 <= limit <= _MOST:
            raise InputError(f"limit is {limit}, but must be between 1 and {_MOST:,}.")
        resolved = self._resolved(scope)
        seen, binds = self._seen(resolved)
        binds |= {"validated": 2 if validated is None else int(validated), "how_many": limit}
        with reading(self._database, resolved.tenant) as (connection, _), connection.cursor() as cursor, own_tables():
            cursor.execute(self._statements.with_names("list", seen=seen), binds, fetch_lobs=False)
            return [_resolution(row) for row in cursor]

    def validate(self, number: int, *, by: str, at: dt.datetime | None = None, scope: Scope) -> Resolution:
        """Note who validated a resolution, and when (default: now; a naive time is UTC); commits."""
        if not by.strip() or len(by.encode()) > 128:
            raise InputError("by must be a text of 1 to 128 bytes that is not blank: who validated it.")
        resolved = self._resolved(scope)
        seen, binds = self._seen(resolved)
        binds |= {"validated_by": by, "validated_at": in_utc(at, "UTC"), "resolution_id": number}
        with writing(self._database, resolved.tenant) as connection, connection.cursor() as cursor, own_tables():
            cursor.setinputsizes(validated_at=oracledb.DB_TYPE_TIMESTAMP)
            cursor.execute(self._statements.with_names("validate", seen=seen), binds)
            if not cursor.rowcount:
                raise _missing(number, resolved.tenant)
            self._announce(connection, number, resolved.tenant)
            return self._one(cursor, number, resolved)

    def remove(self, number: int, *, scope: Scope) -> None:
        """Take a resolution away; commits. Once a worker has seen it, nobody finds it any more."""
        resolved = self._resolved(scope)
        seen, binds = self._seen(resolved)
        with writing(self._database, resolved.tenant) as connection, connection.cursor() as cursor, own_tables():
            cursor.execute(self._statements.with_names("remove", seen=seen), binds | {"resolution_id": number})
            if not cursor.rowcount:
                raise _missing(number, resolved.tenant)
            self._announce(connection, number, resolved.tenant, "DELETE")

    @property
    def _statements(self) -> Statements:
        return Statements("resolution", self._database.schema)

    def _resolved(self, scope: Scope) -> Scope:
        if not isinstance(scope, Scope):
            raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
        mapped = tenants_mapped(dict(self._sources))
        return scope.resolve(self._database.settings.tenant, tenants_mapped=mapped)

    def _seen(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        """Give the query for the ids of all that a resolved scope may see, and its binds."""
        allowed, binds = scope.predicate("s")
        schema = quoted(self._database.schema, "schema")
        return f"SELECT s.RESOLUTION_ID FROM {schema}.RAG_RESOLUTION s WHERE {allowed}", dict(binds)

    def _one(self, cursor: oracledb.Cursor, number: int, scope: Scope) -> Resolution:
        seen, binds = self._seen(scope)
        cursor.execute(
            self._statements.with_names("get", seen=seen), binds | {"resolution_id": number}, fetch_lobs=False
        )
        row = cursor.fetchone()
        if row is None:
            raise _missing(number, scope.tenant)
        return _resolution(row)

    def _announce(
        self, connection: oracledb.Connection, number: int, tenant: str | None, action: Action = "UPSERT"
    ) -> None:
        key = SourceKey(RESOLUTION_SOURCE, str(number), tenant)
        enqueue(connection, key, sources=self._sources, schema=self._database.schema, action=action)


def _missing(number: int, tenant: str | None) -> InputError:
    return InputError(
        f"There is no resolution {number} of the tenant {tenant!r} that this scope sees.",
        hint="`oraclerag resolution list` shows which there are.",
    )


def _metadata(resolution: Resolution) -> dict[str, Any]:
    """Give the metadata as they are kept: what the envelope names, beside what else was given."""
    try:
        found = json_object(resolution.metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"Resolution: metadata has no JSON form ({type(error).__name__}).") from None
    for name in (*envelope.FIELDS.values(), *_OF_ITS_OWN):
        if name in found:
            raise InputError(f"Resolution: metadata names {name!r}, which has an argument of its own.")
    found |= {
        inside: getattr(resolution, name)
        for name, inside in envelope.FIELDS.items()
        if getattr(resolution, name) is not None
    }
    return found | ({"oracle_error_code": list(resolution.error_codes)} if resolution.error_codes else {})


def _resolution(row: tuple[Any, ...]) -> Resolution:
    number, tenant, collection, title, visibility, owner, by, at, recorded, metadata, symptom, analysis, fix = row
    metadata = json_object(metadata or {})
    enveloped = {name: metadata.pop(inside, None) for name, inside in envelope.FIELDS.items()}
    return Resolution(
        id=int(number),
        tenant=tenant,
        collection=collection,
        title=title,
        visibility="owner" if visibility == "OWNER" else "shared",
        owner=owner,
        validated_by=by,
        validated_at=_aware(at),
        recorded_at=_aware(recorded),
        symptom=symptom,
        analysis=analysis,
        fix=fix,
        error_codes=metadata.pop("oracle_error_code", ()),
        metadata=metadata,
        **enveloped,
        other_resolution_types=[kind] if (kind := enveloped["resolution_type"]) else [],
    )


def _aware(moment: dt.datetime | None) -> dt.datetime | None:
    return None if moment is None else moment.replace(tzinfo=dt.UTC)
