"""What is asked of an installation, and how: searches some questions at a time, or an answer to each.

Nothing of it is logged as if somebody had asked it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol, Unpack, cast

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import ProviderError, ProviderLoginFailed
from oraclerag.evaluate.judge import Judge
from oraclerag.evaluate.questions import Question
from oraclerag.records import Answer, SearchResult, StoredChunk
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions
from oraclerag.source import Source

__all__ = ["Evaluated", "Found", "How", "found", "options_of"]

_AT_ONCE = 16  # questions on one connection


class Evaluated(Protocol):
    """What is evaluated: a :class:`oraclerag.Rag`."""

    settings: Settings
    database: Database

    @property
    def sources(self) -> Mapping[str, Source]:
        """What can be indexed, by name."""

    def search_each(
        self,
        questions: Sequence[str],
        *,
        scope: Scope,
        connection: Any = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[SearchResult]:
        """Search for several questions."""

    def ask(
        self,
        question: str,
        *,
        scope: Scope,
        how: Any = None,
        on_text: Callable[[str], None] | None = None,
        log: bool | None = None,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Answer a question."""

    def fetch(self, keys: Any, *, scope: Scope, connection: Any = None) -> list[StoredChunk]:
        """Give chunks by their names."""


@dataclass(frozen=True, slots=True)
class How:
    """How every question is asked and scored; ``cutoffs`` ascend and end with the number of hits."""

    scope: Scope
    options: SearchOptions
    cutoffs: tuple[int, ...]
    answers: bool
    prompting: Any
    judge: Judge | None
    history: tuple[str, ...]

    @property
    def k(self) -> int:
        """How many hits are asked for."""
        return self.cutoffs[-1]


def options_of(question: Question | None, how: How) -> SearchOptions:
    """Give the options of a question's search, its own filter and codes among them; None: those of every question."""
    options: dict[str, Any] = {**how.options, "k": how.k}
    if question is not None:
        given = options.get("filter")
        if question.filter is not None:
            options["filter"] = question.filter if not given else {"$and": [given, question.filter]}
        if options.get("codes", True) is True:
            options["codes"] = question.codes if isinstance(question.codes, bool) else list(question.codes)
    return cast("SearchOptions", options)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a question before it is scored; ``failure`` is the code of what kept an answer from coming."""

    question: Question
    result: SearchResult
    answer: Answer | None = None
    failure: str | None = None


def found(rag: Evaluated, questions: Sequence[Question], how: How) -> Iterator[list[Found]]:
    """Ask, some questions at a time; those of one search have the same options."""
    if how.answers:
        for question in questions:
            yield [_answered(rag, question, how)]
        return
    for _, same in groupby(questions, key=lambda one: (one.filter, one.codes)):
        together = list(same)
        for start in range(0, len(together), _AT_ONCE):
            some = together[start : start + _AT_ONCE]
            options = options_of(some[0], how)
            results = rag.search_each([one.text for one in some], scope=how.scope, log=False, **options)
            yield [Found(question, result) for question, result in zip(some, results, strict=True)]


def _answered(rag: Evaluated, question: Question, how: How) -> Found:
    """Have a question answered; where the language model fails, what was found is still measured."""
    options = options_of(question, how)
    try:
        answer = rag.ask(question.text, scope=how.scope, how=how.prompting, log=False, **options)
    except ProviderLoginFailed:
        raise  # so would every other question
    except ProviderError as error:
        (result,) = rag.search_each([question.text], scope=how.scope, log=False, **options)
        return Found(question, result, failure=error.code)
    return Found(question, answer.result, answer)
