"""Connections, and the one table that maps Oracle's and the driver's codes to the toolkit's errors.

:class:`Database` gives raw ``oracledb`` connections from whatever the caller has: settings (an own pool), a SQLAlchemy
Engine, or an oracledb pool. It never closes what it did not open and sets nothing in ``oracledb.defaults``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import oracledb

from oraclerag import errors
from oraclerag.statements import identifier

if TYPE_CHECKING:
    import sqlalchemy

    from oraclerag.config import Settings

__all__ = ["Database", "driver_connection", "translated"]

# ORA and DPY codes → class. Sources: Oracle's error help pages and the driver's list of codes after which a session
# is dead or the error is recoverable.
_CLASSES: dict[type[errors.DatabaseError], tuple[str, ...]] = {
    errors.ConnectionFailed: (
        "ORA-00022", "ORA-00028", "ORA-00031", "ORA-00045", "ORA-00376", "ORA-00378", "ORA-00602", "ORA-00603",
        "ORA-00609", "ORA-01012", "ORA-01033", "ORA-01034", "ORA-01041", "ORA-01043", "ORA-01089", "ORA-01090",
        "ORA-01092", "ORA-01115", "ORA-02396", "ORA-03113", "ORA-03114", "ORA-03122", "ORA-03135", "ORA-12153",
        "ORA-12514", "ORA-12537", "ORA-12541", "ORA-12547", "ORA-12570", "ORA-12571", "ORA-12583", "ORA-12757",
        "ORA-16456", "ORA-27146", "ORA-28511", "ORA-56600",
        "DPY-1001", "DPY-4000", "DPY-4005", "DPY-4011", "DPY-4024", "DPY-4026", "DPY-4027", "DPY-6000", "DPY-6001",
        "DPY-6002", "DPY-6003", "DPY-6005",
    ),
    errors.LoginFailed: ("ORA-01005", "ORA-01017", "ORA-01045", "ORA-28000", "ORA-28001", "DPY-4001"),
    errors.PrivilegeMissing: ("ORA-01031", "ORA-24247", "ORA-29516", "ORA-41900"),
    errors.Contention: ("ORA-00054", "ORA-00060", "ORA-08177", "ORA-30006", "ORA-51815", "ORA-51817"),
    errors.SpaceExhausted: ("ORA-01536", "ORA-01652", "ORA-01653", "ORA-01654", "ORA-12954", "ORA-51962"),
}  # fmt: skip
_CLASS_OF = {code: cls for cls, codes in _CLASSES.items() for code in codes}

MODEL_MISSING = "ORA-40284"
NO_SUCH_TABLE = "ORA-00942"
BROKEN_DIMENSION = ("ORA-51803", "ORA-51808")


def code_of(error: BaseException) -> str | None:
    """Give ``ORA-nnnnn`` or ``DPY-nnnn`` of a driver error, None for anything else."""
    if isinstance(error, oracledb.Error) and error.args:
        return getattr(error.args[0], "full_code", None) or None
    return None


def translate(error: oracledb.Error) -> errors.OracleRagError:
    """Make the toolkit's error of a driver error; the text holds the code and Oracle's own words.

    Oracle's messages name objects and columns, never values of ours; the first line is enough.
    """
    code = code_of(error) or ""
    text = str(error.args[0]).partition("\n")[0] if error.args else str(error)
    if code == MODEL_MISSING:
        return errors.ModelMissing(f"The embedding model is not in the database ({text}).")
    if code in BROKEN_DIMENSION:
        return errors.EmbeddingDimensionMismatch(f"The vector does not fit the column ({text}).")
    cls = _CLASS_OF.get(code, errors.StatementFailed)
    return cls(f"{(cls.__doc__ or '').strip().rstrip('.')} ({text}).")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn driver errors inside the block into the toolkit's, with the driver's as cause."""
    try:
        yield
    except oracledb.Error as error:
        raise translate(error) from error


def driver_connection(connection: Any) -> oracledb.Connection:
    """Give the oracledb connection inside a SQLAlchemy Connection or Session, or the connection itself."""
    if isinstance(connection, oracledb.Connection):
        return connection
    inner = connection.connection
    if callable(inner):  # a Session: .connection() gives its Connection and begins its transaction
        inner = inner().connection
    driver = getattr(inner, "driver_connection", None)
    if not isinstance(driver, oracledb.Connection):
        raise errors.InputError(
            f"A SQLAlchemy Connection or Session on oracle+oracledb, or an oracledb connection, is needed, "
            f"not {type(connection).__name__}."
        )
    return driver


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

    @property
    def schema(self) -> str:
        """The owner of the RAG_ tables; asked once where neither ``schema`` nor ``user`` is set."""
        if self._schema is None:
            with self.connect() as connection, connection.cursor() as cursor, translated():
                cursor.execute("SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') FROM dual")
                row = cursor.fetchone()
                assert row is not None  # noqa: S101 - dual has one row
                self._schema = identifier(row[0], "schema")
        return self._schema

    @contextlib.contextmanager
    def connect(self) -> Iterator[oracledb.Connection]:
        """Lend a connection; what was not committed is rolled back at the end."""
        if self._engine is not None:
            with self._engine_connection(self._engine) as connection:
                yield connection
            return
        pool = self._pool or self._open_pool()
        with translated():
            connection = pool.acquire()
        try:
            if self.settings.call_timeout:
                connection.call_timeout = round(self.settings.call_timeout * 1000)
            yield connection
        finally:
            # release rolls back; a dead connection is dropped by the pool
            with contextlib.suppress(oracledb.Error):
                pool.release(connection)

    @contextlib.contextmanager
    def _engine_connection(self, engine: sqlalchemy.Engine) -> Iterator[oracledb.Connection]:
        with translated():
            proxied = engine.raw_connection()
        try:
            yield driver_connection(_Proxied(proxied))
        finally:
            proxied.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[oracledb.Connection]:
        """Lend a connection and commit at the end of the block; an exception rolls back."""
        with self.connect() as connection:
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(oracledb.Error):
                    connection.rollback()
                raise
            with translated():
                connection.commit()

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
                        **arguments,
                    )
            return self._own_pool


class _Proxied:
    """Shapes SQLAlchemy's pooled connection like a Connection for :func:`driver_connection`."""

    def __init__(self, proxied: Any) -> None:
        self.connection = proxied


def connect_arguments(settings: Settings) -> dict[str, Any]:
    """Give the keyword arguments for ``oracledb.connect`` and ``create_pool``, or say what is missing."""
    missing = [
        (name, env)
        for name, env in (("dsn", "ORACLE_DSN"), ("user", "ORACLE_USER"), ("password", "ORACLE_PASSWORD"))
        if getattr(settings, name) is None
    ]
    if missing:
        raise errors.ConfigurationError(
            f"{', '.join(env for _, env in missing)} {'is' if len(missing) == 1 else 'are'} not set: "
            f"there is no database to connect to.",
            hint="Set them, or write [database] in oraclerag.toml; `oraclerag demo` needs none of it.",
        )
    arguments = {
        name: getattr(settings, name)
        for name in ("dsn", "user", "password", "config_dir", "wallet_location", "wallet_password")
    }
    return {name: value for name, value in arguments.items() if value is not None}


def placeholders(count: int, prefix: str = "id") -> Sequence[str]:
    """Give ``:id0, :id1, …``, the count padded to the next power of two so that few statement texts arise."""
    size = 1
    while size < count:
        size *= 2
    return [f":{prefix}{n}" for n in range(size)]
