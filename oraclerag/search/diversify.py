"""Maximal marginal relevance: hits that are near to the question and not to each other, chosen of more candidates.

A candidate is worth ``(1 - diversity) * relevance - diversity * similarity`` to the most similar one that is chosen
already. Vectors stay where they are: the statement that finds the candidates gives the distances between them too, each
row those to the candidates before it, as whole numbers of 1/100,000, which no language of a session writes otherwise.
The candidates are few, so these are at most some thousand distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oraclerag.search.compose import Statement
from oraclerag.search.fusion import RANK_CONSTANT
from oraclerag.statements import identifier, quoted

__all__ = ["APART", "candidates", "choose", "chosen", "with_distances"]

APART = "APART"
"""The column of the distances to the candidates before."""

_MOST_CANDIDATES = 50
_MOST_COMPARED = 500  # the distances of a row are one text of 4,000 bytes (ORA-01489), each takes 7 of them at most
_UNITS = 100_000


def candidates(k: int) -> int:
    """Give how many are fetched to choose ``k`` from: four times as many, but no more than 50, or ``k`` where that is.

    From 50 on there is no more to choose from: then only the order changes, and that of the first 500.
    """
    return max(k, min(4 * k, _MOST_CANDIDATES))


def with_distances(statement: Statement, schema: str, column: str) -> Statement:
    """Have a composed search give the distances between what it finds, in the same order."""
    chunk = f"{quoted(schema, 'schema')}.RAG_CHUNK"
    vector = identifier(column, "vector column")
    names = ", ".join(f"e.{name}" for name in statement.columns)
    # as NUMBER: a BINARY_DOUBLE would be written with an exponent
    apart = f"CAST(VECTOR_DISTANCE(a.{vector}, b.{vector}, COSINE) * {_UNITS} AS NUMBER(7))"
    return Statement(
        f"""\
WITH found AS (
SELECT q.*, ROWNUM AS PLACE FROM (
{statement.text}
) q
)
SELECT {names},
  (SELECT LISTAGG({apart}, ' ') WITHIN GROUP (ORDER BY o.PLACE)
   FROM found o JOIN {chunk} b ON b.CHUNK_ID = o.CHUNK_ID
   WHERE o.PLACE < e.PLACE AND e.PLACE <= {_MOST_COMPARED}) AS {APART}
FROM found e JOIN {chunk} a ON a.CHUNK_ID = e.CHUNK_ID
ORDER BY e.PLACE""",
        statement.binds,
        (*statement.columns, APART),
    )


def chosen(
    rows: Sequence[tuple[Any, ...]], columns: Sequence[str], diversity: float, k: int, weights: tuple[float, float]
) -> list[tuple[Any, ...]]:
    """Choose ``k`` of the rows, best first, and take the distances off them.

    What is preferred, and what has authority, still comes before all others: each of these groups is chosen from by
    itself. What comes after the first 500 was compared with nothing and stays behind them, as it was. ``weights`` are
    those of a hybrid search.
    """
    named = [dict(zip(columns, row, strict=True)) for row in rows[:_MOST_COMPARED]]
    similar = [[1 - int(text) / _UNITS for text in (one[APART] or "").split()] for one in named]
    relevant = _relevance(named, weights)
    groups: dict[tuple[int, int], list[int]] = {}
    for place, one in enumerate(named):
        groups.setdefault((one["PREFERRED"], one["AUTHORITY"]), []).append(place)
    taken: list[int] = []
    for (_, authority), group in groups.items():
        if authority:  # newest first is what was asked for
            taken += group
        else:
            taken = choose(group, relevant, similar, diversity, k, taken)
    taken += range(len(named), len(rows))
    end = columns.index(APART)
    return [rows[place][:end] + rows[place][end + 1 :] for place in taken[:k]]


def choose(
    group: Sequence[int],
    relevant: Sequence[float],
    similar: Sequence[Sequence[float]],
    diversity: float,
    k: int,
    taken: Sequence[int] = (),
) -> list[int]:
    """Add places of ``group`` to ``taken`` until there are ``k``; of equal worth the earlier one.

    ``similar[a][b]`` is for ``b < a`` alone.
    """
    result, left = list(taken), list(group)
    nearest = {place: max((_pair(similar, place, other) for other in result), default=None) for place in left}
    while left and len(result) < k:
        best = max(left, key=lambda place: (_worth(relevant[place], nearest[place], diversity), -place))
        left.remove(best)
        result.append(best)
        for place in left:
            again = _pair(similar, place, best)
            before = nearest[place]
            nearest[place] = again if before is None else max(before, again)
    return result


def _worth(relevance: float, nearest: float | None, diversity: float) -> float:
    if nearest is None:  # the first one is the best one, whatever the diversity
        return relevance
    return (1 - diversity) * relevance - diversity * nearest


def _pair(similar: Sequence[Sequence[float]], one: int, other: int) -> float:
    return similar[max(one, other)][min(one, other)]


def _relevance(named: Sequence[Mapping[str, Any]], weights: tuple[float, float]) -> list[float]:
    """Give similarities to the question; of a hybrid search the fused credits, the best one being 1."""
    if not named or "VECTOR_RANK" not in named[0]:
        return [1 - float(one["DISTANCE"]) for one in named]
    credit = [
        sum(
            weight / (RANK_CONSTANT + one[rank])
            for weight, rank in zip(weights, ("VECTOR_RANK", "TEXT_RANK"), strict=True)
            if one[rank] is not None
        )
        for one in named
    ]
    best = max(credit) or 1.0
    return [one / best for one in credit]
