"""Reading DDL and PL/SQL needs no database, and whatever is read ends in an action or an Oracle error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.local.engine import ddl
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.plan import Names
from oraclerag.local.engine.plsql import compile_block
from oraclerag.local.engine.reader import Reader
from oraclerag.local.interface import OraError

WORDS = (  # noqa: SIM905
    "CREATE ALTER DROP TABLE INDEX UNIQUE VECTOR VIEW SEQUENCE TRIGGER USER OR REPLACE IF NOT EXISTS ON AS ADD MODIFY RENAME COLUMN TO"
    " CONSTRAINT PRIMARY KEY FOREIGN REFERENCES CHECK DEFAULT NULL GENERATED ALWAYS BY IDENTITY START WITH NUMBER VARCHAR2 DATE CLOB JSON"
    " FLOAT32 t a b ( ( ) ) , , . ; 1 5 'x' \"q\" = > SELECT FROM WHERE GRANT REVOKE COMMENT IS TRUNCATE ORGANIZATION NEIGHBOR PARTITIONS"
    " DISTANCE COSINE TARGET ACCURACY PARAMETERS TYPE IVF BEFORE AFTER INSERT UPDATE FOR EACH ROW BEGIN END :NEW.a := IDENTIFIED"
).split()
BLOCK_WORDS = (  # noqa: SIM905
    "BEGIN END ; ; ; IF THEN ELSIF ELSE LOOP WHILE FOR IN DECLARE EXCEPTION WHEN OTHERS RAISE NULL x y := := ( ) , 1 'a' :b + || = NOT AND"
    " SELECT INTO FROM dual INSERT UPDATE SET EXECUTE IMMEDIATE USING OPEN FETCH CLOSE CURSOR IS NUMBER VARCHAR2(5) %TYPE .. COMMIT EXIT CASE"
    " SQL%ROWCOUNT SQLCODE RETURN << >> EXIT"
).split()


class Session:
    """As much of a session as reading needs; whoever asks the database fails the test."""

    user = schema = "RAG"
    max_string_size = 4000
    names = Names(
        "RAG", lambda _owner, _name: None, lambda _schema, table: (("A", "NUMBER"),) if table == "T" else None
    )

    def ask(self, statement: str, *_: object) -> list[tuple[Any, ...]]:
        raise AssertionError(f"asked while reading: {statement}")

    def values(self, sql: str, _binds: Sequence[Any], _types: Sequence[Any]) -> list[tuple[Any, ...]]:
        raise AssertionError(f"ran while compiling: {sql}")


HOST = cast("Host", Session())


def outcome(read: Callable[[], object]) -> tuple[object, OraError | None]:
    """Give what reading gives, or the Oracle error it raises; any other error is a failure."""
    try:
        return read(), None
    except OraError as error:
        return None, error


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
@settings(max_examples=150, deadline=None)
def test_any_words_are_an_action_or_an_oracle_error(text: str) -> None:
    action, error = outcome(lambda: ddl.read_statement(Reader(text), HOST))
    if error is None:
        assert callable(action)
    else:
        assert 0 < error.number < 100_000
        assert 0 <= error.position <= len(text)


@given(st.lists(st.sampled_from(BLOCK_WORDS), max_size=40).map(lambda words: f"BEGIN {' '.join(words)} END;"))
@settings(max_examples=150, deadline=None)
def test_any_block_compiles_or_is_refused(text: str) -> None:
    _, error = outcome(lambda: compile_block(text, HOST))
    assert error is None or error.number in {6550, 3001} or 900 <= error.number < 4000, error


def test_a_cut_statement_is_refused() -> None:
    statement = (
        "CREATE TABLE t2 (a NUMBER(5, 2) DEFAULT 1 NOT NULL CONSTRAINT c CHECK (a > 0),"
        " b VARCHAR2(10 CHAR) REFERENCES t (a))"
    )
    for token in Reader(statement).tokens[1:-1]:
        with pytest.raises(OraError):
            ddl.read_statement(Reader(statement[: token.position]), HOST)
    assert callable(ddl.read_statement(Reader(statement), HOST))


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("", 900),
        ("CREATE", 901),
        ("CREATE OR REPLACE TABLE t (a NUMBER)", 922),
        ("CREATE TABLE t", 906),
        ("CREATE TABLE t (a NUMBER) x", 922),
        ("CREATE VECTOR INDEX i ON t (v) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE NEAR", 922),
        ("CREATE VECTOR INDEX i ON t (v) ORGANIZATION NEIGHBOR PARTITIONS WITH TARGET ACCURACY 0", 51937),
        (
            "CREATE VECTOR INDEX i ON t (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH PARAMETERS (TYPE HNSW, NEIGHBOR PARTITIONS 4)",
            51938,
        ),
        ("CREATE VECTOR INDEX i ON t (v) ORGANIZATION INMEMORY NEIGHBOR GRAPH LOCAL", 3001),
        ("CREATE HYBRID VECTOR INDEX i ON t (c) PARAMETERS ('x')", 3001),
        ("CREATE SEARCH INDEX i ON t (c)", 3001),
        ("CREATE USER u IDENTIFIED BY", 988),
        ("GRANT", 990),
        ("TRUNCATE t", 3290),
        ("COMMENT ON INDEX i IS 'x'", 32594),
        ("ALTER TABLE t", 1735),
        ("ALTER INDEX i", 2243),
        ("DROP TABLE a, b", 3048),
        ("DROP TABLE t CASCADE", 905),
    ],
)
def test_a_statement_that_cannot_be_read(statement: str, number: int) -> None:
    with pytest.raises(OraError) as caught:
        ddl.read_statement(Reader(statement), HOST)
    assert caught.value.number == number


def test_an_error_of_a_block_tells_line_and_column() -> None:
    with pytest.raises(OraError) as caught:
        compile_block("BEGIN\n  NULL;\n  nope(1);\nEND;", HOST)
    assert caught.value.message.startswith("line 3, column 3:\nPLS-00201: identifier 'NOPE' must be declared")
    assert caught.value.position == 16


def test_a_column_hides_a_variable_in_sql_but_not_among_values() -> None:
    program = compile_block("DECLARE a NUMBER := 1; BEGIN UPDATE t SET a = a; INSERT INTO t (a) VALUES (a); END;", HOST)
    assert [statement.text for statement in program.statements.values()] == [
        "UPDATE t SET a = a",
        "INSERT INTO t (a) VALUES (:B0)",
    ]


def test_binds_are_known_as_read_and_written() -> None:
    program = compile_block("BEGIN :o := :i; :both := :both || :i; SELECT a INTO :s FROM t; END;", HOST)
    assert program.written == {"O", "BOTH", "S"}
    assert program.read == {"I", "BOTH"}
