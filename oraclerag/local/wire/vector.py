"""The image of a VECTOR: magic, flags, element format, dimensions, room for the norm, elements.

FLOAT32 and FLOAT64 elements are stored so that their bytes sort like the numbers (sign bit set, or all bits inverted
when negative); INT8 is stored plainly, BINARY eight dimensions to the byte.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from oraclerag.local.interface import OraError, VectorFormat

_MAGIC = 0xDB
_VERSION = 0
_VERSION_BINARY = 1
_NORM = 0x0002
_NORM_RESERVED = 0x0010
_SPARSE = 0x0020
_NORM_SIZE = 8
_HEAD_SIZE = 9

FORMATS = {"f": VectorFormat.FLOAT32, "d": VectorFormat.FLOAT64, "b": VectorFormat.INT8, "B": VectorFormat.BINARY}
"""Element format by ``array`` type code."""

MAX_DIMENSIONS = 65535
_TYPE_CODES: dict[int, str] = {number: code for code, number in FORMATS.items()}
_ITEM_SIZES = {"f": 4, "d": 8, "b": 1, "B": 1}
_SIGN32 = np.uint32(1 << 31)
_SIGN64 = np.uint64(1 << 63)


def encode_vector(value: array[Any]) -> bytes:
    """Encode an array of type code f, d, b or B (BINARY: eight dimensions per element)."""
    form = FORMATS[value.typecode]
    binary = form is VectorFormat.BINARY
    dimensions = len(value) * 8 if binary else len(value)
    version = _VERSION_BINARY if binary else _VERSION
    flags = _NORM_RESERVED if binary else _NORM_RESERVED | _NORM
    head = bytes((_MAGIC, version, 0, flags, form)) + dimensions.to_bytes(4, "big") + bytes(_NORM_SIZE)
    return head + _encode_elements(value)


def _encode_elements(value: array[Any]) -> bytes:
    if value.typecode == "f":
        bits = np.frombuffer(value, dtype=np.uint32)
        return np.where(bits & _SIGN32, ~bits, bits | _SIGN32).astype(">u4").tobytes()
    if value.typecode == "d":
        wide = np.frombuffer(value, dtype=np.uint64)
        return np.where(wide & _SIGN64, ~wide, wide | _SIGN64).astype(">u8").tobytes()
    return value.tobytes()


def decode_vector(image: bytes) -> array[Any]:
    """Decode an image into an array; a sparse vector becomes a dense one. ORA-51805 when it is no image."""
    if len(image) < _HEAD_SIZE or image[0] != _MAGIC:
        raise _malformed()
    flags = int.from_bytes(image[2:4], "big")
    code = _TYPE_CODES.get(image[4])
    if code is None:
        raise _malformed()
    count = int.from_bytes(image[5:9], "big")
    place = _HEAD_SIZE + (_NORM_SIZE if flags & (_NORM | _NORM_RESERVED) else 0)
    if flags & _SPARSE:
        return _decode_sparse(image, place, count, code)
    return _decode_elements(image, place, count // 8 if code == "B" else count, code)


def _malformed() -> OraError:
    return OraError(51805, "Vector is not properly formatted (dimension value is either not a number or infinity)")


def _decode_sparse(image: bytes, place: int, dimensions: int, code: str) -> array[Any]:
    stored = int.from_bytes(image[place : place + 2], "big")
    place += 2
    if len(image) < place + 4 * stored or dimensions > MAX_DIMENSIONS:
        raise _malformed()
    indices = np.frombuffer(image, dtype=">u4", count=stored, offset=place)
    elements = _decode_elements(image, place + 4 * stored, stored, code)
    dense = array(code, bytes(dimensions * elements.itemsize))
    for index, element in zip(indices.tolist(), elements, strict=True):
        if index >= dimensions:
            raise _malformed()
        dense[index] = element
    return dense


def _decode_elements(image: bytes, place: int, count: int, code: str) -> array[Any]:
    if len(image) < place + count * _ITEM_SIZES[code]:
        raise _malformed()
    if code == "f":
        bits = np.frombuffer(image, dtype=">u4", count=count, offset=place).astype(np.uint32)
        return array("f", np.where(bits & _SIGN32, bits & ~_SIGN32, ~bits).tobytes())
    if code == "d":
        wide = np.frombuffer(image, dtype=">u8", count=count, offset=place).astype(np.uint64)
        return array("d", np.where(wide & _SIGN64, wide & ~_SIGN64, ~wide).tobytes())
    return array(code, image[place : place + count])
