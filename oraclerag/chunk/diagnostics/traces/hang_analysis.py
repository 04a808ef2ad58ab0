"""Hang analysis: the signatures of the chains, every chain from who waits down to who blocks, and the nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, Machine, Writer, stamped
from oraclerag.chunk.diagnostics.traces.session import Session

__all__ = ["HangAnalysis", "recognises"]

_TITLE = re.compile(r"HANG ANALYSIS(?: DUMPS)?:(?: (?P<what>START|END))?[ \t]*$")
_END = re.compile(r"(?:(?:=+ )?END OF HANG ANALYSIS|HANG ANALYSIS DUMPS: END)[ \t=]*$")
_SIGNATURES = re.compile(r"Chains most likely to have caused the hang:")
_SIGNATURE = re.compile(r" \[[a-z]\] Chain (?P<n>\d{1,9}) Signature: (?P<sig>.{1,400})$", re.ASCII)
_CHAIN = re.compile(r"Chain (?P<n>\d{1,9})(?: : <[^>]{1,80}> )?:[ \t]*$", re.ASCII)
_SETS = re.compile(r"(?:Non-intersecting|Intersecting|Open|Other) chains(?: found)?:")
_SESSION = re.compile(r" {0,4}(?:=> )?Oracle session identified by:")
_NODES = re.compile(r"(?:State of (?:ALL|LOCAL) nodes|Extra information that will be dumped)")
_WAITS = re.compile(r" {4}(?:is|which is) (?:waiting for|blocked by|on CPU)(?: '(?P<event>[^']{1,64})')?")
_TUPLE = re.compile(r" {0,4}(?:-- )?<\d+/\d+/\d+/[^/>]{1,20}/\d+/(?P<event>[^>]{1,64})>", re.ASCII)
_HASH = re.compile(r" {8,40}current sql_id: (?P<hash>\d{1,12})[ \t]*$", re.ASCII)  # a hash value, no sql_id
_CHAINS = 256  # whose signature is remembered
_HEAD = 160  # characters of a signature


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is a hang analysis."""
    titled = any(_TITLE.match(line) for line in lines)
    return titled and any(_SIGNATURES.match(line) or _CHAIN.match(line) or _SETS.match(line) for line in lines)


class HangAnalysis(Machine):
    """The machine of hang analyses."""

    kind = "hang analysis"
    _begun = _ended = False
    _part = "summary"
    _head = ""

    def __init__(self, session: Session, writer: Writer) -> None:
        super().__init__(session, writer)
        self._signatures: dict[str, str] = {}

    @property
    def over(self) -> bool:
        """Whether its closing title was read."""
        return self._ended

    def opens(self, text: str) -> bool:
        """Whether the line is the title, the closing one too."""
        return _TITLE.match(text) is not None or _END.match(text) is not None

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""
        text = line.text
        if _TITLE.match(text) and not _END.match(text):
            self._ended = False
            self._go_to("summary")
        elif _SIGNATURES.match(text):
            self._go_to("signatures")
        elif chain := _CHAIN.match(text):
            signature = self._signatures.get(chain["n"], "")
            self._go_to(f"chain {chain['n']}", f"Chain {chain['n']}: {signature}" if signature else "")
        elif _NODES.match(text):
            self._go_to("nodes")
        elif _SETS.match(text):
            self._go_to("chains")
        elif _END.match(text):
            self._ended = True
        elif not self._begun or (
            self.writer.size >= ENOUGH and (stamped(gap) or _SESSION.match(text) or self._part == "nodes")
        ):
            self._unit()
        self.write(gap, line)
        self._note(text)

    def pause(self) -> None:
        """Nothing joins what was written last."""
        self._begun = False

    def _note(self, text: str) -> None:
        if signature := _SIGNATURE.match(text):
            if len(self._signatures) < _CHAINS:
                self._signatures[signature["n"]] = signature["sig"].strip()[:_HEAD]
            for event in re.findall(r"'([^']{1,64})'", signature["sig"]):
                self.writer.note("wait_event", event)
        elif (waits := _WAITS.match(text) or _TUPLE.match(text)) and waits["event"]:
            self.writer.note("wait_event", waits["event"])
        elif (sql := _HASH.match(text)) and sql["hash"].strip("0"):
            self.writer.note("sql_hash", sql["hash"])

    def _go_to(self, part: str, head: str = "") -> None:
        self._part, self._head = part, head
        self._unit()

    def _unit(self) -> None:
        self.begin(self._part, head=self._head, codes=False)
        self._begun = True
