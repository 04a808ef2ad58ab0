"""One entity, in every order: many rows are one embedding, its life ends as the source says, and a move is a move."""

from __future__ import annotations

import random
from itertools import product

import pytest

from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.local.interleavings.play import Play
from tests.local.interleavings.schedule import follow, go_on
from tests.local.interleavings.story import Story, Transaction
from tests.local.interleavings.world import Installation

pytestmark = pytest.mark.one_size("standard")

LIFE = tuple(Transaction(((what, "1", str(n), "0"),)) for n, what in enumerate(("text", "text", "delete", "text")))


def next_move(play: Play) -> None:
    """Let the worker claim, or read, or write: whatever is next."""
    worker = play.actors["w1"]
    if worker.idle:
        if worker in play.director.can_go():
            go_on(play, "w1", "source.read")
    else:
        go_on(play, "w1", "claim.hold" if worker.at == "source.read" else None)


@pytest.mark.parametrize("indexed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_life_of_an_entity_ends_as_the_source_says(stage: Installation, indexed: int) -> None:
    """Insert, update, delete, reinsert, each before or after each claim, read and write of a worker."""
    seen = set()
    for moves in product(range(4), repeat=3):
        play = Play(stage, Story(app=LIFE, workers=1, entities=1, indexed=indexed, batch=32))
        with play:
            for count in (*moves, 0):
                go_on(play, "app", None)
                for _ in range(count):
                    next_move(play)
            problems = play.close()
        assert problems == [], "\n".join(play.director.trace)
        seen.add(tuple(play.director.trace))
    assert len(seen) > 30


@pytest.mark.parametrize(("batch", "workers"), [(32, 1), (1, 1), (1, 3)])
def test_many_rows_of_an_entity_are_one_embedding(stage: Installation, batch: int, workers: int) -> None:
    once = (("text", "1", "0", "0"), *([("nothing", "1", "0", "0")] * 6))
    play = Play(stage, Story(app=(Transaction(once),), workers=workers, entities=1, indexed=1, batch=batch))
    with play:
        go_on(play, "app", None)
        play.settle(random.Random(7).choice)
        problems = play.close()
    assert problems == []
    trace = play.director.trace
    assert sum(step.endswith(": merge.embed") for step in trace) == 1
    assert sum(step.endswith(": source.read") for step in trace) == (1 if batch == 32 else 7)


@pytest.mark.parametrize("when", ["claim.pick", "source.read", "claim.hold", "merge.note_entity"])
def test_who_moved_is_found_by_nobody_of_its_old_tenant(stage: Installation, when: str) -> None:
    story = Story(app=(LIFE[0], Transaction((("move", "1", "0", "0"),))), workers=2, entities=1, indexed=1)
    outcome = follow(stage, story, f"app\nw1 > {when}\napp\nw2\nw1\npauses\nw1")
    assert outcome.problems == [], "\n".join(outcome.trace)
    rag = Rag(stage.settings)
    try:
        found = {
            tenant: [hit.content for hit in rag.search("text", scope=Scope(tenant=tenant, owner="7"))]
            for tenant in ("acme", "beta")
        }
    finally:
        rag.close()
    assert found == {"acme": [], "beta": ["v0 [NOTE #1] text 0"]}
