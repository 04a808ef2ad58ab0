"""Units of a report that was HTML, from its readable form: headings, notes, tables, preformatted reports inside."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from oraclerag.chunk.diagnostics import erp
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.html_report import FENCE, cells
from oraclerag.chunk.diagnostics.lines import Line, first_lines
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["Cut", "Facts", "said_by_columns", "units"]

Facts = Mapping[str, Any]
"""Metadata by the names of the envelope."""

Cut = Callable[[Iterable[Line]], Iterator[Unit]]
"""What cuts a report that stands inside of another."""

_HEADING = re.compile(r"(?P<level>#{1,6}) (?P<title>\S.{0,300})")
_RULE = re.compile(r"\|(?:-\|)+$")
_CAPTION = "Table: "
_TITLE = 100  # characters of a line above a table that names it
_LONG_ROW = 1000  # characters
_PARAGRAPH = 12  # lines, and the notes below a heading

# What a column says, by its name without blanks, in small letters.
_COLUMNS = {
    "event": "wait_event",
    "waitevent": "wait_event",
    "eventname": "wait_event",
    "topevent": "wait_event",
    "sqlid": "sql_id",
    "sqlmodule": "db_module",
    "module": "db_module",
}
_VALUES = {"sql_id": re.compile(r"[0-9a-z]{13}", re.ASCII)}


def said_by_columns(names: list[str], row: list[str]) -> dict[str, Any]:
    """Give what the cells of a row say by the names of their columns: event, SQL_ID, module."""
    found: dict[str, Any] = {}
    for name, value in zip(names, row, strict=False):
        field = _COLUMNS.get(name.replace(" ", "").replace("_", "").lower())
        if field and value and (field not in _VALUES or _VALUES[field].fullmatch(value)):
            found.setdefault(field, value)
    if (module := erp.by_session(found.get("db_module", ""))) is not None:
        found["erp_module"] = module
    return found


def units(
    lines: Iterable[Line],
    *,
    row: Callable[[tuple[str, ...], list[str], list[str]], Facts],
    line: Callable[[tuple[str, ...], str], Facts],
    inner: Callable[[list[str]], Cut | None],
    codes: bool = False,
) -> Iterator[Unit]:
    """Cut a report; the path of a unit is what its headings below the first level say.

    ``row`` gets the path, the names of the columns and the cells, and says what a row says; ``line`` gets the path and
    a line and says what holds from it on; ``inner`` gives what cuts a preformatted text that begins so, or None.
    """
    report = _Report(row, line, codes=codes)
    lines = iter(lines)
    for found in lines:
        yield from report.read(found)
        if found.text == FENCE:
            yield from _preformatted(report, lines, inner)
    yield from report.given()


def _preformatted(report: _Report, lines: Iterator[Line], inner: Callable[[list[str]], Cut | None]) -> Iterator[Unit]:
    peeked, rest = first_lines(_to_fence(lines))
    cut = inner([found.text for found in peeked])
    if cut is None:
        for found in rest:
            yield from report.preformatted(found)
        return
    yield from report.given()
    facts = report.facts
    for unit in cut(rest):
        yield dataclasses.replace(unit, section=(*report.path, *unit.section), metadata={**facts, **unit.metadata})


def _to_fence(lines: Iterator[Line]) -> Iterator[Line]:
    for line in lines:
        yield line
        if line.text == FENCE:
            return


class _Report:
    """Where in the report the next line is."""

    def __init__(
        self,
        row: Callable[[tuple[str, ...], list[str], list[str]], Facts],
        line: Callable[[tuple[str, ...], str], Facts],
        *,
        codes: bool,
    ) -> None:
        self._row_says, self._line_says = row, line
        self._unit = Gathering()
        self._unit.codes = codes
        self._headings: dict[int, str] = {}
        self._named = ""  # by the line above a table
        self._alone = ""  # a line that may name a table
        self._closed = False  # the unit ends before the next line that is not empty
        self._in_table = False
        self._columns: list[str] = []  # of that table, once the rule below its header was seen
        self._names = ""  # of the columns, in one line
        self._row: list[str] = []  # cells of the last row
        self._is_header = False
        self._only_headings = False  # in the unit

    @property
    def path(self) -> tuple[str, ...]:
        """The titles above the next line."""
        titles = (title for level, title in sorted(self._headings.items()) if level > 1)
        return (*titles, self._named) if self._named else tuple(titles)

    @property
    def facts(self) -> Facts:
        """What holds from here on."""
        return self._unit.always

    def given(self) -> Iterator[Unit]:
        """Give the unit so far."""
        for unit in self._unit.unit():
            yield dataclasses.replace(unit, says_head=True) if self._is_header else unit
        self._is_header = self._closed = self._only_headings = False

    def read(self, line: Line) -> Iterator[Unit]:
        """Take a line; give the unit that ends before it."""
        text = line.text
        if self._unit.full:
            yield from self.given()
        if not text.strip():
            self._leave_table()
        elif text.startswith("|"):
            yield from self._table(text)
        elif (heading := _HEADING.match(text)) is not None:
            yield from self._heading(len(heading["level"]), heading["title"])
        elif text.startswith(_CAPTION):
            yield from self._caption()
        else:
            yield from self._note(text)
        self._unit.add(line)

    def preformatted(self, line: Line) -> Iterator[Unit]:
        """Take a line between fences."""
        if self._unit.long or (self._closed and len(self._unit.lines) >= _PARAGRAPH):
            yield from self.given()
        self._unit.always.update(self._line_says(self.path, line.text))
        self._closed = not line.text.strip()
        self._unit.add(line)

    def _heading(self, level: int, title: str) -> Iterator[Unit]:
        if not self._only_headings:
            yield from self.given()
        self._only_headings = True
        self._headings = {above: name for above, name in self._headings.items() if above < level}
        self._headings[level], self._named, self._alone = title, "", ""
        self._unit.section, self._unit.head = self.path, ""
        self._unit.always.update(self._line_says(self.path, title))

    def _note(self, text: str) -> Iterator[Unit]:
        self._alone = text if len(text) <= _TITLE and not text.startswith(("- ", FENCE)) else ""
        apart = self._alone and not self._only_headings
        if self._closed or apart or len(self._unit.lines) >= _PARAGRAPH:
            yield from self.given()
            self._unit.head = ""
        self._only_headings = False
        self._unit.always.update(self._line_says(self.path, text))

    def _caption(self) -> Iterator[Unit]:
        if self._alone:
            self._named = self._alone
            self._unit.section = self.path
        elif not self._only_headings:
            yield from self.given()
        self._unit.head, self._alone, self._only_headings = "", "", False

    def _table(self, text: str) -> Iterator[Unit]:
        if _RULE.match(text):
            self._columns, self._is_header = self._row, True
            self._unit.head = self._names = " | ".join(filter(None, self._columns))
            return
        if self._in_table or self._closed:
            yield from self.given()
        if not self._in_table:
            self._in_table, self._columns, self._names = True, [], ""
        self._row, self._only_headings = cells(text), False
        self._unit.always.update(self._line_says(self.path, " | ".join(self._row)))
        said = self._row_says(self.path, self._columns, self._row)
        self._unit.metadata.update(said)
        # Of a long statement every part says whose it is.
        statement = len(text) > _LONG_ROW and isinstance(said.get("sql_id"), str)
        self._unit.head = f"SQL Id {said['sql_id']}" if statement else self._names

    def _leave_table(self) -> None:
        if self._in_table:
            self._in_table, self._row, self._closed = False, [], True
