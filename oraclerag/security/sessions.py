"""A connection reads for one tenant: set before the first read, cleared before anybody else gets the connection."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import oracledb

from oraclerag import log
from oraclerag.database import INTERRUPTS, Database, driver_connection, driver_types, own_tables, words
from oraclerag.errors import DatabaseError, PrivilegeMissing
from oraclerag.security.policies import not_executable, policies
from oraclerag.statements import Statements

__all__ = ["KNOWN_SECONDS", "reading", "scoped", "writing"]

_log = logging.getLogger(__name__)

KNOWN_SECONDS = 30.0
"""How long a process trusts what it read of the policies; until then one that is new lets it read nothing."""


@dataclass(slots=True)
class _Known:
    """What is known of the schemas of one Database: whether there are policies, and when that was read."""

    schemas: dict[str, tuple[bool, float]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


_KNOWN: weakref.WeakKeyDictionary[Database, _Known] = weakref.WeakKeyDictionary()
_GUARD = threading.Lock()


@contextlib.contextmanager
def reading(
    database: Database, tenant: str | None, connection: Any = None
) -> Iterator[tuple[oracledb.Connection, str]]:
    """Lend a connection that reads for ``tenant``, with the owner of its tables; see :func:`scoped`.

    It is ``connection`` where a caller has lent one (of SQLAlchemy or oracledb), which gives the driver's own types
    inside the block.
    """
    if connection is None:
        with database.connect() as own, scoped(database, own, database.schema, tenant):
            yield own, database.schema
        return
    inner = driver_connection(connection)
    schema = database.schema_on(inner)
    with driver_types(inner), scoped(database, inner, schema, tenant, borrowed=connection):
        yield inner, schema


@contextlib.contextmanager
def writing(database: Database, tenant: str | None, *, call_timeout: float = 0.0) -> Iterator[oracledb.Connection]:
    """Lend a connection that reads and writes for ``tenant``, and commit at the end; an exception rolls back.

    ``call_timeout`` is as in :meth:`oraclerag.database.Database.connect`.
    """
    with (
        database.transaction(call_timeout=call_timeout) as connection,
        scoped(database, connection, database.schema, tenant),
    ):
        yield connection


@contextlib.contextmanager
def scoped(
    database: Database, connection: oracledb.Connection, schema: str, tenant: str | None, *, borrowed: Any = None
) -> Iterator[None]:
    """Let ``connection`` see the rows of ``tenant`` inside the block, and none behind it, where row security stands.

    Elsewhere nothing is sent; whether it stands is looked at every :data:`KNOWN_SECONDS`. ``borrowed`` is what a caller
    has lent, the connection or what SQLAlchemy has around it. A connection that cannot be cleared is closed and never
    lent again; where it was borrowed, that is an error. Nothing is committed. Raises PrivilegeMissing where the user
    may not execute the package.
    """
    if not _installed(database, connection, schema):
        yield
        return
    statements = Statements("security", schema)
    try:
        _set(connection, statements["set_scope"], schema, tenant)
    except PrivilegeMissing:  # nothing is set
        raise
    except BaseException:
        _give_up(database, connection, borrowed)
        raise
    try:
        yield
    except INTERRUPTS:  # maybe in the middle of a call: no further one has a defined answer
        _give_up(database, connection, borrowed)
        raise
    except BaseException:
        _end(database, connection, statements["clear_scope"], borrowed, failed=True)
        raise
    else:
        _end(database, connection, statements["clear_scope"], borrowed, failed=False)


def _installed(database: Database, connection: oracledb.Connection, schema: str) -> bool:
    with _GUARD:
        known = _KNOWN.setdefault(database, _Known())
    with known.guard:
        found, at = known.schemas.get(schema, (False, None))
    if at is not None and time.monotonic() - at < KNOWN_SECONDS:
        return found
    found = any(policy.enabled for policy in policies(connection, schema).values())
    with known.guard:
        known.schemas[schema] = (found, time.monotonic())
    return found


def _set(connection: oracledb.Connection, statement: str, schema: str, tenant: str | None) -> None:
    try:
        with connection.cursor() as cursor, own_tables():
            cursor.execute(statement, tenant_id=tenant)
    except DatabaseError as error:
        if error.__cause__ is not None and not_executable(error.__cause__):
            raise PrivilegeMissing(
                f"Row security stands on the tables in {schema}, and this database user may not say for which tenant "
                f"it reads ({schema}.RAG_SCOPE).",
                hint=f"GRANT EXECUTE ON {schema}.RAG_SCOPE TO the user, or to a role that it has.",
            ) from error.__cause__
        raise


def _end(database: Database, connection: oracledb.Connection, statement: str, borrowed: Any, *, failed: bool) -> None:
    """Clear the scope; where that fails, see that nobody reads on with it. ``failed``: an error is on its way."""
    if connection.is_healthy():  # else its session is gone, and the driver may not be asked for more
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
            return
        except INTERRUPTS:
            _give_up(database, connection, borrowed)
            raise
        except oracledb.Error as error:
            reason: oracledb.Error | None = error
    else:
        reason = None
    _give_up(database, connection, borrowed)
    why = f" ({words(reason)})" if reason is not None else ""
    if borrowed is not None and not failed:
        raise DatabaseError(
            f"The tenant for which this connection reads could not be cleared{why}; it was closed.",
            hint="Take a new connection, and do not give this one back to a pool.",
        ) from reason
    log.event(
        _log, logging.WARNING, "scope_not_cleared",
        f"The tenant for which a connection reads could not be cleared{why}; the connection was closed.",
    )  # fmt: skip


def _give_up(database: Database, connection: oracledb.Connection, borrowed: Any) -> None:
    """Close a connection for good: drop it from our pool, or take a borrowed one from its owner's."""
    if borrowed is None:
        database.discard(connection)
        return
    owner = borrowed
    if callable(getattr(owner, "connection", None)):  # a Session
        owner = owner.connection()
    with contextlib.suppress(Exception):  # it may be closed already, which is what is wanted
        if hasattr(owner, "invalidate"):
            owner.invalidate()
        else:
            owner.close()
