"""How an evaluation looks on a terminal, in Markdown and as JSON: tables on stdout, sentences on stderr."""

from __future__ import annotations

from typing import Any

from oraclerag.console import Output, record
from oraclerag.evaluate import Comparison, Evaluation, MatchRate, tables
from oraclerag.evaluate.min_score import suggest

__all__ = ["data", "show"]


def show(
    screen: Output, shown: Evaluation | Comparison | None, rate: MatchRate | None, *, markdown: bool = False
) -> None:
    """Show an evaluation or a comparison, the match rate, or both."""
    if screen.json:
        screen.data(data(shown, rate))
        return
    if isinstance(shown, Comparison):
        _table(screen, tables.differences(shown), markdown=markdown)
        _say(screen, tables.sides(shown), *tables.notes(shown))
    elif shown is not None:
        _table(screen, tables.metrics(shown), markdown=markdown)
        _say(screen, tables.asked(shown), tables.suggested(suggest(shown.distances)), *shown.notes)
    if rate is not None:
        if rate.weeks:
            if shown is not None:
                screen.write("")
            _table(screen, tables.weeks(rate), markdown=markdown)
        _say(screen, *tables.targets(rate))


def data(shown: Evaluation | Comparison | None, rate: MatchRate | None) -> dict[str, Any]:
    """Give the same as JSON knows it: the records, and to an evaluation what to choose ``min_score`` by.

    The match rate stands beside an evaluation as ``match_rate``.
    """
    found: dict[str, Any]
    if shown is None:
        found = record(rate)
        return found
    if isinstance(shown, Comparison):
        found = record(shown) | {"a": _with_min_score(shown.a), "b": _with_min_score(shown.b)}
    else:
        found = _with_min_score(shown)
    return found | ({} if rate is None else {"match_rate": record(rate)})


def _with_min_score(shown: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = record(shown)
    return found | {"min_score": record(suggest(shown.distances))}


def _say(screen: Output, *sentences: str) -> None:
    for sentence in sentences:
        screen.say(sentence)


def _table(screen: Output, table: tables.Table, *, markdown: bool) -> None:
    if markdown:
        screen.write(tables.markdown(table))
    else:
        screen.table(table.columns, table.rows, right=table.right)
