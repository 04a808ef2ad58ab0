"""Values as Oracle prints them, and text as Oracle reads it, where a value changes its type on the way."""

from __future__ import annotations

import datetime as dt
import json
import re
from array import array
from decimal import Decimal
from typing import Any

from oraclerag.local.interface import JSON_NULL, OraError

NUMBER_SYNTAX = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\Z", re.ASCII)
DATE_FORMAT = "DD-MON-RR"
TIMESTAMP_FORMAT = "DD-MON-RR HH.MI.SSXFF AM"
TIMESTAMP_TZ_FORMAT = "DD-MON-RR HH.MI.SSXFF AM TZR"
"""Defaults of NLS_DATE_FORMAT, NLS_TIMESTAMP_FORMAT and NLS_TIMESTAMP_TZ_FORMAT under AMERICA."""

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_FULL_MONTHS = (
    "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER",
    "DECEMBER",
)  # fmt: skip
_ELEMENTS = re.compile(
    r"YYYY|RRRR|YY|RR|MONTH|MON|MM|DDD|DD|HH24|HH12|HH|MI|SSSSS|SS|X?FF[1-9]?|AM|PM|TZR|TZH:TZM|TZH|TZM|T|\"[^\"]*\"|[^A-Z]",
    re.IGNORECASE,
)


def number_text(value: int | Decimal | float) -> str:
    """Print a number: no exponent, no trailing zeros, no zero before the point."""
    text = format(value, "f") if isinstance(value, Decimal) else repr(value)
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def number_value(text: str) -> int | Decimal:
    """Read a number; ORA-01722 when it is none."""
    if NUMBER_SYNTAX.match(text) is None:
        raise OraError(1722, "unable to convert string value to a number")
    value = Decimal(text.strip())
    return int(value) if value == value.to_integral_value() else value


def json_text(value: Any) -> str:
    """Serialize JSON compactly; Decimals keep every digit, dates become ISO 8601 text, bytes hex text."""
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else "null"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(key))}:{json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(json_text, value)) + "]"
    if isinstance(value, array):
        return "[" + ",".join(repr(item) for item in value) + "]"
    if isinstance(value, dt.date | dt.datetime):
        return json.dumps(value.isoformat())
    if isinstance(value, dt.timedelta):
        return json.dumps(f"P{value.days}DT{value.seconds + value.microseconds / 1_000_000}S")
    if isinstance(value, bytes):
        return json.dumps(value.hex().upper())
    return json.dumps(None if value is JSON_NULL else value)


def vector_text(elements: array[Any]) -> str:
    """Give a vector as FROM_VECTOR prints it, nine digits for FLOAT32: ``[1.0E+000,0,-1.00000001E-001]``."""
    if elements.typecode in "bB":
        return "[" + ",".join(map(str, elements)) + "]"
    digits = 16 if elements.typecode == "d" else 8
    return "[" + ",".join(_scientific(element, digits) for element in elements) + "]"


def _scientific(number: float, digits: int) -> str:
    if number == 0:
        return "0"
    mantissa, exponent = f"{number:.{digits}e}".split("e")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{exponent[0]}{int(exponent[1:]):03d}"


def moment_text(value: dt.datetime, form: str) -> str:
    """Print a date or timestamp in an NLS format; ORA-01821 for an element that is not known."""
    parts = []
    for element in _split(form):
        printed = _print_element(value, element.upper())
        parts.append(element.strip('"') if printed is None else printed)
    return "".join(parts)


def _print_element(value: dt.datetime, element: str) -> str | None:
    hour = value.hour % 12 or 12
    fixed = {
        "YYYY": f"{value.year:04d}",
        "RRRR": f"{value.year:04d}",
        "YY": f"{value.year % 100:02d}",
        "RR": f"{value.year % 100:02d}",
        "MONTH": _FULL_MONTHS[value.month - 1].ljust(9),
        "MON": _MONTHS[value.month - 1],
        "MM": f"{value.month:02d}",
        "DDD": f"{value.timetuple().tm_yday:03d}",
        "DD": f"{value.day:02d}",
        "HH24": f"{value.hour:02d}",
        "HH12": f"{hour:02d}",
        "HH": f"{hour:02d}",
        "MI": f"{value.minute:02d}",
        "SSSSS": f"{value.hour * 3600 + value.minute * 60 + value.second:05d}",
        "SS": f"{value.second:02d}",
        "AM": "AM" if value.hour < 12 else "PM",
        "PM": "AM" if value.hour < 12 else "PM",
    }
    if element in fixed:
        return fixed[element]
    if element.lstrip("X").startswith("FF"):
        digits = int(element[-1]) if element[-1].isdigit() else 6
        return ("." if element[0] == "X" else "") + f"{value.microsecond:06d}".ljust(9, "0")[:digits]
    if element in {"TZR", "TZH:TZM", "TZH", "TZM"}:
        minutes = (value.utcoffset() or dt.timedelta(0)) // dt.timedelta(minutes=1)
        hours, rest = divmod(abs(minutes), 60)
        sign = "-" if minutes < 0 else "+"
        return {"TZH": f"{sign}{hours:02d}", "TZM": f"{rest:02d}"}.get(element, f"{sign}{hours:02d}:{rest:02d}")
    return None


def _split(form: str) -> list[str]:
    elements = _ELEMENTS.findall(form)
    if sum(map(len, elements)) != len(form):
        raise OraError(1821, "date format not recognized")
    return elements


_NUMERIC_ELEMENTS = {
    "YYYY": 4, "RRRR": 4, "YY": 2, "RR": 2, "MM": 2, "DD": 2, "HH24": 2, "HH12": 2, "HH": 2, "MI": 2, "SS": 2,
}  # fmt: skip
_PUNCTUATION = frozenset("-/,.;:")
_RANGES = {
    "MM": (1, 12, 1843, "not a valid month"),
    "DD": (1, 31, 1847, "day of month must be between 1 and last day of month"),
    "HH24": (0, 23, 1850, "hour must be between 0 and 23"),
    "HH12": (1, 12, 1849, "hour must be between 1 and 12"),
    "HH": (1, 12, 1849, "hour must be between 1 and 12"),
    "MI": (0, 59, 1851, "minutes must be between 0 and 59"),
    "SS": (0, 59, 1852, "seconds must be between 0 and 59"),
}


def _mismatch() -> OraError:
    return OraError(1861, "literal does not match format string")


def moment_value(text: str, form: str, today: dt.date) -> dt.datetime:
    """Read a date or timestamp in an NLS format: what ``TO_DATE(text)`` gives without a format of its own.

    ``today`` decides the century of RR. Parts that the text leaves out at its end are midnight. Raises ORA-01861 or
    the number of the part that is wrong.
    """
    rest = text.strip()
    fields: dict[str, Any] = {}
    elements = [element.upper() for element in _split(form)]
    for element, following in zip(elements, [*elements[1:], ""], strict=True):
        if rest[:1].isalnum() and following not in _NUMERIC_ELEMENTS and element in _PUNCTUATION:
            raise _mismatch()  # punctuation may be left out between digits only
        rest = _read_element(rest, element, fields)
    if rest.strip():
        raise OraError(1830, "date format picture ends before converting entire input string")
    year = _year(fields, today)
    hour = fields.get("HH24", fields.get("HH12", fields.get("HH", 0)))
    if "HH24" not in fields and "AM" in fields:
        hour = hour % 12 + (12 if fields["AM"] == "PM" else 0)
    try:
        moment = dt.datetime(  # noqa: DTZ001 - Oracle's DATE has no zone
            year, fields.get("MM", today.month), fields.get("DD", 1), hour, fields.get("MI", 0), fields.get("SS", 0),
            fields.get("FF", 0),
        )  # fmt: skip
    except ValueError:
        raise OraError(1839, "date not valid for month specified") from None
    return moment.replace(tzinfo=fields["TZ"]) if "TZ" in fields else moment


def _year(fields: dict[str, Any], today: dt.date) -> int:
    for element in ("YYYY", "RRRR", "RR", "YY"):
        if element in fields:
            year: int = fields[element]
            if element == "YY" or (element == "RRRR" and year < 100) or element == "RR":
                if year >= 100:
                    return year
                century = today.year // 100
                if element != "YY":
                    century += (today.year % 100 >= 50 and year < 50) - (today.year % 100 < 50 and year >= 50)
                return century * 100 + year
            return year
    return today.year


def _read_element(rest: str, element: str, fields: dict[str, Any]) -> str:
    if not rest:
        return rest
    if element in _NUMERIC_ELEMENTS:
        width = 4 if element in {"RR", "YY"} else _NUMERIC_ELEMENTS[element]
        match = re.match(rf"\d{{1,{width}}}", rest)
        if match is None:
            if element == "MM" or not rest[0].isalnum():
                raise OraError(1843, "not a valid month") if element == "MM" else _mismatch()
            raise OraError(1858, "a non-numeric character was found where a numeric was expected")
        number = int(match[0])
        low, high, code, message = _RANGES.get(element, (0, 9999, 0, ""))
        if not low <= number <= high:
            raise OraError(code, message)
        fields[element] = number
        return rest[match.end() :]
    if element in {"MON", "MONTH"}:
        for number, name in enumerate(_FULL_MONTHS, 1):
            for word in (name, name[:3]):
                if rest[: len(word)].upper() == word:
                    fields["MM"] = number
                    return rest[len(word) :]
        raise OraError(1843, "not a valid month")
    if element.lstrip("X").startswith("FF"):
        match = re.match(r"\.?(\d{1,9})" if element[0] == "X" else r"(\d{1,9})", rest)
        if match is None:
            return rest
        fields["FF"] = int(match[1].ljust(9, "0")[:6])
        return rest[match.end() :]
    if element in {"AM", "PM"}:
        if rest[:2].upper() not in {"AM", "PM"}:
            raise OraError(1855, "AM/A.M. or PM/P.M. required")
        fields["AM"] = rest[:2].upper()
        return rest[2:]
    if element in {"TZR", "TZH:TZM"}:
        match = re.match(r"([+-]?)(\d{1,2}):(\d{2})", rest)
        if match is None:
            raise OraError(1874, "time zone hour must be between -15 and 15")
        offset = dt.timedelta(hours=int(match[2]), minutes=int(match[3]))
        fields["TZ"] = dt.timezone(-offset if match[1] == "-" else offset)
        return rest[match.end() :]
    if element == "T" or not element.isalpha():
        return _read_separator(rest, element)
    raise OraError(1821, "date format not recognized")


def _read_separator(rest: str, element: str) -> str:
    if element == " " or rest[0].isspace():
        return rest.lstrip() if rest[0].isspace() else rest
    if element[0] == '"':
        element = element.strip('"')
        if not rest.startswith(element):
            raise _mismatch()
        return rest[len(element) :]
    if rest[0].isalnum():
        # Oracle lets punctuation be left out between parts of full width.
        if element == "T" and rest[0].upper() == "T":
            return rest[1:]
        return rest
    return rest[1:]
