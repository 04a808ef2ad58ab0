"""The way out of an incident: what is asked of a generator over cases and notes, and who answers without a model.

Without a language model the steps of the best case are quoted, line by line, and then what the notes say.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oraclerag.generate.extractive import Extractive, Quoting, quoted
from oraclerag.records import Prompt, PromptSource
from oraclerag.source.resolution import RESOLUTION_SOURCE

__all__ = ["Steps", "question", "template"]

_QUOTED = "No language model wrote this. What resolved it before, and what the notes say, word for word:"
_UNVALIDATED = "No language model wrote this. What was done before, validated by nobody, word for word:"
_FIX = re.compile(r"^Fix: ", re.MULTILINE)
_STEPS = 20
_SENTENCES = 3
_QUESTION = 1_500  # characters of what an incident is about
_WORD = re.compile(r"\w")


def question(about: str) -> str:
    """Give what is asked: which steps resolve what an analysis says."""
    about = about if len(about) <= _QUESTION else about[: _QUESTION - 1] + "…"
    return f"Which steps resolve this incident: {about}" if about else "Which steps resolve this incident?"


def template() -> str:
    """Give the template of the prompt: that of answers, with what a way out of an incident needs."""
    return (Path(__file__).parent / "path.j2").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Steps(Quoting):
    """Quotes the fix of the first case that somebody validated, else of the first, and sentences of the notes."""

    def parts(self, prompt: Prompt) -> Iterator[str]:
        """Give what it is, and the steps; sentences alone where no case says how it was resolved."""
        cases = [source for source in prompt.sources if source.hit.source.type == RESOLUTION_SOURCE]
        notes = tuple(source for source in prompt.sources if source.hit.source.type != RESOLUTION_SOURCE)
        validated = [source for source in cases if source.hit.metadata.get("validated_by")]
        best = next(iter(validated or cases), None)
        steps = [] if best is None else list(itertools.islice(_fix(best), _STEPS))
        if best is None or not steps:
            yield from Extractive().parts(prompt)
            return
        yield _QUOTED if validated else _UNVALIDATED
        for step in steps:
            yield f"\n\n> {quoted(' '.join(step.split()), best.anchor)} {best.anchor}"
        if notes:
            others = Extractive(_SENTENCES).parts(dataclasses.replace(prompt, sources=notes))
            yield from itertools.islice(others, 1, None)  # its label is said


def _fix(source: PromptSource) -> Iterator[str]:
    """Give the lines of what was done; nothing where the text of a case was too long to have it."""
    found = _FIX.search(source.hit.content)
    if found is not None:
        for line in source.hit.content[found.end() :].splitlines():
            if _WORD.search(line):
                yield line
