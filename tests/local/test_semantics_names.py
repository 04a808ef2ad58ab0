"""Names of up to 128 bytes, wherever Oracle takes a name and says one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size


def long(beginning: str, size: int = 128) -> str:
    """Give a name of so many bytes that begins so, and with what every other one has for more than 63 bytes."""
    return ("N" * 70 + beginning).ljust(size, "_")


T, OTHER, CHILD, VIEW, SEQUENCE, TRIGGER, SYNONYM, INDEX = map(
    long, ("T", "OTHER", "CHILD", "VIEW", "SEQUENCE", "TRIGGER", "SYNONYM", "INDEX")
)
ID, NAME, LEFT, RIGHT, PARENT = map(long, ("ID", "NAME", "LEFT", "RIGHT", "PARENT"))
PK, UQ, CK, FK = map(long, ("PK", "UQ", "CK", "FK"))
QUOTED, COLUMN = "名" * 42 + "é", "ein Name, so lang" + "ä" * 55  # 128 and 127 bytes

SCHEMA = (
    (
        f"CREATE TABLE {T} ({ID} NUMBER CONSTRAINT {PK} PRIMARY KEY, {NAME} VARCHAR2(5) DEFAULT ON NULL 'new' NOT NULL,"
        f" {LEFT} NUMBER, {RIGHT} NUMBER, CONSTRAINT {UQ} UNIQUE ({LEFT}, {RIGHT}),"
        f" CONSTRAINT {CK} CHECK ({NAME} <> 'no'))"
    ),
    f"CREATE TABLE {CHILD} ({PARENT} NUMBER CONSTRAINT {FK} REFERENCES {T} ON DELETE CASCADE)",
    f"CREATE INDEX {INDEX} ON {T} ({NAME}, {LEFT} DESC)",
    f"CREATE SEQUENCE {SEQUENCE}",
    f"CREATE VIEW {VIEW} AS SELECT {ID}, {NAME} FROM {T}",
    f"CREATE SYNONYM {SYNONYM} FOR {T}",
    f"CREATE TRIGGER {TRIGGER} BEFORE UPDATE OF {NAME} ON {T} FOR EACH ROW BEGIN :NEW.{RIGHT} := :OLD.{ID}; END;",
    f'CREATE TABLE "{QUOTED}" ("{COLUMN}" NUMBER)',
)


@pytest.fixture(scope="module")
def schema(module_account: Account) -> Account:
    with module_account.connect() as connection, connection.cursor() as cursor:
        for statement in SCHEMA:
            cursor.execute(statement)
    return module_account


@pytest.fixture
def cursor(schema: Account) -> Iterator[oracledb.Cursor]:
    """A cursor of a transaction that is rolled back."""
    with schema.connect() as connection, connection.cursor() as opened:
        yield opened


@pytest.fixture
def own(connection: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    with connection.cursor() as opened:
        yield opened


def rows(cursor: oracledb.Cursor, sql: str, **binds: Any) -> list[tuple[Any, ...]]:
    cursor.execute(sql, binds)
    return list(cursor.fetchall())


def headings(cursor: oracledb.Cursor) -> list[str]:
    return [column.name for column in cursor.description or ()]


def refusal(cursor: oracledb.Cursor, sql: str, **binds: Any) -> str:
    with pytest.raises(oracledb.DatabaseError) as caught:
        cursor.execute(sql, binds)
    return str(caught.value)


DICTIONARY = [
    ("TABLE_NAME FROM USER_TABLES", {(T,), (CHILD,), (QUOTED,)}),
    ("COLUMN_NAME FROM USER_TAB_COLUMNS WHERE TABLE_NAME = :t", {(ID,), (NAME,), (LEFT,), (RIGHT,)}),
    ("COLUMN_NAME FROM USER_TAB_COLS WHERE DEFAULT_ON_NULL = 'YES'", {(NAME,)}),
    (
        f"TABLE_NAME, COLUMN_NAME FROM ALL_TAB_COLUMNS WHERE OWNER = USER AND COLUMN_NAME = '{PARENT}'",
        {(CHILD, PARENT)},
    ),
    (
        "CONSTRAINT_NAME, CONSTRAINT_TYPE, R_CONSTRAINT_NAME FROM USER_CONSTRAINTS WHERE GENERATED = 'USER NAME'",
        {(PK, "P", None), (UQ, "U", None), (CK, "C", None), (FK, "R", PK)},
    ),
    (f"SEARCH_CONDITION_VC FROM USER_CONSTRAINTS WHERE CONSTRAINT_NAME = '{CK}'", {(f"{NAME} <> 'no'",)}),
    (
        "SEARCH_CONDITION_VC FROM USER_CONSTRAINTS WHERE GENERATED = 'GENERATED NAME' AND TABLE_NAME = :t",
        {(f'"{NAME}" IS NOT NULL',)},
    ),
    (
        f"COLUMN_NAME, POSITION FROM USER_CONS_COLUMNS WHERE CONSTRAINT_NAME IN ('{UQ}', '{FK}')",
        {(LEFT, 1), (RIGHT, 2), (PARENT, 1)},
    ),
    ("INDEX_NAME FROM USER_INDEXES WHERE TABLE_NAME = :t", {(PK,), (UQ,), (INDEX,)}),
    (f"COLUMN_NAME FROM USER_IND_COLUMNS WHERE INDEX_NAME = '{INDEX}' AND DESCEND = 'ASC'", {(NAME,)}),
    ("INDEX_NAME FROM USER_IND_EXPRESSIONS WHERE TABLE_NAME = :t", {(INDEX,)}),
    ("SEQUENCE_NAME FROM USER_SEQUENCES", {(SEQUENCE,)}),
    ("VIEW_NAME FROM USER_VIEWS", {(VIEW,)}),
    ("NAME, REFERENCED_NAME FROM USER_DEPENDENCIES WHERE TYPE = 'VIEW'", {(VIEW, T)}),
    ("SYNONYM_NAME, TABLE_NAME FROM USER_SYNONYMS", {(SYNONYM, T)}),
    ("TRIGGER_NAME, TABLE_NAME FROM USER_TRIGGERS", {(TRIGGER, T)}),
    (
        "OBJECT_NAME, OBJECT_TYPE FROM USER_OBJECTS WHERE OBJECT_TYPE NOT IN ('TABLE', 'INDEX')",
        {(SEQUENCE, "SEQUENCE"), (VIEW, "VIEW"), (SYNONYM, "SYNONYM"), (TRIGGER, "TRIGGER")},
    ),
    ("TABLE_NAME, COMMENTS FROM USER_TAB_COMMENTS WHERE TABLE_NAME = :t", {(T, None)}),
    ("SEGMENT_NAME FROM USER_SEGMENTS WHERE SEGMENT_NAME LIKE '%UQ%' OR SEGMENT_NAME LIKE '%NULLS%'", {(UQ,)}),
    ("COUNT(*) FROM USER_TAB_COLUMNS WHERE LENGTHB(TABLE_NAME) NOT IN (128)", {(0,)}),
]


@pytest.mark.parametrize(
    ("query", "expected"), DICTIONARY, ids=[query.partition(" WHERE")[0] for query, _ in DICTIONARY]
)
def test_the_dictionary_says_them(cursor: oracledb.Cursor, query: str, expected: set[tuple[Any, ...]]) -> None:
    found = rows(cursor, f"SELECT {query}", **({"t": T} if ":t" in query else {}))
    assert sorted(map(str, found)) == sorted(map(str, expected))


def test_every_part_of_a_statement_takes_them(cursor: oracledb.Cursor) -> None:
    alias, inner = long("ALIAS"), long("INNER")
    cursor.execute(f"INSERT INTO {T} ({ID}) VALUES ({SEQUENCE}.NEXTVAL)")
    cursor.execute(f"INSERT INTO {SYNONYM} ({ID}, {NAME}) SELECT {ID} + 1, {NAME} FROM {VIEW}")
    cursor.execute(f"UPDATE {T} {alias} SET {alias}.{NAME} = 'b' WHERE {alias}.{ID} = 2")
    assert rows(cursor, f"SELECT * FROM {T} ORDER BY {ID}") == [(1, "new", None, None), (2, "b", None, 2)]
    assert headings(cursor) == [ID, NAME, LEFT, RIGHT]
    assert rows(cursor, f"SELECT * FROM (SELECT {ID} AS {alias} FROM {T}) {inner} ORDER BY {alias} DESC") == [
        (2,),
        (1,),
    ]
    assert headings(cursor) == [alias]
    assert rows(cursor, f"WITH {inner} AS (SELECT MAX({ID}) {alias} FROM {T}) SELECT {inner}.* FROM {inner}") == [(2,)]
    assert headings(cursor) == [alias]
    assert rows(cursor, f"SELECT {NAME} AS {alias} FROM {VIEW} GROUP BY {NAME} ORDER BY {alias}") == [("b",), ("new",)]
    path = f"SELECT JSON_VALUE('[1, 2, 3]', '$?(@ > ${inner})' PASSING 2 AS \"{inner}\") AS {alias} FROM dual"
    assert rows(cursor, path) == [("3",)]
    table = f"JSON_TABLE('{{\"a\": 5}}', '$' COLUMNS ({alias} NUMBER PATH '$.a')) {inner}"
    assert rows(cursor, f"SELECT {inner}.{alias} FROM {table}") == [(5,)]
    assert rows(cursor, f"SELECT JSON_OBJECT(*) FROM (SELECT 1 AS {alias} FROM dual)") == [(f'{{"{alias}":1}}',)]
    assert rows(cursor, f'SELECT 1 AS "{COLUMN}" FROM dual') == [(1,)]
    assert headings(cursor) == [COLUMN]
    cursor.execute(
        f"MERGE INTO {T} {alias} USING (SELECT 1 {inner} FROM dual) s ON ({alias}.{ID} = s.{inner})"
        f" WHEN MATCHED THEN UPDATE SET {LEFT} = s.{inner} WHEN NOT MATCHED THEN INSERT ({ID}) VALUES (s.{inner})"
    )
    cursor.execute(f"SAVEPOINT {inner}")
    returned = cursor.var(int)
    cursor.execute(f"DELETE FROM {T} WHERE {LEFT} = 1 RETURNING {ID} INTO :{alias}", {alias: returned})
    assert returned.getvalue() == [1]
    cursor.execute(f"ROLLBACK TO SAVEPOINT {inner}")
    assert rows(cursor, f"SELECT COUNT(*) FROM {T} WHERE {LEFT} = :{alias}", **{alias: 1}) == [(1,)]
    cursor.executemany(f'INSERT INTO "{QUOTED}" ("{COLUMN}") VALUES (:1)', [(number,) for number in range(40)])
    assert rows(cursor, f'SELECT SUM("{COLUMN}") FROM "{QUOTED}"') == [(780,)]
    assert rows(cursor, f'SELECT * FROM "{QUOTED}" WHERE "{COLUMN}" = 7 FOR UPDATE OF "{COLUMN}"') == [(7,)]
    assert headings(cursor) == [COLUMN]


def test_errors_name_them(cursor: oracledb.Cursor, schema: Account) -> None:
    user, table = schema.user.upper(), f'"{schema.user.upper()}"."{T}"'
    cursor.execute(f"INSERT INTO {T} VALUES (1, 'a', 1, NULL)")
    for number, sql, named in [
        (1, f"INSERT INTO {T} VALUES (1, 'a', 2, 2)", f"({user}.{PK})"),
        (1, f"INSERT INTO {T} VALUES (2, 'a', 1, NULL)", f"({user}.{UQ})"),
        (2290, f"INSERT INTO {T} VALUES (2, 'no', 2, 2)", f"({user}.{CK})"),
        (2291, f"INSERT INTO {CHILD} VALUES (9)", f"({user}.{FK})"),
        (1407, f"UPDATE {T} SET {NAME} = NULL", f'{table}."{NAME}"'),
        (12899, f"INSERT INTO {T} VALUES (2, 'too long', 2, 2)", f'{table}."{NAME}" (actual: 8, maximum: 5)'),
        (942, f"SELECT * FROM {OTHER}", OTHER),
        (904, f"SELECT {OTHER} FROM {T}", OTHER),
        (904, f"SELECT {OTHER}.{ID} FROM {T}", f'"{OTHER}"."{ID}"'),
        (918, f"SELECT {ID} FROM {T} a, {T} b", ID),
    ]:
        message = refusal(cursor, sql)
        assert message.startswith(f"ORA-{number:05}"), message
        assert named in message, message


def test_errors_of_an_array_name_them(cursor: oracledb.Cursor) -> None:
    cursor.executemany(
        f"INSERT INTO {T} ({ID}, {NAME}) VALUES (:1, :2)", [(1, "a"), (2, "no"), (3, "c")], batcherrors=True
    )
    (error,) = cursor.getbatcherrors()
    assert (error.offset, error.full_code) == (1, "ORA-02290")
    assert CK in error.message


@pytest.mark.parametrize(
    "sql",
    [
        f"CREATE TABLE {long('T', 129)} (a NUMBER)",
        f"CREATE TABLE t ({long('T', 129)} NUMBER)",
        f'CREATE TABLE "{"ä" * 65}" (a NUMBER)',
        f"CREATE SEQUENCE {long('T', 129)}",
        f"SELECT 1 AS {long('T', 129)} FROM dual",
        f"SELECT 1 FROM dual {long('T', 129)}",
        f"SELECT {long('T', 129)} FROM dual",
    ],
)
def test_129_bytes_are_too_long(cursor: oracledb.Cursor, sql: str) -> None:
    assert refusal(cursor, sql).startswith("ORA-00972")


def test_they_change_and_go(own: oracledb.Cursor) -> None:
    for sql in (
        (
            f"CREATE TABLE {T} ({ID} NUMBER GENERATED BY DEFAULT ON NULL AS IDENTITY CONSTRAINT {PK} PRIMARY KEY,"
            f" {LEFT} NUMBER, {RIGHT} NUMBER, CONSTRAINT {UQ} UNIQUE ({LEFT}, {RIGHT}))"
        ),
        f"CREATE TABLE {OTHER} ({ID} NUMBER DEFAULT ON NULL 5)",
        f"CREATE INDEX {INDEX} ON {OTHER} ({ID})",
        f"ALTER TABLE {T} ADD ({NAME} VARCHAR2(4) CONSTRAINT {CK} CHECK ({NAME} <> 'no'))",
        f"ALTER TABLE {T} MODIFY {NAME} VARCHAR2(9)",
        f"ALTER TABLE {T} RENAME COLUMN {NAME} TO {PARENT}",
        f"ALTER TABLE {T} RENAME CONSTRAINT {UQ} TO {FK}",
        f"ALTER INDEX {INDEX} RENAME TO {SYNONYM}",
        f"ALTER TABLE {OTHER} RENAME TO {CHILD}",
        f"RENAME {T} TO {VIEW}",
        f"COMMENT ON COLUMN {VIEW}.{PARENT} IS 'a comment'",
        f"INSERT INTO {VIEW} ({ID}, {LEFT}) VALUES (NULL, 1)",
        f"INSERT INTO {CHILD} VALUES (NULL)",
    ):
        own.execute(sql)
    assert f".{FK})" in refusal(own, f"INSERT INTO {VIEW} ({LEFT}) VALUES (1)")
    assert rows(own, f"SELECT * FROM {CHILD}") == [(5,)]
    own.execute(f"ALTER TABLE {VIEW} DROP CONSTRAINT {FK}")
    own.execute(f"INSERT INTO {VIEW} ({LEFT}) VALUES (1)")
    assert refusal(own, f"INSERT INTO {VIEW} ({PARENT}) VALUES ('no')").startswith("ORA-02290")
    assert rows(own, "SELECT COLUMN_NAME FROM USER_COL_COMMENTS WHERE COMMENTS IS NOT NULL") == [(PARENT,)]
    own.execute(f"ALTER TABLE {VIEW} DROP COLUMN {PARENT}")
    own.execute(f"DROP INDEX {SYNONYM}")
    own.execute(f"TRUNCATE TABLE {CHILD}")
    own.execute(f"DROP TABLE {CHILD} PURGE")
    own.execute(f"DROP TABLE IF EXISTS {OTHER} PURGE")
    assert rows(own, "SELECT OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_TYPE <> 'SEQUENCE' ORDER BY 1") == [
        (PK,),
        (VIEW,),
    ]
    assert rows(own, "SELECT COLUMN_NAME FROM USER_TAB_COLUMNS ORDER BY COLUMN_ID") == [(ID,), (LEFT,), (RIGHT,)]
    own.execute(f"DROP TABLE {VIEW} PURGE")
    assert rows(own, "SELECT OBJECT_NAME FROM USER_OBJECTS") == []


def test_a_statement_of_ddl_that_fails_leaves_no_name(own: oracledb.Cursor) -> None:
    own.execute(f"CREATE TABLE {T} ({ID} NUMBER CONSTRAINT {CK} CHECK ({ID} > 0))")
    own.execute(f"INSERT INTO {T} VALUES (1)")
    own.execute(f"INSERT INTO {T} VALUES (1)")
    assert refusal(own, f"CREATE UNIQUE INDEX {INDEX} ON {T} ({ID})").startswith("ORA-01452")
    assert refusal(own, f"CREATE TABLE {OTHER} ({LEFT} NUMBER REFERENCES {CHILD})").startswith("ORA-00942")
    assert refusal(own, f"CREATE TABLE {OTHER} ({LEFT} NUMBER CONSTRAINT {CK} UNIQUE)").startswith("ORA-02264")
    assert refusal(own, f"CREATE TABLE {T} ({LEFT} NUMBER)").startswith("ORA-00955")
    assert refusal(own, f"ALTER TABLE {T} ADD {ID} NUMBER").startswith("ORA-01430")
    assert refusal(own, f"ALTER TABLE {T} DROP CONSTRAINT {UQ}").startswith("ORA-02443")
    assert rows(own, "SELECT OBJECT_NAME FROM USER_OBJECTS") == [(T,)]
    own.execute(f"CREATE VIEW {INDEX} AS SELECT {ID} AS {LEFT} FROM {T}")
    assert rows(own, f"SELECT * FROM {INDEX}") == [(1,), (1,)]
    assert headings(own) == [LEFT]


def test_views_follow_what_they_read(own: oracledb.Cursor) -> None:
    own.execute(f"CREATE TABLE {T} ({ID} NUMBER)")
    own.execute(f"CREATE VIEW {VIEW} ({LEFT}) AS SELECT {ID} FROM {T}")
    own.execute(f"CREATE VIEW {OTHER} AS SELECT {LEFT} FROM {VIEW}")
    own.execute(f"ALTER TABLE {T} MODIFY {ID} NUMBER(5)")
    own.execute(f"ALTER TABLE {T} RENAME TO {CHILD}")
    assert rows(own, "SELECT OBJECT_NAME, STATUS FROM USER_OBJECTS WHERE OBJECT_TYPE = 'VIEW' ORDER BY 1") == [
        (OTHER, "INVALID"),
        (VIEW, "INVALID"),
    ]
    own.execute(f"RENAME {CHILD} TO {T}")
    assert rows(own, f"SELECT * FROM {OTHER}") == []
    assert headings(own) == [LEFT]


def test_plsql_takes_them(own: oracledb.Cursor) -> None:
    variable, label, bind = long("VARIABLE"), long("LABEL"), long("BIND")
    own.execute(f"CREATE TABLE {T} ({ID} NUMBER)")
    result = own.var(int)
    own.execute(
        f"DECLARE {variable} {T}.{ID}%TYPE := 3; BEGIN INSERT INTO {T} VALUES ({variable}); "
        f"FOR {label} IN (SELECT {ID} FROM {T}) LOOP {variable} := {variable} + {label}.{ID}; END LOOP; "
        f"SELECT COUNT(*) + {variable} INTO :{bind} FROM {T}; END;",
        {bind: result},
    )
    assert result.getvalue() == 7
    assert OTHER in refusal(own, f"BEGIN INSERT INTO {OTHER} VALUES (1); END;")
    assert OTHER in refusal(own, f"BEGIN {OTHER} := 1; END;")
    own.execute(f"BEGIN EXECUTE IMMEDIATE 'CREATE TABLE {OTHER} ({ID} NUMBER)'; END;")
    assert rows(own, "SELECT COUNT(*) FROM USER_TABLES WHERE TABLE_NAME = :n", n=OTHER) == [(1,)]
    own.execute("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, :n); END;", {"n": OTHER})


def test_triggers_take_them(own: oracledb.Cursor) -> None:
    own.execute(f"CREATE TABLE {T} ({ID} NUMBER, {NAME} VARCHAR2(20))")
    own.execute(f"CREATE TABLE {OTHER} ({ID} NUMBER)")
    own.execute(
        f"CREATE TRIGGER {TRIGGER} BEFORE INSERT OR UPDATE ON {T} FOR EACH ROW DECLARE {LEFT} NUMBER := :NEW.{ID}; BEGIN"
        f" IF UPDATING('{NAME}') THEN :NEW.{ID} := 0; END IF; INSERT INTO {OTHER} VALUES ({LEFT}); END;"
    )
    own.execute(f"INSERT INTO {T} VALUES (1, 'a')")
    own.execute(f"UPDATE {T} SET {ID} = 2")
    own.execute(f"UPDATE {T} SET {NAME} = 'b'")
    assert rows(own, f"SELECT {ID} FROM {OTHER} ORDER BY 1") == [(1,), (2,), (2,)]
    assert rows(own, f"SELECT {ID} FROM {T}") == [(0,)]
    own.execute(f"ALTER TRIGGER {TRIGGER} DISABLE")
    own.execute(f"UPDATE {T} SET {ID} = 3")
    own.execute(f"ALTER TRIGGER {TRIGGER} ENABLE")
    own.execute(f"DROP TABLE {OTHER} PURGE")
    message = refusal(own, f"UPDATE {T} SET {ID} = 3")
    assert message.startswith("ORA-04098")
    assert TRIGGER in message
    own.execute(f"DROP TRIGGER {TRIGGER}")
    own.execute(f"UPDATE {T} SET {ID} = 3")


def test_vector_indexes_take_them(own: oracledb.Cursor) -> None:
    own.execute(f"CREATE TABLE {T} ({ID} NUMBER, {LEFT} VECTOR(2, FLOAT64))")
    own.execute(f"INSERT INTO {T} VALUES (1, '[1, 2]')")
    own.execute(f"CREATE VECTOR INDEX {long('V', 60)} ON {T} ({LEFT}) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE")
    query = f"SELECT {ID} FROM {T} ORDER BY VECTOR_DISTANCE({LEFT}, VECTOR('[1, 1]'), COSINE) FETCH APPROX FIRST 1 ROWS ONLY WITH TARGET ACCURACY 100"
    assert rows(own, query) == [(1,)]
    assert rows(own, f"SELECT VECTOR_DIMENSION_FORMAT({LEFT}) FROM {T}") == [("FLOAT64",)]
