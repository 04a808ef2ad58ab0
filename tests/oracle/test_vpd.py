"""Row security on a real database: what readers, the owner and the workers' user see, and what is refused.

Users and policies are made by the DBA whom ORACLE_DBA_USER and ORACLE_DBA_PASSWORD name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import Document, Resolution, Scope, SourceKey, security
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import PrivilegeMissing, RowsHidden, StatementFailed
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import MODEL, Entry, install, settings_of, shelve

pytestmark = pytest.mark.oracle

QUESTION = "late payments of supplier invoices"
ENTRIES = [
    Entry(f"{tenant}/{number}", f"late payments of {tenant}, part {number}", tenant=tenant)
    for tenant in ("acme", "globex")
    for number in range(20)
]

GRANTS: dict[str, dict[str, tuple[str, ...]]] = {
    "SEARCHER": {
        "READ": ("RAG_ALEMBIC_VERSION", "RAG_CHUNK", "RAG_DOCUMENT", "RAG_SETTING", "RAG_MODEL", "RAG_WAITING"),
        "SELECT, INSERT, UPDATE (FEEDBACK, FEEDBACK_NOTE, FEEDBACK_AT)": ("RAG_SEARCH",),
        "READ, INSERT": ("RAG_SEARCH_HIT",),
    },
    "STRANGER": {"READ": ("RAG_CHUNK",)},
    "INDEXER": {
        "READ": ("RAG_ALEMBIC_VERSION", "RAG_MODEL", "RAG_FILE", "RAG_RESOLUTION", "RAG_WAITING", "RAG_SEARCH_HIT"),
        "SELECT, INSERT, UPDATE, DELETE": ("RAG_DIRTY", "RAG_ENTITY", "RAG_DOCUMENT", "RAG_CHUNK", "RAG_SETTING"),
        "SELECT, UPDATE (PROMPT, ANSWER)": ("RAG_SEARCH_TEXT",),
    },
}


@dataclass
class Stage:
    """An installation with the chunks of two tenants, and users beside its owner."""

    owner: Account
    users: dict[str, Account]
    dba: Settings
    rag: Rag

    def settings(self, name: str, **changes: Any) -> Settings:
        account = self.owner if name == "OWNER" else self.users[name]
        return settings_of(account, schema=self.owner.user, **changes)

    def install(self) -> None:
        database = Database(self.dba)
        try:
            security.install(database, worker=self.users["INDEXER"].user, readers=(self.users["SEARCHER"].user,))
        finally:
            database.close()

    def uninstall(self) -> None:
        database = Database(self.dba)
        try:
            security.uninstall(database)
        finally:
            database.close()


@pytest.fixture(scope="module")
def stage(module_account: Account, tiny_file: Path) -> Iterator[Stage]:
    user, password = (os.environ.get(f"ORACLE_DBA_{name}") for name in ("USER", "PASSWORD"))
    if not user or not password:
        pytest.skip("makes users and policies: ORACLE_DBA_USER and ORACLE_DBA_PASSWORD name who may")
    dsn = module_account.dsn
    with contextlib.ExitStack() as cleanup:
        administrator = cleanup.enter_context(oracledb.connect(user=user, password=password, dsn=dsn))
        cursor = cleanup.enter_context(administrator.cursor())
        users: dict[str, Account] = {}
        for name in GRANTS:
            made = Account(dsn, f"ORACLERAG_VPD_{name}", secrets.token_hex(12))
            cursor.execute(f'CREATE USER {made.user} IDENTIFIED BY "{made.password}"')
            cleanup.callback(cursor.execute, f"DROP USER {made.user} CASCADE")
            cursor.execute(f"GRANT CREATE SESSION TO {made.user}")
            users[name] = made
        rag = cleanup.enter_context(install(module_account, tiny_file))
        with rag.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        with rag.database.connect() as connection, connection.cursor() as own:
            for name, rights in GRANTS.items():
                for right, tables in rights.items():
                    for table in tables:
                        own.execute(f"GRANT {right} ON {table} TO {users[name].user}")
                own.execute(f"GRANT SELECT ON MINING MODEL {rag.model().sql_name} TO {users[name].user}")
        dba = Settings(dsn=dsn, user=user, password=password, schema=module_account.user, embedding_model=MODEL)
        found = Stage(module_account, users, dba, rag)
        cleanup.callback(found.uninstall)
        rag.build_index(force=True, include=False)
        found.install()
        yield found


@pytest.fixture
def searcher(stage: Stage) -> Iterator[Rag]:
    with Rag(stage.settings("SEARCHER", pool_size=1)) as rag:
        yield rag


def seen(connection: oracledb.Connection, schema: str, table: str = "RAG_CHUNK") -> set[str]:
    """The tenants of all rows that a statement without a predicate sees."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT TENANT_ID FROM {schema}.{table}")
        return {tenant for (tenant,) in cursor}


def say(connection: oracledb.Connection, block: str, **binds: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"BEGIN {block} END;", binds)


def test_a_session_sees_nothing_until_a_tenant_is_set_and_then_that_one(stage: Stage) -> None:
    schema = stage.owner.user
    with stage.users["SEARCHER"].connect() as connection:
        assert seen(connection, schema) == set()
        for tenant in ("acme", "globex"):
            say(connection, f"{schema}.RAG_SCOPE.SET_SCOPE(:t);", t=tenant)
            assert seen(connection, schema) == {tenant}
        say(connection, f"{schema}.RAG_SCOPE.SET_SCOPE(:t);", t="ACME")
        assert seen(connection, schema) == set()
        say(connection, f"{schema}.RAG_SCOPE.CLEAR_SCOPE;")
        assert seen(connection, schema) == set()


def test_a_session_that_ignores_case_sees_nothing(stage: Stage) -> None:
    schema = stage.owner.user
    with stage.users["SEARCHER"].connect() as connection, connection.cursor() as cursor:
        say(connection, f"{schema}.RAG_SCOPE.SET_SCOPE(:t);", t="ACME")
        cursor.execute("ALTER SESSION SET NLS_COMP = LINGUISTIC NLS_SORT = BINARY_CI")
        assert seen(connection, schema) == set()


def test_a_statement_that_the_worker_ran_shows_a_reader_no_more(stage: Stage) -> None:
    """One text, one cursor in the shared pool, two users: the predicate of one must not serve the other."""
    schema = stage.owner.user
    with stage.users["INDEXER"].connect() as worker, stage.users["SEARCHER"].connect() as reader:
        for _ in range(3):
            assert seen(worker, schema) == {"acme", "globex"}
            assert seen(reader, schema) == set()


def test_only_the_package_sets_the_tenant(stage: Stage) -> None:
    schema = stage.owner.user
    with stage.users["STRANGER"].connect() as connection:
        with pytest.raises(oracledb.DatabaseError, match="ORA-01031"):
            say(connection, f"DBMS_SESSION.SET_CONTEXT('ORACLERAG_{schema}', 'TENANT_ID', 'acme');")
        with pytest.raises(oracledb.DatabaseError, match="PLS-00201"):
            say(connection, f"{schema}.RAG_SCOPE.SET_SCOPE('acme');")
        assert seen(connection, schema) == set()


@pytest.mark.parametrize("exact_below", [0, 50_000], ids=["approximate", "exact"])
def test_a_search_finds_its_tenant_and_leaves_no_scope_behind(stage: Stage, exact_below: int) -> None:
    with Rag(stage.settings("SEARCHER", pool_size=1, exact_below=exact_below)) as rag:
        for tenant in ("acme", "globex"):
            found = rag.search(QUESTION, scope=Scope(tenant=tenant), k=10)
            assert {hit.source.tenant for hit in found} == {tenant}
            assert len(found) == 10
            assert found.approximate is (exact_below == 0)
            with rag.database.connect() as connection:  # the only one of its pool
                assert seen(connection, stage.owner.user) == set()


def test_what_is_asked_is_logged_in_its_tenant_and_seen_there_alone(stage: Stage, searcher: Rag) -> None:
    answer = searcher.ask(QUESTION, scope=Scope(tenant="acme"))
    assert answer.search_id is not None
    searcher.feedback(answer.search_id, True, scope=Scope(tenant="acme"))
    assert searcher.searches.show(answer.search_id, scope=Scope(tenant="acme", manager=True)).hits
    with security.reading(searcher.database, "globex") as (connection, owner), connection.cursor() as cursor:
        for table in ("RAG_SEARCH", "RAG_SEARCH_HIT"):
            cursor.execute(f"SELECT COUNT(*) FROM {owner}.{table} WHERE SEARCH_ID = :1", [answer.search_id])
            assert cursor.fetchone() == (0,)


def test_a_borrowed_connection_is_given_back_as_it_was(stage: Stage, searcher: Rag) -> None:
    with stage.users["SEARCHER"].connect() as connection:
        assert len(searcher.search(QUESTION, scope=Scope(tenant="acme"), k=5, connection=connection)) == 5
        assert seen(connection, stage.owner.user) == set()


def test_after_an_error_nothing_is_left_set(stage: Stage, searcher: Rag) -> None:
    with (
        pytest.raises(oracledb.DatabaseError),
        security.reading(searcher.database, "acme") as (connection, _),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT 1 / 0 FROM dual")
    with searcher.database.connect() as connection:
        assert seen(connection, stage.owner.user) == set()


def test_who_was_not_named_is_told_so(stage: Stage) -> None:
    with stage.rag.database.connect() as connection, connection.cursor() as cursor:
        for table in GRANTS["SEARCHER"]["READ"]:
            cursor.execute(f"GRANT READ ON {table} TO {stage.users['STRANGER'].user}")
    with Rag(stage.settings("STRANGER")) as rag, pytest.raises(PrivilegeMissing, match="may not say for which tenant"):
        rag.search(QUESTION, scope=Scope(tenant="acme"))


def test_a_row_of_another_tenant_cannot_be_written(stage: Stage) -> None:
    """Not even by the owner, who is subject to the policies too; MERGE is possible (ORA-28132 without INSERT)."""
    schema = stage.owner.user
    merge = (
        "MERGE INTO RAG_RESOLUTION r USING (SELECT :tenant AS T FROM dual) s ON (r.TENANT_ID = s.T AND r.TITLE = 'm') "
        "WHEN MATCHED THEN UPDATE SET FIX = 'again' "
        "WHEN NOT MATCHED THEN INSERT (TENANT_ID, COLLECTION, TITLE, FIX) VALUES (s.T, 'c', 'm', 'f')"
    )
    with stage.owner.connect() as connection, connection.cursor() as cursor:
        assert seen(connection, schema) == set()
        say(connection, "RAG_SCOPE.SET_SCOPE(:t);", t="acme")
        for _ in range(2):
            cursor.execute(merge, tenant="acme")
            assert cursor.rowcount == 1
        with pytest.raises(oracledb.DatabaseError, match="ORA-28115"):
            cursor.execute(merge, tenant="globex")
        with pytest.raises(oracledb.DatabaseError, match="ORA-28115"):
            cursor.execute("UPDATE RAG_CHUNK SET TENANT_ID = 'globex'")
        cursor.execute("DELETE FROM RAG_CHUNK WHERE TENANT_ID = 'globex'")
        assert cursor.rowcount == 0
        connection.rollback()


def test_the_owner_builds_no_index_over_what_is_hidden(stage: Stage) -> None:
    with (
        stage.owner.connect() as connection,
        connection.cursor() as cursor,
        pytest.raises(oracledb.DatabaseError, match="ORA-28133"),
    ):
        cursor.execute("CREATE INDEX RAG_TEST_IDX ON RAG_CHUNK (UPPER(SOURCE_ID))")


def test_resolutions_are_kept_and_seen_by_tenant(stage: Stage) -> None:
    with Rag(stage.settings("OWNER", tenant="acme")) as rag:
        kept = rag.record_resolution(Resolution(title="t", fix="f", tenant="acme"))
        assert kept.id is not None
        assert rag.resolutions.get(kept.id, scope=Scope(tenant="acme")).title == "t"
        rag.resolutions.remove(kept.id, scope=Scope(tenant="acme"))


def test_what_must_see_every_row_is_refused_to_who_does_not(stage: Stage) -> None:
    with Rag(stage.settings("OWNER")) as rag:

        @rag.source("task", visibility="shared", ids="SELECT '1' FROM dual")
        def read(_connection: Any, _ids: Any) -> dict[str, Any]:
            return {}

        for work in (
            rag.drain,
            lambda: rag.work(once=True),
            rag.backfill,
            rag.estimate_backfill,
            rag.audit,
            rag.wipe,
            rag.tenants.list,
            rag.finish,
            lambda: rag.build_index(force=True),
        ):
            with pytest.raises(RowsHidden):
                work()
        assert "ROWS_HIDDEN" in {problem.code for problem in rag.status().problems}
    with stage.users["INDEXER"].connect() as connection:
        assert seen(connection, stage.owner.user) == {"acme", "globex"}, "nothing was taken away"


def test_the_workers_user_sees_everything_and_works(stage: Stage) -> None:
    with Rag(stage.settings("INDEXER")) as rag:

        @rag.source("note", visibility="shared", ids="SELECT '1' FROM dual")
        def read(_connection: Any, ids: Any) -> dict[str, Any]:
            return {key: Document("late payments of nobody") for key in ids}

        assert rag.index_now(SourceKey("note", "1")).indexed == 1
        assert rag.status().security == security.Protection(security.PROTECTED, restricted=False)


def test_verify_as_owner_reader_and_worker(stage: Stage) -> None:
    with Rag(stage.settings("OWNER")) as rag:
        report = rag.verify_security()
        assert report.problems == ()
        assert [table.table for table in report.tables] == list(security.PROTECTED)
        assert all(table.enabled and table.tried for table in report.tables)
    with Rag(stage.settings("SEARCHER")) as rag:
        report = rag.verify_security()
        assert report.problems == ()
        assert {table.table for table in report.tables} >= {"RAG_CHUNK", "RAG_DOCUMENT"}
    with Rag(stage.settings("INDEXER")) as rag:
        assert [problem.code for problem in rag.verify_security().problems] == ["NOT_SUBJECT"]


def test_verify_sees_a_policy_that_is_disabled_or_opened(stage: Stage) -> None:
    schema = stage.owner.user
    dba = oracledb.connect(user=stage.dba.user, password=stage.dba.password, dsn=stage.dba.dsn)
    with dba, Rag(stage.settings("OWNER")) as rag, Rag(stage.settings("OWNER")) as fresh:
        say(dba, "DBMS_RLS.ENABLE_POLICY(:s, 'RAG_FILE', 'RAG_TENANT', FALSE);", s=schema)
        codes = {(problem.code, problem.message.split()[-3]) for problem in rag.verify_security().problems}
        assert ("POLICY_DISABLED", "RAG_FILE") in codes
        with dba.cursor() as cursor:
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION {schema}.RAG_TENANT_POLICY (a VARCHAR2, b VARCHAR2) RETURN VARCHAR2 IS "
                "BEGIN RETURN '1=1'; END;"
            )
        assert "ROWS_LEAK" in {problem.code for problem in fresh.verify_security().problems}
    stage.install()
    with Rag(stage.settings("OWNER")) as rag:
        assert rag.verify_security().isolated, "installing again puts it right"


def test_an_index_that_covers_columns_and_a_policy_exclude_one_another(stage: Stage) -> None:
    stage.uninstall()
    try:
        stage.rag.rebuild_index(force=True, include=True)
        with pytest.raises(StatementFailed, match="INCLUDE columns"):
            stage.install()
    finally:
        stage.uninstall()
        stage.rag.rebuild_index(force=True, include=False)
        stage.install()


def test_uninstalling_leaves_nothing(stage: Stage) -> None:
    stage.uninstall()
    stage.uninstall()
    try:
        with stage.rag.database.connect() as connection, connection.cursor() as cursor:
            assert security.protection(connection, stage.owner.user).tables == ()
            cursor.execute(
                "SELECT OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_NAME IN ('RAG_SCOPE', 'RAG_TENANT_POLICY')"
            )
            assert cursor.fetchall() == []
        assert seen(oracledb.connect(**_login(stage)), stage.owner.user) == {"acme", "globex", "main"}
    finally:
        stage.install()


def _login(stage: Stage) -> dict[str, str]:
    return {name: getattr(stage.users["SEARCHER"], name) for name in ("dsn", "user", "password")}


def test_the_script_is_what_a_dba_would_run(stage: Stage) -> None:
    """SQL*Plus's statements of the printed script, one by one, make the same."""
    from tests.unit.sqlplus import statements

    text = security.script(
        stage.owner.user, worker=stage.users["INDEXER"].user, readers=(stage.users["SEARCHER"].user,)
    )
    with (
        oracledb.connect(user=stage.dba.user, password=stage.dba.password, dsn=stage.dba.dsn) as dba,
        dba.cursor() as cursor,
    ):
        for statement in statements(text):
            cursor.execute(statement)
            assert cursor.warning is None
    with Rag(stage.settings("OWNER")) as rag:
        assert rag.verify_security().isolated
