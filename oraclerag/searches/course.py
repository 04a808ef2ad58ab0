"""What was asked, and how far it has come: filled step by step, so that a step that fails leaves the others behind."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oraclerag import telemetry
from oraclerag.records import Answer, Generation, Prompt, SearchResult
from oraclerag.scope import Scope

__all__ = ["Asked", "Course", "Kind"]

Kind = Literal["search", "ask", "diagnose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it came: for a resolved ``scope``, with the ``options`` of its search that were given.

    ``k`` is how many hits were wanted, None where that was no number; ``prompting`` says how a prompt is made, None
    where none is; ``session`` names the conversation.
    """

    kind: Kind
    question: str = field(repr=False)
    scope: Scope
    options: Mapping[str, Any] = field(repr=False)
    k: int | None
    prompting: Mapping[str, Any] | None = field(default=None, repr=False)
    session: str | None = None


@dataclass(slots=True)
class Course:
    """How far the answering of one question has come.

    ``step`` is the one that is on ("reduce", "search", "prompt", "generate", "cite"; of a diagnosis "read", "analyse",
    "store" too), ``timings`` are the seconds of those that have ended, well or not. What is not known yet is None.
    """

    step: str = "search"
    standalone: str | None = field(default=None, repr=False)
    searched: str | None = field(default=None, repr=False)
    reduced_by: str | None = None
    result: SearchResult | None = None
    prompt: Prompt | None = field(default=None, repr=False)
    generator: str | None = None
    generation: Generation | None = None
    answer: Answer | None = field(default=None, repr=False)
    timings: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Say that a step is on, and take its time; it is a span."""
        self.step = step
        began = time.perf_counter()
        try:
            with telemetry.span(f"oraclerag.{step}"):
                yield
        finally:
            self.timings[step] = time.perf_counter() - began
