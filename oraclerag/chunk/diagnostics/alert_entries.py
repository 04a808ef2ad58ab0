"""Entries of an alert log: what was written under a time stamp, and what continues it under a later one."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.lines import Line

__all__ = ["ERRORS_IN_FILE", "FATAL_NI", "GRID", "UNDO", "Entry", "entries", "joined", "runs", "stamped", "wanted_next"]

_STAMP = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
    r"(?: [A-Z]{2,5})? \d{4}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(?:Z|[+-]\d\d:\d\d))[ \t]*$",
    re.ASCII,
)
GRID = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})(?:: ?| )\[[^\](]{1,40}\(\d+\)\]CRS-\d{3,5}:", re.ASCII)
"""A line of Grid Infrastructure's alert log, which has its stamp in it."""
_CONTAINER = re.compile(r"([A-Z][A-Z0-9_$#]{0,127})?\((\d{1,5})\):", re.ASCII)

ERRORS_IN_FILE = re.compile(
    r"Errors in file (\S.{0,1000}?\.tr[cm])(?: {1,4}\(incident=(\d+)\))?(?: \(PDBNAME=([^)]{1,130})\))?:[ \t]*$",
    re.ASCII,
)
"""What announces errors: the trace file, the number of the incident, the container."""
_CODE = re.compile(r"[ \t]{0,16}[A-Z]{3,4}-\d{1,6}[: \[]", re.ASCII)
UNDO = re.compile(r"ORA-0?1555 caused by SQL statement below \((?:SQL ID: ([0-9a-z]{13}), )?.*:[ \t]*$", re.ASCII)
"""What announces the statement that ran out of undo: its SQL ID, since 11g."""
_STATEMENT = re.compile(
    r"\s{0,40}(?:/\*|--|\(|(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|BEGIN|DECLARE|CALL|LOCK|ALTER|CREATE|DROP|EXPLAIN)\b)",
    re.ASCII | re.IGNORECASE,
)
_DEADLOCK = re.compile(r"(?:ORA-0*60: |Global Enqueue Services Deadlock detected).{0,200}\bin file[ \t]*$", re.ASCII)
_PATH = re.compile(r"\s{0,8}(?:[A-Za-z]:\\|/|\+)\S", re.ASCII)
FATAL_NI = re.compile(r"Fatal NI connect error (\d{1,5})", re.ASCII)
"""The first line of a block of SQL*Net; its last one says the operating system's number."""
_NI_REST = re.compile(
    r"\s|$|\*{20,}|\(DESCRIPTION|VERSION INFORMATION|Time: |Tracing |Tns error|[nN][st] \w+ err|TNS-", re.ASCII
)
_WORD = re.compile(r"\w")
_NI_END = "nt OS err code"
_INCIDENT_REST = re.compile(r"Incident details in:", re.ASCII)
_PACKAGE_REST = re.compile(r"Use ADRCI|See Note", re.ASCII)
_INCIDENT = "Incident details in:"
_PACKAGE = ("Use ADRCI", "See Note")

_SECONDS = 2  # within which an entry may continue an earlier one
_BETWEEN = 3  # entries of other processes between the two
_JOINED_LINES = 200
_RUN = 500  # entries that say the same
_RUN_LINES = 4  # of one of them, its stamp included


@dataclass(slots=True)
class Entry:
    """What was written at once: a stamp and lines, or lines that were stamped as those before them.

    ``texts`` is what its lines say. ``when`` is the printed time in ISO 8601. ``prefix`` is the container that stands
    before its message, ``writer`` the process, where it is said; ``begins``: it has a stamp of its own.
    ``occurrences``: it is a run of so many entries that say the same, each with its stamp.
    """

    lines: list[Line] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    when: str | None = None
    prefix: str | None = None
    writer: str | None = None
    begins: bool = False
    occurrences: int = 1
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
    def first(self) -> str:
        """Its first line that is not blank."""
        return next((text for text in self.texts if text.strip()), "")

    @property
    def title(self) -> str:
        """Its first line that has a word in it."""
        return next((text for text in self.texts if _WORD.search(text[:200])), "")

    @property
    def last(self) -> str:
        """Its last line that is not blank."""
        return next((text for text in reversed(self.texts) if text.strip()), "")


def stamped(text: str) -> bool:
    """Whether a line is a time stamp and nothing else."""
    return len(text) >= 20 and (text[0] in "MTWFS" or text[0].isdigit()) and _STAMP.match(text) is not None


def entries(lines: Iterable[Line]) -> Iterator[Entry]:
    """Read entries; a long one is given in parts, cut before a line that begins a message."""
    entry = Entry()
    for line in lines:
        text = line.text
        if stamped(text):
            if entry.lines:
                yield entry
            entry = Entry(when=iso(text), begins=True)
            entry.add(line, "")
            continue
        if grid := GRID.match(text):
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


def joined(
    found: Iterable[Entry], wanted_by: Callable[[Entry], re.Pattern[str] | None] | None = None
) -> Iterator[Entry]:
    """Join what continues an entry to it, with at most three entries of other processes that stand between.

    Only within two seconds and in the same container; entries of another container are never taken in. ``wanted_by``
    says what the continuation of an entry begins with, None where it is complete (default: as in an alert log).
    """
    wanted_by = wanted_by or wanted_next
    held: Entry | None = None
    wanted: re.Pattern[str] | None = None
    between: list[Entry] = []
    todo: deque[Entry] = deque()
    for read in found:
        todo.append(read)
        while todo:
            entry = todo.popleft()
            if held is not None and wanted is not None and _near(held, entry):
                # What continues a message of a container may have no prefix, right behind it.
                mine = entry.prefix == held.prefix or (entry.prefix is None and not between)
                if mine and entry.writer == held.writer and _continues(wanted, entry):
                    for other in (*between, entry):
                        held.extend(other)
                    between = []
                    wanted = wanted_by(held)
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
            wanted = wanted_by(held)
    if held is not None:
        yield held
    yield from between


def runs(found: Iterable[Entry]) -> Iterator[Entry]:
    """Give entries that say the same, one after the other on one day, as one entry, a few hundred of them at most."""
    held: Entry | None = None
    said: list[str] = []
    for entry in found:
        if (
            held is not None
            and entry.begins
            and entry.texts == said
            and entry.prefix == held.prefix
            and (entry.when or "")[:10] == (held.when or "")[:10]
            and held.occurrences < _RUN
        ):
            held.extend(entry)
            held.occurrences += 1
            continue
        if held is not None:
            yield held
        held, said = entry, list(entry.texts) if len(entry.texts) <= _RUN_LINES else []
    if held is not None:
        yield held


def _continues(wanted: re.Pattern[str], entry: Entry) -> bool:
    text = entry.first
    if wanted is _NI_REST and entry.begins and len(entry.texts) > 1:
        text = entry.texts[1]  # a blank line is part of such a block
    return wanted.match(text) is not None


def wanted_next(entry: Entry) -> re.Pattern[str] | None:
    """Give what the entry that continues this one begins with; None where it is complete."""
    if len(entry.lines) >= _JOINED_LINES or entry.characters >= 32_000:
        return None
    last = entry.last
    if ERRORS_IN_FILE.match(last):
        return _CODE
    if UNDO.match(last):
        return _STATEMENT
    if _DEADLOCK.match(last):
        return _PATH
    if last.startswith(_INCIDENT):
        return _PACKAGE_REST
    wanted = None
    for text in entry.texts:
        if text.startswith("Fatal NI") and FATAL_NI.match(text):
            wanted = _NI_REST
        elif wanted is _NI_REST and _NI_END in text:
            wanted = None
        elif text.startswith("Errors in file") and (found := ERRORS_IN_FILE.match(text)):
            wanted = _INCIDENT_REST if found[2] else None
        elif wanted is _INCIDENT_REST and text.startswith((_INCIDENT, *_PACKAGE)):
            wanted = None
    return wanted


def _near(held: Entry, entry: Entry) -> bool:
    if held.when is None or entry.when is None or held.when == entry.when:
        return True
    apart = datetime.fromisoformat(entry.when[:19]) - datetime.fromisoformat(held.when[:19])
    return abs(apart.total_seconds()) <= _SECONDS
