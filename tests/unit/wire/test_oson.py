"""OSON: round trips, and the flavours that others write."""

from __future__ import annotations

import datetime as dt
from array import array
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.local.interface import OraError
from oraclerag.local.wire.numbers import encode_number
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.oson_reader import decode_oson

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**38) + 1, 10**38 - 1)
    | st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**20), max_value=10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300)
    | st.binary(max_size=50)
    | st.datetimes(min_value=dt.datetime(1, 1, 1))  # noqa: DTZ001
    | st.timedeltas(min_value=dt.timedelta(days=-99999), max_value=dt.timedelta(days=99999))
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda children: st.lists(children, max_size=5) | st.dictionaries(st.text(max_size=20), children, max_size=5),
    max_leaves=20,
)


@settings(max_examples=40)
@given(DOCUMENTS)
def test_there_and_back(document: Any) -> None:
    assert decode_oson(encode_oson(document)) == document


@pytest.mark.parametrize(
    "document",
    [
        {f"field {number}": number for number in range(300)},
        {"n" * 256: 1, "short": {"m" * 65535: [2]}},
        {f"{number:05}" + "x" * 300: number for number in range(300)},
        {f"{number:03}" + "x" * 250: number for number in range(400)},
        list(range(300)),
        ["x" * 255, "x" * 256, "x" * 65536, b"y" * 65536],
        {"v": array("f", [1.0, -2.5])},
        {"moment": dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=dt.timezone(dt.timedelta(hours=2)))},
        [],
        {},
        [[[[[[]]]]]],
        "",
    ],
    ids=lambda document: repr(document)[:20],
)
def test_shapes_at_the_borders(document: Any) -> None:
    assert decode_oson(encode_oson(document)) == document


def test_very_many_fields_and_items() -> None:
    document = [dict.fromkeys(map(str, range(65537))), [True] * 65537]
    assert decode_oson(encode_oson(document)) == document


def test_types_survive() -> None:
    result = decode_oson(encode_oson([1, Decimal("1.5"), 1.5, True]))
    assert [type(item) for item in result] == [int, Decimal, float, bool]


def test_the_image_of_an_object() -> None:
    head = "ff4a5a01" + "3106" + "02" + "0004" + "00000012" + "0000"
    names = "2ce5" + "00000002" + "0161" + "0162"  # low bytes of the FNV-1a hashes, offsets, lengths and texts
    tree = "a402" + "0102" + "0000000c" + "00000010" + "3402c102" + "e000"
    assert encode_oson({"a": 1, "b": []}).hex() == head + names + tree


def test_flavour_with_relative_short_offsets_and_lengths_in_nodes() -> None:
    one = encode_number(1)
    tree = bytes((0x84, 2, 1, 2)) + (8).to_bytes(2, "big") + (11).to_bytes(2, "big")
    tree += bytes((0x21,)) + one
    inner = bytes((0xC0, 2)) + (6).to_bytes(2, "big") + (9).to_bytes(2, "big") + b"\x02hi" + bytes((0x42,)) + one
    tree += inner
    names = b"\1a\1b"
    image = b"\xffJZ\1" + (0x0107).to_bytes(2, "big") + bytes((2,)) + len(names).to_bytes(2, "big")
    image += len(tree).to_bytes(2, "big") + b"\0\0" + b"\0\0" + b"\0\0\0\2" + names + tree
    assert decode_oson(image) == {"a": 1, "b": ["hi", 1]}


def test_flavour_with_shared_field_lists() -> None:
    first = bytes((0x84, 1, 1)) + (20).to_bytes(2, "big")
    second = bytes((0x9C,)) + (6).to_bytes(2, "big") + (21).to_bytes(2, "big")
    tree = bytes((0xC0, 2)) + (6).to_bytes(2, "big") + (11).to_bytes(2, "big") + first + second
    tree += bytes(20 - len(tree)) + b"\x31\x32"
    image = b"\xffJZ\1" + (0x0106).to_bytes(2, "big") + bytes((1,)) + (2).to_bytes(2, "big")
    image += len(tree).to_bytes(2, "big") + b"\0\0" + b"\0" + b"\0\0" + b"\1k" + tree
    assert decode_oson(image) == [{"k": True}, {"k": False}]


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j])
def test_what_has_no_json_form_is_named(value: object) -> None:
    with pytest.raises(OraError, match=f"ORA-40441: .*{type(value).__name__}"):
        encode_oson([value])


def test_a_field_name_that_is_too_long() -> None:
    with pytest.raises(OraError, match="ORA-40708"):
        encode_oson({"x" * 65536: 1})


@given(st.binary(max_size=60))
def test_junk_is_an_error_that_oracle_knows(junk: bytes) -> None:
    for image in (junk, b"\xffJZ\1" + junk):
        try:
            decode_oson(image)
        except OraError as error:
            assert error.number in (40441, 1426, 3001, 51805)  # noqa: PT017


def test_an_image_that_contains_itself() -> None:
    tree = bytes((0xC0, 1)) + (0).to_bytes(2, "big")
    image = b"\xffJZ\1" + (0x0106).to_bytes(2, "big") + b"\0" + b"\0\0" + len(tree).to_bytes(2, "big") + b"\0\0" + tree
    with pytest.raises(OraError, match="ORA-40441"):
        decode_oson(image)
