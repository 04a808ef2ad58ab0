"""Deadlocks: the graph of one instance (ORA-00060) and the wait-for graph that LMD writes in a cluster.

One deadlock is one section: the graph, the rows waited on, and every session with its statement. LMD's trace does not
name ORA-00060; it is said of what belongs to a graph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Machine, Writer, stamped
from oraclerag.chunk.diagnostics.traces.session import Session

__all__ = ["Deadlock", "recognises"]

_CODE = 60

_DETECTED = re.compile(r".{0,100}DEADLOCK DETECTED")
_LEADING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\*:ksq\.c@\d+:ksqdld_hdr_dump\(\):", re.ASCII)
_GRAPH = re.compile(r"Deadlock graph:")
_ROW = re.compile(r"(?P<res>[A-Z]{2}-[0-9A-Fa-f]{8}-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{8}){0,2}) +\d+ +\d+", re.ASCII)
_END = re.compile(r"(?:-{5} )?End of information (?:on|for) (?:the )?(?:OTHER )?waiting sessions?", re.ASCII)
_SESSION = re.compile(
    r"(?:Session \d+:|-{5} Information for (?:the OTHER )?waiting sessions -{5}"
    r"|Information for THIS session:|Information on the OTHER waiting sessions:|user session for deadlock lock )",
    re.ASCII,
)
_SQL = re.compile(
    r" {0,4}[Cc]urrent SQL(?: statement for this session)?:"
    r"|-{5} Current SQL Statement for this session(?: \(sql_id=(?P<sqlid>[0-9a-z]{13})\))?",
    re.ASCII,
)
_OBJECT_WAITED = re.compile(r"^ *(?:Rows waited on:|Session \d+: (?:obj - rowid|no row))", re.ASCII)
_BURST = re.compile(r"(?:ENQUEUE DUMP REQUEST: |Global blockers dump start:|DUMP LOCAL BLOCKER/HOLDER: )")
_REQUEST = re.compile(r".{0,120}? (?:on|res) (?P<res>\[0x[0-9a-f]+\]\[0x[0-9a-f]+\],\[[A-Z]{2}\])", re.ASCII)
_WAIT_FOR_GRAPH = re.compile(r"Global Wait-For-Graph\(WFG\) at ddTS\[[^\]]{1,20}\]")
_GRAPH_ROW = re.compile(r"(?:BLOCKED|BLOCKER) 0x[0-9a-f]+ .{0,80}? inst (?P<inst>\d+)", re.ASCII)
_RESOURCE = re.compile(r"-{10}(?:resource|enqueue) 0x[0-9a-f]+-{4,}", re.ASCII)
_CONTAINER = re.compile(r" {2,8}pdb: \d+/(?P<name>[A-Za-z][\w$#]{0,127})", re.ASCII)
_NOT_SQL = re.compile(r"(?:DUMP LOCAL BLOCKER|-{5} |Session \d+:|=)", re.ASCII)
_RESOURCES = 4  # that the head names


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is about a deadlock: it has its graph."""
    return any(_GRAPH.match(line) or _WAIT_FOR_GRAPH.match(line) for line in lines)


class Deadlock(Machine):
    """The machine of deadlocks; it counts them."""

    kind = "deadlock"

    def __init__(self, session: Session, writer: Writer) -> None:
        super().__init__(session, writer)
        self._number = 0
        self._open = False  # a deadlock that has begun: what follows is of it
        self._burst = False  # LMD is writing what it knows before the graph
        self._graph = False  # the graph was read
        self._in_sql = self._begun = self._closing = False
        self._resources: list[str] = []

    @property
    def over(self) -> bool:
        """Whether the last line of a deadlock was read."""
        return self._closing

    def opens(self, text: str) -> bool:
        """Whether the line belongs to a deadlock, whoever wrote before it."""
        return (
            _DETECTED.match(text) is not None
            or _LEADING.match(text) is not None
            or _GRAPH.match(text) is not None
            or _BURST.match(text) is not None
            or _WAIT_FOR_GRAPH.match(text) is not None
        )

    def keeps(self, text: str) -> bool:
        """Whether a line stays: the statement of the session that was rolled back stands behind the graph."""
        if self._open and not self._burst and _SQL.match(text):
            return True
        return self._closing and (_GRAPH_ROW.match(text) is not None or _SESSION.match(text) is not None)

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""
        text = line.text
        if self._starts(text):
            self._number += 1
            self._open, self._burst = True, _BURST.match(text) is not None
            self._graph = self._closing = False
            self._resources = []
            self._unit()
        elif _WAIT_FOR_GRAPH.match(text):
            self._burst, self._graph = False, True
            self._unit()
        elif _SESSION.match(text) and not _OBJECT_WAITED.match(text):
            self._unit()
        elif sql := _SQL.match(text):
            if not text.startswith(" ") or self.writer.size >= ENOUGH:
                self._unit()
            self._in_sql = True
            if sql["sqlid"]:
                self.writer.note("sql_id", sql["sqlid"])
        elif self._in_sql and (_NOT_SQL.match(text) or stamped(gap)):
            self._unit()
        elif self._in_sql:
            pass
        elif not self._begun or self.writer.size >= 2 * ENOUGH or _BURST.match(text) or _RESOURCE.match(text):
            self._unit()
        self._note(text)
        self.write(gap, line)

    def pause(self) -> None:
        """Nothing joins what was written last."""
        self._begun = False

    def end(self) -> None:
        """Another kind begins: the statement ends here."""
        self._in_sql = False
        self.pause()

    def _starts(self, text: str) -> bool:
        """Whether another deadlock begins: its first line is one of several."""
        if _LEADING.match(text):
            return True
        if _DETECTED.match(text) or _GRAPH.match(text):
            return not self._open or self._burst or bool(self._resources) or self._graph
        if _BURST.match(text) or _WAIT_FOR_GRAPH.match(text):
            return not self._burst
        return False

    def _note(self, text: str) -> None:
        if row := _ROW.match(text):
            self._name(row["res"])
            self.writer.error(_CODE)
        elif _GRAPH_ROW.match(text):
            self.writer.error(_CODE)
            self._closing = True
        elif _DETECTED.match(text) or text.startswith("user session for deadlock lock "):
            self.writer.error(_CODE)
        elif _END.match(text):
            self._closing = True
        elif container := _CONTAINER.match(text):
            self.writer.note("container", container["name"])
        elif request := _REQUEST.match(text[:200]):
            self._name(request["res"])

    def _name(self, resource: str) -> None:
        if resource not in self._resources and len(self._resources) < _RESOURCES:
            self._resources.append(resource)

    def _unit(self) -> None:
        self._in_sql = False
        self.begin(f"deadlock {self._number}", head=" ".join(self._resources), codes=False)
        self._begun = True
