"""Reading protocol buffers without their schema: a message is a list of fields, each a number and a value.

Unknown fields are skipped by whoever reads, so parts of any size cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["fields", "message", "text"]


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Give number and value of every field: an integer, or the bytes of a text or message. ValueError if it is none."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, position = _varint(data, position)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError("an unknown wire type")
        if tag >> 3 == 0 or position + length > len(data):
            raise ValueError("a field that is longer than the file")
        yield tag >> 3, data[position : position + length]
        position += length


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def message(value: int | memoryview) -> memoryview:
    """Give the value of a field as a message. Raises ValueError for a number."""
    if isinstance(value, int):
        raise ValueError("a number where a message is expected")  # noqa: TRY004 (the file is wrong, not the caller)
    return value


def text(value: int | memoryview) -> str:
    """Give the value of a field as a text. Raises ValueError for what is none."""
    return str(message(value), "utf-8")
