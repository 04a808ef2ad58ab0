"""Keeps a user's own Alembic off the objects of oraclerag.

In the ``env.py`` of an application whose tables live in the same schema::

    from oraclerag.integrations.alembic import include_object

    context.configure(..., include_object=include_object)

Without it, ``alembic revision --autogenerate`` proposes to drop the toolkit's tables and those that Oracle makes for
vector and text indexes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["include_object", "include_object_and"]

# RAG_: ours. VECTOR$: what Oracle makes for vector indexes. DR$: for Oracle Text.
_PREFIXES = ("RAG_", "VECTOR$", "DR$")


def include_object(
    object: Any,  # noqa: A002 - Alembic's name
    name: str | None,
    type_: str,
    reflected: bool,  # noqa: ARG001 - Alembic's signature
    compare_to: Any,  # noqa: ARG001
) -> bool:
    """Tell Alembic whether to look at an object; False for tables, indexes and constraints that are not the user's."""
    if type_ in ("table", "index", "unique_constraint") and name is not None and name.upper().startswith(_PREFIXES):
        return False
    table = getattr(object, "table", None)
    return table is None or not str(table.name).upper().startswith(_PREFIXES)


def include_object_and(theirs: Callable[..., bool]) -> Callable[..., bool]:
    """Join with an ``include_object`` of one's own: both must agree."""

    def both(object: Any, name: str | None, type_: str, reflected: bool, compare_to: Any) -> bool:  # noqa: A002
        return include_object(object, name, type_, reflected, compare_to) and theirs(
            object, name, type_, reflected, compare_to
        )

    return both
