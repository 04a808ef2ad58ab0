"""One batch of the queue: claim → read → chunk → write → settle, or postpone, or give back.

What goes wrong is told apart by whom it concerns. One entity at fault is postponed alone. What would hit every entity
of a source pauses the source, once, and counts against no row. An outage gives everything back, counts against no row,
and is raised: the worker slows down. A text can also end the database's process that reads or embeds it, which looks
like an outage: entities with which the connection is lost twice running are left to their lease, as if the worker had
died.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import oracledb

from oraclerag import in_force, log, schema, telemetry
from oraclerag.batch import Provided, Tally, WorkerState, refusal, tell, tell_failed, tell_paused, tell_written
from oraclerag.chunk import Limits
from oraclerag.claim import Claim, Postponed, Queue
from oraclerag.config import Settings
from oraclerag.database import INTERRUPTS, Database, own_tables
from oraclerag.embed import Budget, embedder_of, kept_here
from oraclerag.errors import (
    ConfigurationError,
    ConnectionFailed,
    Contention,
    DatabaseError,
    EmbeddingBudgetSpent,
    EmbeddingDimensionMismatch,
    EntityError,
    ModelMissing,
    OracleRagError,
    PrivilegeMissing,
    ProviderError,
    SourceError,
    StatementFailed,
)
from oraclerag.http_client import Attempts
from oraclerag.in_force import InForce
from oraclerag.merge import SLICE, Merge, Write, groups
from oraclerag.model.active import ActiveModel, active_model, second_model
from oraclerag.model.external import Embedder, configured_name
from oraclerag.records import Claimed, DrainReport, SourceKey, fingerprint_half
from oraclerag.render import UNFORESEEN, blamed, read, rendered
from oraclerag.searches import clear_entities
from oraclerag.security import require_unrestricted
from oraclerag.source import Source

__all__ = ["WorkerState", "drain"]

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # seconds before a failed entity is tried again

_ROWS_OF_ENTITIES = 512  # queue rows that one batch takes, where entities are named
_COME_BACK_SOON = 0.25  # seconds before those that others hold are tried again: somebody waits for them

# A worker whose connection died without a word must not wait for ever. What is read after the lease is another's to
# write; but a write that has begun keeps its entities by their locks, and a large model on a small machine is slow.
_LEASES_PER_CALL = 3

_LAST_CALL = 5.0  # seconds that giving back may wait for the database when a signal has interrupted a batch

_SPREAD = 600.0  # seconds of the next day over which comes back what was put off to it

_UNRESTRICTED = 60.0  # seconds for which a worker trusts that nothing is hidden from it

_MOST_LOST = 10_000  # entities of lost connections that a worker remembers


class _ModelReplaced(Exception):
    """Another model has come into force than the one that a batch was read for."""


@telemetry.spanned("oraclerag.worker.batch", deferred=True)
def drain(
    database: Database,
    sources: Mapping[str, Source],
    settings: Settings,
    *,
    state: WorkerState | None = None,
    keys: Sequence[SourceKey] | None = None,
) -> DrainReport:
    """Work one batch off; an empty report means that nothing waits for this worker.

    With ``keys`` the batch is what is due of these entities, whoever's turn it is. Raises what stops the whole worker:
    ModelNotActive, SchemaMissing, ConnectionFailed and other outages. Rows that were claimed are given back before
    that; where even that fails, the next call does it first.
    """
    began = time.monotonic()
    state = state if state is not None else WorkerState()
    try:
        with _queue(database, settings, _LEASES_PER_CALL * settings.lease) as (connection, queue):
            _require_unrestricted(connection, database.schema, state)
            _give_back_unreported(queue, state)
            batch = _Batch(connection, database.schema, queue, sources, settings, state, keys)
            try:
                report = batch.run()
            finally:
                if queue.unheard is not None:
                    state.unreported.append((queue.unheard, queue.unheard.entities))
    except INTERRUPTS:  # maybe in the middle of a call: what was claimed is given back on another connection
        with contextlib.suppress(DatabaseError), _queue(database, settings, _LAST_CALL) as (_, queue):
            _give_back_unreported(queue, state)
        raise
    report = dataclasses.replace(report, seconds=time.monotonic() - began)
    if report.claimed:
        tell(report, batch.turn, batch.tokens)
    return report


def _require_unrestricted(connection: oracledb.Connection, schema_name: str, state: WorkerState) -> None:
    """Refuse to work where row security hides entities: none could be held, and their rows would come back for ever."""
    if time.monotonic() >= state.unrestricted_until:
        require_unrestricted(connection, schema_name, "A worker")
        state.unrestricted_until = time.monotonic() + _UNRESTRICTED


@contextlib.contextmanager
def _queue(database: Database, settings: Settings, call_timeout: float) -> Iterator[tuple[oracledb.Connection, Queue]]:
    with database.connect(call_timeout=call_timeout) as connection:
        queue = Queue(connection, database.schema, lease=settings.lease, max_attempts=settings.max_attempts)
        yield connection, queue


def _give_back_unreported(queue: Queue, state: WorkerState) -> None:
    while state.unreported:
        claim, entities = state.unreported[-1]
        queue.give_back(claim, entities)
        state.unreported.pop()


class _Batch:
    """One batch on one connection."""

    def __init__(
        self,
        connection: oracledb.Connection,
        schema: str,
        queue: Queue,
        sources: Mapping[str, Source],
        settings: Settings,
        state: WorkerState,
        keys: Sequence[SourceKey] | None,
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._queue = queue
        self._sources = sources
        self._settings = settings
        self._state = state
        self._keys = keys
        self._tally = Tally()
        self._fingerprints: dict[str, str] = {}
        self._open: dict[int, Claimed] = {}  # not yet reported
        self._at_work: tuple[Claimed, ...] = ()  # being read, or written
        self._claim = Claim("", ())
        self.turn: tuple[int, str] | None = None
        self._provided: Provided | None = None

    def run(self) -> DrainReport:
        if not (self._find() if self._keys is None else self._find_these(self._keys)):
            return self._tally.report()
        try:
            model = self._state.model
            assert model is not None  # noqa: S101 - _find has set it
            merge = Merge(self._connection, self._schema, model, self._state.second)
            self._provided = self._provider(merge, model)
            writes = self._prepared(model)
            for group in self._embedded(self._provided, merge, writes) if self._provided else groups(writes):
                self._write(merge, model, group)
        except BaseException as error:
            if isinstance(error, ConnectionFailed):
                self._leave_to_the_lease()
            self._abandon(interrupted=isinstance(error, INTERRUPTS))
            raise
        return self._tally.report()

    @property
    def tokens(self) -> int:
        """How many were embedded."""
        return self._tally.tokens

    def _provider(self, merge: Merge, model: ActiveModel) -> Provided | None:
        """Give who makes the vectors, where the database does not."""
        if self._state.embedder is None:
            return None
        budget = Budget(self._connection, self._schema, self._settings)
        renew = functools.partial(self._queue.renew, self._claim, self._open.values())
        external, in_force = (model, True) if model.provider is not None else (self._state.second, False)
        assert external is not None  # noqa: S101 - there is an embedder for it
        return Provided(
            self._state, self._settings, external, merge.vectors, budget, renew, self._tally, required=in_force
        )

    def _find(self) -> bool:
        """Claim a batch of whoever's turn it is; False where nothing waits."""
        state, settings = self._state, self._settings
        # What is in force is asked for when something waits; while a source is left alone, before every look.
        served = self._served(in_force.read(self._connection, self._schema)) if state.idle_sources else None
        for _ in range(2):
            asked = self._sources if served is None else served
            turns = self._queue.turn(state.turns, asked) if asked else []
            if turns and served is None:
                served = self._served(in_force.read(self._connection, self._schema))
            if not turns or not served:
                return False
            for turn in turns:
                types = {name: served[name] for name in turn.sources if name in served}
                claim = self._queue.claim(
                    turn.lane, turn.tenant, types=types, limit=settings.batch_size, come_back=settings.poll_interval
                )
                state.turns.took(turn)
                self.turn = (turn.lane, turn.tenant)
                if self._got(claim):
                    state.turns.batches += 1
                    return True
                if claim.buried:
                    return False
        return False

    def _find_these(self, keys: Sequence[SourceKey]) -> bool:
        """Claim what is due of given entities; False where that is nothing, or others have it."""
        served = self._served(in_force.read(self._connection, self._schema))
        wanted = [(key.type, key.id) for key in keys if key.type in served]
        limit = max(self._settings.batch_size, _ROWS_OF_ENTITIES)
        pause = min(self._settings.poll_interval, _COME_BACK_SOON)
        return self._got(self._queue.claim_entities(wanted, types=served, limit=limit, come_back=pause))

    def _got(self, claim: Claim) -> bool:
        """Take a claim as this batch's; gives whether there is anything to do."""
        self._claim = claim
        self._open = {entity.entity_id: entity for entity in claim.entities}
        self._tally.dead += claim.buried
        self._tally.claimed += claim.buried + sum(len(entity.rows) for entity in claim.entities)
        return bool(claim.entities)

    def _served(self, now: InForce) -> dict[str, bool]:
        """Give the sources whose rows this worker may take, each with whether it maps tenants."""
        schema.require_revision(now.revision, self._schema)
        model = self._model(now)
        self._fingerprints = {name: source.fingerprint(model) for name, source in self._sources.items()}
        new = self._fingerprints.keys() - now.fingerprints.keys()
        if new:
            for name in sorted(new):
                mine = fingerprint_half(self._fingerprints[name], "settings")
                in_force.put_first(self._connection, self._schema, name, "fingerprint", mine or "")
            with own_tables():
                self._connection.commit()
            now = in_force.read(self._connection, self._schema)
        served = {name: source.maps_tenant for name, source in self._sources.items() if self._may(name, now)}
        self._state.idle_sources = frozenset(self._sources.keys() - served.keys())
        return served

    def _may(self, name: str, now: InForce) -> bool:
        if name in now.paused:
            return False
        same = now.fingerprints.get(name) == fingerprint_half(self._fingerprints[name], "settings")
        if not same and name not in self._state.warned:
            log.event(
                _log,
                logging.ERROR,
                "source_left_alone",
                f"Source {name}: other settings are in force than this worker has; it is left alone.",
                source_type=name,
                hint="Deploy the same configuration everywhere, then run `oraclerag reindex`.",
            )
            self._state.warned.add(name)
        if same:
            self._state.warned.discard(name)
        return same

    def _model(self, now: InForce) -> ActiveModel:
        known = self._state.model
        if known is None or not _is(known, now):
            known = active_model(self._connection, self._schema, configured=configured_name(self._settings))
        second = self._state.second
        if (now.second_model, now.second_column) != _named(second):
            second = second_model(self._connection, self._schema) if now.second_model else None
        if known is not self._state.model or second is not self._state.second:
            self._state.embedder = self._embedder(known, second)
            self._state.model, self._state.second = known, second
        return known

    def _embedder(self, model: ActiveModel, second: ActiveModel | None) -> Embedder | None:
        """Give who embeds outside the database for the model in force, else for the second one where that is ours."""
        asked = Attempts(most=2, longest=self._settings.lease / 6)
        if model.provider is None:
            if second is None or second.provider is None or second.name != configured_name(self._settings):
                return None
            model = second
        return embedder_of(self._settings, model, attempts=asked)

    def _prepared(self, model: ActiveModel) -> list[Write]:
        """Read what was claimed and cut it into chunks; what fails is postponed, or its source paused."""
        limits = Limits.of(model)
        renewed = time.monotonic()
        writes: list[Write] = []
        failures: list[tuple[Claimed, OracleRagError]] = []
        by_source: dict[str, dict[str, Claimed]] = defaultdict(dict)
        for entity in self._claim.entities:
            by_source[entity.source_type][entity.source_id] = entity
        for name, entities in by_source.items():
            source = self._sources[name]
            self._at_work = tuple(entities.values())
            try:
                for cutting in source.cuttings:
                    limits.for_cutting(cutting)
                kept_here(source.settings, self._state.embedder)
                with telemetry.stepping("read"):
                    found = read(source, self._connection, list(entities))
            except (SourceError, ConfigurationError, PrivilegeMissing) as error:
                self._pause([name], error, entities.values())
                continue
            failures += [(entities[key], error) for key, error in found.failures.items()]
            fingerprint = self._fingerprints[name]
            with telemetry.stepping("chunk"):
                for key, entity in entities.items():
                    if key in found.failures:
                        continue
                    if time.monotonic() - renewed > self._settings.lease / 3:  # long texts are cut for minutes
                        self._queue.renew(self._claim, self._open.values())
                        renewed = time.monotonic()
                    try:
                        document = found.documents.get(key)
                        writes.append(rendered(entity, source, document, limits=limits, fingerprint=fingerprint))
                    except EntityError as error:
                        failures.append((entity, error))
        self._postpone([(entity, error, None) for entity, error in failures])
        return sorted(writes, key=lambda write: write.entity.entity_id)

    def _embedded(self, provided: Provided, merge: Merge, writes: Sequence[Write]) -> Iterator[list[Write]]:
        """Give what needs no vector first, then groups whose vectors a provider has made; meanwhile no lock is held."""
        held = self._queue.hold(self._claim, [write.entity for write in writes])
        lacking = merge.lacking(writes, held)
        self._rollback()
        yield from groups([write for write in writes if write.entity.entity_id not in lacking])
        waiting = [write for write in writes if write.entity.entity_id in lacking]
        while waiting:
            tenant = waiting[0].tenant
            group = groups([write for write in waiting if write.tenant == tenant])[0]
            entities = [write.entity for write in group]
            self._at_work = tuple(entities)
            chunks = [lacking[entity.entity_id] for entity in entities]
            try:
                # a longer document is embedded a slice at a time, as it is written
                refused = provided.make(tenant, [one for part in chunks if len(part) <= SLICE for one in part])
            except EmbeddingBudgetSpent as error:
                self._put_off(merge, group, error)
            except EmbeddingDimensionMismatch as error:
                self._pause(sorted({entity.source_type for entity in entities}), error, entities)
            except ProviderError:  # what these texts are worth nobody knows, but whose they are does not wait
                self._restrict(merge, waiting)
                raise
            else:
                failed = [(write, why) for write in group if (why := refusal(refused, write)) is not None]
                self._postpone([(write.entity, why, write) for write, why in failed], merge)
                dropped = {write.entity.entity_id for write, _ in failed}
                yield [write for write in group if write.entity.entity_id not in dropped]
            done = {entity.entity_id for entity in entities}
            waiting = [write for write in waiting if write.entity.entity_id not in done]

    def _put_off(self, merge: Merge, group: Sequence[Write], error: EmbeddingBudgetSpent) -> None:
        """Give back until tomorrow what a tenant has no tokens for; who may see it does not wait so long."""
        self._restrict(merge, group)
        pause = error.seconds + self._state.jitter.uniform(0, _SPREAD)
        self._give_back([write.entity for write in group], pause=pause, why=error)
        tenant = group[0].tenant
        first = f"budget of {tenant}" not in self._state.warned
        self._state.warned.add(f"budget of {tenant}")
        log.event(
            _log, logging.WARNING if first else logging.INFO, "budget_spent", error.message,
            tenant=tenant, rows=len(group), seconds=round(pause), error_code=error.code, hint=error.hint,
        )  # fmt: skip

    def _restrict(self, merge: Merge, writes: Sequence[Write]) -> None:
        """Hide chunks whose rights are no longer those that they have, with nothing else written."""
        self._rollback()
        held = self._queue.hold(self._claim, [write.entity for write in writes])
        merge.restrict(write for write in writes if write.entity.entity_id in held)
        with own_tables():
            self._connection.commit()

    def _write(self, merge: Merge, model: ActiveModel, group: Sequence[Write]) -> None:
        """Write a group in one transaction; when that fails, in halves until the one at fault is found."""
        self._at_work = tuple(write.entity for write in group)
        if len(self._open) > len(group):
            self._queue.renew(self._claim, self._open.values())
        for attempt in (1, 2):
            try:
                self._write_once(merge, model, group)
                return
            except Contention:
                self._rollback()
                if attempt == 2:
                    self._give_back([write.entity for write in group], pause=self._settings.poll_interval)
                    return
            except _ModelReplaced:
                self._give_back([write.entity for write in group])
                return
            except EmbeddingBudgetSpent as error:
                self._put_off(merge, group, error)
                return
            except (ModelMissing, EmbeddingDimensionMismatch) as error:
                self._rollback()
                if not self._in_force(model):  # its column or itself was taken away meanwhile
                    self._give_back([write.entity for write in group])
                    return
                if isinstance(error, ModelMissing):
                    raise
                names = sorted({write.entity.source_type for write in group})
                self._pause(names, error, [write.entity for write in group])
                return
            except (StatementFailed, EntityError, *UNFORESEEN) as error:
                self._rollback()
                if not self._in_force(model):
                    self._give_back([write.entity for write in group])
                    return
                if len(group) == 1:
                    failure = error if isinstance(error, OracleRagError) else blamed("written", error)
                    self._postpone([(group[0].entity, failure, group[0])], merge)
                    return
                break
        middle = len(group) // 2
        self._write(merge, model, group[:middle])
        self._write(merge, model, group[middle:])

    @telemetry.step("write")
    def _write_once(self, merge: Merge, model: ActiveModel, group: Sequence[Write]) -> None:
        if len(group) == 1 and len(group[0].chunks) > SLICE:
            group = [self._staged(merge, model, group[0])]
        held = self._queue.hold(self._claim, [write.entity for write in group])
        now = in_force.read(self._connection, self._schema)
        schema.require_revision(now.revision, self._schema)
        same_model = self._same_models(now, model)
        mine = [
            write
            for write in group
            if same_model and write.entity.entity_id in held and self._may(write.entity.source_type, now)
        ]
        if model.provider is not None:  # what another worker wrote meanwhile may need vectors that nobody made
            lacking = merge.lacking(mine, held)
            mine = [write for write in mine if write.entity.entity_id not in lacking]
        merged = merge.apply(mine, held, self._claim.token)
        gone = [write.entity for write in mine if write.takes_away(held[write.entity.entity_id])]
        clear_entities(self._connection, self._schema, [(one.source_type, one.source_id) for one in gone])
        self._queue.settle(self._claim, [write.entity for write in mine])
        if mine:
            self._require_in_force(model)
        with own_tables():
            self._connection.commit()
        self._tally.merged.append(merged)
        for write in mine:
            self._reported(write.entity)
            tokens = tell_written(write, held[write.entity.entity_id], model)
            self._tally.tokens += tokens if model.provider is None else 0  # a provider has counted them
        # Taken over, or of a source whose settings are no longer these: whoever is right works them off.
        rest = [write.entity for write in group if write.entity.entity_id in self._open]
        self._give_back(rest)

    def _in_force(self, model: ActiveModel) -> bool:
        return self._same_models(in_force.read(self._connection, self._schema), model)

    def _same_models(self, now: InForce, model: ActiveModel) -> bool:
        return _is(model, now) and (now.second_model, now.second_column) == _named(self._state.second)

    def _require_in_force(self, model: ActiveModel) -> None:
        """Take everything back where other models are in force since, or a second one; asked last, before the commit.

        Chunks that were written keep a change of their column away until the commit, and a model is taken out of force
        before its column is changed: what is in force now is so until the commit, as far as this column is concerned.
        """
        if not self._in_force(model):
            self._rollback()
            raise _ModelReplaced

    def _staged(self, merge: Merge, model: ActiveModel, write: Write) -> Write:
        """Write the chunks of a long document out of sight, a slice at a time, with the lease renewed in between."""
        begin, chunks = 0, None
        while True:
            held = self._queue.hold(self._claim, [write.entity]).get(write.entity.entity_id)
            if held is None:
                self._rollback()
                return write
            if chunks is None:
                chunks = merge.to_stage(write, held)
            if begin >= len(chunks):
                self._rollback()
                return dataclasses.replace(write, staged=True) if chunks else write
            part = chunks[begin : begin + SLICE]
            if self._provided is not None and self._provided.lacks(part):
                self._rollback()
                for error in self._provided.make(write.tenant, part, begun=begin > 0).values():
                    raise error
                continue
            self._tally.staged += merge.stage(write, part, first=begin == 0)
            self._require_in_force(model)
            self._queue.renew(self._claim, self._open.values())
            begin += SLICE

    def _pause(self, names: Sequence[str], error: OracleRagError, entities: Iterable[Claimed]) -> None:
        self._rollback()
        for name in names:
            in_force.pause(self._connection, self._schema, name, f"{error.code}: {error.message}")
            tell_paused(name, error)
        self._tally.paused += names
        self._state.idle_sources |= set(names)
        self._give_back(list(entities))

    def _give_back(self, entities: Sequence[Claimed], *, pause: float = 0.0, why: OracleRagError | None = None) -> None:
        if entities:
            said = None if why is None else (why.code, why.message)
            self._queue.give_back(self._claim, entities, pause=pause, why=said)
            self._tally.given_back += len(entities)
            message = "Entities were given back: they were taken over, or what is in force has changed."
            log.event(_log, logging.DEBUG, "given_back", message, rows=sum(len(entity.rows) for entity in entities))
            for entity in entities:
                self._reported(entity)

    def _postpone(
        self, failures: Sequence[tuple[Claimed, OracleRagError, Write | None]], merge: Merge | None = None
    ) -> None:
        """Write failures down; chunks that are there are hidden where the rights that were read are others."""
        if not failures:
            return
        self._rollback()
        known = [write for _, _, write in failures if write is not None and write.document is not None]
        if known and merge is not None:
            held = self._queue.hold(self._claim, [write.entity for write in known])
            merge.restrict(write for write in known if write.entity.entity_id in held)
        postponed = [self._postponed(entity, error, write) for entity, error, write in failures]
        self._queue.postpone(self._claim, postponed)
        with own_tables():
            self._connection.commit()
        for failure in postponed:
            self._reported(failure.entity)
            given_up = self._queue.gives_up(failure.entity)
            self._tally.dead += given_up
            self._tally.postponed += not given_up
            tell_failed(failure, given_up=given_up)

    def _postponed(self, entity: Claimed, error: OracleRagError, write: Write | None) -> Postponed:
        attempts = max(attempts for _, attempts in entity.rows) + 1
        pause = min(_FIRST_PAUSE * 2 ** (attempts - 1), _LONGEST_PAUSE) * self._state.jitter.uniform(0.5, 1.5)
        unread = write is None or write.document is None
        return Postponed(entity, error.code, error.message, pause, unread)

    def _rollback(self) -> None:
        with own_tables():
            self._connection.rollback()

    def _reported(self, entity: Claimed) -> None:
        """Whatever became of it, this batch has nothing more to say, and the connection is there."""
        self._open.pop(entity.entity_id, None)
        self._state.lost.pop(_first_row(entity), None)

    def _leave_to_the_lease(self) -> None:
        """Do not give back what the connection was lost with before: its claims count, and come to an end."""
        if len(self._state.lost) > _MOST_LOST:  # most of them were worked off by others
            self._state.lost.clear()
        for entity in self._at_work:
            if entity.entity_id in self._open:
                self._state.lost[_first_row(entity)] += 1
                if self._state.lost[_first_row(entity)] > 1:
                    del self._open[entity.entity_id]

    def _abandon(self, *, interrupted: bool) -> None:
        """Give back what was not reported; where that is not possible on this connection, before the next batch."""
        entities = tuple(self._open.values())
        if not entities:
            return
        if interrupted:
            self._state.unreported.append((self._claim, entities))
            return
        try:
            self._rollback()
            self._queue.give_back(self._claim, entities)
        except DatabaseError as error:
            self._state.unreported.append((self._claim, entities))
            message = f"A batch could not be given back; that is done before the next one: {error.message}"
            log.event(_log, logging.INFO, "not_given_back", message, rows=len(entities), error_code=error.code)


def _is(model: ActiveModel, now: InForce) -> bool:
    """Whether a model is the one in force, and stands in fingerprints for what it stood for when it was read."""
    return (*_named(model), model.vectors_as) == (now.model, now.column, now.vectors_as)


def _named(model: ActiveModel | None) -> tuple[str | None, str | None]:
    return (None, None) if model is None else (model.physical_name, model.column)


def _first_row(entity: Claimed) -> int:
    return min(row for row, _ in entity.rows)
