"""Oracle's own diagnostic output: traces, reports and logs, cut at their own marks.

The family of a report is chosen by its content. A family is a machine over lines: it gives units, the smallest pieces
that must not be parted, each with its section; :mod:`pack` makes chunks of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from oraclerag.records import Chunk

if TYPE_CHECKING:
    from oraclerag.chunk import Limits
    from oraclerag.cutting import Cutting

__all__ = ["chunks"]


def chunks(text: str, limits: Limits, cutting: Cutting, title: str | None) -> Iterator[Chunk]:
    """Cut a report; nothing where it has nothing but blanks."""
    from oraclerag.chunk.diagnostics import families, pack

    if text.strip():
        yield from pack.chunks(families.units(text), limits, cutting, title)
