"""Whose changes concern which rows, for the triggers."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.propose.children import Child
from oraclerag.propose.described import Surroundings, TableId
from oraclerag.propose.names import sql_name, table_name
from oraclerag.propose.parents import Join

__all__ = ["entries"]


def entries(
    around: Surroundings,
    columns: Sequence[str],
    tenant: tuple[str, str] | None,
    joins: Sequence[Join],
    children: Sequence[Child],
) -> dict[str, str | list[str]]:
    """Give the entries under ``tables``; ``columns`` are the key, ``tenant`` the column of the tenant and its alias.

    A column where the changed row holds the id itself, a query where the table of the source says whom it concerns.
    """
    table, schema = around.table, around.schema
    key = ", ".join(sql_name(column) for column in columns)
    own = table_name(table.id, schema)
    gives = key
    if tenant is not None:  # a query gives no name twice
        gives += f", {sql_name(tenant[0])}" + (" as of_tenant" if tenant[0] in columns else "")
    found: dict[str, str | list[str]] = {own: key}
    queries: dict[TableId, list[str]] = {}
    for join in joins:
        pairs = zip(join.reference.columns, join.reference.parent_columns, strict=True)
        where = " and ".join(f"{sql_name(column)} = :{sql_name(parent)}" for column, parent in pairs)
        queries.setdefault(join.reference.parent, []).append(f"select {gives} from {own} where {where}")
    for parent, texts in queries.items():
        found[table_name(parent, schema)] = texts[0] if len(texts) == 1 else texts
    for child in children:
        name = table_name(child.reference.child, schema)
        described = around.related[child.reference.child]
        if tenant is None or described.column(tenant[1].upper()) is not None:
            text = ", ".join(sql_name(child.holds[column]) for column in columns)
        else:
            where = " and ".join(f"{sql_name(column)} = :{sql_name(child.holds[column])}" for column in columns)
            text = f"select {gives} from {own} where {where}"
        before = found.get(name)
        found[name] = text if before is None else [*([before] if isinstance(before, str) else before), text]
    return found
