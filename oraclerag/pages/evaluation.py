"""An evaluation, a comparison or the match rate as one page: the tables of a terminal, with a picture beside each.

Numbers are those of :mod:`oraclerag.evaluate.tables`, so the page says what the terminal, Markdown and JSON say. Every
value passes through :func:`oraclerag.console.visible` and is escaped by the template; pictures alone are taken as they
are.
"""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

import oraclerag
from oraclerag.console import to_json, visible
from oraclerag.errors import InputError
from oraclerag.evaluate import tables
from oraclerag.evaluate.report import Comparison, Evaluation, MatchRate, base_name
from oraclerag.evaluate.tables import Table
from oraclerag.pages import frame
from oraclerag.pages.evaluation_sections import Section, of_comparison, of_evaluation, of_match_rate

__all__ = ["checked_place", "page", "write"]

_HERE = Path(__file__).parent
_LONG = ("question", "what it is", "remarks")
_WIDE = 7  # columns of a table that stands below its picture, not beside it
_GLANCE = ("ndcg", "recall", "mrr", "context_recall", "faithfulness")


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands above the sections; ``glance`` has the figures that matter most: name, value, what goes with it."""

    title: str
    under: str
    failures: Sequence[str] = ()
    glance: Sequence[tuple[str, str, str]] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


def checked_place(path: Path) -> Path:
    """Say before anything is asked whether a page can be written there. Raises InputError."""
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder.", hint="Name the file of the page.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} for the page.", hint="Make it first.")
    return path


def write(path: Path, text: str) -> None:
    """Write a page as a whole, or leave what was there. Raises InputError where it cannot be written."""
    name = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp makes 0600
        Path(name).replace(path)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}.") from error
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)


def page(
    shown: Evaluation | Comparison | None, rate: MatchRate | None = None, *, written: dt.datetime | None = None
) -> str:
    """Give the page of an evaluation, of a comparison or, where it is None, of the match rate alone.

    ``written`` (UTC) is when, by default now.
    """
    moment = written or dt.datetime.now(dt.UTC)
    sections: list[Section] = []
    head = _Head("Match rate", "How often the questions of the search log found a past case.")
    if isinstance(shown, Comparison):
        sections += of_comparison(shown)
        head = _comparison(shown)
    elif shown is not None:
        sections += of_evaluation(shown)
        head = _evaluation(shown)
    if rate is not None:
        sections += of_match_rate(rate)
    style = frame.Markup(frame.BASE + _text("evaluation.css"))
    return _template().render(
        head=head,
        style=style,
        policy=frame.Markup(frame.policy(style)),
        sections=sections,
        foot=f"oraclerag {oraclerag.__version__}, {moment:%Y-%m-%d %H:%M} UTC. Every figure is from 0 to 1; intervals "
        "are of 95 %.",
        kind=_kind,
        wide=_WIDE,
    )


def _kind(table: Table, column: str) -> str:
    return "right" if column in table.right else "long" if column in _LONG else ""


def _evaluation(shown: Evaluation) -> _Head:
    glance = []
    for metric in shown.metrics:
        if base_name(metric.name) in _GLANCE and metric.name in (f"{base_name(metric.name)}@{shown.k}", "faithfulness"):
            beside = "not scored" if metric.value is None else tables.interval(metric.low, metric.high)
            glance.append((metric.name, tables.number(metric.value), beside))
    return _Head(
        title=f"Evaluation of {shown.name}",
        under=tables.asked(shown),
        failures=[shown.failure] if shown.failure else [],
        glance=glance,
        facts=list(_facts(shown)),
        notes=shown.notes,
    )


def _facts(shown: Evaluation) -> Iterator[tuple[str, str]]:
    if shown.model:
        yield "model", shown.model
    for name, value in shown.options.items():
        if value is not None:
            yield name, value if isinstance(value, str) else to_json(value, indent=None)
    yield "intervals", f"bootstrap, {shown.resamples:,} resamples, seed {shown.seed}"


def _comparison(shown: Comparison) -> _Head:
    glance = [
        (one.name, tables.number(one.difference, 3, signed=True), "not scored" if one.p is None else f"p {one.p:.4f}")
        for one in shown.differences
        if base_name(one.name) in _GLANCE
    ]
    sides = (("A", shown.name_a, shown.a), ("B", shown.name_b, shown.b))
    facts = [(side, f"{name}: {tables.asked(one)}") for side, name, one in sides]
    return _Head(
        title=f"Comparison on {shown.a.name}",
        under=tables.sides(shown),
        failures=[f"{side}: {one.failure}" for side, _, one in sides if one.failure],
        glance=glance[:6],
        facts=facts,
        notes=tables.notes(shown),
    )


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_text("evaluation.j2"))
