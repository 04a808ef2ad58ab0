"""What is asked of the index: every argument of a search, checked once and in one place."""

from __future__ import annotations

import dataclasses
import datetime as dt
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, cast

from oraclerag import error_codes, filters
from oraclerag.errors import InputError
from oraclerag.filters import Predicate
from oraclerag.scope import Scope
from oraclerag.search.given_vector import given_vector
from oraclerag.search.question import MAX_K, checked_k, checked_question

__all__ = ["Mode", "Order", "Request", "SearchOptions", "request"]

Mode = Literal["auto", "exact", "approx"]
Order = Literal["similarity", "authority"]

_MAX_NAMES = 1000
_MAX_MONTHS = 1200
_LEAST_CANDIDATES = 50
_LEAST_WEIGHT = 0.000001  # below 1e-130 there is no NUMBER (DPY-4003)
_MAX_RERANKED = 1000


class SearchOptions(TypedDict, total=False):
    """Everything that a search takes beside question and scope; the same for every way to ask.

    What is searched:

    * ``source``: only this source, or these.
    * ``collections``: only these collections.
    * ``filter``: conditions on columns and metadata, see docs/search.md.
    * ``since``: OCCURRED_AT is not before; a text without a time is outside, here as in the next two.
    * ``until``: OCCURRED_AT is not after; a date includes its day.
    * ``months``: OCCURRED_AT is so many months before now at most, by the database's clock.
    * ``codes``: True (default) scopes the search to the error codes that the question names, a list to those in it;
      False looks for none.
    * ``fallback``: where no text has the code, search without it.
    * ``min_score``: the least ``1 - distance`` of a hit.

    Which hits, in which order:

    * ``k``: hits at most (default: the setting).
    * ``prefer``: what fulfils these conditions comes before all others whatever its similarity.
    * ``order``: "authority" puts the validated resolutions among the k hits first, newest first.
    * ``hybrid``: the words of the question count beside its meaning.
    * ``weights``: of vector and text in a hybrid search (default: 1, 1).
    * ``candidates``: how many rows each of the two gives to the fusion (default: 4 × k, at least 50).
    * ``rerank``: so many of the first hits (k to 1,000) are scored once more by the reranker of the settings, which
      reads question and text at once, and the k best of them are given; not together with what orders by itself
      (``prefer``, "authority", ``diversity``).
    * ``diversity``: 0 (off) to 1, how much less a hit counts that is like another one.

    How it is looked for:

    * ``vector``: the question's vector where it was computed elsewhere, by the very model in force: a list or array of
      finite numbers, as many as the model has. The question may then be "", and counts for its error codes, for the
      words of a hybrid search, and for a reranker.
    * ``mode``: "exact" or "approx" instead of the choice by size ("auto").
    * ``accuracy``: percent that an approximate search aims at.
    """

    k: int | None
    source: str | Sequence[str] | None
    collections: str | Sequence[str] | None
    filter: Mapping[str, Any] | None
    since: dt.datetime | dt.date | None
    until: dt.datetime | dt.date | None
    months: int | None
    codes: bool | Sequence[str]
    fallback: bool
    prefer: Mapping[str, Any] | None
    order: Order
    mode: Mode
    accuracy: int | None
    min_score: float | None
    hybrid: bool
    weights: Sequence[float] | None
    candidates: int | None
    vector: Sequence[float] | None
    diversity: float
    rerank: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """A checked question with its scope and conditions; ``filter`` and ``prefer`` are predicates with their binds.

    Times are naive and in UTC; ``until`` is exclusive. ``codes`` are those that the search is scoped to.
    """

    question: str = field(repr=False)
    scope: Scope
    k: int
    sources: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    filter: Predicate = field(default=Predicate(), repr=False)
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    months: int | None = None
    codes: tuple[str, ...] = ()
    fallback: bool = False
    prefer: Predicate = field(default=Predicate(), repr=False)
    order: Order = "similarity"
    mode: Mode = "auto"
    accuracy: int | None = None
    min_score: float | None = None
    share: float | None = None  # of all chunks, by chunk id: stands for a filter where recall is measured
    hybrid: bool = False
    weights: tuple[float, float] = (1.0, 1.0)
    candidates: int = 50
    vector: array[float] | None = field(default=None, repr=False)
    diversity: float = 0.0
    rerank: int | None = None

    def with_k(self, k: int) -> Request:
        """Give the same request for another number of hits."""
        rerank = None if self.rerank is None else max(k, self.rerank)
        return dataclasses.replace(self, k=k, candidates=max(k, self.candidates), rerank=rerank)


def request(question: object, scope: Scope, options: SearchOptions, *, k: int, max_k: int) -> Request:
    """Check what was asked; ``scope`` is resolved, ``k`` is the default and ``max_k`` the most. Raises InputError."""
    unknown = set(options) - SearchOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"a search has no argument {min(unknown)!r}")
    vector = given_vector(options.get("vector"))
    text = "" if vector is not None and question == "" else checked_question(question)
    wanted = options.get("k")
    hits = checked_k(k if wanted is None else wanted, max_k)
    return Request(
        question=text,
        scope=scope,
        k=hits,
        sources=_names(options.get("source"), "source"),
        collections=_names(options.get("collections"), "collections"),
        filter=_predicate(options.get("filter"), "filter"),
        since=_moment(options.get("since"), "since"),
        until=_moment(options.get("until"), "until", end=True),
        months=_months(options.get("months")),
        codes=_codes(text, options.get("codes", True)),
        fallback=_flag(options.get("fallback", False), "fallback"),
        prefer=_predicate(options.get("prefer"), "prefer"),
        order=cast("Order", _one_of(options.get("order", "similarity"), ("similarity", "authority"), "order")),
        mode=cast("Mode", _one_of(options.get("mode", "auto"), ("auto", "exact", "approx"), "mode")),
        accuracy=_accuracy(options.get("accuracy")),
        min_score=_score(options.get("min_score")),
        hybrid=_flag(options.get("hybrid", False), "hybrid"),
        weights=_weights(options.get("weights")),
        candidates=_candidates(options.get("candidates"), hits),
        vector=vector,
        diversity=_diversity(options.get("diversity", 0.0)),
        rerank=_rerank(options, text, hits),
    )


def _rerank(options: SearchOptions, question: str, k: int) -> int | None:
    value = options.get("rerank")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not k <= value <= _MAX_RERANKED:
        raise InputError(f"rerank must be a whole number between k ({k}) and {_MAX_RERANKED:,}, not {value!r}.")
    if not question:
        raise InputError("rerank reads the question: give it beside its vector.")
    for other, name in (("prefer", "prefer"), ("diversity", "diversity")):
        if options.get(other):
            raise InputError(f"rerank and {name} each order the hits: ask for one of them.")
    if options.get("order", "similarity") != "similarity":
        raise InputError('rerank and order="authority" each order the hits: ask for one of them.')
    return value


def _predicate(value: Any, name: str) -> Predicate:
    """Check conditions; what is false and no mapping is refused too: as no condition at all it would widen."""
    return Predicate() if value is None else filters.predicate(value, name=name)


def _names(value: object, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} must be a name or a list of names.")
    if not names or not all(names):
        raise InputError(f"{what} must not be empty; leave it out to search everything.")
    if len(names) > _MAX_NAMES:
        raise InputError(f"{what} has {len(names):,} names; {_MAX_NAMES:,} are the most.")
    if any(len(name.encode("utf-8", "surrogatepass")) > 128 or "\0" in name for name in names):
        raise InputError(f"Every name of {what} must be at most 128 bytes and hold no NUL character.")
    if any("\ud800" <= char <= "\udfff" for name in names for char in name):
        raise InputError(f"A name of {what} holds half of a surrogate pair, which no database text can.")
    return tuple(dict.fromkeys(names))


def _moment(value: object, what: str, *, end: bool = False) -> dt.datetime | None:
    """Give a time in UTC; the end of a span is what is just no longer in it, in the microseconds of the database."""
    if value is None:
        return None
    try:
        if isinstance(value, dt.datetime):
            moment = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
            return moment + dt.timedelta(microseconds=1) if end else moment
        if isinstance(value, dt.date):
            moment = dt.datetime.combine(value, dt.time())
            return moment + dt.timedelta(days=1) if end else moment
    except OverflowError:
        raise InputError(f"{what} is too near to the end of the calendar.") from None
    raise InputError(f"{what} must be a date or a time (naive times are UTC), not {type(value).__name__}.")


def _months(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_MONTHS:
        raise InputError(f"months must be a whole number between 1 and {_MAX_MONTHS:,}, not {value!r}.")
    return value


def _codes(question: str, value: object) -> tuple[str, ...]:
    if value is False:
        return ()
    if value is True:
        return tuple(dict.fromkeys(code.code for code in error_codes.find(question, any_case=True)))
    if value is None:
        raise InputError("codes must be True, False or a list of error codes.")
    found = []
    for text in _names(value, "codes"):
        code = error_codes.normalised(text)
        if code is None:
            raise InputError(f"codes: {text!r} is no error code, such as 'ORA-01652'.")
        found.append(code)
    return tuple(dict.fromkeys(found))


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{what} must be True or False.")
    return value


def _one_of(value: object, allowed: tuple[str, ...], what: str) -> str:
    if value not in allowed:
        raise InputError(f"{what} must be one of {', '.join(repr(name) for name in allowed)}, not {value!r}.")
    return str(value)


def _accuracy(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise InputError(f"accuracy must be a whole number of percent between 1 and 100, not {value!r}.")
    return value


def _score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1 <= value <= 1:
        raise InputError(f"min_score must be a number between -1 and 1, not {value!r}.")
    return float(value)


def _diversity(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(f"diversity must be a number between 0 and 1, not {value!r}.")
    return float(value)


def _weights(value: object) -> tuple[float, float]:
    if value is None:
        return (1.0, 1.0)
    rule = "weights must be two numbers from 0 to 100, of vector and text, and not both 0"
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != 2:
        raise InputError(f"{rule}.")
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) or not 0 <= one <= 100 for one in value):
        raise InputError(f"{rule}.")
    if not any(value):
        raise InputError(f"{rule}.")
    if any(0 < one < _LEAST_WEIGHT for one in value):
        raise InputError(f"weights: but for 0, {_LEAST_WEIGHT:.6f} is the least.")
    return (float(value[0]), float(value[1]))


def _candidates(value: object, k: int) -> int:
    if value is None:
        return min(max(_LEAST_CANDIDATES, 4 * k), MAX_K)
    if isinstance(value, bool) or not isinstance(value, int) or not k <= value <= MAX_K:
        raise InputError(f"candidates must be a whole number between k ({k}) and {MAX_K:,}, not {value!r}.")
    return value
