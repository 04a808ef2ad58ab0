"""What happens in a run: the application's transactions, the workers, and how much may go wrong. A seed gives one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.local.interleavings.world import ENTITIES, VERSIONS, type_of

__all__ = ["ACTORS", "WORKERS", "Change", "Story", "Transaction"]

WORKERS = ("w1", "w2", "w3", "w4")
ACTORS = (*WORKERS, "app", "op")

Change = tuple[str, ...]


@dataclass(frozen=True)
class Transaction:
    """What the application does at once. ``op`` runs backfills instead of changes: deploy, reindex, start; retry, purge, resume."""

    changes: tuple[Change, ...]
    commit: bool = True


@dataclass(frozen=True)
class Story:
    """Everything about a run but the order of its steps.

    ``by_key``: how likely a worker's batch is what is due of given entities, as where somebody waits for them.
    """

    app: tuple[Transaction, ...]
    op: tuple[Transaction, ...] = ()
    workers: int = 2
    entities: int = 2
    indexed: int = 2  # entities that are there and indexed when it begins
    batch: int = 2
    slice: int = 256  # chunks that one transaction writes
    crashes: int = 0
    lease_ends: int = 0
    cuts: int = 0
    deadlocks: int = 0
    refusals: int = 0
    broken: int = 0  # batches in which the source's tables are gone
    staying: float = 0.7  # how likely the same actor goes on
    slowness: float = 0.0  # how likely a worker takes long over a statement, while the others go on
    by_key: float = 0.0

    @classmethod
    def of_seed(cls, chance: random.Random) -> Story:
        entities = chance.randint(2, 4)
        keys = list(ENTITIES[:entities])
        chance.shuffle(keys)
        app = tuple(_transaction(chance, keys, number) for number in range(chance.choice((2, 2, 3, 3, 4))))
        op = tuple(_operation(chance, keys) for _ in range(chance.choice((0, 0, 1, 1, 2))))
        return cls(
            app=app,
            op=op,
            workers=chance.choice((1, 2, 2, 2, 3, 4)),
            entities=entities,
            indexed=chance.randint(0, entities),
            batch=chance.choice((1, 2, 3, 32)),
            slice=chance.choice((256, 256, 256, 1)),
            crashes=chance.choice((0, 0, 1, 2, 4)),
            lease_ends=chance.choice((0, 1, 2, 3)),
            cuts=chance.choice((0, 0, 1, 2)),
            deadlocks=chance.choice((0, 0, 0, 1)),
            refusals=chance.choice((0, 0, 0, 1)),
            broken=chance.choice((0, 0, 0, 0, 1)),
            staying=chance.choice((0.3, 0.7, 0.9, 0.95)),
            slowness=chance.choice((0.0, 0.1, 0.2)),
            by_key=chance.choice((0.0, 0.0, 0.3)),
        )


def _transaction(chance: random.Random, keys: Sequence[str], number: int) -> Transaction:
    changes = [_change(chance, _key(chance, keys), number)]
    if chance.random() < 0.3:
        changes.append(_change(chance, _key(chance, keys), number))
    return Transaction(tuple(changes), commit=chance.random() < 0.85)


def _key(chance: random.Random, keys: Sequence[str]) -> str:
    """Choose an entity; one is hot."""
    return keys[0] if chance.random() < 0.6 else chance.choice(keys)


def _change(chance: random.Random, key: str, number: int) -> Change:
    what = chance.choices(
        (
            "text",
            "long",
            "delete",
            "move",
            "owner",
            "nobody",
            "nothing",
            "reinsert",
            "unreadable",
            "unwritable",
            "untold",
        ),
        (25, 8, 14, 12, 5, 4, 8, 8, 4, 4, 3),
    )[0]
    lane = "1" if chance.random() < 0.15 else "0"
    return what, key, str(number), lane


def _operation(chance: random.Random, keys: Sequence[str]) -> Transaction:
    what = chance.choice(("deploy", "deploy", "reindex", "silent", "silent", "start", "retry", "purge", "resume"))
    if what == "deploy":
        return Transaction((("deploy", str(chance.randrange(VERSIONS))),))
    if what == "silent":
        key = _key(chance, keys)
        return Transaction((("silent", key), ("reindex", type_of(key))))
    if what == "reindex":
        return Transaction((("reindex", chance.choice(("note", "memo"))),))
    return Transaction(((what,),))
