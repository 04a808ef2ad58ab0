"""What Oracle refuses although PostgreSQL would take it: grouping, aggregates, locks, set operators, recursion."""

from __future__ import annotations

from oraclerag.local.engine.block import Block, Body, Query, Rows, SetOperation, first_block
from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.tree import Node, walk
from oraclerag.local.interface import OraError


def check_where(aggregates: bool, windows: bool, position: int) -> None:
    """Refuse aggregates and window functions in WHERE and ON."""
    if windows:
        raise OraError(30483, "window functions are not allowed here", position)
    if aggregates:
        raise OraError(934, "Group function is not allowed here.", position)


def is_own_column(node: Column) -> bool:
    """Whether a source of the column's own block is known to have it."""
    return (
        any(source.columns is not None and node.chain[0] in source.columns for source in node.scope.sources)
        if node.scope
        else False
    )


def name_references(block: Block) -> None:
    """Let names in GROUP BY and HAVING stand for select items they name; a column of that name comes first."""
    aliases = {item.name: item.node for item in block.items if item.alias}
    if not aliases:
        return
    for root in [*(block.group or []), *([block.having] if block.having is not None else [])]:
        for node in walk(root):
            if isinstance(node, Column) and node.scope is block.scope and len(node.chain) == 1:
                target = aliases.get(node.chain[0])
                known = is_own_column(node) or (isinstance(target, Column) and target.chain[-1] == node.chain[0])
                if target is not None and not known:
                    constant = {"integer": "::numeric", "number": "::numeric", "string": "::text"}.get(target.kind)
                    node.target = Node(target, constant) if constant else target


def name_given_twice(query: Query) -> str | None:
    """Give a name that two columns of a query's result have, None where there is none or they are not known."""
    block = first_block(query.body)
    if block is None:
        return None
    names: list[str] = []
    for item in block.items:
        if not item.star:
            names.append(item.name)
            continue
        for source in block.scope.sources:
            if item.qualifier in (None, source.alias):
                if source.columns is None:
                    return None
                names += [name for name in source.columns if name not in block.scope.merged]
        names += block.scope.merged
    return next((name for number, name in enumerate(names) if name in names[:number]), None)


def refuse_star_over_twins(block: Block, position: int) -> None:
    """Refuse ``*`` over an inline view of which two columns have one name."""
    for item in block.items:
        for source in block.scope.sources if item.star else ():
            if source.twice is not None and item.qualifier in (None, source.alias):
                text = f"{source.twice}: column ambiguously specified - appears in multiple tables"
                raise OraError(918, text, position)


def refuse_plain_items(block: Block) -> None:
    """Refuse plain columns beside an aggregate that stands in ORDER BY only."""
    for item in block.items:
        if item.star or any(isinstance(node, Column) for node in walk(item.node)):
            raise OraError(937, "not a single-group group function")


def check_block(block: Block, keys: list[Node]) -> None:
    """Refuse columns that are neither grouped nor inside an aggregate (ORA-00979, without GROUP BY ORA-00937).

    PostgreSQL would let pass what depends on a grouped primary key.
    """
    if not block.grouped:
        return
    if any(node.value == "sets" for node in block.group or []):
        return
    grouped = {key.canonical() for key in _group_keys(block.group or [])}
    number = 979 if block.group is not None or block.having is not None else 937
    for item in block.items:
        if item.star:
            _refuse_star(block, grouped, number, item.qualifier)
        else:
            _check(item.node, block, grouped, number)
    if block.having is not None:
        _check(block.having, block, grouped, 979)
    for key in keys:
        if key.kind == "integer":
            continue
        if isinstance(key, Column) and any(item.alias and item.name == key.chain[-1] for item in block.items):
            continue
        _check(key, block, grouped, number)


def _group_keys(group: list[Node]) -> list[Node]:
    keys: list[Node] = []
    for node in group:
        if node.parts and node.parts[0] == "(" and node.parts[-1] == ")" and node.kind == "other":
            keys += [part for part in node.parts if not isinstance(part, str)]
        keys.append(node)
    return keys


def _refuse_star(block: Block, grouped: set[str], number: int, qualifier: str | None) -> None:
    for source in block.scope.sources:
        if qualifier is not None and source.alias != qualifier:
            continue
        for name in source.columns or {}:
            column = Column([name], None, 0)
            column.scope = block.scope
            if column.canonical() not in grouped:
                raise _not_grouped(name, number)


def _not_grouped(name: str, number: int) -> OraError:
    if number == 937:
        return OraError(937, "not a single-group group function")
    return OraError(979, f'"{name}": must appear in the GROUP BY clause or be used in an aggregate function')


def _check(node: Node, block: Block, grouped: set[str], number: int) -> None:
    if node.kind == "aggregate":
        return
    if isinstance(node, Column) and node.target is not None:
        _check(node.target, block, grouped, number)
        return
    if node.canonical() in grouped:
        return
    if isinstance(node, Column):
        if node.scope is block.scope and node.belongs_here():
            raise _not_grouped(node.chain[-1], number)
        return
    if node.kind == "rownum":
        raise _not_grouped("ROWNUM", number)
    for child in node.children():
        _check(child, block, grouped, number)


def check_lock(query: Query, block: Block | None, position: int) -> None:
    """Refuse FOR UPDATE where rows cannot be locked: ORA-02014 for limits and views, ORA-01786 for the query itself."""
    if query.limited:
        raise OraError(2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc.", position)
    if block is None or block.distinct or block.grouped or block.windows:
        raise OraError(1786, "FOR UPDATE of this query expression is not allowed", position)
    if any(not source.lockable and source.table == "" and source.columns is not None for source in block.scope.sources):
        raise OraError(2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc.", position)


def _width(body: Body) -> int | None:
    if isinstance(body, Rows):
        return body.width
    block = first_block(body)
    if block is None:
        return None
    if not block.star:
        return len(block.items)
    count = 0
    for item in block.items:
        if not item.star:
            count += 1
            continue
        for source in block.scope.sources:
            if item.qualifier in (None, source.alias):
                if source.columns is None:
                    return None
                count += len(source.columns)
    return count if not block.scope.merged else None


_LITERAL = {"integer": "number", "number": "number", "string": "text"}
_FAMILIES = {"timestamp": "date", "timestamp with time zone": "date", "double": "number"}


def check_branches(left: Body, right: Body, position: int) -> None:
    """Refuse branches of a set operator with other column counts (ORA-01789) or types (ORA-01790)."""
    widths = _width(left), _width(right)
    if None not in widths and widths[0] != widths[1]:
        raise OraError(1789, "query block has incorrect number of result columns", position)
    first, second = first_block(left), first_block(right)
    if first is None or second is None or first.star or second.star:
        return
    for one, other in zip(first.items, second.items, strict=False):
        kinds = {_FAMILIES.get(kind, kind) for kind in (_kind(one.node), _kind(other.node))}
        if len(kinds & {"number", "text", "date"}) > 1:
            raise OraError(1790, "expression must have same datatype as corresponding expression", position)


def _kind(node: Node) -> str:
    if isinstance(node, Column):
        return node.own_type()
    return _LITERAL.get(node.kind) or node.type


def check_recursion(query: Query, name: str, columns: list[str], position: int) -> bool:
    """Give whether a WITH query refers to itself; it must list its columns and use UNION ALL."""
    if not _mentions(query.body, name):
        return False
    if not columns:
        raise OraError(32039, "recursive WITH clause must have column alias list", position)
    if not isinstance(query.body, SetOperation) or query.body.operator != "UNION ALL":
        raise OraError(32040, "recursive WITH clause must use a UNION ALL operation", position)
    _generalize(query.body.left)
    return True


def _generalize(body: Body) -> None:
    """Drop lengths and precisions from the first branch: PostgreSQL wants both to have the very same types."""
    if isinstance(body, SetOperation):
        _generalize(body.left)
        _generalize(body.right)
    elif isinstance(body, Block):
        for item in body.items:
            target = {"text": "::text", "number": "::numeric"}.get(_kind(item.node))
            if target is not None and not item.star:
                item.node = Node("(", item.node, f"){target}", type=item.node.type)


def _mentions(body: Body, name: str) -> bool:
    if isinstance(body, SetOperation):
        return _mentions(body.left, name) or _mentions(body.right, name)
    return isinstance(body, Block) and any(source.table == name and not source.schema for source in body.scope.sources)
