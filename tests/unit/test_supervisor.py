"""Several workers: who is started again and when, who ends them all, how they are told; almost without processes."""

from __future__ import annotations

import datetime as dt
import logging
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from oraclerag.cli.supervisor import CRASHED, Supervisor
from oraclerag.cli.worker import _several
from oraclerag.cli.worker_metrics import Metrics
from oraclerag.heartbeat import Heartbeat, Pulse, read, write


@dataclass
class World:
    """Time passes while somebody waits; then what was planned happens."""

    now: float = 0.0
    told: bool = False
    plan: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    on_told: Callable[[], None] | None = None
    started: list[Fake] = field(default_factory=list)

    def at(self, when: float, what: Callable[[], None]) -> None:
        self.plan.append((when, what))

    def is_set(self) -> bool:
        return self.told

    def wait(self, timeout: float) -> None:
        self.now += timeout
        assert self.now < 10_000, "it does not end"
        due = [item for item in self.plan if item[0] <= self.now]
        self.plan = [item for item in self.plan if item[0] > self.now]
        for _, what in due:
            what()

    def tell(self) -> None:
        self.told = True
        if self.on_told is not None:
            self.on_told()


@dataclass
class Fake:
    """A process; told to end it ends with 0, unless it is ``deaf``."""

    world: World
    command: Sequence[str]
    pid: int
    at: float
    code: int | None = None
    deaf: bool = False
    got: list[str] = field(default_factory=list)

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.got.append("terminate")
        if not self.deaf and self.code is None:
            self.code = 0

    def kill(self) -> None:
        self.got.append("kill")
        self.code = -SIGKILL


def supervisor(world: World, count: int = 2, **more: object) -> Supervisor:
    def start(command: Sequence[str]) -> Fake:
        world.started.append(Fake(world, command, 100 + len(world.started), world.now))
        return world.started[-1]

    def command(number: int, again: bool) -> list[str]:
        return [str(number)] + ["again"] * again

    made = Supervisor(
        command, count, world, start=start, clock=lambda: world.now, sleep=world.wait, **more  # type: ignore[arg-type]
    )  # fmt: skip
    world.on_told = made.tell
    return made


@pytest.mark.parametrize("code", [-SIGKILL, CRASHED])
def test_one_that_died_is_started_again_later_and_later(code: int, caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    made = supervisor(world, 1)

    def die() -> None:
        world.started[-1].code = code

    for when in (5, 10, 20, 30, 60, 100, 200, 300, 400):
        world.at(when, die)
    world.at(500, world.tell)
    with caplog.at_level(logging.ERROR, "oraclerag"):
        assert made.run() == [0]
    gaps = [
        round(after.at - before, 1) for after, before in zip(world.started[1:], (5, 10, 20, 30, 60, 100), strict=False)
    ]
    assert gaps == [1, 2, 4, 8, 16, 32]
    last = world.started[7].at - 200
    assert last == 1, "it had lived for longer than a minute"
    assert [fake.command for fake in world.started[:2]] == [["1"], ["1", "again"]]
    assert len(caplog.records) == 9
    assert vars(caplog.records[0])["exit_code"] == code


def test_one_that_gives_a_reason_ends_them_all() -> None:
    world = World()
    made = supervisor(world, 3)

    def fail() -> None:
        world.started[1].code = 1

    world.at(5, fail)
    assert sorted(made.run()) == [0, 0, 1]
    assert [fake.got for fake in world.started] == [["terminate"], [], ["terminate"]]


def test_a_signal_is_handed_on_and_nobody_is_started_any_more() -> None:
    world = World()
    made = supervisor(world, 2)

    def die_and_tell() -> None:
        world.started[0].code = -SIGKILL
        world.tell()

    world.at(5, die_and_tell)
    assert made.run() == [-SIGKILL, 0], "one that was killed while they end counts as failed"
    assert len(world.started) == 2


def test_one_that_could_not_listen_yet_ended_well() -> None:
    world = World()
    made = supervisor(world, 1)

    def tell() -> None:
        world.started[0].deaf = True
        world.tell()
        world.started[0].code = -SIGTERM

    world.at(0.5, tell)
    assert made.run() == [0]


def test_while_it_waits_to_be_started_again_it_can_end() -> None:
    world = World()
    made = supervisor(world, 1)

    def die() -> None:
        world.started[0].code = CRASHED

    world.at(5, die)
    world.at(5.5, world.tell)
    assert made.run() == [0]
    assert len(world.started) == 1


def test_once_nobody_is_started_again() -> None:
    world = World()
    made = supervisor(world, 2, once=True)

    def end() -> None:
        world.started[0].code, world.started[1].code = 0, -SIGKILL

    world.at(5, end)
    assert made.run() == [0, -SIGKILL]
    assert world.started[0].got == []


def test_interrupted_it_leaves_nobody_behind() -> None:
    world = World()
    made = supervisor(world, 2)

    def interrupt() -> None:
        world.started[1].deaf = True
        raise KeyboardInterrupt

    world.at(5, interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert [fake.got for fake in world.started] == [["terminate"], ["terminate", "kill"]]


def test_the_pulse_is_as_old_as_the_oldest(tmp_path: Path) -> None:
    world = World()
    pulses = {number: tmp_path / f"beat.{number}" for number in (1, 2)}
    made = supervisor(world, 2, heartbeat=Heartbeat(tmp_path / "beat"), pulses=pulses)
    now = dt.datetime.now(dt.UTC)
    old = now - dt.timedelta(seconds=77)
    seen: list[Pulse] = []

    def look() -> None:
        seen.append(read(tmp_path / "beat"))

    def beat() -> None:
        write(pulses[1], Pulse(now, world.started[0].pid, "idle"))
        write(pulses[2], Pulse(old, world.started[1].pid, "working", old))

    world.at(5, look)
    world.at(5, beat)
    world.at(6, look)
    world.at(6, lambda: setattr(world.started[1], "code", -SIGKILL))
    world.at(6.6, look)
    world.at(10, look)
    world.at(10, world.tell)
    made.run()
    assert [pulse.state for pulse in seen] == ["starting", "working", "restarting", "starting"]
    assert (seen[1].time, seen[1].last_batch) == (old, old)
    assert seen[2].time > old, "one that is started again is no reason to end the others"


def test_workers_take_no_module_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(supervisor: Supervisor) -> list[int]:
        commands.append([*supervisor.command(1, False)])
        return [0]

    monkeypatch.setattr(Supervisor, "run", run)
    _several(1, [], lambda: None, lambda _: None, False, None, Metrics())
    (tmp_path / "json.py").write_text("raise SystemExit(99)")
    ended = subprocess.run([*commands[0], "--help"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended
