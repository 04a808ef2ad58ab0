"""A report → what it says of errors and waits, with the places; read unit by unit as the families of reports cut it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics import families
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.diagnose.waits import FoundWait, Waits

__all__ = ["Findings", "FoundError", "extracted"]

_CODES = 1_000  # different ones that are counted
_EXCERPTS = 8
_AROUND = 600  # characters of an excerpt before and behind an error
_LINE = 200  # characters of a message
_VALUES = 8  # different values of a fact
_SAYS = re.compile(r"[A-Z][A-Za-z0-9*-]{1,12}-\d{1,6}: \S")
_FACTS = ("instance", "container", "erp_module", "erp_version", "source_script", "db_module", "program", "sql_id")


@dataclass(frozen=True, slots=True)
class FoundError:
    """An error code that a report names, normalised: how often, and where first (line and character, from 1 and 0).

    ``message`` is the line there, from the code on, or the first that says more than its number. ``cause``: in some
    stack it is what says why, and not where (:func:`oraclerag.error_codes.marked`).
    """

    code: str
    count: int
    line: int
    start: int
    cause: bool = False
    message: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found in a report.

    ``errors``: those that say why first, each kind by how often and then by its place. ``waits``: the longest first.
    ``facts`` are what it says of itself, by the names of the envelope (instance, erp_module, sql_id, …), the first few
    values of each; of "timestamp" the first and the last. ``excerpts`` are the lines around the errors.
    """

    family: str
    lines: int
    errors: tuple[FoundError, ...] = ()
    waits: tuple[FoundWait, ...] = ()
    facts: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    excerpts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def causes(self) -> tuple[str, ...]:
        """The codes that say why; where no code does, all of them."""
        return tuple(error.code for error in self.errors if error.cause) or tuple(error.code for error in self.errors)


class _Count:
    """What is known of one code."""

    __slots__ = ("cause", "count", "line", "message", "start")

    def __init__(self, line: int, start: int, message: str) -> None:
        self.line, self.start, self.message = line, start, message
        self.count, self.cause = 0, False


class _Reading:
    """What is known of the units so far; it does not grow with the report."""

    def __init__(self) -> None:
        self.lines = 0
        self.errors: dict[str, _Count] = {}
        self.waits = Waits()
        self.facts: dict[str, dict[str, None]] = {}
        self.excerpts: list[str] = []
        self.times: tuple[str, ...] = ()  # the first and the last

    def take(self, unit: Unit) -> None:
        """Take the next unit."""
        self.waits.take(unit)
        for name in _FACTS:
            said = unit.metadata.get(name)
            if said is not None:
                values = self.facts.setdefault(name, {})
                for value in _listed(said):
                    if len(values) < _VALUES:
                        values.setdefault(value)
        for value in _listed(unit.metadata.get("timestamp", ())):
            self.times = (self.times or (value,))[:1] + ((value,) if self.times and value != self.times[0] else ())
        places = [(code.code, code.start) for code in error_codes.find(unit.text)] if unit.codes else []
        other = _listed(unit.metadata.get("oracle_error_code", ()))
        written = {code for code, _ in places}
        self._codes(unit, [*((code, 0) for code in other if code not in written), *places], written)
        self.lines += unit.text.count("\n")

    def _codes(self, unit: Unit, places: list[tuple[str, int]], written: set[str]) -> None:
        if not places:
            return
        cause = error_codes.marked(code for code, _ in places).get("oracle_error_cause")
        for code, at in places:
            found = self.errors.get(code)
            if found is None:
                if len(self.errors) >= _CODES:
                    continue
                line = self.lines + 1 + unit.text.count("\n", 0, at)
                message = _message(unit.text, at) if code in written else ""
                found = self.errors[code] = _Count(line, unit.start + at, message)
                if len(self.excerpts) < _EXCERPTS and (code == cause or cause is None):
                    self.excerpts.append(unit.text[max(at - _AROUND, 0) : at + _AROUND].strip("\r\n"))
            elif not _SAYS.match(found.message) and code in written and _SAYS.match(better := _message(unit.text, at)):
                found.message = better
            found.count += 1
            found.cause = found.cause or code == cause

    def found(self, family: str) -> Findings:
        """Give what was found."""
        errors = sorted(
            (
                FoundError(code, one.count, one.line, one.start, one.cause, one.message)
                for code, one in self.errors.items()
            ),
            key=lambda error: (not error.cause, -error.count, error.start),
        )
        facts = {name: tuple(values) for name, values in self.facts.items()}
        facts |= {"timestamp": self.times} if self.times else {}
        return Findings(family, self.lines, tuple(errors), self.waits.found(), facts, tuple(self.excerpts))


def _listed(said: Any) -> list[str]:
    return [str(value)[:_LINE] for value in (said if isinstance(said, list | tuple) else (said,))]


def extracted(text: str | Iterable[str]) -> Findings:
    """Read a report, or the parts that it comes in; what is held of it does not grow with it."""
    family, lines = families.recognised(text)
    reading = _Reading()
    last = ""
    for unit in family.units(lines):
        reading.take(unit)
        last = unit.text
    reading.lines += bool(last) and not last.endswith("\n")
    return reading.found(family.name)


def _message(text: str, at: int) -> str:
    """Give the line of a code, from it on."""
    end = text.find("\n", at, at + 10 * _LINE)
    line = " ".join(text[at : end if end >= 0 else at + _LINE].split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"
