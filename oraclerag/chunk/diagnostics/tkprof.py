"""TKPROF report: one section per statement, between two rules of 80 stars.

A statement whose text has a line break has no ``SQL ID`` line, so a block begins at the rule. Its call table belongs to
its text; row source and waits repeat the header of their table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.statement import in_few_words
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Writer
from oraclerag.chunk.diagnostics.traces.session import Session
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_REPORT = "TKPROF"

_BANNER = re.compile(r"TKPROF: Release (?P<release>\d+(?:\.\d+){3,4})(?:.{0,40}? on (?P<date>.{8,40}))?", re.ASCII)
_TRACE_FILE = re.compile(r"Trace file: (?P<path>.+)$")
_NO_TEXT = re.compile(r"(?:\*{80})?[ \t]*$")
_RULE = re.compile(r"\*{80}[ \t]*$")
_SQL_ID = re.compile(r"SQL ID ?: (?P<sqlid>[0-9a-z]{13})(?: Plan Hash: (?P<plh>\d+))?[ \t]*$", re.ASCII)
_PLAN_HASH = re.compile(r"Plan Hash: (?P<plh>\d+)[ \t]*$", re.ASCII)
_CALL_HEAD = re.compile(r"call +count +cpu +elapsed +disk +query +current +rows[ \t]*$")
_CALL = re.compile(r"(?:Parse|Execute|Fetch|total) +\d+ +[\d.]+ +[\d.]+ +\d+ +\d+ +\d+ +\d+", re.ASCII)
_ROWS = re.compile(r"Rows(?: \(1st\) Rows \(avg\) Rows \(max\)|) +(?:Row Source Operation|Execution Plan)")
_ROW = re.compile(r" {0,12}\d+ +\S")
_WAITS = re.compile(r"Elapsed times include waiting on following events:")
_EVENT = re.compile(
    r"  (?P<event>\S.{0,46}?) {2,60}(?P<times>\d+) +(?P<max>[\d.]+) +(?P<total>[\d.]+)[ \t]*$", re.ASCII
)
_REFUSED = re.compile(r"The following statements? encountered an? error during parse:")
_ERROR = re.compile(r"Error encountered: ORA-(?P<err>\d{1,5})", re.ASCII)
_OVERALL = re.compile(r"OVERALL TOTALS FOR ALL (?P<kind>NON-RECURSIVE|RECURSIVE) STATEMENTS")
_SUMMARY = re.compile(r"Trace file(?: compatibility)?: | {0,8}\d+ +sessions? in tracefile", re.ASCII)
_LEGEND = re.compile(r"count {1,4}= number of times")
# TKPROF prints 40 characters of the name of an event.
_CUT_EVENTS = {"SQL*Net message from clien": "SQL*Net message from client"}
_HELD = 400  # lines of a block that are read before what it is about must be known
_HELD_SIZE = 64_000  # and characters


def recognises(lines: list[str]) -> bool:
    """Whether it is a report, by its banner, or a part of one, by a call table."""
    if any(_BANNER.match(line) for line in lines[:5]):
        return True
    heads = [number for number, line in enumerate(lines) if _CALL_HEAD.match(line)]
    return any(any(_CALL.match(line) for line in lines[number : number + 8]) for number in heads[:20])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the units of a report."""
    report = _Report()
    for line in lines:
        report.take(line)
        yield from report.writer.drain()
    report.end()
    yield from report.writer.drain()


class _Report:
    """One pass over a report. The first lines of a block are held until its call table, or the next rule, comes."""

    def __init__(self) -> None:
        self.writer = Writer()
        self._session = Session()
        self._held: list[Line] = []
        self._size = 0
        self._holding = True
        self._first_block = True
        self._blocks = 0
        self._section: tuple[str, ...] = (_REPORT, "header")
        self._always: dict[str, str] = {}
        self._said: dict[str, str] = {}
        self._table = ""  # the header of the table that is being read
        self._in_rows = False

    def take(self, line: Line) -> None:
        """Take a line."""
        text = line.text
        if _RULE.match(text):
            self._next_block(line)
        elif overall := _OVERALL.match(text):
            before = self._held if not any(_NO_TEXT.match(one.text) is None for one in self._held) else []
            if before:
                self._held = []
            self._release()
            self._holding = False
            self._said = {}
            self._go_to(f"overall {overall['kind'].lower()}")
            for one in (*before, line):
                self.writer.add(one)
        elif self._holding:
            self._hold(line)
        else:
            self._body(line, text)

    def end(self) -> None:
        """Write what is held."""
        self._release()
        self.writer.end()

    def _next_block(self, line: Line) -> None:
        self._release()
        self.writer.end()
        self._held, self._size, self._holding = [line], len(line.raw), True
        self._said, self._table, self._in_rows = {}, "", False

    def _hold(self, line: Line) -> None:
        self._held.append(line)
        self._size += len(line.raw)
        if _CALL_HEAD.match(line.text) or len(self._held) >= _HELD or self._size >= _HELD_SIZE:
            self._release()
            self._holding = False

    def _release(self) -> None:
        """Write the beginning of a block, whose statement is known now."""
        held, self._held, self._size = self._held, [], 0
        if not held:
            return
        if self._first_block and not _RULE.match(held[0].text):
            self._header(held)
        self._first_block = False
        ended = self._name(held)
        self._unit()
        for number, line in enumerate(held):
            if number == ended and self.writer.size >= 2 * ENOUGH:
                self._unit()  # a long statement: its call table is not parted by it
            self.writer.add(line)
            self._note(line.text)

    def _header(self, held: list[Line]) -> None:
        for line in held[:40]:
            if banner := _BANNER.match(line.text):
                when = iso(banner["date"]) if banner["date"] else None
                self._always = {"timestamp": when} if when else {}
            elif found := _TRACE_FILE.match(line.text):
                self._session.header(f"Trace file {found['path']}")

    def _name(self, held: list[Line]) -> int:
        """Name the section of a block, and give where its call table begins."""
        text: list[str] = []
        ended = len(held)
        for number, line in enumerate(held):
            if _CALL_HEAD.match(line.text):
                ended = number
                break
            if sql := _SQL_ID.match(line.text):
                self._said["sql_id"] = sql["sqlid"]
                self._plan(sql["plh"])
            elif plan := _PLAN_HASH.match(line.text):
                self._plan(plan["plh"])
            elif not _RULE.match(line.text):
                text.append(line.text)
        content = [one for one in text if one.strip()]
        if any(_BANNER.match(one) for one in content[:5]):
            self._section = (_REPORT, "header")
        elif content and _LEGEND.match(content[0]):
            self._section = (_REPORT, "legend")
        elif content and ended == len(held) and _SUMMARY.match(content[0]):
            self._section = (_REPORT, "summary")
        else:
            self._section = (_REPORT, self._statement(text, content))
        return ended

    def _statement(self, text: list[str], content: list[str]) -> str:
        self._blocks += 1
        refused = bool(content) and _REFUSED.match(content[0]) is not None
        words = in_few_words("\n".join(text[text.index(content[0]) + 1 :] if refused else text))
        if "sql_id" in self._said:
            name = f"sqlid={self._said['sql_id']}"
        else:
            name = f"statement {self._blocks}{' refused' if refused else ''}:"
        return f"{name} {words}".rstrip(" :")

    def _plan(self, number: str | None) -> None:
        if number and number.strip("0"):
            self._said["plan_hash"] = number

    def _body(self, line: Line, text: str) -> None:
        """Take a line behind the first one of a call table."""
        if (rows := _ROWS.match(text)) or _WAITS.match(text):
            self._table, self._in_rows = text.rstrip(), rows is not None
            self._unit(self._table)
        elif (
            self._table
            and self.writer.size >= ENOUGH // 2
            and (_ROW.match(text) if self._in_rows else _EVENT.match(text))
        ):
            self._unit(self._table)
        elif _CALL_HEAD.match(text) and self.writer.size >= 2 * ENOUGH:
            self._unit()
        self.writer.add(line)
        self._note(text)

    def _note(self, text: str) -> None:
        if error := _ERROR.match(text):
            self.writer.error(int(error["err"]))
        elif self._table and not self._in_rows and (event := _EVENT.match(text)):
            self.writer.note("wait_event", _CUT_EVENTS.get(event["event"], event["event"]))

    def _go_to(self, part: str) -> None:
        self._section, self._table, self._in_rows = (_REPORT, part), "", False
        self._unit()

    def _unit(self, head: str = "") -> None:
        # Codes in the text of a statement are nobody's errors; what was encountered is said of the unit.
        said = {**self._session.metadata, **self._always, **self._said}
        self.writer.begin(self._section, head=head, metadata=said, codes=False)
