"""The statement of a search: built from the predicates in use, values as binds.

The block with the row limit reads RAG_CHUNK alone, so that the vector index can be used; title and address are joined
outside, where ties are broken too. METADATA travels as text: a JSON column would cost every search a second round trip
for its define.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from oraclerag.database import in_list
from oraclerag.statements import identifier, quoted

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel
    from oraclerag.scope import Scope

__all__ = ["COLUMNS", "Statement", "compose", "concatenated", "long_metadata", "pieces"]

# The driver declares a text four times as long as it is: over 4,000 it would be a LONG, which no function takes
# (ORA-01461).
_BIND_BYTES = 1000

_INNER = (
    "CHUNK_ID", "SOURCE_TYPE", "SOURCE_ID", "TENANT_ID", "CHUNK_NO", "CONTENT", "SECTION", "COLLECTION", "PROJECT_ID",
    "SPRINT_ID", "OCCURRED_AT", "DISTANCE", "METADATA_TEXT", "HAS_METADATA",
)  # fmt: skip
COLUMNS = (*_INNER, "TITLE", "URL")


@dataclass(frozen=True, slots=True)
class Statement:
    """A composed search: its text and binds; ``binds`` lacks ``:question_vector`` where that is computed before."""

    text: str
    binds: Mapping[str, Any] = field(repr=False)  # the question is among them


def compose(
    model: ActiveModel,
    scope: Scope,
    question: str,
    *,
    k: int,
    sources: Sequence[str] = (),
    filter_: tuple[str, Mapping[str, Any]] = ("", {}),
    kind: Literal["APPROX", "EXACT"] = "EXACT",
    target_accuracy: int = 90,
    separate: bool = False,
) -> Statement:
    """Build the statement of a search.

    APPROX computes the question's vector inline, as the operand of the distance; EXACT in a scalar subquery, so that
    it is not computed once per row. ``separate`` takes it as the bind ``:question_vector``. It finds nothing when
    ``model`` is no longer the one in force: no vector is ever compared with one of another model.
    """
    schema = quoted(model.schema, "schema")
    binds: dict[str, Any] = {"k": k, "model_in_force": model.physical_name}
    if separate:
        vector = ":question_vector"
    else:
        parts = pieces(question)
        binds |= {f"question{number}": part for number, part in enumerate(parts)}
        vector = f"VECTOR_EMBEDDING({model.sql_name} USING {concatenated(parts)} AS DATA)"
        if kind == "EXACT":
            vector = f"(SELECT {vector} FROM dual)"
    allowed, allowed_binds = scope.predicate("c")
    conditions = [allowed]
    binds |= allowed_binds
    if sources:
        names = {f"source{number}": source for number, source in enumerate(sources)}
        conditions.append(f"(c.SOURCE_TYPE IN ({', '.join(f':{name}' for name in names)}))")
        binds |= names
    if filter_[0]:
        conditions.append(f"({filter_[0]})")
        binds |= filter_[1]
    where = "\n     AND ".join(conditions)
    limit = f"FETCH {kind} FIRST :k ROWS ONLY"
    if kind == "APPROX":
        limit += f" WITH TARGET ACCURACY {int(target_accuracy)}"
    column = identifier(model.column, "vector column")
    return Statement(
        f"""\
SELECT {", ".join(f"x.{name}" for name in _INNER)}, d.TITLE, d.URL
FROM (
  SELECT c.ENTITY_ID, c.CHUNK_ID, c.SOURCE_TYPE, c.SOURCE_ID, c.TENANT_ID, c.CHUNK_NO, c.CONTENT, c.SECTION,
         c.COLLECTION, c.PROJECT_ID, c.SPRINT_ID, c.OCCURRED_AT,
         JSON_SERIALIZE(c.METADATA RETURNING VARCHAR2(4000) NULL ON ERROR) AS METADATA_TEXT,
         CASE WHEN c.METADATA IS NULL THEN 0 ELSE 1 END AS HAS_METADATA,
         VECTOR_DISTANCE(c.{column}, {vector}, COSINE) AS DISTANCE
    FROM {schema}.RAG_CHUNK c
   WHERE {where}
   ORDER BY DISTANCE
   {limit}
) x
LEFT JOIN {schema}.RAG_DOCUMENT d ON d.ENTITY_ID = x.ENTITY_ID
WHERE x.DISTANCE IS NOT NULL
  AND EXISTS (SELECT 1 FROM {schema}.RAG_SETTING s
               WHERE s.SCOPE_NAME = '*' AND s.SETTING = 'model' AND s.SETTING_VALUE = :model_in_force)
ORDER BY x.DISTANCE, x.CHUNK_ID""",
        binds,
    )


def long_metadata(schema: str, scope: Scope, ids: Sequence[int]) -> Statement:
    """Build the statement that fetches metadata which were too long for the search, by chunk id.

    It asks for the scope again: between two statements a chunk may have become another's.
    """
    listed, binds = in_list(ids)
    allowed, allowed_binds = scope.predicate("c")
    return Statement(
        f"SELECT c.CHUNK_ID, c.METADATA FROM {quoted(schema, 'schema')}.RAG_CHUNK c\n"
        f"WHERE {allowed} AND (c.CHUNK_ID IN ({listed}))",
        {**binds, **allowed_binds},
    )


def pieces(text: str) -> list[str]:
    """Cut a text into binds of at most 1,000 bytes, none in the middle of a character."""
    found, begin, size = [], 0, 0
    for position, char in enumerate(text):
        length = len(char.encode())
        if size + length > _BIND_BYTES:
            found.append(text[begin:position])
            begin, size = position, 0
        size += length
    found.append(text[begin:])
    return found


def concatenated(parts: Sequence[str]) -> str:
    """Give the SQL that puts the binds ``:question0``, ``:question1``, … together again."""
    return " || ".join(f":question{number}" for number in range(len(parts)))
