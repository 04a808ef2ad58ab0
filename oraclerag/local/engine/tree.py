"""A small tree between Oracle's text and PostgreSQL's: what cannot be written before the whole statement is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from oraclerag.local.engine.plan import BindParameter, ChainParameter, EmbedParameter, GenerateParameter, Parameter

NodeKind = Literal[
    "other",
    "column",
    "integer",
    "number",
    "string",
    "null",
    "bind",
    "embedding",
    "condition",
    "aggregate",
    "window",
    "subquery",
    "rownum",
    "rowid",
    "distance",
    "nextval",
]
DataType = Literal[
    "",
    "text",
    "clob",
    "number",
    "double",
    "date",
    "timestamp",
    "timestamp with time zone",
    "interval",
    "raw",
    "blob",
    "json",
    "json text",
    "vector",
    "boolean",
    "rowid",
]
"""What is known of an expression's type; empty when nothing is. "json text" is JSON that was made as text."""


class Output:
    """Collects the text and the parameters of a translated statement.

    A bind's parameter is numbered where it is written first; the same bind is the same parameter afterwards.
    """

    __slots__ = ("_numbers", "parameters", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.parameters: list[Parameter] = []
        self._numbers: dict[Parameter, str] = {}

    def parameter(self, parameter: Parameter) -> None:
        """Write the place of a parameter."""
        text = self._numbers.get(parameter)
        if text is None:
            self.parameters.append(parameter)
            text = self._numbers[parameter] = f"${len(self.parameters)}"
        self.pieces.append(text)

    def text(self) -> str:
        """Give what was written so far."""
        return "".join(self.pieces)


class Node:
    """A piece of a statement: text and further pieces in order.

    ``name`` is the column name the expression gives by itself, ``value`` the content of a literal.
    """

    __slots__ = ("kind", "name", "parts", "type", "value")

    def __init__(
        self,
        *parts: str | Node,
        kind: NodeKind = "other",
        type: DataType = "",  # noqa: A002
        name: str | None = None,
        value: str = "",
    ) -> None:
        self.parts = parts
        self.kind: NodeKind = kind
        self.type: DataType = type
        self.name = name
        self.value = value

    def write(self, output: Output) -> None:
        """Write the PostgreSQL text."""
        append = output.pieces.append
        for part in self.parts:
            if isinstance(part, str):
                append(part)
            else:
                part.write(output)

    def canonical(self) -> str:
        """Give a text that is equal for equal expressions of one query block."""
        return "".join([part if isinstance(part, str) else part.canonical() for part in self.parts])

    def children(self) -> Iterator[Node]:
        """Give the expressions inside, one level down, subqueries excepted."""
        for part in self.parts:
            if not isinstance(part, str):
                yield part


def walk(node: Node) -> Iterator[Node]:
    """Give a node and everything below it, not entering subqueries."""
    yield node
    for child in node.children():
        yield from walk(child)


def join(nodes: list[Node], separator: str = ", ") -> tuple[str | Node, ...]:
    """Give the parts of a list of nodes."""
    parts: list[str | Node] = []
    for node in nodes:
        if parts:
            parts.append(separator)
        parts.append(node)
    return tuple(parts)


class Bind(Node):
    """A bind variable."""

    __slots__ = ("position", "rowid")

    def __init__(self, name: str, position: int) -> None:
        super().__init__(kind="bind", value=name)
        self.position = position
        self.rowid = False

    def write(self, output: Output) -> None:
        """Write the place of its parameter."""
        output.parameter(BindParameter(self.value, self.rowid))

    def canonical(self) -> str:
        """Give the bind's name: other binds are other expressions, even with equal values."""
        return f":{self.value}"


class Embedding(Node):
    """What a model makes of a bind's text or of a literal, computed before the statement runs: mostly an embedding."""

    __slots__ = ("parameter",)

    def __init__(
        self,
        parameter: EmbedParameter | ChainParameter | GenerateParameter,
        type: DataType = "vector",  # noqa: A002
    ) -> None:
        super().__init__(kind="embedding", type=type)
        self.parameter = parameter

    def write(self, output: Output) -> None:
        """Write the place of its parameter."""
        output.parameter(self.parameter)

    def canonical(self) -> str:
        """Give model and text."""
        return repr(self.parameter)
