"""One batch of the queue: claim → read → chunk → write → settle, or postpone, or give back.

What goes wrong is told apart by whom it concerns. One entity at fault is postponed alone. What would hit every entity
of a source pauses the source, once, and counts against no row. An outage gives everything back, counts against no row,
and is raised: the worker slows down.
"""

from __future__ import annotations

import dataclasses
import logging
import random
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import oracledb

from oraclerag import in_force
from oraclerag.chunk import CHUNKERS, Limits, storable
from oraclerag.claim import Claim, Postponed, Queue, Turns
from oraclerag.config import Settings
from oraclerag.database import Database, own_tables
from oraclerag.errors import (
    ConfigurationError,
    Contention,
    DatabaseError,
    EmbeddingDimensionMismatch,
    EntityError,
    ModelMissing,
    OracleRagError,
    PrivilegeMissing,
    SourceError,
    StatementFailed,
)
from oraclerag.in_force import InForce
from oraclerag.merge import SLICE, Merge, Merged, Write
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.records import Claimed, Document, DrainReport, fingerprint_half
from oraclerag.source import FunctionSource, Source, SourceRead

__all__ = ["WorkerState", "drain"]

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # seconds before a failed entity is tried again

# What a value raises for which nobody was prepared: a date that Python does not know, a text that has no UTF-8. Its row
# must not end the worker, again and again, for ever.
_UNFORESEEN = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)


class _ModelReplaced(Exception):
    """Another model has come into force than the one that a batch was read for."""


@dataclass(slots=True)
class WorkerState:
    """What a worker remembers from batch to batch; losing it costs nothing but a few statements."""

    turns: Turns = field(default_factory=Turns)
    model: ActiveModel | None = None
    idle_sources: frozenset[str] = frozenset()
    unreported: list[tuple[Claim, tuple[Claimed, ...]]] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)
    jitter: random.Random = field(default_factory=random.Random)


def drain(
    database: Database, sources: Mapping[str, Source], settings: Settings, *, state: WorkerState | None = None
) -> DrainReport:
    """Work one batch off; an empty report means that nothing waits for this worker.

    Raises what stops the whole worker: ModelNotActive, SchemaMissing, ConnectionFailed and other outages. Rows that
    were claimed are given back before that; where even that fails, the next call does it first.
    """
    began = time.monotonic()
    state = state if state is not None else WorkerState()
    with database.connect() as connection:
        queue = Queue(connection, database.schema, lease=settings.lease, max_attempts=settings.max_attempts)
        while state.unreported:
            claim, entities = state.unreported[-1]
            queue.give_back(claim, entities)
            state.unreported.pop()
        batch = _Batch(connection, database.schema, queue, sources, settings, state)
        report = batch.run()
    return dataclasses.replace(report, seconds=time.monotonic() - began)


@dataclass(slots=True)
class _Tally:
    claimed: int = 0
    postponed: int = 0
    dead: int = 0
    given_back: int = 0
    merged: list[Merged] = field(default_factory=list)
    staged: int = 0
    paused: list[str] = field(default_factory=list)

    def report(self) -> DrainReport:
        return DrainReport(
            claimed=self.claimed,
            indexed=sum(merged.indexed for merged in self.merged),
            unchanged=sum(merged.unchanged for merged in self.merged),
            deleted=sum(merged.deleted for merged in self.merged),
            postponed=self.postponed,
            dead=self.dead,
            given_back=self.given_back,
            embedded=self.staged + sum(merged.embedded for merged in self.merged),
            paused=tuple(self.paused),
        )


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
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._queue = queue
        self._sources = sources
        self._settings = settings
        self._state = state
        self._tally = _Tally()
        self._fingerprints: dict[str, str] = {}
        self._open: dict[int, Claimed] = {}  # not yet reported
        self._claim = Claim("", ())

    def run(self) -> DrainReport:
        if not self._find():
            return self._tally.report()
        try:
            model = self._state.model
            assert model is not None  # noqa: S101 - _find has set it
            merge = Merge(self._connection, self._schema, model)
            for group in _groups(self._prepared(model)):
                self._write(merge, model, group)
        except BaseException:
            self._abandon()
            raise
        return self._tally.report()

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
                self._tally.dead += claim.buried
                self._tally.claimed += claim.buried
                if claim.entities:
                    state.turns.batches += 1
                    self._claim = claim
                    self._open = {entity.entity_id: entity for entity in claim.entities}
                    self._tally.claimed += sum(len(entity.rows) for entity in claim.entities)
                    return True
                if claim.buried:
                    return False
        return False

    def _served(self, now: InForce) -> dict[str, bool]:
        """Give the sources whose rows this worker may take, each with whether it maps tenants."""
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
            _log.error(
                "source %s: other settings are in force than this worker has; it is left alone. "
                "Deploy the same configuration everywhere, then run `oraclerag reindex`.",
                name,
            )
            self._state.warned.add(name)
        if same:
            self._state.warned.discard(name)
        return same

    def _model(self, now: InForce) -> ActiveModel:
        known = self._state.model
        if known is None or (known.physical_name, known.column) != (now.model, now.column):
            known = active_model(self._connection, self._schema, configured=self._settings.embedding_model)
            self._state.model = known
        return known

    def _prepared(self, model: ActiveModel) -> list[Write]:
        """Read what was claimed and cut it into chunks; what fails is postponed, or its source paused."""
        limits = Limits(model.max_tokens, model.counter.count, model.passage_prefix)
        writes: list[Write] = []
        failures: list[tuple[Claimed, OracleRagError]] = []
        by_source: dict[str, dict[str, Claimed]] = defaultdict(dict)
        for entity in self._claim.entities:
            by_source[entity.source_type][entity.source_id] = entity
        for name, entities in by_source.items():
            source = self._sources[name]
            try:
                read = self._read(source, list(entities))
            except (SourceError, ConfigurationError, PrivilegeMissing) as error:
                self._pause([name], error, entities.values())
                continue
            if isinstance(source, FunctionSource):  # whatever it began is none of this batch's business
                self._rollback()
            failures += [(entities[key], error) for key, error in read.failures.items()]
            for key, entity in entities.items():
                if key in read.failures:
                    continue
                try:
                    writes.append(self._prepare(entity, source, read.documents.get(key), limits))
                except EntityError as error:
                    failures.append((entity, error))
        self._postpone([(entity, error, None) for entity, error in failures])
        return sorted(writes, key=lambda write: write.entity.entity_id)

    def _read(self, source: Source, ids: list[str]) -> SourceRead:
        """Read a source; what fails on some row is tried with fewer ids until that row is found."""
        failure: OracleRagError
        try:
            return source.read_each(self._connection, ids)
        except StatementFailed as error:
            failure = error
        except _UNFORESEEN as error:
            failure = _blamed("read", error)
        source.verify(self._connection)  # raises what is wrong with the source as a whole
        if len(ids) == 1:
            return SourceRead({}, {ids[0]: failure})
        halves = [self._read(source, part) for part in (ids[: len(ids) // 2], ids[len(ids) // 2 :])]
        return SourceRead(
            {key: document for half in halves for key, document in half.documents.items()},
            {key: error for half in halves for key, error in half.failures.items()},
        )

    def _prepare(self, entity: Claimed, source: Source, document: Document | None, limits: Limits) -> Write:
        fingerprint = self._fingerprints[source.name]
        if document is None or document.tenant is None:
            return Write(entity, fingerprint, None)
        document = dataclasses.replace(
            document,
            text=storable(document.text),
            title=None if not document.title else storable(document.title),
        )
        try:
            chunks = CHUNKERS[source.settings.chunker](document.text, limits)
            return Write(entity, fingerprint, document, tuple(chunks))
        except _UNFORESEEN as error:
            # one document that no chunker was written for stops nobody else
            raise _blamed("cut into chunks", error) from error

    def _write(self, merge: Merge, model: ActiveModel, group: Sequence[Write]) -> None:
        """Write a group in one transaction; when that fails, in halves until the one at fault is found."""
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
            except (StatementFailed, EntityError, *_UNFORESEEN) as error:
                self._rollback()
                if not self._in_force(model):
                    self._give_back([write.entity for write in group])
                    return
                if len(group) == 1:
                    failure = error if isinstance(error, OracleRagError) else _blamed("written", error)
                    self._postpone([(group[0].entity, failure, group[0])], merge)
                    return
                break
        middle = len(group) // 2
        self._write(merge, model, group[:middle])
        self._write(merge, model, group[middle:])

    def _write_once(self, merge: Merge, model: ActiveModel, group: Sequence[Write]) -> None:
        if len(group) == 1 and len(group[0].chunks) > SLICE:
            group = [self._staged(merge, model, group[0])]
        held = self._queue.hold(self._claim, [write.entity for write in group])
        now = in_force.read(self._connection, self._schema)
        same_model = (now.model, now.column) == (model.physical_name, model.column)
        mine = [
            write
            for write in group
            if same_model and write.entity.entity_id in held and self._may(write.entity.source_type, now)
        ]
        merged = merge.apply(mine, held, self._claim.token)
        self._queue.settle(self._claim, [write.entity for write in mine])
        if mine:
            self._require_in_force(model)
        with own_tables():
            self._connection.commit()
        self._tally.merged.append(merged)
        for write in mine:
            del self._open[write.entity.entity_id]
        # Taken over, or of a source whose settings are no longer these: whoever is right works them off.
        rest = [write.entity for write in group if write.entity.entity_id in self._open]
        self._give_back(rest)

    def _in_force(self, model: ActiveModel) -> bool:
        now = in_force.read(self._connection, self._schema)
        return (now.model, now.column) == (model.physical_name, model.column)

    def _require_in_force(self, model: ActiveModel) -> None:
        """Take everything back where another model has come into force since; asked last, before the commit.

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
            self._tally.staged += merge.stage(write, chunks[begin : begin + SLICE], first=begin == 0)
            self._require_in_force(model)
            self._queue.renew(self._claim, self._open.values())
            begin += SLICE

    def _pause(self, names: Sequence[str], error: OracleRagError, entities: Iterable[Claimed]) -> None:
        self._rollback()
        for name in names:
            in_force.pause(self._connection, self._schema, name, f"{error.code}: {error.message}")
            _log.error("source %s is paused: %s (%s)", name, error.message, error.hint or "`oraclerag source check`")
        self._tally.paused += names
        self._state.idle_sources |= set(names)
        self._give_back(list(entities))

    def _give_back(self, entities: Sequence[Claimed], *, pause: float = 0.0) -> None:
        if entities:
            self._queue.give_back(self._claim, entities, pause=pause)
            self._tally.given_back += len(entities)
            for entity in entities:
                self._open.pop(entity.entity_id, None)

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
            del self._open[failure.entity.entity_id]
            entity = failure.entity
            given_up = self._queue.gives_up(entity)
            self._tally.dead += given_up
            self._tally.postponed += not given_up
            _log.warning(
                "%s:%s %s: %s (%s)",
                entity.source_type,
                entity.source_id,
                "is given up" if given_up else "is postponed",
                failure.message,
                failure.error_code,
            )

    def _postponed(self, entity: Claimed, error: OracleRagError, write: Write | None) -> Postponed:
        attempts = max(attempts for _, attempts in entity.rows) + 1
        pause = min(_FIRST_PAUSE * 2 ** (attempts - 1), _LONGEST_PAUSE) * self._state.jitter.uniform(0.5, 1.5)
        unread = write is None or write.document is None
        return Postponed(entity, error.code, error.message, pause, unread)

    def _rollback(self) -> None:
        with own_tables():
            self._connection.rollback()

    def _abandon(self) -> None:
        """Give back what was not reported; where that is not possible now, before the next batch."""
        entities = tuple(self._open.values())
        if not entities:
            return
        try:
            self._rollback()
            self._queue.give_back(self._claim, entities)
        except DatabaseError:
            self._state.unreported.append((self._claim, entities))


def _blamed(what: str, error: Exception) -> EntityError:
    """Make an entity's own failure of an error that nobody foresaw. Its text may repeat data; the log says where."""
    where = "".join(traceback.format_tb(error.__traceback__))
    _log.error("an entity cannot be %s (%s)\n%s", what, type(error).__name__, where)
    failure = EntityError(f"The entity cannot be {what} ({type(error).__name__}).")
    failure.__cause__ = error
    return failure


def _groups(writes: Sequence[Write]) -> list[list[Write]]:
    """Put writes together until they have a slice of chunks; a longer document stands alone."""
    groups: list[list[Write]] = []
    size = 0
    for write in writes:
        chunks = max(len(write.chunks), 1)
        if not groups or size + chunks > SLICE:
            groups.append([])
            size = 0
        groups[-1].append(write)
        size += chunks
    return groups
