"""What a page of an evaluation holds, section by section: sentences, pictures, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.evaluate import tables
from oraclerag.evaluate.min_score import suggest
from oraclerag.evaluate.report import (
    EXPLAINED,
    Comparison,
    Difference,
    Evaluation,
    MatchRate,
    QuestionResult,
    base_name,
)
from oraclerag.evaluate.tables import Table
from oraclerag.pages.frame import Markup
from oraclerag.pages.plots.latency import histogram
from oraclerag.pages.plots.match_rate import over_time
from oraclerag.pages.plots.metrics import bars, changes
from oraclerag.pages.plots.questions import sorted_bars
from oraclerag.pages.plots.scores import distribution

__all__ = ["Section", "of_comparison", "of_evaluation", "of_match_rate"]

_QUESTIONS = 200
_CHANGED = 10
_LETTERS = 300
_HOW_SUGGESTED = (
    "The score of a hit is 1 - its cosine distance. The suggestion is the highest score of three decimals that keeps "
    "95 % of the relevant hits. Hits that nobody judged count as not relevant; what comes after the first {k} hits of "
    "a search is not known here."
)
_BY_QUESTION = ("ndcg", "recall", "mrr")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page; pictures and tables have captions."""

    title: str
    words: tuple[str, ...] = ()
    pictures: tuple[tuple[str, Markup], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()


def of_evaluation(shown: Evaluation) -> list[Section]:
    """Give the sections of an evaluation."""
    return [
        Section(
            "Metrics",
            ("Means over the questions that have a score; the line through the end of a bar is the interval of 95 %.",),
            (("", bars("metrics", shown.metrics)),),
            (("Metrics", tables.metrics(shown)), ("What they are", _explained([one.name for one in shown.metrics]))),
        ),
        _latency({"": shown}),
        _scores("", shown),
        _questions(shown),
    ]


def of_comparison(shown: Comparison) -> list[Section]:
    """Give the sections of a comparison."""
    sides = {"A": shown.a, "B": shown.b}
    main = _main(shown.differences)
    sections = [
        Section(
            "What B changes",
            (
                "B - A, with its interval of 95 %: to the right of the line B is better.",
                "A point is filled where the interval does not hold 0.",
            ),
            (("", changes("changes", shown.differences)),),
            (
                ("What they are", _explained([one.name for one in shown.differences])),
                ("B - A", tables.differences(shown)),
            ),
        ),
    ]
    if main is not None:
        changed = [one.differences[main] for one in shown.questions if main in one.differences]
        sections.append(
            Section(
                f"{main} by question",
                (f"A bar for each of {len(changed):,} questions that have the score with both, sorted by B - A.",),
                (("", sorted_bars("questions", main, changed)),),
                (("Better with B", _most(shown, main, 1)), ("Worse with B", _most(shown, main, -1))),
            )
        )
    sections.append(
        Section(
            "Metrics of each",
            pictures=tuple((side, bars(f"metrics-{side}", one.metrics)) for side, one in sides.items()),
            tables=tuple((f"Metrics of {side}", tables.metrics(one)) for side, one in sides.items()),
        )
    )
    sections.append(_latency(sides))
    sections += [_scores(side, one) for side, one in sides.items()]
    return sections


def of_match_rate(rate: MatchRate) -> list[Section]:
    """Give the section of the match rate over time."""
    return [
        Section(
            "Match rate over time",
            tuple(tables.targets(rate)),
            (("", over_time("match-rate", rate)),),
            (("By week, which begins on Monday (UTC)", tables.weeks(rate)),),
        )
    ]


def _explained(names: Sequence[str]) -> Table:
    found = dict.fromkeys(base_name(name.partition(" ")[0]) for name in names)
    return Table(("metric", "what it is"), tuple((name, EXPLAINED.get(name, "")) for name in found))


def _latency(sides: dict[str, Evaluation]) -> Section:
    most = max((seconds for one in sides.values() for seconds in one.latencies), default=None)
    return Section(
        "Latency",
        ("The time of each search, the question's embedding among it. p95: 95 % took no longer.",),
        tuple((side, histogram(f"latency-{side}", one.latencies, most=most)) for side, one in sides.items()),
        (("Latency", tables.latencies({side or "all": one.latency for side, one in sides.items()})),),
    )


def _scores(side: str, shown: Evaluation) -> Section:
    distances = shown.distances
    found = suggest(distances)
    relevant, irrelevant, unjudged = map(len, (distances.relevant, distances.irrelevant, distances.unjudged))
    words = [
        tables.suggested(found),
        f"Hits of judged questions: {relevant:,} relevant, {irrelevant:,} not relevant, {unjudged:,} judged by nobody.",
        _HOW_SUGGESTED.format(k=shown.k),
    ]
    if (already := shown.options.get("min_score")) is not None:
        words.append(f"These searches had a min_score of {already} already: what is below it is not in the picture.")
    return Section(
        f"Scores of hits and min_score{f': {side}' if side else ''}",
        tuple(words),
        (("", distribution(f"scores-{side}", distances, found.suggested)),),
        (("What a min_score keeps", tables.min_scores(found)),),
    )


def _questions(shown: Evaluation) -> Section:
    names = [name for name in (f"{base}@{shown.k}" for base in _BY_QUESTION) if shown.metric(name) is not None]
    rows = sorted(shown.questions, key=lambda row: [row.scores.get(name, 2.0) for name in names])
    table = Table(
        ("id", "question", *names, "took", "remarks"),
        tuple(
            (
                _cut(row.id),
                _cut(row.text),
                *(tables.number(row.scores.get(name)) for name in names),
                tables.duration(row.seconds),
                _remarks(row),
            )
            for row in rows[:_QUESTIONS]
        ),
        (*names, "took"),
    )
    words = ["The worst first."]
    if len(rows) > _QUESTIONS:
        words.append(f"The first {_QUESTIONS} of {len(rows):,}; --json has all of them, with every hit.")
    return Section("Questions", tuple(words), tables=(("Questions", table),))


def _remarks(row: QuestionResult) -> str:
    missing = f"not in the index: {', '.join(row.missing)}" if row.missing else ""
    return _cut("; ".join(filter(None, (missing, *row.notes))))


def _main(differences: Sequence[Difference]) -> str | None:
    """Give the metric that is shown by question: nDCG at the highest k, or the first that any question has."""
    there = [one.name for one in differences if one.n]
    return next((name for name in reversed(there) if base_name(name) == "ndcg"), there[0] if there else None)


def _most(shown: Comparison, metric: str, sign: int) -> Table:
    changed = [(one.differences[metric] * sign, one) for one in shown.questions if metric in one.differences]
    first = sorted((pair for pair in changed if pair[0] > 0), key=lambda pair: -pair[0])[:_CHANGED]
    rows = tuple((_cut(one.id), _cut(one.text), tables.number(change * sign, 3, signed=True)) for change, one in first)
    return Table(("id", "question", "B - A"), rows, ("B - A",))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
