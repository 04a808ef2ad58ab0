"""An evaluation as tables and sentences: the same columns, cells and words on a terminal, in Markdown and on a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oraclerag.evaluate.report import Comparison, Evaluation, Latency, MatchRate, MinScore

__all__ = [
    "Table",
    "asked",
    "differences",
    "duration",
    "interval",
    "latencies",
    "markdown",
    "metrics",
    "min_scores",
    "notes",
    "number",
    "sides",
    "suggested",
    "targets",
    "weeks",
]

_MARKUP = re.compile(r"[\\`*_\[\]<>|~#]")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, rows of texts, and which columns hold numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[str, ...] = ()


def metrics(evaluation: Evaluation) -> Table:
    """Give the metrics: value, interval, questions."""
    rows = tuple(
        (one.name, number(one.value), interval(one.low, one.high), f"{one.n:,}", f"{one.unscored:,}")
        for one in evaluation.metrics
    )
    return Table(("metric", "value", "95 %", "questions", "not scored"), rows, ("value", "questions", "not scored"))


def differences(comparison: Comparison) -> Table:
    """Give what the second side changes: both means, the difference, its interval, p, questions that go up, down."""
    rows = tuple(
        (
            one.name,
            number(one.a, 3),
            number(one.b, 3),
            number(one.difference, 3, signed=True),
            interval(one.low, one.high, 3, signed=True),
            "-" if one.p is None else f"{one.p:.4f}",
            f"{one.better:,}",
            f"{one.worse:,}",
            f"{one.n:,}",
        )
        for one in comparison.differences
    )
    columns = ("metric", "A", "B", "B - A", "95 %", "p", "up", "down", "of")
    return Table(columns, rows, tuple(name for name in columns if name not in ("metric", "95 %")))


def latencies(named: Mapping[str, Latency]) -> Table:
    """Give how long the searches of each side took."""
    rows = tuple((name, *map(duration, (one.median, one.p95, one.mean, one.most))) for name, one in named.items())
    columns = ("searches", "median", "95 %", "mean", "slowest")
    return Table(columns, rows, columns[1:])


def min_scores(found: MinScore) -> Table:
    """Give the scores that there are to choose from."""
    rows = tuple(
        (f"{one.keeps_at_least:.0%}", f"{one.score:.3f}", f"{one.relevant:.1%}", _share(one.others))
        for one in found.choices
    )
    columns = ("keeps at least", "min_score", "relevant kept", "others kept")
    return Table(columns, rows, columns)


def asked(evaluation: Evaluation) -> str:
    """Say how much was asked, and how long it took."""
    latency = evaluation.latency
    said = f"{evaluation.asked:,} of {evaluation.total:,} questions of {evaluation.name}"
    if latency.median is not None:
        said += f"; searches took {duration(latency.median)} (median), {duration(latency.p95)} (95 %)"
    return f"{said}."


def sides(comparison: Comparison) -> str:
    """Say what is compared, and how."""
    return f"A: {comparison.name_a}; B: {comparison.name_b}. p: paired randomisation test, two-sided."


def notes(comparison: Comparison) -> list[str]:
    """Give what limits the figures of a comparison, first what holds for both sides."""
    a, b = comparison.a.notes, comparison.b.notes
    both = [note for note in a if note in b]
    own = [f"{side}: {note}" for side, said in (("A", a), ("B", b)) for note in said if note not in both]
    return [*comparison.notes, *both, *own]


def suggested(found: MinScore) -> str:
    """Say which ``min_score`` is suggested, or why none is."""
    choice = next((one for one in found.choices if one.score == found.suggested), None)
    if choice is None:
        return f"No min_score is suggested: {found.reason}."
    return (
        f"Suggested min_score: {choice.score:.3f} keeps {choice.relevant:.1%} of the relevant hits and "
        f"{_share(choice.others)} of the others."
    )


def targets(rate: MatchRate) -> list[str]:
    """Say how often a past case was found, and whether each target is reached; nothing where nothing was asked."""
    if rate.first is None or rate.rate is None:
        return ["No question is in the log: there is no match rate yet."]
    counted = f"{rate.matched:,} of {rate.searches:,} questions since {rate.first:%Y-%m-%d}"
    said = [f"{counted} found a past case ({rate.rate:.0%})."]
    for target in rate.targets:
        measured = "nothing was asked" if target.rate is None else f"{target.rate:.0%}"
        said.append(
            f"Target {target.name}: {target.target:.0%}; in the last four weeks of it {measured}: {target.state}."
        )
    return said


def weeks(rate: MatchRate) -> Table:
    """Give the match rate week by week."""
    rows = tuple(
        (
            week.start.isoformat(),
            f"{week.searches:,}",
            f"{week.matched:,}",
            "-" if week.rate is None else f"{week.rate:.0%}",
            "-" if week.low is None or week.high is None else f"{week.low:.0%} … {week.high:.0%}",
        )
        for week in rate.weeks
    )
    return Table(("week of", "searches", "with a match", "rate", "95 %"), rows, ("searches", "with a match", "rate"))


def markdown(table: Table) -> str:
    """Give a table in Markdown; what would be markup in a cell is escaped."""
    lines = [_line(table.columns), _line(["---:" if name in table.right else "---" for name in table.columns])]
    return "\n".join(lines + [_line([_escaped(cell) for cell in row]) for row in table.rows])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def duration(seconds: float | None) -> str:
    """Give a time in milliseconds, or in seconds where it is long."""
    if seconds is None:
        return "-"
    if seconds >= 10:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1000:.{1 if seconds < 0.01 else 0}f} ms"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def number(value: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """Give a score, or a difference of scores."""
    return "-" if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def interval(low: float | None, high: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """Give an interval."""
    if low is None or high is None:
        return "-"
    return f"{number(low, digits, signed=signed)} … {number(high, digits, signed=signed)}"
