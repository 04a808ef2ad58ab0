"""Operands whose PostgreSQL text depends on the type of what stands beside them, known when the tables are."""

from __future__ import annotations

from collections.abc import Iterator

from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.tree import Bind, DataType, Node, Output
from oraclerag.local.engine.words import quote_text
from oraclerag.local.interface import OraError

NO_KEY = frozenset({"vector", "clob", "blob"})
"""Types that cannot be compared, sorted or grouped (ORA-22848)."""

# How a text literal is read beside a value of another type, or where one is assigned.
READ_FROM_TEXT: dict[DataType, str] = {
    "date": "ora.to_date",
    "timestamp": "ora.to_timestamp",
    "timestamp with time zone": "ora.to_timestamp_tz",
    "number": "ora.num",
    "double": "ora.as_double",
    "raw": "ora.as_raw",
    "blob": "ora.as_raw",
    "boolean": "ora.to_boolean",
    "interval": "ora.as_interval",
}


def type_of(node: Node | None) -> DataType:
    """Give the type of an expression; of a column once its table is known."""
    if node is None:
        return ""
    if isinstance(node, Operand):
        return type_of(node.inner)
    if isinstance(node, Column):
        if node.target is not None:
            return type_of(node.target)
        node.resolve()
    return node.type


def refuse_key(node: Node) -> None:
    """Raise ORA-22848 for an expression of a type that is no comparison key."""
    kind = type_of(node)
    if kind in NO_KEY:
        raise OraError(22848, f"Data type {kind.upper()} cannot be used as comparison key.")


class Operand(Node):
    """An expression beside another one.

    A text literal beside a date is read by the session's format, as Oracle does; a bind beside a ROWID takes its
    value as one; a key of a JSON column in dot notation is a scalar. ``compared``: the type must be comparable.
    """

    __slots__ = ("compared", "inner", "number", "other", "text")

    def __init__(
        self,
        inner: Node,
        other: Node | None = None,
        *,
        compared: bool = False,
        text: bool = False,
        number: bool = False,
    ) -> None:
        super().__init__(kind=inner.kind, type=inner.type, name=inner.name, value=inner.value)
        self.inner = inner
        self.other = other
        self.compared = compared
        self.text = text
        self.number = number

    def write(self, output: Output) -> None:
        """Write the expression in the form its neighbour asks for."""
        inner = self.inner
        if self.compared:
            refuse_key(inner)
        if inner.kind == "string" and self.number and type_of(self.other) not in ("vector", "interval"):
            output.pieces.append(f"ora.num({quote_text(inner.value)})")
            return
        if inner.kind == "string" and self.other is not None:
            wanted = type_of(self.other)
            if wanted in READ_FROM_TEXT:
                output.pieces.append(f"{READ_FROM_TEXT[wanted]}({quote_text(inner.value)})")
                return
            if wanted == "rowid":
                output.pieces.append(f"ora.chartorowid({quote_text(inner.value)})")
                return
        elif isinstance(inner, Bind) and self.other is not None and type_of(self.other) == "rowid":
            inner.rowid = True
        elif isinstance(inner, Column) and inner.target is None:
            inner.resolve()
            if inner.value:
                self._scalar(inner, output)
                return
        if self.text and family(inner) in ("number", "date", "timestamp"):
            output.pieces.append("ora.s(")
            inner.write(output)
            output.pieces.append(")")
            return
        inner.write(output)

    def _scalar(self, column: Column, output: Output) -> None:
        output.pieces.append("JSON_VALUE(" if self.number else "ora.json_scalar(JSON_QUERY(")
        Column(column.chain, None, column.position).write(output)
        output.pieces.append(f", {quote_text(column.value)} RETURNING {'numeric)' if self.number else 'jsonb))'}")

    def canonical(self) -> str:
        """Give that of the expression itself."""
        return self.inner.canonical()

    def children(self) -> Iterator[Node]:
        """Give the expression itself."""
        yield self.inner


def family(node: Node | None) -> DataType:
    """Give the type of an expression as far as conversions are concerned; literals have theirs."""
    if node is None:
        return ""
    return _LITERALS.get(node.kind) or type_of(node)


_LITERALS: dict[str, DataType] = {"integer": "number", "number": "number", "string": "text"}
_CONVERTED: dict[tuple[DataType, DataType], str] = {
    ("number", "text"): "ora.s",
    ("date", "text"): "ora.s",
    ("timestamp", "text"): "ora.s",
    ("text", "number"): "ora.as_number",
    ("text", "date"): "ora.as_date",
    ("text", "timestamp"): "ora.as_timestamp",
}


class Converted(Operand):
    """A replacement for another value: Oracle converts it to that one's type, as NVL and DECODE do.

    ``always``: a literal is converted although it may never be reached, as NVL does.
    """

    __slots__ = ("always",)

    def __init__(self, inner: Node, other: Node | None = None, *, always: bool = False) -> None:
        super().__init__(inner, other)
        self.always = always

    def write(self, output: Output) -> None:
        """Write it, a number beside text as text and the other way round."""
        function = _CONVERTED.get((family(self.inner), family(self.other)))
        if self.always and function == "ora.as_number" and self.inner.kind == "string":
            self.inner.write(output)
            return
        if function is not None:
            output.pieces.append(f"{function}(")
        super().write(output)
        if function is not None:
            output.pieces.append(")")


class Truth(Node):
    """An expression where a condition must stand: ORA-00920 when its type is known and is not BOOLEAN."""

    __slots__ = ()

    def write(self, output: Output) -> None:
        """Write it if it can be true or false."""
        for part in self.parts:
            if isinstance(part, Node) and type_of(part) not in ("boolean", ""):
                raise OraError(920, "invalid relational operator")
        super().write(output)


def truth(node: Node) -> Node:
    """Give a node as a condition; a literal that is none is refused at once."""
    if node.kind == "condition":
        return node
    if node.kind in ("integer", "number", "string", "null"):
        raise OraError(920, "invalid relational operator")
    return Truth(node, kind="condition", type="boolean")


_SCALARS = frozenset(
    {"text", "number", "double", "date", "timestamp", "timestamp with time zone", "interval", "boolean"}
)


def _is_varchar(node: Node) -> bool:
    """Whether an expression is known to be a VARCHAR2, and no CLOB: all it is made of is known and scalar."""
    if isinstance(node, Operand):
        return _is_varchar(node.inner)
    if isinstance(node, Column):
        return type_of(node) in _SCALARS and not node.value
    if node.kind in ("string", "integer", "number", "null"):
        return True
    return node.kind == "other" and node.type in _SCALARS and all(_is_varchar(child) for child in node.children())


class Concatenation(Node):
    """A concatenation: NULL is the empty string, and a result without characters is NULL.

    One of VARCHAR2s alone may not be longer than a VARCHAR2 (ORA-01489); with a CLOB in it, it is a CLOB.
    """

    __slots__ = ("values",)

    def __init__(self, values: list[Node]) -> None:
        super().__init__(type="text")
        self.values = [value if isinstance(value, Operand) else Operand(value) for value in values]

    def write(self, output: Output) -> None:
        """Write the call."""
        append = output.pieces.append
        long = any(type_of(value) == "clob" for value in self.values)
        append("ora.cat_varchar2(" if all(_is_varchar(value) for value in self.values) else "ora.cat(")
        for number, value in enumerate(self.values):
            append(", " if number else "")
            if value.kind == "string":
                value.write(output)
                append("::text")
            else:
                append("ora.s(")
                value.write(output)
                append(")")
        append(")::ora.clob" if long else ")")

    def canonical(self) -> str:
        """Give the values in order."""
        return f"({' || '.join(value.canonical() for value in self.values)})"

    def children(self) -> Iterator[Node]:
        """Give the values."""
        yield from self.values
