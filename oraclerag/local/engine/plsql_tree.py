"""The tree of a PL/SQL block. Expressions and SQL statements stay spans of tokens: SQL evaluates them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Span = tuple[int, int]
"""Half-open range of token indexes."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a value goes: a bind, a variable, or a field of a record."""

    kind: Literal["bind", "variable"]
    name: str
    field: str | None
    token: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a procedure call, by name or by position."""

    name: str | None
    value: Span


@dataclass(frozen=True, slots=True)
class TypeName:
    """A declared type: a data type (``text``), ``%TYPE`` or ``%ROWTYPE`` of ``of``."""

    text: Span
    of: tuple[str, ...] = ()
    row: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable; ``kind`` says what else it may be: a cursor over ``query``, or an exception (with its number)."""

    name: str
    kind: Literal["variable", "cursor", "exception"]
    type: TypeName | None = None
    constant: bool = False
    not_null: bool = False
    default: Span | None = None
    query: Span | None = None
    token: int = 0


@dataclass(slots=True)
class Statement:
    """A statement; ``token`` is where it begins."""

    token: int


@dataclass(slots=True)
class Handler:
    """An exception handler; OTHERS catches everything."""

    names: tuple[str, ...]
    body: list[Statement]


@dataclass(slots=True)
class Block(Statement):
    """DECLARE … BEGIN … EXCEPTION … END; ``numbers`` are those of PRAGMA EXCEPTION_INIT."""

    declarations: list[Declaration] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Null(Statement):
    """NULL."""


@dataclass(slots=True)
class If(Statement):
    """IF … ELSIF … ELSE, or CASE without selector; ``otherwise`` None: no ELSE."""

    arms: list[tuple[Span, list[Statement]]]
    otherwise: list[Statement] | None


@dataclass(slots=True)
class Case(Statement):
    """CASE; ``selector`` None: searched. Without ELSE and without a match it is ORA-06592."""

    selector: Span | None
    arms: list[tuple[Span, list[Statement]]]
    otherwise: list[Statement] | None


@dataclass(slots=True)
class Loop(Statement):
    """LOOP, or WHILE with a condition."""

    condition: Span | None
    body: list[Statement]
    label: str | None


@dataclass(slots=True)
class ForRange(Statement):
    """FOR i IN [REVERSE] a .. b."""

    variable: str
    low: Span
    high: Span
    reverse: bool
    body: list[Statement]
    label: str | None


@dataclass(slots=True)
class ForQuery(Statement):
    """FOR r IN (query), or over a declared cursor."""

    variable: str
    query: Span | None
    cursor: str | None
    body: list[Statement]
    label: str | None


@dataclass(slots=True)
class Leave(Statement):
    """EXIT or CONTINUE, of a labelled loop or the innermost one."""

    exits: bool
    label: str | None
    condition: Span | None


@dataclass(slots=True)
class Assign(Statement):
    """target := expression."""

    target: Target
    value: Span


@dataclass(slots=True)
class Execute(Statement):
    """EXECUTE IMMEDIATE; ``using`` holds mode (IN, OUT, IN OUT) and expression."""

    text: Span
    into: list[Target]
    using: list[tuple[str, Span, Target | None]]
    returning: list[Target]


@dataclass(slots=True)
class Raise(Statement):
    """RAISE, of a named exception or the one being handled."""

    name: str | None


@dataclass(slots=True)
class Return(Statement):
    """RETURN: leave the block."""


@dataclass(slots=True)
class Control(Statement):
    """COMMIT, ROLLBACK, SAVEPOINT, LOCK TABLE, SET TRANSACTION: run as they are written."""

    word: str
    text: Span


@dataclass(slots=True)
class Sql(Statement):
    """INSERT, UPDATE, DELETE, MERGE or SELECT … INTO.

    ``text`` is the statement without the INTO of a SELECT (two spans then); ``returning`` are the targets behind
    RETURNING … INTO, whose tokens stay in the text.
    """

    verb: str
    text: tuple[Span, ...]
    into: list[Target]
    returning: list[Target]


@dataclass(slots=True)
class Call(Statement):
    """A procedure call."""

    name: str
    arguments: list[Argument]


@dataclass(slots=True)
class CursorStatement(Statement):
    """OPEN, FETCH … INTO or CLOSE of a declared cursor."""

    verb: Literal["OPEN", "FETCH", "CLOSE"]
    cursor: str
    into: list[Target]
