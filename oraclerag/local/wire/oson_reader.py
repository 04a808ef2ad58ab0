"""Reads OSON, Oracle's binary JSON, in every flavour that a server or client may write."""

from __future__ import annotations

import struct
from typing import Any

from oraclerag.local.interface import OraError
from oraclerag.local.wire import oson_nodes as nodes
from oraclerag.local.wire import values
from oraclerag.local.wire.numbers import decode_number
from oraclerag.local.wire.vector import decode_vector

_READINGS = 8  # of a byte, on average; lists of field names are read once for each object that shares them
_LENGTH_WIDTHS = {
    nodes.STRING_8: 1,
    nodes.STRING_16: 2,
    nodes.STRING_32: 4,
    nodes.BINARY_16: 2,
    nodes.BINARY_32: 4,
    nodes.ID: 1,
}
_FIXED = {
    nodes.DATE: (7, values.decode_date),
    nodes.TIMESTAMP_7: (7, values.decode_date),
    nodes.TIMESTAMP: (11, values.decode_date),
    nodes.TIMESTAMP_TZ: (13, values.decode_timestamp_tz),
    nodes.FLOAT: (4, values.decode_binary_float),
    nodes.DOUBLE: (8, values.decode_binary_double),
    nodes.INTERVAL_DS: (11, values.decode_interval_ds),
}


def decode_oson(image: bytes) -> Any:
    """Decode an image into Python values; numbers are int or Decimal. ORA-40441 when it is not OSON."""
    try:
        return _Tree(image).root()
    except (IndexError, KeyError, ValueError, OverflowError, RecursionError, struct.error):
        raise OraError(40441, "JSON syntax error: malformed binary JSON") from None


class _Tree:
    """A parsed header, from which nodes are decoded by position."""

    def __init__(self, image: bytes) -> None:
        if image[:3] != nodes.MAGIC or image[3] not in (nodes.VERSION_SHORT_NAMES, nodes.VERSION_LONG_NAMES):
            raise ValueError
        self.image = image
        # Offsets may point anywhere: what is read again and again, as in a container that holds itself, must end.
        self.left = _READINGS * len(image)
        self.position = 4
        self.flags = self._uint(2)
        self.names: list[str] = []
        self.width = 4 if self.flags & nodes.WIDE_FIELD_COUNT else 2 if self.flags & nodes.MEDIUM_FIELD_COUNT else 1
        tree_width = 4 if self.flags & nodes.WIDE_TREE else 2
        if self.flags & nodes.SCALAR:
            self.position += tree_width
        else:
            self._read_names(tree_width)
        self.start = self.position

    def root(self) -> Any:
        return self._node(self.start)

    def _uint(self, width: int) -> int:
        place = self.position
        self.position = place + width
        self.left -= width
        if self.position > len(self.image) or self.left < 0:
            raise IndexError
        return int.from_bytes(self.image[place : self.position], "big")

    def _raw(self, size: int) -> bytes:
        place = self.position
        self.position = place + size
        self.left -= size
        if self.position > len(self.image) or self.left < 0:
            raise IndexError
        return self.image[place : self.position]

    def _read_names(self, tree_width: int) -> None:
        count = self._uint(self.width)
        offset_width = 4 if self.flags & nodes.WIDE_NAMES_SEGMENT else 2
        size = self._uint(offset_width)
        long_count = long_size = long_offset_width = 0
        if self.image[3] == nodes.VERSION_LONG_NAMES:
            long_offset_width = 2 if self._uint(2) & nodes.LONG_NAMES_SEGMENT_SHORT else 4
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
            self.left -= length
            if self.left < 0:
                raise IndexError
            self.names.append(segment[begin : begin + length].decode())

    def _node(self, place: int) -> Any:
        self.position = place
        node = self._uint(1)
        if node & nodes.CONTAINER:
            return self._container(node, place - self.start)
        if node in (nodes.NULL, nodes.TRUE, nodes.FALSE):
            return {nodes.NULL: None, nodes.TRUE: True, nodes.FALSE: False}[node]
        if node in _FIXED:
            size, decode = _FIXED[node]
            return decode(self._raw(size))
        if node in _LENGTH_WIDTHS:
            data = self._raw(self._uint(_LENGTH_WIDTHS[node]))
            return data.decode() if node in (nodes.STRING_8, nodes.STRING_16, nodes.STRING_32) else data
        if node == nodes.NUMBER:
            return decode_number(self._raw(self._uint(1)))
        if node == nodes.EXTENDED and self._uint(1) == nodes.EXTENDED_VECTOR:
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
        is_object = not node & nodes.ARRAY
        offset_width = 4 if node & nodes.WIDE_OFFSETS else 2
        if node & nodes.COUNT_BITS == nodes.SHARED_FIELDS:
            other = self.start + self._uint(offset_width)
            offsets_at = self.position
            self.position = other
            count = self._uint(nodes.COUNT_WIDTHS[self._uint(1) & nodes.COUNT_BITS])
            fields_at = self.position
        else:
            count = self._uint(nodes.COUNT_WIDTHS[node & nodes.COUNT_BITS])
            fields_at = self.position
            offsets_at = fields_at + count * self.width if is_object else fields_at
        self.position = offsets_at
        base = self.start + (own_offset if self.flags & nodes.RELATIVE_OFFSETS else 0)
        children = [base + self._uint(offset_width) for _ in range(count)]
        if not is_object:
            return [self._node(child) for child in children]
        self.position = fields_at
        fields = [self._uint(self.width) for _ in range(count)]
        return {self.names[field - 1]: self._node(child) for field, child in zip(fields, children, strict=True)}
