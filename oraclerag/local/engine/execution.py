"""Runs translated statements on the session's connection: queries, locking cursors, DML."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.pq.abc import PGresult

from oraclerag.local.engine import credentials, text_generation
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.arrays import FEWEST_ROWS, ArrayDml, Done, Outcome
from oraclerag.local.engine.binds import INFER, Reading, computed_oid, declared_oids, positions
from oraclerag.local.engine.commands import BEGIN, COMMIT, Command, PgError, Prepared, Query, Statement, Text
from oraclerag.local.engine.decode import convert, decoder
from oraclerag.local.engine.describe import describe
from oraclerag.local.engine.dictionary import Dictionary
from oraclerag.local.engine.embed_rows import embed_rows
from oraclerag.local.engine.embedding import Embedder
from oraclerag.local.engine.errors import Context, ora_error
from oraclerag.local.engine.long_binds import refuse_long_binds, tuple_elements
from oraclerag.local.engine.parameters import Converters, Parameters, converters
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.plan import BindParameter, GenerateParameter, LockWait, Parameter, Plan, Verb
from oraclerag.local.engine.reader import literal, qualified
from oraclerag.local.engine.rows import CursorRows, ResultRows
from oraclerag.local.engine.session_settings import Environment
from oraclerag.local.engine.set_form import set_form
from oraclerag.local.interface import BindType, Column, DmlResult, OraError, OraType, RowError

_KEPT_BINDINGS = 256
_NONE = Parameters((), (), ())  # of one execution

# Types that PostgreSQL could not infer, or inferred differently in two places: text then.
_UNDECIDED = frozenset({"42P18", "42P08", "42725"})


@dataclass(slots=True)
class _Binding:
    """How binds meet the parameters of a plan, kept for its next run: most statements of a loop differ in values alone.

    ``places`` are of the binds by name, ``oids`` the types to prepare with; ``embeds`` says that a parameter is an
    embedding.
    """

    plan: Plan
    names: tuple[str, ...]
    types: list[BindType]
    places: dict[str, int]
    oids: tuple[int, ...]
    embeds: bool
    converters: Converters | None = None

    def fits(self, plan: Plan, names: Sequence[str], types: Sequence[BindType]) -> bool:
        """Whether it was made for this; a plan is another object after DDL."""
        return self.plan is plan and self.names == names and self.types == types


class _NotReturned(Exception):
    """Values that an execution returned do not fit their binds: the ``row`` of the array, and the error."""

    def __init__(self, row: int, error: OraError) -> None:
        super().__init__(row)
        self.row = row
        self.error = error


class Executor:
    """Executes plans; errors come out as PgError and OraError."""

    def __init__(
        self, user: str, connection: Connection, dictionary: Dictionary, embedder: Embedder, environment: Environment
    ) -> None:
        self._user = user
        self._connection = connection
        self._dictionary = dictionary
        self._embedder = embedder
        self._environment = environment
        self._epoch = dictionary.epoch
        self._cursors = 0
        self._bindings: dict[str, _Binding] = {}
        self._bound_to_transaction: list[ResultRows | CursorRows] = []

    def transaction_ended(self) -> None:
        """Tell the results whose rows were locked that their transaction has ended."""
        for rows in self._bound_to_transaction:
            rows.transaction_ended()
        self._bound_to_transaction.clear()

    def describe(self, plan: Plan) -> tuple[Column, ...]:
        """Describe a query without running it; its binds have no types yet."""
        oids = tuple(
            computed_oid(parameter, self._dictionary.own)
            if not isinstance(parameter, BindParameter)
            else pg.TID
            if parameter.rowid
            else INFER
            for parameter in plan.parameters
        )
        return self._columns(plan, self._prepare(plan, oids))

    def query(
        self, plan: Plan, names: Sequence[str], binds: Sequence[Any], types: Sequence[BindType], context: Context
    ) -> ResultRows | CursorRows:
        """Run a query."""
        self._forget_outdated()
        try:
            return self._query(plan, names, binds, types, context)
        except PgError as error:
            self._again_or_raise(error)
            return self._query(plan, names, binds, types, context)

    def _query(
        self, plan: Plan, names: Sequence[str], binds: Sequence[Any], types: Sequence[BindType], context: Context
    ) -> ResultRows | CursorRows:
        if plan.parameters:
            prepared, parameters = self._parameters(plan, names, [binds], types)
        else:
            prepared, parameters = self._connection.prepare(plan.text, ()), _NONE
        if plan.locks and plan.lock_wait is LockWait.SKIP_LOCKED:
            return self._open_cursor(plan, prepared, parameters, context)
        run = self._run_embedding if plan.embeds else self._run_once
        chunks = run(plan, prepared, parameters)
        columns = prepared.described.get(plan.headings) or self._columns(plan, prepared)
        rows = ResultRows(chunks, columns, prepared, self._dictionary.own, self._environment.zone, plan.locks)
        if plan.locks:
            self._bound_to_transaction.append(rows)
        return rows

    def dml(
        self,
        plan: Plan,
        names: Sequence[str],
        rows: Sequence[Sequence[Any]],
        types: Sequence[BindType],
        context: Context,
        *,
        batch_errors: bool,
    ) -> DmlResult:
        """Run DML once per row; what fails in the first row is raised, unless batch errors were asked for."""
        self._check_identity(plan)
        self._forget_outdated()
        try:
            return self._dml(plan, names, rows, types, context, batch_errors=batch_errors)
        except PgError as error:
            self._again_or_raise(error)
            return self._dml(plan, names, rows, types, context, batch_errors=batch_errors)

    def _dml(
        self,
        plan: Plan,
        names: Sequence[str],
        rows: Sequence[Sequence[Any]],
        types: Sequence[BindType],
        context: Context,
        *,
        batch_errors: bool,
    ) -> DmlResult:
        update = plan.embed_update if len(rows) == 1 and not batch_errors else None
        if update is not None and self._dictionary.target(*plan.tables[0]).is_table:
            reading, parameters = self._parameters(update.read, names, rows, types)
            vector = self._dictionary.own.vector
            result = embed_rows(self._connection, self._embedder, update, reading, parameters, vector)
            return DmlResult([result.command_tuples or 0])
        prepared, parameters = self._parameters(plan, names, rows, types)
        return self._run_dml(plan, prepared, parameters, types, context, batch_errors=batch_errors)

    def _forget_outdated(self) -> None:
        """Drop statements that were prepared before the catalog changed."""
        if self._epoch != self._dictionary.epoch:
            self._epoch = self._dictionary.epoch
            self._connection.forget_prepared()

    def _again_or_raise(self, error: PgError) -> None:
        """Raise an error, unless it says that a prepared statement is outdated: it is to be run once more then."""
        if error.state != "0A000" or "cached plan" not in error.message:
            raise error
        self._connection.forget_prepared()

    def _prepare(self, plan: Plan, oids: tuple[int, ...]) -> Prepared:
        try:
            return self._connection.prepare(plan.text, oids)
        except PgError as error:
            if error.state not in _UNDECIDED or INFER not in oids:
                raise
            return self._connection.prepare(plan.text, tuple(oid or pg.TEXT for oid in oids))

    def _parameters(
        self, plan: Plan, names: Sequence[str], rows: Sequence[Sequence[Any]], types: Sequence[BindType]
    ) -> tuple[Prepared, Parameters]:
        if not plan.parameters:
            return self._prepare(plan, ()), Parameters((), (), (), len(rows))
        own = self._dictionary.own
        binding = self._bindings.get(plan.text)
        if binding is None or not binding.fits(plan, names, types):
            places = positions(names)
            refuse_long_binds(plan, places, types, self._environment.string_limit)
            binding = _Binding(
                plan,
                tuple(names),
                list(types),
                places,
                declared_oids(plan.parameters, places, types, own),
                not all(isinstance(parameter, BindParameter) for parameter in plan.parameters),
            )
            if len(self._bindings) >= _KEPT_BINDINGS:
                self._bindings.clear()
            self._bindings[plan.text] = binding
        places = binding.places
        prepared = self._prepare(plan, binding.oids)
        computed = None
        if binding.embeds:
            computed = [self._computed(parameter, places, rows) for parameter in plan.parameters]
        today = dt.datetime.now(self._environment.zone).date()
        reading = Reading(own, self._environment.formats, today)
        known = binding.converters
        if known is None or known.oids != prepared.oids or known.reading != reading:
            known = binding.converters = converters(plan.parameters, places, types, prepared.oids, reading)
        return prepared, known.encode(rows, computed)

    def _computed(
        self, parameter: Parameter, places: dict[str, int], rows: Sequence[Sequence[Any]]
    ) -> list[bytes | None] | None:
        """Give the values of a parameter that a model makes of binds; None for one that is a bind."""
        if isinstance(parameter, BindParameter):
            return None
        if not isinstance(parameter, GenerateParameter):
            return self._embedder.computed(parameter, places, rows)

        def credential(name: str) -> Mapping[str, Any] | None:
            return credentials.found(name, self._user, self._dictionary.credential)

        return text_generation.compute(parameter, places, rows, credential, self._connection.heed_client)

    def _columns(self, plan: Plan, prepared: Prepared) -> tuple[Column, ...]:
        known = prepared.described.get(plan.headings)
        if known is None:
            known = prepared.described[plan.headings] = describe(
                prepared.description,
                plan.headings,
                self._dictionary.long_names.name,
                self._dictionary.note,
                self._dictionary.own,
                self._environment.string_limit,
            )
        return known

    def _run_embedding(self, plan: Plan, prepared: Prepared, parameters: Parameters) -> list[PGresult]:
        results: list[list[PGresult]] = []
        self._embedder.until_known(
            lambda: results.append(self._run_once(plan, prepared, parameters)),
            results.clear,
            self._connection,
            inside=self._environment.serializable,
        )
        return results[-1]

    def _run_once(self, plan: Plan, prepared: Prepared, parameters: Parameters) -> list[PGresult]:
        connection = self._connection
        query = Query(prepared.name, parameters.row(0), parameters.formats)
        settings: list[Command] = []
        resets: list[Command] = []
        if plan.wants_settings:
            settings, resets = _settings(plan)
        if not connection.idle:
            connection.guarded([*settings, query, *resets])
            return query.chunks
        stays = plan.locks or self._environment.serializable
        if not stays and not settings:
            connection.query(query)
            return query.chunks
        commands = [BEGIN, *settings, query]
        commands += resets if stays else [COMMIT]
        try:
            connection.pipeline(commands)
        except BaseException:
            self._roll_back()
            raise
        return query.chunks

    def _roll_back(self) -> None:
        """Take back the transaction that a statement began."""
        if not self._connection.idle:
            self._connection.forget_interrupt()
            self._connection.simple(b"ROLLBACK")

    def _open_cursor(self, plan: Plan, prepared: Prepared, parameters: Parameters, context: Context) -> CursorRows:
        if plan.embeds:
            raise OraError(3001, "unimplemented feature: VECTOR_EMBEDDING over columns with FOR UPDATE SKIP LOCKED")
        connection = self._connection
        self._cursors += 1
        name = f"c{self._cursors}"
        declare = Statement(
            f"DECLARE {name} NO SCROLL CURSOR FOR {plan.text}".encode(),
            parameters.row(0),
            parameters.oids,
            parameters.formats,
        )
        if connection.idle:
            try:
                connection.pipeline([BEGIN, declare])
            except BaseException:
                self._roll_back()
                raise
        else:
            connection.guarded([declare])
        columns = self._columns(plan, prepared)

        def fetch(count: int) -> ResultRows:
            try:
                result = connection.guarded([Text(b"FETCH FORWARD %d FROM %s" % (count, name.encode()))])[0]
            except PgError as error:
                raise ora_error(error, context, self._dictionary.long_names) from None
            return ResultRows([result], columns, prepared, self._dictionary.own, self._environment.zone)

        def close() -> None:
            if not connection.idle:
                connection.simple(f"CLOSE {name}".encode())

        rows = CursorRows(columns, fetch, close)
        self._bound_to_transaction.append(rows)
        return rows

    def _run_dml(
        self,
        plan: Plan,
        prepared: Prepared,
        parameters: Parameters,
        types: Sequence[BindType],
        context: Context,
        *,
        batch_errors: bool,
    ) -> DmlResult:
        """Run it and convert what it returns: a row whose values do not fit their binds is not done either."""
        targets = [bound.type for bound in types[len(types) - plan.returning :]] if plan.returning else []
        sources = [column.type for column in self._columns(plan, prepared)] if targets else []
        converts = sources != targets
        dml, outcome = self._run_array(plan, prepared, parameters, keep=converts, batch_errors=batch_errors)
        try:
            result = self._result(outcome, sources, targets, context, batch_errors=batch_errors)
        except _NotReturned as failure:
            if converts:
                dml.take_back()
            if not failure.row or batch_errors:
                raise failure.error from None
            before = parameters.first(failure.row)  # rows before a bad one stay done
            result = self._run_dml(plan, prepared, before, types, context, batch_errors=False)
            result.error = failure.error
            return result
        if converts:
            dml.release()
        return result

    def _run_array(
        self, plan: Plan, prepared: Prepared, parameters: Parameters, *, keep: bool, batch_errors: bool
    ) -> tuple[ArrayDml, Outcome]:
        """Run all rows; ``keep``: the savepoint stays open."""
        if not plan.embeds:
            dml = self._array(plan, prepared, parameters, keep_savepoint=keep)
            return dml, dml.run(batch_errors=batch_errors)
        runs: list[tuple[ArrayDml, Outcome]] = []

        def run() -> None:
            dml = self._array(plan, prepared, parameters, keep_savepoint=True)
            runs.append((dml, dml.run(batch_errors=batch_errors)))

        def undo() -> None:
            dml, _ = runs.pop()
            dml.take_back()

        self._embedder.until_known(
            run, undo, self._connection, inside=self._environment.serializable and not self._connection.idle
        )
        dml, outcome = runs[-1]
        if not keep:
            dml.release()
        return dml, outcome

    def _array(self, plan: Plan, prepared: Prepared, parameters: Parameters, *, keep_savepoint: bool) -> ArrayDml:
        form = None
        if parameters.count >= FEWEST_ROWS:
            if prepared.set_form is None:
                target = self._dictionary.target(*plan.tables[0])
                prepared.set_form = set_form(plan, prepared.oids, self._dictionary.own, target) or False
            form = prepared.set_form or None
        return ArrayDml(
            self._connection, form, prepared, parameters, self._dictionary.own, keep_savepoint=keep_savepoint
        )

    def _result(
        self,
        outcome: Outcome,
        sources: Sequence[OraType],
        targets: Sequence[OraType],
        context: Context,
        *,
        batch_errors: bool,
    ) -> DmlResult:
        result = DmlResult()
        for place, done in enumerate(outcome.done):
            if done is None:
                if batch_errors:
                    result.counts.append(0)
                    if targets:
                        result.returned.append([[] for _ in targets])
                continue
            result.counts.append(done.count)
            if targets:
                try:
                    result.returned.append(self._returned(done, sources, targets))
                except OraError as error:
                    raise _NotReturned(place, error) from None
        names = self._dictionary.long_names
        errors = [RowError(offset, ora_error(error, context, names)) for offset, error in outcome.failures]
        if batch_errors:
            result.errors = errors
        elif errors:
            if errors[0].offset == 0:
                raise errors[0].error
            result.error = errors[0].error
        return result

    def _returned(self, done: Done, sources: Sequence[OraType], targets: Sequence[OraType]) -> list[list[Any]]:
        """Give the values of each RETURNING bind in its type."""
        result = done.result
        if result is None:
            return [[] for _ in targets]
        own, zone, formats = self._dictionary.own, self._environment.zone, self._environment.formats
        values = []
        for column, (source, target) in enumerate(zip(sources, targets, strict=True)):
            decode = decoder(result.ftype(column), own, zone)
            cells = (result.get_value(place, column) for place in range(done.first, done.first + done.rows))
            values.append([None if cell is None else convert(decode(cell), source, target, formats) for cell in cells])
        return values

    def _check_identity(self, plan: Plan) -> None:
        """Refuse a value for a column GENERATED ALWAYS AS IDENTITY, whose default PostgreSQL would let replace."""
        if not plan.columns or not plan.tables or (plan.verb is not Verb.INSERT and plan.verb is not Verb.UPDATE):
            return
        always = self._dictionary.always_identities(*plan.tables[0])
        if not always:
            return
        given = list(plan.columns)
        if plan.verb is Verb.INSERT and plan.values is not None:
            elements = tuple_elements(plan.text, plan.values[0])
            given = [name for name, element in zip(given, elements, strict=False) if element.upper() != "DEFAULT"]
        if always.intersection(given):
            if plan.verb is Verb.UPDATE:
                raise OraError(32796, "cannot update a generated always identity column")
            raise OraError(32795, "cannot insert into a generated always identity column")


def _settings(plan: Plan) -> tuple[list[Command], list[Command]]:
    """Give the settings that a query wants for itself, and what takes them back within the transaction."""
    wanted: list[tuple[bytes, bytes]] = []
    if plan.probes is not None:
        wanted.append((b"ivfflat.probes", b"%d" % plan.probes))
    if plan.ef_search is not None:
        wanted.append((b"hnsw.ef_search", b"%d" % plan.ef_search))
    if plan.locks and plan.lock_wait is LockWait.SECONDS:
        wanted.append((b"lock_timeout", b"'%ds'" % plan.lock_seconds))
    settings: list[Command] = [Text(b"SET LOCAL %s = %s" % pair) for pair in wanted]
    changed = [name for name, _ in wanted]
    if plan.accuracy is not None:
        tables = ", ".join(literal(qualified(*table)) for table in plan.tables)
        settings.append(Text(f"SELECT ora.aim({plan.accuracy}, ARRAY[{tables}]::text[])".encode()))
        changed += [b"ivfflat.probes", b"hnsw.ef_search", b"enable_sort"]
    resets: list[Command] = [Text(b"SET LOCAL %s TO DEFAULT" % name) for name in changed]
    return settings, resets
