"""NUMBER: known dumps, exact round trips, the order of the bytes."""

from __future__ import annotations

import decimal
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.interface import OraError
from oraclerag.local.wire.numbers import decode_number, encode_number


@st.composite
def _decimals(draw: st.DrawFn) -> Decimal:
    """Decimals of up to 38 digits between 1e-125 and 1e125."""
    digits = draw(st.integers(-(10**38) + 1, 10**38 - 1))
    return Decimal(digits).scaleb(draw(st.integers(-125, 87)), decimal.Context(prec=40))


@pytest.mark.parametrize(
    ("number", "dump"),
    [
        (0, [128]),
        (1, [193, 2]),
        (-1, [62, 100, 102]),
        (10, [193, 11]),
        (100, [194, 2]),
        (123, [194, 2, 24]),
        (-123, [61, 100, 78, 102]),
        (Decimal("0.1"), [192, 11]),
        (Decimal("0.01"), [192, 2]),
        (Decimal("123456.789"), [195, 13, 35, 57, 79, 91]),
        (Decimal("-123456.789"), [60, 89, 67, 45, 23, 11, 102]),
        (10**125, [255, 11]),
        (Decimal("1e-130"), [128, 2]),
        (10**38 - 1, [211, *[100] * 19]),
        (-(10**40) + 1, [43, *[2] * 20]),
    ],
    ids=str,
)
def test_dumps_as_oracle_prints_them(number: int | Decimal, dump: list[int]) -> None:
    assert list(encode_number(number)) == dump
    assert decode_number(bytes(dump)) == number


@given(_decimals())
def test_decimals_go_there_and_back(number: Decimal) -> None:
    assert decode_number(encode_number(number)) == number


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_integers_go_there_and_back_as_integers(number: int) -> None:
    result = decode_number(encode_number(number))
    assert result == number
    assert type(result) is int


@given(
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number or 1e-120 < abs(number) < 1e125)
)
def test_floats_take_their_shortest_text(number: float) -> None:
    assert float(decode_number(encode_number(number))) == number


@given(_decimals(), _decimals())
def test_bytes_sort_like_numbers(left: Decimal, right: Decimal) -> None:
    assert (encode_number(left) < encode_number(right)) == (left < right)


@given(_decimals())
def test_trailing_zeros_change_nothing(number: Decimal) -> None:
    with decimal.localcontext(prec=60):
        longer = number.quantize(Decimal(1).scaleb(int(number.as_tuple().exponent) - 1))
    assert encode_number(longer) == encode_number(number)


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        (Decimal("1." + "0" * 38 + "5"), Decimal("1." + "0" * 37 + "1")),
        (Decimal("0." + "9" * 45), 1),
        (Decimal("-0." + "9" * 45), -1),
        (Decimal("9" * 45), 10**45),
        (Decimal("1e-131"), 0),
        (-1e-200, 0),
        (True, 1),
    ],
    ids=str,
)
def test_rounding(number: Decimal | float, rounded: Decimal | int) -> None:
    assert decode_number(encode_number(number)) == rounded


@pytest.mark.parametrize(
    "number",
    [10**126, -(10**126), 1 << 20000, 1e126, float("inf"), float("nan"), Decimal("1e126"), Decimal("NaN")],
    ids=lambda number: type(number).__name__,
)
def test_what_does_not_fit_is_ora_1426(number: Decimal | float) -> None:
    with pytest.raises(OraError, match="ORA-01426"):
        encode_number(number)


def test_a_mantissa_with_zeros_at_its_end_is_understood() -> None:
    assert decode_number(bytes((193, 2, 1, 1))) == 1
    assert decode_number(bytes((192, 11, 1))) == Decimal("0.1")
