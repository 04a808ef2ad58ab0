"""What is written is read back, wherever packets cut it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.wire import primitives
from oraclerag.local.wire.primitives import Reader


def cut(data: bytes, size: int) -> Reader:
    """A reader that gets ``data`` in pieces of ``size``."""
    pieces = iter([data[start : start + size] for start in range(0, len(data), size)])
    return Reader(b"", lambda: next(pieces))


@given(st.lists(st.integers(-(2**64) + 1, 2**64 - 1)), st.integers(1, 9))
def test_numbers(numbers: list[int], size: int) -> None:
    out = bytearray()
    for number in numbers:
        primitives.put_sint(out, number)
    assert cut(bytes(out), size).numbers(len(numbers)) == numbers


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "00"), (1, "0101"), (255, "01ff"), (256, "020100"), (65536, "0400010000"), (2**32, "080000000100000000")],
)
def test_numbers_take_the_widths_clients_write(number: int, written: str) -> None:
    out = bytearray()
    primitives.put_uint(out, number)
    assert out.hex() == written


def test_a_negative_number_has_the_high_bit_in_its_count() -> None:
    out = bytearray()
    primitives.put_sint(out, -258)
    assert out.hex() == "820102"


@given(st.lists(st.binary(max_size=600)), st.integers(1, 50))
def test_items(items: list[bytes], size: int) -> None:
    out = bytearray()
    for item in items:
        primitives.put_bytes(out, item)
        primitives.put_counted(out, item)
    reader = cut(bytes(out), size)
    for item in items:
        assert reader.item() == (item or None)
        assert reader.counted() == (item or None)


@pytest.mark.parametrize("size", [252, 253, 254, 255, 256, 32767, 32768, 100000])
def test_long_items_are_chunked(size: int) -> None:
    out = bytearray()
    primitives.put_bytes(out, bytes(size))
    assert (out[0] == primitives.CHUNKED) == (size > primitives.MAX_SHORT)
    assert cut(bytes(out), 8182).item() == bytes(size)


def test_a_chunk_may_span_many_packets() -> None:
    data = bytes(range(256)) * 4000
    out = bytearray((primitives.CHUNKED,))
    primitives.put_uint(out, len(data))
    out += data + b"\0\7"
    reader = cut(bytes(out), 500)
    assert reader.item() == data
    assert reader.u8() == 7


@pytest.mark.parametrize("mark", [0, 255])
def test_null(mark: int) -> None:
    assert Reader(bytes((mark,)), bytes).item() is None


def test_terminated_text() -> None:
    reader = cut(b"name\0rest", 2)
    assert reader.terminated() == b"name"
    assert reader.take(4) == b"rest"


def test_the_end_of_the_line_is_passed_on() -> None:
    def gone() -> bytes:
        raise ConnectionError

    reads: list[Callable[[Reader], object]] = [Reader.u8, Reader.number, Reader.item, lambda reader: reader.take(3)]
    for read in reads:
        with pytest.raises(ConnectionError):
            read(Reader(b"\2"[:1] if read is not Reader.u8 else b"", gone))
