"""CONTEXT indexes, CONTAINS and SCORE on a database: what is found, when, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

TEXTS = {
    1: "Deadlock: ORA-00060 while waiting for a resource.",
    2: "ORA-00054: resource busy; 60 sessions",
    3: "The nightly job failed with ora-00060, twice: ORA-00060",
    4: "Versión 19.22.0 de la aplicación móvil; C++ & PL/SQL at 100%",
    5: "a resource of the nightly job",
}
CREATE = (
    "CREATE INDEX D_TEXT ON d (x) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('STOPLIST CTXSYS.EMPTY_STOPLIST SYNC ({})')"
)
FIND = "SELECT id FROM d WHERE CONTAINS(x, :q, 1) > 0 ORDER BY id"


@pytest.fixture(scope="module")
def filled(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE d (id NUMBER PRIMARY KEY, x VARCHAR2(200), y VARCHAR2(20), z NUMBER)")
        cursor.executemany("INSERT INTO d (id, x) VALUES (:1, :2)", list(TEXTS.items()))
        connection.commit()
        cursor.execute(CREATE.format("ON COMMIT"))
        yield connection


@pytest.fixture
def cursor(filled: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    with filled.cursor() as opened:
        yield opened
    filled.rollback()


def found(cursor: oracledb.Cursor, query: str) -> list[int]:
    return [number for (number,) in cursor.execute(FIND, q=query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{ORA} {00060}", [1, 3]),
        ("{ORA-00060}", [1, 3]),
        ("{ora} {60}", []),
        ("{60}", [2]),
        ("{RESOURCE}", [1, 2, 5]),
        ("{resourc}", []),
        ("{NIGHTLY} ACCUM {busy}", [2, 3, 5]),
        ("nightly, busy", [2, 3, 5]),
        ("{nightly} & {resource}", [5]),
        ("nightly and resource", [5]),
        ("{nightly job}", [3, 5]),
        ("{job nightly}", []),
        ("{MÓVIL}", [4]),
        ("{19.22.0}", [4]),
        ("{19.22}", []),
        ("{the}", [3, 5]),
        ("{near} ACCUM {100}", [4]),
        ("{a}}b} ACCUM {C}", [4]),
        ("{twice}", [3]),
    ],
)
def test_what_is_found(cursor: oracledb.Cursor, query: str, expected: list[int]) -> None:
    assert found(cursor, query) == expected


def test_scores_are_whole_numbers_up_to_100_and_more_words_count_more(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "SELECT id, SCORE(1) AS s FROM d WHERE CONTAINS(x, :q, 1) > 0 ORDER BY SCORE(1) DESC, id",
        q="{ORA} {00060} ACCUM {nightly}",
    )
    rows = cursor.fetchall()
    assert [number for number, _ in rows] == [3, 1, 5]
    assert all(isinstance(score, int) and 1 <= score <= 100 for _, score in rows)


def test_two_blocks_with_labels_of_their_own(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "SELECT id FROM (SELECT id, SCORE(1) AS s FROM d c WHERE (c.id > 0) AND CONTAINS(c.x, :a, 1) > 0 ORDER BY s DESC"
        " FETCH FIRST :n ROWS ONLY) UNION SELECT id FROM (SELECT id, SCORE(2) s FROM d WHERE CONTAINS(x, 'busy', 2) > 0)",
        a="{deadlock}", n=3,
    )  # fmt: skip
    assert sorted(cursor.fetchall()) == [(1,), (2,)]


def test_what_a_transaction_wrote_is_found_after_its_commit(module_account: Account, cursor: oracledb.Cursor) -> None:
    cursor.execute("INSERT INTO d (id, x) VALUES (6, 'an uncommitted zebra')")
    cursor.execute("UPDATE d SET x = 'zebra too' WHERE id = 2")
    assert found(cursor, "zebra") == []
    assert found(cursor, "busy") == []  # a change takes the old text away at once
    cursor.connection.commit()
    assert found(cursor, "zebra") == [2, 6]
    cursor.execute("DELETE FROM d WHERE id = 6")
    assert found(cursor, "zebra") == [2]
    cursor.execute("UPDATE d SET x = :1 WHERE id = 2", [TEXTS[2]])
    cursor.connection.commit()
    with module_account.connect() as other, other.cursor() as second:
        assert found(second, "busy") == [2]


def test_the_dictionary_calls_it_a_domain_index(cursor: oracledb.Cursor) -> None:
    cursor.execute(
        "SELECT INDEX_TYPE, ITYP_OWNER, ITYP_NAME, STATUS, DOMIDX_STATUS, DOMIDX_OPSTATUS FROM USER_INDEXES"
        " WHERE INDEX_NAME = 'D_TEXT'"
    )
    assert cursor.fetchall() == [("DOMAIN", "CTXSYS", "CONTEXT", "VALID", "VALID", "VALID")]
    cursor.execute("SELECT COLUMN_NAME FROM USER_IND_COLUMNS WHERE INDEX_NAME = 'D_TEXT'")
    assert cursor.fetchall() == [("X",)]
    cursor.execute("SELECT COUNT(*) FROM ALL_USERS WHERE USERNAME = 'CTXSYS'")
    assert cursor.fetchone() == (1,)


def test_a_manual_index_knows_what_it_was_told(account: Account) -> None:
    pending = "SELECT COUNT(*) FROM CTX_USER_PENDING WHERE PND_INDEX_NAME = 'D_TEXT'"
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE d (id NUMBER, x CLOB)")
        cursor.execute("INSERT INTO d VALUES (1, 'first zebra')")
        connection.commit()
        cursor.execute(CREATE.format("MANUAL"))
        cursor.execute("INSERT INTO d VALUES (2, 'second zebra')")
        connection.commit()
        assert found(cursor, "zebra") == [1]
        assert cursor.execute(pending).fetchone() == (1,)
        cursor.execute("BEGIN CTX_DDL.SYNC_INDEX('D_TEXT'); END;")
        assert found(cursor, "zebra") == [1, 2]
        assert cursor.execute(pending).fetchone() == (0,)
        cursor.execute("DROP INDEX D_TEXT FORCE")
        with pytest.raises(oracledb.DatabaseError, match=r"ORA-20000.*\n.*DRG-10599"):
            found(cursor, "zebra")


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        (20000, "SELECT id FROM d WHERE CONTAINS(y, 'a') > 0"),
        (29902, "SELECT id FROM d WHERE CONTAINS(x, 'a ACCUM') > 0"),
        (29902, "SELECT id FROM d WHERE CONTAINS(x, '{a}}') > 0"),
        (29902, "SELECT id FROM d WHERE CONTAINS(x, '') > 0"),
        (29902, "SELECT id FROM d WHERE CONTAINS(x, 'a & & b') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, 'a NEAR b') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, 'a%') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, '$a') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, 'a & b, c') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, '{%}') > 0"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, 'a') > 10"),
        (3001, "SELECT CONTAINS(x, 'a') FROM d"),
        (3001, "SELECT id FROM d WHERE CONTAINS(x, y) > 0"),
        (29907, "SELECT id FROM d WHERE CONTAINS(x, 'a', 1) > 0 AND CONTAINS(x, 'b', 1) > 0"),
        (29908, "SELECT SCORE(2) FROM d WHERE CONTAINS(x, 'a', 1) > 0"),
        (29909, "SELECT SCORE(z) FROM d WHERE CONTAINS(x, 'a', 1) > 0"),
        (29879, CREATE.replace("D_TEXT", "OTHER").format("ON COMMIT")),
        (3001, "CREATE INDEX o ON d (y) INDEXTYPE IS CTXSYS.CONTEXT"),
        (3001, "CREATE INDEX o ON d (y) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('SYNC (ON COMMIT)')"),
        (3001, "CREATE INDEX o ON d (y) INDEXTYPE IS CTXSYS.CONTEXT PARAMETERS ('LEXER my_lexer')"),
        (3001, "CREATE INDEX o ON d (y) INDEXTYPE IS CTXSYS.CTXCAT"),
        (29833, "CREATE INDEX o ON d (y) INDEXTYPE IS NO_SUCH_TYPE"),
        (29862, "DROP INDEX SYS_IX FORCE"),
        (20000, "BEGIN CTX_DDL.SYNC_INDEX('NO_SUCH'); END;"),
    ],
)
def test_what_is_refused(cursor: oracledb.Cursor, code: int, statement: str) -> None:
    if "SYS_IX" in statement:
        cursor.execute("CREATE INDEX SYS_IX ON d (z)")
    with pytest.raises(oracledb.DatabaseError, match=f"ORA-{code:05}"):
        cursor.execute(statement).fetchall()
