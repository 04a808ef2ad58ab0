"""The table that a probe writes to: of this user, under a name that nobody else has, dropped at the end."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oraclerag.database import Database, translated
from oraclerag.statements import quoted

__all__ = ["Scratch", "scratch"]

_PREFIX = "ORACLERAG_PROBE_"


@dataclass(frozen=True, slots=True)
class Scratch:
    """A table with the columns ID, CONTENT (4,000 bytes) and, where there is a model, EMBEDDING."""

    name: str
    dimensions: int | None

    @property
    def sql_name(self) -> str:
        """The table as SQL names it."""
        return quoted(self.name)


@contextlib.contextmanager
def scratch(database: Database, dimensions: int | None, said: Callable[[str], None]) -> Iterator[Scratch]:
    """Make the table, and drop it whatever happens; ``said`` is told before."""
    made = Scratch(f"{_PREFIX}{secrets.token_hex(4).upper()}", dimensions)
    said(f"The probe makes the table {made.name} in the schema of this user, and drops it at the end.")
    vector = "" if dimensions is None else f", EMBEDDING VECTOR({int(dimensions)}, FLOAT32)"
    with database.connect() as connection, connection.cursor() as cursor, translated():
        cursor.execute(f"CREATE TABLE {made.sql_name} (ID NUMBER(9) PRIMARY KEY, CONTENT VARCHAR2(4000 BYTE){vector})")
    try:
        yield made
    finally:
        with database.connect() as connection, connection.cursor() as cursor, translated():
            cursor.execute(f"DROP TABLE {made.sql_name} PURGE")
