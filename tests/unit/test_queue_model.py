"""The queue's protocol, explored exhaustively: every order of changes, claims, reads, writes, lease ends and deaths.

A step is a statement or a transaction of `claim.py` and `drain.py`; between two steps anybody may act. What must hold when
all is quiet: the index says what rendering the present source under the settings in force gives, for every entity
without DEAD rows, and no row is DEAD that never ended a worker by itself. The mutations show that the model would notice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import pytest

NOBODY = -1  # the token of a claim whose worker is gone


@dataclass(frozen=True)
class Protocol:
    """The protocol and the world around it; the flags are the protocol's own, each can be taken away."""

    changes: tuple[tuple[str, int], ...]  # what happens, to which entity
    entities: int = 1
    workers: int = 2
    batch: int = 2
    max_attempts: int = 1
    deaths: int = 1
    lease_ends: int = 1  # of workers that are alive
    outages: int = 0
    retries: int = 0  # of rows that are DEAD, by somebody on call
    old_worker: bool = False  # the last worker keeps the settings of the beginning
    operator: str = ""  # "wipe" or "remove": what somebody does to the first entity, once, beside the workers
    read_after_claim: bool = True
    settle_by_id: bool = True
    settle_own_claim_only: bool = True
    write_own_ticket_only: bool = True
    compare_settings: bool = True
    reindex_beside_claimed: bool = True
    reindex_beside_expired: bool = True
    suspects_alone: bool = True
    first_death_is_nobodys: bool = True
    tickets: bool = True
    waiting_costs_nothing: bool = True
    retry_asks_again: bool = True
    retry_forgets: bool = True
    report_forgets: bool = True
    operator_holds: bool = True
    removal_reads_after_rows: bool = True
    removal_of_seen_rows_only: bool = True
    removal_announces: bool = True


class Row(NamedTuple):
    """A queue row. ``over``: the lease of its claim has ended. ``alone``: claims of it alone that ended so."""

    id: int
    entity: int
    claim: int | None = None
    over: bool = False
    crashes: int = 0
    alone: int = 0
    dead: bool = False


class Ticket(NamedTuple):
    holder: int | None = None
    over: bool = False


class Worker(NamedTuple):
    step: str = "idle"
    rows: tuple[int, ...] = ()
    texts: tuple[tuple[int, tuple[int, int] | None], ...] = ()
    settings: int = 0
    dead_seen: tuple[int, ...] = ()


class Operator(NamedTuple):
    """What a transaction of an operator has seen; from "begun" on it has the entity's row locked."""

    step: str = "to do"
    rows: tuple[int, ...] = ()
    text: tuple[int, int] | None = None


class World(NamedTuple):
    source: tuple[int | None, ...]
    chunks: tuple[tuple[int, int] | None, ...]
    queue: tuple[Row, ...]
    tickets: tuple[Ticket, ...]
    workers: tuple[Worker, ...]
    settings: int
    done: int
    next_row: int
    deaths: int
    lease_ends: int
    outages: int
    retries: int
    operator: Operator


def start(p: Protocol) -> World:
    return World(
        source=(0,) * p.entities,
        chunks=((0, 0),) * p.entities,
        queue=(),
        tickets=(Ticket(),) * p.entities,
        workers=(Worker(),) * p.workers,
        settings=0,
        done=0,
        next_row=1,
        deaths=p.deaths,
        lease_ends=p.lease_ends,
        outages=p.outages,
        retries=p.retries,
        operator=Operator("to do" if p.operator else "done"),
    )


Item = TypeVar("Item")


def at(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    return (*items[:index], item, *items[index + 1 :])


def text(w: World, settings: int, entity: int) -> tuple[int, int] | None:
    value = w.source[entity]
    return None if value is None else (value, settings)


def steps(p: Protocol, w: World) -> Iterator[World]:
    if w.done < len(p.changes):
        yield change(p, w)
    yield from clock(w)
    if w.retries:
        yield from retry(p, w)
    if p.operator == "wipe":
        yield from wipe(p, w)
    elif p.operator == "remove":
        yield from remove(p, w)
    for me, worker in enumerate(w.workers):
        if worker.step != "idle" and w.deaths:
            yield died(w, me)
        if worker.step == "idle" and not p.read_after_claim:
            yield peek(p, w, me)
        elif worker.step in ("idle", "peeked"):
            yield from claim(p, w, me)
        elif worker.step == "claimed":
            yield read(p, w, me)
        elif worker.step in ("read", "rolled back"):
            yield write(p, w, me)
            if worker.step == "read" and not p.retry_asks_again:
                yield w._replace(workers=at(w.workers, me, worker._replace(step="rolled back")))
            if w.outages:
                given = give_back(p, w, me, {row.entity for row in w.queue})
                yield given._replace(workers=at(w.workers, me, Worker()), outages=w.outages - 1)


def change(p: Protocol, w: World) -> World:
    """A transaction of the application, or a deployment, which puts its settings in force and enqueues everything.

    ``silent`` changes a row and announces nothing, as where a source lacks a trigger; a ``reindex`` comes after it.
    """
    what, entity = p.changes[w.done]
    w = w._replace(done=w.done + 1)
    if what == "silent":
        return w._replace(source=at(w.source, entity, w.done))
    if what in ("settings", "reindex"):
        w = w._replace(settings=w.settings + (what == "settings"))
        for number in range(p.entities):
            waits = [row for row in w.queue if row.entity == number and not row.dead]
            if p.reindex_beside_claimed:  # else any row that waits is enough
                waits = [row for row in waits if row.claim is None or (row.over and not p.reindex_beside_expired)]
            if not waits:
                w = w._replace(queue=(*w.queue, Row(w.next_row, number)), next_row=w.next_row + 1)
        return w
    value = None if what == "delete" else w.done
    return w._replace(
        source=at(w.source, entity, value), queue=(*w.queue, Row(w.next_row, entity)), next_row=w.next_row + 1
    )


def clock(w: World) -> Iterator[World]:
    """Leases of the dead end sooner or later, those of the living as often as the case says."""
    for number, row in enumerate(w.queue):
        if row.claim is not None and not row.over and (row.claim == NOBODY or w.lease_ends):
            lives = row.claim != NOBODY
            beside = [other for other in w.queue if other.claim == row.claim]
            row = row._replace(over=True, alone=row.alone + (lives and len(beside) == 1))
            yield w._replace(queue=at(w.queue, number, row), lease_ends=w.lease_ends - lives)
    for number, ticket in enumerate(w.tickets):
        if ticket.holder is not None and not ticket.over and (ticket.holder == NOBODY or w.lease_ends):
            left = w.lease_ends - (ticket.holder != NOBODY)
            yield w._replace(tickets=at(w.tickets, number, ticket._replace(over=True)), lease_ends=left)


def retry(p: Protocol, w: World) -> Iterator[World]:
    """A DEAD row begins anew: READY, and nothing counts against it any more."""
    for number, row in enumerate(w.queue):
        if row.dead:
            row = row._replace(dead=False, alone=0, crashes=0 if p.retry_forgets else row.crashes)
            yield w._replace(queue=at(w.queue, number, row), retries=w.retries - 1)


def locked(p: Protocol, w: World, entity: int) -> bool:
    return p.operator_holds and entity == 0 and w.operator.step in ("begun", "read")


def wipe(p: Protocol, w: World) -> Iterator[World]:
    """One transaction: lock the entity while nobody holds it, announce it, delete its chunks; an end of it undoes all.

    Without the lock it is what it would be in two transactions: announced, then deleted.
    """
    ticket, step = w.tickets[0], w.operator.step
    if step == "to do" and (ticket.holder is None or ticket.over):
        begun = w._replace(operator=Operator("begun"))
        yield begun if p.operator_holds else announced(begun, 0)
    if step == "begun":
        done = w._replace(chunks=at(w.chunks, 0, None), operator=Operator("done"))
        if p.operator_holds:
            yield w._replace(operator=Operator())
            done = announced(done._replace(tickets=at(w.tickets, 0, Ticket())), 0)
        yield done


def announced(w: World, entity: int) -> World:
    if any(row.entity == entity and not row.dead and row.claim is None for row in w.queue):
        return w
    return w._replace(queue=(*w.queue, Row(w.next_row, entity)), next_row=w.next_row + 1)


def remove(p: Protocol, w: World) -> Iterator[World]:
    """A tenant leaves: the entity and its rows go, those of changes to come stay; what is another's now is announced."""
    ticket, operator = w.tickets[0], w.operator
    rows = tuple(row.id for row in w.queue if row.entity == 0)
    found = text(w, w.settings, 0)
    if operator.step == "to do" and (ticket.holder is None or ticket.over):
        seen = Operator("begun", rows) if p.removal_reads_after_rows else Operator("begun", text=found)
        yield w._replace(operator=seen)
    elif operator.step == "begun":
        yield w._replace(operator=Operator())
        seen = operator._replace(text=found) if p.removal_reads_after_rows else operator._replace(rows=rows)
        yield w._replace(operator=seen._replace(step="read"))
    elif operator.step == "read":
        gone = operator.rows if p.removal_of_seen_rows_only else rows
        w = w._replace(
            chunks=at(w.chunks, 0, None),
            tickets=at(w.tickets, 0, Ticket()),
            queue=tuple(row for row in w.queue if row.id not in gone),
            operator=Operator("done"),
        )
        yield announced(w, 0) if p.removal_announces and operator.text is not None else w


def died(w: World, me: int) -> World:
    mine = [row for row in w.queue if row.claim == me]
    queue = tuple(
        row._replace(claim=NOBODY, alone=row.alone + (len(mine) == 1)) if row.claim == me else row for row in w.queue
    )
    tickets = tuple(ticket._replace(holder=NOBODY) if ticket.holder == me else ticket for ticket in w.tickets)
    return w._replace(queue=queue, tickets=tickets, workers=at(w.workers, me, Worker()), deaths=w.deaths - 1)


def peek(p: Protocol, w: World, me: int) -> World:
    texts = tuple((entity, text(w, w.settings, entity)) for entity in range(p.entities))
    return w._replace(workers=at(w.workers, me, Worker("peeked", texts=texts)))


def claim(p: Protocol, w: World, me: int) -> Iterator[World]:
    ready = [row for row in w.queue if not row.dead and (row.claim is None or row.over)]
    if p.suspects_alone:
        if ready and ready[0].claim is not None:
            ready = ready[:1]
        else:
            ready = [row for row in ready if row.claim is None]
    got = [
        row
        for row in ready[: p.batch]
        if not locked(p, w, row.entity)
        and (not p.tickets or w.tickets[row.entity].holder is None or w.tickets[row.entity].over)
    ]
    limit = p.max_attempts + p.first_death_is_nobodys
    if not p.waiting_costs_nothing:  # what waits for an entity that another worker holds has used up an attempt
        held = {row.id for row in ready[: p.batch]} - {row.id for row in got}
        if held:
            tired = (
                row._replace(crashes=row.crashes + 1, dead=row.crashes + 1 >= limit) if row.id in held else row
                for row in w.queue
            )
            yield w._replace(queue=tuple(tired))
    if not got:
        return
    given_up = {row.id for row in got if row.claim is not None and row.crashes >= limit}
    taken = {row.id for row in got} - given_up
    entities = {row.entity for row in got if row.id in taken}
    queue = tuple(
        row._replace(dead=True, claim=None)
        if row.id in given_up
        else row._replace(claim=me, over=False, crashes=row.crashes + 1)
        if row.id in taken
        else row
        for row in w.queue
    )
    tickets = tuple(Ticket(me) if number in entities else ticket for number, ticket in enumerate(w.tickets))
    dead_seen = tuple(row.id for row in w.queue if row.dead and row.entity in entities)
    settings = 0 if p.old_worker and me == p.workers - 1 else w.settings
    worker = Worker("claimed", tuple(sorted(taken)), (), settings, dead_seen)
    if not p.read_after_claim:
        texts = tuple((entity, found) for entity, found in w.workers[me].texts if entity in entities)
        worker = worker._replace(step="read", texts=texts)
    yield w._replace(queue=queue, tickets=tickets, workers=at(w.workers, me, worker if taken else Worker()))


def read(p: Protocol, w: World, me: int) -> World:
    """A worker renders with the settings in force when it claimed, an old one with those it was started with."""
    worker = w.workers[me]
    entities = sorted({row.entity for row in w.queue if row.id in worker.rows})
    texts = tuple((entity, text(w, worker.settings, entity)) for entity in entities)
    return w._replace(workers=at(w.workers, me, worker._replace(step="read", texts=texts)))


def write(p: Protocol, w: World, me: int) -> World:
    worker = w.workers[me]
    right = worker.settings == w.settings or not p.compare_settings
    held = {
        entity
        for entity, _ in worker.texts
        if right
        and not locked(p, w, entity)
        and (w.tickets[entity].holder == me or not p.write_own_ticket_only or worker.step == "rolled back")
    }
    chunks = w.chunks
    for entity, found in worker.texts:
        if entity in held:
            chunks = at(chunks, entity, found)

    def settled(row: Row) -> bool:
        if row.dead:
            return row.id in worker.dead_seen and row.entity in held
        if row.entity not in held:
            return False
        if not p.settle_by_id:
            return True
        return row.id in worker.rows and (row.claim == me or not p.settle_own_claim_only)

    w = w._replace(
        chunks=chunks,
        queue=tuple(row for row in w.queue if not settled(row)),
        tickets=tuple(
            Ticket() if number in held and ticket.holder == me else ticket for number, ticket in enumerate(w.tickets)
        ),
    )
    rest = {entity for entity, _ in worker.texts} - held
    if rest:
        w = give_back(p, w, me, rest)
    return w._replace(workers=at(w.workers, me, Worker()))


def give_back(p: Protocol, w: World, me: int, entities: set[int]) -> World:
    """Free what carries this claim and this ticket, uncounted."""
    rows = w.workers[me].rows

    def freed(row: Row) -> Row:
        mine = row.claim == me or (not p.settle_own_claim_only and row.id in rows)
        if not mine or row.entity not in entities or row.dead:
            return row
        return row._replace(claim=None, over=False, crashes=0 if p.report_forgets else row.crashes - 1)

    tickets = tuple(
        Ticket() if number in entities and ticket.holder == me else ticket for number, ticket in enumerate(w.tickets)
    )
    return w._replace(queue=tuple(freed(row) for row in w.queue), tickets=tickets)


def explore(p: Protocol) -> tuple[int, str | None]:
    """Visit every world that can come about; gives how many there are and what is wrong in one, if anything is."""
    first = start(p)
    seen, todo = {first}, deque([first])
    while todo:
        w = todo.popleft()
        if wrong := problem(p, w):
            return len(seen), wrong
        moved = False
        for following in steps(p, w):
            moved = True
            if following not in seen:
                seen.add(following)
                todo.append(following)
        if not moved and not quiet(p, w):
            return len(seen), "stuck"
    return len(seen), None


def quiet(p: Protocol, w: World) -> bool:
    return (
        w.done == len(p.changes)
        and w.operator.step == "done"
        and all(worker.step == "idle" for worker in w.workers)
        and all(row.dead for row in w.queue)
    )


def problem(p: Protocol, w: World) -> str | None:
    for row in w.queue:
        if row.dead and row.alone < p.max_attempts:
            return f"row {row.id} is DEAD and was not at fault"
    if not quiet(p, w):
        return None
    dead = {row.entity for row in w.queue}
    for entity in range(p.entities):
        if entity not in dead and w.chunks[entity] != text(w, w.settings, entity):
            return f"entity {entity}: {w.chunks[entity]} is not {text(w, w.settings, entity)}"
    return None


LIFE = Protocol((("set", 0), ("delete", 0), ("set", 0)), deaths=1, lease_ends=2)
THREE = Protocol((("set", 0), ("set", 0), ("delete", 0)), workers=3, deaths=1, lease_ends=1)
PAIR = Protocol((("set", 0), ("set", 1), ("delete", 0)), entities=2, deaths=1, lease_ends=2)
DEPLOY = Protocol((("set", 0), ("settings", 0)), deaths=1, lease_ends=1, outages=1, old_worker=True)
REINDEX = Protocol((("set", 0), ("silent", 0), ("reindex", 0)), deaths=0, lease_ends=2)
DEATHS = Protocol((("set", 0), ("set", 1)), entities=2, workers=1, deaths=4, lease_ends=0)
GIVEN = Protocol((("set", 0), ("delete", 0)), deaths=2, lease_ends=1, outages=1)
WIPE = Protocol((("set", 0), ("set", 0)), deaths=1, lease_ends=1, operator="wipe")
REMOVE = Protocol((("delete", 0), ("set", 0)), deaths=1, lease_ends=1, operator="remove")
RETRY = Protocol((("set", 0), ("delete", 0)), deaths=3, lease_ends=0, retries=2)


@pytest.mark.parametrize(
    "case",
    [LIFE, THREE, PAIR, DEPLOY, REINDEX, DEATHS, GIVEN, RETRY, WIPE, REMOVE],
    ids=[
        "life",
        "three workers",
        "two entities",
        "deployment",
        "reindex",
        "deaths",
        "given back",
        "retry",
        "wipe",
        "removal",
    ],
)
def test_the_protocol_holds(case: Protocol) -> None:
    visited, wrong = explore(case)
    assert wrong is None
    assert visited > 300


@pytest.mark.parametrize(
    ("case", "mutation"),
    [
        (LIFE, {"read_after_claim": False}),
        (LIFE, {"settle_by_id": False}),
        (LIFE, {"write_own_ticket_only": False}),
        (LIFE, {"tickets": False, "write_own_ticket_only": False}),
        (DEPLOY, {"compare_settings": False}),
        (LIFE, {"retry_asks_again": False}),
        (LIFE, {"waiting_costs_nothing": False}),
        (REINDEX, {"reindex_beside_claimed": False}),
        (REINDEX, {"reindex_beside_expired": False}),
        (REINDEX, {"settle_own_claim_only": False}),
        (DEATHS, {"suspects_alone": False}),
        (DEATHS, {"first_death_is_nobodys": False}),
        (GIVEN, {"report_forgets": False}),
        (RETRY, {"retry_forgets": False}),
        (WIPE, {"operator_holds": False}),
        (REMOVE, {"removal_reads_after_rows": False}),
        (REMOVE, {"removal_of_seen_rows_only": False}),
        (REMOVE, {"removal_announces": False}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_no_rule_of_it_can_be_left_out(case: Protocol, mutation: dict[str, Any]) -> None:
    _, wrong = explore(replace(case, **mutation))
    assert wrong is not None
