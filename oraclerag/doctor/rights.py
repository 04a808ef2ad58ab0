"""Checks of privileges: what this database user may do, against what sql/setup grants to each kind of user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from oraclerag.doctor.finding import Verdict, fail, ok, warn
from oraclerag.doctor.look import Check, Look, may_not_read
from oraclerag.errors import OracleRagError
from oraclerag.statements import root

__all__ = ["CHECKS", "Need", "lacking", "needs"]

_GRANT = re.compile(
    r"^GRANT (?P<privileges>.+) ON &rag_owner\.\.(?P<table>\w+) TO (?:RAG|&rag_role\.)_(?P<role>\w+);$", re.MULTILINE
)
_PRIVILEGE = re.compile(r"(?P<verb>[A-Z]+)(?: \((?P<columns>[^)]*)\))?")

_VERBS = ("READ", "SELECT", "INSERT", "UPDATE", "DELETE")

# By what a user is known to be meant for a kind of work, if he has but one of them.
_SIGNS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "WORKER": (("RAG_CHUNK", "INSERT"), ("RAG_CHUNK", "UPDATE"), ("RAG_CHUNK", "DELETE"), ("RAG_DIRTY", "DELETE")),
    "SEARCHER": (("RAG_SEARCH", "INSERT"), ("RAG_SEARCH_HIT", "INSERT"), ("RAG_WAITING", "READ")),
    "RECORDER": (("RAG_FILE", "INSERT"), ("RAG_RESOLUTION", "INSERT")),
    "ENQUEUER": (("RAG_ENQUEUE", "INSERT"),),
}
_DOES = {
    "WORKER": "index (a worker)", "SEARCHER": "search", "RECORDER": "ingest and record", "ENQUEUER": "enqueue",
}  # fmt: skip

# What the owner's own work takes beside a quota; DB_DEVELOPER_ROLE holds all of it but, in some releases, the last.
_OF_OWNER = ("CREATE TABLE", "CREATE VIEW", "CREATE SEQUENCE", "CREATE TRIGGER", "CREATE MINING MODEL")


@dataclass(frozen=True, slots=True)
class Need:
    """One privilege on one table; of some ``columns`` alone, where there are any."""

    table: str
    verb: str
    columns: tuple[str, ...] = ()

    def on(self, table: str) -> str:
        """Write it as it is granted."""
        columns = f" ({', '.join(self.columns)})" if self.columns else ""
        return f"{self.verb}{columns} ON {table}"


@cache
def needs() -> Mapping[str, tuple[Need, ...]]:
    """Give what each kind of user needs, as ``sql/setup/grant_users.sql`` grants it."""
    found: dict[str, list[Need]] = {}
    text = (root("sql") / "setup" / "grant_users.sql").read_text("utf-8")
    for grant in _GRANT.finditer(text):
        for privilege in _PRIVILEGE.finditer(grant["privileges"]):
            columns = tuple(name.strip() for name in (privilege["columns"] or "").split(",") if name.strip())
            found.setdefault(grant["role"], []).append(Need(grant["table"], privilege["verb"], columns))
    return {role: tuple(listed) for role, listed in found.items()}


def privileges(look: Look) -> Verdict:
    """Look which kinds of work this user may do, and what it lacks of one that it may do in part."""
    who = look.user()
    everywhere = {str(name) for (name,) in look.rows(look.sql["system_privileges"])}
    if who == look.schema:
        return _owner(who, everywhere)
    any_table = {verb for verb in _VERBS if f"{verb} ANY TABLE" in everywhere} | _of_schema(look)
    held = {(str(table), str(verb)) for table, verb in look.rows(look.sql["table_privileges"], owner=look.schema)}
    columns = {
        (str(table), str(verb), str(column))
        for table, verb, column in look.rows(look.sql["column_privileges"], owner=look.schema)
    }
    missing = {role: lacking(listed, any_table, held, columns) for role, listed in needs().items()}
    may = [role for role in _DOES if not missing[role]]
    begun = [
        role
        for role in _DOES
        if missing[role] and any(_has(sign, verb, any_table, held) for sign, verb in _SIGNS[role])
    ]
    does = f"{who} is not the owner of the tables ({look.schema}) and may {_listed(may)}"
    if begun:
        lacks = "; ".join(
            f"to {_DOES[role]}, it lacks {', '.join(need.on(need.table) for need in missing[role])}" for role in begun
        )
        grants = "; ".join(
            f"GRANT {need.on(f'{look.schema}.{need.table}')} TO {who}" for role in begun for need in missing[role]
        )
        return fail(f"{does}; {lacks}", grants)
    if not may:
        return fail(
            f"{who} may do nothing with the tables of {look.schema}",
            f"Grant it a role of sql/setup/grant_users.sql: GRANT RAG_SEARCHER TO {who}, or RAG_WORKER.",
        )
    return ok(does)


def _listed(may: Iterable[str]) -> str:
    return ", ".join(_DOES[role] for role in may) or "do nothing that needs them"


def _owner(who: str, everywhere: set[str]) -> Verdict:
    missing = [name for name in _OF_OWNER if name not in everywhere and name.replace(" ", " ANY ", 1) not in everywhere]
    if missing:
        return warn(
            f"{who} owns the tables and lacks {', '.join(missing)}: what is there works, `oraclerag provision` and "
            "`oraclerag migrate` may not",
            f"GRANT {', '.join(missing)} TO {who} (sql/setup/create_user.sql has what an owner needs).",
        )
    return ok(f"{who} owns the tables, and may create tables, views, triggers and models")


def _of_schema(look: Look) -> set[str]:
    """Give the verbs that this user has on every table of the schema, by a privilege on the schema (since 23ai)."""
    try:
        found = {str(name) for (name,) in look.rows(look.sql["schema_privileges"], owner=look.schema)}
    except OracleRagError as error:
        if not may_not_read(error):  # an older release has no such view
            raise
        return set()
    return {name.partition(" ")[0] for name in found if name.endswith(" ANY TABLE")}


def lacking(
    listed: Iterable[Need], any_table: set[str], held: set[tuple[str, str]], columns: set[tuple[str, str, str]]
) -> list[Need]:
    """Give what is not held: neither on the table, nor on its columns, nor on every table."""
    return [
        need
        for need in listed
        if not _has(need.table, need.verb, any_table, held)
        and not (need.columns and all((need.table, need.verb, column) in columns for column in need.columns))
    ]


def _has(table: str, verb: str, any_table: set[str], held: set[tuple[str, str]]) -> bool:
    verbs = {"READ", "SELECT"} if verb == "READ" else {verb}  # SELECT is READ and the right to lock
    return bool(verbs & any_table) or any((table, one) in held for one in verbs)


CHECKS = (
    Check(
        "privileges", "May this database user do what it is for?", privileges, after=("schema",)
    ),
)  # fmt: skip
