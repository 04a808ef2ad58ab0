"""What a backfill would enqueue, and what working it off costs about; nothing is written.

The entities are counted. Tokens and time are estimated: a sample of them is drawn, read and rendered as a worker does,
its tokens are counted by the model's own counter, and a few of its texts are embedded by the database to see how long
that takes there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import oracledb

from oraclerag.backfill.selection import Selection
from oraclerag.chunk import Limits
from oraclerag.config import Settings
from oraclerag.database import Database, in_list, own_tables, parts
from oraclerag.errors import EntityError, OracleRagError
from oraclerag.merge import Write, text_hash
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.external import configured_name
from oraclerag.records import BackfillEstimate, Claimed, fingerprint_half
from oraclerag.render import read, rendered
from oraclerag.security import require_unrestricted
from oraclerag.source import Source, SourceRead
from oraclerag.source.ranges import KeyRange
from oraclerag.statements import Statements

__all__ = ["SAMPLE", "Sample", "estimate"]

SAMPLE = 200
"""Entities that are read and rendered."""

_TEXTS = 8  # that are embedded, one call each
_CHARACTERS = 1000  # of each of them: a longer bind of a query is a LONG where MAX_STRING_SIZE is STANDARD (ORA-01461)


def estimate(
    database: Database,
    source: Source,
    settings: Settings,
    *,
    everything: bool = False,
    tenant: str | None = None,
    seed: int | None = None,
) -> BackfillEstimate:
    """Say what :func:`backfill` would enqueue, and about how many tokens and minutes that is for one worker.

    ``seed`` (0 to 4,294,967,295) draws the sample; another one each time where none is given. Writes nothing. Raises as
    :func:`backfill` does, but for Contention: this is in nobody's way.
    """
    tenant = source.narrowed(tenant)
    seed = seed if seed is not None else random.randrange(2**32)  # noqa: S311 - a sample, no secret  # nosec B311
    with database.connect() as connection:
        require_unrestricted(connection, database.schema, "A backfill")
        model = active_model(connection, database.schema, configured=configured_name(settings))
        sql = Statements("backfill", database.schema)
        fingerprint = source.fingerprint(model)
        chosen = Selection(connection, sql, source, tenant=tenant, fingerprint=fingerprint, column=model.column)
        total = chosen.total()[0]
        wanted = chosen.new(chosen.wanted(KeyRange(), everything=everything), given_up=True)
        entities = chosen.count(wanted)
        gone = chosen.count(chosen.new(chosen.gone(KeyRange()), given_up=True))
        ids = chosen.sample(wanted, SAMPLE, seed) if entities else []
        sample = Sample(connection, database.schema, source, model, ids)
        tokens = 0 if not entities else sample.tokens(entities)
        minutes = 0.0 if not entities else sample.minutes(entities, tokens)
        chunks = 0 if not entities else sample.chunks(entities)
        return BackfillEstimate(source.name, entities, gone, total, len(sample.writes), tokens, minutes, chunks)


class Sample:
    """Entities that were read and rendered as a worker does it, with what of them must be embedded.

    ``failures`` are the entities that could not be read or rendered.
    """

    def __init__(
        self, connection: oracledb.Connection, schema: str, source: Source, model: ActiveModel, ids: Sequence[str]
    ) -> None:
        self._connection = connection
        self._sql = Statements("backfill", schema)
        self._source = source
        self._model = model
        self.failures: dict[str, OracleRagError] = {}
        began = time.monotonic()
        self.writes = self._rendered(ids)
        self._seconds = time.monotonic() - began
        self._passages = [model.passage_prefix + text for text in self._to_embed()]

    def chunks(self, entities: int) -> int | None:
        """Extrapolate the chunks of so many entities, embedded already or not; None where nothing could be read."""
        if not self.writes:
            return None
        return round(sum(len(write.chunks) for write in self.writes) / len(self.writes) * entities)

    def tokens(self, entities: int) -> int | None:
        """Extrapolate the tokens that must be embedded to so many entities; None where nothing could be read."""
        if not self.writes:
            return None
        return round(sum(map(self._model.counter.count, self._passages)) / len(self.writes) * entities)

    def minutes(self, entities: int, tokens: int | None) -> float | None:
        """Extrapolate the time of one worker: reading and rendering, and embedding at the speed that is measured.

        None where nothing could be read, or a provider embeds.
        """
        if not self.writes or tokens is None or self._model.provider is not None:  # a provider's time costs
            return None
        return (self._seconds / len(self.writes) * entities + self._seconds_per_token() * tokens) / 60

    def _rendered(self, ids: Sequence[str]) -> list[Write]:
        limits = Limits.of(self._model)
        fingerprint = self._source.fingerprint(self._model)
        writes = []
        found = read(self._source, self._connection, ids) if ids else SourceRead({})
        for key, document in found.documents.items():
            entity = Claimed(0, self._source.name, key, (), ())
            try:
                writes.append(rendered(entity, self._source, document, limits=limits, fingerprint=fingerprint))
            except EntityError as error:  # it will be postponed; the others say what those cost that work
                self.failures[key] = error
        self.failures |= found.failures
        return writes

    def _to_embed(self) -> list[str]:
        """Give the texts of chunks that are not in the index, or there by another model."""
        mine = fingerprint_half(self._source.fingerprint(self._model), "model")
        known = set()
        with self._connection.cursor() as cursor, own_tables():
            for part in parts([write.entity.source_id for write in self.writes]):
                listed, binds = in_list(part)
                cursor.arraysize = cursor.prefetchrows = 1000
                cursor.execute(self._sql.with_names("chunks", ids=listed), {**binds, "source_type": self._source.name})
                for key, fingerprint, number, content_hash in cursor:
                    if fingerprint_half(fingerprint, "model") == mine:
                        known.add((key, int(number), content_hash))
        return [
            chunk.content
            for write in self.writes
            for chunk in write.chunks
            if (write.entity.source_id, chunk.number, text_hash(chunk.content)) not in known
        ]

    def _seconds_per_token(self) -> float:
        """Embed a few of the texts and see how long the database takes."""
        passages = [passage[:_CHARACTERS] for passage in self._passages[:: max(len(self._passages) // _TEXTS, 1)]]
        passages = passages[:_TEXTS]
        if not passages:
            return 0.0
        statement = self._sql.with_names("embed", model=self._model.sql_name)
        with self._connection.cursor() as cursor, own_tables():
            cursor.execute(statement, passage=passages[0])  # the first one may load the model
            cursor.fetchall()
            began = time.monotonic()
            for passage in passages:
                cursor.execute(statement, passage=passage)
                cursor.fetchall()
            seconds = time.monotonic() - began
        return seconds / max(sum(map(self._model.counter.count, passages)), 1)
