"""What settings must hold, each alone and against each other; every rule is a sentence."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import re
import urllib.parse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from oraclerag.config.reading import is_of, kind
from oraclerag.errors import ConfigurationError
from oraclerag.records import MAX_TENANT_BYTES, NO_TENANT, fits
from oraclerag.statements import identifier

if TYPE_CHECKING:
    from oraclerag.config.settings import Settings

__all__ = ["DATABASE_PROVIDERS", "check", "database_params"]

DATABASE_PROVIDERS = ("cohere", "googleai", "huggingface", "ocigenai", "ollama", "openai", "vertexai")
"""Whom UTL_TO_GENERATE_TEXT can ask."""

MAX_PREFIX_BYTES = 200  # of RAG_MODEL.QUERY_PREFIX and PASSAGE_PREFIX
MAX_REMOTE_BYTES = 400  # of RAG_MODEL.REMOTE_NAME
_SECRET_IN_DSN = re.compile(r"(?:password|secret|token)\s*=", re.IGNORECASE)
_PLAIN_NAME = r"[A-Za-z][A-Za-z0-9_$#]{0,127}"
_LONGEST_PARAMS = 2000  # with the others they stay below a VARCHAR2


def check(settings: Settings) -> None:
    """Hold every setting against its rule; the one place where that is done."""
    for item in dataclasses.fields(settings):
        if not item.metadata:
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
    _dsn(settings.dsn)
    if settings.schema is not None:
        identifier(settings.schema, "schema")
    if settings.embedding_provider == "database":
        identifier(settings.embedding_model, "name of the embedding model")
    _embedding(settings)
    if settings.par_expires_at is not None:
        _day_or_moment(settings.par_expires_at, "par_expires_at")
    if settings.rerank_model is not None:
        identifier(settings.rerank_model, "name of a reranker")
    if settings.embedding_provider == "database" and len(settings.embedding_model) > 100:
        raise ConfigurationError("embedding_model must have at most 100 characters; a hash is appended to it.")
    if settings.query_embedding not in ("inline", "separate"):
        raise ConfigurationError(f"query_embedding must be 'inline' or 'separate', not {settings.query_embedding!r}.")
    for name, words in (("ask_anchors", ("hash", "bracket")), ("ask_order", ("similarity", "authority"))):
        if getattr(settings, name) not in words:
            raise ConfigurationError(f"{name} must be {words[0]!r} or {words[1]!r}, not {getattr(settings, name)!r}.")
    if not fits(settings.tenant, MAX_TENANT_BYTES):
        raise ConfigurationError(
            f"tenant must be a text of 1 to {MAX_TENANT_BYTES} bytes, without halves of surrogate pairs "
            f"(tenant in oraclerag.toml, ORACLERAG_TENANT in the environment)."
        )
    if settings.tenant == NO_TENANT:
        raise ConfigurationError(f"tenant must not be {NO_TENANT!r}, which stands for none in the queue.")
    _generate(settings)
    _reduce(settings)
    _searches(settings)
    names = [source.name for source in settings.sources]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"The source {name!r} is configured twice.")


def _dsn(dsn: str | None) -> None:
    """Refuse an address with a secret in it: it is shown, and a driver that cannot read it quotes it (DPY-4018)."""
    if dsn is not None and (_SECRET_IN_DSN.search(dsn) or ("@" in dsn and not dsn.lstrip().startswith("("))):
        raise ConfigurationError(
            "dsn is the address of the database alone, without '@' and without a user, a password or a secret.",
            hint="Set ORACLE_USER, ORACLE_PASSWORD and ORACLE_WALLET_PASSWORD, or user, password and wallet_password "
            "of [database] in oraclerag.toml.",
        )


def _embedding(settings: Settings) -> None:
    """Hold the settings of embedding against their rules; which providers there are is asked where one is used."""
    if not settings.embedding_model.strip() or not settings.embedding_provider.strip():
        raise ConfigurationError("embedding_model and embedding_provider must not be blank.")
    if not fits(settings.embedding_model, MAX_REMOTE_BYTES):
        raise ConfigurationError(f"embedding_model must have at most {MAX_REMOTE_BYTES} bytes.")
    for name in ("embedding_query_prefix", "embedding_passage_prefix"):
        prefix = getattr(settings, name)
        if prefix is not None and not fits(prefix or "-", MAX_PREFIX_BYTES):
            raise ConfigurationError(f"{name} must have at most {MAX_PREFIX_BYTES} bytes, and no NUL character.")
    if settings.embedding_provider == "openai-compatible" and settings.embedding_base_url is None:
        raise ConfigurationError(
            'embedding.provider = "openai-compatible" needs embedding.base_url (ORACLERAG_EMBEDDING_BASE_URL).'
        )
    if settings.embedding_provider != "database" and settings.embedding_timeout > settings.lease / 4:
        raise ConfigurationError(
            f"embedding.timeout is {settings.embedding_timeout:g} s, but must be at most a quarter of worker.lease "
            f"({settings.lease:g} s): what a worker holds would be taken over while it waits."
        )
    _names_variable(settings.embedding_api_key_env, "embedding_api_key_env", "OPENAI_API_KEY")
    address = settings.embedding_base_url
    if address is not None:
        wrong = _wrong_address(address, whole=False)
        if wrong is None and address.rstrip("/").endswith("/embeddings"):
            wrong = "must end before /embeddings"
        if wrong:
            raise ConfigurationError(f'embedding_base_url {wrong}, unlike "http://localhost:11434/v1".')
    budgets = settings.embedding_tenant_tokens
    if not isinstance(budgets, Mapping) or any(
        not isinstance(tenant, str) or isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0
        for tenant, tokens in budgets.items()
    ):
        raise ConfigurationError(
            "embedding_tenant_tokens must give whole numbers from 0 on by the names of tenants "
            "([embedding.budget.tenants] in oraclerag.toml)."
        )


def _day_or_moment(text: str, setting: str) -> None:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(
            f"{setting} must be a date or a time in ISO 8601, such as 2026-12-31T00:00:00Z, not {text!r}."
        ) from None


def _generate(settings: Settings) -> None:
    """Hold the settings of generation against their rules."""
    provider = settings.generate_provider
    if provider not in ("extractive", "openai", "database"):
        raise ConfigurationError(f"generate_provider must be 'extractive', 'openai' or 'database', not {provider!r}.")
    needed = {"openai": ["base_url", "model"], "database": ["base_url", "model", "credential"]}.get(provider, [])
    if settings.generate_database_provider == "ollama" and "credential" in needed:
        needed.remove("credential")
    for name in needed:
        if getattr(settings, f"generate_{name}") is None:
            raise ConfigurationError(
                f'generate.provider = "{provider}" needs generate.{name} (ORACLERAG_GENERATE_{name.upper()}).'
            )
    _endpoint(settings, "generate")
    _in_database(settings)


def _in_database(settings: Settings) -> None:
    """Hold what the database is given to generate against its rules; no message repeats the parameters."""
    if settings.generate_package not in ("DBMS_VECTOR", "DBMS_VECTOR_CHAIN"):
        raise ConfigurationError(
            f"generate_package must be 'DBMS_VECTOR' or 'DBMS_VECTOR_CHAIN', not {settings.generate_package!r}."
        )
    if settings.generate_database_provider not in DATABASE_PROVIDERS:
        raise ConfigurationError(
            f"generate_database_provider must be one of {', '.join(map(repr, DATABASE_PROVIDERS))}, "
            f"not {settings.generate_database_provider!r}."
        )
    credential = settings.generate_credential
    if credential is not None and not re.fullmatch(rf"({_PLAIN_NAME}\.)?{_PLAIN_NAME}", credential, re.ASCII):
        raise ConfigurationError(
            "generate_credential is no name of a credential: NAME or OWNER.NAME, each a letter, then letters, digits, "
            "'_', '$' or '#'."  # never the value: whoever misread this has put the key there
        )
    if settings.generate_database_params is not None:
        database_params(settings.generate_database_params)


def database_params(text: str) -> dict[str, Any]:
    """Read what is merged into the parameters of UTL_TO_GENERATE_TEXT. Raises ConfigurationError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or len(text.encode("utf-8", "replace")) > _LONGEST_PARAMS:
        raise ConfigurationError(
            f"generate_database_params must be a JSON object of up to {_LONGEST_PARAMS:,} bytes, such as "
            f'{{"max_tokens": null, "max_completion_tokens": 500}}.'
        )
    return found


def _reduce(settings: Settings) -> None:
    """Hold the settings of reduction against their rules; what is not said of the endpoint is that of generation."""
    if settings.reduce_by not in ("rules", "model", "nothing"):
        raise ConfigurationError(f"reduce_by must be 'rules', 'model' or 'nothing', not {settings.reduce_by!r}.")
    _endpoint(settings, "reduce")
    if settings.reduce_by == "model":
        if settings.reduce_base_url is None and settings.generate_base_url is None:
            raise ConfigurationError('reduce.by = "model" needs reduce.base_url or generate.base_url.')
        if settings.reduce_model is None and (settings.reduce_base_url or settings.generate_model is None):
            raise ConfigurationError(
                'reduce.by = "model" needs reduce.model (ORACLERAG_REDUCE_MODEL); that of generate is taken at the '
                "endpoint of generate alone."
            )


def _endpoint(settings: Settings, section: Literal["generate", "reduce"]) -> None:
    """Hold an endpoint against its rules; no message repeats an address: it may hold a secret."""
    model, variable, address = (getattr(settings, f"{section}_{name}") for name in ("model", "api_key_env", "base_url"))
    if model is not None and not model.strip():
        raise ConfigurationError(f"{section}_model must not be blank.")
    _names_variable(variable, f"{section}_api_key_env", "OPENAI_API_KEY")
    whole = section == "generate" and settings.generate_provider == "database"  # the database adds nothing to it
    if address is not None and (wrong := _wrong_address(address, whole=whole)):
        raise ConfigurationError(f'{section}_base_url {wrong}, unlike "http://localhost:11434/v1".')


def _searches(settings: Settings) -> None:
    """Hold the settings of the search log against their rules."""
    if settings.searches_log not in ("ask", "all", "off"):
        raise ConfigurationError(f"searches_log must be 'ask', 'all' or 'off', not {settings.searches_log!r}.")
    if settings.searches_questions not in ("text", "hash"):
        raise ConfigurationError(f"searches_questions must be 'text' or 'hash', not {settings.searches_questions!r}.")
    if settings.searches_questions == "hash" and settings.searches_log_prompts:
        raise ConfigurationError(
            'searches.log_prompts keeps prompts, which hold the questions that searches.questions = "hash" shall not '
            "keep: set one of them."
        )
    _names_variable(settings.searches_hash_key_env, "searches_hash_key_env", "ORACLERAG_QUESTION_KEY")


def _names_variable(variable: str | None, setting: str, example: str) -> None:
    if variable is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,254}", variable):
        raise ConfigurationError(
            f"{setting} is no name of an environment variable; it names the one that holds the key, such as "
            f"{example}."  # never the value: whoever misread this has put the key there
        )


def _wrong_address(address: str, *, whole: bool) -> str | None:
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
    if parts.path.rstrip("/").endswith("/chat/completions") and not whole:
        return "must end before /chat/completions"
    return None
