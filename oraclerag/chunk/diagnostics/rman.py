"""Output of RMAN: commands, what they did, and the stack of a failure.

A command file is echoed behind ``RMAN>`` and, for further lines, ``2>``; the section is that command and in it the
operation (``Starting backup at …``). A stack begins with three lines that only frame it (RMAN-00571, RMAN-00569), its
cause is at the bottom, so nothing of it is parted. Tables of a report repeat their header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag import error_codes
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.error_stack import Stack
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_BANNER = re.compile(r"Recovery Manager: Release \d+(?:\.\d+){3,4}(?: - .{0,40}? on (?P<date>.{5,60}))?")
_PROMPT = re.compile(r"RMAN> ?(?P<command>.*)$")
_MORE = re.compile(r"(?:\d{1,4}> ?){1,50}(?P<command>.*)$", re.ASCII)
_TARGET = re.compile(r"connected to (?:target|auxiliary|recovery catalog) database: (?P<name>[^ (]{1,60}) \(DBID=")
_OPERATION = re.compile(
    r"(?P<edge>Starting|Finished) (?P<what>[A-Za-z][A-Za-z ]{2,60}?)(?: at (?P<when>\d.{5,40}))?[ \t]*$", re.ASCII
)
_BAR = re.compile(r"RMAN-00571: =+", re.ASCII)
_CODE = re.compile(r"(?:RMAN|ORA|DBGSQL|KUP|SBT|PLS|LRM|TNS)-\d{4,5}: ", re.ASCII)
_FAILURE = re.compile(r"RMAN-030\d\d: failure of .{1,120} at (?P<when>\d.{6,40})", re.ASCII)
_WARNING = re.compile(r"RMAN-0\d{4}: WARNING: ", re.ASCII)
_RULE = re.compile(r"(?:-{2,60} ){1,20}-{2,60} ?$|-{10,200} ?$", re.ASCII)
_TITLE = re.compile(r"={5,120}[ \t]*$", re.ASCII)
_SECRET = re.compile(r"\b(?:connect|target|catalog|auxiliary|identified|password)\b", re.IGNORECASE)
_KEPT = 100  # characters of a command in the path of its section


def recognises(lines: list[str]) -> bool:
    """Whether RMAN says its release, its prompt is there, or a stack of it."""
    return any(_BANNER.match(line) or _BAR.match(line) or line.startswith("RMAN> ") for line in lines)


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give commands, stacks and rows of tables."""
    return _Output().units(lines)


class _Output:
    """What is known from one line to the next."""

    def __init__(self) -> None:
        self.unit = Gathering()
        self.command: list[str] = []
        self.asked = False  # a command is being read
        self.operation = ""
        self.stack = False
        self.reader = Stack()  # of the lines of a stack
        self.header = ""  # the names of the columns of the table that is being read
        self.last = ""

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        for line in lines:
            text = line.text
            command = _PROMPT.match(text) or (_MORE.match(text) if self.asked else None)
            if command is not None:
                if text.startswith("RMAN>") or not self.asked:
                    self.header = ""
                    yield from self._given()
                    self.command, self.operation, self.asked, self.stack = [], "", True, False
                if command["command"] and len(self.command) < 20:
                    self.command.append(command["command"].strip())
            else:
                if _CODE.match(text):
                    self.header = ""
                if self._begins(text) or (self.asked and text.strip()):
                    yield from self._given()
                    self.asked = False
                self._note(text)
            if self.unit.full:
                yield from self._given()
            self.unit.section = self._section()
            self.unit.add(line)
            self.last = text
        yield from self._given()

    def _begins(self, text: str) -> bool:
        """Whether a line that is no command begins a unit."""
        if not self.unit or not text.strip():
            return False
        code = _CODE.match(text) is not None
        if self.stack:
            if not self.last.strip():
                return True
            if _WARNING.match(text):
                return False
            return not (code or self.reader.continues(text))
        if code:
            return True
        return text[0] not in " \t" and not _RULE.match(text) and not self._above(text)

    def _above(self, text: str) -> bool:
        """Whether the line before was the title of a table that this one names the columns of."""
        return _TITLE.match(text) is not None or _TITLE.match(self.last) is not None

    def _note(self, text: str) -> None:
        """Take what a line says."""
        if _CODE.match(text):
            self.stack = True
            if (code := error_codes.starting(text)) is not None and code.code not in error_codes.FRAMES:
                self.unit.metadata["oracle_error_cause"] = code.code  # the last one: RMAN prints its stack downwards
            self.reader.follow(text)
            if (found := _FAILURE.match(text)) and (when := iso(found["when"])) is not None:
                self.unit.metadata["timestamp"] = when
        elif self.stack and text.strip() and not self.unit:
            self.stack = False
        if found := _OPERATION.match(text):
            self.operation = found["what"] if found["edge"] == "Starting" else ""
            if found["when"] and (when := iso(found["when"])) is not None:
                self.unit.metadata["timestamp"] = when
        elif found := _TARGET.match(text):
            self.unit.always["database"] = found["name"]
        elif (found := _BANNER.match(text)) and found["date"] and (when := iso(found["date"])) is not None:
            self.unit.metadata["timestamp"] = when
        elif _RULE.match(text) and self.last.strip():
            self.header = " ".join(self.last.split())
        elif not text.strip():
            self.header = ""

    def _section(self) -> tuple[str, ...]:
        said = " ".join(self.command)
        if _SECRET.search(said):
            said = f"{said.split()[0]} …"
        command = said if len(said) <= _KEPT else f"{said[:_KEPT]}…"
        return tuple(part for part in (command, self.operation) if part)

    def _given(self) -> Iterator[Unit]:
        yield from self.unit.unit()
        self.unit.head = self.header
