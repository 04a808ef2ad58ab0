"""The parts of a query: blocks, set operators, sort keys, row limits; how they are written."""

from __future__ import annotations

from oraclerag.local.engine.aggregates import SortKey
from oraclerag.local.engine.scope import Column, Columns, Scope
from oraclerag.local.engine.tree import Node, NodeKind, Output
from oraclerag.local.engine.words import check_length, quote
from oraclerag.local.interface import OraError


class Item:
    """One entry of a select list. ``star`` is ``*`` or a qualified star; ``alias`` says that the name was given."""

    __slots__ = ("alias", "name", "node", "qualifier", "star")

    def __init__(
        self, node: Node, name: str, *, alias: bool = False, star: bool = False, qualifier: str | None = None
    ) -> None:
        self.node = node
        self.name = name
        self.alias = alias
        self.star = star
        self.qualifier = qualifier


class Block:
    """One SELECT: what its clauses hold.

    ``top`` is the bound of a condition on ROWNUM; ``single`` the one source the block has, as text and alias.
    """

    __slots__ = (
        "aggregated",
        "distinct",
        "dual",
        "from_parts",
        "group",
        "having",
        "items",
        "levels",
        "named",
        "rows",
        "scope",
        "sequenced",
        "single",
        "top",
        "where",
        "windows",
    )

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.items: list[Item] = []
        self.distinct = False
        self.from_parts: list[str | Node] = []
        self.single: tuple[str, str | None] | None = None
        self.dual = False
        self.levels: Node | None = None
        self.where: list[Node] = []
        self.top: Node | None = None
        self.group: list[Node] | None = None
        self.having: Node | None = None
        self.aggregated = False
        self.windows: list[Node] = []
        self.sequenced = False
        self.rows: list[Node] = []
        self.named = True

    @property
    def grouped(self) -> bool:
        """Whether its rows are groups."""
        return self.aggregated or self.group is not None or self.having is not None

    @property
    def star(self) -> bool:
        """Whether the select list has a star."""
        return any(item.star for item in self.items)

    def columns(self) -> Columns | None:
        """Give names and types of its columns, or None when a star hides them."""
        found: Columns = {}
        for item in self.items:
            if not item.star:
                found[item.name] = item.node.own_type() if isinstance(item.node, Column) else item.node.type
                continue
            sources = self.scope.sources
            if item.qualifier is not None:
                sources = [source for source in sources if source.alias == item.qualifier]
            for source in sources:
                if source.columns is None:
                    return None
                found.update(source.columns)
        return found

    def write(self, output: Output, query: Query) -> None:
        """Write SELECT to HAVING; ``query`` is the one whose only block it is, for what ORDER BY and limits ask."""
        append = output.pieces.append
        append("SELECT DISTINCT " if self.distinct else "SELECT ")
        exact = () if query.approximate else query.distance_keys
        for number, item in enumerate(self.items):
            if number:
                append(", ")
            if item.star:
                item.node.write(output)
                continue
            node = SortKey(item.node) if self.distinct else item.node
            if item.name in exact and item.node.kind == "distance":
                append("(")
                node.write(output)
                append(" + 0::float8)")
            else:
                node.write(output)
            if item.alias or self.named:
                append(" AS ")
                append(quote(item.name))
        self._write_from(output, query)
        if self.group is not None:
            append(" GROUP BY ")
            for number, node in enumerate(self.group):
                append(", " if number else "")
                SortKey(node).write(output)
        if self.having is not None:
            append(" HAVING ")
            self.having.write(output)

    def _write_from(self, output: Output, query: Query) -> None:
        append = output.pieces.append
        if self.dual and self.levels is None and not self.star and not self.scope.references:
            self._write_where(output)
            return
        if self.levels is not None:
            append(' FROM (SELECT g::numeric AS "LEVEL", \'X\'::ora.varchar2 AS "DUMMY"')
            append(" FROM generate_series(1, ora.row_count(")
            self.levels.write(output)
            append(')) g) AS "DUAL"')
            self._write_where(output)
            return
        if not self.from_parts:
            self._write_where(output)
            return
        append(" FROM ")
        if self.top is not None and query.first_rows_inside(self):
            self._write_first_rows(output, locking=query.locking)
            return
        for part in self.from_parts:
            if isinstance(part, str):
                append(part)
            else:
                part.write(output)
        self._write_where(output)

    def _write_first_rows(self, output: Output, *, locking: bool) -> None:
        """Write FROM and WHERE so that the bound on ROWNUM applies before sorting, grouping and locking."""
        append = output.pieces.append
        if self.single is None:
            raise OraError(3001, "unimplemented feature: ROWNUM with ORDER BY, GROUP BY or FOR UPDATE over a join")
        text, alias = self.single
        if locking and alias is not None:
            append(f"{text} WHERE {quote(alias)}.ctid = ANY (ARRAY(SELECT {quote(alias)}.ctid FROM ")
            append(text)
            self._write_where(output)
            self._write_top(output)
            append("))")
            return
        append("(SELECT * FROM ")
        for part in self.from_parts:
            if isinstance(part, str):
                append(part)
            else:
                part.write(output)
        self._write_where(output)
        self._write_top(output)
        append(f") AS {quote(alias)}" if alias is not None else ")")

    def _write_where(self, output: Output) -> None:
        for number, node in enumerate(self.where):
            output.pieces.append(" AND " if number else " WHERE ")
            node.write(output)

    def _write_top(self, output: Output) -> None:
        if self.top is not None:
            output.pieces.append(" LIMIT ora.row_count(")
            self.top.write(output)
            output.pieces.append(")")


class SetOperation:
    """Two queries joined by UNION, INTERSECT or EXCEPT."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, left: Body, operator: str, right: Body) -> None:
        self.left = left
        self.operator = operator
        self.right = right


class Rows:
    """A table value constructor: VALUES (…), (…)."""

    __slots__ = ("node", "width")

    def __init__(self, node: Node, width: int) -> None:
        self.node = node
        self.width = width


Body = Block | SetOperation | Rows


def first_block(body: Body) -> Block | None:
    """Give the block whose select list names the columns."""
    while isinstance(body, SetOperation):
        body = body.left
    return body if isinstance(body, Block) else None


class Query:
    """A whole query: WITH, body, ORDER BY, OFFSET and FETCH, FOR UPDATE.

    ``cycle``: it is a recursive one of WITH whose columns say when it goes in circles (:mod:`recursion`).
    ``distance_keys`` are the names of select items by which it is sorted and which are vector distances: unless the
    search may be approximate they are written so that no vector index fits them.
    """

    __slots__ = (
        "approximate",
        "body",
        "cycle",
        "distance_keys",
        "limit",
        "lock_text",
        "locking",
        "offset",
        "order",
        "recursive",
        "ties",
        "with_parts",
    )

    def __init__(self, body: Body) -> None:
        self.body: Body = body
        self.with_parts: list[tuple[str, list[str], Query]] = []
        self.recursive = False
        self.cycle: list[str] | None = None
        self.order: list[Node] = []
        self.offset: Node | None = None
        self.limit: Node | None = None
        self.ties = False
        self.approximate = False
        self.locking = False
        self.lock_text = ""
        self.distance_keys: set[str] = set()

    @property
    def limited(self) -> bool:
        """Whether FETCH or OFFSET cuts it."""
        return self.limit is not None or self.offset is not None

    def first_rows_inside(self, block: Block) -> bool:
        """Whether a bound on ROWNUM must apply below the block's own sorting, grouping or locking."""
        return bool(self.order) or block.grouped or block.distinct or self.locking or bool(block.windows)

    def write(self, output: Output) -> None:
        """Write it."""
        append = output.pieces.append
        for number, (name, columns, query) in enumerate(self.with_parts):
            append(", " if number else ("WITH RECURSIVE " if self.recursive else "WITH "))
            if query.cycle is not None:
                _write_recursion(output, name, query)
                continue
            append(quote(name))
            if columns:
                append(f" ({', '.join(quote(column) for column in columns)})")
            append(" AS (")
            query.write(output)
            append(")")
        if self.with_parts:
            append(" ")
        self._write_body(output, self.body, self)
        for number, node in enumerate(self.order):
            append(", " if number else " ORDER BY ")
            node.write(output)
        self._write_limit(output)
        append(self.lock_text)

    def _write_limit(self, output: Output) -> None:
        append = output.pieces.append
        if self.offset is not None:
            append(" OFFSET ")
            self.offset.write(output)
        if self.limit is not None:
            append(" FETCH FIRST (" if self.ties and self.order else " LIMIT ")
            self.limit.write(output)
            append(") ROWS WITH TIES" if self.ties and self.order else "")
        elif isinstance(self.body, Block) and self.body.top is not None and not self.first_rows_inside(self.body):
            append(" LIMIT ora.row_count(")
            self.body.top.write(output)
            append(")")

    def _write_body(self, output: Output, body: Body, only: Query) -> None:
        if isinstance(body, Block):
            body.write(output, only)
        elif isinstance(body, Rows):
            body.node.write(output)
        else:
            left = body.left
            self._write_operand(output, left, nested=isinstance(left, SetOperation) and left.operator != body.operator)
            output.pieces.append(f" {body.operator} ")
            self._write_operand(output, body.right, nested=isinstance(body.right, SetOperation))

    def _write_operand(self, output: Output, body: Body, *, nested: bool) -> None:
        """Write one side of a set operator: all of them bind alike in Oracle, so other ones inside get parentheses."""
        if nested or (isinstance(body, Block) and body.top is not None):
            output.pieces.append("(")
            Query(body).write(output)
            output.pieces.append(")")
        else:
            self._write_body(output, body, Query(body))


def _write_recursion(output: Output, name: str, query: Query) -> None:
    """Write a recursive query of WITH around itself: its rows are watched for a repetition as they come."""
    columns = query.cycle or []
    own, listed = quote(name), ", ".join(quote(column) for column in columns)
    kept = ", ".join(quote(f"{column} kept") for column in columns)
    output.pieces.append(f'{own} ({listed}) AS (WITH RECURSIVE {own} ({listed}, {kept}, "depth") AS (')
    query.write(output)
    same = " AND ".join(f"{quote(c)}::text IS NOT DISTINCT FROM {quote(f'{c} kept')}::text" for c in columns)
    output.pieces.append(
        f') SELECT {listed} FROM {own} WHERE CASE WHEN "depth" > 1 AND {same} THEN ora.raise(32044, '
        "'cycle detected while executing recursive WITH query') ELSE TRUE END)"
    )


class Subquery(Node):
    """A query inside a statement, with its parentheses."""

    __slots__ = ("query",)

    def __init__(self, query: Query, kind: NodeKind = "subquery") -> None:
        block = first_block(query.body)
        single = block is not None and len(block.items) == 1 and not block.items[0].star
        super().__init__(kind=kind, type=block.items[0].node.type if single and block is not None else "")
        self.query = query

    def write(self, output: Output) -> None:
        """Write it with its parentheses."""
        output.pieces.append("(")
        self.query.write(output)
        output.pieces.append(")")

    def canonical(self) -> str:
        """Give a text that no other expression has: two subqueries are never the same."""
        return f"(subquery {id(self)})"


def output_columns(query: Query, position: int) -> tuple[tuple[str, Node], ...]:
    """Give names and expressions of a query's columns for CREATE VIEW and CREATE TABLE AS.

    ORA-00998 for an expression without alias, ORA-00957 for a name that comes twice; a star over a table that is not
    known is ORA-00942.
    """
    block = first_block(query.body)
    if block is None:
        raise OraError(3001, "unimplemented feature: VALUES as the query of a view", position)
    found: list[tuple[str, Node]] = []
    for item in block.items:
        if item.star:
            sources = [s for s in block.scope.sources if item.qualifier in (None, s.alias)]
            for source in sources:
                if source.columns is None:
                    raise OraError(942, f"table or view {source.schema}.{source.table} does not exist", position)
                found += [(name, Node(type=kind)) for name, kind in source.columns.items()]
        elif not item.alias and item.node.kind != "column":
            raise OraError(998, "must name this expression with a column alias", position)
        else:
            found.append((item.name, item.node))
    names = [check_length(name, position) for name, _ in found]
    if len(set(names)) < len(names):
        raise OraError(957, "duplicate column name", position)
    return tuple(found)


class Bare(Node):
    """A query without parentheses around it, as INSERT takes it."""

    __slots__ = ("query",)

    def __init__(self, query: Query) -> None:
        super().__init__()
        self.query = query

    def write(self, output: Output) -> None:
        """Write it."""
        self.query.write(output)
