"""``security verify`` believes a database that keeps tenants apart, and sees each way in which one may not.

The database is played: rows with a tenant, a tenant that is set, and a policy that is right or broken in one way.
"""

from __future__ import annotations

import re
from typing import Any, cast

import oracledb
import pytest

from oraclerag import security
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import StatementFailed
from tests.unit.test_database import driver_error
from tests.unit.test_security import POLICY, Connection, Pool

Row = tuple[str, str]  # table, tenant


class Playing(Connection):
    """Answers as a database with rows would; ``broken`` is what its policy does wrong."""

    def __init__(self, broken: str = "", *, may_add: frozenset[str] = frozenset(security.PROTECTED)) -> None:
        super().__init__(*((table, *POLICY[1:]) for table in security.PROTECTED))
        self.broken, self.may_add = broken, may_add
        self.tenant: str | None = None
        self.there: list[Row] = [(table, "real") for table in security.PROTECTED]
        self.added = False

    def out(self) -> Any:
        return [len(self.there)] if self.added else self.restricted  # RETURNING gives a list

    def answer(self, statement: str, binds: Any) -> list[tuple[Any, ...]]:
        self.added = "INSERT" in statement
        if "ALL_TABLES" in statement:
            return [(table,) for table in security.PROTECTED]
        if "SET_SCOPE" in statement:
            self.tenant = binds["tenant_id"]
        elif "CLEAR_SCOPE" in statement:
            self.tenant = None
        elif "INSERT" in statement:
            self._add(statement, binds)
        elif match := re.search(r'FROM "RAG"\.(\w+) t', statement):
            tenants = self._seen(match[1])
            if "<> :tenant_id" in statement:
                tenants = [tenant for tenant in tenants if tenant != binds["tenant_id"]]
            elif "= :tenant_id" in statement:
                tenants = [tenant for tenant in tenants if tenant == binds["tenant_id"]]
            return [(1,)] if tenants else []
        else:
            return super().answer(statement, binds)
        return []

    def _add(self, statement: str, binds: Any) -> None:
        table = re.findall(r'INTO "RAG"\.(\w+)', statement)[0]
        if table not in self.may_add:
            raise driver_error("ORA-01031")
        if binds["tenant_id"] != self.tenant and self.broken != "writes":
            raise driver_error("ORA-28115")
        self.there.append((table, binds["tenant_id"]))

    def _seen(self, table: str) -> list[str]:
        tenants = [tenant for name, tenant in self.there if name == table]
        if self.broken == "everything" or (self.broken == "unset" and self.tenant is None):
            return tenants
        if self.broken == "nothing" or self.tenant is None:
            return []
        if self.broken == "neighbour" and table == "RAG_DOCUMENT":
            return [tenant for tenant in tenants if tenant != "real"]
        return [tenant for tenant in tenants if tenant == self.tenant]


def verified(connection: Playing) -> security.IsolationReport:
    return security.verify(Database(Settings(schema="rag"), pool=cast("Any", Pool(connection))))


def test_a_database_that_keeps_tenants_apart_is_believed() -> None:
    connection = Playing()
    report = verified(connection)
    assert report.problems == ()
    assert report.isolated
    assert {table.table for table in report.tables if table.tried} == set(security.PROTECTED)
    assert connection.tenant is None, "nothing is left set"


@pytest.mark.parametrize(
    ("broken", "codes", "words"),
    [
        ("everything", {"ROWS_LEAK"}, "although no tenant is set"),
        ("unset", {"ROWS_LEAK"}, "although no tenant is set"),
        ("neighbour", {"ROWS_LEAK"}, "RAG_DOCUMENT: rows of another tenant"),
        ("writes", {"ROWS_LEAK"}, "can be written for another tenant"),
        ("nothing", {"ROWS_MISSING"}, "does not see its own row"),
    ],
)
def test_each_way_not_to_is_seen(broken: str, codes: set[str], words: str) -> None:
    report = verified(Playing(broken))
    assert {problem.code for problem in report.problems} == codes
    assert any(words in problem.message for problem in report.problems)
    if broken != "neighbour":
        parents = {"RAG_ENTITY", "RAG_FILE", "RAG_RESOLUTION", "RAG_SEARCH"}
        named = {problem.message.partition(":")[0] for problem in report.problems}
        assert named == (parents if broken == "writes" else set(security.PROTECTED))


@pytest.mark.parametrize("broken", ["everything", "unset", "neighbour"])
def test_who_may_only_read_sees_leaks_as_well(broken: str) -> None:
    connection = Playing(broken, may_add=frozenset())
    connection.there += [("RAG_DOCUMENT", "another")]
    if broken == "neighbour":
        connection.there = [("RAG_DOCUMENT", "another")]
    report = verified(connection)
    assert not any(table.tried for table in report.tables)
    assert {problem.code for problem in report.problems} == {"ROWS_LEAK"}


def test_a_parent_that_cannot_be_written_takes_its_children_along() -> None:
    report = verified(Playing(may_add=frozenset({"RAG_SEARCH", "RAG_SEARCH_HIT", "RAG_CHUNK"})))
    assert report.isolated
    assert {table.table for table in report.tables if table.tried} == {"RAG_SEARCH", "RAG_SEARCH_HIT"}


def test_the_workers_user_learns_nothing_and_is_told_so() -> None:
    connection = Playing()
    connection.restricted = 0
    assert [problem.code for problem in verified(connection).problems] == ["NOT_SUBJECT"]
    assert len(connection.there) == len(security.PROTECTED), "nothing was made up"


def test_an_error_on_the_way_leaves_nothing_set() -> None:
    connection = Playing()
    answer = connection.answer

    def dying(statement: str, binds: Any) -> list[tuple[Any, ...]]:
        if "<> :tenant_id" in statement:
            raise driver_error("ORA-28113")
        return answer(statement, binds)

    connection.answer = dying  # type: ignore[method-assign]
    with pytest.raises(StatementFailed, match="ORA-28113") as caught:
        verified(connection)
    assert isinstance(caught.value.__cause__, oracledb.DatabaseError)
    assert connection.tenant is None
