"""The options of ``worker`` for its page of metrics: where it is, and for several processes, where each has its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from oraclerag.heartbeat import State
    from oraclerag.metrics import Page
    from oraclerag.rag import Rag
    from oraclerag.records import DrainReport

__all__ = ["Metrics"]

_LAST_PORT = 65535


@dataclass(slots=True)
class Metrics:
    """What was asked for; without a ``port`` there is no page. ``coverage`` is how often sources are counted."""

    port: int | None = None
    host: str = "127.0.0.1"
    coverage: float = 3600.0
    _page: Page | None = None

    def for_each(self, count: int) -> Metrics:
        """Look whether there is a port for each of several processes: the first, and those behind it."""
        if self.port is not None and self.port + count - 1 > _LAST_PORT:
            raise typer.BadParameter(
                f"{count} processes need the ports {self.port} to {self.port + count - 1}; the last is {_LAST_PORT}."
            )
        return self

    def options(self, number: int) -> list[str]:
        """Give the options of one of several processes, numbered from 1; the first counts sources for all."""
        if self.port is None:
            return []
        coverage = self.coverage if number == 1 else 0
        return [
            f"--metrics-port={self.port + number - 1}",
            f"--metrics-host={self.host}",
            f"--metrics-coverage={coverage}",
        ]

    def serve(self, rag: Rag, stack: contextlib.ExitStack) -> None:
        """Serve the page of this process until the stack ends, if that was asked for."""
        if self.port is None:
            return
        from oraclerag import __version__
        from oraclerag.metrics import Address, served

        address = Address(self.host, self.port)
        self._page = stack.enter_context(
            served(rag.settings, rag.sources, address, version=__version__, coverage_every=self.coverage)
        )

    def batch(self, report: DrainReport) -> None:
        """Take note that a batch, or a look at an empty queue, has ended."""
        if self._page is not None:
            self._page.looked(worked=bool(report.claimed))

    def beat(self, state: State) -> None:
        """Take note of what the worker does."""
        if self._page is not None:
            self._page.beat(state)
