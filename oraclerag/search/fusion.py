"""Hybrid search: the ranks of a vector leg and of a text leg, fused in the statement that reads both.

Each leg is ordered and limited in a block of its own over RAG_CHUNK alone, with every condition of the request; ranks
are counted outside of it, so that neither index is kept from its work. A chunk's credit is the sum of
``weight / (60 + rank)`` over the legs that found it: a leg that did not find it gives nothing. Ties go by chunk id.

Without a text index the text leg has no index to ask. It then looks for the words in the candidates of the vector leg:
bounded work, which puts those forward that have the rare words, and finds nothing that the vector leg did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from oraclerag.search.text_query import Term, TextQuery

__all__ = ["INDEX", "MORE_COLUMNS", "RANKS", "RANK_CONSTANT", "TextLeg", "columns_outside", "fused"]

INDEX = "RAG_CHUNK_TEXT_IDX"
"""The CONTEXT index over RAG_CHUNK.CONTENT."""

MORE_COLUMNS = ("VECTOR_RANK", "TEXT_RANK", "VECTOR_FOUND", "TEXT_PENDING")
"""What a hybrid search gives beside the columns of every search."""

RANK_CONSTANT = 60
"""The greater, the less do the first ranks of a leg outweigh those behind them."""

RANKS = ("FUSED", "VECTOR_RANK", "TEXT_RANK")
"""What :func:`fused` gives beside CHUNK_ID."""

_PLAIN_WORDS = 16
_PATTERN_BYTES = 512  # the longest regular expression that Oracle takes


@dataclass(frozen=True, slots=True)
class TextLeg:
    """The second leg of a hybrid search: what it looks for, in the text index or in the candidates of the first.

    ``weights`` are those of the vector leg and of this one; ``candidates`` is how many rows each leg gives at most,
    ``owner`` whose the index is.
    """

    words: TextQuery = field(repr=False)
    kind: Literal["oracle text", "plain"]
    weights: tuple[float, float]
    candidates: int
    owner: str

    @property
    def binds(self) -> dict[str, Any]:
        """The values of the statement's places."""
        values: dict[str, Any] = {
            "vector_weight": self.weights[0], "text_weight": self.weights[1],
        }  # fmt: skip
        if self.kind == "oracle text":
            return values | {"text_words": self.words.contains, "text_owner": self.owner}
        return values | {f"text_word{number}": pattern for number, pattern in enumerate(self.patterns)}

    @property
    def patterns(self) -> list[str]:
        """A regular expression for each word of the plain leg: it must stand between what is no letter or digit."""
        found = [pattern for term in self.words.terms if len((pattern := _pattern(term)).encode()) <= _PATTERN_BYTES]
        return found[:_PLAIN_WORDS]


def fused(leg: TextLeg, nearest: str, schema: str, where: Sequence[str], label: int) -> str:
    """Give the query of CHUNK_ID, FUSED, VECTOR_RANK and TEXT_RANK of everything that either leg found.

    ``nearest`` is the limited block of the vector leg (CHUNK_ID, DISTANCE and CONTENT), ``where`` the brackets that the
    text leg must fulfil too; ``label`` tells the CONTAINS of one statement apart.
    """
    if leg.kind == "plain":
        return _words_of_candidates(leg, nearest)
    allowed = "\n     AND ".join(where)
    return f"""\
SELECT r.CHUNK_ID, SUM(r.CREDIT) AS FUSED, MAX(r.VECTOR_RANK) AS VECTOR_RANK, MAX(r.TEXT_RANK) AS TEXT_RANK
FROM (
 SELECT v.CHUNK_ID, v.PLACE AS VECTOR_RANK, TO_NUMBER(NULL) AS TEXT_RANK,
        :vector_weight / ({RANK_CONSTANT} + v.PLACE) AS CREDIT
 FROM (SELECT b.CHUNK_ID, ROW_NUMBER() OVER (ORDER BY b.DISTANCE, b.CHUNK_ID) AS PLACE FROM (
{nearest}
 ) b WHERE b.DISTANCE IS NOT NULL) v
 UNION ALL
 SELECT t.CHUNK_ID, TO_NUMBER(NULL), t.PLACE, :text_weight / ({RANK_CONSTANT} + t.PLACE)
 FROM (SELECT b.CHUNK_ID, ROW_NUMBER() OVER (ORDER BY b.TEXT_SCORE DESC, b.CHUNK_ID) AS PLACE FROM (
  SELECT c.CHUNK_ID, SCORE({label}) AS TEXT_SCORE
    FROM {schema}.RAG_CHUNK c
   WHERE {allowed}
     AND CONTAINS(c.CONTENT, :text_words, {label}) > 0
   ORDER BY TEXT_SCORE DESC, c.CHUNK_ID
   FETCH FIRST {int(leg.candidates)} ROWS ONLY
 ) b) t
) r
GROUP BY r.CHUNK_ID"""


def columns_outside(leg: TextLeg, alias: str) -> str:
    """Give what the outermost block selects for :data:`MORE_COLUMNS`, over a block that has the ranks.

    Rows that wait for the text index are counted for its owner; who else searches sees no such view, and NULL.
    """
    waiting = "TO_NUMBER(NULL)"
    if leg.kind == "oracle text":
        waiting = (
            "CASE WHEN SYS_CONTEXT('USERENV', 'SESSION_USER') = :text_owner THEN\n"
            f"    (SELECT COUNT(*) FROM CTX_USER_PENDING w WHERE w.PND_INDEX_NAME = '{INDEX}') END"
        )
    return (
        f"{alias}.VECTOR_RANK, {alias}.TEXT_RANK, COUNT({alias}.VECTOR_RANK) OVER () AS VECTOR_FOUND,\n"
        f"  {waiting} AS TEXT_PENDING"
    )


def _words_of_candidates(leg: TextLeg, nearest: str) -> str:
    """Rank the candidates of the vector leg by their words too, rare ones among them counting more."""
    numbers = range(len(leg.patterns))
    has = ",\n         ".join(
        f"CASE WHEN REGEXP_LIKE(b.CONTENT, :text_word{n}, 'i') THEN 1 ELSE 0 END AS W{n}" for n in numbers
    )
    weighed = "\n       + ".join(f"m.W{n} * LN(1 + COUNT(*) OVER () / (1 + SUM(m.W{n}) OVER ()))" for n in numbers)
    return f"""\
SELECT p.CHUNK_ID, p.VECTOR_RANK, p.TEXT_RANK,
  :vector_weight / ({RANK_CONSTANT} + p.VECTOR_RANK)
    + COALESCE(:text_weight / ({RANK_CONSTANT} + p.TEXT_RANK), 0) AS FUSED
FROM (
 SELECT o.CHUNK_ID, o.VECTOR_RANK,
        CASE WHEN o.WORDS > 0 THEN ROW_NUMBER() OVER (ORDER BY o.WORDS DESC, o.VECTOR_RANK) END AS TEXT_RANK
 FROM (
  SELECT m.CHUNK_ID, ROW_NUMBER() OVER (ORDER BY m.DISTANCE, m.CHUNK_ID) AS VECTOR_RANK,
         {weighed} AS WORDS
  FROM (
   SELECT b.CHUNK_ID, b.DISTANCE,
         {has}
   FROM (
{nearest}
   ) b WHERE b.DISTANCE IS NOT NULL
  ) m
 ) o
) p"""


def _pattern(term: Term) -> str:
    between = "[^[:alnum:]]+".join(token.replace(".", "[.]") for token in term)
    return f"(^|[^[:alnum:]]){between}([^[:alnum:]]|$)"
