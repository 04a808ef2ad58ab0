"""What a worker remembers from batch to batch, what a batch has done so far, and whose vectors a provider makes."""

from __future__ import annotations

import logging
import random
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from oraclerag import log, telemetry
from oraclerag.claim import Claim, Postponed, Turns
from oraclerag.config import Settings
from oraclerag.embed import Budget, Passages
from oraclerag.errors import (
    EmbeddingBudgetSpent,
    EmbeddingDimensionMismatch,
    EntityError,
    OracleRagError,
    ProviderError,
)
from oraclerag.merge import SLICE, Merged, Write, text_hash
from oraclerag.model.active import ActiveModel
from oraclerag.model.external import Embedder
from oraclerag.queue.status import LANES
from oraclerag.records import NO_TENANT, Chunk, Claimed, DrainReport, Held

__all__ = [
    "Provided",
    "Tally",
    "WorkerState",
    "groups",
    "refusal",
    "tell",
    "tell_failed",
    "tell_paused",
    "tell_written",
]

_log = logging.getLogger("oraclerag.drain")  # these are its events


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


class Provided:
    """The vectors of one batch that a provider makes, kept in ``vectors`` by the hash of their text.

    Nothing may be locked while it is asked; ``renew`` renews the lease of what the batch holds, and commits.
    ``required`` is whether nothing can be written without them.
    """

    def __init__(
        self,
        state: WorkerState,
        settings: Settings,
        model: ActiveModel,
        vectors: dict[str, array[float]],
        budget: Budget,
        renew: Callable[[], None],
        tally: Tally,
        *,
        required: bool = True,
    ) -> None:
        assert state.embedder is not None  # noqa: S101 - who calls this has asked
        self._vectors = vectors
        self._budget = budget
        self._renew = renew
        self._tally = tally
        self._model = model
        self._tenant = ""
        self._required = required
        self._without: set[str] = set()
        self._lease = settings.lease
        self._renewed = float("-inf")
        self._passages = Passages(
            state.embedder,
            model.passage_prefix,
            model.counter.count,
            self._before,
            self._after,
            tokens_per_minute=settings.embedding_tokens_per_minute,
            sent=state.sent,
        )

    def lacks(self, chunks: Iterable[Chunk]) -> bool:
        """Whether a chunk has no vector yet, and shall have one."""
        return any(text_hash(chunk.content) not in self._vectors.keys() | self._without for chunk in chunks)

    @telemetry.step("embed")
    def make(self, tenant: str, chunks: Iterable[Chunk], *, begun: bool = False) -> dict[str, EntityError]:
        """Have the vectors of these chunks made, in the place of those before; gives the hashes that are refused.

        What was ``begun`` is ended, whatever the tenant has spent. Raises EmbeddingBudgetSpent where it has spent all,
        ProviderError, EmbeddingDimensionMismatch. Vectors that are not ``required``, for a model that is to come, may
        be missing: then nothing is raised or refused.
        """
        wanted = {text_hash(chunk.content): chunk.content for chunk in chunks}
        if self._required:
            return self._make(tenant, wanted, begun=begun)
        try:
            self._make(tenant, wanted, begun=begun)
        except (EmbeddingBudgetSpent, EmbeddingDimensionMismatch, ProviderError) as error:
            log.event(
                _log, logging.WARNING, "second_model", f"The model to come gets no vectors: {error.message}",
                tenant=tenant, chunks=len(wanted), error_code=error.code,
                hint="`oraclerag reembed --model NAME` makes them later.",
            )  # fmt: skip
        self._without |= wanted.keys() - self._vectors.keys()
        return {}

    def _make(self, tenant: str, wanted: Mapping[str, str], *, begun: bool) -> dict[str, EntityError]:
        self._vectors.clear()
        if not begun and (left := self._budget.spent(tenant)) is not None:
            raise EmbeddingBudgetSpent(
                f"The tokens that tenant {tenant!r} may have embedded in a day are spent.", seconds=left
            )
        self._tenant = tenant
        self._renewed = float("-inf")
        found, refused = self._passages.vectors(wanted)
        self._vectors |= found
        return refused

    def _before(self) -> None:
        if time.monotonic() - self._renewed > self._lease / 3:
            self._renew()
            self._renewed = time.monotonic()

    def _after(self, tokens: int) -> None:
        self._tally.tokens += tokens
        self._budget.record(self._tenant, self._model.physical_name, tokens=tokens)


def refusal(refused: Mapping[str, EntityError], write: Write) -> EntityError | None:
    """Give why a provider does not embed a chunk of an entity, if that is so."""
    found = (refused.get(text_hash(chunk.content)) for chunk in write.chunks) if refused else ()
    return next((error for error in found if error is not None), None)


def tell(report: DrainReport, turn: tuple[int, str] | None, tokens: int) -> None:
    """Log what a batch has done, of whose turn it was."""
    counts = {
        name: getattr(report, name)
        for name in ("indexed", "unchanged", "deleted", "postponed", "dead", "given_back")
        if getattr(report, name)
    }
    words = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    lane, tenant = turn or (None, None)
    log.event(
        _log,
        logging.INFO,
        "batch",
        f"{report.claimed:,} queue rows: {words or 'nothing to do'}.",
        tenant=None if tenant == NO_TENANT else tenant,
        lane=lane,
        rows=report.claimed,
        **counts,
        chunks=report.embedded,
        tokens=tokens,
        milliseconds=round(report.seconds * 1000),
    )
    _measure(report, "named" if lane is None else LANES[lane], tokens)


def _measure(report: DrainReport, lane: str, tokens: int) -> None:
    """Count what a batch has done; its entities were counted one by one, but for those that were given back."""
    telemetry.add("oraclerag.worker.batches", lane=lane)
    telemetry.add("oraclerag.worker.entities", report.given_back, outcome="given_back")
    telemetry.add("oraclerag.worker.embeddings", report.embedded)
    telemetry.add("oraclerag.worker.tokens", tokens)
    telemetry.observe("oraclerag.worker.batch.duration", report.seconds, {})
    done = {
        name: getattr(report, name)
        for name in ("claimed", "indexed", "unchanged", "deleted", "postponed", "dead", "given_back", "embedded")
    }
    telemetry.enclosing().set_all(
        {
            **{f"oraclerag.worker.batch.{name}": value for name, value in done.items()},
            "oraclerag.worker.batch.lane": lane,
            "oraclerag.worker.batch.tokens": tokens,
            "oraclerag.worker.batch.paused": len(report.paused),
        }
    )


def tell_failed(failure: Postponed, *, given_up: bool) -> None:
    """Log that an entity was postponed, or given up."""
    entity = failure.entity
    telemetry.add("oraclerag.worker.entities", outcome="given_up" if given_up else "postponed")
    telemetry.add("oraclerag.worker.failures", error_type=failure.error_code, scope="entity")
    log.event(
        _log,
        logging.WARNING if given_up else logging.INFO,
        "given_up" if given_up else "postponed",
        f"{entity.source_type}:{entity.source_id} is {'given up' if given_up else 'postponed'}: {failure.message}",
        source_type=entity.source_type,
        source_id=entity.source_id,
        attempts=max(attempts for _, attempts in entity.rows) + 1,
        error_code=failure.error_code,
        seconds=None if given_up else round(failure.pause, 1),
    )


def tell_paused(name: str, error: OracleRagError) -> None:
    """Log that a source is paused."""
    telemetry.add("oraclerag.worker.failures", error_type=error.code, scope="source")
    log.event(
        _log, logging.ERROR, "source_paused", f"Source {name} is paused: {error.message}",
        source_type=name, error_code=error.code, hint=error.hint or "`oraclerag source check` shows where.",
    )  # fmt: skip


def tell_written(write: Write, before: Held, model: ActiveModel) -> int:
    """Log what became of an entity, and give the tokens that were embedded for it."""
    key = {"source_type": write.entity.source_type, "source_id": write.entity.source_id}
    document = write.document
    if document is None:
        telemetry.add("oraclerag.worker.entities", outcome="deleted")
        log.event(_log, logging.DEBUG, "deleted", "The entity is gone.", **key)
        return 0
    fresh = (before.content_hash, before.fingerprint) != (write.content_hash, write.fingerprint)
    tokens = sum(model.counter.count(model.passage_prefix + chunk.content) for chunk in write.chunks) if fresh else 0
    changed = fresh or before.details_hash != write.details_hash
    telemetry.add("oraclerag.worker.entities", outcome="indexed" if changed else "unchanged")
    telemetry.add("oraclerag.worker.chunks", len(write.chunks) if fresh else 0)
    log.event(
        _log,
        logging.DEBUG,
        "indexed" if changed else "unchanged",
        "The entity is as its source says.",
        tenant=document.tenant,
        collection=document.collection,
        **key,
        chunks=len(write.chunks),
        tokens=tokens,
    )
    return tokens


def groups(writes: Sequence[Write]) -> list[list[Write]]:
    """Put writes together until they have a slice of chunks; a longer document stands alone."""
    groups: list[list[Write]] = []
    size = 0
    for write in writes:
        chunks = max(len(write.chunks), 1)
        if not groups or size + chunks > SLICE:
            groups.append([])
            size = 0
        groups[-1].append(write)
        size += chunks
    return groups
