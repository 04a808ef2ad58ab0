"""A trace file: its header, and one section for every kind of trace or dump that one process wrote into it.

SQL trace, optimizer trace, error stacks, hang analysis, system state and deadlocks stand in one file in any order, so
the kind is decided line by line: a machine has the lines from the one that opens it to the one that opens another.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.traces import (
    deadlock,
    error_dump,
    hang_analysis,
    optimizer_trace,
    sql_trace,
    system_state,
)
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, RULE, Machine, Writer, harmless, stamped
from oraclerag.chunk.diagnostics.traces.session import HEAD, MARK, Session, is_mark
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_NET_BANNER = re.compile(r"(?:TNSLSNR|TNS) for ")
_GAP = 100  # empty lines, rules and marks that are held until the line behind them says whose they are


class _Header(Machine):
    """The environment lines of the file."""

    kind = "trace header"
    _begun = False

    def opens(self, text: str) -> bool:
        return HEAD.match(text) is not None

    def take(self, gap: Sequence[Line], line: Line) -> None:
        if not self._begun or self.opens(line.text):
            self.begin(codes=False)
            self._begun = True
        self.session.header(line.text)
        self.write(gap, line)

    def pause(self) -> None:
        self._begun = False


class _Messages(Machine):
    """What no other machine knows: messages of a background process, paragraph by paragraph."""

    kind = "messages"
    _begun = False

    def opens(self, text: str) -> bool:  # noqa: ARG002 - as all
        return False

    def take(self, gap: Sequence[Line], line: Line) -> None:
        if not self._begun or stamped(gap) or (gap and self.writer.size >= ENOUGH):
            self.begin(codes=not harmless(line.text))
            self._begun = True
        self.write(gap, line)

    def pause(self) -> None:
        self._begun = False


def recognises(lines: list[str]) -> bool:
    """Whether it is a trace of the database: by its header, or by what only stands in one."""
    if any(HEAD.match(line) for line in lines[:3]):
        return not any(_NET_BANNER.match(line) for line in lines[:20])  # a trace of SQL*Net has the same first line
    return (
        sql_trace.recognises(lines)
        or optimizer_trace.recognises(lines)
        or any(kind.recognises(lines) for kind in (error_dump, hang_analysis, system_state, deadlock))
    )


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the units of a trace file."""
    yield from _Reading(lines).units()


class _Reading:
    """One pass over a file: hands every line to the machine of its kind."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = iter(lines)
        self._pushed: deque[Line] = deque()
        self._session, self._writer = Session(), Writer()
        state = (self._session, self._writer)
        self._header = _Header(*state)
        self._messages = _Messages(*state)
        self._machines: tuple[Machine, ...] = (
            sql_trace.SqlTrace(*state, self._pushed),
            deadlock.Deadlock(*state),
            hang_analysis.HangAnalysis(*state),
            system_state.SystemState(*state),
            error_dump.ErrorDump(*state),
            optimizer_trace.OptimizerTrace(*state),
            self._header,
        )
        self._machine: Machine = self._messages
        self._gap: list[Line] = []

    def units(self) -> Iterator[Unit]:
        while True:
            for line in self._next_lines():
                self._take(line)
                yield from self._writer.drain()
            self._machine.end()
            yield from self._writer.drain()
            if not self._pushed:  # a statement that the file's end cut may give lines back
                break
        self._let_go()
        self._writer.end()
        yield from self._writer.drain()

    def _next_lines(self) -> Iterator[Line]:
        while True:
            if self._pushed:
                yield self._pushed.popleft()
                continue
            line = next(self._lines, None)
            if line is None:
                return
            yield line

    def _take(self, line: Line) -> None:
        machine = self._machine
        if machine.inside:
            self._let_go()
            machine.take((), line)
            return
        text = line.text
        if not text or text.isspace() or is_mark(text) or RULE.match(text):
            self._gap.append(line)
            if len(self._gap) >= _GAP:
                self._let_go()
            return
        before = machine
        if not machine.opens(text) and not machine.keeps(text):
            opening = next((other for other in self._machines if other is not machine and other.opens(text)), None)
            if opening is None and self._gap and (machine is self._header or (machine.over and stamped(self._gap))):
                opening = self._messages
            if opening is not None:
                machine.end()
                machine = self._machine = opening
        self._marks(before.kind if before is self._header else machine.kind)
        gap, self._gap = self._gap, []
        machine.take(gap, line)

    def _marks(self, kind: str) -> None:
        """Take what the marks before a line say; a block of them is a unit of its own."""
        last = -1
        for number, line in enumerate(self._gap):
            self._session.mark(line.text)
            if MARK.match(line.text):
                last = number
        if last < 0:
            return
        while last + 1 < len(self._gap) and not self._gap[last + 1].text.strip():
            last += 1
        self._machine.pause()
        self._writer.begin((kind, "session"), metadata=self._session.metadata, codes=False)
        for line in self._gap[: last + 1]:
            self._writer.add(line)
        del self._gap[: last + 1]

    def _let_go(self) -> None:
        """Write what was held: with what stands before it."""
        for line in self._gap:
            self._session.mark(line.text)
            self._writer.add(line)
        self._gap.clear()
