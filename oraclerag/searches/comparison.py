"""What is otherwise when a logged search is run again: hits that came, went or moved, the model, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from oraclerag.records import Answer, Hit, LoggedHit, LoggedSearch, SearchResult

__all__ = ["MovedHit", "SearchReplay", "compare"]

_SAME_DISTANCE = 0.000_001  # vectors are FLOAT32: another plan may add in another order


@dataclass(frozen=True, slots=True)
class MovedHit:
    """A hit that was found again, at another rank or distance; ``before`` is what the log has."""

    key: str
    rank_before: int
    rank: int
    distance_before: float | None
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReplay:
    """A logged search beside what it gives now.

    ``came`` was not found then, ``went`` is not found now: it is gone, changed, not seen by this scope, or something
    else is nearer. ``moved`` is found again otherwise, ``kept`` counts what is as it was. ``answer`` is the new one
    where it was asked again; ``answer_changed`` is None where it was not, or where the old text was not kept.
    ``seconds_before`` and ``seconds`` are by step.
    """

    logged: LoggedSearch
    result: SearchResult = field(repr=False)
    answer: Answer | None = field(default=None, repr=False)
    came: tuple[Hit, ...] = ()
    went: tuple[LoggedHit, ...] = ()
    moved: tuple[MovedHit, ...] = ()
    kept: int = 0
    model_before: str | None = None
    model: str | None = None
    outcome: str = ""
    answer_changed: bool | None = None
    seconds_before: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def model_changed(self) -> bool:
        """Whether another model embeds the question now; None of either is no change."""
        return None not in (self.model_before, self.model) and self.model_before != self.model

    @property
    def outcome_changed(self) -> bool:
        """Whether it ends otherwise now. Of a question that was only searched for, grounds or none are compared."""
        return self.outcome != _outcome_before(self.logged, asked=self.answer is not None)

    @property
    def changed(self) -> bool:
        """Whether anything but the time is otherwise."""
        hits = self.came or self.went or self.moved
        return bool(hits or self.model_changed or self.outcome_changed or self.answer_changed)


def compare(logged: LoggedSearch, result: SearchResult, answer: Answer | None = None) -> SearchReplay:
    """Hold what is found now, and maybe answered, against what was logged."""
    before = {_place(hit): hit for hit in logged.hits}
    now = {_place(hit): hit for hit in result.hits}
    moved = []
    kept = 0
    for place, hit in now.items():
        old = before.get(place)
        if old is None:
            continue
        if old.rank == hit.rank and (old.distance is None or abs(old.distance - hit.distance) <= _SAME_DISTANCE):
            kept += 1
        else:
            moved.append(MovedHit(hit.key, old.rank, hit.rank, old.distance, hit.distance))
    return SearchReplay(
        logged=logged,
        result=result,
        answer=answer,
        came=tuple(hit for place, hit in now.items() if place not in before),
        went=tuple(hit for place, hit in before.items() if place not in now),
        moved=tuple(moved),
        kept=kept,
        model_before=logged.model,
        model=result.model,
        outcome=answer.outcome if answer is not None else "found" if result.hits else "nothing",
        answer_changed=None if answer is None or logged.answer is None else answer.text != logged.answer,
        seconds_before=dict(logged.timings),
        seconds={"search": result.seconds} if answer is None else dict(answer.timings),
    )


def _place(hit: Hit | LoggedHit) -> tuple[str, str, int]:
    return hit.source.type, hit.source.id, hit.chunk_number


def _outcome_before(logged: LoggedSearch, *, asked: bool) -> str:
    if asked or logged.outcome == "failed":
        return logged.outcome
    return "found" if logged.found else "nothing"
