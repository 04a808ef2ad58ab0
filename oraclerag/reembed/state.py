"""What RAG_SETTING says of a switch of models: which one is in force, which one is beside it, and how far that is.

A switch has two states. ``filling``: the second model is to come. ``former``: it was in force before, and is kept so
that there is a way back. In both, workers write both columns: once filled, either is complete at any time. Before and
after, while the column is made or dropped, the state is ``unfinished``: no worker writes it, nobody makes it anew, and
whoever was interrupted there says --abort.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

import oracledb

from oraclerag.database import own_tables
from oraclerag.errors import InputError
from oraclerag.in_force import put
from oraclerag.statements import Statements, quoted

__all__ = [
    "ModelSwitch",
    "State",
    "begin",
    "claim",
    "forget",
    "forget_all",
    "give_up",
    "read",
    "required",
    "swap",
    "wait_for_writers",
]

State = Literal["filling", "former", "unfinished"]


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """A switch of models. ``model`` and ``column`` are in force, ``second`` ones are beside them, None where none are.

    ``state`` says whether the second model is to come ("filling"), was in force before ("former"), or its column is
    being made or dropped, maybe no longer ("unfinished"). Of ``chunks``, ``filled`` have a vector in the second column.
    ``next_step`` is what to type.
    """

    model: str
    column: str
    second_model: str | None = None
    second_column: str | None = None
    state: State | None = None
    chunks: int = 0
    filled: int = 0

    @property
    def complete(self) -> bool:
        """Whether every chunk has a vector in the second column."""
        return self.state in ("filling", "former") and self.filled >= self.chunks

    @property
    def next_step(self) -> str | None:
        """What comes next, as a command; None where no switch is under way."""
        if self.state is None:
            return None
        if self.state == "unfinished":
            return "`oraclerag reembed --abort`, unless another process is at it: it takes away what is left."
        if self.state == "former":
            return (
                "`oraclerag reembed --finish` when the new model has proved itself, or `oraclerag reembed --rollback`."
            )
        return f"`oraclerag reembed --model {self.second_model}` goes on, `oraclerag reembed --abort` gives it up."


def read(connection: oracledb.Connection, schema: str, *, count: bool = True, alone: bool = False) -> ModelSwitch:
    """Read the state; ``count`` reads the whole table. Raises InputError where no model is in force.

    With ``alone`` nobody else changes it until the transaction ends.
    """
    statements = Statements("reembed", schema)
    with connection.cursor() as cursor, own_tables():
        if alone:
            cursor.execute(statements["alone"])
            cursor.fetchall()
        cursor.execute(statements["settings"])
        found = {setting: value for setting, value in cursor if value is not None}
        if "model" not in found or "vector_column" not in found:
            raise InputError(
                "No embedding model is in force, so there is none to be replaced.", hint="`oraclerag provision`."
            )
        model, column = found.get("second_model"), found.get("second_column")
        chunks = filled = 0
        if model is not None and column is not None and count:
            cursor.execute(statements.with_names("filled", column=quoted(column, "vector column")))
            row = cursor.fetchone()
            assert row is not None  # noqa: S101 - an aggregate gives one row
            chunks, filled = int(row[0]), int(row[1])
    state: State | None = None
    if model is not None and column is not None:
        state = "former" if found.get("second_state") == "former" else "filling"
    elif model is not None or column is not None:
        state = "unfinished"
    return ModelSwitch(
        model=found["model"],
        column=found["vector_column"],
        second_model=model,
        second_column=column,
        state=state,
        chunks=chunks,
        filled=filled,
    )


def required(
    connection: oracledb.Connection, schema: str, state: State, doing: str, *, count: bool = True, alone: bool = False
) -> ModelSwitch:
    """Read the state, and refuse what does not fit it. Raises InputError."""
    found = read(connection, schema, count=count, alone=alone)
    if found.state != state:
        with own_tables():
            connection.rollback()
        wanted = (
            "a model beside the one in force that was in force before"
            if state == "former"
            else "a model that is to come"
        )
        raise InputError(
            f"{doing} needs {wanted}, and there is none.",
            hint=found.next_step or "`oraclerag reembed --model NAME` begins a switch.",
        )
    return found


def claim(connection: oracledb.Connection, schema: str, column: str) -> str:
    """Write down that a column is being made, so that nobody else makes it; commits. Raises InputError.

    Gives the token of the claim: who gives the column up ends it, and a third process may claim the same column.
    """
    found = read(connection, schema, count=False, alone=True)
    if found.state is not None:
        with own_tables():
            connection.rollback()
        raise InputError("Another process has begun a switch of models.", hint=found.next_step)
    put(connection, schema, "*", "second_state", "unfinished")
    put(connection, schema, "*", "second_column", column)
    token = str(uuid.uuid4())
    put(connection, schema, "*", "second_claim", token)
    with own_tables():
        connection.commit()
    return token


def begin(connection: oracledb.Connection, schema: str, model: str, token: str) -> None:
    """Write down that a model is to come; commits, and gives back when no writer is left who does not know it.

    Raises InputError where the claim has been ended.
    """
    found = read(connection, schema, count=False, alone=True)
    if not _end_claim(connection, schema, token):
        with own_tables():
            connection.rollback()
        raise InputError("Another process has given up the switch of models that was begun here.", hint=found.next_step)
    put(connection, schema, "*", "second_state", "filling")
    put(connection, schema, "*", "second_done", "0")
    put(connection, schema, "*", "second_model", model)
    _committed_and_known(connection, schema)


def give_up(connection: oracledb.Connection, schema: str, token: str) -> None:
    """Forget a column that could not be made; commits. A claim that has been ended is another's to see to."""
    read(connection, schema, count=False, alone=True)
    if _end_claim(connection, schema, token):
        forget_all(connection, schema)
    else:
        with own_tables():
            connection.rollback()


def _end_claim(connection: oracledb.Connection, schema: str, token: str) -> bool:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("reembed", schema)["end_claim"], claimed=token)
        return bool(cursor.rowcount)


def swap(connection: oracledb.Connection, schema: str, found: ModelSwitch, vectors_as: str, state: State) -> None:
    """Put the second model in force, and the one in force beside it, in one transaction; commits."""
    assert found.second_model is not None and found.second_column is not None  # noqa: S101, PT018 - `required` has looked
    for setting, value in (
        ("model", found.second_model),
        ("vector_column", found.second_column),
        ("second_model", found.model),
        ("second_column", found.column),
        ("second_state", state),
        ("vectors_as", vectors_as),
    ):
        put(connection, schema, "*", setting, value)
    with own_tables():
        connection.commit()


def forget(connection: oracledb.Connection, schema: str) -> None:
    """Forget the second model; commits, and gives back when no writer is left who writes its column.

    The name of its column stays until :func:`forget_all`: what is interrupted in between can be done again.
    """
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("reembed", schema)["forget"])
    put(connection, schema, "*", "second_state", "unfinished")
    _committed_and_known(connection, schema)


def forget_all(connection: oracledb.Connection, schema: str) -> None:
    """Forget that there was a switch, its column included; commits."""
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("reembed", schema)["forget_all"])
        connection.commit()


def wait_for_writers(connection: oracledb.Connection, schema: str) -> None:
    """Wait for the transactions that are writing chunks, and keep others waiting until this transaction ends."""
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("reembed", schema)["barrier"])


def _committed_and_known(connection: oracledb.Connection, schema: str) -> None:
    """Commit, and wait for the transactions that have written chunks and may have read the settings before.

    A worker reads them once more before its commit: who has not written a chunk yet finds out then.
    """
    with own_tables():
        connection.commit()
        try:
            wait_for_writers(connection, schema)
        finally:
            connection.rollback()
