"""What both sides tell each other they can do, before anybody logs in: the protocol and data type messages.

The bytes imitate what clients accept; nobody compared them with a real server. Two settings exist for tests: fast
authentication and the end-of-response mark.
"""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.wire.primitives import Reader, put_bytes

FIELD_VERSION = 24  # 23.4: describes say how a VECTOR is stored
FIELD_VERSION_23_1 = 17  # describes carry domains
FIELD_VERSION_23_1_TOKENS = 18  # calls carry a pipeline token
FIELD_VERSION_23_1_ANNOTATIONS = 20
FIELD_VERSION_20_1 = 14
FIELD_VERSION_12_2 = 8
FIELD_VERSION_12_2_EXT = 9

_BANNER = b"x86_64/Linux 2.4.xx\0"
_AL32UTF8 = 873
_AL16UTF16 = 2000
_PROTOCOL_MESSAGE = 1
_PROTOCOL_VERSION = 6
_DATA_TYPES_MESSAGE = 2
_FDO_SIZE = 11  # of which only the national character set at the end is read

_FIELD_VERSION_AT = 7
_END_OF_RESPONSE_AT = 40
_END_OF_RESPONSE = 0x20
_TIME_ZONE_VERSION_AT = 37
_TIME_ZONE_VERSION = 0x02
_COMPILE_SIZE = 55
_COMPILE = {
    0: 6,
    1: 1,
    4: 0xEA,
    _FIELD_VERSION_AT: FIELD_VERSION,
    8: 1,
    9: 1,
    15: 0x29,
    16: 0x91,  # error messages carry the sequence number
    17: 3,
    18: 7,
    19: 3,
    21: 1,
    23: 0xCF,
    26: 4,
    27: 1,
    31: 0x10,
    34: 12,
    _TIME_ZONE_VERSION_AT: 0xB0,
    42: 5,
    44: 0x1E,
    52: 3,
}
_RUNTIME_SIZE = 11
_RUNTIME = {0: 2, 1: 1}
_LONG_STRINGS_AT = 6
_LONG_STRINGS = 0x04  # strings of 32767 bytes
_STANDARD_STRING_SIZE = 4000
_TIME_ZONE_BLOCK_AT = 1
_TIME_ZONE_SIZE = 11
_UTC_BLOCK = bytes((0x80, 0, 0, 0, 60, 60, 60, 0x80, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Features:
    """Which optional parts of the protocol the server offers, and its packet size.

    ``fast_authentication``: one round trip less at login. ``end_of_response``: a mark ends every response; pipelining
    wants it. ``sdu``: bytes per packet, 512 up to 1,000,000 (drivers break with more). ``max_string_size``: bytes of
    the longest string, 4000 or 32767 (MAX_STRING_SIZE); clients bind longer ones as LONG, behind all other values.
    """

    fast_authentication: bool = True
    end_of_response: bool = True
    sdu: int = 8192
    max_string_size: int = 32767


@dataclass(slots=True)
class Dialect:
    """What was agreed with this client.

    ``client`` is the driver's name; ``field_version`` decides which fields messages have.
    """

    client: str = ""
    field_version: int = FIELD_VERSION
    end_of_response: bool = False
    max_string_size: int = 32767
    time_zone_block: bool = False
    data_types: bytes = b""


def _table(size: int, values: dict[int, int]) -> bytearray:
    table = bytearray(size)
    for place, value in values.items():
        table[place] = value
    return table


def read_protocol(reader: Reader, dialect: Dialect) -> None:
    """Read a protocol request: accepted versions, driver name."""
    reader.terminated()
    dialect.client = reader.terminated().decode("ascii", "replace")


def put_protocol(out: bytearray, dialect: Dialect) -> None:
    """Append the reply to a protocol request."""
    out.append(_PROTOCOL_MESSAGE)
    out += bytes((_PROTOCOL_VERSION, 0))
    out += _BANNER
    out += _AL32UTF8.to_bytes(2, "little")
    out += b"\1\0\0"
    out += _FDO_SIZE.to_bytes(2, "big")
    out += bytes(_FDO_SIZE - 2)
    out += _AL16UTF16.to_bytes(2, "big")
    compile_time = _table(_COMPILE_SIZE, _COMPILE)
    if dialect.end_of_response:
        compile_time[_END_OF_RESPONSE_AT] = _END_OF_RESPONSE
    put_bytes(out, compile_time)
    runtime = _table(_RUNTIME_SIZE, _RUNTIME)
    if dialect.max_string_size > _STANDARD_STRING_SIZE:
        runtime[_LONG_STRINGS_AT] = _LONG_STRINGS
    put_bytes(out, runtime)


def read_data_types(reader: Reader, dialect: Dialect) -> None:
    """Read a data type request: the client's capabilities and its list of representations, kept for the echo."""
    reader.skip(5)
    compile_time = reader.item() or b""
    runtime = reader.item() or b""
    if len(compile_time) > _FIELD_VERSION_AT:
        dialect.field_version = min(compile_time[_FIELD_VERSION_AT], FIELD_VERSION)
    dialect.time_zone_block = len(runtime) > _TIME_ZONE_BLOCK_AT and bool(runtime[_TIME_ZONE_BLOCK_AT] & 1)
    if dialect.time_zone_block:
        reader.skip(_TIME_ZONE_SIZE)
        flags = compile_time[_TIME_ZONE_VERSION_AT : _TIME_ZONE_VERSION_AT + 1]
        if flags and flags[0] & _TIME_ZONE_VERSION:
            reader.skip(4)
    entries = bytearray()
    number = reader.take(2)
    if number != b"\0\1":  # some clients name the national character set before the first type, which is 1
        number = reader.take(2)
    while number != b"\0\0":
        entries += number
        conversion = reader.take(2)
        entries += conversion
        if conversion != b"\0\0":
            entries += reader.take(4)
        number = reader.take(2)
    dialect.data_types = bytes(entries)


def put_data_types(out: bytearray, dialect: Dialect) -> None:
    """Append the reply to a data type request: all of the client's representations are fine."""
    out.append(_DATA_TYPES_MESSAGE)
    if dialect.time_zone_block:
        out += _UTC_BLOCK
    out += dialect.data_types
    out += b"\0\0"
