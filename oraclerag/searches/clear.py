"""What is removed leaves the log too: the texts that quote an entity, and all that a tenant asked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

import oracledb

from oraclerag.database import Database, own_tables
from oraclerag.searches.purge import SearchPurge, purge
from oraclerag.statements import Statements

__all__ = ["clear_entities", "clear_tenant"]


def clear_entities(connection: oracledb.Connection, schema: str, entities: Iterable[tuple[str, str]]) -> None:
    """Take prompt and answer out of every logged search that found a chunk of these entities (source type and id).

    The keys of the hits stay. One statement for all of them, in the caller's transaction.
    """
    # in one order, so that workers that clear the same searches wait for one another as seldom as can be
    rows = [{"source_type": kind, "source_id": number} for kind, number in sorted(set(entities))]
    if rows:
        with connection.cursor() as cursor, own_tables():
            cursor.executemany(Statements("searches", schema)["clear_texts"], rows)


def clear_tenant(database: Database, tenant: str) -> SearchPurge:
    """Delete every logged search of a tenant with its hits. Commits, in slices; for the owner of the tables."""
    return purge(database, dt.timedelta(0), tenant=tenant)
