"""Calls of language models as spans, with the attributes of the conventions for generative AI; no text among them."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Generator as Pieces

from oraclerag import telemetry
from oraclerag.records import Generation

__all__ = ["called", "read"]

_TOKENS = "gen_ai.client.token.usage"

# What an endpoint says of itself, as far as it can be nothing else.
_ENDS = frozenset({"stop", "length", "content_filter", "refusal"})
_MODEL = re.compile(r"[\w.:/@-]{1,128}")


def called(provider: str, model: str, ask: Callable[[], Generation]) -> Generation:
    """Have an answer written, as a span."""
    with _span(provider, model) as span:
        generation = ask()
        _told(span, provider, model, generation)
        return generation


def read(provider: str, model: str, pieces: Pieces[str, None, Generation]) -> Pieces[str, None, Generation]:
    """Give an answer piece by piece, as a span that lasts until the last one, or until it is left."""
    with _span(provider, model, stream=True) as span:
        generation = yield from pieces
        _told(span, provider, model, generation)
        return generation


def _span(provider: str, model: str, *, stream: bool = False) -> telemetry.Span:
    named = _named(provider, model)
    return telemetry.span(
        f"chat {model}",
        {**named, "gen_ai.request.stream": stream},
        kind="client",
        duration="gen_ai.client.operation.duration",
        labels=named,
        current=not stream,  # who reads does other things between two pieces
    )


def _told(span: telemetry.Span, provider: str, model: str, generation: Generation) -> None:
    finish = generation.finish
    span.set_all(
        {
            "gen_ai.response.model": generation.model if _MODEL.fullmatch(generation.model) else None,
            "gen_ai.response.finish_reasons": None if finish is None else [finish if finish in _ENDS else "other"],
            "gen_ai.usage.input_tokens": generation.prompt_tokens,
            "gen_ai.usage.output_tokens": generation.answer_tokens,
        }
    )
    for kind, tokens in (("input", generation.prompt_tokens), ("output", generation.answer_tokens)):
        if tokens is not None:
            telemetry.observe(_TOKENS, tokens, {**_named(provider, model), "gen_ai.token.type": kind})


def _named(provider: str, model: str) -> dict[str, str]:
    return {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
