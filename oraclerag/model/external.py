"""Models behind an API, for who does not embed in the database: which there are, and how one is written down.

What decides which vectors come (provider, model, dimensions, prefixes) is in the physical name; where the endpoint is,
and its key, are settings of a process.
"""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from oraclerag.errors import ConfigurationError, EmbeddingProviderNotSupported, InputError, ModelError
from oraclerag.model.byte_pairs import CL100K_TOKENS, cl100k
from oraclerag.model.tokens import TokenBound, Tokens

if TYPE_CHECKING:
    from oraclerag.config import Settings

__all__ = [
    "DATABASE",
    "KNOWN",
    "PROVIDERS",
    "UNSAID",
    "Embedded",
    "Embedder",
    "ExternalModel",
    "Kind",
    "KnownExternal",
    "Provider",
    "configured_name",
    "counter_of",
    "external_model",
    "provider_of",
]

DATABASE = "database"
Kind = Literal["query", "passage"]
Dialect = Literal["openai", "ollama", "aleph-alpha", "oci"]

_ALWAYS_FITS = 4002  # tokens: what a chunk has at most, byte by byte, with two special ones
_LONGEST_NAME = 100
UNSAID = "ALL_MINILM_L12_V2"
"""The default of the setting, which is a model inside the database."""


@dataclass(frozen=True, slots=True)
class Provider:
    """How a provider is asked.

    ``base_url`` is where it is unless the settings say otherwise. A request holds up to ``batch_items`` texts and
    ``batch_tokens`` tokens. ``encoding_format``: it may be asked for by that name.
    """

    name: str
    dialect: Dialect = "openai"
    base_url: str | None = None
    needs_key: bool = True
    batch_items: int = 64
    batch_tokens: int = 100_000
    encoding_format: bool = True


@dataclass(frozen=True, slots=True)
class KnownExternal:
    """What is known of a model: its dimensions, what it reads, what is put before texts, how its tokens are counted.

    ``shortens``: it gives fewer dimensions where it is asked to.
    """

    provider: str
    model: str
    dimensions: int
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""
    cl100k: bool = False
    shortens: bool = False


PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        one.name: one
        for one in (
            # 2,048 texts and 300,000 tokens are the most of a request there
            Provider("openai", base_url="https://api.openai.com/v1", batch_items=256, batch_tokens=200_000),
            Provider("scaleway", base_url="https://api.scaleway.ai/v1", batch_items=32, encoding_format=False),
            Provider(
                "aleph-alpha", dialect="aleph-alpha", base_url="https://api.aleph-alpha.com", batch_items=32
            ),
            Provider(
                "ollama", dialect="ollama", base_url="http://localhost:11434", needs_key=False, batch_items=32,
                batch_tokens=20_000,
            ),
            Provider("oci", dialect="oci", batch_items=96),  # the most of a request
            Provider("openai-compatible", needs_key=False, batch_items=32, batch_tokens=50_000),
        )
    }
)  # fmt: skip

# The first of a provider is the one where none is configured.
KNOWN: tuple[KnownExternal, ...] = (
    KnownExternal("openai", "text-embedding-3-small", 1536, CL100K_TOKENS, cl100k=True, shortens=True),
    KnownExternal("openai", "text-embedding-3-large", 3072, CL100K_TOKENS, cl100k=True, shortens=True),
    KnownExternal("openai", "text-embedding-ada-002", 1536, CL100K_TOKENS, cl100k=True),
    KnownExternal(
        "scaleway", "bge-multilingual-gemma2", 3584, 8192,
        query_prefix="<instruct>Given a question, retrieve passages that answer it.\n<query>",
    ),
    KnownExternal("aleph-alpha", "luminous-base", 5120, 2048),
    KnownExternal(
        "ollama", "nomic-embed-text", 768, 2048, query_prefix="search_query: ", passage_prefix="search_document: "
    ),
    KnownExternal(
        "ollama", "mxbai-embed-large", 1024, 512,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    KnownExternal("ollama", "bge-m3", 1024, 8192),
    KnownExternal("ollama", "all-minilm", 384, 256),
    KnownExternal("oci", "cohere.embed-multilingual-v3.0", 1024, 512),
    KnownExternal("oci", "cohere.embed-multilingual-light-v3.0", 384, 512),
    KnownExternal("oci", "cohere.embed-english-v3.0", 1024, 512),
    KnownExternal("oci", "cohere.embed-english-light-v3.0", 384, 512),
)  # fmt: skip

_REFUSED = {
    "anthropic": "Anthropic has no endpoint for embeddings of its own; take one of {names}, or embed in the database "
    "(the default).",
}


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came for a request: a vector for each text, in order, and the tokens that were read, where that is said."""

    vectors: tuple[array[float], ...] = field(repr=False)
    tokens: int | None = None


class Embedder(Protocol):
    """Embeds texts with a model behind an API. Both methods keep the order; texts stand with their prefix."""

    @property
    def name(self) -> str:
        """What RAG_MODEL calls the model."""

    @property
    def local(self) -> bool:
        """Whether no text leaves this machine."""

    def batches(self, texts: Sequence[str]) -> Iterator[slice]:
        """Cut texts into what one request may hold."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """Ask once for all of them. Raises ProviderError, EmbeddingDimensionMismatch."""


@dataclass(frozen=True, slots=True)
class ExternalModel:
    """A model behind an API as the settings name it; ``dimensions`` None: what a probe gives.

    ``asked`` are the dimensions that requests ask for, None where they ask for none. ``counter`` says how tokens are
    counted: "cl100k", else by bytes.
    """

    provider: Provider
    model: str
    dimensions: int | None
    asked: int | None
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    counter: Literal["cl100k", "bytes"]

    @property
    def name(self) -> str:
        """What it is called in RAG_MODEL."""
        return _name(self.provider.name, self.model, self.asked)

    def identity(self, dimensions: int) -> str:
        """Give the SHA-256 that stands for the vectors of this model: other texts or numbers, another hash."""
        said = [self.provider.name, self.model, dimensions, self.query_prefix, self.passage_prefix, self.max_tokens]
        return hashlib.sha256(json.dumps([*said, self.counter], ensure_ascii=True).encode()).hexdigest()


def provider_of(name: str) -> Provider:
    """Give a provider by its name. Raises EmbeddingProviderNotSupported, which says what to take instead."""
    if name in PROVIDERS:
        return PROVIDERS[name]
    names = ", ".join(PROVIDERS)
    if name in _REFUSED:
        raise EmbeddingProviderNotSupported(
            f"Embedding with {name!r} is not supported.", hint=_REFUSED[name].format(names=names)
        )
    raise EmbeddingProviderNotSupported(
        f"There is no embedding provider {name!r}.", hint=f"Known are {DATABASE} (the default), {names}."
    )


def configured_name(settings: Settings) -> str:
    """Give the name that the configured model has in RAG_MODEL, in upper case. Raises ConfigurationError."""
    if settings.embedding_provider == DATABASE:
        return settings.embedding_model.upper()
    return _name(provider_of(settings.embedding_provider).name, _model(settings), _asked(settings, _known(settings)))


def external_model(settings: Settings) -> ExternalModel:
    """Give the model that the settings name, completed by what is known of it. Raises ConfigurationError."""
    provider = provider_of(settings.embedding_provider)
    known = _known(settings)
    max_tokens = settings.embedding_max_tokens or (known.max_tokens if known else None)
    if max_tokens is None:
        raise ConfigurationError(
            f"What {_model(settings)!r} of {provider.name} reads is not known: embedding.max_tokens "
            f"(ORACLERAG_EMBEDDING_MAX_TOKENS) must say how many tokens."
        )
    asked = _asked(settings, known)
    query, passage = settings.embedding_query_prefix, settings.embedding_passage_prefix
    return ExternalModel(
        provider=provider,
        model=_model(settings),
        dimensions=settings.embedding_dimensions or (known.dimensions if known else None),
        asked=asked,
        max_tokens=max_tokens,
        query_prefix=query if query is not None else known.query_prefix if known else "",
        passage_prefix=passage if passage is not None else known.passage_prefix if known else "",
        counter="cl100k" if _counts_cl100k(known, max_tokens) else "bytes",
    )


def counter_of(name: str) -> Tokens:
    """Give the counter that RAG_MODEL names.

    Raises ModelError where this process cannot count so: it would cut other chunks than the others.
    """
    if name != "cl100k":
        return TokenBound()
    try:
        return cl100k()
    except InputError as error:
        raise ModelError(
            "The model in force counts tokens as cl100k_base does, and this process has no tiktoken.", hint=error.hint
        ) from error


def _model(settings: Settings) -> str:
    """Give the model at the provider: where none is configured, the first that is known of that provider.

    Raises ConfigurationError where none is.
    """
    if settings.embedding_model != UNSAID:
        return settings.embedding_model
    found = next((one.model for one in KNOWN if one.provider == settings.embedding_provider), None)
    if found is None:
        raise ConfigurationError(
            f'embedding.provider = "{settings.embedding_provider}" needs embedding.model (ORACLERAG_EMBEDDING_MODEL).'
        )
    return found


def _known(settings: Settings) -> KnownExternal | None:
    wanted = (settings.embedding_provider, _model(settings).removesuffix(":latest"))
    return next((one for one in KNOWN if (one.provider, one.model) == wanted), None)


def _asked(settings: Settings, known: KnownExternal | None) -> int | None:
    """Give the dimensions to ask for: those of the settings, unless the model gives as many anyway."""
    wanted = settings.embedding_dimensions
    if wanted is None or (known is not None and known.dimensions == wanted):
        return None
    if known is not None and not known.shortens:
        raise ConfigurationError(
            f"embedding.dimensions is {wanted}, but {known.model} of {known.provider} gives {known.dimensions}."
        )
    return wanted


def _counts_cl100k(known: KnownExternal | None, max_tokens: int) -> bool:
    """Whether tokens are counted as cl100k_base does: exactly so by some models.

    Others split texts much the same; where any chunk fits whatever is counted, no text is cut off by the difference.
    """
    if not (known and known.cl100k) and max_tokens < _ALWAYS_FITS:
        return False
    try:
        cl100k()
    except (InputError, ModelError):
        return False
    return True


def _name(provider: str, model: str, asked: int | None) -> str:
    parts = [provider, model.removesuffix(":latest"), *([] if asked is None else [str(asked)])]
    name = re.sub(r"[^A-Z0-9]+", "_", "_".join(parts).upper()).strip("_")
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(model.encode()).hexdigest()[:8].upper()
        name = f"{name[: _LONGEST_NAME - 9].rstrip('_')}_{digest}"
    return name
