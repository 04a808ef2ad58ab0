"""Times as Oracle's programs print them, in every language whose months are known, as one form: ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime

__all__ = ["iso", "month"]

_MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "JAN ENE GEN JANV JÄN",
            "FEB FEV FÉV FÉVR FEVR",
            "MAR MRZ MÄR MARS MAART MRT",
            "APR ABR AVR AVRI AVRIL",
            "MAY MAI MAG MEI",
            "JUN JUIN GIU",
            "JUL JUIL JUI LUG",
            "AUG AGO AOÛ AOU AOÛT AOUT",
            "SEP SET SEPT",
            "OCT OKT OTT OUT",
            "NOV",
            "DEC DEZ DIC DÉC",
        ),
        start=1,
    )
    for name in names.split()
}

_CTIME = re.compile(
    r"^[^\W\d]{2,5}\.? (?P<month>[^\W\d]{3,5})\.? {1,2}(?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d)"
    r"(?: [A-Z]{2,5}| [+-]\d{4})? (?P<year>\d{4})"
)
_ORACLE = re.compile(
    r"(?P<day>\d{1,2})-(?P<month>[^\W\d]{3,5}|\d{1,2}月 ?)\.?-(?P<year>\d{4}|\d\d)"
    r"(?: (?P<time>\d\d:\d\d:\d\d)(?:[.:,](?P<part>\d{1,9}))?)?"
)
_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_SLASHES = re.compile(r"(?P<year>\d{4})/(?P<month>\d\d)/(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)")
_AMERICAN = re.compile(r"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4}) (?P<time>\d\d:\d\d:\d\d)")


def month(name: str) -> int | None:
    """Give the number of a month by its name, None where the language is not known."""
    name = name.strip().removesuffix(".")
    if name.endswith("月"):
        return int(name[:-1]) if 1 <= int(name[:-1]) <= 12 else None
    return _MONTHS.get(name.upper())


def iso(printed: str) -> str | None:
    """Give a printed time as ``2031-04-05T06:07:08.1+02:00``: with the zone where an offset is printed, else without.

    A name of a zone (CST) says no offset and is left out. None where it is not a time, or its month is not known.
    """
    when = _read(printed.strip())
    if when is None:
        return None
    try:
        datetime.fromisoformat(when[:19])
    except ValueError:  # the 31st of April
        return None
    return when


def _read(printed: str) -> str | None:
    if found := _ISO.match(printed):
        zone = found["zone"] or ""
        if len(zone) == 5:
            zone = f"{zone[:3]}:{zone[3:]}"
        return f"{found['date']}T{found['time']}{_fraction(found['part'])}{zone}"
    if found := _CTIME.match(printed) or _ORACLE.match(printed):
        number = month(found["month"])
        if number is None:
            return None
        year = found["year"] if len(found["year"]) == 4 else f"20{found['year']}"
        date = f"{year}-{number:02}-{int(found['day']):02}"
        if found["time"] is None:
            return date
        return f"{date}T{found['time']}{_fraction(found.groupdict().get('part'))}"
    if found := _SLASHES.match(printed) or _AMERICAN.match(printed):
        return f"{found['year']}-{found['month']}-{found['day']}T{found['time']}"
    return None


def _fraction(digits: str | None) -> str:
    return f".{digits}" if digits else ""
