"""The log of a concurrent request of E-Business Suite: what was asked for, what the program said, how it ended.

Rules between plus signs part it, and everything but those, ``: Version : ``, ``module:`` and ``FND_FILE`` is in the
user's language. A message has its cause behind an empty line (``ORACLE error 20042 in FDPSTP`` … ``Cause: FDPSTP failed
due to ORA-20042``) and the statement behind that: one unit.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics import erp, sql_loader
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.error_stack import Stack
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_RULE = re.compile(r"\+[-=]{40,90}\+[ \t]*$", re.ASCII)
_APPLICATION = re.compile(r"(?P<name>.{1,80}): Version : [\w.]{1,20}[ \t]*$")
_MODULE = re.compile(r"(?P<short>[A-Z][A-Z0-9_]{1,29}) [^\W\d]{2,20}: (?P<title>.{0,200})$")
_TIME = re.compile(r"[^:]{0,60}?(?P<when>\d{1,2}-[^ \-]{1,8} ?-\d{4} \d\d:\d\d:\d\d)[ \t]*$")
_EDGE = re.compile(r"\*\*(?P<edge>Starts|Ends)\*\*(?P<when>\d{1,2}-[^ \-]{1,8}-\d{4} \d\d:\d\d:\d\d)")
_ARGUMENT = re.compile(r"(?:Argument \d{1,3} \([A-Za-z0-9_$]{1,60}\) = |[A-Za-z][A-Za-z0-9_]{1,60}='[^']*'[ \t]*$)")
_OPTIONS = re.compile(r"(?:Executing|Finished executing) request completion options")
_STATUS = re.compile(
    r"Concurrent (?:request|program) (?:completed (?:with )?(?P<how>successfully|warning|error)|ended with |has ended |"
    r"returned no reason for failure)"
)
_MESSAGE = re.compile(
    r"(?:APP-(?:[A-Z]{2,8}-)?\d{4,6}|(?:REP|MSG|FRM|FND|AFP)-\d{3,6}|ORACLE error \d{1,5} in )", re.ASCII
)
_REST = (".", "Cause:", "Action:", "The SQL statement being executed", "ORA-", "SQL statement")
_HEADER_RULES = 3  # above, below the program's name, below the time
_STATEMENT = "The SQL statement being executed"
_HEAD = 200  # characters of a message, repeated where its statement is cut
_OUTCOMES = {"successfully": "successful", "warning": "warning", "error": "error", None: "error"}


def recognises(lines: list[str]) -> bool:
    """Whether a rule is followed by a version and the short name of a program, or the marks of FND_FILE are there."""
    rules = sum(_RULE.match(line) is not None for line in lines)
    if not rules:
        return False
    named = any(_MODULE.match(line) for line in lines[:12]) or any(_APPLICATION.match(line) for line in lines[:6])
    return named or any("FND_FILE" in line or _EDGE.match(line) for line in lines)


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the parts of a log, a message with its cause and its statement as one."""
    return _Log().units(lines)


class _Log:
    """What is known from one line to the next."""

    def __init__(self) -> None:
        self.unit = Gathering()
        self.program: tuple[str, ...] = ()
        self.part = "header"
        self.stack: Stack | None = None
        self.statement = False
        self.fnd_file = 0  # marks of it
        self.rules = 0
        self.last = ""
        self.pushed: Line | None = None

    def units(self, lines: Iterable[Line]) -> Iterator[Unit]:
        source = iter(lines)
        while (line := self._next(source)) is not None:
            text = line.text
            if self.part == "program" and sql_loader.BANNER.match(text):
                yield from self._loaded(line, source)
                continue
            begins = self._begins(text)
            if begins or self.unit.full:
                yield from self.unit.unit()
            if begins:
                self.unit.head = ""
            self._note(text)
            self.unit.section = (*self.program, self.part)
            self.unit.add(line)
            self.last = text
        yield from self.unit.unit()

    def _next(self, source: Iterator[Line]) -> Line | None:
        line, self.pushed = self.pushed, None
        return line if line is not None else next(source, None)

    def _loaded(self, first: Line, source: Iterator[Line]) -> Iterator[Unit]:
        """Give a log of SQL*Loader within, to the next mark of the request's own, as its family cuts it."""

        def lines() -> Iterator[Line]:
            yield first
            for line in source:
                if _RULE.match(line.text) or _EDGE.match(line.text) or _STATUS.match(line.text):
                    self.pushed = line
                    return
                yield line

        yield from self.unit.unit()
        self.unit.head, self.last = "", ""
        for unit in sql_loader.units(lines()):
            metadata = {**self.unit.always, **unit.metadata}
            yield dataclasses.replace(unit, section=(*self.program, self.part, *unit.section), metadata=metadata)

    def _begins(self, text: str) -> bool:
        """Whether a line begins a unit."""
        if not self.unit:
            return False
        if _RULE.match(text):
            # The rule above a title and the one below it are of its unit, and so is the whole header.
            return self.part != "header" and not self._titled()
        if self.part == "header":
            marks = _EDGE.match(text) or _ARGUMENT.match(text) or _MESSAGE.match(text) or "FND_FILE" in text
            return bool(marks) or (self.rules >= _HEADER_RULES and bool(text.strip()))
        if not text.strip():
            return False
        if self.stack is not None:
            if not self.last.strip():
                return not text.startswith(_REST)
            return not (self.statement or self.stack.continues(text) or text.startswith(_REST))
        title = len(self.unit.lines) == 1 and _RULE.match(self.last)
        return not (title or text[0] in " \t" or (_ARGUMENT.match(text) and _ARGUMENT.match(self.last)))

    def _titled(self) -> bool:
        return (
            len(self.unit.lines) == 2 and _RULE.match(self.unit.lines[0].text) is not None and bool(self.last.strip())
        )

    def _note(self, text: str) -> None:
        """Take what a line says."""
        fresh = not self.unit
        if fresh:
            self.stack, self.statement = None, False
        self.rules += _RULE.match(text) is not None
        if self.part == "header" and (found := _MODULE.match(text)):
            self.program = (f"{found['short']}: {found['title'].strip()}".removesuffix(": "),)
            self.unit.always["source_script"] = found["short"]
            self.unit.always["program"] = found["title"].strip() or found["short"]
            if (module := erp.by_program(found["short"])) is not None:
                self.unit.always.setdefault("erp_module", module)
        elif self.part == "header" and (found := _APPLICATION.match(text)):
            if (module := erp.by_application(found["name"])) is not None:
                self.unit.always["erp_module"] = module
        elif found := _EDGE.match(text):
            self.part = "program" if found["edge"] == "Starts" else "completion"
        elif _ARGUMENT.match(text) and self.part in ("header", "program"):
            self.part = "arguments"
        elif "FND_FILE" in text and (_RULE.match(self.last) or text.startswith(("Start of", "End of"))):
            self.fnd_file += 1
            self.part = "log messages" if self.fnd_file % 2 else "completion"
        elif _OPTIONS.match(text) or _STATUS.match(text):
            self.part = "completion"
        elif self.part in ("header", "arguments") and fresh and text.strip() and not _RULE.match(text):
            self.part = "program"
        if found := _STATUS.match(text):
            self.unit.metadata["completion"] = _OUTCOMES[found["how"]]
        if (found := _EDGE.match(text) or _TIME.match(text[:120])) and (when := iso(found["when"])) is not None:
            self.unit.metadata.setdefault("timestamp", when)
        self._message(text)

    def _message(self, text: str) -> None:
        if _MESSAGE.match(text):
            self.stack = Stack()
            self.stack.follow(text)
        elif self.stack is None:
            begun = Stack()
            self.stack = begun if begun.begins(text) else None
        elif not text.strip() or self.stack.begins(text):
            self.statement = False
        if text.startswith(_STATEMENT) and self.unit:
            self.statement, self.unit.head = True, self.unit.lines[0].text[:_HEAD]
        if (module := erp.by_code(text)) is not None and module != "FND":
            self.unit.metadata["erp_module"] = module
