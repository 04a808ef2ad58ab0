"""Parser of expressions and conditions."""

from __future__ import annotations

from oraclerag.local.engine import aggregates, json_functions, literals, oracle_text, special_forms, vectors
from oraclerag.local.engine.functions import (
    AGGREGATES,
    FUNCTIONS,
    WINDOW_FUNCTIONS,
)
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import Concatenation, Operand, family, truth
from oraclerag.local.engine.plan import Access, Names
from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.token_cursor import TokenCursor
from oraclerag.local.engine.tree import Bind, DataType, Node, NodeKind, Output, join
from oraclerag.local.engine.words import RESERVED, check_length, quote, quote_text
from oraclerag.local.interface import OraError

COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "^="})
_DISTANCE_OPERATORS = frozenset({"<=>", "<->", "<#>"})
_QUALIFIED_ARITHMETIC: dict[tuple[str, str, str], DataType] = {
    ("date", "+", "number"): "date",
    ("number", "+", "date"): "date",
    ("date", "-", "number"): "date",
    ("date", "-", "date"): "number",
    ("timestamp", "+", "interval"): "timestamp",
    ("timestamp", "-", "interval"): "timestamp",
    ("timestamp with time zone", "+", "interval"): "timestamp with time zone",
    ("timestamp with time zone", "-", "interval"): "timestamp with time zone",
    ("date", "+", "interval"): "date",
    ("date", "-", "interval"): "date",
}
MAX_LIST = 65535


class ExpressionParser(TokenCursor):
    """Reads expressions at :attr:`position` into nodes.

    What a query block must know of its expressions is collected on the way: ``aggregates``, ``windows``, ``rownums``
    and ``sequences`` hold the nodes of the block that is being read, which is inside ``subqueries`` others.
    ``accesses`` are the sequences and models of the whole statement. ``binds_allowed`` is False for DDL.
    """

    def __init__(self, tokens: list[Token], names: Names, source: str = "") -> None:
        super().__init__(tokens, names, source)
        self.aggregates: list[Node] = []
        self.windows: list[Node] = []
        self.rownums: list[Node] = []
        self.sequences: dict[str, Node] = {}
        self.accesses: list[Access] = []
        self.binds_allowed = True
        self.embeds = False
        self.embed_calls: list[vectors.EmbedCall] = []
        self.levels: list[Node] = []
        self.nested_aggregate: int | None = None
        self.subqueries = 0

    def parenthesized_query(self, *, whole: bool = False) -> Node:
        """Read ``(query)`` as an expression; the query parser provides it."""
        raise NotImplementedError

    def text(self, node: Node) -> str:
        """Give the PostgreSQL text of a node that has no binds."""
        output = Output()
        node.write(output)
        if output.parameters:
            raise OraError(1027, "bind variables not allowed for data definition operations")
        return output.text()

    def expression(self) -> Node:
        """Read an expression or a condition."""
        left = self._conjunction()
        if not self.at("OR"):
            return left
        parts: list[str | Node] = ["(", truth(left)]
        while self.accept("OR"):
            parts += [" OR ", truth(self._conjunction())]
        parts.append(")")
        return Node(*parts, kind="condition", type="boolean")

    def _conjunction(self) -> Node:
        left = self.predicate()
        if not self.at("AND"):
            return left
        parts: list[str | Node] = [truth(left)]
        while self.accept("AND"):
            parts += [" AND ", truth(self.predicate())]
        return Node(*parts, kind="condition", type="boolean")

    def predicate(self) -> Node:
        """Read a condition without AND and OR, or an operand."""
        if self.accept("NOT"):
            return Node("NOT ", truth(self.predicate()), kind="condition", type="boolean")
        if self.at("EXISTS") and self.token.kind == "word":
            self.position += 1
            if not self.at("("):
                self.missing("(")
            return Node("EXISTS ", self.parenthesized_query(whole=True), kind="condition", type="boolean")
        left = self.operand()
        token = self.token
        if token.upper in COMPARISONS:
            left = self._comparison(left, token.upper)
        elif token.kind == "word":
            left = self._word_predicate(left)
        while self.at("IS"):
            left = self._is(left)
        return left

    def _comparison(self, left: Node, operator: str) -> Node:
        self.position += 1
        if isinstance(left, oracle_text.Contains):
            return oracle_text.compared(self, left, operator)
        if operator in ("!=", "^="):
            operator = "<>"
        if self.token.upper in ("ANY", "SOME", "ALL") and self.peek().upper == "(":
            word = self.token.upper
            self.position += 1
            if self._query_ahead():
                return _condition(left, f" {operator} {word} ", self.parenthesized_query(whole=True))
            values = self._list(left)
            joined = " OR " if word != "ALL" else " AND "
            parts: list[str | Node] = ["("]
            for number, value in enumerate(values):
                parts += [joined if number else "", left, f" {operator} ", value]
            return _condition(*parts, ")")
        right = self.operand()
        if left.kind == right.kind == "string":  # literals are of type CHAR: compared with blanks added
            left, right = Node(left, "::bpchar"), Node(right, "::bpchar")
        node = Node(
            Operand(left, right, compared=True),
            f" {operator} ",
            Operand(right, left, compared=True),
            kind="condition",
            type="boolean",
        )
        node.value = operator
        return node

    def _word_predicate(self, left: Node) -> Node:
        negated = self.at("NOT") and self.peek().upper in ("IN", "BETWEEN", "LIKE", "LIKEC", "LIKE2", "LIKE4")
        if negated:
            self.position += 1
        word = "NOT " if negated else ""
        if self.accept("IN"):
            if not self.at("("):
                self.missing("(")
            if self._query_ahead():
                while self.at("(", "(") and self._double_query():
                    self.position += 1
                    node = _condition(Operand(left), f" {word}IN ", self.parenthesized_query())
                    self.need(")")
                    return node
                return _condition(Operand(left), f" {word}IN ", self.parenthesized_query())
            values = self._list(left)
            return _condition(Operand(left, values[0], compared=True), f" {word}IN (", *join(values), ")")
        if self.accept("BETWEEN"):
            low = self.operand()
            self.need("AND")
            high = self.operand()
            return _condition(
                Operand(left, low, compared=True),
                f" {word}BETWEEN ",
                Operand(low, left, compared=True),
                " AND ",
                Operand(high, left, compared=True),
            )
        if self.at("LIKE"):
            self.position += 1
            pattern = self.operand()
            parts: list[str | Node] = [
                Operand(left, text=True),
                f" {word}LIKE ",
                Operand(pattern, text=True),
                " ESCAPE ",
            ]
            if self.accept("ESCAPE"):
                escape = self.operand()
                if escape.kind == "string" and len(escape.value) != 1:
                    raise OraError(1425, "escape character must be character string of length 1", self.token.position)
                if escape.kind == "string" and pattern.kind == "string":
                    self._check_escapes(pattern.value, escape.value)
                parts.append(escape)
            else:
                parts.append("''")
            return _condition(*parts)
        if negated:
            self.unsupported(self.token.upper)
        return left

    def _check_escapes(self, pattern: str, escape: str) -> None:
        at = pattern.find(escape)
        while at >= 0:
            if pattern[at + 1 : at + 2] not in ("%", "_", escape):
                raise OraError(1424, "missing or illegal character following the escape character", self.token.position)
            at = pattern.find(escape, at + 2)

    def _query_ahead(self) -> bool:
        ahead = 0
        while self.peek(ahead).upper == "(":
            ahead += 1
        return ahead > 0 and self.peek(ahead).upper in ("SELECT", "WITH") and self.peek(ahead).kind == "word"

    def _double_query(self) -> bool:
        depth = 0
        at = self.position + 1
        while self.tokens[at].kind != "end":
            upper = self.tokens[at].upper
            depth += (upper == "(") - (upper == ")")
            if depth == 0:
                return self.tokens[at + 1].upper == ")"
            at += 1
        return False

    def _list(self, left: Node) -> list[Node]:
        position = self.token.position
        self.need("(")
        values: list[Node] = []
        while True:
            values.append(Operand(self.expression(), left, compared=True))
            if not self.accept(","):
                break
        self.need(")")
        if len(values) > MAX_LIST:
            raise OraError(1795, "maximum number of expressions in a list is 65535", position)
        return values

    def _is(self, left: Node) -> Node:
        self.position += 1
        word = " IS NOT" if self.accept("NOT") else " IS"
        if self.token.upper in ("TRUE", "FALSE"):
            word += f" {self.token.upper}"
            self.position += 1
            return _condition(left, word)
        if self.accept("JSON"):
            self.accept("FORMAT", "JSON")
            if self.token.upper in ("STRICT", "LAX"):
                self.position += 1
            if self.at("(") or self.token.upper in ("VALIDATE", "WITH", "WITHOUT", "ALLOW", "DISALLOW"):
                self.unsupported(f"IS JSON with {self.token.text}")
            return _condition("ora.is_json(", left, ")", *([] if word == " IS" else [" IS FALSE"]))
        if self.token.upper in ("NAN", "INFINITE"):
            found = "= 'NaN'" if self.token.upper == "NAN" else "IN ('Infinity', '-Infinity')"
            self.position += 1
            negated = "NOT " if word == " IS NOT" else ""
            return _condition(f"({negated}ora.as_double(", Operand(left, number=True), f") {found})")
        self.need("NULL")
        return _condition(Operand(left), f"{word} NULL")

    def operand(self) -> Node:
        """Read an expression of +, -, || and the distance operators."""
        left = self._term()
        while True:
            operator = self.token.upper
            if operator in ("+", "-"):
                self.position += 1
                right = self._term()
                if left.type == right.type and operator == "+" and left.type in ("date", "timestamp with time zone"):
                    number = 975 if left.type == "date" else 30087
                    raise OraError(number, f"{left.type} + {left.type} not allowed", self.token.position)
                kind: DataType = _QUALIFIED_ARITHMETIC.get(
                    (left.type, operator, right.type), "number" if left.type == right.type == "number" else ""
                )
                if right.type == "interval" and right.value:  # months: a day the month does not have is an error
                    sign = "" if operator == "+" else "-"
                    left = Node("ora.plus_months(", left, f", {sign}({right.value}))", type=left.type)
                    continue
                left = Node(
                    Operand(left, right, number=True), f" {operator} ", Operand(right, left, number=True), type=kind
                )
            elif operator == "||":
                values = [left]
                while self.accept("||"):
                    values.append(self._term())
                left = Concatenation(values)
            elif operator in _DISTANCE_OPERATORS:
                self.position += 1
                left = vectors.distance(left, operator, self._term())
            else:
                return left

    def _term(self) -> Node:
        left = self._factor()
        while True:
            if self.at("*") and self.token.kind == "symbol":
                self.position += 1
                right = self._factor()
                left = Node(Operand(left, number=True), " * ", Operand(right, number=True), type=_product(left, right))
            elif self.at("/"):
                self.position += 1
                left = Node(
                    "ora.div(",
                    Operand(left, number=True),
                    ", ",
                    Operand(self._factor(), number=True),
                    ")",
                    type="number",
                )
            else:
                return left

    def _factor(self) -> Node:
        if self.accept("-"):
            inner = self._factor()
            return Node("(-", inner, ")", type=inner.type)
        if self.accept("+"):
            return self._factor()
        if self.at("PRIOR"):
            self.unsupported("PRIOR")
        node = self.primary()
        while self.token.upper == "AT" and self.token.kind == "word":
            if self.accept("AT", "LOCAL"):
                node = Zoned(node)
            elif self.peek().upper == "TIME" and self.peek(2).upper == "ZONE":
                node = self._at_time_zone(node)
            else:
                break
        return node

    def _at_time_zone(self, node: Node) -> Node:
        self.position += 3
        zone = self.primary()
        if zone.value.upper() not in ("UTC", "GMT", "+00:00", "-00:00", "00:00", "ETC/UTC", "DBTIMEZONE"):
            self.unsupported("AT TIME ZONE with another zone than UTC")
        return Zoned(node)

    def primary(self) -> Node:
        """Read a literal, a bind, a name, a call or something in parentheses."""
        token = self.token
        kind = token.kind
        if kind == "word" or kind == "quoted":
            return self._name(token)
        if kind == "number":
            self.position += 1
            return literals.number(token)
        if kind == "string":
            self.position += 1
            return literals.string(token.value, self.names.max_string_size)
        if kind == "bind":
            return self._bind(token)
        if token.upper == "(":
            return self._parenthesis()
        if kind == "invalid":
            self.unexpected()
        raise OraError(936, "missing expression", token.position)

    def _bind(self, token: Token) -> Node:
        if not self.binds_allowed:
            raise OraError(1027, "bind variables not allowed for data definition operations", token.position)
        if token.value in RESERVED and '"' not in token.text:
            raise OraError(1745, "invalid host/bind variable name", token.position)
        self.position += 1
        return Bind(token.value, token.position)

    def _parenthesis(self) -> Node:
        if self._query_ahead():
            return self.parenthesized_query()
        self.position += 1
        first = self.expression()
        if self.at(","):
            values = [first]
            while self.accept(","):
                values.append(self.expression())
            self.need(")")
            return Node("(", *join(values), ")")
        self.need(")")
        if first.kind in ("bind", "string", "integer", "number", "null", "column", "embedding"):
            return first
        if first.kind == "condition" and first.parts[0] == "(" and first.parts[-1] == ")":
            return first
        kinds: dict[str, NodeKind] = {"distance": "distance", "aggregate": "aggregate", "rownum": "rownum"}
        return Node("(", first, ")", kind=kinds.get(first.kind, "other"), type=first.type)

    def arguments(self) -> list[Node]:
        """Read the arguments of a call, parentheses included."""
        self.need("(")
        if self.accept(")"):
            return []
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.need(")")
        return values

    def _name(self, token: Token) -> Node:
        word = token.upper
        following = self.tokens[self.position + 1]
        if word and word in special_forms.WORDS and following.upper != ".":
            node = special_forms.WORDS[word](self, token, following)
            if node is not None:
                return node
        if word in RESERVED:
            raise OraError(936, "missing expression", token.position)
        chain = [check_length(token.value, token.position)]
        written = [token.text if token.kind == "word" else token.value]
        self.position += 1
        while self.at(".") and self.peek().kind in ("word", "quoted"):
            part = self.peek()
            chain.append(check_length(part.value, part.position))
            written.append(part.text if part.kind == "word" else part.value)
            self.position += 2
        if self.at("."):
            self.position += 1
            self.unexpected()
        if self.at("("):
            if self.at("(", "+", ")"):
                self.unsupported("the outer join operator (+); write LEFT JOIN")
            return self._call(chain, written, token)
        last = chain[-1]
        if last in ("NEXTVAL", "CURRVAL") and len(chain) > 1:
            return self._sequence(chain, token)
        if last == "ROWID":
            return special_forms.rowid(self, chain[:-1], token.position)
        if last in RESERVED and self.tokens[self.position - 1].kind == "word":
            if last == "COLUMN_VALUE":
                self.unsupported("COLUMN_VALUE")
            raise OraError(3050, f'invalid identifier: "{last}" is a reserved word', token.position)
        return Column(chain, self.scope, token.position, written)

    def _sequence(self, chain: list[str], token: Token) -> Node:
        name = ".".join(quote(part) for part in chain[:-1])
        known = self.sequences.get(name)
        schema = chain[-3] if len(chain) > 2 else self.names.user
        self.accesses.append(Access(schema, chain[-2], "READ", "SEQUENCE"))
        function = "nextval" if chain[-1] == "NEXTVAL" and known is None else "currval"
        node = Node(f"ora.{function}({quote_text(name)}::regclass)", kind="nextval", type="number", name=chain[-1])
        node.value = str(token.position)
        if chain[-1] == "NEXTVAL":
            self.sequences.setdefault(name, node)
        return node

    def _call(self, chain: list[str], written: list[str], token: Token) -> Node:
        name = ".".join(chain).removeprefix("SYS.")
        if len(chain) > 1:
            method = json_functions.item_method(self, chain, written, token)
            if method is not None:
                return method
        special = special_forms.CALLS.get(name)
        if special is not None:
            return special(self, name)
        if name in AGGREGATES or name in WINDOW_FUNCTIONS:
            return aggregates.read(self, name, token)
        function = FUNCTIONS.get(name)
        if function is None:
            quoted = ".".join(f'"{part}"' for part in chain)
            raise OraError(904, f"{quoted}: invalid identifier", token.position)
        values = self.arguments()
        function.check(name, len(values), token.position)
        return Node(*function.emit([Operand(value, text=False) for value in values]), type=function.type)


class Zoned(Node):
    """A timestamp AT LOCAL or AT TIME ZONE: what is none is ORA-30084."""

    __slots__ = ("moment",)

    def __init__(self, moment: Node) -> None:
        super().__init__("(", moment, ")::timestamptz", type="timestamp with time zone")
        self.moment = moment

    def write(self, output: Output) -> None:
        """Write it, if it has a time zone or can be given one."""
        if not family(self.moment).startswith("timestamp") and family(self.moment):
            raise OraError(30084, "invalid data type for datetime primary with time zone displacement")
        super().write(output)


def _condition(*parts: str | Node) -> Node:
    return Node(*parts, kind="condition", type="boolean")


def _product(left: Node, right: Node) -> DataType:
    return "number" if left.type == right.type == "number" else ""
