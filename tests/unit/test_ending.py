"""Told by signals: once to end after the batch, twice at once; on time, on stderr, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from oraclerag.cli.ending import Ending

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def send(number: signal.Signals) -> None:
    """Signal this process, and let the interpreter notice."""
    os.kill(os.getpid(), number)
    time.sleep(0)


@pytest.mark.parametrize("number", SIGNALS)
def test_once_ends_after_the_batch_twice_at_once(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    told = []
    before = [signal.getsignal(each) for each in SIGNALS]
    with Ending(lambda: "Ending.") as ending:
        ending.on_told = lambda: told.append(True)
        assert not ending.is_set()
        assert not ending.wait(0.0)
        send(number)
        assert ending.is_set()
        assert ending.wait(3600.0)
        assert (told, capfd.readouterr().err) == ([True], "Ending.\n")
        with pytest.raises(KeyboardInterrupt):
            send(number)
        assert [signal.getsignal(each) for each in SIGNALS] == [signal.SIG_DFL] * 2, "the third does what signals do"
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_whoever_waits_is_woken() -> None:
    with Ending(lambda: None) as ending:
        waker = threading.Timer(0.05, send, [signal.SIGTERM])
        waker.start()
        assert ending.wait(3600.0)
        waker.join()


def test_nothing_is_written_below_its_level(capfd: pytest.CaptureFixture[str]) -> None:
    with Ending(lambda: None) as ending:
        send(signal.SIGINT)
        assert ending.is_set()
    assert capfd.readouterr().err == ""


def test_it_is_time_to_end_when_the_parent_is_gone() -> None:
    with Ending(lambda: None, parent=os.getppid()) as ending:
        assert not ending.is_set()
    with Ending(lambda: None, parent=-1) as ending:
        assert ending.is_set()
        assert ending.wait(3600.0)


def test_told_by_its_own_program() -> None:
    with Ending(lambda: "never written") as ending:
        for _ in range(100_000):
            ending.tell()
        assert ending.wait(3600.0)
