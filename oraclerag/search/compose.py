"""The statement of a search: built from the predicates in use, values as binds.

The block with the row limit reads RAG_CHUNK alone, so that the vector index can be used; title and address are joined
outside, where ties are broken too. An exact search orders ids and distances alone and reads the rest of the k rows that
are left: every row passes there, and would have its text moved and its metadata serialised for nothing. METADATA
travels as text: a JSON column would cost every search a second round trip for its define.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from oraclerag.search import fusion
from oraclerag.search.predicate import conditions
from oraclerag.statements import identifier, quoted

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel
    from oraclerag.search.fusion import TextLeg
    from oraclerag.search.request import Request

__all__ = ["COLUMNS", "HAS_METADATA", "METADATA_TEXT", "Statement", "compose", "concatenated", "pieces", "stale"]

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

METADATA_TEXT = "JSON_SERIALIZE(c.METADATA RETURNING VARCHAR2(4000) NULL ON ERROR) AS METADATA_TEXT"
"""Metadata as text; NULL where they are longer, which :data:`HAS_METADATA` tells from none."""

HAS_METADATA = "CASE WHEN c.METADATA IS NULL THEN 0 ELSE 1 END AS HAS_METADATA"

_AUTHORITY = "CASE WHEN c.SOURCE_TYPE = 'resolution' AND JSON_EXISTS(c.METADATA, '$.validated_by') THEN 1 ELSE 0 END"
# Validated resolutions, newest first; then the others as they are.
_BY_AUTHORITY = "x.AUTHORITY DESC, CASE x.AUTHORITY WHEN 1 THEN x.OCCURRED_AT END DESC NULLS LAST"


@dataclass(frozen=True, slots=True)
class Statement:
    """A composed search: its text and binds; ``binds`` lacks ``:question_vector`` where that is computed before.

    ``columns`` are those that it gives, in order.
    """

    text: str
    binds: Mapping[str, Any] = field(repr=False)  # the question is among them
    columns: tuple[str, ...] = COLUMNS


def compose(
    model: ActiveModel,
    request: Request,
    question: str,
    *,
    kind: Literal["APPROX", "EXACT"] = "EXACT",
    preferred_kind: Literal["APPROX", "EXACT"] | None = None,
    target_accuracy: int = 90,
    separate: bool = False,
    text_leg: TextLeg | None = None,
) -> Statement:
    """Build the statement of a search for ``question``, the text that the model is to read.

    APPROX computes the question's vector inline, as the operand of the distance; EXACT in a scalar subquery, so that
    it is not computed once per row. ``separate`` takes it as the bind ``:question_vector``. What is preferred has a
    block of its own, so that it is found however far it is, and may be searched otherwise than the others
    (``preferred_kind``; default: ``kind``). It finds nothing when ``model`` is no longer the one in
    force: no vector is ever compared with one of another model. With a ``text_leg`` every block fuses two, and the
    distance is computed once more outside, for what only the text leg found.
    """
    schema = quoted(model.schema, "schema")
    allowed, binds = conditions(request)
    binds["model_in_force"] = model.physical_name
    if separate:
        vector = ":question_vector"
    else:
        parts = pieces(question)
        binds |= {f"question{number}": part for number, part in enumerate(parts)}
        vector = f"VECTOR_EMBEDDING({model.sql_name} USING {concatenated(parts)} AS DATA)"
    once = vector if separate else f"(SELECT {vector} FROM dual)"
    k = int(request.k)  # a literal: the optimizer then knows how few rows the joins outside are for
    column = identifier(model.column, "vector column")

    def row(measured: str, preferred: int) -> str:
        authority = _AUTHORITY if request.order == "authority" else "0"
        return f"""\
  SELECT {", ".join(f"c.{name}" for name in _STORED)},
         {measured} AS DISTANCE,
         {METADATA_TEXT},
         {HAS_METADATA}, {preferred} AS PREFERRED,
         {authority} AS AUTHORITY"""

    def nearest(how: Literal["APPROX", "EXACT"], select: str, where: Sequence[str]) -> str:
        limit = f"FETCH {how} FIRST {k if text_leg is None else int(text_leg.candidates)} ROWS ONLY"
        if how == "APPROX":
            limit += f" WITH TARGET ACCURACY {int(request.accuracy or target_accuracy)}"
        # an index orders by the distance alone
        order = "DISTANCE" if how == "APPROX" else "DISTANCE, c.CHUNK_ID"
        conditions_inside = "\n     AND ".join(where)
        return f"{select}\n    FROM {schema}.RAG_CHUNK c\n   WHERE {conditions_inside}\n   ORDER BY {order}\n   {limit}"

    def block(how: Literal["APPROX", "EXACT"], preferred: int, *more: str) -> str:
        where = [*allowed, *more]
        distance = f"VECTOR_DISTANCE(c.{column}, {vector if how == 'APPROX' else once}, COSINE)"
        back = f"JOIN {schema}.RAG_CHUNK c ON c.CHUNK_ID = f.CHUNK_ID"
        if text_leg is None and how == "APPROX":
            return nearest(how, row(distance, preferred), where)
        if text_leg is None:
            first = nearest(how, f"  SELECT c.CHUNK_ID, {distance} AS DISTANCE", where)
            return f"{row('f.DISTANCE', preferred)}\n    FROM (\n{first}\n    ) f\n    {back}"
        text = "c.CONTENT, " if text_leg.kind == "plain" else ""
        first = nearest(how, f"  SELECT c.CHUNK_ID, {text}{distance} AS DISTANCE", where)
        found = fusion.fused(text_leg, first, schema, [*where, f"(c.{column} IS NOT NULL)"], label=preferred + 1)
        return (
            f"{row(f'VECTOR_DISTANCE(c.{column}, {once}, COSINE)', preferred)},\n"
            f"         {', '.join(f'f.{name}' for name in fusion.RANKS)}\n"
            f"    FROM (\n{found}\n    ) f\n    {back}"
        )

    if request.prefer:
        binds |= request.prefer.binds
        columns = ", ".join([*_STORED, *_COMPUTED, *(fusion.RANKS if text_leg is not None else ())])
        # not NOT: a condition over a field that is missing may be neither true nor false
        first, others = f"({request.prefer.text})", f"(CASE WHEN {request.prefer.text} THEN 1 ELSE 0 END = 0)"
        found = (
            f"  SELECT {columns} FROM (\n{block(preferred_kind or kind, 1, first)}\n  )\n  UNION ALL\n"
            f"  SELECT {columns} FROM (\n{block(kind, 0, others)}\n  )"
        )
    else:
        found = block(kind, 0)
    outer = ["x.DISTANCE IS NOT NULL"]
    if request.min_score is not None:
        binds["max_distance"] = 1.0 - request.min_score
        outer.append("x.DISTANCE <= :max_distance")
    by = ["x.PREFERRED DESC"] if request.prefer else []
    by += [_BY_AUTHORITY] if request.order == "authority" else []
    by += ["x.DISTANCE" if text_leg is None else "x.FUSED DESC", "x.CHUNK_ID"]
    last = f"\nFETCH FIRST {k} ROWS ONLY" if request.prefer or text_leg is not None else ""
    columns = ", ".join(f"x.{name}" for name in (*_STORED[1:], *_COMPUTED))
    more = ""
    more_columns: tuple[str, ...] = ()
    if text_leg is not None:
        binds |= text_leg.binds
        more, more_columns = f",\n  {fusion.columns_outside(text_leg, 'x')}", fusion.MORE_COLUMNS
    conditions_outside = "\n  AND ".join(outer)
    return Statement(
        f"""\
SELECT {columns}, d.TITLE, d.URL,
  {stale(schema, "x")}{more}
FROM (
{found}
) x
LEFT JOIN {schema}.RAG_DOCUMENT d ON d.ENTITY_ID = x.ENTITY_ID
WHERE {conditions_outside}
  AND EXISTS (SELECT 1 FROM {schema}.RAG_SETTING s
               WHERE s.SCOPE_NAME = '*' AND s.SETTING = 'model' AND s.SETTING_VALUE = :model_in_force)
ORDER BY {", ".join(by)}{last}""",
        binds,
        (*COLUMNS, *more_columns),
    )


def stale(schema: str, alias: str) -> str:
    """Give the column that says whether a change of the entity of a row waits in the queue."""
    return (
        f"CASE WHEN EXISTS (SELECT 1 FROM {schema}.RAG_WAITING q WHERE q.SOURCE_TYPE = {alias}.SOURCE_TYPE\n"
        f"                       AND q.SOURCE_ID = {alias}.SOURCE_ID) THEN 1 ELSE 0 END AS STALE"
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
