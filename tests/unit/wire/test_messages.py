"""Messages byte by byte: error, status, describe, connect, data types, bind rows."""

from __future__ import annotations

import datetime as dt
import socket
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.local.interface import (
    JSON_NULL,
    BlockResult,
    Column,
    Direction,
    OraError,
    OraType,
    RowError,
    VectorFormat,
)
from oraclerag.local.wire import capabilities, messages, object_types, primitives, results, values
from oraclerag.local.wire.binds import BindInfo, convert_rows, read_bind_infos, read_bind_rows
from oraclerag.local.wire.capabilities import Dialect, Features
from oraclerag.local.wire.describe import put_describe
from oraclerag.local.wire.lobs import LobTable
from oraclerag.local.wire.login import accept_connection, user_name
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.packets import Channel, Closed
from oraclerag.local.wire.primitives import Reader
from tests.unit.wire.test_primitives import cut


def test_success() -> None:
    out = bytearray()
    messages.put_error(out, 24, in_transaction=True, cursor=5, rows=3)
    assert (
        out.hex()
        == "04" + "0103" + "00" + "0103" + "00" + "0000" + "0105" + "00" + "00" * 17 + "000000" + "00" + "0103" + "0000"
    )


def test_an_error_with_its_place() -> None:
    out = bytearray()
    messages.put_error(out, 13, in_transaction=False, number=942, text="ORA-00942: no", position=14)
    text = b"ORA-00942: no\n"
    head = "04" + "0101" + "00" + "00" + "0203ae" + "0000" + "00" + "010e" + "00" * 17 + "000000"
    assert out.hex() == head + "0203ae" + "00" + f"{len(text):02x}" + text.hex()


def test_batch_errors() -> None:
    out = bytearray()
    error = OraError(1, "dup")
    batch = [RowError(3, error), RowError(300, error)]
    messages.put_error(out, 24, in_transaction=False, number=24381, text="t", batch=batch)
    text = b"ORA-00001: dup"
    entry = "010e" + "0e" + text.hex() + "0000"
    arrays = "0102" + "00" + "0101" * 2 + "0102" + "00" + "0103" + "02012c" + "0102" + "00" + entry * 2
    assert arrays in out.hex()


@pytest.mark.parametrize(("open_transaction", "status"), [(False, "01"), (True, "03")])
def test_status(open_transaction: bool, status: str) -> None:
    out = bytearray()
    messages.put_status(out, open_transaction)
    assert out.hex() == "0901" + status + "00"


def test_describe() -> None:
    out = bytearray()
    columns = [
        Column("ID", OraType.NUMBER, precision=0, scale=-127),
        Column("V", OraType.VECTOR, nullable=False, vector_dimensions=384, vector_format=VectorFormat.FLOAT32),
    ]
    put_describe(out, columns, Dialect(field_version=24))
    number = (
        "0200" + "0081" + "0116" + "00000000" + "00" + "00" + "00" + "00" + "01" + "00" + "01020249 44".replace(" ", "")
    )
    number += "0000" + "00" + "00" + "0000" + "00" + "00" + "0000"
    vector = "7f00" + "0000" + "022008" + "00000000" + "00" + "00" + "00" + "00" + "00" + "00" + "010101" + "56"
    vector += "0000" + "0101" + "00" + "0000" + "00" + "020180" + "02" + "00"
    assert out.hex() == "1000" + "02201e" + "0102" + "00" + number + vector + "00" * 6


def test_describe_for_an_older_client_has_fewer_fields() -> None:
    columns = [Column("S", OraType.VARCHAR, size=0)]
    sizes = []
    for version in (24, 20, 17, 13, 7):
        out = bytearray()
        put_describe(out, columns, Dialect(field_version=version))
        sizes.append(len(out))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 5


def connect_packet(descriptor: str, version: int = 319) -> bytes:
    body = struct.pack(">10H", version, 300, 1, 8192, 8192, 0, 0, 1, len(descriptor), 74) + bytes(46)
    body += descriptor.encode()
    return (len(body) + 8).to_bytes(2, "big") + b"\0\0\1\0\0\0" + body


def connect(packet: bytes, features: Features) -> tuple[Dialect | None, bytes]:
    server, client = socket.socketpair()
    with client:
        client.sendall(packet)
        channel = Channel(server, features.sdu)
        try:
            dialect = accept_connection(channel, features, "FREEPDB1")
        except Closed:
            dialect = None
        channel.close()
        answer = client.recv(1000)
    return dialect, answer


def test_accept() -> None:
    dialect, answer = connect(connect_packet("(CONNECT_DATA=(SERVICE_NAME=freepdb1))"), Features())
    assert dialect == Dialect(end_of_response=True)
    assert answer.hex() == (
        "002d000002000000013f00012000200000010000002d0c0c" + "00" * 8 + "00002000" + "00002000" + "00" + "12000000"
    )


@pytest.mark.parametrize(
    ("features", "version", "flags"),
    [
        (Features(), 318, "00000000"),
        (Features(fast_authentication=False), 319, "02000000"),
        (Features(end_of_response=False), 400, "10000000"),
    ],
)
def test_extras_are_agreed(features: Features, version: int, flags: str) -> None:
    dialect, answer = connect(connect_packet("(SERVICE_NAME=FREEPDB1)", version), features)
    assert dialect is not None
    assert answer[-4:].hex() == flags
    assert dialect.end_of_response == flags.startswith("02")


@pytest.mark.parametrize(
    ("descriptor", "version", "reason"),
    [
        ("(CONNECT_DATA=(SERVICE_NAME=OTHER))", 319, "12514"),
        ("(CONNECT_DATA=(SID=OTHER))", 319, "12505"),
        ("(CONNECT_DATA=())", 319, "12504"),
        ("(CONNECT_DATA=(SERVICE_NAME=FREEPDB1))", 314, "12618"),
    ],
)
def test_refusals(descriptor: str, version: int, reason: str) -> None:
    dialect, answer = connect(connect_packet(descriptor, version), Features())
    assert dialect is None
    assert answer[4] == 4
    assert f"(ERR={reason})".encode() in answer


def test_user_names() -> None:
    assert [user_name(name) for name in ("rag", '"rag"', '"', "")] == ["RAG", "rag", '"', ""]


def test_data_types_are_echoed() -> None:
    compile_time, runtime = bytearray(50), bytearray(7)
    compile_time[7], runtime[1] = 13, 1
    request = bytearray(5)
    primitives.put_bytes(request, compile_time)
    primitives.put_bytes(request, runtime)
    types = bytes.fromhex("00010001" + "00010000" + "0002000a" + "00080000" + "00fc0000")
    request += bytes(11) + types + b"\0\0"
    dialect = Dialect()
    capabilities.read_data_types(cut(bytes(request), 7), dialect)
    assert dialect.field_version == 13
    out = bytearray()
    capabilities.put_data_types(out, dialect)
    assert out.hex() == "02" + "80000000" + "3c3c3c" + "80000000" + types.hex() + "0000"


def bind_info(kind: OraType, size: int = 100, **more: Any) -> BindInfo:
    return BindInfo(kind, size, 0, is_array=more.get("is_array", False), is_national=more.get("is_national", False))


def test_null_in_json_is_a_value_and_no_value_is_none() -> None:
    images = [encode_oson(None), b"", encode_oson({"a": None}), encode_oson(None)]
    columns = convert_rows([bind_info(OraType.JSON)], [images], (), 4, LobTable())
    assert columns == [[JSON_NULL, None, {"a": None}, JSON_NULL]]


def test_bind_declarations() -> None:
    data = bytes.fromhex("01" + "40" + "0000" + "0164" + "0105" + "00" + "00" + "00" + "020369" + "01" + "00" + "00")
    (info,) = read_bind_infos(cut(data, 3), 1, 24)
    assert info == BindInfo(OraType.VARCHAR, 100, 5, is_array=True, is_national=False)
    assert info.bind_type().elements == 5


ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-(10**20), 10**20),
        st.none() | st.text(min_size=1, max_size=300),
        st.none() | st.datetimes(min_value=dt.datetime(1, 1, 1)),  # noqa: DTZ001
        st.none() | st.booleans(),
        st.none() | st.binary(min_size=1, max_size=400),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40)
@given(ROWS, st.integers(1, 300))
def test_bind_rows_wherever_packets_cut_them(rows: list[tuple[Any, ...]], size: int) -> None:
    kinds = [OraType.NUMBER, OraType.VARCHAR, OraType.TIMESTAMP, OraType.BOOLEAN, OraType.RAW]
    out = bytearray()
    for row in rows:
        out.append(7)
        for kind, value in zip(kinds, row, strict=True):
            if value is not None:
                values.SCALAR_WRITERS[kind](out, value)
            elif kind is OraType.BOOLEAN:
                out += b"\xfd\1"
            else:
                out.append(0)
    infos = [bind_info(kind) for kind in kinds]
    raw = read_bind_rows(cut(bytes(out), size), infos, (), len(rows), longest=32767)
    columns = convert_rows(infos, raw, (), len(rows), LobTable())
    assert list(zip(*columns, strict=True)) == rows


def test_long_values_are_last_in_sql_and_in_place_in_plsql() -> None:
    infos = [bind_info(OraType.LONG, 40000), bind_info(OraType.VECTOR, 1 << 20), bind_info(OraType.NUMBER, 22)]
    image = b"\1\x28" + b"\1l" + b"\3img"
    sql = b"\7" + image + b"\2\xc1\2" + b"\4long"
    assert read_bind_rows(cut(sql, 4), infos, (), 1, longest=32767) == [[b"long"], [b"img"], [b"\xc1\2"]]
    block = b"\7" + b"\4long" + image + b"\2\xc1\2"
    assert read_bind_rows(cut(block, 4), infos, (), 1, longest=None) == [[b"long"], [b"img"], [b"\xc1\2"]]


def test_absent_binds_are_none() -> None:
    infos = [bind_info(OraType.NUMBER), bind_info(OraType.VARCHAR)]
    raw = read_bind_rows(Reader(b"\7\2\xc1\2\7\2\xc1\3", bytes), infos, {1}, 2, longest=None)
    assert convert_rows(infos, raw, {1}, 2, LobTable()) == [[1, 2], [None, None]]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (OraType.VARCHAR, b"\xff\xfe"),
        (OraType.DATE, b"\x78\x7e\x0d\x01\1\1\1"),
        (OraType.DATE, b"\x78"),
        (OraType.BINARY_DOUBLE, b"\1\2"),
        (OraType.INTERVAL_DS, b"\1\2"),
    ],
)
def test_bytes_that_are_no_value_are_ora_1460_and_not_shown(kind: OraType, data: bytes) -> None:
    with pytest.raises(OraError, match=r"ORA-01460: .*bind 2") as caught:
        convert_rows([bind_info(OraType.NUMBER), bind_info(kind)], [[b"\x80"], [data]], (), 1, LobTable())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("kind", [114, 182, 208])
def test_types_that_cannot_be_bound_are_named(kind: int) -> None:
    with pytest.raises(OraError, match="ORA-03001"):
        BindInfo(kind, 1, 0, is_array=False, is_national=False).bind_type()


def test_a_cursor_as_a_bind_is_new_none_or_known() -> None:
    infos = [bind_info(OraType.CURSOR), bind_info(OraType.RAW)]
    for cursor in ("0100", "00", "01010105"):
        raw = read_bind_rows(cut(bytes.fromhex("07" + cursor + "02" + "beef"), 3), infos, (), 1, longest=None)
        assert raw == [[b""], [b"\xbe\xef"]]


def test_an_array_of_clob_is_read_from_its_image() -> None:
    image = bytes.fromhex("88 01 fe 00000014 01 01 00 03 02 6131 ff fe 00000002 6232".replace(" ", ""))
    assert object_types.elements(image, bytes.decode) == ["a1", None, "b2"]
    assert object_types.elements(bytes.fromhex("8c01fe0000000a0000"), bytes.decode) == []


def test_a_returned_value_of_another_type_is_ora_932() -> None:
    for kind, value in ((OraType.VARCHAR, 5), (OraType.CLOB, b"x"), (OraType.DATE, "x"), (OraType.VECTOR, [1.0])):
        with pytest.raises(OraError, match=f"ORA-00932: .*{kind.name}"):
            results.put_value(bytearray(), bind_info(kind), value, LobTable())


def test_returned_values() -> None:
    out = bytearray()
    infos = [bind_info(OraType.NUMBER), bind_info(OraType.VARCHAR, is_national=True)]
    results.put_returned(out, infos, [[[1, None], ["é", "b"]], [[], []]], LobTable())
    assert out.hex() == "07" + "0102" + "02c10200" + "0000" + "0102" + "0200e900" + "02006200" + "07" + "00" + "00"


def test_out_values_and_directions() -> None:
    out = bytearray()
    directions = (Direction.OUT, Direction.IN, Direction.IN_OUT)
    results.put_directions(out, directions, 1)
    assert out.hex() == "0b05" + "0103" + "00" + "0101" + "000000" + "102030"
    out = bytearray()
    infos = [bind_info(OraType.BOOLEAN), bind_info(OraType.NUMBER), bind_info(OraType.NUMBER, is_array=True)]
    results.put_outs(out, infos, BlockResult(directions, [[None, [1, None]]]), LobTable())
    assert out.hex() == "07" + "00" + "8101" + "0102" + "02c10200" + "0000"
    with pytest.raises(OraError, match="ORA-00604"):
        results.put_outs(bytearray(), infos, BlockResult(directions, [[None]]), LobTable())
