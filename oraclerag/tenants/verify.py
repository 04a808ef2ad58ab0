"""Is a tenant whole and alone: what its sources have is indexed, and found by its own scope and by no other's."""

from __future__ import annotations

import dataclasses
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import oracledb

from oraclerag.backfill import coverage
from oraclerag.database import own_tables
from oraclerag.errors import ConfigurationError, InputError, SourceError, StatementFailed
from oraclerag.records import Problem, SearchResult, SourceCoverage, SourceKey, TenantReport
from oraclerag.scope import Scope
from oraclerag.statements import Statements
from oraclerag.tenants.place import Place, checked
from oraclerag.tenants.summary import summary

__all__ = ["OTHERS", "Coverages", "Phrase", "coverages", "phrase_of", "verify"]

OTHERS = 20
"""Other tenants whose scopes are tried, drawn at random where there are more."""

_PHRASE = 300  # characters of a chunk


@dataclass(frozen=True, slots=True)
class Phrase:
    """What to ask for, and what must be found: an entity, or else this text."""

    text: str
    expected: SourceKey | None
    content: str | None = None


def verify(place: Place, tenant: str, *, phrase: str | None, expect: SourceKey | None, k: int) -> TenantReport:
    """Look at one tenant. Without a ``phrase`` the beginning of one of its own chunks is asked for."""
    tenant = checked(tenant)
    if expect is not None and phrase is None:
        raise InputError("An entity is expected, but no phrase by which it must be found is given.")
    found, problems = coverages(place, tenant)
    with place.database.connect() as connection:
        counted = summary(connection, place, tenant)
        foreign, hidden = _isolation(connection, place, tenant)
        asked = Phrase(phrase, expect) if phrase is not None else phrase_of(connection, place, tenant)
        others = _others(connection, place, tenant)
    rank, hits, leaked = None, 0, list[SourceKey]()
    if asked is not None:
        result = place.search(asked.text, scope=Scope(tenant=tenant, manager=True), k=k)
        hits, rank = len(result), _rank(result, asked)
        mine = {hit.source for hit in result}
        for other in others:
            theirs = place.search(asked.text, scope=Scope(tenant=other, manager=True), k=k)
            leaked += [hit.source for hit in theirs if hit.source.tenant == tenant or hit.source in mine]
    report = TenantReport(
        summary=counted,
        coverage=found.counted,
        uncounted=found.uncounted,
        phrase=None if asked is None else asked.text,
        expected=None if asked is None else asked.expected,
        rank=rank,
        hits=hits,
        others=len(others),
        leaked=tuple(dict.fromkeys(leaked)),
        foreign=foreign,
        hidden=hidden,
    )
    return dataclasses.replace(report, problems=(*problems, *_problems(report, asked, k)))


@dataclass(frozen=True, slots=True)
class Coverages:
    """What sources have of a tenant; ``uncounted`` are those that cannot name their entities."""

    counted: tuple[SourceCoverage, ...]
    uncounted: tuple[str, ...]


def coverages(place: Place, tenant: str) -> tuple[Coverages, list[Problem]]:
    """Count what each source has of a tenant and what of that is missing; and say which sources fail."""
    counted: list[SourceCoverage] = []
    uncounted: list[str] = []
    problems: list[Problem] = []
    for source in place.of(tenant):
        try:
            with place.database.connect() as connection:
                source.enumeration(connection)
            one = coverage(place.database, source, place.settings, tenant=tenant)
        except ConfigurationError:  # declared without ids
            uncounted.append(source.name)
        except (SourceError, StatementFailed) as error:
            problems.append(Problem(error.code, f"Source {source.name} cannot be counted: {error.message}", error.hint))
        else:
            if one.total or not source.built_in:
                counted.append(one)
    return Coverages(tuple(counted), tuple(uncounted)), problems


def phrase_of(connection: oracledb.Connection, place: Place, tenant: str) -> Phrase | None:
    """Give the beginning of one of the tenant's chunks; None where it has none."""
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("tenants", place.database.schema)["a_chunk"], tenant_id=tenant)
        row = cursor.fetchone()
    if row is None:
        return None
    return Phrase(" ".join(row[2].split())[:_PHRASE], SourceKey(row[0], row[1], tenant), row[2])


def _rank(result: SearchResult, asked: Phrase) -> int | None:
    """Give where it was found; other entities may say the very same."""
    for hit in result:
        if hit.source == asked.expected or (asked.content is not None and hit.content == asked.content):
            return hit.rank
    return None


def _isolation(connection: oracledb.Connection, place: Place, tenant: str) -> tuple[int, int]:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("tenants", place.database.schema)["isolation"], tenant_id=tenant)
        chunks, documents, hidden = cursor.fetchone() or (0, 0, 0)
    return int(chunks) + int(documents), int(hidden)


def _others(connection: oracledb.Connection, place: Place, tenant: str) -> list[str]:
    """Give some other tenants, and one that there is not."""
    seed = random.randrange(2**32)  # noqa: S311 - a sample, no secret  # nosec B311
    with connection.cursor() as cursor, own_tables():
        statement = Statements("tenants", place.database.schema)["others"]
        cursor.execute(statement, tenant_id=tenant, seed=seed, how_many=OTHERS)
        return [row[0] for row in cursor] + [f"nobody-{uuid.uuid4()}"]


def _problems(report: TenantReport, asked: Phrase | None, k: int) -> Iterator[Problem]:
    counted = report.summary
    missing = sum(one.missing for one in report.coverage)
    if missing:
        names = ", ".join(one.source for one in report.coverage if one.missing)
        yield Problem(
            "NOT_INDEXED",
            f"{missing:,} entities are not indexed as their sources are now ({names}); {counted.waiting:,} queue rows "
            f"wait.",
            "Wait for the workers, or run `oraclerag reindex` with this tenant.",
        )
    if counted.dead:
        yield Problem("DEAD_ROWS", f"{counted.dead:,} rows of the queue were given up.", "Run `oraclerag queue list`.")
    if asked is None:
        yield Problem("NOTHING_INDEXED", "There is no chunk of this tenant.", "Run `oraclerag tenant onboard`.")
    elif not report.hits or (asked.expected is not None and report.rank is None):
        what = "anything" if asked.expected is None else str(asked.expected)
        yield Problem(
            "NOT_FOUND",
            f"The phrase does not find {what} among {k} hits.",
            "`oraclerag why` says what hides an entity.",
        )
    if report.leaked:
        named = ", ".join(map(str, report.leaked[:5]))
        yield Problem("FOUND_BY_OTHERS", f"Other tenants' scopes find what is this tenant's: {named}.", _REPAIR)
    if report.foreign:
        message = f"{report.foreign:,} chunks or documents stand under another tenant than their entity."
        yield Problem("FOREIGN_ROWS", message, _REPAIR)
    if report.hidden:
        message = f"{report.hidden:,} chunks are hidden: who may see them could not be read."
        yield Problem("HIDDEN_CHUNKS", message, "`oraclerag queue list` shows why.")


_REPAIR = "Run `oraclerag audit --repair`, which hides them at once."
