"""Words and functions of expressions with a syntax of their own: CASE, CAST, EXTRACT, TRIM, literals with a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine import casts, conversions, json_construction, json_functions, literals, oracle_text, vectors
from oraclerag.local.engine.functions import WITHOUT_PARENTHESES, check_same_type
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import Operand, truth
from oraclerag.local.engine.scope import Column, Scope
from oraclerag.local.engine.tree import DataType, Node, NodeKind, Output
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser


class RowId(Node):
    """The ROWID of a row of a table, by its alias or without."""

    __slots__ = ("position", "qualifier", "scope")

    def __init__(self, qualifier: list[str], scope: Scope | None, position: int) -> None:
        named = ".".join([*(quote(name) for name in qualifier), "ctid"])
        super().__init__(named, kind="rowid", type="rowid", name="ROWID")
        self.qualifier = qualifier
        self.scope = scope
        self.position = position

    def write(self, output: Output) -> None:
        """Write it; an inline view has one where it selects it, else ORA-01446 or, as Oracle may find it, ORA-03001."""
        sources = self.scope.sources if self.scope is not None else []
        for source in sources:
            ours = source.alias == self.qualifier[-1] if self.qualifier else len(sources) == 1
            if ours and (source.schema, source.table) == ("SYS", "DUAL"):
                raise OraError(3001, "unimplemented feature: ROWID of DUAL", self.position)
            if not ours or source.schema:
                continue
            if "ROWID" in (source.columns or {}):
                output.pieces.append(".".join(quote(name) for name in [*self.qualifier, "ROWID"]))
                return
            if source.lockable:
                message = "unimplemented feature: ROWID of an inline view that does not select it"
                raise OraError(3001, message, self.position)
            raise OraError(1446, "cannot select ROWID from view with DISTINCT, GROUP BY, etc.", self.position)
        super().write(output)


def rowid(parser: ExpressionParser, qualifier: list[str], position: int) -> Node:
    """Give the ROWID of a row of a table, by its alias or without."""
    return RowId(qualifier, parser.scope, position)


def _case(parser: ExpressionParser, _: Token, following: Token) -> Node | None:
    if following.upper in (",", ")", "ELSE", "FROM", "AS") or following.kind == "end":
        if following.upper == "ELSE":
            raise OraError(923, "FROM keyword not found where expected", following.position)
        return None
    parser.position += 1
    parts: list[str | Node] = ["CASE"]
    selector = None if parser.at("WHEN") else parser.expression()
    if selector is not None:
        parts += [" ", Operand(selector)]
    if not parser.at("WHEN"):
        parser.missing("WHEN")
    results = []
    while parser.accept("WHEN"):
        condition = parser.expression()
        parser.need("THEN")
        result = parser.expression()
        results.append(result)
        parts += [" WHEN ", Operand(condition, selector) if selector else truth(condition), " THEN ", result]
    if parser.accept("ELSE"):
        result = parser.expression()
        results.append(result)
        parts += [" ELSE ", result]
    parser.need("END")
    check_same_type(results)
    types = {result.type for result in results if result.kind != "null"}
    return Node(*parts, " END", type=types.pop() if len(types) == 1 else "")


def _constant(
    text: str, kind: NodeKind, data_type: DataType
) -> Callable[[ExpressionParser, Token, Token], Node | None]:
    def read(parser: ExpressionParser, token: Token, following: Token) -> Node | None:
        if following.upper == "(" and kind != "other":
            return None
        parser.position += 1
        return Node(text, kind=kind, type=data_type, name=token.upper if kind == "other" else None)

    return read


def _rownum(parser: ExpressionParser, token: Token, following: Token) -> Node | None:  # noqa: ARG001
    parser.position += 1
    node = Node("(row_number() OVER ())::numeric", kind="rownum", type="number", name="ROWNUM")
    parser.rownums.append(node)
    return node


def _own_rowid(parser: ExpressionParser, *_: Token) -> Node:
    position = parser.token.position
    parser.position += 1
    return rowid(parser, [], position)


def _level(parser: ExpressionParser, token: Token, following: Token) -> Node | None:  # noqa: ARG001
    parser.position += 1
    node = Column(["LEVEL"], parser.scope, token.position)
    parser.levels.append(node)
    return node


def _function_word(parser: ExpressionParser, token: Token, following: Token) -> Node | None:
    text, data_type = WITHOUT_PARENTHESES[token.upper]
    precision = ""
    if following.upper == "(":
        if (
            token.upper not in ("SYSTIMESTAMP", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP")
            or parser.peek(2).kind != "number"
        ):
            if token.upper not in ("SYSDATE", "SYSTIMESTAMP", "USER", "UID"):
                return None
        else:
            parser.position += 2
            precision = f"({min(parser.integer(), 6)})"
            parser.need(")")
            cast = "timestamp" if data_type == "timestamp" else "timestamptz"
            return Node(f"{text}::{cast}{precision}", type=data_type, name=None)
    parser.position += 1
    return Node(text, type=data_type, name=token.upper, value="DBTIMEZONE" if token.upper == "DBTIMEZONE" else "")


def _typed_literal(parser: ExpressionParser, token: Token, following: Token) -> Node | None:
    if following.kind != "string":
        if token.upper == "INTERVAL" and following.kind == "bind":
            parser.unsupported("INTERVAL with a bind; use NUMTODSINTERVAL")
        return None
    parser.position += 2
    if token.upper == "DATE":
        return literals.date(following)
    if token.upper == "TIMESTAMP":
        return literals.timestamp(following)
    return literals.interval(parser, following)


def _json_constructor(parser: ExpressionParser, token: Token, following: Token) -> Node | None:  # noqa: ARG001
    if following.upper in ("{", "["):
        parser.position += 1
        return json_construction.constructor(parser)
    return None


def _refused_word(parser: ExpressionParser, token: Token, following: Token) -> Node | None:
    if following.upper == "(" or token.upper in (
        "CONNECT_BY_ROOT",
        "CONNECT_BY_ISLEAF",
        "CONNECT_BY_ISCYCLE",
        "ORA_ROWSCN",
        "COLUMN_VALUE",
    ):
        parser.unsupported(token.upper)
    return None


def _trim(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    side = "BOTH"
    explicit = parser.token.upper in ("LEADING", "TRAILING", "BOTH")
    if explicit:
        side = parser.token.upper
        parser.position += 1
    first = None if parser.at("FROM") else parser.expression()
    if explicit and first is not None and not parser.at("FROM"):
        parser.need(")")
        return Node(f"ora.trim_of('{side}', ' ', ", Operand(first), ")", type="text")
    if parser.accept("FROM"):
        value = parser.expression()
        parser.need(")")
        if first is not None and first.kind == "string" and len(first.value) != 1:
            raise OraError(30001, "trim set should have only one character", parser.token.position)
        return Node(f"ora.trim_of('{side}', ", first or "' '", ", ", Operand(value), ")", type="text")
    if parser.at(","):
        raise OraError(909, "The number of arguments for function 'TRIM' is invalid.", parser.token.position)
    parser.need(")")
    return Node("ora.trim(", Operand(first) if first else "", ")", type="text")


def _extract(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    field = parser.token.upper
    if field not in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        if field.startswith("TIMEZONE"):
            parser.unsupported(f"EXTRACT({field} ...)")
        raise OraError(907, "missing right parenthesis", parser.token.position)
    parser.position += 1
    parser.need("FROM")
    value = parser.expression()
    parser.need(")")
    if value.type == "date" and field in ("HOUR", "MINUTE", "SECOND"):
        raise OraError(30076, "invalid extract field for extract source", parser.token.position)
    return Node(f"ora.extract('{field.lower()}', ", value, ")", type="number")


def _cast(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    if parser.at("MULTISET"):
        parser.unsupported("CAST(MULTISET ...)")
    value = parser.operand()
    parser.need("AS")
    target = casts.read_type(parser)
    if parser.at("DEFAULT"):
        parser.unsupported("CAST ... DEFAULT ON CONVERSION ERROR")
    parser.need(")")
    return casts.cast(Operand(value), target)


def _refused_call(parser: ExpressionParser, name: str) -> Node:
    parser.unsupported(name)


_KNOWN_BUT_MISSING = """
    XMLELEMENT XMLAGG XMLFOREST XMLTYPE XMLSERIALIZE EXTRACTVALUE SYS_CONNECT_BY_PATH
    PREDICTION_PROBABILITY COLLECT TREAT GROUPING GROUPING_ID PERCENTILE_DISC RATIO_TO_REPORT
    SOUNDEX DUMP NEW_TIME TZ_OFFSET ASCIISTR UNISTR NCHR TO_NCHAR VSIZE WIDTH_BUCKET CORR COVAR_POP COVAR_SAMP
    FUZZY_MATCH DBMS_HYBRID_VECTOR.SEARCH
    DBMS_VECTOR_CHAIN.UTL_TO_TEXT
    DBMS_VECTOR_CHAIN.UTL_TO_SUMMARY UTL_MATCH.EDIT_DISTANCE UTL_MATCH.EDIT_DISTANCE_SIMILARITY
    UTL_MATCH.JARO_WINKLER_SIMILARITY DBMS_VECTOR.INDEX_ACCURACY_QUERY DBMS_VECTOR.INDEX_ACCURACY_REPORT
    DBMS_VECTOR.QUERY DBMS_VECTOR.RERANK JSON_OBJECT_T JSON_ARRAY_T JSON_OBJECT_T.PARSE JSON_ARRAY_T.PARSE
    """.split()  # noqa: SIM905
"""Functions of Oracle that are refused by name (ORA-03001), where an unknown one is ORA-00904."""


WORDS: dict[str, Callable[[ExpressionParser, Token, Token], Node | None]] = {
    "CASE": _case,
    "NULL": _constant("NULL", "null", ""),
    "TRUE": _constant("TRUE", "other", "boolean"),
    "FALSE": _constant("FALSE", "other", "boolean"),
    "ROWNUM": _rownum,
    "ROWID": _own_rowid,
    "LEVEL": _level,
    "DATE": _typed_literal,
    "TIMESTAMP": _typed_literal,
    "INTERVAL": _typed_literal,
    "JSON": _json_constructor,
    "CURSOR": _refused_word,
    "MULTISET": _refused_word,
    "CONNECT_BY_ROOT": _refused_word,
    "CONNECT_BY_ISLEAF": _refused_word,
    "CONNECT_BY_ISCYCLE": _refused_word,
    "BINARY_DOUBLE_NAN": _constant("'NaN'::float8", "other", "double"),
    "BINARY_DOUBLE_INFINITY": _constant("'Infinity'::float8", "other", "double"),
    "BINARY_FLOAT_NAN": _constant("'NaN'::float4", "other", "double"),
    "BINARY_FLOAT_INFINITY": _constant("'Infinity'::float4", "other", "double"),
    "ORA_ROWSCN": _refused_word,
    "COLUMN_VALUE": _refused_word,
    **dict.fromkeys(WITHOUT_PARENTHESES, _function_word),
}


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "TRIM": _trim,
    "EXTRACT": _extract,
    "CAST": _cast,
    **conversions.CALLS,
    **vectors.CALLS,
    **json_functions.CALLS,
    **oracle_text.CALLS,
    **dict.fromkeys(_KNOWN_BUT_MISSING, _refused_call),
}
