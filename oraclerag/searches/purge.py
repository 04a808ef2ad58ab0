"""Forget what was asked long ago, whole or its texts alone, in slices that are committed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import Database, committed, own_tables
from oraclerag.errors import InputError
from oraclerag.searches.read import of_tenant
from oraclerag.searches.visible import of_one_tenant
from oraclerag.statements import Statements

__all__ = ["SLICE", "SearchPurge", "purge"]

SLICE = 10_000
"""Logged searches of one transaction."""

# What was cleared is not cleared again, so that the counts are those of what was there.
_HAS_TEXT = (
    "(s.QUESTION IS NOT NULL OR s.STANDALONE IS NOT NULL OR s.REDUCED IS NOT NULL OR s.PROMPT IS NOT NULL "
    "OR s.ANSWER IS NOT NULL OR s.FEEDBACK_NOTE IS NOT NULL OR JSON_EXISTS(s.OPTIONS, '$.vector'))"
)


@dataclass(frozen=True, slots=True)
class SearchPurge:
    """What was forgotten: logged ``searches`` with their ``hits``, or the ``texts`` of so many."""

    searches: int = 0
    hits: int = 0
    texts: int = 0


def purge(
    database: Database,
    older_than: dt.timedelta | None = None,
    *,
    tenant: str | None = None,
    texts_only: bool = False,
    slice_size: int = SLICE,
) -> SearchPurge:
    """Forget what was asked longer ago than ``older_than`` (default: the setting ``searches_keep_days``).

    Of one ``tenant``, or of all. ``texts_only`` keeps the entries, with their hits and figures, and clears their texts:
    question with its vector, what became of it, prompt, answer, note. Commits, in slices. Raises InputError, also where
    neither the argument nor the setting is there, and RowsHidden where row security hides other tenants from this
    database user.
    """
    if older_than is None:
        days = database.settings.searches_keep_days
        if days is None:
            raise InputError(
                "Nothing says how old a logged search must be to be forgotten.",
                hint="Say --older-than 90d (older_than=…), or set searches.keep_days.",
            )
        older_than = dt.timedelta(days=days)
    if not isinstance(older_than, dt.timedelta) or older_than < dt.timedelta(0):
        raise InputError("older_than must be a span of time that is not negative.")
    which, binds = _which(older_than, tenant, texts_only=texts_only)
    statements = Statements("searches", database.schema)
    searches = hits = texts = after = 0
    with of_tenant(database, tenant, "A purge of the search log") as connection, connection.cursor() as cursor:
        while True:
            with own_tables():
                here = binds | {"after_id": after, "slice_size": slice_size}
                cursor.execute(statements.with_names("next_slice", which=which), here)
                (last,) = cursor.fetchone() or (None,)
            if last is None:
                return SearchPurge(searches, hits, texts)
            here = binds | {"after_id": after, "last_id": last}
            names = ("purge_texts", "purge_vectors") if texts_only else ("purge_hits", "purge")
            first, second = _slice(connection, [statements.with_names(name, which=which) for name in names], here)
            if texts_only:
                texts += first  # which those with a vector are among
            else:
                hits, searches = hits + first, searches + second
            after = last


def _which(older_than: dt.timedelta, tenant: str | None, *, texts_only: bool) -> tuple[str, dict[str, Any]]:
    terms = ["s.ASKED_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:older_than, 'SECOND')"]
    binds: dict[str, Any] = {"older_than": older_than.total_seconds()}
    if tenant is not None:
        of_it, bind = of_one_tenant(tenant)
        terms.append(of_it)
        binds |= bind
    if texts_only:
        terms.append(_HAS_TEXT)
    return " AND ".join(terms), binds


def _slice(connection: oracledb.Connection, texts: Sequence[str], binds: Mapping[str, Any]) -> list[int]:
    """Run the statements of a slice and commit; one that met a worker in the other order (ORA-00060) is run again."""

    def transaction() -> list[int]:
        with connection.cursor() as cursor, own_tables():
            counts = []
            for text in texts:
                cursor.execute(text, dict(binds))
                counts.append(cursor.rowcount)
        return counts

    return committed(connection, transaction)
