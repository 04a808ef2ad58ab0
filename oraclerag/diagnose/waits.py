"""What the units of a report say of waits: by event, how often and how long, as far as the report says it.

Traces are added up. Reports that are a table say the same event in several tables: there the longest counts, and where
a table of the top events is there, that one alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oraclerag.chunk.diagnostics.html_report import cells
from oraclerag.chunk.diagnostics.text_table import Columns, is_rule
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["FoundWait", "Waits"]

_RECORD = re.compile(r"^WAIT #\d+: nam='([^'\n]{1,64})' ela= *(\d{1,15})\b", re.ASCII | re.MULTILINE)
_TKPROF = re.compile(r"^  (\S.{0,46}?) {2,60}(\d{1,12}) +[\d.]{1,15} +(\d{1,12}\.\d\d)[ \t]*$", re.ASCII | re.MULTILINE)
_TKPROF_HEAD = "Elapsed times include waiting on following events:"
_SECONDS = re.compile(r"\bTime ?\((?:s|sec|secs|seconds)\)", re.IGNORECASE)
_COUNT = re.compile(r"(?:Total )?Waits\Z|Event Count\Z", re.IGNORECASE)
_SHARE = re.compile(r"% ?(?:DB time|Total Call Time|Total Ela Time|Event|Activity)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_TOP = re.compile(r"Top (?:\d{1,3} )?(?:Timed |Foreground |User |Background |Wait ){0,3}Events\b", re.IGNORECASE)

# What is no wait, or a session that has nothing to do.
_NOTHING = re.compile(
    r"(?:DB CPU|CPU time|CPU \+ Wait for CPU|ON CPU|SQL\*Net message (?:from|to) (?:client|clien)|rdbms ipc message"
    r"|[ps]mon timer|pipe get|null event|class slave wait|DIAG idle wait|VKTM Logical Idle Wait|VKRM Idle"
    r"|(?:Space Manager|PX Deq|Streams AQ|AQPC|REPL|LogMiner|OFS|shared server|virtual circuit|dispatcher timer"
    r"|wait for unread message|GCR sleep|ges remote message|gcs remote message|jobq slave wait|ASM background"
    r"|LGWR worker group idle|heartbeat redo informer|lreg timer|PING|Data Guard: (?:Timer|Gap)|PL/SQL lock timer"
    r"|parallel recovery (?:coordinator|slave)|watchdog main loop|JOX Jit|pman timer|auto-sqltune|i/o slave wait).*)\Z"
)

_EVENTS = 5_000  # different ones; a report has some hundred
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class FoundWait:
    """An event that was waited for: ``count`` times, ``seconds`` altogether, ``share`` in percent.

    None is what the report does not say. ``count`` is of waits, or where those are not counted of places that name it.
    """

    event: str
    count: int | None = None
    seconds: float | None = None
    share: float | None = None


class _Sum:
    """What is known of one event."""

    __slots__ = ("count", "seconds", "share")

    def __init__(self) -> None:
        self.count, self.seconds, self.share = 0, 0.0, 0.0


class Waits:
    """Takes the units of a report one after the other; what it holds does not grow with the report."""

    def __init__(self) -> None:
        self._recorded: dict[str, _Sum] = {}
        self._top: dict[str, _Sum] = {}
        self._listed: dict[str, _Sum] = {}
        self._named: dict[str, _Sum] = {}
        self._columns: Columns | None = None
        self._head = ""

    def take(self, unit: Unit) -> None:
        """Take the next unit."""
        if unit.head != self._head or unit.says_head:
            self._head, self._columns = unit.head, _columns(unit) if unit.says_head else None
        said = unit.metadata.get("wait_event")
        if not said:
            return
        if unit.head == _TKPROF_HEAD:
            if not unit.section[-1:] or not unit.section[-1].startswith("overall"):
                for event, count, seconds in _TKPROF.findall(unit.text):
                    _add(self._recorded, event, int(count), float(seconds))
            return
        records = _RECORD.findall(unit.text)
        if records:
            for event, microseconds in records:
                _add(self._recorded, event, 1, int(microseconds) / 1e6)
        elif isinstance(said, str) and (row := self._row(unit)):
            top = any(_TOP.match(title) for title in unit.section)
            _most(self._top if top else self._listed, said, *row)
        else:
            for event in (said,) if isinstance(said, str) else said:
                _add(self._named, event, 1, 0.0)

    def found(self) -> tuple[FoundWait, ...]:
        """Give the events that were waited for longest, or where no times are said those that are named most."""
        sums = self._recorded or self._top or self._listed or self._named
        order = sorted(
            (event for event in sums if not _NOTHING.match(event)),
            key=lambda event: (-sums[event].seconds, -sums[event].share, -sums[event].count, event),
        )
        timed = sums is not self._named
        return tuple(_wait(event, sums[event], timed=timed) for event in order[:_MOST_LISTED])

    def _row(self, unit: Unit) -> tuple[int, float, float] | None:
        """Read count, seconds and share out of a row of a table whose columns say them."""
        line = unit.text.lstrip("\n").partition("\n")[0]
        if values := cells(line):
            names: Sequence[str] = unit.head.split(" | ")
        elif self._columns is not None:
            names, values = self._columns.names, [line[begin:end] for begin, end in _wide(self._columns.spans)]
        else:
            return None
        row = dict(zip(names, map(_number, values), strict=False))
        seconds = next((value for name, value in row.items() if _SECONDS.search(name)), None)
        share = next((value for name, value in row.items() if _SHARE.search(name)), None)
        count = next((value for name, value in row.items() if _COUNT.search(name)), None)
        if seconds is None and share is None:
            return None
        return int(count or 0), seconds or 0.0, share or 0.0


def _wait(event: str, found: _Sum, *, timed: bool) -> FoundWait:
    return FoundWait(
        event,
        found.count or None,
        round(found.seconds, 6) if timed and found.seconds else None,
        found.share or None,
    )


def _columns(unit: Unit) -> Columns | None:
    """Read the columns of a table of a text report from its header."""
    lines = unit.text.splitlines()
    for number, line in enumerate(lines):
        if number and is_rule(line):
            return Columns.of(lines[:number], line)
    return None


def _wide(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Give the spans with the blanks before them: a number may be wider than its dashes."""
    before = 0
    for _, end in spans:
        yield before, end
        before = end


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None else float(found[0].replace(",", ""))


def _of(sums: dict[str, _Sum], event: str) -> _Sum:
    if event not in sums and len(sums) >= _EVENTS:
        return _Sum()
    return sums.setdefault(event, _Sum())


def _add(sums: dict[str, _Sum], event: str, count: int, seconds: float) -> None:
    found = _of(sums, event)
    found.count += count
    found.seconds += seconds


def _most(sums: dict[str, _Sum], event: str, count: int, seconds: float, share: float) -> None:
    found = _of(sums, event)
    if (seconds, share, count) > (found.seconds, found.share, found.count):
        found.count, found.seconds, found.share = count, seconds, share
