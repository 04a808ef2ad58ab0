"""Runs statements: execute, execute again, fetch; queries, DML, PL/SQL and the rest.

Every request is read to its end before anything is run, so that an error leaves the stream in step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from oraclerag.local.interface import EngineSession, OraError, OraType, StatementKind
from oraclerag.local.wire import type_questions
from oraclerag.local.wire.binds import (
    BindInfo,
    Raw,
    convert_rows,
    read_bind_infos,
    read_bind_rows,
    read_rows,
    reading_order,
)
from oraclerag.local.wire.capabilities import Dialect
from oraclerag.local.wire.cursors import Cursor, CursorTable
from oraclerag.local.wire.describe import put_describe, put_row_header
from oraclerag.local.wire.faults import CANCELLED, StatementError, as_ora_error
from oraclerag.local.wire.lobs import LobTable
from oraclerag.local.wire.messages import put_error, put_row_counts
from oraclerag.local.wire.packets import Abandoned, Closed
from oraclerag.local.wire.primitives import Reader
from oraclerag.local.wire.requests import ExecuteFlag, ExecuteRequest, Option, read_again, read_execute, read_fetch
from oraclerag.local.wire.results import put_directions, put_outs, put_returned
from oraclerag.local.wire.statement_log import Trip

_NO_MORE_ROWS = 1403
_ARRAY_ERRORS = 24381
# Members as module constants: to look one up in its enumeration is felt in a short call.
_PARSE, _EXECUTE, _FETCH = int(Option.PARSE), int(Option.EXECUTE), int(Option.FETCH)
_COMMIT, _DESCRIBE = int(Option.COMMIT), int(Option.DESCRIBE)
_QUERY, _DML = StatementKind.QUERY, StatementKind.DML


class Statements:
    """The statements of one session.

    ``before_run`` is called when a request was read and before the engine is asked, ``after_read`` with the size of the
    response when that of a query is ready; they may raise an :class:`OraError` that takes the response's place.
    """

    def __init__(
        self,
        session: EngineSession,
        dialect: Dialect,
        lobs: LobTable,
        before_run: Callable[[], None],
        after_read: Callable[[int], None],
    ) -> None:
        self._session = session
        self._dialect = dialect
        self._lobs = lobs
        self._before_run = before_run
        self._after_read = after_read
        self._cursors = CursorTable()

    def close_cursors(self, numbers: Sequence[int]) -> None:
        """Close cursors the client no longer needs."""
        for number in numbers:
            self._cursors.close(number)

    # requests

    def execute(self, reader: Reader, out: bytearray, trip: Trip) -> None:
        """Read and run an execute request."""
        request = read_execute(reader, self._dialect.field_version)
        cursor = self._cursor(request)
        is_new = request.sql is not None and not request.cursor
        rows: list[list[Raw]] = []
        count = 0
        defines: list[BindInfo] | None = None
        try:
            if request.options & Option.DEFINE:
                defines = read_bind_infos(reader, request.defines, self._dialect.field_version)
            elif request.binds:
                cursor.binds = read_bind_infos(reader, request.binds, self._dialect.field_version)
                cursor.types = []
                cursor.directions = cursor.order = None
                count = 1 if request.is_query else request.executions
                rows = self._read_rows(reader, cursor, cursor.absent_binds(), count)
            elif request.options & _PARSE:
                cursor.binds, cursor.types, cursor.order = [], [], None
        except Abandoned:
            if is_new:  # the client will not hear of it
                self._cursors.close(cursor.id)
            raise

        def run() -> None:
            if defines is not None:
                cursor.define(defines)
            self._run_execute(cursor, request, cursor.absent_binds(), rows, count, out, trip)

        self._run(cursor, out, trip, run, is_new=is_new)

    def execute_again(self, reader: Reader, out: bytearray, trip: Trip, *, fetches: bool) -> None:
        """Read and run a request to run an open cursor again; it carries values only, no declarations."""
        request = read_again(reader)
        try:
            cursor = self._cursors.get(request.cursor)
        except OraError as error:
            raise StatementError(error, 0, fatal=True) from error  # how many binds follow is not known
        count = 1 if fetches else request.count
        if cursor.binds:
            absent = cursor.absent_binds_again()
            if cursor.shape.kind is StatementKind.PLSQL or len(cursor.binds) <= len(absent):
                rows = self._read_rows(reader, cursor, absent, count)
            else:
                if cursor.order is None:
                    cursor.order = reading_order(cursor.binds, absent, self._dialect.max_string_size)
                rows = read_rows(reader, cursor.order, len(cursor.binds), count)
        else:
            absent, rows = (), []
        options = _EXECUTE | (_FETCH if fetches else 0) | (_COMMIT if request.commit else 0)
        again = ExecuteRequest(
            options,
            cursor.id,
            None,
            request.count if fetches else 0,
            0,
            0,
            count,
            is_query=cursor.shape.kind is _QUERY,
            flags=0,
            scrolls=False,
        )
        self._run(cursor, out, trip, lambda: self._run_execute(cursor, again, absent, rows, count, out, trip))

    def fetch(self, reader: Reader, out: bytearray, trip: Trip) -> None:
        """Read and run a request for more rows."""
        number, count = read_fetch(reader)
        cursor = self._cursors.get(number)
        self._run(cursor, out, trip, lambda: self._put_rows(cursor, count, out, trip))

    # reading

    def _cursor(self, request: ExecuteRequest) -> Cursor:
        try:
            if request.sql is None:
                return self._cursors.get(request.cursor)
            return self._cursors.open(request.sql, self._session.shape(request.sql), request.cursor)
        except OraError as error:
            raise StatementError(error, 0, fatal=bool(request.binds)) from error

    def _read_rows(self, reader: Reader, cursor: Cursor, absent: Collection[int], count: int) -> list[list[Raw]]:
        if len(cursor.binds) <= len(absent):
            return [[] for _ in cursor.binds]
        longest = None if cursor.shape.kind is StatementKind.PLSQL else self._dialect.max_string_size
        return read_bind_rows(reader, cursor.binds, absent, count, longest=longest)

    # running

    def _run(
        self, cursor: Cursor, out: bytearray, trip: Trip, action: Callable[[], None], *, is_new: bool = False
    ) -> None:
        trip.sql = cursor.sql
        try:
            self._before_run()
            action()
            if cursor.shape.kind is _QUERY:
                self._after_read(len(out))
        except (StatementError, Closed):
            raise
        except Exception as fault:
            error = as_ora_error(fault)
            cursor.described = None  # what was said about the columns in this response is not sent
            number = cursor.id
            if is_new and error.number == CANCELLED:  # a client that timed out does not look at the response
                self._cursors.close(number)
                number = 0
            raise StatementError(error, number) from fault

    def _run_execute(
        self,
        cursor: Cursor,
        request: ExecuteRequest,
        absent: Collection[int],
        raw: list[list[Raw]],
        count: int,
        out: bytearray,
        trip: Trip,
    ) -> None:
        if len(cursor.types) != len(cursor.binds):
            cursor.types = [info.bind_type() for info in cursor.binds]
        columns: list[list[Any]] = []
        if cursor.binds or cursor.shape.binds:
            trip.binds = cursor.types
            trip.bound = count if cursor.binds else 0
            self._check_binds(cursor, request, raw)
            if raw:
                columns = convert_rows(cursor.binds, raw, absent, count, self._lobs)
        kind = cursor.shape.kind
        if kind is _QUERY:
            self._query(cursor, request, columns, out, trip)
        elif kind is _DML and request.options & _EXECUTE:
            self._dml(cursor, request, columns, out, trip)
        elif kind is StatementKind.DDL and request.options & (_PARSE | _EXECUTE):
            self._session.run(cursor.sql)  # Oracle runs DDL when it is parsed
            self._finish(out, cursor)
        elif not request.options & _EXECUTE:
            raise OraError(3001, "unimplemented feature: parsing a statement that is no query without running it")
        elif kind is StatementKind.PLSQL:
            self._block(cursor, request, columns, out)
        else:
            self._session.run(cursor.sql)
            self._finish(out, cursor)

    @staticmethod
    def _check_binds(cursor: Cursor, request: ExecuteRequest, raw: list[list[Raw]]) -> None:
        given, wanted = len(cursor.binds), len(cursor.shape.binds)
        if given > wanted:
            raise OraError(1036, "unrecognized bind variable passed to the statement")
        if request.options & _EXECUTE and (given < wanted or len(raw) < given):
            raise OraError(1008, "not all variables bound")

    def _finish(self, out: bytearray, cursor: Cursor, rows: int = 0) -> None:
        put_error(
            out,
            self._dialect.field_version,
            in_transaction=self._session.in_transaction,
            cursor=cursor.id,
            rows=rows,
        )

    # queries

    def _query(
        self, cursor: Cursor, request: ExecuteRequest, binds: list[list[Any]], out: bytearray, trip: Trip
    ) -> None:
        options = request.options
        if request.scrolls:
            raise OraError(3001, "unimplemented feature: scrollable cursors")
        if options & _EXECUTE:
            if cursor.rows is not None:
                cursor.close_rows()
            values = [column[0] for column in binds] if binds else ()
            cursor.rows = self._session.query(cursor.sql, values, cursor.types)
            cursor.columns = cursor.rows.columns
            cursor.fetched = 0
        elif options & _DESCRIBE or cursor.columns is None:
            cursor.columns = self._session.describe(cursor.sql)
        if options & _PARSE or (cursor.columns is not cursor.described and cursor.columns != cursor.described):
            if not options & _PARSE:
                cursor.adapt()
            put_describe(out, cursor.columns, self._dialect)
            cursor.described = cursor.columns
        wanted = request.rows
        if not options & (_FETCH | _EXECUTE | _PARSE | _DESCRIBE):
            wanted = request.executions  # the define step of large values is also the first fetch
        elif not options & _FETCH:
            wanted = 0
        if wanted and cursor.rows is not None and not cursor.waits_for_define:
            self._put_rows(cursor, wanted, out, trip)
        else:
            self._finish(out, cursor, cursor.fetched)

    def _put_rows(self, cursor: Cursor, count: int, out: bytearray, trip: Trip) -> None:
        if cursor.rows is None:
            raise OraError(1002, "fetch out of sequence")
        place = len(out)
        put_row_header(out, count)
        written = cursor.rows.write(out, count, cursor.cell_forms(), self._lobs)
        if not written:
            del out[place:]
        cursor.fetched += written
        trip.rows = written
        if written == count:
            self._finish(out, cursor, cursor.fetched)
            return
        cursor.close_rows()
        put_error(
            out,
            self._dialect.field_version,
            in_transaction=self._session.in_transaction,
            number=_NO_MORE_ROWS,
            text="ORA-01403: no data found",
            cursor=cursor.id,
            rows=cursor.fetched,
        )

    # everything else

    def _dml(self, cursor: Cursor, request: ExecuteRequest, binds: list[list[Any]], out: bytearray, trip: Trip) -> None:
        returning = cursor.shape.returning
        inputs = binds if returning is None else binds[:returning]
        rows: Sequence[Sequence[Any]]
        rows = list(zip(*inputs, strict=True)) if inputs else [()] * max(request.executions, 1)
        batch = bool(request.options & Option.BATCH_ERRORS)
        result = self._session.dml(cursor.sql, rows, cursor.types, batch_errors=batch)
        total = sum(result.counts)
        trip.rows = total
        if result.error is not None:
            raise StatementError(result.error, cursor.id, total)
        if request.options & _COMMIT and not result.errors:
            self._session.commit()
        if returning is not None:
            put_returned(out, cursor.binds[returning:], result.returned, self._lobs)
        if request.flags & ExecuteFlag.ROW_COUNTS:
            put_row_counts(out, result.counts)
        failed = bool(result.errors)
        trip.error = _ARRAY_ERRORS if failed else 0
        put_error(
            out,
            self._dialect.field_version,
            in_transaction=self._session.in_transaction,
            number=_ARRAY_ERRORS if failed else 0,
            text="ORA-24381: error(s) in array DML" if failed else "",
            cursor=cursor.id,
            rows=total,
            batch=result.errors,
        )

    def _block(self, cursor: Cursor, request: ExecuteRequest, binds: list[list[Any]], out: bytearray) -> None:
        executions = max(request.executions, 1)
        rows: Sequence[Sequence[Any]] = list(zip(*binds, strict=True)) if binds else [()] * executions
        if type_questions.asks(cursor.sql):
            result = type_questions.answer(cursor.shape.binds, rows[0], self._session, self._cursors, self._dialect)
        elif any(kind.type is OraType.CURSOR for kind in cursor.types):
            raise OraError(3001, "unimplemented feature: REF CURSOR binds")
        else:
            result = self._session.block(cursor.sql, rows, cursor.types)
        if request.options & _COMMIT:
            self._session.commit()
        if cursor.binds:
            if cursor.directions is None:
                cursor.directions = result.directions
                put_directions(out, result.directions, executions)
            put_outs(out, cursor.binds, result, self._lobs)
        self._finish(out, cursor, executions)
