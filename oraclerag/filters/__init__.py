"""What is searched: conditions on columns and metadata → a predicate with binds.

Three steps: :mod:`parse` checks a filter and makes a tree of it (fields by :mod:`fields`, values by :mod:`values`),
:mod:`sql` writes the tree. Pure: nothing here talks to a database. A filter narrows what a scope allows and can never
widen it: the search puts both in brackets and joins them with AND.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oraclerag.filters.parse import parse
from oraclerag.filters.sql import ERROR_CODE, Writer
from oraclerag.filters.tree import SHARE, narrowing

__all__ = ["ERROR_CODE", "SHARE", "Predicate", "predicate"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A filter as SQL over RAG_CHUNK; one without conditions has no text and is false.

    ``text`` is to be put into brackets. A value of ``binds`` is a text, a number or, for a long list of a column's
    values, a list, which is bound as JSON. ``conditions``: how many equalities narrow about as much; 0 for what narrows
    nothing.
    """

    text: str = ""
    binds: Mapping[str, Any] = field(default_factory=dict, repr=False)
    conditions: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.text)


def predicate(
    filter: Mapping[str, Any],  # noqa: A002 - the field's word
    alias: str = "c",
    *,
    name: str = "filter",
) -> Predicate:
    """Give the predicate over RAG_CHUNK under ``alias``.

    ``name`` is the argument that it comes from: it begins the names of the binds and every message. The text depends on
    fields, operators and types alone: neither on values nor on the order of keys. The language is described in
    docs/search.md. Raises :class:`~oraclerag.errors.InputError` for what is none of it.
    """
    tree = parse(filter, name)
    if tree is None:
        return Predicate()
    writer = Writer(alias, name)
    return Predicate(writer.text(tree), writer.binds, narrowing(tree))
