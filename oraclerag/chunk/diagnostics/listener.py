"""The listener's log: who asked for which service, and what became of it.

A line is fields between asterisks and ends with a return code, which is a TNS code without its name: ``* 12514`` is
TNS-12514, and 0 is none. The text of the code follows, and what lies beneath it, one blank deeper per layer. Sections
are hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["described", "hour", "recognises", "units"]

_LINE = re.compile(r"(?P<when>\d{1,2}-[^ \-]{3,5}-\d{4} \d\d:\d\d:\d\d(?::\d{3})?) \* ")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,9})?(?:Z|[+-]\d\d:\d\d)?[ \t]*$", re.ASCII)
_RETURNED = re.compile(r"\* (\d{1,5})[ \t]{0,8}$", re.ASCII)
_CODE = re.compile(r" {0,6}(?:TNS|ORA)-\d{5}: ", re.ASCII)
_BANNER = re.compile(r"TNSLSNR for \S{1,60}.{0,60}: Version |LSNRCTL for \S", re.ASCII)
_INSTANCE = re.compile(
    r"\(SID=([A-Za-z0-9_$#.\-]{1,64})\)|\* (?:service_\w{1,20}|handoff) \* ([A-Za-z0-9_$#.\-]{1,64}) \*", re.ASCII
)
_SERVICE = re.compile(r"\(SERVICE_NAME=([A-Za-z0-9_$#.\-]{1,128})\)", re.ASCII)


def recognises(lines: list[str]) -> bool:
    """Whether two lines are fields between asterisks behind a time, or a listener says that it is one."""
    found = 0
    for line in lines:
        if _LINE.match(line) and line.count(" * ") >= 2:
            found += 1
        elif line.startswith(("TNSLSNR", "LSNRCTL")) and _BANNER.match(line):
            return True
        if found == 2:
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the lines, each with its stamp before it and the errors beneath it."""
    entry = Gathering()
    entry.section = ("start",)
    begun = False  # the entry has more than its stamp
    said: str | None = None  # by the line before, behind its time
    hours = ""  # of that time
    for line in lines:
        text = line.text
        found = _LINE.match(text)
        if _STAMP.match(text):
            yield from entry.unit()
            begun, said = False, None
            _placed(entry, text)
        elif found is not None:
            if said == text[found.end() :] and not entry.full and found["when"][:14] == hours:
                entry.metadata["occurrences"] = entry.metadata.get("occurrences", 1) + 1
            else:
                if begun:
                    yield from entry.unit()
                begun, said, hours = True, text[found.end() :], found["when"][:14]
                _placed(entry, found["when"])
                entry.metadata |= described(text)
        elif entry.full or (begun and not text.startswith((" ", "\t")) and not _CODE.match(text)):
            yield from entry.unit()
        if found is None:
            said = None
        begun = begun or not _STAMP.match(text)
        entry.add(line)
    yield from entry.unit()


def _placed(entry: Gathering, printed: str) -> None:
    when = iso(printed)
    if when is not None:
        entry.metadata["timestamp"] = when
        entry.section = (hour(when),)


def hour(when: str) -> str:
    """Give the section of a time."""
    return f"{when[:10]} {when[11:13]}h"


def described(text: str) -> dict[str, Any]:
    """Give what a line says as metadata: instance, service, and the code that it returned."""
    said: dict[str, Any] = {}
    begin = text[:8000]
    if found := _INSTANCE.search(begin):
        said["instance"] = found[1] or found[2]
    if found := _SERVICE.search(begin):
        said["service"] = found[1]
    if (found := _RETURNED.search(text[-16:])) and int(found[1]):
        said["oracle_error_code"] = [f"TNS-{found[1]:0>5}"]
    return said
