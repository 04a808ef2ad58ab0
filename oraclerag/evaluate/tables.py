"""An evaluation as tables: the same columns and cells for a terminal and for Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.evaluate.report import Comparison, Evaluation, MatchRate

__all__ = ["Table", "differences", "markdown", "metrics", "weeks"]

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
        (one.name, _number(one.value), _interval(one.low, one.high), f"{one.n:,}", f"{one.unscored:,}")
        for one in evaluation.metrics
    )
    return Table(("metric", "value", "95 %", "questions", "not scored"), rows, ("value", "questions", "not scored"))


def differences(comparison: Comparison) -> Table:
    """Give what the second side changes: both means, the difference with its interval, p, questions."""
    rows = tuple(
        (
            one.name,
            _number(one.a),
            _number(one.b),
            _number(one.difference, signed=True),
            _interval(one.low, one.high, signed=True),
            "-" if one.p is None else f"{one.p:.4f}",
            f"{one.better:,}",
            f"{one.worse:,}",
            f"{one.n:,}",
        )
        for one in comparison.differences
    )
    columns = ("metric", "A", "B", "B - A", "95 %", "p", "better", "worse", "questions")
    return Table(columns, rows, tuple(name for name in columns if name not in ("metric", "95 %")))


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


def _number(value: float | None, *, signed: bool = False) -> str:
    return "-" if value is None else f"{value:+.4f}" if signed else f"{value:.4f}"


def _interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    return "-" if low is None or high is None else f"{_number(low, signed=signed)} … {_number(high, signed=signed)}"
