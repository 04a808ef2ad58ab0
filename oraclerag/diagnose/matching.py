"""What is known of an incident: earlier cases, notes about it, reports that say the same; each with why it is here.

Everything is read by searches for the caller's scope. Where there are error codes, only what names one of them counts,
and where there are waits alone, what names one of those.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oraclerag import error_codes
from oraclerag.envelope import Envelope
from oraclerag.errors import InputError
from oraclerag.records import Hit, Passage, SearchResult
from oraclerag.source.resolution import RESOLUTION_SOURCE

__all__ = ["Found", "Match", "Wanted", "found", "preferred"]

_MOST = 20  # cases, notes or reports that may be asked for
_LISTED = 3  # codes in a reason
_CANDIDATES = 200  # whose words are looked at where no code says which they are
_CHUNKS = 8  # of one entity that may stand before another one is found

_CASE = {"source_type": RESOLUTION_SOURCE}
_REPORT = {"metadata.report_family": {"$exists": True}}


@dataclass(frozen=True, slots=True)
class Match:
    """A hit with the reasons for which it is here: codes, environment, version, module, validation."""

    hit: Hit
    reasons: tuple[str, ...]

    @property
    def validated(self) -> bool:
        """Whether somebody has seen that it works."""
        return bool(self.hit.metadata.get("validated_by"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: a text, error codes, else waits, and what fits better. ``name`` is the report's own.

    ``cases``, ``notes`` and ``reports`` are how many of each are wanted. ``fallback``: where no case, or no note, names
    a code or a wait, those nearest by meaning. ``min_score`` is the least similarity of them all, ``max_k`` the most
    hits that a search gives.
    """

    text: str
    codes: Sequence[str] = ()
    waits: Sequence[str] = ()
    envelope: Envelope = field(default_factory=Envelope)
    name: str | None = None
    cases: int = 3
    notes: int = 5
    reports: int = 3
    fallback: bool = False
    min_score: float | None = None
    max_k: int = 1000

    def k(self, count: int) -> int:
        """Give how many hits are needed for so many entities."""
        return min(_CHUNKS * count, self.max_k)

    def __post_init__(self) -> None:
        for name in ("cases", "notes", "reports"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
                raise InputError(f"{name} must be a whole number from 0 to {_MOST}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, each best first, and the codes, or else the waits, that no case and no note names.

    ``result`` is what a search for it says beside its hits: the model, what was cut.
    """

    cases: tuple[Match, ...]
    notes: tuple[Match, ...]
    reports: tuple[Match, ...]
    missing: tuple[str, ...] = ()
    result: SearchResult = field(default_factory=lambda: SearchResult(()))


Search = Callable[..., SearchResult]
"""``rag.search`` with its scope: a question, and the options as keywords."""

Expand = Callable[[Sequence[Hit]], list[Passage]]
"""``rag.expand`` with its scope: the texts around hits, as far as they may still be seen."""


def found(wanted: Wanted, search: Search, expand: Expand) -> Found:
    """Look for what is known; raises what the searches raise."""
    results: list[SearchResult] = []

    def noted(question: str, **options: Any) -> SearchResult:
        results.append(search(question, **options))
        return results[-1]

    cases, notes = _cases(wanted, noted), _notes(wanted, noted)
    reports = _reports(wanted, noted)
    whole = _whole([match.hit for match in cases], expand)
    named = {name for match in (*cases, *notes) for name in _named(match.hit, wanted)}
    return Found(
        tuple(dataclasses.replace(match, hit=whole[match.hit.key]) for match in cases if match.hit.key in whole),
        tuple(notes),
        tuple(reports),
        tuple(name for name in wanted.codes or wanted.waits if name not in named),
        results[0] if results else SearchResult(()),
    )


def _cases(wanted: Wanted, search: Search) -> list[Match]:
    """Give the cases: of this environment first, then what fits module and version, what is validated, what is newer.

    Without a code to hold on to, only those that are nearest are put in that order.
    """
    if not wanted.cases:
        return []
    hits: Sequence[Hit] = ()
    if wanted.codes:
        hits = _distinct(
            search(
                wanted.text, source=RESOLUTION_SOURCE, codes=list(wanted.codes), prefer=preferred(wanted.envelope),
                order="authority", k=wanted.k(wanted.cases), min_score=wanted.min_score,
            )
        )  # fmt: skip
    if not hits and (wanted.fallback or not wanted.codes):
        hits = _without_codes(wanted, search, wanted.cases, _CASE)[: wanted.cases]
    ordered = sorted(hits, key=lambda hit: _weight(hit, wanted.envelope), reverse=True)
    return [Match(hit, _reasons(hit, wanted)) for hit in ordered[: wanted.cases]]


def _notes(wanted: Wanted, search: Search) -> list[Match]:
    """Give what else names a code, or where there is none a wait, by similarity."""
    if not wanted.notes:
        return []
    own = [{"metadata.file": wanted.name}] if wanted.name is not None else []
    among = {"$not": {"$or": [_CASE, _REPORT, *own]}}
    hits: Sequence[Hit] = ()
    if wanted.codes:
        hits = _distinct(
            search(
                wanted.text, codes=list(wanted.codes), filter=among, k=wanted.k(wanted.notes),
                min_score=wanted.min_score,
            )
        )  # fmt: skip
    if not hits and (wanted.fallback or not wanted.codes):
        hits = _without_codes(wanted, search, wanted.notes, among)
    return [Match(hit, _reasons(hit, wanted)) for hit in hits[: wanted.notes]]


def _without_codes(wanted: Wanted, search: Search, count: int, among: Mapping[str, Any]) -> list[Hit]:
    """Give what names a wait, by its words and its meaning; what is only near where there is none, or with fallback."""
    nearest = _distinct(
        search(
            wanted.text, codes=False, hybrid=True, filter=among, k=wanted.k(count),
            candidates=max(_CANDIDATES, wanted.k(count)), min_score=wanted.min_score,
        )
    )  # fmt: skip
    naming = [hit for hit in nearest if _named(hit, wanted)]
    if wanted.codes or not wanted.waits or (wanted.fallback and not naming):
        return nearest
    return naming


def _reports(wanted: Wanted, search: Search) -> list[Match]:
    """Give other reports that name one of the codes, those of this environment first."""
    if not wanted.reports or not wanted.codes:
        return []
    others = {"$not": {"metadata.file": wanted.name}}
    hits = _distinct(
        search(
            wanted.text, codes=list(wanted.codes), prefer=preferred(wanted.envelope),
            filter={"$and": [_REPORT, others]} if wanted.name is not None else _REPORT,
            k=wanted.k(wanted.reports), min_score=wanted.min_score,
        )
    )  # fmt: skip
    return [Match(hit, _reasons(hit, wanted)) for hit in hits[: wanted.reports]]


def preferred(envelope: Envelope) -> dict[str, Any] | None:
    """Give what comes first however far it is: what is of the environment, else of the version, else of the module."""
    known = envelope.as_metadata()
    for name in ("environment_id", "erp_version", "erp_module"):
        if name in known:
            return {f"metadata.{name}": known[name]}
    return None


def _distinct(result: SearchResult) -> list[Hit]:
    """Give the best chunk of each entity, in their order."""
    first: dict[object, Hit] = {}
    for hit in result:
        first.setdefault(hit.source, hit)
    return list(first.values())


def _weight(hit: Hit, envelope: Envelope) -> tuple[float, ...]:
    known = envelope.as_metadata()
    same = [hit.metadata.get(name) == known[name] for name in ("erp_version", "erp_module") if name in known]
    here = "environment_id" in known and hit.metadata.get("environment_id") == known["environment_id"]
    when = hit.occurred_at.timestamp() if hit.occurred_at is not None else float("-inf")
    validated = bool(hit.metadata.get("validated_by"))
    return (here, sum(same), validated, when if validated else float("-inf"), -hit.rank)


_SAID = {"environment_id": "environment", "erp_version": "version", "erp_module": "module"}


def _reasons(hit: Hit, wanted: Wanted) -> tuple[str, ...]:
    named = _named(hit, wanted)
    if named:
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        reasons = [f"names {', '.join(named[:_LISTED])}{more}"]
    else:
        reasons = ["names no code of the report, near by meaning" if wanted.codes else "near by meaning"]
    known = wanted.envelope.as_metadata()
    same, others = [], []
    for name, word in _SAID.items():
        there = hit.metadata.get(name)
        if name in known and there is not None:
            if there == known[name] or (isinstance(there, list) and known[name] in there):
                same.append(word)
            else:
                others.append(f"another {word}: {', '.join(there) if isinstance(there, list) else there}")
    reasons += [f"same {', '.join(same)}"] if same else []
    reasons += others
    if by := hit.metadata.get("validated_by"):
        reasons.append(f"validated by {by}" + (f" {hit.occurred_at:%Y-%m-%d}" if hit.occurred_at else ""))
    elif hit.source.type == RESOLUTION_SOURCE:
        reasons.append("not validated")
    return tuple(reasons)


def _named(hit: Hit, wanted: Wanted) -> list[str]:
    """Give the codes that a hit names, under either of their names; where none are wanted, the waits."""
    if not wanted.codes:
        text = f"{hit.title}\n{hit.content}\n{hit.metadata.get('wait_event')}".casefold()
        return [event for event in wanted.waits if event.casefold() in text]
    there = hit.metadata.get("oracle_error_code", ())
    there = {there} if isinstance(there, str) else set(there)
    return [code for code in wanted.codes if there & set(error_codes.aliases(code))]


def _whole(cases: Sequence[Hit], expand: Expand) -> dict[str, Hit]:
    """Give cases with their whole text, or what is around the hit of a very long one, by key.

    What the scope may no longer see is left out.
    """
    if not cases:
        return {}
    numbers = {hit.chunk_id: hit for hit in cases}
    found = {}
    for passage in expand(cases):
        for number in passage.hits:
            hit = numbers[number]
            found[hit.key] = dataclasses.replace(hit, content=passage.content)
    return found
