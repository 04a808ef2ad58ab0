"""How a statement of DDL is run: changes of the table that are under way are waited for, and it takes what it takes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import oracledb

from oraclerag.database import RESOURCE_BUSY, code_of

__all__ = ["SECONDS", "run", "unhurried"]

SECONDS = 120.0
"""How long changes are waited for."""

_LOCK_SECONDS = 10  # per try, in the queue for the table's lock
_PAUSE = 0.5


def run(connection: oracledb.Connection, statement: str) -> None:
    """Run a statement of DDL; changes of the table that are under way are waited for."""
    end = time.monotonic() + SECONDS
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER SESSION SET DDL_LOCK_TIMEOUT = {_LOCK_SECONDS}")
        try:
            while True:
                try:
                    cursor.execute(statement)
                    return
                except oracledb.DatabaseError as error:
                    if code_of(error) != RESOURCE_BUSY or time.monotonic() >= end:
                        raise
                time.sleep(_PAUSE)
        finally:
            with contextlib.suppress(oracledb.Error):  # the connection may be gone
                cursor.execute("ALTER SESSION SET DDL_LOCK_TIMEOUT = 0")


@contextlib.contextmanager
def unhurried(connection: oracledb.Connection) -> Iterator[None]:
    """Let a build take as long as it does: the bound of round trips is meant for searches and batches."""
    bound = connection.call_timeout
    connection.call_timeout = 0
    try:
        yield
    finally:
        if connection.is_healthy():  # on one that it has dropped, the driver (26.1) ends the process
            connection.call_timeout = bound
