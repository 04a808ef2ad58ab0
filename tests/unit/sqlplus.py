"""How SQL*Plus reads a script, after its documentation (User's Guide: "Entering and Executing Commands", "Using
Scripts", SET). Only what ``migrate --sql`` and ``source triggers --sql`` may use; anything else is a :class:`Refused`.

Rules that are kept here:

* A line outside a statement is a SQL*Plus command if it begins with one (SET, WHENEVER, …), a comment if it begins
  with ``--`` or REM, and else begins a SQL statement or, after BEGIN, DECLARE or CREATE … FUNCTION and its like, a
  PL/SQL block.
* In a SQL statement a line that ends with ``;`` ends it, even inside a text or a comment; in a block it does not.
  A line that holds only ``/`` runs what stands before it; only ``.`` leaves it unrun.
* A blank line ends a SQL statement unrun, unless SQLBLANKLINES is ON; in a block it never does.
* A line that begins with ``#`` inside a statement is a SQL*Plus command; a line that ends with ``-`` loses it and is
  joined with the next one.
* ``&`` begins a substitution variable unless DEFINE is OFF, in comments too; one that DEFINE or ACCEPT did not name
  would be asked for, which is refused here. A full stop ends its name.
* A ``/`` after a statement that ``;`` ended runs it a second time.
* Longer lines than 2,499 characters are cut in older versions. Bind variables must have been declared; :NEW and :OLD of
  a trigger are none.
"""

from __future__ import annotations

import re

LONGEST_LINE = 2499

_COMMAND = re.compile(
    r"(SET|WHENEVER|PROMPT|ACCEPT|DEFINE|UNDEFINE|CONNECT|EXIT|SHOW|SPOOL|VARIABLE|SHUTDOWN|STARTUP)\b|@", re.IGNORECASE
)
_COMMENT = re.compile(r"--|REM(ARK)?\b", re.IGNORECASE)
_BLOCK = re.compile(
    r"\s*(BEGIN|DECLARE|CREATE\s+(OR\s+REPLACE\s+)?((NON)?EDITIONABLE\s+)?"
    r"(FUNCTION|PROCEDURE|PACKAGE|TRIGGER|TYPE|LIBRARY))\b",
    re.IGNORECASE,
)
_TRIGGER = re.compile(r"\s*CREATE\s+(OR\s+REPLACE\s+)?TRIGGER\b", re.IGNORECASE)
_VARIABLE = re.compile(r"&&?(\w+)\.?")
_TEXTS = re.compile(r"[qQ]'\[.*?\]'|'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


class Refused(Exception):
    """SQL*Plus would not read this as it is meant."""


def statements(script: str) -> list[str]:
    """Give what SQL*Plus sends to the database, in order."""
    reader = _Reader()
    for number, line in enumerate(script.split("\n"), 1):
        reader.line(line, f"line {number}: {line[:80]!r}")
    if reader.buffer:
        raise Refused(f"never ended: {reader.buffer[0]!r}")
    return reader.sent


class _Reader:
    def __init__(self) -> None:
        self.sent: list[str] = []
        self.buffer: list[str] = []
        self.define, self.blank_lines = True, False
        self.ended_by_semicolon = False
        self.variables: dict[str, str] = {}

    def line(self, line: str, place: str) -> None:
        if not line.isascii():
            raise Refused(f"not ASCII, so it depends on NLS_LANG: {place}")
        if len(line) > LONGEST_LINE:
            raise Refused(f"too long: {place}")
        if self.define and "&" in line:
            line = self._substitute(line, place)
        if self.buffer:
            self._inside(line, line.strip(), place)
        else:
            self._between(line, line.strip(), place)

    def _substitute(self, line: str, place: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1].lower() not in self.variables:
                raise Refused(f"substitution: {place}")
            return self.variables[match[1].lower()]

        line = _VARIABLE.sub(value, line)
        if "&" in line:
            raise Refused(f"substitution: {place}")
        return line

    def _between(self, line: str, bare: str, place: str) -> None:
        if bare == "/":
            raise Refused(f"runs a statement twice: {place}" if self.ended_by_semicolon else f"nothing to run: {place}")
        if bare.endswith("-") and bare.strip("-"):
            raise Refused(f"goes on in the next line: {place}")
        if _COMMAND.match(bare):
            self.define = bare.upper() != "SET DEFINE OFF" and (self.define or bare.upper() == "SET DEFINE ON")
            self.blank_lines = self.blank_lines or bare.upper() == "SET SQLBLANKLINES ON"
            if match := re.fullmatch(r"DEFINE (\w+) = (\S+)", bare, re.IGNORECASE):
                self.variables[match[1].lower()] = match[2]
            elif match := re.match(r"ACCEPT (\w+) ", bare, re.IGNORECASE):
                self.variables[match[1].lower()] = "TYPED"
        elif bare and not _COMMENT.match(bare):
            self._add(line, bare)

    def _inside(self, line: str, bare: str, place: str) -> None:
        if bare == "/":
            self._run(self.buffer, by_semicolon=False)
        elif bare == ".":
            raise Refused(f"ends the statement unrun: {place}")
        elif bare.startswith("#"):
            raise Refused(f"a SQL*Plus command inside a statement: {place}")
        elif not bare and not self.blank_lines and not _BLOCK.match(self.buffer[0]):
            raise Refused(f"a blank line ends the statement unrun: {place}")
        elif bare.endswith("-"):
            raise Refused(f"goes on in the next line: {place}")
        else:
            self._add(line, bare)

    def _add(self, line: str, bare: str) -> None:
        self.buffer.append(line)
        if bare.endswith(";") and not _BLOCK.match(self.buffer[0]):
            self._run([*self.buffer[:-1], line.rstrip()[:-1]], by_semicolon=True)

    def _run(self, lines: list[str], *, by_semicolon: bool) -> None:
        self.sent.append(finished(lines))
        self.buffer = []
        self.ended_by_semicolon = by_semicolon


def finished(buffer: list[str]) -> str:
    """Check a whole statement; texts, quoted names and comments must be closed and no bind may stand in it."""
    text = "\n".join(buffer).strip()
    rest = _TEXTS.sub(" ", text)
    if "'" in rest or '"' in rest:
        raise Refused(f"cut inside a text: {text[-60:]!r}")
    if _TRIGGER.match(text):  # the row's two states are no bind variables
        rest = re.sub(r":(NEW|OLD)\b", " ", rest, flags=re.IGNORECASE)
    if re.search(r":\w", rest.replace(":=", " ")):
        raise Refused(f"a bind that nobody declared: {text[:60]!r}")
    return text
