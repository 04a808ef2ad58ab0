"""Faults of our own: what the client is told and what the log says, neither with values."""

from __future__ import annotations

import logging
import traceback

from oraclerag.local.interface import OraError

logger = logging.getLogger(__name__)


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
