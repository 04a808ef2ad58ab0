"""What settings must hold, each alone and against each other; every rule is a sentence."""

from __future__ import annotations

import dataclasses
import re
import urllib.parse
from typing import TYPE_CHECKING

from oraclerag.config.reading import is_of, kind
from oraclerag.errors import ConfigurationError
from oraclerag.records import MAX_TENANT_BYTES, NO_TENANT, fits
from oraclerag.statements import identifier

if TYPE_CHECKING:
    from oraclerag.config.settings import Settings

__all__ = ["check"]


def check(settings: Settings) -> None:
    """Hold every setting against its rule; the one place where that is done."""
    for item in dataclasses.fields(settings):
        if item.name == "sources":
            continue
        low, high = item.metadata["low"], item.metadata["high"]
        value = getattr(settings, item.name)
        if not is_of(value, str(item.type)):
            raise ConfigurationError(f"{item.name} must be {kind(str(item.type))}, not {type(value).__name__}.")
        if low is not None and value is not None and not low <= value <= high:
            raise ConfigurationError(
                f"{item.name} is {value}, but must be between {low} and {high} "
                f"({item.metadata['path']} in oraclerag.toml, {item.metadata['env']} in the environment)."
            )
    if settings.schema is not None:
        identifier(settings.schema, "schema")
    identifier(settings.embedding_model, "name of the embedding model")
    if settings.rerank_model is not None:
        identifier(settings.rerank_model, "name of a reranker")
    if len(settings.embedding_model) > 100:
        raise ConfigurationError("embedding_model must have at most 100 characters; a hash is appended to it.")
    if settings.query_embedding not in ("inline", "separate"):
        raise ConfigurationError(f"query_embedding must be 'inline' or 'separate', not {settings.query_embedding!r}.")
    if not fits(settings.tenant, MAX_TENANT_BYTES):
        raise ConfigurationError(
            f"tenant must be a text of 1 to {MAX_TENANT_BYTES} bytes, without halves of surrogate pairs "
            f"(tenant in oraclerag.toml, ORACLERAG_TENANT in the environment)."
        )
    if settings.tenant == NO_TENANT:
        raise ConfigurationError(f"tenant must not be {NO_TENANT!r}, which stands for none in the queue.")
    _generate(settings)
    names = [source.name for source in settings.sources]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"The source {name!r} is configured twice.")


def _generate(settings: Settings) -> None:
    """Hold the settings of generation against their rules; no message repeats an address: it may hold a secret."""
    if settings.generate_provider not in ("extractive", "openai"):
        raise ConfigurationError(
            f"generate_provider must be 'extractive' or 'openai', not {settings.generate_provider!r}."
        )
    for name in ("base_url", "model"):
        if settings.generate_provider == "openai" and getattr(settings, f"generate_{name}") is None:
            raise ConfigurationError(
                f'generate.provider = "openai" needs generate.{name} (ORACLERAG_GENERATE_{name.upper()}).'
            )
    if settings.generate_model is not None and not settings.generate_model.strip():
        raise ConfigurationError("generate_model must not be blank.")
    variable = settings.generate_api_key_env
    if variable is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,254}", variable):
        raise ConfigurationError(
            "generate_api_key_env is no name of an environment variable; it names the one that holds the key, such as "
            "OPENAI_API_KEY."  # never the value: whoever misread this has put the key there
        )
    if settings.generate_base_url is not None and (wrong := _wrong_address(settings.generate_base_url)):
        raise ConfigurationError(f'generate_base_url {wrong}, unlike "http://localhost:11434/v1".')


def _wrong_address(address: str) -> str | None:
    """Say what keeps an address from being one of an API."""
    try:
        parts = urllib.parse.urlsplit(address)
        parts.port  # noqa: B018 - a bad one raises
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with http:// or https:// and name a host"
    if not address.isascii() or not address.isprintable() or " " in address:
        return "must be printable ASCII without blanks"
    if "@" in parts.netloc:
        return "must hold no user and no password"
    if "?" in address or "#" in address:
        return "must have no query and no fragment"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "must end before /chat/completions"
    return None
