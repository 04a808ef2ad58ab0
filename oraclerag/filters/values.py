"""What a condition compares with: texts, numbers, booleans, times; each checked for what the database can hold."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from collections.abc import Mapping
from decimal import Decimal

from oraclerag.errors import InputError
from oraclerag.filters.tree import Span, Value

__all__ = ["ISO_8601", "moment", "text", "value"]

ISO_8601 = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)?)?$"
)
"""The texts that are times, for Python and the database alike; whether the day exists is another question."""

_ISO_8601 = re.compile(ISO_8601.removesuffix("$") + r"\Z")
_MAX_BYTES = 1000  # the driver would declare a longer text over 4,000 bytes: a LONG, which nothing compares (ORA-00997)
_MAX_DIGITS = 38


def value(given: object, where: str) -> Value:
    """Check one value. Raises InputError, which says ``where`` it stands."""
    if isinstance(given, str):
        return text(given, where)
    if isinstance(given, dt.date):  # a datetime too
        return _span(given, where)
    if isinstance(given, Mapping) and list(given) == ["$date"]:
        return moment(given["$date"], where)
    if isinstance(given, bool) or (_is_numpy(given) and type(given).__name__ in ("bool", "bool_")):
        return bool(given)
    if isinstance(given, (int, float, Decimal)) or (_is_numpy(given) and isinstance(given, numbers.Real)):
        return _number(given, where)
    if given is None:
        raise InputError(f'{where} takes no None; {{"$exists": False}} asks for what has no value.')
    if isinstance(given, (list, tuple, set, frozenset)):
        raise InputError(
            f'{where} takes one value, not a list; {{"$in": […]}} asks for one of several, {{"$contains": […]}} for a '
            "list that has all of them."
        )
    if isinstance(given, Mapping):
        raise InputError(
            f'{where} takes one value or operators such as {{"$gte": 5}}, not an object; a field within one is named '
            "with a dot, as user.age."
        )
    raise InputError(f"{where} takes a text, a number, True, False, a date or a time, not {type(given).__name__}.")


def text(given: object, where: str) -> str:
    """Check a text."""
    if not isinstance(given, str):
        raise InputError(f"{where} takes a text, not {type(given).__name__}.")
    plain = str.__str__(given)  # a subclass, as of an enumeration, may show itself otherwise
    if not plain:
        raise InputError(f"{where} must not be empty; an empty text is NULL in Oracle and equals nothing.")
    if "\0" in plain or any("\ud800" <= char <= "\udfff" for char in plain) or len(plain.encode()) > _MAX_BYTES:
        raise InputError(f"{where} must be at most {_MAX_BYTES:,} bytes of valid text without NUL characters.")
    return plain


def moment(given: object, where: str) -> Span:
    """Check a time or a day: a datetime, a date, or a text in ISO 8601."""
    if isinstance(given, Mapping) and list(given) == ["$date"]:
        given = given["$date"]
    if isinstance(given, dt.date):
        return _span(given, where)
    if not isinstance(given, str):
        raise InputError(f"{where} takes a date or a time, not {type(given).__name__}.")
    try:
        if not _ISO_8601.match(given):
            raise ValueError
        return _span(
            dt.date.fromisoformat(given) if len(given) == len("2026-01-31") else dt.datetime.fromisoformat(given), where
        )
    except ValueError:
        raise InputError(f"{where} takes a date or a time in ISO 8601, such as 2026-01-31T08:30:00Z.") from None


def _span(given: dt.date, where: str) -> Span:
    """Give a time (naive is UTC) as its own first and last instant, a date as those of its day."""
    if given != given:  # pandas.NaT is a datetime and equals nothing
        raise InputError(f"{where} takes a date or a time, not NaT.")
    if not isinstance(given, dt.datetime):
        day = f"{given.year:04}-{given.month:02}-{given.day:02}"
        return Span(f"{day} 00:00:00.000000000", f"{day} 23:59:59.999999999")
    try:
        at = given if given.utcoffset() is None else given.astimezone(dt.UTC)
    except OverflowError:
        raise InputError(f"{where} is too near to the end of the calendar.") from None
    written = (
        f"{at.year:04}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02}:{at.second:02}.{at.microsecond:06}"
        f"{getattr(at, 'nanosecond', 0):03}"
    )
    return Span(written, written)


def _number(given: float | Decimal | numbers.Real, where: str) -> int | float | Decimal:
    number: int | float | Decimal
    if isinstance(given, Decimal):
        number = given
    else:
        number = int(given) if isinstance(given, numbers.Integral) else float(given)
    if isinstance(number, int):
        if number.bit_length() > 420:  # before a text is made of it
            raise InputError(f"{where} must be a number below 1e126 of at most {_MAX_DIGITS} digits.")
        exact = Decimal(number)
    else:
        exact = number if isinstance(number, Decimal) else Decimal(repr(number))
        if not exact.is_finite():
            raise InputError(f"{where} must be a finite number.")
    if not exact:
        return 0  # without a sign
    digits = "".join(map(str, exact.as_tuple().digits)).strip("0")
    if len(digits) > _MAX_DIGITS or not -130 <= exact.adjusted() <= 125:
        raise InputError(f"{where} must be a number between 1e-130 and 1e126 of at most {_MAX_DIGITS} digits.")
    return number


def _is_numpy(given: object) -> bool:
    return type(given).__module__ == "numpy"
