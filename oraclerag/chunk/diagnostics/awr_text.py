"""AWR and ASH reports as text, and what Statspack has in common with them.

A section begins at its title and ends at a rule of its own; a title that comes again before that rule is only a page
that ended, also in the middle of a statement. A table is a header, a rule and rows; a statement is its row of figures,
its module and its text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics import erp
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.text_table import Columns, is_rule
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_REPORT = re.compile(
    r"WORKLOAD REPOSITORY (?:report for|REPORT|COMPARE PERIOD|SQL Report|PDB report)|ASH Report For [^/ ]{1,30}/\S",
    re.ASCII,
)
_REPORT_WITHIN = 30

_SECTION = re.compile(
    r"(?P<title>\S.{0,70}?) {1,40}(?:"
    r"DB/Inst: ?(?P<db>[^/ ]{1,30})/(?P<inst>\S{1,30}) {1,4}"
    r"(?:(?:End )?Snaps?: ?(?P<begin>\d+)(?: ?- ?(?P<end>\d+))?|\((?P<period>[^)]{5,60})\))"
    r"|for DB: (?P<db2>\S{1,30}) {1,4}Instance: (?P<inst2>\S{1,30}) {1,4}Snaps: (?P<begin2>\d+) ?- ?(?P<end2>\d+))",
    re.ASCII,
)
_END_RULE = re.compile(r" {6,12}-{50,70}[ \t]*$")
_TITLE_RULE = re.compile(r"~{2,80}(?: |-|~|$)")
_SNAPSHOT = re.compile(
    r" *(?P<which>Begin|End) Snap: +\d+ +(?P<time>\d{2}-\S{3,5}-\d{2,4} \d\d:\d\d(?::\d\d)?)", re.ASCII
)
_STATEMENTS = "SQL ordered by"
_STATEMENT = re.compile(
    r" {0,20}(?:[\d,.#]{1,18} {1,20}){3,9}(?:(?P<hash>\d{6,10})|(?P<sql_id>[0-9a-z]{13}))[ \t]*$", re.ASCII
)
_MODULE = re.compile(r"Module: (?P<module>.{1,64})")
# What a column says, by its name.
_COLUMNS = {"Event": "wait_event", "Wait Event": "wait_event", "SQL ID": "sql_id", "SQL Id": "sql_id"}
_NOTE = re.compile(r"-> ")
_NAME = re.compile(r"\S+(?: \S+)*")

_TITLE = 80  # characters
_PARAGRAPH = 12  # lines that are no table and have no empty line between them
_ROW = 12  # lines of a row whose first column is empty but for its first line


def recognises(lines: list[str]) -> bool:
    """Whether this is an AWR or ASH report as text."""
    return any(_REPORT.match(line.strip()) for line in lines[:_REPORT_WITHIN])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give titles with their notes, headers, rows and statements."""
    report = _Report()
    for line in lines:
        yield from report.read(line)
    yield from report.given()


class _Report:
    """Where in the report the next line is."""

    def __init__(self) -> None:
        self.unit = Gathering()
        self.unit.codes = False  # what looks like an error stands in the text of statements
        self._closed = False  # the unit ends before the next line that is not empty
        self._title = ""
        self._ended = True  # the section, by its rule
        self._statements = False  # the rows of the section are statements
        self._page = False  # what comes is a header that is repeated inside of a statement
        self._header: list[str] = []  # lines that may be the header of a table
        self._columns: Columns | None = None  # of the table whose rows come
        self._is_header = False  # the unit is the header of that table

    def read(self, line: Line) -> Iterator[Unit]:
        """Take a line; give the unit that ends before it."""
        text = line.text.rstrip()
        if self.unit.full:
            yield from self.given()
        if not text:
            self._closed, self._header = True, []
            if not self._statements:
                self._columns = None
        elif (found := _section(text)) is not None:
            yield from self._section(found)
        elif _END_RULE.match(text):
            self._closed = self._ended = True
            self._columns, self._header, self._page = None, [], False
        elif self._columns is None:
            yield from self._paragraph(text)
        elif self._statements:
            yield from self._statement(text)
        else:
            yield from self._row(text, self._columns)
        self.unit.add(line)

    def given(self) -> Iterator[Unit]:
        """Give the unit so far."""
        for unit in self.unit.unit():
            yield dataclasses.replace(unit, says_head=True) if self._is_header else unit
        self._is_header = False

    def _section(self, found: re.Match[str]) -> Iterator[Unit]:
        title = found["title"].rstrip()
        goes_on = title == self._title and not self._ended
        self._page = goes_on and self._statements and not self._closed
        if not self._page:
            yield from self.given()
            self.unit.section, self.unit.head = (title,), ""
        self.unit.always["instance"] = found["inst"] or found["inst2"]
        self._title, self._ended, self._statements = title, False, title.startswith(_STATEMENTS)
        self._closed, self._columns, self._header = False, None, []

    def _paragraph(self, text: str) -> Iterator[Unit]:
        """Take a line of no table yet: it says something itself, is a note, or belongs to the header of a table."""
        if (self._closed or len(self.unit.lines) >= _PARAGRAPH) and not self._page:
            yield from self.given()
            self.unit.head, self._header = "", []
        self._closed = False
        underlined = _TITLE_RULE.match(text)
        if underlined and len(self._header) == 1 and not self._page:
            title = _NAME.match(self._header[0])
            if title is not None:
                rest = self._header[0][title.end() :]
                self._header = ["" if rest.lstrip().startswith("(") else " " * title.end() + rest]
                self.unit.section, self._title, self._ended, self._statements = (title[0][:_TITLE],), "", True, False
        if is_rule(text) and self._header:
            self._columns = Columns.of(self._header, text)
            self.unit.head = self._columns.head
            self._is_header, self._page = not self._page, False
        elif not _NOTE.match(text):
            self._header.append(text)

    def _row(self, text: str, columns: Columns) -> Iterator[Unit]:
        self._closed = False
        goes_on = not columns.first(text) and not self._is_header and len(self.unit.lines) < _ROW
        if goes_on or is_rule(text):
            return
        yield from self.given()
        self.unit.metadata.update(columns.said(text, _COLUMNS))
        if not self._title:  # before the first section: what the report is about
            self._about(text, columns)

    def _about(self, text: str, columns: Columns) -> None:
        self.unit.always.update(columns.said(text, {"Instance": "instance"}))
        if (found := _SNAPSHOT.match(text)) and (time := iso(found["time"])):
            self.unit.always["timestamp" if found["which"] == "Begin" else "timestamp_end"] = time

    def _statement(self, text: str) -> Iterator[Unit]:
        closed, self._closed = self._closed, False
        if found := _STATEMENT.match(text):
            yield from self.given()
            name, value = ("sql_id", found["sql_id"]) if found["sql_id"] else ("sql_hash", found["hash"])
            self.unit.metadata[name] = value
        elif self._is_header or (closed and self.unit.long):
            yield from self.given()
        if found := _MODULE.match(text):
            self.unit.metadata["db_module"] = found["module"]
            if (module := erp.by_session(found["module"])) is not None:
                self.unit.metadata["erp_module"] = module


def _section(text: str) -> re.Match[str] | None:
    """Read the title of a section."""
    return _SECTION.match(text) if "DB/Inst:" in text or " for DB: " in text else None
