"""Reports of any size, made after the documented formats: for benchmarks, and for tests of memory and time."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["statspack"]

_PAGE = 60
_RULE = f"{' ' * 10}{'-' * 61}\n"


def statspack(rows: int) -> Iterator[str]:
    """Give a Statspack report with so many wait events and so many statements, page breaks included."""
    yield "STATSPACK report for\n\nBegin Snap:        100 05-Apr-31 06:00:12      120       2.1\n\n"
    title = "Foreground Wait Events  DB/Inst: SYN1/syn1  Snaps: 100-101\n-> ordered by Total Wait Time desc\n\n"
    header = (
        "Event                               Waits  Time (s)\n---------------------------- ------------ ---------\n"
    )
    for number in range(rows):
        if number % _PAGE == 0:
            yield title + header
        yield f"synthetic event {number:<12} {number * 7:>12,} {number % 100:>9}\n"
    yield _RULE
    title = "SQL ordered by Gets  DB/Inst: SYN1/syn1  Snaps: 100-101\n\n"
    header = "  Buffer Gets    Executions %Total Hash Value\n--------------- ------------ ------ ----------\n"
    for number in range(rows):
        if number % 10 == 0:
            yield title + header
        yield f"{number * 1000:>15,} {number:>12,} {number % 50:>6} {1_000_000_000 + number}\nModule: e:SQLAP:cp:syn\n"
        yield f"insert into t_syn_{number} (identifier, txt) values (:b1\n, :b2)\n\n"
    yield f"{_RULE}\nEnd of Report\n"
