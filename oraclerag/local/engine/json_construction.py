"""JSON made from values: JSON_OBJECT, JSON_ARRAY, their aggregates, and the constructor with braces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine.json_clauses import returning
from oraclerag.local.engine.scope import Column, Scope
from oraclerag.local.engine.tree import Node, Output, join
from oraclerag.local.engine.words import quote, quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


class AllColumns(Node):
    """JSON_OBJECT(*): an object of all columns of the tables in FROM."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        super().__init__(type="json text")
        self.scope = scope

    def write(self, output: Output) -> None:
        """Write it; the columns must be known."""
        columns = self.scope.column_types()
        if columns is None:
            raise OraError(3001, "unimplemented feature: JSON_OBJECT(*) over a table whose columns are not known")
        pairs = [Node(f"{quote_text(name)}::text, ora.json_fragment({quote(name)})") for name, _ in columns]
        Node("ora.json_object(false, ", *join(pairs), ")").write(output)

    def canonical(self) -> str:
        """Give a text that no other expression has."""
        return f"(object {id(self)})"


def json_value_text(parser: ExpressionParser) -> Node:
    """Read a value of a JSON constructor function as JSON text."""
    value = parser.expression()
    if parser.accept("FORMAT", "JSON") or value.type == "json text":
        return Node("ora.s(", value, ")", type="json text")
    return fragment(value)


def fragment(value: Node) -> Node:
    """Give a value as a piece of JSON text."""
    if value.kind == "null":
        return Node("NULL", type="json text")
    typed = Node(value, "::text") if value.kind == "string" else value
    return Node("ora.json_fragment(", typed, ")", type="json text")


def _null_clause(parser: ExpressionParser, default: bool) -> bool:
    """Read ABSENT ON NULL or NULL ON NULL; give whether NULLs are left out."""
    for word, absent in (("ABSENT", True), ("NULL", False)):
        if parser.at(word, "ON", "NULL"):
            parser.position += 3
            return absent
    return default


def _end(parser: ExpressionParser, text: Node) -> Node:
    """Read RETURNING and the closing words, and give the JSON text as the type asked for."""
    target = returning(parser)
    parser.accept("STRICT")
    if parser.accept("WITH"):
        parser.need("UNIQUE")
        parser.need("KEYS")
    parser.need(")")
    if target is None:
        return Node("(", text, ")::ora.varchar2", type="json text")
    if target.type == "json":
        return Node("(", text, ")::jsonb", type="json")
    if target.type in ("text", "clob"):
        return Node("(", text, f")::ora.{'varchar2' if target.type == 'text' else 'clob'}", type="json text")
    if target.type == "blob":
        return Node("convert_to(", text, ", 'UTF8')::ora.blob", type="blob")
    raise OraError(40449, "invalid data type for return value", parser.token.position)


def _json_object(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    pairs: list[Node] = []
    if parser.at("*") and parser.scope is not None:
        parser.position += 1
        return _end(parser, AllColumns(parser.scope))
    while not parser.at(")") and parser.token.upper not in ("ABSENT", "NULL", "RETURNING", "STRICT", "WITH"):
        pairs += _pair(parser)
        if not parser.accept(","):
            break
    absent = _null_clause(parser, default=False)
    if not pairs:
        return _end(parser, Node("'{}'"))
    return _end(parser, Node(f"ora.json_object({'true' if absent else 'false'}, ", *join(pairs), ")", type="json text"))


def _pair(parser: ExpressionParser) -> list[Node]:
    explicit = parser.at("KEY") and parser.peek().upper not in (",", ")", "VALUE", ":")
    if explicit:
        parser.position += 1
    key = parser.operand()
    if key.kind == "column" and not explicit and (parser.token.upper in (",", ")") or parser.peek().upper == "ON"):
        shown = key.written[-1] if isinstance(key, Column) else key.name or ""
        return [Node(quote_text(shown) + "::text"), fragment(key)]
    if not (parser.accept("VALUE") or parser.accept("IS") or parser.accept(":")):
        parser.missing("VALUE")
    return [
        Node("ora.s(", key, "::text)") if key.kind == "string" else Node("ora.s(", key, ")"),
        json_value_text(parser),
    ]


def _json_array(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    values: list[Node] = []
    while not parser.at(")") and parser.token.upper not in ("ABSENT", "RETURNING", "STRICT"):
        if parser.at("NULL", "ON", "NULL"):
            break
        values.append(json_value_text(parser))
        if not parser.accept(","):
            break
    absent = _null_clause(parser, default=True)
    if not values:
        return _end(parser, Node("'[]'"))
    return _end(parser, Node(f"ora.json_array({'true' if absent else 'false'}, ", *join(values), ")", type="json text"))


def _json_arrayagg(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    from oraclerag.local.engine.aggregates import sort_keys

    parser.need("(")
    if parser.at("DISTINCT"):
        raise OraError(30482, "DISTINCT option not allowed for this function", parser.token.position)
    known = len(parser.aggregates)
    value = json_value_text(parser)
    order: tuple[str | Node, ...] = ()
    if parser.accept("ORDER"):
        parser.need("BY")
        order = (" ", sort_keys(parser))
    if len(parser.aggregates) > known:
        raise OraError(978, "nested group function without GROUP BY", parser.token.position)
    absent = _null_clause(parser, default=True)
    inner = value if absent else Node("coalesce(", value, ", 'null')")
    node = _end(parser, Node("'[' || coalesce(string_agg(", inner, ", ','", *order, "), '') || ']'"))
    return _aggregate(parser, node)


def _json_objectagg(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    known = len(parser.aggregates)
    parser.accept("KEY")
    key = parser.operand()
    if not (parser.accept("VALUE") or parser.accept("IS") or parser.accept(":")):
        parser.missing("VALUE")
    value = json_value_text(parser)
    if len(parser.aggregates) > known:
        raise OraError(978, "nested group function without GROUP BY", parser.token.position)
    absent = _null_clause(parser, default=False)
    shown = value if absent else Node("coalesce(", value, ", 'null')")
    pair = Node("to_json(ora.s(", key, "))::text || ':' || ", shown)
    node = _end(parser, Node("'{' || coalesce(string_agg(", pair, ", ','), '') || '}'"))
    return _aggregate(parser, node)


def _aggregate(parser: ExpressionParser, node: Node) -> Node:
    if parser.at("OVER"):
        parser.unsupported("JSON aggregates with OVER")
    wrapped = Node(node, kind="aggregate", type=node.type, value="JSON")
    parser.aggregates.append(wrapped)
    return wrapped


def constructor(parser: ExpressionParser) -> Node:
    """Read what follows ``JSON`` as ``{...}`` or ``[...]``."""
    return Node("(", _literal(parser), ")::jsonb", type="json")


def _literal(parser: ExpressionParser) -> Node:
    if parser.accept("{"):
        pairs: list[Node] = []
        while not parser.at("}"):
            key = parser.operand()
            if not (parser.accept(":") or parser.accept("VALUE")):
                parser.missing(":")
            pairs += [
                Node("ora.s(", key, "::text)") if key.kind == "string" else Node("ora.s(", key, ")"),
                _literal(parser),
            ]
            if not parser.accept(","):
                break
        parser.need("}")
        return Node("ora.json_object(false, ", *join(pairs), ")") if pairs else Node("'{}'")
    if parser.accept("["):
        values: list[Node] = []
        while not parser.at("]"):
            values.append(_literal(parser))
            if not parser.accept(","):
                break
        parser.need("]")
        return Node("ora.json_array(false, ", *join(values), ")") if values else Node("'[]'")
    return json_value_text(parser)


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "JSON_OBJECT": _json_object,
    "JSON_ARRAY": _json_array,
    "JSON_ARRAYAGG": _json_arrayagg,
    "JSON_OBJECTAGG": _json_objectagg,
}
