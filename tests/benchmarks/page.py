"""The figures of a run as a page of the documentation, with the machine that they were measured on."""

from __future__ import annotations

import datetime as dt
import os
import platform
import textwrap
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks.figures import Figure

__all__ = ["page"]

_HOW = (
    "Made by `python -m tests.benchmarks {names} --page docs/benchmarks.md` in a checkout; run it again on your machine. "
    "Ratios are against what is named beside them, in the same run; a bound is what the project holds itself to, and one "
    "that was not held says so. All of it ran on the [local database](local.md), which is PostgreSQL with pgvector behind "
    "Oracle's protocol: nothing here says how fast an Oracle Database is."
)
_COLUMNS = ("| figure | value | against | bound | |", "|---|---:|---|---:|---|")


def page(figures: Sequence[Figure], names: Sequence[str]) -> str:
    """Give the page; its sentences are wrapped at 120 characters."""
    rows = list(_COLUMNS)
    for figure in figures:
        bound = "" if figure.bound is None else f"{'≤' if figure.sense == 'at most' else '≥'} {figure.bound:g}"
        held = {True: "", False: "**not held**", None: ""}[figure.held]
        cells = (figure.name, figure.shown, figure.against, bound, held)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    wrap = textwrap.TextWrapper(120, break_long_words=False, break_on_hyphens=False)
    told = [wrap.fill(text) for text in (_HOW.format(names=" ".join(names)), _machine())]
    return "\n\n".join(["# Figures", *told, "\n".join(rows)]) + "\n"


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("oracledb", "sqlalchemy", "onnxruntime", "psycopg"))
    return (
        f"Measured on {dt.datetime.now(tz=dt.UTC).date()}: {os.cpu_count()} processors ({_processor()}), "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, {packages}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
