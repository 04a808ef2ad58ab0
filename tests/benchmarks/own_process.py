"""A local database as a process of its own, started by a module that changes how it embeds."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from oraclerag.local import LocalDatabase

__all__ = ["started_by"]


@contextlib.contextmanager
def started_by(module: str, directory: Path) -> Iterator[LocalDatabase]:
    """Run ``python -m module``, and stop it at the end of the block."""
    command = [sys.executable, "-m", module, "--data-dir", str(directory)]
    directory.mkdir(mode=0o700)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == b"ready\n"
            yield LocalDatabase(directory)
        finally:
            child.terminate()
