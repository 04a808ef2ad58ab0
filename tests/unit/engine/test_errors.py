"""PostgreSQL's errors to Oracle's: number, text, place."""

from __future__ import annotations

import pytest

from oraclerag.local.engine.commands import PgError
from oraclerag.local.engine.errors import Context, ora_error
from oraclerag.local.engine.long_names import LongNames


def error(state: str, message: str = "", **parts: str) -> PgError:
    """Make an error without a server."""
    made = PgError.__new__(PgError)
    made.state, made.message, made.index = state, message, 0
    made.detail = parts.get("detail", "")
    made.schema, made.table = parts.get("schema", "S"), parts.get("table", "T")
    made.column, made.constraint = parts.get("column", "C"), parts.get("constraint", "K")
    made.context = parts.get("context", "")
    return made


NAMES = LongNames(lambda _: None)
QUERY = Context('select nix from "t" where Nix = 1', "S")


@pytest.mark.parametrize(
    ("raised", "context", "number", "text"),
    [
        (
            error("23505", detail='Key ("A", "B")=(1, 2) already exists.'),
            QUERY,
            1,
            "unique constraint (S.K) violated on table S.T columns (A, B)",
        ),
        (error("23502"), Context("insert into t values (1)", "S"), 1400, 'cannot insert NULL into ("S"."T"."C")'),
        (error("23502"), Context("/* x */ update t set c = null", "S"), 1407, 'cannot update ("S"."T"."C") to NULL'),
        (error("23514"), QUERY, 2290, "check constraint (S.K) violated"),
        (
            error("23514"),
            Context("ALTER TABLE", "S", ddl=True),
            2293,
            "cannot validate (S.K) - check constraint violated",
        ),
        (
            error("23503", 'insert or update on table "T" violates foreign key constraint'),
            QUERY,
            2291,
            "integrity constraint (S.K) violated - parent key not found",
        ),
        (
            error("23503", 'update or delete on table "T" violates foreign key constraint'),
            QUERY,
            2292,
            "integrity constraint (S.K) violated - child record found",
        ),
        (error("OR000", "value too large", detail="12899"), QUERY, 12899, "value too large"),
        (error("42P01", 'relation "NIX" does not exist'), QUERY, 942, 'table or view "S"."NIX" does not exist'),
        (error("42P01", 'relation "X.NIX" does not exist'), QUERY, 942, 'table or view "X"."NIX" does not exist'),
        (error("42703", 'column "NIX" does not exist'), QUERY, 904, '"NIX": invalid identifier'),
        (error("42703", "column T.NIX does not exist"), QUERY, 904, '"T"."NIX": invalid identifier'),
        (error("22P02", "invalid input syntax for type numeric: "), QUERY, 1722, None),
        (error("22P02", "invalid input syntax for type json"), QUERY, 40441, None),
        (error("22P02", 'invalid input syntax for type vector: "[1,x]"'), QUERY, 51805, None),
        (error("22003", "numeric field overflow", detail="A field with precision 3"), QUERY, 1438, None),
        (error("22003", "value overflows numeric format"), QUERY, 1426, None),
        (error("22000", "expected 3 dimensions, not 2"), QUERY, 51803, None),
        (error("22000", "different vector dimensions 3 and 2"), QUERY, 51808, None),
        (error("22012"), QUERY, 1476, None),
        (error("21000", "more than one row"), QUERY, 1427, None),
        (error("21000", "MERGE command cannot affect row a second time"), QUERY, 30926, None),
        (error("40P01"), QUERY, 60, None),
        (
            error(
                "42P01", 'relation "NIX" does not exist', context='PL/pgSQL function " TR"() line 3 at SQL statement'
            ),
            QUERY,
            4098,
            "trigger 'S.TR' is invalid and failed re-validation",
        ),
        (
            error(
                "42703", "x", context='SQL statement "INSERT"\nPL/pgSQL function "O P"." TR"() line 3 at SQL statement'
            ),
            QUERY,
            4098,
            "trigger 'O P.TR' is invalid and failed re-validation",
        ),
        (error("40001"), QUERY, 8177, None),
        (error("57014"), QUERY, 1013, None),
        (error("55P03", "could not obtain lock on row"), QUERY, 54, None),
        (error("55P03", "canceling statement due to lock timeout"), QUERY, 30006, None),
        (error("55P03", "canceling statement due to lock timeout"), Context("", "S", ddl=True), 54, None),
        (error("42803", 'column "T.A" must appear in the GROUP BY clause or'), QUERY, 979, None),
        (error("42883", "could not identify an ordering operator for type vector"), QUERY, 22848, None),
        (error("42725", "operator is not unique: vector = vector"), QUERY, 22848, None),
        (
            error("42883", "operator does not exist: odate * numeric"),
            QUERY,
            932,
            "inconsistent datatypes: expected DATE got NUMBER",
        ),
        (
            error("42804", 'column "N" is of type numeric(10,0) but expression is of type odate'),
            QUERY,
            932,
            "inconsistent datatypes: expected NUMBER got DATE",
        ),
        (
            error("42883", "function ora.upper(numeric, vector) does not exist"),
            QUERY,
            932,
            "inconsistent datatypes: UPPER does not take (NUMBER, VECTOR)",
        ),
        (error("42601", "INSERT has more expressions than target columns"), QUERY, 913, None),
        (error("42804", "UNION types numeric and text cannot be matched"), QUERY, 1790, None),
        (error("42701"), Context("ALTER TABLE t ADD c", "S", ddl=True), 1430, None),
        (error("42701"), Context("CREATE TABLE t", "S", ddl=True), 957, None),
        (error("42P07"), QUERY, 955, None),
        (error("34000"), QUERY, 1002, None),
        (error("22021"), QUERY, 3001, None),
    ],
)
def test_number_and_text(raised: PgError, context: Context, number: int, text: str | None) -> None:
    got = ora_error(raised, context, NAMES)
    assert got.number == number
    if text is not None:
        assert got.message == text


def test_the_place_is_that_of_the_name_as_a_word() -> None:
    assert ora_error(error("42703", 'column "NIX" does not exist'), QUERY, NAMES).position == 7
    assert ora_error(error("42703", 'column "IX" does not exist'), QUERY, NAMES).position == 0


def test_an_unknown_state_is_no_internal_error() -> None:
    got = ora_error(error("XX000", "what"), QUERY, NAMES)
    assert got.number == 604  # 600 would make a client drop its connection
    assert "XX000" in got.message
