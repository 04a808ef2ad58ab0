"""FLOW the search log → how often a past case was found; and questions with feedback → an evaluation set."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from oraclerag.config import Settings
from oraclerag.database import Database, in_list, own_tables
from oraclerag.errors import InputError
from oraclerag.evaluate.match_rate import match_rate
from oraclerag.evaluate.questions import Question, QuestionSet, Relevant
from oraclerag.evaluate.report import MatchRate
from oraclerag.records import SourceKey
from oraclerag.scope import Scope
from oraclerag.searches.visible import visible
from oraclerag.security import reading
from oraclerag.source import Source, tenants_mapped
from oraclerag.source.resolution import RESOLUTION_SOURCE
from oraclerag.statements import Statements

__all__ = ["Logging", "logged_match_rate", "questions_with_feedback"]


class Logging(Protocol):
    """Whose log is read: a :class:`oraclerag.Rag`."""

    settings: Settings
    database: Database

    @property
    def sources(self) -> Mapping[str, Source]:
        """What can be indexed, by name."""


def logged_match_rate(
    rag: Logging, *, scope: Scope, history: Sequence[str] = (RESOLUTION_SOURCE,), now: dt.datetime | None = None
) -> MatchRate:
    """Say how often the questions of the log found a past case, one of the sources ``history``.

    An answer found one where it cites it, a diagnosis where it is among its hits; plain searches do not count.
    ``scope`` must be a manager's, for it is about a whole tenant; ``now`` (naive, UTC) is the database's time by
    default. Raises InputError, MissingTenant.
    """
    resolved = _resolved(rag, scope)
    if not resolved.manager:
        raise InputError(
            "The match rate is that of a whole tenant: it takes the scope of a manager.",
            hint="Scope(tenant=…, manager=True)",
        )
    if isinstance(history, str) or not history or not all(isinstance(name, str) and name for name in history):
        raise InputError('history must be a list of names of sources, such as ["resolution"].')
    names, binds = in_list(list(history), "history")
    rows = _read(rag, resolved, "matches", binds, history=names)
    clock = rows[0][2] if rows else None
    return match_rate([(moment, bool(found)) for moment, found, _ in rows], now=now or clock)


def questions_with_feedback(rag: Logging, *, scope: Scope) -> QuestionSet:
    """Give the questions of the log that something was said of, as far as ``scope`` sees them.

    What the answer to a good one cites is relevant for it; one that was called bad has nothing relevant: it is asked
    and reported. The same question is one, good where it was so once. A follow-up is asked as it was understood, each
    with the filter and the codes that it had. Raises InputError where there is none, MissingTenant.
    """
    found: dict[str, _Judged] = {}
    unkept: set[int] = set()
    for number, asked, standalone, feedback, options, kind, identity in _read(rag, _resolved(rag, scope), "judged", {}):
        text = standalone or asked
        if not text:
            unkept.add(number)
            continue
        one = found.setdefault(text, _Judged(int(number), options or {}))
        if feedback:
            one.good = True
            if kind is not None:
                one.cited.setdefault(SourceKey(kind, identity))
    if not found:
        raise InputError(
            "The search log has no question with feedback that this scope sees.",
            hint="`oraclerag searches feedback` notes what was good and what was not.",
        )
    questions = tuple(one.question(text) for text, one in found.items())
    return QuestionSet("questions with feedback", questions, tuple(_notes(found.values(), len(unkept))))


class _Judged:
    """A question of the log: what its good answers cite, and how it was asked first."""

    def __init__(self, number: int, options: Mapping[str, Any]) -> None:
        self.number = number
        self.options = options
        self.good = False
        self.cited: dict[SourceKey, None] = {}

    def question(self, text: str) -> Question:
        codes, conditions = self.options.get("codes", True), self.options.get("filter")
        return Question(
            str(self.number),
            text,
            tuple(Relevant(key) for key in self.cited),
            filter=conditions or None,
            codes=codes if isinstance(codes, bool) else tuple(codes),
            place=f"search {self.number}",
        )


def _notes(judged: Any, unkept: int) -> list[str]:
    all_of_them = list(judged)
    notes = []
    if bad := sum(not one.good for one in all_of_them):
        notes.append(f"{bad:,} of them were called bad: nothing is known to be relevant for these.")
    if uncited := sum(one.good and not one.cited for one in all_of_them):
        notes.append(f"{uncited:,} good ones cite nothing: nothing is known to be relevant for these.")
    if unkept:
        notes.append(f"{unkept:,} more have feedback, and their text was not kept.")
    notes.append("Relevant is what an answer once cited: what has never been found counts as not relevant.")
    return notes


def _resolved(rag: Logging, scope: Scope) -> Scope:
    if not isinstance(scope, Scope):
        raise InputError(f"scope must be a Scope, not {type(scope).__name__}.")
    return scope.resolve(rag.settings.tenant, tenants_mapped=tenants_mapped(dict(rag.sources)))


def _read(rag: Logging, scope: Scope, name: str, binds: Mapping[str, Any], **names: str) -> list[tuple[Any, ...]]:
    seen, more = visible(scope)
    with reading(rag.database, scope.tenant) as (connection, schema), connection.cursor() as cursor, own_tables():
        statement = Statements("evaluate", schema).with_names(name, seen=seen, **names)
        cursor.arraysize = 1000
        cursor.execute(statement, {**more, **binds}, fetch_lobs=False)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
