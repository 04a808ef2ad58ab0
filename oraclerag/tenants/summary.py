"""What an installation holds of its tenants, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import oracledb

from oraclerag.database import own_tables
from oraclerag.records import NO_TENANT, TenantSummary
from oraclerag.security import require_unrestricted
from oraclerag.statements import Statements
from oraclerag.tenants.place import Place

__all__ = ["summaries", "summary"]


def summaries(place: Place) -> list[TenantSummary]:
    """Count every tenant's rows, by name. Rows of the queue that name none count as the default tenant's, if any does.

    Raises RowsHidden where row security hides some.
    """
    found: dict[str, Sequence[Any]] = {}
    with place.database.connect() as connection, connection.cursor() as cursor:
        require_unrestricted(connection, place.database.schema, "Who lists the tenants")
        with own_tables():
            cursor.execute(Statements("tenants", place.database.schema)["summaries"])
            for tenant, *numbers in cursor:
                if tenant == NO_TENANT:
                    if place.mapped:
                        continue  # refused by every worker: `queue list` shows them
                    tenant = place.settings.tenant
                found[tenant] = [
                    a + int(b) for a, b in zip(found.get(tenant, [0] * len(numbers)), numbers, strict=True)
                ]
    return [TenantSummary(tenant, *found[tenant]) for tenant in sorted(found)]


def summary(connection: oracledb.Connection, place: Place, tenant: str) -> TenantSummary:
    """Count one tenant's rows."""
    with connection.cursor() as cursor, own_tables():
        statement = Statements("tenants", place.database.schema)["summary"]
        cursor.execute(statement, tenant_id=tenant, queue_tenant=place.queue_tenant(tenant))
        return TenantSummary(tenant, *map(int, cursor.fetchone() or ()))
