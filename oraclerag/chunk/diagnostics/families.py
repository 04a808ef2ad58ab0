"""The families of reports, and how one is recognised: by its content, never by its file's name."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

from oraclerag.chunk.diagnostics.lines import Line, first_lines, split, unwrapped
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.errors import InputError

__all__ = ["FAMILIES", "Family", "by_name", "family_of", "recognised", "units"]


class _Module(Protocol):
    """What the module of a family has."""

    def recognises(self, lines: list[str]) -> bool:
        """Whether a report that begins so is of the family; the lines come without their ends."""

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        """Cut a report; the units are contiguous and cover every line, whatever it says."""


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of report, cut by the module of its name in this package, which is imported when it is needed.

    ``experimental``: no real sample was at hand; the module is made from documented formats alone.
    """

    name: str
    experimental: bool = False

    def recognises(self, lines: list[str]) -> bool:
        """Whether a report that begins with these lines (at least 200, or 64 KB, if it has them) is of this family."""
        return self._module().recognises(lines)

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        """Cut a report into units, which are contiguous and cover it."""
        return self._module().units(lines)

    def _module(self) -> _Module:
        return cast("_Module", importlib.import_module(f"oraclerag.chunk.diagnostics.{self.name}"))


GENERIC = Family("generic")

FAMILIES: tuple[Family, ...] = (
    Family("adr_xml", experimental=True),
    Family("sqlnet_trace", experimental=True),  # before traces of the database: it too may begin with `Trace file`
    Family("trace_file"),
    Family("tkprof"),
    Family("awr_html"),
    Family("sqlhc", experimental=True),
    Family("addm"),
    Family("statspack"),
    Family("awr_text", experimental=True),
    Family("ebs_log", experimental=True),  # a log of SQL*Loader may be within
    Family("ebs_manager", experimental=True),
    Family("adop", experimental=True),
    Family("rman", experimental=True),
    Family("sql_loader"),
    Family("data_pump"),
    Family("sqlnet"),
    Family("listener", experimental=True),
    Family("alert_log"),
    Family("health_check", experimental=True),  # spooled, so that prompts may stand in it
    Family("sql_monitor", experimental=True),
    Family("plan"),
    Family("spool"),  # anything may be printed in one
    GENERIC,  # takes whatever comes here
)
"""In the order in which they are tried; the first that recognises a report has it."""


def by_name(name: str) -> Family:
    """Give the family of a name; raises InputError where there is none."""
    for family in FAMILIES:
        if family.name == name:
            return family
    known = ", ".join(family.name for family in FAMILIES)
    raise InputError(f"There is no family of reports called {name!r}.", hint=f"The families are: {known}.")


def family_of(lines: list[str]) -> Family:
    """Give the family of a report by its first lines; the generic one takes what nobody recognises."""
    return next(family for family in FAMILIES if family.recognises(lines))


def recognised(text: str | Iterable[str]) -> tuple[Family, Iterator[Line]]:
    """Give the family of a report, and its lines, read on from a stream as they are asked for."""
    peeked, lines = first_lines(unwrapped(split(text)))
    return family_of([line.text for line in peeked]), lines


def units(text: str | Iterable[str], family: Family | None = None) -> Iterator[Unit]:
    """Give the units of a report, or of the parts that it comes in; ``family`` spares recognising it."""
    if family is None:
        family, lines = recognised(text)
    else:
        lines = unwrapped(split(text))
    yield from family.units(lines)
