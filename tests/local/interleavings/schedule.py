"""A schedule: the order of a run written down, for what a seed would have to find.

One line is one move of an actor, up to and without the statement that it names:

    app                     one transaction of the application
    op                      one operation: a deployment, a reindex
    w1                      until the worker has nothing more to do
    w1 > claim.hold         until it stands before this statement
    w1 >> commit            until it has executed this statement
    w1 dies                 there it stands, and there it ends; the session goes with it
    w1 deadlock             the statement before which it stands is refused: ORA-00060
    lease 0                 the lease of the oldest claim is over; 1 is the next one
    pauses                  whatever waits is due

Who has nothing more to do, or waits for a lock, ends his move before its time: under another protocol it may be longer.
"""

from __future__ import annotations

from tests.local.interleavings.actors import Order
from tests.local.interleavings.play import Outcome, Play
from tests.local.interleavings.story import Story
from tests.local.interleavings.world import Installation

__all__ = ["follow", "go_on"]


def follow(installation: Installation, story: Story, schedule: str, **world: object) -> Outcome:
    """Play a story by a schedule and give what is wrong in the end; ``world`` sets attributes of the world."""
    play = Play(installation, story)
    for name, value in world.items():
        setattr(play.world, name, value)
    with play:
        for line in schedule.strip().splitlines():
            if words := line.split("#")[0].split():
                _move(play, words)
        return Outcome(play.director.trace, play.close())


def _move(play: Play, words: list[str]) -> None:
    director = play.director
    match words:
        case ["lease", number]:
            claims = play.world.claims()
            assert len(claims) > int(number), f"there is no claim {number}: {director.trace}"
            play.world.end_lease(claims[int(number)])
            director.note(f"clock: the lease of claim {number} ends")
        case ["pauses"]:
            play.world.end_pauses()
            director.note("clock: pauses end")
        case [name, "dies"]:
            director.step(play.actors[name], Order.CRASH)
            director.step(play.actors[name])
        case [name, "deadlock"]:
            director.step(play.actors[name], Order.DEADLOCK)
        case [name]:
            go_on(play, name, None)
        case [name, ">", statement]:
            go_on(play, name, statement)
        case [name, ">>", statement]:
            if play.actors[name].at != statement:
                go_on(play, name, statement)
            director.step(play.actors[name])
        case _:
            raise ValueError(" ".join(words))


def go_on(play: Play, name: str, statement: str | None) -> None:
    """Let an actor go on until it stands before the statement, or has nothing more to do."""
    actor = play.actors[name]
    for number in range(300):
        if actor.done or actor.blocked or (number and actor.idle):
            return
        if number and actor.at.startswith(("transaction", "operation")):
            return
        if statement is not None and number and actor.at == statement:
            return
        play.director.step(actor)
    raise AssertionError(f"{name} never comes to {statement}")
