"""CONTAINS and SCORE of Oracle Text, over a CONTEXT index.

A text is found once its index knows it: what a transaction has written it does not find before the commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.plan import Names
from oraclerag.local.engine.scope import Column, Scope
from oraclerag.local.engine.tree import Node, Output, walk
from oraclerag.local.engine.words import quote, quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


class Contains(Node):
    """CONTAINS(column, query): by itself a number, which is refused outside of ``> 0``."""

    __slots__ = ("column", "names", "position", "query")

    def __init__(self, column: Column, query: Node, names: Names, position: int) -> None:
        super().__init__("CONTAINS(", column, ", ", query, ")", type="number")
        self.column = column
        self.query = query
        self.names = names
        self.position = position

    def write(self, output: Output) -> None:  # noqa: ARG002 - as all
        """Refuse it: Oracle takes it in a few other places, which are not needed here."""
        raise OraError(3001, "unimplemented feature: CONTAINS other than as CONTAINS(…) > 0", self.position)

    def found(self, output: Output) -> None:
        """Write whether a row is found."""
        alias, knows = self._index()
        output.pieces.append("(ora.text_tokens((")
        self.column.write(output)
        output.pieces.append(")::text) && (")
        self._search(output)
        output.pieces.append(f").tokens AND ora.text_knows({alias}.xmin{knows}) AND ((")
        self._search(output)
        output.pieces.append(").exact OR ")
        self.score(output)
        output.pieces.append(" > 0))")

    def score(self, output: Output) -> None:
        """Write the score of a row."""
        output.pieces.append("ora.text_score(ora.text_words((")
        self.column.write(output)
        output.pieces.append(")::text), ")
        self._search(output)
        output.pieces.append(")")

    def _search(self, output: Output) -> None:
        source = self.column.source
        assert source is not None  # noqa: S101 - _index has seen it
        table = quote_text(f"{quote(source.schema)}.{quote(source.table)}")
        column = quote_text(stored(self.column.chain[-1]))
        output.pieces.append(f"(SELECT ora.text_search({table}::regclass, {column}, (")
        self.query.write(output)
        output.pieces.append(")::text))")

    def _index(self) -> tuple[str, str]:
        """Give the alias of the table and what tells whether its index knows a row; without one ORA-20000."""
        self.column.resolve()
        source = self.column.source
        if source is None or not source.schema or source.alias is None:
            raise OraError(3001, "unimplemented feature: CONTAINS over anything but a column of a table", self.position)
        sync = self.names.text_index(source.schema, source.table, self.column.chain[-1])
        if sync is None:
            raise OraError(20000, "Oracle Text error:\nDRG-10599: column is not indexed", self.position)
        if sync == "COMMIT":
            return quote(source.alias), ""
        table = quote_text(f"{quote(source.schema)}.{quote(source.table)}")
        column = quote_text(self.column.chain[-1])
        return quote(source.alias), (
            f", (SELECT synced FROM ora.text_indexes WHERE rel = {table}::regclass AND column_name = {column})"
        )


class Found(Node):
    """``CONTAINS(…) > 0``."""

    __slots__ = ("contains",)

    def __init__(self, contains: Contains) -> None:
        super().__init__(contains, " > 0", kind="condition", type="boolean")
        self.contains = contains

    def write(self, output: Output) -> None:
        """Write the condition."""
        self.contains.found(output)


class Score(Node):
    """SCORE(label) of the CONTAINS of its query block that has the label."""

    __slots__ = ("label", "position", "scope")

    def __init__(self, label: str, scope: Scope | None, position: int) -> None:
        super().__init__(f"SCORE({label})", type="number")
        self.label = label
        self.scope = scope
        self.position = position

    def write(self, output: Output) -> None:
        """Write the score; without such a CONTAINS it is ORA-29908."""
        contains = self.scope.texts.get(self.label) if self.scope is not None else None
        if not isinstance(contains, Contains):
            raise OraError(29908, "missing primary invocation for ancillary operator", self.position)
        contains.score(output)


def contains(parser: ExpressionParser, name: str) -> Node:
    """Read CONTAINS, the name is already behind."""
    position = parser.token.position
    parser.need("(")
    column = parser.expression()
    if not parser.accept(","):
        raise OraError(29900, "operator binding does not exist", position)
    query = parser.expression()
    label = _label(parser) if parser.accept(",") else None
    parser.need(")")
    if not isinstance(column, Column):
        parser.unsupported(f"{name} over anything but a column")
    if any(isinstance(node, Column) or node.kind == "subquery" for node in walk(query)):
        parser.unsupported(f"{name} with a query that depends on a row")
    node = Contains(column, query, parser.names, position)
    if label is not None and parser.scope is not None:
        if label in parser.scope.texts:
            raise OraError(29907, "found duplicate labels in primary invocations", position)
        parser.scope.texts[label] = node
    return node


def score(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001 - as all
    """Read SCORE, the name is already behind."""
    position = parser.token.position
    parser.need("(")
    label = _label(parser)
    parser.need(")")
    return Score(label, parser.scope, position)


def _label(parser: ExpressionParser) -> str:
    token = parser.token
    if token.kind != "number" or not token.text.isdigit():
        raise OraError(29909, "label for the ancillary operator is not a literal number", token.position)
    parser.position += 1
    return token.text


def compared(parser: ExpressionParser, left: Contains, operator: str) -> Node:
    """Read what CONTAINS is compared with, behind the operator: only ``> 0`` is taken."""
    right = parser.operand()
    if operator != ">" or right.kind != "integer" or right.value != "0":
        raise OraError(3001, "unimplemented feature: CONTAINS other than as CONTAINS(…) > 0", left.position)
    return Found(left)


CALLS = {"CONTAINS": contains, "SCORE": score}
