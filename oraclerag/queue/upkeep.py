"""Begin again and tidy up: retry rows that were given up, delete them, forget what is gone, compact the table.

Everything beside workers: in slices that are committed, set by set, and never on a row that a worker holds. A row that
is DEAD belongs to nobody, a claim counts it only by its number and its state; an entity without a ticket, chunks,
fingerprint and queue rows is made anew by the next claim that wants it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import RESOURCE_BUSY, Database, code_of, committed, own_tables
from oraclerag.errors import PrivilegeMissing, StatementFailed
from oraclerag.queue.choice import Choice
from oraclerag.statements import Statements

__all__ = ["PurgeReport", "RetryReport", "compact", "purge", "retry"]

SLICE = 10_000
"""Rows of one transaction."""

_NO_INDEX = "ORA-01418"
_DEAD = "d.STATE = 'DEAD'"
# Postponed after a failure; what waits for another worker's entity has failed at nothing and comes back by itself.
_POSTPONED = (
    "d.STATE = 'READY' AND d.CLAIM IS NULL AND d.ATTEMPTS > 0 AND d.AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)"
)


@dataclass(frozen=True, slots=True)
class RetryReport:
    """How many rows begin anew: of those that were given up, and of those that waited to be tried again."""

    dead: int = 0
    postponed: int = 0


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What was removed: rows that were given up, entities that are gone.

    ``compacted`` names what was made smaller, ``skipped`` what was not, with the reason.
    """

    dead: int = 0
    entities: int = 0
    compacted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def retry(database: Database, choice: Choice | None = None, *, postponed: bool = False) -> RetryReport:
    """Make rows that were given up READY again, as if they had never failed; ``postponed`` ones are due now too.

    A row that a worker has claimed is left alone. Commits, in slices. Raises InputError for an error that is not known.
    """
    with database.connect() as connection:
        work = _Slices(connection, database.schema)
        dead = waiting = 0
        for condition, binds in (choice or Choice()).conditions(connection, database.schema):
            dead += work.run("retry", f"{_DEAD} AND {condition}", binds)
            if postponed:
                waiting += work.run("retry", f"{_POSTPONED} AND {condition}", binds)
    return RetryReport(dead, waiting)


def purge(
    database: Database, choice: Choice, *, dead: bool = False, gone: bool = True, dry_run: bool = False
) -> PurgeReport:
    """Forget entities that are ``gone``, and delete the rows that were given up, where ``dead``, of those chosen.

    A deleted row is a change that is never applied: its entity stays as it was indexed last, or hidden, until something
    enqueues it again. Entities that are gone have no tenant; of a choice, the source alone concerns them. ``dry_run``
    counts only. Commits, in slices.
    """
    with database.connect() as connection:
        work = _Slices(connection, database.schema)
        rows = entities = 0
        if dead:
            for condition, binds in choice.conditions(connection, database.schema):
                condition = f"{_DEAD} AND {condition}"
                rows += work.count("count", binds, filter=condition) if dry_run else work.run("purge", condition, binds)
        if gone:
            binds = {} if choice.source is None else {"one_source": choice.source}
            which = "e.SOURCE_TYPE = :one_source" if binds else "1 = 1"
            entities = work.count("count_gone", binds, entities=which) if dry_run else work.forget(which, binds)
    return PurgeReport(rows, entities)


def compact(database: Database) -> PurgeReport:
    """Make the queue's indexes and table smaller, as after a large backfill; runs beside workers.

    The indexes are coalesced and rows are moved to the front without anybody waiting. Space is given back only while
    nobody has the table in use. Commits, as all DDL does. Raises PrivilegeMissing for another owner's tables.
    """
    statements = Statements("queue", database.schema)
    done: list[str] = []
    skipped: list[str] = []
    with database.connect() as connection, connection.cursor() as cursor, own_tables():
        for index, name in (
            ("RAG_DIRTY_PICK_IDX", "coalesce_index"),
            ("RAG_DIRTY_SRC_IDX", "coalesce_source_index"),
            ("RAG_DIRTY_PK", "coalesce_key"),
        ):
            try:
                cursor.execute(statements[name])
            except oracledb.DatabaseError as error:
                # Another's index is not there for who may not alter it.
                if code_of(error) != _NO_INDEX or connection.username.upper() == database.schema:
                    raise
                raise PrivilegeMissing(
                    f"The queue's index {index} is {database.schema}'s, and {connection.username} may not alter it "
                    f"({_NO_INDEX}).",
                    hint="Compact as the owner of the tables.",
                ) from error
            done.append(index)
        try:
            with own_tables():
                cursor.execute(statements["move_rows"])
        except StatementFailed as error:
            # a tablespace without automatic segment space management (ORA-10635), or tables of another making
            skipped.append(f"RAG_DIRTY: {error.message}")
            return PurgeReport(compacted=tuple(done), skipped=tuple(skipped))
        try:
            cursor.execute(statements["try_to_lock"])
        except oracledb.DatabaseError as error:
            if code_of(error) != RESOURCE_BUSY:
                raise
            skipped.append("RAG_DIRTY: rows were moved together, but the table is in use and keeps its space.")
        else:
            connection.rollback()
            cursor.execute(statements["give_space_back"])
            done.append("RAG_DIRTY")
    return PurgeReport(compacted=tuple(done), skipped=tuple(skipped))


class _Slices:
    """Statements over many rows on one connection, a slice and a commit at a time."""

    def __init__(self, connection: oracledb.Connection, schema: str) -> None:
        self._connection = connection
        self._sql = Statements("queue", schema)

    def run(self, name: str, condition: str, binds: Mapping[str, Any]) -> int:
        """Run a statement for all queue rows that meet a condition; gives how many it touched."""
        return self._along(
            self._sql.with_names("next_slice", filter=condition), self._sql.with_names(name, filter=condition), binds
        )

    def forget(self, condition: str, binds: Mapping[str, Any]) -> int:
        """Forget the entities that are gone and meet a condition."""
        return self._along(
            self._sql.with_names("next_slice_of_gone", entities=condition),
            self._sql.with_names("purge_gone", entities=condition),
            binds,
        )

    def count(self, name: str, binds: Mapping[str, Any], **marks: str) -> int:
        """Run a statement that counts."""
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(self._sql.with_names(name, **marks), dict(binds))
            row = cursor.fetchone()
        assert row is not None  # noqa: S101 - an aggregate gives one row
        return int(row[0])

    def _along(self, next_slice: str, statement: str, binds: Mapping[str, Any]) -> int:
        touched, after = 0, 0
        with self._connection.cursor() as cursor:
            while True:
                with own_tables():
                    cursor.execute(next_slice, {**binds, "after_id": after, "how_many": SLICE})
                    row = cursor.fetchone()
                if row is None or row[0] is None:
                    return touched
                last = int(row[0])
                touched += self._once(cursor, statement, {**binds, "after_id": after, "last_id": last})
                after = last

    def _once(self, cursor: oracledb.Cursor, statement: str, binds: Mapping[str, Any]) -> int:
        """Run a slice; one that was a deadlock with a worker that settles the same rows is run again."""

        @own_tables()
        def transaction() -> int:
            cursor.execute(statement, dict(binds))
            return cursor.rowcount

        return committed(self._connection, transaction)
