"""A question's vector that was computed elsewhere, checked before it is bound."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from numbers import Real

from oraclerag.errors import InputError

__all__ = ["checked_length", "given_vector"]


def given_vector(value: object) -> array[float] | None:
    """Give the numbers as FLOAT32, or say why they are no direction to search in; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes, bytearray, memoryview)) or not isinstance(value, Iterable):
        raise InputError(f"vector must be a list or an array of numbers, not {type(value).__name__}.")
    numbers = _plain(value)
    if numbers is None:
        numbers = _one_by_one(value)
    if not numbers:
        raise InputError("vector is empty.")
    if not any(numbers):
        raise InputError("vector is all zeros: it has no direction, so nothing is near to it.")
    return numbers


def _plain(value: Iterable[object]) -> array[float] | None:
    """Take what is numbers and nothing else in one step; None where there is something to say."""
    if not (isinstance(value, array) and value.typecode in "fd") and not (
        isinstance(value, (list, tuple)) and set(map(type, value)) <= {float, int}
    ):
        return None
    try:
        numbers = array("f", value)
    except OverflowError:
        return None
    return numbers if math.isfinite(sum(map(abs, numbers))) else None


def _one_by_one(value: Iterable[object]) -> array[float]:
    numbers = array("f")
    for place, number in enumerate(value):
        # numpy's numbers are not all registered as Real, and all are read by float()
        if isinstance(number, (bool, str, bytes)) or not (isinstance(number, Real) or hasattr(number, "__float__")):
            raise InputError(f"vector: the value at place {place} is no number, but {type(number).__name__}.")
        try:
            numbers.append(float(number))
        except (OverflowError, TypeError, ValueError):
            raise InputError(f"vector: the value at place {place} cannot be a FLOAT32.") from None
        if not math.isfinite(numbers[-1]):
            raise InputError(f"vector: the value at place {place} is not a finite FLOAT32 (NaN or infinity).")
    return numbers


def checked_length(vector: array[float], dimensions: int, model: str) -> array[float]:
    """Give the vector, or say that it cannot be one of the model in force."""
    if len(vector) != dimensions:
        raise InputError(
            f"vector has {len(vector):,} numbers, but the model in force, {model}, makes {dimensions:,}.",
            hint="It must come from that very model: vectors of another one mean something else.",
        )
    return vector
