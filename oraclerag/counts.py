"""How many chunks a search would read: counted now and then, kept in RAG_SETTING, estimated without a round trip.

The estimate decides between an exact and an approximate search. It may be old: being wrong costs time or a little
recall, never rights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oraclerag.database import Database, own_tables
from oraclerag.filters import SHARE
from oraclerag.in_force import put
from oraclerag.records import DrainReport
from oraclerag.scope import Scope
from oraclerag.security import require_unrestricted
from oraclerag.statements import Statements

if TYPE_CHECKING:
    import oracledb

__all__ = ["Population", "estimate", "read", "refresh"]

_MAX_BYTES = 4000
_OTHERS = ""  # no tenant is called so: '' is NULL in Oracle


@dataclass(frozen=True, slots=True)
class Population:
    """The chunks of one source and tenant: all, those with an owner's visibility, and how many owners there are."""

    chunks: int
    owned: int = 0
    owners: int = 0

    def visible_to(self, scope: Scope) -> float:
        """Give about how many of them a scope sees, each owner having an equal part."""
        if scope.manager:
            return self.chunks
        share = min(1.0, len(scope.principals) / max(self.owners, 1))
        return self.chunks - self.owned * (1.0 - share)


Counts = Mapping[str, Mapping[str, Population]]  # source → tenant → population


def estimate(counts: Counts, scope: Scope, *, sources: Collection[str] = (), conditions: float = 0) -> float:
    """Give about how many chunks a search reads; ``scope`` is resolved, no ``sources`` means all of them."""
    assert scope.tenant is not None  # noqa: S101 - resolved by the caller
    found = 0.0
    for source, tenants in counts.items():
        if not sources or source in sources:
            population = tenants.get(scope.tenant) or tenants.get(_OTHERS)
            found += population.visible_to(scope) if population is not None else 0.0
    return found * float(SHARE**conditions)


def read(connection: oracledb.Connection, schema: str) -> Counts:
    """Read what was counted last; empty where nothing was."""
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("counts", schema)["read"])
        return {source: unpack(text) for source, text in cursor}


def refresh(database: Database) -> Counts:
    """Count the chunks and keep the numbers; one pass over RAG_CHUNK, in a transaction of its own."""
    statements = Statements("counts", database.schema)
    with database.transaction() as connection, connection.cursor() as cursor, own_tables():
        require_unrestricted(connection, database.schema, "Who counts the chunks")
        known = set(read(connection, database.schema))
        cursor.execute(statements["count"])
        counted: dict[str, dict[str, Population]] = {}
        for source, tenant, chunks, owned, owners in cursor:
            counted.setdefault(source, {})[tenant] = Population(chunks, owned, owners)
        for source, tenants in counted.items():
            put(connection, database.schema, source, "counts", pack(tenants.items()))
        for source in known - set(counted):
            put(connection, database.schema, source, "counts", None)
    return counted


class Recount:
    """Has a worker count again now and then: when it has nothing to do and has changed something since."""

    def __init__(
        self, database: Database, *, seconds: float = 600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._clock = clock
        self._changed = False
        self._last = float("-inf")

    def told(self, report: DrainReport) -> None:
        """Take note of a batch, and count if it is time."""
        self._changed = self._changed or bool(report.indexed or report.deleted)
        if not report.claimed and self._clock() - self._last >= self._seconds:
            self.now()

    def now(self) -> None:
        """Count if something changed."""
        if self._changed:
            refresh(self._database)
            self._changed = False
            self._last = self._clock()


def pack(tenants: Iterable[tuple[str, Population]]) -> str:
    """Write populations, largest first, as JSON of at most 4,000 bytes.

    Tenants that do not fit share one entry: the largest of them, so that none is taken for smaller than it is.
    """
    rows = sorted(tenants, key=lambda item: (-item[1].chunks, item[0]))
    kept: dict[str, list[int]] = {}
    for position, (tenant, population) in enumerate(rows):
        values = [population.chunks, population.owned, population.owners]
        rest = {_OTHERS: values} if position + 1 < len(rows) else {}
        if len(_dump(kept | {tenant: values} | rest).encode()) > _MAX_BYTES:
            return _dump(kept | {_OTHERS: values})
        kept[tenant] = values
    return _dump(kept)


def unpack(text: str) -> Mapping[str, Population]:
    """Read what :func:`pack` wrote."""
    return {tenant: Population(*values) for tenant, values in json.loads(text).items()}


def _dump(value: Mapping[str, list[int]]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
