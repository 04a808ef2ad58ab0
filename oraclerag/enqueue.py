"""Announce a change: one INSERT into RAG_DIRTY on the caller's own connection, in the caller's own transaction.

A rollback takes the announcement back with the change. Nothing here commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

import oracledb

from oraclerag.database import driver_connection, own_tables
from oraclerag.errors import AutocommitRefused, InputError, MissingTenant, UnknownSource
from oraclerag.records import NO_TENANT, Action, SourceKey
from oraclerag.statements import Statements, identifier

if TYPE_CHECKING:  # who announces with the driver alone, and a worker, need no SQLAlchemy
    import sqlalchemy

    from oraclerag.source.base import Source

__all__ = ["enqueue", "enqueue_changes", "enqueue_many", "enqueue_statement", "insertion"]


def enqueue(
    connection: Any,
    key: SourceKey,
    *,
    sources: Mapping[str, Source],
    schema: str,
    action: Action = "UPSERT",
    lane: int = 0,
) -> None:
    """Announce that an entity changed.

    ``connection`` is a SQLAlchemy Connection or Session, or an oracledb connection; the caller commits. ``action`` is
    for people: what happens follows from the entity's state when a worker reads it. ``lane`` 1 is for bulk work.
    Raises UnknownSource, MissingTenant where the source maps tenants and ``key`` names none, and AutocommitRefused.
    """
    enqueue_many(connection, [key], sources=sources, schema=schema, action=action, lane=lane)


def enqueue_many(
    connection: Any,
    keys: Iterable[SourceKey],
    *,
    sources: Mapping[str, Source],
    schema: str,
    action: Action = "UPSERT",
    lane: int = 0,
) -> int:
    """Announce that several entities changed, in one round trip; gives how many."""
    rows = [_row(key, sources, action, lane) for key in keys]
    if not rows:
        return 0
    if isinstance(connection, oracledb.AsyncConnection):
        raise InputError(
            "enqueue needs a connection that is not asynchronous.",
            hint="Execute enqueue_statement(key) on an AsyncConnection or AsyncSession of SQLAlchemy.",
        )
    with own_tables():
        driver = driver_connection(connection)
        if driver.autocommit:
            raise AutocommitRefused
        if connection is driver:
            with driver.cursor() as cursor:
                cursor.executemany(insertion(schema), rows)
        else:
            import sqlalchemy

            connection.execute(sqlalchemy.insert(_table(schema)), rows)
    return len(rows)


def enqueue_changes(
    connection: sqlalchemy.Connection,
    changes: Iterable[tuple[SourceKey, Action]],
    *,
    sources: Mapping[str, Source],
    schema: str | None,
) -> None:
    """Announce several changes on a Connection of SQLAlchemy, of an asynchronous engine too, in one round trip."""
    rows = [_row(key, sources, action, 0) for key, action in changes]
    if not rows:
        return
    with own_tables():
        if getattr(connection.connection.driver_connection, "autocommit", False):
            raise AutocommitRefused
        import sqlalchemy

        connection.execute(sqlalchemy.insert(_table(schema)), rows)


def enqueue_statement(
    key: SourceKey,
    *,
    sources: Mapping[str, Source],
    schema: str | None = None,
    action: Action = "UPSERT",
    lane: int = 0,
) -> sqlalchemy.Insert:
    """Give the announcement as a statement of SQLAlchemy, for an AsyncSession or a unit of work of one's own.

    Without ``schema`` the connected user's table is meant.
    """
    import sqlalchemy

    return sqlalchemy.insert(_table(schema)).values(_row(key, sources, action, lane))


def insertion(schema: str) -> str:
    """Give the INSERT itself, with its binds by name."""
    return Statements("enqueue", schema)["enqueue"]


def _row(key: SourceKey, sources: Mapping[str, Source], action: str, lane: int) -> dict[str, Any]:
    source = sources.get(key.type)
    if source is None:
        known = ", ".join(sorted(name for name, one in sources.items() if not one.built_in)) or "none"
        raise UnknownSource(f"There is no source {key.type!r}; configured: {known}.")
    if source.maps_tenant and key.tenant is None:
        raise MissingTenant(f"Source {key.type!r} maps a tenant, and the key of this entity names none.")
    if action not in get_args(Action):
        raise InputError(f"action must be 'UPSERT' or 'DELETE', not {action!r}.")
    if lane not in (0, 1):
        raise InputError(f"lane must be 0 (a change) or 1 (bulk work), not {lane!r}.")
    return {
        "lane": lane,
        "tenant_id": key.tenant or NO_TENANT,
        "source_type": key.type,
        "source_id": key.id,
        "action": action,
    }


def _table(schema: str | None) -> sqlalchemy.TableClause:
    import sqlalchemy

    owner = None if schema is None else sqlalchemy.quoted_name(identifier(schema, "schema"), quote=True)
    columns: list[sqlalchemy.ColumnClause[Any]] = [
        sqlalchemy.column(name) for name in ("lane", "tenant_id", "source_type", "source_id", "action")
    ]
    return sqlalchemy.table("rag_dirty", *columns, schema=owner)
