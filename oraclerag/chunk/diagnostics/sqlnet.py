"""The log of SQL*Net on a client or a server: a block per connection that failed.

The number in a block's first line is what failed (``Fatal NI connect error 12514`` is TNS-12514); the codes below it
say in which layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_STARS = re.compile(r"\*{40,100}[ \t]*$", re.ASCII)
_FATAL = re.compile(r"Fatal (?:NI connect|OSN connect|NT) error (\d{1,5})(?:, connecting to:|\.)?", re.ASCII)
_TIME = re.compile(r"\s{0,4}Time: (\S{8,14} \d\d:\d\d:\d\d)")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:", re.ASCII)
_INSTANCE = re.compile(r"\((?:SID|INSTANCE_NAME) ?= ?([A-Za-z0-9_$#]{1,30})\)", re.ASCII)


def recognises(lines: list[str]) -> bool:
    """Whether a connection failed before any time stamp stands alone: an alert log has such blocks under its stamps."""
    for line in lines:
        if _FATAL.match(line):
            return True
        if _STAMP.match(line):
            return False
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the blocks; the stars above a block belong to it."""
    block = Gathering()
    starred = failed = False
    for line in lines:
        text = line.text
        if _STARS.match(text):
            starred = True
            yield from block.unit()
            failed = False
        elif found := _FATAL.match(text):
            if failed or not starred:
                yield from block.unit()
            starred, failed = False, True
            block.section = (f"Fatal NI connect error {found[1]}",)
            block.metadata["oracle_error_code"] = [f"TNS-{found[1]:0>5}"]
        elif (found := _TIME.match(text)) and (when := iso(found[1])) is not None:
            block.metadata["timestamp"] = when
        if found := _INSTANCE.search(text[:4000]):
            block.metadata.setdefault("instance", found[1])
        if block.full or (block.long and text[:1] not in (" ", "\t")):
            yield from block.unit()
        block.add(line)
    yield from block.unit()
