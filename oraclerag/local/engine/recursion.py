"""Recursive queries of WITH that go in circles: ORA-32044, where PostgreSQL would go on for ever.

Beside its own columns every row keeps those of an ancestor; the ancestor is replaced at the depths that are powers of
two, so that sooner or later every circle meets the one that is kept. That costs a few words per row and no history.
"""

from __future__ import annotations

from oraclerag.local.engine.block import Block, Item, Query, SetOperation
from oraclerag.local.engine.tree import Node
from oraclerag.local.engine.words import quote


def watch(query: Query, name: str, columns: list[str]) -> None:
    """Make a recursive query of WITH watch for a repetition, where its select lists are simple enough for that."""
    body = query.body
    if not isinstance(body, SetOperation) or not isinstance(body.left, Block) or not isinstance(body.right, Block):
        return
    first, again = body.left, body.right
    if first.star or again.star or again.grouped or again.distinct or query.order or query.limited:
        return
    if not len(first.items) == len(again.items) == len(columns):
        return
    sources = [source for source in again.scope.sources if source.table == name and not source.schema]
    if len(sources) != 1 or first.distinct or first.grouped or first.windows or again.windows:
        return
    row = quote(sources[0].alias or name)
    depth = f'{row}."depth"'
    copies = [Item(item.node, f"{item.name} kept") for item in first.items]
    first.items = [*first.items, *copies, Item(Node("1"), "depth")]
    kept = [
        Item(
            Node(
                f"CASE WHEN ({depth} & ({depth} - 1)) = 0 THEN {row}.{quote(column)} "
                f"ELSE {row}.{quote(f'{column} kept')} END"
            ),
            f"{column} kept",
        )
        for column in columns
    ]
    again.items = [*again.items, *kept, Item(Node(f"{depth} + 1"), "depth")]
    query.cycle = columns
