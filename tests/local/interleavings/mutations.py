"""Protocols that look as good as ours and are not: each takes one rule out of the real code, and has a run that shows it.

The numbers are those of the cases of the exhaustive model from which the protocol was taken.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from oraclerag import claim as claim_module
from oraclerag import statements as statements_module
from oraclerag.claim import Queue, _Row
from oraclerag.database import in_list, own_tables
from oraclerag.drain import _Batch
from oraclerag.records import Held
from oraclerag.source import SelectSource, SourceRead
from tests.local.interleavings.sessions import ActorSession
from tests.local.interleavings.story import Story, Transaction

__all__ = ["MUTATIONS", "Mutation"]

_HOLDER = "AND e.HOLDER = :claim_token"
_ANYBODY = "AND :claim_token IS NOT NULL"
_OWN_CLAIM = "AND CLAIM = :claim_token"
_FREE = "AND (e.HOLDER IS NULL OR e.HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))"
_TICKET_FREE = "AND (HOLDER IS NULL OR HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))"
_UNTOUCHED = "AND d.STATE = 'READY' AND d.CLAIM IS NULL"


@dataclass(frozen=True)
class Mutation:
    """A change of the real code, the run in which it goes wrong, and what is said then.

    ``texts`` are statements with what is replaced in them; ``patch`` changes methods. ``world`` belongs to the run.
    """

    case: str
    name: str
    story: Story
    schedule: str
    says: str
    texts: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    patch: Callable[[pytest.MonkeyPatch], None] | None = None
    world: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.case}-{self.name.replace(' ', '-')}"

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Run the block with the change."""
        with pytest.MonkeyPatch.context() as patch:
            if self.texts:
                whole = statements_module._sections
                changed = {name: dict(whole(name)) for name in {key.partition(".")[0] for key in self.texts}}
                for key, replacements in self.texts.items():
                    stem, _, name = key.partition(".")
                    for old, new in replacements:
                        assert old in changed[stem][name], f"{key} does not say {old!r} any more"
                        changed[stem][name] = changed[stem][name].replace(old, new)
                patch.setattr(statements_module, "_sections", lambda stem: changed.get(stem) or whole(stem))
            if self.patch is not None:
                self.patch(patch)
            yield


def _text(number: int, key: str = "1") -> Transaction:
    return Transaction((("text", key, str(number), "0"),))


def _story(*app: Transaction, op: tuple[Transaction, ...] = (), indexed: int = 1, **more: Any) -> Story:
    return Story(app=app, op=op, indexed=indexed, batch=more.pop("batch", 1), **more)


SILENT_REINDEX = (Transaction((("silent", "1"), ("reindex", "note"))),)
CHANGED_WHILE_READ = _story(_text(0), _text(1))

# Read by one worker before it writes, while another one does all of it.
OVERTAKEN = """
app
w1 > claim.hold         # it has read the first change
lease 0
app
w2                      # writes the second change
w1
"""

# -- patches ----------------------------------------------------------------------------------------------------------


def _document_rows_are_locks(patch: pytest.MonkeyPatch) -> None:
    """The document's row is locked after the claim; one that is not there is taken for new."""
    whole = SelectSource.read_each

    def read_each(self: SelectSource, connection: Any, ids: Sequence[str]) -> SourceRead:
        if isinstance(connection, ActorSession):
            listed, binds = in_list(sorted(ids))
            with connection.cursor() as cursor, own_tables():
                cursor.execute(
                    "SELECT d.ENTITY_ID FROM RAG_DOCUMENT d WHERE d.ENTITY_ID IN "
                    f"(SELECT e.ENTITY_ID FROM RAG_ENTITY e WHERE e.SOURCE_ID IN ({listed})) FOR UPDATE",
                    binds,
                )
        return whole(self, connection, ids)

    patch.setattr(SelectSource, "read_each", read_each)


def _skipped_is_new(patch: pytest.MonkeyPatch) -> None:
    whole = Queue.hold

    def hold(self: Queue, claim: Any, entities: Any) -> dict[int, Held]:
        held = whole(self, claim, entities)
        for entity in entities:
            if entity.entity_id not in held:
                held[entity.entity_id] = _unlocked(self, entity.entity_id)
        return held

    patch.setattr(Queue, "hold", hold)


def _unlocked(queue: Queue, entity_id: int) -> Held:
    with queue._connection.cursor() as cursor, own_tables():
        cursor.execute(
            "SELECT FINGERPRINT, CONTENT_HASH, DETAILS_HASH, CHUNKS FROM RAG_ENTITY WHERE ENTITY_ID = :1", [entity_id]
        )
        ((fingerprint, content_hash, details_hash, chunks),) = cursor.fetchall()
    return Held(fingerprint, content_hash, details_hash, int(chunks))


def _retry_asks_nobody(patch: pytest.MonkeyPatch) -> None:
    whole, asked = Queue.hold, set[str]()

    def hold(self: Queue, claim: Any, entities: Any) -> dict[int, Held]:
        if claim.token in asked:
            return {entity.entity_id: _unlocked(self, entity.entity_id) for entity in entities}
        asked.add(claim.token)
        return whole(self, claim, entities)

    patch.setattr(Queue, "hold", hold)


def _suspects_together(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claim_module, "_suspects_alone", lambda rows: rows)


def _first_death_counts(patch: pytest.MonkeyPatch) -> None:
    whole = Queue._bury

    def bury(self: Queue, *arguments: Any) -> Any:
        self._max_attempts -= 1
        try:
            return whole(self, *arguments)
        finally:
            self._max_attempts += 1

    patch.setattr(Queue, "_bury", bury)


def _tenant_in_the_key(patch: pytest.MonkeyPatch) -> None:
    whole = SelectSource.read_each

    def read_each(self: SelectSource, connection: Any, ids: Sequence[str]) -> SourceRead:
        plain = sorted({key.rpartition("/")[2] for key in ids})
        read = whole(self, connection, plain)
        if not any("/" in key for key in ids):  # the invariant looks at it
            return read
        documents = {
            f"{tenant}/{key}": document
            for tenant in ("acme", "beta")
            for key, document in read.documents.items()
            if document.tenant == tenant
        }
        return SourceRead({key: documents[key] for key in ids if key in documents}, {})

    patch.setattr(SelectSource, "read_each", read_each)
    patch.setattr(_Row, "key", property(lambda row: (row.source_type, f"{row.tenant_id}/{row.source_id}")))


def _settings_are_never_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Batch, "_may", lambda _self, name, now: name not in now.paused)


def _settings_are_compared_at_the_claim_only(patch: pytest.MonkeyPatch) -> None:
    whole = _Batch._may
    patch.setattr(_Batch, "_may", lambda self, name, now: bool(self._open) or whole(self, name, now))


def _read_before_the_claim(patch: pytest.MonkeyPatch) -> None:
    """As where the texts are selected together with the queue rows."""
    pick, read, run = Queue._pick, SelectSource.read_each, _Batch.run
    early: dict[Any, SourceRead] = {}
    sources: dict[Any, Any] = {}

    def begin(self: _Batch) -> Any:
        sources[self._connection] = self._sources["note"]
        return run(self)

    def picked(self: Queue, *arguments: Any) -> Any:
        rows = pick(self, *arguments)
        if rows:
            ids = sorted({row.source_id for row in rows})
            early[self._connection] = read(sources[self._connection], self._connection, ids)
        return rows

    def read_each(self: SelectSource, connection: Any, ids: Sequence[str]) -> SourceRead:
        return early.pop(connection) if connection in early else read(self, connection, ids)

    patch.setattr(_Batch, "run", begin)
    patch.setattr(Queue, "_pick", picked)
    patch.setattr(SelectSource, "read_each", read_each)


_NO_TICKET = {
    "claim.free_entities": ((_FREE, ""),),
    "claim.take_tickets": ((_TICKET_FREE, ""),),
}

MUTATIONS = (
    Mutation(
        "1", "the document's row is the lock", _story(_text(0), _text(1), indexed=0), """
        app
        w1 > claim.hold         # no row to lock: it is taken for new, and read
        app
        w2                      # the same, with the second change
        w1
        """,
        says="the source says",
        texts={
            "claim.free_entities": ((_FREE, ""), ("FOR UPDATE SKIP LOCKED", "")),
            "claim.take_tickets": ((_TICKET_FREE, ""),),
            "claim.hold": ((_HOLDER, _ANYBODY), ("FOR UPDATE SKIP LOCKED", "")),
            "merge.note_entity": (("AND HOLDER = :claim_token", _ANYBODY),),
        },
        patch=_document_rows_are_locks,
    ),
    Mutation(
        "3", "what is skipped is taken for new", CHANGED_WHILE_READ, """
        app
        w1 > claim.hold         # it has read the first change
        lease 0
        app
        w2 > claim.settle       # writes the second change and has the lock
        w1                      # waits for it behind the lock, and writes the first one over it
        w2
        """,
        says="the source says",
        patch=_skipped_is_new,
    ),
    Mutation(
        "7", "waiting for another worker's entity is an attempt", CHANGED_WHILE_READ, """
        app
        w1 > claim.hold
        app
        w2                      # the entity is held
        pauses
        w2                      # and held
        w1
        """,
        says="DEAD though not at fault",
        texts={
            "claim.come_back": (
                ("SET AVAILABLE_AT", "SET ATTEMPTS = ATTEMPTS + 1, STATE = DECODE(ATTEMPTS, 1, 'DEAD', STATE), AVAILABLE_AT"),
            )
        },
    ),
    Mutation(
        "9", "suspects together", _story(Transaction((("text", "1", "0", "0"), ("text", "2", "0", "0"))), indexed=2, batch=2, workers=1), """
        app
        w1 > claim.hold
        w1 dies
        lease 0
        w1 > claim.hold
        w1 dies
        lease 0
        w1 > claim.hold
        w1 dies
        lease 0
        w1
        """,
        says="DEAD though it was alone in 0 claims",
        patch=_suspects_together,
    ),
    Mutation(
        "9b", "the first death counts", _story(Transaction((("text", "1", "0", "0"), ("text", "2", "0", "0"))), indexed=2, batch=2, workers=1), """
        app
        w1 > claim.hold         # both
        w1 dies
        lease 0
        w1 > claim.hold         # one alone
        w1 dies
        lease 0
        w1
        """,
        says="DEAD though it was alone in 1 claims",
        patch=_first_death_counts,
    ),
    Mutation(
        "10", "what was read is written again after a rollback", CHANGED_WHILE_READ, """
        app
        w1 > merge.note_entity
        w1 deadlock
        w1 >> rollback          # of the batch; what was read is still known
        lease 0
        app
        w2                      # writes the second change
        w1
        """,
        says="the source says",
        patch=_retry_asks_nobody,
    ),
    Mutation(
        "11", "any row that waits suppresses a reindex", _story(_text(0), op=SILENT_REINDEX), """
        app
        w1 > claim.hold         # it has read the first change
        op                      # a change that nothing announces, and the reindex after it
        w1
        """,
        says="the source says",
        texts={"backfill.not_waiting": ((_UNTOUCHED, "AND d.STATE = 'READY'"),)},
    ),
    Mutation(
        "12", "a row whose lease is over suppresses a reindex", _story(_text(0), op=SILENT_REINDEX), """
        app
        w1 > claim.hold
        lease 0
        op
        w1                      # slow, and alone: its ticket is still its own
        """,
        says="the source says",
        texts={
            "backfill.not_waiting": (
                (_UNTOUCHED, "AND d.STATE = 'READY' AND (d.CLAIM IS NULL OR d.AVAILABLE_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP))"),
            )
        },
    ),
    Mutation(
        "12b", "rows are settled and given back whoever has claimed them", _story(_text(0), op=SILENT_REINDEX), """
        app
        w1 > claim.hold
        lease 0
        w2 > claim.hold         # has read the first change as well
        w1                      # was taken over; gives back a row that is no longer its own
        op                      # the row looks untouched
        w2
        """,
        says="the source says",
        texts={"claim.settle": ((_OWN_CLAIM, _ANYBODY),), "claim.give_back": ((_OWN_CLAIM, _ANYBODY),)},
    ),
    Mutation(
        "13", "the tenant is part of the key", _story(_text(0), Transaction((("move", "1", "0", "0"),)), indexed=0), """
        app
        w1
        app                     # moves it, and announces it under its new tenant
        w1
        """,
        says="acme",
        patch=_tenant_in_the_key,
        world={"identity": lambda key: key.rpartition("/")[2]},
    ),
    Mutation(
        "15", "settings are never compared", _story(op=(Transaction((("deploy", "1"),)),)), """
        op                      # every entity is in the queue, for its new text
        w1                      # was started before
        """,
        says="the source says",
        patch=_settings_are_never_compared,
    ),
    Mutation(
        "15b", "settings are compared at the claim only", _story(_text(0), op=(Transaction((("deploy", "1"),)),)), """
        app
        w1 > claim.pick         # its settings are in force
        op
        w1
        """,
        says="the source says",
        patch=_settings_are_compared_at_the_claim_only,
    ),
    Mutation(
        "16", "read before the claim is committed", CHANGED_WHILE_READ, """
        app
        w1 > claim.entities     # has picked the row of the first change, and read
        app
        w2                      # writes the second change, and is done with the entity
        w1
        """,
        says="the source says",
        patch=_read_before_the_claim,
    ),
    Mutation(
        "17", "settled by key", CHANGED_WHILE_READ, """
        app
        w1 > claim.hold         # it has read the first change
        app
        w1
        """,
        says="the source says",
        texts={
            "claim.settle": (
                ("DIRTY_ID IN", "(SOURCE_TYPE, SOURCE_ID) IN (SELECT d.SOURCE_TYPE, d.SOURCE_ID FROM /*schema*/RAG_DIRTY d WHERE d.DIRTY_ID IN"),
                (_OWN_CLAIM, "AND d.CLAIM = :claim_token)"),
            )
        },
    ),
    Mutation(
        "18", "no ticket", CHANGED_WHILE_READ, """
        app
        w1 > claim.hold         # it has read the first change
        app
        w2                      # writes the second change
        w1
        """,
        says="the source says",
        texts={
            **_NO_TICKET,
            "claim.hold": ((_HOLDER, _ANYBODY),),
            "merge.note_entity": (("AND HOLDER = :claim_token", _ANYBODY),),
        },
    ),
    Mutation(
        "27", "the ticket is not looked at before the write", CHANGED_WHILE_READ, OVERTAKEN,
        says="the source says",
        texts={"claim.hold": ((_HOLDER, _ANYBODY),)},
    ),
)  # fmt: skip
