"""SQL/JSON functions, the JSON constructor, JSON_TABLE and the item methods of dot notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine import casts
from oraclerag.local.engine.json_paths import JsonPath, convert
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.scope import Column, Columns
from oraclerag.local.engine.tree import DataType, Node, Output, join
from oraclerag.local.engine.words import quote, quote_text
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
        output.pieces.append("JSON_VALUE(")
        Column(column.chain, None, column.position).write(output)
        output.pieces.append(f", {quote_text(column.value)} RETURNING {self.returning})")


def item_method(parser: ExpressionParser, chain: list[str], written: list[str], token: Token) -> Node | None:
    """Read ``.number()`` and its like behind a JSON column; None when the name is no item method."""
    found = _ITEM_METHODS.get(chain[-1])
    if found is None or len(chain) < 3 or parser.peek().upper != ")":
        return None
    parser.position += 2
    column = Column(chain[:-1], parser.scope, token.position, written[:-1])
    return JsonItem(column, *found)


def path(parser: ExpressionParser) -> JsonPath:
    """Read a path, which must be a literal (ORA-40597)."""
    token = parser.token
    text = parser.string()
    if text is None or parser.at("||"):
        raise OraError(40597, "JSON path expression syntax error: the path must be a text literal", token.position)
    return convert(text, token.position)


def _input(value: Node, *, strict: bool = False) -> Node:
    """Read a value as JSON: text that is none is NULL, or ORA-40441 when strict."""
    return Node("ora.json_strict(" if strict else "ora.json(", value, ")", type="json")


def _passing(parser: ExpressionParser, found: JsonPath) -> dict[str, Node]:
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


def _passing_parts(variables: dict[str, Node]) -> list[str | Node]:
    parts: list[str | Node] = []
    for name, value in variables.items():
        typed = Node(value, "::text") if value.kind == "string" else value
        parts += [", " if parts else " PASSING ", typed, f" AS {quote(name)}"]
    return parts


def _behaviours(parser: ExpressionParser, *, objects: bool = False, exists: bool = False) -> dict[str, str]:
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


def _behaviour_text(found: dict[str, str]) -> str:
    return "".join(f" {found[event]} ON {event}" for event in ("EMPTY", "ERROR") if event in found)


def _returning(parser: ExpressionParser) -> casts.CastType | None:
    if not parser.accept("RETURNING"):
        return None
    return casts.read_type(parser, length_required=False)


def _head(parser: ExpressionParser) -> Node:
    parser.need("(")
    value = parser.expression()
    parser.accept("FORMAT", "JSON")
    return value


def _json_value(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    parser.need(",")
    found = path(parser)
    variables = _passing(parser, found)
    target = _returning(parser)
    if parser.token.upper in ("TRUNCATE", "ASCII"):
        parser.position += 1
    behaviours = _behaviours(parser)
    parser.need(")")
    if found.substring_of is not None:
        parser.unsupported("has substring in JSON_VALUE")
    kind: DataType = target.type if target is not None else "text"
    if kind not in _SCALARS:
        raise OraError(40449, "invalid data type for return value", parser.token.position)
    strict = behaviours.get("ERROR") == "ERROR"
    node = Node(
        "JSON_VALUE(",
        _input(value, strict=strict),
        f", {quote_text(found.text)}",
        *_passing_parts(variables),
        f" RETURNING {_SCALARS[kind]}{_behaviour_text(behaviours)})",
        *({"date": ("::ora.odate",), "clob": ("::ora.clob",), "vector": ("::vector",)}.get(kind, ())),
        *(("::ora.varchar2",) if target is not None and kind == "text" else ()),
        type=kind,
    )
    return Node("(", node, f")::{target.text}", type=kind) if target is not None and kind == "number" else node


def _json_query(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    found = JsonPath("$", ())
    if parser.accept(","):
        found = path(parser)
    variables = _passing(parser, found)
    target = _returning(parser)
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
    behaviours = _behaviours(parser, objects=True)
    parser.need(")")
    if found.substring_of is not None:
        parser.unsupported("has substring in JSON_QUERY")
    strict = behaviours.get("ERROR") == "ERROR"
    node = Node(
        "JSON_QUERY(",
        _input(value, strict=strict),
        f", {quote_text(found.text)}",
        *_passing_parts(variables),
        f"{wrapper}{_behaviour_text(behaviours)})",
        type="json",
    )
    return _as_returned(node, target)


def _as_returned(node: Node, target: casts.CastType | None) -> Node:
    """Give JSON as the type RETURNING names."""
    if target is None or target.type == "json":
        return node
    if target.type in ("text", "clob"):
        kind = "ora.varchar2" if target.type == "text" else "ora.clob"
        return Node("ora.json_text(", node, f")::{kind}", type=target.type)
    if target.type == "blob":
        return Node("convert_to(ora.json_text(", node, "), 'UTF8')::ora.blob", type="blob")
    raise OraError(40449, "invalid data type for return value")


def _json_exists(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    parser.need(",")
    found = path(parser)
    variables = _passing(parser, found)
    behaviours = _behaviours(parser, exists=True)
    parser.need(")")
    document = _input(value, strict=behaviours.get("ERROR") == "ERROR")
    if found.substring_of is not None:
        sought = variables.pop(found.substring_of)
        if variables:
            parser.unsupported("has substring beside other variables in a JSON path")
        return Node(
            "ora.json_has_substring(",
            document,
            f", {quote_text(found.text)}, ",
            sought,
            ")",
            kind="condition",
            type="boolean",
        )
    return Node(
        "JSON_EXISTS(",
        document,
        f", {quote_text(found.text)}",
        *_passing_parts(variables),
        f"{_behaviour_text(behaviours)})",
        kind="condition",
        type="boolean",
    )


def _value(parser: ExpressionParser) -> Node:
    """Read a value of a JSON constructor function as JSON text."""
    value = parser.expression()
    if parser.accept("FORMAT", "JSON") or value.type == "json text":
        return Node("ora.s(", value, ")", type="json text")
    return _fragment(value)


def _fragment(value: Node) -> Node:
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
    target = _returning(parser)
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
    if parser.at("*"):
        parser.unsupported("JSON_OBJECT(*)")
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
        return [Node(quote_text(shown) + "::text"), _fragment(key)]
    if not (parser.accept("VALUE") or parser.accept("IS") or parser.accept(":")):
        parser.missing("VALUE")
    return [Node("ora.s(", key, "::text)") if key.kind == "string" else Node("ora.s(", key, ")"), _value(parser)]


def _json_array(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    values: list[Node] = []
    while not parser.at(")") and parser.token.upper not in ("ABSENT", "RETURNING", "STRICT"):
        if parser.at("NULL", "ON", "NULL"):
            break
        values.append(_value(parser))
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
    value = _value(parser)
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
    value = _value(parser)
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


def _json_serialize(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    position = parser.token.position
    target = _returning(parser)
    if target is not None and target.type not in ("text", "clob", "blob"):
        raise OraError(40449, "invalid data type for return value", position)
    pretty = False
    while parser.token.upper in ("PRETTY", "ASCII", "ORDERED", "TRUNCATE"):
        pretty = pretty or parser.at("PRETTY")
        parser.position += 1
    _behaviours(parser, objects=True)
    parser.need(")")
    document = _input(value, strict=True)
    if pretty:
        return Node("jsonb_pretty(", document, ")::ora.varchar2", type="text")
    return _as_returned(document, target or casts.CastType("ora.varchar2", "text"))


def _json_call(parser: ExpressionParser, name: str) -> Node:
    if name == "JSON" and parser.peek().upper in (")", ","):
        raise OraError(909, "The number of arguments for function 'JSON' is invalid.", parser.token.position)
    value = _head(parser)
    if name == "JSON_SCALAR":
        parser.need(")")
        return Node("(", _fragment(value), ")::jsonb", type="json")
    parser.accept("STRICT")
    parser.accept("LAX")
    parser.need(")")
    return Node("ora.json_strict(", value, ")", type="json")


def _json_mergepatch(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    parser.need(",")
    patch = parser.expression()
    target = _returning(parser)
    if parser.token.upper in ("PRETTY", "ASCII"):
        parser.position += 1
    behaviours = _behaviours(parser)
    parser.need(")")
    strict = behaviours.get("ERROR") == "ERROR"
    node = Node(
        "ora.json_mergepatch(", _input(value, strict=strict), ", ", _input(patch, strict=True), ")", type="json"
    )
    return _as_returned(node, target)


def _json_equal(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    parser.need(",")
    other = parser.expression()
    parser.accept("FORMAT", "JSON")
    _behaviours(parser, exists=True)
    parser.need(")")
    return Node("(", _input(value), " = ", _input(other), ")", kind="condition", type="boolean")


def _json_transform(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    value = _head(parser)
    node: Node = _input(value, strict=True)
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
                _value(parser),
                ", 'null')::jsonb)",
                type="json",
            )
        if parser.token.upper in ("IGNORE", "ERROR", "NULL", "CREATE", "REPLACE") and parser.peek().upper == "ON":
            parser.unsupported("handlers of JSON_TRANSFORM")
        if not parser.accept(","):
            break
    target = _returning(parser)
    parser.need(")")
    return _as_returned(node, target)


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
    return _value(parser)


def table(parser: ExpressionParser) -> tuple[Node, Columns]:
    """Read JSON_TABLE in FROM, the name is already behind; give its text and its columns."""
    value = _head(parser)
    found = JsonPath("$", ())
    if parser.accept(","):
        found = path(parser)
    variables = _passing(parser, found)
    behaviours = {"ERROR": "EMPTY ARRAY"}
    for words in (("ERROR", "ON", "ERROR"), ("NULL", "ON", "ERROR"), ("ERROR", "ON", "EMPTY"), ("NULL", "ON", "EMPTY")):
        if parser.accept(*words) and words == ("ERROR", "ON", "ERROR"):
            behaviours = {"ERROR": "ERROR"}
    if not parser.at("COLUMNS"):
        raise OraError(40490, "missing COLUMNS clause in JSON_TABLE", parser.token.position)
    columns: Columns = {}
    text = _table_columns(parser, columns)
    parser.need(")")
    strict = behaviours["ERROR"] == "ERROR"
    node = Node(
        "JSON_TABLE(",
        _input(value, strict=strict),
        f", {quote_text(found.text)}",
        *_passing_parts(variables),
        f" COLUMNS ({text}) {behaviours['ERROR']} ON ERROR)",
    )
    return node, columns


def _table_columns(parser: ExpressionParser, columns: Columns) -> str:
    parser.need("COLUMNS")
    enclosed = parser.accept("(")
    pieces: list[str] = []
    while True:
        if parser.at("NESTED"):
            parser.position += 1
            parser.accept("PATH")
            nested = path(parser)
            pieces.append(f"NESTED PATH {quote_text(nested.text)} COLUMNS ({_table_columns(parser, columns)})")
        else:
            pieces.append(_table_column(parser, columns))
        if not parser.accept(","):
            break
    if enclosed:
        parser.need(")")
    return ", ".join(pieces)


def _table_column(parser: ExpressionParser, columns: Columns) -> str:
    token = parser.token
    name = parser.identifier()
    if parser.accept("FOR", "ORDINALITY"):
        columns[name] = "number"
        return f"{quote(name)} FOR ORDINALITY"
    kind: DataType = "text"
    text = "text"
    exists = False
    if parser.token.upper not in ("PATH", "EXISTS", "FORMAT", ",", ")", "ERROR", "NULL", "DEFAULT", "WITH", "WITHOUT"):
        target = casts.read_type(parser, length_required=False)
        kind = target.type
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
    behaviours = _behaviours(parser, objects=True, exists=exists)
    columns[name] = kind
    kind_text = f"{text} EXISTS" if exists else text
    return f"{quote(name)} {kind_text} PATH {quote_text(place)}{wrapper}{_behaviour_text(behaviours)}"


def _refused(parser: ExpressionParser, name: str) -> Node:
    parser.unsupported(name)


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "JSON_VALUE": _json_value,
    "JSON_QUERY": _json_query,
    "JSON_EXISTS": _json_exists,
    "JSON_OBJECT": _json_object,
    "JSON_ARRAY": _json_array,
    "JSON_ARRAYAGG": _json_arrayagg,
    "JSON_OBJECTAGG": _json_objectagg,
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
