"""Oracle NUMBER: base-100 digits after an exponent byte, as columns, binds and OSON carry it.

The first byte holds sign and exponent; every further one a pair of decimal digits. Positive digits are stored plus 1,
negative ones subtracted from 101 with 102 as terminator when fewer than 20 follow.
"""

from __future__ import annotations

import decimal
import re

from oraclerag.local.interface import OraError

MAX_DIGITS = 40  # 20 pairs
_MAX_SIZE = 22
_MAX_EXPONENT = 62
_MIN_EXPONENT = -65
_EXPONENT_BIAS = 193
_DIGITS = re.compile(r"(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\Z")
_EXACT = decimal.Context(prec=MAX_DIGITS + 2, Emin=-decimal.MAX_EMAX, Emax=decimal.MAX_EMAX, traps=[])
_MAX_BITS = 420  # 10 ** 126
_SMALL_LIMIT = 10000
_SMALL: dict[int, bytes] = {}  # what was encoded before


def encode_number(value: int | float | decimal.Decimal) -> bytes:
    """Encode a number.

    Digits beyond the 40th are rounded half up, values below 1e-130 are 0; ORA-01426 above 9.99…e125 and for what is
    not a number.
    """
    if type(value) is int and -_SMALL_LIMIT < value < _SMALL_LIMIT:
        known = _SMALL.get(value)
        if known is None:
            known = _SMALL[value] = _encode_whole(value)
        return known
    if isinstance(value, int):
        return _encode_whole(value)
    text = repr(value) if isinstance(value, float) else str(value)
    match = _DIGITS.match(text)
    if match is None:
        raise OraError(1426, "numeric overflow")
    sign, whole, fraction, exponent = match.groups()
    digits = whole + fraction
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return _pack(bool(sign), stripped.rstrip("0"), point)


def _encode_whole(value: int) -> bytes:
    if value.bit_length() > _MAX_BITS:
        raise OraError(1426, "numeric overflow")
    digits = str(abs(value))
    return _pack(value < 0, digits.rstrip("0"), len(digits))


def _pack(negative: bool, digits: str, point: int) -> bytes:
    """Encode 0.DIGITS * 10 ** point; the digits have no zeros at either end."""
    if not digits:
        return b"\x80"
    if point & 1:
        digits = "0" + digits
        point += 1
    if len(digits) > MAX_DIGITS:
        rounded = str(int(digits[:MAX_DIGITS]) + (digits[MAX_DIGITS] >= "5"))
        kept = rounded.rjust(MAX_DIGITS, "0")
        if len(kept) > MAX_DIGITS:
            kept = "0" + kept
            point += 2
        digits = kept.rstrip("0")
    if len(digits) & 1:
        digits += "0"
    exponent = point // 2 - 1
    if exponent > _MAX_EXPONENT:
        raise OraError(1426, "numeric overflow")
    if exponent < _MIN_EXPONENT:
        return b"\x80"
    pairs = [int(digits[place : place + 2]) for place in range(0, len(digits), 2)]
    if not negative:
        return bytes((exponent + _EXPONENT_BIAS, *(pair + 1 for pair in pairs)))
    body = bytes((~(exponent + _EXPONENT_BIAS) & 0xFF, *(101 - pair for pair in pairs)))
    return body if len(digits) >= MAX_DIGITS else body + b"\x66"


def decode_number(data: bytes) -> int | decimal.Decimal:
    """Decode a number: an int when it is whole, else a Decimal that keeps every digit.

    ValueError or IndexError when it is none; what is wrong in a digit makes another number.
    """
    if len(data) > _MAX_SIZE:
        raise ValueError
    first = data[0]
    number = 0
    if first & 0x80:
        size = len(data)
        if size == 1:
            return 0
        for byte in data[1:]:
            number = number * 100 + byte - 1
        power = first - _EXPONENT_BIAS - size + 2
    else:
        digits = data[1:-1] if data[-1] == 102 else data[1:]
        if not digits:
            raise OraError(1426, "numeric overflow")
        for byte in digits:
            number = number * 100 + 101 - byte
        power = (~first & 0xFF) - _EXPONENT_BIAS - len(digits) + 1
        number = -number
    if power >= 0:
        return number * int(100**power)
    if number % 100 == 0:
        return _reduce(number, power)
    scaled = decimal.Decimal(number).scaleb(2 * power, _EXACT)
    return scaled if number % 10 else scaled.normalize(_EXACT)


def _reduce(number: int, power: int) -> int | decimal.Decimal:
    """Value of a mantissa that ends in zeros, which no writer should send but some may."""
    while power < 0 and number % 100 == 0:
        number //= 100
        power += 1
    if power >= 0:
        return number
    return decimal.Decimal(number).scaleb(2 * power, _EXACT).normalize(_EXACT)
