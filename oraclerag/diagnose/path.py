"""The way out of an incident: what is asked of a generator over cases and notes, and who answers without a model.

Without a language model the steps of the best case are quoted, line by line, and then what the notes say.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Generator as Pieces
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oraclerag import anchors
from oraclerag.generate.extractive import Extractive
from oraclerag.generate.stream import Stream
from oraclerag.records import Generation, Prompt, PromptSource
from oraclerag.source.resolution import RESOLUTION_SOURCE

__all__ = ["Steps", "question", "template"]

_QUOTED = "No language model wrote this. What resolved it before, and what the notes say, word for word:"
_UNVALIDATED = "No language model wrote this. What was done before, validated by nobody, word for word:"
_FIX = re.compile(r"^Fix: ", re.MULTILINE)
_STEPS = 20
_LONGEST = 600  # characters of a quotation
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
class Steps:
    """Quotes the fix of the first case that somebody validated, else of the first, and sentences of the notes."""

    @property
    def name(self) -> str:
        """What it is called."""
        return "extractive"

    @property
    def local(self) -> bool:
        """It sends nothing."""
        return True

    def generate(self, prompt: Prompt) -> Generation:
        """Give the steps."""
        parts = list(_parts(prompt))
        return Generation(text="".join(parts), model=self.name, label=parts[0])

    def stream(self, prompt: Prompt) -> Stream:
        """Give the steps, one quotation after the other."""
        return Stream(self._pieces(prompt))

    def _pieces(self, prompt: Prompt) -> Pieces[str, None, Generation]:
        parts = []
        for part in _parts(prompt):
            parts.append(part)
            yield part
        return Generation(text="".join(parts), model=self.name, label=parts[0])


def _parts(prompt: Prompt) -> Iterator[str]:
    cases = [source for source in prompt.sources if source.hit.source.type == RESOLUTION_SOURCE]
    notes = tuple(source for source in prompt.sources if source.hit.source.type != RESOLUTION_SOURCE)
    validated = [source for source in cases if source.hit.metadata.get("validated_by")]
    best = next(iter(validated or cases), None)
    steps = [] if best is None else list(itertools.islice(_fix(best), _STEPS))
    if best is None or not steps:
        generation = Extractive().generate(prompt)
        yield generation.label
        yield generation.text.removeprefix(generation.label)
        return
    yield _QUOTED if validated else _UNVALIDATED
    for step in steps:
        yield f"\n\n> {_quoted(step, best.anchor)} {best.anchor}"
    if notes:
        others = Extractive(_SENTENCES).generate(dataclasses.replace(prompt, sources=notes))
        yield others.text.removeprefix(others.label)


def _fix(source: PromptSource) -> Iterator[str]:
    """Give the lines of what was done; nothing where the text of a case was too long to have it."""
    found = _FIX.search(source.hit.content)
    if found is not None:
        for line in source.hit.content[found.end() :].splitlines():
            if _WORD.search(line):
                yield line


def _quoted(text: str, anchor: str) -> str:
    """Give a quotation on one line, in which nothing passes for an anchor."""
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        cut = text[:_LONGEST]
        text = (cut.rpartition(" ")[0] or cut) + " …"
    return anchors.neutral(text, "hash" if anchor.startswith("#") else "bracket")
