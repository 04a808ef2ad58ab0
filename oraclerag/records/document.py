"""What a source says: documents and their chunks, and resolved incidents."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

from oraclerag import envelope, error_codes
from oraclerag.cutting import Cutting
from oraclerag.errors import InputError
from oraclerag.records.key import MAX_TENANT_BYTES, NO_TENANT, Visibility, nothing

__all__ = ["Chunk", "Document", "Piece", "Resolution"]


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
    metadata: Mapping[str, Any] = field(default_factory=nothing, repr=False)
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
    metadata: Mapping[str, Any] = field(default_factory=nothing, repr=False)

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
    metadata: Mapping[str, Any] = field(default_factory=nothing, repr=False)
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
