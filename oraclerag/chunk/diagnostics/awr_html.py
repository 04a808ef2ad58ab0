"""AWR and ASH reports that came as HTML, in their readable form: tables under two levels of headings.

A row is a unit, the text of its statement included; the names of the columns go with every chunk of a table. The full
report of an ADDM task stands inside, preformatted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics import addm, html_sections
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.html_sections import Cut, Facts, said_by_columns
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_TITLE = re.compile(
    r"AWR [A-Za-z ]{0,30}Report for DB: [^,]{1,40}, Inst: (?P<instance>[^,]{1,40}), Snaps: \d+-\d+"
    r"|# (?:WORKLOAD REPOSITORY |ASH Report For )|ASH Report - From ",
    re.ASCII,
)
_TITLE_WITHIN = 30
_SNAPSHOT = re.compile(r"(?P<which>Begin|End) Snap: \| \d+ \| (?P<time>\d{2}-\S{3,5}-\d{2,4} \d\d:\d\d(?::\d\d)?)")


def recognises(lines: list[str]) -> bool:
    """Whether this is an AWR or ASH report that was made readable."""
    return any(_TITLE.match(line) for line in lines[:_TITLE_WITHIN])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give headings with their notes, headers of tables and rows."""
    return html_sections.units(lines, row=_row, line=_line, inner=_inner)


def _row(_: tuple[str, ...], names: list[str], cells: list[str]) -> Facts:
    return said_by_columns(names, cells)


def _line(_: tuple[str, ...], text: str) -> Facts:
    if (found := _TITLE.match(text)) and found["instance"]:
        return {"instance": found["instance"]}
    if (found := _SNAPSHOT.match(text)) and (time := iso(found["time"])):
        return {"timestamp" if found["which"] == "Begin" else "timestamp_end": time}
    return {}


def _inner(lines: list[str]) -> Cut | None:
    return addm.units if addm.recognises(lines) else None
