"""Course of a question → the rows of the log: what is kept of it, and what is not."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import hmac
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oraclerag.config import Settings
from oraclerag.database import INTERRUPTS
from oraclerag.errors import ConfigurationError, OracleRagError, ProviderError
from oraclerag.records import Hit
from oraclerag.searches.course import Asked, Course

__all__ = ["Entry", "Keeping", "entry"]

_OF_USERS = ("filter", "prefer", "vector")
"""Options that repeat or stand for words of the user."""

_MAX_NAME = 200
_MAX_CODE = 64
_MOST = 10**9  # of a NUMBER(9)
_WHOLE = 10**38  # what a NUMBER holds exactly


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the settings say of the log: whether texts of ``prompts`` and answers are kept, and ``questions`` as texts.

    ``key`` is that of the hashes of questions, None for plain ones.
    """

    prompts: bool = False
    questions: bool = True
    key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Keeping:
        """Read the settings, and the key from its variable. Raises ConfigurationError where that is empty."""
        key = None
        variable = settings.searches_hash_key_env
        if settings.searches_questions == "hash" and variable is not None:
            key = os.environ.get(variable, "").strip().encode("utf-8", "surrogateescape")
            if not key:
                raise ConfigurationError(
                    f"searches.hash_key_env names {variable}, which is not set: questions would be logged as hashes "
                    f"that can be guessed.",
                    hint=f"Set {variable}, or leave searches.hash_key_env out for plain SHA-256.",
                )
        return cls(settings.searches_log_prompts, settings.searches_questions == "text", key)

    def hashed(self, question: str) -> str:
        """Give the hash that stands for a question."""
        text = question.strip().encode("utf-8", "surrogatepass")
        if self.key is None:
            return hashlib.sha256(text).hexdigest()
        return hmac.new(self.key, text, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of RAG_SEARCH and those of RAG_SEARCH_HIT, by the names of their binds; the number comes when written."""

    row: Mapping[str, Any] = field(repr=False)
    hits: Sequence[Mapping[str, Any]]

    @property
    def has_texts(self) -> bool:
        """Whether it holds the text of a prompt or of an answer."""
        return self.row["prompt"] is not None or self.row["answer"] is not None

    def without_texts(self) -> Entry:
        """Give it without them."""
        return Entry({**self.row, "prompt": None, "answer": None}, self.hits)


def entry(asked: Asked, course: Course, keeping: Keeping, seconds: float, error: BaseException | None = None) -> Entry:
    """Say what the log keeps of a question that has come so far; ``error`` is what ended it, if anything did."""
    scope, answer, result = asked.scope, course.answer, course.result
    generation, prompt = course.generation, course.prompt
    text = answer.text if answer is not None else generation.text if generation is not None else None
    if isinstance(error, ProviderError) and error.partial:
        text = error.partial
    support = answer.support if answer is not None and answer.generation is not None else None
    kept = keeping.questions
    row = {
        "tenant_id": scope.tenant,
        "kind": asked.kind,
        "asked_by": scope.owner,
        "asked_role": scope.role,
        "asked_as": sorted(scope.principals),
        "session_name": asked.session,
        "question_hash": None if kept else keeping.hashed(asked.question),
        "reduced_by": _short(course.reduced_by, _MAX_NAME),
        "options": _options(asked, kept=kept),
        "search_mode": None if result is None else _mode(result.text_leg, approximate=result.approximate),
        "physical_name": None if result is None else result.model,
        "k": asked.k if type(asked.k) is int and 0 < asked.k < _MOST else None,
        "hits": None if result is None else len(result),
        "generator": _short(course.generator, _MAX_NAME),
        "prompt_tokens": None if generation is None else generation.prompt_tokens,
        "answer_tokens": None if generation is None else generation.answer_tokens,
        "cited": None if support is None else support.sentences - support.uncited,
        "uncited": None if support is None else support.uncited,
        "unsupported": None if support is None else support.unsupported,
        "timings": dict(course.timings),
        "seconds": seconds,
        "outcome": _outcome(course, error),
        "error_code": None if error is None else _code(error),
        "failed_step": None if error is None else course.step,
        "question": _storable(asked.question) if kept else None,
        "standalone": _storable(course.standalone) if kept else None,
        "reduced": _storable(course.searched) if kept and course.searched != asked.question else None,
        "prompt": _storable(f"{prompt.instructions}\n\n{prompt.text}") if keeping.prompts and prompt else None,
        "answer": _storable(text) if keeping.prompts else None,
    }
    in_prompt = {source.hit.key for source in prompt.sources} if prompt is not None else set()
    cited = {key for citation in answer.citations for key in citation.keys} if answer is not None else set()
    hits = () if result is None else result.hits
    return Entry(row, [_hit(hit, scope.tenant, hit.key in in_prompt, hit.key in cited) for hit in hits])


def _hit(hit: Hit, tenant: str | None, in_prompt: bool, cited: bool) -> dict[str, Any]:
    return {
        "hit_rank": hit.rank,
        "tenant_id": tenant,
        "chunk_id": hit.chunk_id,
        "source_type": hit.source.type,
        "source_id": hit.source.id,
        "chunk_no": hit.chunk_number,
        "distance": hit.distance,
        "in_prompt": int(in_prompt),
        "cited": int(cited),
    }


def _outcome(course: Course, error: BaseException | None) -> str:
    if error is not None:
        return "failed"
    if course.answer is not None:
        return course.answer.outcome
    return "found" if course.result else "nothing"


def _code(error: BaseException) -> str:
    if isinstance(error, OracleRagError):
        return error.code
    return "INTERRUPTED" if isinstance(error, INTERRUPTS) else type(error).__name__[:_MAX_CODE]


def _mode(text_leg: str | None, *, approximate: bool) -> str:
    return f"{'' if text_leg is None else 'hybrid '}{'approx' if approximate else 'exact'}"


def _options(asked: Asked, *, kept: bool) -> dict[str, Any]:
    """Give what was asked for as JSON takes it: the options of the search by name, those of the prompt in "prompt"."""
    given = {
        name: _plain(value)
        for name, value in asked.options.items()
        if value is not None and (kept or name not in _OF_USERS)
    }
    return given if asked.prompting is None else {**given, "prompt": _plain(asked.prompting)}


def _plain(value: object) -> Any:
    """Give a value of an option for JSON; of what is no option's value (it was refused), its type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _WHOLE else type(value).__name__
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, float | decimal.Decimal):
        finite = value.is_finite() if isinstance(value, decimal.Decimal) else math.isfinite(value)
        return float(value) if finite and math.isfinite(float(value)) else str(value)
    if isinstance(value, dt.date):  # and datetime
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(_storable(str(key))): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in value]
    return type(value).__name__


def _storable(text: str | None) -> str | None:
    """Give a text that the database can hold: without NUL and halves of surrogate pairs."""
    if text is None:
        return None
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8") or None


def _short(name: str | None, size: int) -> str | None:
    return None if name is None else name.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
