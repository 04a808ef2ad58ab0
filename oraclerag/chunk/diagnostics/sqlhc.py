"""SQL Health-Check, and the reports of SQLT and Trace Analyzer, in their readable form.

An observation is a row, and the thing to find; it names the documents that help. Tables and execution plans follow
below their headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics import html_sections, plan
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.html_sections import Cut, Facts, said_by_columns
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.envelope import check_result, oracle_doc_ids

__all__ = ["recognises", "units"]

# Either the comment that the script leaves, or its title; the number is the note that the script comes with.
_TITLE = re.compile(
    r"(?:\$Header: (?P<header>\d{4,7}\.\d) (?P<file>sqlhc[a-z]{0,8})\."
    r"|# (?P<note>1366133\.1|215187\.1|224270\.1) (?P<tool>[A-Z]{3,12})(?: (?P<method>[A-Z]{4,12})\b)?)",
    re.ASCII,
)
_TITLE_WITHIN = 60
_TOOLS = {"SQLHC", "SQLHCXEC", "SQLT", "SQLTXPLAIN", "TRCA", "TRCANLZR"}

_KEY = re.compile(
    r"(?P<key>Input|sql_id|SQL ID|Database|Host|Instance|EBS|SIEBEL|PSFT|Date) {0,14}: ?\"?(?P<value>[^\"]{1,200})",
    re.ASCII,
)
_SQL_ID = re.compile(r"[0-9a-z]{13}", re.ASCII)
_NAMES = {"Database": "db_name", "Host": "host", "Instance": "instance"}
_PRODUCTS = {"EBS": "EBS R", "SIEBEL": "Siebel ", "PSFT": "PeopleSoft "}
_WORD = 10


def recognises(lines: list[str]) -> bool:
    """Whether this is such a report that was made readable."""
    return any(_tool(line) for line in lines[:_TITLE_WITHIN])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give headings with their notes, headers of tables, rows, plans."""
    return html_sections.units(lines, row=_row, line=_line, inner=_inner)


def _tool(text: str) -> str | None:
    found = _TITLE.match(text)
    if found is None:
        return None
    if found["file"]:
        return found["file"].upper()
    return found["tool"] if found["tool"] in _TOOLS else None


def _row(_: tuple[str, ...], names: list[str], cells: list[str]) -> Facts:
    said = said_by_columns(names, cells)
    if notes := oracle_doc_ids(" ".join(cells)):
        said["oracle_doc_id"] = notes
    words = (cell for cell in cells if len(cell) <= _WORD)  # a cell for itself; a sentence may have the word too
    if result := next(filter(None, map(check_result, words)), None):
        said["check_result"] = result
    return said


def _line(path: tuple[str, ...], text: str) -> Facts:
    if path:
        return {}
    if tool := _tool(text) or _tool(f"# {text}"):
        return {"source_script": tool}
    if (found := _KEY.match(text)) is None:
        return {}
    key, value = found["key"], found["value"].strip()
    if key in _NAMES:
        return {_NAMES[key]: value}
    if key in _PRODUCTS:
        return {"erp_version": _PRODUCTS[key] + value} if value[:1].isdecimal() else {}
    if key == "Date":
        time = iso(value.replace("/", " ", 1))
        return {"timestamp": time} if time else {}
    return {"sql_id": value} if _SQL_ID.fullmatch(value) else {}


def _inner(lines: list[str]) -> Cut | None:
    return plan.units if plan.recognises(lines) else None
