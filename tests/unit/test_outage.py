"""An outage is told once, then every five minutes, and once when it is over; by a clock that the test turns."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from oraclerag.outage import Outage


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_once_then_every_five_minutes(clock: Clock) -> None:
    outage, told = Outage(clock), []
    for _ in range(61):
        if outage.failed("CONNECTION_FAILED"):
            told.append(clock.now - 1000)
        clock.now += 10
    assert told == [0, 300, 600]
    assert outage.over() == 610


def test_another_error_in_the_same_outage_is_told_at_once(clock: Clock) -> None:
    outage = Outage(clock)
    assert outage.failed("CONNECTION_FAILED")
    clock.now += 100
    assert outage.failed("MODEL_MISSING")
    clock.now += 100
    assert not outage.failed("MODEL_MISSING")
    assert not outage.failed("CONNECTION_FAILED")
    clock.now += 100
    assert outage.failed("CONNECTION_FAILED")
    assert outage.over() == 300


def test_no_outage_has_no_end(clock: Clock) -> None:
    outage = Outage(clock)
    assert outage.over() is None
    outage.failed("CONTENTION")
    clock.now += 5
    assert outage.over() == 5
    assert outage.over() is None
    assert outage.seconds == 0


def test_one_that_flickers_is_told_every_five_minutes(clock: Clock) -> None:
    """Neither its beginnings nor its ends fill the log."""
    outage, told, over = Outage(clock), 0, 0
    for _ in range(100):
        told += outage.failed("CONTENTION")
        clock.now += 4
        over += outage.over() is not None
        clock.now += 2
    assert (told, over) == (2, 2)


def test_the_next_one_is_told_at_once(clock: Clock) -> None:
    outage = Outage(clock)
    assert outage.failed("CONNECTION_FAILED")
    clock.now += 5
    outage.over()
    clock.now += 60
    assert outage.failed("CONNECTION_FAILED")


def test_waits_grow_to_a_minute_and_begin_anew(clock: Clock) -> None:
    outage, pauses = Outage(clock), []
    for _ in range(8):
        outage.failed("CONNECTION_FAILED")
        pauses.append(outage.pause(2.0))
    assert pauses == [4, 8, 16, 32, 60, 60, 60, 60]
    for _ in range(2000):
        outage.failed("CONNECTION_FAILED")
    assert outage.pause(0.05) == 60
    assert outage.pause(3600.0) == 3600, "never more often than the queue is looked at"
    outage.over()
    outage.failed("CONNECTION_FAILED")
    assert outage.pause(2.0) == 4
