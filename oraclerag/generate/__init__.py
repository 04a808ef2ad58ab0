"""A prompt → an answer: who writes it, behind one protocol.

``extractive`` needs no language model, ``over_http`` asks an OpenAI-compatible endpoint. An answer comes at once, or
piece by piece as it is written; both end in a :class:`~oraclerag.records.Generation`.
"""

from __future__ import annotations

import os
from typing import Protocol

from oraclerag.config import Settings
from oraclerag.errors import AnswerTruncated, ConfigurationError
from oraclerag.generate.stream import Stream
from oraclerag.records import Generation, Prompt

__all__ = ["Generator", "Stream", "complete", "from_settings"]


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


def from_settings(settings: Settings) -> Generator:
    """Give the generator that the settings name. Raises ConfigurationError where its key is not there."""
    if settings.generate_provider == "extractive":
        from oraclerag.generate.extractive import Extractive

        return Extractive()
    from oraclerag.generate.over_http import OverHttp

    key = None
    variable = settings.generate_api_key_env
    if variable is not None:
        key = os.environ.get(variable, "").strip()
        if not key:
            raise ConfigurationError(
                f"The environment variable {variable}, which generate.api_key_env names, holds no key."
            )
    return OverHttp(
        base_url=settings.generate_base_url or "",
        model=settings.generate_model or "",
        api_key=key,
        temperature=settings.generate_temperature,
        max_tokens=settings.generate_max_tokens,
        timeout=settings.generate_timeout,
    )
