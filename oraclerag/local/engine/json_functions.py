"""SQL/JSON functions over a document, and the item methods of dot notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine import json_construction
from oraclerag.local.engine.json_clauses import (
    as_returned,
    behaviour_text,
    behaviours,
    document,
    head,
    passing,
    passing_parts,
    path,
    returning,
)
from oraclerag.local.engine.json_construction import fragment, json_value_text
from oraclerag.local.engine.json_paths import JsonPath
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.tree import DataType, Node, Output
from oraclerag.local.engine.words import quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser

_SCALARS: dict[DataType, str] = {
    "text": "text",
    "clob": "text",
    "number": "numeric",
    "double": "float8",
    "date": "timestamp",
    "timestamp": "timestamp",
    "timestamp with time zone": "timestamptz",
    "boolean": "boolean",
    "vector": "text",
}


_ITEM_METHODS: dict[str, tuple[str, DataType]] = {
    "NUMBER": ("numeric", "number"),
    "NUMBERONLY": ("numeric", "number"),
    "STRING": ("text", "text"),
    "STRINGONLY": ("text", "text"),
    "BOOLEAN": ("boolean", "boolean"),
    "DOUBLE": ("float8", "double"),
    "TIMESTAMP": ("timestamp", "timestamp"),
}


class JsonItem(Node):
    """A value of a JSON column by dot notation with an item method, as ``t.j.a.number()``."""

    __slots__ = ("column", "returning")

    def __init__(self, column: Column, returning: str, data_type: DataType) -> None:
        super().__init__(column, type=data_type)
        self.column = column
        self.returning = returning

    def write(self, output: Output) -> None:
        """Write it as JSON_VALUE."""
        column = self.column
        column.resolve()
        if not column.value:
            raise OraError(
                904, ".".join(f'"{name}"' for name in column.chain) + ": invalid identifier", column.position
            )
        as_text = self.returning == "text"
        output.pieces.append("ora.json_scalar(JSON_QUERY(" if as_text else "JSON_VALUE(")
        Column(column.chain, None, column.position).write(output)
        output.pieces.append(f", {quote_text(column.value)} RETURNING {'jsonb))' if as_text else f'{self.returning})'}")


def item_method(parser: ExpressionParser, chain: list[str], written: list[str], token: Token) -> Node | None:
    """Read ``.number()`` and its like behind a JSON column; None when the name is no item method."""
    found = _ITEM_METHODS.get(chain[-1])
    if found is None or len(chain) < 3 or parser.peek().upper != ")":
        return None
    parser.position += 2
    column = Column(chain[:-1], parser.scope, token.position, written[:-1])
    return JsonItem(column, *found)


def _json_value(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    parser.need(",")
    found = path(parser)
    variables = passing(parser, found)
    target = returning(parser)
    if parser.token.upper in ("TRUNCATE", "ASCII"):
        parser.position += 1
    handlers = behaviours(parser)
    parser.need(")")
    if found.comparison is not None:
        parser.unsupported(f"{found.comparison} with a variable in JSON_VALUE")
    kind: DataType = target.type if target is not None else "text"
    if kind not in _SCALARS:
        raise OraError(40449, "invalid data type for return value", parser.token.position)
    strict = handlers.get("ERROR") == "ERROR"
    looked = (document(value, strict=strict), f", {quote_text(found.text)}", *passing_parts(variables), " RETURNING ")
    cast = {"date": "::ora.odate", "clob": "::ora.clob", "vector": "::vector"}.get(kind, "")
    if _SCALARS[kind] == "text":
        handled = behaviour_text(handlers, as_json=True)
        on_error = handlers.get("ERROR", "NULL")
        otherwise = on_error.removeprefix("DEFAULT ") if on_error.startswith("DEFAULT ") else "NULL"
        more = f", {str(strict).lower()}, {otherwise}::text" if on_error != "NULL" else ""
        node = Node("ora.json_scalar(JSON_QUERY(", *looked, f"jsonb{handled}){more}){cast}", type=kind)
    else:
        node = Node("JSON_VALUE(", *looked, f"{_SCALARS[kind]}{behaviour_text(handlers)}){cast}", type=kind)
    if target is not None and kind == "number":
        return Node("(", node, f")::{target.text}", type=kind)
    if target is not None and kind == "text":
        within = ("ora.json_within(", node, f", {target.size}, {str(strict).lower()})") if target.size else (node,)
        return Node(*within, "::ora.varchar2", type=kind)
    return node


def _json_query(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    found = JsonPath("$", ())
    if parser.accept(","):
        found = path(parser)
    variables = passing(parser, found)
    target = returning(parser)
    wrapper = ""
    while True:
        if parser.token.upper in ("PRETTY", "ASCII"):
            parser.position += 1
        elif parser.at("WITH") or parser.at("WITHOUT"):
            wrapper = f" {parser.token.upper}"
            parser.position += 1
            if parser.token.upper in ("CONDITIONAL", "UNCONDITIONAL"):
                wrapper += f" {parser.token.upper}"
                parser.position += 1
            parser.accept("ARRAY")
            parser.need("WRAPPER")
            wrapper += " WRAPPER"
        elif parser.token.upper in ("ALLOW", "DISALLOW"):
            parser.position += 1
            parser.need("SCALARS")
        else:
            break
    handlers = behaviours(parser, objects=True)
    parser.need(")")
    if found.comparison is not None:
        parser.unsupported(f"{found.comparison} with a variable in JSON_QUERY")
    strict = handlers.get("ERROR") == "ERROR"
    node = Node(
        "JSON_QUERY(",
        document(value, strict=strict),
        f", {quote_text(found.text)}",
        *passing_parts(variables),
        f"{wrapper}{behaviour_text(handlers)})",
        type="json",
    )
    return as_returned(node, target, strict=strict)


def _json_exists(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    parser.need(",")
    found = path(parser)
    variables = passing(parser, found)
    handlers = behaviours(parser, exists=True)
    parser.need(")")
    context = document(value, strict=handlers.get("ERROR") == "ERROR")
    if found.comparison is not None:
        pattern = variables.pop(found.variables[0])
        if variables:
            parser.unsupported(f"{found.comparison} beside other variables in a JSON path")
        return Node(
            f"ora.json_text_compares('{found.comparison}', ",
            context,
            f", {quote_text(found.text)}, ",
            pattern,
            ")",
            kind="condition",
            type="boolean",
        )
    return Node(
        "JSON_EXISTS(",
        context,
        f", {quote_text(found.text)}",
        *passing_parts(variables),
        f"{behaviour_text(handlers)})",
        kind="condition",
        type="boolean",
    )


def _json_serialize(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    position = parser.token.position
    target = returning(parser)
    if target is not None and target.type not in ("text", "clob", "blob"):
        raise OraError(40449, "invalid data type for return value", position)
    pretty = False
    while parser.token.upper in ("PRETTY", "ASCII", "ORDERED"):
        pretty = pretty or parser.at("PRETTY")
        parser.position += 1
    if parser.at("TRUNCATE"):
        parser.unsupported("TRUNCATE in JSON_SERIALIZE")
    handlers = behaviours(parser, objects=True)
    if any((event, answer) not in {("ERROR", "NULL"), ("ERROR", "ERROR")} for event, answer in handlers.items()):
        parser.unsupported("another clause than NULL and ERROR ON ERROR in JSON_SERIALIZE (nor does Oracle)")
    parser.need(")")
    context = document(value, strict=True)
    if target is not None and target.type != "text":
        return as_returned(context, target)
    text = Node("jsonb_pretty(", context, ")") if pretty else Node("ora.json_text(", context, ")")
    longest = target.size if target is not None and target.size else 4000
    strict = handlers.get("ERROR", "ERROR") == "ERROR"
    return Node("ora.json_within(", text, f", {longest}, {str(strict).lower()})::ora.varchar2", type="text")


def _json_call(parser: ExpressionParser, name: str) -> Node:
    if name == "JSON" and parser.peek().upper in (")", ","):
        raise OraError(909, "The number of arguments for function 'JSON' is invalid.", parser.token.position)
    value = head(parser)
    if name == "JSON_SCALAR":
        parser.need(")")
        return Node("(", fragment(value), ")::jsonb", type="json")
    parser.accept("STRICT")
    parser.accept("LAX")
    parser.need(")")
    return Node("ora.json_strict(", value, ")", type="json")


def _json_mergepatch(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    parser.need(",")
    patch = parser.expression()
    target = returning(parser)
    if parser.token.upper in ("PRETTY", "ASCII"):
        parser.position += 1
    handlers = behaviours(parser)
    parser.need(")")
    strict = handlers.get("ERROR") == "ERROR"
    node = Node(
        "ora.json_mergepatch(", document(value, strict=strict), ", ", document(patch, strict=True), ")", type="json"
    )
    return as_returned(node, target)


def _json_equal(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    parser.need(",")
    other = parser.expression()
    parser.accept("FORMAT", "JSON")
    behaviours(parser, exists=True)
    parser.need(")")
    return Node("(", document(value), " = ", document(other), ")", kind="condition", type="boolean")


def _json_transform(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = head(parser)
    node: Node = document(value, strict=True)
    parser.need(",")
    while True:
        token = parser.token
        operation = token.upper
        if operation not in ("SET", "REPLACE", "INSERT", "REMOVE"):
            parser.unsupported(f"JSON_TRANSFORM with {token.text}")
        parser.position += 1
        steps = path(parser).steps
        if not steps:
            parser.unsupported("JSON_TRANSFORM with a path of more than keys and indexes")
        place = f"ARRAY[{', '.join(quote_text(step) for step in steps)}]"
        if operation == "REMOVE":
            node = Node("(", node, f" #- {place})", type="json")
        else:
            parser.need("=")
            node = Node(
                f"ora.json_{operation.lower()}(",
                node,
                f", {place}, coalesce(",
                json_value_text(parser),
                ", 'null')::jsonb)",
                type="json",
            )
        if parser.token.upper in ("IGNORE", "ERROR", "NULL", "CREATE", "REPLACE") and parser.peek().upper == "ON":
            parser.unsupported("handlers of JSON_TRANSFORM")
        if not parser.accept(","):
            break
    target = returning(parser)
    parser.need(")")
    return as_returned(node, target)


def _refused(parser: ExpressionParser, name: str) -> Node:
    parser.unsupported(name)


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    **json_construction.CALLS,
    "JSON_VALUE": _json_value,
    "JSON_QUERY": _json_query,
    "JSON_EXISTS": _json_exists,
    "JSON_SERIALIZE": _json_serialize,
    "JSON_MERGEPATCH": _json_mergepatch,
    "JSON_EQUAL": _json_equal,
    "JSON_TRANSFORM": _json_transform,
    "JSON_SCALAR": _json_call,
    "JSON": _json_call,
    "JSON_DATAGUIDE": _refused,
    "JSON_TEXTCONTAINS": _refused,
    "JSON_TABLE": _refused,
}
