"""A trace of SQL*Net: its configuration, then calls from entry to exit, with the packets that they sent and read.

Stamps have three forms: ``2014-11-15 16:16:07.203891 : nsopen:entry`` (a file in the ADR, which begins with ``Trace
file`` as those of the database do), ``[16-NOV-2031 09:30:57:060] nsopen: entry``, the same with a counter or a thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_LINE = re.compile(
    r"(?:(?P<iso>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,6}) : |(?:\(\d{1,20}\) )?\[(?:\d{6} )?"
    r"(?P<date>\d{1,2}-[A-Z]{3}-\d{4} \d\d:\d\d:\d\d:\d{3})\] )?(?P<call>[a-z][a-z0-9_]{2,30}): ?(?P<rest>.*)$",
    re.ASCII,
)
_CONFIGURATION = re.compile(
    r"(?:.{0,60}[:\]] )?--- (?:TRACE CONFIGURATION|PARAMETER SOURCE|LOG CONFIGURATION) INFORMATION (FOLLOWS|ENDS) ---",
    re.ASCII,
)
_BANNER = re.compile(r"(?:TNSLSNR|TNS) for \S", re.ASCII)
_ENTRY_EXIT = re.compile(r"(?:entry|(?:normal |error )?exit)[ \t]{0,8}$", re.ASCII)
_HEX = re.compile(r"(?:[0-9A-F]{2} ){8}", re.ASCII)
_ERROR = re.compile(r"\b(ns2?|nt\[[012]\]|ora\[[012]\])=(\d{1,6})", re.ASCII)
_ERRORS = frozenset(("nserror", "nsres", "nioqer", "niqme"))
_OPENS = frozenset(("nsopen", "nscall", "nsanswer"))

_LINES = 40  # of one call; longer ones are given in runs of so many lines
_BEFORE = 5  # lines before an error that say what led to it


def recognises(lines: list[str]) -> bool:
    """Whether it says its trace configuration, or five calls are entered."""
    entries = 0
    for at, line in enumerate(lines):
        if _CONFIGURATION.match(line) or (at < 6 and at and lines[0].startswith("Trace file ") and _BANNER.match(line)):
            return True
        if (
            "entry" in line
            and (found := _LINE.match(line))
            and (found["iso"] or found["date"])
            and found["rest"].strip() == "entry"
        ):
            entries += 1
    return entries >= 5


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the calls; what was sent as it was sent, in hexadecimal, says nothing of errors."""
    attempt = 0
    run = Gathering()
    run.section = ("header",)
    call: str | None = None  # that began the run
    for line in lines:
        text = line.text
        if found := _CONFIGURATION.match(text):
            if found[1] == "FOLLOWS":
                yield from run.unit()
                run.section = ("configuration",)
            run.add(line)
            if found[1] == "ENDS":
                yield from run.unit()
                run.section, call = _place(attempt), None
            continue
        found = _LINE.match(text)
        name, rest = (found["call"], found["rest"]) if found else ("", text)
        if name in _OPENS and rest.strip() == "entry":
            yield from run.unit()
            attempt, call = attempt + 1, None
            run.section = _place(attempt)
        elif found and run.section == ("header",) and rest.strip() == "entry":
            yield from run.unit()
            run.section = _place(attempt)
        packet = found is not None and _HEX.match(rest) is not None
        if packet == run.codes and run and run.section != ("configuration",):
            # The name of the packet stands in the line before it.
            yield from run.unit()
            call = None
        run.codes = not packet
        wrong = name in _ERRORS
        if run.full or (len(run.lines) >= _LINES and not wrong):
            yield from run.unit()
            call = None
        if found and (when := iso(found["iso"] or found["date"] or "")) is not None:
            run.metadata.setdefault("timestamp", when)
        if wrong:
            _blame(run.metadata, rest)
        run.add(line)
        if found and _ENTRY_EXIT.match(rest):
            if rest.startswith("entry"):
                call = call or name
            elif name == call:
                if len(run.lines) > _BEFORE:
                    yield from run.unit()
                call = None
    yield from run.unit()


def _place(attempt: int) -> tuple[str, ...]:
    return (f"connection {attempt}",) if attempt else ("calls",)


def _blame(metadata: dict[str, Any], rest: str) -> None:
    """Take the codes out of ``ns=12541, ns2=12560; nt[0]=511``, where 0 is none; the first is what failed."""
    codes = metadata.setdefault("oracle_error_code", [])
    for layer, number in _ERROR.findall(rest):
        if int(number) and not layer.startswith(("nt[1", "nt[2")):  # those are of the operating system
            codes.append(f"{'ORA' if layer.startswith('ora') else 'TNS'}-{number:0>5}")
