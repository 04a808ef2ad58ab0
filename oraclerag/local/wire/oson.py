"""Writes OSON, Oracle's binary JSON: a dictionary of field names and a tree whose containers hold offsets.

One flavour is written: 32-bit offsets from the start of the tree, no sharing of field lists, numbers as Oracle NUMBER.
"""

from __future__ import annotations

import datetime as dt
import decimal
from array import array
from collections.abc import Iterable
from typing import Any

from oraclerag.local.interface import OraError
from oraclerag.local.wire import oson_nodes as nodes
from oraclerag.local.wire import values
from oraclerag.local.wire.numbers import encode_number
from oraclerag.local.wire.vector import encode_vector

_Name = tuple[int, int, bytes, str]  # low byte of the hash, length, UTF-8, name: in this order they sort


def encode_oson(value: Any) -> bytes:
    """Encode a JSON value of None, bool, numbers, str, bytes, dates, timedelta, array, list, tuple and dict.

    ORA-40441 names a Python type JSON has no place for; ORA-40708 a field name over 65535 bytes.
    """
    if not isinstance(value, list | tuple | dict):
        node = bytearray()
        _put_node(node, value, {}, 1)
        flags = nodes.INLINE_LEAF | nodes.LENGTH_IN_NODE | nodes.SCALAR | nodes.WIDE_TREE
        return b"".join((nodes.MAGIC, bytes((1,)), flags.to_bytes(2, "big"), len(node).to_bytes(4, "big"), node))
    names = dict.fromkeys(_field_names(value))
    short: list[_Name] = []
    long: list[_Name] = []
    for name in names:
        data = name.encode()
        if len(data) > nodes.MAX_LONG_NAME:
            raise OraError(40708, "JSON field name too long: at most 65535 bytes are allowed")
        (short if len(data) <= nodes.MAX_SHORT_NAME else long).append((_hash(data) & 0xFF, len(data), data, name))
    short.sort()
    long.sort()
    identifiers = {entry[3]: number for number, entry in enumerate([*short, *long], 1)}
    width = 1 if len(names) < 0x100 else 2 if len(names) < 0x10000 else 4
    tree = bytearray()
    _put_node(tree, value, identifiers, width)
    return _assemble(short, long, width, bytes(tree))


def _assemble(short: list[_Name], long: list[_Name], width: int, tree: bytes) -> bytes:
    short_segment, short_offsets = _segment(short, 1)
    long_segment, long_offsets = _segment(long, 2)
    offset_width = 2 if len(short_segment) < 0x10000 else 4
    flags = nodes.INLINE_LEAF | nodes.LENGTH_IN_NODE | nodes.HASH_BYTE | nodes.TINY_NODES | nodes.WIDE_TREE
    flags |= {1: 0, 2: nodes.MEDIUM_FIELD_COUNT, 4: nodes.WIDE_FIELD_COUNT}[width]
    if offset_width == 4:
        flags |= nodes.WIDE_NAMES_SEGMENT
    out = bytearray(nodes.MAGIC)
    out.append(nodes.VERSION_LONG_NAMES if long else nodes.VERSION_SHORT_NAMES)
    out += flags.to_bytes(2, "big")
    out += len(short).to_bytes(width, "big")
    out += len(short_segment).to_bytes(offset_width, "big")
    if long:
        out += b"\0\0"  # 32-bit offsets into the segment of long names
        out += len(long).to_bytes(4, "big")
        out += len(long_segment).to_bytes(4, "big")
    out += len(tree).to_bytes(4, "big")
    out += b"\0\0"  # no tiny nodes
    out += bytes(entry[0] for entry in short)
    for offset in short_offsets:
        out += offset.to_bytes(offset_width, "big")
    out += short_segment
    for entry in long:
        out += (_hash(entry[2]) & 0xFFFF).to_bytes(2, "big")
    for offset in long_offsets:
        out += offset.to_bytes(4, "big")
    out += long_segment
    return bytes(out) + tree


def _segment(names: list[_Name], length_width: int) -> tuple[bytes, list[int]]:
    segment = bytearray()
    offsets = []
    for _, size, data, _ in names:
        offsets.append(len(segment))
        segment += size.to_bytes(length_width, "big")
        segment += data
    return bytes(segment), offsets


def _field_names(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield name
            yield from _field_names(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _field_names(child)


def _hash(name: bytes) -> int:
    """FNV-1a over the bytes; its low byte sorts the names."""
    result = 0x811C9DC5
    for byte in name:
        result = ((result ^ byte) * 16777619) & 0xFFFFFFFF
    return result


def _put_node(tree: bytearray, value: Any, identifiers: dict[str, int], width: int) -> None:
    if isinstance(value, dict):
        _put_container(tree, nodes.OBJECT_NODE, len(value))
        for name in value:
            tree += identifiers[name].to_bytes(width, "big")
        _put_children(tree, list(value.values()), identifiers, width)
    elif isinstance(value, list | tuple):
        _put_container(tree, nodes.ARRAY_NODE, len(value))
        _put_children(tree, value, identifiers, width)
    else:
        _put_scalar(tree, value)


def _put_container(tree: bytearray, node: int, count: int) -> None:
    if count < 0x100:
        bits, size = 0x00, 1
    elif count < 0x10000:
        bits, size = 0x08, 2
    else:
        bits, size = 0x10, 4
    tree.append(node | nodes.WIDE_OFFSETS | bits)
    tree += count.to_bytes(size, "big")


def _put_children(tree: bytearray, children: Any, identifiers: dict[str, int], width: int) -> None:
    place = len(tree)
    tree += bytes(4 * len(children))
    for child in children:
        tree[place : place + 4] = len(tree).to_bytes(4, "big")
        place += 4
        _put_node(tree, child, identifiers, width)


def _put_sized(tree: bytearray, nodes: tuple[tuple[int, int], ...], data: bytes) -> None:
    """Append a node with the narrowest of the length widths that fits."""
    for node, width in nodes:
        if len(data) < 1 << (8 * width):
            tree.append(node)
            tree += len(data).to_bytes(width, "big")
            tree += data
            return
    raise OraError(40478, "output value too large")


def _put_scalar(tree: bytearray, value: Any) -> None:
    if value is None:
        tree.append(nodes.NULL)
    elif isinstance(value, bool):
        tree.append(nodes.TRUE if value else nodes.FALSE)
    elif isinstance(value, str):
        _put_sized(tree, ((nodes.STRING_8, 1), (nodes.STRING_16, 2), (nodes.STRING_32, 4)), value.encode())
    elif isinstance(value, int | decimal.Decimal):
        _put_sized(tree, ((nodes.NUMBER, 1),), encode_number(value))
    elif isinstance(value, float):
        tree.append(nodes.DOUBLE)
        tree += values.encode_binary_double(value)
    elif isinstance(value, bytes):
        _put_sized(tree, ((nodes.BINARY_16, 2), (nodes.BINARY_32, 4)), value)
    elif isinstance(value, dt.datetime):
        _put_moment(tree, value)
    elif isinstance(value, dt.date):
        tree.append(nodes.DATE)
        tree += values.encode_date(value)
    elif isinstance(value, dt.timedelta):
        tree.append(nodes.INTERVAL_DS)
        tree += values.encode_interval_ds(value)
    elif isinstance(value, array):
        image = encode_vector(value)
        tree += bytes((nodes.EXTENDED, nodes.EXTENDED_VECTOR))
        tree += len(image).to_bytes(4, "big")
        tree += image
    else:
        raise OraError(40441, f"JSON syntax error: a {type(value).__name__} has no JSON form")


def _put_moment(tree: bytearray, value: dt.datetime) -> None:
    if value.tzinfo is not None:
        tree.append(nodes.TIMESTAMP_TZ)
        tree += values.encode_timestamp_tz(value)
    else:
        data = values.encode_timestamp(value)
        tree.append(nodes.TIMESTAMP if len(data) > 7 else nodes.TIMESTAMP_7)
        tree += data
