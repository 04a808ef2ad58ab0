"""Clauses that the SQL/JSON functions share: path, PASSING, RETURNING, ON ERROR and ON EMPTY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.local.engine import casts
from oraclerag.local.engine.json_paths import JsonPath, convert
from oraclerag.local.engine.tree import Node
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


def path(parser: ExpressionParser) -> JsonPath:
    """Read a path, which must be a literal (ORA-40597)."""
    token = parser.token
    text = parser.string()
    if text is None or parser.at("||"):
        raise OraError(40597, "JSON path expression syntax error: the path must be a text literal", token.position)
    return convert(text, token.position)


def document(value: Node, *, strict: bool = False) -> Node:
    """Read a value as JSON: text that is none is NULL, or ORA-40441 when strict."""
    return Node("ora.json_strict(" if strict else "ora.json(", value, ")", type="json")


def passing(parser: ExpressionParser, found: JsonPath) -> dict[str, Node]:
    """Read PASSING; a variable of the path that gets no value is ORA-40463."""
    variables: dict[str, Node] = {}
    if parser.accept("PASSING"):
        while True:
            value = parser.expression()
            parser.need("AS")
            variables[parser.identifier()] = value
            if not parser.accept(","):
                break
    for name in found.variables:
        if name not in variables:
            raise OraError(40463, f"JSON path variable {name} has no value", parser.token.position)
    return variables


def passing_parts(variables: dict[str, Node]) -> list[str | Node]:
    """Give the text of PASSING."""
    parts: list[str | Node] = []
    for name, value in variables.items():
        typed = Node(value, "::text") if value.kind == "string" else value
        parts += [", " if parts else " PASSING ", typed, f" AS {quote(name)}"]
    return parts


def behaviours(parser: ExpressionParser, *, objects: bool = False, exists: bool = False) -> dict[str, str]:
    """Read ON ERROR and ON EMPTY clauses, in any order; MISMATCH is not known."""
    found: dict[str, str] = {}
    while parser.token.upper in ("NULL", "ERROR", "DEFAULT", "EMPTY", "TRUE", "FALSE"):
        word = parser.token.upper
        parser.position += 1
        if word == "DEFAULT":
            value = parser.operand()
            if value.kind not in ("string", "integer", "number", "null"):
                parser.unsupported("DEFAULT with something else than a literal")
            word = "DEFAULT " + parser.text(value)
        elif word == "EMPTY":
            if parser.token.upper in ("ARRAY", "OBJECT"):
                word += f" {parser.token.upper}"
                parser.position += 1
            else:
                word += " ARRAY"
        if (word.startswith("EMPTY") and not objects) or (word in ("TRUE", "FALSE") and not exists):
            parser.unexpected()
        parser.need("ON")
        event = parser.token.upper
        if event not in ("ERROR", "EMPTY"):
            parser.unsupported(f"ON {event}")
        parser.position += 1
        found[event] = word
    if found.get("ERROR") == "ERROR" and not exists:
        found.setdefault("EMPTY", "ERROR")
    return found


def behaviour_text(found: dict[str, str], *, as_json: bool = False) -> str:
    """Give the text of ON EMPTY and ON ERROR in PostgreSQL's order; ``as_json``: a DEFAULT is to be JSON."""
    pieces = []
    for event in ("EMPTY", "ERROR"):
        word = found.get(event)
        if word is not None and as_json and word.startswith("DEFAULT "):
            word = f"DEFAULT to_jsonb({word.removeprefix('DEFAULT ')}::text)"
        pieces.append(f" {word} ON {event}" if word is not None else "")
    return "".join(pieces)


def returning(parser: ExpressionParser) -> casts.CastType | None:
    """Read RETURNING and its type."""
    if not parser.accept("RETURNING"):
        return None
    return casts.read_type(parser, length_required=False)


def head(parser: ExpressionParser) -> Node:
    """Read the opening parenthesis and the value a function looks into."""
    parser.need("(")
    value = parser.expression()
    parser.accept("FORMAT", "JSON")
    return value


def as_returned(node: Node, target: casts.CastType | None, *, strict: bool | None = None) -> Node:
    """Give JSON as the type RETURNING names.

    ``strict``: a text that is longer than the type is an error (ERROR ON ERROR), with False it is NULL; None: it stays.
    """
    if target is None or target.type == "json":
        return node
    if target.type in ("text", "clob"):
        kind = "ora.varchar2" if target.type == "text" else "ora.clob"
        if target.size and strict is not None:
            shown = f"), {target.size}, {str(strict).lower()})::{kind}"
            return Node("ora.json_within(ora.json_text(", node, shown, type=target.type)
        return Node("ora.json_text(", node, f")::{kind}", type=target.type)
    if target.type == "blob":
        return Node("convert_to(ora.json_text(", node, "), 'UTF8')::ora.blob", type="blob")
    raise OraError(40449, "invalid data type for return value")
