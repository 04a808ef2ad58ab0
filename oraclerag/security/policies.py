"""Which policies there are, as the dictionary says, and whether they hide rows from this database user."""

from __future__ import annotations

from dataclasses import dataclass

import oracledb

from oraclerag.database import code_of, own_tables
from oraclerag.errors import RowsHidden
from oraclerag.records import Problem
from oraclerag.statements import Statements

__all__ = [
    "PROTECTED",
    "Policy",
    "Protection",
    "not_executable",
    "policies",
    "protection",
    "require_unrestricted",
    "shortcomings",
]

PROTECTED = (
    "RAG_CHUNK",
    "RAG_DOCUMENT",
    "RAG_ENTITY",
    "RAG_FILE",
    "RAG_RESOLUTION",
    "RAG_SEARCH",
    "RAG_SEARCH_HIT",
)
"""The tables that have a policy where row security is installed: those with texts or the keys of data."""

_FUNCTION = "RAG_TENANT_POLICY"
_NOT_DECLARED = "ORA-06550"  # with PLS-00201: the package is not there, or the user may not execute it


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy of ours on a table; ``flaws`` say in what it is not as ``vpd.sql`` makes it."""

    table: str
    enabled: bool
    flaws: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """The tables that have an enabled policy, and whether it hides rows from this database user."""

    tables: tuple[str, ...]
    restricted: bool


def policies(connection: oracledb.Connection, schema: str) -> dict[str, Policy]:
    """Give the policies on the tables that this user can see, by table."""
    found: dict[str, Policy] = {}
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("security", schema)["policies"], owner=schema)
        for table, enabled, *kinds, checked, kind, owner, function in cursor:
            flaws = []
            if "NO" in kinds:
                flaws.append("it is not for all kinds of statements")
            if checked != "YES":
                flaws.append("it does not look at what is written (update_check)")
            if kind != "CONTEXT_SENSITIVE":
                flaws.append(f"its type is {kind}, not CONTEXT_SENSITIVE")
            if (owner, function) != (schema, _FUNCTION):
                flaws.append(f"its function is {owner}.{function}, not {schema}.{_FUNCTION}")
            found[table] = Policy(table, enabled == "YES", tuple(flaws))
    return found


def protection(connection: oracledb.Connection, schema: str) -> Protection:
    """Say what is protected, and whether this user is subject to it; one statement where nothing is."""
    tables = tuple(name for name, policy in policies(connection, schema).items() if policy.enabled)
    return Protection(tables, bool(tables) and _restricted(connection, schema))


def shortcomings(found: Protection, schema: str) -> list[Problem]:
    """Say what is wrong with the protection of a schema; none at all is what most installations have."""
    if not found.tables:
        return []
    problems = []
    if bare := sorted(set(PROTECTED) - set(found.tables)):
        problems.append(
            Problem(
                "POLICY_MISSING",
                f"Row security stands on some tables and not on {', '.join(bare)}.",
                "Run `oraclerag security verify` as their owner, and `oraclerag security install` again.",
            )
        )
    if found.restricted:
        problems.append(
            Problem(
                RowsHidden.code,
                f"Row security hides rows of {schema} from this database user: what is counted is less than there is.",
                RowsHidden.default_hint,
            )
        )
    return problems


def require_unrestricted(connection: oracledb.Connection, schema: str, doing: str) -> None:
    """Refuse what must see every row where policies hide some: it would take them for gone. Raises RowsHidden.

    ``doing`` is what is refused, as the subject of the sentence: "A worker". One statement where there are no policies.
    """
    if protection(connection, schema).restricted:
        raise RowsHidden(
            f"{doing} must see every row, and row security hides some of {schema} from this database user."
        )


def not_executable(error: BaseException) -> bool:
    """Whether a call of the package failed because it is not there for this user."""
    return code_of(error) == _NOT_DECLARED


def _restricted(connection: oracledb.Connection, schema: str) -> bool:
    statements = Statements("security", schema)
    with connection.cursor() as cursor, own_tables():
        answer = cursor.var(oracledb.DB_TYPE_NUMBER)
        try:
            cursor.execute(statements["restricted"], restricted=answer)
            if not answer.getvalue():
                return False
        except oracledb.DatabaseError as error:
            if not not_executable(error):  # the workers' user can execute it, so this is another
                raise
        cursor.execute(statements["exempt"])
        row = cursor.fetchone()
        return row is None or not row[0]
