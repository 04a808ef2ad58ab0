"""A story on its stage: its actors run the real code on their own connections, a statement at a time."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from oraclerag import drain as drain_module
from oraclerag import in_force, queue
from oraclerag import merge as merge_module
from oraclerag.backfill import backfill, backfill_at_start
from oraclerag.database import translated
from oraclerag.drain import drain
from oraclerag.enqueue import enqueue
from oraclerag.errors import OracleRagError, SourceChanged, StatementFailed
from oraclerag.records import SourceKey
from tests.local.interleavings.actors import Actor, Crash, Director, Order
from tests.local.interleavings.sessions import ActorSession
from tests.local.interleavings.story import WORKERS, Change, Story, Transaction
from tests.local.interleavings.world import ENTITIES, UNREADABLE, UNWRITABLE, Installation, World, type_of

__all__ = ["Outcome", "Play", "Violation"]

TENANTS = ("acme", "beta")


class Violation(AssertionError):
    """What must hold does not; the message has the trace."""


@dataclass(frozen=True)
class Outcome:
    """What a run was like, step by step, and what was wrong in the end."""

    trace: list[str]
    problems: list[str]


class Play:
    """A story on its stage: actors that stand before their first step, ready for a director's orders."""

    def __init__(self, installation: Installation, story: Story, seed: int = 0) -> None:
        self.story = story
        self.world = World.begin(installation, story.indexed)
        self._installation = installation
        self._seed = seed
        self._unfinished: list[Transaction] = []
        works: dict[str, Callable[[Actor], None]] = dict.fromkeys(WORKERS[: story.workers], self._worker)
        works["app"] = self._app
        if story.op:
            works["op"] = self._op
        actors = []
        for name, work in works.items():
            session, backend = installation.sessions[name]
            actor = Actor(name, work, backend)
            session.actor, session.lost = actor, None
            actors.append(actor)
        self.actors = {actor.name: actor for actor in actors}
        self.director = Director(actors, installation.observer, self.world.due)
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Play:
        for module in (drain_module, merge_module):
            self._patch.setattr(module, "SLICE", self.story.slice)
        self.director.begin(self._installation.threads)
        return self

    def __exit__(self, *_error: object) -> None:
        """End everybody, where they stand."""
        self._patch.undo()
        while standing := [actor for actor in self.actors.values() if not actor.done and not actor.blocked]:
            for actor in standing:
                actor.order(Order.CRASH)
                actor.arrived(60)
                actor.error = None
            for actor in self.actors.values():
                if actor.blocked and actor.arrived(0.05):
                    actor.blocked = False
        for session, _ in self._installation.sessions.values():
            session.actor = session.lost = None
            session.end()

    def settle(self, choose: Callable[[list[Actor]], Actor]) -> None:
        """Let everybody work, idle workers as well, until nothing is due."""
        for _ in range(3000):
            if not (ready := self.director.can_go()):
                self.wind_down(choose)
                return
            self.director.step(choose(ready))
            if any(actor.blocked for actor in self.actors.values()):
                self.director.look(0.05)
            self.world.end_pauses()
        raise Violation("nobody comes to an end")

    def wind_down(self, choose: Callable[[list[Actor]], Actor]) -> None:
        """Let everybody go on to where he has nothing more to do; nothing happens to anybody any more."""
        for _ in range(3000):
            if ready := [actor for actor in self.director.can_go() if not actor.idle]:
                self.director.step(choose(ready))
            elif any(actor.blocked for actor in self.actors.values()):
                self.director.look(0.05)
            else:
                break
        else:
            raise Violation("nobody comes to an end")

    def close(self) -> list[str]:
        """End the actors, work off what waits and give what is wrong then."""
        self.wind_down(lambda actors: actors[0])
        self.__exit__()
        for transaction in self._unfinished:
            self._operate_again(transaction)
        self.director.trace.append("-- and a worker that nothing happens to --")
        self.world.finish()
        return self.world.problems()

    # -- actors -------------------------------------------------------------------------------------------------------

    def _worker(self, actor: Actor) -> None:
        session = self._session(actor)
        database = self._installation.database_of(session)
        settings = dataclasses.replace(self._installation.settings, batch_size=self.story.batch)
        chance = random.Random(f"{self._seed} {actor.name}")
        version, state, lives = 0, self.world.fresh_state(self._seed), 0
        sources = self._installation.sources(version)
        if actor.pause("its first batch", idle=True) is not Order.GO:
            return
        while True:
            keys = None
            if chance.random() < self.story.by_key:
                keys = [
                    SourceKey(type_of(key), key) for key in ENTITIES[: self.story.entities] if chance.random() < 0.5
                ]
            try:
                claimed = drain(database, sources, settings, state=state, keys=keys or None).claimed
            except Crash:
                order = actor.pause("its session ends")  # until then its locks stay
                session.end()
                if order is not Order.GO:
                    return
                lives += 1
                version, state = self.world.deployed, self.world.fresh_state(self._seed + lives)
                sources = self._installation.sources(version)
                continue
            except OracleRagError as error:
                if not error.retryable and not isinstance(error, StatementFailed):
                    raise
                if actor.pause(f"the next try ({error.code})") is not Order.GO:
                    return
                continue
            if claimed:
                continue
            if actor.pause("a look at the queue", idle=True) is not Order.GO:
                return
            if version != self.world.deployed:  # the deployment reaches it
                version, state = self.world.deployed, self.world.fresh_state(self._seed + lives)
                sources = self._installation.sources(version)

    def _app(self, actor: Actor) -> None:
        session = self._session(actor)
        for number, transaction in enumerate(self.story.app):
            if actor.pause(f"transaction {number}: {transaction}") is not Order.GO:
                return
            for change in transaction.changes:
                self._apply(session, change)
            if transaction.commit:
                session.commit()
            else:
                session.rollback()

    def _apply(self, session: ActorSession, change: Change) -> None:
        what, key, number, lane = change
        statement, binds, tenant = self._statement(what, key, number)
        with session.cursor() as cursor:
            if what == "reinsert":
                cursor.execute("DELETE FROM note WHERE id = :1", [int(key)])
            if statement:
                cursor.execute(statement, binds)
                if statement.startswith("UPDATE") and not cursor.rowcount and what not in ("move", "owner", "nobody"):
                    cursor.execute("INSERT INTO note VALUES (:id, 'acme', '7', :body)", binds)
        if what == "untold":  # plain SQL that does not say the tenant
            with session.cursor() as cursor:
                cursor.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES (:1, :2)", [type_of(key), key])
            return
        sources = self._installation.sources(0)
        enqueue(
            session, SourceKey(type_of(key), key, tenant=tenant), sources=sources,
            schema=self._installation.database.schema, lane=int(lane),
        )  # fmt: skip

    def _statement(self, what: str, key: str, number: str) -> tuple[str, dict[str, Any], str]:
        """Give the change, and the tenant that its announcement names."""
        here, there = TENANTS[int(number) % 2], TENANTS[1 - int(number) % 2]
        body = f"text {number}"
        text = "UPDATE note SET body = :body WHERE id = :id"
        match what:
            case "long":
                body = " ".join(f"sentence {n} of {number} says more." for n in range(8))
            case "unreadable" | "unwritable" | "untold":
                self.world.at_fault.add(key)
                body = {"unreadable": UNREADABLE, "unwritable": f"{UNWRITABLE} {number}"}.get(what, body)
            case "delete":
                return "DELETE FROM note WHERE id = :id", {"id": int(key)}, here
            case "move":
                return "UPDATE note SET tenant_id = :t WHERE id = :id", {"t": there, "id": int(key)}, there
            case "owner":
                return "UPDATE note SET owner_id = :o WHERE id = :id", {"o": number, "id": int(key)}, here
            case "nobody":
                return "UPDATE note SET tenant_id = NULL WHERE id = :id", {"id": int(key)}, here
            case "reinsert":
                text = f"INSERT INTO note VALUES (:id, '{there}', '8', :body)"
            case "nothing":
                return "", {}, here
        return text, {"body": body, "id": int(key)}, here

    def _op(self, actor: Actor) -> None:
        session = self._session(actor)
        for number, transaction in enumerate(self.story.op):
            if actor.pause(f"operation {number}: {transaction.changes}") is not Order.GO:
                return
            try:
                for change in transaction.changes:
                    self._operate(session, change)
            except Crash:
                order = actor.pause("its session ends")
                session.end()
                session.lost = None
                self._unfinished.append(transaction)
                if order is not Order.GO:
                    return
            except SourceChanged:  # a start beside settings that are not in force
                session.end()
            except OracleRagError as error:
                if not error.retryable and not isinstance(error, StatementFailed):
                    raise
                session.end()
                session.lost = None
                self._unfinished.append(transaction)

    def _operate_again(self, transaction: Transaction) -> None:
        """A person runs again what failed; a backfill that was interrupted counts until its lease is over."""
        with self._installation.quiet.cursor() as cursor:
            cursor.execute("UPDATE RAG_SETTING SET UPDATED_AT = UPDATED_AT - INTERVAL '5' HOUR")
        self._installation.quiet.commit()
        session = self._installation.sessions["op"][0]
        with contextlib.suppress(SourceChanged):
            for change in transaction.changes:
                self._operate(session, change)
        session.end()

    def _operate(self, session: ActorSession, change: Change) -> None:
        what, *rest = change
        if what == "silent":
            with session.cursor() as cursor, translated():
                cursor.execute("UPDATE note SET body = 'silent' WHERE id = :1", [int(rest[0])])
                session.commit()
            return
        database = self._installation.database_of(session)
        if what == "retry":
            queue.retry(database)
            return
        if what == "resume":
            for name in ("note", "memo"):
                in_force.resume(session, database.schema, name)
            return
        if what == "purge":
            queue.purge(database, queue.Choice())
            return
        if what == "deploy":
            self.world.deployed = int(rest[0])
        source = self._installation.sources(self.world.deployed)[rest[0] if what == "reindex" else "note"]
        if what == "start":
            backfill_at_start(database, source, self._installation.settings)
            return
        backfill(database, source, self._installation.settings, everything=what == "reindex")

    def _session(self, actor: Actor) -> ActorSession:
        return self._installation.sessions[actor.name][0]
