"""Worker processes that can be killed: one warm process forks them, and each says in shared memory where it is."""

from __future__ import annotations

import contextlib
import functools
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from oraclerag import Rag, Settings, claim, drain, merge, source
from oraclerag.errors import ConnectionFailed, Contention
from oraclerag.records import DrainReport
from tests.local.crashes.application import ARCHIVE, TASKS

PHASES = ("start", "look", "claim", "read", "write", "stage", "settle", "give back", "backfill")

# Where a phase begins; it lasts until the next one does.
_BEGINS: tuple[tuple[type, str, str], ...] = (
    (claim.Queue, "turn", "look"),
    (claim.Queue, "claim", "claim"),
    (source.SelectSource, "read_each", "read"),
    (claim.Queue, "hold", "write"),
    (merge.Merge, "stage", "stage"),
    (claim.Queue, "settle", "settle"),
    (claim.Queue, "give_back", "give back"),
    (Rag, "backfill", "backfill"),
)


class Nursery:
    """Starts and kills workers, each in a slot; a context manager, whose end kills all that are left."""

    def __init__(self, folder: Path, slots: int, settings: dict[str, Any]) -> None:
        shared = folder / "phases"
        shared.write_bytes(bytes(slots))
        self._file = shared.open("r+b")
        self._phases = mmap.mmap(self._file.fileno(), slots)
        self.errors = folder / "errors"
        with self.errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                cwd=Path(__file__).parents[3],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._ask(json.dumps({"shared": str(shared), "settings": settings}))

    def start(self, slot: int, seed: int) -> None:
        """Fork a worker."""
        self._ask(f"start {slot} {seed}")

    def kill(self, slot: int) -> str:
        """Kill a worker with SIGKILL and wait for its end; gives the phase in which it was."""
        status = self._ask(f"kill {slot} 0")
        if status != str(-signal.SIGKILL):
            raise AssertionError(f"A worker ended by itself ({status}): {self.errors.read_text()}")
        return self.phase(slot)

    def phase(self, slot: int) -> str:
        """Give the phase in which a worker is."""
        return PHASES[self._phases[slot]]

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise AssertionError(f"The process that forks has ended: {self.errors.read_text()}")
        return answer

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()  # the end of its input is the end of all
        self._phases.close()
        self._file.close()


def _main() -> None:
    first = json.loads(sys.stdin.readline())
    workers: dict[int, int] = {}
    with Path(first["shared"]).open("r+b") as file, mmap.mmap(file.fileno(), 0) as phases:
        print("ready", flush=True)
        try:
            for line in sys.stdin:
                what, slot, seed = line.split()
                if what == "start":
                    phases[int(slot)] = 0
                    workers[int(slot)] = _fork(first["settings"], phases, int(slot), int(seed))
                    print("started", flush=True)
                else:
                    print(_killed(workers.pop(int(slot))), flush=True)
        finally:
            for pid in workers.values():
                _killed(pid)


def _killed(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)  # one that has ended waits to be asked for its status: the number is still its own
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _fork(settings: dict[str, Any], phases: mmap.mmap, slot: int, seed: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.close(0)
        _work(settings, phases, slot, random.Random(seed))
    except BaseException:  # noqa: BLE001 - this process ends here, whatever happens
        traceback.print_exc()
    os._exit(1)


def _work(settings: dict[str, Any], phases: mmap.mmap, slot: int, chance: random.Random) -> None:
    """Be a worker: one in three begins with a backfill of the archive; now and then a write meets an outage."""
    for owner, method, phase in _BEGINS:
        setattr(owner, method, _noting(getattr(owner, method), phases, slot, PHASES.index(phase)))
    for module in (drain, merge):
        setattr(module, "SLICE", 16)  # noqa: B010 - each has the name for itself
    rag = Rag(Settings(**settings, sources=(TASKS, ARCHIVE)))
    if chance.random() < 1 / 3:
        with contextlib.suppress(Contention):  # another one is at it, or was killed less than a lease ago
            rag.backfill(source="archive")
    whole = merge.Merge.apply
    batches = 0

    def apply(self: merge.Merge, *arguments: Any) -> merge.Merged:
        merged = whole(self, *arguments)
        if batches and chance.random() < 0.03:  # one that has not worked yet takes an outage for a mistake, and ends
            raise ConnectionFailed
        return merged

    def count(_: DrainReport) -> None:
        nonlocal batches
        batches += 1

    setattr(merge.Merge, "apply", apply)  # noqa: B010
    rag.work(on_batch=count)


def _noting(whole: Any, phases: mmap.mmap, slot: int, phase: int) -> Any:
    @functools.wraps(whole)
    def noting(*arguments: Any, **more: Any) -> Any:
        phases[slot] = phase
        return whole(*arguments, **more)

    return noting


if __name__ == "__main__":
    _main()
