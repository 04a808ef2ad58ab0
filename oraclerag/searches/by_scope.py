"""The search log as a scope sees it: what :attr:`oraclerag.Rag.searches` gives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from oraclerag.database import Database
from oraclerag.errors import InputError
from oraclerag.records import Answer, LoggedSearch, SearchResult, Turn
from oraclerag.scope import Scope
from oraclerag.searches import feedback, read, replay
from oraclerag.searches.comparison import SearchReplay
from oraclerag.searches.statistics import SearchStatistics, statistics
from oraclerag.security import reading

__all__ = ["Searches"]


class Searches:
    """The log of what was asked. A scope sees what it, or a narrower one of its tenant, has asked.

    A manager sees all of the tenant; others what no manager asked and whose principals are all among theirs. What a
    scope does not see is not there for it. ``scope`` may leave the tenant out as in a search.
    """

    def __init__(
        self,
        database: Database,
        resolve: Callable[[Scope], Scope],
        search: Callable[..., SearchResult],
        ask: Callable[..., Answer],
    ) -> None:
        self._database = database
        self._resolve = resolve
        self._search = search
        self._ask = ask

    def show(self, search_id: int, *, scope: Scope) -> LoggedSearch:
        """Give all that was logged of one. Raises InputError where the scope sees none of this number."""
        return read.shown(self._database, self._resolve(scope), search_id)

    def turns(self, session: str, *, scope: Scope, last: int = 3) -> list[Turn]:
        """Give the ``last`` (1 to 100) questions of a session that exactly this scope asked, oldest first.

        Tenant, owner, groups and role are the same: nobody's question is read as the follow-up of another's. What was
        kept as a hash, or cleared, is left out, and so is what failed. Raises InputError, MissingTenant.
        """
        return read.turns(self._database, self._resolve(scope), session, last)

    def feedback(self, search_id: int, good: bool, note: str | None = None, *, scope: Scope) -> None:
        """Note whether it was good, and why (at most 4,000 bytes); what was said before is replaced. Commits.

        Raises InputError, also where the scope sees none of this number.
        """
        feedback.give(self._database, self._resolve(scope), search_id, good, note)

    def replay(self, search_id: int, *, scope: Scope, answer: bool = False, log: bool = False) -> SearchReplay:
        """Run one again with the options that it had, for ``scope``, and say what is otherwise now.

        Searched for is what was searched for then, whatever the rules or a model would make of the question now.
        ``answer`` asks it again, too, and a generator may write another text to the same sources. Only where ``log``
        says so is that logged. Raises InputError, also where the scope sees none of this number, or where neither the
        question nor a vector of it was kept, and what a search raises.
        """
        logged = self.show(search_id, scope=scope)
        return replay.run(logged, scope, self._search, self._ask, answer=answer, log=log)

    def stats(
        self, *, scope: Scope, since: dt.datetime | dt.date | None = None, days: int | None = None
    ) -> SearchStatistics:
        """Give the tenant's log in figures, since a time or in the last ``days``; ``scope`` must be a manager's.

        Raises InputError, MissingTenant.
        """
        resolved = self._resolve(scope)
        if not resolved.manager:
            raise InputError(
                "The figures of the search log are those of a whole tenant: they take the scope of a manager.",
                hint="Scope(tenant=…, manager=True)",
            )
        begin = None if since is None else read.moment(since, "since")
        with reading(self._database, resolved.tenant) as (connection, owner):
            return statistics(connection, owner, tenant=resolved.tenant, since=begin, days=days)

    def list(
        self,
        *,
        scope: Scope,
        since: dt.datetime | dt.date | None = None,
        session: str | None = None,
        outcome: str | None = None,
        kind: str | None = None,
        limit: int = 50,
    ) -> list[LoggedSearch]:
        """Give the newest, at most ``limit`` (1 to 10,000), without their hits, prompts and answers.

        Only those asked ``since`` (a naive time is UTC), in a ``session``, with an ``outcome`` or of a ``kind``
        ("search", "ask", "diagnose"). Raises InputError, MissingTenant.
        """
        resolved = self._resolve(scope)
        return read.listed(
            self._database, resolved, since=since, session=session, outcome=outcome, kind=kind, limit=limit
        )
