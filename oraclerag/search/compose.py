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
from oraclerag.search.predicate import conditions
from oraclerag.statements import identifier, quoted

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel
    from oraclerag.scope import Scope
    from oraclerag.search.request import Request

__all__ = ["COLUMNS", "Statement", "compose", "concatenated", "long_metadata", "pieces"]

# The driver declares a text four times as long as it is: over 4,000 it would be a LONG, which no function takes
# (ORA-01461).
_BIND_BYTES = 1000

# What a block gives beside what it computes.
_STORED = (
    "ENTITY_ID", "CHUNK_ID", "SOURCE_TYPE", "SOURCE_ID", "TENANT_ID", "CHUNK_NO", "CONTENT", "SECTION", "COLLECTION",
    "PROJECT_ID", "SPRINT_ID", "OCCURRED_AT",
)  # fmt: skip
_COMPUTED = ("DISTANCE", "METADATA_TEXT", "HAS_METADATA", "PREFERRED", "AUTHORITY")
COLUMNS = (*_STORED[1:], *_COMPUTED, "TITLE", "URL", "STALE")
"""The columns of every composed search, in order."""

_AUTHORITY = "CASE WHEN c.SOURCE_TYPE = 'resolution' AND JSON_EXISTS(c.METADATA, '$.validated_by') THEN 1 ELSE 0 END"
# Validated resolutions, newest first; then the others as they are.
_BY_AUTHORITY = (
    "x.AUTHORITY DESC, CASE x.AUTHORITY WHEN 1 THEN x.OCCURRED_AT END DESC NULLS LAST, x.DISTANCE, x.CHUNK_ID"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A composed search: its text and binds; ``binds`` lacks ``:question_vector`` where that is computed before."""

    text: str
    binds: Mapping[str, Any] = field(repr=False)  # the question is among them


def compose(
    model: ActiveModel,
    request: Request,
    question: str,
    *,
    kind: Literal["APPROX", "EXACT"] = "EXACT",
    target_accuracy: int = 90,
    separate: bool = False,
) -> Statement:
    """Build the statement of a search for ``question``, the text that the model is to read.

    APPROX computes the question's vector inline, as the operand of the distance; EXACT in a scalar subquery, so that
    it is not computed once per row. ``separate`` takes it as the bind ``:question_vector``. What is preferred has a
    block of its own, so that it is found however far it is. It finds nothing when ``model`` is no longer the one in
    force: no vector is ever compared with one of another model.
    """
    schema = quoted(model.schema, "schema")
    allowed, binds = conditions(request)
    binds |= {"k": request.k, "model_in_force": model.physical_name}
    if separate:
        vector = ":question_vector"
    else:
        parts = pieces(question)
        binds |= {f"question{number}": part for number, part in enumerate(parts)}
        vector = f"VECTOR_EMBEDDING({model.sql_name} USING {concatenated(parts)} AS DATA)"
        if kind == "EXACT":
            vector = f"(SELECT {vector} FROM dual)"
    limit = f"FETCH {kind} FIRST :k ROWS ONLY"
    if kind == "APPROX":
        limit += f" WITH TARGET ACCURACY {int(request.accuracy or target_accuracy)}"
    distance = f"VECTOR_DISTANCE(c.{identifier(model.column, 'vector column')}, {vector}, COSINE)"

    def block(preferred: int, *more: str) -> str:
        where = "\n     AND ".join([*allowed, *more])
        authority = _AUTHORITY if request.order == "authority" else "0"
        return f"""\
  SELECT {", ".join(f"c.{name}" for name in _STORED)},
         {distance} AS DISTANCE,
         JSON_SERIALIZE(c.METADATA RETURNING VARCHAR2(4000) NULL ON ERROR) AS METADATA_TEXT,
         CASE WHEN c.METADATA IS NULL THEN 0 ELSE 1 END AS HAS_METADATA, {preferred} AS PREFERRED,
         {authority} AS AUTHORITY
    FROM {schema}.RAG_CHUNK c
   WHERE {where}
   ORDER BY DISTANCE
   {limit}"""

    if request.prefer[0]:
        binds |= request.prefer[1]
        columns = ", ".join([*_STORED, *_COMPUTED])
        # not NOT: a condition over a field that is missing may be neither true nor false
        first, others = f"({request.prefer[0]})", f"(CASE WHEN {request.prefer[0]} THEN 1 ELSE 0 END = 0)"
        found = (
            f"  SELECT {columns} FROM (\n{block(1, first)}\n  )\n  UNION ALL\n"
            f"  SELECT {columns} FROM (\n{block(0, others)}\n  )"
        )
    else:
        found = block(0)
    outer = ["x.DISTANCE IS NOT NULL"]
    if request.min_score is not None:
        binds["max_distance"] = 1.0 - request.min_score
        outer.append("x.DISTANCE <= :max_distance")
    by = _BY_AUTHORITY if request.order == "authority" else "x.DISTANCE, x.CHUNK_ID"
    order = f"x.PREFERRED DESC, {by}" if request.prefer[0] else by
    last = "\nFETCH FIRST :k ROWS ONLY" if request.prefer[0] else ""
    columns = ", ".join(f"x.{name}" for name in (*_STORED[1:], *_COMPUTED))
    conditions_outside = "\n  AND ".join(outer)
    return Statement(
        f"""\
SELECT {columns}, d.TITLE, d.URL,
  CASE WHEN EXISTS (SELECT 1 FROM {schema}.RAG_DIRTY q WHERE q.SOURCE_TYPE = x.SOURCE_TYPE
                       AND q.SOURCE_ID = x.SOURCE_ID AND q.STATE = 'READY') THEN 1 ELSE 0 END AS STALE
FROM (
{found}
) x
LEFT JOIN {schema}.RAG_DOCUMENT d ON d.ENTITY_ID = x.ENTITY_ID
WHERE {conditions_outside}
  AND EXISTS (SELECT 1 FROM {schema}.RAG_SETTING s
               WHERE s.SCOPE_NAME = '*' AND s.SETTING = 'model' AND s.SETTING_VALUE = :model_in_force)
ORDER BY {order}{last}""",
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
