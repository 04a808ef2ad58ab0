"""What a row refers to: parents whose descriptive column belongs into its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from oraclerag.propose.columns import descriptive, withheld
from oraclerag.propose.described import Column, Reference, Surroundings
from oraclerag.propose.names import Aliases, label, slug, sql_name, table_name, words
from oraclerag.propose.text import Line

__all__ = ["Join", "Joins", "joins"]

_MOST = 8  # joins: each is a table more that must be announced


@dataclass(frozen=True, slots=True)
class Join:
    """A parent that is joined: its columns in the SELECT, the clause, and its lines in the text."""

    reference: Reference
    items: tuple[str, ...]
    aliases: tuple[str, ...]
    clause: str
    lines: tuple[Line, ...]
    reason: str

    @property
    def shown(self) -> str:
        """What is joined, in short."""
        return ", ".join(self.aliases)


@dataclass(frozen=True, slots=True)
class Joins:
    """Parents that are joined, and those that are not, with the reason."""

    joins: tuple[Join, ...]
    left_out: Mapping[str, str]


def joins(around: Surroundings, aliases: Aliases) -> Joins:
    """Give the joins of a table's parents, one for each foreign key."""
    found: list[Join] = []
    left_out: dict[str, str] = {}
    for reference in around.parents:
        what = f"{reference.parent[1]} (by {', '.join(reference.columns)})"
        parent = around.related.get(reference.parent)
        if reference.parent == around.table.id:
            left_out[what] = (
                "a row that refers to another one of its table: a trigger may not read the table it stands on "
                "(ORA-04091), so a change of the other one would go unnoticed"
            )
        elif parent is None:
            left_out[what] = "this user does not see it, or it is one of too many"
        elif any(column and withheld(column) for column in map(around.table.column, reference.columns)):
            left_out[what] = "the column that refers to it looks like a secret"
        elif (said := descriptive(parent)) is None:
            left_out[what] = "none of its columns says what a row is"
        elif len(found) == _MOST:
            left_out[what] = f"more than {_MOST} joins"
        else:
            found.append(_join(around, reference, said, aliases, len(found) + 1))
    return Joins(tuple(found), left_out)


def _join(
    around: Surroundings,
    reference: Reference,
    said: tuple[list[Column], str],
    aliases: Aliases,
    number: int,
) -> Join:
    columns, reason = said
    alias = f"p{number}"
    role = _role(reference)
    names = tuple(aliases.of(role if len(columns) == 1 else f"{role}_{column.name}") for column in columns)
    on = " and ".join(
        f"{alias}.{sql_name(parent)} = t.{sql_name(column)}"
        for column, parent in zip(reference.columns, reference.parent_columns, strict=True)
    )
    column = around.table.column(reference.columns[0])
    shown = label(column) if column is not None and column.comment else role.replace("_", " ").capitalize()
    line = Line(names[0], shown, more=names[1:])
    return Join(
        reference,
        tuple(f"{alias}.{sql_name(one.name)} as {name}" for one, name in zip(columns, names, strict=True)),
        names,
        f"left join {table_name(reference.parent, around.schema)} {alias} on {on}",
        (line,),
        f"{', '.join(reference.columns)} refers to {reference.parent[1]}, where {reason}",
    )


def _role(reference: Reference) -> str:
    """Give what the parent is to the row: ``assignee`` for ASSIGNEE_ID, else the name of its table."""
    named = words(reference.columns[-1])
    if len(reference.columns) == 1 and len(named) > 1 and named[-1] in ("id", "no", "nr", "code", "key", "fk"):
        return "_".join(named[:-1])
    if len(reference.columns) == 1 and named and named[-1] in ("by", "to"):
        return "_".join(named)
    return slug(reference.parent[1])
