"""Does row security hold? What a plain reader sees of two made-up tenants, in a transaction that is taken back."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import oracledb

from oraclerag.database import MAY_NOT_READ, Database, code_of, own_tables, translated
from oraclerag.records import Problem
from oraclerag.security.policies import PROTECTED, Policy, policies, protection
from oraclerag.security.sessions import scoped
from oraclerag.statements import Statements, quoted

__all__ = ["IsolationReport", "TableIsolation", "flaws", "verify"]

# What puts a row of a made-up tenant into a table, and the table that its row hangs on. Parents come first.
_ADD: dict[str, tuple[str, str | None]] = {
    "RAG_ENTITY": ("add_entity", None),
    "RAG_DOCUMENT": ("add_document", "RAG_ENTITY"),
    "RAG_CHUNK": ("add_chunk", "RAG_ENTITY"),
    "RAG_FILE": ("add_file", None),
    "RAG_RESOLUTION": ("add_resolution", None),
    "RAG_SEARCH": ("add_search", None),
    "RAG_SEARCH_HIT": ("add_search_hit", "RAG_SEARCH"),
}
# No right to insert: ORA-00942 where there is none at all, ORA-01031 and, since 23ai, ORA-41900 else. ORA-28115: a
# policy's check.
_CHECKED = "ORA-28115"
_LOOK_AT = "Look at RAG_TENANT_POLICY and ALL_POLICIES; `oraclerag security uninstall` and install put them right."


@dataclass(frozen=True, slots=True)
class TableIsolation:
    """What was seen of a table; ``tried`` with rows of made-up tenants, else by reading alone (no right to insert)."""

    table: str
    enabled: bool
    tried: bool


@dataclass(frozen=True, slots=True)
class IsolationReport:
    """The tables that this database user can see, and what is wrong."""

    schema: str
    tables: tuple[TableIsolation, ...]
    problems: tuple[Problem, ...]

    @property
    def isolated(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(database: Database) -> IsolationReport:
    """Look whether every table has its policy, and what this user sees without a tenant, as one and as the other.

    To be run as the user of a program that searches; who may insert too, as the owner of the tables, sees more: rows of
    two made-up tenants are written, looked for, and rolled back. Raises PrivilegeMissing where the user may not set a
    tenant, SchemaMissing.
    """
    schema = database.schema
    tried: frozenset[str] = frozenset()
    with database.connect() as connection:
        seen = _tables(connection, schema)
        found = policies(connection, schema)
        guarded = protection(connection, schema)
        problems = list(_flaws(schema, seen, found))
        if guarded.restricted:
            look = _Look(database, connection, schema, [name for name in _ADD if name in seen])
            problems += look.problems()
            tried = frozenset(look.tried)
        elif guarded.tables:
            problems.append(
                Problem(
                    "NOT_SUBJECT",
                    "Nothing is hidden from this database user: it is the workers', or has EXEMPT ACCESS POLICY.",
                    "Run it as the user of a program that searches.",
                )
            )
    tables = tuple(
        TableIsolation(name, name in found and found[name].enabled, name in tried) for name in PROTECTED if name in seen
    )
    return IsolationReport(schema, tables, tuple(problems))


def flaws(connection: oracledb.Connection, schema: str) -> list[Problem]:
    """Say what the dictionary shows to be wrong with the policies of the tables that this database user can see."""
    return list(_flaws(schema, _tables(connection, schema), policies(connection, schema)))


def _tables(connection: oracledb.Connection, schema: str) -> frozenset[str]:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("security", schema)["tables"], owner=schema)
        return frozenset(name for (name,) in cursor)


def _flaws(schema: str, seen: frozenset[str], found: Mapping[str, Policy]) -> Iterator[Problem]:
    """Say what the dictionary shows to be wrong."""
    again = "Run `oraclerag security install` again."
    anew = "Run `oraclerag security uninstall`, then `oraclerag security install`."
    if not seen:
        remedy = "Set ORACLERAG_SCHEMA to the owner of the tables, or grant this user its role."
        yield Problem("NO_TABLES", f"This database user sees no table of {schema}.", remedy)
    for table in sorted(seen - found.keys()):
        yield Problem("POLICY_MISSING", f"{table} has no policy: whoever may read it sees every tenant.", again)
    for table in sorted(seen & found.keys()):
        if not found[table].enabled:
            yield Problem("POLICY_DISABLED", f"The policy of {table} is disabled.", again)
        for flaw in found[table].flaws:
            yield Problem("POLICY_ALTERED", f"The policy of {table} is not as it was installed: {flaw}.", anew)


class _Look:
    """What one reader sees, on one connection, in one transaction that nobody commits."""

    def __init__(self, database: Database, connection: oracledb.Connection, schema: str, tables: Sequence[str]) -> None:
        self._database, self._connection, self._schema = database, connection, schema
        self._sql = Statements("security", schema)
        self._tables = tables
        made_up = f"oraclerag verify {secrets.token_hex(8)}"
        self._tenants = (f"{made_up} A", f"{made_up} B")
        self.tried: set[str] = set()

    def problems(self) -> Iterator[Problem]:
        """Say what should not have been seen, or written, and what should."""
        first, second = self._tenants
        self.tried = self._add_rows(first) & self._add_rows(second)
        for table in self._tables:
            if self._finds("any_row", table):
                yield _leak(table, "rows are seen although no tenant is set")
        for tenant in self._tenants:
            with self._as(tenant):
                for table in self._tables:
                    if self._finds("row_of_others", table, tenant_id=tenant):
                        yield _leak(table, "rows of another tenant are seen than the one that is set")
                    if table in self.tried and self._finds("row_of", table, tenant_id=tenant) is False:
                        yield Problem(
                            "ROWS_MISSING", f"{table}: the tenant that is set does not see its own row.", _LOOK_AT
                        )
        with self._as(first):
            for table in sorted(self.tried):
                if _ADD[table][1] is None and self._adds(table, second):
                    yield _leak(table, "a row can be written for another tenant than the one that is set")

    def _as(self, tenant: str) -> contextlib.AbstractContextManager[None]:
        return scoped(self._database, self._connection, self._schema, tenant)

    def _add_rows(self, tenant: str) -> set[str]:
        """Write a row of a tenant into every table that allows it; gives those."""
        made: dict[str, int] = {}
        with self._as(tenant):
            for table in self._tables:
                name, parent = _ADD[table]
                if parent is not None and parent not in made:
                    continue
                try:
                    made[table] = self._add(name, tenant, made[parent] if parent is not None else None)
                except oracledb.DatabaseError as error:
                    if code_of(error) not in MAY_NOT_READ:
                        with translated():
                            raise
        return set(made)

    def _adds(self, table: str, tenant: str) -> bool:
        """Whether a row of a tenant can be written; the check of a policy refuses it."""
        try:
            self._add(_ADD[table][0], tenant, None)
        except oracledb.DatabaseError as error:
            if code_of(error) == _CHECKED:
                return False
            with translated():
                raise
        return True

    def _add(self, name: str, tenant: str, parent: int | None) -> int:
        text = self._sql[name]
        with self._connection.cursor() as cursor:
            made = cursor.var(oracledb.DB_TYPE_NUMBER)
            given = {"tenant_id": tenant, "made_up": secrets.token_hex(8), "parent": parent, "made": made}
            cursor.execute(text, {bind: given[bind] for bind in re.findall(r":(\w+)", text)})
            return int(made.getvalue()[0]) if ":made" in re.findall(r":\w+", text) else 0

    def _finds(self, name: str, table: str, **binds: str) -> bool | None:
        """Whether there is such a row for this session; None where it may not read the table."""
        text = self._sql.with_names(name, table=f"{quoted(self._schema, 'schema')}.{table}")
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(text, binds)
            except oracledb.DatabaseError as error:
                if code_of(error) in MAY_NOT_READ:
                    return None
                with translated():
                    raise
            return cursor.fetchone() is not None


def _leak(table: str, what: str) -> Problem:
    return Problem("ROWS_LEAK", f"{table}: {what}.", _LOOK_AT)
