"""``python -m tests.benchmarks [NAME ...] [--json FILE] [--page FILE]``: run these benchmarks, print one table.

Without a name all run that end within minutes. Those of :data:`LONG` run where they are named, or with ``all``.
``--page docs/benchmarks.md`` writes the page of that name.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oraclerag.local import LocalDatabase
from oraclerag.model import known_model
from oraclerag.provision import built_path
from oraclerag.testing import tiny_model
from tests.benchmarks import (
    ask,
    backfill,
    diagnostics,
    growth,
    local_database,
    passages,
    queue,
    recall,
    retrieval,
    search,
    write_path,
)
from tests.benchmarks.figures import Figure, median_seconds
from tests.benchmarks.page import page
from tests.local.conftest import Account


def _started(folder: Path, _: Path) -> Iterator[Figure]:
    yield from local_database.start(folder / "started")
    yield Figure(
        "oraclerag --help",
        median_seconds(
            lambda: subprocess.run([sys.executable, "-m", "oraclerag", "--help"], stdout=-3, check=True), rounds=3
        ),
        "s",
        "orientation: 0.5 s",
    )


def _database(folder: Path, _: Path) -> Iterator[Figure]:
    with LocalDatabase(folder / "database") as database:
        account = Account(database.dsn, "BENCH_CALLS", database.create_user("BENCH_CALLS"))
        yield from local_database.measure(database, account)


def _write_path(folder: Path, model: Path) -> Iterator[Figure]:
    if MINILM.is_file():  # `oraclerag provision` or the demo made it
        with LocalDatabase(folder / "minilm") as database:
            yield from write_path.measure(database, MINILM)
    yield from write_path.overhead(folder / "free", model)
    yield from write_path.round_trips(model)


def _search(folder: Path, model: Path) -> Iterator[Figure]:
    with LocalDatabase(folder / "search") as database:
        yield from search.measure(database, model)
    yield from search.round_trips(model)


def _growth(folder: Path, model: Path) -> Iterator[Figure]:
    with LocalDatabase(folder / "growth") as database:
        yield from growth.measure(database, model)


def _ask(folder: Path, model: Path) -> Iterator[Figure]:
    with LocalDatabase(folder / "ask") as database:
        yield from ask.measure(database, MINILM if MINILM.is_file() else model, tiny=not MINILM.is_file())


def _retrieval(folder: Path, _: Path) -> Iterator[Figure]:
    if MINILM.is_file():
        yield from retrieval.measure(folder, MINILM)


def _recall(folder: Path, _: Path) -> Iterator[Figure]:
    if MINILM.is_file():
        yield from recall.measure(folder / "recall", MINILM)


MINILM = built_path(known_model("minilm-l6"))

PARTS: dict[str, Callable[[Path, Path], Iterator[Figure]]] = {
    "start": _started,
    "passages": lambda _, __: passages.measure(),
    "diagnostics": lambda _, __: diagnostics.measure(),
    "database": _database,
    "write_path": _write_path,
    "queue": queue.measure,
    "backfill": lambda folder, model: backfill.measure(folder / "backfill", model),
    "search": _search,
    "growth": _growth,
    "ask": _ask,
    "retrieval": _retrieval,
    "recall": _recall,
}
"""What can be run: takes a folder for databases, and the file of a tiny model."""

LONG = {"diagnostics", "growth", "retrieval", "recall"}
"""What is run where it is named only: minutes of cutting, or embedding some thousand texts the first time."""


def figures(folder: Path, names: Sequence[str]) -> Iterator[Figure]:
    """Run what is named, in turn; ``folder`` takes the databases."""
    model = folder / "tiny.onnx"
    model.write_bytes(tiny_model())
    for name in names:
        yield from PARTS[name](folder, model)


def main() -> int:
    """Print the table; give 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--page", type=Path, help="write them as a page, in Markdown")
    arguments = parser.parse_args()
    if arguments.names == ["all"]:
        arguments.names = list(PARTS)
    if unknown := sorted(set(arguments.names) - PARTS.keys()):
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(PARTS)}")
    names = arguments.names or [name for name in PARTS if name not in LONG]
    console = Console(width=110)
    table = Table("figure", "value", "against", "bound", "")
    measured = []
    with tempfile.TemporaryDirectory(prefix="oraclerag-benchmarks-") as folder:
        for figure in figures(Path(folder), names):
            measured.append(figure)
            bound = "" if figure.bound is None else f"{figure.sense} {figure.bound:g}"
            mark = {True: "ok", False: "missed", None: ""}[figure.held]
            table.add_row(figure.name, figure.shown, figure.against, bound, mark)
            console.print(f"{figure.name}: {figure.shown}", style="dim")
    console.print(table)
    if arguments.json:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "processors": os.cpu_count()}
        arguments.json.write_text(
            json.dumps({"machine": machine, "figures": [asdict(figure) for figure in measured]}, indent=2) + "\n"
        )
    if arguments.page:
        arguments.page.write_text(page(measured, names), "utf-8")
    return int(any(figure.held is False for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
