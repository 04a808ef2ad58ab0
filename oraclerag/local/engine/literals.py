"""Literals: numbers, texts, dates, timestamps, intervals, and the formats of date conversions."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.tree import Node
from oraclerag.local.engine.words import quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.token_cursor import TokenCursor

_DATE = re.compile(r"\s*([+-]?\d{1,4})-(\d{1,2})-(\d{1,2})\s*")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?")
_ZONE = re.compile(r"\s*([+-]\d{1,2}:\d{2}|[A-Za-z][\w/+-]*)\s*$")
_DAY_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_FORMAT_ELEMENTS = re.compile(
    r"""FM|FX|"[^"]*"|SYEAR|YEAR|SYYYY|YYYY|Y,YYY|YYY|YY|Y|RRRR|RR|CC|SCC|Q|IYYY|IYY|IY|I|MONTH|MON|MM|RM|WW|IW|W
      |DDD|DD|DAY|DY|DL|DS|D|J|HH24|HH12|HH|MI|SSSSS|SS|FF[1-9]?|AM|PM|A\.M\.|P\.M\.|TZH|TZM|TZR|TZD|TS|X|BC|AD|B\.C\.
      |A\.D\.|TH|SP|[-/,.;:\s]""",
    re.VERBOSE | re.IGNORECASE,
)
_ONCE = frozenset({"DD", "MM", "YYYY", "HH24", "MI", "SS"})


def number(token: Token) -> Node:
    """Give a numeric literal; whole numbers are written with a point, else PostgreSQL would count in integers."""
    text = token.text
    last = text[-1]
    if last in "fFdD":
        return Node(f"{text[:-1]}::float{'4' if last in 'fF' else '8'}", kind="number", type="double")
    if text.isdigit():
        return Node(f"{text}.", kind="integer", type="number", value=text)
    return Node(text, kind="number", type="number", value=text)


def string(value: str, longest: int = 32767) -> Node:
    """Give a text literal; the empty one is NULL. More bytes than ``longest`` are ORA-01704."""
    if not value:
        return Node("NULL", kind="null")
    if len(value) > longest // 4 and len(value.encode()) > longest:
        raise OraError(1704, "string literal too long")
    return Node(quote_text(value), kind="string", value=value)


def date(token: Token) -> Node:
    """Give a DATE literal; ORA-01841, ORA-01843, ORA-01847 or ORA-01839 for what is no day."""
    found = _DATE.fullmatch(token.value)
    if found is None:
        raise OraError(1861, "literal does not match format string", token.position)
    return Node(f"'{_day(found, token)} 00:00:00'::ora.odate", type="date")


def _day(found: re.Match[str], token: Token) -> str:
    year, month, day = (int(part) for part in found.groups())
    if not 1 <= year <= 9999:
        raise OraError(1841, "(full) year must be between -4713 and +9999, and not be 0", token.position)
    if not 1 <= month <= 12:
        raise OraError(1843, "An invalid month was specified.", token.position)
    if not 1 <= day <= 31:
        raise OraError(1847, "day of month must be between 1 and last day of month", token.position)
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        raise OraError(1839, "date not valid for month specified", token.position) from None


def timestamp(token: Token) -> Node:
    """Give a TIMESTAMP literal, with a time zone if it names one."""
    head, _, rest = token.value.strip().partition(" ")
    found = _DATE.fullmatch(head)
    time = _TIME.match(rest.strip()) if rest else None
    if found is None or (rest and time is None):
        raise OraError(1861, "literal does not match format string", token.position)
    hour, minute, second, fraction = time.groups() if time else ("0", "0", "0", None)
    limits = ((hour, 23, 1850), (minute, 59, 1851), (second or "0", 59, 1852))
    for value, most, number_ in limits:
        if int(value) > most:
            raise OraError(number_, f"value {value} is out of range in a timestamp literal", token.position)
    text = f"{_day(found, token)} {hour}:{minute}:{second or '0'}" + (f".{fraction[:6]}" if fraction else "")
    zone = rest.strip()[time.end() :] if time else ""
    if not zone.strip():
        return Node(f"'{text}'::timestamp", type="timestamp")
    if not _ZONE.fullmatch(zone):
        raise OraError(1861, "literal does not match format string", token.position)
    return Node(f"'{text} {zone.strip()}'::timestamptz", type="timestamp with time zone")


def interval(cursor: TokenCursor, token: Token) -> Node:
    """Give an INTERVAL literal; the fields follow the text. ORA-30089 for a missing or unknown field."""
    first, precision = _field(cursor)
    last = first
    if cursor.accept("TO"):
        last, _ = _field(cursor)
    text = token.value.strip()
    if first in ("YEAR", "MONTH"):
        return _months(text, first, last, token)
    if last in ("YEAR", "MONTH") or _DAY_FIELDS.index(last) < _DAY_FIELDS.index(first):
        raise OraError(30089, "missing or invalid <datetime field>", token.position)
    sign = "-" if text.startswith("-") else ""
    patterns = {
        "DAY": r"(?P<DAY>\d+)",
        "HOUR": r"(?P<HOUR>\d+)",
        "MINUTE": r"(?P<MINUTE>\d+)",
        "SECOND": r"(?P<SECOND>\d+(?:\.\d+)?)",
    }
    wanted = _DAY_FIELDS[_DAY_FIELDS.index(first) : _DAY_FIELDS.index(last) + 1]
    pattern = "".join(
        (" " if previous == "DAY" else ":" if previous else "") + patterns[field]
        for previous, field in zip(("", *wanted), wanted, strict=False)
    )
    found = re.fullmatch(pattern, text.lstrip("+-"))
    if found is None:
        raise OraError(1867, "the interval is invalid", token.position)
    if len(found[first].split(".")[0].lstrip("0")) > precision:
        raise OraError(1873, "the leading precision of the interval is too small", token.position)
    limits = {"HOUR": (23, 1850), "MINUTE": (59, 1851), "SECOND": (59, 1852)}
    for field in wanted[1:]:
        most, number_ = limits[field]
        if int(found[field].split(".")[0]) > most:
            raise OraError(number_, f"{field.lower()} out of range in an interval literal", token.position)
    words = " ".join(f"{sign}{found[field]} {field.lower()}" for field in wanted)
    return Node(f"interval '{words}'", type="interval")


def _field(cursor: TokenCursor) -> tuple[str, int]:
    token = cursor.token
    field = token.upper
    if token.kind != "word" or field not in (*_DAY_FIELDS, "YEAR", "MONTH"):
        raise OraError(30089, "missing or invalid <datetime field>", token.position)
    cursor.position += 1
    precision = 2
    if cursor.accept("("):
        precision = cursor.integer()
        if cursor.accept(","):
            cursor.integer()
        cursor.need(")")
    return field, precision


def _months(text: str, first: str, last: str, token: Token) -> Node:
    found = re.fullmatch(r"([+-]?)(\d+)(?:-(\d+))?", text)
    if found is None or (found[3] is None) == (first != last):
        raise OraError(1867, "the interval is invalid", token.position)
    if last not in ("YEAR", "MONTH"):
        raise OraError(30089, "missing or invalid <datetime field>", token.position)
    months = int(found[2]) * 12 + int(found[3] or 0) if first == "YEAR" else int(found[2])
    return Node(f"interval '{found[1]}{months} month'", type="interval", value=f"{found[1]}{months}")


def check_date_format(text: str, position: int) -> None:
    """Refuse a format with an element Oracle does not know (ORA-01821) or one that comes twice (ORA-01810)."""
    at = 0
    seen: set[str] = set()
    while at < len(text):
        found = _FORMAT_ELEMENTS.match(text, at)
        if found is None:
            raise OraError(1821, "date format not recognized", position)
        element = found.group().upper()
        if element in _ONCE:
            if element in seen:
                raise OraError(1810, "format code appears twice", position)
            seen.add(element)
        at = found.end()


def check_char_format(text: str, position: int, data_type: str) -> None:
    """Refuse an unknown format of TO_CHAR for a value of a known type (ORA-01821, ORA-01481)."""
    if data_type == "number":
        if not re.fullmatch(r"(?i)(FM)?[$0-9.,BCDGLSVXU]*(EEEE|MI|PR|S|TM[9E]?|RN)?", text):
            raise OraError(1481, "invalid number format model", position)
    elif data_type in ("date", "timestamp", "timestamp with time zone"):
        at = 0
        while at < len(text):
            found = _FORMAT_ELEMENTS.match(text, at)
            if found is None:
                raise OraError(1821, "date format not recognized", position)
            at = found.end()
