"""A prompt → an answer: who writes it, behind one protocol.

``extractive`` needs no language model, ``over_http`` asks an OpenAI-compatible endpoint, ``in_database`` has the
database ask a provider. An answer comes at once, or piece by piece as it is written; both end in a
:class:`~oraclerag.records.Generation`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Protocol

from oraclerag.config import Settings
from oraclerag.errors import AnswerTruncated, ConfigurationError
from oraclerag.generate.stream import Stream
from oraclerag.records import Generation, Prompt

if TYPE_CHECKING:
    from oraclerag.database import Database

__all__ = ["Generator", "Stream", "complete", "for_questions", "from_settings"]

_MAX_TOKENS_OF_A_QUESTION = 1024


class Generator(Protocol):
    """Who writes answers.

    ``name`` is for logs. ``local``: no text leaves this machine or the database. Both methods raise ProviderError.
    """

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def local(self) -> bool:
        """Whether no text leaves this machine or the database."""

    def generate(self, prompt: Prompt) -> Generation:
        """Give the answer when it is complete."""

    def stream(self, prompt: Prompt) -> Stream:
        """Give the answer piece by piece."""


def complete(generation: Generation) -> Generation:
    """Give an answer that must be whole, such as a list to be read, back. Raises AnswerTruncated."""
    if generation.truncated:
        raise AnswerTruncated(partial=generation.text)
    return generation


def from_settings(settings: Settings, database: Database | None = None) -> Generator:
    """Give the generator that the settings name; ``database`` is whom one asks that writes there.

    Raises ConfigurationError where its key, or that database, is not there.
    """
    if settings.generate_provider == "extractive":
        from oraclerag.generate.extractive import Extractive

        return Extractive()
    if settings.generate_provider == "database":
        return _in_database(settings, database, "generate", settings.generate_model, settings.generate_max_tokens)
    return _over_http(
        settings,
        "generate",
        base_url=settings.generate_base_url,
        model=settings.generate_model,
        key_variable=settings.generate_api_key_env,
        max_tokens=settings.generate_max_tokens,
    )


def for_questions(settings: Settings, database: Database | None = None) -> Generator | None:
    """Give the language model that reduces questions; None where ``reduce_by`` names none.

    It is asked once: whoever waits for an answer has the rules. Raises what :func:`from_settings` raises.
    """
    if settings.reduce_by != "model":
        return None
    if settings.reduce_base_url is None and settings.generate_provider == "database":
        model = settings.reduce_model or settings.generate_model
        return _in_database(settings, database, "reduce", model, _MAX_TOKENS_OF_A_QUESTION, attempts=1)
    base_url, model, key_variable = settings.reduce_base_url, settings.reduce_model, settings.reduce_api_key_env
    if base_url is None:  # the key of an endpoint is shown to no other
        base_url, model = settings.generate_base_url, model or settings.generate_model
        key_variable = key_variable or settings.generate_api_key_env
    return _over_http(
        settings,
        "reduce",
        base_url=base_url,
        model=model,
        key_variable=key_variable,
        max_tokens=_MAX_TOKENS_OF_A_QUESTION,
        attempts=1,
    )


def _over_http(
    settings: Settings,
    section: Literal["generate", "reduce"],
    *,
    base_url: str | None,
    model: str | None,
    key_variable: str | None,
    max_tokens: int,
    attempts: int | None = None,
) -> Generator:
    from oraclerag.generate.over_http import OverHttp
    from oraclerag.http_client import Attempts

    key = None
    if key_variable is not None:
        key = os.environ.get(key_variable, "").strip()
        if not key:
            raise ConfigurationError(
                f"The environment variable {key_variable}, which {section}.api_key_env names, holds no key."
            )
    return OverHttp(
        base_url=base_url or "",
        model=model or "",
        api_key=key,
        temperature=getattr(settings, f"{section}_temperature"),
        max_tokens=max_tokens,
        timeout=getattr(settings, f"{section}_timeout"),
        attempts=Attempts() if attempts is None else Attempts(most=attempts),
    )


def _in_database(
    settings: Settings,
    database: Database | None,
    section: Literal["generate", "reduce"],
    model: str | None,
    max_tokens: int,
    *,
    attempts: int | None = None,
) -> Generator:
    from oraclerag.config.rules import database_params
    from oraclerag.generate.in_database import InDatabase
    from oraclerag.http_client import Attempts

    if database is None:
        raise ConfigurationError('generate.provider = "database" needs the database that is to write the answers.')
    return InDatabase(
        database=database,
        provider=settings.generate_database_provider,
        credential=settings.generate_credential,
        base_url=settings.generate_base_url or "",
        model=model or "",
        package=settings.generate_package,
        temperature=getattr(settings, f"{section}_temperature"),
        max_tokens=max_tokens,
        timeout=getattr(settings, f"{section}_timeout"),
        more=database_params(settings.generate_database_params or "{}"),
        attempts=Attempts() if attempts is None else Attempts(most=attempts),
    )
