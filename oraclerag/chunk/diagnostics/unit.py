"""What a report is made of: the smallest pieces that must not be parted, each in its section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oraclerag.chunk.diagnostics.lines import Line

__all__ = ["Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Consecutive lines that only mean something together: an error and its stack, a WAIT, a row of a table.

    The units of a report follow each other and cover it. ``text`` is what the report has there, ``start`` its place in
    characters. ``section`` is the path of the report's own marks, outermost first; where it changes, a new chunk
    begins. ``head`` is one line that says what the section is about (``sqlid=… SELECT …``, the header of a table) and
    is repeated before every chunk of it. ``metadata`` is what these lines say, by the names of the envelope
    (sql_id, wait_event, timestamp, container, instance, erp_module, …); a chunk has what its units say, values that
    differ as a list. ``codes``: whether error codes in it are errors; in the text of a SQL statement they are not.
    ``says_head``: its own text says the head, in other words or in several lines.
    """

    start: int
    text: str
    section: tuple[str, ...] = ()
    head: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    codes: bool = True
    says_head: bool = False

    @property
    def end(self) -> int:
        """Where the next unit begins."""
        return self.start + len(self.text)

    @classmethod
    def of(
        cls,
        lines: Iterable[Line],
        section: tuple[str, ...] = (),
        *,
        head: str = "",
        metadata: Mapping[str, Any] | None = None,
        codes: bool = True,
    ) -> Unit:
        """Make a unit of consecutive lines, at least one."""
        found = list(lines)
        return cls(found[0].start, "".join(line.raw for line in found), section, head, metadata or {}, codes)
