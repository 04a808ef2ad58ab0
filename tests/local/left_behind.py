"""What many questions leave behind: connections that are lent, descriptors, threads, memory."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oraclerag.rag import Rag

__all__ = ["Left", "left_by"]


@dataclass(frozen=True, slots=True)
class Left:
    """What is there more at the end than in the middle.

    ``busy`` connections are lent at the end. ``objects`` are ours and those of the client for HTTP. ``grown`` is in bytes
    that Python holds, for each question; ``resident`` is a ratio of the process' memory: the local database may be a
    part of it. Where the system does not tell, ``descriptors`` is 0 and ``resident`` 1.
    """

    busy: int
    descriptors: int
    threads: int
    objects: int
    grown: float
    resident: float


def left_by(rag: Rag, ask: Callable[[int], object], questions: int) -> Left:
    """Ask so many questions by number, in two halves, after some that fill what is kept once."""
    tracemalloc.start()
    try:
        for number in range(max(10, questions // 5)):
            ask(number)
        halves = []
        for half in (range(questions // 2), range(questions // 2, questions)):
            for number in half:
                ask(number)
            _settled()
            gc.collect()
            traced = tracemalloc.get_traced_memory()[0]
            halves.append((_descriptors(), threading.active_count(), _objects(), traced, _resident()))
    finally:
        tracemalloc.stop()
    middle, end = halves
    pool = rag.database._own_pool
    assert pool is not None
    return Left(
        busy=pool.busy,
        descriptors=max(0, end[0] - middle[0]),
        threads=max(0, end[1] - middle[1]),
        objects=max(0, end[2] - middle[2]),
        grown=2 * (end[3] - middle[3]) / questions,
        resident=end[4] / middle[4],
    )


def _settled() -> None:
    """Give the threads of a server that answered last the time to end."""
    for _ in range(50):
        if not any("process_request" in thread.name for thread in threading.enumerate()):
            return
        time.sleep(0.01)


def _objects() -> int:
    modules = [str(type(one).__module__) for one in gc.get_objects()]
    return sum(
        name.startswith(("oraclerag.", "httpx.", "httpcore.")) and not name.startswith("oraclerag.local")
        for name in modules
    )


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def _resident() -> int:
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) if status.is_file() else 1
