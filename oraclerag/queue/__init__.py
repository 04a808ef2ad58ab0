"""The queue as people see it: what waits, what failed and why, begin again, tidy up. Nothing here is a worker's."""

from __future__ import annotations

from oraclerag.queue.choice import Choice
from oraclerag.queue.glance import Glance, Waiting, glance
from oraclerag.queue.listing import ErrorGroup, QueueRow, errors, rows
from oraclerag.queue.status import Backlog, Lag, PausedSource, QueueState, QueueStatus, status
from oraclerag.queue.upkeep import PurgeReport, RetryReport, compact, purge, retry

__all__ = [
    "Backlog",
    "Choice",
    "ErrorGroup",
    "Glance",
    "Lag",
    "PausedSource",
    "PurgeReport",
    "QueueRow",
    "QueueState",
    "QueueStatus",
    "RetryReport",
    "Waiting",
    "compact",
    "errors",
    "glance",
    "purge",
    "retry",
    "rows",
    "status",
]
