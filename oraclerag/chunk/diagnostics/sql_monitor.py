"""SQL Monitor reports as text: the statement, its execution, and the rows of its plan with what they waited for."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.plan import ROW, TABLE_HEAD, columns
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_TITLE = re.compile(r"SQL Monitoring Report[ \t]*$")
_TITLE_WITHIN = 30
_SECTION = re.compile(
    r"(?P<title>SQL Text|Global Information(?:: .{0,60})?|Binds|Global Stats|Parallel Execution Details .{0,80}"
    r"|Instance Drill-Down|SQL Plan Monitoring Details \(Plan Hash Value=(?P<hash>\d+)\))[ \t]*$",
    re.ASCII,
)
_KEY = re.compile(
    r" (?P<key>Instance ID|SQL ID|Execution Started|Module/Action|Container|Con Name) {1,40}: {1,4}"
    r"(?P<value>\S.{0,200})",
    re.ASCII,
)
_NAMES = {"Instance ID": "instance", "SQL ID": "sql_id", "Container": "container", "Con Name": "container"}
_RULE = re.compile(r"[-=]{6,400}[ \t]*$")
# The name of an event, and how many samples saw it.
_EVENT = re.compile(r"(?P<event>[A-Za-z][^|()]{2,62}?) \(\d{1,9}\) {0,40}\|[ \t]*$", re.ASCII)
_CPU = "Cpu"
_ERROR = re.compile(r" {0,2}Error: ORA-\d{1,5}", re.ASCII)


def recognises(lines: list[str]) -> bool:
    """Whether this is a SQL Monitor report as text."""
    return any(_TITLE.match(line) for line in lines[:_TITLE_WITHIN])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give sections, and the rows of the plan with the lines that follow each."""
    report = _Report()
    for line in lines:
        yield from report.read(line)
    yield from report.given()


class _Report:
    """Where in a report the next line is."""

    def __init__(self) -> None:
        self._unit = Gathering()
        self._unit.codes = False
        self._header: list[str] | None = None  # lines of the header of the plan
        self._table = False
        self._is_header = False
        self._blank = False

    def given(self) -> Iterator[Unit]:
        """Give the unit so far."""
        for unit in self._unit.unit():
            yield dataclasses.replace(unit, says_head=True) if self._is_header else unit
        self._is_header, self._unit.codes = False, False

    def read(self, line: Line) -> Iterator[Unit]:
        """Take a line; give the unit that ends before it."""
        text = line.text.rstrip()
        if self._unit.full or (self._unit.long and self._blank):
            yield from self.given()
        if (section := _SECTION.match(text)) is not None:
            yield from self.given()
            self._unit.section, self._unit.head = (section["title"].rstrip(),), ""
            self._header, self._table = None, False
            if section["hash"]:
                self._unit.always["plan_hash_value"] = section["hash"]
        elif TABLE_HEAD.match(text):
            yield from self.given()
            self._header = []
        elif ROW.match(text) and self._table:
            yield from self.given()
        elif _ERROR.match(text):
            yield from self.given()
            self._unit.codes = True
        elif key := _KEY.match(text):
            self._key(key["key"], key["value"].strip())
        self._in_table(text)
        self._blank = not text
        self._unit.add(line)

    def _key(self, key: str, value: str) -> None:
        if key in _NAMES:
            self._unit.always[_NAMES[key]] = value
        elif key == "Execution Started" and (time := iso(value)):
            self._unit.always["timestamp"] = time
        elif key == "Module/Action" and (module := value.partition("/")[0]):
            self._unit.always["db_module"] = module

    def _in_table(self, text: str) -> None:
        if self._header is not None:
            if _RULE.match(text):
                self._unit.head = _joined(self._header)
                self._header, self._table, self._is_header = None, True, True
            elif len(self._header) < 5:
                self._header.append(text)
        elif self._table and (found := _EVENT.search(text)) and found["event"] != _CPU:
            events = self._unit.metadata.setdefault("wait_event", [])
            events.append(found["event"].strip())


def _joined(header: list[str]) -> str:
    """Give the names of columns whose words stand one above the other."""
    rows = [line.strip().strip("|").split("|") for line in header]
    if len({len(row) for row in rows}) != 1:
        return columns(header[0] if header else "")
    return " | ".join(filter(None, (" ".join(" ".join(words).split()) for words in zip(*rows, strict=True))))
