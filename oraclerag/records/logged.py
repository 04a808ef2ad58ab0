"""What was asked, as the search log has it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oraclerag.records.key import SourceKey, nothing

__all__ = ["LoggedHit", "LoggedSearch"]


@dataclass(frozen=True, slots=True)
class LoggedHit:
    """A hit of a logged search, by its key.

    ``in_prompt``: its text was sent to the generator; ``cited``: the answer names it. ``chunk_id`` is the
    chunk's number at that time; the text that ``key`` names now may be another, or none.
    """

    rank: int
    source: SourceKey
    chunk_number: int
    distance: float | None = None
    chunk_id: int | None = None
    in_prompt: bool = False
    cited: bool = False

    @property
    def key(self) -> str:
        """``<type>:<id>:<chunk number>``."""
        return f"{self.source}:{self.chunk_number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSearch:
    """A search or an answer as the log has it; texts are None where they were not kept, or were cleared.

    ``asked_by`` is the owner of the scope that asked, ``asked_as`` all its principals, ``asked_role`` "manager",
    "principal" or "anyone". ``question_hash`` is given where questions are kept as hashes alone. ``standalone`` is a
    follow-up as it was rewritten, ``reduced`` what was searched for, where that differs from the question;
    ``reduced_by`` says by what. ``options`` are those of the search that were given, and the prompt's. ``mode`` is
    "exact" or "approx", after "hybrid " where words counted too; ``model`` the physical name of the one that embedded.
    ``found`` is the number of hits, ``hits`` their keys, best first, where one search is read. Of the sentences that
    state something ``cited`` name a source and ``uncited`` none; ``unsupported`` share too few words with theirs.
    ``timings`` are seconds by step, ``seconds`` in all. ``outcome``: "answered", "truncated", "no_grounds" of an
    answer, "found" or "nothing" of a search, or "failed", with ``error_code`` and ``failed_step``. ``asked_at`` and
    ``feedback_at`` are naive and in UTC. ``feedback``: True is good.
    """

    search_id: int
    tenant: str
    kind: Literal["search", "ask", "diagnose"]
    asked_role: str
    outcome: Literal["answered", "truncated", "no_grounds", "found", "nothing", "failed"]
    asked_at: dt.datetime
    asked_by: str | None = None
    asked_as: tuple[str, ...] = ()
    session: str | None = None
    question: str | None = field(default=None, repr=False)
    question_hash: str | None = None
    standalone: str | None = field(default=None, repr=False)
    reduced: str | None = field(default=None, repr=False)
    reduced_by: str | None = None
    options: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    mode: str | None = None
    model: str | None = None
    k: int | None = None
    found: int | None = None
    hits: tuple[LoggedHit, ...] = ()
    prompt: str | None = field(default=None, repr=False)
    answer: str | None = field(default=None, repr=False)
    generator: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    cited: int | None = None
    uncited: int | None = None
    unsupported: int | None = None
    timings: Mapping[str, float] = field(default_factory=nothing)
    seconds: float | None = None
    error_code: str | None = None
    failed_step: str | None = None
    feedback: bool | None = None
    feedback_note: str | None = field(default=None, repr=False)
    feedback_at: dt.datetime | None = None
