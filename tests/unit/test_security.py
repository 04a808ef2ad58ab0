"""Row security: when a tenant is set and cleared, what happens where that fails, and what the scripts say.

That the database hides rows is shown on a real one alone (tests/oracle/test_vpd.py); here its answers are played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import oracledb
import pytest

from oraclerag import errors, security
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.schema.objects import ddl
from oraclerag.security import policies, sessions, verification
from oraclerag.security.scripts import statements_of
from oraclerag.statements import root
from tests.unit.sqlplus import statements
from tests.unit.test_database import driver_error

SETUP = root("sql") / "setup"

POLICY = ("RAG_CHUNK", "YES", "YES", "YES", "YES", "YES", "YES", "YES", "CONTEXT_SENSITIVE", "RAG", "RAG_TENANT_POLICY")
SET, CLEAR = 'BEGIN "RAG".RAG_SCOPE.SET_SCOPE(:tenant_id); END;', 'BEGIN "RAG".RAG_SCOPE.CLEAR_SCOPE; END;'
NO_PACKAGE = driver_error("ORA-06550", "line 1, column 7:\nPLS-00201: identifier 'RAG.RAG_SCOPE' must be declared")


class Cursor:
    warning = None

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows)

    def var(self, _: object) -> Any:
        return SimpleNamespace(getvalue=self._connection.out)

    def execute(self, statement: str, binds: object = None, **named: object) -> None:
        self._rows = self._connection.answer(statement, binds or named)

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows.pop(0) if self._rows else None


class Connection:
    """Notes what it is told; ``fails`` says with what a call of the package ends."""

    def __init__(
        self,
        *rows: tuple[Any, ...],
        fails: dict[str, BaseException] | None = None,
        restricted: int = 1,
        exempt: int = 0,
        option: str = "TRUE",
    ) -> None:
        self.rows, self.fails, self.restricted, self.exempt, self.option = rows, fails or {}, restricted, exempt, option
        self.told: list[str] = []
        self.looks = 0
        self.ended: list[str] = []
        self.healthy = True
        self.outputtypehandler = None
        self.call_timeout = 0

    def cursor(self) -> Cursor:
        return Cursor(self)

    def out(self) -> Any:
        """What an OUT bind of the last statement has."""
        return self.restricted

    def is_healthy(self) -> bool:
        return self.healthy

    def close(self) -> None:
        self.ended.append("closed")

    def answer(self, statement: str, binds: Any) -> list[tuple[Any, ...]]:
        if "ALL_POLICIES p" in statement:
            self.looks += 1
            return list(self.rows)
        if "SESSION_PRIVS" in statement:
            return [(self.exempt,)]
        if "V$OPTION" in statement:
            return [(self.option,)]
        for part, error in self.fails.items():
            if part in statement:
                raise error
        self.told.append(
            {SET: f"set {binds.get('tenant_id') if binds else ''}", CLEAR: "clear"}.get(statement, statement)
        )
        return []


class Pool:
    """A pool of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def acquire(self) -> Connection:
        return self.connection

    def release(self, connection: Connection) -> None:
        connection.ended.append("released")

    def drop(self, connection: Connection) -> None:
        connection.ended.append("dropped")


def database_of(connection: Connection) -> Database:
    return Database(Settings(schema="rag"), pool=cast("Any", Pool(connection)))


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the fake for a driver's connection where one is borrowed."""
    monkeypatch.setattr(sessions, "driver_connection", lambda connection: getattr(connection, "inside", connection))


def read(connection: Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("read")


# -- set and clear ----------------------------------------------------------------------------------------------------


def test_a_tenant_is_set_before_the_first_read_and_cleared_before_the_connection_goes_back() -> None:
    connection = Connection(POLICY)
    with security.reading(database_of(connection), "acme") as (opened, schema):
        assert schema == "RAG"
        read(cast("Connection", opened))
        assert not connection.ended
    assert connection.told == ["set acme", "read", "clear"]
    assert connection.ended == ["released"]


def test_it_is_cleared_before_a_commit_and_after_an_error() -> None:
    connection = Connection(POLICY)
    connection.commit = lambda: connection.told.append("commit")  # type: ignore[attr-defined]
    connection.rollback = lambda: connection.told.append("rollback")  # type: ignore[attr-defined]
    database = database_of(connection)
    with security.writing(database, "acme"):
        pass
    with pytest.raises(ZeroDivisionError), security.writing(database, "globex"):
        raise ZeroDivisionError
    assert connection.told == ["set acme", "clear", "commit", "set globex", "clear", "rollback"]
    assert connection.ended == ["released", "released"]


@pytest.mark.parametrize("rows", [(), (("RAG_CHUNK", "NO", *POLICY[2:]),)], ids=["none", "disabled"])
def test_where_no_policy_stands_nothing_is_sent_and_it_is_looked_at_once(rows: tuple[tuple[Any, ...], ...]) -> None:
    connection = Connection(*rows)
    database = database_of(connection)
    for _ in range(3):
        with security.reading(database, "acme") as (opened, _schema):
            read(cast("Connection", opened))
    assert connection.told == ["read"] * 3
    assert connection.looks == 1


def test_what_is_known_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection()
    database = database_of(connection)
    moment = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: moment[0])
    for later in (0.0, 29.0, 2.0):
        moment[0] += later
        with security.reading(database, "acme"):
            pass
    assert connection.looks == 2
    connection.rows = (POLICY,)
    moment[0] += 31
    with security.reading(database, "acme"):
        pass
    assert connection.told == ["set acme", "clear"]


def test_one_that_cannot_be_cleared_is_dropped_and_what_was_read_stands(caplog: pytest.LogCaptureFixture) -> None:
    connection = Connection(POLICY, fails={"CLEAR_SCOPE": driver_error("ORA-00600")})
    database = database_of(connection)
    with security.reading(database, "acme"):
        pass
    assert connection.ended == ["dropped"]
    assert "could not be cleared (ORA-00600" in caplog.text
    connection.fails = {}
    with security.reading(database, "acme"):
        pass
    assert connection.ended == ["dropped", "released"], "only the one that failed"


def test_one_that_is_dead_is_not_asked_and_is_dropped() -> None:
    connection = Connection(POLICY)

    def die() -> None:
        connection.healthy = False
        raise errors.ConnectionFailed

    with pytest.raises(errors.ConnectionFailed), security.reading(database_of(connection), "acme"):
        die()
    assert connection.told == ["set acme"]
    assert connection.ended == ["dropped"]


def test_one_that_a_signal_interrupted_is_asked_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection(POLICY)
    connection.cancel = lambda: connection.told.append("cancel")  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt), security.reading(database_of(connection), "acme"):
        raise KeyboardInterrupt
    assert connection.told == ["set acme", "cancel"]
    assert set(connection.ended) == {"dropped"}


def test_who_may_not_set_a_tenant_is_told_what_to_grant_and_reads_nothing() -> None:
    connection = Connection(POLICY, fails={"SET_SCOPE": NO_PACKAGE})
    with (
        pytest.raises(errors.PrivilegeMissing, match="may not say for which tenant") as caught,
        security.reading(database_of(connection), "acme") as (opened, _),
    ):
        read(cast("Connection", opened))
    assert "GRANT EXECUTE ON RAG.RAG_SCOPE" in str(caught.value.hint)
    assert connection.told == []
    assert connection.ended == ["released"]


def test_one_of_which_nobody_knows_whether_a_tenant_is_set_is_dropped() -> None:
    connection = Connection(POLICY, fails={"SET_SCOPE": driver_error("DPY-4024")})
    with pytest.raises(errors.ConnectionFailed), security.reading(database_of(connection), "acme"):
        pass
    assert connection.ended == ["dropped"]


# -- borrowed ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("lent")
def test_a_borrowed_connection_is_set_and_cleared_around_the_call() -> None:
    connection = Connection(POLICY)
    database = database_of(Connection())
    with security.reading(database, "acme", connection) as (opened, _):
        read(cast("Connection", opened))
    assert connection.told == ["set acme", "read", "clear"]
    assert connection.ended == []


@pytest.mark.usefixtures("lent")
def test_a_borrowed_connection_that_cannot_be_cleared_is_closed_and_that_is_said() -> None:
    connection = Connection(POLICY, fails={"CLEAR_SCOPE": driver_error("ORA-04068")})
    with (
        pytest.raises(errors.DatabaseError, match=r"could not be cleared \(ORA-04068.*it was closed"),
        security.reading(database_of(Connection()), "acme", connection),
    ):
        pass
    assert connection.ended == ["closed"]


@pytest.mark.usefixtures("lent")
def test_the_error_of_a_read_is_not_covered_by_that_of_clearing() -> None:
    connection = Connection(POLICY, fails={"CLEAR_SCOPE": driver_error("ORA-04068")})
    with pytest.raises(ZeroDivisionError), security.reading(database_of(Connection()), "acme", connection):
        raise ZeroDivisionError
    assert connection.ended == ["closed"]


@pytest.mark.usefixtures("lent")
@pytest.mark.parametrize("kind", ["Connection", "Session"])
def test_what_sqlalchemy_lent_is_taken_from_its_pool(kind: str) -> None:
    inside = Connection(POLICY, fails={"CLEAR_SCOPE": driver_error("ORA-04068")})
    owner: Any = SimpleNamespace(inside=inside, invalidate=lambda: inside.ended.append("invalidated"))
    if kind == "Session":
        outer = SimpleNamespace(inside=inside, connection=lambda: owner)
    else:
        outer = owner
    with pytest.raises(errors.DatabaseError), security.reading(database_of(Connection()), "acme", outer):
        pass
    assert inside.ended == ["invalidated"]


# -- who must see every row -------------------------------------------------------------------------------------------


def test_who_must_see_every_row_is_refused_where_some_are_hidden() -> None:
    with pytest.raises(errors.RowsHidden, match="A worker must see every row"):
        security.require_unrestricted(cast("Any", Connection(POLICY)), "RAG", "A worker")


@pytest.mark.parametrize(
    "connection",
    [Connection(), Connection(POLICY, restricted=0), Connection(POLICY, exempt=1)],
    ids=["no policies", "the workers' user", "EXEMPT ACCESS POLICY"],
)
def test_who_sees_every_row_is_not_refused(connection: Connection) -> None:
    security.require_unrestricted(cast("Any", connection), "RAG", "A worker")


def test_who_may_not_ask_is_not_the_workers_user() -> None:
    connection = Connection(POLICY, fails={"RESTRICTED": NO_PACKAGE})
    with pytest.raises(errors.RowsHidden):
        security.require_unrestricted(cast("Any", connection), "RAG", "A worker")


@pytest.mark.parametrize(
    ("place", "value", "flaw"),
    [
        (5, "NO", "all kinds"),
        (6, "NO", "all kinds"),
        (7, "NO", "update_check"),
        (8, "STATIC", "STATIC"),
        (9, "EVIL", "EVIL.RAG_TENANT_POLICY"),
        (10, "OTHER", "RAG.OTHER"),
    ],
)
def test_a_policy_that_was_altered_is_told_from_ours(place: int, value: str, flaw: str) -> None:
    row = (*POLICY[:place], value, *POLICY[place + 1 :])
    assert policies.policies(cast("Any", Connection(POLICY)), "RAG")["RAG_CHUNK"].flaws == ()
    assert flaw in " ".join(policies.policies(cast("Any", Connection(row)), "RAG")["RAG_CHUNK"].flaws)


# -- the scripts ------------------------------------------------------------------------------------------------------


def sent(name: str) -> list[str]:
    return statements((SETUP / name).read_text("utf-8"))


NAMES = {
    "vpd.sql": {"rag_owner": "RAG", "rag_worker": "RAG_INDEXER", "rag_readers": "RAG_SEARCHER,RAG_RECORDER"},
    "vpd_remove.sql": {"rag_owner": "RAG"},
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_run_is_what_sqlplus_would_send(name: str) -> None:
    assert statements_of(name, NAMES[name]) == sent(name)


def test_what_is_printed_is_the_script_with_the_names() -> None:
    text = security.script("kb", worker="kb_indexer", readers=("kb_search", "kb_app"))
    assert statements(text) == statements_of(
        "vpd.sql", {"rag_owner": "KB", "rag_worker": "KB_INDEXER", "rag_readers": "KB_SEARCH,KB_APP"}
    )
    assert statements(security.script("kb")) == statements_of("vpd_remove.sql", {"rag_owner": "KB"})
    assert "ORACLERAG_KB USING KB.RAG_SCOPE" in statements(text)[4]


@pytest.mark.parametrize("bad", ["A'B", 'a"b', "a b", "a;b", "", "a-b", "1a", "a.b"])
def test_a_name_that_is_none_is_refused(bad: str) -> None:
    for arguments in ({"worker": bad}, {"worker": "w", "readers": (bad,)}):
        with pytest.raises(errors.ConfigurationError):
            security.script("kb", **cast("Any", arguments))
    with pytest.raises(errors.ConfigurationError):
        security.script(bad or "'", worker="w")


def test_who_sees_every_row_is_no_reader_and_there_is_one() -> None:
    with pytest.raises(errors.InputError, match="cannot be a reader"):
        security.script("kb", worker="app", readers=("App",))
    with pytest.raises(errors.InputError, match="At least one"):
        security.script("kb", worker="app", readers=())
    with pytest.raises(errors.ConfigurationError, match="118"):
        security.script("k" * 119, worker="app")


def tables() -> dict[str, frozenset[str]]:
    return {
        item.name: item.columns
        for path in sorted((root("sql") / "schema").glob("*.sql"))
        for item in ddl(path.name)
        if item.kind == "TABLE"
    }


def test_every_table_with_a_tenant_has_a_policy_but_the_queue_and_what_was_spent() -> None:
    """A table that is added has to be decided about: here, in the script and in ``verify``."""
    open_to_workers = {"RAG_DIRTY", "RAG_USAGE"}
    protected = re.findall(r"SELECT \d(?: AS PLACE)?, '(RAG_\w+)'", sent("vpd.sql")[-1])
    assert protected == list(security.PROTECTED)
    assert set(protected) == {name for name, columns in tables().items() if "TENANT_ID" in columns} - open_to_workers
    assert set(verification._ADD) == set(protected)
    listed = re.findall(r"'(RAG_\w+)'", (root("sql") / "statements" / "security.sql").read_text("utf-8"))
    assert set(listed) - {"RAG_TENANT"} == set(protected)


def test_a_policy_is_for_every_kind_of_statement_and_looks_at_what_is_written() -> None:
    block = re.sub(r"\s+", " ", sent("vpd.sql")[-1])
    assert "statement_types => 'SELECT,INSERT,UPDATE,DELETE,INDEX'" in block
    assert "update_check => TRUE" in block
    assert "policy_type => SYS.DBMS_RLS.CONTEXT_SENSITIVE" in block
    assert not re.search(r"STATIC\b", block)


def test_only_the_workers_user_is_free_and_only_by_its_name() -> None:
    function = sent("vpd.sql")[1]
    assert function.count("RETURN NULL") == 1
    assert "IF SYS_CONTEXT('USERENV', 'SESSION_USER') = 'RAG_INDEXER' THEN\n    RETURN NULL" in function


def test_the_package_runs_with_the_rights_of_its_owner_and_is_granted_to_nobody_else() -> None:
    text = sent("vpd.sql")
    assert text[2].startswith("CREATE OR REPLACE PACKAGE RAG.RAG_SCOPE AUTHID DEFINER")
    grants = [match for statement in text for match in re.findall(r"GRANT .*", statement)]
    assert grants == [
        "GRANT EXECUTE ON RAG.RAG_SCOPE TO RAG_INDEXER';",
        "GRANT EXECUTE ON RAG.RAG_SCOPE TO RAG_SEARCHER,RAG_RECORDER",
    ]


# -- installing -------------------------------------------------------------------------------------------------------


def test_installing_runs_the_script_and_nothing_else() -> None:
    connection = Connection(POLICY)
    security.install(database_of(connection), worker="rag_indexer")
    assert connection.told == sent("vpd.sql")


def test_an_edition_without_it_is_refused_before_anything_is_made() -> None:
    connection = Connection(option="FALSE")
    with pytest.raises(errors.StatementFailed, match="has no row security"):
        security.install(database_of(connection), worker="rag_indexer")
    assert connection.told == []


@pytest.mark.parametrize(
    ("part", "error", "cls", "words"),
    [
        ("ADD_POLICY", driver_error("ORA-00439"), errors.StatementFailed, "edition of the database"),
        ("ADD_POLICY", driver_error("ORA-06550"), errors.PrivilegeMissing, "DBMS_RLS"),
        ("CREATE OR REPLACE CONTEXT", driver_error("ORA-01031"), errors.PrivilegeMissing, "CREATE ANY CONTEXT"),
        ("ADD_POLICY", driver_error("ORA-51988"), errors.StatementFailed, "INCLUDE columns"),
        ("ADD_POLICY", driver_error("ORA-51991"), errors.StatementFailed, "INCLUDE columns"),
        (
            "GRANT EXECUTE ON RAG.RAG_SCOPE TO RAG_SEARCHER",
            driver_error("ORA-01917"),
            errors.StatementFailed,
            "neither",
        ),
        ("ADD_POLICY", driver_error("ORA-03113"), errors.ConnectionFailed, "connection was lost"),
    ],
)
def test_what_stands_against_it_is_said(
    part: str, error: oracledb.DatabaseError, cls: type[errors.OracleRagError], words: str
) -> None:
    connection = Connection(fails={part: error})
    with pytest.raises(cls, match=words) as caught:
        security.install(database_of(connection), worker="rag_indexer")
    assert caught.value.__cause__ is error
    assert connection.ended == ["released"]


def test_the_scripts_lie_beside_the_others() -> None:
    assert all(Path(SETUP / name).is_file() for name in NAMES)
