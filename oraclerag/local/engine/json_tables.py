"""JSON_TABLE in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.local.engine import casts
from oraclerag.local.engine.json_clauses import behaviour_text, behaviours, document, head, passing, passing_parts, path
from oraclerag.local.engine.json_paths import JsonPath
from oraclerag.local.engine.scope import Columns
from oraclerag.local.engine.tree import DataType, Node
from oraclerag.local.engine.words import quote, quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


def table(parser: ExpressionParser) -> tuple[Node, Columns]:
    """Read JSON_TABLE in FROM, the name is already behind; give its text and its columns."""
    value = head(parser)
    found = JsonPath("$", ())
    if parser.accept(","):
        found = path(parser)
    variables = passing(parser, found)
    behaviours = {"ERROR": "EMPTY ARRAY"}
    for words in (("ERROR", "ON", "ERROR"), ("NULL", "ON", "ERROR"), ("ERROR", "ON", "EMPTY"), ("NULL", "ON", "EMPTY")):
        if parser.accept(*words) and words == ("ERROR", "ON", "ERROR"):
            behaviours = {"ERROR": "ERROR"}
    if not parser.at("COLUMNS"):
        raise OraError(40490, "missing COLUMNS clause in JSON_TABLE", parser.token.position)
    columns: Columns = {}
    scalars: dict[str, int | None] = {}
    text = _table_columns(parser, columns, scalars)
    parser.need(")")
    strict = behaviours["ERROR"] == "ERROR"
    shown = ", ".join(_scalar(name, scalars[name]) if name in scalars else quote(name) for name in columns)
    node = Node(
        f"LATERAL (SELECT {shown} FROM JSON_TABLE(",
        document(value, strict=strict),
        f", {quote_text(found.text)}",
        *passing_parts(variables),
        f" COLUMNS ({text}) {behaviours['ERROR']} ON ERROR))",
    )
    return node, columns


def _scalar(name: str, size: int | None) -> str:
    """Give a column of VARCHAR2, which was taken as JSON so that true is no t; a text that is too long is NULL."""
    column = quote(name)
    text = f"ora.json_scalar({column})"
    return f"{f'ora.json_within({text}, {size}, false)' if size else text} AS {column}"


def _table_columns(parser: ExpressionParser, columns: Columns, scalars: dict[str, int | None]) -> str:
    """Read COLUMNS; ``scalars`` gets the names, and sizes, of those that are JSON here and text outside."""
    parser.need("COLUMNS")
    enclosed = parser.accept("(")
    pieces: list[str] = []
    while True:
        if parser.at("NESTED"):
            parser.position += 1
            parser.accept("PATH")
            nested = path(parser)
            pieces.append(f"NESTED PATH {quote_text(nested.text)} COLUMNS ({_table_columns(parser, columns, scalars)})")
        else:
            pieces.append(_table_column(parser, columns, scalars))
        if not parser.accept(","):
            break
    if enclosed:
        parser.need(")")
    return ", ".join(pieces)


def _table_column(parser: ExpressionParser, columns: Columns, scalars: dict[str, int | None]) -> str:
    token = parser.token
    name = parser.identifier()
    if parser.accept("FOR", "ORDINALITY"):
        columns[name] = "number"
        return f"{quote(name)} FOR ORDINALITY"
    kind: DataType = "text"
    text = "text"
    exists = False
    size: int | None = None
    if parser.token.upper not in ("PATH", "EXISTS", "FORMAT", ",", ")", "ERROR", "NULL", "DEFAULT", "WITH", "WITHOUT"):
        target = casts.read_type(parser, length_required=False)
        kind, size = target.type, target.size
        text = {"text": "text", "clob": "text", "date": "timestamp"}.get(kind, target.text)
    json = parser.accept("FORMAT", "JSON")
    if parser.accept("EXISTS"):
        exists = True
        text = "boolean" if kind in ("text", "boolean") else "int"
    wrapper = ""
    if parser.token.upper in ("WITH", "WITHOUT"):
        wrapper = f" {parser.token.upper}"
        parser.position += 1
        if parser.token.upper in ("CONDITIONAL", "UNCONDITIONAL"):
            wrapper += f" {parser.token.upper}"
            parser.position += 1
        parser.accept("ARRAY")
        parser.need("WRAPPER")
        wrapper += " WRAPPER"
    if json or wrapper:
        text, kind = "jsonb", "json"
    key = token.text if token.kind == "word" else name
    place = path(parser).text if parser.accept("PATH") else f'$."{key}"'
    handlers = behaviours(parser, objects=True, exists=exists)
    columns[name] = kind
    as_json = text == "text" and not exists and "ERROR" not in handlers.values()
    if as_json:
        scalars[name] = size if kind == "text" and not handlers else None
        text = "jsonb"
    kind_text = f"{text} EXISTS" if exists else text
    return f"{quote(name)} {kind_text} PATH {quote_text(place)}{wrapper}{behaviour_text(handlers, as_json=as_json)}"
