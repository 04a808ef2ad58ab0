"""Any text: error stacks are kept whole, everything else is cut at blank lines, and at lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]


def recognises(lines: list[str]) -> bool:  # noqa: ARG001 - as all
    """Take everything."""
    return True


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give a unit per line."""
    for line in lines:
        yield Unit.of([line])
