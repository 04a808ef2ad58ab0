"""``worker``: drains the queue until it is told to stop."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, UNHEALTHY, Json, configuration, ended_by_signals, opened, output, settings

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.rag import Rag
    from oraclerag.records import DrainReport

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("worker")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Work until the queue is empty, then end (for cron).")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", metavar="N", help="Queue rows per batch.")] = None,
    poll_interval: Annotated[
        float | None, typer.Option("--poll-interval", metavar="SECONDS", help="Wait between looks at an empty queue.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=64, help="How many processes work.")
    ] = 1,
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,
    json: Json = False,
) -> None:
    """Index what is enqueued, until told to stop.

    Ctrl-C and SIGTERM end it after its batch. --once says what is left, and ends with exit code 3 where a source is
    paused.
    """
    screen = output(json)
    _log_to(screen)
    if concurrency > 1:
        _several(screen, concurrency, once, batch_size, poll_interval)
        return
    stop = threading.Event()
    with (
        opened(batch_size=batch_size, poll_interval=poll_interval) as rag,
        ended_by_signals(screen, stop.is_set, stop.set),
    ):
        if not once:
            screen.say("Working; Ctrl-C ends it after its batch.")
        # one of several ends with the process that started it, also where that was killed
        ended = stop if parent is None else lambda: stop.is_set() or os.getppid() != parent
        rag.work(stop=ended, once=once, on_batch=lambda report: _show(screen, report))
        if once and not stop.is_set():
            if parent is None:  # else the one that started it says what is left
                _say_what_is_left(screen, rag)
            return
    screen.say("Ended.")


def _say_what_is_left(screen: Output, rag: Rag) -> None:
    """Say which rows are left and why; exit code 3 where a source is paused, for nothing of it is worked off."""
    paused = {name: why for name, why in rag.paused_sources().items() if name in rag.sources}
    backlog = rag.queue_status()
    for source in sorted({entry.source for entry in backlog} | set(paused)):
        of = f"of source {source}"
        entries = [entry for entry in backlog if entry.source == source]
        ready = [entry for entry in entries if entry.state == "READY"]
        rows, dead = sum(entry.rows for entry in ready), sum(entry.rows for entry in entries if entry.state == "DEAD")
        claimed, postponed = sum(entry.claimed for entry in ready), sum(entry.postponed for entry in ready)
        if source in paused:
            screen.say(
                f"Source {source} is paused, {_rows(rows, 'of it')} left in the queue: {paused[source]}\n"
                f"  remedy: Run `oraclerag source check`, then `oraclerag reindex --source {source}`."
            )
        elif source not in rag.sources:
            if rows:
                screen.say(f"{_rows(rows, of)} left: the source is not configured here.")
        else:
            if claimed:
                screen.say(f"{_rows(claimed, of)} with another worker, or with one that died.")
            if postponed:
                first = min(entry.due for entry in ready if entry.due is not None)
                screen.say(
                    f"{_rows(postponed, of)} postponed, the first until {first:%Y-%m-%d %H:%M:%S} UTC; "
                    "`oraclerag queue list` says why."
                )
            if others := rows - claimed - postponed:
                screen.say(f"{_rows(others, of)} left: enqueued since, or other settings are in force.")
        if dead:
            screen.say(f"{_rows(dead, of)} given up; `oraclerag queue list --dead` says why.")
    if not any(entry.state == "READY" for entry in backlog):
        screen.say("The queue is empty.")
    if paused:
        raise typer.Exit(UNHEALTHY)


def _rows(count: int, of: str) -> str:
    return f"{count:,} row {of} is" if count == 1 else f"{count:,} rows {of} are"


def _several(screen: Output, concurrency: int, once: bool, batch_size: int | None, poll_interval: float | None) -> None:
    """Start workers as processes and wait for them; a signal is handed on to all."""
    settings(batch_size=batch_size, poll_interval=poll_interval)  # what is wrong with them is said once
    command = [sys.executable, "-m", "oraclerag"]
    command += ["--config", str(configuration.get())] if configuration.get() is not None else []
    command += ["worker", "--parent", str(os.getpid())]
    command += ["--once"] if once else []
    command += ["--batch-size", str(batch_size)] if batch_size is not None else []
    command += ["--poll-interval", str(poll_interval)] if poll_interval is not None else []
    command += ["--json"] if screen.json else []
    # in sessions of their own, so that a Ctrl-C reaches this process and each of them once, from here
    workers = [subprocess.Popen(command, start_new_session=True) for _ in range(concurrency)]  # noqa: S603
    told = False

    def end() -> None:
        nonlocal told
        told = True
        for worker in workers:
            worker.terminate()

    try:
        with ended_by_signals(screen, lambda: told, end):
            codes = [worker.wait() for worker in workers]
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
    if any(codes):
        screen.say(f"{sum(map(bool, codes))} of {concurrency} workers failed.")
        raise typer.Exit(FAILED)
    if once and not told:
        with opened() as rag:
            _say_what_is_left(screen, rag)


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


def _show(screen: Output, report: DrainReport) -> None:
    if not report.claimed and not report.paused:
        return
    if screen.json:
        screen.data(report, indent=None)
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
