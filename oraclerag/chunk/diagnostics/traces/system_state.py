"""System state and process state dumps: the summary of who waits for whom, then every process by its state objects.

What such a dump says of codes is the dumper's own remark, or another session's statement: no errors of this file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Machine

__all__ = ["SystemState", "recognises"]

_TITLE = re.compile(r"(?P<title>SYSTEM STATE|PROCESS STATE)(?: \(level=\d+[^)]{0,60}\))?[ \t]*$", re.ASCII)
_END = re.compile(r"END OF (?:SYSTEM|PROCESS) STATE")
_SUMMARY = re.compile(r"Dumping the Process Summary")
_SUMMARY_END = re.compile(r"Done Dumping the Process Summary")
_ROW = re.compile(r" {4,10}\d+: [A-Z0-9]{3,8} ", re.ASCII)
_PROCESS = re.compile(r"PROCESS (?P<n>\d{1,9}): ?(?P<name>\S{0,30})[ \t]*$", re.ASCII)
_OBJECT = re.compile(r" {0,60}SO: 0x[0-9a-f]+, type: ", re.ASCII)
_SESSION = re.compile(r" {0,60}\(session\) sid: (?P<sid>\d{1,9}) ser: (?P<ser>\d{1,9})", re.ASCII)
_WAITING = re.compile(r"(?<!last )\bwaiting for '(?P<event>[^']{1,64})'")


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is a state dump."""
    return any(_TITLE.match(line) for line in lines) and any(
        _PROCESS.match(line) or _SUMMARY.match(line) or _OBJECT.match(line) for line in lines
    )


class SystemState(Machine):
    """The machine of state dumps."""

    kind = "system state"
    _begun = _ended = False
    _part = "head"
    _head = ""

    @property
    def over(self) -> bool:
        """Whether its closing line was read."""
        return self._ended

    def opens(self, text: str) -> bool:
        """Whether the line is the title."""
        return _TITLE.match(text) is not None

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""
        text = line.text
        if title := _TITLE.match(text):
            self.kind = title["title"].lower()
            self._ended = False
            self._go_to("head")
        elif _SUMMARY.match(text):
            self._go_to("summary")
        elif process := _PROCESS.match(text):
            name = f"PROCESS {process['n']} {process['name']}".rstrip()
            self._go_to(name)
        elif _END.match(text):
            self._ended = True
        elif not self._begun or self._parts(gap, text):
            self._unit()
        if session := _SESSION.match(text):
            self._head = f"session {session['sid']},{session['ser']}"
        self.write(gap, line)
        if waiting := _WAITING.search(text[:400]):
            self.writer.note("wait_event", waiting["event"])
        if _SUMMARY_END.match(text):
            self._part = "processes"
            self._begun = False

    def pause(self) -> None:
        """Nothing joins what was written last."""
        self._begun = False

    def _parts(self, gap: Sequence[Line], text: str) -> bool:
        if self._part == "summary":
            return self.writer.size >= ENOUGH and _ROW.match(text) is not None
        return (
            _OBJECT.match(text) is not None and (self.writer.size >= ENOUGH // 2 or bool(gap))
        ) or self.writer.size >= 2 * ENOUGH

    def _go_to(self, part: str) -> None:
        self._part, self._head = part, ""
        self._unit()

    def _unit(self) -> None:
        self.begin(self._part, head=self._head, codes=False)
        self._begun = True
