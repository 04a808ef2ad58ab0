"""Texts of chunks → their vectors, for a worker: request after request, and which of the texts is at fault.

A text that the provider does not take is a failure of its own and of nobody beside it. What it would say to any text
(the key, the model, an empty account) is raised: it counts against none.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from oraclerag.errors import EntityError, ProviderRefused
from oraclerag.model.external import Embedded, Embedder

__all__ = ["Passages"]

# What may be said of one text: it is too long, or its content is refused.
_OF_A_TEXT = frozenset({400, 413, 422})
_HARMLESS = "The weather is fine today."
_MINUTE = 60.0
_NAP = 10.0  # seconds after which the lease is looked after


@dataclass(slots=True)
class Passages:
    """Embeds passages with one embedder.

    ``before`` is called ahead of every request, ``after`` with the tokens of each; tokens that the provider does not
    count are counted by ``count``. ``tokens_per_minute`` bounds how fast they are sent.
    """

    embedder: Embedder
    prefix: str
    count: Callable[[str], int]
    before: Callable[[], None]
    after: Callable[[int], None]
    tokens_per_minute: int | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    sent: deque[tuple[float, int]] = field(default_factory=deque)  # when, and how many tokens

    def vectors(self, texts: Mapping[str, str]) -> tuple[dict[str, array[float]], dict[str, EntityError]]:
        """Give the vectors of texts by their keys, and why others have none.

        Raises ProviderError for what is no text's fault, EmbeddingDimensionMismatch.
        """
        keys = list(texts)
        passages = [self.prefix + texts[key] for key in keys]
        found: dict[str, array[float]] = {}
        refused: dict[str, EntityError] = {}
        for part in self.embedder.batches(passages):
            self._some(keys[part], passages[part], found, refused)
        return found, refused

    def _some(
        self,
        keys: Sequence[str],
        passages: Sequence[str],
        found: dict[str, array[float]],
        refused: dict[str, EntityError],
    ) -> None:
        """Embed the texts of a request; where one of them is refused, in halves until it stands alone."""
        try:
            found |= zip(keys, self._asked(passages).vectors, strict=True)
        except ProviderRefused as error:
            if error.status not in _OF_A_TEXT:
                raise
            if len(keys) > 1:
                middle = len(keys) // 2
                self._some(keys[:middle], passages[:middle], found, refused)
                self._some(keys[middle:], passages[middle:], found, refused)
                return
            if not found:  # nothing has come yet: would it take any text?
                self._asked([_HARMLESS])
            refused[keys[0]] = EntityError(f"The text of a chunk is not embedded: {error.message}", hint=error.hint)
            refused[keys[0]].__cause__ = error

    def _asked(self, passages: Sequence[str]) -> Embedded:
        size = sum(map(self.count, passages))
        self._pace(size)
        self.before()
        came = self.embedder.embed(passages, "passage")
        tokens = size if came.tokens is None else came.tokens
        if self.tokens_per_minute is not None:  # else nobody would ever take it away again
            self.sent.append((self.clock(), tokens))
        self.after(tokens)
        return came

    def _pace(self, size: int) -> None:
        """Wait until so many more tokens are no more than a minute may have; one request is always allowed."""
        if self.tokens_per_minute is None:
            return
        while self.sent:
            now = self.clock()
            while self.sent and now - self.sent[0][0] >= _MINUTE:
                self.sent.popleft()
            if not self.sent or sum(tokens for _, tokens in self.sent) + size <= self.tokens_per_minute:
                return
            self.before()
            self.sleep(min(max(_MINUTE - (now - self.sent[0][0]), 0.01), _NAP))
