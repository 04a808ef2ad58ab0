"""Errors on their way to the client; of faults of our own neither client nor log sees values."""

from __future__ import annotations

import logging
import traceback

from oraclerag.local.interface import OraError

logger = logging.getLogger(__name__)

CANCELLED = 1013
CANCELLED_TEXT = "user requested cancel of current operation"


class StatementError(Exception):
    """An error of a call with what the client is told beside it: cursor and rows done before.

    ``fatal`` says that the request could not be read to its end, so the connection must end.
    """

    def __init__(self, error: OraError, cursor: int, rows: int = 0, *, fatal: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.cursor = cursor
        self.rows = rows
        self.fatal = fatal


def as_ora_error(error: Exception) -> OraError:
    """Give the error a client sees: an :class:`OraError` as it is, anything else as ORA-00604.

    A fault is logged with the places it came through and told by its kind, never by its text, which may hold values.
    """
    if isinstance(error, OraError):
        return error
    report(error)
    kind = type(error).__name__
    return OraError(604, f"Error occurred at recursive SQL level 1. Check subsequent errors.\nlocal database: {kind}")


def report(error: Exception) -> None:
    """Log a fault without its text."""
    places = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s in a session\n%s", type(error).__name__, places)
