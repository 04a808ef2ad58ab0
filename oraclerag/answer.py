"""FLOW reduce → search → prompt → generate → cite: an answer that names its sources, or says that there are none.

The database is asked before and let go: no connection is held while a language model writes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oraclerag import generate
from oraclerag import prompt as prompting
from oraclerag.anchors import Style
from oraclerag.cite import MAX_REFERENCES, cite, references
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.generate import Generator
from oraclerag.records import Answer, Generation, Hit, Prompt, SearchResult, Turn
from oraclerag.reduce import Reducer, Understanding, Understood
from oraclerag.search import SearchOptions
from oraclerag.searches.course import Course
from oraclerag.source import Source

__all__ = ["Prompting", "answer", "options_of", "prepared", "reducer"]

_NO_GROUNDS = "There is nothing that you may see which answers this."

_BYTES_PER_TOKEN = 3  # of a language model that is not known: English has nearer four, Spanish and code about three


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a prompt is made: ``reduce`` searches without the words that are not about the matter, as the settings say.

    An answer lists ``max_references`` sources at most. The others as :func:`oraclerag.prompt.build` takes them; tokens
    are estimated, one for every three bytes.
    """

    reduce: bool = True
    max_chunks: int = prompting.MAX_CHUNKS
    max_bytes: int = prompting.MAX_BYTES
    max_tokens: int = prompting.MAX_TOKENS
    anchors: Style = "hash"
    template: str | None = None
    max_references: int = MAX_REFERENCES

    @classmethod
    def of(cls, settings: Settings) -> Prompting:
        """Give what the settings say."""
        return cls(
            max_chunks=settings.ask_max_chunks,
            max_bytes=settings.ask_max_bytes,
            max_tokens=settings.ask_max_tokens,
            anchors=settings.ask_anchors,
            template=settings.ask_template,
            max_references=settings.ask_max_references,
        )


def options_of(settings: Settings, given: SearchOptions) -> SearchOptions:
    """Give the options of a search for an answer: those that were given, and the settings' where none was."""
    options = SearchOptions(min_score=settings.ask_min_score, order=settings.ask_order)
    options.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    return options


def reducer(settings: Settings, how: Prompting, database: Database | None = None) -> Reducer:
    """Give who understands questions. Raises ConfigurationError where the key of a language model is not there."""
    model = generate.for_questions(settings, database)
    return Reducer(model, reduces=how.reduce and settings.reduce_by != "nothing")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What there is before anything is written: what was searched for and found, and the prompt, if there are grounds.

    ``withheld`` counts the hits whose source lets no text leave.
    """

    understood: Understood
    result: SearchResult
    withheld: int
    prompt: Prompt | None


def prepared(
    question: str,
    search: Callable[[str], SearchResult],
    sources: Mapping[str, Source],
    how: Prompting,
    *,
    local: bool,
    reducer: Understanding,
    turns: Sequence[Turn] = (),
    course: Course | None = None,
) -> _Prepared:
    """Search for a question and build its prompt.

    ``local``: what reads the prompt is on this machine. ``turns``: what was asked before it, oldest first. ``course``
    is told how far it has come.
    """
    course = Course() if course is None else course
    course.step = "reduce"
    if not isinstance(question, str) or not question.strip():
        raise InputError("The question must be a text that is not blank.")
    with course.timed("reduce"):
        understood = reducer.understood(question, turns)
    course.standalone, course.searched = understood.standalone, understood.searched
    course.reduced_by = understood.reduced_by
    with course.timed("search"):
        course.result = result = search(understood.searched)
    with course.timed("prompt"):
        kept = [hit for hit in result if local or _may_leave(hit, sources)]
        made = None
        if kept:
            made = prompting.build(
                understood.asked,
                kept,
                count=_estimated_tokens,
                max_chunks=how.max_chunks,
                max_bytes=how.max_bytes,
                max_tokens=how.max_tokens,
                anchors=how.anchors,
                template=how.template,
            )
    if made is not None and not made.sources:
        raise ConfigurationError(
            f"No source has room in a prompt of {how.max_bytes:,} bytes and {how.max_tokens:,} tokens.",
            hint="Raise max_bytes and max_tokens.",
        )
    course.prompt = made
    return _Prepared(understood, result, len(result) - len(kept), made)


def answer(
    question: str,
    search: Callable[[str], SearchResult],
    sources: Mapping[str, Source],
    generator: Generator,
    how: Prompting,
    *,
    reducer: Understanding,
    turns: Sequence[Turn] = (),
    on_text: Callable[[str], None] | None = None,
    course: Course | None = None,
) -> Answer:
    """Answer a question from what a search finds; ``turns``: what was asked before it, oldest first.

    Where nothing is found, or nothing of it may be sent, no generator is asked and the answer says so. ``on_text`` is
    given the text piece by piece as it is written, with its anchors. ``course`` is told how far it has come. Raises
    InputError, ProviderError and what the search raises.
    """
    course = Course() if course is None else course
    course.generator = generator.name
    ready = prepared(question, search, sources, how, local=generator.local, reducer=reducer, turns=turns, course=course)
    understood = ready.understood
    none = Answer(
        question,
        _NO_GROUNDS,
        "no_grounds",
        result=ready.result,
        searched=understood.searched,
        standalone=understood.standalone,
        reduced_by=understood.reduced_by,
        notes=understood.notes,
        withheld=ready.withheld,
        generator=generator.name,
        timings=course.timings,
    )
    if ready.prompt is None:
        course.answer = none
        return none
    with course.timed("generate"):
        course.generation = generation = _generated(generator, ready.prompt, on_text)
    with course.timed("cite"):
        text, citations, support = cite(
            generation.text, ready.prompt.sources, limit=how.max_references, label=generation.label
        )
    course.answer = dataclasses.replace(
        none,
        text=text,
        outcome="truncated" if generation.truncated else "answered",
        citations=citations,
        references=references(citations),
        support=support,
        prompt=ready.prompt,
        generation=generation,
    )
    return course.answer


def _generated(generator: Generator, prompt: Prompt, on_text: Callable[[str], None] | None) -> Generation:
    if on_text is None:
        return generator.generate(prompt)
    with generator.stream(prompt) as stream:
        for piece in stream:
            on_text(piece)
        return stream.generation


def _may_leave(hit: Hit, sources: Mapping[str, Source]) -> bool:
    """Whether the text of a hit may be sent elsewhere; of a source that this process does not know, it may not."""
    source = sources.get(hit.source.type)
    return source is not None and source.settings.egress


def _estimated_tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)
