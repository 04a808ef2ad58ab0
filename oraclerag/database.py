"""Connections, and the one table that maps Oracle's and the driver's codes to the toolkit's errors.

:class:`Database` gives raw ``oracledb`` connections from whatever the caller has: settings (an own pool), a SQLAlchemy
Engine, or an oracledb pool. It never closes what it did not open and sets nothing in ``oracledb.defaults``.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import oracledb

from oraclerag import errors
from oraclerag.statements import identifier

if TYPE_CHECKING:
    import sqlalchemy

    from oraclerag.config import Settings

__all__ = [
    "INTERRUPTS",
    "Database",
    "binary_order",
    "bind_types",
    "committed",
    "driver_connection",
    "driver_types",
    "execute_counted",
    "in_list",
    "never_connected",
    "own_tables",
    "padded",
    "parts",
    "session_user",
    "translated",
    "words",
]

# ORA and DPY codes → class. Sources: Oracle's error help pages and the driver's list of codes after which a session
# is dead or the error is recoverable.
_CLASSES: dict[type[errors.DatabaseError], tuple[str, ...]] = {
    errors.ConnectionFailed: (
        "ORA-00018", "ORA-00020", "ORA-00022", "ORA-00028", "ORA-00031", "ORA-00045", "ORA-00376",
        "ORA-00378", "ORA-00602", "ORA-00603", "ORA-00609", "ORA-01012", "ORA-01033", "ORA-01034",
        "ORA-01041", "ORA-01043", "ORA-01089", "ORA-01090", "ORA-01092", "ORA-01115", "ORA-02396",
        "ORA-03113", "ORA-03114", "ORA-03122", "ORA-03135", "ORA-12153", "ORA-12514", "ORA-12537",
        "ORA-12541", "ORA-12547", "ORA-12570", "ORA-12571", "ORA-12583", "ORA-12757", "ORA-16456",
        "ORA-27146", "ORA-28511", "ORA-56600", "DPY-1001", "DPY-4000", "DPY-4005", "DPY-4011", "DPY-4024",
        "DPY-4026", "DPY-4027", "DPY-6000", "DPY-6001", "DPY-6002", "DPY-6003", "DPY-6005",
    ),
    errors.LoginFailed: ("ORA-01005", "ORA-01017", "ORA-28000", "ORA-28001", "DPY-4001"),
    errors.PrivilegeMissing: ("ORA-01031", "ORA-01045", "ORA-01950", "ORA-24247", "ORA-29516", "ORA-41900"),
    errors.Contention: (
        "ORA-00054", "ORA-00060", "ORA-01555", "ORA-04020", "ORA-04021", "ORA-08177", "ORA-30006", "ORA-51815",
        "ORA-51817",
    ),
    # tablespaces and quotas; undo and temporary space; memory of the instance
    errors.SpaceExhausted: (
        "ORA-01536", "ORA-01628", "ORA-01650", "ORA-01652", "ORA-01653", "ORA-01654", "ORA-01658", "ORA-01659",
        "ORA-01683", "ORA-01688", "ORA-01691", "ORA-01692", "ORA-04030", "ORA-04031", "ORA-04036", "ORA-12954",
        "ORA-30036", "ORA-51962", "ORA-54467",
    ),
    errors.ParallelDml: ("ORA-12838", "ORA-12839", "ORA-12840"),
}  # fmt: skip
# What connecting ends with, and waiting for a connection of a pool.
_NEVER_CONNECTED = frozenset(
    {
        "ORA-00018", "ORA-00020", "ORA-01033", "ORA-01034", "ORA-01089", "ORA-12153", "ORA-12514", "ORA-12541",
        "DPY-4000", "DPY-4005", "DPY-4026", "DPY-4027", "DPY-6000", "DPY-6001", "DPY-6002", "DPY-6003", "DPY-6005",
    }
)  # fmt: skip
_CONNECTION_ID = re.compile(r" \(CONNECTION_ID=[^)]*\)")
_CLASS_OF = {code: cls for cls, codes in _CLASSES.items() for code in codes}

_Value = TypeVar("_Value")

_KEEPALIVE_MINUTES = 1
_TRIES = 3  # of a transaction that meets a worker's in the other order (ORA-00060)

INTERRUPTS = (KeyboardInterrupt, SystemExit)
"""What a signal raises, between any two steps: maybe in the middle of a call."""

MODEL_MISSING = "ORA-40284"
UNIQUE_VIOLATED = "ORA-00001"
RESOURCE_BUSY = "ORA-00054"
NO_SUCH_TABLE = "ORA-00942"
MAY_NOT_READ = (NO_SUCH_TABLE, "ORA-01031", "ORA-41900")
"""No right to read a table: as if it were not there; since 23ai a message of its own where there is another right."""
BROKEN_DIMENSION = ("ORA-51803", "ORA-51808")
# Conversion errors: since 23ai their text repeats the value that could not be converted, or that was too large. What
# programs raise by themselves may repeat anything; ORA-20000 is left out, for Oracle's own packages say it.
_QUOTES_DATA = frozenset(
    f"ORA-{number:05}"
    for number in (
        1438, 1722, 1830, 1839, 1840, 1841, 1843, 1847, 1850, 1851, 1852, 1858, 1861, 1867, *range(20001, 21000),
    )
)  # fmt: skip


def code_of(error: BaseException) -> str | None:
    """Give ``ORA-nnnnn`` or ``DPY-nnnn`` of a driver error, None for anything else."""
    if isinstance(error, oracledb.Error) and error.args:
        return getattr(error.args[0], "full_code", None) or None
    return None


def never_connected(error: BaseException) -> bool:
    """Whether an error of ours says that there was no connection to begin with, so that nothing else finds one."""
    if isinstance(error, errors.LoginFailed):
        return True
    cause = error.__cause__ if isinstance(error, errors.ConnectionFailed) else None
    return (code_of(cause) if cause is not None else None) in _NEVER_CONNECTED


def words(error: oracledb.Error) -> str:
    """Give the code of a driver error and Oracle's own words, without values of the data.

    Oracle's messages name objects and columns; the few that repeat a value are cut down to their code. The first line
    is enough: the second of ORA-00001 holds the values of the row.
    """
    code = code_of(error) or ""
    if code in _QUOTES_DATA:
        return code
    text, _, rest = (str(error.args[0]) if error.args else str(error)).partition("\n")
    text = _CONNECTION_ID.sub("", text).rstrip(".")
    if rest.startswith("[Errno "):  # the driver puts the operating system's reason on the second line
        text += f": {rest.partition('] ')[2].partition(chr(10))[0]}"
    return text


def translate(error: oracledb.Error) -> errors.OracleRagError:
    """Make the toolkit's error of a driver error; see :func:`words`."""
    code = code_of(error) or ""
    text = words(error)
    if code == MODEL_MISSING:
        return errors.ModelMissing(f"The embedding model is not in the database ({text}).")
    if code in BROKEN_DIMENSION:
        return errors.EmbeddingDimensionMismatch(f"The vector does not fit the column ({text}).")
    cls = _CLASS_OF.get(code, errors.StatementFailed)
    return cls(f"{(cls.__doc__ or '').strip().rstrip('.')} ({text}).")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn driver errors inside the block into the toolkit's, with the driver's as cause.

    SQLAlchemy's wrapping of a driver error is opened first.
    """
    try:
        yield
    except Exception as error:
        original = error if isinstance(error, oracledb.Error) else getattr(error, "orig", None)
        if not isinstance(original, oracledb.Error):
            raise
        raise translate(original) from original


@contextlib.contextmanager
def own_tables() -> Iterator[None]:
    """Like :func:`translated`, for statements on the toolkit's own tables: a missing one is SchemaMissing."""
    try:
        with translated():
            yield
    except errors.StatementFailed as error:
        if error.__cause__ is not None and code_of(error.__cause__) == NO_SUCH_TABLE:
            raise errors.SchemaMissing(
                "The tables of oraclerag are not there, or this user may not use them."
            ) from error.__cause__
        raise


def driver_connection(connection: Any) -> oracledb.Connection:
    """Give the oracledb connection inside a SQLAlchemy Connection or Session, or the connection itself."""
    if isinstance(connection, oracledb.Connection):
        return connection
    asynchronous = hasattr(connection, "sync_connection") or hasattr(connection, "sync_session")
    inner = None if asynchronous else getattr(connection, "connection", None)
    if callable(inner):  # a Session: .connection() gives its Connection and begins its transaction
        inner = inner().connection
    driver = getattr(inner, "driver_connection", None)
    if not isinstance(driver, oracledb.Connection):
        raise errors.InputError(
            f"A SQLAlchemy Connection or Session on oracle+oracledb, or an oracledb connection, is needed, "
            f"not {type(connection).__name__}."
        )
    return driver


@contextlib.contextmanager
def driver_types(connection: oracledb.Connection) -> Iterator[None]:
    """Make a connection give the driver's own types inside the block, whoever opened it.

    SQLAlchemy puts a handler on its connections that turns JSON into text and numbers into Decimal.
    """
    with translated():  # it may be closed
        handler = connection.outputtypehandler
        connection.outputtypehandler = None  # type: ignore[assignment]  # the driver takes None for no handler
    try:
        yield
    finally:
        with contextlib.suppress(oracledb.Error):  # closed meanwhile
            connection.outputtypehandler = handler


def _reset_types(connection: oracledb.Connection, _record: object) -> None:
    connection.outputtypehandler = None  # type: ignore[assignment]  # the driver takes None for no handler


class Database:
    """Gives connections from a SQLAlchemy Engine, an oracledb pool, or settings; the first that is there is used.

    ``schema`` is the owner of the RAG_ tables, upper case: the setting, else the connected user.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        engine: sqlalchemy.Engine | None = None,
        pool: oracledb.ConnectionPool | None = None,
    ) -> None:
        self.settings = settings
        self._engine = engine
        self._pool = pool
        self._own_pool: oracledb.ConnectionPool | None = None
        self._schema = identifier(settings.schema, "schema") if settings.schema else None
        self._guard = threading.Lock()
        self._discarded: set[int] = set()  # ids of connections that are lent

    @property
    def schema(self) -> str:
        """The owner of the RAG_ tables; the database is asked for its user once where no ``schema`` is set."""
        if self._schema is None:
            with self.connect():  # finds it out
                pass
        assert self._schema is not None  # noqa: S101 - see above
        return self._schema

    def schema_on(self, connection: oracledb.Connection) -> str:
        """Give the owner of the RAG_ tables for a borrowed connection: the setting, else that connection's own user.

        It is not remembered: the next connection may be another user's.
        """
        if self.settings.schema:
            return identifier(self.settings.schema, "schema")
        with translated():
            known = connection.username
        # without a name the session was opened by a wallet or the operating system
        return identifier(known, "schema") if known and not known.startswith('"') else session_user(connection)

    @property
    def has_own(self) -> bool:
        """Whether there are connections beside those that callers lend: of an Engine, a pool, or by the settings."""
        return self._engine is not None or self._pool is not None or not _unset(self.settings)

    @contextlib.contextmanager
    def connect(self, *, call_timeout: float = 0.0) -> Iterator[oracledb.Connection]:
        """Lend a connection; what was not committed is rolled back at the end.

        ``call_timeout`` (seconds; 0: none) bounds round trips that nothing else does, neither the setting nor the owner
        of a borrowed connection; what takes longer is ConnectionFailed.
        """
        with self._lent(call_timeout) as connection:
            if self._schema is None:  # inside the block it would need a second one, and a pool may have but one
                self._schema = session_user(connection)
            yield connection

    @contextlib.contextmanager
    def _lent(self, call_timeout: float) -> Iterator[oracledb.Connection]:
        if self._engine is not None:
            with self._engine_connection(self._engine) as connection, _bounded(connection, call_timeout):
                yield connection
            return
        pool = self._pool or self._open_pool()
        with translated():
            connection = pool.acquire()
        try:
            if pool is self._own_pool:  # it holds for the rollback at the end too
                connection.call_timeout = round((self.settings.call_timeout or call_timeout) * 1000)
                yield connection
            else:
                with _bounded(connection, call_timeout):
                    yield connection
        except INTERRUPTS:
            _break_off(pool, connection)
            raise
        finally:
            # release rolls back; a dead connection is dropped by the pool
            end = pool.drop if self._is_discarded(connection) else pool.release
            with contextlib.suppress(oracledb.Error):
                end(connection)

    @contextlib.contextmanager
    def _engine_connection(self, engine: sqlalchemy.Engine) -> Iterator[oracledb.Connection]:
        with translated():
            proxied = engine.raw_connection()
        try:
            connection = driver_connection(_Proxied(proxied))
            try:
                with driver_types(connection):
                    yield connection
            finally:
                if self._is_discarded(connection):
                    proxied.invalidate()
        finally:
            proxied.close()

    @contextlib.contextmanager
    def transaction(self, *, call_timeout: float = 0.0) -> Iterator[oracledb.Connection]:
        """Lend a connection as :meth:`connect` does, and commit at the end of the block; an exception rolls back."""
        with self.connect(call_timeout=call_timeout) as connection:
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(oracledb.Error):
                    connection.rollback()
                raise
            with translated():
                connection.commit()

    def discard(self, connection: oracledb.Connection) -> None:
        """Have a connection that :meth:`connect` has lent closed at the end of its block, and lent to nobody else."""
        with self._guard:
            self._discarded.add(id(connection))

    def _is_discarded(self, connection: oracledb.Connection) -> bool:
        with self._guard:
            found = id(connection) in self._discarded
            self._discarded.discard(id(connection))
        return found

    def sqlalchemy_engine(self) -> sqlalchemy.Engine:
        """Give the caller's Engine, or make one that keeps no connections of its own.

        Without an Engine it opens its connections from the settings, or takes them from the caller's pool.
        """
        if self._engine is not None:
            return self._engine
        import sqlalchemy

        if self._pool is not None:
            open_connection = self._pool.acquire
        else:
            open_connection = functools.partial(oracledb.connect, **connect_arguments(self.settings))
        engine = sqlalchemy.create_engine(
            "oracle+oracledb://", creator=open_connection, poolclass=sqlalchemy.pool.NullPool
        )
        # a pooled connection keeps its handlers: it goes back without SQLAlchemy's
        sqlalchemy.event.listen(engine, "close", _reset_types)
        return engine

    def close(self) -> None:
        """Close the pool that this object opened, if any."""
        with self._guard:
            if self._own_pool is not None:
                self._own_pool.close(force=True)
                self._own_pool = None

    def _open_pool(self) -> oracledb.ConnectionPool:
        with self._guard:
            if self._own_pool is None:
                arguments = connect_arguments(self.settings)
                with translated():
                    self._own_pool = oracledb.create_pool(
                        min=1,
                        max=self.settings.pool_size,
                        increment=1,
                        getmode=oracledb.POOL_GETMODE_TIMEDWAIT,
                        wait_timeout=30_000,
                        session_callback=binary_order,
                        **arguments,
                    )
            return self._own_pool


def binary_order(connection: oracledb.Connection, _tag: str) -> None:
    """Make a new session sort texts as it compares them, whatever language the database has.

    NLS_SORT follows NLS_LANGUAGE, comparisons do not: "the next tenant by name" would leave some out for ever, and no
    index gives that order. Children would have another order in another process, so that texts change without a cause.
    """
    with connection.cursor() as cursor:
        cursor.execute("ALTER SESSION SET NLS_SORT = BINARY")


def session_user(connection: oracledb.Connection) -> str:
    """Give the user of a session, in upper case."""
    with translated(), connection.cursor() as cursor:
        cursor.execute("SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') FROM dual")
        row = cursor.fetchone()
    assert row is not None  # noqa: S101 - dual has one row
    return identifier(row[0], "schema")


@contextlib.contextmanager
def _bounded(connection: oracledb.Connection, seconds: float) -> Iterator[None]:
    """Bound the round trips inside the block, unless they are bounded already or ``seconds`` is 0."""
    with translated():
        bound = seconds and not connection.call_timeout
        if bound:
            connection.call_timeout = round(seconds * 1000)
    try:
        yield
    finally:
        # On a connection that it has dropped, the driver (26.1) ends the process instead of raising an error.
        if bound and connection.is_healthy():
            with contextlib.suppress(oracledb.Error):  # closed meanwhile
                connection.call_timeout = 0


def _break_off(pool: oracledb.ConnectionPool, connection: oracledb.Connection) -> None:
    """Drop a connection that a signal interrupted, maybe in the middle of a call, and have the database end that call.

    python-oracledb before 26 would take the answer of that call for the answer of the next one.
    """
    if connection.is_healthy():  # as in _bounded
        with contextlib.suppress(oracledb.Error, OSError):
            connection.cancel()
    with contextlib.suppress(oracledb.Error):
        pool.drop(connection)


class _Proxied:
    """Shapes SQLAlchemy's pooled connection like a Connection for :func:`driver_connection`."""

    def __init__(self, proxied: Any) -> None:
        self.connection = proxied


def _unset(settings: Settings) -> list[str]:
    """Give the variables of the settings without which there is no connection."""
    needed = {"dsn": "ORACLE_DSN", "user": "ORACLE_USER", "password": "ORACLE_PASSWORD"}
    return [variable for name, variable in needed.items() if getattr(settings, name) is None]


def connect_arguments(settings: Settings) -> dict[str, Any]:
    """Give the keyword arguments for ``oracledb.connect`` and ``create_pool``, or say what is missing.

    A descriptor in the dsn wins over what is added to the settings, as EXPIRE_TIME.
    """
    if missing := _unset(settings):
        raise errors.ConfigurationError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set: there is no database to connect to.",
            hint="Set them, or write [database] in oraclerag.toml; `oraclerag demo` needs none of it.",
        )
    arguments = {
        name: getattr(settings, name)
        for name in ("dsn", "user", "password", "config_dir", "wallet_location", "wallet_password")
    }
    given = {name: value for name, value in arguments.items() if value is not None}
    # A connection that died without a word is found out within minutes, and firewalls keep one that waits for long.
    return {**given, "expire_time": _KEEPALIVE_MINUTES}


def committed(connection: oracledb.Connection, transaction: Callable[[], _Value]) -> _Value:
    """Run a transaction on the toolkit's own tables and commit it; gives what it gives.

    One that meets a worker's in the other order is rolled back and run again, from its beginning; the third time
    Contention is raised.
    """
    attempt = 1
    while True:
        try:
            result = transaction()
            with own_tables():
                connection.commit()
        except errors.Contention:
            with own_tables():
                connection.rollback()
            if attempt == _TRIES:
                raise
            attempt += 1
        else:
            return result


def execute_counted(
    cursor: oracledb.Cursor,
    statement: str,
    rows: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, oracledb.DbType] | None = None,
) -> list[int]:
    """Run a statement of DML for every row of binds; gives how many table rows each of them touched.

    ``kinds`` are the types of binds that their values do not tell. An empty list runs nothing.
    """
    if not rows:
        return []
    # The message by which the driver executes a cached statement once more has no place for "with row counts"
    # (DPY-4006 when they are asked for): a statement that is not cached is executed in full every time. The same text
    # may have been cached where nobody counted, and would be taken from there: this one has a text of its own.
    cursor.prepare(f"{statement} /* counted */", cache_statement=False)
    if kinds:
        cursor.setinputsizes(**kinds)
    cursor.executemany(None, list(rows), arraydmlrowcounts=True)
    return list(cursor.getarraydmlrowcounts())


_MAX_LISTED = 1000  # ORA-01795; later releases take more


def padded(values: Sequence[_Value]) -> list[_Value]:
    """Repeat the last value until the number of values is a power of two, so that few statement texts arise.

    Above 512 it is 1,000, so that what may be one list does not outgrow it.
    """
    size = 1
    while size < len(values):
        size *= 2
    size = max(min(size, _MAX_LISTED), len(values))
    return [*values, *[values[-1]] * (size - len(values))]


def bind_types(binds: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the driver must be told of some binds, for ``cursor.setinputsizes(**…)``; without any, do not call it.

    It would send a time as a DATE, without the fraction of a second, and take a list for an array of PL/SQL.
    """
    types: dict[str, Any] = {}
    for name, value in binds.items():
        if isinstance(value, dt.datetime):
            types[name] = oracledb.DB_TYPE_TIMESTAMP
        elif isinstance(value, list):
            types[name] = oracledb.DB_TYPE_JSON
    return types


def in_list(values: Sequence[Any], prefix: str = "e") -> tuple[str, dict[str, Any]]:
    """Give the inside of ``IN (…)`` for at least one value, padded, with its binds: ``:e0, :e1, …``."""
    binds = {f"{prefix}{number}": value for number, value in enumerate(padded(values))}
    return ", ".join(f":{name}" for name in binds), binds


def parts(values: Sequence[_Value], size: int = 512) -> list[Sequence[_Value]]:
    """Cut a long list into lists that one ``IN (…)`` may hold."""
    return [values[begin : begin + size] for begin in range(0, len(values), size)]
