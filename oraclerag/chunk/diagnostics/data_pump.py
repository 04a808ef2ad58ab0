"""Logs of Data Pump (expdp, impdp) and of the classic exp and imp: sessions, and in them the types of objects.

An object that failed has its code (ORA-39083), the cause beneath it, and the statement behind ``Failing sql is:``,
since 19c with an empty line before it: one unit. ``LOGTIME`` puts a time before the lines of the tool, but not before
the cause and not before the statement; ``METRICS`` puts the worker (``W-1``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.error_stack import Stack
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_BANNER = re.compile(r"(?P<tool>Export|Import): Release \d+(?:\.\d+){3,4}(?: - .{0,40}? on (?P<date>.{5,60}))?")
_PREFIX = re.compile(r"(?:(?P<when>\d\d-[^ \-]{3,5}-\d\d \d\d:\d\d:\d\d\.\d{3}): )?(?:W-\d{1,4} )?")
_NAME = r'"([^"]{1,128})"\."([^"]{1,128})"'
# The words are the client's language; the names between quotes are not.
_START = re.compile(rf"(?:Starting|Restarting|[^\W\d]{{4,20}}(?: [^\W\d]{{1,12}}){{0,3}}) {_NAME}: ")
_TYPE = re.compile(r"(?:Processing object type|[^\W\d].{3,60}) ([A-Z]{4,20}_EXPORT(?:/[A-Z0-9_]{2,60}){1,8})[ \t]*$")
_TABLE = re.compile(r'\. \. \S{1,20} +(?:table +)?((?:"[^"]{1,128}")(?:[.:]"[^"]{1,128}"){0,3}|\S{1,128})')
_CODE = re.compile(r"((?:ORA|UDE|UDI|EXP|IMP|LRM|KUP)-\d{1,5}): ", re.ASCII)
_FAILING = re.compile(r"Failing sql is:|(?=.{0,60}\bsql\b).{3,80}(?<=:)[ \t]*$", re.IGNORECASE)
_OBJECT = re.compile(r'(?:Object type|objet|Objekttyp|[Tt]ipo) ?([A-Z_]{2,40}):((?:"[^"]{1,128}"\.?){1,2})')
_TABLE_DATA = re.compile(r'Table data object ("[^"]{1,128}"\."[^"]{1,128}")')
_OF_JOB = re.compile(rf"[^\W\d]{{3,20}}(?: [^\W\d]{{1,12}}){{0,3}} {_NAME} \S")
_DUMP_SET = re.compile(r"Dump file set for .{1,260}:[ \t]*$")
_CLASSIC = re.compile(r"\. (?:\. )?(?:exporting|importing) |About to (?:export|import) |(?:Export|Import) terminated ")
_CALL_STACK = ("----- PL/SQL", "0x", "object ")

_HEAD = 200  # characters of an error, repeated where its statement is cut

# Codes of one object each: where two of them follow each other, the second begins another one's errors.
_OBJECT_CODES = frozenset(
    {
        *(f"ORA-{number}" for number in (31626, 31684, 31685, 31693, 39001, 39002, 39082, 39083, 39111, 39112, 39120)),
        *(f"ORA-{number}" for number in (39125, 39126, 39127, 39151, 39152, 39153, 39154, 39171, 39342, 39346, 39360)),
        *(f"EXP-{number}" for number in ("00008", "00056", "00091")),
        *(f"IMP-{number}" for number in ("00015", "00017", "00019", "00041", "00058")),
    }
)


def recognises(lines: list[str]) -> bool:
    """Whether an export or an import says its release, or a job says its end."""
    for line in lines[:60]:
        if _BANNER.match(_prefix(line)[1]):
            return True
        if line.startswith("SQL> "):  # a spool, in which somebody calls the tool
            return False
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the lines of a log, an object that failed with its cause and its statement as one."""
    return _Log().units(lines)


def _prefix(text: str) -> tuple[str | None, str]:
    """Part a line into its time, if it has one, and what the tool says; a worker's name stands between the two."""
    found = _PREFIX.match(text)
    return (found["when"], text[found.end() :]) if found is not None else (None, text)


class _Log:
    """What is known from one line to the next."""

    def __init__(self) -> None:
        self.unit = Gathering()
        self.tool = ""
        self.job = ""
        self.type = ""
        self.failed = ""  # the code whose stack is being read
        self.stack = Stack()
        self.error: list[str] = []  # the lines of that stack, without the statement
        self.statement = False
        self.indented = False  # what is indented belongs to the line before

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        for line in lines:
            when, text = _prefix(line.text)
            begins = self._begins(text, stamped=len(text) < len(line.text))
            if begins or self.unit.full:
                yield from self._given(continued=not begins)
            self._note(text, when)
            self.unit.section = self._section()
            self.unit.add(line)
        yield from self._given()

    def _begins(self, text: str, *, stamped: bool) -> bool:
        """Whether a line begins a unit."""
        if not self.unit:
            return False
        code = _CODE.match(text)
        if code is not None:
            return stamped or not self.failed or self.statement or code[1] in _OBJECT_CODES
        if self.failed:
            if stamped or self._marks(text):
                return True
            if self.statement or _FAILING.match(text) or not text.strip():
                return False
            return not (self.stack.continues(text) or text.startswith(_CALL_STACK))
        if not text.strip():
            return False
        return not (self.indented and text[0] in " \t")

    def _marks(self, text: str) -> bool:
        return (
            any(pattern.match(text) for pattern in (_TYPE, _TABLE, _BANNER, _START, _CLASSIC, _DUMP_SET))
            or text.startswith((";;; ", "Master table ", "Processing object "))
            or self._of_job(text)
        )

    def _of_job(self, text: str) -> bool:
        """Whether a line speaks of the job itself: that it has ended, or of its master table."""
        found = _OF_JOB.match(text)
        return found is not None and self.job == f"{found[1]}.{found[2]}"

    def _note(self, text: str, when: str | None) -> None:
        """Take what a line says."""
        if found := _CODE.match(text):
            if not self.failed:
                self.failed = found[1]
            self.stack.follow(text)
            if not self.statement:
                self.error.append(text)
            self._name(text)
        elif self.failed:
            if _FAILING.match(text):
                self.statement = True
            elif not self.statement:
                self.error.append(text)
        elif found := _BANNER.match(text):
            self.tool, self.job, self.type = found["tool"], "", ""
            if found["date"] and (printed := iso(found["date"])):
                self.unit.metadata["timestamp"] = printed
        elif found := _TABLE.match(text):
            self.unit.metadata["object_name"] = found[1].replace('"', "")
        elif found := _START.match(text):
            self.job, self.type = f"{found[1]}.{found[2]}", ""
        elif found := _TYPE.match(text):
            self.type = found[1]
        elif self._of_job(text) or _DUMP_SET.match(text) or text.startswith("Master table "):
            self.type = ""
        self.indented = bool(_DUMP_SET.match(text)) or (self.indented and text[:1] in ("", " ", "\t"))
        if when is not None and (printed := iso(when)):
            self.unit.metadata.setdefault("timestamp", printed)

    def _name(self, text: str) -> None:
        if found := _OBJECT.search(text[:1000]):
            self.unit.metadata |= {"object_type": found[1], "object_name": found[2].replace('"', "")}
        elif found := _TABLE_DATA.search(text[:1000]):
            self.unit.metadata["object_name"] = found[1].replace('"', "")

    def _section(self) -> tuple[str, ...]:
        tool = f"{self.tool} {self.job}".strip()
        return tuple(part for part in (tool, self.type) if part)

    def _given(self, *, continued: bool = False) -> Iterator[Unit]:
        """Give the unit; the codes of a failure are those of its stack, not what its statement says."""
        metadata: dict[str, Any] = {"job_name": self.job} if self.job else {}
        if self.failed and self.statement:
            metadata["oracle_error_code"] = [code.code for code in error_codes.find("\n".join(self.error))]
            self.unit.codes, self.unit.head = False, self.error[0][:_HEAD]
        yield from self.unit.unit(metadata)
        self.unit.codes, self.unit.head = True, ""
        if not (continued and self.statement):
            self.failed, self.statement = "", False
            self.error.clear()
