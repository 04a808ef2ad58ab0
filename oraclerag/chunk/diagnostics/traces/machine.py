"""What every machine of a trace file is: it is handed the lines of its kind, and writes them as units."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.traces.session import Session
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["ENOUGH", "RULE", "Machine", "Writer", "harmless", "stamped"]

ENOUGH = 700
"""Characters of a unit, about half of a usual window, behind which the next record begins another one."""

RULE = re.compile(r"[ ]{0,4}(?:={3,}|-{3,}|\*{3,})[ \t]*$")

# An audit record that could not be written names codes of nobody's error.
_HARMLESS = re.compile(r"\bORA-\d{1,5} error condition\b")
_NOTED = 16  # values of one name in the metadata of a unit
_VALUE = 256  # characters of one


def harmless(text: str) -> bool:
    """Whether the codes in a message are nobody's errors."""
    return _HARMLESS.search(text) is not None


def stamped(gap: Iterable[Line]) -> bool:
    """Whether a ``***`` mark is among the lines."""
    return any(line.text.startswith("*** ") for line in gap)


class Writer:
    """Where the machines of a trace file write its lines, in order, one unit after the other.

    A unit that grows beyond what may be in memory is cut at a line end; what follows says that it is continued.
    """

    def __init__(self) -> None:
        self._unit = Gathering()
        self._ready: list[Unit] = []
        self._size = 0

    @property
    def size(self) -> int:
        """Characters of the unit that is being written."""
        return self._size

    def begin(
        self,
        section: tuple[str, ...],
        *,
        head: str = "",
        metadata: Mapping[str, Any] | None = None,
        codes: bool = True,
    ) -> None:
        """End the unit that is being written and begin one."""
        self.end()
        self._unit.section, self._unit.head, self._unit.codes = section, head, codes
        self._unit.always = dict(metadata or {})

    def add(self, line: Line) -> None:
        """Write a line."""
        if self._unit.full:
            self._ready.extend(self._unit.unit())
            self._unit.metadata["continued"] = True
        self._unit.add(line)
        self._size += len(line.raw)

    def note(self, name: str, value: str) -> None:
        """Say something of the unit; a second, other value makes a list."""
        metadata = self._unit.always
        known = metadata.get(name)
        if known is None:
            metadata[name] = value[:_VALUE]
        elif isinstance(known, list):
            if value not in known and len(known) < _NOTED:
                metadata[name] = [*known, value[:_VALUE]]
        elif known != value:
            metadata[name] = [known, value[:_VALUE]]

    def error(self, number: int) -> None:
        """Say of the unit that it has an error which stands there as a bare number."""
        if number == 0:
            return
        code = f"ORA-{number:05}"
        metadata = self._unit.always
        codes = metadata.get("oracle_error_code", [])
        if code not in codes and len(codes) < _NOTED:
            metadata["oracle_error_code"] = [*codes, code]

    def end(self) -> None:
        """End the unit that is being written."""
        self._ready.extend(self._unit.unit())
        self._unit.always = {}
        self._size = 0

    def drain(self) -> Iterator[Unit]:
        """Give the units that have ended."""
        if self._ready:
            ready, self._ready = self._ready, []
            yield from ready


class Machine(ABC):
    """What reads one kind of trace or dump and writes its units.

    ``kind`` is the first name of its sections. A line is handed over with its gap: the empty lines, rules and ``***``
    marks that stand before it.
    """

    kind: str

    def __init__(self, session: Session, writer: Writer) -> None:
        self.session = session
        self.writer = writer

    @property
    def inside(self) -> bool:
        """Whether the next line is its own, whatever it looks like."""
        return False

    @property
    def over(self) -> bool:
        """Whether it has ended: what a mark parts from it is no longer its own, unless it opens or keeps it."""
        return False

    @abstractmethod
    def opens(self, text: str) -> bool:
        """Whether the line begins this kind."""

    def keeps(self, text: str) -> bool:  # noqa: ARG002 - as all
        """Whether a line that would open another kind stays here."""
        return False

    @abstractmethod
    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""

    def pause(self) -> None:  # noqa: B027 - not every machine remembers what it wrote
        """Take note that what it wrote last is no longer the end of the report: nothing joins it."""

    def end(self) -> None:
        """Take note that another kind begins, or that the file ends."""
        self.pause()

    def begin(
        self, *section: str, head: str = "", metadata: Mapping[str, Any] | None = None, codes: bool = True
    ) -> None:
        """Begin a unit in a section of this kind."""
        self.writer.begin(
            (self.kind, *section), head=head, metadata={**self.session.metadata, **(metadata or {})}, codes=codes
        )

    def write(self, gap: Iterable[Line], line: Line) -> None:
        """Write a line, and its gap before it."""
        for one in gap:
            self.writer.add(one)
        self.writer.add(line)
