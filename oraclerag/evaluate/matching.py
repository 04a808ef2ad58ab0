"""What a hit counts as: judgements name entities or chunks, hits are chunks.

A hit is the chunk that was judged, else its entity: several chunks of an entity that was judged, or of which nothing
was, count once, at the place of the first. Where chunks of an entity were judged, its others count each for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from oraclerag import error_codes
from oraclerag.evaluate.questions import Question
from oraclerag.evaluate.report import Retrieved
from oraclerag.records import Hit

__all__ = ["codes_of", "names_code", "ranking", "retrieved"]


def retrieved(question: Question, hits: Iterable[Hit], codes: Set[str]) -> tuple[Retrieved, ...]:
    """Say of every hit what it counts as and how it was judged; ``codes`` are those of the question."""
    judged = question.judged
    by_chunk = {one.source for one in question.relevant if one.chunk is not None}
    found: list[Retrieved] = []
    seen: set[str] = set()
    for hit in hits:
        unit = hit.key if hit.source in by_chunk else str(hit.source)
        found.append(
            Retrieved(
                hit.key,
                unit,
                hit.rank,
                hit.distance,
                judged.get(unit),
                repeated=unit in seen,
                names_code=names_code(hit, codes) if codes else None,
            )
        )
        seen.add(unit)
    return tuple(found)


def ranking(hits: Sequence[Retrieved], k: int) -> list[str]:
    """Give what the first ``k`` hits count as, each once."""
    return list(dict.fromkeys(hit.unit for hit in hits[:k]))


def codes_of(question: Question) -> frozenset[str]:
    """Give the error codes that a question is about: those that it lists, else those in its text.

    Codes that say where something failed and not why (ORA-06512) count only where there are no others.
    """
    if question.codes is False:
        return frozenset()
    if question.codes is True:
        codes = {code.code for code in error_codes.find(question.text, any_case=True)}
    else:
        codes = {normal for code in question.codes if (normal := error_codes.normalised(code)) is not None}
    return frozenset(codes - error_codes.FRAMES or codes)


def names_code(hit: Hit, codes: Set[str]) -> bool:
    """Whether a hit names one of the codes, in its text or in its metadata, under whatever of its names."""
    wanted = {other for code in codes for other in error_codes.aliases(code)}
    listed: Any = hit.metadata.get("oracle_error_code") or ()
    given = {listed} if isinstance(listed, str) else {code for code in listed if isinstance(code, str)}
    named = {code.code for code in error_codes.find(hit.content)} | {error_codes.normalised(code) for code in given}
    return not wanted.isdisjoint(named)
