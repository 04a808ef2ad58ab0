"""The worker's loop through outages, by a clock that the test turns and a queue that is none."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import (
    ConnectionFailed,
    Contention,
    LoginFailed,
    ModelMissing,
    ModelNotActive,
    OracleRagError,
    ProviderAnswerInvalid,
    ProviderLoginFailed,
    ProviderRateLimited,
    ProviderUnavailable,
    SchemaMissing,
    SchemaTooNew,
    SpaceExhausted,
    StatementFailed,
)
from oraclerag.records import DrainReport
from oraclerag.worker import work

BUSY, IDLE = DrainReport(claimed=1, indexed=1), DrainReport()


@dataclass
class World:
    """Time passes while somebody waits, and a second with every batch; ``until`` is when the worker is told to end.

    ``downs`` say from when to when a batch fails, and how; the tables' own trouble is ``tables``.
    """

    until: float
    downs: list[tuple[float, float, OracleRagError]] = field(default_factory=list)
    tables: list[tuple[float, float, OracleRagError]] = field(default_factory=list)
    answer: DrainReport = BUSY
    now: float = 0.0
    waits: list[float] = field(default_factory=list)
    beats: list[tuple[float, str]] = field(default_factory=list)
    batches: int = 0
    schema: str = "NOBODY"

    def clock(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return self.now >= self.until

    def wait(self, timeout: float) -> None:
        self.waits.append(timeout)
        self.now += timeout

    @contextlib.contextmanager
    def connect(self) -> Iterator[None]:
        yield None

    def drain(self, *_: Any, **__: Any) -> DrainReport:
        self.now += 1
        self.batches += 1
        self._fail(self.downs)
        return self.answer

    def require(self, *_: Any) -> None:
        self._fail(self.tables)

    def _fail(self, downs: list[tuple[float, float, OracleRagError]]) -> None:
        for begin, end, error in downs:
            if begin <= self.now < end:
                raise error

    def work(self, monkeypatch: pytest.MonkeyPatch, **more: Any) -> DrainReport:
        monkeypatch.setattr("oraclerag.worker.drain", self.drain)
        monkeypatch.setattr("oraclerag.worker.schema.require", self.require)
        settings = Settings(poll_interval=2.0, initial_delay=more.pop("initial_delay", 0.0))
        return work(
            cast("Database", self), {}, settings, self,
            clock=self.clock, on_beat=lambda state: self.beats.append((self.now, state)), **more,
        )  # fmt: skip


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "oraclerag"):
        yield caplog


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, Any]]:
    return [
        (vars(record)["action"], vars(record).get("error_code"))
        for record in caplog.records
        if vars(record)["action"] not in ("started", "stopped")
    ]


def test_an_outage_of_a_night_is_told_every_five_minutes(
    monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture
) -> None:
    hours = 8
    world = World(until=hours * 3600 + 200, downs=[(10, hours * 3600, ConnectionFailed())])
    world.work(monkeypatch)
    found = events(told)
    assert found[0] == ("outage", "CONNECTION_FAILED")
    assert found[-1] == ("outage_over", None)
    assert set(found[:-1]) == {("outage", "CONNECTION_FAILED")}
    # the tries are a minute apart: one that is due is told by the next
    assert hours * 60 / 6 <= len(found) - 1 <= hours * 60 / 5 + 1
    over = told.records[-2]
    assert vars(over)["seconds"] == pytest.approx(hours * 3600, abs=90)
    assert "The outage is over after" in over.getMessage()
    assert max(world.waits) <= 60


def test_a_short_outage_is_two_lines(monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    world = World(until=300, downs=[(10, 250, ModelMissing())])
    world.work(monkeypatch)
    assert events(told) == [("outage", "MODEL_MISSING"), ("outage_over", None)]
    assert "hint" in vars(told.records[1])


def test_two_kinds_in_one_outage_are_both_told(monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    world = World(until=300, downs=[(10, 100, ConnectionFailed()), (100, 200, Contention())])
    world.work(monkeypatch)
    assert events(told) == [("outage", "CONNECTION_FAILED"), ("outage", "CONTENTION"), ("outage_over", None)]


@pytest.mark.parametrize("error", [ProviderUnavailable(), ProviderLoginFailed(), ProviderAnswerInvalid()])
def test_a_provider_that_is_down_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture, error: OracleRagError
) -> None:
    World(until=300, downs=[(10, 250, error)]).work(monkeypatch)
    assert events(told) == [("outage", error.code), ("outage_over", None)]


def test_a_provider_that_says_how_long_is_not_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(until=1000, downs=[(10, 12, ProviderRateLimited(retry_after=300.0))])
    world.work(monkeypatch)
    assert sum(world.waits) == pytest.approx(300, abs=5)
    assert world.batches > 600, "and then it goes on"


def test_tries_are_further_and_further_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(until=400, downs=[(10, 1000, SpaceExhausted())])
    world.work(monkeypatch)
    tries = [wait for wait in world.waits if wait]
    assert tries[:3] == [4, 8, 10], "a long wait is cut, for the heartbeat"
    assert sum(tries[2:4]) == 16
    assert 10 <= world.batches <= 20


@pytest.mark.parametrize("error", [ConnectionFailed(), ModelNotActive(), LoginFailed(), SchemaTooNew()], ids=repr)
def test_what_is_wrong_at_the_beginning_is_raised(
    error: OracleRagError, monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture
) -> None:
    for world in (World(until=100, tables=[(0, 100, error)]), World(until=100, downs=[(0, 100, error)])):
        with pytest.raises(type(error)):
            world.work(monkeypatch)
    assert not events(told)


def test_one_that_is_patient_waits_for_the_database(
    monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture
) -> None:
    world = World(until=200, tables=[(0, 100, ConnectionFailed())])
    assert world.work(monkeypatch, patient=True).claimed == world.batches > 50
    assert events(told) == [("outage", "CONNECTION_FAILED"), ("outage_over", None)]


def test_patience_does_not_mend_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoginFailed):
        World(until=200, tables=[(0, 100, LoginFailed())]).work(monkeypatch, patient=True)


@pytest.mark.parametrize("error", [LoginFailed(), SchemaTooNew(), SchemaMissing(), StatementFailed()], ids=repr)
def test_what_no_waiting_mends_ends_it(error: OracleRagError, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(until=100, downs=[(10, 100, error)])
    with pytest.raises(type(error)):
        world.work(monkeypatch)
    assert world.now == 10


def test_a_statement_that_fails_because_the_tables_are_others_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = StatementFailed("ORA-00904")
    world = World(until=100, downs=[(10, 100, failed)], tables=[(10, 100, SchemaTooNew("newer"))])
    with pytest.raises(SchemaTooNew, match="newer"):
        world.work(monkeypatch)
    unreachable = World(until=100, downs=[(10, 100, failed)], tables=[(10, 100, ConnectionFailed())])
    with pytest.raises(StatementFailed, match="ORA-00904"):
        unreachable.work(monkeypatch)


def test_it_beats_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start, in an outage and while there is nothing to do: never more than ten seconds pass, and a batch."""
    world = World(until=300, downs=[(50, 200, ConnectionFailed())], answer=IDLE)
    world.work(monkeypatch, initial_delay=45.0)
    assert [state for _, state in world.beats[:5]] == ["starting"] * 5
    times = [when for when, _ in world.beats]
    assert all(after - before <= 12 for before, after in itertools.pairwise(times))
    states = list(dict.fromkeys(state for _, state in world.beats))
    assert states == ["starting", "idle", "outage", "stopping"]


def test_a_busy_one_beats_after_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(until=20)
    world.work(monkeypatch)
    assert [state for _, state in world.beats].count("working") == world.batches == 20
    assert world.waits == []


def test_the_log_says_when_it_begins_and_ends(monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    World(until=5).work(monkeypatch)
    assert [vars(record)["action"] for record in told.records] == ["started", "stopped"]
    assert vars(told.records[-1])["rows"] == 5
