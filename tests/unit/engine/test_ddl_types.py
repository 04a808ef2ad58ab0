"""Data types of DDL: what they become, and which number a wrong one raises."""

from __future__ import annotations

import pytest

from oraclerag.local.engine.column_types import normal_storage, read_type
from oraclerag.local.engine.reader import Reader, literal
from oraclerag.local.interface import OraError


@pytest.mark.parametrize(
    ("text", "name", "storage"),
    [
        ("VARCHAR2(10)", "VARCHAR2", "ora.varchar2(10)"),
        ("varchar2(10 char)", "VARCHAR2", "ora.varchar2(10)"),
        ("VARCHAR(4000 BYTE)", "VARCHAR2", "ora.varchar2(4000)"),
        ("NVARCHAR2(2000)", "NVARCHAR2", "ora.varchar2(2000)"),
        ("CHAR", "CHAR", "char(1)"),
        ("NUMBER", "NUMBER", "numeric"),
        ("NUMBER(*)", "NUMBER", "numeric"),
        ("NUMBER(*, 2)", "NUMBER", "numeric(38,2)"),
        ("NUMBER(10, -2)", "NUMBER", "numeric(10,-2)"),
        ("DECIMAL(12,2)", "NUMBER", "numeric(12,2)"),
        ("DECIMAL", "NUMBER", "numeric(38,0)"),
        ("INTEGER", "NUMBER", "numeric(38,0)"),
        ("FLOAT(20)", "FLOAT", "numeric"),
        ("DOUBLE PRECISION", "FLOAT", "numeric"),
        ("BINARY_DOUBLE", "BINARY_DOUBLE", "float8"),
        ("DATE", "DATE", "ora.odate"),
        ("TIMESTAMP", "TIMESTAMP(6)", "timestamp(6)"),
        ("TIMESTAMP(9)", "TIMESTAMP(9)", "timestamp(6)"),
        ("TIMESTAMP(3) WITH TIME ZONE", "TIMESTAMP(3) WITH TIME ZONE", "timestamptz(3)"),
        ("TIMESTAMP WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamptz(6)"),
        ("INTERVAL DAY(3) TO SECOND(2)", "INTERVAL DAY(3) TO SECOND(2)", "interval(2)"),
        ("RAW(16)", "RAW", "bytea"),
        ("JSON", "JSON", "jsonb"),
        ("BOOLEAN", "BOOLEAN", "boolean"),
        ("VECTOR", "VECTOR", "vector"),
        ("VECTOR(*, FLOAT64)", "VECTOR", "vector"),
        ("VECTOR(384,FLOAT32,*)", "VECTOR", "vector(384)"),
        ("VECTOR(3, INT8, DENSE)", "VECTOR", "vector(3)"),
    ],
)
def test_a_type_is_stored_as(text: str, name: str, storage: str) -> None:
    reader = Reader(text)
    kind = read_type(reader, 4000)
    assert (kind.name, kind.storage) == (name, storage)
    assert reader.at_end


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("TEXT", 902), ("5", 902), ("", 902), ("ENUM('a')", 3060), ("VARCHAR2", 906), ("VARCHAR2(4001)", 910), ("VARCHAR2(0)", 1723),
        ("VARCHAR2(5 CHARS)", 907), ("NUMBER(39)", 1727), ("NUMBER(0)", 1727), ("NUMBER(5,128)", 1728), ("NUMBER(5,-85)", 1728),
        ("FLOAT(127)", 1724), ("TIMESTAMP(10)", 30088), ("INTERVAL", 30089), ("DOUBLE", 2000), ("RAW(2001)", 910), ("CHAR(2001)", 910),
        ("NVARCHAR2(2001)", 910), ("VECTOR(0)", 51801), ("VECTOR(65536)", 51801), ("VECTOR(16001)", 3001), ("VECTOR(8, BINARY)", 3001),
        ("VECTOR(8, FLOAT32, SPARSE)", 3001), ("VECTOR(8, FLOAT16)", 51802), ("LONG", 3001), ("XMLTYPE", 3001), ("INTERVAL YEAR TO MONTH", 3001),
    ],
)  # fmt: skip
def test_a_wrong_type_has_oracles_number(text: str, number: int) -> None:
    with pytest.raises(OraError) as caught:
        read_type(Reader(text), 4000)
    assert caught.value.number == number


def test_extended_strings_are_longer() -> None:
    assert read_type(Reader("VARCHAR2(32767)"), 32767).length == 32767
    assert read_type(Reader("RAW(32767)"), 32767).length == 32767


def test_a_length_is_checked_in_its_unit_and_null_passes() -> None:
    by_bytes = read_type(Reader("VARCHAR2(10)"), 4000).check("C", 3, 4000)
    by_chars = read_type(Reader("VARCHAR2(10 CHAR)"), 4000).check("C", 3, 4000)
    assert by_bytes is not None
    assert by_bytes.startswith('"C" IS NULL OR octet_length("C"::text) <= 10 OR ')
    assert by_chars is not None
    assert "char_length" in by_chars
    assert "<= 4000" in by_chars  # a text of 10 characters has more bytes than a VARCHAR2 can hold only in theory
    assert read_type(Reader("CLOB"), 4000).check("C", 3, 4000) is None


@pytest.mark.parametrize(
    ("printed", "normal"),
    [
        ("ora.varchar2(5)", "varchar2(5)"),
        ("character(3)", "char(3)"),
        ("timestamp(6) without time zone", "timestamp(6)"),
        ("timestamp(3) with time zone", "timestamptz(3)"),
        ("double precision", "float8"),
        ("public.vector(3)", "vector(3)"),
    ],
)
def test_one_spelling_for_a_stored_type(printed: str, normal: str) -> None:
    assert normal_storage(printed) == normal


def test_a_literal_keeps_quotes_and_backslashes() -> None:
    assert literal("it's") == "'it''s'"
    assert literal("a\\b'") == "E'a\\\\b'''"
