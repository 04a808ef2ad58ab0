"""Dates, timestamps, intervals, floats, rowids: known bytes and round trips."""

from __future__ import annotations

import datetime as dt
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.interface import OraError
from oraclerag.local.wire import values

MOMENTS = st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31))  # noqa: DTZ001
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))


def test_a_date_as_oracle_dumps_it() -> None:
    moment = dt.datetime(2026, 11, 30, 8, 1, 2, 999)  # noqa: DTZ001
    assert list(values.encode_date(moment)) == [120, 126, 11, 30, 9, 2, 3]
    assert list(values.encode_date(dt.date(2026, 11, 30))) == [120, 126, 11, 30, 1, 1, 1]


def test_a_timestamp_has_a_fraction_only_when_it_needs_one() -> None:
    moment = dt.datetime(2026, 11, 30, 8, 1, 2)  # noqa: DTZ001
    assert len(values.encode_timestamp(moment)) == 7
    assert values.encode_timestamp(moment.replace(microsecond=1))[7:] == (1000).to_bytes(4, "big")


@given(MOMENTS)
def test_timestamps(moment: dt.datetime) -> None:
    assert values.decode_date(values.encode_timestamp(moment)) == moment
    assert values.decode_date(values.encode_date(moment)) == moment.replace(microsecond=0)


@given(st.datetimes(min_value=dt.datetime(1900, 1, 1), max_value=dt.datetime(9000, 1, 1), timezones=ZONES))  # noqa: DTZ001
def test_timestamps_with_time_zone(moment: dt.datetime) -> None:
    result = values.decode_timestamp_tz(values.encode_timestamp_tz(moment))
    assert result == moment
    assert result.utcoffset() == moment.utcoffset()


def test_a_timestamp_with_time_zone_travels_in_utc() -> None:
    zone = dt.timezone(-dt.timedelta(hours=3, minutes=30))
    data = values.encode_timestamp_tz(dt.datetime(2026, 1, 1, 22, 0, tzinfo=zone))
    assert list(data) == [120, 126, 1, 2, 2, 31, 1, 0, 0, 0, 0, 17, 30]


def test_a_time_zone_region_is_refused() -> None:
    data = values.encode_timestamp_tz(dt.datetime(2026, 1, 1, tzinfo=dt.UTC))[:11] + b"\x80\x10"
    with pytest.raises(OraError, match="ORA-03001"):
        values.decode_timestamp_tz(data)


@given(st.timedeltas(min_value=dt.timedelta(days=-999_999), max_value=dt.timedelta(days=999_999)))
def test_intervals(interval: dt.timedelta) -> None:
    assert values.decode_interval_ds(values.encode_interval_ds(interval)) == interval


def test_every_field_of_an_interval_carries_the_sign() -> None:
    data = values.encode_interval_ds(-dt.timedelta(days=1, hours=2, minutes=3, seconds=4))
    assert data.hex() == "7fffffff" + "3a3938" + "80000000"


@given(st.floats())
def test_doubles(number: float) -> None:
    result = values.decode_binary_double(values.encode_binary_double(number))
    assert result == number or (math.isnan(result) and math.isnan(number))


@given(st.floats(width=32))
def test_floats(number: float) -> None:
    result = values.decode_binary_float(values.encode_binary_float(number))
    assert result == number or (math.isnan(result) and math.isnan(number))


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_bytes_of_doubles_sort_like_them(left: float, right: float) -> None:
    assert (values.encode_binary_double(left) < values.encode_binary_double(right)) == (left < right)


def test_known_floats() -> None:
    assert values.encode_binary_double(1.0).hex() == "bff0000000000000"
    assert values.encode_binary_double(-1.0).hex() == "400fffffffffffff"
    assert values.encode_binary_double(-0.0) == values.encode_binary_double(0.0)
    assert values.decode_binary_float(values.encode_binary_float(1e300)) == math.inf
    assert values.decode_binary_float(values.encode_binary_float(-1e300)) == -math.inf
    assert struct.pack(">f", 1.5)[1:] == values.encode_binary_float(1.5)[1:]


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**10 - 1), st.integers(0, 2**22 - 1), st.integers(0, 2**16 - 1))
def test_rowids(number: int, file: int, block: int, row: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    parts = ((number, 6), (file, 3), (block, 6), (row, 3))
    text = "".join(alphabet[part >> 6 * place & 63] for part, size in parts for place in reversed(range(size)))
    assert values.decode_rowid(values.encode_rowid(text)) == text


@pytest.mark.parametrize("text", ["", "AAASdMAAEAAAACDAA", "AAASdMAAEAAAACDAAHH", "AAASdMAAEAAAACDAA-"])
def test_what_is_no_rowid(text: str) -> None:
    with pytest.raises(OraError, match="ORA-01410"):
        values.encode_rowid(text)


def test_cells() -> None:
    out = bytearray()
    values.put_text(out, "")
    values.put_text(out, "é")
    values.put_long(out, "")
    values.put_long(out, None)
    values.put_long(out, b"ab")
    assert out.hex() == "00" + "02c3a9" + "008101020 57d".replace(" ", "") * 2 + "026162" + "0000"
    out = bytearray()
    values.put_locator(out, bytes(40), 300)
    assert out.hex() == "0128" + "02012c" + "021fc4" + "28" + "00" * 40
    out = bytearray()
    values.put_image(out, b"xyz")
    assert out.hex() == "0128" + "0103" + "021fc4" + "0378797a" + "28" + "00" * 40
