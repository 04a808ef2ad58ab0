"""OSON, Oracle's binary JSON: a dictionary of field names and a tree whose containers hold offsets.

Reading understands every flavour a server or client may write; writing uses one: 32-bit offsets from the start of the
tree, no sharing of field lists, numbers as Oracle NUMBER.
"""

from __future__ import annotations

import datetime as dt
import decimal
from array import array
from collections.abc import Iterable
from typing import Any

from oraclerag.local.interface import OraError
from oraclerag.local.wire import values
from oraclerag.local.wire.numbers import decode_number, encode_number
from oraclerag.local.wire.vector import decode_vector, encode_vector

_MAGIC = b"\xffJZ"
_VERSION_SHORT_NAMES = 1  # every field name has at most 255 bytes
_VERSION_LONG_NAMES = 3
_MAX_SHORT_NAME = 255
_MAX_LONG_NAME = 65535

_RELATIVE_OFFSETS = 0x0001
_INLINE_LEAF = 0x0002
_LENGTH_IN_NODE = 0x0004
_WIDE_FIELD_COUNT = 0x0008
_SCALAR = 0x0010
_HASH_BYTE = 0x0100
_MEDIUM_FIELD_COUNT = 0x0400
_WIDE_NAMES_SEGMENT = 0x0800
_WIDE_TREE = 0x1000
_TINY_NODES = 0x2000
_LONG_NAMES_SEGMENT_SHORT = 0x0100  # in the second flags, of version 3

_CONTAINER = 0x80
_ARRAY = 0x40
_WIDE_OFFSETS = 0x20
_COUNT_BITS = 0x18
_SHARED_FIELDS = 0x18
_OBJECT_NODE = 0x84
_ARRAY_NODE = 0xC0
_COUNT_WIDTHS = {0x00: 1, 0x08: 2, 0x10: 4}

_NULL, _TRUE, _FALSE = 0x30, 0x31, 0x32
_STRING_8, _STRING_16, _STRING_32 = 0x33, 0x37, 0x38
_NUMBER = 0x34
_DOUBLE, _FLOAT = 0x36, 0x7F
_TIMESTAMP, _TIMESTAMP_7, _TIMESTAMP_TZ, _DATE = 0x39, 0x7D, 0x7C, 0x3C
_BINARY_16, _BINARY_32, _ID = 0x3A, 0x3B, 0x7E
_INTERVAL_DS = 0x3E
_EXTENDED, _EXTENDED_VECTOR = 0x7B, 0x01

_LENGTH_WIDTHS = {_STRING_8: 1, _STRING_16: 2, _STRING_32: 4, _BINARY_16: 2, _BINARY_32: 4, _ID: 1}
_FIXED = {
    _DATE: (7, values.decode_date),
    _TIMESTAMP_7: (7, values.decode_date),
    _TIMESTAMP: (11, values.decode_date),
    _TIMESTAMP_TZ: (13, values.decode_timestamp_tz),
    _FLOAT: (4, values.decode_binary_float),
    _DOUBLE: (8, values.decode_binary_double),
    _INTERVAL_DS: (11, values.decode_interval_ds),
}


_Name = tuple[int, int, bytes, str]  # low byte of the hash, length, UTF-8, name: in this order they sort


def encode_oson(value: Any) -> bytes:
    """Encode a JSON value of None, bool, numbers, str, bytes, dates, timedelta, array, list, tuple and dict.

    ORA-40441 names a Python type JSON has no place for; ORA-40708 a field name over 65535 bytes.
    """
    if not isinstance(value, list | tuple | dict):
        node = bytearray()
        _put_node(node, value, {}, 1)
        flags = _INLINE_LEAF | _LENGTH_IN_NODE | _SCALAR | _WIDE_TREE
        return b"".join((_MAGIC, bytes((1,)), flags.to_bytes(2, "big"), len(node).to_bytes(4, "big"), node))
    names = dict.fromkeys(_field_names(value))
    short: list[_Name] = []
    long: list[_Name] = []
    for name in names:
        data = name.encode()
        if len(data) > _MAX_LONG_NAME:
            raise OraError(40708, "JSON field name too long: at most 65535 bytes are allowed")
        (short if len(data) <= _MAX_SHORT_NAME else long).append((_hash(data) & 0xFF, len(data), data, name))
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
    flags = _INLINE_LEAF | _LENGTH_IN_NODE | _HASH_BYTE | _TINY_NODES | _WIDE_TREE
    flags |= {1: 0, 2: _MEDIUM_FIELD_COUNT, 4: _WIDE_FIELD_COUNT}[width]
    if offset_width == 4:
        flags |= _WIDE_NAMES_SEGMENT
    out = bytearray(_MAGIC)
    out.append(_VERSION_LONG_NAMES if long else _VERSION_SHORT_NAMES)
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
        _put_container(tree, _OBJECT_NODE, len(value))
        for name in value:
            tree += identifiers[name].to_bytes(width, "big")
        _put_children(tree, list(value.values()), identifiers, width)
    elif isinstance(value, list | tuple):
        _put_container(tree, _ARRAY_NODE, len(value))
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
    tree.append(node | _WIDE_OFFSETS | bits)
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
        tree.append(_NULL)
    elif isinstance(value, bool):
        tree.append(_TRUE if value else _FALSE)
    elif isinstance(value, str):
        _put_sized(tree, ((_STRING_8, 1), (_STRING_16, 2), (_STRING_32, 4)), value.encode())
    elif isinstance(value, int | decimal.Decimal):
        _put_sized(tree, ((_NUMBER, 1),), encode_number(value))
    elif isinstance(value, float):
        tree.append(_DOUBLE)
        tree += values.encode_binary_double(value)
    elif isinstance(value, bytes):
        _put_sized(tree, ((_BINARY_16, 2), (_BINARY_32, 4)), value)
    elif isinstance(value, dt.datetime):
        _put_moment(tree, value)
    elif isinstance(value, dt.date):
        tree.append(_DATE)
        tree += values.encode_date(value)
    elif isinstance(value, dt.timedelta):
        tree.append(_INTERVAL_DS)
        tree += values.encode_interval_ds(value)
    elif isinstance(value, array):
        image = encode_vector(value)
        tree += bytes((_EXTENDED, _EXTENDED_VECTOR))
        tree += len(image).to_bytes(4, "big")
        tree += image
    else:
        raise OraError(40441, f"JSON syntax error: a {type(value).__name__} has no JSON form")


def _put_moment(tree: bytearray, value: dt.datetime) -> None:
    if value.tzinfo is not None:
        tree.append(_TIMESTAMP_TZ)
        tree += values.encode_timestamp_tz(value)
    else:
        data = values.encode_timestamp(value)
        tree.append(_TIMESTAMP if len(data) > 7 else _TIMESTAMP_7)
        tree += data


def decode_oson(image: bytes) -> Any:
    """Decode an image into Python values; numbers are int or Decimal. ORA-40441 when it is not OSON."""
    try:
        return _Tree(image).root()
    except (IndexError, KeyError, ValueError, RecursionError):
        raise OraError(40441, "JSON syntax error: malformed binary JSON") from None


class _Tree:
    """A parsed header, from which nodes are decoded by position."""

    def __init__(self, image: bytes) -> None:
        if image[:3] != _MAGIC or image[3] not in (_VERSION_SHORT_NAMES, _VERSION_LONG_NAMES):
            raise ValueError
        self.image = image
        self.position = 4
        self.flags = self._uint(2)
        self.names: list[str] = []
        self.width = 4 if self.flags & _WIDE_FIELD_COUNT else 2 if self.flags & _MEDIUM_FIELD_COUNT else 1
        tree_width = 4 if self.flags & _WIDE_TREE else 2
        if self.flags & _SCALAR:
            self.position += tree_width
        else:
            self._read_names(tree_width)
        self.start = self.position

    def root(self) -> Any:
        return self._node(self.start)

    def _uint(self, width: int) -> int:
        place = self.position
        self.position = place + width
        if self.position > len(self.image):
            raise IndexError
        return int.from_bytes(self.image[place : self.position], "big")

    def _raw(self, size: int) -> bytes:
        place = self.position
        self.position = place + size
        if self.position > len(self.image):
            raise IndexError
        return self.image[place : self.position]

    def _read_names(self, tree_width: int) -> None:
        count = self._uint(self.width)
        offset_width = 4 if self.flags & _WIDE_NAMES_SEGMENT else 2
        size = self._uint(offset_width)
        long_count = long_size = long_offset_width = 0
        if self.image[3] == _VERSION_LONG_NAMES:
            long_offset_width = 2 if self._uint(2) & _LONG_NAMES_SEGMENT_SHORT else 4
            long_count = self._uint(4)
            long_size = self._uint(4)
        self._uint(tree_width)
        self._uint(2)
        self._read_segment(count, 1, offset_width, size)
        self._read_segment(long_count, 2, long_offset_width, long_size)

    def _read_segment(self, count: int, length_width: int, offset_width: int, size: int) -> None:
        """Read names: their hashes (as wide as the lengths), offsets, then lengths and texts."""
        self._raw(count * length_width)
        offsets = [self._uint(offset_width) for _ in range(count)]
        segment = self._raw(size)
        for offset in offsets:
            begin = offset + length_width
            length = int.from_bytes(segment[offset:begin], "big")
            self.names.append(segment[begin : begin + length].decode())

    def _node(self, place: int) -> Any:
        self.position = place
        node = self._uint(1)
        if node & _CONTAINER:
            return self._container(node, place - self.start)
        if node in (_NULL, _TRUE, _FALSE):
            return {_NULL: None, _TRUE: True, _FALSE: False}[node]
        if node in _FIXED:
            size, decode = _FIXED[node]
            return decode(self._raw(size))
        if node in _LENGTH_WIDTHS:
            data = self._raw(self._uint(_LENGTH_WIDTHS[node]))
            return data.decode() if node in (_STRING_8, _STRING_16, _STRING_32) else data
        if node == _NUMBER:
            return decode_number(self._raw(self._uint(1)))
        if node == _EXTENDED and self._uint(1) == _EXTENDED_VECTOR:
            return decode_vector(self._raw(self._uint(4)))
        return self._short_node(node)

    def _short_node(self, node: int) -> Any:
        """Decode a scalar whose length is part of the node byte."""
        if node & 0xE0 == 0x00:
            return self._raw(node).decode()
        if node & 0xF0 in (0x20, 0x60):
            return decode_number(self._raw((node & 0x0F) + 1))
        if node & 0xF0 in (0x40, 0x50):
            return decode_number(self._raw(node & 0x0F))
        raise ValueError

    def _container(self, node: int, own_offset: int) -> Any:
        is_object = not node & _ARRAY
        offset_width = 4 if node & _WIDE_OFFSETS else 2
        if node & _COUNT_BITS == _SHARED_FIELDS:
            other = self.start + self._uint(offset_width)
            offsets_at = self.position
            self.position = other
            count = self._uint(_COUNT_WIDTHS[self._uint(1) & _COUNT_BITS])
            fields_at = self.position
        else:
            count = self._uint(_COUNT_WIDTHS[node & _COUNT_BITS])
            fields_at = self.position
            offsets_at = fields_at + count * self.width if is_object else fields_at
        self.position = offsets_at
        base = self.start + (own_offset if self.flags & _RELATIVE_OFFSETS else 0)
        children = [base + self._uint(offset_width) for _ in range(count)]
        if not is_object:
            return [self._node(child) for child in children]
        self.position = fields_at
        fields = [self._uint(self.width) for _ in range(count)]
        return {self.names[field - 1]: self._node(child) for field, child in zip(fields, children, strict=True)}
