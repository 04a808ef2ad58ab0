"""Error stacks and incident files (ORA-00600, ORA-07445, event ``errorstack``): a summary, and the dumps behind it.

The summary is what is searched for: the error, the exception, the statement, the PL/SQL stack. The codes in memory
dumps, in other sessions' statements and in bind values are nobody's errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.statement import in_few_words
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Machine, Writer, stamped
from oraclerag.chunk.diagnostics.traces.session import Session

__all__ = ["ErrorDump", "recognises"]

_START = re.compile(
    r"dbkedDefDump\(\): Starting |ksedmp: internal or fatal error|={9} Dump for incident \d"
    r"|\[TOC00000\]|Dump continued from file: |Exception \[type: "
    r"|-{5} (?:Error Stack Dump|Beginning of Customized Incident)"
)
_SQL = re.compile(
    r"-{5} Current SQL Statement for this session \(sql_id=(?P<sqlid>[0-9a-z]{13})\) -{5}"
    r"|Current SQL statement for this session:|-{5} Current SQL Statement",
    re.ASCII,
)
_SECTION = re.compile(r"-{3,} ?(?P<title>[A-Z][^-=]{2,80}[^-= ]) ?-{3,}[ \t]*$")
_INCIDENT = re.compile(r"={9} Dump for incident (?P<n>\d+) \((?P<problem>[^)]{1,120})\) ={8}", re.ASCII)
_PROBLEM = re.compile(r"ORA (?P<num>\d{3,5})(?: \[(?P<arg>[^\]]{0,80})\])?", re.ASCII)
_FRAME = re.compile(r"\S.{19} [a-zA-Z?]{2,8} {1,7}\S")
_FRAME_CONTINUED = re.compile(r"(?:.{20} {10}.{20} |\S{1,20} {30,})")
_PIECE = re.compile(
    r"={10} FRAME \[\d+\]| {0,60}SO: 0x[0-9a-f]+, type: | {0,16}Dump of memory from 0x| {0,60}-{40}[ \t]*$", re.ASCII
)
_CURSOR_DUMP = re.compile(r"[ \t]{0,20}(?:Bind Info|Cursor#|Bind#\d)")
_WAITING = re.compile(r"\bwaiting for '(?P<event>[^']{1,64})'")
_SUMMARY = "summary"
_TITLES_OF_SUMMARY = re.compile(r"(?:Error Stack|Beginning of|End of|Current SQL|PL/SQL|Incident|Start of)", re.ASCII)


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is an incident or an error stack: it says so itself."""
    return any(_INCIDENT.match(line) or line.startswith("ksedmp: internal or fatal error") for line in lines)


class ErrorDump(Machine):
    """The machine of error stacks and incidents; more than one may be in a file."""

    kind = "error dump"

    def __init__(self, session: Session, writer: Writer) -> None:
        super().__init__(session, writer)
        self.pause()
        self._reset()

    def _reset(self) -> None:
        self._title = _SUMMARY
        self._statement: dict[str, str] = {}
        self._head = ""
        self._in_sql = self._label_next = False

    def opens(self, text: str) -> bool:
        """Whether the line begins a dump, or the statement or stack of one."""
        return _START.match(text) is not None or _SQL.match(text) is not None or self._known_section(text)

    def _known_section(self, text: str) -> bool:
        found = _SECTION.match(text)
        return found is not None and found["title"].startswith(("Call Stack Trace", "PL/SQL", "Process State Dump"))

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""
        text = line.text
        if _START.match(text) and self._title != _SUMMARY and not text.startswith("Exception"):
            self._reset()
            self._begun = False
        if incident := _INCIDENT.match(text):
            self._head = incident["problem"]
        if sql := _SQL.match(text):
            self._statement = {"sql_id": sql["sqlid"]} if sql["sqlid"] else {}
            self._in_sql = self._label_next = True
            self._unit(codes=False)
        elif section := _SECTION.match(text):
            self._in_sql = False
            title = section["title"]
            if not title.startswith("End of"):
                self._title = _SUMMARY if _TITLES_OF_SUMMARY.match(title) else title[:60]
                self._unit()
        elif self._in_sql:
            if stamped(gap):
                self._in_sql = False
                self._unit()
            elif self._label_next:
                self._label(text)
        elif not self._begun or stamped(gap) or self._parts(gap, text):
            self._unit()
        self.write(gap, line)
        if incident and (problem := _PROBLEM.match(incident["problem"])):
            self.writer.error(int(problem["num"]))
        if waiting := _WAITING.search(text[:400]):
            self.writer.note("wait_event", waiting["event"])

    def pause(self) -> None:
        """Nothing joins what was written last."""
        self._begun = False

    def end(self) -> None:
        """Another kind begins: its statement ends here."""
        self._in_sql = False
        self.pause()

    def _label(self, text: str) -> None:
        self._label_next = False
        if words := in_few_words(text):
            self._head = " · ".join(filter(None, (self._head.split(" · ")[0], words)))

    def _parts(self, gap: Sequence[Line], text: str) -> bool:
        """Whether a unit ends before this line."""
        if self._title == _SUMMARY:
            return bool(gap) and self.writer.size >= ENOUGH
        if self._title.startswith("Call Stack"):
            return self.writer.size >= ENOUGH and _FRAME.match(text) is not None and not _FRAME_CONTINUED.match(text)
        if _PIECE.match(text) or self.writer.size >= 2 * ENOUGH:
            return True
        return bool(gap) and self.writer.size >= ENOUGH and not _CURSOR_DUMP.match(text)

    def _unit(self, *, codes: bool = True) -> None:
        summary = self._title == _SUMMARY
        head = self._head if summary or self._title.startswith("Call Stack") else ""
        self.begin(self._title, head=head, metadata=self._statement, codes=codes and summary)
        self._begun = True
