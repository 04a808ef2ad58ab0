"""Row security as far as a database without it can show: what it says there, and that every read sets its tenant.

That rows are hidden is shown on a real database alone: tests/oracle/test_vpd.py.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy
import sqlalchemy.orm
from typer.testing import CliRunner

from oraclerag import Resolution, Scope, SourceKey, security
from oraclerag.cli import app
from oraclerag.errors import DatabaseError, RowsHidden, StatementFailed
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.rag import Rag
from oraclerag.security import policies, sessions, verification
from oraclerag.security.policies import Policy
from oraclerag.security.scripts import statements_of
from oraclerag.statements import root
from tests.local import test_isolation
from tests.local.conftest import Account
from tests.local.library import Entry, install, load_reranker, settings_of, shelve

pytestmark = pytest.mark.one_size


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.connect() as connection, connection.cursor() as cursor:
            load_reranker(cursor)
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, [Entry("1", "late payments", tenant="acme")])
        opened.build_index(force=True)
        yield opened


def environment(account: Account) -> dict[str, str]:
    return {"ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What every session is told of tenants, as if policies stood; the calls of the package are noted, not sent."""
    found: list[str] = []

    def end(*_: object, failed: bool) -> None:
        found.append("clear, after an error" if failed else "clear")

    monkeypatch.setattr(sessions, "_installed", lambda *_: True)
    monkeypatch.setattr(
        sessions, "_set", lambda _connection, _statement, _schema, tenant: found.append(f"set {tenant}")
    )
    monkeypatch.setattr(sessions, "_end", end)
    return found


@pytest.mark.parametrize("way", test_isolation.EVERY_WAY)
def test_every_way_to_read_sets_its_tenant_and_clears_it(
    rag: Rag, module_account: Account, told: list[str], way: str
) -> None:
    assert test_isolation.EVERY_WAY[way](rag, module_account, Scope(tenant="acme", manager=True))
    assert told
    assert told == ["set acme", "clear"] * (len(told) // 2)


@pytest.fixture
def uncleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if policies stood, with a package that cannot be called any more: it is not there."""
    monkeypatch.setattr(sessions, "_installed", lambda *_: True)
    monkeypatch.setattr(sessions, "_set", lambda *_: None)


def session(connection: oracledb.Connection) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT SYS_CONTEXT('USERENV', 'SID') FROM dual")
        row = cursor.fetchone()
        assert row is not None
        return str(row[0])


@pytest.mark.usefixtures("uncleared")
@pytest.mark.parametrize("lender", ["own pool", "pool", "engine"])
def test_a_session_that_cannot_be_cleared_is_used_by_nobody_again(module_account: Account, lender: str) -> None:
    login = {name: getattr(module_account, name) for name in ("dsn", "user", "password")}
    pool = oracledb.create_pool(min=1, max=1, **login)
    engine = sqlalchemy.create_engine(module_account.url, pool_size=1, max_overflow=0)
    lent: dict[str, dict[str, Any]] = {"own pool": {}, "pool": {"pool": pool}, "engine": {"engine": engine}}
    with Rag(settings_of(module_account, pool_size=1), **lent[lender]) as rag:
        with security.reading(rag.database, "acme") as (connection, _):
            before = session(connection)
        with rag.database.connect() as connection:
            assert session(connection) != before
    pool.close(force=True)
    engine.dispose()


@pytest.mark.usefixtures("uncleared")
@pytest.mark.parametrize("kind", ["driver", "connection", "session"])
def test_a_borrowed_one_that_cannot_be_cleared_is_closed(module_account: Account, rag: Rag, kind: str) -> None:
    engine = sqlalchemy.create_engine(module_account.url, pool_size=1, max_overflow=0)
    with contextlib.ExitStack() as opened:
        if kind == "driver":
            lent: Any = opened.enter_context(module_account.connect())
        elif kind == "connection":
            lent = opened.enter_context(engine.connect())
        else:
            lent = opened.enter_context(sqlalchemy.orm.Session(engine))
        with pytest.raises(DatabaseError, match=r"could not be cleared \(ORA-06550.*it was closed"):
            rag.search("late payments", scope=Scope(tenant="acme"), connection=lent)
        if kind == "driver":
            assert not lent.is_healthy()
        else:
            inner = lent if kind == "connection" else lent.connection()
            assert inner.invalidated
    engine.dispose()


def test_resolutions_and_files_too(rag: Rag, told: list[str], tmp_path: Path) -> None:
    scope = Scope(tenant="acme")
    kept = rag.record_resolution(Resolution(title="t", fix="f", tenant="acme"))
    assert kept.id is not None
    rag.resolutions.get(kept.id, scope=scope)
    rag.resolutions.list(scope=scope)
    rag.resolutions.validate(kept.id, by="ana", scope=scope)
    rag.resolutions.remove(kept.id, scope=scope)
    assert told == ["set acme", "clear"] * 5
    told.clear()
    (tmp_path / "a.md").write_text("late payments")
    rag.ingest(tmp_path / "a.md")
    assert len(told) >= 4, "known before, written"
    assert told == ["set main", "clear"] * (len(told) // 2)


def test_what_is_asked_is_logged_for_its_tenant(rag: Rag, told: list[str]) -> None:
    assert rag.search("late payments", scope=Scope(tenant="acme"), log=True).search_id is not None
    assert told == ["set acme", "clear"] * 2, "searched, written"
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_SEARCH")


def test_nothing_is_sent_where_no_policy_stands(rag: Rag) -> None:
    with rag.database.connect() as connection:
        assert security.protection(connection, rag.database.schema) == security.Protection((), restricted=False)
        security.require_unrestricted(connection, rag.database.schema, "A worker")
    assert rag.status().security == security.Protection((), restricted=False)


@pytest.fixture
def subject(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if policies hid rows from this user."""
    monkeypatch.setattr(policies, "protection", lambda *_: security.Protection(security.PROTECTED, restricted=True))


WORK: dict[str, Callable[[Rag], object]] = {
    "drain": lambda rag: rag.drain(),
    "work": lambda rag: rag.work(once=True),
    "index_now": lambda rag: rag.index_now(SourceKey("note", "1")),
    "backfill": lambda rag: rag.backfill(source="note"),
    "estimate": lambda rag: rag.estimate_backfill(source="note"),
    "audit": lambda rag: rag.audit(source="note"),
    "wipe": lambda rag: rag.wipe(),
    "tenant list": lambda rag: rag.tenants.list(),
    "tenant verify": lambda rag: rag.tenants.verify("main"),
    "tenant remove": lambda rag: rag.tenants.remove("main", force=True),
    "finish": lambda rag: rag.finish(),
    "build_index": lambda rag: rag.build_index(force=True),
    "rebuild_index": lambda rag: rag.rebuild_index(force=True),
}


@pytest.mark.usefixtures("subject")
@pytest.mark.parametrize("work", WORK)
def test_what_must_see_every_row_is_refused_to_who_does_not(rag: Rag, module_account: Account, work: str) -> None:
    with Rag(settings_of(module_account)) as other:

        @other.source("note", visibility="shared", ids="SELECT '1' FROM dual")
        def read(_connection: Any, _ids: Any) -> dict[str, Any]:
            return {}

        with pytest.raises(RowsHidden, match="must see every row"):
            WORK[work](other)
    assert len(rag.search("late payments", scope=Scope(tenant="acme"), mode="exact")) == 1
    assert rag.index_status().usable


@pytest.mark.usefixtures("subject")
def test_a_column_whose_vectors_are_hidden_is_not_dropped(rag: Rag, tiny_file: Path) -> None:
    before = rag.model()
    with rag.database.connect() as connection:
        load_model(connection, tiny_file, name="OTHER", schema=rag.database.schema)
        for rebuild in (False, True):
            with pytest.raises(RowsHidden):
                use_model(connection, "OTHER", schema=rag.database.schema, rebuild=rebuild)
    assert rag.model() == before
    assert len(rag.search("late payments", scope=Scope(tenant="acme"), mode="exact")) == 1


def test_installing_where_there_is_none_is_one_sentence(rag: Rag, module_account: Account) -> None:
    with pytest.raises(StatementFailed, match="This database has no row security"):
        rag.install_security(worker=module_account.user)
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM USER_OBJECTS WHERE OBJECT_NAME IN ('RAG_SCOPE', 'RAG_TENANT_POLICY')")
        assert cursor.fetchone() == (0,)


def test_verifying_without_policies_is_unhealthy(module_account: Account, rag: Rag) -> None:
    result = CliRunner().invoke(app, ["security", "verify"], env=environment(module_account))
    assert result.exit_code == 3, result.output
    for table in security.PROTECTED:
        assert f"{table} has no policy" in result.stderr
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM RAG_SEARCH")
        assert cursor.fetchone() == (0,), "nothing is made up where nothing can be hidden"


def test_policies_that_hide_nothing_are_seen_through(
    rag: Rag, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    """The rows that are made up are rows that the tables take, and none of them is kept."""
    said = {table: Policy(table, enabled=True, flaws=()) for table in security.PROTECTED}
    monkeypatch.setattr(verification, "policies", lambda *_: said)
    monkeypatch.setattr(verification, "protection", lambda *_: security.Protection(security.PROTECTED, restricted=True))
    report = rag.verify_security()
    assert {table.table for table in report.tables if table.tried} == set(security.PROTECTED)
    assert {problem.code for problem in report.problems} == {"ROWS_LEAK"}
    for what in ("although no tenant is set", "of another tenant", "written for another tenant"):
        assert any(what in problem.message for problem in report.problems)
    assert told.count("clear") == len(told) // 2 == 5
    with rag.database.connect() as connection, connection.cursor() as cursor:
        for table in security.PROTECTED:
            cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE TENANT_ID LIKE 'oraclerag verify %'")
            assert cursor.fetchone() == (0,)


def test_the_scripts_can_be_printed_without_a_database() -> None:
    there = {"ORACLE_DSN": "nowhere", "ORACLE_USER": "kb", "ORACLE_PASSWORD": "x"}
    printed = CliRunner().invoke(app, ["security", "install", "--worker", "kb_indexer", "--sql"], env=there)
    assert printed.exit_code == 0, printed.output
    assert printed.stdout == security.script("kb", worker="kb_indexer")
    printed = CliRunner().invoke(app, ["security", "uninstall", "--sql"], env=there)
    assert printed.stdout == security.script("kb")


def test_the_blocks_are_plsql_and_only_what_there_is_not_is_refused(rag: Rag, module_account: Account) -> None:
    """The strict parser reads what it knows: all but packages, functions and contexts, and DBMS_RLS by name."""
    names = {"rag_owner": module_account.user, "rag_worker": module_account.user, "rag_readers": "RAG_SEARCHER"}
    said: list[str] = []
    with rag.database.connect() as connection, connection.cursor() as cursor:
        for statement in statements_of("vpd.sql", names):
            try:
                cursor.execute(statement)
                said.append("done")
            except oracledb.DatabaseError as error:
                said.append(str(error).partition("\n")[0].partition("does not support ")[2] or error.args[0].full_code)
    assert said == [
        "done",  # there are the user and the table
        "CREATE FUNCTION",
        "CREATE PACKAGE",
        "CREATE PACKAGE",
        "CREATE CONTEXT",
        "done",  # nobody grants to himself
        "ORA-00942",  # GRANT on a package that could not be made
        "the procedure DBMS_RLS.ADD_POLICY",
    ]


def test_the_predicate_is_sql_on_every_table_and_never_true_without_a_tenant(rag: Rag) -> None:
    text = (root("sql") / "setup" / "vpd.sql").read_text("utf-8")
    [predicate] = re.findall(r"RETURN '(TENANT_ID .*)';", text)
    predicate = predicate.replace("''", "'").replace("&rag_owner", rag.database.schema)
    with rag.database.connect() as connection, connection.cursor() as cursor:
        for table in security.PROTECTED:
            cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE {predicate}")
            assert cursor.fetchone() == (0,)
        acme = re.sub(r"SYS_CONTEXT\([^)]*\)", "'acme'", predicate)
        cursor.execute(f"SELECT COUNT(*) FROM RAG_CHUNK WHERE {acme}")
        assert cursor.fetchone() == (1,)
