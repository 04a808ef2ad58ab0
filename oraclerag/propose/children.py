"""Rows that belong to a row: tables with a foreign key to it, in an order that is unique."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from oraclerag.propose import columns as asked
from oraclerag.propose.described import Column, Reference, Surroundings, Table
from oraclerag.propose.names import Aliases, label, plain_text, slug, sql_name, table_name, words
from oraclerag.propose.text import Line

__all__ = ["Child", "Children", "children"]

_MOST = 6
_COLUMNS = 8  # of the text of a child
_LONG = 100  # bytes of a name that stays as it is


@dataclass(frozen=True, slots=True)
class Child:
    """A kind of children; ``holds`` says which of its columns holds which column of the parent's key."""

    name: str
    title: str
    reference: Reference
    select: str
    order_by: str
    lines: tuple[Line, ...]
    holds: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True)
class Children:
    """Kinds of children, and tables that refer to the parent and are not among them, with the reason."""

    children: tuple[Child, ...]
    left_out: Mapping[str, str]


def children(around: Surroundings, key: Mapping[str, str], taken: Collection[str]) -> Children:
    """Give the children of a table; ``key`` gives the alias of every column of its key, ``taken`` are other names."""
    names = Aliases(taken)
    found: list[Child] = []
    left_out: dict[str, str] = {}
    for reference in around.children:
        what = f"{reference.child[1]} (by {', '.join(reference.columns)})"
        child = around.related.get(reference.child)
        holds = dict(zip(reference.parent_columns, reference.columns, strict=True))
        if reference.child == around.table.id:
            continue  # said of the parents
        if child is None:
            left_out[what] = "this user does not see it, or it is one of too many"
        elif set(holds) != set(key):
            left_out[what] = f"it refers to {', '.join(reference.parent_columns)}, which is not the key"
        elif (reason := _belongs(around.table, child, reference)) is None:
            left_out[what] = "it refers to a row, but does not seem to be a part of it: it may be a source of its own"
        elif not child.primary_key and not child.unique:
            left_out[what] = "it has no key, so its rows have no certain order: the text would change without a cause"
        elif not (texts := _texts(child, reference)):
            left_out[what] = "it has no text"
        elif len(found) == _MOST:
            left_out[what] = f"more than {_MOST} kinds of children"
        else:
            found.append(_child(around, child, reference, holds, key, texts, names, reason))
    return Children(tuple(found), left_out)


def _belongs(parent: Table, child: Table, reference: Reference) -> str | None:
    """Say why the rows of a table seem to be parts of the parent's; None where they only refer to it."""
    if reference.delete_rule == "CASCADE":
        return f"{child.name} is deleted along with its row of {parent.name}"
    if set(reference.columns) < set(child.primary_key):
        return f"the key of {child.name} begins with that of {parent.name}"
    own, of_child = words(parent.name), words(child.name)
    for name in (own, [*own[:-1], own[-1].removesuffix("s")] if own else []):
        if name and of_child[: len(name)] == name and len(of_child) > len(name):
            return f"{child.name} is named after {parent.name} and refers to it"
    return None


def _texts(child: Table, reference: Reference) -> list[Column]:
    """Give the columns that tell something: prose first."""
    elsewhere = {*reference.columns, *(column.name for column, _ in asked.ranked("tenant", child.columns))}
    usable = [
        column
        for column in child.columns
        if column.name not in elsewhere and asked.is_text(column) and not asked.withheld(column)
    ]
    usable.sort(key=lambda column: not asked.is_long(column))
    return usable[:_COLUMNS]


def _child(
    around: Surroundings,
    child: Table,
    reference: Reference,
    holds: Mapping[str, str],
    key: Mapping[str, str],
    texts: list[Column],
    names: Aliases,
    reason: str,
) -> Child:
    aliases = Aliases(key.values())
    alias = {holds[column]: name for column, name in key.items()}
    unique = child.primary_key or child.unique[0]
    order = [name for name in unique if name not in alias] or list(unique)
    times = [column for column in child.columns if asked.is_time(column) and not asked.withheld(column)]
    moment = [column for column, _ in asked.ranked("occurred_at", times, child.name)] or times[:1]
    wanted = {*order, *(column.name for column in texts), *(column.name for column in moment[:1])}
    for column in child.columns:
        if column.name in wanted:
            alias.setdefault(column.name, aliases.of(column.name))
    shown = [column for column in child.columns if column.name in alias]
    items = ", ".join(
        f"c.{sql_name(column.name)}" if sql_name(column.name) == alias[column.name]
        else f"c.{sql_name(column.name)} as {alias[column.name]}"
        for column in shown
    )  # fmt: skip
    by = [alias[column.name] for column in moment[:1] if column.name not in order] + [alias[name] for name in order]
    lines = tuple(Line(alias[column.name], label(column), prose=asked.is_long(column)) for column in texts)
    if moment:
        lines = (Line(alias[moment[0].name], label(moment[0]), day=True), *lines)
    name = names.of(_name(around.table, child))
    return Child(
        name,
        plain_text(child.comment).partition(".")[0][:40] or name.replace("_", " ").capitalize(),
        reference,
        f"select {items} from {table_name(child.id, around.schema)} c",
        ", ".join(by),
        lines,
        dict(holds),
        f"{reason}; in the order of {', '.join(by)}",
    )


def _name(parent: Table, child: Table) -> str:
    """Call children by what is behind the parent's name, in the plural: TASK_COMMENT of TASK is ``comments``."""
    own, named = words(parent.name), words(child.name)
    for prefix in (own, [*own[:-1], own[-1].removesuffix("s")] if own else []):
        if prefix and named[: len(prefix)] == prefix and len(named) > len(prefix):
            named = named[len(prefix) :]
            break
    found = slug("_".join(named))
    if found.endswith("s") or len(found) > _LONG:
        return found
    return f"{found[:-1]}ies" if re.search(r"[^aeiou]y$", found) else f"{found}s"
