"""PostgreSQL clusters of tests in this process: made once, copied for whoever needs a new one."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag.local.engine.postgres import Cluster

__all__ = ["copied_clusters", "made_anew"]

_initialise: Callable[[Cluster, Any], None] = Cluster._initialise


@pytest.fixture(scope="session", autouse=True)
def copied_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a cluster begin as a copy of the first one of this worker, with its catalog: initdb takes a second of CPU.

    Processes of their own make theirs by themselves.
    """
    template: list[Path] = []

    def copy(cluster: Cluster, _server: Any) -> None:
        if not template:
            template.append(_made(tmp_path_factory.mktemp("template") / "postgres"))
        cluster.directory.mkdir(mode=0o700, exist_ok=True)
        subprocess.run(["cp", "-a", f"{template[0]}/.", str(cluster.directory)], check=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "_initialise", copy)
        yield


def _made(directory: Path) -> Path:
    with made_anew():
        cluster = Cluster(directory)
        cluster.start()
        cluster.stop()
    for left in ("log", ".handle_pids.json"):
        (directory / left).unlink(missing_ok=True)
    return directory


@contextlib.contextmanager
def made_anew() -> Iterator[None]:
    """Within this, clusters are made as users' are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "_initialise", _initialise)
        yield
