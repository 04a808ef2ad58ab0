"""Checks of what was installed: the revision of the tables, row security, the search log."""

from __future__ import annotations

import datetime as dt

from oraclerag import schema, security
from oraclerag.doctor.finding import Verdict, fail, ok, warn
from oraclerag.doctor.look import Check, Look

__all__ = ["CHECKS"]

_LONG_KEPT = dt.timedelta(days=90)
_LATE = dt.timedelta(days=2)  # a purge that runs once a day may be that late


def tables(look: Look) -> Verdict:
    """Look at the revision of the tables."""
    with look.database.connect() as connection:
        schema.require(connection, look.schema)
        revision = schema.current(connection, look.schema)
    return ok(f"{look.schema}, revision {revision}")


def row_security(look: Look) -> list[Verdict]:
    """Look whether row security is there, whole, and hides rows from this user."""
    with look.database.connect() as connection:
        guarded = security.protection(connection, look.schema)
        flaws = security.flaws(connection, look.schema) if guarded.tables else []
    if not guarded.tables:
        return [ok("none is installed: the scope of every read keeps tenants apart")]
    found = [fail(problem.message, problem.hint) for problem in flaws]
    look.restricted = guarded.restricted
    if guarded.restricted:
        found.append(
            warn(
                f"Policies on {len(guarded.tables)} tables hide rows of other tenants from this database user: what is "
                "counted here is less than there is.",
                "As it should be for a program that searches. To see everything, run it as the workers' database user.",
            )
        )
    return found or [ok(f"policies on {len(guarded.tables)} tables; nothing is hidden from this database user")]


def search_log(look: Look) -> Verdict:
    """Look how long questions are kept."""
    row = look.row(look.sql["searches"])
    count, oldest, now = row if row is not None else (0, None, None)
    kept = look.settings.searches_keep_days
    if not count:
        return ok(f"nothing is logged (searches.log = {look.settings.searches_log})")
    age = now - oldest
    detail = f"{count:,} questions, the oldest of {oldest:%Y-%m-%d}"
    if kept is None and age > _LONG_KEPT:
        return warn(
            f"{detail}; nothing says how long they are kept",
            "Set searches.keep_days (ORACLERAG_SEARCHES_KEEP_DAYS) and have cron run `oraclerag searches purge --yes`.",
        )
    if kept is not None and age > dt.timedelta(days=kept) + _LATE:
        return warn(
            f"{detail}, and they shall be kept for {kept:,} days: nobody purges",
            "Run `oraclerag searches purge --yes`, and have cron run it once a day.",
        )
    return ok(f"{detail}; kept {'until they are purged' if kept is None else f'for {kept:,} days'}")


CHECKS = (
    Check("schema", "Are the tables there, in the revision of this version?", tables, after=("connection",)),
    Check("row_security", "Does the database itself keep tenants apart?", row_security, after=("schema",)),
    Check(
        "search_log", "How long are questions kept?", search_log, after=("schema",), reads=("RAG_SEARCH",)
    ),
)  # fmt: skip
