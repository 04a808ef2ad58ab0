"""``worker``: drains the queue until it is told to stop."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag import log
from oraclerag.cli.options import FAILED, UNHEALTHY, Json, configuration, opened, output, settings
from oraclerag.cli.worker_metrics import Metrics
from oraclerag.errors import OracleRagError

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.heartbeat import State
    from oraclerag.rag import Rag
    from oraclerag.records import DrainReport

__all__ = ["register"]

_log = logging.getLogger("oraclerag.worker")

_INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("worker")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Work until the queue is empty, then end (for cron).")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", metavar="N", help="Queue rows per batch.")] = None,
    poll_interval: Annotated[
        float | None, typer.Option("--poll-interval", metavar="SECONDS", help="Wait between looks at an empty queue.")
    ] = None,
    initial_delay: Annotated[
        float | None, typer.Option("--initial-delay", metavar="SECONDS", help="Wait before the first look.")
    ] = None,
    lease: Annotated[
        float | None,
        typer.Option("--lease", metavar="SECONDS", help="After which others may take over: longer than a batch takes."),
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", metavar="N", help="Failures until a queue row is given up.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=64, help="How many processes work.")
    ] = 1,
    wait_for_database: Annotated[
        bool, typer.Option("--wait-for-database", help="Wait also where it cannot be reached at the start.")
    ] = False,
    heartbeat: Annotated[
        Path | None, typer.Option("--heartbeat", metavar="FILE", help="Write there that it is alive, for probes.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Do not work: read a heartbeat; exit code 3 if it is too old."),
    ] = None,
    max_age: Annotated[
        float, typer.Option("--max-age", metavar="SECONDS", min=1, help="How old a heartbeat may be, for --check.")
    ] = 120.0,
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", metavar="PORT", min=1, max=65535, help="Serve metrics for Prometheus there."),
    ] = None,
    metrics_host: Annotated[
        str, typer.Option("--metrics-host", metavar="HOST", help="The interface for it; 0.0.0.0 stands for all.")
    ] = "127.0.0.1",
    metrics_coverage: Annotated[
        float,
        typer.Option("--metrics-coverage", metavar="SECONDS", min=0, help="Count what is missing so often; 0: never."),
    ] = 3600.0,
    log_format: Annotated[log.Format, typer.Option("--log-format", help="How the log on stderr is written.")] = "text",
    log_level: Annotated[log.Level, typer.Option("--log-level", help="From which level on.")] = "info",
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,
    json: Json = False,
) -> None:
    """Index what is enqueued, until told to stop.

    Ctrl-C and SIGTERM end it after its batch. --once says what is left, and ends with exit code 3 where a source is
    paused.
    """
    screen = output(json)
    if check is not None:
        _check(screen, check, max_age)
        return
    overrides = {
        "batch_size": batch_size,
        "poll_interval": poll_interval,
        "initial_delay": initial_delay,
        "lease": lease,
        "max_attempts": max_attempts,
    }
    metrics = Metrics(metrics_port, metrics_host, metrics_coverage).for_each(concurrency)
    with log.shown(log_format, log_level) as formatter, _explained(plain=log_format == "text"):
        left = screen.say if log_format == "text" else _log_left
        line = _ending_line(formatter)
        if concurrency == 1:
            _one(screen, overrides, line, left, once, wait_for_database, heartbeat, parent, metrics)
            return
        settings(**overrides)  # what is wrong with them is said once
        options = [f"--{name.replace('_', '-')}={value}" for name, value in overrides.items() if value is not None]
        options += [f"--log-format={log_format}", f"--log-level={log_level}"]
        options += ["--once"] if once else []
        options += ["--wait-for-database"] if wait_for_database else []
        options += ["--json"] if json else []
        _several(concurrency, options, line, left, once, heartbeat, metrics)


def _one(
    screen: Output,
    overrides: dict[str, Any],
    line: Callable[[], str | None],
    left: Callable[[str], object],
    once: bool,
    patient: bool,
    heartbeat: Path | None,
    parent: int | None,
    metrics: Metrics,
) -> None:
    """Work in this process; with ``parent`` it ends with that process, also where that was killed."""
    from oraclerag.cli.ending import Ending
    from oraclerag.heartbeat import Heartbeat

    pulse = Heartbeat(heartbeat)
    pulse.begin()

    def on_batch(report: DrainReport) -> None:
        if report.claimed:
            pulse.batch()
        metrics.batch(report)
        if screen.json and (report.claimed or report.paused):
            screen.data(report, indent=None)

    def on_beat(state: State) -> None:
        pulse.beat(state)
        metrics.beat(state)

    with opened(**overrides) as rag, contextlib.ExitStack() as stack, Ending(line, parent=parent) as ending:
        metrics.serve(rag, stack)
        rag.work(ending, once=once, patient=patient, on_batch=on_batch, on_beat=on_beat)
        if once and parent is None and not ending.is_set():  # else the one that started it says what is left
            _say_what_is_left(left, rag)


def _several(
    count: int,
    options: Sequence[str],
    line: Callable[[], str | None],
    left: Callable[[str], object],
    once: bool,
    heartbeat: Path | None,
    metrics: Metrics,
) -> None:
    """Work in several processes; a signal is handed on to all."""
    from oraclerag.cli.ending import Ending
    from oraclerag.cli.supervisor import Supervisor
    from oraclerag.heartbeat import Heartbeat

    # -P: modules are not looked for in the working directory, which may have a queue.py or secrets.py of its own.
    base = [sys.executable, "-P", "-m", "oraclerag"]
    base += ["--config", str(configuration.get())] if configuration.get() is not None else []
    base += ["worker", f"--parent={os.getpid()}", *options]
    pulse = Heartbeat(heartbeat)
    pulse.begin()
    with contextlib.ExitStack() as stack:
        beside = heartbeat
        if heartbeat is None and os.environ.get("NOTIFY_SOCKET"):
            beside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oraclerag-"))) / "heartbeat"
        numbers = range(1, count + 1) if beside is not None else ()
        pulses = {number: beside.with_name(f"{beside.name}.{number}") for number in numbers if beside is not None}

        def command(number: int, again: bool) -> list[str]:
            more = [f"--heartbeat={pulses[number]}"] if pulses else []
            more += metrics.options(number)
            # the one that is started again may meet the outage in which it died
            return base + more + (["--wait-for-database", "--initial-delay=0"] if again and not once else [])

        ending = stack.enter_context(Ending(line))
        supervisor = Supervisor(command, count, ending, once=once, heartbeat=pulse, pulses=pulses)
        ending.on_told = supervisor.tell
        codes = supervisor.run()
        told = ending.is_set()
    if failed := sum(map(bool, codes)):
        message = f"{failed} of {count} workers failed."
        log.event(_log, logging.ERROR, "failed", message, workers=count, exit_code=max(codes))
        raise typer.Exit(FAILED)
    if once and not told:
        with opened() as rag:
            _say_what_is_left(left, rag)


@contextlib.contextmanager
def _explained(*, plain: bool) -> Iterator[None]:
    """End with an exit code and a line in the log; what was foreseen is said in plain words where those are read."""
    try:
        yield
    except (typer.Exit, typer.Abort, OSError):
        raise
    except OracleRagError as error:
        if plain:
            raise
        log.event(_log, logging.CRITICAL, "failed", error.message, error_code=error.code, hint=error.hint)
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt as error:
        log.event(_log, logging.WARNING, "interrupted", "Ended at once; what was claimed was given back.")
        raise typer.Exit(_INTERRUPTED) from error
    except Exception as error:
        from oraclerag.cli.supervisor import CRASHED

        # Its text may repeat data, and a traceback would print it.
        log.event(
            _log, logging.CRITICAL, "crashed", f"Nobody foresaw this ({type(error).__name__}).",
            error_code=type(error).__name__, where=log.where(error.__traceback__),
        )  # fmt: skip
        raise typer.Exit(CRASHED) from error


def _ending_line(formatter: logging.Formatter) -> Callable[[], str | None]:
    """Give what makes the line that a signal writes: in the log's format, and only where the log has that level."""

    def line() -> str | None:
        if not _log.isEnabledFor(logging.INFO):
            return None
        message = "Ending after this batch; once more ends at once."
        said = {"name": _log.name, "levelno": logging.INFO, "levelname": "INFO", "msg": message}
        return formatter.format(logging.makeLogRecord(said | {"component": "worker", "action": "ending"}))

    return line


def _check(screen: Output, file: Path, max_age: float) -> None:
    """Say how a worker is by its heartbeat; exit code 3 where that is too old."""
    import datetime as dt

    from oraclerag.heartbeat import read

    try:
        pulse = read(file)
    except OracleRagError as error:
        screen.error(error)
        raise typer.Exit(UNHEALTHY) from error
    age = (dt.datetime.now(dt.UTC) - pulse.time).total_seconds()
    fresh = abs(age) <= max_age  # a clock that was set back says nothing either
    if screen.json:
        screen.data({"healthy": fresh, "age": round(age, 1), **_record(pulse)})
    else:
        last = f"last batch {pulse.last_batch:%Y-%m-%d %H:%M:%S} UTC" if pulse.last_batch else "no batch yet"
        screen.write(f"{pulse.state} {age:.0f} s ago, {last}, process {pulse.pid}")
    if not fresh:
        screen.say(f"The heartbeat is older than {max_age:g} s.")
        raise typer.Exit(UNHEALTHY)


def _record(value: Any) -> dict[str, Any]:
    from oraclerag.console import record

    found: dict[str, Any] = record(value)
    return found


def _log_left(text: str) -> None:
    log.event(_log, logging.INFO, "left", " ".join(text.split()))


def _say_what_is_left(say: Callable[[str], object], rag: Rag) -> None:
    """Say which rows are left and why; exit code 3 where a source is paused, for nothing of it is worked off."""
    paused = {name: why for name, why in rag.paused_sources().items() if name in rag.sources}
    backlog = rag.queue_status().backlog
    for source in sorted({entry.source for entry in backlog} | set(paused)):
        of = f"of source {source}"
        entries = [entry for entry in backlog if entry.source == source]
        ready = [entry for entry in entries if entry.state == "READY"]
        rows, dead = sum(entry.rows for entry in ready), sum(entry.rows for entry in entries if entry.state == "DEAD")
        claimed, postponed = sum(entry.claimed for entry in ready), sum(entry.postponed for entry in ready)
        if source in paused:
            say(
                f"Source {source} is paused, {_rows(rows, 'of it')} left in the queue: {paused[source]}\n"
                f"  remedy: Mend it, then run `oraclerag source check {source}`: it is taken up again once it is green."
            )
        elif source not in rag.sources:
            if rows:
                say(f"{_rows(rows, of)} left: the source is not configured here.")
        else:
            if claimed:
                say(f"{_rows(claimed, of)} with another worker, or with one that died.")
            if postponed:
                first = min(entry.due for entry in ready if entry.due is not None)
                say(
                    f"{_rows(postponed, of)} postponed, the first until {first:%Y-%m-%d %H:%M:%S} UTC; "
                    "`oraclerag queue list` says why."
                )
            if others := rows - claimed - postponed:
                say(f"{_rows(others, of)} left: enqueued since, or other settings are in force.")
        if dead:
            say(f"{_rows(dead, of)} given up; `oraclerag queue list --dead` says why.")
    if not any(entry.state == "READY" for entry in backlog):
        say("The queue is empty.")
    if paused:
        raise typer.Exit(UNHEALTHY)


def _rows(count: int, of: str) -> str:
    return f"{count:,} row {of} is" if count == 1 else f"{count:,} rows {of} are"
