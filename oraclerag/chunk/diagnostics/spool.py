"""Spools of SQL*Plus and SQLcl: a statement, and its result or its error.

The section is the statement. Codes in its text, in comments and in the rows of a query are data; only what an error
announces is an error: the line with a star and the one below it in whatever language, ``ERROR:``, ``Error report -``,
SP2-, and the rows of ``show errors``. A plan, TKPROF or SQL Monitor in a result is cut by its own rules.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics import plan, sql_monitor, tkprof
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_PROMPT = re.compile(
    r"(?:SQL|[A-Za-z0-9_$#]{1,30}@(?P<instance>[A-Za-z0-9_.$#:/\-]{1,60})(?: ?\(\d{1,6}\))?(?: \d\d:\d\d:\d\d)?)"
    r">(?: (?P<command>.*)|[ \t]*)$",
    re.ASCII,
)
_MORE = re.compile(r"[ \d]{2,5}\d  (?P<text>.*)$", re.ASCII)
_COMMENT = re.compile(r"\s*(?:--|/\*|rem\b|remark\b|prompt\b|pause\b|$)", re.ASCII | re.IGNORECASE)
_CARET = re.compile(r"[ \t]{0,32000}\*[ \t]*$", re.ASCII)
_ERROR = re.compile(
    r"(?:ERROR at line \d|ERROR:[ \t]*$|Error report -|SQL Error: |SP2-\d{4}: |Error at Command Line|LINE/COL ERROR"
    r"|Errors for .{1,200}:[ \t]*$)",
    re.ASCII,
)
_SQLCL = re.compile(r"Error starting at line ?: \d{1,7}", re.ASCII)
_FEEDBACK = re.compile(
    r"(?:(?:[\d,]{1,18}|no) rows? (?:selected|created|updated|deleted|merged|inserted|affected)\.?"
    r"|PL/SQL procedure successfully completed\."
    r"|[A-Z][a-z]{2,12} .{0,140}\b(?:created|altered|dropped|complete|succeeded)\.?"
    r"|Elapsed: \d\d:\d\d:\d\d)",
    re.ASCII,
)
_SELECTED = re.compile(r"(?:[\d,]{1,18}|no) rows? selected\.?[ \t]*$", re.ASCII)
_RULE = re.compile(r"-{2,32767}(?:[ \t]{1,8}-{1,32767}){0,400}[ \t]*$", re.ASCII)
_PLAN = re.compile(
    r"(?:SQL_ID {1,2}[0-9a-z]{13}\b|Plan hash value: \d|PLAN_TABLE_OUTPUT[ \t]*$|Execution Plan[ \t]*$)", re.ASCII
)
_SECRET = re.compile(r"\s*conn(?:ect)?\b|.*\b(?:identified|password)\b", re.IGNORECASE)

_RESULT = (
    30  # lines of a result that stay with their statement; the rest is cut at lines, under the names of its columns
)
_LEAD_IN = 40  # lines of comments and settings before a statement
_KEPT = 100  # characters of a statement in the path of its section
_HEADER = 240  # characters of the names of columns


def recognises(lines: list[str]) -> bool:
    """Whether there is a prompt, an error as SQL*Plus or SQLcl announce it, or feedback on rows."""
    star = False
    for line in lines:
        if _PROMPT.match(line) or _SQLCL.match(line) or line.startswith(("SP2-0", "ERROR at line ")):
            return True
        if star and line.rstrip().endswith(":"):
            return True
        if line.endswith(("rows selected.", "row selected.")) or line == "PL/SQL procedure successfully completed.":
            return True
        star = _CARET.match(line) is not None
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give statements with their results, and the rest of long results line by line."""
    return _Spool(lines).units()


def _within(text: str) -> Callable[[Iterable[Line]], Iterator[Unit]] | None:
    """Give what cuts the report that begins with a line: a plan, TKPROF, SQL Monitor; None where none does."""
    if _PLAN.match(text):
        return plan.units
    if text.startswith("TKPROF: Release "):
        return tkprof.units
    return sql_monitor.units if text.rstrip() == "SQL Monitoring Report" else None


class _Spool:
    """What is known from one line to the next."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.source = iter(lines)
        self.pushed: Line | None = None
        self.unit = Gathering()
        self.unit.codes = False
        self.statement: list[str] = []
        self.asking = False  # lines of a statement are being read
        self.result = 0  # lines of its result that are not blank
        self.fed = False  # the last line of a result said that it was done
        self.error = False
        self.errors: list[str] = []
        self.last = ""
        self.columns = ""

    def units(self) -> Iterator[Unit]:
        while (line := self._next()) is not None:
            text = line.text
            prompt = _PROMPT.match(text)
            if prompt is not None:
                if self.result or len(self.unit.lines) >= _LEAD_IN:
                    yield from self._given()
                self._asked(prompt)
            elif self.asking and (more := _MORE.match(text)):
                if len(self.statement) < _LEAD_IN:
                    self.statement.append(more["text"])
            elif self.asking and not self.statement and not text.strip():
                pass
            elif not self.error and (cut := _within(text)) is not None:
                yield from self._given()
                self.pushed = line
                yield from self._as(cut)
                self.asking, self.fed, self.result, self.last = False, True, self.result + 1, ""
                continue
            else:
                if self._cuts(text):
                    yield from self._given()
                self._resulted(text)
            if self.unit.full:
                yield from self._given()
            self.unit.add(line)
            self.last = text
        yield from self._given()

    def _next(self) -> Line | None:
        line, self.pushed = self.pushed, None
        return line if line is not None else next(self.source, None)

    def _asked(self, prompt: re.Match[str]) -> None:
        command = prompt["command"] or ""
        if not self.unit or not self.asking or self.result:
            self.statement = []
        if not _COMMENT.match(command):
            self.statement = [command]
        self.asking, self.result, self.error, self.columns = True, 0, False, ""
        if not self.unit:
            self.unit.head = ""
        if prompt["instance"]:
            self.unit.always["instance"] = prompt["instance"]

    def _cuts(self, text: str) -> bool:
        """Whether a line of a result begins a unit."""
        if self.error or not self.unit or not text.strip():
            return False
        if _CARET.match(text) or _CARET.match(self.last):
            return False
        ended = self.fed and not self.statement and not _FEEDBACK.match(text)  # a spool without echo has no prompts
        return ended or self.result >= _RESULT

    def _resulted(self, text: str) -> None:
        """Take a line of a result."""
        self.asking = False
        if not text.strip():
            self.error = self.error and not self.errors  # an empty line below `Error report -` is not its end
            return
        announced = (
            _ERROR.match(text) is not None
            or (_CARET.match(self.last) is not None and text.rstrip().endswith(":"))
            or (not self.result and error_codes.starting(text) is not None and text[0] not in " \t")
        )
        if announced:
            self.error = True
        self.fed = _FEEDBACK.match(text) is not None
        self.error = self.error and not self.fed
        self.result += 1
        if self.error:
            self.errors.append(text)
        elif _RULE.match(text) and self.last.strip() and not self.columns:
            self.columns = " ".join(self.last.split())[:_HEADER]
            self.unit.head = ""

    def _section(self) -> tuple[str, ...]:
        said = " ".join(" ".join(self.statement).split())
        if _SECRET.match(said):
            said = f"{said.split()[0]} …"
        said = said.rstrip("; /")
        if not said:
            return ()
        return (said if len(said) <= _KEPT else f"{said[:_KEPT]}…",)

    def _given(self) -> Iterator[Unit]:
        self.unit.section = self._section()
        said: dict[str, Any] = {}
        if self.errors:
            codes = [code.code for code in error_codes.find("\n".join(self.errors))]
            said = {"oracle_error_code": codes} if codes else {}
        yield from self.unit.unit(said)
        self.errors = []
        self.unit.head = self.columns

    def _as(self, cut: Callable[[Iterable[Line]], Iterator[Unit]]) -> Iterator[Unit]:
        """Give a report within, to the number of its rows or the next prompt, as its own family cuts it."""
        section = self._section()
        for unit in cut(self._result_lines()):
            yield dataclasses.replace(unit, section=(*section, *unit.section))

    def _result_lines(self) -> Iterator[Line]:
        while (line := self._next()) is not None:
            if _PROMPT.match(line.text):
                self.pushed = line
                return
            yield line
            if _SELECTED.match(line.text):
                return
