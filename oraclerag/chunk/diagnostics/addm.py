"""ADDM reports: findings with their impact, recommendations with their actions and reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import month
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_TITLE = re.compile(r" *(?:ADDM Report for Task '[^']{1,128}'|DETAILED ADDM REPORT FOR TASK '[^']{1,128}' WITH ID \d+)")
_TITLE_WITHIN = 30
_BLOCK = re.compile(
    r" {0,40}(?P<title>Analysis Period|Analysis Target|Activity During the Analysis Period|Summary of Findings"
    r"|Findings and Recommendations|Additional Information|Miscellaneous Information)[ \t]*$"
)
_FINDING = re.compile(r"(?P<title>(?:Finding|FINDING) \d+: .{1,200})")
_IMPACT = re.compile(r"Impact is .{1,120}")
_PART = re.compile(
    r" {0,4}(?:(?:Recommendation|RECOMMENDATION) \d+: |Symptoms That Led to the Finding:|SYMPTOMS THAT LED )"
)
# Its name and its value can stand on two lines.
_SQL_ID = re.compile(r"""SQL_ID\s{1,40}"(?P<sql_id>[0-9a-z]{13})\"""", re.ASCII)
_PERIOD = re.compile(
    r"Time period (?P<edge>starts|ends) at (?P<day>\d\d)-(?P<month>\S{3,5})-(?P<year>\d\d) "
    r"(?P<hour>\d\d)\.(?P<minute>\d\d)\.(?P<second>\d\d)(?: (?P<half>AM|PM))?"
)
_INSTANCE = re.compile(r"ADDM performed an analysis of instance (?P<instance>\S{1,30}?),? ")
_FINDINGS = "Findings and Recommendations"


def recognises(lines: list[str]) -> bool:
    """Whether this is the report of an ADDM task."""
    return any(_TITLE.match(line) for line in lines[:_TITLE_WITHIN])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give blocks, findings, and recommendations below the title and the impact of their finding."""
    report = _Report()
    for line in lines:
        yield from report.read(line)
    yield from report.given()


class _Report:
    """Where in the report the next line is."""

    def __init__(self) -> None:
        self._unit = Gathering()
        self._unit.codes = False
        self._blank = False
        self._impact = ""

    def given(self) -> Iterator[Unit]:
        """Give the unit so far, with the statements that it names."""
        found = _SQL_ID.findall("".join(line.raw for line in self._unit.lines))
        yield from self._unit.unit({"sql_id": list(dict.fromkeys(found))} if found else None)

    def read(self, line: Line) -> Iterator[Unit]:
        """Take a line; give the unit that ends before it."""
        text = line.text
        if self._unit.full or (self._unit.long and self._blank):
            yield from self.given()
        if block := _BLOCK.match(text):
            yield from self.given()
            self._begin((block["title"],))
        elif finding := _FINDING.match(text):
            yield from self.given()
            self._begin((_FINDINGS, finding["title"].rstrip()))
        elif _PART.match(text):
            yield from self.given()
            self._unit.head = self._impact
        elif impact := _IMPACT.match(text):
            self._impact = impact[0].rstrip()
        elif period := _PERIOD.match(text):
            self._period(period)
        elif instance := _INSTANCE.match(text):
            self._unit.always["instance"] = instance["instance"]
        self._blank = not text.strip()
        self._unit.add(line)

    def _begin(self, section: tuple[str, ...]) -> None:
        self._unit.section, self._unit.head, self._impact = section, "", ""

    def _period(self, found: re.Match[str]) -> None:
        if (number := month(found["month"])) is None:
            return
        hour = int(found["hour"])
        if found["half"]:
            hour = hour % 12 + (12 if found["half"] == "PM" else 0)
        time = f"20{found['year']}-{number:02}-{found['day']}T{hour:02}:{found['minute']}:{found['second']}"
        self._unit.always["timestamp" if found["edge"] == "starts" else "timestamp_end"] = time
