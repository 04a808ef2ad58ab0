"""The one object type that there is, SYS.VECTOR_ARRAY_T, a table of CLOB: its shape, and how values of it are bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oraclerag.local.interface import OraError
from oraclerag.local.wire.primitives import Reader

OID = bytes.fromhex("0ae1c0de0000000000000000000000a1")  # Oracle's is another one; clients ask for it first
_CLOB, _COLLECTION, _NESTED_TABLE = 29, 28, 2
_SHAPE_HEAD = 28
SHAPE = (
    (_SHAPE_HEAD + 1).to_bytes(4, "big") + bytes(4) + (1).to_bytes(2, "big") + bytes(8)
    + bytes([_COLLECTION]) + _SHAPE_HEAD.to_bytes(4, "big") + bytes(4) + bytes([_NESTED_TABLE, _CLOB])
)  # fmt: skip
_NO_PREFIX = 0x04
_LONG, _NULL = 254, 255


def read_object(reader: Reader) -> bytes:
    """Read a bound object: type, identity, snapshot, version, size and flags, then its image."""
    kind = reader.counted() or b""
    reader.counted()
    reader.numbers(2)
    size = reader.number()
    reader.number()
    if not size:
        return b""
    if OID not in kind:
        raise OraError(3001, "unimplemented feature: binds of an object type other than SYS.VECTOR_ARRAY_T")
    return reader.item() or b""


def elements(image: bytes, text_of: Callable[[bytes], Any]) -> list[Any]:
    """Give the elements of an array of CLOB; ``text_of`` gives what a locator stands for."""
    image_flags = image[0]
    _, at = _size(image, 2)
    if not image_flags & _NO_PREFIX:
        prefix, at = _size(image, at)
        at += prefix
    count, at = _size(image, at + 1)
    found: list[Any] = []
    for _ in range(count):
        if image[at] == _NULL:
            found.append(None)
            at += 1
            continue
        size, at = _size(image, at)
        found.append(text_of(image[at : at + size]))
        at += size
    return found


def _size(image: bytes, at: int) -> tuple[int, int]:
    """Read a length of one byte or of five, and give it with the place behind it."""
    if image[at] == _LONG:
        return int.from_bytes(image[at + 1 : at + 5], "big"), at + 5
    return image[at], at + 1
