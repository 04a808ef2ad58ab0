"""The log in figures: how many, how fast, and how often something was found, answered and cited. No texts.

All of it is counted and sorted in the database, in one pass for every division of the whole.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import oracledb

from oraclerag.database import Database, bind_types, own_tables
from oraclerag.errors import InputError
from oraclerag.searches.read import moment, of_tenant
from oraclerag.searches.visible import of_one_tenant
from oraclerag.statements import Statements

__all__ = ["STEPS", "Figures", "Latency", "SearchStatistics", "count", "statistics"]

STEPS = ("read", "analyse", "reduce", "search", "prompt", "generate", "cite")
"""The steps of answers and diagnoses whose times are logged; "total" is all of it."""

_PERCENTILES = ("0.5", "0.9", "0.95", "0.99")
_WHOLE = "'*'"
_MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Latency:
    """How many seconds it took in half of the cases at most, and in 90, 95 and 99 percent of them."""

    p50: float
    p90: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A part of the log in figures; ``name`` says which: a tenant, a kind, a generator, or ``"*"``, the whole.

    ``count`` entries are ``per_day`` in the period. Of them ``questions`` asked for an answer: ``answered``
    (``truncated`` of them at the limit of tokens), or not, for ``no_grounds``. ``failed`` entries ended with an error.
    ``matched``: a hit was found, for a diagnosis a historical case. ``uncited`` answers cite nothing at all; of the
    sentences of all answers, ``sentences_cited`` name a source and ``sentences_uncited`` none. ``good`` and ``bad`` is
    what was said of them. ``latency`` is by step, ``"total"`` and :data:`STEPS`, as far as they were measured.
    """

    name: str
    count: int = 0
    per_day: float = 0.0
    questions: int = 0
    answered: int = 0
    truncated: int = 0
    no_grounds: int = 0
    failed: int = 0
    matched: int = 0
    uncited: int = 0
    sentences_cited: int = 0
    sentences_uncited: int = 0
    good: int = 0
    bad: int = 0
    latency: Mapping[str, Latency] = field(default_factory=dict)

    @property
    def shares(self) -> dict[str, float | None]:
        """The same as shares, 0 to 1; None where there is nothing that it could be a share of.

        ``matched`` and ``failed`` are of all, ``answered`` and ``no_grounds`` of the questions, ``uncited`` of the
        answers, ``sentences_uncited`` of their sentences, ``good`` of what anything was said of.
        """
        return {
            "matched": _share(self.matched, self.count),
            "failed": _share(self.failed, self.count),
            "answered": _share(self.answered, self.questions),
            "no_grounds": _share(self.no_grounds, self.questions),
            "uncited": _share(self.uncited, self.answered),
            "sentences_uncited": _share(self.sentences_uncited, self.sentences_cited + self.sentences_uncited),
            "good": _share(self.good, self.good + self.bad),
        }


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """The log of a period in figures: in total, and by tenant, kind, generator; the most frequent first.

    ``since`` to ``until`` are naive and in UTC, by the database's clock: where no beginning was asked for, ``since`` is
    the first entry. Rates are over ``days``, one at the least.
    """

    since: dt.datetime
    until: dt.datetime
    days: float
    total: Figures
    tenants: tuple[Figures, ...] = ()
    kinds: tuple[Figures, ...] = ()
    generators: tuple[Figures, ...] = ()


def count(
    database: Database,
    *,
    tenant: str | None = None,
    since: dt.datetime | dt.date | None = None,
    days: int | None = None,
) -> SearchStatistics:
    """Like :func:`statistics`, for who runs the installation. Raises RowsHidden where row security hides tenants."""
    begin = None if since is None else moment(since, "since")
    with of_tenant(database, tenant, "A count of the search log") as connection:
        return statistics(connection, database.schema, tenant=tenant, since=begin, days=days)


def statistics(
    connection: oracledb.Connection,
    schema: str,
    *,
    tenant: str | None = None,
    since: dt.datetime | None = None,
    days: int | None = None,
) -> SearchStatistics:
    """Count the log of one tenant, or of all, since a time (naive, UTC), or in the last ``days``. Raises InputError."""
    if since is not None and days is not None:
        raise InputError("since and days each say where the period begins: give one of them.")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _MAX_DAYS):
        raise InputError(f"days must be a whole number between 1 and {_MAX_DAYS:,}, not {days!r}.")
    statements = Statements("searches", schema)
    with connection.cursor() as cursor:
        which, binds = _which(tenant, None)
        _run(cursor, statements.with_names("period", which=which), binds)
        row: Any = cursor.fetchone()  # an aggregate gives one
        now: dt.datetime = row[0]
        if days is not None:
            since = now - dt.timedelta(days=days)
        which, binds = _which(tenant, since)
        begin = min(since or row[1] or now, now)
        lasted = max((now - begin) / dt.timedelta(days=1), 1.0)

        def divided(part: str) -> tuple[Figures, ...]:
            names = {"part": part, "which": which, "latencies": _latencies()}
            _run(cursor, statements.with_names("figures", **names), binds)
            return tuple(_figures(row, lasted) for row in cursor)

        total = divided(_WHOLE)
        return SearchStatistics(
            since=begin,
            until=now,
            days=lasted,
            total=total[0] if total else Figures(name="*"),
            tenants=divided("s.TENANT_ID"),
            kinds=divided("s.KIND"),
            generators=divided("COALESCE(s.GENERATOR, '-')"),
        )


def _which(tenant: str | None, since: dt.datetime | None) -> tuple[str, dict[str, Any]]:
    terms = ["1 = 1"]
    binds: dict[str, Any] = {}
    if tenant is not None:
        of_it, binds = of_one_tenant(tenant)
        terms.append(of_it)
    if since is not None:
        terms.append("s.ASKED_AT >= :since")
        binds["since"] = since
    return " AND ".join(terms), binds


def _run(cursor: oracledb.Cursor, statement: str, binds: Mapping[str, Any]) -> None:
    with own_tables():
        if types := bind_types(binds):
            cursor.setinputsizes(**types)
        cursor.execute(statement, dict(binds))


def _latencies() -> str:
    """Give the list of percentiles, one series after the other, as :func:`_figures` reads them."""
    series = ["CAST(q.SECONDS AS NUMBER)", *(f"JSON_VALUE(q.TIMINGS, '$.{step}' RETURNING NUMBER)" for step in STEPS)]
    return ",\n       ".join(
        f"PERCENTILE_CONT({part}) WITHIN GROUP (ORDER BY {values})" for values in series for part in _PERCENTILES
    )


def _figures(row: Sequence[Any], days: float) -> Figures:
    name, *counts = row[:13]
    (count, questions, answered, truncated, no_grounds, failed, matched,
     uncited, sentences_cited, sentences_uncited, good, bad) = map(int, counts)  # fmt: skip
    return Figures(
        name=name,
        count=count,
        per_day=count / days,
        questions=questions,
        answered=answered,
        truncated=truncated,
        no_grounds=no_grounds,
        failed=failed,
        matched=matched,
        uncited=uncited,
        sentences_cited=sentences_cited,
        sentences_uncited=sentences_uncited,
        good=good,
        bad=bad,
        latency=dict(_by_step(row[13:])),
    )


def _by_step(values: Sequence[Any]) -> Iterator[tuple[str, Latency]]:
    for place, step in enumerate(("total", *STEPS)):
        measured = values[place * len(_PERCENTILES) : (place + 1) * len(_PERCENTILES)]
        if measured[0] is not None:
            yield step, Latency(*map(float, measured))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
