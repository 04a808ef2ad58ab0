"""One Oracle session on one PostgreSQL connection: statements, transactions, settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from psycopg import OperationalError
from psycopg.conninfo import make_conninfo
from psycopg.pq.abc import PGresult

from oraclerag.local.engine import control
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.commands import Cancelled, Command, ConnectionLost, PgError, Statement
from oraclerag.local.engine.errors import Context, ora_error
from oraclerag.local.engine.execution import Executor
from oraclerag.local.engine.long_names import LongNames, written
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.plan import Access, Names, Plan
from oraclerag.local.engine.privileges import Rights
from oraclerag.local.engine.reader import literal
from oraclerag.local.engine.same_names import apart, differ
from oraclerag.local.engine.session_settings import Environment, SessionSettings, connection_options
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import (
    BindType,
    BlockResult,
    Client,
    Column,
    DmlResult,
    OraError,
    Rows,
    StatementKind,
    StatementShape,
)

if TYPE_CHECKING:
    from oraclerag.local.engine.database import Database

_DDL_WAIT = "300ms"  # a table in use: longer than PostgreSQL needs to send a vacuum away, short for a person
_LOCK_NOT_AVAILABLE = "55P03"
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE"})


class Session:
    """Implements :class:`oraclerag.local.interface.EngineSession` and :class:`oraclerag.local.engine.host.Host`.

    A transaction of PostgreSQL is begun when the first statement needs one; queries outside it leave none open.
    """

    def __init__(self, database: Database, user: str, client: Client) -> None:
        self.user = user
        self.schema = user
        self.max_string_size = database.max_string_size
        self.models = database.models
        self.rights = Rights(user, database.dictionary)
        self._database = database
        options = connection_options(user, self.max_string_size)
        try:
            self._connection = Connection(make_conninfo(database.conninfo, options=options), client)
        except ConnectionLost as error:
            if "too many clients" in str(error):
                raise OraError(20, "maximum number of processes exceeded") from None
            if "the database system is" in str(error):  # starting up, in recovery, shutting down
                raise OraError(1033, "ORACLE initialization or shutdown in progress") from None
            raise OraError(1034, "The Oracle instance is not available for use.") from None
        environment = Environment(self.max_string_size)
        self._executor = Executor(user, self._connection, database.dictionary, database.embedder, environment)
        self._settings = SessionSettings(self._connection, environment)
        self._catalog_touched = False
        self._probing: str | None = None
        self._savepoints: list[str] = []  # of the client, in order; PostgreSQL would find a moved one where it was
        self.depth = 0  # of calls inside one another

    @property
    def in_transaction(self) -> bool:
        """Whether there is uncommitted work."""
        return not self._connection.idle

    @property
    def long_names(self) -> LongNames:
        """The way back from what stands for a long name in PostgreSQL."""
        return self._database.dictionary.long_names

    @property
    def names(self) -> Names:
        """Catalog questions for translation, in this session's schema."""
        return self._database.names(self.schema, self.rights)

    def definer_names(self, owner: str) -> Names:
        """Catalog questions for what runs with the rights of its owner."""
        return self._database.names(self.schema, Rights(owner, self._database.dictionary, definer=True))

    def shape(self, sql: str) -> StatementShape:
        """Tell kind and binds of a statement."""
        return self._database.statement_shape(sql)

    def describe(self, sql: str) -> tuple[Column, ...]:
        """Parse and describe a query without running it."""
        with self._call(sql):
            return self._executor.describe(self._plan(sql, StatementKind.QUERY))

    def query(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> Rows:
        """Run a query."""
        with self._call(sql) as context:
            plan = self._plan(sql, StatementKind.QUERY)
            if plan.locks:
                self._probing = None
            names = self.shape(sql).binds if plan.parameters else ()
            if differ(names, (binds,)):
                return self.query(apart(sql), binds, types)
            return self._executor.query(plan, names, binds, types, context)

    def values(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> list[tuple[Any, ...]]:
        """Run an Oracle query to its end and give its rows as Python values."""
        with self._call(sql) as context:
            plan = self._plan(sql, StatementKind.QUERY)
            if plan.locks:
                self._probing = None
            return self._executor.query(plan, self.shape(sql).binds, binds, types, context).values()

    def dml(
        self,
        sql: str,
        rows: Sequence[Sequence[Any]],
        types: Sequence[BindType],
        *,
        batch_errors: bool = False,
    ) -> DmlResult:
        """Run an INSERT, UPDATE, DELETE or MERGE once per bind row.

        An error of the first row is raised; one of a later row comes in the result, as the rows before it stay done.
        """
        if not rows:
            return DmlResult()
        with self._call(sql) as context:
            plan = self._plan(sql, StatementKind.DML)
            self._probing = None
            shape = self.shape(sql)
            names = shape.binds if shape.returning is None else shape.binds[: shape.returning]
            if differ(names, rows):
                return self.dml(apart(sql), rows, types, batch_errors=batch_errors)
            result = self._executor.dml(plan, names, rows, types, context, batch_errors=batch_errors)
        if len(result.errors) > 1:
            self._database.touched.happened("executemany-errors", sql)
        return result

    def block(self, sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType]) -> BlockResult:
        """Run an anonymous PL/SQL block or CALL once per bind row."""
        from oraclerag.local.engine.plsql import run_block

        with self._call(sql):
            return run_block(sql, rows, types, self)

    def run(self, sql: str) -> None:
        """Run a statement without binds and result."""
        with self._call(sql):
            statement = control.read(sql)
            match statement:
                case control.Commit():
                    self.commit()
                case control.Rollback(None):
                    self.rollback()
                case control.Rollback(str(name)):
                    self._rollback_to_oracle(name)
                case control.Savepoint(name):
                    self._probing = None
                    self._begin()
                    self._connection.simple(f"SAVEPOINT {quote(name)}".encode())
                    if name in self._savepoints:  # it moves
                        self._savepoints.remove(name)
                    self._savepoints.append(name)
                case control.SetTransaction():
                    self._set_transaction(statement)
                case control.LockTable():
                    self._lock_table(statement)
                case control.AlterSession(settings):
                    for name, value in settings:
                        if name == "CURRENT_SCHEMA":
                            self.set_schema(value)
                        else:
                            self._settings.alter(name, value)
                case None:
                    from oraclerag.local.engine.ddl import run_ddl

                    run_ddl(sql, self)

    def commit(self) -> None:
        """Commit."""
        with self._call("COMMIT"):
            if self._connection.idle:
                return
            try:
                self._connection.simple(b"COMMIT")
                self._settings.committed()
            except PgError as error:
                self._settings.rolled_back()
                cause = ora_error(error, Context(schema=self.schema), self.long_names)
                raise OraError(2091, f"transaction rolled back\n{cause}") from None
            finally:
                self._end_transaction()

    def rollback(self) -> None:
        """Roll back."""
        with self._call("ROLLBACK"):
            if not self._connection.idle:
                self._connection.simple(b"ROLLBACK")
                self._end_transaction()
                self._settings.rolled_back()

    def set_schema(self, name: str) -> None:
        """Make ``name`` the current schema; ORA-01435 when there is no such user."""
        if self._database.password(name) is None:
            raise OraError(1435, "user does not exist")
        with self._call("ALTER SESSION"):
            self._settings.set_schema(name)
        self.schema = name

    def close(self) -> None:
        """Roll back and give up the connection."""
        self._connection.close()

    def ask(self, statement: str, *parameters: str | bytes | int | None) -> list[tuple[Any, ...]]:
        """Run one PostgreSQL statement of the engine's own and give its rows."""
        values = [str(value).encode() if isinstance(value, str | int) else value for value in parameters]
        formats = [int(isinstance(value, bytes)) for value in parameters]
        oids = [pg.BYTEA if isinstance(value, bytes) else 0 for value in parameters]
        command = Statement(statement.encode(), values, oids, formats, result_format=0)
        with self._call(statement):
            size = sum(len(value) for value in values if value)
            if self._connection.idle:
                result = self._connection.pipeline([command], size=size)[0]
            else:
                result = self._connection.guarded([command], size=size)[0]
            if (result.command_status or b"").split(b" ")[0].decode() in _WRITES:
                self._probing = None
                self._database.dictionary.changed()
                self._catalog_touched = not self._connection.idle
            return _text_rows(result, self.long_names.name)

    def heed_client(self) -> None:
        """Raise ORA-01013 when the client asks to stop: for work that waits for no statement."""
        with self._call(""):
            self._connection.heed_client()

    def change(self, statements: Sequence[str]) -> None:
        """Run the PostgreSQL statements of one DDL statement in one transaction of their own."""
        self.commit()
        with self._call("", ddl=statements):
            text = f"BEGIN; SET LOCAL lock_timeout = '{_DDL_WAIT}'; {'; '.join(_with_names(statements))}; COMMIT"
            try:
                self._connection.simple(text.encode(), stoppable=True)
            except (PgError, Cancelled) as error:
                if isinstance(error, PgError) and error.state == _LOCK_NOT_AVAILABLE:
                    self._database.touched.happened("ddl-readers", statements[0])
                if not self._connection.idle:
                    self._connection.forget_interrupt()
                    self._connection.simple(b"ROLLBACK")
                raise
            finally:
                self._database.dictionary.changed()

    def begin(self) -> None:
        """Begin a transaction if none is open."""
        with self._call("BEGIN"):
            self._probing = None
            self._begin()

    def savepoint(self, name: str) -> None:
        """Set a savepoint of the engine's own."""
        with self._call("SAVEPOINT"):
            if self._connection.idle:
                self._begin()
                self._probing = name
            self._connection.simple(f"SAVEPOINT {quote(name)}".encode())

    def rollback_to(self, name: str) -> None:
        """Roll back to it, keeping it."""
        with self._call("ROLLBACK"):
            if not self._connection.idle:
                self._connection.simple(f"ROLLBACK TO SAVEPOINT {quote(name)}".encode())

    def release(self, name: str) -> None:
        """Forget it; a transaction that was begun for it alone and did nothing ends with it."""
        with self._call("COMMIT"):
            if self._connection.idle:
                return
            self._connection.simple(f"RELEASE SAVEPOINT {quote(name)}".encode())
            if self._probing == name:
                self.commit()

    def _call(self, sql: str, *, ddl: Sequence[str] | None = None) -> _Call:
        """Turn whatever goes wrong inside into an OraError."""
        return _Call(self, Context(ddl[0] if ddl else sql, self.schema, ddl is not None))

    def leave_call(self) -> None:
        """End a call, or one inside another."""
        self.depth -= 1
        if not self.depth:
            # A wish to stop concerns the client's whole call, a PL/SQL block with all its statements.
            self._connection.forget_interrupt()

    def _plan(self, sql: str, kind: StatementKind) -> Plan:
        plan = self._database.plan(sql, self.schema, self.rights)
        if plan.kind is not kind:
            raise OraError(900, "invalid SQL statement")
        return plan

    def _begin(self) -> None:
        if self._connection.idle:
            self._connection.simple(b"BEGIN")

    def _end_transaction(self) -> None:
        self._executor.transaction_ended()
        self._savepoints.clear()
        self._probing = None
        if self._catalog_touched:
            self._catalog_touched = False
            self._database.dictionary.changed()

    def _rollback_to_oracle(self, name: str) -> None:
        missing = OraError(1086, f"savepoint '{name}' never established in this session or is invalid")
        if self._connection.idle or name not in self._savepoints:
            raise missing
        del self._savepoints[self._savepoints.index(name) + 1 :]
        try:
            # A statement of its own inside a savepoint, since a failure would abort the transaction.
            self._connection.simple(b"SAVEPOINT s")
            self._connection.simple(f"ROLLBACK TO SAVEPOINT {quote(name)}".encode())
        except PgError as error:
            self._connection.undo()
            self._connection.simple(b"RELEASE s")
            if error.state == "3B001":
                raise missing from None
            raise
        self._settings.rolled_back()

    def _set_transaction(self, statement: control.SetTransaction) -> None:
        if not self._connection.idle:
            raise OraError(1453, "SET TRANSACTION must be first statement of transaction")
        text = "BEGIN"
        if statement.serializable is not None:
            text += " ISOLATION LEVEL " + ("REPEATABLE READ" if statement.serializable else "READ COMMITTED")
        self._connection.simple((text + (" READ ONLY" if statement.read_only else "")).encode())

    def _lock_table(self, statement: control.LockTable) -> None:
        schema = statement.schema or self.schema
        self.rights.permit([Access(schema, statement.table, "LOCK")])
        self._probing = None
        self._begin()
        text = f"LOCK TABLE {quote(schema)}.{quote(statement.table)} IN {statement.mode} MODE"
        commands = [text + (" NOWAIT" if statement.wait == 0 else "")]
        if statement.wait:
            commands = [f"SET LOCAL lock_timeout = '{statement.wait}s'", text, "SET LOCAL lock_timeout TO DEFAULT"]
        self._connection.guarded([_text(command) for command in commands])


class _Call:
    """What :meth:`Session._call` gives; a class, because a generator costs every short call more than it does."""

    __slots__ = ("_context", "_session")

    def __init__(self, session: Session, context: Context) -> None:
        self._session = session
        self._context = context

    def __enter__(self) -> Context:
        self._session.depth += 1
        return self._context

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.leave_call()
        if error is None:
            return
        if isinstance(error, PgError):
            raise ora_error(error, self._context, self._session.long_names) from None
        if isinstance(error, Cancelled):
            raise OraError(1013, "user requested cancel of current operation") from None
        if isinstance(error, ConnectionLost | OperationalError):
            raise OraError(3113, "end-of-file on communication channel") from None
        if isinstance(error, RecursionError):
            raise OraError(3001, "unimplemented feature: statements nested this deeply") from None


def _with_names(statements: Sequence[str]) -> list[str]:
    """Have the long names in the statements of DDL remembered in its transaction."""
    rows = ", ".join(f"({literal(digest)}, {literal(name)})" for digest, name in sorted(written(statements).items()))
    kept = [f"INSERT INTO ora.long_names (stored, name) VALUES {rows} ON CONFLICT DO NOTHING"] if rows else []
    return [*kept, *statements]


def _text(statement: str) -> Command:
    return Statement(statement.encode(), (), (), ())


_READERS: dict[int, Callable[[str], Any]] = {
    pg.BOOL: lambda text: text == "t",
    pg.BYTEA: lambda text: bytes.fromhex(text[2:]),
    **dict.fromkeys(pg.INTEGERS, int),
}


def _text_rows(result: PGresult, name: Callable[[str], str]) -> list[tuple[Any, ...]]:
    readers = [_READERS.get(result.ftype(place), name) for place in range(result.nfields)]
    rows = []
    for row in range(result.ntuples):
        cells = ((result.get_value(row, place), read) for place, read in enumerate(readers))
        rows.append(tuple(None if cell is None else read(cell.decode()) for cell, read in cells))
    return rows
