"""Optimizer trace (event 10053): one section per title of every statement that was optimised.

A title stands between two rules, or is known by its words. Costs mean nothing without their table and join order, so
every chunk of an access path or of a join order has it as its head. Nothing in it is an error of the session: what
looks like codes is text of statements and states of hints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.statement import in_few_words
from oraclerag.chunk.diagnostics.traces.machine import ENOUGH, RULE, Machine, Writer, stamped
from oraclerag.chunk.diagnostics.traces.session import Session

__all__ = ["OptimizerTrace", "recognises"]

_OPENS = re.compile(
    r"(?:Registered qb: \S|QUERY BLOCK (?:SIGNATURE|TEXT)[ \t]*$|OPTIMIZER INFORMATION[ \t]*$"
    r"|PARAMETERS USED BY THE OPTIMIZER[ \t]*$|Access path analysis for \S|Join order\[\d+\]:"
    r"|Final query after transformations:|Considering Query Transformations on |Starting SQL statement dump"
    r"|BASE STATISTICAL INFORMATION[ \t]*$|kkoqbc: optimizing query block |SPM: statement )",
    re.ASCII,
)
_SQL = re.compile(
    r"-{5} Current SQL Statement for this session \(sql_id=(?P<sqlid>[0-9a-z]{13})\) -{5}"
    r"|Current SQL statement for this session:",
    re.ASCII,
)
_DUMP_ENDS = re.compile(r"={10,30} END SQL Statement Dump ={10,30}")
_DASHED_TITLE = re.compile(r"-{5} (?P<title>[A-Z][^-]{2,60}) -{5}[ \t]*$")
_TITLE = re.compile(
    r" {0,4}(?P<title>Legend|Optimizer parameters used|PARAMETERS USED BY THE OPTIMIZER|PARAMETERS (?:WITH (?:ALTERED"
    r"|DEFAULT) VALUES|IN OPT_PARAM HINT)|Bug Fix Control Environment|Column Usage Monitoring is (?:ON|OFF)"
    r"|Predicate Move-Around|Query transformations|SYSTEM STATISTICS INFORMATION|BASE STATISTICAL INFORMATION"
    r"|SINGLE TABLE ACCESS PATH|OPTIMIZER STATISTICS AND COMPUTATIONS|OPTIMIZER INFORMATION|GENERAL PLANS|Plan Table"
    r"|QUERY BLOCK (?:TEXT|SIGNATURE)|Peeked values of the binds in SQL statement|Query Block Registry:"
    r"|Optimizer state dump:|End of Optimizer State Dump|Dumping Hints|Starting SQL statement dump"
    r"|Content of other_xml column|Outline Data:|Predicate Information:)(?:$|[ \t(.])"
)
_PLAIN_TITLE = re.compile(r"[A-Z][A-Za-z()/ -]{3,58}[ \t]*$")
_ACCESS = re.compile(r"Access path analysis for (?P<table>\S{1,130})")
_JOIN_ORDER = re.compile(r"(?P<order>Join order\[\d{1,9}\]:.{0,120})", re.ASCII)
_PIECE = re.compile(
    r"(?:Registered qb: |(?:Table|Index|Column) Stats::|Now joining: |Join order\[|Access path analysis for "
    r"|Considering |Final cost for query block|Final query after transformations:|kkoqbc: |  Access Path: "
    r"|query block |Best so far:)"
)
_FINAL = re.compile(r"Final query after transformations:")
_PLAN_HASH = re.compile(r"[Pp]lan[_ ]hash(?:_value|[ _]value)?[ =:]{1,3}(?P<plh>[1-9]\d{0,11})\b", re.ASCII)
_ACCESS_PATHS = "SINGLE TABLE ACCESS PATH"
_NAMED_BY = 4000  # characters of a statement
_KINDS = (
    re.compile(r"Registered qb: \S"),
    re.compile(r"QUERY BLOCK (?:SIGNATURE|TEXT)"),
    re.compile(r"PARAMETERS (?:USED BY THE OPTIMIZER|WITH (?:ALTERED|DEFAULT) VALUES)|  PARAMETERS WITH "),
    re.compile(r"(?:BASE STATISTICAL|SYSTEM STATISTICS) INFORMATION"),
    re.compile(r"Access path analysis for |SINGLE TABLE ACCESS PATH"),
    re.compile(r"Join order\[\d"),
    re.compile(r"(?:Table|Index) Stats::"),
)


def recognises(lines: list[str]) -> bool:
    """Whether a text without a header is a part of an optimizer trace: two of its marks at least."""
    return sum(any(kind.match(line) for line in lines) for kind in _KINDS) >= 2


class OptimizerTrace(Machine):
    """The machine of optimizer traces; several statements may be in one."""

    kind = "optimizer trace"

    def __init__(self, session: Session, writer: Writer) -> None:
        super().__init__(session, writer)
        self._forget()
        self._begun = self._in_sql = self._after_title = False
        self._sql = ""

    def _forget(self) -> None:
        self._statement = "statement"
        self._said: dict[str, str] = {}
        self._title, self._head = "query blocks", ""

    def opens(self, text: str) -> bool:
        """Whether the line only stands in an optimizer trace."""
        return _OPENS.match(text) is not None

    def keeps(self, text: str) -> bool:
        """Whether a line stays: the statement, and the titles between dashes."""
        named = self._in_sql and len(self._sql) < _NAMED_BY  # a statement without an end does not keep the file
        return named or _SQL.match(text) is not None or _DASHED_TITLE.match(text) is not None

    def take(self, gap: Sequence[Line], line: Line) -> None:
        """Take a line and its gap."""
        text = line.text
        rules = sum(RULE.match(before.text) is not None for before in gap)
        if self._after_title and rules:  # the rule that closes the title
            gap = self._close_title(gap)
            rules -= 1
        self._after_title = False
        if sql := _SQL.match(text):
            self._forget()
            if sql["sqlid"]:
                self._said, self._statement = {"sql_id": sql["sqlid"]}, f"sqlid={sql['sqlid']}"
            self._go_to("text")
            self._in_sql, self._sql = True, ""
        elif self._in_sql and not rules and not stamped(gap):
            self._sql = f"{self._sql}{text}\n" if len(self._sql) < _NAMED_BY else self._sql
        elif self._in_sql:
            self._sql_ended()
            title = self._title_of(text, rules)
            self._go_to(title or "notes")
            self._after_title = title is not None and _DASHED_TITLE.match(text) is None
        elif (title := self._title_of(text, rules)) is not None:
            # The title of an access path stands behind the line that names its table.
            self._go_to(title, self._head if title == self._title == _ACCESS_PATHS else "")
            self._after_title = _DASHED_TITLE.match(text) is None
        else:
            self._part(gap, text)
        self.write(gap, line)
        if plan := _PLAN_HASH.search(text[:400]):
            self.writer.note("plan_hash", plan["plh"])
        if _DUMP_ENDS.match(text):
            self._forget()
            self._begun = False

    def pause(self) -> None:
        """Nothing joins what was written last."""
        self._begun = False
        self._after_title = False

    def end(self) -> None:
        """Another kind begins: the statement ends here."""
        self._in_sql = False
        self._sql = ""
        self.pause()

    def _close_title(self, gap: Sequence[Line]) -> Sequence[Line]:
        closing = next(number for number, before in enumerate(gap) if RULE.match(before.text))
        for before in gap[: closing + 1]:
            self.writer.add(before)
        return gap[closing + 1 :]

    def _sql_ended(self) -> None:
        """Name the statement by its first words from here on."""
        self._in_sql = False
        if words := in_few_words(self._sql):
            self._statement = f"{self._statement} {words}"
        self._sql = ""

    def _title_of(self, text: str, rules: int) -> str | None:
        if title := _TITLE.match(text):
            return title["title"].rstrip(": .")
        if dashed := _DASHED_TITLE.match(text):
            return dashed["title"].rstrip()
        if rules and _PLAIN_TITLE.match(text):
            return text.strip()
        return None

    def _part(self, gap: Sequence[Line], text: str) -> None:
        """Begin a unit where the line begins a part, or enough is written."""
        if access := _ACCESS.match(text):
            self._go_to(_ACCESS_PATHS, f"Access path analysis for {access['table']}")
        elif order := _JOIN_ORDER.match(text):
            self._go_to("join orders", order["order"].strip())
        elif _FINAL.match(text):
            self._go_to("final query")
        elif not self._begun or stamped(gap) or self._parts(gap, text):
            self._unit()

    def _parts(self, gap: Sequence[Line], text: str) -> bool:
        if self.writer.size >= ENOUGH:
            return True
        return _PIECE.match(text) is not None and (bool(gap) or self.writer.size >= ENOUGH // 2)

    def _go_to(self, title: str, head: str = "") -> None:
        self._title, self._head = title, head
        self._unit()

    def _unit(self) -> None:
        self.begin(self._statement, self._title, head=self._head, metadata=self._said, codes=False)
        self._begun = True
