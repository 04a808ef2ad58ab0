"""Texts → requests: as many in one as its limits of texts and tokens allow, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["batches"]


def batches(sizes: Sequence[int], *, most_items: int, most_tokens: int) -> Iterator[slice]:
    """Cut texts of these sizes (tokens) into runs; one that is larger than a request is alone, and left to its fate."""
    begin = total = 0
    for at, size in enumerate(sizes):
        if at > begin and (at - begin >= most_items or total + size > most_tokens):
            yield slice(begin, at)
            begin, total = at, 0
        total += size
    if begin < len(sizes):
        yield slice(begin, len(sizes))
