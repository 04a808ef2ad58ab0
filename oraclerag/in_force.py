"""What is in force for all workers of an installation, as RAG_SETTING says it.

The active model and its column; for every source the fingerprint of the settings that its chunks are made with, and
whether it is paused. A worker that was deployed with other settings leaves a source alone until a backfill puts its
settings in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import oracledb

from oraclerag.database import UNIQUE_VIOLATED, code_of, own_tables
from oraclerag.statements import Statements

__all__ = ["InForce", "pause", "put", "put_first", "read", "remove", "resume"]


@dataclass(frozen=True, slots=True)
class InForce:
    """One reading of RAG_SETTING: per source the first half of a fingerprint, and why it is paused.

    ``second_model`` and ``second_column`` are those beside it while models are switched: workers write both.
    Neither is said where one is missing: a column that is being made or dropped. ``revision`` is that of the tables;
    None while a migration has not ended. ``vectors_as`` is what :class:`ActiveModel` has by that name.
    """

    model: str | None
    column: str | None
    fingerprints: Mapping[str, str]
    paused: Mapping[str, str]
    revision: str | None = None
    second_model: str | None = None
    second_column: str | None = None
    vectors_as: str | None = None


def read(connection: oracledb.Connection, schema: str) -> InForce:
    """Read what is in force, in one statement."""
    found: dict[tuple[str, str], str] = {}
    with connection.cursor() as cursor, own_tables():
        cursor.arraysize = cursor.prefetchrows = 200
        cursor.execute(Statements("in_force", schema)["read"])
        found = {(scope, setting): value for scope, setting, value in cursor if value is not None}
    second = (found.get(("*", "second_model")), found.get(("*", "second_column")))
    second_model, second_column = second if None not in second else (None, None)
    return InForce(
        model=found.get(("*", "model")),
        column=found.get(("*", "vector_column")),
        fingerprints={scope: value for (scope, setting), value in found.items() if setting == "fingerprint"},
        paused={scope: value for (scope, setting), value in found.items() if setting == "paused"},
        revision=found.get(("*", "revision")),
        second_model=second_model,
        second_column=second_column,
        vectors_as=found.get(("*", "vectors_as")),
    )


def put(connection: oracledb.Connection, schema: str, scope: str, setting: str, value: str | None) -> None:
    """Write one setting of a source, in the caller's transaction."""
    statements = Statements("in_force", schema)
    binds = {"scope_name": scope, "setting": setting, "setting_value": value}
    with connection.cursor() as cursor, own_tables():
        cursor.execute(statements["change"], binds)
        if cursor.rowcount:
            return
        try:
            cursor.execute(statements["add"], binds)
        except oracledb.IntegrityError as error:
            if code_of(error) != UNIQUE_VIOLATED:
                raise
            cursor.execute(statements["change"], binds)  # another process was quicker


def put_first(connection: oracledb.Connection, schema: str, scope: str, setting: str, value: str) -> None:
    """Write a setting of a source that has none yet, in the caller's transaction; one that is there stays."""
    with connection.cursor() as cursor, own_tables():
        try:
            cursor.execute(
                Statements("in_force", schema)["add"],
                {"scope_name": scope, "setting": setting, "setting_value": value},
            )
        except oracledb.IntegrityError as error:
            if code_of(error) != UNIQUE_VIOLATED:
                raise


def remove(connection: oracledb.Connection, schema: str, scope: str, setting: str) -> bool:
    """Take a setting away, in the caller's transaction; gives whether there was one."""
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("in_force", schema)["remove"], scope_name=scope, setting=setting)
        return bool(cursor.rowcount)


def pause(connection: oracledb.Connection, schema: str, source: str, reason: str) -> None:
    """Stop the workers from taking up rows of a source, and say why; commits."""
    put(connection, schema, source, "paused", reason[:1000])
    with own_tables():
        connection.commit()


def resume(connection: oracledb.Connection, schema: str, source: str) -> bool:
    """Let the workers take up a paused source again; commits. Gives whether it was paused."""
    found = remove(connection, schema, source, "paused")
    with own_tables():
        connection.commit()
    return found
