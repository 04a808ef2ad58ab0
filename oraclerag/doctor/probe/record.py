"""Measurements as Markdown: a section for docs/verified.md."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import oracledb

from oraclerag import __version__
from oraclerag.doctor.probe.measurement import Measurement

__all__ = ["write_record"]


def write_record(path: Path, measurements: Iterable[Measurement], *, version: str) -> None:
    """Write what was measured; ``version`` is the database's own word for itself. No account, no address."""
    lines = [
        f"## Measured on {_cell(version)}",
        "",
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, oraclerag {__version__}, python-oracledb {oracledb.__version__}, by",
        "`oraclerag doctor --probe --file FILE`.",
        "",
        "| Point | State | Answer | Figures |",
        "|---|---|---|---|",
    ]
    for found in measurements:
        figures = ", ".join(f"{name} {value}" for name, value in found.figures.items())
        lines.append(f"| {' | '.join(map(_cell, (found.asks, found.state, found.answer, figures)))} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(text: str) -> str:
    """Show a text in one cell of a table: on one line, and no markup."""
    shown = " ".join(text.split()).replace("\\", "\\\\")
    for mark in "|*_`<[":
        shown = shown.replace(mark, f"\\{mark}")
    return shown
