"""PostgreSQL's binary cells to the wire: what a client reads is what PostgreSQL stored."""

# ruff: noqa: DTZ001 - DATE and TIMESTAMP have no zone

from __future__ import annotations

import datetime as dt
import math
import struct
from array import array
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.engine import cells, decode, number_cells
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.describe import ColumnNote, column
from oraclerag.local.engine.oids import Oids
from oraclerag.local.interface import CellForm, Column, OraError, OraType, VectorFormat
from oraclerag.local.wire import values
from oraclerag.local.wire.numbers import decode_number, encode_number
from oraclerag.local.wire.oson_reader import decode_oson
from oraclerag.local.wire.primitives import Reader
from oraclerag.local.wire.vector import decode_vector

OWN = Oids(varchar2=70001, clob=70002, blob=70003, odate=70004, vector=70005)
EPOCH = dt.datetime(2000, 1, 1)


class Lobs:
    """Keeps what it is given and answers with a marker."""

    def __init__(self) -> None:
        self.kept: list[str | bytes] = []

    def put(self, value: str | bytes) -> bytes:
        self.kept.append(value)
        return b"<locator>"


def numeric(value: Decimal) -> bytes:
    """Make the cell that numeric_send would make."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    scale = max(-exponent, 0)
    whole, fraction = (text[:-scale], text[-scale:].rjust(scale, "0")) if scale else (text, "")
    whole = whole.lstrip("0")
    whole = "0" * (-len(whole) % 4) + whole
    fraction += "0" * (-len(fraction) % 4)
    groups = [int((whole + fraction)[place : place + 4]) for place in range(0, len(whole + fraction), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    if not groups:
        weight = 0
    head = struct.pack(">HhHH", len(groups), weight, 0x4000 if sign else 0, scale)
    return head + struct.pack(f">{len(groups)}H", *groups)


def written(write: cells.Writer, cell: bytes) -> bytes:
    out = bytearray()
    write(out, cell)
    return bytes(out)


def content(cell: bytes) -> bytes:
    """Take the length byte off."""
    assert cell[0] == len(cell) - 1
    return cell[1:]


decimals = st.builds(
    lambda number, shift: Decimal(number).scaleb(shift, Context(prec=60)),
    st.integers(-(10**38), 10**38),
    st.integers(-80, 60),
)


@given(decimals)
def test_a_numeric_becomes_the_number_that_the_wire_would_encode(value: Decimal) -> None:
    assert content(written(number_cells.write_number, numeric(value))) == encode_number(value)


digits = st.one_of(st.sampled_from([0, 1, 99, 100, 9900, 9999]), st.integers(0, 9999))


@given(st.lists(digits, min_size=1, max_size=4), st.integers(-33, 31), st.sampled_from([0, 0x4000]))
def test_the_short_way_of_usual_numbers_is_that_of_all(found: list[int], weight: int, sign: int) -> None:
    cell = struct.pack(f">HhHH{len(found)}H", len(found), weight, sign, 0, *found)
    try:
        number = number_cells.number_cell(cell)
    except OraError as error:  # beyond the largest NUMBER
        with pytest.raises(OraError, match=str(error)):
            number_cells.number_whole(cell)
    else:
        assert number_cells.number_whole(cell) == number


@given(decimals)
def test_a_numeric_as_a_python_value_is_exact(value: Decimal) -> None:
    read = decode.number(numeric(value))
    assert read == value
    assert isinstance(read, int) == (value == value.to_integral_value())


@given(st.integers(10**39, 10**44), st.integers(-120, 60))
def test_more_than_forty_digits_are_rounded_half_up(number: int, shift: int) -> None:
    value = Decimal(number).scaleb(shift, Context(prec=60))
    got = Decimal(decode_number(content(written(number_cells.write_number, numeric(value)))))
    assert abs(got - value) <= abs(value) * Decimal("1e-38")
    assert content(written(number_cells.write_number, numeric(value))) == encode_number(value)


@pytest.mark.parametrize(
    "cell",
    [numeric(Decimal("1e126")), numeric(Decimal("-1e200")), struct.pack(">HhHH", 0, 0, 0xC000, 0)],
    ids=["too large", "too small", "NaN"],
)
def test_what_no_number_can_hold_is_an_overflow(cell: bytes) -> None:
    with pytest.raises(OraError, match="ORA-01426"):
        written(number_cells.write_number, cell)


def test_a_vanishing_number_is_zero() -> None:
    assert content(written(number_cells.write_number, numeric(Decimal("1e-131")))) == b"\x80"


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_becomes_a_number(value: int) -> None:
    assert decode_number(content(written(cells.write_integer, value.to_bytes(8, "big", signed=True)))) == value


def micros(moment: dt.datetime) -> bytes:
    return ((moment - EPOCH) // dt.timedelta(microseconds=1)).to_bytes(8, "big", signed=True)


moments = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999))


@given(moments)
def test_timestamps_come_back(moment: dt.datetime) -> None:
    cell = micros(moment)
    assert values.decode_date(content(written(cells.write_timestamp, cell))) == moment
    assert values.decode_date(content(written(cells.write_date, cell))) == moment.replace(microsecond=0)
    assert decode.moment(cell) == moment


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_a_timestamp_with_time_zone_is_shown_in_the_sessions_zone(moment: dt.datetime, offset: int) -> None:
    zone = dt.timezone(dt.timedelta(minutes=offset))
    data = content(written(cells.timestamp_tz_writer(zone), micros(moment)))
    assert len(data) == 13
    assert values.decode_date(data[:11]) == moment
    assert dt.timedelta(hours=data[11] - 20, minutes=data[12] - 60) == zone.utcoffset(None)


def test_a_year_beyond_9999_is_refused() -> None:
    cell = (10**18).to_bytes(8, "big", signed=True)
    for read in (lambda: written(cells.write_date, cell), lambda: decode.moment(cell)):
        with pytest.raises(OraError, match="ORA-01841"):
            read()


@given(st.floats(allow_nan=False))
def test_doubles_come_back(number: float) -> None:
    got = values.decode_binary_double(content(written(cells.write_float, struct.pack(">d", number))))
    assert got == number
    assert math.copysign(1, got) == 1 or got != 0  # Oracle keeps no negative zero


@given(st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999)))
def test_intervals_come_back(interval: dt.timedelta) -> None:
    cell = struct.pack(">qii", interval.seconds * 10**6 + interval.microseconds, interval.days, 0)
    assert values.decode_interval_ds(content(written(cells.write_interval, cell))) == interval


def test_an_interval_of_months_is_refused() -> None:
    with pytest.raises(OraError, match="INTERVAL YEAR TO MONTH"):
        cells.interval(struct.pack(">qii", 0, 0, 5))


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_vectors_come_back(elements: list[float]) -> None:
    cell = struct.pack(f">HH{len(elements)}f", len(elements), 0, *elements)
    assert list(decode_vector(image(written(cells.write_vector, cell)))) == elements
    assert list(cells.vector_elements(cell)) == elements


def image(cell: bytes) -> bytes:
    """Read a VECTOR or JSON cell as a client does: three lengths, the image, a locator."""
    reader = Reader(cell, lambda: b"")
    reader.numbers(3)
    return reader.item() or b""


@pytest.mark.parametrize(
    ("form", "code"), [(VectorFormat.FLOAT32, "f"), (VectorFormat.FLOAT64, "d"), (VectorFormat.INT8, "b")]
)
def test_a_vector_is_sent_in_the_format_of_its_column(form: VectorFormat, code: str) -> None:
    described = Column("E", OraType.VECTOR, vector_format=form)
    write = cells.writer(described, OWN.vector, CellForm.VALUE, Lobs(), OWN, dt.UTC)
    got = decode_vector(image(written(write, struct.pack(">HH2f", 2, 0, 3.0, -4.0))))
    assert (got.typecode, list(got)) == (code, [3.0, -4.0])


def test_json_is_sent_as_oson_with_exact_numbers() -> None:
    cell = b'\x01{"a": [1, 0.1, null, true], "\xc3\xa9": "x"}'
    assert decode_oson(image(written(cells.write_json, cell))) == {
        "a": [1, Decimal("0.1"), None, True],
        "é": "x",
    }


@pytest.mark.parametrize(
    ("kind", "oid", "cell", "kept"),
    [
        (OraType.CLOB, OWN.clob, "größer".encode(), "größer"),
        (OraType.BLOB, OWN.blob, b"\0\1", b"\0\1"),
        (OraType.VECTOR, OWN.vector, struct.pack(">HH2f", 2, 0, 1.0, -0.25), "[1.0E+000,-2.5E-001]"),
        (OraType.JSON, pg.JSONB, b'\x01{"a": 1}', '{"a":1}'),
    ],
)
def test_large_values_go_through_a_locator_or_inline(kind: OraType, oid: int, cell: bytes, kept: str | bytes) -> None:
    lobs = Lobs()
    described = Column("C", kind)
    write = cells.writer(described, oid, CellForm.LOCATOR, lobs, OWN, dt.UTC)
    assert (written(write, cell), lobs.kept) == (b"<locator>", [kept])
    inline = written(cells.writer(described, oid, CellForm.LONG, lobs, OWN, dt.UTC), cell)
    data = kept.encode() if isinstance(kept, str) else kept
    assert inline == bytes((len(data),)) + data + b"\0\0"


def test_a_rowid_names_block_and_slot() -> None:
    cell = struct.pack(">IH", 70, 3)
    assert cells.rowid(cell) == "AAAAABAAAAAAABGAAD"
    assert values.decode_rowid(written(cells.write_rowid, cell)[1:]) == cells.rowid(cell)


def test_text_over_252_bytes_is_sent_in_chunks() -> None:
    text = b"x" * 70_000
    reader = Reader(written(cells.write_bytes, text), lambda: b"")
    assert reader.item() == text


def _numeric_modifier(precision: int, scale: int) -> int:
    return ((precision << 16) | (scale & 0x7FF)) + 4


@pytest.mark.parametrize(
    ("oid", "modifier", "note", "expected"),
    [
        (pg.NUMERIC, -1, ColumnNote(), (OraType.NUMBER, 0, -127, 22, 0)),
        (pg.NUMERIC, _numeric_modifier(10, 2), ColumnNote(), (OraType.NUMBER, 10, 2, 22, 0)),
        (pg.NUMERIC, _numeric_modifier(5, -2), ColumnNote(), (OraType.NUMBER, 5, -2, 22, 0)),
        (OWN.varchar2, 24, ColumnNote(), (OraType.VARCHAR, 0, 0, 20, 20)),
        (OWN.varchar2, 24, ColumnNote(chars=True), (OraType.VARCHAR, 0, 0, 80, 20)),
        (OWN.varchar2, 4004, ColumnNote(chars=True), (OraType.VARCHAR, 0, 0, 4000, 4000)),
        (pg.TEXT, -1, ColumnNote(), (OraType.VARCHAR, 0, 0, 4000, 4000)),
        (pg.BPCHAR, 7, ColumnNote(), (OraType.CHAR, 0, 0, 3, 3)),
        (pg.BYTEA, -1, ColumnNote(length=16), (OraType.RAW, 0, 0, 16, 0)),
        (OWN.odate, -1, ColumnNote(), (OraType.DATE, 0, 0, 7, 0)),
        (pg.TIMESTAMP, 3, ColumnNote(), (OraType.TIMESTAMP, 0, 3, 11, 0)),
        (pg.TIMESTAMPTZ, -1, ColumnNote(), (OraType.TIMESTAMP_TZ, 0, 6, 13, 0)),
        (pg.BOOL, -1, ColumnNote(), (OraType.BOOLEAN, 0, 0, 1, 0)),
        (OWN.clob, -1, ColumnNote(), (OraType.CLOB, 0, 0, 4000, 0)),
        (pg.TID, -1, ColumnNote(), (OraType.ROWID, 0, 0, 18, 0)),
    ],
)
def test_describe(oid: int, modifier: int, note: ColumnNote, expected: tuple[Any, ...]) -> None:
    got = column("C", oid, modifier, note, OWN, 4000)
    assert (got.type, got.precision, got.scale, got.size, got.chars) == expected


def test_describe_of_a_vector_column() -> None:
    got = column("E", OWN.vector, 384, ColumnNote(nullable=False, vector_format=VectorFormat.FLEXIBLE), OWN, 4000)
    assert (got.type, got.vector_dimensions, got.vector_format, got.nullable) == (
        OraType.VECTOR,
        384,
        VectorFormat.FLEXIBLE,
        False,
    )


def test_a_type_that_oracle_has_not_is_refused() -> None:
    with pytest.raises(OraError, match="ORA-00932"):
        column("C", 600, -1, ColumnNote(), OWN, 4000)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (3, OraType.NUMBER, OraType.VARCHAR, "3"),
        (Decimal("-0.5"), OraType.NUMBER, OraType.VARCHAR, "-.5"),
        (Decimal("12.50"), OraType.NUMBER, OraType.VARCHAR, "12.5"),
        (" 7 ", OraType.VARCHAR, OraType.NUMBER, 7),
        (b"\xab", OraType.RAW, OraType.VARCHAR, "AB"),
        (dt.datetime(2024, 2, 3, 4, 5, 6), OraType.DATE, OraType.VARCHAR, "03-FEB-24"),
        (dt.datetime(2024, 2, 3, 4, 5, 6, 7), OraType.TIMESTAMP, OraType.DATE, dt.datetime(2024, 2, 3, 4, 5, 6)),
        (dt.datetime(2024, 2, 3, 16, 5, 6, 7), OraType.TIMESTAMP, OraType.VARCHAR, "03-FEB-24 04.05.06.000007 PM"),
        ({"a": [1]}, OraType.JSON, OraType.VARCHAR, '{"a":[1]}'),
        (array("f", [1.0]), OraType.VECTOR, OraType.CLOB, "[1.0E+000]"),
        (1, OraType.NUMBER, OraType.BINARY_DOUBLE, 1.0),
        (True, OraType.BOOLEAN, OraType.VARCHAR, "TRUE"),
        (None, OraType.NUMBER, OraType.VARCHAR, None),
    ],
)
def test_returned_values_take_the_bound_type(value: Any, source: OraType, target: OraType, expected: Any) -> None:
    got = decode.convert(value, source, target, decode.Formats())
    assert (type(got), got) == (type(expected), expected)


def test_no_conversion_between_unlike_types() -> None:
    with pytest.raises(OraError, match="ORA-00932"):
        decode.convert(dt.datetime(2024, 1, 1), OraType.DATE, OraType.NUMBER, decode.Formats())
