"""Any text: error stacks are kept whole, paragraphs where they are short, time stamps are noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.error_stack import groups, is_time
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_PARAGRAPH = 8  # lines; a longer one is cut at them


def recognises(lines: list[str]) -> bool:  # noqa: ARG001 - as all
    """Take everything."""
    return True


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give a unit per stack, else per paragraph or so many lines of one."""
    when: dict[str, str] = {}
    paragraph: list[Line] = []
    for group in groups(lines):
        text = group.lines[0].text
        stamp = not group.stack and is_time(text)
        if paragraph and (group.stack or stamp or not text.strip() or len(paragraph) >= _PARAGRAPH):
            yield Unit.of(paragraph, metadata=when)
            paragraph = []
        if stamp:
            moment = iso(text)
            when = {"timestamp": moment} if moment is not None else {}
        if group.stack or not text.strip():
            yield Unit.of(group.lines, metadata=when)
        else:
            paragraph.append(group.lines[0])
    if paragraph:
        yield Unit.of(paragraph, metadata=when)
