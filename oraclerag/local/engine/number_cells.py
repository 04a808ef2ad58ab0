"""PostgreSQL's numeric (base 10,000) to Oracle's NUMBER (base 100), digit by digit: exact, and no Python number."""

from __future__ import annotations

import struct

from oraclerag.local.interface import OraError

_PAIRS = 20  # base-100 digits of a NUMBER
_MAX_EXPONENT = 62
_MIN_EXPONENT = -65
_NUMERIC_POSITIVE = 0x0000
_NUMERIC_NEGATIVE = 0x4000
_CACHE_LIMIT = 10_000  # beyond, the processor's own cache makes a look-up as dear as the conversion
_NUMERIC_HEAD = struct.Struct(">HhHH")
# Both base-100 digits of a base-10,000 digit, as a positive NUMBER stores them: plus one.
_DIGITS = tuple(bytes((digit // 100 + 1, digit % 100 + 1)) for digit in range(10_000))
_ZERO_PAIR = b"\x01"
_NEGATIVE = bytes((102 - byte) % 256 for byte in range(256))

# Positive numbers of one to three base-10,000 digits, which keys, counts and amounts nearly always are, are made of
# ready parts: a whole number; the pairs of a first digit without zeros in front, of a last one without zeros behind.
_WHOLE_NUMBER = b"\0\0\0\0"  # weight and sign
_FRONTS = [digits.lstrip(_ZERO_PAIR) for digits in _DIGITS]
_TAILS = [digits.rstrip(_ZERO_PAIR) for digits in _DIGITS]
_LARGEST_WEIGHT = 30

_numbers: dict[bytes, bytes] = {}


def number_cell(cell: bytes) -> bytes:
    """Turn a numeric (base 10,000) into a NUMBER (base 100) with its length byte.

    Beyond 20 base-100 digits it is rounded half up; ORA-01426 when it is too large, NaN or infinite.
    """
    count, weight, sign, _ = _NUMERIC_HEAD.unpack_from(cell)
    if sign not in {_NUMERIC_POSITIVE, _NUMERIC_NEGATIVE}:
        raise OraError(1426, "numeric overflow")
    body = b"".join([_DIGITS[digit] for digit in struct.unpack_from(f">{count}H", cell, 8)])
    exponent = weight * 2 + 1  # power of 100 of the first pair
    kept = body.lstrip(_ZERO_PAIR)
    exponent -= len(body) - len(kept)
    if len(kept) > _PAIRS:
        kept, carry = _rounded(kept)
        exponent += carry
    kept = kept.rstrip(_ZERO_PAIR)
    if not kept or exponent < _MIN_EXPONENT:
        return b"\x01\x80"
    if exponent > _MAX_EXPONENT:
        raise OraError(1426, "numeric overflow")
    if sign == _NUMERIC_POSITIVE:
        return bytes((len(kept) + 1, exponent + 193)) + kept
    end = b"\x66" if len(kept) < _PAIRS else b""
    return bytes((len(kept) + 1 + len(end), ~(exponent + 193) & 0xFF)) + kept.translate(_NEGATIVE) + end


def _rounded(pairs: bytes) -> tuple[bytes, int]:
    """Round to 20 pairs; the number is 1 when a carry made it one pair longer."""
    up = pairs[_PAIRS] > 50  # a pair is stored plus one
    whole = 0
    for pair in pairs[:_PAIRS]:
        whole = whole * 100 + pair - 1
    whole += up
    carry = int(whole >= 100**_PAIRS)
    digits = []
    for _ in range(_PAIRS + carry):
        whole, pair = divmod(whole, 100)
        digits.append(pair + 1)
    return bytes(reversed(digits))[:_PAIRS], carry


_SMALL = [
    number_cell(_NUMERIC_HEAD.pack(1, 0, _NUMERIC_POSITIVE, 0) + digit.to_bytes(2, "big")) for digit in range(10_000)
]


def number_whole(cell: bytes) -> bytes:
    """Turn a numeric into a NUMBER with its length byte, as :func:`number_cell` does, the usual ones by tables."""
    size = len(cell)
    if size == 10:
        if cell[2:6] == _WHOLE_NUMBER:
            return _SMALL[cell[8] << 8 | cell[9]]
    elif size in (12, 14) and not cell[2] and cell[3] <= _LARGEST_WEIGHT and not cell[4] and not cell[5]:
        front, pairs = _FRONTS[cell[8] << 8 | cell[9]], _TAILS[cell[size - 2] << 8 | cell[size - 1]]
        if front and pairs:
            if size == 14:
                pairs = _DIGITS[cell[10] << 8 | cell[11]] + pairs
            before = len(front)
            return bytes((before + len(pairs) + 1, 2 * cell[3] + before + 192)) + front + pairs
    known = _numbers.get(cell)
    if known is None:
        known = number_cell(cell)
        if len(_numbers) < _CACHE_LIMIT:
            _numbers[cell] = known
    return known


def write_number(out: bytearray, cell: bytes) -> None:
    """Append a numeric as NUMBER."""
    out += number_whole(cell)
