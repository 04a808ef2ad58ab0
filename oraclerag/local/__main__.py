"""``python -m oraclerag.local``: the server of the local database, until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from oraclerag.local.address import LOOPBACK, REMOTE_MEANS, check_address
from oraclerag.local.process import ALREADY_RUNNING, READY
from oraclerag.local.state import StateDirectory, default_directory


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop.

    The exit code is 0 after an orderly end, 3 when a server runs already, 1 when it cannot be started or PostgreSQL
    has died.
    """
    options = _options(arguments)
    from oraclerag.local.service import AlreadyRunning, Service

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    stop, dead = threading.Event(), threading.Event()

    def died() -> None:
        dead.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    service = Service(
        StateDirectory(options.data_dir),
        listen=options.listen,
        allow_remote=options.allow_remote,
        port=options.port,
        max_string_size=options.max_string_size,
        log_statements=options.log_statements,
        died=died,
    )
    try:
        service.start()
    except AlreadyRunning as error:
        print(error, file=sys.stderr)  # noqa: T201
        return ALREADY_RUNNING
    except (OSError, RuntimeError) as error:  # each a sentence: the port, the directory, PostgreSQL
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    try:
        _say_ready()
        stop.wait()
    finally:
        service.close()
    return 1 if dead.is_set() else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m oraclerag.local", description="The local database, a stand-in for Oracle."
    )
    parser.add_argument("--data-dir", type=Path, default=default_directory(), metavar="DIR")
    parser.add_argument("--listen", default=LOOPBACK, metavar="ADDRESS", help="an IP address of this machine")
    parser.add_argument("--allow-remote", action="store_true", help=f"other addresses than loopback: {REMOTE_MEANS}")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--max-string-size", choices=("standard", "extended"), default="standard")
    parser.add_argument("--log-statements", type=Path, metavar="FILE", help="statements and row counts, never values")
    options = parser.parse_args(arguments)
    try:
        check_address(options.listen, allow_remote=options.allow_remote)
    except ValueError as error:
        parser.error(f"argument --listen: {error}")
    return options


def _say_ready() -> None:
    """Tell whoever started this, then let go of the pipe: nobody reads it from now on."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
