"""Logs of SQL*Loader, and of external tables: what was to be loaded, and what became of each table.

Sections are the tables, and in each its definition, its rejected records and its result. A rejected record is a unit
with its reason. The words are the client's language (``Registro 5: Rechazado - …``): the shape of the lines counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["BANNER", "recognises", "units"]

BANNER = re.compile(r"SQL\*Loader: Release \d+(?:\.\d+){2,4}(?: - .{0,40}? on (?P<date>.{5,60}))?")
"""The first line of a log of the loader."""
_OPENED = re.compile(r" ?LOG file opened at (?P<date>.{5,40})")
_REJECTED = re.compile(r"[^\s:]{4,20} \d+: [^\s]{4,20} - .")
_OF_TABLE = re.compile(
    r"(?:table|tabla|tabelle|tabella|tabela) \"?(?P<table>[^\s,\"]{1,261})\"?"
    r"(?:, \w{3,12} \"?(?P<column>[^\s.\"]{1,128}))?",
    re.IGNORECASE,
)
_DEFINED = re.compile(
    r"[^\W\d]{4,8} (?P<table>[^\s,]{1,261}), (?:partition \S{1,128}, )?[^\W\d]{4,12} .{1,80}[.][ \t]*$"
)
_RESULT = re.compile(r"[^\W\d]{4,8} (?P<table>[^\s,:]{1,261}):[ \t]*$")
_COLUMNS = re.compile(r"-{10,60} -{5,20} ")
_CODE = re.compile(r" {0,4}(?:SQL\*Loader|ORA|KUP|OCI|LRM)-\d{1,5}: ", re.ASCII)
_LAST_CODE = re.compile(r" ?KUP-04101: ", re.ASCII)  # record n rejected in file x
_ERROR_ROW = re.compile(r" ?error processing column (?P<column>\S{1,130}) in row \d+ ")
_RUN = re.compile(r"Run (?:began|ended) on (?P<date>.{5,60})$")


def recognises(lines: list[str]) -> bool:
    """Whether the loader says its release, or the log of an external table says when it was opened."""
    if any(BANNER.match(line) for line in lines[:10]):
        return True
    opened = any(_OPENED.match(line) for line in lines[:5])
    return opened and any("KUP-" in line or "Field Definitions" in line for line in lines)


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the lines of a log: rejected records, definitions and results whole, other lines one by one."""
    return _Log().units(lines)


class _Log:
    """What is known from one line to the next."""

    def __init__(self) -> None:
        self.unit = Gathering()
        self.table: str | None = None
        self.part = "header"
        self.blank = False  # the line before says nothing
        self.error = False  # the lines of an error are being read
        self.columns = ""  # the names above the columns of a definition

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        for line in lines:
            text = line.text
            if (
                self._turns(text)
                or self._begins(text)
                or self.unit.full
                or (self.unit.long and self.part != "rejected")
            ):
                yield from self.unit.unit()
                self._place()
            self._note(text)
            self.unit.add(line)
        yield from self.unit.unit()

    def _turns(self, text: str) -> bool:
        """Note which part of the log a line begins."""
        if found := _REJECTED.match(text):
            self.part = "rejected"
            named = _OF_TABLE.search(text[:1000])
            self.table = named["table"] if named else self.table
        elif found := _DEFINED.match(text):
            self.part, self.table, self.columns = "definition", found["table"], ""
        elif found := _RESULT.match(text):
            self.part, self.table = "result", found["table"]
        elif BANNER.match(text):
            self.part, self.table = "header", None
        elif _ERROR_ROW.match(text):
            self.part = "rejected"
        elif self.part == "rejected" and self.blank and text.strip() and not _CODE.match(text):
            self.part = "messages"
        elif self.part == "result" and text[:1].strip():
            self.part = "totals"  # they are indented in the result of a table
        else:
            return False
        self.error = False
        return True

    def _begins(self, text: str) -> bool:
        """Whether a line begins a unit within its part."""
        if self.part in ("definition", "result") or not text.strip() or (text[0] in " \t" and not _CODE.match(text)):
            return False
        return not self.error and (self.part != "rejected" or self.blank)

    def _place(self) -> None:
        titles = {"definition": "definition", "rejected": "rejected records", "result": "result"}
        if self.part in titles:
            self.unit.section = (f"table {self.table}" if self.table else "records", titles[self.part])
        else:
            self.unit.section = (self.part,)
        self.unit.head = self.columns if self.part == "definition" else ""

    def _note(self, text: str) -> None:
        """Take what a line says."""
        if not self.unit:
            self._place()
        if self.part in ("definition", "rejected", "result") and self.table is not None:
            self.unit.metadata["table_name"] = self.table.replace('"', "")
        if self.part == "definition" and not self.columns and _COLUMNS.match(text) and self.unit:
            self.columns = " ".join(self.unit.lines[-1].text.split())
        found = _ERROR_ROW.match(text) or (_OF_TABLE.search(text[:1000]) if _REJECTED.match(text) else None)
        if found and found["column"]:
            self.unit.metadata["column_name"] = found["column"]
        dated = BANNER.match(text) or _RUN.match(text) or _OPENED.match(text)
        if dated is not None and (when := iso(dated["date"] or "")) is not None:
            self.unit.metadata["timestamp"] = when
        self.blank = not text.strip()
        if _LAST_CODE.match(text):
            self.error = False
            self.blank = True
        else:
            self.error = not self.blank and (self.error or _CODE.match(text) is not None)
