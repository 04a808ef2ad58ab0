"""Which changes of a table matter to a source: the columns that its texts and its scope are made of.

They are found in the selects. Where that cannot be done (a view stands between, a text is not understood), every column
counts, and every change is one of the scope: an announcement too many costs a worker one read.
"""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.source import Source
from oraclerag.source.dictionary import Dictionary
from oraclerag.source.reads import DECIDES, JOINS, columns_read, reads
from oraclerag.triggers.table import Table

__all__ = ["Watched", "watched"]


@dataclass(frozen=True, slots=True)
class Watched:
    """Columns by name: all whose change matters, and those of them that belong in the lane of changes.

    These decide who may see an entity, or whether anybody may; and all columns of children.
    """

    columns: tuple[str, ...]
    scope: frozenset[str]


def watched(dictionary: Dictionary, source: Source, table: Table, named: tuple[str, ...]) -> Watched:
    """Give what matters of a table; ``named`` are the columns that its entries name."""
    settings = source.settings
    scope_names = {
        name.upper()
        for name in (settings.tenant, settings.owner, settings.project, settings.sprint, *settings.key)
        if name is not None
    }
    matter: set[str] = set(named)
    scope: set[str] = set()
    unknown = unknown_scope = named_somewhere = False
    selects = [(settings.select, True), *((child.select, False) for child in settings.children.values())]
    for select, decides in selects:
        found = reads(select)
        behind = dictionary.read_by(found)
        if table.named not in behind and not found.unclear:
            continue  # nothing of this select comes from the table
        named_somewhere = True
        used = columns_read(found, lambda name: dictionary.find(name) == table.named, table.columns)
        through_view = any(
            dictionary.find(name) != table.named and table.named in dictionary.tables(name) for name in found.tables
        )
        if used is None or through_view or "ORA_ROWSCN" in {mention.name for mention in found.mentions}:
            unknown, unknown_scope = True, unknown_scope or decides
            continue
        matter |= used.keys()
        keys = {name.upper() for name in settings.key}
        if not decides and any(feeds & keys for feeds in used.values()):
            scope |= used.keys()  # rows of children: a change of the entity itself, and no fan-out
        if decides:
            direct = {column for column, feeds in used.items() if feeds & (scope_names | {DECIDES})}
            scope |= direct
            if direct:  # which row is joined decides about its columns
                scope |= {column for column, feeds in used.items() if JOINS in feeds}
    virtual = {name for name in matter if table.columns[name].virtual}
    # a table that no select names is read by a function, nobody knows how; a virtual column is made of others
    if unknown or virtual or not named_somewhere:
        matter = {name for name, column in table.columns.items() if not column.virtual}
    if unknown_scope or virtual & scope:
        scope = matter
    return Watched(tuple(name for name in table.columns if name in matter), frozenset(scope & matter))
