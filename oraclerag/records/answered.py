"""A question on its way to an answer: prompt, what was generated, citations, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from oraclerag.records.found import Hit, SearchResult
from oraclerag.records.key import SourceKey, nothing

__all__ = ["Answer", "Citation", "Generation", "Prompt", "PromptSource", "Support", "Turn"]


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generator answered to a prompt, and how it ended.

    ``finish`` is what the model says of the end: "stop" (it was done), "length" (the limit of tokens cut it),
    "content_filter", "refusal", or another word of the endpoint's; None where it says nothing. ``model`` is the one
    that answered. Tokens are those that the endpoint counted, None where it does not. ``label`` is how ``text`` begins
    where that says what the answer is and states nothing: no source need support it.
    """

    text: str = field(repr=False)
    model: str
    finish: str | None = "stop"
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    label: str = ""

    @property
    def truncated(self) -> bool:
        """Whether the limit of tokens cut the text: it is a beginning, and nothing may be read out of its end."""
        return self.finish == "length"


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A hit that stands in a prompt, and the anchor by which an answer cites it: ``##2272##`` or ``[1]``."""

    anchor: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked of a language model: what it shall do, and one text of the sources and the question.

    ``sources`` stand in it, best first; ``left_out`` counts the hits that do not. ``text`` is the message of the user,
    sources and question as the model reads them. ``tokens`` and ``size`` (bytes) are those of both messages.
    """

    instructions: str = field(repr=False)
    question: str = field(repr=False)
    sources: tuple[PromptSource, ...]
    left_out: int
    tokens: int
    size: int
    text: str = field(repr=False)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as chat completions take it."""
        return [{"role": "system", "content": self.instructions}, {"role": "user", "content": self.text}]


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that an answer cites by the footnote ``[^number]``.

    ``keys`` name the cited chunks of it (``task:42:0``) in the order of their use, ``quote`` is the text of the first.
    """

    number: int
    source: SourceKey
    title: str | None = field(repr=False)
    url: str | None
    quote: str = field(repr=False)
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """How far the sentences of an answer rest on its sources, in numbers.

    Of the ``sentences`` that state something, ``uncited`` name no source and ``unsupported`` share too few words with
    the chunks that they name. ``unknown_anchors`` named nothing and were removed; ``dropped`` are the sources that were
    cited beyond the limit of references.
    """

    sentences: int = 0
    uncited: int = 0
    unsupported: int = 0
    unknown_anchors: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation that was asked before.

    ``standalone`` is what a follow-up was rewritten to, None where it stood by itself; ``answer`` None where its text
    was not kept.
    """

    question: str = field(repr=False)
    standalone: str | None = field(default=None, repr=False)
    answer: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question, with its sources.

    ``text`` has footnotes ``[^1]``, which ``references`` lists in Markdown and ``citations`` as records. ``outcome``:
    "answered", "truncated" (the limit of tokens cut it), "no_grounds" (nothing was found: no generator was asked).
    ``searched`` is what was searched for, ``result`` what was found; ``withheld`` counts the hits that were kept from
    the generator, which is elsewhere, because their source lets no text leave. ``standalone`` is the question that a
    follow-up was taken for, None where it was left as it is. ``reduced_by`` says who chose what to search for: "rules",
    a language model by its name, None where nobody did; ``notes`` are sentences on what did not go as configured,
    without the question's words. ``timings`` are seconds by step. ``search_id`` is its number in the search log, None
    where it was not logged.
    """

    question: str = field(repr=False)
    text: str = field(repr=False)
    outcome: Literal["answered", "truncated", "no_grounds"]
    result: SearchResult
    searched: str = field(repr=False)
    generator: str
    withheld: int = 0
    citations: tuple[Citation, ...] = ()
    references: str = field(default="", repr=False)
    support: Support = field(default_factory=Support)
    prompt: Prompt | None = field(default=None, repr=False)
    generation: Generation | None = None
    timings: Mapping[str, float] = field(default_factory=nothing)
    standalone: str | None = field(default=None, repr=False)
    reduced_by: str | None = None
    notes: tuple[str, ...] = ()
    search_id: int | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found, best first."""
        return self.result.hits
