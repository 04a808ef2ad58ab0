"""``worker``: drains the queue until it is told to stop."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import Json, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import DrainReport

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("worker")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Work until the queue is empty, then end (for cron).")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", metavar="N", help="Entities per batch.")] = None,
    poll_interval: Annotated[
        float | None, typer.Option("--poll-interval", metavar="SECONDS", help="Wait between looks at an empty queue.")
    ] = None,
    json: Json = False,
) -> None:
    """Index what is enqueued, until told to stop.

    Ctrl-C and SIGTERM end it after its batch. Run several processes to go faster.
    """
    screen = output(json)
    _log_to(screen)
    stop = threading.Event()
    _end_on_signals(screen, stop)
    with opened(batch_size=batch_size, poll_interval=poll_interval) as rag:
        if not once:
            screen.say("Working; Ctrl-C ends it after its batch.")
        rag.work(stop=stop, once=once, on_batch=lambda report: _show(screen, report))
    screen.say("The queue is empty." if once and not stop.is_set() else "Ended.")


class _Messages(logging.Handler):
    """Shows what the toolkit logs as messages."""

    def __init__(self, screen: Output) -> None:
        super().__init__()
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.say(f"{record.levelname.lower()}: {record.getMessage()}")


def _log_to(screen: Output) -> None:
    logger = logging.getLogger("oraclerag")
    logger.setLevel(logging.INFO)
    logger.handlers = [_Messages(screen)]


def _end_on_signals(screen: Output, stop: threading.Event) -> None:
    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the interpreter's signature
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        screen.say("Ending after this batch; once more ends at once.")

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)


def _show(screen: Output, report: DrainReport) -> None:
    if screen.json:
        screen.data(report, indent=None)
        return
    if not report.claimed and not report.paused:
        return
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (report.indexed, "indexed"),
            (report.unchanged, "unchanged"),
            (report.deleted, "gone"),
            (report.postponed, "postponed"),
            (report.dead, "given up"),
            (report.given_back, "given back"),
        )
        if count
    ]
    screen.write(f"{report.claimed:,} queue rows: {', '.join(parts) or 'nothing to do'} ({report.seconds:.2f} s)")
    if report.paused:
        screen.say(f"Paused: {', '.join(report.paused)}. `oraclerag source check` shows why.")
