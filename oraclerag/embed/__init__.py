"""Embedding outside the database: who is asked (``over_http``, in the dialects of ``dialects``), and for whom.

``passages`` is what a worker does with changed chunks, ``budget`` what a tenant may spend. Who embeds in the database
needs none of it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence

from oraclerag.config import Settings, SourceSettings
from oraclerag.embed.budget import Budget
from oraclerag.embed.over_http import OverHttp
from oraclerag.embed.passages import Passages
from oraclerag.errors import ConfigurationError, ModelNotActive, SourceError
from oraclerag.http_client import Attempts
from oraclerag.model.active import ActiveModel
from oraclerag.model.external import DATABASE, Embedder, configured_name, external_model

__all__ = ["Budget", "Embedder", "Passages", "embed_questions", "embedder_of", "from_settings", "kept_here"]

_PATIENCE = 10.0  # seconds that a question waits for an endpoint that asks to wait


def from_settings(
    settings: Settings, *, dimensions: int | None = None, attempts: Attempts | None = None
) -> Embedder | None:
    """Give who embeds as the settings say; None where the database does.

    ``dimensions`` must come back where they are given. Raises ConfigurationError, also where the key is not there.
    """
    if settings.embedding_provider == DATABASE:
        return None
    model = external_model(settings)
    provider, variable = model.provider, settings.embedding_api_key_env
    key = None
    if variable is not None:
        key = os.environ.get(variable, "").strip()
        if not key:
            raise ConfigurationError(
                f"The environment variable {variable}, which embedding.api_key_env names, holds no key."
            )
    elif provider.needs_key and provider.dialect != "oci":
        raise ConfigurationError(
            f"{provider.name} wants a key: embedding.api_key_env (ORACLERAG_EMBEDDING_API_KEY_ENV) names the "
            f"environment variable that holds it."
        )
    user = None
    if provider.dialect == "oci":
        from oraclerag.embed.oci import SignedByUser, oci_user

        user = oci_user(settings.embedding_oci_profile)
    return OverHttp(
        name=model.name,
        dialect=provider.dialect,
        base_url=settings.embedding_base_url or provider.base_url or (user.endpoint if user is not None else ""),
        model=model.model,
        api_key=key,
        asked=model.asked,
        dimensions=dimensions,
        encoding_format=provider.encoding_format,
        compartment=settings.embedding_oci_compartment or (user.tenancy if user is not None else ""),
        auth=None if user is None else SignedByUser(user),
        timeout=settings.embedding_timeout,
        batch_items=settings.embedding_batch_items or provider.batch_items,
        batch_tokens=settings.embedding_batch_tokens or provider.batch_tokens,
        attempts=attempts or Attempts(),
    )


def embedder_of(settings: Settings, model: ActiveModel, *, attempts: Attempts | None = None) -> Embedder:
    """Give who embeds for the model in force. Raises ModelNotActive where the settings name another one."""
    name = configured_name(settings)
    if model.provider is None or model.name != name:
        raise ModelNotActive(f"The model in force is {model.name}, this process is configured with {name}.")
    found = from_settings(settings, dimensions=model.dimensions, attempts=attempts)
    assert found is not None  # noqa: S101 - a name that has a provider in it
    return found


def embed_questions(settings: Settings, model: ActiveModel, texts: Sequence[str]) -> list[array[float]]:
    """Embed questions, their prefix before them, in as few requests as they fit in. Raises ProviderError."""
    embedder = embedder_of(settings, model, attempts=Attempts(most=2, longest=_PATIENCE))
    found: list[array[float]] = []
    for part in embedder.batches(texts):
        found += embedder.embed(texts[part], "query").vectors
    return found


def kept_here(source: SourceSettings, embedder: Embedder | None) -> None:
    """Refuse a source whose texts may not leave, where they would have to. Raises SourceError."""
    if embedder is not None and not source.egress and not embedder.local:
        raise SourceError(
            f"Source {source.name!r} lets no text leave (egress = false), and the embedding provider is not on this "
            f"machine.",
            hint="Embed in the database or with a provider on this machine, or let the source's texts leave.",
        )
