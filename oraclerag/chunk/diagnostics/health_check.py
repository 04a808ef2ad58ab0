"""Reports of health-check scripts: one check a line with PASS, WARN or FAIL, its details indented below it.

Only a report whose own header says that it is one: every word of a result is common elsewhere. The shape is an
assumption, for such scripts are not public: the word stands at the begin of a line, at its end, or in a column.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.envelope import check_result, oracle_doc_ids

__all__ = ["recognises", "units"]

_WORD = r"(?P<word>PASS(?:ED)?|WARN(?:ING)?|FAIL(?:ED)?|OK|ERROR)"
_ANY_WORD = re.compile(_WORD, re.ASCII)
_RESULTS = (
    re.compile(
        rf"[ \t|*-]{{0,20}}(?:\d{{1,3}}[.)] )?[\[(<]?{_WORD}(?:[\])>]|[ \t]*[:|-]|[ \t]{{2}}|[ \t]*$| (?=[A-Z]))"
    ),
    re.compile(rf".{{1,300}}[ \t.|:=\[(-]{_WORD}[\])]?[ \t|]{{0,40}}$"),
    re.compile(rf".{{0,300}}?(?:  |\t|\| ?|: ?|\[){_WORD}(?:  |\t| ?\||\])"),
)

_CHECK = re.compile(r"\b(?:health[ -]?check|healthcheck)\b", re.IGNORECASE)
# SYS-03, AP-12: letters and two or three digits; a code of an error has other letters, or more digits.
_SCRIPT = re.compile(
    r"(?<![\w-])(?!(?:ORA|TNS|PLS|RMAN|SP2|IMP|EXP|UTF|ISO)-)(?P<script>[A-Z]{2,8}-\d{2,3})(?![\w-])", re.ASCII
)
_SCRIPT_SAID = re.compile(r"\b(?:check|checks|script|diagnostic|diagnostics|report)\b", re.IGNORECASE)
_SCRIPT_KEY = re.compile(r"[ \t]{0,8}Script(?: name)? ?[:=] ?(?P<script>[\w.$-]{1,80})[ \t]*$", re.IGNORECASE)
_HEADER = 40  # lines
_CHECKS = 2

_KEY = re.compile(
    r"[ \t*#|-]{0,8}(?P<key>instance|database|host|module|ebs version|ebs release|date|run date|run at|started)"
    r"[ \t.]{0,30}[:=] ?(?P<value>\S.{0,120})$",
    re.IGNORECASE,
)
_RELEASE = re.compile(r"\d[\d.]{1,20}", re.ASCII)
_NAMES = {"instance": "instance", "database": "db_name", "host": "host", "module": "erp_module"}

_RULE = re.compile(r"[ \t]{0,8}[-=~*#_+][-=~*#_+ |]{2,400}$")
_BANNER = re.compile(r"(?:[=*#~-]{2,80}|\[)[ \t]+(?P<title>\S.{0,100}?)[ \t]+(?:[=*#~-]{2,80}|\])$")
_RUN = re.compile(r"[-=~*#_]+")
_CELL_BORDER = re.compile(r" {2,}|\t|\|")
_TITLE = 100  # characters
_NUMBERED = re.compile(r"(?P<title>(?:Section|SECTION|Part|PART) \d{1,3}\b.{0,100})$")


def recognises(lines: list[str]) -> bool:
    """Whether the header names a script or a health check, and checks follow."""
    named = any(_CHECK.search(line) or _script(line) for line in lines[:_HEADER])
    return named and sum(_result(line) is not None for line in lines) >= _CHECKS


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give checks with their details, titles, and what else stands between them."""
    report = _Report()
    last: Line | None = None
    for line in lines:
        if last is not None:
            yield from report.read(last, line.text)
        last = line
    if last is not None:
        yield from report.read(last, "")
    yield from report.given()


def _script(text: str) -> str | None:
    if found := _SCRIPT_KEY.match(text):
        return found["script"]
    if (found := _SCRIPT.search(text)) and _SCRIPT_SAID.search(text):
        return found["script"]
    return None


def _result(text: str) -> str | None:
    if _ANY_WORD.search(text) is None:
        return None
    for pattern in _RESULTS:
        if found := pattern.match(text):
            return check_result(found["word"])
    return None


def _is_rule(text: str) -> bool:
    return _RULE.match(text) is not None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


class _Report:
    """Where in the report the next line is."""

    def __init__(self) -> None:
        self._unit = Gathering()
        self._check: int | None = None  # the indent of the check whose details come
        self._checked = False  # a check was seen: the header is over
        self._lines = 0
        self._blank = False
        self._ruled = False  # the last line was a rule
        self._last = ""
        self._is_header = False  # the unit has the names of the columns

    def given(self) -> Iterator[Unit]:
        """Give the unit so far, with the notes that it names."""
        notes = oracle_doc_ids("".join(line.raw for line in self._unit.lines))
        for unit in self._unit.unit({"oracle_doc_id": notes} if notes else None):
            yield dataclasses.replace(unit, says_head=True) if self._is_header else unit
        self._is_header = False

    def read(self, line: Line, following: str) -> Iterator[Unit]:
        """Take a line, knowing the next one; give the unit that ends before it."""
        text = line.text.rstrip()
        self._lines += 1
        if self._unit.full or (self._unit.long and self._blank):
            yield from self.given()
        rule = _is_rule(text)
        detail = self._check is not None and _indent(text) > self._check
        if rule:
            self._columns(text)
        elif not text or detail:
            pass
        elif (result := _result(text)) is not None:
            yield from self.given()
            self._unit.metadata["check_result"] = result
            self._check, self._checked = _indent(text), True
        else:
            yield from self._other(text, following)
        self._blank, self._ruled = not text, rule
        self._last = text
        self._unit.add(line)

    def _other(self, text: str, following: str) -> Iterator[Unit]:
        if (title := self._title(text, following)) is not None:
            if not self._ruled:
                yield from self.given()
            self._unit.section, self._unit.head, self._check = (title,), "", None
        elif self._check is not None or self._blank:
            yield from self.given()
            self._check = None
        if not self._checked and self._lines <= _HEADER:
            self._header(text)

    def _title(self, text: str, following: str) -> str | None:
        if found := _BANNER.match(text.strip()) or _NUMBERED.match(text):
            return found["title"]
        alone = len(text) <= _TITLE and _CELL_BORDER.search(text.strip()) is None
        return text.strip() if alone and _is_rule(following.rstrip()) else None

    def _columns(self, rule: str) -> None:
        """Take a rule: the names of columns above it go with the checks that follow."""
        names = [" ".join(name.split()) for name in _CELL_BORDER.split(self._last.strip(" |")) if name.strip()]
        if len(names) > 1 and len(_RUN.findall(rule)) == len(names):
            self._unit.head, self._is_header = " | ".join(names), True

    def _header(self, text: str) -> None:
        if script := _script(text):
            self._unit.always["source_script"] = script
        if (found := _KEY.match(text)) is None:
            return
        key, value = found["key"].lower(), found["value"].strip()
        if key in _NAMES:
            self._unit.always[_NAMES[key]] = value
        elif key.startswith("ebs"):
            if release := _RELEASE.search(value):
                self._unit.always["erp_version"] = f"EBS R{release[0]}"
        elif time := iso(value):
            self._unit.always["timestamp"] = time
