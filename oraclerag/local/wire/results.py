"""What statements leave in binds: values of RETURNING … INTO, and of OUT and IN OUT binds of PL/SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oraclerag.local.interface import BlockResult, Direction, LobStore, OraError, OraType
from oraclerag.local.wire import values
from oraclerag.local.wire.binds import BindInfo
from oraclerag.local.wire.messages import MessageType
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.primitives import put_bytes, put_sint, put_uint
from oraclerag.local.wire.vector import encode_vector

_IO_VECTOR_HEAD = 5


def put_value(out: bytearray, info: BindInfo, value: Any, lobs: LobStore) -> None:
    """Append a value in the type the client bound; ORA-00932 when the engine gave it another.

    A cursor is given as the bytes of its description.
    """
    if info.type == OraType.CURSOR and isinstance(value, bytes):
        out.append(1)
        out += value
        return
    ora_type = info.bind_type().type
    if value is None:
        out.append(0)
        return
    try:
        _put(out, ora_type, info, value, lobs)
    except (TypeError, AttributeError, KeyError):
        found = type(value).__name__
        raise OraError(932, f"inconsistent datatypes: expected {ora_type.name} got {found}") from None


def _put(out: bytearray, ora_type: OraType, info: BindInfo, value: Any, lobs: LobStore) -> None:
    if info.is_national and isinstance(value, str):
        put_bytes(out, value.encode("utf-16-be"))
        return
    write = values.SCALAR_WRITERS.get(ora_type)
    if write is not None:
        write(out, value)
    elif ora_type in (OraType.CLOB, OraType.BLOB):
        if isinstance(value, str) != (ora_type is OraType.CLOB):
            raise TypeError
        out += lobs.put(value)
    elif ora_type is OraType.VECTOR:
        values.put_image(out, encode_vector(value))
    elif ora_type is OraType.JSON:
        values.put_image(out, encode_oson(value))
    else:
        data = values.encode_rowid(value)
        out.append(len(data))
        out += data


def put_returned(
    out: bytearray, infos: Sequence[BindInfo], returned: Sequence[Sequence[Sequence[Any]]], lobs: LobStore
) -> None:
    """Append one row message per execution: for every RETURNING bind the number of its values, and these."""
    for execution in returned:
        out.append(MessageType.ROW_DATA)
        for info, column in zip(infos, execution, strict=True):
            put_uint(out, len(column))
            for value in column:
                put_value(out, info, value, lobs)
                out.append(0)


def put_directions(out: bytearray, directions: Sequence[Direction], executions: int) -> None:
    """Append the message that tells which binds are IN, OUT or both."""
    out.append(MessageType.IO_VECTOR)
    out.append(_IO_VECTOR_HEAD)
    put_uint(out, len(directions) % 256)
    put_uint(out, len(directions) // 256)
    put_uint(out, executions)
    out += bytes(3)
    out += bytes(directions)


def put_outs(out: bytearray, infos: Sequence[BindInfo], result: BlockResult, lobs: LobStore) -> None:
    """Append one row message per execution with the values of its OUT and IN OUT binds, in bind order."""
    written = [place for place, direction in enumerate(result.directions) if direction is not Direction.IN]
    if not written:
        return
    for execution in result.outs:
        if len(execution) != len(written):
            raise OraError(604, f"the block gave {len(execution)} values for {len(written)} OUT binds")
        out.append(MessageType.ROW_DATA)
        for place, value in zip(written, execution, strict=True):
            _put_out(out, infos[place], value, lobs)


def _put_out(out: bytearray, info: BindInfo, value: Any, lobs: LobStore) -> None:
    """Append one OUT value and the number that tells whether it was cut; a NULL BOOLEAN says -1."""
    if info.is_array:
        items = value or []
        if not isinstance(items, list):
            raise OraError(932, f"inconsistent datatypes: expected an array got {type(value).__name__}")
        put_uint(out, len(items))
        for item in items:
            put_value(out, info, item, lobs)
            out.append(0)
        return
    put_value(out, info, value, lobs)
    put_sint(out, -1 if value is None and info.type == OraType.BOOLEAN else 0)
