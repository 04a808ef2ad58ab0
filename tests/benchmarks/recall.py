"""What an approximate search misses on SciFact with all-MiniLM-L6-v2, also among shares of the chunks.

The index is built as `oraclerag index build` builds it, and measured as `oraclerag index accuracy` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.benchmarks import judged
from tests.benchmarks.figures import Figure

__all__ = ["measure"]

K = 10
SHARES = (0.5, 0.1, 0.01, 0.001)


def measure(folder: Path, minilm: Path) -> Iterator[Figure]:
    """Measure recall@10 of the index alone and of searches by default; nothing where the collection is not there."""
    scifact = judged.collection("scifact")
    if scifact is None:
        return
    with judged.indexed(scifact, minilm, folder=folder, name="MINILM_L6") as rag:
        built = rag.finish().built
        assert built is not None
        assert built.partitions is not None
        questions = [question.text for question in scifact.questions.questions]
        # searched exactly is recall 1 by definition: some questions show that it is so
        default = rag.index_accuracy(scope=Scope(manager=True), questions=questions[:20], k=K, shares=SHARES)
        with Rag(replace(rag.settings, exact_below=0)) as whatever_the_size:
            report = whatever_the_size.index_accuracy(
                scope=Scope(manager=True), questions=questions, k=K, shares=SHARES
            )
    probes = math.ceil(built.partitions / (1 + 0.2 * (100 - report.target)))  # as ora.aim of the local database has it
    how = f"{built.rows:,} chunks, {built.partitions} lists, {probes} of them read (target {report.target} %)"
    for one, usual in zip(report.recalls, default.recalls, strict=True):
        among = "all" if one.share is None else f"{100 * one.share:g} %"
        assert one.recall is not None
        assert one.chosen is not None
        assert usual.chosen is not None
        interval = f"95 %: {one.low:.3f} … {one.high:.3f}; {one.short} of {one.questions} questions short"
        bound = 0.95 if one.share is None else None
        yield Figure(
            f"SciFact, index alone, {among}: recall@{K}", one.recall, "", f"{how}; {interval}", bound, "at least"
        )
        again = f"{one.exact} of {one.questions} ran short and were searched exactly"
        yield Figure(f"SciFact, exact_below = 0, {among}: recall@{K}", one.chosen, "", again)
        exact = f"{usual.exact} of {usual.questions} searched exactly: {usual.reason}"
        yield Figure(f"SciFact, by default, {among}: recall@{K}", usual.chosen, "", exact, 0.95, "at least")
