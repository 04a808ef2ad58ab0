"""Vectors from an endpoint over HTTP. Nothing is held between calls; threads may share the object."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oraclerag import http_client, telemetry
from oraclerag.embed.batches import batches
from oraclerag.embed.dialects import DIALECTS, Asked
from oraclerag.errors import (
    EmbeddingDimensionMismatch,
    PromptTooLong,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLoginFailed,
    ProviderRefused,
    ProviderUnavailable,
)
from oraclerag.http_client import Attempts, Unsaid
from oraclerag.model.external import Dialect, Embedded, Kind

if TYPE_CHECKING:
    import httpx

__all__ = ["OverHttp"]

# A token of what is tokenised as text is three bytes or more; a request is bounded by what may well be too much.
_BYTES_PER_TOKEN = 3
_BYTES_PER_NUMBER = 25  # of JSON
_MANY_DIMENSIONS = 5120

_HINTS: dict[type[ProviderError], str] = {
    ProviderUnavailable: "Check embedding.base_url, and embedding.timeout where vectors take long.",
    ProviderLoginFailed: "embedding.api_key_env names the environment variable that holds the key.",
    ProviderRefused: "Check embedding.base_url and embedding.model.",
    PromptTooLong: "embedding.max_tokens says how much the model reads; chunks are cut by it.",
    ProviderAnswerInvalid: "Is embedding.base_url that of the provider's API?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OverHttp:
    """Embeds with a model behind ``base_url``, which RAG_MODEL calls ``name``.

    ``asked`` are the dimensions that the model is asked for (None: its own), ``dimensions`` those that must come back.
    ``auth`` signs requests to OCI, which are for a ``compartment``. ``timeout`` is in seconds without a byte. What
    failed is tried again as ``attempts`` says. ``now`` is the time in seconds since 1970.
    """

    name: str
    dialect: Dialect
    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    asked: int | None = None
    dimensions: int | None = None
    encoding_format: bool = True
    compartment: str = ""
    auth: httpx.Auth | None = field(default=None, repr=False)
    timeout: float = 30.0
    batch_items: int = 64
    batch_tokens: int = 100_000
    attempts: Attempts = field(default_factory=Attempts, repr=False)
    now: Callable[[], float] = field(default=time.time, repr=False)

    def __post_init__(self) -> None:
        http_client.checked_key(self.api_key, "the embedding model")

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return http_client.is_loopback(self.base_url)

    @property
    def url(self) -> str:
        """Where requests go; an address of Ollama may end with the /v1 of its other interface."""
        base = self.base_url.rstrip("/")
        if self.dialect == "ollama":
            base = re.sub(r"/(v1|api)$", "", base)
        return base + DIALECTS[self.dialect].path

    def batches(self, texts: Sequence[str]) -> Iterator[slice]:
        """Cut texts into what one request may hold, by items and by tokens, estimated at three bytes each.

        However many are allowed, their vectors must be no longer than an answer may be.
        """
        sizes = [len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1 for text in texts]
        most = http_client.MAX_BODY // (_BYTES_PER_NUMBER * (self.dimensions or _MANY_DIMENSIONS))
        return batches(sizes, most_items=max(min(self.batch_items, most), 1), most_tokens=self.batch_tokens)

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """Ask once for all of them, again where that may help.

        Raises ProviderError; EmbeddingDimensionMismatch, which is never tried again.
        """
        named = {
            "gen_ai.operation.name": "embeddings",
            "gen_ai.provider.name": self.dialect,
            "gen_ai.request.model": self.model,
        }
        with telemetry.span(
            f"embeddings {self.model}",
            {**named, "oraclerag.embeddings.texts": len(texts), "oraclerag.embeddings.kind": kind},
            kind="client",
            duration="gen_ai.client.operation.duration",
            labels=named,
        ) as span:
            found = self._fitting(texts, kind)
            dimensions = len(found.vectors[0]) if found.vectors else None
            span.set_all({"gen_ai.usage.input_tokens": found.tokens, "gen_ai.embeddings.dimension.count": dimensions})
            if found.tokens is not None:
                telemetry.observe("gen_ai.client.token.usage", found.tokens, {**named, "gen_ai.token.type": "input"})
            return found

    def _fitting(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """Ask, and refuse vectors that are not of the dimensions that must come back."""
        try:
            found = self.attempts.call(lambda: self._once(texts, kind))
        except ProviderError as error:
            if error.hint == type(error).default_hint and type(error) in _HINTS:
                error.hint = _HINTS[type(error)]
            raise
        lengths = {len(vector) for vector in found.vectors}
        if len(lengths) > 1:
            raise ProviderAnswerInvalid("The endpoint answered 200 with vectors of different dimensions.")
        if self.dimensions is not None and lengths - {self.dimensions}:
            raise EmbeddingDimensionMismatch(
                f"{self.model} gives {min(lengths)} dimensions; the model in force has {self.dimensions}.",
                hint="Whoever runs the endpoint has changed the model, or embedding.dimensions is another one here.",
            )
        return found

    def _once(self, texts: Sequence[str], kind: Kind) -> Embedded:
        interface = DIALECTS[self.dialect]
        asked = Asked(
            model=self.model,
            texts=texts,
            kind=kind,
            dimensions=self.asked,
            encoding_format=self.encoding_format,
            compartment=self.compartment,
        )
        unsaid = Unsaid(secrets=() if self.api_key is None else (self.api_key,), texts=texts)
        with (
            http_client.transport(),
            http_client.client(self.url, timeout=self.timeout) as client,
            http_client.posted(
                client,
                self.url,
                interface.body(asked),
                key=self.api_key,
                unsaid=unsaid,
                now=self.now(),
                auth=self.auth,
            ) as response,
        ):
            tree = http_client.tree_of(http_client.body(response))
        error = http_client.failure_inside(tree, unsaid=unsaid, headers=response.headers, now=self.now())
        if error is not None:
            raise error
        return interface.read(tree, len(texts))
