"""Write to the log: after the answer, on a connection of our own, in a transaction of its own.

What cannot be logged is said in an event, and costs nobody an answer or the error that it ended with.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import oracledb

from oraclerag import log, telemetry
from oraclerag.database import Database, never_connected, own_tables
from oraclerag.errors import ConfigurationError, InputError, OracleRagError, SchemaMissing
from oraclerag.searches.course import Asked, Course, Kind
from oraclerag.searches.entry import Entry, Keeping, entry
from oraclerag.security import writing
from oraclerag.statements import Statements

__all__ = ["followed", "keeping", "write"]

_log = logging.getLogger(__name__)

_Done = TypeVar("_Done")

_MOST_SECONDS = 10.0  # for a round trip: somebody waits for the answer, and a table may be locked

# A long text goes as a LONG, in the message with the rest: a temporary LOB would cost round trips. A value that is None
# says nothing of its type.
_KINDS = {
    **dict.fromkeys(("asked_as", "options", "timings"), oracledb.DB_TYPE_JSON),
    **dict.fromkeys(("question", "standalone", "reduced", "prompt", "answer"), oracledb.DB_TYPE_LONG),
    **dict.fromkeys(
        ("k", "hits", "prompt_tokens", "answer_tokens", "cited", "uncited", "unsupported"), oracledb.DB_TYPE_NUMBER
    ),
    "seconds": oracledb.DB_TYPE_BINARY_DOUBLE,
}


def keeping(database: Database, kind: Kind, log: bool | None, *, borrowed: bool = False) -> Keeping | None:
    """Say what to keep of a question, or None where it is not logged.

    ``log`` is whether who asks wants it logged, None where the settings decide; where the log is off, nobody does.
    Raises InputError, ConfigurationError where there is no connection but the one that was ``borrowed``, or no key.
    """
    if log is not None and not isinstance(log, bool):
        raise InputError(f"log must be True, False or None, not {log!r}.")
    what = database.settings.searches_log
    if what == "off" or not (what == "all" or kind != "search" if log is None else log):
        return None
    if log and borrowed and not database.has_own:
        raise ConfigurationError(
            "The search log is written on a connection of its own, never in the caller's transaction, and there is "
            "none but the caller's.",
            hint="Give the Rag settings, an Engine or a pool; or search without log=True.",
        )
    return Keeping.of(database.settings)


def followed(
    database: Database,
    kept: Keeping,
    asked: Sequence[Asked],
    courses: Sequence[Course],
    run: Callable[[], _Done],
) -> tuple[_Done, list[int | None]]:
    """Run what fills the courses of the questions that were asked, and log them, however it ends.

    Gives what it gives, with the numbers of the questions in the log: None where that could not be written. Raises what
    it raises.
    """
    began = time.perf_counter()

    def log_all(error: BaseException | None) -> list[int | None]:
        if not all(isinstance(one.question, str) for one in asked):
            return [None] * len(asked)  # what is no question was refused, and is none to be kept
        if error is not None and (never_connected(error) or isinstance(error, SchemaMissing) or not database.has_own):
            return [None] * len(asked)  # there is no log that could be written to, and the error says so
        seconds = time.perf_counter() - began
        return _written(
            database,
            lambda: [entry(one, course, kept, seconds, error) for one, course in zip(asked, courses, strict=True)],
            len(asked),
        )

    try:
        done = run()
    except BaseException as error:
        log_all(error)
        raise
    return done, log_all(None)


@telemetry.spanned("oraclerag.log")
def write(database: Database, entries: Sequence[Entry]) -> list[int]:
    """Write entries of one tenant in one transaction, and give their numbers.

    One round trip for each entry and one for all hits, and the commit; where texts of prompts are among them, one more
    that looks whether the entities whose chunks were found are still there. Commits.
    """
    tenant = entries[0].row["tenant_id"]
    statements = Statements("searches", database.schema)
    with (
        writing(database, tenant, call_timeout=_MOST_SECONDS) as connection,
        connection.cursor() as cursor,
        own_tables(),
    ):
        numbers = _add(cursor, statements, entries)
        if any(one.has_texts for one in entries) and _some_gone(cursor, statements, numbers):
            connection.rollback()  # who removed an entity has cleared what was logged before
            numbers = _add(cursor, statements, [one.without_texts() for one in entries])
    return numbers


def _add(cursor: oracledb.Cursor, statements: Statements, entries: Sequence[Entry]) -> list[int]:
    numbers = []
    hits: list[dict[str, Any]] = []
    for one in entries:
        made = cursor.var(oracledb.DB_TYPE_NUMBER)
        cursor.setinputsizes(**_KINDS)
        cursor.execute(statements["add"], {**one.row, "search_id": made})
        (number,) = made.getvalue()
        numbers.append(int(number))
        hits += [{**hit, "search_id": int(number)} for hit in one.hits]
    if hits:
        cursor.setinputsizes(distance=oracledb.DB_TYPE_BINARY_DOUBLE)
        cursor.executemany(statements["add_hit"], hits)
    return numbers


def _some_gone(cursor: oracledb.Cursor, statements: Statements, numbers: Sequence[int]) -> bool:
    for number in numbers:
        cursor.execute(statements["gone"], {"search_id": number})
        row = cursor.fetchone()
        if row is not None and row[0]:
            return True
    return False


def _written(database: Database, made: Callable[[], list[Entry]], many: int) -> list[int | None]:
    try:
        return [*write(database, made())]
    except Exception as error:  # noqa: BLE001 - whatever it is, who asked gets the answer, or the error that it ended with
        known = isinstance(error, OracleRagError)
        log.event(
            _log, logging.WARNING, "not_written",
            "What was asked could not be written to the search log." + (f" {error}" if known else ""),
            error_code=error.code if isinstance(error, OracleRagError) else type(error).__name__,
            where=None if known else log.where(error.__traceback__),
        )  # fmt: skip
        return [None] * many
