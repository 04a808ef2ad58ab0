"""What the tests of the families of reports share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from oraclerag.chunk.diagnostics.lines import Line, split
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["covered", "words"]


def covered(units: Callable[[Iterable[Line]], Iterator[Unit]], text: str) -> list[Unit]:
    """Give the units of a text, which follow each other, are not empty, and cover it."""
    at, found = 0, []
    for unit in units(split(text)):
        assert unit.start == at
        assert unit.text
        found.append(unit)
        at = unit.end
    assert "".join(unit.text for unit in found) == text
    return found


def words(text: str) -> int:
    """Count pieces of words and every punctuation mark as tokens, and two more."""
    return 2 + len(re.findall(r"\w{1,6}|[^\w\s]", text))
