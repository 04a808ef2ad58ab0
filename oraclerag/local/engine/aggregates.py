"""Aggregates and window functions: DISTINCT, WITHIN GROUP, OVER."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.local.engine.functions import AGGREGATES, NEEDS_ORDER, WHOLE_NUMBERS, WINDOW_FUNCTIONS
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import NO_KEY, Operand, refuse_key, type_of
from oraclerag.local.engine.tree import Node, Output, join
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


class SortKey(Node):
    """One key of ORDER BY, GROUP BY or DISTINCT: its type must be comparable."""

    __slots__ = ()

    def write(self, output: Output) -> None:
        """Write it, or raise ORA-22848."""
        for part in self.parts:
            if isinstance(part, Node):
                refuse_key(part)
        super().write(output)


class Average(Node):
    """AVG of numbers: a quotient with all the digits of a NUMBER, where PostgreSQL's own has sixteen."""

    __slots__ = ("distinct", "of")

    def __init__(self, value: Node, distinct: str) -> None:
        super().__init__(value)
        self.of = value
        self.distinct = distinct

    def write(self, output: Output) -> None:
        """Write it, by the type of the value."""
        if type_of(self.of) == "text":
            Average(Node("ora.num(", self.of, ")", type="number"), self.distinct).write(output)
            return
        if type_of(self.of) != "number":
            Node(f"avg({self.distinct}", self.of, ")").write(output)
            return
        Node(f"ora.div(sum({self.distinct}", self.of, f"), count({self.distinct}", self.of, ")::numeric)").write(output)


class Extreme(Operand):
    """What MIN or MAX is taken of: its type must have an order."""

    __slots__ = ()

    def write(self, output: Output) -> None:
        """Write it, or raise ORA-00932."""
        kind = type_of(self.inner)
        if kind in NO_KEY:
            raise OraError(932, f"inconsistent datatypes: expected - got {kind.upper()}")
        super().write(output)


class _Ranked(Operand):
    """What a percentile is taken of: a NUMBER, or what becomes one."""

    __slots__ = ("position",)

    def __init__(self, value: Node, position: int) -> None:
        super().__init__(value, number=True)
        self.position = position

    def write(self, output: Output) -> None:
        """Write it, or raise ORA-03001."""
        kind = type_of(self.inner)
        if kind not in ("", "number", "text"):
            raise OraError(3001, f"unimplemented feature: PERCENTILE_CONT of {kind.upper()}", self.position)
        super().write(output)


def sort_keys(parser: ExpressionParser) -> Node:
    """Read the keys behind ORDER BY inside a function or a window."""
    parts: list[str | Node] = ["ORDER BY "]
    while True:
        parts.append(SortKey(parser.expression(), direction(parser)))
        if not parser.accept(","):
            return Node(*parts)
        parts.append(", ")


def direction(parser: ExpressionParser) -> str:
    """Read ASC, DESC and NULLS FIRST or LAST."""
    text = ""
    if parser.accept("DESC"):
        text = " DESC"
    else:
        parser.accept("ASC")
    if parser.at("NULLS") and parser.peek().upper in ("FIRST", "LAST"):
        text += f" NULLS {parser.peek().upper}"
        parser.position += 2
    return text


def read(parser: ExpressionParser, name: str, token: Token) -> Node:
    """Read the call of an aggregate or window function, the name is already behind."""
    function = AGGREGATES.get(name) or WINDOW_FUNCTIONS[name]
    position = token.position
    known, nested_before = len(parser.aggregates), parser.nested_aggregate
    parser.need("(")
    distinct = ""
    overflow = False
    if name in AGGREGATES:
        if parser.accept("DISTINCT") or parser.accept("UNIQUE"):
            distinct = "DISTINCT "
        else:
            parser.accept("ALL")
    values: list[Node] = []
    if name == "COUNT" and not distinct and parser.accept("*"):
        values.append(Node("*"))
    elif not parser.at(")"):
        values.append(parser.expression())
        while parser.accept(","):
            values.append(parser.expression())
    if name == "LISTAGG" and parser.accept("ON", "OVERFLOW"):
        overflow = _overflow(parser)
    if parser.token.upper in ("IGNORE", "RESPECT"):
        _nulls(parser)
    parser.need(")")
    if parser.token.upper in ("IGNORE", "RESPECT"):
        _nulls(parser)
    function.check(name, len(values), position)
    nested = parser.aggregates[known:]
    del parser.aggregates[known:]
    if parser.token.upper == "KEEP" and parser.peek().upper == "(":
        parser.unsupported("KEEP (DENSE_RANK ...)")
    inner = _call(parser, name, distinct, values, overflow)
    if parser.at("OVER"):
        parser.aggregates += nested
        return _window(parser, name, inner, distinct)
    if name in WINDOW_FUNCTIONS:
        raise OraError(30484, "missing window specification for this function", position)
    if nested:
        if parser.nested_aggregate != nested_before:
            raise OraError(935, "group function is nested too deeply", position)
        parser.nested_aggregate = position
    if name == "AVG":
        inner = Average(SortKey(values[0]) if distinct else Operand(values[0], number=True), distinct)
    node = Node(inner, "::numeric" if name in WHOLE_NUMBERS else "", kind="aggregate", type=function.type)
    node.value = name
    parser.aggregates.append(node)
    return node


def _overflow(parser: ExpressionParser) -> bool:
    if parser.accept("ERROR"):
        return False
    parser.need("TRUNCATE")
    parser.string()
    if parser.token.upper in ("WITH", "WITHOUT"):
        parser.position += 1
        parser.need("COUNT")
    return True


def _nulls(parser: ExpressionParser) -> None:
    if parser.accept("RESPECT", "NULLS"):
        return
    parser.unsupported("IGNORE NULLS")


def _call(parser: ExpressionParser, name: str, distinct: str, values: list[Node], overflow: bool) -> Node:
    if name == "LISTAGG":
        return _listagg(parser, distinct, values, overflow)
    if name == "PERCENTILE_CONT":
        return _percentile(parser, distinct, values[0])
    if name in ("LAG", "LEAD"):
        offset = [Node("(", values[1], ")::int"), *values[2:]] if len(values) > 1 else []
        return Node(f"{name.lower()}(", *join([values[0], *offset]), ")")
    function = AGGREGATES.get(name) or WINDOW_FUNCTIONS[name]
    if distinct:
        values = [Node(distinct, SortKey(values[0]))]
    elif values and name in AGGREGATES and name != "COUNT":
        values = [Extreme(values[0])] if name in ("MIN", "MAX") else [Operand(values[0], number=name != "ANY_VALUE")]
    return Node(*function.emit(values))


def _listagg(parser: ExpressionParser, distinct: str, values: list[Node], overflow: bool) -> Node:
    parts: list[str | Node] = [f"string_agg({distinct}ora.s(", Operand(values[0]), "), "]
    if len(values) > 1 and values[1].kind != "null":
        parts += ["ora.s(", values[1], ")"] if values[1].kind != "string" else [values[1]]
    else:
        parts.append("''")
    if parser.accept("WITHIN"):
        parser.need("GROUP")
        parser.need("(")
        parser.need("ORDER")
        parser.need("BY")
        parts += [" ", sort_keys(parser)]
        parser.need(")")
    return Node("ora.listagg_limit(" if not overflow else "ora.listagg_truncate(", *parts, "))")


def _percentile(parser: ExpressionParser, distinct: str, part: Node) -> Node:
    position = parser.token.position
    if distinct:
        raise OraError(30482, "DISTINCT option not allowed for this function", position)
    if part.kind not in ("integer", "number"):
        parser.unsupported("PERCENTILE_CONT of anything but a literal number")
    if not 0 <= float(part.value) <= 1:
        raise OraError(30493, "The percentile value should be between 0 and 1.", position)
    for word in ("WITHIN", "GROUP", "(", "ORDER", "BY"):
        parser.need(word)
    value = _Ranked(parser.expression(), position)
    order = direction(parser)
    parser.need(")")
    return Node(
        "ora.percentile(", part, ", array_agg(", value, " ORDER BY ", value, order, ") FILTER (WHERE (",
        value, ") IS NOT NULL))",
    )  # fmt: skip


def _window(parser: ExpressionParser, name: str, inner: Node, distinct: str) -> Node:
    position = parser.token.position
    if name in ("LISTAGG", "PERCENTILE_CONT"):
        parser.unsupported(f"{name} with OVER")
    parser.need("OVER")
    if not parser.at("("):
        if parser.token.kind in ("word", "quoted"):
            parser.unsupported("named windows")
        parser.missing("(")
    parser.need("(")
    parts: list[str | Node] = [" OVER ("]
    if parser.accept("PARTITION"):
        parser.need("BY")
        parts += ["PARTITION BY ", SortKey(parser.expression())]
        while parser.accept(","):
            parts += [", ", SortKey(parser.expression())]
        parts.append(" ")
    if parser.accept("ORDER"):
        if distinct:
            raise OraError(30487, "ORDER BY not allowed here", position)
        parser.need("BY")
        parts.append(sort_keys(parser))
    elif name in NEEDS_ORDER:
        raise OraError(30485, "missing ORDER BY expression in the window specification", position)
    if distinct:
        parser.unsupported(f"{name}(DISTINCT ...) with OVER")
    if parser.token.upper in ("ROWS", "RANGE", "GROUPS"):
        parts += [" ", _frame(parser)]
    parser.need(")")
    cast = "::numeric" if name in WHOLE_NUMBERS else ""
    function = AGGREGATES.get(name) or WINDOW_FUNCTIONS[name]
    node = Node("(", inner, *parts, f")){cast}", kind="window", type=function.type)
    parser.windows.append(node)
    return node


def _frame(parser: ExpressionParser) -> Node:
    unit = parser.token.upper
    parser.position += 1
    parts: list[str | Node] = [unit, " "]
    if parser.accept("BETWEEN"):
        parts += ["BETWEEN ", *_bound(parser, unit)]
        parser.need("AND")
        parts += [" AND ", *_bound(parser, unit)]
    else:
        parts += _bound(parser, unit)
    if parser.accept("EXCLUDE"):
        for words in (("CURRENT", "ROW"), ("GROUP",), ("TIES",), ("NO", "OTHERS")):
            if parser.accept(*words):
                parts.append(" EXCLUDE " + " ".join(words))
                return Node(*parts)
        parser.unexpected()
    return Node(*parts)


def _bound(parser: ExpressionParser, unit: str) -> list[str | Node]:
    if parser.accept("CURRENT", "ROW"):
        return ["CURRENT ROW"]
    parts: list[str | Node] = ["UNBOUNDED"]
    if not parser.accept("UNBOUNDED"):
        value = parser.operand()
        parts = [value] if unit == "RANGE" else ["(", value, ")::int8"]
    side = parser.token.upper
    if side not in ("PRECEDING", "FOLLOWING"):
        parser.missing("PRECEDING")
    parser.position += 1
    return [*parts, f" {side}"]
