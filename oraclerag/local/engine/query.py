"""Parser of queries: WITH, blocks, set operators, ORDER BY."""

from __future__ import annotations

import re

from oraclerag.local.engine import recursion, refusals
from oraclerag.local.engine.aggregates import SortKey, direction
from oraclerag.local.engine.block import Block, Body, Item, Query, Rows, SetOperation, Subquery, first_block
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import Operand, truth
from oraclerag.local.engine.row_limits import RowLimitParser
from oraclerag.local.engine.scope import Column, Columns, Scope
from oraclerag.local.engine.tree import Node, join, walk
from oraclerag.local.engine.words import RESERVED, quote
from oraclerag.local.interface import OraError

_SET_OPERATORS = frozenset({"UNION", "INTERSECT", "MINUS", "EXCEPT"})
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_BLANKS = re.compile(r"\s+")


class QueryParser(RowLimitParser):
    """Reads queries at :attr:`position`."""

    def query(self, *, top: bool = False) -> Query:
        """Read a query; ``top`` allows FOR UPDATE."""
        self.common.append({})
        with_parts, recursive = self._with() if self.at("WITH") else ([], False)
        query = Query(self._body())
        query.with_parts, query.recursive = with_parts, recursive
        keys: list[tuple[Node, str]] = []
        block = query.body if isinstance(query.body, Block) else None
        if self.at("ORDER"):
            keys = self._order(block)
        self._limits(query)
        if block is not None:
            if block.sequenced and keys:
                raise OraError(2287, "sequence number not allowed here", self.token.position)
            if keys and any(node.kind == "rownum" for item in block.items for node in walk(item.node)):
                self.unsupported("ROWNUM in a select list with ORDER BY; number the rows of a subquery")
            query.order = self._block_keys(query, block, keys)
            refusals.check_block(block, [key for key, _ in keys])
        else:
            query.order = self._set_keys(query.body, keys)
        if top and self.at("FOR"):
            self._for_update(query)
        self.common.pop()
        return query

    def _with(self) -> tuple[list[tuple[str, list[str], Query]], bool]:
        self.position += 1
        parts: list[tuple[str, list[str], Query]] = []
        recursive = False
        while True:
            if self.token.upper in ("FUNCTION", "PROCEDURE") and self.peek().kind in ("word", "quoted"):
                self.unsupported("PL/SQL in WITH")
            position = self.token.position
            name = self.identifier()
            columns = self._name_list() if self.at("(") else []
            self.need("AS")
            self.need("(")
            start = self.position
            self.common[-1][name] = dict.fromkeys(columns, "") if columns else None
            query = self.query()
            if any(
                token.value == name and token.kind in ("word", "quoted") for token in self.tokens[start : self.position]
            ):
                circular = refusals.check_recursion(query, name, columns, position)
                recursive = circular or recursive
            else:
                circular = False
            self.need(")")
            known = self._listed_columns(query, columns, position) if columns else self._columns_of(query)
            self.common[-1][name] = known
            if self.token.upper in ("SEARCH", "CYCLE"):
                self.unsupported(f"{self.token.upper} clause of WITH")
            if circular:
                recursion.watch(query, name, columns)
            parts.append((name, columns, query))
            if not self.accept(","):
                break
        if not self.at("SELECT") and not self.at("("):
            self.missing("SELECT")
        return parts, recursive

    def _listed_columns(self, query: Query, columns: list[str], position: int) -> Columns:
        """Give the columns of a WITH query that lists their names; another number of them is ORA-32038."""
        block = first_block(query.body)
        if block is None or block.star:
            return dict.fromkeys(columns, "")
        if len(block.items) != len(columns):
            raise OraError(32038, "number of WITH clause column names does not match number of elements", position)
        types = [item.node.own_type() if isinstance(item.node, Column) else item.node.type for item in block.items]
        return dict(zip(columns, types, strict=True))

    def _body(self) -> Body:
        left = self._set_term()
        while self.token.upper in _SET_OPERATORS and self.token.kind == "word":
            operator = self.token.upper
            self.position += 1
            operator = "EXCEPT" if operator == "MINUS" else operator
            if self.accept("ALL"):
                operator += " ALL"
            else:
                self.accept("DISTINCT")
            position = self.token.position
            right = self._set_term()
            refusals.check_branches(left, right, position)
            for side in (left, right):
                if isinstance(side, Block):
                    refusals.check_block(side, [])
                    if side.sequenced:
                        raise OraError(2287, "sequence number not allowed here", position)
            left = SetOperation(left, operator, right)
        return left

    def _set_term(self) -> Body:
        if self.at("("):
            self.position += 1
            body = self._body()
            self.need(")")
            return body
        if self.accept("VALUES"):
            node, width = self.rows_of_values()
            return Rows(Node("VALUES ", node), width)
        if not self.accept("SELECT"):
            self.missing("SELECT")
        return self._block()

    def rows_of_values(self) -> tuple[Node, int]:
        """Read the rows behind VALUES of a table value constructor; give their text and the number of columns."""
        rows: list[Node] = []
        width = 0
        while True:
            position = self.token.position
            values = self.arguments() if self.at("(") else [self.expression()]
            if not values:
                raise OraError(936, "missing expression", position)
            if rows and len(values) != width:
                raise OraError(1789, "query block has incorrect number of result columns", position)
            width = len(values)
            rows.append(Node("(", *join(values), ")"))
            if not self.accept(","):
                return Node(*join(rows)), width

    def _block(self) -> Block:
        saved = (
            self.scope,
            self.aggregates,
            self.windows,
            self.rownums,
            self.sequences,
            self.levels,
            self.nested_aggregate,
        )
        scope = Scope(self.scope)
        self.scope, self.aggregates, self.windows, self.rownums = scope, [], [], []
        self.sequences, self.levels, self.nested_aggregate = {}, [], None
        block = Block(scope)
        if self.accept("DISTINCT") or self.accept("UNIQUE"):
            block.distinct = True
        else:
            self.accept("ALL")
        self._select_list(block)
        if self.sequences and (block.distinct or self.subqueries):
            raise OraError(2287, "sequence number not allowed here", self.token.position)
        sequences = len(self.sequences)
        if self.accept("FROM"):
            position = self.token.position
            self._from(block)
            refusals.refuse_star_over_twins(block, position)
        elif self.at("INTO"):
            self.missing("THEN")  # SELECT ... INTO is PL/SQL
        elif block.star or not self._ends_select_list():
            self.missing("FROM")
        if self.accept("WHERE"):
            self._where(block)
        if self.at("CONNECT") or self.at("START", "WITH"):
            self._connect_by(block)
        if self.accept("GROUP"):
            self._group_by(block)
        if self.accept("HAVING"):
            block.having = truth(self.expression())
            if block.group is None and self.accept("GROUP"):
                self._group_by(block)
        if self.levels and block.levels is None:
            raise OraError(1788, "CONNECT BY clause required in this query block", self.token.position)
        if len(self.sequences) > sequences:
            raise OraError(2287, "sequence number not allowed here", self.token.position)
        self._refuse_nested_aggregate(block)
        block.aggregated = bool(self.aggregates)
        block.windows = self.windows
        block.sequenced = bool(self.sequences)
        if block.sequenced and block.grouped:
            raise OraError(2287, "sequence number not allowed here", self.token.position)
        refusals.name_references(block)
        self.scope, self.aggregates, self.windows, self.rownums, self.sequences, self.levels, self.nested_aggregate = (
            saved
        )
        return block

    def _refuse_nested_aggregate(self, block: Block) -> None:
        if self.nested_aggregate is None:
            return
        if block.group is not None:
            self.unsupported("an aggregate inside an aggregate")
        raise OraError(978, "nested group function without GROUP BY", self.nested_aggregate)

    def _ends_select_list(self) -> bool:
        token = self.token
        return (
            token.kind == "end"
            or token.upper == ")"
            or token.upper in ("WHERE", "GROUP", "HAVING", "ORDER", "FETCH", "OFFSET", "FOR", "CONNECT", "START")
            or token.upper in _SET_OPERATORS
        )

    def _select_list(self, block: Block) -> None:
        while True:
            block.items.append(self._item())
            if not self.accept(","):
                break
        if len(block.items) > 1 and any(item.star and item.qualifier is None for item in block.items):
            self.missing("FROM")

    def _item(self) -> Item:
        token = self.token
        if token.upper == "*" and token.kind == "symbol":
            self.position += 1
            return Item(Node("*"), "*", star=True)
        if token.kind in ("word", "quoted") and token.upper not in RESERVED:
            ahead = 1
            while self.peek(ahead).upper == "." and self.peek(ahead + 1).kind in ("word", "quoted"):
                ahead += 2
            if self.peek(ahead).upper == "." and self.peek(ahead + 1).upper == "*":
                names = [self.peek(at).value for at in range(0, ahead, 2)]
                self.position += ahead + 2
                node = Node(".".join(quote(name) for name in names), ".*")
                return Item(node, "*", star=True, qualifier=names[-1])
        start = self.position
        node = self.expression()
        alias = self._column_alias()
        if alias is not None:
            return Item(node, alias, alias=True)
        if node.name is not None and self.tokens[start].upper != "(":
            return Item(node, node.name)
        return Item(node, self._heading(start))

    def _column_alias(self) -> str | None:
        token = self.token
        if self.accept("AS"):
            if self.token.kind == "word" and self.token.upper in RESERVED:
                self.missing("FROM")
            return self.identifier()
        if token.kind == "quoted" or (
            token.kind == "word" and token.upper not in RESERVED and not self._clause_ahead(token)
        ):
            return self.identifier()
        if token.kind == "invalid":
            self.unexpected()
        if token.kind == "string":
            self.unexpected()
        return None

    def _clause_ahead(self, token: Token) -> bool:
        """Whether an unreserved word begins a clause behind a select list without FROM, or a target list."""
        return (
            token.upper == "FETCH" and self.peek().upper in ("FIRST", "NEXT", "APPROX", "APPROXIMATE", "EXACT")
        ) or (token.upper == "BULK" and self.peek().upper == "COLLECT")

    def _heading(self, start: int) -> str:
        first, last = self.tokens[start], self.tokens[self.position - 1]
        if self.source:
            text = self.source[first.position : last.end]
        else:
            text = "".join(token.text for token in self.tokens[start : self.position])
        return _BLANKS.sub("", text).upper()[:128]

    def _where(self, block: Block) -> None:
        known = len(self.aggregates), len(self.windows)
        before = len(self.rownums)
        for node in self.conjuncts():
            if not self._row_bound(block, node):
                block.where.append(node)
        refusals.check_where(len(self.aggregates) > known[0], len(self.windows) > known[1], self.token.position)
        if len(self.rownums) > before:
            self.unsupported("ROWNUM other than compared with a number, as a condition of its own")

    def conjuncts(self) -> list[Node]:
        """Read a condition as the list of those that must all hold."""
        nodes = self._conjunct_list()
        if not self.at("OR"):
            return nodes
        parts: list[str | Node] = ["(", *join(nodes, " AND ")]
        while self.accept("OR"):
            parts.append(" OR ")
            parts += join(self._conjunct_list(), " AND ")
        return [Node(*parts, ")", kind="condition", type="boolean")]

    def _conjunct_list(self) -> list[Node]:
        nodes = [truth(self.predicate())]
        while self.accept("AND"):
            nodes.append(truth(self.predicate()))
        return nodes

    def _row_bound(self, block: Block, node: Node) -> bool:
        """Take a comparison of ROWNUM as the block's bound; give whether it was one."""
        operator = node.value
        if operator not in _FLIPPED or len(node.parts) != 3:
            return False
        left, _, right = node.parts
        if not isinstance(left, Operand) or not isinstance(right, Operand):
            return False
        if right.kind == "rownum":
            left, right, operator = right, left, _FLIPPED[operator]
        if left.kind != "rownum" or right.kind == "rownum":
            return False
        self.rownums.remove(left.inner)
        value = right.inner
        if operator in (">", ">="):
            block.where.append(Node("(", value, f")::numeric {'<' if operator == '>' else '<='} 1", kind="condition"))
            return True
        if operator == "<>":
            self.unsupported("ROWNUM <> n")
        bound = value
        if operator == "<":
            bound = Node("ceil((", value, ")::numeric) - 1")
        elif operator == "=":
            bound = Node("CASE (", value, ")::numeric WHEN 1 THEN 1 ELSE 0 END")
        block.top = bound if block.top is None else Node("LEAST(", block.top, ", ", bound, ")")
        return True

    def _connect_by(self, block: Block) -> None:
        if self.at("START") or not self.accept("CONNECT"):
            self.unsupported("START WITH ... CONNECT BY")
        self.need("BY")
        self.accept("NOCYCLE")
        node = self.predicate()
        operator = node.value
        left, right = (node.parts[0], node.parts[2]) if len(node.parts) == 3 else (None, None)
        if (
            not block.dual
            or not isinstance(left, Operand)
            or not isinstance(right, Operand)
            or left.inner not in self.levels
            or operator not in ("<=", "<")
            or self.at("AND")
        ):
            self.unsupported("CONNECT BY other than LEVEL <= n over DUAL")
        block.levels = right.inner if operator == "<=" else Node("ceil((", right.inner, ")::numeric) - 1")
        block.scope.sources[0].columns = {"DUMMY": "text", "LEVEL": "number"}

    def _group_by(self, block: Block) -> None:
        self.need("BY")
        known = len(self.aggregates)
        block.group = [self._grouping()]
        while self.accept(","):
            block.group.append(self._grouping())
        if len(self.aggregates) > known:
            raise OraError(934, "Group function is not allowed here.", self.token.position)

    def _grouping(self) -> Node:
        token = self.token
        if token.upper in ("ROLLUP", "CUBE") and self.peek().upper == "(":
            self.position += 1
            return Node(f"{token.upper}(", *join(self.arguments()), ")", value="sets")
        if token.upper == "GROUPING" and self.peek().upper == "SETS":
            self.position += 2
            self.need("(")
            sets = [self._grouping_set()]
            while self.accept(","):
                sets.append(self._grouping_set())
            self.need(")")
            return Node("GROUPING SETS (", *join(sets), ")", value="sets")
        if self._query_ahead():
            raise OraError(22818, "subquery expressions not allowed here", token.position)
        node = self.expression()
        if node.kind == "integer":
            raise OraError(3162, f"GROUP BY position {node.value}: GROUP_BY_POSITION_ENABLED is FALSE", token.position)
        return node

    def _grouping_set(self) -> Node:
        if self.at("("):
            values = self.arguments()
            return Node("(", *join(values), ")")
        return self.expression()

    def _order(self, block: Block | None) -> list[tuple[Node, str]]:
        self.position += 1
        if self.at("SIBLINGS"):
            raise OraError(30929, "ORDER SIBLINGS BY clause not allowed here", self.token.position)
        self.need("BY")
        saved = self.scope, self.aggregates, self.windows
        if block is not None:
            self.scope = block.scope
        self.aggregates, self.windows = [], []
        keys: list[tuple[Node, str]] = []
        while True:
            node = self.expression()
            keys.append((node, direction(self)))
            if not self.accept(","):
                break
        if block is not None:
            if self.aggregates and not block.grouped:
                refusals.refuse_plain_items(block)
                block.aggregated = True
            block.windows = [*block.windows, *self.windows]
        self.scope, self.aggregates, self.windows = saved
        return keys

    def _block_keys(self, query: Query, block: Block, keys: list[tuple[Node, str]]) -> list[Node]:
        aliases = {item.name: item for item in block.items if item.alias}
        count = None if block.star else len(block.items)
        found: list[Node] = []
        for node, way in keys:
            if node.kind == "integer":
                place = int(node.value)
                if place < 1 or (count is not None and place > count):
                    raise OraError(1785, "ORDER BY item must be the number of a SELECT-list expression")
                if count is not None:
                    item = block.items[place - 1]
                    if item.node.kind == "distance":
                        query.distance_keys.add(item.name)
                    found.append(Node(SortKey(Node(node.value, type=item.node.type)), way))
                else:
                    found.append(Node(node.value, way))
                continue
            if isinstance(node, Column) and len(node.chain) == 1 and node.chain[0] in aliases:
                item = aliases[node.chain[0]]
                block.scope.references.remove(node)
                if item.node.kind == "distance":
                    query.distance_keys.add(item.name)
                if isinstance(item.node, Column):
                    found.append(Node(SortKey(item.node), way))
                else:
                    found.append(Node(SortKey(Node(quote(item.name), type=item.node.type)), way))
                continue
            if node.kind in ("string", "number", "null"):
                found.append(Node("NULL::text"))  # a constant sorts nothing, and PostgreSQL refuses it
                continue
            self._name_aliases(node, block, aliases)
            if node.kind == "distance" and not query.approximate:
                found.append(Node(self._exact(query, block, node), way))
            else:
                found.append(Node(SortKey(node), way))
        return found

    def _exact(self, query: Query, block: Block, node: Node) -> Node:
        """Give a distance as a sort key that no vector index fits; one of the select list is not computed twice."""
        text = node.canonical()
        if not block.star:
            for number, item in enumerate(block.items):
                if item.node.kind == "distance" and item.node.canonical() == text:
                    query.distance_keys.add(item.name)
                    return Node(str(number + 1))
        return Node("(", node, " + 0::float8)")

    def _name_aliases(self, node: Node, block: Block, aliases: dict[str, Item]) -> None:
        """Let names inside a sort expression stand for the select items they name, unless a table has such a column."""
        for inner in walk(node):
            if isinstance(inner, Column) and inner.scope is block.scope and len(inner.chain) == 1:
                item = aliases.get(inner.chain[0])
                if item is not None and not refusals.is_own_column(inner):
                    inner.target = item.node

    def _set_keys(self, body: Body, keys: list[tuple[Node, str]]) -> list[Node]:
        block = first_block(body)
        items = block.items if block is not None else []
        star = block is None or block.star
        found: list[Node] = []
        for node, way in keys:
            if node.kind == "integer":
                if not star and not 1 <= int(node.value) <= len(items):
                    raise OraError(1785, "ORDER BY item must be the number of a SELECT-list expression")
                found.append(Node(node.value, way))
            elif isinstance(node, Column):
                name = node.chain[-1]
                if not star and all(item.name != name for item in items):
                    raise OraError(904, f'"{name}": invalid identifier', node.position)
                found.append(Node(quote(name), way))
            else:
                self.unsupported("an expression in ORDER BY behind a set operator")
        return found

    def parenthesized_query(self, *, whole: bool = False) -> Node:
        """Read ``(query)`` as an expression; over DUAL alone what it selects, unless it is needed ``whole``."""
        self.need("(")
        if self.at("("):
            node = self.parenthesized_query(whole=whole)
            self.need(")")
            return node
        self.subqueries += 1
        query = self.query()
        self.subqueries -= 1
        if query.order and not query.limited:
            raise OraError(907, "missing right parenthesis", self.token.position)
        self.need(")")
        block = query.body if isinstance(query.body, Block) else None
        if not whole and block is not None and block.dual and self._is_expression(query, block):
            node = block.items[0].node
            return node if node.kind in ("bind", "string", "embedding") else Node("(", node, ")", type=node.type)
        return Subquery(query)

    def _is_expression(self, query: Query, block: Block) -> bool:
        return (
            len(block.items) == 1
            and not block.items[0].star
            and not block.scope.references
            and not (block.where or block.grouped or block.distinct or block.windows)
            and block.levels is None
            and block.top is None
            and not (query.with_parts or query.order or query.limited)
            and all(node.kind not in ("rownum", "nextval", "subquery") for node in walk(block.items[0].node))
        )
