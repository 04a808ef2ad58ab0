"""Actors and their director: threads of which one at a time goes one step, so that a run can be played again.

An actor stops before every statement and commit, and goes on when the director says so. A statement that waits for a row
lock does not come back: the director asks PostgreSQL whether the session waits for a lock (never a stopwatch alone), lets
others go on, and after each of their steps looks whether the lock was granted. So the order of steps depends on the
director's choices and on nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from enum import Enum

import psycopg

__all__ = ["Actor", "Crash", "Director", "Order", "Stuck"]

_SOON = 0.003  # seconds after which it is asked whether a statement waits for a lock
_PATIENCE = 60.0
_READS = frozenset({"in_force.read", "claim.next_tenants", "claim.pick"})  # an idle worker's


class Order(Enum):
    """What the director says to an actor that stands before a statement."""

    GO = "goes on"
    CRASH = "dies"
    CUT = "loses its connection before"
    CUT_AFTER = "loses its connection after"
    DEADLOCK = "is told ORA-00060 at"
    REFUSED = "is told ORA-00600 at"
    BROKEN = "finds no table at"
    STOP = "ends"


class Crash(BaseException):
    """The process ends here: nothing of it runs on but what Python unwinds, and its session takes no statement."""


class Stuck(AssertionError):
    """Nobody can go on."""


class Actor:
    """A thread that goes step by step.

    ``at`` is the statement before which it stands, or what it is about to do. ``idle``: it has nothing to do before
    somebody commits. ``session`` is the number of its PostgreSQL backend, by which locks are asked for.
    """

    def __init__(self, name: str, work: Callable[[Actor], None], session: int) -> None:
        self.name = name
        self.session = session
        self.at = ""
        self.idle = False
        self.blocked = False
        self.wrote = False
        self.done = False
        self.error: BaseException | None = None
        self.seen = -1  # the director's count of commits when it became idle
        self._work = work
        self._order = Order.GO
        self._go, self._here = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._here.acquire()

    def start(self, threads: Executor) -> None:
        """Run to the first place where it stops, in a thread of its own."""
        threads.submit(self._run)
        if not self._here.acquire(timeout=_PATIENCE):
            raise Stuck(f"{self.name} does not begin")

    def pause(self, at: str, *, idle: bool = False) -> Order:
        """Stand before ``at`` until the director says something; called by the actor itself."""
        self.at, self.idle = at, idle
        self._here.release()
        self._go.acquire()
        self.idle = False
        return self._order

    def order(self, order: Order) -> None:
        """Let it go on; called by the director."""
        self._order = order
        self._go.release()

    def arrived(self, seconds: float) -> bool:
        """Whether it stands again, after ``seconds`` at the most; a second question would be one too many."""
        return self._here.acquire(timeout=seconds) if seconds else self._here.acquire(blocking=False)

    def _run(self) -> None:
        try:
            self._work(self)
        except BaseException as error:  # noqa: BLE001 - the director raises it where the run is
            self.error = error
        self.done = True
        self.at = "end"
        self._here.release()


class Director:
    """Gives orders one at a time and writes them down.

    ``observer`` sees the locks, on a connection of its own. ``due`` says whether an idle worker would find anything: one
    that would not is not sent to look.
    """

    def __init__(self, actors: list[Actor], observer: psycopg.Connection, due: Callable[[], bool]) -> None:
        self.actors = actors
        self.trace: list[str] = []
        self.commits = 0
        self._observer = observer
        self._due = due
        self._asked = -1
        self._found = False

    def begin(self, threads: Executor) -> None:
        """Let every actor come to its first step; there must be a thread for each."""
        for actor in self.actors:
            actor.start(threads)
            self._failed(actor)

    def can_go(self) -> list[Actor]:
        """Give the actors that may take a step: not ended, not waiting for a lock, not idle since the last commit."""
        return [
            actor
            for actor in self.actors
            if not actor.done and not actor.blocked and (not actor.idle or self._finds(actor))
        ]

    def _finds(self, actor: Actor) -> bool:
        if actor.seen == self.commits:
            return False
        if self._asked != self.commits:
            self._asked, self._found = self.commits, self._due()
        return self._found

    def step(self, actor: Actor, order: Order = Order.GO) -> None:
        """Let an actor take one step, and see what became of those that wait for a lock."""
        self.trace.append(
            f"{actor.name}: {actor.at}" if order is Order.GO else f"{actor.name} {order.value} {actor.at}"
        )
        ends = actor.at in ("commit", "rollback", "its session ends")
        actor.wrote = actor.wrote or not (ends or actor.idle or actor.at in _READS)
        if actor.idle:
            actor.seen = self.commits
        actor.order(order)
        soon, end = _SOON, time.monotonic() + _PATIENCE
        while not actor.arrived(soon):
            soon = 0.005
            if self._waits(actor):
                actor.blocked = True
                self.trace.append(f"{actor.name} waits for a lock")
                break
            if time.monotonic() > end:
                raise Stuck(f"{actor.name} does not come back from {actor.at}")
        if ends:
            self.commits += actor.wrote
            actor.wrote = False
        self._failed(actor)
        self.look()

    def look(self, seconds: float = 0.0) -> None:
        """See which of the actors that wait for a lock go on; with ``seconds``, wait so long for the first."""
        for actor in self.actors:
            if not actor.blocked:
                continue
            end = time.monotonic() + _PATIENCE
            while not actor.arrived(seconds):
                if self._waits(actor):
                    break
                seconds = 0.002
                if time.monotonic() > end:
                    raise Stuck(f"{actor.name} does not come back from {actor.at}")
            else:
                actor.blocked = False
                self.trace.append(f"{actor.name} has the lock, stands before {actor.at}")
                self._failed(actor)

    def note(self, what: str) -> None:
        """Write down what happened beside the actors; idle ones look again."""
        self.trace.append(what)
        self.commits += 1

    def _waits(self, actor: Actor) -> bool:
        found = self._observer.execute("SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted", [actor.session])
        return found.fetchone() is not None

    def _failed(self, actor: Actor) -> None:
        if actor.error is not None:
            error, actor.error = actor.error, None
            raise error
