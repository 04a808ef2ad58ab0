"""Bind values to PostgreSQL parameters: Oracle's reading of text, exact numbers, LONG binds where they are allowed."""

# ruff: noqa: DTZ001 - DATE and TIMESTAMP have no zone

from __future__ import annotations

import datetime as dt
import json
import struct
from array import array
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine import texts
from oraclerag.local.engine.binds import (
    BINARY_FORMAT,
    TEXT_FORMAT,
    Reading,
    converter,
    declared_oids,
    positions,
)
from oraclerag.local.engine.decode import Formats, moment
from oraclerag.local.engine.long_binds import refuse_long_binds, tuple_elements
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.parameters import encode
from oraclerag.local.engine.plan import BindParameter, EmbedParameter, Plan, Verb
from oraclerag.local.interface import JSON_NULL, BindType, OraError, OraType, StatementKind

OWN = Oids(varchar2=70001, clob=70002, blob=70003, odate=70004, vector=70005)
READING = Reading(OWN, Formats(), dt.date(2026, 6, 1))
NUMBER, TEXT = BindType(OraType.NUMBER, 22), BindType(OraType.VARCHAR, 400)


def converted(kind: OraType, oid: int, value: Any) -> bytes | None:
    return converter(kind, oid, READING)[0](value)


@pytest.mark.parametrize(
    ("kind", "oid", "value", "expected"),
    [
        (OraType.VARCHAR, OWN.varchar2, "é", "é".encode()),
        (OraType.VARCHAR, OWN.varchar2, "", None),
        (OraType.VARCHAR, pg.NUMERIC, " 1.5e3 ", b" 1.5e3 "),
        (OraType.VARCHAR, OWN.odate, "03-feb-24", b"2024-02-03 00:00:00"),
        (OraType.VARCHAR, pg.BYTEA, "00ff", b"\x00\xff"),
        (OraType.VARCHAR, pg.JSONB, '{"a":1}', b'{"a":1}'),
        (OraType.VARCHAR, pg.TID, "AAAAABAAAAAAABGAAD", b"(70,3)"),
        (OraType.NUMBER, pg.NUMERIC, Decimal("1E+3"), b"1E+3"),
        (OraType.NUMBER, pg.NUMERIC, True, b"1"),
        (OraType.RAW, pg.BYTEA, b"", None),
        (OraType.BLOB, OWN.blob, b"", b""),
        (OraType.CLOB, OWN.clob, "", b""),
        (OraType.BOOLEAN, pg.BOOL, False, b"f"),
        (OraType.BINARY_DOUBLE, pg.FLOAT8, float("inf"), b"inf"),
        (OraType.INTERVAL_DS, pg.INTERVAL, dt.timedelta(days=-1, microseconds=5), b"-1 days 5 microseconds"),
        (OraType.VECTOR, OWN.vector, array("d", [1.0, -2.0]), struct.pack(">HH2f", 2, 0, 1.0, -2.0)),
        (OraType.VECTOR, OWN.vector, array("b", [1, -2]), struct.pack(">HH2f", 2, 0, 1.0, -2.0)),
    ],
)
def test_values(kind: OraType, oid: int, value: Any, expected: bytes | None) -> None:
    assert converted(kind, oid, value) == expected


@pytest.mark.parametrize(
    ("oid", "value", "number"),
    [
        (pg.NUMERIC, "ten", 1722),
        (pg.NUMERIC, "NaN", 1722),
        (pg.NUMERIC, "0x1F", 1722),
        (pg.NUMERIC, "1_000", 1722),
        (pg.NUMERIC, "1\0", 1722),
        (OWN.odate, "2024-02-03", 1861),
        (OWN.odate, "31-FOO-24", 1843),
        (OWN.odate, "30-FEB-24", 1839),
        (OWN.odate, "03-FEB-24 10:00", 1830),
        (pg.BYTEA, "xyz", 1465),
        (pg.TID, "nothing", 1410),
        (pg.JSONB, '"\0"', 3001),
    ],
)
def test_text_that_oracle_would_not_convert(oid: int, value: str, number: int) -> None:
    with pytest.raises(OraError) as caught:
        converted(OraType.VARCHAR, oid, value)
    assert caught.value.number == number


def test_text_goes_in_binary_so_that_a_nul_is_not_its_end() -> None:
    for oid in (pg.TEXT, OWN.varchar2, OWN.clob):
        assert converter(OraType.VARCHAR, oid, READING)[1] == BINARY_FORMAT
    assert converter(OraType.VARCHAR, pg.NUMERIC, READING)[1] == TEXT_FORMAT


@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)))
def test_dates_and_timestamps_are_exact(value: dt.datetime) -> None:
    assert moment(converted(OraType.TIMESTAMP, pg.TIMESTAMP, value) or b"") == value
    assert moment(converted(OraType.DATE, OWN.odate, value) or b"") == value.replace(microsecond=0)
    assert moment(converted(OraType.DATE, OWN.odate, value.date()) or b"") == dt.datetime(*value.timetuple()[:3])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_null_of_json_is_written_as_such() -> None:
    assert texts.json_text(JSON_NULL) == "null"


@given(json_values)
def test_json_keeps_every_digit(value: Any) -> None:
    assert json.loads(texts.json_text(value), parse_float=Decimal) == value


FORMATS = st.sampled_from(
    ["DD-MON-RR", "YYYY-MM-DD HH24:MI:SS", "DD/MM/YYYY HH:MI:SS AM", "Month DD, YYYY", 'YYYY-MM-DD"T"HH24:MI:SS']
)


@given(st.datetimes(dt.datetime(1960, 1, 1), dt.datetime(2040, 1, 1)), FORMATS)
def test_a_printed_date_is_read_back(value: dt.datetime, form: str) -> None:
    value = value.replace(microsecond=0)
    if "SS" not in form:
        value = value.replace(hour=0, minute=0, second=0)
    assert texts.moment_value(texts.moment_text(value, form), form, dt.date(2026, 6, 1)) == value


@pytest.mark.parametrize(("year", "expected"), [("49", 2049), ("50", 1950), ("26", 2026), ("99", 1999)])
def test_two_digit_years_are_the_nearest(year: str, expected: int) -> None:
    assert texts.moment_value(f"01-JAN-{year}", "DD-MON-RR", dt.date(2026, 6, 1)).year == expected


def test_an_unknown_format_element_is_refused() -> None:
    with pytest.raises(OraError, match="ORA-01821"):
        texts.moment_text(dt.datetime(2024, 1, 1), "YYYYQQ")


PARAMETERS = (BindParameter("A"), BindParameter("B"), BindParameter("A", rowid=True))


def test_a_repeated_name_is_one_value_and_columns_follow_the_parameters() -> None:
    places = positions(["A", "B", "A"])
    assert places == {"A": 0, "B": 1}
    types = (TEXT, NUMBER, TEXT)
    assert declared_oids(PARAMETERS[:2], places, types, OWN) == (0, pg.NUMERIC)
    encoded = encode(
        PARAMETERS[:2],
        places,
        types,
        (OWN.varchar2, pg.NUMERIC),
        [("x", 1, "unused"), (None, None, None)],
        [None, None],
        READING,
    )
    assert [encoded.row(place) for place in range(encoded.count)] == [[b"x", b"1"], [None, None]]
    assert encoded.formats == (BINARY_FORMAT, TEXT_FORMAT)


def test_a_missing_bind_is_named() -> None:
    with pytest.raises(OraError, match=r"ORA-01008.*:B"):
        declared_oids(PARAMETERS, {"A": 0}, (TEXT,), OWN)


def test_a_rowid_bind_is_a_tid() -> None:
    assert declared_oids(PARAMETERS[2:], {"A": 0}, (TEXT,), OWN) == (pg.TID,)


def plan(verb: Verb, text: str, parameters: int, values: str = "") -> Plan:
    span = (text.index(values), text.index(values) + len(values)) if values else None
    kind = StatementKind.QUERY if verb is Verb.SELECT else StatementKind.DML
    return Plan(kind, verb, text, tuple(BindParameter(str(n + 1)) for n in range(parameters)), values=span)


LONG = BindType(OraType.VARCHAR, 16_000)


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        (plan(Verb.INSERT, 'INSERT INTO "T" ("C") VALUES ($1)', 1, "($1)"), True),
        (plan(Verb.INSERT, 'INSERT INTO "T" ("C") VALUES ($1) RETURNING "ID"', 1, "($1)"), True),
        (plan(Verb.INSERT, 'INSERT INTO "T" ("C") VALUES (ora.upper($1))', 1, "(ora.upper($1))"), False),
        (plan(Verb.INSERT, 'INSERT INTO "T" ("C") VALUES ($1, f($1))', 1, "($1, f($1))"), False),
        (plan(Verb.INSERT, 'INSERT INTO "T" ("C") SELECT $1', 1), False),
        (plan(Verb.UPDATE, 'UPDATE "T" SET "C" = $1', 1), True),
        (plan(Verb.UPDATE, 'UPDATE "T" SET "C" = $1, "D" = 2. WHERE "ID" = 1.', 1), True),
        (plan(Verb.UPDATE, 'UPDATE "T" SET "C" = $1 RETURNING "ID"', 1), True),
        (plan(Verb.UPDATE, 'UPDATE "T" SET "C" = ora.upper($1)', 1), False),
        (plan(Verb.UPDATE, 'UPDATE "T" SET "D" = 1. WHERE "C" = $1', 1), False),
        (plan(Verb.SELECT, "SELECT $1", 1), False),
        (
            plan(Verb.MERGE, 'MERGE INTO "T" USING (SELECT $1 AS "A") AS "S" ON (true) WHEN MATCHED THEN DELETE', 1),
            False,
        ),
        (
            plan(
                Verb.MERGE,
                'MERGE INTO "T" USING "S" ON (true) WHEN MATCHED THEN UPDATE SET "C" = $1'
                ' WHEN NOT MATCHED THEN INSERT ("C") VALUES ($2)',
                2,
            ),
            True,
        ),
    ],
    ids=lambda value: value.text if isinstance(value, Plan) else str(value),
)
def test_a_long_bind_is_allowed_only_as_a_whole_value(statement: Plan, allowed: bool) -> None:
    places = {str(n + 1): n for n in range(len(statement.parameters))}
    types = [LONG] * len(places)
    refuse_long_binds(statement, places, types, 32_767)  # not long under EXTENDED
    if allowed:
        refuse_long_binds(statement, places, types, 4000)
    else:
        with pytest.raises(OraError, match="ORA-01461"):
            refuse_long_binds(statement, places, types, 4000)


def test_a_long_bind_cannot_be_embedded() -> None:
    embedding = Plan(StatementKind.DML, Verb.INSERT, "", (EmbedParameter("S.M", "T"),))
    with pytest.raises(OraError, match="ORA-01461"):
        refuse_long_binds(embedding, {"T": 0}, [LONG], 4000)


def test_a_tuple_is_split_at_its_own_commas() -> None:
    text = """X (a, f(b, 'c,)'), "d,(", 'it''s', DEFAULT) RETURNING y"""
    assert tuple_elements(text, 2) == ["a", "f(b, 'c,)')", '"d,("', "'it''s'", "DEFAULT"]
