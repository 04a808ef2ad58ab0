"""The queue's protocol: take turns, claim, hold, settle, give back, postpone. Nothing else.

A claim is a short transaction that is over before anything is read: the rows carry its token, the entities a ticket
with the same token, both with a lease. Everything that follows touches a row only while it carries the token and an
entity only while it carries the ticket, so a worker that was slow or died takes nothing from the one that came after.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import oracledb

from oraclerag import telemetry
from oraclerag.database import UNIQUE_VIOLATED, execute_counted, in_list, own_tables, parts
from oraclerag.errors import Contention, MissingTenant
from oraclerag.records import NO_TENANT, Claimed, Held
from oraclerag.statements import Statements

__all__ = ["Claim", "Postponed", "Queue", "Turn", "Turns", "picking"]

CRASHED = "CRASHED"
_BULK_TURN = 4  # one batch in so many is of lane 1 while lane 0 is busy


@dataclass(frozen=True, slots=True)
class Claim:
    """One batch: its token and what was got; ``buried`` counts rows that went DEAD instead."""

    token: str
    entities: tuple[Claimed, ...]
    buried: int = 0


@dataclass(frozen=True, slots=True)
class Postponed:
    """An entity that failed: why, and when it is tried again (seconds).

    ``unread``: who may see it could not be read; when a row of it is given up, nobody sees it until that is known.
    """

    entity: Claimed
    error_code: str
    message: str
    pause: float
    unread: bool


class Turn(NamedTuple):
    """A lane, the tenant whose turn it is, and the sources in which something of it is due, the next one first."""

    lane: int
    tenant: str
    sources: tuple[str, ...]


@dataclass(slots=True)
class Turns:
    """Whose turn it was: tenants by name in either lane, how often it began anew, and how many batches were claimed."""

    last: dict[int, str | None] = field(default_factory=lambda: {0: None, 1: None})
    rounds: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0})
    batches: int = 0

    def took(self, turn: Turn) -> None:
        """Note that a tenant had its turn."""
        self.rounds[turn.lane] += self._anew(turn.lane, turn.tenant)
        self.last[turn.lane] = turn.tenant

    def _anew(self, lane: int, tenant: str) -> bool:
        """Whether a turn of the tenant begins another round."""
        last = self.last[lane]
        return last is not None and tenant <= last

    def of(self, lane: int, after: Mapping[str, str | None], first: Mapping[str, str | None]) -> Turn | None:
        """Give the turn of a lane from the next and the first tenant of every source; None where nothing is due."""
        for tenants in (after, first):
            if waiting := sorted({tenant for tenant in tenants.values() if tenant is not None}):
                sources = sorted(source for source, tenant in tenants.items() if tenant == waiting[0])
                # Another source in every round, so that none waits behind the others.
                begin = (self.rounds[lane] + self._anew(lane, waiting[0])) % len(sources)
                return Turn(lane, waiting[0], (*sources[begin:], *sources[:begin]))
        return None


@dataclass(frozen=True, slots=True)
class _Row:
    dirty_id: int
    source_type: str
    source_id: str
    tenant_id: str
    claim: str | None
    attempts: int
    crashes: int

    @property
    def suspect(self) -> bool:
        """Whether its last claim ended without a report: it may be what ended it."""
        return self.claim is not None

    @property
    def key(self) -> tuple[str, str]:
        return self.source_type, self.source_id


class Queue:
    """The protocol on one connection. ``lease`` is in seconds; methods say whether they commit.

    ``unheard`` is a claim whose commit nobody heard of, because the connection was lost: it may have succeeded.
    """

    def __init__(self, connection: oracledb.Connection, schema: str, *, lease: float, max_attempts: int) -> None:
        self._connection = connection
        self._sql = Statements("claim", schema)
        self._lease = lease
        self._max_attempts = max_attempts
        self.unheard: Claim | None = None

    def turn(self, turns: Turns, types: Collection[str]) -> list[Turn]:
        """Say which lane and tenant are next, and which after them; empty where nothing waits. One plain query.

        ``types`` are the sources that this worker may serve, at least one.
        """
        binds = {f"t{number}": name for number, name in enumerate(sorted(types))}
        statement = "\nUNION ALL\n".join(self._sql.with_names("next_tenants", source=f":{bind}") for bind in binds)
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(statement, {**binds, "last_change": turns.last[0], "last_bulk": turns.last[1]})
            rows = cursor.fetchall()
        found = [
            turns.of(lane, {row[0]: row[2 * lane + 1] for row in rows}, {row[0]: row[2 * lane + 2] for row in rows})
            for lane in (0, 1)
        ]
        if turns.batches % _BULK_TURN == _BULK_TURN - 1:
            found.reverse()
        return [turn for turn in found if turn is not None]

    @telemetry.step("claim")
    def claim(self, lane: int, tenant: str, *, types: Mapping[str, bool], limit: int, come_back: float) -> Claim:
        """Claim up to ``limit`` rows of a tenant; commits.

        ``types`` are the sources to take from, in this order, each with whether it maps tenants; ``come_back`` is when
        rows of entities that others hold are tried again, in seconds.
        """
        with self._connection.cursor() as cursor, own_tables():
            return self._claim(cursor, lambda: self._pick(cursor, lane, tenant, tuple(types), limit), types, come_back)

    @telemetry.step("claim")
    def claim_entities(
        self, keys: Sequence[tuple[str, str]], *, types: Mapping[str, bool], limit: int, come_back: float
    ) -> Claim:
        """Claim up to ``limit`` rows of given entities, by type and id, of whatever lane and tenant; commits.

        Rows that are not due stay. ``types`` must hold the types of all keys; else as :meth:`claim`.
        """
        with self._connection.cursor() as cursor, own_tables():
            return self._claim(cursor, lambda: self._pick_entities(cursor, keys, limit), types, come_back)

    def _claim(
        self, cursor: oracledb.Cursor, pick: Callable[[], list[_Row]], types: Mapping[str, bool], come_back: float
    ) -> Claim:
        token = str(uuid.uuid4())
        entities: tuple[Claimed, ...] = ()
        buried: list[tuple[_Row, str, str]] = []
        rows = pick()
        ids, dead = self._find(cursor, rows)
        if self._create(cursor, rows, ids, commits=True):
            rows = pick()  # they are free again, and others may have taken them: once more, and then no longer
            ids, dead = self._find(cursor, rows)
            if self._create(cursor, rows, ids, commits=False):
                ids, dead = self._find(cursor, rows)
        if rows:
            free = self._free(cursor, sorted(ids[row.key] for row in rows))
            got = [row for row in rows if ids[row.key] in free]
            held = [row.dirty_id for row in rows if ids[row.key] not in free]
            self._listed(cursor, "come_back", held, pause=come_back)
            buried = self._bury(cursor, got, ids, types)
            gone = {row.dirty_id for row, _, _ in buried}
            entities = self._take(cursor, token, [row for row in got if row.dirty_id not in gone], ids, dead)
        claim = Claim(token, entities, len(buried))
        self.unheard = claim
        self._connection.commit()
        self.unheard = None
        return claim

    def renew(self, claim: Claim, entities: Iterable[Claimed]) -> None:
        """Begin the lease of ticket and rows anew; commits."""
        entities = list(entities)
        lease = {"claim_token": claim.token, "lease": self._lease}
        with self._connection.cursor() as cursor, own_tables():
            self._listed(cursor, "renew_tickets", [entity.entity_id for entity in entities], **lease)
            self._listed(cursor, "renew_rows", [row for entity in entities for row, _ in entity.rows], **lease)
            self._connection.commit()

    def hold(self, claim: Claim, entities: Sequence[Claimed]) -> dict[int, Held]:
        """Lock the entities whose ticket is still ours, by ENTITY_ID; what is missing was taken over."""
        ids = sorted(entity.entity_id for entity in entities)
        found = {}
        with self._connection.cursor() as cursor, own_tables():
            for part in parts(ids):
                listed, binds = in_list(part)
                cursor.arraysize = cursor.prefetchrows = len(part) + 1
                cursor.execute(self._sql.with_names("hold", ids=listed), {**binds, "claim_token": claim.token})
                for entity_id, fingerprint, content_hash, details_hash, chunks, tenant in cursor.fetchall():
                    found[int(entity_id)] = Held(fingerprint, content_hash, details_hash, int(chunks), tenant)
        return found

    @telemetry.step("settle")
    def settle(self, claim: Claim, entities: Iterable[Claimed]) -> None:
        """Delete the rows that carry the claim and the DEAD rows seen before the read; the caller commits."""
        entities = list(entities)
        with self._connection.cursor() as cursor, own_tables():
            rows = [row for entity in entities for row, _ in entity.rows]
            self._listed(cursor, "settle", rows, claim_token=claim.token)
            self._listed(cursor, "settle_dead", [row for entity in entities for row in entity.dead])

    def give_back(
        self, claim: Claim, entities: Iterable[Claimed], *, pause: float = 0.0, why: tuple[str, str] | None = None
    ) -> None:
        """Free rows and tickets, counted as nothing; commits. ``why`` is the code and the sentence that rows keep."""
        entities = list(entities)
        token = {"claim_token": claim.token}
        with self._connection.cursor() as cursor, own_tables():
            tickets = sorted(entity.entity_id for entity in entities)
            self._many(cursor, "free_ticket", [{"entity_id": ticket, **token} for ticket in tickets])
            rows = [row for entity in entities for row, _ in entity.rows]
            if why is None:
                self._listed(cursor, "give_back", rows, pause=pause, **token)
            else:
                said = {"error_code": why[0], "last_error": _cut(why[1])}
                self._listed(cursor, "put_off", rows, pause=pause, **said, **token)
            self._connection.commit()

    def gives_up(self, entity: Claimed) -> bool:
        """Whether one more failure makes a row of the entity DEAD."""
        return any(attempts + 1 >= self._max_attempts for _, attempts in entity.rows)

    def postpone(self, claim: Claim, failures: Sequence[Postponed]) -> None:
        """Write down failures, hide what must be hidden, free rows and tickets; the caller commits."""
        token = {"claim_token": claim.token}
        failures = sorted(failures, key=lambda failure: failure.entity.entity_id)
        with self._connection.cursor() as cursor, own_tables():
            tickets = [{"entity_id": failure.entity.entity_id, **token} for failure in failures]
            freed = execute_counted(cursor, self._sql["free_ticket"], tickets)
            # Only while the ticket was ours: another worker may have read the rights meanwhile.
            ours = [failure for failure, count in zip(failures, freed, strict=True) if count]
            hidden = [
                {"entity_id": failure.entity.entity_id}
                for failure in ours
                if failure.unread and self.gives_up(failure.entity)
            ]
            self._many(cursor, "hide", hidden)
            self._many(cursor, "forget_details", [{"entity_id": failure.entity.entity_id} for failure in ours])
            rows = [
                {
                    "dirty_id": row,
                    "new_state": "DEAD" if attempts + 1 >= self._max_attempts else "READY",
                    "error_code": failure.error_code,
                    "last_error": _cut(failure.message),
                    "pause": failure.pause,
                    **token,
                }
                for failure in failures
                for row, attempts in failure.entity.rows
            ]
            self._many(cursor, "postpone", sorted(rows, key=lambda row: row["dirty_id"]))

    def _pick(self, cursor: oracledb.Cursor, lane: int, tenant: str, types: Sequence[str], limit: int) -> list[_Row]:
        turn = {"lane": lane, "tenant_id": tenant}
        return _locked(cursor, ((self._sql["pick"], {**turn, "source_type": name}) for name in types), limit)

    def _pick_entities(self, cursor: oracledb.Cursor, keys: Sequence[tuple[str, str]], limit: int) -> list[_Row]:
        return _locked(cursor, self._of_keys("pick_entities", keys), limit)

    def _of_keys(self, name: str, keys: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give a statement over ids of one type, with its binds, as often as it takes for these keys, in order."""
        by_type: dict[str, list[str]] = defaultdict(list)
        for source_type, source_id in sorted(set(keys)):
            by_type[source_type].append(source_id)
        for source_type, source_ids in by_type.items():
            for part in parts(source_ids):
                listed, binds = in_list(part)
                yield self._sql.with_names(name, ids=listed), {**binds, "source_type": source_type}

    def _create(
        self,
        cursor: oracledb.Cursor,
        rows: Sequence[_Row],
        ids: Collection[tuple[str, str]],
        *,
        commits: bool,
    ) -> bool:
        """Make the entities that there are not; gives whether any was missing.

        Whoever inserts the same key waits for the commit. Were that a round trip of its own, a worker that the network
        has cut off before it would hold up the others until the database finds out that it is dead.
        """
        # In the order of the keys, so that two workers wait for each other in one direction only.
        missing = sorted({row.key for row in rows} - set(ids))
        if not missing:
            return False
        self._connection.autocommit = commits
        try:
            cursor.executemany(
                self._sql["create_entity"],
                [{"source_type": key[0], "source_id": key[1]} for key in missing],
                batcherrors=True,
            )
        finally:
            self._connection.autocommit = False
        errors = cursor.getbatcherrors()
        for error in errors:
            if error.full_code != UNIQUE_VIOLATED:
                raise oracledb.DatabaseError(error)
        if errors and commits:  # then the driver's autocommit need not have committed
            self._connection.commit()
        return True

    def _find(
        self, cursor: oracledb.Cursor, rows: Sequence[_Row]
    ) -> tuple[dict[tuple[str, str], int], dict[int, list[int]]]:
        """Give the ENTITY_ID of every key that has one, and the DEAD rows of every entity."""
        ids: dict[tuple[str, str], int] = {}
        dead: dict[int, list[int]] = defaultdict(list)
        for statement, binds in self._of_keys("entities", (row.key for row in rows)):
            cursor.arraysize = cursor.prefetchrows = 2 * len(binds) + 1
            cursor.execute(statement, binds)
            for entity_id, source_type, source_id, dirty_id in cursor.fetchall():
                ids[source_type, source_id] = int(entity_id)
                if dirty_id is not None:
                    dead[int(entity_id)].append(int(dirty_id))
        return ids, dead

    def _free(self, cursor: oracledb.Cursor, ids: Sequence[int]) -> set[int]:
        found = set()
        for part in parts(list(dict.fromkeys(ids))):
            listed, binds = in_list(part)
            cursor.arraysize = cursor.prefetchrows = len(part) + 1
            cursor.execute(self._sql.with_names("free_entities", ids=listed), binds)
            found |= {int(row[0]) for row in cursor.fetchall()}
        return found

    def _bury(
        self,
        cursor: oracledb.Cursor,
        rows: Sequence[_Row],
        ids: Mapping[tuple[str, str], int],
        types: Mapping[str, bool],
    ) -> list[tuple[_Row, str, str]]:
        """Make rows DEAD that may not be applied or have ended a worker too often, and hide their entities.

        A row counts a claim that ended without a report when it was alone and, once, when others were beside it: hence
        more than ``max_attempts``.
        """
        named = {row.key for row in rows if row.tenant_id != NO_TENANT}
        buried = []
        for row in rows:
            if types[row.source_type] and row.key not in named:
                message = "The source maps a tenant, and the queue row names none ('-' stands for none)."
                buried.append((row, MissingTenant.code, message))
            elif row.suspect and row.crashes > self._max_attempts:
                message = f"{row.crashes} claims of this row ended without a report: the worker died or took too long."
                buried.append((row, CRASHED, message))
        entities = [{"entity_id": entity_id} for entity_id in sorted({ids[row.key] for row, _, _ in buried})]
        self._many(cursor, "hide", entities)
        self._many(cursor, "forget_details", entities)
        self._many(
            cursor,
            "bury",
            [{"dirty_id": row.dirty_id, "error_code": code, "last_error": message} for row, code, message in buried],
        )
        return buried

    def _take(
        self,
        cursor: oracledb.Cursor,
        token: str,
        rows: Sequence[_Row],
        ids: Mapping[tuple[str, str], int],
        dead: Mapping[int, list[int]],
    ) -> tuple[Claimed, ...]:
        lease = {"claim_token": token, "lease": self._lease}
        wanted = {ids[row.key] for row in rows}
        taken = self._listed(cursor, "take_tickets", list(wanted), **lease)
        claimed = self._listed(cursor, "claim_rows", [row.dirty_id for row in rows], **lease)
        if (taken, claimed) != (len(wanted), len(rows)):  # all of them are locked: it cannot be
            raise Contention("Rows that this claim had locked were changed by somebody else.")
        mine: dict[tuple[str, str], list[_Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.dirty_id):
            mine[row.key].append(row)
        return tuple(
            Claimed(
                entity_id=ids[key],
                source_type=key[0],
                source_id=key[1],
                rows=tuple((row.dirty_id, row.attempts) for row in found),
                dead=tuple(dead.get(ids[key], ())),
            )
            for key, found in sorted(mine.items())
        )

    def _listed(self, cursor: oracledb.Cursor, name: str, ids: Sequence[int], **binds: Any) -> int:
        """Run a statement for a list of ids; gives the number of rows that it touched."""
        touched = 0
        for part in parts(sorted(ids)):
            listed, values = in_list(part)
            cursor.execute(self._sql.with_names(name, ids=listed), {**values, **binds})
            touched += cursor.rowcount
        return touched

    def _many(self, cursor: oracledb.Cursor, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement for every row of binds."""
        if rows:
            cursor.executemany(self._sql[name], list(rows))


def picking(schema: str) -> str:
    """Give the statement that a claim picks its rows with, for who looks at its plan."""
    return Statements("claim", schema)["pick"]


def _locked(cursor: oracledb.Cursor, queries: Iterable[tuple[str, dict[str, Any]]], limit: int) -> list[_Row]:
    """Give what queries lock, one after the other, up to ``limit`` rows; a suspect at the beginning alone."""
    rows: list[_Row] = []
    for statement, binds in queries:
        wanted = limit - len(rows)
        # Rows are locked as they are fetched: ask for as many as are wanted and for no more.
        cursor.arraysize = cursor.prefetchrows = wanted
        cursor.execute(statement, binds)
        rows += map(_row, cursor.fetchmany(wanted))
        if len(rows) >= limit or (rows and rows[0].suspect):
            break
    return _suspects_alone(rows)


def _row(values: tuple[Any, ...]) -> _Row:
    dirty_id, source_type, source_id, tenant_id, claim, attempts, crashes = values
    return _Row(int(dirty_id), source_type, source_id, tenant_id, claim, int(attempts), int(crashes))


def _suspects_alone(rows: list[_Row]) -> list[_Row]:
    """Give the first row alone where it is suspect, else those that are not."""
    if rows and rows[0].suspect:
        return rows[:1]
    return [row for row in rows if not row.suspect]


def _cut(message: str, size: int = 1000) -> str:
    """Cut a text to a number of bytes, at a character."""
    return message.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
