"""Raw SQL trace (event 10046): every line with the statement of the cursor that it names.

A cursor number is an address that is used again: a line belongs to the latest PARSING of its number, a close is no end
(the session keeps the cursor, and executes it later without another parse), and a number that was never parsed is an
unknown cursor. The text of a statement is taken by its length, because it may look like records.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.statement import in_few_words
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Machine, Writer, harmless, stamped
from oraclerag.chunk.diagnostics.traces.session import Session
from oraclerag.chunk.diagnostics.traces.statement_text import AHEAD, StatementText

__all__ = ["SqlTrace", "recognises"]

_RECORD = re.compile(
    r"(?:(?P<kind>PARSING IN CURSOR|PARSE ERROR|PARSE|EXEC|FETCH|UNMAP|SORT UNMAP|CLOSE|WAIT|BINDS|ERROR) #(?P<cur>\d+)"
    r"(?P<sign>:| len=\d+)"
    r"|STAT #(?P<statcur>\d+) id=(?P<id>\d+) cnt="
    r"|(?P<other>XCTEND rlbk=|LOB[A-Z]{3,16}: |APPNAME mod='|RPC (?:CALL|EXEC|BINDS)\b))",
    re.ASCII,
)
_SEPARATOR = re.compile(r"={21}[ \t]*$")
_STATEMENT_END = re.compile(r"END OF STMT[ \t]*$")
_LENGTH = re.compile(r" len=(?P<len>\d{1,9})\b", re.ASCII)
_SQL_ID = re.compile(r" sqlid='(?P<sqlid>[0-9a-z]{13})'", re.ASCII)
_HASH = re.compile(r" hv=(?P<hv>\d+)", re.ASCII)
_PLAN = re.compile(r",plh=(?P<plh>[1-9]\d*)", re.ASCII)
_EVENT = re.compile(r" nam='(?P<event>[^']{1,64})'")
_ERROR = re.compile(r"[: ]err=(?P<err>\d{1,5})(?!\d)", re.ASCII)
_APPLICATION = re.compile(r"APPNAME mod='(?P<mod>[^']{0,64})' mh=\d+ act='(?P<act>[^']{0,64})'")
_GLUED = re.compile(r"(?:PARSE|EXEC|FETCH|WAIT|STAT|CLOSE|ERROR|BINDS) #\d+(?::| id=)|PARSING IN CURSOR #|XCTEND rlbk=")
_BIND = re.compile(r" (?:Bind#\d+|bind \d+: )")
_BIND_LENGTH = re.compile(r" avl=(?P<avl>\d{1,6})\b", re.ASCII)
_VALUE = re.compile(r'  ?value="')

_CURSORS = 10_000  # numbers whose statement is remembered
_SLACK = 64  # characters of a value that are not of its length: quotes, line ends
# What the unit that is being written has, and so which line may join it.
_NOTHING, _WAITING, _CALLED, _PLAN_LINES, _BINDS, _TEXT, _REFUSED, _MESSAGE = range(8)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a cursor number stands for."""

    name: str
    metadata: dict[str, Any]


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is the tail of a trace: two kinds of records at least."""
    kinds = set()
    for line in lines:
        if found := _RECORD.match(line):
            kinds.add(found["kind"] or found["other"] or "STAT")
    return len(kinds) >= 2


class SqlTrace(Machine):
    """The machine of one trace: it knows every cursor that was parsed so far."""

    kind = "SQL trace"

    def __init__(self, session: Session, writer: Writer, pushed: deque[Line]) -> None:
        super().__init__(session, writer)
        self._pushed = pushed
        self._cursors: OrderedDict[str, _Statement] = OrderedDict()
        self._parsing: StatementText | None = None
        self._endless: str | None = None  # the cursor whose statement is longer than it says
        self._value = 0  # characters that a bind value may still have on the next lines
        self._length = 0  # of the bind whose value comes next
        self._cursor: str | None = None
        self._phase = _NOTHING
        self._plan_id = 0
        self._read = self._reread = 0

    def opens(self, text: str) -> bool:
        """Whether a line is a record of this kind."""
        return _RECORD.match(text) is not None

    @property
    def inside(self) -> bool:
        """Whether the next line is text of a statement or of a value, whatever it looks like."""
        return self._parsing is not None or self._endless is not None or self._value > 0

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line, and the empty lines, rules and marks before it."""
        self._read += len(line.raw)
        text = line.text
        if self._parsing is not None:
            self._statement_line(self._parsing, line)
        elif self._endless is not None:
            self._endless_line(line)
        elif self._value > 0:
            self.writer.add(line)
            self._value = 0 if text.endswith('"') else self._value - len(line.raw)
        elif found := _RECORD.match(text):
            if glued := _GLUED.search(text, found.end()):  # two processes wrote at once
                self._pushed.appendleft(Line(line.start + glued.start(), line.raw[glued.start() :]))
                line = Line(line.start, line.raw[: glued.start()])
                text = line.raw
            self._record(list(gap), line, text, found)
        else:
            self._foreign(gap, line, text)

    def end(self) -> None:
        """Another kind of section begins, or the file ends: a statement that is being read is cut."""
        self._value = 0
        self._endless = None
        if self._parsing is not None:
            self._give_up(self._parsing)
        self.pause()

    def pause(self) -> None:
        """What was written last is no longer the end of the report: nothing joins it."""
        self._phase, self._cursor = _NOTHING, None

    def _record(self, gap: list[Line], line: Line, text: str, found: re.Match[str]) -> None:
        kind, cursor = found["kind"], found["cur"]
        if kind == "PARSING IN CURSOR":
            length = _LENGTH.match(found["sign"])
            self._parsing = StatementText(gap, line, int(length["len"]) if length else 0, [])
            return
        if found["statcur"] is not None:
            cursor = found["statcur"]
            rises = self._continues(cursor, _PLAN_LINES) and int(found["id"]) > self._plan_id
            self._plan_id = int(found["id"])
            self._write(gap, line, cursor, _PLAN_LINES, joins=rises)
            return
        if found["other"] is not None:
            if application := _APPLICATION.match(text):
                self.session.application(application["mod"], application["act"])
            self._unnumbered(gap, line)
            return
        if kind == "WAIT":
            joins = self._continues(cursor, _WAITING) or self._continues(cursor, _BINDS)
            self._write(gap, line, cursor, _WAITING, joins=joins and self.writer.size < ENOUGH)
            if event := _EVENT.search(text):
                self.writer.note("wait_event", event["event"])
        elif kind == "BINDS":
            self._write(gap, line, cursor, _BINDS, joins=False, codes=False)
            self._length = 0
        elif kind in ("CLOSE", "ERROR"):
            joins = self._cursor == cursor and self._phase in (_WAITING, _CALLED, _PLAN_LINES, _BINDS)
            self._write(gap, line, cursor, _CALLED, joins=joins)
        elif kind == "PARSE ERROR":
            self._write(gap, line, cursor, _REFUSED, joins=False, codes=False)
        else:
            joins = self._continues(cursor, _WAITING) or self._continues(cursor, _BINDS)
            self._write(gap, line, cursor, _CALLED, joins=joins)
            if plan := _PLAN.search(text):
                self.writer.note("plan_hash", plan["plh"])
        if kind in ("ERROR", "PARSE ERROR") and (error := _ERROR.search(text, found.end() - 1)):
            self.writer.error(int(error["err"]))

    def _continues(self, cursor: str, phase: int) -> bool:
        return self._cursor == cursor and self._phase == phase

    def _write(
        self, gap: Iterable[Line], line: Line, cursor: str, phase: int, *, joins: bool, codes: bool = True
    ) -> None:
        if not joins:
            self._begin_of(cursor, codes=codes)
        self.write(gap, line)
        self._cursor, self._phase = cursor, phase

    def _begin_of(self, cursor: str, *, codes: bool) -> None:
        statement = self._statement(cursor)
        self.begin(statement.name, metadata=statement.metadata, codes=codes)

    def _statement(self, cursor: str) -> _Statement:
        known = self._cursors.get(cursor)
        if known is not None:
            self._cursors.move_to_end(cursor)
            return known
        if cursor.strip("0") == "":  # log-in, commit, LOBs, idle: of no statement
            return _Statement("session", {})
        return _Statement(f"unknown cursor #{cursor}", {})

    def _unnumbered(self, gap: Iterable[Line], line: Line) -> None:
        """Take a record that names no cursor: it belongs to the last call."""
        if self._phase in (_NOTHING, _MESSAGE, _TEXT, _REFUSED) or self.writer.size >= ENOUGH:
            self._cursor = self._cursor or "0"
            self._begin_of(self._cursor, codes=True)
        self.write(gap, line)
        self._phase = _CALLED

    def _foreign(self, gap: Sequence[Line], line: Line, text: str) -> None:
        """Take a line that is no record: a bind, the rest of what stands before, or a message of somebody else."""
        if self._phase == _BINDS:
            own = text.startswith(" ") or not gap
        elif self._phase == _REFUSED:
            own = not stamped(gap)  # the text of a statement may have empty lines
        else:
            own = self._phase in (_MESSAGE, _TEXT, _CALLED, _WAITING, _PLAN_LINES) and not gap
        if own and self._phase not in (_REFUSED, _MESSAGE):
            own = error_codes.starting(text) is None
        if not own:
            self.begin("messages", codes=not harmless(text))
            self._phase, self._cursor = _MESSAGE, None
        elif self._phase == _BINDS:
            self._bind(text)
        self.write(gap, line)

    def _bind(self, text: str) -> None:
        if _BIND.match(text) and self.writer.size >= ENOUGH and self._cursor is not None:
            self._begin_of(self._cursor, codes=False)
        elif length := _BIND_LENGTH.search(text):
            self._length = int(length["avl"])
        elif (value := _VALUE.match(text)) and not (len(text) > value.end() and text.endswith('"')):
            # Its end may stand lines later; a length in another character set is four times as long at most.
            self._value = max(4 * self._length + _SLACK - len(text), 0)

    def _statement_line(self, parsing: StatementText, line: Line) -> None:
        ends = _STATEMENT_END.match(line.text) is not None
        if ends and (not parsing.lines or parsing.exact or not self._trusted):
            self._parsed(parsing, parsing.lines, line)
        elif not self._trusted and self._ends_without_mark(parsing.record, line):
            self._parsed(parsing, parsing.lines, None)
            self._pushed.appendleft(line)
        else:
            parsing.add(line)
            if parsing.beyond:
                self._give_up(parsing)

    @property
    def _trusted(self) -> bool:
        """Whether lengths are believed: not where most of them were wrong, and lines were read over and over."""
        return self._reread <= self._read + AHEAD

    def _give_up(self, parsing: StatementText) -> None:
        """End a statement by its mark: its length is of another character set, or the file is cut."""
        for number, line in enumerate(parsing.lines):
            if _STATEMENT_END.match(line.text):
                self._parsed(parsing, parsing.lines[:number], line)
                self._again(parsing.lines[number + 1 :])
                return
            if self._ends_without_mark(parsing.record, line):
                self._parsed(parsing, parsing.lines[:number], None)
                self._again(parsing.lines[number:])
                return
        self._parsed(parsing, parsing.lines, None)
        self._endless = _cursor_of(parsing.record)

    def _again(self, lines: Sequence[Line]) -> None:
        size = sum(len(line.raw) for line in lines)
        self._reread += size
        self._read -= size
        self._pushed.extendleft(reversed(lines))

    def _ends_without_mark(self, record: Line, line: Line) -> bool:
        found = _RECORD.match(line.text)
        if found is None or found["cur"] is None:
            return False
        return found["kind"] == "PARSING IN CURSOR" or found["cur"] == _cursor_of(record)

    def _endless_line(self, line: Line) -> None:
        found = _RECORD.match(line.text)
        if found is not None and (found["kind"] == "PARSING IN CURSOR" or found["cur"] == self._endless):
            self._endless = None
            self._pushed.appendleft(line)
            return
        self.writer.add(line)
        if _STATEMENT_END.match(line.text):
            self._endless = None

    def _parsed(self, parsing: StatementText, lines: Sequence[Line], mark: Line | None) -> None:
        """Write a statement, and let its number stand for it from here on."""
        self._parsing = None
        record, cursor = parsing.record.text, _cursor_of(parsing.record)
        sql = "".join(line.raw for line in lines[:200])
        statement = _described(record, cursor, in_few_words(sql))
        self._cursors[cursor] = statement
        self._cursors.move_to_end(cursor)
        if len(self._cursors) > _CURSORS:
            self._cursors.popitem(last=False)
        self._begin_of(cursor, codes=False)
        for line in (*parsing.gap, parsing.record, *lines):
            self.writer.add(line)
        if mark is not None:
            self.writer.add(mark)
        self._cursor, self._phase = cursor, _TEXT


def _cursor_of(record: Line) -> str:
    found = _RECORD.match(record.text)
    return found["cur"] if found is not None and found["cur"] is not None else "0"


def _described(record: str, cursor: str, words: str) -> _Statement:
    metadata: dict[str, Any] = {}
    if found := _SQL_ID.search(record):
        name = f"sqlid={found['sqlid']}"
        metadata["sql_id"] = found["sqlid"]
    elif found := _HASH.search(record):  # before 11g
        name = f"hv={found['hv']}"
        metadata["sql_hash"] = found["hv"]
    else:
        name = f"cursor #{cursor}"
    return _Statement(f"{name} {words}".rstrip(), metadata)
