"""What is reported of work that was done, or would be: plain, frozen records; ``records`` gives them too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from oraclerag.records import SourceKey

__all__ = [
    "AuditFinding",
    "AuditKind",
    "AuditReport",
    "BackfillEstimate",
    "BackfillReport",
    "DrainReport",
    "ExportReport",
    "OnboardReport",
    "Problem",
    "RemovalReport",
    "SourceCoverage",
    "TenantReport",
    "TenantSummary",
    "WipeReport",
    "WipedSource",
]


@dataclass(frozen=True, slots=True)
class DrainReport:
    """What one batch of a worker did, in entities except where said.

    ``claimed`` counts queue rows, ``embedded`` chunks. ``seconds`` is the time of the batch by the worker's clock.
    """

    claimed: int = 0
    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0
    postponed: int = 0
    dead: int = 0
    given_back: int = 0
    embedded: int = 0
    paused: tuple[str, ...] = ()
    seconds: float = 0.0

    def __add__(self, other: DrainReport) -> DrainReport:
        return DrainReport(
            self.claimed + other.claimed,
            self.indexed + other.indexed,
            self.unchanged + other.unchanged,
            self.deleted + other.deleted,
            self.postponed + other.postponed,
            self.dead + other.dead,
            self.given_back + other.given_back,
            self.embedded + other.embedded,
            tuple(dict.fromkeys(self.paused + other.paused)),
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong; ``hint`` says what to do about it."""

    code: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """How many entities of a source were enqueued, and of how many the source has."""

    source: str
    enqueued: int
    gone: int
    total: int


@dataclass(frozen=True, slots=True)
class BackfillEstimate:
    """What a backfill of a source would enqueue, and about what working that off costs; nothing was written.

    ``entities`` to index, ``gone`` to delete and ``total`` are counted. ``tokens`` to embed and ``minutes`` of one
    worker are extrapolated from ``sampled`` entities; None is unknown: none of them could be read. ``chunks`` are all
    of these entities, also those that are embedded already.
    """

    source: str
    entities: int
    gone: int
    total: int
    sampled: int
    tokens: int | None
    minutes: float | None
    chunks: int | None = None


AuditKind = Literal["missing", "stale", "orphaned", "foreign", "unreadable"]


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """An entity whose chunks are not what its source says: what kind of wrong it is, and in what."""

    kind: AuditKind
    key: SourceKey
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Whether the index equals one source, in entities.

    ``total`` the source has; ``audited`` were looked at, those that are indexed and not in the source among them, all
    of them where ``sample`` is None. They are ``equal`` or wrong: ``missing`` (not indexed), ``stale`` (other text,
    details, settings, chunks or vectors than rendering gives; ``differs`` counts these), ``orphaned`` (indexed, and
    gone or without a tenant), ``foreign`` (chunks under another tenant than their entity has), ``unreadable`` (the
    source fails). Or neither: ``waiting`` have queue rows or changed while they were looked at, ``dead`` were given up.
    ``hidden`` counts those, of any kind, with chunks that nobody sees. ``repaired`` were enqueued to be written anew.
    ``examples`` name some of each kind.
    """

    source: str
    total: int
    audited: int
    equal: int
    missing: int = 0
    stale: int = 0
    orphaned: int = 0
    foreign: int = 0
    unreadable: int = 0
    waiting: int = 0
    dead: int = 0
    hidden: int = 0
    repaired: int = 0
    sample: int | None = None
    differs: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    examples: tuple[AuditFinding, ...] = ()
    seconds: float = 0.0

    @property
    def wrong(self) -> int:
        """Entities whose chunks are not what they should be."""
        return self.missing + self.stale + self.orphaned + self.foreign + self.unreadable

    @property
    def ok(self) -> bool:
        """Whether nothing that was looked at is wrong."""
        return not self.wrong


@dataclass(frozen=True, slots=True)
class WipedSource:
    """What there was of one source to be wiped; ``held``: entities that workers had at that moment."""

    source: str
    entities: int
    documents: int
    chunks: int
    held: int = 0


@dataclass(frozen=True, slots=True)
class WipeReport:
    """What was wiped, or with ``done`` false would be; ``enqueued`` queue rows have it made anew.

    ``unknown`` are sources that this process has not, so that it cannot make anew what was of them.
    """

    sources: tuple[WipedSource, ...]
    unknown: tuple[str, ...] = ()
    enqueued: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class TenantSummary:
    """What an installation holds of one tenant, in rows: ``entities`` are indexed and have text.

    ``waiting`` and ``dead`` are rows of the queue, ``searches`` of the search log.
    """

    tenant: str
    entities: int = 0
    chunks: int = 0
    files: int = 0
    resolutions: int = 0
    waiting: int = 0
    dead: int = 0
    searches: int = 0


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How many entities a source has, of a tenant or in all, and how many of them are not indexed as it says now.

    ``enqueued`` were put into the queue, where that was asked for.
    """

    source: str
    total: int
    missing: int
    enqueued: int = 0


@dataclass(frozen=True, slots=True)
class TenantReport:
    """Whether a tenant is found, by itself and by nobody else.

    ``uncounted`` are sources that cannot name their entities. ``phrase`` was searched for with the tenant's scope,
    and ``expected`` found at ``rank`` (None: not among the hits); with the scopes of ``others`` too, which found
    ``leaked`` of what is this tenant's. ``foreign`` counts documents and chunks under another tenant than their
    entity, ``hidden`` chunks that nobody sees.
    """

    summary: TenantSummary
    coverage: tuple[SourceCoverage, ...]
    uncounted: tuple[str, ...] = ()
    phrase: str | None = None
    expected: SourceKey | None = None
    rank: int | None = None
    hits: int = 0
    others: int = 0
    leaked: tuple[SourceKey, ...] = ()
    foreign: int = 0
    hidden: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class OnboardReport:
    """What was done for a tenant: per source what it has of it, and what was enqueued.

    ``without`` are sources that map no tenant, so that nothing of them can be this tenant's; ``uncounted`` those that
    cannot name their entities, so that only what they announce is indexed. ``indexed`` says what was
    done at once, where that was asked for. ``hits`` is what a first search found.
    """

    summary: TenantSummary
    sources: tuple[SourceCoverage, ...]
    without: tuple[str, ...]
    uncounted: tuple[str, ...]
    indexed: DrainReport | None
    phrase: str | None
    hits: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: ``rows`` by table, the file with its size and SHA-256, and the manifest that says the same."""

    tenant: str
    file: str
    manifest: str
    rows: Mapping[str, int]
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """What was deleted of a tenant, or with ``done`` false would be: ``rows`` by table.

    ``returning`` counts what sources still have of the tenant, by source; None: it cannot be asked. ``announced``
    entities are another tenant's by now and were enqueued for it.
    """

    tenant: str
    rows: Mapping[str, int]
    returning: Mapping[str, int | None] = field(default_factory=lambda: MappingProxyType({}))
    announced: int = 0
    done: bool = False
