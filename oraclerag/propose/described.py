"""A table as the data dictionary describes it: what a proposal is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Column", "Reference", "Surroundings", "Table", "TableId"]

TableId = tuple[str, str]
"""Owner and name, as the dictionary has them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``kind`` is the dictionary's DATA_TYPE, ``length`` is in bytes (4,000 and the like for a LOB)."""

    name: str
    kind: str
    length: int = 0
    required: bool = False
    comment: str | None = None

    @property
    def family(self) -> str:
        """The type without its precision: ``TIMESTAMP(6) WITH TIME ZONE`` is ``TIMESTAMP``."""
        return self.kind.partition("(")[0].partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: ``columns`` of ``child`` hold what ``parent_columns`` of ``parent`` are."""

    name: str
    child: TableId
    columns: tuple[str, ...]
    parent: TableId
    parent_columns: tuple[str, ...]
    delete_rule: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view. ``unique`` are its other keys, without those over columns that may have no value."""

    id: TableId
    kind: str = "TABLE"
    comment: str | None = None
    columns: tuple[Column, ...] = ()
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()

    @property
    def name(self) -> str:
        """The name without the owner."""
        return self.id[1]

    def column(self, name: str) -> Column | None:
        """Give a column by its name."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A table with what its foreign keys lead to, both ways; ``related`` describes the tables there.

    ``schema`` is the one in which plain names are looked up. A table that is not in ``related`` was not described: it
    is one too many, or hidden from the user.
    """

    table: Table
    schema: str
    parents: tuple[Reference, ...] = ()
    children: tuple[Reference, ...] = ()
    related: Mapping[TableId, Table] = field(default_factory=lambda: MappingProxyType({}))
