"""TO_NUMBER, TO_CHAR, TO_DATE and their like: formats, and DEFAULT ... ON CONVERSION ERROR."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine import literals
from oraclerag.local.engine.functions import FUNCTIONS
from oraclerag.local.engine.operands import Operand
from oraclerag.local.engine.tree import Node

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


def _to_number(parser: ExpressionParser, name: str) -> Node:
    position = parser.token.position
    parser.need("(")
    value = parser.expression()
    if parser.accept("DEFAULT"):
        default = parser.expression()
        for word in ("ON", "CONVERSION", "ERROR"):
            if not parser.accept(word):
                parser.missing(word)
        parser.need(")")
        return Node("ora.to_number_or(", Operand(value), ", ", default, ")", type="number")
    values = [Operand(value)]
    while parser.accept(","):
        values.append(Operand(parser.expression()))
    parser.need(")")
    function = FUNCTIONS[name]
    function.check(name, len(values), position)
    return Node(*function.emit(list(values)), type="number")


def _with_default(parser: ExpressionParser) -> tuple[list[Node], Node | None]:
    """Read the arguments of a conversion, and the value it has where it fails."""
    parser.need("(")
    if parser.accept(")"):
        return [], None
    values, default = [parser.expression()], None
    if parser.accept("DEFAULT"):
        default = parser.expression()
        for word in ("ON", "CONVERSION", "ERROR"):
            if not parser.accept(word):
                parser.missing(word)
    while parser.accept(","):
        values.append(parser.expression())
    parser.need(")")
    return values, default


def _formatted(parser: ExpressionParser, name: str) -> Node:
    position = parser.token.position
    if name == "TO_CHAR":
        values, default = parser.arguments(), None
    else:
        values, default = _with_default(parser)
    FUNCTIONS[name].check(name, len(values), position)
    if len(values) > 1 and values[1].kind == "string":
        if name == "TO_CHAR":
            literals.check_char_format(values[1].value, position, values[0].type)
        else:
            literals.check_date_format(values[1].value, position)
    if default is not None:
        if len(values) != 2:
            parser.unsupported("DEFAULT ... ON CONVERSION ERROR with another number of arguments than two")
        value, form = (Operand(node) for node in values)
        call = ("(ora.s(", value, "), ora.s(", Operand(default), "), ", form, ")")
        return Node(f"ora.{name.lower()}_or", *call, type=FUNCTIONS[name].type)
    return Node(*FUNCTIONS[name].emit([Operand(value) for value in values]), type=FUNCTIONS[name].type)


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "TO_NUMBER": _to_number,
    "TO_CHAR": _formatted,
    "TO_DATE": _formatted,
    "TO_TIMESTAMP": _formatted,
    "TO_TIMESTAMP_TZ": _formatted,
}
