"""Cutting diagnostic reports of 1, 10 and 100 MB as they come: time grows as they do, memory does not.

Each report is cut in a process of its own, so that its peak of memory is its own; it is made while it is read.
``python -m tests.benchmarks.diagnostics FAMILY MEGABYTES`` cuts one and prints seconds of CPU, peak and chunks.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from oraclerag.chunk import Limits
from oraclerag.chunk.diagnostics import families, pack
from oraclerag.cutting import Cutting
from tests import reports
from tests.benchmarks.figures import Figure

__all__ = ["measure"]

SIZES = (1, 10, 100)  # MB
FAMILIES: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "sql_trace": ("trace_file", reports.sql_trace),
    "tkprof": ("tkprof", reports.tkprof),
    "alert_log": ("alert_log", reports.alert_log),
    "statspack": ("statspack", reports.statspack),
    "spool": ("spool", reports.spool),
}
_WORDS = re.compile(r"\w+|[^\w\s]")


def measure() -> Iterator[Figure]:
    """Measure each family in the three sizes."""
    for name in FAMILIES:
        runs = [_run(name, size) for size in SIZES]
        for (size, run), before in zip(zip(SIZES[1:], runs[1:], strict=True), runs, strict=False):
            ratio = (run["seconds"] / run["bytes"]) / (before["seconds"] / before["bytes"])
            yield Figure(f"cut {name} of {size} MB: time for a byte", ratio, "×", f"that of {size // 10} MB", 1.3)
            memory = run["peak"] / before["peak"]
            yield Figure(f"cut {name} of {size} MB: peak of memory", memory, "×", f"that of {size // 10} MB", 1.3)
        last = runs[-1]
        yield Figure(f"cut {name}", last["bytes"] / 1e6 / last["seconds"], "MB/s", "for orientation")


def _run(name: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.diagnostics", name, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _cut(name: str, size: int) -> dict[str, float]:
    family, made = FAMILIES[name]
    read = 0

    def parts() -> Iterator[str]:
        nonlocal read
        for part in made(sys.maxsize):
            read += len(part)
            yield part
            if read >= size * 1_000_000:
                return

    limits = Limits(256, lambda text: 2 + len(_WORDS.findall(text)))
    began = time.process_time()
    units = families.units(parts(), families.by_name(family))
    chunks = sum(1 for _ in pack.chunks(units, limits, Cutting("diagnostics")))
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "peak": peak, "chunks": chunks, "bytes": read}


if __name__ == "__main__":
    print(json.dumps(_cut(sys.argv[1], int(sys.argv[2]))))
