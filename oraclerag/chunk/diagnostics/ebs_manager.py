"""Logs of the concurrent managers of E-Business Suite: sessions of the process monitor, errors, managers that started.

The Java log of the output post-processor is one too: an entry is a time in brackets and what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.error_stack import Stack
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_START = re.compile(r"(?:={3,} ?)?Starting (?P<what>.{1,80}?) Concurrent Manager")
_MONITOR = re.compile(r"\s{0,20}Process monitor session (?P<edge>started|ended) : (?P<when>.{8,40})", re.ASCII)
_DEAD = re.compile(r"\s{0,20}Found dead process: spid=\(", re.ASCII)
_ERRORS = re.compile(r"List of errors encountered:")
_ITEM = re.compile(r"_ ?\d{1,3} ?_[ \t]*$", re.ASCII)
_ROUTINE = re.compile(r"Routine [&A-Z_0-9]{2,30} (?:has|received|cannot|failed|called)", re.ASCII)
_SERVICE = re.compile(r"CONC-SM TNS FAIL|Could not (?:contact|initialize) |Call to \w{3,40} failed for ", re.ASCII)
_ENTRY = re.compile(
    r"\[(?P<when>\d{1,2}/\d{1,2}/\d{2,4} \d{1,2}:\d\d:\d\d [AP]M)\] \[(?:[A-Z]{3,12}|\d{1,12}:RT\d{1,15})\]", re.ASCII
)
_TIME = re.compile(r".{0,100}: (?P<when>\d{1,2}-[^ \-]{1,8}-\d{4} \d\d:\d\d:\d\d)[ \t]*$")


def recognises(lines: list[str]) -> bool:
    """Whether a manager starts or monitors, or entries of the post-processor follow each other."""
    found = entries = 0
    for line in lines:
        if _MONITOR.match(line) or _DEAD.match(line) or (_START.match(line) and "Internal" in line):
            return True
        found += bool(_ERRORS.match(line) or _ITEM.match(line) or _ROUTINE.match(line) or _START.match(line))
        entries += _ENTRY.match(line) is not None
        if found == 2 or entries == 2:
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give sessions line by line, errors and entries whole."""
    unit = Gathering()
    unit.section = ("start",)
    item = entry = False
    stack: Stack | None = None
    for line in lines:
        text = line.text
        marked = True
        if found := _MONITOR.match(text):
            yield from unit.unit()
            unit.section = ("process monitor", found["when"].strip()) if found["edge"] == "started" else unit.section
            item = entry = False
        elif _ERRORS.match(text):
            yield from unit.unit()
            unit.section, item, entry = ("errors",), False, False
        elif _ITEM.match(text):
            yield from unit.unit()
            item, entry = True, False
        elif found := _ENTRY.match(text):
            yield from unit.unit()
            unit.section, item, entry = (_day(found["when"]),), False, True
        elif _START.match(text) or _DEAD.match(text) or (_SERVICE.match(text) and not item):
            yield from unit.unit()
            item = entry = False
        else:
            marked = False
        if marked:
            stack = None
        if not marked and text.strip() and text[0] not in " \t" and not item and not entry:
            begun = Stack()
            if stack is None or not stack.continues(text):
                yield from unit.unit()
                stack = begun if begun.begins(text) else None
        if unit.full:
            yield from unit.unit()
        printed = _MONITOR.match(text) or _ENTRY.match(text) or _TIME.match(text[:200])
        if printed is not None and (when := _iso(printed["when"])) is not None:
            unit.metadata.setdefault("timestamp", when)
        unit.add(line)
    yield from unit.unit()


def _iso(printed: str) -> str | None:
    """Give a time that may be American: ``4/5/31 6:07:08 AM``."""
    found = re.match(r"(\d{1,2})/(\d{1,2})/(\d{2,4}) (\d{1,2}):(\d\d:\d\d) ([AP])M", printed, re.ASCII)
    if found is None:
        return iso(printed)
    month, day, year, hour, rest, half = found.groups()
    hours = int(hour) % 12 + (12 if half == "P" else 0)
    return f"{int(year) if len(year) == 4 else 2000 + int(year)}-{int(month):02}-{int(day):02}T{hours:02}:{rest}"


def _day(printed: str) -> str:
    return (_iso(printed) or printed)[:10]
