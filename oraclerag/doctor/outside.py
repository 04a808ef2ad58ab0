"""Checks of what is outside of the database: who writes answers, who embeds."""

from __future__ import annotations

import os
from typing import Literal

from oraclerag import http_client
from oraclerag.doctor.finding import Verdict, fail, ok, unknown
from oraclerag.doctor.look import Check, Look

__all__ = ["CHECKS"]

_TIMEOUT = 10.0  # seconds
_LOGIN = (401, 403, 407)


def generator(look: Look) -> Verdict:
    """Look whether there is a key for who writes answers and, where it may be asked, whether it answers."""
    settings = look.settings
    if settings.generate_provider == "extractive":
        return ok("none: answers are made of sentences that were found")
    if settings.generate_provider == "database":
        return unknown(
            f"The database asks {settings.generate_database_provider} with the credential "
            f"{settings.generate_credential}: only a question shows whether it may.",
            "`oraclerag ask QUESTION --tenant TENANT --manager`; it costs what an answer costs.",
        )
    return _endpoint(look, "generate", settings.generate_base_url or "", settings.generate_api_key_env)


def embedder(look: Look) -> Verdict:
    """The same for who embeds."""
    from oraclerag.model.external import DATABASE, provider_of

    settings = look.settings
    if settings.embedding_provider == DATABASE:
        return ok("the database embeds")
    provider = provider_of(settings.embedding_provider)
    if provider.needs_key and settings.embedding_api_key_env is None:
        return fail(
            f"{provider.name} wants a key, and none is named.",
            "Set embedding.api_key_env (ORACLERAG_EMBEDDING_API_KEY_ENV) to the environment variable that holds it.",
        )
    return _endpoint(
        look, "embedding", settings.embedding_base_url or provider.base_url or "", settings.embedding_api_key_env
    )


def _endpoint(look: Look, section: Literal["generate", "embedding"], address: str, variable: str | None) -> Verdict:
    key = os.environ.get(variable, "").strip() if variable is not None else None
    if variable is not None and not key:
        return fail(
            f"The environment variable {variable}, which {section}.api_key_env names, holds no key.",
            f"Set {variable} where this process, and the workers, are started.",
        )
    if not look.probe:
        return unknown(
            f"{address} was not asked{'' if variable is None else f'; there is a key in {variable}'}.",
            "`oraclerag doctor --probe` asks it for its list of models, which costs nothing.",
        )
    return _asked(section, address, key)


def _asked(section: str, address: str, key: str | None) -> Verdict:
    """Ask for the list of models. Any answer shows that somebody is there; only a refused login is a failure."""
    import httpx

    headers = {} if key is None else {"Authorization": f"Bearer {http_client.checked_key(key, 'the endpoint')}"}
    remedy = f"Check {section}.base_url, the proxy of the environment, and whether the endpoint runs."
    try:
        with http_client.client(address, timeout=_TIMEOUT, headers=headers) as asking:
            status = asking.get(f"{address.rstrip('/')}/models").status_code
    except httpx.HTTPError as error:
        return fail(f"{address} does not answer ({type(error).__name__}).", remedy)
    if status in _LOGIN:
        return fail(f"{address} refuses the login (HTTP {status}).", f"Check the key that {section}.api_key_env names.")
    if status >= 500:
        return fail(f"{address} fails (HTTP {status}).", remedy)
    return ok(f"{address} answers (HTTP {status})")


CHECKS = (
    Check("generator", "Can who writes answers be asked?", generator),
    Check("embedder", "Can who embeds be asked?", embedder),
)
