"""Runs from seeds: a story, the order of its steps, and when what goes wrong, all chosen by the seed."""

from __future__ import annotations

import random

from tests.local.interleavings.actors import Actor, Order
from tests.local.interleavings.play import Outcome, Play, Violation
from tests.local.interleavings.story import Story
from tests.local.interleavings.world import MEMO, Installation

__all__ = ["play_seed"]

_STEPS = 400
_LONG = {  # between these and what was before, a worker may take any time
    "claim.entities", "claim.free_entities", "source.read", "claim.hold", "merge.chunks", "merge.note_entity",
    "claim.settle", "commit",
}  # fmt: skip


def play_seed(installation: Installation, seed: int) -> Outcome:
    """Play the run of a seed to its end. Raises Violation, with the seed and the trace, where something is wrong."""
    chance = random.Random(seed)
    story = Story.of_seed(chance)
    play = Play(installation, story, seed)
    problems: list[str] = []
    try:
        with play:
            _chaos(play, chance)
            play.wind_down(chance.choice)
            problems = play.close()
    except Exception as error:
        raise Violation(_told(seed, story, play.director.trace, [f"{type(error).__name__}: {error}"])) from error
    if problems:
        raise Violation(_told(seed, story, play.director.trace, problems))
    return Outcome(play.director.trace, problems)


def _chaos(play: Play, chance: random.Random) -> None:
    """Choose steps until the writers are done and the workers idle, or for so many steps."""
    story, director = play.story, play.director
    budget = {
        Order.CRASH: story.crashes, Order.CUT: story.cuts, Order.CUT_AFTER: story.cuts,
        Order.DEADLOCK: story.deadlocks, Order.REFUSED: story.refusals, Order.BROKEN: story.broken,
    }  # fmt: skip
    lease_ends = story.lease_ends
    last: Actor | None = None
    slow: dict[Actor, int] = {}  # who does not go on for a while, and until which step
    for step in range(_STEPS):
        ready = director.can_go()
        if not ready:
            if not any(actor.blocked for actor in director.actors):
                if all(actor.done for actor in director.actors if actor.name in ("app", "op")):
                    return
                raise AssertionError("nobody can go on")
            director.look(0.05)
            continue
        slow = {actor: until for actor, until in slow.items() if until > step}
        ready = [actor for actor in ready if actor not in slow] or ready
        if lease_ends and chance.random() < (0.15 if slow else 0.03) and (claims := play.world.claims()):
            lease_ends -= 1
            number = chance.randrange(len(claims))
            ticket_only = chance.random() < 0.2
            director.note(f"clock: the lease of claim {number} ends" + (", the ticket first" if ticket_only else ""))
            play.world.end_lease(claims[number], ticket_only=ticket_only)
        if chance.random() < 0.03 and play.world.end_pauses():
            director.note("clock: pauses end")
        stays = (
            last in ready and chance.random() < story.staying and not last.at.startswith(("transaction", "operation"))
        )
        actor = last if stays else _one_of(ready, chance)
        assert actor is not None
        last = actor
        if actor not in slow and actor.at in _LONG and chance.random() < story.slowness:
            slow[actor] = step + chance.choice((30, 60, 100))
            continue
        order = _order(actor, budget, chance)
        if order is Order.BROKEN:
            play.world.at_fault.add(MEMO)  # nobody can tell a function's failure from its only entity's
        if order is not Order.GO:
            budget[order] -= 1
        director.step(actor, order)


def _one_of(ready: list[Actor], chance: random.Random) -> Actor:
    """Choose who goes on; looks at the queue and further transactions come seldom, so that they meet work under way."""
    seldom = [actor.idle or actor.at.startswith(("transaction", "operation")) for actor in ready]
    return chance.choices(ready, [0.15 if each else 1.0 for each in seldom])[0]


def _order(actor: Actor, budget: dict[Order, int], chance: random.Random) -> Order:
    """Let something go wrong at a statement of a worker or of a backfill, now and then."""
    if actor.idle or actor.name == "app" or actor.at.startswith(("its ", "the next", "operation", "a look")):
        return Order.GO
    if actor.at == "source.read" and actor.name != "op" and budget[Order.BROKEN] and chance.random() < 0.3:
        return Order.BROKEN
    if chance.random() > 0.06:
        return Order.GO
    order = chance.choice([order for order, left in budget.items() if left] or [Order.GO])
    if order is Order.BROKEN:
        return Order.GO
    if order is Order.REFUSED and not actor.at.startswith("merge."):
        return Order.GO
    if order is Order.DEADLOCK and actor.at in ("commit", "rollback"):
        return Order.GO
    return order


def _told(seed: int, story: Story, trace: list[str], problems: list[str]) -> str:
    return "\n".join([f"seed {seed}: {story}", *problems, "", *trace])
