"""The unit that is being read: lines come in, and it is given when the next one begins or it has grown too long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["Gathering"]

# A unit is given at the next good place behind so many lines or characters, and at any place behind twice as many:
# whatever a report holds, no more than that is in memory.
_LINES = 100
_CHARACTERS = 16_000


class Gathering:
    """Consecutive lines that will be one unit.

    ``section``, ``head`` and ``codes`` stay for the units that follow; ``metadata`` is what the lines so far say, and
    is empty again behind each unit; ``always`` is said of all of them, until it is set anew.
    """

    def __init__(self) -> None:
        self.section: tuple[str, ...] = ()
        self.head = ""
        self.codes = True
        self.metadata: dict[str, Any] = {}
        self.always: dict[str, Any] = {}
        self.lines: list[Line] = []
        self._characters = 0

    def __bool__(self) -> bool:
        return bool(self.lines)

    @property
    def long(self) -> bool:
        """Whether the unit should end at the next place where it may."""
        return len(self.lines) >= _LINES or self._characters >= _CHARACTERS

    @property
    def full(self) -> bool:
        """Whether the unit must end here."""
        return len(self.lines) >= 2 * _LINES or self._characters >= 2 * _CHARACTERS

    def add(self, line: Line) -> None:
        """Take one more line, the next one of the report."""
        self.lines.append(line)
        self._characters += len(line.raw)

    def unit(self, metadata: Mapping[str, Any] | None = None) -> Iterator[Unit]:
        """Give the lines so far as a unit, or nothing where there are none."""
        if not self.lines:
            return
        said = {**self.always, **self.metadata, **(metadata or {})}
        yield Unit.of(self.lines, self.section, head=self.head, metadata=said, codes=self.codes)
        self.lines, self.metadata, self._characters = [], {}, 0
