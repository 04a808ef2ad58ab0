"""DML over an array of bind rows, fast where all rows are good and exact where one is not.

Where the statement has a form over arrays it runs once for many rows; everything else runs as pipelined single
executions. The run is optimistic. When a row fails, the array is taken back and replayed around it: rows before the bad
one stay done, as in Oracle, and with batch errors those behind it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from psycopg.pq.abc import PGresult

from oraclerag.local.engine.commands import BEGIN, BINARY, RELEASE, SAVEPOINT, Command, Execute, PgError, Prepared, Text
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.parameters import Parameters
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.set_form import SetForm, all_different, array

FEWEST_ROWS = 4
"""Fewer rows than these run one by one as fast."""

_ROWS_PER_STATEMENT = 1000
_LONGEST_ROW = 20_000  # bytes; longer rows gain nothing from sharing a statement
_COMMANDS_PER_TRIP = 256
_BYTES_PER_TRIP = 4_000_000
_REPLAY_ROWS = 256
_REPLAY_SAVEPOINT = Text(b"SAVEPOINT r")
_REPLAY_RELEASE = Text(b"RELEASE r")


@dataclass(frozen=True, slots=True)
class Done:
    """What one execution did: rows affected, and where its RETURNING rows are."""

    count: int
    result: PGresult | None = None
    first: int = 0
    rows: int = 0


@dataclass(slots=True)
class Outcome:
    """What an array did: per execution, None where it failed; the failures by offset."""

    done: list[Done | None] = field(default_factory=list)
    failures: list[tuple[int, PgError]] = field(default_factory=list)


class _Uncountable(Exception):
    """A statement over several rows did not touch one row for each: counts per row need single executions."""


class ArrayDml:
    """One DML statement over bind rows, in a transaction that it opens if none is open; ``form`` is it over arrays.

    ``keep_savepoint`` leaves the savepoint of the statement open, because the caller may have to take it all back; then
    :meth:`release` has to follow.
    """

    def __init__(
        self,
        connection: Connection,
        form: SetForm | None,
        prepared: Prepared,
        parameters: Parameters,
        own: Oids,
        *,
        keep_savepoint: bool = False,
    ) -> None:
        self._connection = connection
        self._prepared = prepared
        self._parameters = parameters
        self._keep = keep_savepoint
        self._opened = connection.idle
        self._taken_back = False
        self._form = form if form is not None and self._suits(form, own) else None

    def run(self, *, batch_errors: bool) -> Outcome:
        """Run all rows. Raises only what stops the array as a whole: a cancel, a lost connection."""
        count = self._parameters.count
        try:
            if count == 1:
                return self._single()
            self._start()
            try:
                done = self._span(0, count)
            except _Uncountable:
                self._form = None
                self._restart()
                done = self._span(0, count)
            self._end()
        except PgError as error:
            if error.cancelled:
                self.take_back()
                raise
            return self._replay(error, batch_errors=batch_errors)
        except BaseException:
            self.take_back()
            raise
        return Outcome(list(done))

    def take_back(self) -> None:
        """Undo everything that this statement did."""
        if self._taken_back:
            return
        self._taken_back = True
        if self._opened:
            self._connection.forget_interrupt()
            self._connection.simple(b"ROLLBACK")
        else:
            self._connection.undo()
            self._connection.simple(b"RELEASE s")

    def release(self) -> None:
        """Give up the savepoint of the statement: what it did is to stay."""
        if not self._opened and not self._taken_back:
            self._connection.pipeline([RELEASE])

    def _start(self) -> None:
        self._taken_back = False
        self._connection.pipeline([self._head()])

    def _head(self) -> Command:
        return BEGIN if self._opened else SAVEPOINT

    def _restart(self) -> None:
        self.take_back()
        self._start()

    def _end(self) -> None:
        if not self._keep:
            self.release()

    def _single(self) -> Outcome:
        """Run the only row: everything in one round trip."""
        commands: list[Command] = [self._head(), self._execution(0)]
        if not self._opened and not self._keep:
            commands.append(RELEASE)
        try:
            result = self._connection.pipeline(commands, size=_size(self._parameters.row(0)))[1]
        except PgError as error:
            self.take_back()
            if error.cancelled:
                raise
            return Outcome([None], [(0, error)])
        return Outcome([Done(result.command_tuples or 0, result, 0, result.ntuples)])

    def _execution(self, row: int) -> Execute:
        return Execute(self._prepared.name, self._parameters.row(row), self._parameters.formats)

    def _span(self, start: int, end: int) -> list[Done]:
        """Run rows ``start`` to ``end``; PgError carries in ``index`` the first row that may have failed."""
        done: list[Done] = []
        place = start
        while place < end:
            trip: list[tuple[int, int, Execute]] = []
            size = 0
            while place < end and len(trip) < _COMMANDS_PER_TRIP and size < _BYTES_PER_TRIP:
                stop, command = self._next(place, end)
                size += _size(command.values)
                trip.append((place, stop, command))
                place = stop
            try:
                results = self._connection.pipeline([command for _, _, command in trip], size=size)
            except PgError as error:
                error.index = trip[error.index][0]
                raise
            for (first, stop, _), result in zip(trip, results, strict=True):
                done += self._results(result, stop - first)
        return done

    def _next(self, place: int, end: int) -> tuple[int, Execute]:
        """Give the command for the next rows, and the row behind them."""
        stop = min(place + _ROWS_PER_STATEMENT, end)
        form, parameters = self._form, self._parameters
        if form is None or stop - place < FEWEST_ROWS:
            return place + 1, self._execution(place)
        arrays = [
            array(oid, known == BINARY, column[place:stop])
            for oid, known, column in zip(parameters.oids, parameters.formats, parameters.columns, strict=True)
        ]
        name = self._connection.prepare(form.text, (0,) * len(arrays)).name  # the text names the types
        return stop, Execute(name, [items for items, _ in arrays], [int(binary) for _, binary in arrays])

    def _results(self, result: PGresult, rows: int) -> list[Done]:
        count = result.command_tuples or 0
        if rows == 1:
            return [Done(count, result, 0, result.ntuples)]
        if self._form is not None and self._form.counted:
            counts = [0] * rows
            for touched in range(count):
                counts[int.from_bytes(result.get_value(touched, 0) or b"", "big") - 1] += 1
            return [_ONE if count == 1 else Done(count) for count in counts]
        if count != rows:
            raise _Uncountable
        if result.ntuples:
            return [Done(1, result, row, 1) for row in range(rows)]
        return [_ONE] * rows

    def _suits(self, form: SetForm, own: Oids) -> bool:
        """Whether these rows may share a statement."""
        parameters = self._parameters
        if parameters.count < FEWEST_ROWS:
            return False
        if any(_size(parameters.row(place)) > _LONGEST_ROW for place in (0, -1)):
            return False
        return not form.keys or any(
            all_different(parameters.oids[key], parameters.formats[key] == BINARY, parameters.columns[key], own)
            for key in form.keys
        )

    def _replay(self, error: PgError, *, batch_errors: bool) -> Outcome:
        """Do it again around the rows that fail; ``error.index`` says up to where all is known to be good."""
        self._restart()
        outcome = Outcome()
        total = self._parameters.count
        place = 0
        good = error.index
        bad: tuple[int, PgError] | None = None
        while place < total:
            # What was good before goes in one span; behind it, segments bound what a bad row costs. What was good need
            # not be so again: between two attempts another session may commit the same key.
            end = bad[0] if bad is not None else good if place < good else min(place + _REPLAY_ROWS, total)
            good = 0
            if place < end:
                try:
                    outcome.done += self._guarded(place, end)
                except PgError as failure:
                    if failure.cancelled:
                        self.take_back()
                        raise
                    bad = (failure.index, failure)
                    continue
                place = end
            if bad is not None:
                outcome.done.append(None)
                outcome.failures.append(bad)
                if not batch_errors:
                    break
                place, bad = place + 1, None
        if not any(outcome.done):
            self.take_back()
        self._end()
        return outcome

    def _guarded(self, start: int, end: int) -> list[Done]:
        """Run rows inside a savepoint of their own; a failure is taken back and has the bad row's offset."""
        self._connection.pipeline([_REPLAY_SAVEPOINT])
        form = self._form
        try:
            try:
                done = self._span(start, end)
            except (PgError, _Uncountable) as error:
                if isinstance(error, PgError) and (error.cancelled or form is None):
                    raise
                # One of several rows of a statement is bad: which one, single executions tell.
                self._connection.simple(b"ROLLBACK TO r")
                self._form = None
                done = self._span(start, end)
        except PgError as error:
            self._connection.forget_interrupt()
            if not error.cancelled:
                self._connection.simple(b"ROLLBACK TO r; RELEASE r")
            raise
        finally:
            self._form = form
        self._connection.pipeline([_REPLAY_RELEASE])
        return done


_ONE = Done(1)


def _size(row: Sequence[bytes | None]) -> int:
    return sum([len(value) for value in row if value])
