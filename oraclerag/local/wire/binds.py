"""Binds: their declarations, and the rows of values a client sends for them.

Values are read first, all of them, and converted afterwards column by column: so the converter is chosen once per
column, and a value that cannot be converted leaves the stream in step.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from oraclerag.local.interface import JSON_NULL, BindType, OraError, OraType
from oraclerag.local.wire import object_types, values
from oraclerag.local.wire.capabilities import FIELD_VERSION_12_2
from oraclerag.local.wire.lobs import LobTable
from oraclerag.local.wire.messages import MessageType
from oraclerag.local.wire.numbers import decode_number
from oraclerag.local.wire.oson_reader import decode_oson
from oraclerag.local.wire.packets import Closed
from oraclerag.local.wire.primitives import ESCAPE, MAX_SHORT, Reader
from oraclerag.local.wire.vector import decode_vector

_ARRAY = 0x40
_NATIONAL_FORM = 2
_SAME_AS = {3: OraType.NUMBER}  # BINARY_INTEGER travels as a NUMBER
_TEXTS = frozenset({OraType.VARCHAR, OraType.CHAR, OraType.LONG})
_LOBS = frozenset({OraType.CLOB, OraType.BLOB})
_IMAGES = frozenset({OraType.JSON, OraType.VECTOR})

Raw = bytes | list[Any]


@dataclass(frozen=True, slots=True)
class BindInfo:
    """A bind or a define as the client declared it; ``type`` is a number that need not be one of ours."""

    type: int
    size: int
    elements: int
    is_array: bool
    is_national: bool

    def bind_type(self) -> BindType:
        """Give the declaration for the engine; ORA-03001 for a type that cannot be bound here."""
        try:
            ora_type = _SAME_AS.get(self.type) or OraType(self.type)
        except ValueError:
            raise OraError(3001, f"unimplemented feature: binds of type {self.type}") from None
        return BindType(ora_type, self.size, self.elements if self.is_array else 0)


def read_bind_infos(reader: Reader, count: int, field_version: int) -> list[BindInfo]:
    """Read the declarations of ``count`` binds or defines."""
    infos = []
    for _ in range(count):
        kind = reader.u8()
        flags = reader.u8()
        reader.skip(2)
        size = reader.number()
        elements = reader.number()
        reader.number()
        reader.counted()
        reader.numbers(2)
        form = reader.u8()
        reader.number()
        if field_version >= FIELD_VERSION_12_2:
            reader.number()
        infos.append(BindInfo(kind, size, elements, bool(flags & _ARRAY), form == _NATIONAL_FORM))
    return infos


def read_bind_rows(
    reader: Reader, infos: Sequence[BindInfo], absent: Collection[int], count: int, *, longest: int | None
) -> list[list[Raw]]:
    """Read ``count`` rows of binds and give the raw values by bind; those of ``absent`` binds were not sent.

    Values declared longer than ``longest`` come behind all others of their row, except JSON and VECTOR. That is so
    in SQL, with the size of the longest string; PL/SQL (None) knows no such order.
    """
    return read_rows(reader, reading_order(infos, absent, longest), len(infos), count)


Order = Sequence[tuple[int, "Callable[[Reader], Raw] | None"]]
"""Places of binds as their values come, each with what reads one that is not simply bytes behind their length."""


def reading_order(infos: Sequence[BindInfo], absent: Collection[int], longest: int | None) -> Order:
    """Give the order in which the values of a row come; see :func:`read_bind_rows`."""
    late = {
        place
        for place, info in enumerate(infos)
        if longest is not None and info.size > longest and info.type not in _IMAGES
    }
    order = [place for place in range(len(infos)) if place not in absent]
    if late:
        order.sort(key=late.__contains__)
    return [(place, _special_reader(infos[place])) for place in order]


def read_rows(reader: Reader, order: Order, binds: int, count: int) -> list[list[Raw]]:
    """Read ``count`` rows of ``binds`` binds, whose order is known."""
    columns: list[list[Raw]] = [[] for _ in range(binds)]
    steps = [(special, columns[place].append) for place, special in order]
    data, position = reader.data, reader.position
    end = len(data)
    for _ in range(count):
        reader.position = position
        if reader.u8() != MessageType.ROW_DATA:
            raise Closed
        position = reader.position
        if reader.data is not data:
            data = reader.data
            end = len(data)
        for special, append in steps:
            if special is None and position < end:
                size = data[position]
                stop = position + 1 + size
                if size <= MAX_SHORT and stop <= end:
                    append(data[position + 1 : stop])
                    position = stop
                    continue
            reader.position = position
            append((reader.item() or b"") if special is None else special(reader))
            data, position = reader.data, reader.position
            end = len(data)
    reader.position = position
    return columns


def _special_reader(info: BindInfo) -> Callable[[Reader], Raw] | None:
    """Give what reads a value that is not simply bytes behind their length."""
    element = _SPECIAL.get(info.type)
    if not info.is_array:
        return element

    def read_array(reader: Reader) -> Raw:
        return [element(reader) if element else reader.item() or b"" for _ in range(reader.number())]

    return read_array


def _read_locator(reader: Reader) -> bytes:
    return reader.counted() or b""


def _read_image(reader: Reader) -> bytes:
    """Read a VECTOR or JSON value: a locator that stands for nothing, then the image."""
    if reader.number() == 0:
        return b""
    reader.item()
    return reader.item() or b""


def _read_boolean(reader: Reader) -> bytes:
    size = reader.u8()
    if size == ESCAPE:
        reader.u8()
        return b""
    return reader.take(size)


def _read_cursor(reader: Reader) -> bytes:
    if reader.number():  # else it is a new one, or none
        reader.number()
    return b""


_SPECIAL: dict[int, Callable[[Reader], bytes]] = {
    **dict.fromkeys(_LOBS, _read_locator),
    **dict.fromkeys(_IMAGES, _read_image),
    OraType.BOOLEAN: _read_boolean,
    OraType.CURSOR: _read_cursor,
    OraType.OBJECT: object_types.read_object,
}


def convert_rows(
    infos: Sequence[BindInfo], columns: Sequence[Sequence[Raw]], absent: Collection[int], count: int, lobs: LobTable
) -> list[list[Any]]:
    """Turn raw values into Python values and give them by bind; an absent bind is a column of None.

    ORA-01460 when bytes are no value of their type, ORA-22922 for a locator of nothing.
    """
    converted: list[list[Any]] = []
    for place, (info, column) in enumerate(zip(infos, columns, strict=True)):
        if place in absent:
            converted.append([None] * count)
            continue
        convert = _converter(info, lobs)
        try:
            if info.is_array:
                converted.append([[convert(item) if item else None for item in value] for value in column])
            elif info.type == OraType.JSON:
                converted.append(_json_values(column))
            else:
                converted.append([convert(value) if value else None for value in column])
        except (ValueError, IndexError, OverflowError, struct.error):
            raise OraError(1460, f"unimplemented or unreasonable conversion requested (bind {place + 1})") from None
    return converted


def _json_values(column: Sequence[Any]) -> list[Any]:
    """Decode the images of an array; equal ones, as metadata often are, become one value."""
    known: dict[bytes, Any] = {}
    values: list[Any] = []
    for image in column:
        if not image:
            values.append(None)
            continue
        value = known.get(image)
        if value is None:
            decoded = decode_oson(image)
            value = known[image] = JSON_NULL if decoded is None else decoded
        values.append(value)
    return values


def _converter(info: BindInfo, lobs: LobTable) -> Callable[[Any], Any]:
    if info.type in _LOBS:
        return lambda locator: lobs.get(locator).value()
    if info.type == OraType.OBJECT:
        return lambda image: object_types.elements(image, lambda locator: lobs.get(locator).value())
    if info.type in _TEXTS:
        if info.is_national:
            return lambda data: data.decode("utf-16-be")
        return bytes.decode
    return _CONVERTERS.get(info.type, bytes)


_CONVERTERS: dict[int, Callable[[Any], Any]] = {
    3: decode_number,
    OraType.NUMBER: decode_number,
    OraType.ROWID: bytes.decode,
    OraType.DATE: values.decode_date,
    OraType.TIMESTAMP: values.decode_date,
    OraType.TIMESTAMP_LTZ: values.decode_date,
    OraType.TIMESTAMP_TZ: values.decode_timestamp_tz,
    OraType.INTERVAL_DS: values.decode_interval_ds,
    OraType.BINARY_DOUBLE: values.decode_binary_double,
    OraType.BINARY_FLOAT: values.decode_binary_float,
    OraType.BOOLEAN: lambda data: data[-1] == 1,
    OraType.JSON: decode_oson,
    OraType.VECTOR: decode_vector,
}
