"""The vectors of a batch that a provider makes, before anything is locked."""

from __future__ import annotations

import logging
import time
from array import array
from collections.abc import Callable, Iterable, Mapping

from oraclerag import log, telemetry
from oraclerag.batch.state import Tally, WorkerState
from oraclerag.config import Settings
from oraclerag.embed import Budget, Passages
from oraclerag.errors import EmbeddingBudgetSpent, EmbeddingDimensionMismatch, EntityError, ProviderError
from oraclerag.merge import Write, text_hash
from oraclerag.model.active import ActiveModel
from oraclerag.records import Chunk

__all__ = ["Provided", "refusal"]

_log = logging.getLogger("oraclerag.drain")  # these are its events


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
