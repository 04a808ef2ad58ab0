"""Error stacks: a code, its message, what continues it, and what announces it are not parted.

A stack is a run of lines that begin with an error code or continue one. A line continues a stack where it is the rest
of arguments whose brackets or quotes are still open, is indented, is one of the texts that accompany a message
(``*Cause:``, ``Linux-x86_64 Error:``), is the file's name that the line before announces, or is of the statement that
failed. An empty line, a time stamp, a prompt and a rule end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from oraclerag import error_codes
from oraclerag.chunk.diagnostics.lines import Line

__all__ = ["Group", "Stack", "announces", "groups", "is_prompt", "is_rule", "is_time"]

_MOST_LINES = 400
_MOST_CHARACTERS = 64 * 1024
_OPEN_LINES = 8  # arguments or a quotation that are open so long were never meant to be closed

_TIME = re.compile(
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: (?:[A-Z]{2,5}|[+-]\d{4}))? \d{4})[ \t]*$",
    re.ASCII,
)
_PROMPT = re.compile(r"(?:SQL|RMAN|ASMCMD|LSNRCTL|adrci|GGSCI[^>\n]{0,60}|[A-Z][\w$#.@]{0,60})> ?", re.ASCII)
_RULE = re.compile(r"[-=*~_+ \t]{20,}$", re.ASCII)
# What stands before a code: a container, a worker of Data Pump, a time, Data Pump's marks.
_PREFIX = re.compile(
    r"(?:[A-Z][\w$#]{0,29}\(\d{1,5}\):|W-\d{1,4} |>>> |\d{2}-[A-Z]{3}-\d{2,4} \d\d:\d\d:\d\d(?:[.:]\d{1,9})?: ?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?:? )*",
    re.ASCII,
)
_COMPANIONS = (
    "Additional information:", "OSD-", "O/S-Error:", "Help:", "*Cause:", "*Action:", "Cause:", "Action:", "*Document:",
    "*Params:", "Incident details in:", "Use ADRCI", "See Note", "See https://", "Failing sql is:", "Process ID:",
    "Session ID:", "at line", "in line", "Caused by", "PL/SQL:", "More Details :", "https://docs.oracle.com/error-help/",
)  # fmt: skip
_SYSTEM_ERROR = re.compile(
    r"(?:Linux|IBM AIX|HPUX|HP-UX|SVR4|Solaris|SunOS|Darwin|Intel SVR4|Compaq)[\w ./-]{0,60}Error: ", re.ASCII
)
_ANNOUNCES = re.compile(
    r"(?:Errors in file |ERROR at line \d|Error report -|Error starting at line|Record \d{1,12}: |ERROR:[ \t]*$"
    r"|ORACLE error |Error at Command Line|.{0,400}failed to create with error:"
    r"|.{0,400}with (?:the following )?errors?:?[ \t]*$"
    r"|.{0,400}(?:error|exception|errors) (?:occurred|encountered|stack)\b.{0,80}:[ \t]*$)",
    re.ASCII,
)
_FAILING_SQL = "Failing sql is:"
_SIGNALLED = "signalled during:"
_PATH_ANNOUNCED = re.compile(r".*\b(?:file|piece|handle|name|device|directory|path)[ :=]*[\"']?[ \t]*$", re.ASCII)
_PATH = re.compile(r"[\"']?(?:[A-Za-z]:[\\/]|[/+\\])\S", re.ASCII)
_LETTER = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive lines; ``stack``: they are an error stack with what announces it, else one line."""

    lines: list[Line]
    stack: bool


def is_time(text: str) -> bool:
    """Whether a line is a time stamp alone, as in alert logs."""
    return _TIME.match(text) is not None


def is_prompt(text: str) -> bool:
    """Whether a line begins with the prompt of one of Oracle's tools."""
    return _PROMPT.match(text) is not None


def is_rule(text: str) -> bool:
    """Whether a line is a rule."""
    return _RULE.match(text) is not None and bool(text.strip())


def announces(text: str) -> bool:
    """Whether a line says that an error comes next: ``Errors in file …``, ``ERROR at line 1:``."""
    return _ANNOUNCES.match(text) is not None


class Stack:
    """Says line by line what belongs to a stack.

    ``prefix`` is what a family has before every line; None takes what alert logs and Data Pump have.
    """

    def __init__(self, prefix: re.Pattern[str] | None = None) -> None:
        self._prefix = prefix if prefix is not None else _PREFIX
        self._last = ""
        self._brackets = 0
        self._quote: str | None = None
        self._open = 0  # lines since brackets or quotes were opened
        self._statement = False

    def begins(self, text: str) -> bool:
        """Whether a line starts with a code; if so, what comes next is held against it."""
        text = self._bare(text)
        if error_codes.starting(text) is None:
            return False
        self.follow(text)
        return True

    def follow(self, text: str) -> None:
        """Take a line as the last one of the stack, whatever it begins with."""
        self._last = text
        self._brackets, self._quote, self._open = 0, None, 0
        self._balance(text)
        # `ORA-959 signalled during: drop tablespace …` goes on until its three dots.
        self._statement = _SIGNALLED in text and not text.rstrip().endswith("...")

    def continues(self, text: str) -> bool:
        """Whether the next line belongs to the stack; if so, it is its last line now."""
        bare = self._bare(text)
        if not bare.strip() or is_time(text) or is_prompt(text) or is_rule(text):
            return False
        if self.begins(text):
            return True
        if self._statement:
            self._statement = not bare.rstrip().endswith("...")
            self._last = bare
            return True
        if self._brackets > 0 or self._quote is not None:
            self._open += 1
            if self._open <= _OPEN_LINES:
                self._balance(bare)
                self._last = bare
                return True
            self._brackets, self._quote = 0, None
        if (
            bare[0] in " \t"
            or bare.startswith(_COMPANIONS)
            or _SYSTEM_ERROR.match(bare) is not None
            or (_PATH.match(bare) is not None and _PATH_ANNOUNCED.match(self._last[-200:]) is not None)
        ):
            self._statement = bare.startswith(_FAILING_SQL)
            self._last = bare
            return True
        return False

    @staticmethod
    def goes_on_after_blank(text: str) -> bool:
        """Whether a line belongs to the stack above although an empty line stands between, as in Data Pump's logs."""
        return text.lstrip(" \t").startswith((_FAILING_SQL, "*Cause:", "*Action:"))

    def _bare(self, text: str) -> str:
        found = self._prefix.match(text)
        return text[found.end() :] if found is not None else text

    def _balance(self, text: str) -> None:
        self._brackets = max(self._brackets + text.count("[") - text.count("]"), 0)
        for at, char in enumerate(text) if "'" in text or '"' in text else ():
            if self._quote == char:
                self._quote = None
            elif self._quote is None and char in "'\"" and not (at and _LETTER.match(text[at - 1])):
                self._quote = char


def groups(
    lines: Iterable[Line], *, prefix: re.Pattern[str] | None = None, ends: Callable[[str], bool] | None = None
) -> Iterator[Group]:
    """Group the lines of a report: its stacks whole, with the line that announces each, every other line by itself.

    ``ends`` says of a line that it is a mark of the family and so in no stack. A stack has 400 lines and 64 Ki
    characters at most; two lines are looked ahead at most.
    """
    held: list[Line] = []  # a stack, or one line that announces one
    blanks: list[Line] = []  # behind a stack, which may go on
    characters = 0
    stack: Stack | None = None
    for line in lines:
        text = line.text
        mark = ends is not None and ends(text)
        full = len(held) >= _MOST_LINES or characters >= _MOST_CHARACTERS
        if stack is not None and not mark and not full:
            if not blanks and stack.continues(text):
                held.append(line)
                characters += len(line.raw)
                continue
            if not blanks and not text.strip():
                blanks.append(line)
                continue
            if blanks and stack.goes_on_after_blank(text):
                held += [*blanks, line]
                blanks.clear()
                characters += len(line.raw)
                stack.continues(text)
                continue
        if stack is not None:
            yield Group(held, stack=True)
            yield from (Group([blank], stack=False) for blank in blanks)
            held, blanks, characters, stack = [], [], 0, None
        begun = Stack(prefix)
        if not mark and begun.begins(text):
            stack = begun
            held.append(line)
            characters += sum(len(one.raw) for one in held)
            continue
        yield from (Group([one], stack=False) for one in held)
        held = []
        if not mark and announces(text):
            held.append(line)
        else:
            yield Group([line], stack=False)
    if held:
        yield Group(held, stack=stack is not None)
    yield from (Group([blank], stack=False) for blank in blanks)
