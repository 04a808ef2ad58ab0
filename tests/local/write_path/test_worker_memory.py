"""What a worker remembers does not grow with what it has worked off."""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import oracledb
import pytest

import oraclerag
from oraclerag.drain import WorkerState
from oraclerag.records import Document
from oraclerag.source import FunctionSource, Source
from tests.local.write_path.test_fairness import backlog
from tests.local.write_path.tracker import Tracker

pytestmark = pytest.mark.one_size

# Of the toolkit and of the driver, not of the local database, which is in this process too.
_PACKAGE, _DRIVER = Path(oraclerag.__file__).parent, Path(oracledb.__file__).parent
_OURS = [
    tracemalloc.Filter(True, f"{_PACKAGE}/*", all_frames=False),
    tracemalloc.Filter(True, f"{_DRIVER}/*", all_frames=False),
    tracemalloc.Filter(False, f"{_PACKAGE}/local/*", all_frames=False),
]


def read(_: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
    """Give every tenth one a text of its own; the others are gone."""
    return {key: Document(f"The text of {key}: " + "supplier " * 20, owner=key) for key in ids[::10]}


def test_memory_does_not_grow_with_the_rows_that_were_worked_off(tracker: Tracker) -> None:
    tracker.settings = dataclasses.replace(tracker.settings, batch_size=100)
    sources: dict[str, Source] = {"note": FunctionSource("note", read, visibility="owner")}
    state = WorkerState()

    def work(batches: int) -> int:
        for _ in range(batches):
            assert tracker.drain(sources=sources, state=state).claimed == 100
        gc.collect()
        return sum(each.size for each in tracemalloc.take_snapshot().filter_traces(_OURS).traces)

    for part in range(7):
        backlog(tracker, 100, tenant=f"tenant {part}")
    tracemalloc.start()
    try:
        first = work(3)
        last = work(4)
    finally:
        tracemalloc.stop()
    assert last - first < 400 * 40  # bytes: not even the ids of what was worked off are kept
