"""VECTOR images."""

from __future__ import annotations

import struct
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.interface import OraError
from oraclerag.local.wire import values
from oraclerag.local.wire.vector import decode_vector, encode_vector

ARRAYS = st.one_of(
    st.lists(st.floats(width=32, allow_nan=False), max_size=50).map(lambda items: array("f", items)),
    st.lists(st.floats(allow_nan=False), max_size=50).map(lambda items: array("d", items)),
    st.lists(st.integers(-128, 127), max_size=50).map(lambda items: array("b", items)),
    st.lists(st.integers(0, 255), max_size=50).map(lambda items: array("B", items)),
)


@given(ARRAYS)
def test_there_and_back(vector: array[Any]) -> None:
    result = decode_vector(encode_vector(vector))
    assert result == vector
    assert result.typecode == vector.typecode


def test_the_image() -> None:
    image = encode_vector(array("f", [1.0, -1.0]))
    assert image.hex() == "db00" + "0012" + "02" + "00000002" + "00" * 8 + "bf800000" + "407fffff"
    assert encode_vector(array("B", [255, 1])).hex() == "db01" + "0010" + "05" + "00000010" + "00" * 8 + "ff01"


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_elements_are_binary_doubles(numbers: list[float]) -> None:
    image = encode_vector(array("d", numbers))
    for place, number in enumerate(numbers):
        element = image[17 + 8 * place : 25 + 8 * place]
        assert element == values.encode_binary_double(number) or number == 0


def test_an_image_without_room_for_the_norm() -> None:
    image = encode_vector(array("f", [0.5, 2.0]))
    assert decode_vector(image[:2] + b"\0\0" + image[4:9] + image[17:]) == array("f", [0.5, 2.0])


def test_a_sparse_vector_becomes_dense() -> None:
    elements = b"".join(values.encode_binary_float(number) for number in (1.5, -2.0))
    head = bytes((0xDB, 2)) + struct.pack(">HBI", 0x20 | 0x12, 2, 6) + bytes(8)
    image = head + struct.pack(">HII", 2, 1, 5) + elements
    assert decode_vector(image) == array("f", [0, 1.5, 0, 0, 0, -2.0])


@given(st.binary(max_size=80))
def test_junk_is_ora_51805(junk: bytes) -> None:
    for image in (junk, b"\xdb" + junk):
        try:
            decode_vector(image)
        except OraError as error:
            assert error.number == 51805  # noqa: PT017 - most junk is refused, some is a vector


@pytest.mark.parametrize("cut", range(1, 24))
def test_a_cut_image_is_ora_51805(cut: int) -> None:
    with pytest.raises(OraError, match="ORA-51805"):
        decode_vector(encode_vector(array("f", [1.0, 2.0]))[:-cut])
