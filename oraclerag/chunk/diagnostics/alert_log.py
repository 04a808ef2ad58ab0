"""The alert log: an entry under its time stamp, with all that belongs to it although it may be stamped apart.

Up to 12.1 an entry is a stamp (``Fri Nov 24 16:43:19 2017``, some ports print a zone) and the lines to the next. Since
12.2 (``2023-06-06T05:37:54.555428+00:00``) every write has its own stamp, and what others write stands between: an
ORA-01555 is announced by one entry and its statement is another one. Sections are the days, and in them a startup, a
shutdown and a list of parameters.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["Entry", "joined", "recognises", "sectioned", "units"]

_STAMP = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
    r"(?: [A-Z]{2,5})? \d{4}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(?:Z|[+-]\d\d:\d\d))[ \t]*$",
    re.ASCII,
)
# The alert log of Grid Infrastructure has the stamp in the line.
_GRID = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})(?:: ?| )\[[^\](]{1,40}\(\d+\)\]CRS-\d{3,5}:", re.ASCII)
_CONTAINER = re.compile(r"([A-Z][A-Z0-9_$#]{0,127})?\((\d{1,5})\):", re.ASCII)
_STARTING = re.compile(r"Starting ORACLE instance|Starting up (?:ORACLE RDBMS|Oracle)|Starting up:", re.ASCII)
_SHUTTING = re.compile(r"Shutting down (?:ORACLE )?instance", re.ASCII)
_OPENED = re.compile(r"Completed: ALTER DATABASE (?:\S{1,128} )?OPEN", re.ASCII | re.IGNORECASE)
_STOPPED = re.compile(r"Instance (?:shutdown complete|terminated by)", re.ASCII)
_PARAMETERS = re.compile(r"System parameters with non-default values:", re.ASCII)
_PARAMETER = re.compile(r"  ([a-z_][a-z0-9_$.]{1,80}) {0,40}= ?(.*)$", re.ASCII | re.IGNORECASE)

_ERRORS_IN_FILE = re.compile(
    r"Errors in file (\S.{0,1000}?\.tr[cm])(?: {1,4}\(incident=(\d+)\))?(?: \(PDBNAME=([^)]{1,130})\))?:[ \t]*$",
    re.ASCII,
)
_CODE = re.compile(r"[ \t]{0,16}[A-Z]{3,4}-\d{1,6}[: \[]", re.ASCII)
_UNDO = re.compile(r"ORA-0?1555 caused by SQL statement below \((?:SQL ID: ([0-9a-z]{13}), )?.*:[ \t]*$", re.ASCII)
_STATEMENT = re.compile(
    r"\s{0,40}(?:/\*|--|\(|(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|BEGIN|DECLARE|CALL|LOCK|ALTER|CREATE|DROP|EXPLAIN)\b)",
    re.ASCII | re.IGNORECASE,
)
_DEADLOCK = re.compile(r"(?:ORA-0*60: |Global Enqueue Services Deadlock detected).{0,200}\bin file[ \t]*$", re.ASCII)
_PATH = re.compile(r"\s{0,8}(?:[A-Za-z]:\\|/|\+)\S", re.ASCII)
_FATAL_NI = re.compile(r"Fatal NI connect error \d{1,5}", re.ASCII)
_NI_REST = re.compile(
    r"\s|$|\*{20,}|\(DESCRIPTION|VERSION INFORMATION|Time: |Tracing |Tns error|[nN][st] \w+ err|TNS-", re.ASCII
)
_NI_END = "nt OS err code"
_INCIDENT_REST = re.compile(r"Incident details in:", re.ASCII)
_PACKAGE_REST = re.compile(r"Use ADRCI|See Note", re.ASCII)
_INCIDENT = "Incident details in:"
_PACKAGE = ("Use ADRCI", "See Note")

# .../diag/rdbms/<database>/<instance>/trace/... since 11g, .../bdump/<instance>_<process>_<pid>.trc before.
_HOME = re.compile(r"/diag/rdbms/[^/\s]{1,30}/([^/\s]{1,30})/", re.ASCII)
_DUMP = re.compile(r"[/\\][bu]dump[/\\]([A-Za-z0-9$#]{1,30})_[a-z][a-z0-9]{1,4}_\d+\.tr[cm]", re.ASCII)

_SECONDS = 2  # within which an entry may continue an earlier one
_BETWEEN = 3  # entries of other processes between the two
_STARTUP_LINES = 2000  # after which a startup that never says that the database is open is over
_JOINED_LINES = 200


@dataclass(slots=True)
class Entry:
    """What was written at once: a stamp and lines, or lines that were stamped as those before them.

    ``texts`` is what its lines say. ``when`` is the printed time in ISO 8601. ``prefix`` is the container that stands
    before its message.
    """

    lines: list[Line] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    when: str | None = None
    prefix: str | None = None
    characters: int = 0

    def add(self, line: Line, text: str) -> None:
        """Take a line; ``text`` is what it says, without the container before it, nothing for a stamp."""
        self.lines.append(line)
        self.texts.append(text)
        self.characters += len(line.raw)

    def extend(self, other: Entry) -> None:
        """Take another entry that continues this one."""
        self.lines += other.lines
        self.texts += other.texts
        self.characters += other.characters

    @property
    def begins(self) -> bool:
        """Whether it has a stamp of its own."""
        return bool(self.lines) and not self.texts[0] and stamped(self.lines[0].text)

    @property
    def first(self) -> str:
        """Its first line that is not blank."""
        return next((text for text in self.texts if text.strip()), "")

    @property
    def last(self) -> str:
        """Its last line that is not blank."""
        return next((text for text in reversed(self.texts) if text.strip()), "")


def recognises(lines: list[str]) -> bool:
    """Whether two lines are time stamps that stand alone, or one and a line that only a startup writes."""
    stamps = grid = 0
    for line in lines:
        if stamped(line):
            stamps += 1
        elif _GRID.match(line):
            grid += 1
        elif stamps and (_STARTING.match(line) or _PARAMETERS.match(line)):
            return True
        elif not stamps and _FATAL_NI.match(line):
            return False  # sqlnet.log has no stamps; an alert log has one before such a block
        if stamps == 2 or grid == 2:
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the entries of an alert log."""
    return sectioned(joined(_entries(lines)))


def stamped(text: str) -> bool:
    """Whether a line is a time stamp and nothing else."""
    return len(text) >= 20 and (text[0] in "MTWFS" or text[0].isdigit()) and _STAMP.match(text) is not None


def _entries(lines: Iterable[Line]) -> Iterator[Entry]:
    """Read entries; a long one is given in parts, cut before a line that begins a message."""
    entry = Entry()
    for line in lines:
        text = line.text
        if stamped(text):
            if entry.lines:
                yield entry
            entry = Entry(when=iso(text))
            entry.add(line, "")
            continue
        if grid := _GRID.match(text):
            if entry.lines:
                yield entry
            entry = Entry(when=iso(grid[1]))
        prefix = None
        if found := _CONTAINER.match(text):
            prefix, text = found[1] or found[2], text[found.end() :]
        begun = any(said.strip() for said in entry.texts)
        other = prefix is not None and begun and prefix != entry.prefix
        long = len(entry.lines) >= _JOINED_LINES // 2 or entry.characters >= 16_000
        if (
            other
            or (long and _begins_message(entry, text))
            or len(entry.lines) >= _JOINED_LINES
            or entry.characters >= 32_000
        ):
            yield entry
            entry = Entry(when=entry.when, prefix=None if prefix is not None else entry.prefix)
            begun = False
        if prefix is not None and not begun:
            entry.prefix = prefix
        entry.add(line, text)
    if entry.lines:
        yield entry


def _begins_message(entry: Entry, text: str) -> bool:
    if (
        not text
        or text[0] in " \t("
        or _CODE.match(text)
        or text.startswith((_INCIDENT, *_PACKAGE, "Additional info", "..."))
    ):
        return False
    return not entry.last.endswith(":")


def joined(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Join what continues an entry to it, with at most three entries of other processes that stand between.

    Only within two seconds and in the same container; entries of another container are never taken in.
    """
    held: Entry | None = None
    wanted: re.Pattern[str] | None = None
    between: list[Entry] = []
    todo: deque[Entry] = deque()
    for read in entries:
        todo.append(read)
        while todo:
            entry = todo.popleft()
            if held is not None and wanted is not None and _near(held, entry):
                if entry.prefix == held.prefix and _continues(wanted, entry):
                    for other in (*between, entry):
                        held.extend(other)
                    between = []
                    wanted = _wanted(held)
                    continue
                if len(between) < _BETWEEN and entry.prefix in (None, held.prefix):
                    between.append(entry)
                    continue
            if held is not None:
                yield held
            todo.appendleft(entry)
            todo.extendleft(reversed(between))
            between = []
            held = todo.popleft()
            wanted = _wanted(held)
    if held is not None:
        yield held
    yield from between


def _continues(wanted: re.Pattern[str], entry: Entry) -> bool:
    text = entry.first
    if wanted is _NI_REST and entry.begins and len(entry.texts) > 1:
        text = entry.texts[1]  # a blank line is part of such a block
    return wanted.match(text) is not None


def _wanted(entry: Entry) -> re.Pattern[str] | None:
    """Give what the entry that continues this one begins with; None where it is complete."""
    if len(entry.lines) >= _JOINED_LINES or entry.characters >= 32_000:
        return None
    last = entry.last
    if _ERRORS_IN_FILE.match(last):
        return _CODE
    if _UNDO.match(last):
        return _STATEMENT
    if _DEADLOCK.match(last):
        return _PATH
    if last.startswith(_INCIDENT):
        return _PACKAGE_REST
    wanted = None
    for text in entry.texts:
        if text.startswith("Fatal NI") and _FATAL_NI.match(text):
            wanted = _NI_REST
        elif wanted is _NI_REST and _NI_END in text:
            wanted = None
        elif text.startswith("Errors in file") and (found := _ERRORS_IN_FILE.match(text)):
            wanted = _INCIDENT_REST if found[2] else None
        elif wanted is _INCIDENT_REST and text.startswith((_INCIDENT, *_PACKAGE)):
            wanted = None
    return wanted


def _near(held: Entry, entry: Entry) -> bool:
    if held.when is None or entry.when is None or held.when == entry.when:
        return True
    try:
        apart = datetime.fromisoformat(entry.when[:26]) - datetime.fromisoformat(held.when[:26])
    except ValueError:
        return False
    return abs(apart.total_seconds()) <= _SECONDS


def sectioned(entries: Iterable[Entry]) -> Iterator[Unit]:
    """Give entries as units in the sections of their day: a startup, a shutdown, a list of parameters, or none."""
    reader = _Reader()
    for entry in entries:
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
        metadata = self._metadata(entry)
        for line, text in zip(entry.lines, entry.texts, strict=True):
            if self._cuts(text) and begun:
                yield from self._given(gathered, metadata)
            begun = begun or bool(text.strip())
            self._turn(text)
            gathered.section, gathered.codes = self._section(), not self.parameters
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
        for text in entry.texts:
            if "/" not in text and "\\" not in text and not text.startswith("ORA-"):
                continue
            if found := _ERRORS_IN_FILE.match(text):
                container = found[3] or container
            if found := _HOME.search(text) or _DUMP.search(text):
                self.always["instance"] = found[1]
            if found := _UNDO.match(text):
                said |= {"sql_id": found[1]} if found[1] else {}
        if container is not None:
            said["container"] = container
        return said
