"""Metadata that are too long for the row of a read, where they travel as a VARCHAR2: fetched by chunk id."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oraclerag.database import in_list, parts
from oraclerag.search.compose import Statement
from oraclerag.statements import quoted

if TYPE_CHECKING:
    import oracledb

    from oraclerag.scope import Scope

__all__ = ["compose_long", "long_metadata"]


def long_metadata(
    connection: oracledb.Connection, schema: str, scope: Scope, ids: Sequence[int]
) -> Iterator[dict[int, Mapping[str, Any]]]:
    """Give what each statement that it takes finds, by chunk id; what the scope may not see is not among it."""
    for part in parts(ids):
        statement = compose_long(schema, scope, part)
        with connection.cursor() as cursor:
            cursor.execute(statement.text, dict(statement.binds), fetch_lobs=False)
            yield {int(chunk_id): json.loads(text) for chunk_id, text in cursor if text is not None}


def compose_long(schema: str, scope: Scope, ids: Sequence[int]) -> Statement:
    """Build the statement. It asks for the scope again: between two statements a chunk may have become another's.

    As text here too: of a JSON column the driver makes numbers Decimal.
    """
    listed, binds = in_list(ids)
    allowed, allowed_binds = scope.predicate("c")
    return Statement(
        f"SELECT c.CHUNK_ID, JSON_SERIALIZE(c.METADATA RETURNING CLOB) AS METADATA_TEXT\n"
        f"FROM {quoted(schema, 'schema')}.RAG_CHUNK c\n"
        f"WHERE {allowed} AND (c.CHUNK_ID IN ({listed}))",
        {**binds, **allowed_binds},
    )
