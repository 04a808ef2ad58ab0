"""Decoders of what a client sends, on bytes that no client would send: they end, and with the declared errors alone."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oraclerag.local.interface import OraError, OraType
from oraclerag.local.wire import login, piggybacks, requests, values
from oraclerag.local.wire.binds import BindInfo, convert_rows, read_bind_infos, read_bind_rows
from oraclerag.local.wire.capabilities import FIELD_VERSION, Dialect, read_data_types, read_protocol
from oraclerag.local.wire.lobs import (
    MEMORY_LIMIT,
    LobRequest,
    LobTable,
    Operation,
    TemporaryLob,
    answer_lob_request,
    read_freed_locators,
    read_lob_request,
)
from oraclerag.local.wire.numbers import decode_number, encode_number
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.oson_reader import decode_oson
from oraclerag.local.wire.packets import Closed
from oraclerag.local.wire.primitives import REQUEST_LIMIT, Malformed, Reader
from oraclerag.local.wire.vector import decode_vector, encode_vector

BYTES = st.binary(max_size=200)


class Dry(Exception):
    """There is no more input."""


def reader_of(data: bytes, size: int = 0) -> Reader:
    """Give a reader of packets of ``size`` bytes (0: one), behind which there is nothing."""
    pieces = iter([data[place : place + size] for place in range(0, len(data), size)] if size else [data])

    def more() -> bytes:
        for piece in pieces:
            return piece
        raise Dry

    return Reader(next(pieces, b""), more)


def outcome(action: Callable[[], Any], *expected: type[Exception]) -> Any:
    """Give what came of an action, or the kind of its error when that is one of ``expected``."""
    try:
        return action()
    except expected as error:
        return type(error)


@st.composite
def mutated(draw: st.DrawFn, originals: st.SearchStrategy[bytes]) -> bytes:
    """Give valid bytes with a few places changed, cut out, or doubled."""
    data = bytearray(draw(originals))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        end = place + draw(st.integers(0, 8))
        match draw(st.integers(0, 3)):
            case 0:
                data[place : place + 1] = bytes((draw(st.integers(0, 255)),))
            case 1:
                del data[place:end]
            case 2:
                data[place:place] = data[place:end]
            case _:
                data[place : place + 4] = draw(
                    st.sampled_from([b"\xff" * 4, b"\x7f" + b"\xff" * 3, b"\0" * 4, b"\x80"])
                )
    return bytes(data)


READS: dict[str, Callable[[Reader], Any]] = {
    "take": lambda reader: reader.take(3),
    "u8": Reader.u8,
    "number": Reader.number,
    "item": Reader.item,
    "counted": Reader.counted,
    "terminated": Reader.terminated,
    "execute": lambda reader: requests.read_execute(reader, FIELD_VERSION),
    "again": requests.read_again,
    "bind infos": lambda reader: read_bind_infos(reader, 3, FIELD_VERSION),
    "lob": read_lob_request,
    "freed": read_freed_locators,
    "credentials": lambda reader: login.read_credentials(reader).pairs,
    "cursors": piggybacks.read_closed_cursors,
    "schema": piggybacks.read_schema,
    "pipeline": piggybacks.read_pipeline_mode,
    "end to end": piggybacks.skip_end_to_end,
    "context": piggybacks.skip_application_context,
    "protocol": lambda reader: read_protocol(reader, Dialect()),
    "data types": lambda reader: read_data_types(reader, Dialect()),
}


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"\0\x81\5\0" + bytes(30), "freed"),  # of a negative length
        (b"\x09" + bytes(9), "number"),
        (b"\x7f" + bytes(127), "number"),
        (b"\xfe\x81\2" + bytes(9), "item"),  # a chunk that would go back and be read again for ever
        (b"\xfe\x08" + b"\x7f" * 8, "item"),
    ],
)
def test_lengths_that_cannot_be(data: bytes, read: str) -> None:
    with pytest.raises(Malformed):
        READS[read](reader_of(data))


def _read_on(reader: Reader) -> None:
    while True:
        reader.item()


@pytest.mark.parametrize("packet", [b"", b"\1a\1", b"x" * 1000], ids=["empty", "chunks", "large"])
def test_a_request_that_never_ends_is_given_up(packet: bytes) -> None:
    asked = 0

    def more() -> bytes:
        nonlocal asked
        asked += 1
        return packet

    reader = Reader(b"\xfe", more, 100_000)
    with pytest.raises(Malformed):
        _read_on(reader)
    assert asked <= 100_000 // 64 + 1


def test_nothing_is_read_for_a_length_beyond_the_limit() -> None:
    def more() -> bytes:
        raise AssertionError

    with pytest.raises(Malformed):
        Reader(b"", more).take(REQUEST_LIMIT + 1)


@pytest.mark.parametrize("count", [-1, (1 << 24) + 1, 1 << 62])
def test_a_number_of_executions_alone_takes_no_memory(count: int) -> None:
    size = (abs(count).bit_length() + 7) // 8
    number = bytes((size | (0x80 if count < 0 else 0),)) + abs(count).to_bytes(size, "big")
    with pytest.raises(Malformed):
        requests.read_again(reader_of(b"\1\1" + number + b"\0\0"))


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30).map(encode_number)
VECTORS = st.one_of(
    st.lists(st.floats(width=32), min_size=1, max_size=8).map(lambda found: array("f", found)),
    st.lists(st.floats(), min_size=1, max_size=8).map(lambda found: array("d", found)),
    st.lists(st.integers(-128, 127), min_size=1, max_size=8).map(lambda found: array("b", found)),
    st.binary(min_size=1, max_size=8).map(lambda found: array("B", found)),
).map(encode_vector)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=4), children, max_size=4),
    max_leaves=12,
).map(encode_oson)

# What bytes of a scalar may raise; the conversion of binds makes ORA-01460 of it.
_NO_VALUE = (ValueError, IndexError, OverflowError, struct.error, OraError)


def _decode_scalars(data: bytes) -> None:
    for decode in (
        decode_number,
        values.decode_date,
        values.decode_timestamp_tz,
        values.decode_interval_ds,
        values.decode_binary_double,
        values.decode_binary_float,
    ):
        outcome(partial(decode, data), *_NO_VALUE)
    outcome(lambda: values.decode_rowid(data), OraError)


def _decode_vector(image: bytes) -> None:
    outcome(lambda: decode_vector(image), OraError)


def _decode_document(image: bytes) -> None:
    outcome(lambda: decode_oson(image), OraError)


def _array_head(tree: bytes) -> bytes:
    return b"\xffJZ\1" + b"\x10\6" + b"\0" + b"\0\0" + len(tree).to_bytes(4, "big") + b"\0\0" + tree


def test_a_document_whose_parts_are_used_again_and_again_is_refused() -> None:
    """Thirty arrays, each holding the next one twice, would be a billion values of a hundred bytes."""
    tree = bytearray()
    for _ in range(30):
        after = len(tree) + 10
        tree += bytes((0xE0, 2)) + after.to_bytes(4, "big") * 2
    tree.append(0x31)
    with pytest.raises(OraError, match="ORA-40441"):
        decode_oson(_array_head(bytes(tree)))


def test_a_document_that_holds_itself_is_refused() -> None:
    with pytest.raises(OraError, match="ORA-40441"):
        decode_oson(_array_head(bytes((0xE0, 1)) + bytes(4)))


def test_one_long_name_used_by_many_fields_is_refused() -> None:
    """A hundred names of a dictionary that are all the same 250 bytes are four times what there is to read."""
    count, name = 100, b"\xfa" + b"n" * 250
    head = b"\xffJZ\1" + b"\x10\6" + bytes((count,)) + len(name).to_bytes(2, "big") + (1).to_bytes(4, "big") + b"\0\0"
    with pytest.raises(OraError, match="ORA-40441"):
        decode_oson(head + bytes(count) + bytes(2 * count) + name + b"\x84\0")


KINDS = [*(int(kind) for kind in OraType), 3, 99]


@st.composite
def bind_rows(draw: st.DrawFn) -> tuple[list[BindInfo], bytes, int, int]:
    """Give declarations, bytes that begin as rows of such binds do, a number of rows and a size of packets."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    infos = [
        BindInfo(kind, draw(st.sampled_from([1, 22, 4000, 40000])), 3, draw(st.booleans()), draw(st.booleans()))
        for kind in kinds
    ]
    cells = st.one_of(
        st.binary(max_size=12).map(lambda data: bytes((len(data),)) + data),
        NUMBERS.map(lambda data: bytes((len(data),)) + data),
        (VECTORS | DOCUMENTS).map(lambda data: b"\1\x28\0" + bytes((len(data) & 0x7F,)) + data),
        st.binary(max_size=6),
    )
    rows = draw(st.lists(st.lists(cells, max_size=5).map(b"".join), max_size=4))
    return infos, b"".join(b"\7" + row for row in rows), draw(st.integers(0, 5)), draw(st.integers(1, 40))


def _read_binds(case: tuple[list[BindInfo], bytes, int, int]) -> None:
    infos, data, count, size = case
    expected = (Malformed, Closed, Dry)
    raw = outcome(lambda: read_bind_rows(reader_of(data), infos, (), count, longest=4000), *expected)
    assert raw == outcome(lambda: read_bind_rows(reader_of(data, size), infos, (), count, longest=4000), *expected)
    if isinstance(raw, list):
        for info in infos:
            outcome(info.bind_type, OraError)
        outcome(lambda: convert_rows(infos, raw, (), count, LobTable()), OraError)


@st.composite
def lob_requests(draw: st.DrawFn) -> tuple[int, int, int, bytes, int | None]:
    """Give operation, offset, target, data, amount of a LOB call, as no client would choose them."""
    numbers = st.sampled_from([0, 1, 2, 5, 100, 1 << 40, (1 << 64) - 1]) | st.integers(-10, 10)
    operation = draw(st.sampled_from([int(kind) for kind in Operation] + [3]))
    target = draw(st.sampled_from([112, 113, 0, -1]))
    return operation, draw(numbers), target, draw(st.binary(max_size=9)), draw(st.none() | numbers)


def _call_lobs(calls: list[tuple[int, int, int, bytes, int | None]]) -> None:
    for is_text in (False, True):
        lobs = LobTable()
        lob = TemporaryLob(is_text=is_text)
        locator = lobs.add(lob)
        for operation, offset, target, data, amount in calls:
            request = LobRequest(operation, locator, offset, target, data, amount)
            outcome(partial(answer_lob_request, bytearray(), request, lobs), OraError)
            assert lob.weight < 1000
            assert lob.size == lob.weight // (2 if is_text else 1)


def _read(case: tuple[str, bytes, int]) -> None:
    name, data, size = case
    whole, cut = reader_of(data), reader_of(data, size)
    assert outcome(lambda: READS[name](whole), Malformed, Dry) == outcome(lambda: READS[name](cut), Malformed, Dry)


FUZZED: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None], int]] = {
    "readers": (st.tuples(st.sampled_from(sorted(READS)), BYTES, st.integers(1, 9)), _read, 100),
    "scalars": (st.binary(max_size=14) | mutated(NUMBERS), _decode_scalars, 60),
    "vectors": (BYTES | mutated(VECTORS), _decode_vector, 60),
    "documents": (st.binary(max_size=60).map(b"\xffJZ\1".__add__) | mutated(DOCUMENTS), _decode_document, 60),
    "binds": (bind_rows(), _read_binds, 40),
    "lobs": (st.lists(lob_requests(), max_size=12), _call_lobs, 30),
}
"""By name: what is fed, to what, and how many examples the default run needs."""


def fuzz(name: str, times: int = 1) -> None:
    """Feed a decoder; every error but the declared ones comes out."""
    strategy, check, examples = FUZZED[name]
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings(max_examples=examples * times, deadline=None, suppress_health_check=quiet)(given(strategy)(check))()


@pytest.mark.parametrize("name", FUZZED)
def test_decoders_end_with_the_declared_errors(name: str) -> None:
    fuzz(name)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FUZZED)
def test_decoders_end_with_the_declared_errors_at_length(name: str) -> None:
    fuzz(name, 100)


@pytest.mark.parametrize("data", [b"", b"\x80" * 5000, b"\0", b"\x66", b"\xff" * 13])
def test_scalars_at_the_borders(data: bytes) -> None:
    _decode_scalars(data)


@pytest.mark.parametrize(
    "image",
    [
        b"",
        bytes((0xDB, 0, 0, 0x20, 2)) + b"\xff" * 6,  # sparse, of four billion dimensions
        bytes((0xDB, 0, 0, 0x12, 4)) + b"\0\0\0\1",
        bytes((0xDB, 0, 0, 0x12, 2)) + b"\xff" * 4 + bytes(8),
    ],
)
def test_vectors_that_lie_about_their_size(image: bytes) -> None:
    with pytest.raises(OraError, match="ORA-51805"):
        decode_vector(image)


@pytest.mark.parametrize(
    "image",
    [
        b"",
        b"\xffJZ\1",
        b"\xffJZ\1\x10\x16\0\0\0\x0b\x7c" + b"\xff" * 13,
        b"\xffJZ\1\x10\x16\0\0\0\x0b\x3e" + b"\xff" * 11,  # an interval beyond all days
        b"\xffJZ\1\x10\x16\0\0\0\x0b\x7f\1",
    ],
)
def test_documents_that_are_none(image: bytes) -> None:
    with pytest.raises(OraError, match="ORA-40441"):
        decode_oson(image)


def test_the_lobs_of_a_session_are_bounded_and_what_is_freed_counts_no_more() -> None:
    lobs = LobTable()
    lob = TemporaryLob(is_text=False)
    locator = lobs.add(lob)
    far = LobRequest(Operation.WRITE, locator, MEMORY_LIMIT, 0, b"x", None)
    with pytest.raises(OraError, match="ORA-01652"):
        answer_lob_request(bytearray(), far, lobs)
    for _ in range(5):
        locator = lobs.add(TemporaryLob(is_text=False))
        near = LobRequest(Operation.WRITE, locator, MEMORY_LIMIT // 4096, 0, b"x", None)
        answer_lob_request(bytearray(), near, lobs)
        lobs.free(locator)
    assert len(lobs) == 1
    lobs.write(lob, MEMORY_LIMIT // 4096, b"x")
    lobs.trim(lob, 0)
    lobs.clear()
