"""Execution plans as DBMS_XPLAN prints them: the statement, the rows of the plan, predicates, notes.

A plan is one section, so that what fits together stays together; every row goes with the names of the columns. SQL*Plus
may have wrapped a row, or a rule, over several lines.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["ROW", "TABLE_HEAD", "columns", "recognises", "units"]

# SQLHC prints plans some columns to the right, behind the instance and the child cursor.
_INDENT = r"(?:Inst: \d{1,3} {1,8}Child: \d{1,6})? {0,40}"
_SQL_ID = re.compile(_INDENT + r"SQL_ID {1,4}(?P<sql_id>[0-9a-z]{13})(?:, child number \d+)?[ \t]*$", re.ASCII)
_NOT_FOUND = re.compile(
    r"SQL_ID: (?P<sql_id>[0-9a-z]{13}), child number: \d+ cannot be found"
    r"|SQL_ID {1,4}(?P<other_sql_id>[0-9a-z]{13}) not found",
    re.ASCII,
)
_PLAN_HASH = re.compile(_INDENT + r"Plan hash value: (?P<hash>\d+)[ \t]*$", re.ASCII)
TABLE_HEAD = re.compile(_INDENT + r"\| {0,4}Id {0,6}\| {0,60}Operation")
"""The first line of the header of a plan's table."""
ROW = re.compile(_INDENT + r"\|[*\-> ]{0,8}(?P<id>\d{1,5}) {1,4}\|", re.ASCII)
"""The first line of a row of one."""
_RULE = re.compile(r" {0,40}[-=]{6,400}[ \t]*$")
_PART = re.compile(
    r" {0,40}(?P<title>(?:Query Block Name / Object Alias|Outline Data|Peeked Binds|Predicate Information"
    r"|Column Projection Information|Remote SQL Information|Hint Report|SQL Analysis Report|Note|Optimizer Statistics"
    r"|Information about)(?: \([^)]{1,90}\))?:?)[ \t]*$"
)
_ITEM = re.compile(r" {0,46}(?:\d{1,5} - |- )", re.ASCII)
_HEADER = 8  # lines of a header that was wrapped
_PROMPT = re.compile(r"SQL> |[A-Za-z0-9_$#]{1,30}@[A-Za-z0-9_.$#:/\-]{1,60}> ", re.ASCII)


def recognises(lines: list[str]) -> bool:
    """Whether there is a plan, and no prompt of SQL*Plus before it."""
    for line in lines:
        if _PROMPT.match(line):
            return False
        if _SQL_ID.match(line) or _PLAN_HASH.match(line) or TABLE_HEAD.match(line) or _NOT_FOUND.match(line):
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the statement, the header, rows, predicates, notes."""
    plan = _Plan()
    for line in lines:
        yield from plan.read(line)
    yield from plan.given()


def columns(header: str) -> str:
    """Give the names of the columns of a header in one line."""
    return " | ".join(filter(None, (name.strip() for name in header.split("|"))))


class _Plan:
    """Where in a plan the next line is."""

    def __init__(self) -> None:
        self._unit = Gathering()
        self._unit.codes = False  # a code stands in the text of the statement
        self._header: list[str] | None = None  # lines of one that has not ended
        self._table = False  # in the rows
        self._part = ""  # predicates and the like
        self._blank = False
        self._is_header = False

    def given(self) -> Iterator[Unit]:
        """Give the unit so far."""
        for unit in self._unit.unit():
            yield dataclasses.replace(unit, says_head=True) if self._is_header else unit
        self._is_header = False
        self._unit.head = self._part

    def read(self, line: Line) -> Iterator[Unit]:
        """Take a line; give the unit that ends before it."""
        text = line.text.rstrip()
        if self._unit.full:
            yield from self.given()
        if (begin := _SQL_ID.match(text) or _NOT_FOUND.match(text)) is not None:
            yield from self._begins(begin, text)
        elif found := _PLAN_HASH.match(text):
            if "plan_hash_value" in self._unit.always:
                yield from self._begins(None, text)
            self._unit.section = self._unit.section or (text.strip(),)
            self._unit.always["plan_hash_value"] = found["hash"]
        elif TABLE_HEAD.match(text):
            self._part, self._header, self._table = "", [text], False
            yield from self.given()
        elif self._header is not None:
            self._in_header(text)
        elif self._table:
            yield from self._in_table(text)
        else:
            yield from self._in_part(text)
        self._blank = not text
        self._unit.add(line)

    def _begins(self, found: re.Match[str] | None, text: str) -> Iterator[Unit]:
        self._part = ""
        yield from self.given()
        self._header, self._table = None, False
        self._unit.section = (text.strip(),)
        self._unit.always = {}
        if found is not None:
            said = found.groupdict()
            self._unit.always["sql_id"] = said["sql_id"] or said.get("other_sql_id")

    def _in_header(self, text: str) -> None:
        if _RULE.match(text):
            self._unit.head = columns("".join(self._header or ()))
            self._header, self._table, self._is_header = None, True, True
        elif self._header is not None:
            self._header.append(text)
            if len(self._header) > _HEADER:  # cut off, or none
                self._header = None

    def _in_table(self, text: str) -> Iterator[Unit]:
        head = self._unit.head
        if not text:
            self._table = False
        elif ROW.match(text):
            yield from self.given()
            self._unit.head = head

    def _in_part(self, text: str) -> Iterator[Unit]:
        if part := _PART.match(text):
            self._part = part["title"]
            yield from self.given()
        elif (self._part and _ITEM.match(text)) or (self._blank and text and self._unit.long):
            yield from self.given()
