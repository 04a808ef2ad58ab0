"""What tenants spend on embedding, written down by the day, and how much of a day's tokens is left."""

from __future__ import annotations

import oracledb

from oraclerag.config import Settings
from oraclerag.database import UNIQUE_VIOLATED, code_of, own_tables
from oraclerag.statements import Statements

__all__ = ["Budget"]


class Budget:
    """The tokens of tenants on one connection, whose transaction each call ends: nothing may be open before it."""

    def __init__(self, connection: oracledb.Connection, schema: str, settings: Settings) -> None:
        self._connection = connection
        self._sql = Statements("embed", schema)
        self._settings = settings

    def spent(self, tenant: str) -> float | None:
        """Give how many seconds are left of a day whose tokens are spent; None where there are some left."""
        allowed = self._settings.tokens_per_day(tenant)
        if allowed is None:
            return None
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql["spent"], tenant_id=tenant)
            row = cursor.fetchone()
            self._connection.rollback()
        assert row is not None  # noqa: S101 - dual has one row
        tokens, left = row
        return float(left) if (tokens or 0) >= allowed else None

    def record(self, tenant: str, physical_name: str, *, tokens: int, requests: int = 1) -> None:
        """Add what was sent for a tenant; commits at once, so that nobody waits for the row."""
        binds = {"tenant_id": tenant, "physical_name": physical_name, "tokens": tokens, "requests": requests}
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql["add"], binds)
            if not cursor.rowcount:
                try:
                    cursor.execute(self._sql["begin"], binds)
                except oracledb.IntegrityError as error:
                    if code_of(error) != UNIQUE_VIOLATED:
                        raise
                    cursor.execute(self._sql["add"], binds)  # another worker began the day
            self._connection.commit()
