"""What travels between the stages: plain, frozen records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from oraclerag import envelope, error_codes
from oraclerag.cutting import Cutting
from oraclerag.errors import InputError
from oraclerag.reports import (
    AuditFinding,
    AuditKind,
    AuditReport,
    BackfillEstimate,
    BackfillReport,
    DrainReport,
    Problem,
)

__all__ = [
    "Action",
    "AuditFinding",
    "AuditKind",
    "AuditReport",
    "BackfillEstimate",
    "BackfillReport",
    "Chunk",
    "Citation",
    "Claimed",
    "Document",
    "DrainReport",
    "Generation",
    "Held",
    "Hit",
    "LoggedHit",
    "LoggedSearch",
    "Passage",
    "Piece",
    "Problem",
    "Prompt",
    "PromptSource",
    "Resolution",
    "SearchResult",
    "SourceKey",
    "StoredChunk",
    "Support",
    "Turn",
    "Visibility",
    "fingerprint_half",
]

NO_TENANT = "-"
"""RAG_DIRTY.TENANT_ID where the writer names none; no tenant may be called so."""

MAX_TYPE_BYTES = 30
"""What RAG_DIRTY.SOURCE_TYPE and its like hold."""

MAX_ID_BYTES = 400
"""What RAG_DIRTY.SOURCE_ID and its like hold."""

MAX_TENANT_BYTES = 128
"""What RAG_DIRTY.TENANT_ID and its like hold."""

Action = Literal["UPSERT", "DELETE"]
Visibility = Literal["shared", "owner"]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


def fits(value: object, size: int) -> bool:
    """Whether a value is a text that a column of so many bytes holds; '' would be NULL."""
    try:
        return isinstance(value, str) and 0 < len(value.encode()) <= size
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class SourceKey:
    """Names one entity of a source: the type as configured, and its id as text.

    ``tenant`` is a hint for fair turns and for refusing strays, never part of the identity; required where the source
    maps a tenant. A key of several columns is joined with ``/`` in the order of the source's ``key``.
    """

    type: str
    id: str
    tenant: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not fits(self.type, MAX_TYPE_BYTES):
            raise InputError(
                f"The type of a SourceKey must be a text of 1 to {MAX_TYPE_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )
        if not fits(self.id, MAX_ID_BYTES):
            raise InputError(
                f"The id of a SourceKey of type {self.type!r} must be a text of 1 to {MAX_ID_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )
        if self.tenant is not None and not fits(self.tenant, MAX_TENANT_BYTES):
            raise InputError(
                f"The tenant of a SourceKey of type {self.type!r} must be a text of 1 to {MAX_TENANT_BYTES} bytes, "
                f"without halves of surrogate pairs."
            )

        if self.tenant == NO_TENANT:
            raise InputError(
                f"The tenant of a SourceKey of type {self.type!r} is {NO_TENANT!r}, which stands for none.",
                hint="Give that tenant another name, or leave it out where the source maps none.",
            )

    def __str__(self) -> str:
        return f"{self.type}:{self.id}"


class Piece(NamedTuple):
    """What VECTOR_CHUNKS gave of a text: its place, counted from 1, its length there, and its text."""

    offset: int
    length: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a source says of one entity at present.

    ``text`` is the whole text to index; its first line is the head that chunks repeat when the text is cut. An empty
    text means: nothing to index, but the entity exists. Naive times are taken in the source's time zone.
    ``tenant``, ``owner`` and ``visibility`` decide who may see it; None leaves ``visibility`` to the source, and
    ``cutting`` too: how this text is cut into chunks. ``pieces`` is not for sources: how the database has cut it.
    """

    text: str = field(repr=False)
    title: str | None = field(default=None, repr=False)
    url: str | None = None
    tenant: str | None = None
    owner: str | None = None
    visibility: Visibility | None = None
    project: str | None = None
    sprint: str | None = None
    collection: str | None = None
    occurred_at: dt.datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, repr=False)
    cutting: Cutting | None = None
    pieces: tuple[Piece, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: at most 4,000 bytes and the model's limit in tokens, with what is repeated before it.

    ``text`` is the half-open span ``start`` to ``end`` of the document's text, in characters (of a diagnostic report
    with rules and repeated entries shortened); spans follow each other and may overlap. ``head`` is repeated before it
    where that says what it belongs to. ``section`` is the path of headings, ``parent`` the number of the first chunk of
    its section (None for that chunk itself). ``metadata`` is what this chunk's own text says, such as error codes.
    """

    number: int
    text: str = field(repr=False)
    start: int = 0
    end: int = 0
    section: str | None = None
    head: str = field(default="", repr=False)
    parent: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, repr=False)

    @property
    def content(self) -> str:
        """What is embedded and stored."""
        return self.head + self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A resolved incident: what was seen, why it was so, and what was done, validated by somebody or not yet.

    ``title`` (at most 1,000 bytes) and ``fix`` are required. ``error_codes`` are normalised (ORA-942 is ORA-00942);
    those that the texts name need not be repeated. ``resolution_type`` is one of
    :data:`oraclerag.envelope.RESOLUTION_TYPES` or of ``other_resolution_types``, however it is written; what follows it
    is as in :class:`~oraclerag.envelope.Envelope`. ``validated_at`` defaults to now where ``validated_by`` is given; a
    naive time is UTC. ``visibility`` "owner" shows it to ``owner`` and managers alone. ``tenant`` None is the
    installation's default. ``metadata`` is what else hits are to be filtered by. ``id`` and ``recorded_at`` are given
    where it is kept. Raises InputError.
    """

    title: str
    fix: str = field(repr=False)
    symptom: str | None = field(default=None, repr=False)
    analysis: str | None = field(default=None, repr=False)
    error_codes: Sequence[str] = ()
    resolution_type: str | None = None
    oracle_doc_id: str | None = None
    environment: str | None = None
    module: str | None = None
    version: str | None = None
    script: str | None = None
    validated_by: str | None = None
    validated_at: dt.datetime | None = None
    visibility: Visibility = "shared"
    owner: str | None = None
    collection: str = "resolutions"
    tenant: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing, repr=False)
    id: int | None = None
    recorded_at: dt.datetime | None = None
    other_resolution_types: InitVar[Sequence[str]] = ()

    def __post_init__(self, other_resolution_types: Sequence[str]) -> None:
        for name, size in _RESOLUTION_TEXTS.items():
            value = getattr(self, name)
            if value is None and name not in ("title", "fix", "collection"):
                continue
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"Resolution: {name} must be a text that is not blank.")
            if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
                raise InputError(
                    f"Resolution: {name} holds NUL or half of a surrogate pair, which no database text can."
                )
            if size is not None and len(value.encode()) > size:
                raise InputError(f"Resolution: {name} must be at most {size:,} bytes.")
        if self.tenant == NO_TENANT:
            raise InputError(f"Resolution: the tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
        if self.visibility not in ("shared", "owner"):
            raise InputError(f"Resolution: visibility must be 'shared' or 'owner', not {self.visibility!r}.")
        if self.validated_at is not None and self.validated_by is None:
            raise InputError("Resolution: validated_at says when; validated_by must say who.")
        if isinstance(self.error_codes, str):
            raise InputError('Resolution: error_codes must be a list of texts, such as ["ORA-01652"].')
        object.__setattr__(self, "error_codes", tuple(map(_code, self.error_codes)))
        given = envelope.Envelope(
            **{name: getattr(self, name) for name in envelope.FIELDS}, other_resolution_types=other_resolution_types
        )
        for name in envelope.FIELDS:
            object.__setattr__(self, name, getattr(given, name))


# What each text may take in bytes; None: any number.
_RESOLUTION_TEXTS: Mapping[str, int | None] = {
    "title": 1000, "fix": None, "symptom": None, "analysis": None, "validated_by": 128, "owner": MAX_TENANT_BYTES,
    "collection": MAX_TENANT_BYTES, "tenant": MAX_TENANT_BYTES,
}  # fmt: skip


def _code(text: str) -> str:
    code = error_codes.normalised(text) if isinstance(text, str) else None
    if code is None:
        raise InputError(f"Resolution: {text!r} is no error code, such as ORA-01652.")
    return code


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
    metadata: Mapping[str, Any] = field(default_factory=_nothing, repr=False)
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
    timings: Mapping[str, float] = field(default_factory=_nothing)
    standalone: str | None = field(default=None, repr=False)
    reduced_by: str | None = None
    notes: tuple[str, ...] = ()
    search_id: int | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found, best first."""
        return self.result.hits


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
    options: Mapping[str, Any] = field(default_factory=_nothing, repr=False)
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
    timings: Mapping[str, float] = field(default_factory=_nothing)
    seconds: float | None = None
    error_code: str | None = None
    failed_step: str | None = None
    feedback: bool | None = None
    feedback_note: str | None = field(default=None, repr=False)
    feedback_at: dt.datetime | None = None


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
    metadata: Mapping[str, Any] = field(default_factory=_nothing, repr=False)

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


@dataclass(frozen=True, slots=True)
class Claimed:
    """An entity that was got, with its queue rows (id, attempts so far) and the DEAD rows seen before the read."""

    entity_id: int
    source_type: str
    source_id: str
    rows: tuple[tuple[int, int], ...]
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What RAG_ENTITY says of an entity whose ticket is ours and whose row is locked until the transaction ends."""

    fingerprint: str | None
    content_hash: str | None
    details_hash: str | None
    chunks: int


def fingerprint_half(fingerprint: str | None, what: Literal["settings", "model"]) -> str | None:
    """Give the half of a fingerprint that stands for the source's settings or for the model."""
    if fingerprint is None:
        return None
    return fingerprint[:32] if what == "settings" else fingerprint[32:]
