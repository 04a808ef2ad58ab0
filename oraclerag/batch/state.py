"""What a worker remembers from batch to batch, and what a batch has done so far."""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, field

from oraclerag.claim import Claim, Turns
from oraclerag.merge import Merged
from oraclerag.model.active import ActiveModel
from oraclerag.model.external import Embedder
from oraclerag.records import Claimed, DrainReport

__all__ = ["Tally", "WorkerState"]


@dataclass(slots=True)
class WorkerState:
    """What a worker remembers from batch to batch; losing it costs nothing but a few statements."""

    turns: Turns = field(default_factory=Turns)
    model: ActiveModel | None = None
    second: ActiveModel | None = None  # beside it while models are switched
    idle_sources: frozenset[str] = frozenset()
    unreported: list[tuple[Claim, tuple[Claimed, ...]]] = field(default_factory=list)
    # connections that were lost, by the first row of each entity that was read or written then
    lost: Counter[int] = field(default_factory=Counter)
    warned: set[str] = field(default_factory=set)
    jitter: random.Random = field(default_factory=random.Random)
    unrestricted_until: float = 0.0  # by the monotonic clock
    embedder: Embedder | None = None  # where a provider embeds for the model
    sent: deque[tuple[float, int]] = field(default_factory=deque)  # to it: when, and how many tokens


@dataclass(slots=True)
class Tally:
    """The counts of one batch."""

    claimed: int = 0
    postponed: int = 0
    dead: int = 0
    given_back: int = 0
    merged: list[Merged] = field(default_factory=list)
    staged: int = 0
    tokens: int = 0
    paused: list[str] = field(default_factory=list)

    def report(self) -> DrainReport:
        """Give them as the caller sees them."""
        return DrainReport(
            claimed=self.claimed,
            indexed=sum(merged.indexed for merged in self.merged),
            unchanged=sum(merged.unchanged for merged in self.merged),
            deleted=sum(merged.deleted for merged in self.merged),
            postponed=self.postponed,
            dead=self.dead,
            given_back=self.given_back,
            embedded=self.staged + sum(merged.embedded for merged in self.merged),
            paused=tuple(self.paused),
        )
