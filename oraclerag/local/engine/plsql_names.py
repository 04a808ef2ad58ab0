"""What the names of a PL/SQL block stand for while it runs: variables, records, cursors, exceptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from oraclerag.local.engine.plsql_tree import Span
from oraclerag.local.engine.plsql_values import VariableType
from oraclerag.local.interface import OraError

USER_DEFINED = 6510
"""The number of an exception that a block declares itself and nobody handles."""


class UserException(OraError):
    """An exception that a block declared and raised."""

    def __init__(self, declaration: object, name: str) -> None:
        super().__init__(USER_DEFINED, "PL/SQL: unhandled user-defined exception")
        self.declaration = declaration
        self.name = name


@dataclass(slots=True)
class Variable:
    """A variable; a record has ``fields`` instead of a value, with their types where they are declared."""

    type: VariableType | None = None
    value: Any = None
    fields: dict[str, Any] | None = None
    field_types: dict[str, VariableType] = field(default_factory=dict)
    not_null: bool = False


@dataclass(slots=True)
class Cursor:
    """A declared cursor; its rows are read when it is opened, as its query sees the data of that moment."""

    query: Span
    rows: list[tuple[Any, ...]] | None = None
    position: int = 0
    found: bool | None = None


@dataclass(slots=True)
class ExceptionName:
    """A declared exception, with the number that a pragma gave it."""

    number: int | None


class Frame:
    """The names of a block at run time."""

    def __init__(self, parent: Frame | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Variable | Cursor | ExceptionName] = {}

    def find(self, name: str) -> Variable | Cursor | ExceptionName:
        """Give what a name stands for; the compiler has seen that it is there."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.parent
        raise OraError(6550, f"line 1, column 1:\nPLS-00201: identifier '{name}' must be declared")

    def variable(self, name: str) -> Variable:
        """Give a variable."""
        found = self.find(name)
        if not isinstance(found, Variable):
            raise OraError(6550, f"line 1, column 1:\nPLS-00382: expression is of wrong type: {name}")
        return found

    def cursor(self, name: str) -> Cursor:
        """Give a cursor."""
        found = self.find(name)
        if not isinstance(found, Cursor):
            raise OraError(6550, f"line 1, column 1:\nPLS-00221: '{name}' is not a cursor or is undefined")
        return found
