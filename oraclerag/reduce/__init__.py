"""What is asked, and what of it is searched for: follow-ups are understood, questions reduced to what matters.

``rules`` and ``follow_up`` need no language model, ``by_model`` asks one. Where that fails, or gives what cannot be
used, the rules' result is taken and a note says so: neither step ever costs an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from oraclerag import log
from oraclerag.errors import ProviderError
from oraclerag.records import Turn
from oraclerag.reduce import by_model, follow_up, rules

if TYPE_CHECKING:
    from oraclerag.generate import Generator

__all__ = ["RULES", "AsBefore", "Reducer", "Understanding", "Understood"]

RULES = "rules"
"""What the rules are called where it is said who reduced a question."""

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it is answered and as it is searched for.

    ``standalone`` is what a follow-up was taken for, None where it was left as it is. ``reduced_by`` is "rules", the
    name of a language model, or None where every word is searched for. ``notes``: what did not go as configured.
    """

    question: str = field(repr=False)
    searched: str = field(repr=False)
    standalone: str | None = field(default=None, repr=False)
    reduced_by: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The question that is answered."""
        return self.question if self.standalone is None else self.standalone


class Understanding(Protocol):
    """Who says what of a question is searched for."""

    def understood(self, question: str, turns: Sequence[Turn] = ()) -> Understood:
        """Understand a question that follows ``turns``, oldest first."""


@dataclass(frozen=True, slots=True)
class AsBefore:
    """A question that was understood once, taken for that again: nobody is asked, and no rule is applied."""

    searched: str = field(repr=False)
    standalone: str | None = field(default=None, repr=False)
    reduced_by: str | None = None

    def understood(self, question: str, turns: Sequence[Turn] = ()) -> Understood:  # noqa: ARG002 - they are in it
        """Give what it was taken for."""
        return Understood(question, self.searched, self.standalone, self.reduced_by)


@dataclass(frozen=True, slots=True)
class Reducer:
    """Who understands questions: the rules, or ``model`` where there is one; with ``reduces`` off, words all stay."""

    model: Generator | None = None
    reduces: bool = True

    def understood(self, question: str, turns: Sequence[Turn] = ()) -> Understood:
        """Understand a question that follows ``turns``, oldest first; without any it stands by itself.

        Asks the model once for a follow-up and once for what to search for, and not again once it has failed. Never
        raises what the model's endpoint raises.
        """
        return _Thinking(question, self.model).all(turns, reduces=self.reduces)


class _Thinking:
    """One question on its way; a model that failed is not asked again."""

    def __init__(self, question: str, model: Generator | None) -> None:
        self._question = question
        self._model = model
        self._notes: list[str] = []
        if model is not None and len(question.encode("utf-8", "replace")) > by_model.MAX_QUESTION:
            self._model = None
            self._note(
                f"The question is longer than {by_model.MAX_QUESTION:,} bytes: no language model was asked what of it "
                f"to search for."
            )

    def all(self, turns: Sequence[Turn], *, reduces: bool) -> Understood:
        question = self._question
        standalone, matter = None, None
        if turns:
            made = self._by_model(lambda model: by_model.standalone(question, turns, model), "a follow-up question")
            if made is not None:
                standalone = None if made[0] == " ".join(question.split()) else made[0]
            elif follow_up.points_back(question):
                matter = follow_up.matter(turns)
                standalone = follow_up.joined(question, matter)
        searched, by = question if standalone is None else standalone, None
        if reduces and matter is not None:
            searched, by = f"{rules.terms(question)} {matter}", RULES
        elif reduces:
            asked = searched
            made = self._by_model(lambda model: by_model.terms(asked, model), "what of the question to search for")
            searched, by = made if made is not None else (rules.terms(asked), RULES)
        return Understood(question, searched, standalone, by, tuple(self._notes))

    def _by_model(self, ask: Callable[[Generator], tuple[str, str]], what: str) -> tuple[str, str] | None:
        """Ask the model, if there is one; None where the rules must do."""
        if self._model is None:
            return None
        try:
            return ask(self._model)
        except by_model.Unusable as error:
            why, code = f"gave nothing of use: {error}", None
        except ProviderError as error:
            self._model = None
            why, code = f"failed: {error.message.rstrip('.')}", error.code
        self._note(f"{what[0].upper()}{what[1:]} was decided by rules, since the language model {why}.", code)
        return None

    def _note(self, message: str, code: str | None = None) -> None:
        log.event(_LOGGER, logging.WARNING, "fallback", message, error_code=code)
        self._notes.append(message)
