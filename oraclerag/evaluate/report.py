"""What an evaluation says: plain, frozen records; every score is from 0 to 1."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from oraclerag.records.key import nothing

__all__ = [
    "EXPLAINED",
    "Comparison",
    "Difference",
    "Distances",
    "Evaluation",
    "Latency",
    "MatchRate",
    "MatchTarget",
    "MatchWeek",
    "Metric",
    "MinScore",
    "MinScoreChoice",
    "QuestionDifference",
    "QuestionResult",
    "Retrieved",
    "base_name",
]

EXPLAINED: Mapping[str, str] = MappingProxyType(
    {
        "ndcg": "how near the order of the hits is to the best possible one",
        "recall": "the share of what is relevant that is found",
        "precision": "the share of the k places that something relevant holds",
        "mrr": "one by the place of the first relevant hit",
        "hit_rate": "whether something relevant is found",
        "judged": "the share of the hits that somebody has judged",
        "context_precision": "the share of the hits that address the question's error code",
        "context_recall": "whether a match was found where there is one",
        "faithfulness": "the share of an answer's statements that rest on what they cite",
        "expected_overlap": "the share of the expected answer's words that the answer has",
        "llm_context_precision": "the share of the sources that help to answer, as a language model judges",
        "llm_context_recall": "whether the sources hold the expected answer, as a language model judges",
        "llm_faithfulness": "the share of an answer's statements that its sources bear out, as a language model judges",
        "llm_correctness": "whether the answer says what is expected, as a language model judges",
    }
)
"""What a metric is, by its name without ``@k``, in the order in which metrics are shown."""


def base_name(metric: str) -> str:
    """Give the name of a metric without its ``@k``."""
    return metric.partition("@")[0]


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of a score over the ``n`` questions that have it, from ``low`` to ``high`` with 95 % confidence.

    ``name`` is such as "ndcg@10". ``unscored`` questions have none: nothing was judged, or it is not about them. The
    three values are None where ``n`` is 0.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    unscored: int = 0


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A hit of a question. ``grade`` is how relevant it was judged, None where nobody has judged it.

    ``unit`` is what it counts as: an entity ("task:42"), or a chunk ("task:42:0") where chunks of it were judged;
    ``repeated``: a hit before it was of the same. ``names_code``: whether it names an error code of the question, None
    where that has none. ``distance`` is the cosine distance, 0 to 2.
    """

    key: str
    unit: str
    rank: int
    distance: float
    grade: float | None = None
    repeated: bool = False
    names_code: bool | None = None


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What came of one question: its scores by the metric's name; a metric that does not apply is not among them.

    ``seconds`` is the time of the search; ``missing`` names what is relevant and not in the index, or not for this
    scope. ``answer``, ``outcome`` and ``answer_seconds`` are of the answer, where one was asked for; ``notes`` say why
    something has no score.
    """

    id: str
    text: str = field(repr=False)
    scores: Mapping[str, float]
    hits: tuple[Retrieved, ...] = ()
    seconds: float = 0.0
    relevant: int = 0
    missing: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    answer: str | None = field(default=None, repr=False)
    outcome: str | None = None
    answer_seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Latency:
    """How long searches took, in seconds; None where there was none."""

    median: float | None
    p95: float | None
    mean: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Distances:
    """The cosine distances of hits, ascending: judged relevant, judged not relevant, judged by nobody.

    Of questions without judgements there are none.
    """

    relevant: tuple[float, ...]
    irrelevant: tuple[float, ...]
    unjudged: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MinScoreChoice:
    """A ``min_score``, the highest of three decimals that keeps a share of the relevant hits.

    ``relevant`` and ``others`` are the shares of the relevant and of the other hits that it keeps; None where there are
    no others.
    """

    keeps_at_least: float
    score: float
    relevant: float
    others: float | None


@dataclass(frozen=True, slots=True)
class MinScore:
    """What to choose ``min_score`` by. ``suggested`` is None where there is none, and ``reason`` says why."""

    suggested: float | None
    reason: str | None
    choices: tuple[MinScoreChoice, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well questions were answered: the metrics, and what came of each question.

    ``name`` says what was asked (a file), ``options`` how, ``model`` is the embedding model. ``asked`` of ``total``
    questions are in it: fewer where ``failure`` says what ended it. ``notes`` are sentences on what limits the figures.
    """

    name: str
    k: int
    metrics: tuple[Metric, ...]
    questions: tuple[QuestionResult, ...] = field(repr=False)
    total: int
    latency: Latency
    options: Mapping[str, Any] = field(default_factory=nothing)
    model: str | None = None
    notes: tuple[str, ...] = ()
    failure: str | None = None
    seed: int = 0
    resamples: int = 1000

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return len(self.questions)

    @property
    def latencies(self) -> tuple[float, ...]:
        """The seconds of every search, in the order of the questions."""
        return tuple(one.seconds for one in self.questions)

    @property
    def distances(self) -> Distances:
        """The distances of all hits, by how they were judged."""
        groups: tuple[list[float], list[float], list[float]] = ([], [], [])
        for question in self.questions:
            for hit in question.hits if question.relevant else ():
                groups[2 if hit.grade is None else 0 if hit.grade > 0 else 1].append(hit.distance)
        relevant, irrelevant, unjudged = (tuple(sorted(group)) for group in groups)
        return Distances(relevant, irrelevant, unjudged)

    def metric(self, name: str) -> Metric | None:
        """Give a metric by its name, None where there is none of that name."""
        return next((one for one in self.metrics if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Difference:
    """What the second of two settings changes of a metric, over the ``n`` questions that have it with both.

    ``a`` and ``b`` are the means over these, ``difference`` is b - a, from ``low`` to ``high`` with 95 % confidence.
    ``p`` is how probable a difference as large is where the settings are alike; None where ``n`` is 0, as are the
    others. ``better`` and ``worse`` count the questions whose score the second raises and lowers.
    """

    name: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    better: int = 0
    worse: int = 0


@dataclass(frozen=True, slots=True)
class QuestionDifference:
    """What the second setting changes of one question: b - a, by the metric's name."""

    id: str
    text: str = field(repr=False)
    differences: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two settings asked the same questions. ``name_a`` and ``name_b`` say which settings."""

    name_a: str
    name_b: str
    a: Evaluation
    b: Evaluation
    differences: tuple[Difference, ...]
    questions: tuple[QuestionDifference, ...] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchWeek:
    """The searches of a week that begins on Monday ``start`` (UTC), and how many of them found a historical match.

    ``rate`` is None where there was none; ``low`` to ``high`` is its interval of 95 %.
    """

    start: dt.date
    searches: int
    matched: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MatchTarget:
    """A share of searches with a match that is to be reached ``within_days`` days of the first search.

    ``rate`` is that of the last four weeks before its end, or before now; None where nothing was asked in them.
    ``state``: "reached" where it is the ``target`` at least, else "pending" (there is time left) or "missed".
    """

    name: str
    target: float
    within_days: int
    state: str
    rate: float | None


@dataclass(frozen=True, slots=True)
class MatchRate:
    """How often questions of the log found a past case, week by week, against the targets; ``first`` is in UTC."""

    first: dt.datetime | None
    searches: int
    matched: int
    rate: float | None
    weeks: tuple[MatchWeek, ...]
    targets: tuple[MatchTarget, ...]


def latency(seconds: tuple[float, ...]) -> Latency:
    """Sum up how long searches took; the 95th percentile is the nearest rank."""
    if not seconds:
        return Latency(None, None, None, None)
    ordered = sorted(seconds)
    return Latency(
        statistics.median(ordered),
        ordered[math.ceil(0.95 * len(ordered)) - 1],
        statistics.fmean(ordered),
        ordered[-1],
    )
