"""What Oracle refuses is refused with its number, what it runs gives its result; where not, the table says so.

A row with ``differs`` holds what the local database gives today: it fails when that changes, for better or worse. On a
real Oracle every row holds what the documentation and others' tests say; a number that is ``unsure`` is not compared.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from tests.local.conftest import Account, as_administrator
from tests.local.refusals import ACCEPTED, FIXTURE, FREE, REFUSED, RESERVED, WORKS, Refused, Works

pytestmark = pytest.mark.one_size("standard")  # the table is of that size

_ROLLED_BACK = re.compile(r"\s*(\(|SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|SAVEPOINT|ROLLBACK|LOCK)\b", re.IGNORECASE)
_ALTERS = re.compile(r"\s*((ALTER|DROP|TRUNCATE) (TABLE|SEQUENCE)( IF EXISTS)? (t|u|tv|s)\b|RENAME\b)", re.IGNORECASE)
_OF_SESSION = re.compile(r"\s*(ALTER SESSION|SET)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\s*(INSERT INTO|UPDATE|DELETE FROM|DELETE|MERGE INTO|BEGIN|DECLARE)\b(?! (x|y|idt)\b)", re.IGNORECASE
)
_OURS = {"T", "U", "TV", "S"}
_ROWS = [statement for statement in FIXTURE if statement.startswith("INSERT")]


class Schema:
    """The fixture's tables, as they are left before each row: what a rollback does not take back is undone or made anew."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._connection: oracledb.Connection | None = None
        self._made = False

    def fresh(self) -> oracledb.Connection:
        """Give a connection to the tables as FIXTURE leaves them."""
        if self._connection is None:
            self._connection = self._account.connect()
        if not self._made:
            self._drop(self._connection.cursor(), keep=set())
            for statement in FIXTURE:
                self._connection.cursor().execute(statement)
            self._connection.commit()
            self._made = True
        return self._connection

    def _drop(self, cursor: oracledb.Cursor, keep: set[str]) -> None:
        kinds = "'TABLE', 'VIEW', 'SEQUENCE'" + (", 'INDEX', 'TRIGGER'" if keep else "")
        found = cursor.execute(f"SELECT OBJECT_TYPE, OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_TYPE IN ({kinds})")
        kept = [(kind, name) for kind, name in found.fetchall() if not name.startswith(("ISEQ$$", "SYS_", "VECTOR$"))]
        for kind, name in sorted(
            kept, key=lambda pair: pair[0] not in ("TABLE", "VIEW")
        ):  # with its indexes and triggers
            if name not in keep:
                more = " CASCADE CONSTRAINTS PURGE" if kind == "TABLE" else ""
                with contextlib.suppress(oracledb.DatabaseError):
                    cursor.execute(f'DROP {kind} "{name}"{more}')

    def leave(self, *statements: str, done: bool = True) -> None:
        """Undo what these statements did, of which the last one failed unless it is ``done``."""
        assert self._connection is not None
        self._connection.rollback()
        changes = [statement for statement in statements if not _ROLLED_BACK.match(statement)]
        if not changes:
            return
        if any(_ALTERS.match(statement) for statement in (statements if done else statements[:-1])):
            self._made = False
        elif not all(_OF_SESSION.match(statement) for statement in changes):
            cursor = self._connection.cursor()
            self._drop(cursor, keep=_OURS)
            if any(_WRITES.match(statement) for statement in statements):  # a DDL behind them has committed them
                for statement in ("DELETE FROM u", "DELETE FROM t", "DELETE FROM tv", *_ROWS):
                    cursor.execute(statement)
                self._connection.commit()
        if not self._made or any(_OF_SESSION.match(statement) for statement in changes):
            self.close()

    def close(self) -> None:
        """Close the connection; the next one begins a session anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@pytest.fixture(scope="module")
def schema(module_account: Account, local_database: LocalDatabase) -> Iterator[Schema]:
    as_administrator(local_database, f"GRANT DROP USER, CREATE ROLE TO {module_account.user}")
    made = Schema(module_account)
    yield made
    made.close()


@pytest.fixture
def real() -> bool:
    """Whether the rows are held against a real Oracle; tests/oracle says so."""
    return False


def outcome(cursor: oracledb.Cursor, statement: str, binds: dict[str, Any] | list[Any]) -> tuple[int, str]:
    """Run a statement to its last row; give its error number, or ACCEPTED, and the message."""
    try:
        if cursor.execute(statement, binds or None) is not None:
            cursor.fetchall()
    except oracledb.DatabaseError as error:
        (info,) = error.args
        return int(info.code), str(info.message)
    return ACCEPTED, ""


def headings(cursor: oracledb.Cursor) -> list[str]:
    return [column.name for column in cursor.description or ()]


def label(row: Refused | Works) -> str:
    return re.sub(r"\s+", " ", row.sql)[:90]


@pytest.mark.parametrize("row", REFUSED, ids=label)
def test_refused(schema: Schema, row: Refused, real: bool) -> None:
    cursor = schema.fresh().cursor()
    assert (row.gives is None) == (row.differs == "")
    number, message = 0, ""
    try:
        for statement in row.setup:
            number, message = outcome(cursor, statement, {})
            if number:
                break
        else:
            number, message = outcome(cursor, row.sql, row.binds)
    finally:
        schema.leave(*row.setup, *(() if number and not row.setup else (row.sql,)), done=not number)
    if real and row.unsure:
        assert number != ACCEPTED
        return
    assert number == (row.error if real or row.gives is None else row.gives), message
    assert row.also in message


@pytest.mark.parametrize("row", WORKS, ids=label)
def test_works(schema: Schema, row: Works, real: bool) -> None:
    connection = schema.fresh()
    cursor = connection.cursor()
    assert (row.gives is None) == (row.differs == "")
    try:
        if row.gives is not None and not real:
            results = (outcome(cursor, statement, {}) for statement in row.setup)
            number = next((failed for failed, _ in results if failed), None)
            assert (number or outcome(cursor, row.sql, row.binds)[0]) == row.gives
            return
        for statement in row.setup:
            cursor.execute(statement)
        query = cursor.execute(row.sql, row.binds or None) is not None
        if query and row.result is not None:
            rows = [
                tuple(value.read() if isinstance(value, oracledb.LOB) else value for value in found) for found in cursor
            ]
            assert rows == row.result
        elif row.result is not None:
            assert cursor.rowcount == row.result
        if row.then:
            assert cursor.execute(row.then).fetchall() == list(row.rows)
    finally:
        schema.leave(*row.setup, row.sql)


@pytest.mark.parametrize(
    ("sql", "binds", "code"),
    [
        ("", None, "DPY-2066"),
        (" ", None, "DPY-2066"),
        ("SELECT 'abc FROM dual", None, "DPY-2041"),
        ('SELECT "abc FROM dual', None, "DPY-2042"),
        ("SELECT '1'::int FROM dual", None, "DPY-4010"),
        ("SELECT :a FROM dual", None, "DPY-4010"),
        ("SELECT 1 FROM dual", {"a": 1}, "DPY-4008"),
        ("SELECT :a, :b FROM dual", [1], "DPY-4009"),
        ("SELECT :a FROM dual", [object()], "DPY-3002"),
        ("SELECT * FROM t WHERE id IN (:ids)", {"ids": (1, 2)}, "DPY-3002"),
        ("ALTER SESSION SET NLS_DATE_FORMAT = :f", {"f": "YYYY"}, "DPY-4008"),
        ("CREATE TABLE x (a NUMBER DEFAULT :d)", {"d": 1}, "DPY-4008"),
    ],
)
def test_what_the_driver_refuses_itself(schema: Schema, sql: str, binds: Any, code: str) -> None:
    with pytest.raises(oracledb.Error) as raised:
        schema.fresh().cursor().execute(sql, binds)
    assert raised.value.args[0].full_code == code


@pytest.mark.long
def test_a_list_has_a_limit(schema: Schema) -> None:
    cursor = schema.fresh().cursor()
    longest = ", ".join(map(str, range(65535)))
    assert outcome(cursor, f"SELECT id FROM t WHERE id IN ({longest})", {})[0] == ACCEPTED
    assert outcome(cursor, f"SELECT id FROM t WHERE id IN ({longest}, 0)", {})[0] == 1795


def test_nothing_is_fetched_of_an_insert(schema: Schema) -> None:
    connection = schema.fresh()
    cursor = connection.cursor()
    cursor.execute("INSERT INTO u (id) VALUES (9)")
    with pytest.raises(oracledb.InterfaceError, match="DPY-1003"):
        cursor.fetchone()
    connection.rollback()


def test_a_reserved_word_is_a_column_name_in_quotes_only(schema: Schema) -> None:
    cursor = schema.fresh().cursor()
    found = {word: outcome(cursor, f"CREATE TABLE x ({word} NUMBER)", {})[0] for word in RESERVED}
    assert found == dict.fromkeys(RESERVED, 3050)
    quoted = [f'"{word}"' for word in RESERVED if word != "ROWID"]
    cursor.execute(f"CREATE TABLE x ({' NUMBER, '.join(quoted)} NUMBER)")
    cursor.execute(f"SELECT {', '.join(quoted)} FROM x")
    assert headings(cursor) == [word for word in RESERVED if word != "ROWID"]
    schema.leave("CREATE TABLE x")
    assert outcome(schema.fresh().cursor(), 'CREATE TABLE x ("ROWID" NUMBER)', {})[0] != ACCEPTED


def test_words_that_are_not_reserved_are_names(schema: Schema) -> None:
    cursor = schema.fresh().cursor()
    cursor.execute(f"CREATE TABLE x ({', '.join(f'{word} NUMBER' for word in FREE)})")
    cursor.execute(f"SELECT {', '.join(FREE)}, x.{', x.'.join(FREE)} FROM x WHERE {' = 1 AND '.join(FREE)} = 1")
    assert headings(cursor)[: len(FREE)] == FREE
    schema.leave("CREATE TABLE x")


def test_the_rest_of_the_session_goes_on(schema: Schema) -> None:
    """A failed statement takes back its own effect only, DDL that fails for meaning has committed, by syntax has not."""
    connection = schema.fresh()
    cursor = connection.cursor()
    cursor.execute("DELETE FROM u WHERE id = 1")
    assert outcome(cursor, "INSERT INTO t (id, n) VALUES (9, 1), (1, 1)", {})[0] == 1
    assert outcome(cursor, "CREATE TABLEX y (a NUMBER)", {})[0] == 901
    assert cursor.execute("SELECT id FROM u").fetchall() == [(2,)]
    connection.rollback()
    assert len(cursor.execute("SELECT id FROM u").fetchall()) == 2
    cursor.execute("DELETE FROM u WHERE id = 1")
    assert outcome(cursor, "CREATE TABLE t (a NUMBER)", {})[0] == 955
    connection.rollback()
    assert cursor.execute("SELECT id FROM u").fetchall() == [(2,)]
    schema.leave("DELETE FROM u WHERE id = 1", "CREATE TABLE t (a NUMBER)", done=False)
