"""What triggers do to the tables they stand on: what they do not see, what stops, what gets slower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oraclerag.source.dictionary import Named

__all__ = ["Effect", "effects"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing to know before triggers are created: ``kind`` says what happens to what ``text`` names."""

    kind: Literal["does not fire", "stops", "slower"]
    text: str


def effects(tables: Sequence[Named], *, lobs: bool) -> tuple[Effect, ...]:
    """Give what to know of triggers on these tables; ``lobs``: whether columns matter that may be LOBs."""
    found = [
        Effect("does not fire", "TRUNCATE; and TRUNCATE, DROP or EXCHANGE of a partition"),
        Effect("does not fire", "SQL*Loader with DIRECT=TRUE: it disables the triggers while it loads"),
        Effect("does not fire", "DDL that gives values: ADD with DEFAULT, online redefinition, an import of the table"),
        Effect("does not fire", "FLASHBACK TABLE without ENABLE TRIGGERS"),
        Effect("does not fire", "what replication applies, unless DBMS_DDL.SET_TRIGGER_FIRING_PROPERTY says otherwise"),
    ]
    if lobs:
        found.append(Effect("does not fire", "writes into a LOB through its locator: DBMS_LOB, a driver's LOB.write"))
    views = [str(table) for table in tables if table.kind == "MATERIALIZED VIEW"]
    if views:
        found.append(Effect("does not fire", f"a complete refresh of {', '.join(views)} with ATOMIC_REFRESH off"))
    found += [
        Effect("stops", "loading through the direct path interface, as python-oracledb's direct_path_load (ORA-26086)"),
        Effect("slower", "INSERT /*+ APPEND */ and parallel DML: they run as conventional, serial DML, and fire"),
    ]
    return tuple(found)
