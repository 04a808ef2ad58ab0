"""Where the local database differs from Oracle: each row of docs/local.md shown, and what ``local status`` counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
from typer.testing import CliRunner

from oraclerag.cli import app
from oraclerag.local import LocalDatabase
from oraclerag.local.engine.differences import BY_KEY, DIFFERENCES, Reading, touched_by
from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.engine.touched import Touched
from tests.local.conftest import Account, as_administrator
from tests.local.differences_cases import CASES, OF_SEVERAL_USERS, REFUSALS, Case, Refusal, outcome, run

pytestmark = pytest.mark.one_size

PAGE = Path(__file__).resolve().parents[2] / "docs" / "local.md"

# Drivers of before 2026 send a text for a CLOB as a temporary LOB, which does not differ.
BINDS_AS_LONG = int(oracledb.__version__.partition(".")[0]) >= 26


def table(heading: str) -> list[list[str]]:
    """Give the rows of the first table behind a heading of the page."""
    section = PAGE.read_text("utf-8").partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.replace("\\|", "\0").split("|")[1:-1]] for line in lines]


def test_the_page_says_what_the_code_lists() -> None:
    listed = [[one.subject, one.here.replace("|", "\0"), one.oracle] for one in DIFFERENCES]
    assert table("Taken, with another effect") == listed


def test_the_page_says_what_is_refused() -> None:
    assert table("Refused, though Oracle takes it") == [
        [refusal.group, refusal.what, "" if refusal.number == 3001 else f"ORA-{refusal.number:05d}", refusal.instead]
        for refusal in REFUSALS
    ]


def test_every_difference_is_shown() -> None:
    assert [case.key for case in CASES] + sorted(OF_SEVERAL_USERS) == sorted(
        BY_KEY, key=[*(case.key for case in CASES), *sorted(OF_SEVERAL_USERS)].index
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_a_difference_is_as_the_page_says(case: Case, account: Account) -> None:
    if case.bound_as_long and not BINDS_AS_LONG:
        pytest.skip("this driver binds a text for a CLOB as a temporary LOB")
    with account.connect() as connection:
        run(connection, *case.setup)
        assert case.probe(connection, account.connect) == case.here


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.what)
def test_what_oracle_takes_is_refused(refusal: Refusal, account: Account) -> None:
    with account.connect() as connection:
        run(connection, *refusal.setup)
        assert outcome(connection, refusal.statement) == refusal.number


def test_no_quota_is_needed(account: Account, local_database: LocalDatabase) -> None:
    name = f"{account.user}_Q"
    as_administrator(
        local_database,
        f"CREATE USER {name} IDENTIFIED BY x QUOTA 0 ON users",
        f"GRANT CREATE SESSION, CREATE TABLE TO {name}",
    )
    with oracledb.connect(user=name, password="x", dsn=account.dsn) as connection:
        run(connection, "CREATE TABLE t (a NUMBER)", "INSERT INTO t VALUES (1)")


def test_a_trigger_keeps_the_rights_that_it_was_made_with(account: Account, local_database: LocalDatabase) -> None:
    name = f"{account.user}_T"
    other = Account(account.dsn, name, local_database.create_user(name))
    with account.connect() as connection, other.connect() as beside:
        run(beside, "CREATE TABLE log (x NUMBER)", f"GRANT INSERT ON log TO {account.user}")
        run(
            connection,
            "CREATE TABLE t (x NUMBER)",
            f"CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO {name}.log VALUES (:NEW.x); END;",
        )
        run(beside, f"REVOKE INSERT ON log FROM {account.user}")
        run(connection, "INSERT INTO t VALUES (1)")


def test_a_default_takes_no_right_on_its_sequence(account: Account, local_database: LocalDatabase) -> None:
    name = f"{account.user}_D"
    other = Account(account.dsn, name, local_database.create_user(name))
    with account.connect() as connection, other.connect() as beside:
        run(
            beside,
            "CREATE SEQUENCE s",
            "CREATE TABLE t (id NUMBER DEFAULT s.NEXTVAL, x NUMBER)",
            f"GRANT INSERT ON t TO {account.user}",
        )
        run(connection, f"INSERT INTO {name}.t (x) VALUES (1)")


# -- what statements touched ------------------------------------------------------------------------------------------

DETECTED: list[tuple[str, set[str]]] = [
    ("SELECT id FROM t", set()),
    ("SELECT /*+ INDEX(t i) */ id FROM t", {"hints"}),
    ("SELECT /* + no hint */ id FROM t", set()),
    ("SELECT --+ FULL(t)\n id FROM t", {"hints"}),
    ("SELECT id FROM tv ORDER BY v <=> :v FETCH APPROX FIRST 5 ROWS ONLY", {"approximate"}),
    ("SELECT 'APPROX' FROM t", set()),
    ('SELECT "ROWID" FROM t', set()),
    ("SELECT ROWID FROM t", {"rowid"}),
    ("CREATE TABLE t (a VARCHAR2(9 CHAR))", set()),
    ("CREATE TABLE t (a CHAR(9 CHAR))", {"char"}),
    ("CREATE TABLE t (a NCHAR(9))", {"char", "result-types"}),
    ("CREATE TABLE t (a TIMESTAMP(6))", set()),
    ("CREATE TABLE t (a TIMESTAMP(9) WITH TIME ZONE)", {"timestamp-digits", "time-zone"}),
    ("CREATE TABLE t (v VECTOR(3, FLOAT64)) TABLESPACE users", {"float64", "storage"}),
    ("CREATE VECTOR INDEX i ON t (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH", {"approximate", "hnsw"}),
    ("BEGIN DBMS_VECTOR.CREATE_INDEX('I', 'T', 'V', idx_organization => 'INMEMORY NEIGHBOR GRAPH'); END;", {"hnsw"}),
    ("CREATE USER u IDENTIFIED BY x QUOTA 1G ON users", {"users"}),
    ("SELECT id, SCORE(1) FROM t WHERE CONTAINS(b, :q, 1) > 0", {"oracle-text"}),
    ("SELECT contains AS score FROM t", set()),
    ("BEGIN CTX_DDL.SYNC_INDEX('I'); END;", {"oracle-text"}),
    ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, :p) FROM dual", {"text-generation"}),
    ("CREATE INDEX i ON t (b) INDEXTYPE IS CTXSYS.CONTEXT", {"oracle-text"}),
    ("ALTER TABLE t SHRINK SPACE", {"space"}),
    ("ALTER INDEX i COALESCE", {"space"}),
    ("SELECT COALESCE(a, 1) FROM t", set()),
    ("DROP TABLE t", {"recycle-bin"}),
    ("DROP TABLE t PURGE", set()),
    ("SELECT JSON_SERIALIZE(j ORDERED) FROM t", {"json-order", "json-options"}),
    ("SELECT a FROM t WHERE a IS JSON", {"json-order", "json-options"}),
    ("ALTER SESSION SET DDL_LOCK_TIMEOUT = 10", {"session-parameters"}),
    ("ALTER SESSION SET TIME_ZONE = 'UTC'", set()),
    ("COMMIT WRITE BATCH NOWAIT", {"session-parameters"}),
    ("SELECT VALUE FROM V$PARAMETER", {"dynamic-views"}),
    ("SELECT COLUMN_NAME FROM USER_TAB_COLUMNS", {"column-views"}),
    ("SELECT NAME FROM ALL_DEPENDENCIES", {"dependencies"}),
    ("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN NULL; END;", {"broken-triggers", "mutating"}),
    ("REVOKE READ ON t FROM u", {"trigger-rights"}),
    ("CREATE TABLE t (id NUMBER DEFAULT s.NEXTVAL)", {"sequence-defaults"}),
    ("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'T'); END;", {"statistics"}),
    ("", set()),
    ("CREATE", set()),
    ("DROP", set()),
]


@pytest.mark.parametrize(("statement", "keys"), DETECTED)
def test_a_statement_tells_what_it_touches(statement: str, keys: set[str]) -> None:
    assert {*touched_by(Reading(statement, tokenize(statement)))} == keys


def test_a_detector_or_an_event_or_always() -> None:
    """Each detector is tried above, or hangs on a type; the others happen, or hold without a statement."""
    tried = set().union(*(keys for _, keys in DETECTED))
    for one in DIFFERENCES:
        assert not (one.happens and one.detect is not None), one.key
        assert one.detect is None or one.key in tried | {"empty-lob", "json-types"}, one.key
    assert [one.key for one in DIFFERENCES if one.detect is None and not one.happens] == [
        "keys", "restart", "session-attributes", "bound-lobs"
    ]  # fmt: skip


def test_types_of_columns_tell_too() -> None:
    statement = "INSERT INTO t (a) VALUES (:1)"
    for kind, keys in (("CLOB", ["empty-lob"]), ("CHAR", ["char"]), ("JSON", ["json-order", "json-types"])):
        assert [*touched_by(Reading(statement, tokenize(statement), frozenset({kind})))] == keys
    assert [*touched_by(Reading("SELECT a FROM t", tokenize("SELECT a FROM t"), frozenset({"CLOB"})))] == []


def test_different_statements_are_counted_and_nothing_of_them_is_kept() -> None:
    kept: list[Any] = []
    touched = Touched(kept.append)
    for statement in ("SELECT ROWID FROM secret", "SELECT ROWID FROM secret", "SELECT ROWID, a FROM secret"):
        touched.read(statement, tokenize(statement))
    touched.close()
    assert kept == [touched.summary()]
    assert kept[0]["rowid"]["statements"] == 2
    assert "secret" not in json.dumps(kept)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[LocalDatabase]:
    with LocalDatabase(tmp_path / "local", in_process=True) as opened:
        yield opened


def test_status_lists_them(database: LocalDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    invoke: Callable[..., Any] = CliRunner().invoke
    account = Account(database.dsn, "ONE", database.create_user("ONE"))
    with account.connect() as connection:
        run(connection, "CREATE TABLE c (a CHAR(3), id NUMBER(3) PRIMARY KEY)", "DROP TABLE c PURGE")
        run(connection, "CREATE TABLE c (a CHAR(3), id NUMBER(3) PRIMARY KEY)")
        run(connection, "SELECT a FROM c", "SELECT a FROM c", "SELECT /*+ FULL(c) */ id FROM c")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO c (id) VALUES (:1)", [[1], [1], [1000]], batcherrors=True)
    found = {one.subject: one.statements for one in database.differences()}
    assert found["CHAR"] == 4  # CREATE, both SELECT and the INSERT: each names a table that has one
    assert found["Hints"] == 1
    assert found["Errors of executemany"] == 1
    assert found["Session attributes"] is None
    assert "ROWID" not in found
    directory = str(database.directory)
    database.stop()  # what was touched is written at the latest now
    shown = json.loads(invoke(app, ["local", "status", "--differences", "--json", "--directory", directory]).stdout)
    assert {one["subject"]: one["statements"] for one in shown} == found
    text = invoke(app, ["local", "status", "--differences", "--directory", directory]).stdout
    lines = [line.split() for line in text.splitlines()]
    place = lines.index(["CHAR"])
    assert lines[place + 1] == ["statements", "4"]
    assert [line[0] for line in lines[place + 2 : place + 4]] == ["here", "on"]
    assert ["statements", "always"] in lines
    database.start()
    assert {one.subject for one in database.differences() if one.statements} <= {"Storage"}, "another run begins anew"
