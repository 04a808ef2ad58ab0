"""The alert log: an entry under its time stamp, with all that belongs to it although it may be stamped apart.

Up to 12.1 an entry is a stamp (``Fri Nov 24 16:43:19 2017``, some ports print a zone) and the lines to the next. Since
12.2 (``2023-06-06T05:37:54.555428+00:00``) every write has its own stamp, and what others write stands between: an
ORA-01555 is announced by one entry and its statement is another one. Sections are the days, and in them a startup, a
shutdown and a list of parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from oraclerag.chunk.diagnostics.alert_entries import (
    ERRORS_IN_FILE,
    FATAL_NI,
    GRID,
    UNDO,
    Entry,
    entries,
    joined,
    runs,
    stamped,
)
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "sectioned", "units"]

_STARTING = re.compile(r"Starting ORACLE instance|Starting up (?:ORACLE RDBMS|Oracle)|Starting up:", re.ASCII)
_SHUTTING = re.compile(r"Shutting down (?:ORACLE )?instance", re.ASCII)
_OPENED = re.compile(r"Completed: ALTER DATABASE (?:\S{1,128} )?OPEN", re.ASCII | re.IGNORECASE)
_STOPPED = re.compile(r"Instance (?:shutdown complete|terminated by)", re.ASCII)
_PARAMETERS = re.compile(r"System parameters with non-default values:", re.ASCII)
_PARAMETER = re.compile(r"  ([a-z_][a-z0-9_$.]{1,80}) {0,40}= ?(.*)$", re.ASCII | re.IGNORECASE)

# Errors without their codes.
_TERMINATED = re.compile(r"(?:.{1,60}: )?terminating (?:the )?instance due to (?:ORA )?error (\d{1,5})\b", re.ASCII)
_DEADLOCK = "Global Enqueue Services Deadlock detected"

# .../diag/rdbms/<database>/<instance>/trace/... since 11g, .../bdump/<instance>_<process>_<pid>.trc before.
_HOME = re.compile(r"/diag/rdbms/[^/\s]{1,30}/([^/\s]{1,30})/", re.ASCII)
_DUMP = re.compile(r"[/\\][bu]dump[/\\]([A-Za-z0-9$#]{1,30})_[a-z][a-z0-9]{1,4}_\d+\.tr[cm]", re.ASCII)

_LONG = 10  # lines; what a longer entry begins with is repeated where it is cut
_HEAD = 200  # characters of that
_STARTUP_LINES = 2000  # after which a startup that never says that the database is open is over


def recognises(lines: list[str]) -> bool:
    """Whether two lines are time stamps that stand alone, or one and a line that only a startup writes."""
    stamps = grid = 0
    for line in lines:
        if stamped(line):
            stamps += 1
        elif GRID.match(line):
            grid += 1
        elif stamps and (_STARTING.match(line) or _PARAMETERS.match(line)):
            return True
        elif not stamps and FATAL_NI.match(line):
            return False  # sqlnet.log has no stamps; an alert log has one before such a block
        if stamps == 2 or grid == 2:
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the entries of an alert log."""
    return sectioned(runs(joined(entries(lines))))


def sectioned(found: Iterable[Entry]) -> Iterator[Unit]:
    """Give entries as units in the sections of their day: a startup, a shutdown, a list of parameters, or none."""
    reader = _Reader()
    for entry in found:
        yield from reader.units(entry)


class _Reader:
    """What is known from one entry to the next."""

    def __init__(self) -> None:
        self.day = ""
        self.phase: str | None = None
        self.lines = 0
        self.parameters = False
        self.always: dict[str, Any] = {}

    def units(self, entry: Entry) -> Iterator[Unit]:
        """Give an entry as one unit, or as several where a startup or its parameters begin or end in it."""
        if entry.when is not None:
            self.day = entry.when[:10]
        if entry.begins and not _PARAMETER.match(entry.first):
            self.parameters = False
        gathered, begun = Gathering(), False
        gathered.always = self.always
        if len(entry.lines) > _LONG and entry.occurrences == 1:
            gathered.head = entry.title[:_HEAD]
        metadata = self._metadata(entry)
        for line, text in zip(entry.lines, entry.texts, strict=True):
            if self._cuts(text) and begun:
                yield from self._given(gathered, metadata)
            begun = begun or bool(text.strip())
            self._turn(text)
            gathered.section, gathered.codes = self._section(), not self.parameters
            if self.phase is not None:
                gathered.head = ""
            gathered.add(line)
        yield from self._given(gathered, metadata)

    def _given(self, gathered: Gathering, metadata: dict[str, Any]) -> Iterator[Unit]:
        self.lines += len(gathered.lines)
        last = gathered.lines[-1].text if gathered else ""
        gathered.section = gathered.section or self._section()
        yield from gathered.unit(metadata)
        if self.phase is not None and (_OPENED.search(last) or _STOPPED.search(last) or self.lines > _STARTUP_LINES):
            self.phase = None

    def _cuts(self, text: str) -> bool:
        if self.parameters:
            return not text.strip() or text[0] not in " \t" or _PARAMETER.match(text) is not None
        return (
            _PARAMETERS.match(text) is not None
            or _STARTING.match(text) is not None
            or _SHUTTING.match(text) is not None
        )

    def _turn(self, text: str) -> None:
        """Note what a line begins or ends."""
        if _PARAMETERS.match(text):
            self.parameters = True
            self.phase = self.phase or "startup"
        elif self.parameters and text[:1] not in ("", " ", "\t"):
            self.parameters = False
        if _STARTING.match(text) and self.phase != "startup":
            self.phase, self.lines = "startup", 0
        elif _SHUTTING.match(text) and self.phase != "shutdown":
            self.phase, self.lines = "shutdown", 0

    def _section(self) -> tuple[str, ...]:
        day = self.day or "before the first time stamp"
        if self.parameters:
            return (day, self.phase or "startup", "parameters")
        return (day, self.phase) if self.phase is not None else (day,)

    def _metadata(self, entry: Entry) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if entry.when is not None:
            said["timestamp"] = entry.when
        container = entry.prefix
        codes: list[str] = []
        for text in entry.texts:
            if found := FATAL_NI.match(text):
                codes.append(f"TNS-{found[1]:0>5}")
            elif found := _TERMINATED.match(text):
                codes.append(f"ORA-{found[1]:0>5}")
            elif text.startswith(_DEADLOCK):
                codes.append("ORA-00060")
            if "/" not in text and "\\" not in text and not text.startswith("ORA-"):
                continue
            if found := ERRORS_IN_FILE.match(text):
                container = found[3] or container
            if found := _HOME.search(text) or _DUMP.search(text):
                self.always["instance"] = found[1]
            if found := UNDO.match(text):
                said |= {"sql_id": found[1]} if found[1] else {}
        if codes:
            said["oracle_error_code"] = codes
        if entry.occurrences > 1:
            said["occurrences"] = entry.occurrences
        if container is not None:
            said["container"] = container
        return said
