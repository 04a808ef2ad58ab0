"""What Oracle refuses is refused with its number, what it runs gives its result; where not, the table says so.

A row with ``differs`` holds what the local database gives today: it fails when that changes, for better or worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from tests.local.conftest import Account, as_administrator
from tests.local.refusals import ACCEPTED, FIXTURE, FREE, REFUSED, RESERVED, WORKS, Refused, Works

pytestmark = pytest.mark.one_size("standard")  # the table is of that size

_KEEPS_SCHEMA = re.compile(r"\s*(\(|SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|SAVEPOINT|ROLLBACK|LOCK)\b", re.IGNORECASE)


class Schema:
    """The fixture's tables, made again after each statement that may have changed more than a rollback takes back."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._connection: oracledb.Connection | None = None

    def fresh(self) -> oracledb.Connection:
        """Give a connection to the tables as FIXTURE leaves them."""
        if self._connection is None:
            self._connection = self._account.connect()
            cursor = self._connection.cursor()
            found = cursor.execute(
                "SELECT OBJECT_TYPE, OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_TYPE IN ('TABLE', 'VIEW', 'SEQUENCE')"
            )
            for kind, name in found.fetchall():
                if not name.startswith("ISEQ$$"):
                    cursor.execute(
                        f'DROP {kind} IF EXISTS "{name}"' + (" CASCADE CONSTRAINTS PURGE" if kind == "TABLE" else "")
                    )
            for statement in FIXTURE:
                cursor.execute(statement)
            self._connection.commit()
        return self._connection

    def leave(self, *statements: str) -> None:
        """Undo what these statements did."""
        if self._connection is None:
            return
        if all(_KEEPS_SCHEMA.match(statement) for statement in statements):
            self._connection.rollback()
        else:
            self.close()

    def close(self) -> None:
        """Close the connection; the next one starts anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@pytest.fixture(scope="module")
def schema(module_account: Account, local_database: LocalDatabase) -> Iterator[Schema]:
    as_administrator(local_database, f"GRANT DROP USER, CREATE ROLE TO {module_account.user}")
    made = Schema(module_account)
    yield made
    made.close()


def outcome(cursor: oracledb.Cursor, statement: str, binds: dict[str, object]) -> tuple[int, str]:
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
def test_refused(schema: Schema, row: Refused) -> None:
    cursor = schema.fresh().cursor()
    expected = row.error if row.gives is None else row.gives
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
        accepted = () if number else (row.sql,)
        schema.leave(*row.setup, *accepted)
    assert number == expected, message
    assert row.also in message


@pytest.mark.parametrize("row", WORKS, ids=label)
def test_works(schema: Schema, row: Works) -> None:
    connection = schema.fresh()
    cursor = connection.cursor()
    try:
        if row.gives is not None:
            assert row.differs
            results = (outcome(cursor, statement, {}) for statement in row.setup)
            number = next((failed for failed, _ in results if failed), None)
            assert (number or outcome(cursor, row.sql, row.binds)[0]) == row.gives
            return
        for statement in row.setup:
            cursor.execute(statement)
        query = cursor.execute(row.sql, row.binds or None) is not None
        if query:
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
    schema.close()
