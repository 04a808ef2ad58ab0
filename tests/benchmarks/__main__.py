"""``python -m tests.benchmarks [--json FILE]``: run every benchmark, print one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oraclerag.local import LocalDatabase
from oraclerag.model import known_model
from oraclerag.provision import built_path
from oraclerag.testing import tiny_model
from tests.benchmarks import backfill, local_database, passages, queue, write_path
from tests.benchmarks.figures import Figure, median_seconds
from tests.local.conftest import Account


def figures(folder: Path) -> Iterator[Figure]:
    """Run everything; ``folder`` takes the databases."""
    model = folder / "tiny.onnx"
    model.write_bytes(tiny_model())
    built = built_path(known_model("minilm-l6"))
    yield from local_database.start(folder / "started")
    yield Figure(
        "oraclerag --help",
        median_seconds(
            lambda: subprocess.run([sys.executable, "-m", "oraclerag", "--help"], stdout=-3, check=True), rounds=3
        ),
        "s",
        "orientation: 0.5 s",
    )
    yield from passages.measure()
    with LocalDatabase(folder / "database") as database:
        account = Account(database.dsn, "BENCH_CALLS", database.create_user("BENCH_CALLS"))
        yield from local_database.measure(database, account)
        if built.is_file():  # `oraclerag provision` or the demo made it
            yield from write_path.measure(database, built)
    yield from write_path.overhead(folder / "free", model)
    yield from write_path.round_trips(model)
    yield from queue.measure(folder, model)
    yield from backfill.measure(folder / "backfill", model)


def main() -> int:
    """Print the table; give 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    console = Console(width=110)
    table = Table("figure", "value", "against", "bound", "")
    measured = []
    with tempfile.TemporaryDirectory(prefix="oraclerag-benchmarks-") as folder:
        for figure in figures(Path(folder)):
            measured.append(figure)
            bound = "" if figure.bound is None else f"{figure.sense} {figure.bound:g}"
            mark = {True: "ok", False: "missed", None: ""}[figure.held]
            table.add_row(figure.name, f"{figure.value:.2f} {figure.unit}", figure.against, bound, mark)
            console.print(f"{figure.name}: {figure.value:.2f} {figure.unit}", style="dim")
    console.print(table)
    if arguments.json:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "processors": os.cpu_count()}
        arguments.json.write_text(
            json.dumps({"machine": machine, "figures": [asdict(figure) for figure in measured]}, indent=2) + "\n"
        )
    return int(any(figure.held is False for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
