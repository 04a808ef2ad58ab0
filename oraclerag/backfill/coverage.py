"""How much of a source is indexed as it says now: counted by the database, as a backfill would find it."""

from __future__ import annotations

from oraclerag.backfill.selection import Selection
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.model.active import active_model
from oraclerag.model.external import configured_name
from oraclerag.records import SourceCoverage
from oraclerag.security import require_unrestricted
from oraclerag.source import Source
from oraclerag.source.ranges import KeyRange
from oraclerag.statements import Statements

__all__ = ["coverage"]


def coverage(database: Database, source: Source, settings: Settings, *, tenant: str | None = None) -> SourceCoverage:
    """Count the entities of a source, or of one ``tenant`` of it, and those that a backfill would enqueue.

    Raises as :func:`backfill` does, but for Contention.
    """
    tenant = source.narrowed(tenant)
    with database.connect() as connection:
        require_unrestricted(connection, database.schema, "Who counts what is missing")
        model = active_model(connection, database.schema, configured=configured_name(settings))
        sql = Statements("backfill", database.schema)
        fingerprint = source.fingerprint(model)
        chosen = Selection(connection, sql, source, tenant=tenant, fingerprint=fingerprint, column=model.column)
        return SourceCoverage(source.name, chosen.total()[0], chosen.count(chosen.wanted(KeyRange(), everything=False)))
