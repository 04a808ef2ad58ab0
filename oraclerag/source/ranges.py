"""A large source is gone through in ranges of its ids, in the order of their texts: so many rows at a time.

Ranges are made of values, not of positions: what comes or goes meanwhile is in one range or in none, never in two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import driver_types, translated
from oraclerag.records import MAX_ID_BYTES

__all__ = ["KeyRange", "ends_of", "key_ranges"]


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The ids behind ``after``, up to and with ``upto``; None is where there is no end."""

    after: str | None = None
    upto: str | None = None

    def of(self, query: str, *more: str) -> tuple[str, dict[str, Any]]:
        """Narrow a query over SOURCE_ID and TENANT_ID to the range and to ``more`` conditions; gives it with its binds.

        In conditions the row is called ``t``.
        """
        conditions, binds = list(more), dict[str, Any]()
        if self.after is not None:
            conditions.append("t.SOURCE_ID > :range_after")
            binds["range_after"] = self.after
        if self.upto is not None:
            conditions.append("t.SOURCE_ID <= :range_upto")
            binds["range_upto"] = self.upto
        if not conditions:
            return query, {}
        return f"SELECT t.* FROM (\n{query}\n) t WHERE {' AND '.join(conditions)}", binds


def ends_of(query: str) -> str:
    """Give the statement that finds every ``range_rows``-th id of a query, in the order of ids."""
    return (
        "SELECT x.SOURCE_ID FROM (\n"
        "SELECT s.SOURCE_ID, ROW_NUMBER() OVER (ORDER BY s.SOURCE_ID) AS ROW_NO\n"
        f"FROM (\n{query}\n) s WHERE LENGTHB(TO_CHAR(s.SOURCE_ID)) <= :most_bytes\n"
        ") x WHERE MOD(x.ROW_NO, :range_rows) = 0"
    )


def key_ranges(
    connection: oracledb.Connection, query: str, size: int, binds: Mapping[str, Any] | None = None
) -> list[KeyRange]:
    """Cut what a query over SOURCE_ID gives into ranges of ``size`` rows; the database sorts once, only ends travel.

    The last range has no end. There is always one. Ends that RAG_DIRTY cannot hold are not used: a text of more than
    1,000 characters would be bound as a LONG (ORA-01461).
    """
    with connection.cursor() as cursor, driver_types(connection), translated():
        cursor.execute(ends_of(query), {**(binds or {}), "most_bytes": MAX_ID_BYTES, "range_rows": size})
        # Sorted here: texts are compared by their bytes, which is the order of Python's, while ORDER BY follows
        # NLS_SORT of a session that is not ours.
        ends = sorted({row[0] for row in cursor})
    return [KeyRange(*pair) for pair in zip([None, *ends], [*ends, None], strict=True)]
