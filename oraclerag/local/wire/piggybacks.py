"""Messages that ride in front of a call and have no reply of their own."""

from __future__ import annotations

import enum

from oraclerag.local.wire.primitives import Reader


class Piggyback(enum.IntEnum):
    """What rides along; its number is that of a function."""

    FREE_LOBS = 96
    CLOSE_CURSORS = 105
    END_TO_END = 135
    SET_SCHEMA = 152
    APPLICATION_CONTEXT = 154
    SESSION_STATE = 176
    BEGIN_PIPELINE = 199


def read_closed_cursors(reader: Reader) -> list[int]:
    """Read the numbers of cursors the client no longer needs."""
    reader.u8()
    return reader.numbers(reader.number())


def read_schema(reader: Reader) -> str:
    """Read the name of the schema to make current."""
    reader.u8()
    return (reader.counted() or b"").decode("utf-8", "replace")


def read_pipeline_mode(reader: Reader) -> int:
    """Read how a pipeline goes on after an error: 1 on and on, 2 not at all."""
    reader.number()
    reader.u8()
    return reader.u8()


def skip_end_to_end(reader: Reader) -> None:
    """Read over client identifier, module, action and the like, which nothing here shows."""
    reader.skip(2)
    reader.number()
    lengths = []
    for _ in range(3):
        reader.u8()
        lengths.append(reader.number())
    for _ in range(2):
        _skip_pairs(reader)
        reader.u8()
        lengths.append(reader.number())
    for length in lengths:
        if length:
            reader.item()


def _skip_pairs(reader: Reader) -> None:
    for _ in range(2):
        reader.u8()
        reader.number()


def skip_application_context(reader: Reader) -> None:
    """Read over an application context."""
    reader.u8()
    reader.number()
    reader.u8()
    count = reader.number()
    reader.number()
    reader.u8()
    reader.item()
    for _ in range(count):
        reader.counted()
        reader.counted()
        reader.number()
