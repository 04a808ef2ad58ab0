"""What a search finds, and what is around it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oraclerag.errors import InputError
from oraclerag.records.key import SourceKey, nothing

__all__ = ["Hit", "Passage", "SearchResult", "StoredChunk"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that a search found.

    ``distance`` is the cosine distance, 0 (same direction) to 2; ``score`` is ``1 - distance``. ``rank`` counts from 1,
    ``why`` says what gave the hit its place. ``stale``: a change of its entity waits in the queue. ``key`` is the hit's
    name, ``task:42:0``. ``relevance``, 0 to 1, is what a reranker says, where one was asked.
    """

    rank: int
    chunk_id: int
    source: SourceKey
    chunk_number: int
    content: str = field(repr=False)
    distance: float
    why: str = ""
    stale: bool = False
    title: str | None = field(default=None, repr=False)
    url: str | None = None
    section: str | None = None
    collection: str | None = None
    project: str | None = None
    sprint: str | None = None
    occurred_at: dt.datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    relevance: float | None = None

    @property
    def score(self) -> float:
        """Similarity, 1 is the same direction."""
        return 1.0 - self.distance

    @property
    def key(self) -> str:
        """``<type>:<id>:<chunk number>``."""
        return f"{self.source}:{self.chunk_number}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one question, best first, and how they were found; iterating it gives the hits.

    ``approximate``: whether the vector index may have been used, ``reason`` says why or why not; ``truncated``: whether
    the question was longer than the model reads; ``codes``: the error codes that the search was scoped to,
    ``codes_missing``: those that no visible chunk names; ``statement``: the SQL that was run last (no values);
    ``statements``: how many were sent. ``text_leg`` of a hybrid search: "oracle text", "plain" (the words were looked
    for in the nearest chunks only) or None, ``text_reason`` says why; ``text_pending``: how many changed chunks the
    text index does not know yet, None where that cannot be read. ``model`` is the physical name of the model that
    embedded the question. ``search_id`` is its number in the search log, None where it was not logged.
    """

    hits: tuple[Hit, ...]
    approximate: bool = False
    reason: str = ""
    truncated: bool = False
    codes: tuple[str, ...] = ()
    codes_missing: tuple[str, ...] = ()
    statement: str = field(default="", repr=False)
    statements: int = 1
    seconds: float = 0.0
    text_leg: Literal["oracle text", "plain"] | None = None
    text_reason: str = ""
    text_pending: int | None = None
    model: str | None = None
    search_id: int | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]

    def page(self, number: int, size: int = 10) -> tuple[Hit, ...]:
        """Give one page of the hits, the first being 1; behind the last one there is nothing.

        Pages of one result have every hit once, whatever changes meanwhile: search for as many as shall be paged.
        Raises InputError.
        """
        for value, name in ((number, "number"), (size, "size")):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"page: {name} must be a whole number from 1 on, not {value!r}.")
        return self.hits[(number - 1) * size : number * size]


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """One chunk as the index has it, fetched by its name; see :class:`Hit` for what its parts mean.

    ``start`` and ``end`` are its span in the text of the entity, ``parent`` is the number of the first chunk of its
    section, None for that chunk itself.
    """

    chunk_id: int
    source: SourceKey
    chunk_number: int
    content: str = field(repr=False)
    start: int | None = None
    end: int | None = None
    parent: int | None = None
    stale: bool = False
    title: str | None = field(default=None, repr=False)
    url: str | None = None
    section: str | None = None
    collection: str | None = None
    project: str | None = None
    sprint: str | None = None
    occurred_at: dt.datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    @property
    def key(self) -> str:
        """``<type>:<id>:<chunk number>``."""
        return f"{self.source}:{self.chunk_number}"


@dataclass(frozen=True, slots=True)
class Passage:
    """The text around hits of one entity: what they are read in.

    ``hits`` are the ids of the chunks that it was asked for, in the order in which they were given, ``chunks`` the
    numbers of those that are in it. ``text`` is the span ``start`` to ``end`` of the entity's text (of a diagnostic
    report with its rules shortened), ``head`` what is repeated before it. ``cut``: there is more of it than the bound
    lets through.
    """

    source: SourceKey
    hits: tuple[int, ...]
    text: str = field(repr=False)
    head: str = field(default="", repr=False)
    chunks: tuple[int, ...] = ()
    start: int | None = None
    end: int | None = None
    cut: bool = False
    title: str | None = field(default=None, repr=False)
    url: str | None = None
    section: str | None = None

    @property
    def content(self) -> str:
        """Head and text."""
        return self.head + self.text
