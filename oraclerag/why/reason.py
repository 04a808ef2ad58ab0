"""What is known of an entity and a question, and the sentence that says why it is found or not."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from oraclerag.records import SourceKey

__all__ = ["ChunkReason", "InSource", "QueuedChange", "Why", "reason"]

InSource = Literal["visible", "not visible", "gone", "unreadable"]


@dataclass(frozen=True, slots=True)
class ChunkReason:
    """How one chunk stands to a question: ``place`` is its exact rank among all that the search may look at.

    ``hidden_by`` names the options that keep it out ("scope", "filter", "min_score", …); then it has no place.
    ``distance`` None: it has no vector.
    """

    key: str
    distance: float | None
    place: int | None
    hidden_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuedChange:
    """A change of the entity that waits, or was given up ("DEAD"). Times are UTC."""

    state: Literal["READY", "DEAD"]
    action: str
    enqueued_at: dt.datetime
    available_at: dt.datetime
    claimed: bool
    attempts: int
    crashes: int
    error_code: str | None


@dataclass(frozen=True, slots=True)
class Why:
    """What is known of an entity and a question; ``reason`` says it in a sentence.

    ``known``: whether anything may be said; without it all else is empty. ``rank`` is where its best chunk is in the
    result of the search, None where it is not in it. ``chunks`` are the nearest ones, 20 at most, ``chunk_count`` is
    how many were indexed last, at ``indexed_at`` (UTC); ``settings_in_force`` whether that was with the settings and
    the model in force; ``paused`` why its source is. ``queue`` is None where the database user may not read it.
    ``approximate_misses``: whether a search that uses the index misses its best chunk, None where there is no index or
    nothing to miss. ``in_source`` is what the source says now, where that was asked for.
    """

    key: SourceKey
    reason: str
    known: bool = False
    rank: int | None = None
    k: int = 0
    chunks: tuple[ChunkReason, ...] = ()
    chunk_count: int | None = None
    indexed_at: dt.datetime | None = None
    settings_in_force: bool | None = None
    paused: str | None = None
    queue: tuple[QueuedChange, ...] | None = None
    approximate_misses: bool | None = None
    in_source: InSource | None = None


def reason(told: Why, *, hidden: bool, approximate: bool) -> str:
    """Say it in a sentence; ``hidden``: the entity has chunks that nobody sees."""
    if told.rank is not None:
        return f"It is found: hit {told.rank} of at most {told.k}."
    if not told.chunks:
        return _not_indexed(told, hidden=hidden)
    best = told.chunks[0]
    if best.hidden_by:
        names = " and ".join(best.hidden_by)
        return f"It is kept out by {names}: none of its chunks passes, and {best.key} comes nearest to that."
    if best.distance is None:
        return "It has no vector yet: its text was not embedded."
    if best.place is not None and best.place > told.k:
        return f"Others are nearer: its best chunk has place {best.place:,}, and k is {told.k}."
    if approximate and told.approximate_misses:
        return f"The vector index misses it: by exact distance it has place {best.place}. mode='exact' finds it."
    return (
        f"By distance it has place {best.place} of at most {told.k}, and something else comes before: what is "
        "preferred, has the words or is more diverse; or its source no longer shows it to this scope."
    )


def _not_indexed(told: Why, *, hidden: bool) -> str:
    changes = told.queue or ()
    if hidden:
        return "Its chunks are hidden from everybody: after a change, who may see it could not be read."
    if told.paused is not None:
        return f"It is not indexed, and its source is paused: {told.paused}"
    if any(change.state == "READY" for change in changes):
        return "It is not indexed yet: a change of it waits in the queue."
    if changes:
        return f"It is not indexed: its change was given up ({changes[-1].error_code or 'no code'})."
    if told.indexed_at is not None:
        return "It has no chunks: when it was looked at last, it was gone or had no text."
    return "It is not indexed, and nothing of it waits in the queue."
