"""What the tests of trace files share: units of a text, checked to cover it, and the samples where they are at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from oraclerag.chunk.diagnostics import trace_file
from oraclerag.chunk.diagnostics.lines import Line, split
from oraclerag.chunk.diagnostics.unit import Unit
from tests.real_files import REPORTS

HEADER = """Trace file /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_4711.trc
Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
Version 19.99.0.0.0
Instance name: SYN1

"""

MARKS = """
*** 2031-04-05T06:07:08.000123+02:00 (PDBX(3))
*** SESSION ID:(77.4242) 2031-04-05T06:07:08.000140+02:00
*** MODULE NAME:(invoice load) 2031-04-05T06:07:08.000150+02:00

"""


def units(text: str, cut: Callable[[Iterable[Line]], Iterator[Unit]] = trace_file.units) -> list[Unit]:
    """Give the units of a text; they follow each other and cover it."""
    found = list(cut(split(text)))
    assert "".join(unit.text for unit in found) == text
    at = 0
    for unit in found:
        assert unit.start == at
        assert unit.text
        at = unit.end
    return found


def of_line(found: Iterable[Unit], part: str) -> Unit:
    """Give the one unit that has this text."""
    having = [unit for unit in found if part in unit.text]
    assert len(having) == 1, f"{part!r} stands in {len(having)} units"
    return having[0]


def sections(found: Iterable[Unit]) -> list[tuple[str, ...]]:
    """Give the sections in order, one for consecutive units."""
    given: list[tuple[str, ...]] = []
    for unit in found:
        if not given or given[-1] != unit.section:
            given.append(unit.section)
    return given


def sample(name: str) -> str:
    """Give a real report as text; skips the test where it is not at hand."""
    path = REPORTS / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return path.read_bytes().decode("utf-8", "replace")
