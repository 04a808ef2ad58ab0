"""An audit goes through a source in ranges of ids; what looks wrong is looked at again before it is called so.

Index and source are read one after the other, and both change meanwhile. An entity is wrong only where it differs, no
row of the queue announces it after its source was read, and nobody has written it since the index was read: a change
that was announced and applied in between would have left one of the two traces. So nothing has to be stopped, and no
transaction has to stay open over a whole source.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, get_args

import oracledb

from oraclerag import in_force
from oraclerag.audit.compare import Indexed, State, StoredChunk, Verdict, compare
from oraclerag.audit.repair import Repair
from oraclerag.chunk import Limits
from oraclerag.config import Settings
from oraclerag.database import Database, driver_types, in_list, own_tables, parts, translated
from oraclerag.errors import EntityError, InputError, OracleRagError, SourceChanged
from oraclerag.merge import Write
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import configured_name
from oraclerag.records import (
    MAX_ID_BYTES,
    AuditFinding,
    AuditKind,
    AuditReport,
    Claimed,
    SourceKey,
    fingerprint_half,
)
from oraclerag.render import read, rendered
from oraclerag.security import require_unrestricted
from oraclerag.source import Source, SourceRead
from oraclerag.source.ranges import KeyRange, key_ranges
from oraclerag.statements import Statements, quoted

__all__ = ["audit"]

_RANGE = 50_000  # ids that are kept in memory
_BATCH = 512  # entities that are read at once
_ROUNDS = 3  # looks at what was written while it was looked at

Progress = Callable[[int, int], None]


def audit(
    database: Database,
    source: Source,
    settings: Settings,
    *,
    tenant: str | None = None,
    sample: int | None = None,
    repair: bool = False,
    examples: int = 5,
    seed: int | None = None,
    on_progress: Progress | None = None,
) -> AuditReport:
    """Compare the index with a source, or with one ``tenant`` of it; embeds nothing.

    ``sample`` looks at so many entities only: those whose ORA_HASH under a random ``seed`` is least, and as many of
    those that are indexed and not in the source. ``repair`` enqueues what is wrong (lane 1), in a way that it is
    written anew even where the index takes it for unchanged, and hides chunks of a foreign tenant at once; without it
    nothing is written. ``examples`` of every kind are named. ``on_progress`` is told how many entities of how many are
    done. Raises SourceChanged where other settings are in force than these, InputError, ModelNotActive, and what is
    wrong with the source as a whole.
    """
    if sample is not None and not 1 <= sample <= 1_000_000:
        raise InputError(f"The sample is {sample}, but must be between 1 and 1,000,000.")
    tenant = source.narrowed(tenant)
    began = time.monotonic()
    with database.connect() as connection:
        require_unrestricted(connection, database.schema, "An audit")  # what is hidden would be missing or gone
        model = active_model(connection, database.schema, configured=configured_name(settings))
        run = _Audit(connection, database.schema, source, model, tenant=tenant, examples=examples, repair=repair)
        run.require_settings()
        if sample is None:
            report = run.whole(on_progress)
        else:
            seed = seed if seed is not None else random.randrange(2**32)  # noqa: S311 - a sample, no secret  # nosec B311
            report = run.sample(sample, seed, on_progress)
    return dataclasses.replace(report, seconds=time.monotonic() - began)


class _Audit:
    """One audit on one connection; it counts as it goes and keeps nothing of what is equal."""

    def __init__(
        self,
        connection: oracledb.Connection,
        schema: str,
        source: Source,
        model: ActiveModel,
        *,
        tenant: str | None,
        examples: int,
        repair: bool,
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._source = source
        self._sql = Statements("audit", schema)
        self._column = quoted(model.column, "vector column")
        self._limits = Limits.of(model)
        self._fingerprint = source.fingerprint(model)
        self._tenant = tenant
        self._enumeration = source.enumeration(connection)
        self._examples = examples
        self._repair = Repair(connection, self._sql, source) if repair else None
        self._found: dict[str, list[AuditFinding]] = {}
        self._counts: Counter[str] = Counter()
        self._differs: Counter[str] = Counter()
        self._hidden = self._repaired = 0

    def require_settings(self) -> None:
        """Raise SourceChanged where the index is made with other settings than this process has."""
        now = in_force.read(self._connection, self._schema)
        mine = fingerprint_half(self._fingerprint, "settings")
        if now.fingerprints.get(self._source.name, mine) != mine:
            raise SourceChanged(
                f"Other settings of source {self._source.name!r} are in force than this process has: "
                f"everything would be stale."
            )

    def whole(self, on_progress: Progress | None) -> AuditReport:
        """Look at everything, range by range."""
        total = self._total()
        for within in key_ranges(self._connection, *self._sized(self._enumeration)):
            self._inspect(self._ids("ids", self._there(within)), total, on_progress)
        query, size, binds = self._sized(self._sql["entities"])
        for within in key_ranges(self._connection, query, size, {**binds, "source_type": self._source.name}):
            self._inspect(self._ids("ids", self._gone(within)), total, on_progress)
        return self._report(total, None)

    def sample(self, how_many: int, seed: int, on_progress: Progress | None) -> AuditReport:
        """Look at some, drawn by the hash of their ids."""
        ids = []
        for query, binds in (self._there(KeyRange()), self._gone(KeyRange())):
            ids += self._ids("drawn", (query, {**binds, "how_many": how_many, "seed": seed}))
        self._inspect(ids, len(ids), on_progress)
        return self._report(self._total(), how_many)

    def _inspect(self, ids: Sequence[str], total: int, on_progress: Progress | None) -> None:
        """Compare entities, and those that look wrong once more, unless the queue says already that they wait."""
        suspects: dict[str, bool] = {}  # whether it is hidden
        for part in parts(ids, _BATCH):
            looks = self._look(part)
            suspects |= {key: indexed.hidden for key, (indexed, verdict) in looks.items() if verdict.kind is not None}
            self._counts["equal"] += sum(verdict.kind is None for _, verdict in looks.values())
            if on_progress is not None:
                on_progress(min(self._counts.total() + len(suspects), total), total)
        queued = dict(self._rows("queued", list(suspects)))
        for key, ready in queued.items():
            self._count("waiting" if ready else "dead", hidden=suspects.pop(key))
        left = list(suspects)
        for _ in range(_ROUNDS):
            left = [key for part in parts(left, _BATCH) for key in self._judge(part)]
        self._counts["waiting"] += len(left)

    def _judge(self, ids: Sequence[str]) -> list[str]:
        """Count what is wrong and why; gives those that were written meanwhile, of which nothing can be said."""
        looks = self._look(ids)
        self._counts["equal"] += sum(verdict.kind is None for _, verdict in looks.values())
        looks = {key: look for key, look in looks.items() if look[1].kind is not None}
        # The queue after the source, and the index after the queue: see above.
        queued = dict(self._rows("queued", list(looks)))
        states = {row[0]: _state(row) for row in self._rows("state", list(looks))}
        changed, wrong = [], list[tuple[str, Indexed, Verdict]]()
        for key, (indexed, verdict) in looks.items():
            if key in queued:
                self._count("waiting" if queued[key] else "dead", hidden=indexed.hidden)
            elif states.get(key) != indexed.state:
                changed.append(key)
            else:
                wrong.append((key, indexed, verdict))
                self._wrong(key, indexed, verdict)
        if self._repair is not None and wrong:
            self._repaired += self._repair(wrong)
        return changed

    def _wrong(self, key: str, indexed: Indexed, verdict: Verdict) -> None:
        assert verdict.kind is not None  # noqa: S101 - the caller has asked
        self._count(verdict.kind, hidden=indexed.hidden)
        if verdict.kind == "stale":
            self._differs.update(verdict.differs)
        found = self._found.setdefault(verdict.kind, [])
        if len(found) < self._examples:
            found.append(AuditFinding(verdict.kind, SourceKey(self._source.name, key, verdict.tenant), verdict.differs))

    def _count(self, kind: str, *, hidden: bool) -> None:
        self._counts[kind] += 1
        self._hidden += hidden

    def _look(self, ids: Sequence[str]) -> dict[str, tuple[Indexed, Verdict]]:
        """Read entities from the index, then from the source, and compare."""
        if not ids:
            return {}
        indexed = {key: Indexed() for key in ids}
        for row in self._rows("indexed", ids):
            one = indexed[row[0]]
            one.state, one.tenant, one.document = _state(row), row[6], bool(row[14])
            if row[7] is not None:
                one.chunks[int(row[7])] = StoredChunk(row[8], row[9], row[10], row[11], bool(row[12]), bool(row[13]))
        found = read(self._source, self._connection, ids)
        return {key: (indexed[key], compare(indexed[key], self._said(key, found))) for key in ids}

    def _said(self, key: str, found: SourceRead) -> Write | OracleRagError:
        if key in found.failures:
            return found.failures[key]
        entity, document = Claimed(0, self._source.name, key, (), ()), found.documents.get(key)
        try:
            return rendered(entity, self._source, document, limits=self._limits, fingerprint=self._fingerprint)
        except EntityError as error:
            return error

    def _rows(self, name: str, ids: Sequence[str]) -> list[Any]:
        """Run a statement on the toolkit's own tables for a list of ids."""
        found: list[Any] = []
        with self._connection.cursor() as cursor, own_tables():
            cursor.arraysize = cursor.prefetchrows = 1000
            for part in parts(ids, _BATCH):
                listed, binds = in_list(part)
                statement = self._sql.with_names(name, ids=listed, column=self._column)
                cursor.execute(statement, {**binds, "source_type": self._source.name})
                found += cursor.fetchall()
        return found

    def _there(self, within: KeyRange) -> tuple[str, dict[str, Any]]:
        """Give the query over what the source has, of a tenant where it maps tenants: that is what must be indexed."""
        conditions, binds = ["LENGTHB(TO_CHAR(t.SOURCE_ID)) <= :id_bytes"], dict[str, Any]()
        if self._tenant is not None:
            conditions.append("t.TENANT_ID = :one_tenant")
            binds["one_tenant"] = self._tenant
        elif self._source.maps_tenant:
            conditions.append("t.TENANT_ID IS NOT NULL")
        query, more = within.of(self._enumeration, *conditions)
        return query, {**binds, **more, "id_bytes": MAX_ID_BYTES}

    def _gone(self, within: KeyRange) -> tuple[str, dict[str, Any]]:
        """Give the query over what is indexed and not there."""
        inner, binds = self._there(within)
        conditions = ["t.TENANT_ID = :one_tenant"] if self._tenant is not None else []
        query, _ = within.of(self._sql.with_names("gone", enumeration=f"\n{inner}\n"), *conditions)
        return query, {**binds, "source_type": self._source.name}

    def _sized(self, query: str) -> tuple[str, int, dict[str, Any]]:
        if self._tenant is None:
            return query, _RANGE, {}
        text, _ = KeyRange().of(query, "t.TENANT_ID = :one_tenant")
        return text, _RANGE, {"one_tenant": self._tenant}

    def _ids(self, name: str, query: tuple[str, dict[str, Any]]) -> list[str]:
        text, binds = query
        with self._connection.cursor() as cursor, driver_types(self._connection), translated():
            cursor.arraysize = cursor.prefetchrows = 5000
            cursor.execute(self._sql.with_names(name, enumeration=f"\n{text}\n"), binds)
            return list(dict.fromkeys(row[0] for row in cursor))

    def _total(self) -> int:
        query, binds = self._there(KeyRange())
        with self._connection.cursor() as cursor, translated():
            cursor.execute(self._sql.with_names("total", enumeration=f"\n{query}\n"), binds)
            row = cursor.fetchone()
        return int(row[0]) if row is not None else 0

    def _report(self, total: int, sample: int | None) -> AuditReport:
        return AuditReport(
            source=self._source.name,
            total=total,
            audited=self._counts.total(),
            equal=self._counts["equal"],
            missing=self._counts["missing"],
            stale=self._counts["stale"],
            orphaned=self._counts["orphaned"],
            foreign=self._counts["foreign"],
            unreadable=self._counts["unreadable"],
            waiting=self._counts["waiting"],
            dead=self._counts["dead"],
            hidden=self._hidden,
            repaired=self._repaired,
            sample=sample,
            differs=dict(self._differs),
            examples=tuple(finding for kind in get_args(AuditKind) for finding in self._found.get(kind, ())),
        )


def _state(row: Sequence[Any]) -> State:
    return State(row[1], row[2], row[3], int(row[4]), row[5])
